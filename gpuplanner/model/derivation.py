"""A derivation as a tree: every figure with what it is made of, down to inputs, catalog entries and constants.

A node's value is never worked out here: it comes from the function or the result that the window shows. What its
children make of it (`worked_out`) is only compared with it. Where they do not agree, because a limit binds or a seldom
used option adds a factor, the node claims no formula: it "follows from" them.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from gpuplanner.catalog.load import Catalog
from gpuplanner.catalog.schema import Entry, Fact
from gpuplanner.model import inference
from gpuplanner.model.edit import Path
from gpuplanner.model.results import NO_NUMBERS, Figure, Numbers

Origin = Literal["formula", "catalog", "your input", "calibrated", "assumed", "measured", "choice"]
# How a node's value follows from its operands.
Operation = Literal["leaf", "sum", "product", "less_one", "smooth_max", "largest", "smallest", "follows"]
# How a node enters the node above it; "given" is no operand.
Role = Literal["+", "-", "×", "÷", "given"]

_TIE = 1e-9
# Four fifths of a normal distribution lie within so many standard deviations.
_EIGHTY_PERCENT = 1.2816


class Citation(NamedTuple):
    """Where a catalog figure was read. ``confidence`` is high, medium, low, judged or unverified."""

    title: str
    where: str
    date: str
    confidence: str


class Constant(NamedTuple):
    """A calibrated constant: ``moved`` is how far the fit took it from its prior, in standard deviations of the prior.

    ``rows`` is how many measured rows moved it, 0 where none did.
    """

    name: str
    prior: float
    spread: float
    moved: float
    rows: int


class Node(NamedTuple):
    """One figure of a derivation. Values are in SI units; ``kind`` says how `i18n` writes them."""

    key: str
    value: float | None
    kind: str = "count"
    symbol: str = ""
    low: float | None = None
    high: float | None = None
    origin: Origin = "formula"
    operation: Operation = "leaf"
    role: Role = "given"
    children: tuple["Node", ...] = ()
    # Of a sum: what part of it this is.
    share: float | None = None
    # A name that stands as it is: a card, a scenario, a choice.
    name: str = ""
    numbers: Numbers = NO_NUMBERS
    source: Citation | None = None
    constant: Constant | None = None
    # Where in the plan an input stands.
    path: Path = ()
    # The family of measured rows that the band comes from.
    family: str = ""

    @property
    def operands(self) -> tuple["Node", ...]:
        """The children that the value is worked out from."""
        return tuple(child for child in self.children if child.role != "given")

    @property
    def has_band(self) -> bool:
        """Whether the ends of the band differ."""
        return self.low is not None and self.high is not None and self.low < self.high


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, depth first."""
    yield node
    for child in node.children:
        yield from walk(child)


def worked_out(node: Node) -> float | None:
    """What the node's operation makes of its operands; None for a leaf, or where an operand is not known."""
    operands = node.operands
    values = [child.value for child in operands]
    if node.operation in ("leaf", "follows") or not values or any(value is None for value in values):
        return None
    if node.operation == "sum":
        return float(sum((-1.0 if child.role == "-" else 1.0) * (child.value or 0.0) for child in operands))
    if node.operation in ("product", "less_one"):
        made = 1.0
        for child in operands:
            value = child.value or 0.0
            if child.role == "÷" and not value:
                return None
            made = made / value if child.role == "÷" else made * value
        return made - 1.0 if node.operation == "less_one" else made
    if node.operation == "smooth_max":
        first, second = values
        return float(inference.smooth_max(np.asarray(first, float), np.asarray(second, float)))
    chosen = max if node.operation == "largest" else min
    return float(chosen(value for value in values if value is not None))


def made(node: Node, *children: Node) -> Node:
    """The node above `children`, with shares where it is their sum; it only follows where its operation misses."""
    whole = node._replace(children=children)
    found = worked_out(whole)
    if node.operation not in ("leaf", "follows"):
        size = max((abs(child.value or 0.0) for child in whole.operands), default=0.0)
        near = size if node.operation == "sum" else abs(node.value or 0.0)
        if found is None or node.value is None or abs(found - node.value) > _TIE * max(near, abs(node.value)):
            given = tuple(child._replace(role="given") for child in children)
            return node._replace(children=given, operation="follows")
    if node.operation == "sum" and node.value:
        shared = tuple(
            child._replace(share=(-1.0 if child.role == "-" else 1.0) * (child.value or 0.0) / node.value)
            if child.role != "given"
            else child
            for child in children
        )
        return node._replace(children=shared)
    return whole


def figure(
    key: str, value: Figure, kind: str, operation: Operation, *children: Node, symbol: str = "", **fields: Any
) -> Node:
    """A node of a figure of the results, with its band."""
    node = Node(key, value.value, kind, symbol, value.low, value.high, operation=operation, **fields)
    if not children and operation == "leaf" and value.basis == "assumed" and "origin" not in fields:
        node = node._replace(origin="assumed")
    return made(node, *children)


