"""Racks drawn to scale, beside the network between the servers.

Where a server stands follows from the plan: its own place if the plan states one, else first fit from the bottom.
Nothing here computes power, weight or height; they come from the results and the catalog records, and what nobody
knows is left out.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QWidget

from gpuplanner.catalog.load import Catalog
from gpuplanner.i18n import _, ngettext
from gpuplanner.i18n import format as words
from gpuplanner.model.fabric import SWITCHES
from gpuplanner.model.hardware import server_class
from gpuplanner.model.interconnect import server_links
from gpuplanner.model.plan import Plan, Scenario, Site
from gpuplanner.model.results import Results, RoomResult
from gpuplanner.model.room import (
    UNITS_LEFT_FOR_SWITCHES,
    rack_limit,
    server_size,
    servers_per_rack,
    switch_load,
    switch_units,
)
from gpuplanner.ui import icons
from gpuplanner.ui.charts.drawing import LEFT, MIDDLE, RIGHT, Canvas, device_name
from gpuplanner.ui.charts.network import NetworkCanvas
from gpuplanner.ui.document import PlanDocument
from gpuplanner.ui.theme import Theme, ThemeSource, blend

# So many devices are laid out; a larger installation is drawn by its first racks and a count of the rest.
MAX_DEVICES = 4000
# Above this a rack is as good as full.
NEARLY_FULL = 0.95
# Below this height the drawing is the small one of the builder.
COMPACT_BELOW = 260
COMPACT_RACK = 96.0
COMPACT_GAP = 14.0


class Device(NamedTuple):
    """One server as it stands in a rack. ``units`` None = its height is not known. Power is nameplate. [W, kg]"""

    group: int
    server: int
    name: str
    gpus: int
    units: int | None
    power_w: float | None = None
    weight_kg: float | None = None
    units_assumed: bool = False
    owned: bool = False
    # How many of its kind one rack takes, by the rule that counts racks for the room; None = as many as fit.
    per_rack: int | None = None
    switch: bool = False


class Limits(NamedTuple):
    """What one rack takes. None = no limit is known."""

    units: int = 42
    power_w: float | None = None
    weight_kg: float | None = None
    power_assumed: bool = False


class Standing(NamedTuple):
    """A device at its place; ``unit`` is the lowest one, counted from 1."""

    device: Device
    unit: int


class Rack(NamedTuple):
    """One rack, counted from 1, with its devices from the bottom up."""

    number: int
    standing: tuple[Standing, ...]

    @property
    def units(self) -> int:
        return sum(place.device.units or 0 for place in self.standing)

    @property
    def power_w(self) -> float | None:
        """Nameplate power, None if that of one device is not known."""
        return _sum(place.device.power_w for place in self.standing)

    @property
    def weight_kg(self) -> float | None:
        return _sum(place.device.weight_kg for place in self.standing)


class Arrangement(NamedTuple):
    """All racks of a scenario, and the devices that stand in none because their height is not known."""

    racks: tuple[Rack, ...]
    beside: tuple[Device, ...]


def _sum(values: Iterable[float | None]) -> float | None:
    total = 0.0
    for value in values:
        if value is None:
            return None
        total += value
    return total


def arrange(
    devices: Sequence[Device], limits: Limits, places: dict[tuple[int, int], tuple[int, int]] | None = None
) -> Arrangement:
    """Stand devices in racks.

    `places` gives the rack and lowest unit of devices by (group, server). The others go, in order, to the first rack
    with enough free units in one piece and with power and weight to spare. A device that alone exceeds a limit gets
    a rack of its own: the room is judged elsewhere, here it must still be seen.
    """
    racks: dict[int, list[Standing]] = {}
    loose: list[Device] = []
    beside: list[Device] = []
    for device in devices:
        place = (places or {}).get((device.group, device.server))
        if device.units is None:
            beside.append(device)
        elif place is not None:
            racks.setdefault(place[0], []).append(Standing(device, place[1]))
        else:
            loose.append(device)
    # A rack holds loose servers of one group, so that there are as many racks as the room is reckoned with. Equal
    # servers fill one rack after the other: the search begins where the last of their kind went.
    owner: dict[int, int] = {}
    held: dict[int, int] = {}
    first: dict[int, int] = {}
    for device in loose:
        number = first.get(device.group, 1)
        unit = None
        while unit is None:
            free = owner.get(number, device.group) == device.group
            if free and (device.per_rack is None or held.get(number, 0) < max(1, device.per_rack)):
                unit = _free_unit(racks.get(number, []), device, limits)
            if unit is None:
                number += 1
        owner[number], first[device.group] = device.group, number
        held[number] = held.get(number, 0) + 1
        racks.setdefault(number, []).append(Standing(device, unit))
    return Arrangement(
        tuple(Rack(number, tuple(sorted(racks[number], key=lambda place: place.unit))) for number in sorted(racks)),
        tuple(beside),
    )


def _free_unit(standing: Sequence[Standing], device: Device, limits: Limits) -> int | None:
    """The lowest unit at which `device` can be put into a rack, None if the rack cannot take it."""
    assert device.units is not None
    if not standing:
        return 1
    if _exceeds([place.device.power_w for place in standing], device.power_w, limits.power_w):
        return None
    if _exceeds([place.device.weight_kg for place in standing], device.weight_kg, limits.weight_kg):
        return None
    bottom = 1
    for place in sorted(standing, key=lambda place: place.unit):
        if place.unit - bottom >= device.units:
            return bottom
        bottom = max(bottom, place.unit + (place.device.units or 0))
    return bottom if bottom + device.units - 1 <= limits.units else None


def _exceeds(present: Sequence[float | None], more: float | None, limit: float | None) -> bool:
    if limit is None:
        return False
    # A millionth of tolerance: 2 × 11 kW fill a rack of 22 kW.
    return sum(value or 0.0 for value in present) + (more or 0.0) > limit * (1 + 1e-6)


# --- what stands where ---------------------------------------------------------


def devices_of(scenario: Scenario, room: RoomResult | None, site: Site, catalog: Catalog) -> tuple[Device, ...]:
    """Every server of a scenario that stands in our room; rented ones stand elsewhere."""
    nameplates = {} if room is None else {power.group: power for power in room.groups}
    limit_w = rack_limit(site, catalog)
    made: list[Device] = []
    for at, group in enumerate(scenario.groups):
        if group.condition == "rented":
            continue
        server = catalog.servers.get(group.server)
        units, weight = server_size(catalog, server, server_class(group, catalog.gpus.get(group.gpu), server))
        power = nameplates.get(at)
        each_w = None
        if power is not None and power.servers and power.nameplate_w.value is not None:
            each_w = power.nameplate_w.value / power.servers
        per_rack = servers_per_rack(site, limit_w, units.value or 1.0, each_w or 0.0, weight.value or 0.0)
        kind = Device(
            at,
            0,
            device_name(group, catalog),
            group.gpus_per_server if group.gpu else 0,
            max(1, round(units.value or 1.0)),
            each_w,
            weight.value,
            units.basis == "assumed",
            group.condition == "owned",
            per_rack,
        )
        for number in range(min(group.servers, MAX_DEVICES - len(made))):
            made.append(kind._replace(server=number))
    return tuple(made)


def limits_of(site: Site, catalog: Catalog) -> Limits:
    """What one rack of the room takes; its power is that of its kind of cooling where none is stated."""
    return Limits(site.rack_units, rack_limit(site, catalog), site.rack_weight_kg, site.rack_power_w is None)


def places_of(scenario: Scenario) -> dict[tuple[int, int], tuple[int, int]]:
    """The places that the plan states, by (group, server)."""
    if scenario.placement == "auto":
        return {}
    return {(place.group, place.server): (place.rack, place.unit) for place in scenario.placement}


# --- drawings ------------------------------------------------------------------


def switches_of(room: RoomResult | None, catalog: Catalog) -> tuple[Device, ...]:
    """The switches of a scenario, each with its share of the network's power; the tallest first."""
    if room is None:
        return ()
    _units, unit_w = switch_load(room.fabrics, catalog)
    made: list[Device] = []
    for part in (part for one in room.fabrics for part in one.parts if part.key in SWITCHES):
        units, record = switch_units(part.name, catalog), catalog.switches.get(part.name)
        weight = (record.weight_kg if record is not None else None) or 0.0
        name = part.name or _("Switch")
        for _number in range(min(part.number, MAX_DEVICES - len(made))):
            made.append(Device(-1, len(made), name, 0, units, units * unit_w, weight, switch=True))
    return tuple(sorted(made, key=lambda device: -(device.units or 0)))


