"""What the audit is made of, without Spark: plain functions over numpy and Arrow, in the order in which data passes.

keys      ids as 64-bit numbers                    cover       when a message became past at a receiver
messages  the table of messages, dense and causal  attendance  who is owed what, from join to end
scan      run directories, read inside tasks       judge       the verdicts at one process
telling   what rows tell before deliveries         chunks      deliveries of one process as bytes
history   from that to a run's table               building, judging   what runs in Spark's tasks
tables    where tasks find the tables              places, table_rows, table_tasks, visit   the same for tables
cyclic    what is among its own causes             part        the part of a history that matters to a receiver
work      the one path from rows to verdicts       local       its engine without Spark
files     run directories as rows                  outcome     what an audit says in the end
"""
