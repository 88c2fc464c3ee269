"""Power of each scenario at load and by its nameplates, against what the room's feed and cooling allow."""

from typing import NamedTuple

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainter

from gpuplanner.i18n import _, facts, format
from gpuplanner.model.plan import Plan
from gpuplanner.model.results import Figure, Results, Status
from gpuplanner.ui.charts.base import Chart, Named, Place, Right, Swatch, bar, faded, named, nice_ticks, tick_text
from gpuplanner.ui.theme import black_or_white, blend
from gpuplanner.units import BTU_H_PER_W, KILO, M3_H_PER_CFM, SECONDS_PER_HOUR, W_PER_TON

# The opacity of the part between load and nameplate.
_PALE = 0.38


class Draw(NamedTuple):
    """One scenario's power. [W]"""

    load: Figure
    nameplate: Figure
    heat: Figure
    airflow_m3_s: float | None
    status: Status


class Limit(NamedTuple):
    """A limit of the room. [W]"""

    name: str
    limit_w: float


class Draws(NamedTuple):
    """What the chart shows."""

    entries: tuple[Named, ...]
    draws: tuple[Draw, ...]
    limits: tuple[Limit, ...]


def limit_text(limit: Limit) -> str:
    """A limit in its words: cooling also in tons of refrigeration."""
    value = format.power_kw(limit.limit_w, unit=False)
    if limit.name.startswith("cooling"):
        return _("cooling {kw} ({tons} tons)").format(kw=value, tons=format.number(limit.limit_w / W_PER_TON, 2))
    if limit.name.startswith("ups"):
        return _("UPS {kw}").format(kw=value)
    return _("feed {kw}").format(kw=value)


