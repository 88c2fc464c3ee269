"""The command line: everything that needs no window, and the window itself where no command is named.

No command imports Qt. What is wrong with an input becomes one line on stderr and exit code 2, and nothing is written.
"""

import argparse
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from gpuplanner import __version__, paths
from gpuplanner.i18n import _, languages, ngettext, set_language, system_language

if TYPE_CHECKING:
    from gpuplanner.catalog.load import Catalog
    from gpuplanner.model.plan import Plan
    from gpuplanner.model.results import Results
    from gpuplanner.storage.plan_file import Opened

PROGRAM = "gpuplanner"
BAD_INPUT = 2
FOUND_ERRORS = 1
INTERRUPTED = 130


class BadInput(Exception):
    """Something in the input that stops a command. Its parts (file, place, reason) become one line."""

    def __init__(self, *parts: str) -> None:
        super().__init__(": ".join(part for part in parts if part))


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise BadInput(message)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code: 0, 1 where a check found errors, 2 for bad input."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    _use_utf8()
    try:
        code = _run(given)
        sys.stdout.flush()
        return code
    except BadInput as error:
        print(f"{PROGRAM}: {_one_line(str(error))}", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:
        # The reader (head, less) has seen enough. Nothing may be left for the interpreter to flush on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(given: list[str]) -> int:
    chosen, rest = _without_language(given)
    if "--" not in rest:
        # The parser takes the words of a list (key=value, files) only where they stand together.
        rest = _with_values(rest)
        rest = _with_their_values(rest)
        rest.sort(key=lambda word: word.startswith("-"))
    set_language(_language(chosen))
    command = next((word for word in rest if not word.startswith("-")), None)
    if command in _COMMANDS:
        parsed = _command_parser().parse_args(rest)
        run: Callable[[argparse.Namespace], int] = parsed.run
        return run(parsed)
    return _window(_window_parser().parse_args(rest), chosen)


def _with_their_values(given: Sequence[str]) -> list[str]:
    """The words of a line in which an option that takes a value is one word with it."""
    words = iter(given)
    return [f"{word}={next(words, '')}" if word in _VALUED else word for word in words]


def _language(chosen: str | None) -> str:
    """The language of the words: the parsers' own help is in it too."""
    if chosen is None:
        return system_language()
    if chosen not in languages():
        raise BadInput(_("--lang is one of {names}.").format(names=", ".join(languages())))
    return chosen


def _without_language(given: Sequence[str]) -> tuple[str | None, list[str]]:
    """The language that was chosen, and the other words of the line."""
    chosen: str | None = None
    rest: list[str] = []
    words = iter(given)
    for word in words:
        if word == "--":
            rest += [word, *words]
        elif word == "--lang":
            chosen = next(words, "")
        elif word.startswith("--lang="):
            chosen = word.removeprefix("--lang=")
        else:
            rest.append(word)
    return chosen, rest


def _with_values(words: Sequence[str]) -> list[str]:
    """The words of the line, with the number after `--worst` as part of it."""
    joined: list[str] = []
    for word in words:
        if joined and joined[-1] == "--worst":
            joined[-1] = f"--worst={word}"
        else:
            joined.append(word)
    return joined


# --- what can be asked for -------------------------------------------------------


def _window_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog=PROGRAM,
        usage=_("gpuplanner [--lang en|zh] [FILE | COMMAND …]"),
        description=_("Decide which GPUs to buy for an LLM workload. Without a command, open the window."),
        epilog=_("Commands: {names}. “gpuplanner COMMAND --help” explains one.").format(names=", ".join(_COMMANDS)),
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help=_("a plan to open"))
    _add_general(parser)
    return parser


