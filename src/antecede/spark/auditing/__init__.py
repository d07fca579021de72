"""What the audit is made of, without Spark: plain functions over numpy and Arrow, in the order in which data passes.

keys      ids as 64-bit numbers                   cover       when a message became past at a receiver
messages  the table of messages, dense and causal attendance  who is owed what, from join to end
chunks    rows of one process as bytes            judge       the verdicts at one process
                                                  places      the verdicts on tables of other systems
"""
