"""The demo's page: three runs drawn and judged, and the table; whole in one file."""

from __future__ import annotations

import re

from antecede.report.story import story
from antecede.sim.opening import acts


def test_the_three_runs_are_drawn_under_the_peoples_names_with_their_verdicts() -> None:
    page = story(acts(), ("recipe", "wait"), [("a<b", "1")], "Words & more.", ("antecede broker",))
    assert page.count("<svg") == 3 and not re.search(r'(src|href)="(?!#)', page)
    first, second, third = re.findall(r"Judged from the records alone, by causal order: <b>(.*?)</b>\.(.*?)</p>", page)
    assert first[0] == "1 inversion, 1 gap" and second == ("clean", "") and third[0] == "clean"
    assert third[1].startswith(" “where do we meet?” to Eve: "), "what was left out is named"
    assert ">Eve</text>" in page and "Ann:1" in page and ">D</text>" not in page
    assert "<td>a&lt;b</td>" in page and "Words &amp; more." in page and "<code>antecede broker</code>" in page