def _command_parser() -> argparse.ArgumentParser:
    parser = _Parser(prog=PROGRAM)
    _add_general(parser)
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)

    command = commands.add_parser("evaluate", description=_("The results of a plan."))
    command.add_argument("file", metavar="FILE", help=_("a plan"))
    _add_json(command)
    command.set_defaults(run=_evaluate)

    command = commands.add_parser("validate", description=_("Predict measured rows, or work cases, and score them."))
    command.add_argument("rows", nargs="+", metavar="ROWS", help=_("files of rows (.jsonl) or cases (.json)"))
    command.add_argument(
        "--worst", type=int, default=0, metavar="N", help=_("name the N rows of a family that hurt most")
    )
    _add_json(command)
    command.set_defaults(run=_validate)

    command = commands.add_parser("catalog", description=_("What can be bought and run, with sources."))
    command.add_argument("action", choices=("list", "show", "check"))
    command.add_argument("kind", nargs="?", metavar="KIND", help=_("gpu, server, llm, runtime …"))
    command.add_argument("name", nargs="?", metavar="NAME", help=_("the name of an entry"))
    _add_json(command)
    command.set_defaults(run=_catalog)

    command = commands.add_parser("calc", description=_("One formula by name."))
    command.add_argument("name", nargs="?", metavar="NAME", help=_("the calculation"))
    command.add_argument("inputs", nargs="*", metavar="key=value", help=_("its inputs"))
    command.add_argument("--list", action="store_true", help=_("list the calculations"))
    _add_json(command)
    command.set_defaults(run=_calc)

    command = commands.add_parser("claim", description=_("Whether a claim can be true: “H100 is 3.5x A100”."))
    command.add_argument("text", metavar="TEXT", help=_("what somebody claims"))
    _add_json(command)
    command.set_defaults(run=_claim)

    command = commands.add_parser("compare", description=_("What differs between two plans."))
    command.add_argument("first", metavar="A", help=_("a plan"))
    command.add_argument("second", metavar="B", help=_("the plan that it is compared with"))
    _add_json(command)
    command.set_defaults(run=_compare)

    command = commands.add_parser("compare-cards", description=_("One card against another, task by task."))
    command.add_argument("first", metavar="A", help=_("a card"))
    command.add_argument("second", metavar="B", help=_("the card that it is compared with"))
    command.add_argument("--llm", default="Llama-3.1-70B", metavar="NAME", help=_("the model that both run"))
    command.add_argument(
        "--precision",
        default="16-bit",
        metavar="P[,P]",
        help=_("16-bit, 8-bit or 4-bit, of both cards or of each"),
    )
    _add_json(command)
    command.set_defaults(run=_compare_cards)

    command = commands.add_parser("schema", description=_("The JSON Schema of the plan file, or of the results."))
    command.add_argument("--results", action="store_true", help=_("of the results"))
    _add_json(command)
    command.set_defaults(run=_schema)
    return parser


def _add_general(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--version", action="version", version=f"GPU Planner {__version__}")
    # Taken out of the line before it is parsed; stated for the help.
    parser.add_argument("--lang", choices=tuple(languages()), help=_("the language of the words"))


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help=_("data for scripts, in SI units"))


# --- the commands ------------------------------------------------------------------


def _evaluate(given: argparse.Namespace) -> int:
    plan, results, notes = _evaluated(_opened(given.file), given.file)
    _say(notes)
    _print_results(plan, results, given.json)
    return 0


def _validate(given: argparse.Namespace) -> int:
    from gpuplanner.validation import command

    for name in given.rows:
        _check_readable(Path(name))
    try:
        report = command.run([Path(name) for name in given.rows], _load_catalog(), given.worst)
    except ValueError as error:
        raise BadInput(str(error)) from error
    _print_json(report) if given.json else print(command.text(report))
    return 0


def _catalog(given: argparse.Namespace) -> int:
    catalog = _load_catalog()
    if given.action == "check":
        return _check_catalog(catalog, given)
    if given.action == "show":
        return _show_entry(catalog, given)
    from gpuplanner.catalog.load import ENTRY_KINDS

    if given.name is not None:
        raise BadInput(_("“catalog list” takes a kind and no name."))
    kinds = ENTRY_KINDS if given.kind is None else (_kind(given.kind),)
    entries = [(kind, entry) for kind in kinds for entry in catalog.entries(kind).values()]
    if given.json:
        _print_json(
            {
                "entries": [
                    {"kind": kind, "name": e.name, "id": e.id, "vendor": e.vendor, "sources": list(e.sources)}
                    for kind, e in entries
                ]
            }
        )
    else:
        for kind, entry in entries:
            print(f"{kind:<8} {entry.name}")
    return 0


