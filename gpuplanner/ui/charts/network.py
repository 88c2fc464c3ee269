"""The network of a scenario as tiers of boxes: servers, leaf, spine and core switches, and the cables between them.

Counts come from the fabrics of the results, links inside servers from the model; nothing is computed here but how
cables spread over the boxes that are drawn. Many servers or switches are drawn as one box.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen

from gpuplanner.catalog.load import Catalog
from gpuplanner.i18n import _, facts, ngettext
from gpuplanner.i18n import format as words
from gpuplanner.model.interconnect import ServerLink
from gpuplanner.model.plan import Scenario
from gpuplanner.model.results import FabricResult
from gpuplanner.ui.charts.drawing import LEFT, MIDDLE, Canvas, device_name
from gpuplanner.ui.theme import Theme, ThemeSource, blend
from gpuplanner.units import GIGA

# More servers, or switches of a tier, are one box.
MOST_SERVERS, MOST_SWITCHES = 12, 4
# A box narrower than this says nothing. [px]
_LEAST_BOX, _WIDEST_BOX, _GAP = 100.0, 210.0, 10.0
# Lines are 1 px wide at this rate, and so much wider with each doubling. [bit/s, px]
_THIN_BITS, _WIDER, _WIDEST_LINE = 25e9, 0.4, 6.0
SERVERS = 0


class Box(NamedTuple):
    """One box: ``number`` equal servers or switches of a fabric (None = joined by none), at a tier from the bottom."""

    key: str
    tier: int
    fabric: int | None
    group: int | None
    title: str
    second: str
    number: int
    spoken: str


class Cable(NamedTuple):
    """All cables between two boxes; ``said`` is written beside one of those that look alike."""

    lower: str
    upper: str
    number: float
    bits_s: float
    dashed: bool
    said: str


class Drawing(NamedTuple):
    """Boxes and cables; ``tiers`` of boxes above each other."""

    boxes: tuple[Box, ...]
    cables: tuple[Cable, ...]
    tiers: int


NOTHING = Drawing((), (), 1)


def drawing_of(
    scenario: Scenario,
    fabrics: Sequence[FabricResult],
    links: Sequence[ServerLink],
    catalog: Catalog,
    room: int = 100,
    compact: bool = False,
) -> Drawing:
    """What to draw where `room` boxes have place beside each other; compact: one box for all switches of a fabric."""
    if compact:
        return _small(scenario, fabrics, links, catalog)
    boxes: list[Box] = []
    cables: list[Cable] = []
    by_group = {link.group: link for link in links}
    every = sum(group.servers for group in scenario.groups)
    alone = every <= min(MOST_SERVERS, room)
    tiers = 1
    joined: set[int] = set()
    for at, fabric in enumerate(fabrics):
        joined.update(fabric.groups)
        servers = [
            box
            for i in fabric.groups
            for box in _servers(scenario, i, at, by_group.get(i), catalog, alone, _ports(fabric, scenario, catalog))
        ]
        boxes.extend(servers)
        switches = _switches(at, fabric, room)
        numbers = (fabric.cables_node_leaf, fabric.cables_leaf_spine, fabric.cables_spine_core)
        lower = servers
        for tier, number in zip(switches, numbers, strict=False):
            boxes.extend(tier)
            cables.extend(_between(lower, tier, float(number), fabric))
            lower = tier
        tiers = max(tiers, 1 + len(switches))
    for i, group in enumerate(scenario.groups):
        if i not in joined:
            boxes.extend(_servers(scenario, i, None, by_group.get(i), catalog, alone and group.servers > 0, ""))
    return Drawing(tuple(boxes), tuple(cables), tiers)


def _small(
    scenario: Scenario, fabrics: Sequence[FabricResult], links: Sequence[ServerLink], catalog: Catalog
) -> Drawing:
    """One box for all networks, and one for each group."""
    by_group = {link.group: link for link in links}
    groups = [
        box
        for i in range(len(scenario.groups))
        for box in _servers(scenario, i, None, by_group.get(i), catalog, False, "")
    ]
    if not fabrics:
        return Drawing(tuple(groups), (), 1)
    names = " + ".join(dict.fromkeys(facts.word(fabric.fabric) for fabric in fabrics))
    number = sum(fabric.nics for fabric in fabrics)
    ports = ngettext("{count} port", "{count} ports", number).format(count=words.count(number))
    second = fabric_words(fabrics[0]) if len(fabrics) == 1 else ports
    head = Box("network", 1, None, None, names, second, 1, "; ".join(spoken(fabric) for fabric in fabrics))
    cables = [
        cable
        for fabric in fabrics
        for cable in _between([box for box in groups if box.group in fabric.groups], [head], float(fabric.nics), fabric)
    ]
    return Drawing((*groups, head), tuple(cables), 2)


def _ports(fabric: FabricResult, scenario: Scenario, catalog: Catalog) -> str:
    """What joins one server to the fabric; "≈" where it is the ports of its class."""
    each = words.number(fabric.nics / fabric.servers)
    said = _("{count}× {speed} Gb/s").format(count=each, speed=words.count(fabric.bits_s / GIGA))
    stated = "auto" not in (scenario.network.nics_per_server, scenario.network.nic_bits_s)
    records = (catalog.servers.get(scenario.groups[i].server) for i in fabric.groups)
    known = all(record is not None and any(nic.role == "compute" for nic in record.nics) for record in records)
    return said if stated or known else f"≈ {said}"


def link_words(link: ServerLink | None) -> str:
    """What joins the cards of a server, with one direction's bandwidth; nothing for a single card."""
    if link is None:
        return ""
    if link.bytes_s is None:
        return facts.word(link.kind)
    return _("{link} {speed} GB/s").format(link=facts.word(link.kind), speed=words.count(link.bytes_s / GIGA))


