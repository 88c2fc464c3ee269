"""The catalog: the shipped entries and the user's own, as one object that is read in parts.

A bad entry never hides the others: it is left out and reported with its file, name and key.
"""

import copy
import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from pydantic import TypeAdapter, ValidationError

from gpuplanner import paths
from gpuplanner.catalog import schema

# A user's file larger than this is not read: the shipped catalog as a whole has under 2 MB.
MAX_FILE_BYTES = 10 * 2**20
# Scenarios of one plan share their pinned records; a second plan may be open for comparison.
_VIEWS = 4
# So many problems are listed for one file; more help nobody.
MAX_PROBLEMS = 100

FILES = {
    "gpu": ("gpus", schema.Gpu),
    "server": ("servers", schema.Server),
    "cpu": ("cpus", schema.Cpu),
    "nic": ("nics", schema.Nic),
    "switch": ("switches", schema.Switch),
    "optic": ("optics", schema.Optic),
    "link": ("links", schema.Link),
    "llm": ("llms", schema.Llm),
    "runtime": ("runtimes", schema.Runtime),
    "price": ("prices", schema.Price),
    "assumption": ("assumptions", schema.Assumption),
    "statistic": ("statistics", schema.Statistic),
    "platform": ("platforms", schema.Gate),
    "exception": ("exceptions", schema.Gate),
    "source": ("sources", schema.Source),
}
ENTRY_KINDS = ("gpu", "server", "cpu", "nic", "switch", "optic", "link", "llm", "runtime")


class Problem(NamedTuple):
    """Something in a catalog file that was left out. ``entry`` and ``key`` are empty where the whole file is meant."""

    file: str
    entry: str
    key: str
    reason: str


class Ambiguity(NamedTuple):
    """What a short name may mean, and why it is not decided."""

    candidates: tuple[str, ...]
    why: str | None


class BadFile(ValueError):
    """A catalog file that cannot be read at all; the text says why."""


def identity(kind: str, record: Any) -> Any:
    """What makes two records of a kind the same one."""
    if kind in ("price", "statistic", "source"):
        return record.id
    if kind == "assumption":
        return record.key, record.applies_to
    if kind in ("platform", "exception"):
        return record.kind, record.name
    return record.name


def priced(price: schema.Price) -> tuple[str, ...]:
    """The names of the entries that a price is of: where nobody stated the form factor, each card that it may be of."""
    return (price.entry,) if price.entry is not None else price.candidates


class Shelf:
    """The catalog files of one folder, each read and checked on first use."""

    def __init__(self, folder: Path, shipped: bool) -> None:
        self._folder = folder
        self._shipped = shipped
        self._read: dict[str, tuple[tuple[Any, ...], tuple[Problem, ...]]] = {}

    def records(self, kind: str) -> tuple[Any, ...]:
        return self._load(kind)[0]

    def problems(self, kind: str) -> tuple[Problem, ...]:
        return self._load(kind)[1]

    def _load(self, kind: str) -> tuple[tuple[Any, ...], tuple[Problem, ...]]:
        if kind not in self._read:
            stem, record = FILES[kind]
            self._read[kind] = read_records(self._folder / f"{stem}.json", kind, record, required=self._shipped)
        return self._read[kind]


