"""Small runs that are drawn in these tests."""

from __future__ import annotations

from antecede.report.show.run import Run, run_of
from tests.trace.tables import rows

ANSWERED = """
p 0 join G1
q 0 join G1
r 0 join G1
p 10 publish p:1 G1 due=85
q 20 arrive p:1 from=p
q 20 deliver p:1
q 30 publish q:1 G1 due=190
p 40 arrive q:1 from=q
p 40 deliver q:1
r 40 arrive q:1 from=q
r 50 ask p:1 from=q
r 90 discard p:1 expired
r 90 deliver q:1
r 95 publish r:1 G1 due=190
p 99 arrive r:1 from=r
p 99 deliver r:1
q 99 arrive r:1 from=r
q 99 deliver r:1
p 200 crash
q 200 end quiet
r 200 end quiet
"""
"""q answers p; r gets the answer only, asks for the question, and goes on without it when it has expired."""

UNORDERED = """
p 0 join G1
q 0 join G1
r 0 join G1
p 10 publish p~:1 G1 after=-
q 20 arrive p~:1 from=p
q 20 deliver p~:1
q 30 publish q~:1 G1 after=-
p 40 arrive q~:1 from=q
p 40 deliver q~:1
r 40 arrive q~:1 from=q
r 40 deliver q~:1
r 60 arrive p~:1 from=p
r 60 deliver p~:1
p 200 end quiet
q 200 end quiet
r 200 end quiet
"""
"""Nobody asked for order, and r sees the answer before its question."""

MOVED = """
A 0 join G1
B 0 join G1
s2 1 join G1 from=A
s10 1 join G1 from=B
A 10 publish A:1 G1
B 20 arrive A:1 from=A
B 20 deliver A:1
s2 20 arrive A:1 from=A
s2 20 deliver A:1
A 25 crash
s10 30 arrive A:1 from=B
s10 30 deliver A:1
s2 60 move from=B cut=A:1
A.1 90 restart
A.1 95 join G1 from=B cut=A:1
B 100 publish B:1 G1
s2 110 arrive B:1 from=B
s2 110 deliver B:1
s10 110 arrive B:1 from=B
s10 110 deliver B:1
A.1 110 arrive B:1 from=B
A.1 110 deliver B:1
A.1 200 end quiet
B 200 end quiet
s2 200 end quiet
s10 200 end quiet
"""
"""A broker crashes, its subscriber moves, and it comes back."""


def shown(text: str) -> Run:
    return run_of(rows(text), None)
