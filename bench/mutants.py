"""Would the fast tests notice? Changes to functions of `core/`, each breaking one rule; the tests must kill every one.

    python bench/mutants.py [--only N] [--jobs 2]
    python bench/mutants.py --changed-since main [--sample 20]

The first form runs the list below, one or two mutants for each rule. The second makes mutants by rule (`bench/mutate.py`)
of those functions only that differ from a commit. For each mutant the source is copied, the one function changed, and the
fast tests run against the copy until the first failure (a hang counts as one): those of its module first. Prints a table
and the survivors; exit 1 if there are any.
"""

# ruff: noqa: E501 - one mutant is one line, so that the list reads as a table
from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.mutate import CORE, ROOT, Mutant, changed, changed_since, generated, places

TIMEOUT_S = 900
TESTS = ("tests/core", "tests/papers", "tests/sim/test_safety.py")
FEW = "not test_safety or from-00"
"""Of the random scenarios the first ten of each recipe."""

MUTANTS: tuple[Mutant, ...] = (
    # -- Inbox
    Mutant("Inbox.accept", "message.id in seen", "False", "a second arrival is a duplicate"),
    Mutant("Inbox.is_late", "deadline - self.guard_us", "deadline", "late is judged with the guard"),
    Mutant("Inbox.accept", "late or reader.stale(stamp)", "late", "what lies behind is not delivered"),
    Mutant("Inbox.accept", "reader.skipped(stamp.own, stamp)", "reader.delivered(stamp, forced=True)", "a late arrival puts itself behind, not its causes (H7)"),
    Mutant("Inbox.wake", "due[0][0] <= now_us", "due[0][0] < now_us", "exact wake-up"),
    Mutant("Inbox._release", "before.sort(key=by_rank)", "before.reverse()", "held predecessors go out in causal order"),
    Mutant("Inbox._release", "(*before, held)", "(held,)", "held predecessors go out first"),
    Mutant("Inbox._give_up", "self.reader.skipped(held.envelope.stamp.own, held.envelope.stamp)", "self.reader.delivered(held.envelope.stamp, forced=True)", "an overslept message puts itself behind, not its causes"),
    Mutant("Inbox.clear", "del self.seen[message_id]", "pass", "what was dropped at a move may come again"),
    # -- Reader
    Mutant("Past.behind", "n <= self.front.get(stream, 0)", "n < self.front.get(stream, 0)", "behind: <="),
    Mutant("Reader.precedes", "n <= covers.get(stream, 0)", "n < covers.get(stream, 0)", "precedes: <="),
    Mutant("Past.blocker", "self._skipped_by(stamp)", "()", "H7: blocked through skips"),
    Mutant("Past._blocks", "n = reached + 1", "n = reached", "the +1"),
    Mutant("Reader.missing", "(stamp, *self._skipped_by(stamp)) if self.skips else (stamp,)", "(stamp,)", "H7: asked for"),
    Mutant("Reader.skipped", "self.skips.setdefault(stream, {})[n] = stamp", "self.skips.setdefault(stream, {})[n] = None", "stamps of skipped messages are kept"),
    Mutant("Reader.skipped", "self.above.setdefault(stream, set()).add(n)", "self.front[stream] = n", "a skip is one mark, not all below"),
    Mutant("Reader.start_at", "self.cut[stream] = n", "pass", "the cut is remembered"),
    Mutant("Reader.stale", "cut_off and (not owed)", "cut_off", "what is cut off in one group may be owed in another"),
    # -- vector clocks
    Mutant("VectorWriter.stamp", "needs.update(dict.fromkeys([leaf for leaf in leaves if leaf[1] <= covers.get(leaf[0], 0)]))", "pass", "a message needs the leaves of its past"),
    Mutant("VectorWriter._take_in", "self._hear_of(mark, group)", "pass", "causes in groups a message is not addressed to are leaves there"),
    Mutant("VectorWriter._take_in", "leaf[1] <= covers.get(leaf[0], 0)", "leaf[1] < covers.get(leaf[0], 0)", "what has a successor is no leaf"),
    Mutant("VectorWriter._take_in", "tips[stamp.own[0]] = stamp", "pass", "what is delivered is past"),
    # -- context graph
    Mutant("GraphWriter.stamp", "list(self.leaves.values())", "[] if self._last is None else [self._last]", "a message follows all leaves"),
    Mutant("GraphWriter._become_leaf", "self.leaves.pop(f'{sender}:{seq}', None)", "pass", "what has a successor is no leaf"),
    Mutant("GraphWriter._needs", "needs.update(dict.fromkeys(pred.needs[key]))", "pass", "the projection (T5)"),
    Mutant("GraphWriter._add", "self._alive(_merge(entry.preds))", "{s: n for p in entry.preds for s, n in p.marks}", "the newest of every sender (trap 1)"),
    Mutant("GraphWriter.forget", "all((n <= stable.get(stream, 0) for stream, n in entry.marks))", "any((n <= stable.get(stream, 0) for stream, n in entry.marks))", "stable in all its groups"),
    Mutant("GraphWriter.project", "interest.among(entry.tops)", "entry.tops", "only what concerns the subscriber is projected"),
    Mutant("GraphWriter.relay", "stack.append(pred)", "pass", "all unstable ancestors travel"),
    # -- numbered streams
    Mutant("item_stamp", "index - 1 - bit", "index - bit", "the bitmap counts from one below"),
    Mutant("Channel.name_causes", "newest(after, window)", "after", "what is acknowledged is not named"),
    Mutant("Channel.name_causes", "chains[stream].up_to(covers[stream], place)", "chains[stream].up_to(covers[stream], place) & 1", "all causes are named, not the nearest"),
    Mutant("Log.takes", "n <= self.frontier.get(stream, 0)", "False", "replay leaves out the client's past"),
    Mutant("IndexReader.delivered", "if forced:", "if False:", "missing causes of a forced item are past"),
    Mutant("IndexReader.precedes", "a.own[0] in b.needs", "a.own[0] < b.own[0]", "a lower index is no cause"),
    Mutant("Log.due", "min(self.top, acked + WINDOW)", "self.top", "a slow client is not flooded"),
    Mutant("Log.acknowledge", "min(index, self.sent)", "min(index, self.top)", "what was not sent is not acknowledged"),
    Mutant("Log.takes", "all((n <= began.get(stream, 0) for stream, n in own if concerns(stream)))", "any((n <= began.get(stream, 0) for stream, n in own))", "what a client began behind in one group is owed in another"),
    Mutant("Log.unknown", "self.acked < self.grown.first", "False", "a change may be unknown for a while"),
    Mutant("as_sent", "item.index - 1 - acked_place", "item.index", "who has acknowledged more is told of fewer causes"),
    Mutant("Audience.others", "n <= began.get(stream, 0)", "False", "who does not take a message does not share it"),
    Mutant("Sharing.give", "self.set_apart(message.sender)", "pass", "a client that shares is not sent its own messages"),
    # -- store
    Mutant("Store.collect", "expiry[0][0] < now_us", "expiry[0][0] <= now_us", "kept through its last microsecond"),
    Mutant("Store.collect", "self.add_header(envelope, now_us)", "pass", "an expired message leaves its header"),
    Mutant("_within", "range(low + 1, high + 1)", "range(low, high + 1)", "ranges are open below"),
    Mutant("_within", "envelope.message.id not in given", "True", "each message is found once"),
    # -- asking
    Mutant("Solicitation.due", "want.tries % len(peers)", "0", "retries rotate"),
    Mutant("Solicitation._hopeless", "now_us + self.settings.trip_us", "now_us", "deadline budget"),
    Mutant("Solicitation._hopeless", "want.tries >= TRIES_UNTIMED", "False", "tries are bounded"),
    Mutant("Solicitation._hopeless", "if want.endless:", "if False:", "what something without a deadline needs is asked for until it comes"),
    # -- giving up
    Mutant("Losses.whom_to_ask", "[source for source in sources if source not in lacking]", "[source for source in sources]", "who lacks it is not asked again"),
    Mutant("Losses.on_gone", "deadline is not None and now_us > deadline", "True", "a header is not believed early"),
    Mutant("Losses._lacked_by", "now_us < left + receiver.settings.grace_us", "False", "nothing is given up before grace"),
    Mutant("Losses._lacked_by", "all((source in lacking for source in sources))", "any((source in lacking for source in sources))", "given up only when all lack it"),
    Mutant("Losses._lacked_by", "want is None or not want.endless or (not self.reader.lacks(mark))", "want is None or not want.endless", "what came in the meantime is not given up"),
    Mutant("Losses.missing", "id_of_mark(mark) in self._lost", "False", "what was given up in one stream is lost in all"),
    # -- comparing
    Mutant("Rounds._peers", "(*carrier.neighbours(), *self.local.names, *newcomers, *below)", "(*carrier.neighbours(), *self.local.names, *below)", "newcomers are compared by all"),
    Mutant("includes", "marks.get(stream, 0) < n", "False", "in step means all of it"),
    Mutant("Rounds._some_behind", "[peer for peer in peers if in_step.get(peer, -1) < version]", "[peer for peer in peers if peer not in in_step]", "news begin a new round"),
    Mutant("Rounds.on_digest", "if frame.reply:", "if False:", "whoever is asked answers"),
    Mutant("bounded", "min(n, bounds.get(stream, n))", "n", "what is lacking here is not stable"),
    # -- answering
    Mutant("Answers.on_request", "in_time(e, now_us) and interest.wants(e.message.topics)", "interest.wants(e.message.topics)", "answers hold only what is in time"),
    Mutant("Answers.on_request", "self.inbox.held_within(ranges)", "()", "what is held is answered too"),
    Mutant("Answers._lacked", "passed or self._cannot_come(mark, now_us)", "self._cannot_come(mark, now_us)", "what lies behind and is not kept cannot be had here"),
    # -- stability
    Mutant("Stability.stable", "self.carrier.carriers(stream)", "()", "stable at all carriers"),
    Mutant("Stability._settles", "since and now_us >= since[0][1] + self.carrier.settings.grace_us", "since", "grace"),
    Mutant("Stability._settles", "since and since[-1][0] > stable", "False", "a newcomer begins the wait anew"),
    Mutant("Stability._let_go", "all((self._is_over(*mark) for mark in envelope.stamp.own))", "any((self._is_over(*mark) for mark in envelope.stamp.own))", "a message of several groups waits for all"),
    Mutant("Stability.cut", "of == group and n > tops.get(sender, 0)", "False", "H10: a newcomer begins behind what is gone"),
    # -- beginnings
    Mutant("Joining._join", "self.early.take(now_us)", "pass", "what comes while joining is kept"),
    Mutant("Joining._snapshot_for", "past.update(self.reader.cut)", "pass", "a newcomer begins behind its donor's cut"),
    Mutant("Joining.take", "not self._uncovered", "True", "all groups covered before it begins"),
    Mutant("Joining.take", "donor is None and sender not in self.broker.departed", "False", "strangers have no say in where a broker begins"),
    Mutant("Joining._join", "any((n > front.get(stream, 0) for stream, n in concerned.items()))", "False", "nor forgets what it is owed"),
    Mutant("Cuts.within", "self._common if own is None else NewerCut(self._common, own)", "self._common", "what lies behind in one group is not said of another"),
    Mutant("Cuts.widen", "join(self._special.setdefault(group, {}), own)", "pass", "the newer of two cuts in each group"),
    # -- members, brokers and subscribers
    Mutant("Member.receive", "self.early.keep(frame, sender)", "pass", "what comes to a member while it joins is kept"),
    Mutant("Member.receive", "if self.joined:", "if True:", "nothing is taken before the cut is known"),
    Mutant("Broker.done", "done[stream] = min(done[stream], confirmed.get(stream, 0))", "pass", "trap 4: subscribers' share"),
    Mutant("Broker.answer_for", "self.writer.relay(envelope) if link is None else self.writer.project(envelope, link[1])", "self.writer.relay(envelope)", "answers to subscribers are projected"),
    Mutant("Subscriber._on_attached", "sender != self._wanted[0] or (falls_short and self._is_patient()) or (not self._covers_all(sender, frame))", "falls_short and self._is_patient() or not self._covers_all(sender, frame)", "it begins at the first broker's cut"),
    Mutant("Subscriber._reaches", "reply.start.get(stream, 0) < n", "False", "a source counts once it covers the cut"),
    Mutant("Subscriber._leave", "self.inbox.clear()", "pass", "a move drops what was held"),
    # -- home broker
    Mutant("HomeBroker._on_publish", "message_id in self.inbox.seen", "False", "a known publication is dropped"),
    Mutant("Sharing.give", "client != message.sender", "True", "a publisher is not sent its own message"),
    Mutant("HomeBroker._cut", "item if in_time(item.envelope, soonest_us) else _expired(item)", "item", "expired items come as headers"),
    Mutant("HomeBroker._replay", "any((n <= passed.get(stream, 0) for stream, n in envelope.stamp.own))", "False", "H8: growth without the frontier filter"),
    Mutant("HomeBroker.done", "done[stream] = n - 1", "pass", "trap 4: what a client has not acknowledged"),
    Mutant("HomeBroker._on_attach", "self._gone_for(log, sender) + self._replay(log, (), sender, now_us, {})", "self._replay(log, (), sender, now_us, {})", "H13: who comes back too late is told"),
    # -- home client
    Mutant("Client._on_item", "unordered and self._has(item, now_us)", "False", "an unordered one of an earlier home is a repeat"),
    Mutant("Client.receive", "sender == self.home and frame.attachment == self.attachment and (not self._fresh)", "sender == self.home and (not self._fresh)", "the attachment is checked"),
    Mutant("Client._send_attach", "None if self._fresh else frontier", "None", "the next home is told the frontier"),
    Mutant("Client._attach", "self.outbox.publish_again(now_us)", "pass", "what is unacknowledged is published again"),
    Mutant("Client._skip", "self.inbox.skip(envelope, 'gone', now_us)", "pass", "an item that is gone is past"),
    Mutant("Client._skip", "put(self.start_marks, item.envelope.stamp.own)", "pass", "H13: the frontier passes what is gone"),
    Mutant("Client._done", "self.behind() if waiting is None else min(self.behind(), waiting - 1)", "self.behind()", "what waits at the door is not acknowledged"),
    # -- publications of clients
    Mutant("Outbox.resend", "not in_time(one.envelope, now_us - client.settings.slack_us)", "False", "late publications are resent as headers"),
    Mutant("Confirming._tell_safe", "self.broker.logs[client].safe(message_id)", "pass", "what is safe its client no longer keeps"),
    Mutant("Confirming.publish", "alone or self._is_safe(envelope)", "True", "PUBACK when another broker has it"),
    Mutant("Confirming.on_kept", "waiting is not None and sender in self.broker.carriers_of(waiting[1].message.topics)", "waiting is not None", "only a carrier confirms"),
    Mutant("Confirming.flush", "self.broker.send((home,), Kept(tuple(ids)))", "pass", "who takes a publication says so at once"),
    Mutant("Client.dismiss", "self.inbox.dismiss(wanted, now_us)", "()", "what is held of groups that were left is dropped"),
    Mutant("Causes.stamps", "stamp is None and (not self._was_had(one))", "False", "a cause that was never had is refused"),
    # -- handing over
    Mutant("Handover._precedes", "one.put_us + self.memory_us <= other.put_us or other.follows(own)", "other.follows(own)", "what waited for long counts as a cause"),
    Mutant("Handover._hand", "self._precedes(one, ready, stamp)", "False", "causes that wait in another queue are delivered first"),
    Mutant("Handover.put_next", "self._door or self._blocked(ready)", "self._blocked(ready)", "nobody passes those who stand at the door"),
    Mutant("Handover._drop", "not ready.queues and (not ready.settled)", "not ready.settled", "it is dropped when the last queue drops it"),
    # -- other orders and deadlines
    Mutant("LooseWriter.envelope", "covers[stream] = before[-1][0]", "pass", "an unordered message names the one before it"),
    Mutant("RoundsWriter.learn", "self.clock.saw(envelope.message.seq)", "pass", "rounds grow along causality"),
    Mutant("MatrixWriter._local", "group_of(stream) == self.place", "group_of(stream) == self.place and n > 1", "the own column must be covered"),
    Mutant("ColourReader.barred", "self.eager and stamp.rank <= self.barrier", "False", "eager: what may precede stays"),
    Mutant("ColourReader.delivered", "max(self.barrier, newest_before(stamp))", "newest_before(stamp)", "the barrier never falls"),
    Mutant("RoundClock.round_of", "below - 1 - (below - colour) % self.colours", "below - (below + 1 - colour) % self.colours", "a colour is a round below the own"),
    Mutant("RoundBroker._send_waiting", "waiting and waiting[0].message.seq <= current", "waiting", "not before its round"),
    Mutant("DeltaInbox._release", "now_us > until_us - self.guard_us", "now_us >= until_us - self.guard_us - 1", "nothing is called expired in time"),
    # -- spreads
    Mutant("Unheard.heard_by", "self.who.discard(peer)", "self.who.clear()", "everybody must acknowledge"),
    Mutant("Piggyback._forget", "min((had.get(stream, 0) for had in others), default=0)", "max((had.get(stream, 0) for had in others), default=0)", "stable is what all have"),
    Mutant("Gossip.publish", "self.times - 1", "self.times", "once is once"),
    Mutant("Lazy.forward", "self._announce(envelope, [name for _, names in broker.routes(topics) for name in names if name not in drawn])", "pass", "the others are told"),
    # -- membership
    Mutant("Managed.receive", "isinstance(frame, Sync) and self._is_apart(frame, sender)", "False", "sides that do not know each other do not mingle"),
    Mutant("beats", "new.final and (not old.final)", "new.final and (not old.final) or new.number > old.number", "dead is final"),
    Mutant("beats", "(new.number, new.state == SUSPECT) > (old.number, old.state == SUSPECT)", "new.number > old.number", "suspicion counts more than life"),
    Mutant("Table.is_out", "life < self._latest.get(base, 0)", "False", "a later incarnation ends the earlier ones"),
    Mutant("Claim.stays_before", "(-self.voters, self.smallest, self.holder)", "(self.voters, self.smallest, self.holder)", "the larger view stays"),
    Mutant("Detector.hear", "one.state == SUSPECT and beats(one, self.table.me)", "False", "a suspect refutes"),
    Mutant("Detector.suspicion_us", "max(2, len(self.table.present()).bit_length())", "2", "suspicion grows with the view"),
    Mutant("Managed.admits", "self.begun and (not self.over) and (self.role == 'subscriber' or not self.table.is_out(sender))", "self.begun and (not self.over)", "no zombie"),
    Mutant("Managed._told_out", "Claim(frame.voters, frame.smallest, sender).stays_before(self.table.claim())", "Claim(frame.voters, frame.smallest, sender).voters > 0", "exactly one side yields"),
    # -- contract
    Mutant("Carried.concerns_group", "group in self.filters", "any((self.entries.meets(f, group) for f in self.entries.filters(self.filters)))", "a broker waits for the entries it carries, not for what they overlap"),
    Mutant("Groups.carrying", "all((group in carried for group in wanted)) and all((any((matches(f, g) for g in carried)) for f in filters))", "all((any((matches(f, g) for g in carried)) for f in filters))", "a filter wants every group it matches"),
    Mutant("join", "n > marks.get(stream, 0)", "True", "the newer of two marks"),
    Mutant("Settings.slack_us", "2 * self.clock_bound_us", "self.clock_bound_us", "two clocks may be off in opposite ways"),
    Mutant("Carrier.stamps", "None if None in known else waited_for((e.stamp for e in known if e is not None))", "waited_for((e.stamp for e in known if e is not None))", "unknown declared causes widen to everything"),
    Mutant("Carrier.compose", "self.inbox.seen[envelope.message.id] = now_us", "pass", "the own message is not news"),
)  # fmt: skip


