"""Where a process starts when others have history: a causal cut, and what lies before it."""
