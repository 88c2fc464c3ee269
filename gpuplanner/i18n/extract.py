"""Development tool: bring the catalogs of words up to date with the source, or say what they lack.

`python -m gpuplanner.i18n.extract` collects every msgid of the package, keeps the translations there are, and writes
`gpuplanner.pot`, each language's `gpuplanner.po` and its compiled `gpuplanner.mo`. A translation whose msgid has gone
stays in the .po as obsolete and comes back with its msgid. The same source and translations give the same bytes.
With `--check` nothing is written: what is missing or stale is named, and the exit code is 1 if anything is.
"""

import argparse
import ast
import re
import string
import sys
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import read_mo, write_mo
from babel.messages.pofile import read_po, write_po

from gpuplanner import __version__, paths
from gpuplanner.i18n import DOMAIN, languages
from gpuplanner.i18n.format import BABEL_LOCALES

SOURCE = Path(__file__).resolve().parents[1]

# The English words are the msgids.
TRANSLATED = [code for code in languages() if code != "en"]

_KEYWORDS = {"_": None, "N_": None, "ngettext": (1, 2), "pgettext": ((1, "c"), 2)}

Key = tuple[str | None, str | tuple[str, ...]]


class Words(Catalog):
    """A catalog whose header has no date and no tool in it, so that it changes only when the words do."""

    @property
    def mime_headers(self) -> list[tuple[str, str]]:
        """The header's lines."""
        language = [("Language", str(self.locale)), ("Plural-Forms", self.plural_forms)] if self.locale else []
        return [
            ("Project-Id-Version", f"{self.project} {self.version}"),
            *language,
            ("MIME-Version", "1.0"),
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Transfer-Encoding", "8bit\n"),
        ]

    @mime_headers.setter
    def mime_headers(self, headers: Iterable[tuple[str | bytes, str | bytes]]) -> None:
        # Babel reads a stored header back through this; ours follows from the catalog.
        del headers


def _words(code: str | None) -> Words:
    heading = f"# Words of GPU Planner{f', {languages()[code]}' if code else ''}."
    locale = BABEL_LOCALES[code] if code else None
    return Words(locale, DOMAIN, heading, "GPU Planner", __version__, fuzzy=False)


def _key(message: Message) -> Key:
    return message.context, message.id if isinstance(message.id, str) else tuple(message.id)


def _messages(catalog: Catalog) -> dict[Key, Message]:
    return {_key(message): message for message in catalog if message.id}


def source_words() -> Catalog:
    """Every msgid of the package, in the order of the source, with the files that use it."""
    words = _words(None)
    found = extract_from_dir(SOURCE, [("**.py", "python")], keywords=_KEYWORDS, comment_tags=["translators:"])
    for file, line, msgid, comments, context in found:
        place = f"{SOURCE.name}/{Path(file).as_posix()}"
        words.add(msgid, locations=[(place, line)], auto_comments=comments, context=context)
    return words


def translated_words(code: str, source: Catalog) -> Catalog:
    """The source's msgids with the translations that the language's .po has, the rest of these as obsolete."""
    known: dict[Key, Message] = {}
    if _po(code).is_file():
        with _po(code).open("rb") as file:
            old = read_po(file, BABEL_LOCALES[code], DOMAIN)
        known = {_key(message): message for message in old.obsolete.values()} | _messages(old)
    words = _words(code)
    for key, message in _messages(source).items():
        old_message = known.pop(key, None)
        words.add(
            message.id,
            # Read back, a plural without translation is a tuple of empty strings, which Babel would compile.
            old_message.string if old_message and any(_forms(old_message)) else None,
            message.locations,
            old_message.flags if old_message else (),
            message.auto_comments,
            old_message.user_comments if old_message else (),
            context=message.context,
        )
    for message in known.values():
        if _is_translated(message):
            words.obsolete[str(_key(message))] = message
    return words


def _forms(message: Message) -> tuple[str, ...]:
    """The translations of a message, one for each plural form of the language."""
    return tuple(message.string) if isinstance(message.string, tuple | list) else (message.string or "",)


def _is_translated(message: Message) -> bool:
    return all(_forms(message)) and not message.fuzzy


def untranslated(words: Catalog) -> list[str]:
    """The msgids without a translation, each with the files that use it."""
    return [
        f"{_english(message)!r} ({', '.join(sorted({place for place, _line in message.locations}))})"
        for message in _messages(words).values()
        if not _is_translated(message)
    ]


def _english(message: Message) -> str:
    return message.id if isinstance(message.id, str) else message.id[0]