def with_switches(
    arrangement: Arrangement, switches: Sequence[Device], limits: Limits, racks_alone: int
) -> Arrangement:
    """Stand switches above the servers, in the units that a rack keeps for them and within its power.

    The rest stands in racks of its own.
    """
    left = list(switches)
    racks: list[Rack] = []
    for rack in arrangement.racks:
        top = max((place.unit + (place.device.units or 0) - 1 for place in rack.standing), default=0)
        free, unit = min(UNITS_LEFT_FOR_SWITCHES, limits.units - top), limits.units
        standing = list(rack.standing)
        while left and (left[0].units or 0) <= free:
            powers = [place.device.power_w for place in standing]
            if _exceeds(powers, left[0].power_w, limits.power_w):
                break
            device = left.pop(0)
            units = device.units or 1
            standing.append(Standing(device, unit - units + 1))
            unit, free = unit - units, free - units
        racks.append(Rack(rack.number, tuple(sorted(standing, key=lambda place: place.unit))))
    if left:
        alone = -(-len(left) // max(racks_alone, 1))
        number = max((rack.number for rack in racks), default=0)
        for start in range(0, len(left), alone):
            number, unit, standing = number + 1, 1, []
            for device in left[start : start + alone]:
                standing.append(Standing(device, unit))
                unit += device.units or 1
            racks.append(Rack(number, tuple(standing)))
    return Arrangement(tuple(racks), arrangement.beside)


def _servers_only(arrangement: Arrangement) -> Arrangement:
    """Without the switches above servers: the small drawing is as high as its servers."""
    kept = []
    for rack in arrangement.racks:
        servers = tuple(place for place in rack.standing if not place.device.switch)
        kept.append(rack._replace(standing=servers or rack.standing))
    return arrangement._replace(racks=tuple(kept))


class RackCanvas(Canvas):
    """Racks side by side, to scale in height, with power against the limit of each."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__(theme)
        self.arrangement = Arrangement((), ())
        self.limits = Limits()
        self.more = 0

    def show_racks(self, letter: str, arrangement: Arrangement, limits: Limits, more: int, compact: bool) -> None:
        """Show other racks; `more` servers are not drawn because there are too many."""
        state = (letter, arrangement, limits, more, compact)
        if state == (self.letter, self.arrangement, self.limits, self.more, self.compact):
            return
        self.letter, self.arrangement, self.limits, self.more, self.compact = state
        self.setMinimumWidth(self.needed_width())
        self.updateGeometry()
        self.update()

    def _rack_width(self) -> float:
        if self.compact:
            return COMPACT_RACK
        racks = max(1, len(self.arrangement.racks))
        return min(190.0, max(140.0, (self.width() - 40.0) / racks - 26.0))

    def needed_width(self) -> int:
        """Width that all racks take. [px]"""
        racks = len(self.arrangement.racks)
        if self.compact:
            return round(34 + racks * (COMPACT_RACK + COMPACT_GAP) - COMPACT_GAP + 2)
        return 40 + racks * (140 + 26)

    def sizeHint(self) -> QSize:
        return QSize(self.needed_width(), 140 if self.compact else 480)

    def shown_units(self) -> int:
        """Units drawn: whole racks, or in the small drawing only as high as something stands, in steps of eight."""
        tops = [
            place.unit + (place.device.units or 0) - 1 for rack in self.arrangement.racks for place in rack.standing
        ]
        highest = max(tops, default=1)
        if not self.compact:
            return max(self.limits.units, highest)
        return max(8, min(max(self.limits.units, highest), -(-(highest + 4) // 8) * 8))

    def frames(self) -> list[QRectF]:
        """The inside of each rack."""
        top, bottom = (20.0, 8.0) if self.compact else (44.0, 46.0)
        width, gap = self._rack_width(), COMPACT_GAP if self.compact else 26.0
        height = max(40.0, self.height() - top - bottom)
        return [QRectF(34 + at * (width + gap), top, width, height) for at in range(len(self.arrangement.racks))]

    def boxes(self) -> list[tuple[Rack, Standing, QRectF]]:
        """Where every device is drawn."""
        units = self.shown_units()
        made = []
        for rack, frame in zip(self.arrangement.racks, self.frames(), strict=True):
            each = frame.height() / units
            for place in rack.standing:
                height = (place.device.units or 0) * each
                bottom = frame.bottom() - (place.unit - 1) * each
                box = QRectF(frame.left() + 4, bottom - height + 1, frame.width() - 8, max(3.0, height - 2))
                made.append((rack, place, box))
        return made

    def tips(self) -> list[tuple[QRectF, str]]:
        return [(box, device_words(rack, place)) for rack, place, box in self.boxes()]

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self.theme.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        clip = QRectF(event.rect())
        units = self.shown_units()
        frames = self.frames()
        for rack, frame in zip(self.arrangement.racks, frames, strict=True):
            whole = frame.adjusted(-2, -frame.top(), 2, self.height() - frame.bottom())
            if not whole.intersects(clip):
                continue
            self._paint_frame(painter, rack, frame, units, theme)
        for _rack, place, box in self.boxes():
            if box.intersects(clip):
                self._paint_device(painter, place, box, theme)
        if frames:
            self._paint_scale(painter, frames[0], units, theme)

    def _paint_scale(self, painter: QPainter, frame: QRectF, units: int, theme: Theme) -> None:
        each = frame.height() / units
        step = max(6, 6 * round(units / 42)) if not self.compact else 8
        marks = [1, *range(step, units + 1, step)]
        if marks[-1] != units and (units - marks[-1]) * each > 14:
            marks.append(units)
        for mark in marks:
            y = frame.bottom() - (mark - 0.5) * each
            text = _("{number}U").format(number=words.count(mark))
            self._said(painter, QRectF(0, y - 8, 29, 16), text, 10, 400, theme.text3, RIGHT)

    def _paint_frame(self, painter: QPainter, rack: Rack, frame: QRectF, units: int, theme: Theme) -> None:
        painter.setPen(QPen(theme.line2, theme.border))
        painter.setBrush(theme.sunken)
        painter.drawRoundedRect(frame, 4, 4)
        each = frame.height() / units
        painter.setPen(QPen(theme.line, 1))
        for mark in range(6, units, 6):
            y = round(frame.bottom() - mark * each) + 0.5
            painter.drawLine(QPointF(frame.left() + 3, y), QPointF(frame.right() - 3, y))
        status, share = rack_status(rack, self.limits)
        power = words.power_kw(rack.power_w, unit=False)
        if self.limits.power_w is not None:
            limit = words.power_kw(self.limits.power_w, unit=False)
            limit = f"≈ {limit}" if self.limits.power_assumed else limit
            said = _("{power} / {limit} kW").format(power=power, limit=limit)
        else:
            said = _("{power} kW").format(power=power)
        colour = theme.status_colour(status) if status != "ok" else theme.text
        name = _("R{number}").format(number=words.count(rack.number))
        if self.compact:
            racks = len(self.arrangement.racks)
            if racks > 1:
                name = _("R{number} of {racks}").format(number=words.count(rack.number), racks=words.count(racks))
            line = QRectF(frame.left(), 1, frame.width(), 16)
            self._said(painter, line, name, 10, 600, theme.text, LEFT)
            alone = _("{power} kW").format(power=power)
            free = frame.width() - theme.metrics(10, 600).horizontalAdvance(name) - 6
            if theme.metrics(10).horizontalAdvance(alone) <= free:
                self._said(painter, line, alone, 10, 400, colour, RIGHT)
            return
        line = QRectF(frame.left(), 4, frame.width(), 18)
        self._said(painter, line, name, 12, 600, theme.text, LEFT)
        self._said(painter, line.adjusted(24, 0, 0, 0), said, 11, 600, colour, RIGHT)
        if status != "ok":
            width = theme.metrics(11, 600).horizontalAdvance(said)
            icons.paint(painter, status, QRectF(frame.right() - width - 17, 7, 12, 12), colour, theme.window)
        if share is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.line)
            painter.drawRoundedRect(QRectF(frame.left(), 26, frame.width(), 5), 2.5, 2.5)
            painter.setBrush(theme.accent if status == "ok" else colour)
            painter.drawRoundedRect(QRectF(frame.left(), 26, frame.width() * min(1.0, share), 5), 2.5, 2.5)
        foot = QRectF(frame.left(), frame.bottom() + 5, frame.width(), 16)
        self._said(painter, foot, _("space"), 11, 400, theme.text2, LEFT)
        space = _("{used} / {limit} U").format(used=words.count(rack.units), limit=words.count(self.limits.units))
        over = rack.units > self.limits.units
        self._said(painter, foot, space, 11, 400, theme.fail if over else theme.text2, RIGHT)
        foot.translate(0, 17)
        self._said(painter, foot, _("weight"), 11, 400, theme.text2, LEFT)
        weight = words.NOT_KNOWN if rack.weight_kg is None else words.count(rack.weight_kg)
        if self.limits.weight_kg is not None:
            weight = f"{weight} / {words.count(self.limits.weight_kg)}"
        heavy = self.limits.weight_kg is not None and (rack.weight_kg or 0) > self.limits.weight_kg
        self._said(
            painter, foot, _("{weight} kg").format(weight=weight), 11, 400, theme.fail if heavy else theme.text2, RIGHT
        )

    def _paint_device(self, painter: QPainter, place: Standing, box: QRectF, theme: Theme) -> None:
        device = place.device
        series = theme.series_colour(self.letter) if self.letter and not device.switch else theme.text3
        ground = blend(series, theme.panel, 0.78)
        pen = QPen(series, theme.border)
        if device.units_assumed:
            pen.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.setBrush(ground)
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(series)
        painter.drawRect(QRectF(box.left() + 1, box.top() + 2, 3, box.height() - 4))
        inner = box.adjusted(10, 3, -8, -3)
        number = "" if self.compact else f" · {words.count(device.server + 1)}"
        if self.compact:
            if box.height() >= 15:
                self._said(painter, box.adjusted(7, 0, -4, 0), device.name, 10, 600, theme.text, MIDDLE)
            return
        size = _("{units}U").format(units=words.count(device.units))
        if device.units_assumed:
            size = f"≈ {size}"
        power = "" if device.power_w is None else words.power_kw(device.power_w)
        owned = f" · {_('owned')}" if device.owned else ""
        if box.height() < 34:
            if box.height() >= 13:
                self._said(painter, inner.adjusted(0, -2, -52, 2), device.name + number, 11, 600, theme.text, LEFT)
                self._said(painter, inner.adjusted(0, -2, 0, 2), power, 10, 400, theme.text2, RIGHT)
            return
        self._said(
            painter, QRectF(inner.left(), inner.top(), inner.width(), 16), device.name + number + owned, 11, 600,
            theme.text, LEFT,
        )  # fmt: skip
        foot = QRectF(inner.left(), inner.bottom() - 15, inner.width(), 15)
        self._said(painter, foot, size, 10, 400, theme.text2, LEFT)
        self._said(painter, foot, power, 10, 400, theme.text2, RIGHT)
        room = QRectF(inner.left(), inner.top() + 19, inner.width(), inner.height() - 38)
        if device.gpus and room.height() >= 6:
            shown = min(device.gpus, 16)
            gap = 3.0
            width = min(16.0, (room.width() - gap * (shown - 1)) / shown)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(blend(series, theme.panel, 0.15))
            for at in range(shown):
                painter.drawRoundedRect(
                    QRectF(room.left() + at * (width + gap), room.top(), width, room.height()), 2, 2
                )


def rack_status(rack: Rack, limits: Limits) -> tuple[str, float | None]:
    """Whether a rack keeps its limits, and the share of its power limit in use."""
    shares = []
    power_share = None
    if limits.power_w is not None and rack.power_w is not None:
        power_share = rack.power_w / limits.power_w
        shares.append(power_share)
    if limits.weight_kg is not None and rack.weight_kg is not None:
        shares.append(rack.weight_kg / limits.weight_kg)
    full = max(shares, default=0.0)
    if full > 1 + 1e-6 or rack.units > limits.units:
        return "fail", power_share
    return ("warn" if full > NEARLY_FULL else "ok"), power_share


def device_words(rack: Rack, place: Standing) -> str:
    """A device in words, for the pointer and a screen reader."""
    device = place.device
    top = place.unit + (device.units or 1) - 1
    where = _("rack {rack}, units {first} to {last}").format(rack=rack.number, first=place.unit, last=top)
    parts = [f"{device.name} · {device.server + 1}", where]
    if device.gpus:
        parts.append(ngettext("{count} GPU", "{count} GPUs", device.gpus).format(count=device.gpus))
    if device.power_w is not None:
        parts.append(_("nameplate {power}").format(power=words.power_kw(device.power_w)))
    if device.weight_kg is not None:
        parts.append(_("{weight} kg").format(weight=words.exact(device.weight_kg)))
    if device.units_assumed:
        parts.append(_("height assumed from its class"))
    return ", ".join(parts)


class RackView(QWidget):
    """Racks and network of the scenario in the builder; small where it is given little height.

    `network_chosen` asks for the whole view of the network.
    """

    network_chosen = Signal()

    def __init__(
        self, document: PlanDocument, evaluation: Any, theme: ThemeSource, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.document, self.evaluation, self.theme = document, evaluation, theme
        self.racks = RackCanvas(theme)
        self.network = NetworkCanvas(theme)
        self.network.chosen.connect(lambda _key: self.network_chosen.emit())
        self.area = QScrollArea()
        self.area.setWidget(self.racks)
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(self.area, 3)
        layout.addWidget(self.network, 2)
        self.setMinimumHeight(110)
        document.selection_changed.connect(self._refresh)
        if evaluation is not None:
            # Results follow every change of the plan: one drawing for both.
            evaluation.results_changed.connect(self._refresh)
        else:
            document.plan_changed.connect(self.show_plan)
        theme.changed.connect(self._repaint)
        self.show_plan(document.plan)

    def show_plan(self, plan: Plan) -> None:
        """Draw the scenario in the builder, with the powers of the results there are."""
        results = None if self.evaluation is None else self.evaluation.results
        self._draw(plan, results)

    def show_results(self, plan: Plan, results: Results) -> None:
        """Draw the scenario in the builder with its powers."""
        self._draw(plan, results)

    def retranslate(self) -> None:
        """Write every word anew."""
        self._refresh()
        self._repaint()

    def _refresh(self, _changed: object = None) -> None:
        self.show_plan(self.document.plan)

    def _repaint(self, _theme: object = None) -> None:
        self.racks.update()
        self.network.retranslate()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if (event.size().height() < COMPACT_BELOW) != self.racks.compact:
            self._refresh()

    def _draw(self, plan: Plan, results: Results | None) -> None:
        compact = self.height() < COMPACT_BELOW
        # The small drawing has no height to spare for a scroll bar; the wheel and the arrow keys still move it.
        bar = Qt.ScrollBarPolicy.ScrollBarAlwaysOff if compact else Qt.ScrollBarPolicy.ScrollBarAsNeeded
        self.area.setHorizontalScrollBarPolicy(bar)
        scenario = next((each for each in plan.scenarios if each.letter == self.document.selected), None)
        catalog = self.document.catalog.over(plan.entries)
        limits = limits_of(plan.site, catalog)
        if scenario is None:
            self.racks.show_racks("", Arrangement((), ()), limits, 0, compact)
            self.network.show_network("", None, (), (), None, compact)
            self.setAccessibleName(_("No scenario to draw."))
            return
        found = None if results is None else results.scenario(scenario.letter)
        devices = devices_of(scenario, None if found is None else found.room, plan.site, catalog)
        standing = sum(group.servers for group in scenario.groups if group.condition != "rented")
        arrangement = arrange(devices, limits, places_of(scenario))
        if len(devices) == standing and found is not None:
            switches = switches_of(found.room, catalog)
            arrangement = with_switches(arrangement, switches, limits, found.room.network_racks)
            if compact:
                arrangement = _servers_only(arrangement)
        links = server_links(plan, scenario.letter, self.document.catalog)
        fabrics = () if found is None else found.room.fabrics
        self.racks.show_racks(scenario.letter, arrangement, limits, standing - len(devices), compact)
        # One rack is seen whole; of several as much as leaves the network its place.
        whole = self.racks.needed_width() if compact else 0
        self.area.setMinimumWidth(min(whole, max(110, self.width() - 118)))
        self.network.show_network(scenario.letter, scenario, fabrics, links, catalog, compact)
        self.setAccessibleName(self._summary(scenario.letter, arrangement, standing))
        self.setAccessibleDescription(
            "\n".join(
                [device_words(rack, place) for rack in arrangement.racks[:20] for place in rack.standing]
                + [box.spoken for box in self.network.drawing().boxes]
            )
        )

    def _summary(self, letter: str, arrangement: Arrangement, servers: int) -> str:
        count = len(arrangement.racks)
        in_racks = ngettext("{count} rack", "{count} racks", count).format(count=words.count(count))
        of = ngettext("{count} server", "{count} servers", servers).format(count=words.count(servers))
        return _("Scenario {letter}: {servers} in {racks}.").format(letter=letter, servers=of, racks=in_racks)
