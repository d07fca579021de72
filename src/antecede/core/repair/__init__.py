"""How gaps are found, filled and given up, and how long a message is kept to answer requests."""