def _show_entry(catalog: "Catalog", given: argparse.Namespace) -> int:
    from gpuplanner.catalog.check import ONE_SOURCE, compared
    from gpuplanner.catalog.query import describe

    if given.kind is None:
        raise BadInput(_("“catalog show” needs the name of an entry."))
    entry = _find_entry(catalog, given.kind, given.name)
    lines = describe(entry, catalog)
    cited = [
        catalog.sources[key] for key in dict.fromkeys(line.source for line in lines) if key and key in catalog.sources
    ]
    if given.json:
        _print_json(
            {
                "kind": entry.kind,
                "name": entry.name,
                "figures": [line._asdict() for line in lines],
                "sources": [source.model_dump(mode="json") for source in cited],
            }
        )
        return 0
    numbers = {source.id: number for number, source in enumerate(cited, 1)}
    for line in lines:
        value = ", ".join(map(str, line.value)) if isinstance(line.value, list) else line.value
        mark = f" ({line.mark})" if line.mark not in (None, "primary") else ""
        where = f" [{numbers[line.source]}]" if line.source in numbers else ""
        print(f"{line.key}: {value}{f' {line.unit}' if line.unit else ''}{mark}{where}")
    for source in cited:
        print(f"[{numbers[source.id]}] {' '.join(part for part in (source.title, source.where, source.date) if part)}")
    if entry.kind == "gpu" and not compared(catalog.gpus[entry.name]):
        print(_(ONE_SOURCE))
    return 0


def _find_entry(catalog: "Catalog", kind: str, name: str | None) -> Any:
    """The entry of a kind and name, or of a name alone where only one kind has it."""
    from gpuplanner.catalog.load import ENTRY_KINDS
    from gpuplanner.catalog.query import AmbiguousName, UnknownName, resolve

    if name is not None:
        kinds: Sequence[str] = (_kind(kind),)
    else:
        kinds, name = ENTRY_KINDS, kind
    found: list[Any] = []
    unknown: list[UnknownName] = []
    for each in kinds:
        try:
            found.append(resolve(catalog, each, name))
        except AmbiguousName as error:
            raise BadInput(str(error)) from error
        except UnknownName as error:
            unknown.append(error)
    if not found:
        near = tuple(dict.fromkeys(name for error in unknown for name in error.suggestions))
        raise BadInput(str(UnknownName(name, near)))
    if len(found) > 1:
        raise BadInput(str(AmbiguousName(name, tuple(f"{entry.kind} {entry.name}" for entry in found))))
    return found[0]


def _check_catalog(catalog: "Catalog", given: argparse.Namespace) -> int:
    from gpuplanner.catalog.check import check, compared

    if given.kind is not None:
        raise BadInput(_("“catalog check” checks every kind; leave “{word}” out.").format(word=given.kind))
    issues = check(catalog)
    errors = [issue for issue in issues if issue.level == "error"]
    unverified = [issue for issue in issues if issue.level != "error"]
    if given.json:
        _print_json(
            {
                "errors": [_issue(issue) for issue in errors],
                "unverified": [_issue(issue) for issue in unverified],
            }
        )
    else:
        for issue in (*errors, *unverified):
            level = _("error") if issue.level == "error" else _("unverified")
            print(f"{level}: {issue.entry}: {issue.key}: {issue.message}")
        print(
            ngettext("{count} error", "{count} errors", len(errors)).format(count=len(errors))
            + ", "
            + ngettext("{count} figure unverified", "{count} figures unverified", len(unverified)).format(
                count=len(unverified)
            )
        )
        alone = sum(not compared(gpu) for gpu in catalog.gpus.values())
        print(
            ngettext(
                "The figures of {count} GPU come from one source and were compared with no other.",
                "The figures of {count} GPUs come from one source and were compared with no other.",
                alone,
            ).format(count=alone)
        )
    return FOUND_ERRORS if errors else 0


def _issue(issue: Any) -> dict[str, Any]:
    return {
        "entry": issue.entry,
        "key": issue.key,
        "rule": issue.rule,
        "message": issue.message,
        "values": dict(issue.values),
    }


