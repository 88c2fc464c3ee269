"""Memory of the fullest GPU of each scenario, by part, against what the card has and what of it can be used."""

from typing import NamedTuple

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainter, QPen

from gpuplanner.i18n import _, facts, format
from gpuplanner.model.plan import Plan
from gpuplanner.model.results import MemoryUse, Results, ServeResult, Status, TrainResult
from gpuplanner.ui.charts.base import Chart, Named, Place, Right, Swatch, bar, faded, named, nice_ticks, tick_text
from gpuplanner.units import GIB

PARTS = ("weights", "kv_cache", "activations", "gradients", "optimizer", "runtime")


class Stack(NamedTuple):
    """One scenario's fullest GPU."""

    memory: MemoryUse | None
    share: float | None
    status: Status


class Memories(NamedTuple):
    """What the chart shows. ``batch`` is the number of requests in flight, None for training."""

    entries: tuple[Named, ...]
    stacks: tuple[Stack, ...]
    batch: float | None


class MemoryChart(Chart):
    """Stacked parts on a grey bar of the card's capacity, a tick at what is usable."""

    key = "memory"
    explains = "memory_used"

    def collect(self, plan: Plan, results: Results, workload_id: str, selected: str) -> Memories | None:
        stacks = []
        for entry in results.scenarios:
            every: tuple[ServeResult | TrainResult, ...] = (*entry.serve, *entry.train)
            groups = [each for each in every if each.workload == workload_id]
            fullest = max(groups, key=lambda each: each.memory_share.value or -1.0, default=None)
            if fullest is None or not entry.gpus:
                stacks.append(Stack(None, None, "unknown"))
            else:
                stacks.append(Stack(fullest.memory, fullest.memory_share.value, fullest.fits.status))
        demand = next((each for each in results.demands if each.workload == workload_id), None)
        return Memories(named(plan, results), tuple(stacks), demand.concurrency if demand else None) if stacks else None

    def parts(self) -> tuple[str, ...]:
        """The parts that any scenario has: gradients and optimizer only where something is trained."""
        memories = [stack.memory for stack in self.data.stacks if stack.memory is not None]
        return tuple(part for part in PARTS if any(getattr(memory, part) for memory in memories))

    def arrange(self) -> None:
        data: Memories = self.data
        self.name_axis(data.entries)
        ends = [max(stack.memory.capacity, stack.memory.used) for stack in data.stacks if stack.memory is not None]
        longest = max(ends, default=GIB) / GIB
        # The right end holds the totals and the shares, whatever the width.
        metrics = self.theme.metrics(11, 600)
        words = metrics.horizontalAdvance("000.0 / 0000") + metrics.horizontalAdvance("000 %") + 28
        plot = max(self.view.width(), 1.0)
        top = self.keep_top(longest) / max(0.4, 1 - words / plot)
        ticks = [tick for tick in nice_ticks(0, top, 6) if tick <= longest * 1.1]
        self.value_axis(self.bottom, ((tick, tick_text(tick)) for tick in ticks))
        self.set_range((0, top), (-0.6, len(data.stacks) - 0.4))

    def paint_data(self, painter: QPainter, place: Place) -> None:
        data: Memories | None = self.data
        if data is None:
            self.paint_nothing(painter, place, _("Nothing to compare yet"))
            return
        theme = self.theme
        for row, (entry, stack) in enumerate(zip(data.entries, data.stacks, strict=True)):
            memory, opacity = stack.memory, self.strength(entry.letter)
            if memory is None:
                self.paint_text(painter, place.point(0, row) + QPointF(6, 0), format.NOT_KNOWN, theme.text3)
                continue
            capacity = bar(place, row, 0, memory.capacity / GIB)
            painter.fillRect(capacity, faded(theme.grid, opacity))
            start = 0.0
            for part, colour in zip(PARTS, theme.memory, strict=True):
                end = start + getattr(memory, part) / GIB
                painter.fillRect(bar(place, row, start, end), faded(colour, opacity))
                start = end
            # The usable end, a little taller than the bar.
            x = round(place.x(memory.usable / GIB))
            painter.setPen(QPen(faded(theme.fail, opacity), 2))
            painter.drawLine(QPointF(x, capacity.top() - 4), QPointF(x, capacity.bottom() + 4))
            used = place.x(memory.used / GIB)
            text = _("{used} / {capacity}").format(
                used=format.bytes_gib(memory.used, unit=False), capacity=format.exact(round(memory.capacity / GIB, 1))
            )
            middle = capacity.center().y()
            at = QPointF(max(capacity.right(), used) + 8, middle)
            self.paint_text(painter, at, text, faded(theme.text, opacity), weight=600)
            share = theme.text2 if stack.status == "ok" else theme.status_colour(stack.status)
            self.paint_text(
                painter, QPointF(place.area.right() - 2, middle), format.percent(stack.share), faded(share, opacity),
                weight=400 if stack.status == "ok" else 600, align=Right,
            )  # fmt: skip

    def part_at(self, x: float, row: int) -> str:
        """The name of the part under a place, "" for none."""
        memory = self.data.stacks[row].memory
        start = 0.0
        for part in PARTS:
            end = start + (getattr(memory, part) / GIB if memory is not None else 0.0)
            if start <= x < end:
                return part
            start = end
        return ""

    def reading(self, x: float, y: float) -> tuple[str, str]:
        row = round(y)
        if self.data is None or not 0 <= row < len(self.data.entries):
            return "", ""
        letter, memory, part = self.data.entries[row].letter, self.data.stacks[row].memory, self.part_at(x, row)
        if memory is None or not part:
            return letter, self.reading_of(letter)
        text = _("{letter}: {part} {size}").format(
            letter=letter, part=facts.part(part), size=format.bytes_gib(getattr(memory, part))
        )
        return letter, text

    def reading_of(self, letter: str) -> str:
        stack = self.data.stacks[self.letters().index(letter)]
        if stack.memory is None:
            return _("{letter}: not known").format(letter=letter)
        return _("{letter}: {used} of {usable} usable, {share}").format(
            letter=letter,
            used=format.bytes_gib(stack.memory.used),
            usable=format.bytes_gib(stack.memory.usable),
            share=format.percent(stack.share),
        )

    def swatches(self) -> tuple[Swatch, ...]:
        colours = dict(zip(PARTS, self.theme.memory, strict=True))
        parts = tuple(Swatch(colours[part], facts.part(part)) for part in self.parts())
        return (*parts, Swatch(self.theme.fail, facts.part("usable"), line=True))

    def subtitle(self) -> str:
        if self.data.batch is None:
            return _("GiB of the fullest GPU")
        return _("GiB, {count} requests in flight").format(count=format.count(self.data.batch))

    def summary(self) -> str:
        known = [(s.share, e) for s, e in zip(self.data.stacks, self.data.entries, strict=True) if s.share is not None]
        if not known:
            return _("Memory per GPU: not known.")
        share, entry = max(known, key=lambda item: item[0])
        return _("Memory per GPU: {letter}, {name}, is fullest with {share} of what is usable.").format(
            letter=entry.letter, name=entry.name, share=format.percent(share)
        )

    def table(self) -> list[list[str]]:
        head = ["", _("Name"), *(facts.part(part) for part in (*PARTS, "usable", "capacity"))]
        rows = [head]
        for entry, stack in zip(self.data.entries, self.data.stacks, strict=True):
            values = [getattr(stack.memory, part) if stack.memory else None for part in (*PARTS, "usable", "capacity")]
            rows.append([entry.letter, entry.name, *(format.bytes_gib(value, unit=False) for value in values)])
        return rows

    def anchor(self, letter: str) -> QPointF:
        row = self.letters().index(letter)
        memory = self.data.stacks[row].memory
        return QPointF(memory.used / GIB if memory is not None else 0.0, row)
