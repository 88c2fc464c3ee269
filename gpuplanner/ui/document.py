"""The open plan: one way in for every change, undo, and the file it lives in.

Widgets ask the document to change the plan and listen to `plan_changed`; they never tell each other anything. A plan is
dirty exactly when the undo stack is not clean.
"""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from pydantic import ValidationError
from PySide6.QtCore import QLockFile, QObject, QTimer, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from gpuplanner import paths
from gpuplanner.i18n import _
from gpuplanner.i18n import format as words
from gpuplanner.model import edit
from gpuplanner.model.edit import Path
from gpuplanner.model.plan import LETTERS, Condition, Group, Plan, Run, Scenario, Workload

# What a new group starts with: boards are sold with eight cards, a usual chassis with slots takes four.
GPUS_ON_A_BOARD = 8
GPUS_IN_SLOTS = 4

# A rest of this length ends one undo step and begins the next.
TYPING_PAUSE_MS = 2000

Pin = Callable[[Plan, Any], Plan]
Place = Path | Callable[[], Path]


class Refusal(str):
    """Why a value was refused. Where a limit was crossed, `worded` says it in the unit of the field."""

    kind: str = ""
    limit: float | None = None

    def worded(self, show: Callable[[float], str]) -> str:
        """The sentence, with the limit as `show` writes it."""
        pattern = _limit_patterns().get(self.kind)
        return pattern.format(limit=show(self.limit)) if pattern and self.limit is not None else str(self)


def _limit_patterns() -> dict[str, str]:
    return {
        "greater_than": _("Must be over {limit}."),
        "greater_than_equal": _("Must be at least {limit}."),
        "less_than": _("Must be under {limit}."),
        "less_than_equal": _("Must be at most {limit}."),
        "too_long": _("At most {limit} of these."),
        "string_too_long": _("At most {limit} characters."),
    }


def refusal(error: ValidationError) -> Refusal:
    """The sentence for a value that a record did not accept."""
    # A field that takes a number or "auto" reports both misses; the number's is the one the user can act on.
    details = sorted(error.errors(include_url=False), key=lambda detail: detail["type"] == "literal_error")
    detail = details[0]
    context = detail.get("ctx", {})
    limit = next((context[key] for key in ("gt", "ge", "lt", "le", "max_length") if key in context), None)
    kind = detail["type"]
    if limit is not None:
        text = _limit_patterns().get(kind, _("Not possible here.")).format(limit=words.exact(limit))
    elif kind == "int_from_float":
        text = _("Whole numbers only.")
    elif kind == "finite_number":
        text = _("Not a number.")
    elif kind == "unknown_workload":
        text = _("Scenario {letter} runs “{workload}”, which is not a workload of the plan.").format(**context)
    elif kind == "unknown_baseline":
        text = _("The baseline {letter} is not a scenario of the plan.").format(**context)
    else:
        text = _("Not possible here.")
    made = Refusal(text)
    made.kind, made.limit = kind, limit
    return made


class Editor:
    """Writes one value of the plan; calling it returns the refusal sentence or None."""

    def __init__(self, document: "PlanDocument", place: Place, text: str | Callable[[], str]) -> None:
        self._document, self._place, self._text = document, place, text

    def __call__(self, value: Any) -> str | None:
        place = self._place() if callable(self._place) else self._place
        return self._document.set_value(place, value, self._text() if callable(self._text) else self._text)

    def done(self) -> None:
        """The user has left the field: the next keystroke begins a new undo step."""
        self._document.end_typing()

    def undo(self) -> None:
        """Take the plan's last step back."""
        self._document.undo()

    def redo(self) -> None:
        """Make the plan's last step again."""
        self._document.redo()


class _ChangePlan(QUndoCommand):
    """Swap one frozen plan for another; keystrokes in the same field merge."""

    def __init__(self, document: "PlanDocument", after: Plan, field: Path | None, text: str, typing: int) -> None:
        super().__init__(text)
        self._document, self._before, self._after = document, document.plan, after
        self._field, self._typing = field, typing

    def id(self) -> int:
        # Without an id Qt never asks to merge.
        return 1 if self._field is not None else -1

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, _ChangePlan) or other._field != self._field or other._typing != self._typing:
            return False
        self._after = other._after
        self.setObsolete(self._after == self._before)
        return True

    def redo(self) -> None:
        self._document._swap(self._after)

    def undo(self) -> None:
        self._document._swap(self._before)


