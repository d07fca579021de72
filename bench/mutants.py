"""Would the fast tests notice? One-line changes to `core/`, each breaking one rule; the tests must kill every one.

    python bench/mutants.py [--only N] [--jobs 2]

For each mutant the source is copied, the one line changed, and the fast tests run against the copy until the first
failure (a hang counts as one). Prints a table and the survivors; exit 1 if there are any.
"""

# ruff: noqa: E501 - one mutant is one line, so that the list reads as a table
from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
CORE = Path("src/antecede/core")
TIMEOUT_S = 240
TESTS = ("tests/core", "tests/papers", "tests/sim/test_safety.py")
FEW = "not test_safety or from-00"
"""Of the random scenarios the first ten of each recipe."""


class Mutant(NamedTuple):
    file: str
    """Below `src/antecede/core/`."""
    old: str
    """Occurs exactly once in the file (tests/house/test_mutants.py)."""
    new: str
    breaks: str


MUTANTS: tuple[Mutant, ...] = (
    # -- Inbox -----------------------------------------------------------------------------------------------------
    Mutant("inbox.py", "if message.id in seen:", "if False:", "a second arrival is a duplicate"),
    Mutant("inbox.py", "now_us > deadline - self.guard_us", "now_us > deadline", "late is judged with the guard"),
    Mutant("inbox.py", "now_us > deadline - self.guard_us", "now_us >= deadline - self.guard_us", "in time includes it"),
    Mutant("inbox.py", '"foreign" if reader.cut_off(stamp) else "superseded"', '"superseded"', "behind the cut is not superseded"),
    Mutant("inbox.py", "if late or reader.stale(stamp):", "if late:", "what lies behind is not delivered"),
    Mutant("inbox.py", "            reader.skipped(stamp.own, stamp)  #", "            reader.delivered(stamp, forced=True)  #", "a late arrival puts itself behind, not its causes (H7)"),
    Mutant("inbox.py", "            reader.skipped(stamp.own, stamp)  #", "            pass  #", "a late arrival lies behind"),
    Mutant("inbox.py", "            reader.skipped(stamp.own, stamp)  #", "            reader.skipped(stamp.own, None)  #", "whoever needs a late one needs what it needed (H7)"),
    Mutant("inbox.py", "            reader.skipped(stamp.own, stamp)  # ", "            if late and not reader.stale(stamp): reader.skipped(stamp.own, stamp)  # ", "behind in one of its streams it lies behind in all"),
    Mutant("inbox.py", "        if not self.reader.stale(stamp):\n            self.out", "        if self.reader.stale(stamp):\n            return\n        else:\n            self.out", "so does what only a header came of"),
    Mutant("inbox.py", "return deadline_us - self.guard_us", "return deadline_us", "release guard"),
    Mutant("inbox.py", "while due and due[0][0] <= now_us:", "while due and due[0][0] < now_us:", "exact wake-up"),
    Mutant("inbox.py", "is not None and now_us > deadline:", "is not None and now_us >= deadline:", "at the deadline"),
    Mutant("inbox.py", "before.sort(key=by_rank)", "before.reverse()", "held predecessors go out in causal order"),
    Mutant("inbox.py", "for one in (*before, held):", "for one in (held,):", "held predecessors go out first"),
    Mutant("inbox.py", '"causes" if ready else "deadline"', '"causes"', "what a forced one covers becomes past"),
    Mutant("inbox.py", "self.reader.skipped(held.envelope.stamp.own, held.envelope.stamp)", "self.reader.delivered(held.envelope.stamp, forced=True)", "an overslept message puts itself behind, not its causes"),
    Mutant("inbox.py", "del self.seen[message_id]", "pass", "what was dropped at a move may come again"),
    Mutant("inbox.py", "if message_id not in self.held:", "if True:", "what is held is not forgotten"),
    Mutant("inbox.py", "message.id in self.seen or message.id in self.held", "False", "a header skips only what is out"),
    # -- Reader ----------------------------------------------------------------------------------------------------
    Mutant("order/reader.py", "if n <= self.front.get(stream, 0):", "if n < self.front.get(stream, 0):", "behind: <="),
    Mutant("order/reader.py", "if n <= covers.get(stream, 0) and", "if n < covers.get(stream, 0) and", "precedes: <="),
    Mutant("order/reader.py", "if n <= covers.get(stream, 0) and self._concerns(stream):", "if n <= covers.get(stream, 0):", "streams of other groups do not count"),
    Mutant("order/reader.py", "for skipped in self._skipped_by(stamp):", "for skipped in ():", "H7: blocked through skips"),
    Mutant("order/reader.py", "n = reached + 1\n", "n = reached\n", "the +1"),
    Mutant("order/reader.py", "(stamp, *self._skipped_by(stamp)) if self.skips else (stamp,):\n            for stream, n in (*one.needs", "(stamp,):\n            for stream, n in (*one.needs", "H7: asked for"),
    Mutant("order/reader.py", "(stamp, *self._skipped_by(stamp)) if self.skips else (stamp,):\n            for mark in one.needs", "(stamp,):\n            for mark in one.needs", "H7: asked for by single marks"),
    Mutant("order/reader.py", "marks.setdefault(id_of_mark(mark), mark)", "marks[str(mark)] = mark", "a message of several groups is asked for once"),
    Mutant("order/graph.py", "needs.update((mark, None) for mark in pred.marks if interest.concerns(mark[0]))", "needs[next(mark for mark in pred.marks if interest.concerns(mark[0]))] = None", "a predecessor is named in all its groups"),
    Mutant("order/graph.py", "if p not in named or (self._cut and self._cut_off(p, interest))", "if p not in named", "what a cut hides stands for what is owed in another group"),
    Mutant("joining.py", "        broker.early.take(now_us)\n", "", "what comes while joining is kept"),
    Mutant("member.py", "            self.early.keep(frame, sender)\n", "            pass\n", "what comes to a member while it joins is kept"),
    Mutant("order/reader.py", "or n <= self.cut.get(stream, 0):", "or False:", "a need behind a cut proves nothing"),
    Mutant("order/reader.py", "if forced or not self._sure(stamp):", "if forced:", "a skipped need proves nothing"),
    Mutant("order/reader.py", "if forced or not self._sure(stamp):", "if not self._sure(stamp):", "skipped ancestors"),
    Mutant("order/reader.py", "self.skips.setdefault(stream, {})[n] = stamp", "self.skips.setdefault(stream, {})[n] = None", "stamps of skipped messages are kept"),
    Mutant("order/reader.py", "self.over.setdefault(stream, set()).add(n)", "self.over.setdefault(stream, set()); self.front[stream] = n", "a skip is one mark, not all below"),
    Mutant("order/reader.py", "            stamp = UNKNOWN\n", "            pass\n", "of what is gone all it may have stood for is needed"),
    Mutant("order/reader.py", "self._free(stream, before + 1, self.front[stream])", "self._free(stream, n, n)", "everything passed frees its watchers"),
    Mutant("order/reader.py", "                self.cut[stream] = n\n", "                pass\n", "the cut is remembered"),
    Mutant("order/reader.py", "return cut_off and not owed", "return cut_off", "what is cut off in one group may be owed in another"),
    Mutant("order/reader.py", "return cut_off and not owed", "return False", "what is cut off is stale"),
    Mutant("order/reader.py", "(*one.needs, *one.covers.items())", "one.needs", "all that is missing is asked for at once (T1)"),
    Mutant("order/reader.py", "any(n <= cut.get(stream, 0)", "any(n < cut.get(stream, 0)", "the cut itself is cut off"),
    # -- vector ----------------------------------------------------------------------------------------------------
    Mutant("order/vector.py", "covers = close(self._tips.values())", "covers = {s: n for s, n in close(self._tips.values()).items() if s.partition('@')[2] in ('', *message.topics)}", "marks of foreign groups are causes too"),
    Mutant("order/vector.py", "needs.update(dict.fromkeys(leaves))", "pass", "a message needs the leaves of its past"),
    Mutant("order/vector.py", "needs.update(dict.fromkeys(leaves))", "needs.update(dict.fromkeys(leaf for leaf in leaves if leaf[0].partition('@')[0] != self.name))", "the own stream has no gap"),
    Mutant("order/vector.py", "close([*after, self._last] if self._last is not None else after)", "close(after)", "declared causes include the own previous message"),
    Mutant("order/vector.py", "                    self._hear_of(mark, group)\n", "                    pass\n", "causes in groups a message is not addressed to are leaves there"),
    Mutant("order/vector.py", "if n <= covers.get(stream, 0) or (leaf[0] == stream and n <= leaf[1]):", "if False:", "what is heard of replaces nothing newer"),
    Mutant("order/vector.py", "if leaf[1] <= covers.get(leaf[0], 0)]:", "if leaf[1] < covers.get(leaf[0], 0)]:", "what has a successor is no leaf"),
    Mutant("order/vector.py", "        tips[stamp.own[0]] = stamp\n", "", "what is delivered is past"),
    Mutant("order/vector.py", "self.rank = stamp.rank", "pass", "rank grows along causality"),
    Mutant("order/vector.py", "del previous[: -self.chain]", "del previous[:-1]", "several own messages are named where nothing expires"),
    # -- context graph ---------------------------------------------------------------------------------------------
    Mutant("order/graph.py", "before = list(self.leaves.values())", "before = [] if self._last is None else [self._last]", "a message follows all leaves"),
    Mutant("order/graph.py", 'self.leaves.pop(f"{sender}:{seq}", None)', "pass", "what has a successor is no leaf"),
    Mutant("order/graph.py", "needs.update(dict.fromkeys(pred.needs[key]))", "pass", "the projection (T5)"),
    Mutant("order/graph.py", "entry.tops = self._alive(_merge(entry.preds))", "entry.tops = {s: n for p in entry.preds for s, n in p.marks}", "the newest of every sender (trap 1)"),
    Mutant("order/graph.py", "if n > base.get(stream, 0):", "if n > tops.get(stream, 0):", "an older message of a chain may name more than a newer one"),
    Mutant("order/graph.py", "            stack += [pred for pred in entry.preds if pred not in seen]\n", "", "what the smaller of two concurrent predecessors covers is named"),
    Mutant("order/graph.py", "wanted.update([pred for pred in node[3]", "wanted.update([pred for pred in node[3][:1]", "all unknown causes that came along are taken in"),
    Mutant("order/graph.py", "until = None if pred.until_us is None else max(until, pred.until_us)", "pass", "an expired node stays while an ancestor lives (H7)"),
    Mutant("order/graph.py", "if entry.gone or all(n <= stable", "if entry.gone or any(n <= stable", "stable in all its groups"),
    Mutant("order/graph.py", "if entry.gone or all(n <= stable", "if all(n <= stable", "what is lost for good is kept by nobody for ever"),
    Mutant("order/graph.py", "elif all(p.retired for p in entry.preds):", "else:", "a stable node travels while an ancestor does"),
    Mutant("order/graph.py", "elif now_us < entry.stable_us + self.grace_us:", "elif now_us < entry.stable_us:", "a stable node travels through the grace"),
    Mutant("order/graph.py", "interest.among(entry.tops)", "entry.tops", "only what concerns the subscriber is projected"),
    Mutant("order/graph.py", "while expiry and expiry[0][0] < now_us:", "while expiry and expiry[0][0] <= now_us:", "a node lives through its last microsecond"),
    Mutant("order/graph.py", "                    stack.append(pred)\n", "                    pass\n", "all unstable ancestors travel"),
    # -- index -----------------------------------------------------------------------------------------------------
    Mutant("order/index.py", "index - 1 - bit", "index - bit", "the bitmap counts from one below"),
    Mutant("order/index.py", "return after & ((1 << (index - 1 - self.acked)) - 1)", "return after", "what is acknowledged is not named"),
    Mutant("order/index.py", "after |= chain.up_to(newest, index)", "after = chain.up_to(newest, index)", "causes of all streams are named"),
    Mutant("order/index.py", "after |= chain.up_to(newest, index)", "after |= chain.up_to(newest, index) & 1", "all causes are named, not the nearest"),
    Mutant("order/index.py", "if n <= self.frontier.get(stream, 0):", "if False:", "replay leaves out the client's past"),
    Mutant("order/index.py", "if n <= self.frontier.get(stream, 0):", "if n < self.frontier.get(stream, 0):", "frontier: <="),
    Mutant("order/index.py", "        if forced:\n", "        if False:\n", "missing causes of a forced item are past"),
    Mutant("order/index.py", "return a.own[0] in b.needs", "return a.own[0] < b.own[0]", "a lower index is no cause"),
    Mutant("order/index.py", "return (1 << (index - 1 - self.acked)) - 1", "return 0", "plain mode waits for all lower"),
    Mutant("order/index.py", "        self.over.clear()\n", "", "a new attachment numbers from one"),
    # -- Store -----------------------------------------------------------------------------------------------------
    Mutant("store.py", "while expiry and expiry[0][0] < now_us:", "while expiry and expiry[0][0] <= now_us:", "kept through its last microsecond"),
    Mutant("store.py", "(deadline + self.slack_us, self._tick, envelope)", "(deadline, self._tick, envelope)", "slack"),
    Mutant("store.py", "            self.add_header(envelope, now_us)\n", "", "an expired message leaves its header"),
    Mutant("store.py", "        self._offers.clear()\n        deadline", "        deadline", "what came is offered"),
    Mutant("store.py", "        self._offers.clear()\n        if known", "        if known", "what expired is no longer offered"),
    Mutant("store.py", "bisect_right(rest, high)", "bisect_right(rest, high - 1)", "ranges are closed above"),
    Mutant("store.py", "range(low + 1, high + 1)", "range(low, high + 1)", "ranges are open below"),
    Mutant("store.py", "if envelope.message.id not in given:", "if True:", "each message is found once"),
    # -- spreads ---------------------------------------------------------------------------------------------------
    Mutant("spread/solicit.py", "peers[want.tries % len(peers)]", "peers[0]", "retries rotate"),
    Mutant("spread/solicit.py", "now_us + self.settings.trip_us > want.until_us", "now_us > want.until_us", "deadline budget"),
    Mutant("spread/solicit.py", "want is None or want.next_us != at_us", "want is None", "in a hurry it is asked for once"),
    Mutant("spread/loss.py", "            tier.wants.hurry(mark, now_us)\n", "            pass\n", "the next one is asked at once"),
    Mutant("spread/loss.py", "if source not in lacking] or sources", "] or sources", "who lacks it is not asked again"),
    Mutant("spread/loss.py", "            self._lacks[mark].discard(peer)\n", "            pass\n", "who got it after all may be asked"),
    Mutant("spread/digest.py", "*tier.local.names, *newcomers, *below", "*tier.local.names, *below", "newcomers are compared by all"),
    Mutant("spread/digest.py", "            self._newcomers.pop(sender, None)\n        if frame.stable", "        if frame.stable", "until they are in step once"),
    Mutant("membership/managed.py", "if isinstance(frame, Sync) and self._is_apart(frame, sender):", "if False:", "sides that do not know each other do not mingle"),
    Mutant("membership/managed.py", " and not lost and not self._avoided:", " and not lost:", "who is reached again is a place to go to"),
    Mutant("membership/managed.py", "if name in self._unknown and name != self.name", "if name != self.name", "a contact that is merely new is no other side"),
    Mutant("membership/managed.py", "        for name in some_of(self.dice, [*dead, *apart], KNOCKS):", "        for name in some_of(self.dice, dead, KNOCKS):", "unknown contacts are asked who is there"),
    Mutant("membership/managed.py", "[*dead, *apart], KNOCKS):", "[*dead, *apart], 1):", "one that is cut off is found among many that are dead"),
    Mutant("membership/managed.py", "return sender in present and self.name not in present", "return sender in present", "who names this one is no stranger"),
    Mutant("order/index.py", "until = min(self.top, self.acked + WINDOW)", "until = self.top", "a slow client is not flooded"),
    Mutant("order/index.py", "            item.after &= (1 << (item.index - 1 - self.acked)) - 1\n", "            pass\n", "what waited names what is acknowledged no more"),
    Mutant("order/index.py", "index = min(index, self.sent)", "index = min(index, self.top)", "what was not sent is not acknowledged"),
    Mutant("order/index.py", "self.lowest[stream] = min(numbers) if stream in self._turned else numbers[0]", "pass", "the lowest rises with acknowledgements"),
    Mutant("order/index.py", "if n < self.lowest.get(stream, n + 1):", "if stream not in self.lowest:", "the lowest, not the first"),
    Mutant("home_broker.py", "Top(log.number, log.sent,", "Top(log.number, log.top,", "what was not sent is not to be asked for"),
    Mutant("home_broker.py", "                self._send_due(sender, log, now_us)\n        elif isinstance(frame, Want):", "        elif isinstance(frame, Want):", "acknowledgements make room"),
    Mutant("client.py", "if some >= WINDOW // 2:", "if False:", "half a window is acknowledged at once"),
    Mutant("tier.py", "self._unseen.setdefault(sender, wanted_us)", "wanted_us", "a sender that was never seen is waited for once"),
    Mutant("order/reader.py", "here.get(n) is not UNKNOWN:", "True:", "what is held stands before what was given up of its sender"),
    Mutant("machine.py", "return 2 * self.clock_bound_us", "return self.clock_bound_us", "two clocks may be off in opposite ways"),
    Mutant("home_broker.py", "soonest_us = now_us - self.settings.slack_us  #", "soonest_us = now_us  #", "what has not expired at the client is replayed"),
    Mutant("membership/managed.py", "            self._say_out(claim.holder)\n", "            pass\n", "the weaker of two sides is told so"),
    Mutant("spread/solicit.py", "return want.tries >= TRIES_UNTIMED", "return False", "tries are bounded"),
    Mutant("spread/solicit.py", "want.until_us is None or until_us > want.until_us:", "want.until_us is None or until_us < want.until_us:", "the last need decides"),
    Mutant("spread/solicit.py", "if not missing(mark) or self._hopeless", "if self._hopeless", "what came is not asked for"),
    Mutant("spread/answer.py", "if in_time(e, now_us) and interest", "if interest", "answers hold only what is in time"),
    Mutant("spread/answer.py", "deadline is None or now_us <= deadline", "deadline is None or now_us < deadline", "in time"),
    Mutant("spread/loss.py", "if deadline is not None and now_us > deadline:", "if True:", "a header is not believed early"),
    Mutant("spread/loss.py", "        if now_us < left + tier.settings.grace_us and id_of_mark(mark) not in self._doomed:\n            return\n", "", "nothing is given up before grace"),
    Mutant("spread/loss.py", "if not sources or not all(source", "if not all(source", "without a broker for its group nothing is gone"),
    Mutant("spread/loss.py", "if not sources or not all(source in lacking", "if not sources or not any(source in lacking", "given up only when all lack it"),
    Mutant("spread/loss.py", " or not tier.is_missing(mark):", ":", "what came in the meantime is not given up"),
    Mutant("spread/answer.py", "found += [e for e in self._held_within(ranges)", "found += [e for e in ()", "what is held is answered too"),
    Mutant("spread/answer.py", "if not tier.serves(peer):", "if True:", "a subscriber has nobody else to ask"),
    Mutant("spread/solicit.py", "want.hint, want.tries = peer, 0", "pass", "whoever offers it is asked first"),
    Mutant("spread/digest.py", "            return False\n    return True", "            pass\n    return True", "in step means all of it"),
    Mutant("spread/digest.py", "return [peer for peer in peers if in_step.get(peer, -1) < version]", "return [peer for peer in peers if peer not in in_step]", "news begin a new round"),
    Mutant("tier.py", "self.writer.expire(now_us)", "self.writer.forget(now_us)", "a header costs no look at all that is stable"),
    Mutant("spread/digest.py", "for k in numbers if k <= n]", "for k in numbers]", "what was sent after it is not below one without a deadline"),
    Mutant("spread/loss.py", "(*self._unknown_before(mark), mark)))\n        over", "(mark,)))\n        over", "nor what stands before those that go with a lost one"),
    Mutant("spread/loss.py", "for mark in (*held.envelope.stamp.needs, *held.envelope.stamp.covers.items()):", "for mark in held.envelope.stamp.needs:", "wherever they are named"),
    Mutant("broker.py", "return self.settings.deadlines and not lasting", "return self.settings.deadlines", "somebody may have it by another of its groups"),
    Mutant("broker.py", " and self.absent_since(mark, want.since_us) is not None", "", "while its sender is there it is not asked for in other groups"),
    Mutant("joining.py", "(retired or not broker.settings.deadlines):", "(not broker.settings.deadlines):", "where something was forgotten a lost group begins behind it, with deadlines too"),
    Mutant("growing.py", "all(f in one for one in later)", "f in later[0]", "what was not wanted in between begins later"),
    Mutant("home_broker.py", "(not had(topics) or message.seq <= hidden.get(message.series, 0)):", "not had(topics):", "what lay behind where one group began is owed in another"),
    Mutant("home_broker.py", "self.known_interest(new).wants, self", "log.interest.wants, self", "in one that is new"),
    Mutant("home_broker.py", "                log.hide(log.cut)\n            else:", "                pass\n            else:", "also where it began first"),
    Mutant("spread/digest.py", " and not (lacking and sender in self._newcomers):", ":", "who came later is compared until all it offers is here"),
    Mutant("spread/digest.py", "            if some:\n", "            if True:\n", "the last one that is not in step is found"),
    Mutant("message.py", 'return LOOSE in stream and series_of(stream).endswith(LOOSE)', "return LOOSE in stream", "a topic may hold any character"),
    Mutant("spread/answer.py", "tier.losses.is_over(mark) if tier.losses.gave_up(mark) else passed:", "passed:", "what was given up passes what came before it, too"),
    Mutant("spread/answer.py", "if frame.lasting or not tier.settings.deadlines:", "if not tier.settings.deadlines:", "where something has no deadline it is said what is gone"),
    Mutant("spread/answer.py", "self._lacked(_where_none_is(found, ranges, dense=tier.reader.dense), sender", "self._lacked(ranges, sender", "what is gone does not overtake what is sent"),
    Mutant("spread/answer.py", "bisect_right(here.get(series_of(stream), []), high) > 0", "bool([n for n in here.get(series_of(stream), []) if low < n <= high])", "nor what is sent of the same sender before it"),
    Mutant("spread/loss.py", "        if self._lacked_elsewhere(mark, peer, now_us):\n", "        if True:\n", "what stands before a lost one in its other streams comes first"),
    Mutant("tier.py", "            self.writer.expire(now_us)\n        self.inbox.skip(", "            pass\n        self.inbox.skip(", "nor is an expired one named to those below, when its header comes"),
    Mutant("tier.py", "            self.rounds.want_before(envelope, hint, now_us)\n\n", "            pass\n\n", "what an expired one names is asked for, too"),
    Mutant("spread/loss.py", "if claim and not passed and message_id not in self._lost:", "if claim and message_id not in self._lost:", "what its broker passed at a deadline a subscriber does not call gone"),
    Mutant("order/reader.py", "                        stack.append(whole)\n", "", "what stands before a known one that an unknown one may have followed"),
    Mutant("home_broker.py", "                    self.out.append(Send(others, Data((envelope,))))  # passed over here", "                    pass  # passed over here", "what was passed over at its home gets to others from its client"),
    Mutant("spread/answer.py", "return want is not None and want.endless and now_us", "return False and now_us", "those who lack the same say so to each other"),
    Mutant("spread/digest.py", 'or tier.role == "subscriber"):', "or False):", "subscribers ask for what an unordered one names"),
    Mutant("spread/digest.py", "or tier.wants.any_endless(own)", "or False", "what leads to one without a deadline is as lasting"),
    Mutant("order/reader.py", "max(AHEAD - len(marks), 1)", "AHEAD", "a far number is looked at in pieces"),
    Mutant("spread/answer.py", "min(high, low + max(left, 1)) + 1)", "min(high, low + AHEAD) + 1)", "a wide range is answered in part"),
    Mutant("spread/digest.py", "tier.reader.offered(stream, n)[: max(left, 1)]", "tier.reader.offered(stream, n)", "many far numbers in one digest are looked at in pieces"),
    Mutant("spread/loss.py", "n - AHEAD) + 1, n)", "n - 2 * AHEAD) + 1, n)", "only the nearest of many unknown ones are given up"),
    Mutant("stability.py", "            raise_to(self.over, self.tier.interest.among(envelope.stamp.covers))\n", "", "who begins behind a message begins behind what precedes it"),
    Mutant("spread/solicit.py", "        if want.endless:\n            return False\n", "", "what something without a deadline needs is asked for until it comes"),
    Mutant("spread/solicit.py", "        elif backed:\n", "        else:\n", "what somebody merely has is asked for a few times"),
    Mutant("order/graph.py", "        if until is None:\n            self.cuts = True\n", "", "what follows a message without a deadline retires when everybody has it"),
    Mutant("subscriber.py", "                    self.attachment += 1  # it may be slow", "                    pass  # it may be slow", "a slow good-bye does not end what begins later"),
    Mutant("client.py", "                    self.heard.skipped(item.envelope.stamp.own, item.envelope.stamp)\n", "                    pass\n", "an unordered one that was missed is behind, too"),
    Mutant("causes.py", "            if stamp is None and not self._was_had(one):", "            if False:", "a cause that was never had is refused"),
    Mutant("causes.py", "            raise_to(self.forgotten, dict((split_id(oldest),)))\n", "            pass\n", "one that was forgotten is not"),
    Mutant("order/loose.py", "            if len(over) > KEPT:", "            if False:", "who reads an entry in part remembers so much of it"),
    Mutant("order/loose.py", "any(self.behind(stream, n) and n > self._taken.get(stream, 0) for", "any(self.behind(stream, n) for", "what is taken for had may still come from the same home"),
    Mutant("entries.py", "            if len(self._known) >= INTERESTS:\n                self._known.clear()\n", "", "filters of those who left are forgotten"),
    Mutant("member.py", "        raise_to(tops, self._began)\n", "", "a member hands on where it began"),
    Mutant("order/graph.py", "self.cuts = not deadlines", "self.cuts = False", "what is stable is found out without deadlines"),
    Mutant("spread/digest.py", "        if frame.reply:\n", "        if False:\n", "whoever is asked answers"),
    Mutant("spread/digest.py", "            self.at_us = now_us + (round_us >> 1)", "            self.at_us = now_us + 0 * (round_us >> 1)", "the first round is not at once"),
    # -- orders by message -----------------------------------------------------------------------------------------
    Mutant("order/loose.py", "covers[stream] = before[-1][0]", "pass", "an unordered message names the one before it"),
    Mutant("order/loose.py", "until + self.slack_us >= now_us", "until >= now_us", "other clocks may be behind"),
    Mutant("order/loose.py", "if until is None or until + self.slack_us >= now_us", "if True", "what has expired is not named"),
    Mutant("order/loose.py", "    return order, ()\n", "    return order, None\n", "fifo follows no message of others"),
    Mutant("order/reader.py", "            self._put_loose(stamp.own, stamp.covers)\n", "            self._put_loose(stamp.own, {})\n", "an unordered one does not put the one before it behind"),
    Mutant("order/reader.py", "self._put_loose(own, {} if stamp is None else stamp.covers)", "pass", "a skipped unordered one lies behind"),
    Mutant("order/reader.py", "return sorted({n, *self._before.get(stream, {}).values()})", "return [n]", "holes between unordered ones are found"),
    Mutant("order/reader.py", "reached = [k for k, one in named.items() if one <= front]", "reached = []", "the front follows the chain"),
    Mutant("tier.py", 'if writer is not None and envelope.message.order != "none":', "if writer is not None:", "nobody waits for an unordered message"),
    Mutant("tier.py", "                self.rounds.want_before(envelope, hint, now_us)\n", "                pass\n", "an unordered one that is lost is asked for"),
    Mutant("tier.py", 'past[stream] = self.tops.get(series_of(stream), 0)', "pass", "a newcomer begins behind unordered ones too"),
    Mutant("spread/loss.py", "if is_loose(stream) or tier.reader.dense or", "if tier.reader.dense or", "what is given up is not its sender's ordered one"),
    Mutant("order/index.py", "if not self.plain and not is_loose(own[0][0]):", "if not self.plain:", "an unordered item is no cause"),
    Mutant("client.py", "**self.upper.past(), **self.heard.front}", "**self.upper.past()}", "the frontier tells of unordered messages"),
    Mutant("client.py", 'if message.order == "none" and self._has(item, now_us):', "if False:", "an unordered one of an earlier home is a repeat"),
    Mutant("client.py", "if self.inbox.is_late(message, now_us) and not item.gone and message.id not in self.inbox.seen:", "if False:", "what others say has expired is late, no repeat"),
    Mutant("confirming.py", "            self.broker.logs[client].safe(message_id)\n", "            pass\n", "what is safe its client no longer keeps"),
    Mutant("order/index.py", "            return message_id in self.unacked\n", "            return False\n", "what it had not been told is safe it keeps"),
    Mutant("order/index.py", "                self._safe.remove(following)\n", "", "what is safe is remembered as a number"),
    Mutant("order/index.py", "if n > self.front.get(stream, 0):", "if True:", "a repeat is not remembered"),
    Mutant("outbox.py", "one.envelope = header_of(one.envelope)", "pass", "what has expired goes as a header"),
    Mutant("confirming.py", "self._acknowledge(message_id)  # nobody", "del self._unsafe[message_id]  # nobody", "a client is told when nobody takes it any more"),
    Mutant("home_broker.py", "log.entries.values() if item.index > index}", "log.entries.values()}", "what was not wanted when it came is sent again"),
    Mutant("spread/loss.py", "claim=one == mark or one[1] > overtaken", "claim=True", "what may have been overtaken in another group is not called gone"),
    Mutant("spread/answer.py", ", *self._aside_within(ranges)]", "]", "what its home passed over can be had there"),
    Mutant("spread/loss.py", "min(named[1], mark[1])", "named[1]", "what comes after a lost one is not waited for"),
    Mutant("spread/loss.py", "not self._everybody_lacks(named) and ", "", "what was asked for up to a number was asked for below it"),
    Mutant("spread/loss.py", " or id_of_mark(one) in self._lost:\n", ":\n", "what was given up is not waited for again"),
    Mutant("growing.py", "        self._narrow()\n", "", "what was wanted as part of more goes on"),
    Mutant("growing.py", "cuts.widen(Cuts(self._began[wide]))", "pass", "where that began"),
    Mutant("growing.py", "if not any(covers(one, f) for one in filters)))", "if f not in filters))", "what is now wanted as part of more goes on"),
    Mutant("client.py", "if self.home is not None and to[0] != self.home:", "if to[0] != self.home:", "who has unsubscribed does not move"),
    Mutant("home_broker.py", "sender + LOOSE: frame.loose}", "sender + LOOSE: frame.published}", "unordered publications are counted apart"),
    # -- baselines -------------------------------------------------------------------------------------------------
    Mutant("order/graph.py", "        if self.whole:\n", "        if False:\n", "psync sends the graph to subscribers"),
    Mutant("order/graph.py", "                self._whole.clear()\n", "", "what is stable does not travel to subscribers either"),
    Mutant("order/delta.py", "if n > self._until.get(stream, (0, 0))[0]:", "if True:", "older news change nothing"),
    Mutant("order/delta.py", "        self._hear(envelope.stamp, envelope.message)\n", "", "deadlines of what was delivered are known"),
    Mutant("delta.py", "until_us + 1 for", "until_us for", "a cause may come in its last microsecond"),
    Mutant("delta.py", "if now_us > until_us - self.guard_us:", "if now_us >= until_us - self.guard_us - 1:", "nothing is called expired in time"),
    Mutant("delta.py", "        if not held.gone:\n", "        if False:\n", "one cause after the other"),
    Mutant("delta.py", " if mark[1] not in held.get(mark[0], ())]", "]", "what is held is not called expired, by who overslept"),
    Mutant("delta.py", 'self.out.append(Discard(id_of_mark(mark), "expired"))', "pass", "what is given up is said"),
    Mutant("spread/ack.py", "            unheard.who.discard(peer)\n", "            unheard.who.clear()\n", "everybody must acknowledge"),
    Mutant("spread/ack.py", "if e.message.sender == sender)", ")", "only publishers wait for acknowledgements"),
    Mutant("spread/ack.py", "            self.member.rounds.begin(now_us)\n", "            pass\n", "what comes from one that is gone is compared"),
    Mutant("spread/ack.py", "<< min(unheard.tries, LONGEST)", "<< 0", "resending slows down"),
    Mutant("spread/ack.py", "                self._heard(message_id, peer)\n        self._next()\n\n    def hold", "                pass\n        self._next()\n\n    def hold", "nobody waits for those who are gone"),
    Mutant("spread/digest.py", "version = tier.store.version if self.steady else self._goal", "version = tier.store.version", "ackcast compares at changes of view only"),
    Mutant("spread/piggyback.py", "everywhere or not in_time(envelope, now_us)", "everywhere", "what has expired does not travel"),
    Mutant("spread/piggyback.py", "min((had.get(stream, 0) for had in others), default=0)", "max((had.get(stream, 0) for had in others), default=0)", "stable is what all have"),
    Mutant("spread/piggyback.py", "self._note(sender, frame.done or frame.have)", "self._note(sender, frame.have)", "held is not delivered"),
    Mutant("spread/piggyback.py", "[-CARGO:]", "[:CARGO]", "the newest come along"),
    Mutant("spread/piggyback.py", "        self._unstable[envelope.message.id] = envelope\n\n    def forward", "\n    def forward", "own messages are towed too"),
    Mutant("spread/lpbcast.py", "if age < self.forwards]", "]", "forward once"),
    Mutant("spread/lpbcast.py", "if age + 1 < over}", "if age < over}", "a lifetime has so many rounds"),
    Mutant("spread/lpbcast.py", "                member.store.let_go(envelope)\n", "                pass\n", "gossip lets go, and says so"),
    Mutant("spread/lpbcast.py", "member.dice.random() * len(others) < member.settings.fanout)", "True)", "the chain's probability"),
    Mutant("spread/lpbcast.py", "patience_us=member.settings.round_us", "patience_us=0", "a round is waited before asking"),
    Mutant("spread/lpbcast.py", "low = max(low, high - left)", "pass", "of a range without end only so many are looked at"),
    Mutant("spread/lpbcast.py", "left -= max(high - low, 0)", "pass", "nor of many ranges"),
    Mutant("store.py", "        if known is not None:\n", "        if True:\n", "nothing is let go of twice"),
    Mutant("delta.py", "return message.deadline_us is not None and isinstance(until, dict) and", "return until is None or", "delta takes in only what says when its causes expire"),
    Mutant("delta.py", " and named <= until.keys()", "", "of all of them"),
    Mutant("delta.py", 'if message.order == "none":', "if False:", "an unordered one says nothing of the kind"),
    Mutant("spread/lpbcast.py", "        member.local.learn(frame.names)\n", "", "names that come are taken in"),
    # -- views -----------------------------------------------------------------------------------------------------
    Mutant("spread/views.py", "self._pass_on(self.names.pop(self._below(len(self.names))))", "self.names.pop(self._below(len(self.names)))", "names that are put out are passed on"),
    Mutant("spread/views.py", "[self._passing.pop(0)]", "[self._passing[0]]", "a name is passed on once"),
    Mutant("spread/views.py", "(*names, sender) if self._dice.random() < TELLS", "(*names, sender) if True", "gossip tells of its sender now and then"),
    Mutant("spread/views.py", "if self.near and self._dice.random() < self.near:", "if False:", "near members are preferred"),
    Mutant("spread/views.py", "self.names = [name for name in self.names if name in self._known]", "pass", "who leaves leaves the view"),
    Mutant("spread/digest.py", "(*tier.neighbours(), *tier.local.names,", "(*tier.local.names,", "nobody is left out by chance"),
    Mutant("spread/digest.py", "*newcomers, *below)", "*newcomers)", "subscribers are compared with whatever the view is"),
    Mutant("early.py", "if isinstance(frame, (Data, Publish, Rumours)):", "if isinstance(frame, (Data, Publish)):", "gossip that comes while joining is kept"),
    Mutant("early.py", "if isinstance(frame, (Data, Publish, Rumours)):", "if isinstance(frame, (Data, Rumours)):", "and what clients publish"),
    # -- roles -----------------------------------------------------------------------------------------------------
    Mutant("tier.py", "past = {} if self.writer is None else dict(self.writer.past())", "past = dict(self.reader.front)", "somebody begins behind what was delivered, not behind what was skipped"),
    Mutant("publishing.py", "if None in known:", "if False:", "unknown declared causes widen to everything"),
    Mutant("tier.py", "else message.deadline_us - guard_us", "else message.deadline_us", "the budget ends with the guard"),
    Mutant("tier.py", "            writer.learn(envelope)\n", "            pass\n", "what is delivered is a cause"),
    Mutant("tier.py", "not self.reader.behind(*mark) and mark[1] not in self.inbox.marks.get(mark[0], ())", "not self.reader.behind(*mark)", "what is held is not asked for"),
    Mutant("spread/loss.py", "            sources = [*sources[first:], *sources[:first]]\n", "            pass\n", "whoever sent it is asked first"),
    Mutant("tier.py", "                self.departed[name] = now_us\n", "                pass\n", "who left is remembered"),
    Mutant("publishing.py", "tier.inbox.seen[envelope.message.id] = now_us", "pass", "the own message is not news"),
    Mutant("member.py", "        if self.joined:\n", "        if True:\n", "nothing is taken before the cut is known"),
    Mutant("broker.py", "done[stream] = min(done[stream], confirmed.get(stream, 0))", "pass", "trap 4: subscribers' share"),
    Mutant("stability.py", "for name in self.tier.carriers(stream)]", "for name in ()]", "stable at all carriers"),
    Mutant("broker.py", "link[0] <= frame.attachment", "link[0] < frame.attachment", "a detach ends its attachment"),
    Mutant("broker.py", "self.writer.relay(envelope) if link is None else self.writer.project(envelope, link[1])", "self.writer.relay(envelope)", "answers to subscribers are projected"),
    Mutant("joining.py", "for gift in self._gifts for node in gift.snapshot.nodes]", "for node in ()]", "the whole graph comes along"),
    Mutant("joining.py", "        past.update(broker.reader.cut)\n", "", "a newcomer begins behind its donor's cut"),
    Mutant("joining.py", "        past.update(broker.reader.cut)\n", "        past.update(broker.reader.front)\n", "what a donor skipped is not past"),
    Mutant("joining.py", "for header in gift.snapshot.headers:", "for header in ():", "an expired message still carries order"),
    Mutant("joining.py", "        if not self._uncovered:\n", "        if True:\n", "all groups covered before it begins"),
    Mutant("spread/loss.py", "if not sources and want.tries < 8 * TRIES_UNTIMED:", "if False:", "what is in two groups is asked for in either"),
    Mutant("spread/loss.py", "if not sources and want.tries < 8 * TRIES_UNTIMED:", "if not sources:", "but not for ever"),
    Mutant("tier.py", "        raise_to(past, interest.among(self.reader.cut))\n", "", "whoever begins here begins behind what this one began behind"),
    Mutant("broker.py", " if cut and interest.concerns_group(group))", " if False)", "and that is on record"),
    Mutant("broker.py", " if cut and interest.concerns_group(group))", " if cut)", "in its own groups only"),
    Mutant("cuts.py", "return self._common if own is None else Within(self._common, own)", "return self._common", "what lies behind in one group is not said of another"),
    Mutant("cuts.py", "                if groups.meets(filter, group):", "                if True:", "nor recorded of it"),
    Mutant("cuts.py", "            raise_to(self._special.setdefault(group, {}), own)\n", "            pass\n", "the newer of two cuts in each group"),
    Mutant("joining.py", "(gift.donor, cut_of(newest_of(known)))", "(gift.donor, gift.snapshot.cut)", "a lost group begins behind messages of its own"),
    Mutant("gifts.py", "*(cut for _, _, cut in snapshot.origins)", "", "where a donor began counts as had"),
    Mutant("joining.py", "elif not (broker.departed or len(broker.members) > 1) or broker.settings.deadlines:", "else:", "who finds all gone waits for others"),
    Mutant("joining.py", "(broker.departed or len(broker.members) > 1)", "broker.departed", "where there are subscribers there were brokers"),
    Mutant("gifts.py", "if group in carries:", "if False:", "what a donor gave up and forgot lies behind"),
    Mutant("gifts.py", "if group in carries:", "if True:", "what a donor retired unseen it has not had"),
    Mutant("member.py", "        self.rounds.want_passed(frame, sender, now_us)\n", "", "what a newcomer began behind is asked of all"),
    Mutant("spread/digest.py", "if not tier.asks or sender not in self._newcomers:", "if not tier.asks:", "others offer what they have, and are asked for that"),
    Mutant("spread/digest.py", "if digest.offer or digest.have:", "if digest.offer:", "a newcomer says what it began behind"),
    Mutant("member.py", "        if self.began(self.interest):\n            self.rounds.begin(now_us)\n", "", "a newcomer says what it began behind"),
    Mutant("joining.py", "            last.covered = (*last.covered, *self._uncovered)\n", "            pass\n", "who finds nobody left begins behind what the last donor forgot"),
    Mutant("joining.py", "if gift.donor != sender or gift.covered]", "if gift.covered]", "a snapshot that covers nothing new is taken too"),
    Mutant("joining.py", "Gift(sender, carries, covered, frame)", "Gift(sender, (), covered, frame)", "a donor carried what it carried"),
    Mutant("joining.py", "if again and broker.name < min(broker.all_brokers):", "if again:", "of those who join together one begins first"),
    Mutant("joining.py", "if again and broker.name < min(broker.all_brokers):", "if broker.name < min(broker.all_brokers):", "after it has asked the others once more"),
    Mutant("joining.py", "        self._blank.discard(sender)\n", "        pass\n", "who speaks has begun"),
    Mutant("joining.py", "if donor is None and sender not in self.broker.departed:", "if False:", "strangers have no say in where a broker begins"),
    Mutant("joining.py", "return now_us < self._alone_us + broker.settings.grace_us", "return True", "but not for ever"),
    Mutant("order/index.py", "if all(n <= began.get(stream, 0) for stream, n in own if concerns(stream)):", "if any(n <= began.get(stream, 0) for stream, n in own):", "what a client began behind in one group is owed in another"),
    Mutant("order/index.py", "if all(n <= began.get(stream, 0) for stream, n in own if concerns(stream)):", "if False:", "nothing is sent from behind where it began"),
    Mutant("order/graph.py", "            needs = tuple(mark for mark in needs if id_of_mark(mark) in self.graph)\n", "            pass\n", "what has expired is named to nobody"),
    Mutant("order/matrix.py", "            own, covers = (*own, here), dict(covers)\n", "            covers = dict(covers)\n", "what its sender did not know goes here is addressed here all the same"),
    Mutant("order/matrix.py", "                raise_to(covers, {stream_of(sender, self.place): n})\n", "                pass\n", "and follows here whatever it follows"),
    Mutant("order/matrix.py", "                raise_to(self.matrix, {stream_of(message.sender, place): message.seq})\n", "                pass\n", "and precedes what goes there from here"),
    Mutant("order/matrix.py", "            raise_to(covers, {stream: self.matrix.get(stream, 0) for stream, _ in own})  # to places met since, too\n", "", "ones own previous message precedes at new places too"),
    Mutant("order/matrix.py", "                if not set(new).isdisjoint(note.groups):", "                if False:", "what went before a place was known precedes what it is sent"),
    Mutant("spread/loss.py", "        marks.update((want, None) for want in tier.wants.wants if id_of_mark(want) == message_id)\n", "", "what is given up is asked for in no stream"),
    Mutant("spread/digest.py", "return {stream: min(n, here.get(stream, n)) for stream, n in news.items()}", "return news", "what is lacking here is not stable"),
    Mutant("spread/loss.py", "if sources <= self._lacks.get(m, set())]", "if True]", "its brokers say which of it cannot be had"),
    Mutant("spread/answer.py", " and all(id_of_mark(one) != message_id for one in self.tier.wants.wants)", "", "what is still asked for is not said to be gone"),
    Mutant("spread/answer.py", "return message_id in self.tier.store.by_id or", "return", "what is here by another group is here"),
    Mutant("subscriber.py", "                self._passed.widen(self._cuts)\n", "                pass\n", "what it began behind elsewhere stays behind"),
    Mutant("cuts.py", "return max(self._own[name], self._common.get(name, 0))", "return self._own[name]", "of the common cut and a group's own the newer holds"),
    Mutant("home_broker.py", "for index in dict.fromkeys(frame.indexes) if", "for index in frame.indexes if", "what is asked for twice is sent once"),
    Mutant("home_broker.py", "[item for item in asked if item.index <= log.sent]", "asked", "what waits for acknowledgements is not had by asking"),
    Mutant("store.py", "            del rest[start:end]\n", "", "ranges that overlap are looked through once"),
    Mutant("store.py", "in dict.fromkeys(ranges):", "in ranges:", "ranges that repeat too"),
    Mutant("round_broker.py", "once = dict.fromkeys(ranges)", "once = ranges", "what a subscriber asks for twice is looked for once"),
    Mutant("cuts.py", "        raise_to(self._common, other._common)\n", "", "of two cuts the newer holds"),
    Mutant("spread/loss.py", "return mark in self._given_up and (known is None or self.tier.reader.blocker(known) is None)", "return mark in self._given_up", "a broker says what is gone when it waits for nothing before it"),
    Mutant("spread/loss.py", "for one in (*self._unknown_before(mark), mark):", "for one in (*(self._unknown_before(mark) if tier.writer is not None else ()), mark):", "a subscriber passes what came before what is gone"),
    Mutant("spread/loss.py", "if is_loose(stream) or tier.reader.dense or", "if is_loose(stream) or", "where every number stands for a message each is asked for"),
    Mutant("spread/loss.py", "        if any(earlier in tier.wants.wants for earlier in self._unknown_before(mark)):", "        if False:", "what came before and is asked for comes or goes first"),
    Mutant("subscriber.py", "if sender != self._wanted[0] or (falls_short", "if (falls_short", "it begins at the first broker's cut"),
    Mutant("subscriber.py", "                if reply.start.get(stream, 0) < n:", "                if False:", "a source counts once it covers the cut"),
    Mutant("subscriber.py", "if cuts.within(group).get(sender, 0) < self._cuts.within(group).get(sender, 0):", "if False:", "and what is on record of it"),
    Mutant("subscriber.py", "        self.inbox.clear()\n", "", "a move drops what was held"),
    Mutant("confirming.py", "if alone or self._is_safe(envelope):", "if True:", "PUBACK when another broker has it"),
    Mutant("confirming.py", "            log.safe(message_id)\n\n", "            pass\n\n", "what was acknowledged before its attachment came is not waited for"),
    Mutant("confirming.py", "if one in broker.store.by_id or one in broker.inbox.held]", "if True]", "what was late or lies behind is not kept"),
    Mutant("confirming.py", "if waiting is not None and sender in self.broker.carriers_of(waiting[1].message.topics):", "if waiting is not None:", "only a carrier confirms"),
    Mutant("confirming.py", "            self.broker.out.append(Send((home,), Kept(tuple(ids))))\n", "            pass\n", "who takes a publication says so at once"),
    Mutant("entries.py", "        return group in self.filters\n", "        return any(self.entries.meets(f, group) for f in self.entries.filters(self.filters))\n", "a broker waits for the entries it carries, not for what they overlap"),
    Mutant("entries.py", "return all(any(covers(one, filter) for one in wide) for filter in filters)", "return all(any(overlaps(one, filter) for one in wide) for filter in filters)", "a filter is carried where one entry covers it"),
    Mutant("entries.py", "any(self.entries.meets(filter, group) for filter in self.filters)", "any(matches(filter, group) for filter in self.filters)", "filters meet entries by overlap"),
    Mutant("home_broker.py", "elif message_id in self.inbox.seen:", "elif False:", "a known publication is dropped"),
    Mutant("home_broker.py", "if client != sender and log", "if log", "a publisher is not sent its own message"),
    Mutant("home_broker.py", "self._skip_unsent(envelope, client, others, now_us)\n", "pass\n", "an unsent publication is skipped"),
    Mutant("home_broker.py", "item if in_time(item.envelope, soonest_us) else _expired(item) for", "item for", "expired items come as headers"),
    Mutant("client.py", "if self.inbox.is_late(envelope.message, now_us):  # by this", "if True:  # by this", "what others call expired is judged by the own clock"),
    Mutant("home_broker.py", " or not in_time(envelope, soonest_us):\n                continue", ":\n                continue", "only what is in time is replayed"),
    Mutant("home_broker.py", "and frame.attachment > log.number:", "and frame.attachment >= log.number:", "whose detach"),
    Mutant("client.py", "if sender == self.home and frame.attachment == self.attachment and", "if sender == self.home and", "the attachment is checked"),
    Mutant("client.py", "            if item.index > reach:", "            if False:", "no home is further ahead than its window"),
    Mutant("client.py", "min(frame.top, self._reach())", "frame.top", "nor are there numbers to ask for beyond it"),
    Mutant("client.py", "min(frame.first - 1, self._reach())", "frame.first - 1", "nor does a change begin beyond it"),
    Mutant("client.py", "        self.reader.restart()\n", "", "indexes of the old attachment mean nothing"),
    Mutant("client.py", "        self.upper.learn(original)\n", "", "the frontier is carried as causes"),
    Mutant("outbox.py", "over = not in_time(one.envelope, now_us - client.settings.slack_us)", "over = False", "late publications are resent as headers"),
    Mutant("client.py", "None if self._fresh else frontier", "None", "the next home is told the frontier"),
    Mutant("client.py", "for stream, n in self.start_marks.items() if n > frontier.get(stream, 0)}", "for stream, n in ()}", "and where it began"),
    Mutant("client.py", "                if not item.gone:\n                    self.out.append(Discard(message.id, \"duplicate\"))\n                self._pass(envelope, now_us)\n", "                if not item.gone:\n                    self.out.append(Discard(message.id, \"duplicate\"))\n                    self._pass(envelope, now_us)\n", "what came by an earlier number and is gone now has a number too"),
    Mutant("client.py", "self.growing.attaching(), began,", "self.growing.attaching(),", "and the next home too"),
    Mutant("client.py", "        self.outbox.publish_again(now_us)\n", "", "what is unacknowledged is published again"),
    Mutant("client.py", "self.inbox.skip(envelope, \"gone\", now_us)", "pass", "an item that is gone is past"),
    Mutant("client.py", "self.inbox.skip(envelope, \"expired\", now_us)", "pass", "an item that has expired is past"),
    Mutant("outbox.py", "one is not None and one.resend_at == at_us", "one is not None", "a timer that was put off does not come early"),
    Mutant("outbox.py", "sorted(due.items())", "sorted(due.items(), reverse=True)", "what is due together goes in the order of publication"),
    Mutant("outbox.py", "            self._schedule(one, now_us + self._safe_us())\n", "            pass\n", "what came is not sent again at once"),
    Mutant("client.py", "*self.missed.ids(now_us), ", "*(), ", "no home need send what was late here"),
    Mutant("missed.py", "next(iter(missed.values())) < limit)", "False)", "which is told as long as one might"),
    Mutant("missed.py", "(len(missed) > most or ", "(False or ", "and not more of it than are on their way"),
    Mutant("order/index.py", "if self.missed and envelope.message.id in self.missed:", "if False:", "nor does the next home number it"),
    Mutant("recipes.py", '(settings.hop_us if role == "broker" else 0)', "0", "a broker leaves time for the hop (H15)"),
    Mutant("interest.py", "return not group or any(", "return True or any(", "streams of other groups do not concern it"),
    # -- saving ----------------------------------------------------------------------------------------------------
    Mutant("frozen.py", 'return ["@", max(thing - self.now_us, -LONG_AGO_US)]', "return thing", "times are relative to now"),
    Mutant("frozen.py", 'return ["c", constant]', 'return ["r", self._place(thing)]', "a sentinel is itself again"),
    Mutant("frozen.py", "put(thing, name, empty() if callable(empty) else empty)", "pass", "caches begin empty"),
    Mutant("alike.py", "tuple(sorted(seen))", "tuple(sorted(seen.items()))", "when a message came makes no difference"),
    Mutant("alike.py", "if version >= rounds.tier.store.version", "if version", "in step with an old version is not in step"),
    Mutant("alike.py", "kind.__name__ not in FORGOTTEN", "False", "no contents are lost without a rule"),
    # -- rounds, matrix, colour ------------------------------------------------------------------------------------
    Mutant("round_clock.py", "max(self.round_at(now_us), self.newest + 1)", "self.round_at(now_us)", "a round greater than all before"),
    Mutant("round_clock.py", "return self.start_us(number + self.colours) - 1", "return self.start_us(number + self.colours)", "the last microsecond of a lifetime"),
    Mutant("round_clock.py", "below - number <= self.colours else 0", "below - number < self.colours else 0", "a predecessor that may live is named"),
    Mutant("round_clock.py", "below - number <= self.colours else 0", "True else 0", "an expired round has no colour"),
    Mutant("round_clock.py", "below - 1 - (below - colour) % self.colours", "below - (below + 1 - colour) % self.colours", "a colour is a round below the own"),
    Mutant("round_clock.py", "return max(0, count - 1).bit_length() + alpha", "return count.bit_length() + alpha", "ceil(log2 N)"),
    Mutant("order/rounds.py", "        self.clock.saw(envelope.message.seq)\n", "", "rounds grow along causality"),
    Mutant("order/rounds.py", "if interest.concerns(stream):", "if True:", "only what is addressed to the subscriber is named"),
    Mutant("order/rounds.py", "if n > newest.get(sender, 0):", "if sender not in newest:", "the newest round of each broker"),
    Mutant("order/rounds.py", "Stamp(own_below(message), needs, dict(needs), message.seq)", "Stamp(own_below(message), needs, {}, message.seq)", "all named lie behind what is forced out"),
    Mutant("order/matrix.py", "if group_of(stream) == self.place)\n        return Stamp", "if group_of(stream) == self.place and n > 1)\n        return Stamp", "the own column must be covered"),
    Mutant("order/matrix.py", "        raise_to(self.matrix, stamp.covers)\n", "        raise_to(self.matrix, dict(stamp.needs))\n", "other columns are merged too"),
    Mutant("order/matrix.py", "covers = close([*after, self._last] if self._last is not None else after)", "covers = close(after)", "declared causes include the own previous message"),
    Mutant("order/matrix.py", "tops[ANY] = max(n, tops.get(ANY, 0))", "pass", "what never came counts for all groups"),
    Mutant("order/matrix.py", "if group == ANY or interest.concerns_group(group)", "if group == ANY or True", "the colour is of what is addressed to the subscriber"),
    Mutant("order/matrix.py", "for group, top in (*note.tops.items(), *((group, n) for group in note.groups)):", "for group, top in ((group, n) for group in note.groups):", "predecessors of predecessors"),
    Mutant("order/matrix.py", "newest = max(newest, self._newest_elsewhere(group, stamp))", "pass", "groups that are not carried here"),
    Mutant("order/matrix.py", "message.payload, message.expires_us, message.expires_us", "message.payload, message.deadline_us, message.expires_us", "towards subscribers a message ends with its lifetime"),
    Mutant("order/matrix.py", "self.meet(place, groups)", "pass", "a newcomer learns of all places"),
    Mutant("order/matrix.py", "self.clock.round_at(now_us) - 2 * self.clock.colours - 1", "self.clock.round_at(now_us)", "notes live as long as what may follow"),
    Mutant("order/colour.py", "return self.eager and stamp.rank <= self.barrier", "return False", "eager: what may precede stays"),
    Mutant("order/colour.py", "return self.eager and stamp.rank <= self.barrier", "return self.eager and stamp.rank < self.barrier", "eager: the barrier itself"),
    Mutant("order/colour.py", "if not self.eager or self.barred(stamp):", "if self.barred(stamp):", "hold waits"),
    Mutant("order/colour.py", "self.barrier = max(self.barrier, newest_before(stamp))", "self.barrier = newest_before(stamp)", "the barrier never falls"),
    Mutant("order/colour.py", "            self._free(ROUNDS, number, number)\n", "", "who waits for a round is freed by it"),
    Mutant("order/colour.py", "return a.rank <= newest_before(b)", "return a.rank < newest_before(b)", "precedes: <="),
    Mutant("eager.py", "for held in sorted(before, key=by_rank):", "for held in ():", "eager takes along what may precede"),
    Mutant("eager.py", "for held in sorted(before, key=by_rank):", "for held in before:", "in order of rounds"),
    Mutant("eager.py", "return deadline_us - self.guard_us + 1", "return deadline_us - self.guard_us", "a round has expired only after its end"),
    Mutant("eager.py", "        if not self.reader.barred(stamp):\n            deadline_us = min", "        if True:\n            deadline_us = min", "what is barred stays to its own end"),
    Mutant("round_clock.py", "return number <= self.round_at(now_us) + self.colours + 1", "return number <= self.round_at(now_us) + self.colours", "a clock may be ahead by a lifetime and a round"),
    Mutant("round_broker.py", "        if far:\n", "        if False:\n", "a round that nobody can have reached is not waited for"),
    Mutant("round_broker.py", "while waiting and waiting[0].message.seq <= current:", "while waiting:", "not before its round"),
    Mutant("round_broker.py", "        if envelope.message.sender != self.name:\n", "        if True:\n", "nobody hears of it before its round"),
    Mutant("round_broker.py", "newest[self.name] = self.tops.get(self.name, 0)", "pass", "a cut does not reach into what waits"),
    Mutant("round_broker.py", "max(deadline_us, expires_us) if self.uniform else", "min(deadline_us, expires_us) if self.uniform else", "uniform: no earlier end"),
    Mutant("round_broker.py", "if interest.wants(envelope.message.topics):", "if True:", "a digest below names what is wanted"),
    Mutant("round_broker.py", "if top > n >= top - SUMMED)", "if False)", "the summary"),
    Mutant("round_subscriber.py", "self._lacks[stream] = lacks", "pass", "what a summary names is lacking until it is here"),
    Mutant("spread/pull.py", "to = tuple(name for name in names if name in drawn)", "to = names", "few get it by itself"),
    Mutant("spread/gossip.py", "if name != message.sender]", "]", "not back to its sender"),
    Mutant("spread/gossip.py", "self._keep_hot(envelope, self.times - 1, now_us)", "self._keep_hot(envelope, self.times, now_us)", "once is once"),
    Mutant("spread/lazy.py", "self._announce(envelope, [name for name in everyone if name not in drawn])", "pass", "the others are told"),
    # -- membership ------------------------------------------------------------------------------------------------
    Mutant("membership/news.py", "return new.final and not old.final", "return new.final and not old.final or new.number > old.number", "dead is final"),
    Mutant("membership/news.py", "(new.number, new.state == SUSPECT) > (old.number, old.state == SUSPECT)", "new.number > old.number", "suspicion counts more than life"),
    Mutant("membership/news.py", "if new.number > old.number + LEAP:", "if False:", "nobody counts so far at once"),
    Mutant("membership/news.py", "len(life) <= LIFE_DIGITS and ", "", "so many digits are no incarnation"),
    Mutant("membership/news.py", ' and life[0] != "0"', "", "an incarnation is written in one way"),
    Mutant("membership/table.py", 'self.entries.pop(f"{base}.{before}" if before else base, None)', "self.entries.pop(base, None)", "what is replaced is not kept"),
    Mutant("membership/managed.py", "if base == own and life > mine:", "if False:", "no founder ends another"),
    Mutant("membership/managed.py", "if len(self._strangers) > STRANGERS:", "if False:", "strangers are remembered up to a number"),
    Mutant("membership/table.py", "return life < self._latest.get(base, 0)", "return False", "a later incarnation ends the earlier ones"),
    Mutant("membership/table.py", "and not (self._mirrors and known.final and not news.final)", "", "a subscriber mirrors what brokers say"),
    Mutant("membership/table.py", "(-self.voters, self.smallest, self.holder)", "(self.voters, self.smallest, self.holder)", "the larger view stays"),
    Mutant("membership/table.py", "            self.version += 1\n            del", "            del", "whoever is forgotten leaves the view"),
    Mutant("membership/steady.py", "min(max(now_us - self._seen_us, 0), self.limit_us)", "max(now_us - self._seen_us, 0)", "a leap counts as the limit at most"),
    Mutant("membership/steady.py", "min(max(now_us - self._seen_us, 0), self.limit_us)", "min(now_us - self._seen_us, self.limit_us)", "steady time never runs back"),
    Mutant("entries.py", "all(group in carried for group in wanted) and", "", "a filter wants every group it matches"),
    Mutant("membership/places.py", "next((name for name in left if name in candidates), None)", "None", "what is left is kept"),
    Mutant("membership/detector.py", "return self._heard.get(probe.target, -1) >= probe.sent_us", "return probe.target in self._heard", "what was heard before a ping does not count"),
    Mutant("membership/detector.py", "if self._decides and not self._answered(probe):", "if not self._answered(probe):", "a subscriber sees for itself whom it can reach"),
    Mutant("membership/detector.py", "elif one.state == SUSPECT and beats(one, self.table.me):", "elif False:", "a suspect refutes"),
    Mutant("membership/detector.py", "elif one.name == sender or self._believes(sender):", "else:", "a subscriber speaks for itself only"),
    Mutant("membership/detector.py", "        if known is not None and known.state == SUSPECT:\n            items.append(known)\n", "", "a suspect is told of it"),
    Mutant("membership/detector.py", "or voters.isdisjoint(news.at)", "", "orphans are everybody's"),
    Mutant("membership/detector.py", "max(2, len(self.table.present()).bit_length())", "2", "suspicion grows with the view"),
    Mutant("membership/detector.py", "            if self._told[name] >= enough:\n", "            if False:\n", "news is told a bounded number of times"),
    Mutant("membership/detector.py", "            self.table.keep_only({news.name for news in frame.news})\n", "            pass\n", "brokers that nobody remembers are forgotten"),
    Mutant("membership/managed.py", 'not self.over and (self.role == "subscriber" or not self.table.is_out(sender))', "not self.over", "no zombie"),
    Mutant("membership/managed.py", "if isinstance(frame, Sync) and not frame.reply:", "if isinstance(frame, Sync):", "two newcomers do not take each other for the system"),
    Mutant("membership/managed.py", "frame.smallest, sender).stays_before(self.table.claim())", "frame.smallest, sender).voters > 0", "exactly one side yields"),
    Mutant("membership/managed.py", "if claim.stays_before(self.table.claim()):", "if True:", "exactly one of two sides that never met yields"),
    Mutant("membership/managed.py", "            yields = self.alone()\n", "            yields = False\n", "a subscriber of the losing side yields too"),
    Mutant("membership/managed.py", "at_us + self.probing.period_us\n                self._say_out", "at_us\n                self._say_out", "told once a period at most"),
    Mutant("membership/managed.py", "if n.state == DEAD and n.role", "if n.final and n.role", "who left is left alone"),
    Mutant("membership/managed.py", "        if gone:  #", "        if False:  #", "who came and went unnoticed was there too"),
    Mutant("membership/managed.py", "        if self._attached:\n", "        if False:\n", "a subscriber moves by itself"),
    # -- what is owed, what is kept ------------------------------------------------------------------------------
    Mutant("growing.py", "self.leave(tuple(f for f in self.owed.filters if not", "tuple(tuple(f for f in self.owed.filters if not", "what is left is on record"),
    Mutant("growing.py", "*client.inbox.dismiss(self.owed.wants, now_us)):", "):", "what is held of groups that were left is dropped"),
    Mutant("growing.py", "        self._missed[sender] = max(seq, self._missed.get(sender, 0))\n", "", "what was not wanted when it came is not owed later"),
    Mutant("growing.py", "        self._missed.clear()\n", "", "another home looks itself at what was passed"),
    Mutant("home_broker.py", "raise_to(tops, newest_of(self.interest.among(passed)))", "pass", "what a client has passed is not owed"),
    Mutant("home_broker.py", "raise_to(tops, newest_of(self.interest.among(passed)))", "raise_to(tops, {s: min(n, self.tops.get(s, 0)) for s, n in newest_of(self.interest.among(passed)).items()})", "nor is it where it has not come yet"),
    Mutant("spread/loss.py", "while lost := [mark for mark in missing if id_of_mark(mark) in self._lost] if self._lost else []:", "while False:", "what was given up in one stream is lost in all"),
    Mutant("growing.py", " and all(f in one for one in later)", "", "an old answer confirms what is still wanted"),
    Mutant("growing.py", "self.at_us = now_us + 2 * client.settings.retry_us", "self.at_us = None", "a change is asked for again"),
    Mutant("growing.py", "return self.change if self._asked else 0", "return 0", "an attachment says that it brings a change"),
    Mutant("client.py", 'effect.reason == "late":  # held', 'effect.reason == "never":  # held', "what was held until it was late is told to the next home"),
    Mutant("client.py", "or not self.growing.owed.wants(message.topics):", "or not self.interest.wants(message.topics):", "nothing is delivered for a group that has not begun"),
    Mutant("growing.py", "client.inbox.dismiss(self.owed.wants, now_us)):", "client.inbox.dismiss(client.interest.wants, now_us)):", "nor is anything held for it"),
    Mutant("growing.py", "= came or self.passed.get(number, False)", "= True", "a header is no copy"),
    Mutant("home_broker.py", "if message.id not in numbered and ", "if ", "what is numbered already is not numbered again"),
    Mutant("home_broker.py", "frame.missed[-WINDOW:]", "frame.missed", "no more is kept than a client can have missed"),
    Mutant("order/reader.py", "if one.covers and whole is None:", "if one.covers:", "what an unknown one may have stood for is looked at once"),
    Mutant("spread/loss.py", "                over = False\n        return over\n\n    def _everybody", "                pass\n        return over\n\n    def _everybody", "what may stand before a lost one in another group comes first"),
    Mutant("spread/answer.py", "else series_of(stream), []).append(n)", "else stream, []).append(n)", "nor what is sent of the same sender in another group"),
    Mutant("client.py", "again = self.growing.passed.get(item.index, False)", "again = False", "another copy of what was not wanted is a repeat"),
    Mutant("client.py", "elif item.index in self.growing.passed or not self.growing.owed.wants(message.topics):", "elif item.index in self.growing.passed:", "what was left is not delivered"),
    Mutant("client.py", "elif message.id in self.inbox.seen and message.id not in self.inbox.held:", "elif False:", "a repeat by another number lies behind"),
    Mutant("client.py", "self.growing.confirmed(frame.change, sender, frame.cut)", "pass", "items tell where a change began"),
    Mutant("client.py", "raise_to(self.start_marks, dict(item.envelope.stamp.own))", "pass", "H13: the frontier passes what is gone"),
    Mutant("home_broker.py", "if log.low > frame.index:", "if False:", "H8: acknowledgements that overtook the growth"),
    Mutant("home_broker.py", "over = any(n <= passed.get(stream, 0) for stream, n in envelope.stamp.own)", "over = False", "H8: growth without the frontier filter"),
    Mutant("home_broker.py", "log.passed(frame.frontier, frame.index)", "dict(frame.frontier)", "H8: nor what precedes a message under way"),
    Mutant("home_broker.py", "return Grown(grown.attachment, grown.change, grown.first, grown.cut, items)", "return Items(log.number, items)", "what follows a change says so"),
    Mutant("home_broker.py", "tops[message.sender] = min(message.seq - 1, tops.get(message.sender, 0))", "pass", "what a growth replays is owed"),
    Mutant("home_broker.py", "if log.grown is None or log.grown.change < frame.change:", "if True:", "a change is made once"),
    Mutant("home_broker.py", "            raise_to(passed, self.stability.settled)", "            pass", "history is not replayed to who grows"),
    Mutant("home_broker.py", "done[stream] = n - 1", "pass", "trap 4: what a client has not acknowledged"),
    Mutant("home_broker.py", "replayed = self._gone_for(log, sender) + self._replay", "replayed = self._replay", "H13: who comes back too late is told"),
    Mutant("order/index.py", " for item in self.entries.values() if item.index > index]", " for item in self.entries.values()]", "what it has passed without delivering may come again"),
    Mutant("order/index.py", "self.acked < self.grown.first", "False", "a change may be unknown for a while"),
    Mutant("stability.py", "while since and now_us >= since[0][1] + self.tier.settings.grace_us:", "while since:", "grace"),
    Mutant("stability.py", "while since and since[-1][0] > stable:", "while False:", "a newcomer begins the wait anew"),
    Mutant("stability.py", "and all(self._is_over(*mark) for mark in", "and any(self._is_over(*mark) for mark in", "a message of several groups waits for all"),
    Mutant("stability.py", "            done.append(mine)\n", "            pass\n", "it counts itself too"),
    Mutant("stability.py", "if self._done(carriers[at], stream) <= level:", "if True:", "who lagged may have caught up"),
    Mutant("stability.py", "if (mine is not None and mine < level) or not", "if not", "what this process has done may shrink"),
    Mutant("stability.py", "        self._laggards.clear()\n", "        pass\n", "who lagged may have left, and others come"),
    Mutant("stability.py", "if envelope.message.deadline_us is None and", "if", "what has a deadline stays until then"),
    Mutant("stability.py", "if of == group and n > tops.get(sender, 0):", "if False:", "H10: a newcomer begins behind what is gone"),
    Mutant("joining.py", "        raise_to(past, broker.interest.among(broker.stability.over))\n", "", "H10: the same in marks"),
    Mutant("joining.py", "            raise_to(retired, gift.snapshot.retired)\n", "            pass\n", "what one donor has forgotten is not taken over from another"),
    Mutant("joining.py", "min(n, one.had.get(sender_of(stream), 0))", "n", "nobody begins behind more than its donor is"),
    Mutant("joining.py", "witness((gift, *self._gifts), tops)", "gift", "any donor that has had it all is witness"),
    Mutant("joining.py", "gift if group in gift.carries else carried.get(group, gift)", "gift", "a group begins where it is carried"),
    Mutant("joining.py", "if any(n > front.get(stream, 0) for stream, n in concerned.items()):", "if False:", "nor forgets what it is owed"),
    Mutant("order/graph.py", "        raise_to(self.retired, retired)\n", "", "nor takes over from it who comes next"),
    Mutant("message.py", "        if n > marks.get(name, 0):", "        if True:", "the newer of two marks"),
    Mutant("joining.py", "broker.store.add_gone(header, now_us)", "pass", "H13: a newcomer knows what is gone"),
    Mutant("order/graph.py", "and not self._is_retired(node):", ":", "what is forgotten does not come back"),
    Mutant("subscriber.py", "self._wanted = brokers[:1] if self._changed else brokers", "self._wanted = brokers", "one source after a change"),
    Mutant("subscriber.py", " or not self._covers_all(sender, frame):", ":", "a new group begins behind all that was delivered"),
    Mutant("subscriber.py", "self.take_wanted(frame.envelopes, sender, now_us)", "self.take(frame.envelopes, sender, now_us)", "what was sent for other filters"),
    Mutant("subscriber.py", "self._want(Interest(kept))", "pass", "nothing waits for ever"),
    Mutant("tier.py", "self.stability.forget(name)", "pass", "who left holds nothing back"),
    Mutant("spread/answer.py", "if (passed or self._cannot_come(mark, now_us)) and", "if self._cannot_come(mark, now_us) and", "what lies behind and is not kept cannot be had here"),
    Mutant("spread/digest.py", "if tier.store.lasting:", "if False:", "what is done is told"),
    Mutant("handover.py", "one.put_us + self.memory_us <= other.put_us or other.follows(own)", "other.follows(own)", "what waited for long counts as a cause"),
    Mutant("handover.py", "            if self._precedes(one, ready, stamp):\n", "            if False:\n", "causes that wait in another queue are delivered first"),
    Mutant("handover.py", "            if self._door or self._blocked(ready):\n", "            if self._blocked(ready):\n", "nobody passes those who stand at the door"),
    Mutant("handover.py", "while due and due[0][0] < now_us:\n            ready", "while due and due[0][0] <= now_us:\n            ready", "in time includes the last instant"),
    Mutant("handover.py", "        if not ready.queues and not ready.settled:\n            self._lose(ready, reason, now_us)\n", "        if not ready.settled:\n            self._lose(ready, reason, now_us)\n", "it is dropped when the last queue drops it"),
    Mutant("handover.py", "        if any(one.delivered for one in after):\n", "        if False:\n", "what a new home sends too late is superseded"),
    Mutant("handover.py", "        elif any(not one.settled for one in after):\n", "        elif False:\n", "what goes before a carried message takes its place before it"),
    Mutant("handover.py", "        for one in sorted(held, key=by_rank):\n", "        for one in held:\n", "held numbers that lie behind go out in order"),
    Mutant("application.py", "        past, self._resumed = {**self._resumed}, {}\n", "        past, self._resumed = {}, {}\n", "the first publication tells what an earlier life had"),
    Mutant("application.py", "if past is None or any(n <= past.get(stream, 0) for stream, n in given(envelope).own):", "if past is None:", "what is behind something delivered is superseded"),
    Mutant("client.py", "return self.behind() if waiting is None else min(self.behind(), waiting - 1)", "return self.behind()", "what waits at the door is not acknowledged"),
    Mutant("client.py", "            self.inbox.pass_to(frame.low, now_us)\n", "            pass\n", "numbers that are gone are not waited for"),
    Mutant("home_broker.py", "log.low if log.low > log.acked else 0", "0", "a client is told which numbers are gone"),
    Mutant("order/index.py", "while len(entries) > messages or", "while False or", "messages that wait for one client are bounded"),
    Mutant("order/index.py", "(self.bytes > size and len(entries) > 1)", "False", "bytes that wait for one client are bounded"),
    Mutant("queue.py", "if not one.settled and one.follows(own):", "if False:", "what comes after all goes before what follows it"),
)  # fmt: skip


