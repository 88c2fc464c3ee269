"""Short names in a plan that was written by hand ("4090"), put right before it is evaluated."""

from typing import NamedTuple

from gpuplanner.catalog.load import Catalog
from gpuplanner.catalog.query import AmbiguousName, UnknownName, resolve
from gpuplanner.model.edit import Path, replace, value_at
from gpuplanner.model.plan import Plan


class BadName(LookupError):
    """A name in a plan that no entry has, or that several may have. The text is one sentence for the user."""

    def __init__(self, place: str, error: AmbiguousName | UnknownName) -> None:
        super().__init__(place, error)
        self.place = place
        self.error = error

    def __str__(self) -> str:
        return str(self.error)


class _Named(NamedTuple):
    path: Path
    kind: str


def with_full_names(plan: Plan, catalog: Catalog) -> Plan:
    """The plan with the catalog's own names in place of aliases and other spellings.

    A name that the plan pins, or that the catalog has, stays. Raises `BadName` with the place in the plan for a name
    that is unknown or ambiguous: nothing is guessed.
    """
    known = catalog.over(plan.entries)
    for path, kind in _names(plan):
        name = value_at(plan, path)
        if not name or name == "auto" or known.find(kind, name) is not None:
            continue
        try:
            entry = resolve(known, kind, name)
        except (AmbiguousName, UnknownName) as error:
            raise BadName(_written(path), error) from error
        plan = replace(plan, path, entry.name)
    return plan


def _names(plan: Plan) -> list[_Named]:
    """Every place of the plan where a catalog entry is named."""
    named = [
        _Named(("workloads", w, "llm", n), "llm") for w, work in enumerate(plan.workloads) for n in range(len(work.llm))
    ]
    for s, scenario in enumerate(plan.scenarios):
        for g, group in enumerate(scenario.groups):
            at: Path = ("scenarios", s, "groups", g)
            named += [_Named((*at, kind), kind) for kind in ("server", "cpu", "gpu")]
            for r in range(len(group.runs)):
                named += [_Named((*at, "runs", r, kind), kind) for kind in ("runtime", "llm")]
    for o in range(len(plan.wishes.owned)):
        named += [_Named(("wishes", "owned", o, kind), kind) for kind in ("gpu", "server")]
    return named


def _written(path: Path) -> str:
    """A path as it is written in refusals: ``scenarios[0].groups[1].gpu``."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
