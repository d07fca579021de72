"""The `antecede` command: which commands there are, how they are found, and what a failure looks like to a person.

A command is one module here, named like it, with one typer-annotated function of the same name. Only the module of the
command that was asked for is imported; the others stand in the help as a name and the line in `COMMANDS`. So
`antecede --help` stays quick whatever the commands themselves need, and a command that is not built yet is not shown.

Exit codes: 0 fine, 1 a violation was found (`pub`: a message was not known to be safe in time), 2 the input or the
machine is at fault, or something could not be judged, 130 interrupted. A mistake of ours, 70, is said in one line as
well; ANTECEDE_TRACEBACK=1 shows where it happened.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

import antecede
from antecede.cli.output import fitted, patient_output
from antecede.errors import AntecedeError

__all__ = ["COMMANDS", "build", "main"]

SECTIONS: Mapping[str, Mapping[str, str]] = {
    "To begin with": {
        "demo": "The point in one page, every recipe in a storm, judged, and a small pipeline on Spark.",
        "doctor": "Look at this machine and say what is missing, why it matters and what cures it.",
    },
    "Brokers and clients": {
        "broker": "Run a broker: clients publish through it and subscribers read from it.",
        "sub": "Print what comes, in causal order and before its deadline.",
        "pub": "Publish a message; says when it is safe.",
        "cluster": "Run several brokers on this machine in one terminal.",
        "top": "Watch brokers from the terminal.",
        "config": "Show a broker's settings and where each value came from.",
        "keys": "Make the keys of a cluster and the tokens of its clients; revoke, rotate, show.",
    },
    "Tables, logs and streams of events": {
        "order": "Causal order for a table or a stream of events: every row its place and its fate.",
        "audit": "Was anything delivered before its cause: in traces, tables and logs of any size.",
        "pipeline": "Order, fuse and audit on Spark: from a source to tables, batch or continuous.",
    },
    "Protocols and papers": {
        "simulate": "Run a recipe on a virtual network that loses, delays and breaks; write the trace.",
        "show": "A run as a picture: a page to open, with a diagram of each finding.",
        "check": "Judge a trace: order, gaps, what is overdue, duplicates and what was never delivered.",
        "explore": "Try every run of a small scenario: each order, loss, duplicate and crash.",
        "recipes": "List the protocols: what each promises, where it comes from, how its paper can be read.",
        "lab": "The papers' claims and figures, measured on Spark: each sentence and its verdict.",
        "bench": "Run one of the measurements of this checkout, or list them.",
    },
}
"""The commands under the headings of the help, by who needs them."""

COMMANDS: Mapping[str, str] = {name: line for section in SECTIONS.values() for name, line in section.items()}

FOR_READERS = ("broker", "cluster", "demo", "sub", "top")
"""What they print as they go is all that they are for: they end when their reader has read enough."""

PASSES_ON = ("bench",)
"""What follows their first argument is for somebody else, options too."""

MISTAKE_OF_OURS = 70


def exists(name: str) -> bool:
    return importlib.util.find_spec(f"{__name__}.{name}") is not None


def load(name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(importlib.import_module(f"{__name__}.{name}"), name)
    return function


def placeholder() -> None:
    """Stands in the help for a command whose module need not be imported now."""


def show_version(wanted: bool) -> None:
    if wanted:
        print(f"antecede {antecede.__version__}")
        raise typer.Exit


def root(version: Annotated[bool, typer.Option("--version", help="Say which.", callback=show_version)] = False) -> None:
    """Messages in cause-and-effect order, before their deadlines, over networks that lose them.

    `antecede COMMAND --help` explains each. Exit codes: 0 fine, 1 a violation was found (pub: a message was not known
    to be safe in time), 2 bad input, what could not be judged, or a machine that lacks something.
    """


def build(wanted: str | None = None) -> typer.Typer:
    """The whole command line, with only the command `wanted` imported."""
    # Plain text help and errors: they are read by scripts and through pipes as often as by people.
    app = typer.Typer(
        name="antecede",
        cls=Sections,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(root)
    for name, line in COMMANDS.items():
        if exists(name):
            function = load(name) if name == wanted else placeholder
            settings = {"allow_interspersed_args": name not in PASSES_ON}
            app.command(name, short_help=line, cls=Headed, context_settings=settings)(function)
    return app


class Sections(TyperGroup):
    """The help of all commands, under headings."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for heading, section in SECTIONS.items():
            lines = [(name, line) for name, line in section.items() if name in self.commands]
            if lines:
                with formatter.section(heading):
                    formatter.write_dl(lines, col_max=10)


class Headed(TyperCommand):
    """A command whose help puts options under the heading they name (`rich_help_panel`), in plain text."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                heading = "Arguments" if param.param_type_name == "argument" else "Options"
                if heading == "Arguments":  # their names say what they are: no `<list[str]>`
                    record = (record[0].partition(" <")[0], record[1])
                sections.setdefault(getattr(param, "rich_help_panel", None) or heading, []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)


def asked_for(given: Sequence[str]) -> str | None:
    """Which command's module is needed: the first word, also of the line that a shell wants completed."""
    if "_ANTECEDE_COMPLETE" in os.environ:  # bash says COMP_WORDS, other shells as typer's scripts have it
        line = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS", "")
        given = line.split()[1:]
    return given[0] if given else None


def complain(sentence: str) -> None:
    print(fitted(f"antecede: {sentence}", sys.stderr), file=sys.stderr)


def complain_of(error: Exception) -> int:
    """An error that nobody raised on purpose: a mistake of ours, unless a file that was given as a plugin made it."""
    plugin = sys.modules.get("antecede.sim.plugin")
    said = f"{type(error).__name__}: {error}"
    if plugin and (where := plugin.to_blame(error)):
        complain(f"the plugin {where}: {said} (ANTECEDE_TRACEBACK=1 shows the way there).")
        return 2
    others = [path.name for path in plugin.loaded()] if plugin else []
    whose = f"a mistake of ours or of {', '.join(others)}" if others else "a mistake of ours"
    complain(f"{whose}, {said} (ANTECEDE_TRACEBACK=1 shows where).")
    return MISTAKE_OF_OURS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; what went wrong is one sentence on standard error."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")  # a name that a terminal cannot show is shown escaped
    try:
        with patient_output(asked_for(given) in FOR_READERS):
            return carry_out(given)
    except OSError as error:  # what was still to be written could not be
        complain(f"standard output cannot be written: {error.strerror}.")
        return 2


def carry_out(given: Sequence[str]) -> int:
    try:
        build(wanted=asked_for(given))(args=list(given), prog_name="antecede")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 2
    except KeyboardInterrupt:
        return 130
    except AntecedeError as error:
        complain(str(error))
        return 2
    except OSError as error:
        complain(f"{error.filename}: {error.strerror}." if error.filename else f"{error}.")
        return 2
    except Exception as error:
        if os.environ.get("ANTECEDE_TRACEBACK"):
            raise
        return complain_of(error)
    return 0