def read_bytes(path: Path) -> bytes:
    """The content of a catalog file. Raises `BadFile` if it is too large, `OSError` if it cannot be read."""
    from gpuplanner.i18n import _

    size = path.stat().st_size
    if size > MAX_FILE_BYTES:
        raise BadFile(
            _("The file has %(size)d MiB; more than %(limit)d MiB are not read.")
            % {"size": size // 2**20, "limit": MAX_FILE_BYTES // 2**20}
        )
    return path.read_bytes().removeprefix(b"\xef\xbb\xbf")


def parse(content: bytes) -> Any:
    """JSON without NaN, infinities and doubled keys. Raises `BadFile`."""
    from gpuplanner.i18n import _

    try:
        return json.loads(content.decode("utf-8"), parse_constant=_no_constant, object_pairs_hook=_no_doubles)
    except BadFile:
        raise
    except RecursionError as error:
        raise BadFile(_("The file is nested too deeply.")) from error
    except ValueError as error:
        raise BadFile(_("The file is not valid JSON: %(reason)s") % {"reason": error}) from error


def _no_constant(name: str) -> NoReturn:
    from gpuplanner.i18n import _

    raise BadFile(_("“%(name)s” is not a number that can be used.") % {"name": name})


def _no_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    from gpuplanner.i18n import _

    result = dict(pairs)
    if len(result) != len(pairs):
        twice = next(key for i, (key, _value) in enumerate(pairs) if key in dict(pairs[:i]))
        raise BadFile(_("The key “%(key)s” stands twice in one entry.") % {"key": twice[:200]})
    return result


def read_records(
    path: Path, kind: str, record: type, required: bool = False
) -> tuple[tuple[Any, ...], tuple[Problem, ...]]:
    """The good records of one file and what was wrong with the others. A missing file is empty unless `required`."""
    try:
        content = read_bytes(path)
    except FileNotFoundError:
        if required:
            raise
        return (), ()
    except (OSError, BadFile) as error:
        return (), (Problem(path.name, "", "", str(error)),)
    adapter: TypeAdapter[Any] = TypeAdapter(tuple[record, ...])  # type: ignore[valid-type]
    try:
        records = adapter.validate_json(content, strict=True)
    except ValidationError:
        return _one_by_one(path.name, kind, record, content)
    if len({identity(kind, r) for r in records}) == len(records):
        return records, ()
    return _one_by_one(path.name, kind, record, content)


def _one_by_one(file: str, kind: str, record: type, content: bytes) -> tuple[tuple[Any, ...], tuple[Problem, ...]]:
    from gpuplanner.catalog.sentences import sentence
    from gpuplanner.i18n import _

    try:
        items = parse(content)
    except BadFile as error:
        return (), (Problem(file, "", "", str(error)),)
    if not isinstance(items, list):
        return (), (Problem(file, "", "", _("The file must hold a list of entries.")),)
    adapter: TypeAdapter[Any] = TypeAdapter(record)
    good: dict[Any, Any] = {}
    problems: list[Problem] = []
    for place, item in enumerate(items, 1):
        name = _name_of(item) or f"#{place}"
        try:
            one = adapter.validate_json(json.dumps(item), strict=True)
        except (ValidationError, RecursionError, ValueError) as error:
            if isinstance(error, ValidationError):
                for detail in error.errors(include_url=False)[:5]:
                    problems.append(Problem(file, name, ".".join(map(str, detail["loc"])), sentence(detail)))
            else:
                problems.append(Problem(file, name, "", _("The entry is nested too deeply.")))
            continue
        if identity(kind, one) in good:
            reason = _("An entry of this name stands in the file twice; the first counts.")
            problems.append(Problem(file, name, "name", reason))
            continue
        good[identity(kind, one)] = one
    return tuple(good.values()), tuple(problems[:MAX_PROBLEMS])


def _name_of(item: Any) -> str:
    if isinstance(item, dict):
        for key in ("name", "item", "id", "key"):
            if isinstance(item.get(key), str):
                return str(item[key])[:200]
    return ""


class Catalog:
    """What can be bought and run: shipped entries, the user's own, and pinned ones in front.

    Immutable. Each part is read on first use.
    """

    _shelves: tuple[Shelf, ...]
    # A view has the catalog that it was made from, and the records in front of it.
    _base: "Catalog | None"
    _pinned: Any
    _views: "list[tuple[Any, Catalog]]"

    def __init__(self, shelves: Iterable[Shelf], base: "Catalog | None" = None, pinned: Any = None) -> None:
        self.__dict__.update(_shelves=tuple(shelves), _base=base, _pinned=pinned, _views=[])

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"a catalog cannot be changed: {name}")

    def _shares(self, kind: str) -> "Catalog | None":
        """The catalog that has this part unchanged, None if it must be put together here."""
        return None if getattr(self._pinned, FILES[kind][0], ()) else self._base

    def _merged(self, kind: str) -> dict[Any, Any]:
        """All records of a kind by identity: later shelves and pinned ones replace earlier ones in their place."""
        merged: dict[Any, Any] = {}
        for shelf in self._shelves:
            for record in shelf.records(kind):
                merged[identity(kind, record)] = record
        pinned = getattr(self._pinned, FILES[kind][0], ())
        if kind == "price" and pinned:
            # A plan shows the same cost on every machine: where it pins prices of an entry, no others count.
            entries = {entry.name for each in ENTRY_KINDS for entry in getattr(self._pinned, FILES[each][0], ())}
            names = entries.intersection(name for price in pinned for name in priced(price))
            names.update(price.entry for price in pinned if price.entry is not None)
            merged = {key: price for key, price in merged.items() if names.isdisjoint(priced(price))}
        for record in pinned:
            merged[identity(kind, record)] = record
        return merged

    def _records(self, kind: str) -> tuple[Any, ...]:
        shared = self._shares(kind)
        return tuple(self._merged(kind).values()) if shared is None else getattr(shared, FILES[kind][0])

    def _by_name(self, kind: str) -> Mapping[str, Any]:
        shared = self._shares(kind)
        return MappingProxyType(self._merged(kind)) if shared is None else getattr(shared, FILES[kind][0])

    @cached_property
    def gpus(self) -> Mapping[str, schema.Gpu]:
        return self._by_name("gpu")

    @cached_property
    def servers(self) -> Mapping[str, schema.Server]:
        return self._by_name("server")

    @cached_property
    def cpus(self) -> Mapping[str, schema.Cpu]:
        return self._by_name("cpu")

    @cached_property
    def nics(self) -> Mapping[str, schema.Nic]:
        return self._by_name("nic")

    @cached_property
    def switches(self) -> Mapping[str, schema.Switch]:
        return self._by_name("switch")

    @cached_property
    def optics(self) -> Mapping[str, schema.Optic]:
        return self._by_name("optic")

    @cached_property
    def links(self) -> Mapping[str, schema.Link]:
        return self._by_name("link")

    @cached_property
    def llms(self) -> Mapping[str, schema.Llm]:
        return self._by_name("llm")

    @cached_property
    def runtimes(self) -> Mapping[str, schema.Runtime]:
        return self._by_name("runtime")

    @cached_property
    def prices(self) -> tuple[schema.Price, ...]:
        return self._records("price")

    @cached_property
    def statistics(self) -> tuple[schema.Statistic, ...]:
        """Published figures that are neither prices nor class values, such as failure counts."""
        return self._records("statistic")

    @cached_property
    def assumptions(self) -> tuple[schema.Assumption, ...]:
        return self._records("assumption")

    @cached_property
    def sources(self) -> Mapping[str, schema.Source]:
        return self._by_name("source")

    @cached_property
    def platforms(self) -> tuple[schema.Gate, ...]:
        return self._records("platform")

    @cached_property
    def exceptions(self) -> tuple[schema.Gate, ...]:
        """Rules that the tables of runtimes and platforms do not hold: what broke when, and what needs a setting."""
        return self._records("exception")

    @cached_property
    def ambiguous(self) -> Mapping[str, Ambiguity]:
        """Short names that fit several entries."""
        if self._base is not None:
            return self._base.ambiguous
        raw = json.loads((_shipped_folder() / "ambiguous.json").read_text(encoding="utf-8"))
        return MappingProxyType({name: Ambiguity(tuple(a["candidates"]), a["why"]) for name, a in raw.items()})

    @cached_property
    def date(self) -> str:
        """Year and month of the shipped catalog."""
        if self._base is not None:
            return self._base.date
        return str(json.loads((_shipped_folder() / "catalog.json").read_text(encoding="utf-8"))["date"])

    @cached_property
    def user_names(self) -> frozenset[str]:
        """Names of the entries that are the user's own."""
        if self._base is not None:
            return self._base.user_names
        return frozenset(
            record.name for shelf in self._shelves[1:] for kind in ENTRY_KINDS for record in shelf.records(kind)
        )

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """What was left out and why. Reads every part."""
        if self._base is not None:
            return self._base.problems
        return tuple(problem for shelf in self._shelves for kind in FILES for problem in shelf.problems(kind))

    @cached_property
    def calibration(self) -> Any:
        """Constants and residuals of the speed model."""
        if self._base is not None:
            return self._base.calibration
        from gpuplanner.catalog.calibration import load_calibration

        return load_calibration(paths.resources() / "calibration")

    @cached_property
    def measurements(self) -> Any:
        """The measured rows."""
        if self._base is not None:
            return self._base.measurements
        from gpuplanner.catalog.calibration import load_measurements

        return load_measurements(paths.resources() / "measurements")

    @property
    def own_rows(self) -> Any:
        """What a plan's own measurements come to (`model.measured.own`); None without any."""
        return self.__dict__.get("_own_rows")

    def with_own_rows(self, own_rows: Any) -> "Catalog":
        """This catalog as a plan with measurements of its own sees it: the same records, and these rows."""
        view = copy.copy(self)
        view.__dict__.update(_own_rows=own_rows, _views=[], _base=self._base or self)
        return view

    def entries(self, kind: str) -> Mapping[str, Any]:
        """All entries of a kind by name. Raises `KeyError` for a kind that does not exist."""
        if kind not in ENTRY_KINDS:
            raise KeyError(f"no kind of catalog entry is called {kind!r}")
        return getattr(self, FILES[kind][0])

    def find(self, kind: str, name: str) -> Any:
        """The entry of exactly this name, or None."""
        return self.entries(kind).get(name)

    def assumption(self, key: str, applies_to: str) -> schema.Assumption:
        """The class value for a figure. Raises `KeyError` with both words if there is none."""
        try:
            return self._assumption_index[key, applies_to]
        except KeyError:
            raise KeyError(f"the catalog holds no assumption {key!r} for {applies_to!r}") from None

    def prices_of(self, name: str, condition: str | None = None) -> tuple[schema.Price, ...]:
        """Prices that belong to the entry of this name, in catalog order."""
        prices = self._price_index.get(name, ())
        return tuple(price for price in prices if condition is None or price.condition == condition)

    def over(self, entries: Any) -> "Catalog":
        """This catalog with pinned records in front: tuples named as the properties here (`gpus`, `prices` …).

        Parts that nothing is pinned of are shared, and the last views are kept: a plan is evaluated again and again
        with the same pinned records. A view of a view has the new pinned records only.
        """
        base = self if self._base is None else self._base
        for known, view in base._views:
            if known is entries:
                return view
        if all(not getattr(entries, stem, ()) for stem, _record in FILES.values()):
            return base
        view = Catalog(base._shelves, base, entries)
        base._views[:] = [*base._views[-(_VIEWS - 1) :], (entries, view)]
        return view

    def with_calibration(self, calibration: Any) -> "Catalog":
        """This catalog under another table of constants; what has been read is shared. Pinned records are put aside."""
        root = self if self._base is None else self._base
        other = Catalog(root._shelves)
        read = {name: value for name, value in root.__dict__.items() if name not in ("_views", "calibration")}
        other.__dict__.update(read, calibration=calibration)
        return other

    @cached_property
    def _assumption_index(self) -> dict[tuple[str, str], schema.Assumption]:
        shared = self._shares("assumption")
        if shared is not None:
            return shared._assumption_index
        return {(a.key, a.applies_to): a for a in self.assumptions}

    @cached_property
    def _price_index(self) -> dict[str, tuple[schema.Price, ...]]:
        shared = self._shares("price")
        if shared is not None:
            return shared._price_index
        index: dict[str, list[schema.Price]] = {}
        for price in self.prices:
            for name in priced(price):
                index.setdefault(name, []).append(price)
        return {name: tuple(prices) for name, prices in index.items()}


def _shipped_folder() -> Path:
    return paths.resources() / "catalog"


def load(user_folder: Path | None = None) -> Catalog:
    """The shipped catalog and the entries in `user_folder`; of two with the same name the user's wins."""
    shelves = [Shelf(_shipped_folder(), shipped=True)]
    if user_folder is not None:
        shelves.append(Shelf(user_folder, shipped=False))
    return Catalog(shelves)