def _calc(given: argparse.Namespace) -> int:
    from gpuplanner.model.calc import CALCULATIONS, CalcError, compute, read_inputs

    if given.list:
        if given.json:
            _print_json(
                {
                    "calculations": [
                        {
                            "name": each.name,
                            "inputs": [entry.key for entry in each.inputs],
                            "outputs": list(each.outputs),
                            "rule": each.rule,
                        }
                        for each in CALCULATIONS.values()
                    ]
                }
            )
        else:
            for each in CALCULATIONS.values():
                inputs = " ".join(entry.key if entry.required else f"[{entry.key}]" for entry in each.inputs)
                print(f"{each.name} {inputs} → {' '.join(each.outputs)}")
                if each.rule:
                    print(f"    {_(each.rule)}")
        return 0
    if given.name is None:
        raise BadInput(_("Which calculation? “calc --list” lists them."))
    try:
        outputs = compute(given.name, read_inputs(given.name, _pairs(given.inputs)))
    except CalcError as error:
        raise BadInput(f"calc {given.name}", str(error)) from error
    if given.json:
        _print_json(outputs)
    else:
        for key, value in outputs.items():
            print(f"{key} = {value}")
    return 0


def _pairs(words: Iterable[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for word in words:
        key, sign, value = word.partition("=")
        if not sign or not key:
            raise BadInput(_("Inputs are written key=value, not “{word}”.").format(word=word))
        if key in pairs:
            raise BadInput(_("“{key}” is given twice.").format(key=key))
        pairs[key] = value
    return pairs


def _claim(given: argparse.Namespace) -> int:
    from gpuplanner.i18n.claims import EXAMPLE_LEAD
    from gpuplanner.model.plan import Plan
    from gpuplanner.report import claims

    catalog, plan = _load_catalog(), Plan()
    answered = claims.answer(given.text, catalog, plan)
    if answered.judgement is None:
        raise BadInput(f"{answered.headline} {_(EXAMPLE_LEAD).format(example=answered.example)}")
    rows = claims.closest(answered.judgement, catalog, plan)
    _print_json(claims.to_json(answered, rows)) if given.json else print(claims.as_text(answered, rows))
    return 0


def _compare(given: argparse.Namespace) -> int:
    from gpuplanner.report import two_plans

    sides = []
    for file in (given.first, given.second):
        plan, results, notes = _evaluated(_opened(file), file)
        _say(f"{file}: {note}" for note in notes)
        sides.append(two_plans.Side(Path(file).name, plan, results))
    if given.json:
        _print_json(two_plans.to_json(*sides))
    else:
        sys.stdout.write(two_plans.as_text(*sides))
    return 0


def _compare_cards(given: argparse.Namespace) -> int:
    from gpuplanner.catalog.query import resolve
    from gpuplanner.model.card_ratio import PRECISIONS, Side
    from gpuplanner.report import card_ratio

    catalog = _load_catalog()
    wanted = [word.strip() for word in given.precision.split(",")]
    if len(wanted) > 2 or any(word not in PRECISIONS for word in wanted):
        raise BadInput("--precision", _("choose from {names}.").format(names=", ".join(PRECISIONS)))
    try:
        cards = [resolve(catalog, "gpu", name).name for name in (given.first, given.second)]
        llm = resolve(catalog, "llm", given.llm).name
    except LookupError as error:
        raise BadInput(str(error)) from error
    sides = [
        Side(card, next(each for each in PRECISIONS if each == word))
        for card, word in zip(cards, (wanted[0], wanted[-1]), strict=True)
    ]
    found = card_ratio.find(sides[0], sides[1], llm, catalog)
    _print_json(card_ratio.to_json(found)) if given.json else print(card_ratio.as_text(found))
    return 0


def _schema(given: argparse.Namespace) -> int:
    if given.results:
        from gpuplanner.report.results_json import results_schema

        _print_json(results_schema())
    else:
        from gpuplanner.storage.plan_file import plan_schema

        _print_json(plan_schema())
    return 0


# Options of commands that are followed by a value.
_VALUED = ("--llm", "--precision")
_COMMANDS = ("evaluate", "validate", "catalog", "calc", "claim", "compare", "compare-cards", "schema")


# --- the window --------------------------------------------------------------------


def _window(given: argparse.Namespace, language: str | None) -> int:
    """Open the window; a language that was not chosen here is that of the settings.

    Where there can be no window, print what it would show and say what it needs.
    """
    file = Path(given.file) if given.file is not None else None
    if file is not None:
        _check_readable(file)
    from gpuplanner import app

    try:
        return app.run(file, language)
    except app.NoWindow as error:
        from gpuplanner.storage.samples import SAMPLES

        shown = str(file if file is not None else SAMPLES[0].path)
        plan, results, notes = _evaluated(_opened(shown), shown)
        _say(notes)
        _print_results(plan, results, as_json=False)
        print(str(error))
        return 0


# --- plans ---------------------------------------------------------------------------


def _opened(file: str) -> "Opened":
    from gpuplanner.storage import plan_file

    try:
        return plan_file.read(file)
    except plan_file.PlanFileError as error:
        raise BadInput(file, error.place, error.reason) from error


def _evaluated(opened: "Opened", file: str) -> tuple["Plan", "Results", list[str]]:
    """The plan with full names, its results, and what a reader should know about the file."""
    from gpuplanner.model.naming import BadName, with_full_names
    from gpuplanner.model.pinning import entries_that_differ, pin
    from gpuplanner.storage.seen import differences

    catalog = _load_catalog()
    try:
        plan = pin(with_full_names(opened.plan, catalog), catalog)
    except BadName as error:
        raise BadInput(file, error.place, str(error)) from error
    from gpuplanner.model.evaluate import evaluate

    results = evaluate(plan, catalog)
    notes = list(opened.notes)
    if differing := entries_that_differ(opened.plan, catalog):
        names = ", ".join(reference.name for reference in differing[:3])
        notes.append(
            ngettext(
                "{count} entry of the plan differs from your catalog ({names}); the plan's own is used.",
                "{count} entries of the plan differ from your catalog ({names}); the plan's own are used.",
                len(differing),
            ).format(count=len(differing), names=names)
        )
    if changed := differences(opened.seen, results):
        notes.append(
            ngettext(
                "{count} figure is not what the author of the plan saw.",
                "{count} figures are not what the author of the plan saw.",
                len(changed),
            ).format(count=len(changed))
        )
    return plan, results, notes


def _print_results(plan: "Plan", results: "Results", as_json: bool) -> None:
    if as_json:
        from gpuplanner.report.results_json import results_to_json

        _print_json(results_to_json(plan, results))
    else:
        from gpuplanner.report.text import results_as_text

        sys.stdout.write(results_as_text(plan, results))


# --- the catalog, and reading and printing -------------------------------------------


def _load_catalog() -> "Catalog":
    from gpuplanner.catalog.load import load

    return load(paths.user_catalog())


def _kind(word: str) -> str:
    """A kind of entry by its name or its plural."""
    from gpuplanner.catalog.load import ENTRY_KINDS, FILES

    for kind in ENTRY_KINDS:
        if word.lower() in (kind, FILES[kind][0]):
            return kind
    raise BadInput(
        _("“{word}” is no kind of entry; there are {names}.").format(word=word, names=", ".join(ENTRY_KINDS))
    )


def _check_readable(path: Path) -> None:
    """Refuse what is no file, before anything long begins."""
    try:
        if path.is_dir():
            raise BadInput(str(path), _("This is a folder."))
        with path.open("rb"):
            pass
    except FileNotFoundError:
        raise BadInput(str(path), _("There is no such file.")) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise BadInput(str(path), _("The file cannot be read: {reason}.").format(reason=reason)) from error


def _print_json(data: Any) -> None:
    print(json.dumps(data, ensure_ascii=False, allow_nan=False, indent=1))


def _say(notes: Iterable[str]) -> None:
    for note in notes:
        print(f"{PROGRAM}: {_one_line(note)}", file=sys.stderr)


def _one_line(text: str) -> str:
    """Text without line breaks and control characters: names in it come from files."""
    return "".join(character if character.isprintable() else " " for character in text)


def _use_utf8() -> None:
    """Write UTF-8 whatever the console's code page is: figures hold signs that cp1252 does not have."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")


if __name__ == "__main__":
    sys.exit(main())