def placeholders(text: str) -> set[str]:
    """The named places of a msgid with their format: {"power", "share:.0f"}, and "%(size)d" of the older kind.

    Raises `ValueError` for a stray brace.
    """
    places = set(re.findall(r"%\(\w+\)[^a-zA-Z%]*[a-zA-Z]", text))
    for _text, name, form, conversion in string.Formatter().parse(text):
        if name is not None:
            places.add(name + (f"!{conversion}" if conversion else "") + (f":{form}" if form else ""))
    return places


def misplaced(words: Catalog) -> list[str]:
    """The translations whose placeholders are not those of their msgid; a plural has those of its plural form."""
    wrong = []
    for message in _messages(words).values():
        english = message.id if isinstance(message.id, str) else message.id[-1]
        wrong += [f"{english!r}: {form!r}" for form in _forms(message) if form and not _same_places(form, english)]
    return wrong


def _same_places(translation: str, english: str) -> bool:
    try:
        return placeholders(translation) == placeholders(english)
    except ValueError:
        return False


def unextractable() -> list[str]:
    """The places where a msgid is not one literal string and so can never be translated."""
    return [
        f"{SOURCE.name}/{file.relative_to(SOURCE).as_posix()}:{line}"
        for file in sorted(SOURCE.rglob("*.py"))
        for line in _built_msgids(ast.parse(file.read_text("utf-8")))
    ]


def _built_msgids(tree: ast.AST) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _KEYWORDS:
            pieces = node.args[: 1 if node.func.id in ("_", "N_") else 2]
            # A name is a msgid that was marked with N_ where it is written.
            literal_only = node.func.id == "N_"
            for piece in pieces:
                if isinstance(piece, ast.JoinedStr | ast.BinOp) or (
                    literal_only and not (isinstance(piece, ast.Constant) and isinstance(piece.value, str))
                ):
                    yield piece.lineno


def _po(code: str) -> Path:
    return paths.resources() / "i18n" / code / "LC_MESSAGES" / f"{DOMAIN}.po"


def _text(words: Catalog) -> bytes:
    file = BytesIO()
    write_po(file, words, width=120, include_lineno=False)
    return file.getvalue()


def _compiled(words: Catalog) -> bytes:
    file = BytesIO()
    write_mo(file, words)
    return file.getvalue()


def _files() -> dict[Path, bytes]:
    """What each catalog file should hold."""
    source = source_words()
    files = {paths.resources() / "i18n" / f"{DOMAIN}.pot": _text(source)}
    for code in TRANSLATED:
        words = translated_words(code, source)
        files[_po(code)] = _text(words)
        files[_po(code).with_suffix(".mo")] = _compiled(words)
    return files


def _same_words(path: Path, expected: bytes) -> bool:
    """Whether a file says what it should. Other releases of Babel may wrap, order or head it differently."""
    if not path.is_file():
        return False
    read = read_mo if path.suffix == ".mo" else read_po

    def strings(content: bytes) -> dict[Key, object]:
        return {key: (message.string, message.fuzzy) for key, message in _messages(read(BytesIO(content))).items()}

    return path.read_bytes() == expected or strings(path.read_bytes()) == strings(expected)


def stale() -> list[str]:
    """The catalog files that do not say what the source and the translations say, by their path in `resources/`."""
    root = paths.resources()
    return [path.relative_to(root).as_posix() for path, content in _files().items() if not _same_words(path, content)]


def problems() -> list[str]:
    """A line for everything that is missing or stale; empty when every language is complete and up to date."""
    source = source_words()
    found = [f"not one literal string: {place}" for place in unextractable()]
    for code in TRANSLATED:
        words = translated_words(code, source)
        found += [f"{code}: not translated: {line}" for line in untranslated(words)]
        found += [f"{code}: other placeholders than {line}" for line in misplaced(words)]
    return found + [f"out of date: {name}" for name in stale()]


def update() -> list[str]:
    """Write the catalog files whose content changes; return their paths in `resources/`."""
    written = []
    for path, content in _files().items():
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            written.append(path.relative_to(paths.resources()).as_posix())
    return written


def main(arguments: list[str] | None = None) -> int:
    """The tool's command line; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m gpuplanner.i18n.extract", description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if anything is missing or stale")
    if parser.parse_args(arguments).check:
        lines = problems()
        print("\n".join(lines) if lines else "Every language is complete and up to date.")
        return 1 if lines else 0
    for name in update():
        print(f"wrote {name}")
    for line in problems():
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
