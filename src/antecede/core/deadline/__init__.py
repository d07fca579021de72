"""When a message that waits goes out: at once when its causes are behind, at its deadline, or never."""
