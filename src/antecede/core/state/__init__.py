"""A machine as plain values: saved, compared, copied."""