class Fingerprint(NamedTuple):
    """What a file on disk was when it was last read or written."""

    size: int
    modified_ns: int
    digest: str

    @classmethod
    def of(cls, path: FilePath) -> "Fingerprint | None":
        """The fingerprint of a file, None where there is none."""
        try:
            state = path.stat()
            return cls(state.st_size, state.st_mtime_ns, hashlib.sha256(path.read_bytes()).hexdigest())
        except OSError:
            return None

    def same_content(self, other: "Fingerprint | None") -> bool:
        """A file that was only touched has not changed."""
        return other is not None and (self == other or (self.size == other.size and self.digest == other.digest))


class PlanDocument(QObject):
    """The open plan, its undo stack and its file."""

    plan_changed = Signal(object)
    file_changed = Signal()
    selection_changed = Signal(str)
    workload_changed = Signal(str)
    notice = Signal(str)

    def __init__(
        self, catalog: Any, plan: Plan | None = None, pin: Pin | None = None, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.catalog = catalog
        self._pin = pin
        self.plan = self._pinned(plan or Plan())
        self.path: FilePath | None = None
        # The headline figures that a file carries, to compare with what is computed here; None where there are none.
        self.seen: Any = None
        # What to write as `seen` for a plan; set by the window, which has the results.
        self.seen_of: Callable[[Plan], Any] | None = None
        self._unknown: tuple[Any, ...] = ()
        self._fingerprint: Fingerprint | None = None
        self._lock: QLockFile | None = None
        self._typing = 0
        self.undo_stack = QUndoStack(self)
        self.undo_stack.setUndoLimit(500)
        self.undo_stack.cleanChanged.connect(self._clean_changed)
        self._pause = QTimer(self, singleShot=True, interval=TYPING_PAUSE_MS)
        self._pause.timeout.connect(self.end_typing)
        self.selected = self.workload = ""
        self._keep_selection_valid()

    # --- changes ---------------------------------------------------------------

    def set_value(self, path: Path, value: Any, text: str) -> str | None:
        """Make `value` the plan's value at `path`, as one undoable step.

        Returns the sentence to show at the field when the value is refused; the plan is then untouched.
        """
        self._pause.start()
        return self._change(lambda plan: edit.replace(plan, path, value), text, path)

    def insert(self, path: Path, item: Any, text: str) -> str | None:
        """Put `item` into a tuple; the last step of `path` is its position."""
        return self._change(lambda plan: edit.insert(plan, path, item), text)

    def remove(self, path: Path, text: str) -> str | None:
        """Take the item at `path` out of its tuple."""
        return self._change(lambda plan: edit.remove(plan, path), text)

    def move(self, path: Path, target: int, text: str) -> str | None:
        """Put the item at `path` at position `target` of the same tuple."""
        return self._change(lambda plan: edit.move(plan, path, target), text)

    def apply(self, edits: Sequence[tuple[Path, Any]], text: str) -> str | None:
        """Make several changes as one undoable step. None is made if one is refused."""

        def changed(plan: Plan) -> Plan:
            for path, value in edits:
                plan = edit.replace(plan, path, value)
            return plan

        return self._change(changed, text)

    def change(self, changed: Callable[[Plan], Plan], text: str) -> str | None:
        """Swap the plan for what `changed` makes of it, as one undoable step."""
        return self._change(changed, text)

    def editor(self, path: Place, text: str | Callable[[], str]) -> Editor:
        """What a field writes with. A callable `path` is asked at each write, for rows that move."""
        return Editor(self, path, text)

    def end_typing(self) -> None:
        """End the undo step that keystrokes merge into."""
        self._typing += 1
        self._pause.stop()

    def undo(self) -> None:
        """Take the last step back."""
        self.end_typing()
        self.undo_stack.undo()

    def redo(self) -> None:
        """Make the step again that was taken back."""
        self.end_typing()
        self.undo_stack.redo()

    def _change(self, changed: Callable[[Plan], Plan], text: str, field: Path | None = None) -> str | None:
        try:
            after = self._pinned(changed(self.plan))
        except ValidationError as error:
            return refusal(error)
        if field is None:
            self.end_typing()
        if after != self.plan:
            self.undo_stack.push(_ChangePlan(self, after, field, text, self._typing))
        return None

    def _pinned(self, plan: Plan) -> Plan:
        return self._pin(plan, self.catalog) if self._pin is not None else plan

    def _swap(self, plan: Plan) -> None:
        self.plan = plan
        moved = self._keep_selection_valid()
        self.plan_changed.emit(plan)
        for signal, value in moved:
            signal.emit(value)

    # --- what is shown (not undoable) ------------------------------------------

    def select(self, letter: str) -> None:
        """Show another scenario in the builder."""
        if letter != self.selected and self.scenario_index(letter) is not None:
            self.end_typing()
            self.selected = letter
            self.selection_changed.emit(letter)

    def show_workload(self, workload: str) -> None:
        """Show another workload in the workload panel."""
        if workload != self.workload and any(each.id == workload for each in self.plan.workloads):
            self.end_typing()
            self.workload = workload
            self.workload_changed.emit(workload)

    def scenario_index(self, letter: str) -> int | None:
        """The position of a scenario in the plan."""
        return next((i for i, scenario in enumerate(self.plan.scenarios) if scenario.letter == letter), None)

    @property
    def selected_scenario(self) -> Scenario | None:
        """The scenario in the builder."""
        index = self.scenario_index(self.selected)
        return None if index is None else self.plan.scenarios[index]

    def _keep_selection_valid(self) -> list[tuple[Any, str]]:
        moved: list[tuple[Any, str]] = []
        letters = [scenario.letter for scenario in self.plan.scenarios]
        if self.selected not in letters:
            # The neighbour before the one that has gone, so that removing does not jump to the far end.
            before = [letter for letter in letters if letter < self.selected]
            self.selected = before[-1] if before else (letters[0] if letters else "")
            moved.append((self.selection_changed, self.selected))
        ids = [workload.id for workload in self.plan.workloads]
        if self.workload not in ids:
            self.workload = ids[0] if ids else ""
            moved.append((self.workload_changed, self.workload))
        return moved

    # --- the catalog as the plan sees it ----------------------------------------

    def known(self) -> Any:
        """The catalog with the plan's own records in front."""
        return self.catalog.over(self.plan.entries)

    def names(self, kind: str) -> list[str]:
        """The names of a kind that are offered."""
        return [name for name, entry in self.known().entries(kind).items() if not entry.unlisted]

    def resolve(self, kind: str, text: str) -> str:
        """The name of the entry that `text` means. Raises `LookupError`, whose text says what to choose from."""
        from gpuplanner.catalog.query import resolve

        return str(resolve(self.known(), kind, text).name)

    # --- scenarios, groups, workloads ------------------------------------------

    def free_letter(self) -> str | None:
        """The first letter that no scenario has; None when all eight are taken."""
        taken = {scenario.letter for scenario in self.plan.scenarios}
        return next((letter for letter in LETTERS if letter not in taken), None)

    def add_scenario(self, gpu: str | None = None, server: str | None = None, copy_of: str | None = None) -> str | None:
        """Add a scenario, empty, with one group of a card or server, or as a copy; and select it."""
        letter = self.free_letter()
        if letter is None:
            return _("A plan has at most eight scenarios. Remove one first.")
        if copy_of is not None:
            index = self.scenario_index(copy_of)
            if index is None:
                return _("There is no scenario {letter}.").format(letter=copy_of)
            original = self.plan.scenarios[index]
            made = edit.replace(original, ("letter",), letter)
            position = index + 1
            text = _("Duplicate scenario {letter}").format(letter=copy_of)
        else:
            groups = (self.new_group(gpu, server),) if gpu or server else ()
            made = Scenario(letter=letter, groups=groups)
            position = len(self.plan.scenarios)
            text = _("Add scenario {letter}").format(letter=letter)
        said = self.insert(("scenarios", position), made, text)
        if said is None:
            self.select(letter)
        return said

    def remove_scenario(self, letter: str) -> str | None:
        """Remove a scenario; a baseline that goes with it falls back to the first one."""
        index = self.scenario_index(letter)
        if index is None:
            return None

        def changed(plan: Plan) -> Plan:
            if plan.baseline == letter:
                plan = edit.replace(plan, ("baseline",), None)
            return edit.remove(plan, ("scenarios", index))

        return self._change(changed, _("Remove scenario {letter}").format(letter=letter))

    def move_scenario(self, letter: str, target: int) -> str | None:
        """Put a scenario at another place; its letter stays."""
        index = self.scenario_index(letter)
        if index is None or index == target:
            return None
        return self.move(("scenarios", index), target, _("Move scenario {letter}").format(letter=letter))

    def set_baseline(self, letter: str) -> str | None:
        """Take ratios against another scenario."""
        return self.apply([(("baseline",), letter)], _("Make {letter} the baseline").format(letter=letter))

    def new_group(self, gpu: str | None, server: str | None) -> Group:
        """A group of one server, as its catalog entries suggest it, that runs the workload shown."""
        runs = (Run(workload=self.workload),) if self.workload else ()
        entries = self.known()
        chassis = entries.find("server", server) if server else None
        if chassis is not None:
            card = gpu or (chassis.gpu_options[0] if chassis.gpu_options else "")
            return Group(server=chassis.name, gpu=card, gpus_per_server=chassis.gpus_per_server, runs=runs)
        card = entries.find("gpu", gpu) if gpu else None
        condition: Condition = "used" if card is not None and card.end_of_life else "new"
        on_board = card is not None and card.form_factor.upper().startswith(("SXM", "OAM"))
        count = 0 if not gpu else GPUS_ON_A_BOARD if on_board else GPUS_IN_SLOTS
        return Group(gpu=gpu or "", gpus_per_server=count, condition=condition, runs=runs)

    def add_group(self, letter: str, gpu: str | None = None, server: str | None = None) -> str | None:
        """Add a group to a scenario."""
        index = self.scenario_index(letter)
        if index is None:
            return self.add_scenario(gpu, server)
        return self.add_made_group(self.new_group(gpu, server), letter)

    def add_made_group(self, group: Group, letter: str | None = None) -> str | None:
        """Add a group to a scenario, by default the selected one; to a new one where there is none."""
        index = self.scenario_index(letter if letter is not None else self.selected)
        if index is None:
            free = self.free_letter()
            if free is None:
                return _("A plan has at most eight scenarios. Remove one first.")
            made = Scenario(letter=free, groups=(group,))
            said = self.insert(
                ("scenarios", len(self.plan.scenarios)), made, _("Add scenario {letter}").format(letter=free)
            )
            if said is None:
                self.select(free)
            return said
        position = len(self.plan.scenarios[index].groups)
        text = _("Add {name}").format(name=group.server or group.gpu or _("a group"))
        return self.insert(("scenarios", index, "groups", position), group, text)

    def add_workload(self, workload: Workload) -> str | None:
        """Add a workload under an id of its own, and show it."""
        taken = {each.id for each in self.plan.workloads}
        made, number = str(workload.kind), 1
        while made in taken:
            number += 1
            made = f"{workload.kind}-{number}"
        workload = edit.replace(workload, ("id",), made)
        said = self.insert(("workloads", len(self.plan.workloads)), workload, _("Add workload"))
        if said is None:
            self.show_workload(made)
        return said

    def remove_workload(self, workload: str) -> str | None:
        """Remove a workload and the runs of it."""

        def changed(plan: Plan) -> Plan:
            for s, scenario in enumerate(plan.scenarios):
                for g, group in enumerate(scenario.groups):
                    kept = tuple(run for run in group.runs if run.workload != workload)
                    if kept != group.runs:
                        plan = edit.replace(plan, ("scenarios", s, "groups", g, "runs"), kept)
            kept_workloads = tuple(each for each in plan.workloads if each.id != workload)
            return edit.replace(plan, ("workloads",), kept_workloads)

        return self._change(changed, _("Remove workload"))

    # --- the file --------------------------------------------------------------

    @property
    def dirty(self) -> bool:
        """Whether the plan differs from its file."""
        return not self.undo_stack.isClean()

    @property
    def title(self) -> str:
        """The plan's name, else its file's, else "Untitled plan"."""
        return self.plan.name or (self.path.stem if self.path else _("Untitled plan"))

    def new(self, plan: Plan) -> None:
        """Start with `plan`, in no file yet."""
        self._take(self._pinned(plan), None)

    def open(self, path: FilePath) -> str | None:
        """Open a plan file. Returns the sentence why not, and then nothing has changed."""
        from gpuplanner.storage import plan_file

        path = FilePath(path)
        before = Fingerprint.of(path)
        try:
            opened = self.read(path)
        except plan_file.PlanFileError as error:
            return str(error)
        self._take(opened.plan, path, before, opened.seen, opened.unknown)
        for sentence in opened.notes:
            self.notice.emit(sentence)
        return None

    def read(self, path: FilePath) -> Any:
        """What a plan file holds, with full names and pinned as the open plan is, which stays as it is.

        Raises `PlanFileError`.
        """
        from gpuplanner.model.naming import BadName, with_full_names
        from gpuplanner.storage import plan_file

        opened = plan_file.read(path)
        try:
            return opened._replace(plan=self._pinned(with_full_names(opened.plan, self.catalog)))
        except BadName as error:
            raise plan_file.PlanFileError(path.name, error.place, str(error)) from error

    def take_theirs(self) -> str | None:
        """Make the plan what its file holds now, as one undoable step: undo brings this window's version back.

        Returns the sentence why the file cannot be read; the plan is then untouched.
        """
        from gpuplanner.storage import plan_file

        if self.path is None:
            return _("Choose a file first.")
        now = Fingerprint.of(self.path)
        try:
            opened = self.read(self.path)
        except plan_file.PlanFileError as error:
            return str(error)
        self._change(lambda _plan: opened.plan, _("Take the version of the file"))
        self.seen, self._unknown, self._fingerprint = opened.seen, opened.unknown, now
        self.undo_stack.setClean()
        self.file_changed.emit()
        return None

    @property
    def unknown(self) -> tuple[Any, ...]:
        """What a newer version wrote into the file, to be written back."""
        return self._unknown

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The file as it was when it was last read or written here."""
        return self._fingerprint

    @property
    def steps_since_save(self) -> int:
        """How many undo steps the plan is away from its file."""
        clean = self.undo_stack.cleanIndex()
        return abs(self.undo_stack.index() - clean) if clean >= 0 else max(1, self.undo_stack.index())

    def recover(
        self,
        plan: Plan,
        path: FilePath | None,
        fingerprint: Fingerprint | None,
        seen: Any = None,
        unknown: tuple[Any, ...] = (),
    ) -> None:
        """Go on with a plan that was not saved to its file: it is dirty from the start."""
        self._take(self._pinned(plan), path, fingerprint, seen, unknown)
        self.undo_stack.resetClean()

    def changed_on_disk(self) -> bool:
        """Whether the file was changed by someone else since it was read or written here."""
        if self.path is None or self._fingerprint is None:
            return False
        now = Fingerprint.of(self.path)
        return now is not None and not self._fingerprint.same_content(now)

    def save(self, path: FilePath | None = None, overwrite: bool = False) -> str | None:
        """Write the plan to its file, or to another one that becomes its file.

        Returns the sentence why it was not written. A file that changed since it was read is only replaced with
        `overwrite`.
        """
        from gpuplanner.storage import plan_file

        target = FilePath(path) if path is not None else self.path
        if target is None:
            return _("Choose a file first.")
        self.end_typing()
        if target == self.path and not overwrite and self.changed_on_disk():
            return _("{file} was changed by another program since it was opened. Not saved.").format(file=target.name)
        seen = self.seen_of(self.plan) if self.seen_of is not None else self.seen
        try:
            notes = plan_file.write(target, self.plan, seen, self._unknown)
        except OSError as error:
            return _("{file} cannot be written: {reason}.").format(file=target.name, reason=error.strerror or error)
        if target != self.path:
            self._hold(target)
        self.path, self.seen = target, seen
        self._fingerprint = Fingerprint.of(target)
        self.undo_stack.setClean()
        self.file_changed.emit()
        for sentence in notes:
            self.notice.emit(sentence)
        return None

    def close(self) -> None:
        """Let go of the file, so that another window is not warned."""
        self._pause.stop()
        if self._lock is not None:
            self._lock.unlock()
            self._lock = None

    def _clean_changed(self, _clean: bool) -> None:
        self.file_changed.emit()

    def _take(
        self,
        plan: Plan,
        path: FilePath | None,
        fingerprint: Fingerprint | None = None,
        seen: Any = None,
        unknown: tuple[Any, ...] = (),
    ) -> None:
        self.end_typing()
        self.path, self.seen, self._unknown, self._fingerprint = path, seen, unknown, fingerprint
        self._hold(path)
        self.plan = plan
        self.selected = self.workload = ""
        self._keep_selection_valid()
        self.undo_stack.clear()
        self.plan_changed.emit(plan)
        self.selection_changed.emit(self.selected)
        self.workload_changed.emit(self.workload)
        self.file_changed.emit()

    def _hold(self, path: FilePath | None) -> None:
        """Mark the file as open here; says so when another window has it open too."""
        if self._lock is not None:
            self._lock.unlock()
            self._lock = None
        if path is None:
            return
        folder = paths.user_data() / "open"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            # Without a data folder windows cannot notice each other; the check before a save still holds.
            return
        name = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:32]
        lock = QLockFile(str(folder / f"{name}.lock"))
        lock.setStaleLockTime(0)
        if lock.tryLock(0):
            self._lock = lock
        elif lock.error() == QLockFile.LockError.LockFailedError:
            self.notice.emit(_("{file} is open in another window too.").format(file=path.name))
