"""The papers' protocols as printed, for comparison; nothing else uses them.

How a text is made executable, for every reading alike:

1. What is printed as a procedure or a condition is taken to the letter: every operator, every line, every queue.
2. What a text leaves open is chosen as it suits the text best: a time interval is as short as the clock tells times
   apart, what is asked for is answered, rounds and membership are those of the repaired machine.
3. Nothing is added that a text does not say, no exemption either: not for a first message, not for another group.
4. Where the letter has several meanings each is a reading: `printed-a`, `printed-b`, ... Where prose and rule differ,
   the prose is a reading too (`described`). A `charitable` reading changes one word's meaning so that the paper's own
   figure comes out, and leaves all else to the letter.
"""
