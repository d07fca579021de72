"""How causality is written on a message and read from it: one module per encoding."""
