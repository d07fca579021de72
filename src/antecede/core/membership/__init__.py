"""Membership: joining by a seed, suspicion, leaving, coming back; a machine around any other machine."""
