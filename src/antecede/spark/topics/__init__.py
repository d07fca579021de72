"""Live topics on Spark: `format("antecede")` with the option `brokers`. `reading` and `writing` are its two doors."""