class Change(NamedTuple):
    """A module of the core as a mutant has it."""

    title: str
    path: Path
    source: str


class Outcome(NamedTuple):
    killed_by: str
    """A test, or `timeout`; empty: it survived."""
    seconds: float


def by_hand() -> list[Change]:
    found = places()
    return [
        Change(f"{m.function}: {m.breaks}", found[m.function][0].path, changed(found[m.function][0], m))
        for m in MUTANTS
    ]


def by_rule(revision: str) -> list[Change]:
    found = places()
    return [
        Change(f"{one.function}: {one.breaks}", place.path, one.source)
        for name in changed_since(revision, found)
        for place in found[name]
        for one in generated(name, place)
    ]


def run(change: Change | None) -> Outcome:
    """The fast tests against a copy of the source with one function changed (None: unchanged)."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        copy = Path(folder)
        shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__"))
        environment = {
            **os.environ,
            "PYTHONPATH": str(copy / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HYPOTHESIS_STORAGE_DIRECTORY": str(copy / "hypothesis"),
        }
        if change is not None:  # most die at once, in the tests of their own module
            (copy / CORE / change.path).write_text(change.source, "utf-8")
            own = Path("tests/core") / change.path.with_name(f"test_{change.path.name}")
            killed_by = _pytest([str(own)], environment) if (ROOT / own).exists() else ""
            if killed_by:
                return Outcome(killed_by, time.monotonic() - began)
        return Outcome(_pytest([*TESTS, "-k", FEW], environment), time.monotonic() - began)


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
    parser = argparse.ArgumentParser(description="Change one function of core/ at a time; the fast tests must notice.")
    parser.add_argument("--only", type=int, metavar="N", action="append", help="only mutant N (repeatable)")
    parser.add_argument("--changed-since", metavar="REV", help="mutants by rule, of functions that differ from REV")
    parser.add_argument("--sample", type=int, metavar="N", help="of these only so many, drawn with a fixed seed")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time; costs cores [2]")
    arguments = parser.parse_args()
    changes = by_rule(arguments.changed_since) if arguments.changed_since else by_hand()
    chosen = [(n, one) for n, one in enumerate(changes, 1) if not arguments.only or n in arguments.only]
    if arguments.sample is not None and arguments.sample < len(chosen):
        chosen = sorted(random.Random(1).sample(chosen, arguments.sample))
    unchanged = run(None)
    if unchanged.killed_by:
        print(f"The tests fail on the unchanged source: {unchanged.killed_by}")
        return 2
    print(f"unchanged: the tests pass, {unchanged.seconds:.0f} s; {len(chosen)} of {len(changes)} mutants", flush=True)
    survivors = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for (number, one), outcome in zip(chosen, pool.map(lambda pair: run(pair[1]), chosen), strict=True):
            what = f"killed by {outcome.killed_by}" if outcome.killed_by else "SURVIVED"
            print(f"{number:3} {one.title}: {what} ({outcome.seconds:.0f} s)", flush=True)
            if not outcome.killed_by:
                survivors.append(f"{number} {one.path}: {one.title}")
    print(f"\n{len(chosen)} mutants, {len(chosen) - len(survivors)} killed, {len(survivors)} survived")
    for survivor in survivors:
        print(f"survived: {survivor}")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