def _servers(
    scenario: Scenario,
    index: int,
    fabric: int | None,
    link: ServerLink | None,
    catalog: Catalog,
    alone: bool,
    ports: str,
) -> list[Box]:
    group = scenario.groups[index]
    name, inside = device_name(group, catalog), link_words(link)
    if fabric is None and group.condition == "rented":
        inside = inside or _("rented")
    second = inside or ports or _("no link")
    servers = ngettext("{count} server", "{count} servers", group.servers).format(count=words.count(group.servers))
    said = ", ".join(part for part in (name, servers, inside, ports) if part)
    if alone and group.servers > 1:
        return [
            Box(f"server:{index}:{at}", SERVERS, fabric, index, f"{name} · {words.count(at + 1)}", second, 1, said)
            for at in range(group.servers)
        ]
    title = name if group.servers == 1 else _("{name} ×{count}").format(name=name, count=words.count(group.servers))
    return [Box(f"group:{index}", SERVERS, fabric, index, title, second, group.servers, said)]


def _switches(at: int, fabric: FabricResult, room: int) -> list[list[Box]]:
    """The tiers of switches, from the leaves up."""
    name = fabric.switch.partition(" (")[0] or _("{ports}-port switch").format(ports=words.count(fabric.radix))
    if fabric.single_switch:
        second = _used(float(fabric.ports_used), fabric)
        return [[Box(f"switch:{at}", 1, at, None, name, second, 1, spoken(fabric))]]
    up, over = float(fabric.cables_leaf_spine), float(fabric.cables_spine_core)
    tiers = []
    for tier, (kind, count, cables) in enumerate(
        (("leaf", fabric.leaf, fabric.nics + up), ("spine", fabric.spine, up + over), ("core", fabric.core, over)), 1
    ):
        if count == 0:
            continue
        used = _used(cables / count, fabric)
        if count <= min(MOST_SWITCHES, room):
            boxes = []
            for number in range(count):
                rails = _rails(number, fabric) if kind == "leaf" else ""
                title = _numbered(kind, number + 1)
                second = f"{used} · {rails}" if rails else used
                boxes.append(
                    Box(f"{kind}:{at}:{number}", tier, at, None, title, second, 1, f"{title}, {name}, {second}")
                )
            tiers.append(boxes)
        else:
            title = _counted(kind, count)
            tiers.append([Box(f"{kind}:{at}", tier, at, None, title, name, count, f"{title}, {name}, {used}")])
    return tiers