class PowerChart(Chart):
    """Solid to the power at load, pale to the nameplate, dashed lines at the limits."""

    key = "power"
    explains = "max_power"

    def collect(self, plan: Plan, results: Results, workload_id: str, selected: str) -> Draws | None:
        draws = tuple(
            Draw(
                entry.room.it_load_w._replace(parts=()), entry.room.it_nameplate_w._replace(parts=()),
                entry.room.heat_w._replace(parts=()), entry.room.airflow_m3_s.value, entry.room_check.status,
            )
            for entry in results.scenarios
        )  # fmt: skip
        # A limit of one rack is no limit of the room.
        limits = {
            Limit(name, watts) for entry in results.scenarios for name, watts in entry.room.limits
            if not name.startswith("rack")
        }  # fmt: skip
        ordered = tuple(sorted(limits, key=lambda limit: limit.limit_w))
        return Draws(named(plan, results), draws, ordered) if draws else None

    def arrange(self) -> None:
        data: Draws = self.data
        self.name_axis(data.entries)
        ends = [figure.value or 0.0 for each in data.draws for figure in (each.load, each.nameplate)]
        top_draw = max(ends, default=0.0)
        # A limit far beyond every bar would squeeze the bars; it is named in the summary instead.
        shown = [limit.limit_w for limit in data.limits if limit.limit_w <= 4 * top_draw]
        top = self.keep_top(max([top_draw * 1.15, *shown, KILO]) / KILO)
        self.value_axis(self.bottom, ((tick, tick_text(tick)) for tick in nice_ticks(0, top, 6)))
        self.set_range((0, top), (-0.6, len(data.draws) + 0.2))

    def paint_data(self, painter: QPainter, place: Place) -> None:
        data: Draws | None = self.data
        if data is None:
            self.paint_nothing(painter, place, _("Nothing to compare yet"))
            return
        theme = self.theme
        for row, (entry, draw) in enumerate(zip(data.entries, data.draws, strict=True)):
            opacity, colour = self.strength(entry.letter), theme.series_colour(entry.letter)
            if draw.load.value is None and draw.nameplate.value is None:
                self.paint_text(painter, place.point(0, row) + QPointF(6, 0), format.NOT_KNOWN, theme.text3)
                continue
            load, nameplate = (draw.load.value or 0.0) / KILO, (draw.nameplate.value or 0.0) / KILO
            box = bar(place, row, 0, load)
            painter.fillRect(bar(place, row, load, max(load, nameplate)), faded(colour, _PALE * opacity))
            painter.fillRect(box, faded(colour, opacity))
            middle, text = box.center().y(), format.power_kw(draw.load.value, unit=False)
            if box.height() >= 13 and box.width() > theme.metrics(11, 600).horizontalAdvance(text) + 12:
                ground = blend(theme.panel, colour, opacity)
                at = QPointF(box.right() - 6, middle)
                self.paint_text(painter, at, text, black_or_white(ground), weight=600, align=Right, filled=False)
            end = place.x(max(load, nameplate))
            over = any(nameplate * KILO > limit.limit_w for limit in data.limits)
            words = theme.status_colour("fail" if draw.status == "fail" else "warn") if over else theme.text
            at = QPointF(end + 8, middle)
            text = format.power_kw(draw.nameplate.value, unit=False)
            self.paint_text(painter, at, text, faded(words, opacity), weight=600 if over else 400)
        self._paint_limits(painter, place, data)

    def _paint_limits(self, painter: QPainter, place: Place, data: Draws) -> None:
        theme, area = self.theme, place.area
        y = place.y(len(data.draws) - 0.22)
        taken = area.left()
        for limit in data.limits:
            x = round(place.x(limit.limit_w / KILO))
            if x > area.right() + 1:
                continue
            cooling = limit.name.startswith("cooling")
            colour = theme.fail if cooling else theme.text2
            self.paint_limit(painter, (QPointF(x, area.top()), QPointF(x, area.bottom())), colour)
            text = limit_text(limit)
            width = theme.metrics(11, 500).horizontalAdvance(text)
            left, row = x - 6 - width, y
            if left < taken:
                # Right of its line, or above the words of the line before.
                left, row = (x + 6, y) if x + 6 + width <= area.right() else (left, y - 15)
            self.paint_text(painter, QPointF(left, row), text, colour, weight=500)
            taken = left + width + 6

    def reading(self, x: float, y: float) -> tuple[str, str]:
        row = round(y)
        if self.data is None or not 0 <= row < len(self.data.entries):
            return "", ""
        letter = self.data.entries[row].letter
        return letter, self.reading_of(letter)

    def reading_of(self, letter: str) -> str:
        draw = self.data.draws[self.letters().index(letter)]
        heat = draw.heat.value
        text = _("{letter}: {load} at load, {nameplate} nameplate").format(
            letter=letter, load=format.power_kw(draw.load.value), nameplate=format.power_kw(draw.nameplate.value)
        )
        if heat is None or draw.airflow_m3_s is None:
            return text
        air = draw.airflow_m3_s * SECONDS_PER_HOUR / M3_H_PER_CFM
        second = _("Heat {btu} kBTU/h, {tons} tons, air {cfm} CFM").format(
            btu=format.number(heat * BTU_H_PER_W / KILO),
            tons=format.number(heat / W_PER_TON),
            cfm=format.count(float(f"{air:.3g}")),
        )
        return f"{text}\n{second}"

    def swatches(self) -> tuple[Swatch, ...]:
        grey = self.theme.text2
        return (Swatch(grey, _("at peak load")), Swatch(faded(grey, _PALE), _("nameplate")))

    def subtitle(self) -> str:
        return _("kW at the rack")

    def summary(self) -> str:
        known = [
            (draw.nameplate.value, entry) for draw, entry in zip(self.data.draws, self.data.entries, strict=True)
            if draw.nameplate.value is not None
        ]  # fmt: skip
        if not known:
            return _("Power and heat: not known.")
        watts, entry = max(known, key=lambda item: item[0])
        text = _("Power and heat: {letter}, {name}, is highest with {power} by its nameplates.").format(
            letter=entry.letter, name=entry.name, power=format.power_kw(watts)
        )
        if self.data.limits:
            text += " " + _("Limits: {limits} kW.").format(limits=_(", ").join(map(limit_text, self.data.limits)))
        return text

    def table(self) -> list[list[str]]:
        head = ["", _("Name"), _("Load, kW"), _("Low"), _("High"), _("Nameplate, kW"), _("Heat, kBTU/h")]
        heat = facts.scale("heat", ())
        return [head] + [
            [
                entry.letter, entry.name, *(format.power_kw(end, unit=False) for end in draw.load[:3]),
                format.power_kw(draw.nameplate.value, unit=False), heat.value(draw.heat.value),
            ]
            for entry, draw in zip(self.data.entries, self.data.draws, strict=True)
        ]  # fmt: skip

    def anchor(self, letter: str) -> QPointF:
        row = self.letters().index(letter)
        return QPointF((self.data.draws[row].load.value or 0.0) / KILO, row)
