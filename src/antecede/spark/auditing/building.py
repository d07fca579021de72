"""Inside Spark's tasks: from rows to the tables of messages.

    tell      rows            -> what they tell, in pieces, by domain       (read once)
    build     pieces          -> tables of messages on the shelf, counts    (one task a domain)

Decided in this file: deliveries are told too only of domains where somebody publishes without naming causes, since
there they are the causes, and what brokers let go of only where a cut speaks of it; and a domain whose rows contradict
each other is refused with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from antecede.core.message import COLLECTED
from antecede.errors import InputError
from antecede.spark.auditing import telling
from antecede.spark.auditing.history import Told, run_messages
from antecede.spark.auditing.pieces import (
    Batches,
    Results,
    Source,
    by_run,
    grouped,
    opened,
    piece,
    pieces,
    unknown_tail,
)
from antecede.spark.auditing.scan import Silent
from antecede.spark.auditing.tables import Shelf, domain_of, run_of
from antecede.trace.check import exempt_of, skew_of
from antecede.trace.parquet import read_scenario
from antecede.trace.record import ROLES

__all__ = ["build", "tell"]


def tell(read: Source, scratch: str, with_deliveries: bool) -> Callable[[Any], Batches]:
    def run(batches: Any) -> Batches:
        shelf = Shelf(scratch)
        seen: dict[str, dict[str, str]] = {}
        for source, table in read(batches):
            if isinstance(table, Silent):
                yield pieces([(domain_of(source, ""), "silent", table.encode())] if not with_deliveries else [])
                continue
            if isinstance(table, str):
                yield pieces([(domain_of(source, ""), "fault", json.dumps(["", None, table]).encode())])
                continue
            found: list[tuple[str, str, bytes]] = []
            for domain, rows in by_run(source, table):
                if with_deliveries and not shelf.asked_again(domain):
                    continue
                for name, role in telling.roles(rows).items():
                    telling.add_roles(seen.setdefault(domain, {}), name, role)
                parts = {"publications": telling.publications(rows), "controls": telling.controls(rows)}
                if with_deliveries:
                    parts |= {"heard": telling.heard(rows), "collected": telling.collected(rows)}
                else:
                    found += [(domain, "fault", json.dumps(f).encode()) for f in telling.faults(rows)]
                found += [(domain, what, piece(part)) for what, part in parts.items() if part.num_rows]
            yield pieces(found)
        yield pieces([(domain, "roles", json.dumps(roles).encode()) for domain, roles in seen.items()])

    return run


def build(scratch: str, settings: dict[str, Any]) -> Callable[[Batches], Batches]:
    """`settings`: what the caller says of all runs (`skew_us`, `exempt`); a scenario beside a run adds to it."""

    def run(batches: Batches) -> Batches:
        shelf, results = Shelf(scratch), Results()
        for domain, whole in grouped(batches):
            build_one(domain, whole, shelf, settings, results)
            yield from results.batches()

    return run


def build_one(
    domain: str, whole: dict[str, list[bytes]], shelf: Shelf, settings: dict[str, Any], results: Results
) -> None:
    source, _ = run_of(domain)
    for content in whole.get("fault", ()):
        process, step, reason = json.loads(content)
        verdict = None if step is not None else "unreadable"
        results.add("quarantine", domain, verdict=verdict, process=process or None, step=step, text=reason)
    for content in whole.get("silent", ()):
        results.add("tail", domain, process=content.decode(), text=unknown_tail(content.decode()))
    if "roles" not in whole:
        return  # a file that could not be read: no row of it is known
    roles: dict[str, str] = {}
    for content in whole["roles"]:
        for name, role in json.loads(content).items():
            telling.add_roles(roles, name, role)
    with_deliveries = "heard" in whole
    for name in sorted(roles):
        if roles[name] not in ROLES and not shelf.asked_again(domain):
            text = f"process {name} has the role {roles[name]!r}: a process is a {', '.join(ROLES)}, and stays it"
            results.add("quarantine", domain, process=name, text=text)
    told: Told = telling.gather(
        all_opened(whole, "publications"), all_opened(whole, "controls"), roles, all_opened(whole, "heard"),
        all_opened(whole, "collected"),
    )  # fmt: skip
    named = {row.peer for rows in told.controls.values() for row in rows if row.peer is not None}
    shelf.leave_who(domain, {*roles, *named})
    free = told.publications.column("after").null_count
    let_go = any(row.let_go for rows in told.controls.values() for row in rows)
    if (free or let_go) and not with_deliveries and not shelf.asked_again(domain):
        shelf.ask_again(domain)
        results.add("again", domain, messages=free)
        return
    try:
        scenario = (read_scenario(source) if source else None) or {}
        skew_us = settings["skew_us"] if settings["skew_us"] is not None else skew_of(scenario)
        messages, aside = run_messages(told)
    except InputError as error:
        shelf.refuse(domain, str(error))
        results.add("quarantine", domain, text=str(error))
        return
    recipe = settings["recipe"] or str(scenario.get("recipe"))
    messages.about |= {
        "skew_us": skew_us,
        "exempt": sorted({*settings["exempt"], *exempt_of(scenario, recipe)}),
        "controls": {name: [list(row) for row in rows] for name, rows in told.controls.items()},
        "asked": "subscriber" in roles.values(),
        "collected": {
            name + COLLECTED: messages.find(np.array(keys, np.int64).view(np.uint64)).tolist()
            for name, keys in (told.collected if let_go else {}).items()
        },
    }
    for process, step, message, reason in aside:
        results.add("quarantine", domain, process=process, step=step, message=message, text=reason)
    shelf.put(domain, messages)
    results.add("counts", domain, messages=messages.count, processes=len(roles))


def all_opened(whole: dict[str, list[bytes]], what: str) -> list[Any]:
    """The tables of that kind; their bytes are let go of one by one."""
    parts = whole.pop(what, [])[::-1]
    tables = []
    while parts:
        tables.append(opened(parts.pop()))
    return tables