class Outcome(NamedTuple):
    number: int
    killed_by: str
    """A test, or `timeout`; empty: it survived."""
    seconds: float


def run(number: int, mutant: Mutant | None) -> Outcome:
    """The fast tests against a copy of the source with one line changed (None: unchanged)."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        copy = Path(folder)
        shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__"))
        if mutant is not None:
            path = copy / CORE / mutant.file
            text = path.read_text("utf-8")
            if text.count(mutant.old) != 1:
                raise SystemExit(
                    f"mutant {number}: {mutant.old!r} occurs {text.count(mutant.old)} times in {mutant.file}"
                )
            path.write_text(text.replace(mutant.old, mutant.new), "utf-8")
        environment = {
            **os.environ,
            "PYTHONPATH": str(copy / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HYPOTHESIS_STORAGE_DIRECTORY": str(copy / "hypothesis"),
        }
        if mutant is not None:  # most die at once, in the tests of their own module
            own = Path("tests/core") / mutant.file
            killed_by = _pytest([str(own.with_name(f"test_{own.name}"))], environment)
            if killed_by:
                return Outcome(number, killed_by, time.monotonic() - began)
        killed_by = _pytest([*TESTS, "-k", FEW], environment)
        return Outcome(number, killed_by, time.monotonic() - began)


def _pytest(arguments: list[str], environment: dict[str, str]) -> str:
    """The first test that fails; empty when all pass."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider",
               "--hypothesis-seed=1", *arguments]  # fmt: skip
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        out, _ = process.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return "timeout"
    if not process.returncode:
        return ""
    failed = [line for line in out.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0].split(" - ")[0].removeprefix("FAILED ") if failed else out.strip().splitlines()[-1]