def _used(cables: float, fabric: FabricResult) -> str:
    used = words.count(min(int(np.ceil(cables - 1e-9)), fabric.radix))
    return _("{used} of {ports} ports").format(used=used, ports=words.count(fabric.radix))


def _rails(number: int, fabric: FabricResult) -> str:
    """Which network cards of a server end at a leaf, where every leaf takes whole rails."""
    rails = fabric.nics // fabric.servers
    if fabric.leaf < 2 or rails % fabric.leaf or fabric.nics % fabric.servers:
        return ""
    each = rails // fabric.leaf
    first, last = number * each + 1, (number + 1) * each
    if each == 1:
        return _("rail {rail}").format(rail=words.count(first))
    return _("rails {first}–{last}").format(first=words.count(first), last=words.count(last))


def _numbered(kind: str, number: int) -> str:
    shown = words.count(number)
    if kind == "leaf":
        return _("Leaf {number}").format(number=shown)
    if kind == "spine":
        return _("Spine {number}").format(number=shown)
    return _("Core {number}").format(number=shown)


def _counted(kind: str, count: int) -> str:
    shown = words.count(count)
    if kind == "leaf":
        return ngettext("{count} leaf switch", "{count} leaf switches", count).format(count=shown)
    if kind == "spine":
        return ngettext("{count} spine switch", "{count} spine switches", count).format(count=shown)
    return ngettext("{count} core switch", "{count} core switches", count).format(count=shown)


