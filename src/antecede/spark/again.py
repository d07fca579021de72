"""What of a pipeline is finished already, told without Spark: from its settings, its inputs and its stamps.

Decided in this file: the key of each stage and of the whole; a pipeline of which nothing has changed since it ended is
not run at all, no Java is started for it, and its last report is its report. What came while a stream was running
counts as new, since nobody can tell whether it was read.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec

import antecede
from antecede.errors import InputError
from antecede.spark.config import Pipeline
from antecede.spark.manifest import committed, is_table, local_path, writing
from antecede.spark.outcome import Report
from antecede.spark.stamps import NAME, Ledger, fingerprint, key_of

__all__ = ["STAGES", "keys_of", "last_report", "output_of", "whole_key"]

STAGES = ("quarantine", "ordered", "fused", "findings")


def output_of(config: Pipeline) -> Path:
    """The directory of the tables, made and seen to be one that may be used."""
    root = local_path(config.output.path)
    if root.is_file():
        raise InputError(f"{root} is a file: output.path must be a directory.")
    if root.is_dir() and not (root / NAME).exists() and any(root.iterdir()):
        strange = next(entry.name for entry in sorted(root.iterdir()))
        if strange not in (*STAGES, "damaged", "checkpoints"):
            raise InputError(f"{root} holds {strange}, which is no part of a pipeline: choose another output.path.")
    with writing(root):
        root.mkdir(parents=True, exist_ok=True)
    return root


def keys_of(config: Pipeline) -> dict[str, str]:
    """Stage -> what decides it: the settings, the inputs as they lie there, and the stage before."""
    told = msgspec.to_builtins(config)
    inputs = key_of(antecede.__version__, told["source"], told["columns"], fingerprint(config.source.paths))
    keys = {"quarantine": key_of("quarantine", inputs)}
    keys["ordered"] = key_of("ordered", inputs, told["order"], told["output"]["partition_by"])
    keys["fused"] = key_of("fused", keys["ordered"], told["fuse"])
    keys["findings"] = key_of("findings", keys["ordered"])
    return keys


def whole_key(config: Pipeline) -> str:
    """What decides the whole; the machine it runs on does not."""
    told = msgspec.to_builtins(config)
    return key_of("whole", keys_of(config), told["audit"], told["mode"])


def last_report(config: Pipeline) -> Report | None:
    """The report of a pipeline that is finished, whose settings and inputs are as they were and whose tables are whole;
    None: there is something to do."""
    root = local_path(config.output.path)
    if not (root / NAME).is_file():
        return None
    ledger = Ledger(root)
    if ledger.report is None or ledger.key is None or ledger.key != whole_key(config):
        return None
    report = msgspec.convert(ledger.report, Report)
    for stage in report.stages:
        table = root / stage.name
        if not is_table(table) or sum(manifest.rows for manifest in committed(table)) != stage.rows:
            return None
    return replace(report, stages=tuple(replace(stage, repeated=False) for stage in report.stages))
