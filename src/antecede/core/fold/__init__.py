"""Readings to results over causal cuts: the fold of `fuse`, for brokers and for Spark."""