def _between(lower: list[Box], upper: list[Box], number: float, fabric: FabricResult) -> list[Cable]:
    """The cables of two tiers, spread evenly over what stands for them; alike ones are named once."""
    below, above = sum(box.number for box in lower), sum(box.number for box in upper)
    found: list[Cable] = []
    told: set[str] = set()
    for at, one in enumerate(lower):
        each = number * one.number / below
        # A server with fewer network cards than there are leaves ends at one of them.
        ends = upper
        if one.tier == SERVERS and one.number == 1 and each < len(upper):
            ends = [upper[at * len(upper) // len(lower)]]
        whole = above if ends is upper else ends[0].number
        for other in ends:
            cables = each * other.number / whole
            said = _("{count}× {speed} Gb/s").format(count=words.count(cables), speed=words.count(fabric.bits_s / GIGA))
            shown = "" if said in told or cables < 1 else said
            told.add(said)
            found.append(Cable(one.key, other.key, cables, fabric.bits_s, fabric.fabric != "infiniband", shown))
    return found


def fabric_words(fabric: FabricResult) -> str:
    """Ports of the servers, their speed, and subscription where it is not even."""
    ports = ngettext("{count} port", "{count} ports", fabric.nics).format(count=words.count(fabric.nics))
    said = f"{ports} · {words.count(fabric.bits_s / GIGA)} Gb/s"
    if fabric.oversubscription > 1 and not fabric.single_switch:
        said = f"{said} · {words.exact(fabric.oversubscription)} : 1"
    return said


def spoken(fabric: FabricResult) -> str:
    """A fabric in words."""
    parts = [facts.word(fabric.fabric), fabric.switch.partition(" (")[0], fabric_words(fabric)]
    if not fabric.single_switch:
        tiers = (("leaf", fabric.leaf), ("spine", fabric.spine), ("core", fabric.core))
        parts += [_counted(kind, count) for kind, count in tiers if count]
    return ", ".join(part for part in parts if part)


def line_width(bits_s: float) -> float:
    """Width of a line that stands for cables of this rate together: each doubling adds the same. [px]"""
    doublings = np.log2(max(bits_s, _THIN_BITS) / _THIN_BITS)
    return float(min(1.0 + _WIDER * doublings, _WIDEST_LINE))


class NetworkCanvas(Canvas):
    """Servers, what joins their cards, and the switches above them. Click a box to see its cables."""

    chosen = Signal(str)

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__(theme)
        self._shown: tuple[Any, ...] = ()
        self.scenario: Scenario | None = None
        self.fabrics: tuple[FabricResult, ...] = ()
        self.links: tuple[ServerLink, ...] = ()
        self.catalog: Catalog | None = None
        self.selected = ""
        self._drawn: tuple[int, Drawing] = (0, NOTHING)
        self.setMinimumWidth(110)

    def show_network(
        self,
        letter: str,
        scenario: Scenario | None,
        fabrics: tuple[FabricResult, ...],
        links: tuple[ServerLink, ...],
        catalog: Catalog | None,
        compact: bool,
    ) -> None:
        """Show another network."""
        state = (letter, scenario, fabrics, links, compact)
        if state != self._shown:
            self._shown = state
            self.letter, self.scenario, self.fabrics, self.links, self.compact = state
            self.catalog = catalog
            self._drawn = (0, NOTHING)
            if self.selected not in {box.key for box in self.drawing().boxes}:
                self.selected = ""
            self.update()

    def retranslate(self) -> None:
        """Write every word anew."""
        self._drawn = (0, NOTHING)
        self.update()

    def drawing(self) -> Drawing:
        """What is drawn at the present width."""
        if self.scenario is None or self.catalog is None:
            return NOTHING
        room = max(1, int((self.width() - 16 + _GAP) // (_LEAST_BOX + _GAP)))
        if self._drawn[0] != room:
            made = drawing_of(self.scenario, self.fabrics, self.links, self.catalog, room, self.compact)
            self._drawn = (room, made)
        return self._drawn[1]

    def sizeHint(self) -> QSize:
        return QSize(150 if self.compact else 560, 140 if self.compact else 420)

    def boxes(self) -> list[tuple[Box, QRectF]]:
        """Where the boxes are drawn; each fabric has a part of the width, as wide as its widest tier needs."""
        drawing = self.drawing()
        if not drawing.boxes:
            return []
        keys = list(dict.fromkeys(box.fabric for box in drawing.boxes))
        weights = []
        for key in keys:
            mine = [box for box in drawing.boxes if box.fabric == key]
            weights.append(max(sum(box.tier == tier for box in mine) for tier in range(drawing.tiers)))
        height = 34.0 if self.compact else 40.0
        top, bottom = (6.0, 8.0) if self.compact else (26.0, 34.0)
        free = max(self.height() - top - bottom - height, 1.0)
        step = free / max(drawing.tiers - 1, 1)
        left, whole = 8.0, self.width() - 16.0
        placed = []
        for key, weight in zip(keys, weights, strict=True):
            part = whole * weight / sum(weights)
            for tier in range(drawing.tiers):
                row = [box for box in drawing.boxes if box.fabric == key and box.tier == tier]
                if not row:
                    continue
                width = min(_WIDEST_BOX, (part - _GAP * len(row)) / len(row))
                pitch = part / len(row)
                y = self.height() - bottom - height - step * tier if drawing.tiers > 1 else top + free / 2
                for at, box in enumerate(row):
                    x = left + pitch * (at + 0.5) - width / 2
                    placed.append((box, QRectF(x, y, max(width, 20.0), height)))
            left += part
        return placed

    def tips(self) -> list[tuple[QRectF, str]]:
        return [(rect, box.spoken) for box, rect in self.boxes()]

    def note(self) -> str:
        """What the lines mean, and how many ports lead up."""
        said = [_("Line width follows bandwidth; dashed lines are Ethernet.")]
        for fabric in self.fabrics:
            if fabric.single_switch:
                continue
            if fabric.oversubscription > 1:
                said.append(
                    _("{fabric}: leaves with {down} ports down and {up} up.").format(
                        fabric=facts.word(fabric.fabric), down=words.count(fabric.downlinks_per_leaf),
                        up=words.count(fabric.uplinks_per_leaf),
                    )
                )  # fmt: skip
            else:
                said.append(_("{fabric}: 1 : 1, not oversubscribed.").format(fabric=facts.word(fabric.fabric)))
        return " ".join(said)

    def choose(self, key: str) -> None:
        """Show the cables of a box; "" shows those of none."""
        if key != self.selected:
            self.selected = key
            self.update()
            self.chosen.emit(key)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self.compact:
            self.chosen.emit("")
            return
        hit = next((box.key for box, rect in self.boxes() if rect.contains(event.position())), "")
        self.choose("" if hit == self.selected else hit)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self.theme.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        placed = self.boxes()
        if not placed:
            return
        where = {box.key: rect for box, rect in placed}
        drawing = self.drawing()
        # Chosen cables lie above the others.
        for cable in sorted(drawing.cables, key=lambda one: self.selected in (one.lower, one.upper)):
            self._paint_cable(painter, cable, drawing, where, theme)
        if not self.compact:
            for cable in drawing.cables:
                self._paint_said(painter, cable, drawing, where, theme)
        series = theme.series_colour(self.letter) if self.letter else theme.text3
        for box, rect in placed:
            self._paint_box(painter, box, rect, series if box.tier == SERVERS else theme.line2, theme)
        if self.compact:
            return
        if drawing.cables:
            place = QRectF(8, self.height() - 24, self.width() - 16, 18)
            self._said(painter, place, self.note(), 11, 400, theme.text2, LEFT)
        else:
            said = _("No network between servers: there is one server, or others bring it.")
            self._said(painter, QRectF(8, 24, self.width() - 16, 18), said, 11, 400, theme.text2, MIDDLE)

    def _path(self, cable: Cable, drawing: Drawing, where: dict[str, QRectF]) -> QPainterPath:
        lower, upper = where[cable.lower], where[cable.upper]
        ups = [one.upper for one in drawing.cables if one.lower == cable.lower]
        downs = [one.lower for one in drawing.cables if one.upper == cable.upper]
        start = QPointF(
            lower.left() + lower.width() * (ups.index(cable.upper) + 1) / (len(ups) + 1), lower.top()
        )  # fmt: skip
        end = QPointF(upper.left() + upper.width() * (downs.index(cable.lower) + 1) / (len(downs) + 1), upper.bottom())
        path = QPainterPath(start)
        half = (end.y() - start.y()) / 2
        path.cubicTo(start + QPointF(0, half), end - QPointF(0, half), end)
        return path

    def _paint_cable(
        self, painter: QPainter, cable: Cable, drawing: Drawing, where: dict[str, QRectF], theme: Theme
    ) -> None:
        colour = blend(theme.text3, theme.panel, 0.4)
        if self.selected and self.selected in (cable.lower, cable.upper):
            colour = theme.accent
        pen = QPen(colour, line_width(cable.number * cable.bits_s))
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        if cable.dashed:
            pen.setDashPattern([3.0, 2.0])
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(self._path(cable, drawing, where))

    def _paint_said(
        self, painter: QPainter, cable: Cable, drawing: Drawing, where: dict[str, QRectF], theme: Theme
    ) -> None:
        if not cable.said:
            return
        middle = self._path(cable, drawing, where).pointAtPercent(0.4)
        size = theme.metrics(10).horizontalAdvance(cable.said) + 8
        x = min(max(middle.x() - size / 2, 4.0), self.width() - size - 4.0)
        label = QRectF(x, middle.y() - 8, size, 16)
        painter.fillRect(label, theme.panel)
        self._said(painter, label, cable.said, 10, 400, theme.text2, MIDDLE)

    def _paint_box(self, painter: QPainter, box: Box, rect: QRectF, line: Any, theme: Theme) -> None:
        marked = box.key == self.selected
        painter.setPen(QPen(theme.accent if marked else line, 2 if marked else theme.border))
        painter.setBrush(theme.selected if marked else theme.panel)
        if box.number > 1:
            # A second edge behind: this box stands for several.
            painter.drawRoundedRect(rect.adjusted(3.5, -3.5, 2.5, -4.5), 4, 4)
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        inner = rect.adjusted(6, 3, -6, -3)
        half = inner.height() / 2
        upper = QRectF(inner.left(), inner.top(), inner.width(), half)
        self._said(painter, upper, box.title, 11 if not self.compact else 10, 600, theme.text, MIDDLE)
        self._said(painter, upper.translated(0, half), box.second, 10, 400, theme.text2, MIDDLE)