def plus(*nodes: Node) -> tuple[Node, ...]:
    """The nodes as terms of a sum; what is 0 adds nothing and is left out, unless all are."""
    some = tuple(node for node in nodes if node.value != 0.0) or nodes
    return tuple(node._replace(role="-" if node.role == "-" else "+") for node in some)


def times(*nodes: Node) -> tuple[Node, ...]:
    """The nodes as factors; those that `over` marked divide. An exact 1 of a constant or a degree is left out."""
    kept = tuple(node for node in nodes if not (node.value == 1.0 and node.origin in ("calibrated", "choice")))
    return tuple(node._replace(role="÷" if node.role == "÷" else "×") for node in kept or nodes[:1])


def over(node: Node) -> Node:
    """The node as a divisor."""
    return node._replace(role="÷")


def less(node: Node) -> Node:
    """The node as a term that is taken away."""
    return node._replace(role="-")


class Leaves:
    """Makes the leaves of a derivation: inputs of the plan, figures of the catalog, constants, class values."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._calibration = catalog.calibration

    def typed(self, key: str, value: float | None, kind: str, path: Path, symbol: str = "", **fields: Any) -> Node:
        """A value that the user typed, or the default that the user left."""
        return Node(key, value, kind, symbol, origin="your input", path=path, **fields)

    def chosen(self, key: str, value: float, kind: str = "count", symbol: str = "", name: str = "") -> Node:
        """What an automatic choice came to."""
        return Node(key, value, kind, symbol, origin="choice", name=name)

    def cited(
        self, key: str, fact: Fact, entry: Entry, kind: str, symbol: str = "", value: float | None = None
    ) -> Node:
        """A figure of a catalog entry with its source; `value` where a device has a part of the card's."""
        return Node(
            key, fact.value if value is None else value, kind, symbol, origin="catalog", name=entry.name,
            source=self.citation(fact.source, "unverified" if fact.mark == "unverified" else entry.confidence),
        )  # fmt: skip

    def shaped(self, key: str, value: float, entry: Entry, kind: str = "count", symbol: str = "") -> Node:
        """A figure that follows from the shape of a catalog entry, cited with the entry's first source."""
        source = self.citation(entry.sources[0] if entry.sources else "unverified", entry.confidence)
        return Node(key, value, kind, symbol, origin="catalog", name=entry.name, source=source)

    def assumed(self, key: str, table: str, row: str, kind: str, value: float | None = None, symbol: str = "") -> Node:
        """A class value with its range; `value` and the range are scaled alike where it is used in another unit."""
        found = self.catalog.assumption(table, row)
        scale = 1.0 if value is None or not found.value else value / found.value
        confidence = "judged" if found.basis == "judged" else "medium"
        return Node(
            key, found.value if value is None else value, kind, symbol, found.low * scale, found.high * scale,
            origin="assumed", name=row, source=self.citation(found.source, confidence, found.date),
        )  # fmt: skip

    def constant(self, position: int, value: float, kind: str = "count", symbol: str = "") -> Node:
        """A calibrated constant by its place in the table; its band is the spread of its prior."""
        table = self._calibration
        name, prior, spread = table.names[position], float(table.priors[position]), float(table.spreads[position])
        moved = float(np.log(value / prior) / spread) if prior > 0 and spread > 0 and value > 0 else 0.0
        said = table.fitted_on[position].split(" ")[0]
        wide = float(np.exp(_EIGHTY_PERCENT * spread))
        return Node(
            "constant", value, kind, symbol, value / wide, value * wide, "calibrated", name=name,
            constant=Constant(name, prior, spread, moved, int(said) if said.isdigit() else 0),
        )  # fmt: skip

    def named(self, group: str, key: str = "", kind: str = "count", symbol: str = "") -> Node:
        """A calibrated constant by its name."""
        position = self._calibration.position(group, key)
        return self.constant(position, float(self._calibration.values[position]), kind, symbol)

    def citation(self, key: str, confidence: str, date: str = "") -> Citation:
        """The document of that key, as the catalog (the plan's own records first) describes it."""
        found = self.catalog.sources.get(key)
        if found is None:
            return Citation("", "" if key == "unverified" else key, date, "unverified" if not key else confidence)
        return Citation(found.title or found.where, found.where, found.date or date, confidence)


def sources(node: Node) -> tuple[tuple[Citation, tuple[Node, ...]], ...]:
    """Every document under a node, once, with the figures that were read in it."""
    found: dict[Citation, list[Node]] = {}
    for each in walk(node):
        if each.source is not None:
            known = found.setdefault(each.source, [])
            if all((one.key, one.name) != (each.key, each.name) for one in known):
                known.append(each)
    return tuple((citation, tuple(nodes)) for citation, nodes in found.items())


def total_of(nodes: Sequence[Node]) -> float:
    """The sum of known values."""
    return float(sum(node.value or 0.0 for node in nodes))