def main() -> int:
    parser = argparse.ArgumentParser(description="Change one line of core/ at a time; the fast tests must notice.")
    parser.add_argument("--only", type=int, metavar="N", action="append", help="only mutant N (repeatable)")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time; costs cores [2]")
    arguments = parser.parse_args()
    unchanged = run(0, None)
    if unchanged.killed_by:
        print(f"The tests fail on the unchanged source: {unchanged.killed_by}")
        return 2
    print(f"unchanged: the tests pass, {unchanged.seconds:.0f} s", flush=True)
    chosen = [(n, m) for n, m in enumerate(MUTANTS, 1) if not arguments.only or n in arguments.only]
    survivors = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for outcome in pool.map(lambda pair: run(*pair), chosen):
            mutant = MUTANTS[outcome.number - 1]
            what = f"killed by {outcome.killed_by}" if outcome.killed_by else "SURVIVED"
            print(f"{outcome.number:3} {mutant.file}: {mutant.breaks}: {what} ({outcome.seconds:.0f} s)", flush=True)
            if not outcome.killed_by:
                survivors.append(outcome.number)
    print(f"\n{len(chosen)} mutants, {len(chosen) - len(survivors)} killed, {len(survivors)} survived")
    for number in survivors:
        mutant = MUTANTS[number - 1]
        print(f"survived: {number} {mutant.file}: {mutant.old.strip()!r} -> {mutant.new.strip()!r}: {mutant.breaks}")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
