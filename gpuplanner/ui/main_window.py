"""The window: where the views are, the commands, and what happens to files.

Views know the document, the evaluation and the theme, and nothing of each other; what one asks of another goes through
here.
"""

import base64
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QCoreApplication, QLibraryInfo, QMimeData, QRect, QSize, Qt, QTranslator
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QFontMetrics,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDockWidget,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMainWindow,
    QMenu,
    QMenuBar,
    QSizePolicy,
    QSplitter,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gpuplanner import i18n
from gpuplanner.i18n import N_, _, ngettext
from gpuplanner.i18n import format as words
from gpuplanner.model.comparison import scenario_name
from gpuplanner.model.cost import months
from gpuplanner.model.pinning import entries_that_differ, repin
from gpuplanner.model.plan import LETTERS, MAX_SCENARIOS, Plan
from gpuplanner.model.results import Results
from gpuplanner.storage import settings as settings_file
from gpuplanner.storage.recovery import Copy
from gpuplanner.storage.samples import SAMPLES
from gpuplanner.storage.settings import Settings
from gpuplanner.ui import icons
from gpuplanner.ui.actions import Actions
from gpuplanner.ui.dialogs.ask import SUFFIX, Ask
from gpuplanner.ui.document import PlanDocument
from gpuplanner.ui.evaluation import Evaluation
from gpuplanner.ui.fields import tint
from gpuplanner.ui.message_bar import MessageBar
from gpuplanner.ui.pages import Page, PageStack
from gpuplanner.ui.panels.cards import CardsPanel
from gpuplanner.ui.panels.catalog import CatalogPanel
from gpuplanner.ui.panels.cluster import ClusterPanel
from gpuplanner.ui.panels.comparison import ComparisonPanel
from gpuplanner.ui.panels.economics import EconomicsPanel
from gpuplanner.ui.panels.explain import ExplainPanel
from gpuplanner.ui.panels.findings import FindingsPanel
from gpuplanner.ui.panels.site import SitePanel
from gpuplanner.ui.panels.welcome import WelcomePanel
from gpuplanner.ui.panels.wishes import WishesPanel
from gpuplanner.ui.panels.workload import WorkloadPanel
from gpuplanner.ui.recovery import Recovery
from gpuplanner.ui.theme import HEADER, STATUS_BAR, TOP_BAR, Theme, ThemeSource

WORKLOAD_WIDTH, CATALOG_WIDTH, EXPLAIN_WIDTH, BOTTOM_HEIGHT = 256, 312, 346, 204
MARGIN, GAP = 10, 8
# Below this the catalog folds away; it comes back when there is room again.
CATALOG_FROM = 1360
EDGE = 26
# The state of docks is kept under this number; raise it when docks are added or renamed.
LAYOUT_VERSION = 1


class _TopBar(QWidget):
    """Menus, undo and redo, and in the middle the plan's name and the state of its file."""

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        self.setProperty("ground", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.menus = QMenuBar()
        self.menus.setNativeMenuBar(False)
        self.menus.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self._title, self._state = "", ""
        # Where the title and the state stood when they were last painted.
        self.title_box = QRect()
        line = QHBoxLayout(self)
        line.setContentsMargins(12, 0, 12, 1)
        line.setSpacing(4)
        line.addWidget(self.menus, 0, Qt.AlignmentFlag.AlignVCenter)
        line.addSpacing(40)
        for name in ("undo", "redo"):
            button = QToolButton()
            button.setDefaultAction(actions[name])
            button.setIconSize(QSize(16, 16))
            button.setFixedSize(26, 26)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            line.addWidget(button)
            self._redo = button
        line.addStretch(1)
        self.setFixedHeight(TOP_BAR)

    def show_title(self, title: str, state: str) -> None:
        """Show the plan's name and the state of its file."""
        if (title, state) != (self._title, self._state):
            self._title, self._state = title, state
            self.setAccessibleName(f"{title}, {state}" if state else title)
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        colour = self.palette().color
        bold, small = Theme.font(14, 600), Theme.font(11)
        state_width = QFontMetrics(small).horizontalAdvance(self._state)
        # As wide as the buttons at the left leave it; in the middle where they leave the middle free.
        first = self._redo.geometry().right() + 16
        room = self.width() - first - state_width - 22
        title = QFontMetrics(bold).elidedText(self._title, Qt.TextElideMode.ElideMiddle, max(0, room))
        title_width = QFontMetrics(bold).horizontalAdvance(title)
        left = max(first, (self.width() - title_width - 10 - state_width) // 2)
        self.title_box = QRect(left, 0, title_width + 10 + state_width, self.height())
        painter.setFont(bold)
        painter.setPen(colour(QPalette.ColorRole.WindowText))
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(QRect(left, 0, title_width + 2, self.height()), flags, title)
        painter.setFont(small)
        painter.setPen(colour(QPalette.ColorRole.PlaceholderText))
        painter.drawText(QRect(left + title_width + 10, 1, state_width + 4, self.height()), flags, self._state)
        painter.setPen(colour(QPalette.ColorRole.Midlight))
        painter.drawLine(0, self.height() - 1, self.width(), self.height() - 1)
        painter.end()


class _DockHeader(QWidget):
    """A dock's title with the buttons of its panel; the dock is dragged by it."""

    def __init__(self, dock: QDockWidget) -> None:
        super().__init__(dock)
        self.setProperty("ground", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.title = QLabel()
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self._line = QHBoxLayout(self)
        self._line.setContentsMargins(12, 3, 6, 0)
        self._line.setSpacing(2)
        self._line.addWidget(self.title, 1)
        self.setFixedHeight(HEADER)

    def sizeHint(self) -> QSize:
        # A dock asks for this and takes no notice of a fixed height.
        return QSize(super().sizeHint().width(), HEADER)

    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width(), HEADER)

    def add(self, widget: QWidget) -> None:
        """Put a button at the right."""
        self._line.addWidget(widget)

    def show_title(self, title: str) -> None:
        """Name the dock."""
        self.title.setFont(Theme.font(13, 600))
        self.title.setText(title)


class _StatusBar(QWidget):
    """Whether results are current, and on which catalog, prices, currency and language they rest."""

    def __init__(self, theme: ThemeSource, currency: Callable[[], object], language: Callable[[], object]) -> None:
        super().__init__()
        self._theme = theme
        self.setProperty("ground", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._status, self._said, self._catalog = "ok", QLabel(), QLabel()
        self.currency, self.language = QToolButton(), QToolButton()
        for label in (self._said, self._catalog):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setProperty("tone", "second")
        for button, pressed in ((self.currency, currency), (self.language, language)):
            button.setProperty("status", True)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(partial(_call, pressed))
        line = QHBoxLayout(self)
        line.setContentsMargins(30, 1, 8, 0)
        line.setSpacing(4)
        line.addWidget(self._said)
        line.addStretch(1)
        line.addWidget(self._catalog)
        line.addWidget(self.currency)
        line.addWidget(self.language)
        self.setFixedHeight(STATUS_BAR)

    def show_state(self, status: str, text: str) -> None:
        """Say whether what is shown is current."""
        if status != self._status:
            self._status = status
            self.update()
        if text != self._said.text():
            self._said.setText(text)

    def show_catalog(self, text: str) -> None:
        """Say on which catalog and prices the results rest."""
        if text != self._catalog.text():
            self._catalog.setText(text)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        theme = self._theme.theme
        painter = QPainter(self)
        painter.setPen(theme.line)
        painter.drawLine(0, 0, self.width(), 0)
        icons.paint(
            painter, self._status, QRect(12, 7, 12, 12).toRectF(), theme.status_colour(self._status), theme.panel
        )
        painter.end()


class _EdgeTab(QAbstractButton):
    """At the window's right edge: brings the folded catalog back, and folds it again."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self._theme = theme
        self.setCheckable(True)
        self.setFixedWidth(EDGE)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def show_words(self, title: str) -> None:
        """Name what it brings back."""
        self.setText(title)
        self.setToolTip(title)
        self.setAccessibleName(title)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme.theme
        painter = QPainter(self)
        hovered = self.underMouse() or self.isDown()
        painter.fillRect(self.rect(), theme.selected if self.isChecked() else theme.hover if hovered else theme.panel)
        painter.fillRect(QRect(0, 0, 1, self.height()), theme.line)
        painter.setFont(theme.font(12, 600))
        painter.setPen(theme.text)
        if self.text().isascii():
            painter.translate(self.width(), 0)
            painter.rotate(90)
            middle = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(QRect(14, 0, self.height(), self.width()), middle, self.text())
            painter.resetTransform()
        else:
            # Chinese stands upright, one letter under the other.
            step = theme.metrics(12, 600).height()
            for at, letter in enumerate(self.text()):
                box = QRect(0, 14 + at * step, self.width(), step)
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, letter)
        if self.hasFocus():
            painter.setPen(QPen(theme.accent, 2))
            painter.drawRect(self.rect().adjusted(1, 1, -1, -1))
        painter.end()


def _call(pressed: Callable[[], object], _checked: bool = False) -> None:
    pressed()


class MainWindow(QMainWindow):
    """The one window of the program."""

    def __init__(
        self,
        document: PlanDocument,
        evaluation: Evaluation,
        theme: ThemeSource,
        settings: Settings,
        settings_folder: Path | None = None,
    ) -> None:
        super().__init__()
        self.document, self.evaluation, self.theme = document, evaluation, theme
        self.settings, self._settings_folder = settings, settings_folder
        self.ask = Ask(self)
        self._translator: QTranslator | None = None
        self._compared = False
        self._folded = self._laid_out = self._crashed = False
        self._docks_shown = True
        self.setObjectName("main")
        self.setWindowIcon(icons.application_icon())
        self.setAcceptDrops(True)
        self.setMinimumSize(1180, 720)
        self.setDockOptions(QMainWindow.DockOption.AnimatedDocks | QMainWindow.DockOption.AllowTabbedDocks)
        self.commands = Actions(self)
        for action in self.commands.all:
            self.addAction(action)
        self.top = _TopBar(self.commands)
        self.setMenuWidget(self.top)

        self.message = MessageBar(theme)
        self.recovery = Recovery(document, self)
        self.recovery.failed.connect(partial(self.say, "warn"))
        self.workload = WorkloadPanel(document, evaluation, theme)
        self.catalog = CatalogPanel(document, evaluation, theme)
        self.findings = FindingsPanel(document, evaluation, theme)
        self.explain = ExplainPanel(document, evaluation, theme)
        self.cards = CardsPanel(document, evaluation, theme)
        self.site = SitePanel(document, evaluation, theme)
        self.economics = EconomicsPanel(document, evaluation, theme)
        self.wishes = WishesPanel(document, evaluation, theme)
        self.cluster = ClusterPanel(
            document,
            evaluation,
            theme,
            ((N_("Site"), self.site), (N_("Economics"), self.economics), (N_("Wishes and notes"), self.wishes)),
            self._drawing(),
        )
        self.comparison = ComparisonPanel(document, evaluation, theme)
        self.welcome = WelcomePanel(theme)
        self._views: tuple[Any, ...] = (
            self.workload, self.catalog, self.findings, self.explain,
            self.cards, self.cluster, self.comparison, self.welcome,
        )  # fmt: skip
        self._docks: dict[str, tuple[QDockWidget, _DockHeader, str]] = {}
        self._build_centre()
        self._build_docks()
        self.status = _StatusBar(theme, self.edit_currency, self._ask_language)
        bar = self.statusBar()
        bar.setSizeGripEnabled(False)
        bar.setContentsMargins(0, 0, 0, 0)
        bar.setFixedHeight(STATUS_BAR)
        bar.addWidget(self.status, 1)
        self._build_menus()
        self._connect()
        self._restore()
        self.show_plan_or_welcome(bool(document.plan.scenarios or document.plan.workloads))
        self._apply_language(i18n.language())

    def _drawing(self) -> QWidget:
        from gpuplanner.ui.charts.racks import RackView

        self.racks = RackView(self.document, self.evaluation, self.theme)
        self.racks.setFixedWidth(262)
        self.racks.network_chosen.connect(partial(self.open_page, "network"))
        return self.racks

    # --- building -------------------------------------------------------------------

    def _build_centre(self) -> None:
        comparison = QFrame()
        comparison.setProperty("card", True)
        inside = QVBoxLayout(comparison)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(self.comparison)
        self._splitter = QSplitter(Qt.Orientation.Vertical)
        self._splitter.setObjectName("centre")
        self._splitter.setHandleWidth(GAP)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.addWidget(self.cluster)
        self._splitter.addWidget(comparison)
        self._splitter.setStretchFactor(0, 0)
        self._splitter.setStretchFactor(1, 1)
        self._splitter.setSizes([156, 344])
        plan = QWidget()
        column = QVBoxLayout(plan)
        column.setContentsMargins(MARGIN, GAP, MARGIN, MARGIN)
        column.setSpacing(GAP)
        column.addWidget(self.cards)
        column.addWidget(self._splitter, 1)
        self._pages = PageStack()
        self._pages.page_changed.connect(self._page_changed)
        # Made when first opened, so that the window starts without them.
        self._made_pages: dict[str, Page] = {}
        self._pages.addWidget(plan)
        self._pages.addWidget(self.welcome)
        centre = QWidget()
        whole = QVBoxLayout(centre)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        holder = QHBoxLayout()
        holder.setContentsMargins(MARGIN, 0, MARGIN, 0)
        holder.addWidget(self.message)
        whole.addLayout(holder)
        whole.addWidget(self._pages, 1)
        self._edge = _EdgeTab(self.theme)
        self._edge.hide()
        self._edge.toggled.connect(self._unfold_catalog)
        beside = QWidget()
        line = QHBoxLayout(beside)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(0)
        line.addWidget(centre, 1)
        line.addWidget(self._edge)
        self.setCentralWidget(beside)

    def _build_docks(self) -> None:
        self.setCorner(Qt.Corner.BottomLeftCorner, Qt.DockWidgetArea.LeftDockWidgetArea)
        self.setCorner(Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.RightDockWidgetArea)
        left, right = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
        bottom = Qt.DockWidgetArea.BottomDockWidgetArea
        self._add_dock("workload", self.workload, N_("Workload"), left)
        self._add_dock("catalog", self.catalog, N_("Catalog"), right)
        self._add_dock("findings", self.findings, N_("Findings"), bottom)
        self._add_dock("explain", self.explain, N_("Explain"), bottom)
        self._lay_out()

    def _add_dock(self, name: str, panel: Any, title: str, area: Qt.DockWidgetArea) -> None:
        dock = QDockWidget(self)
        dock.setObjectName(f"dock_{name}")
        header = _DockHeader(dock)
        if hasattr(panel, "header_buttons"):
            for button in panel.header_buttons():
                header.add(button)
        dock.setTitleBarWidget(header)
        dock.setWidget(panel)
        self.addDockWidget(area, dock)
        self._docks[name] = dock, header, title

    def _lay_out(self) -> None:
        workload, catalog, findings, explain = (dock for dock, _header, _title in self._docks.values())
        for dock in (workload, catalog, findings, explain):
            dock.setFloating(False)
            dock.show()
        self.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, workload)
        self.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, catalog)
        self.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, findings)
        self.splitDockWidget(findings, explain, Qt.Orientation.Horizontal)
        self._size_docks()

    def _size_docks(self) -> None:
        workload, catalog, findings, explain = (dock for dock, _header, _title in self._docks.values())
        self.resizeDocks([workload, catalog], [WORKLOAD_WIDTH, CATALOG_WIDTH], Qt.Orientation.Horizontal)
        self.resizeDocks([findings, explain], [686, EXPLAIN_WIDTH], Qt.Orientation.Horizontal)
        self.resizeDocks([findings], [BOTTOM_HEIGHT], Qt.Orientation.Vertical)

    def _build_menus(self) -> None:
        bar, c = self.top.menus, self.commands
        self._menus: list[tuple[QMenu, str]] = []

        def menu(title: str, parent: QMenu | None = None) -> QMenu:
            made = QMenu(self)
            (parent or bar).addMenu(made)  # type: ignore[attr-defined]
            self._menus.append((made, title))
            return made

        file = menu(N_("&File"))
        file.addAction(c["new"])
        self._samples = menu(N_("New from &example"), file)
        for sample in SAMPLES:
            self._samples.addAction("", partial(self.open_sample, sample.key))
        file.addSeparator()
        file.addAction(c["open"])
        self._recent = menu(N_("Open &recent"), file)
        self._recent.aboutToShow.connect(self._list_recent)
        file.addSeparator()
        for name in ("save", "save_as", "", "compare_plans", "recovered"):
            file.addAction(c[name]) if name else file.addSeparator()
        file.addSeparator()
        for name in ("close", "quit"):
            file.addAction(c[name])
        edit = menu(N_("&Edit"))
        for name in ("undo", "redo", "", "duplicate", "add_group"):
            edit.addAction(c[name]) if name else edit.addSeparator()
        view = menu(N_("&View"))
        themes = menu(N_("&Theme"), view)
        for name in ("system", "light", "dark", "contrast"):
            themes.addAction(c[f"theme_{name}"])
        languages = menu(N_("&Language"), view)
        for code in i18n.languages():
            languages.addAction(c[f"language_{code}"])
        view.addSeparator()
        for dock, _header, _title in self._docks.values():
            view.addAction(dock.toggleViewAction())
        view.addSeparator()
        for name in (
            "network",
            "accuracy",
            "compare_cards",
            "back",
            "",
            "explain",
            "reset_layout",
            "next_region",
            "previous_region",
        ):
            view.addAction(c[name]) if name else view.addSeparator()
        self._plan_menu = menu(N_("&Plan"))
        for position in range(MAX_SCENARIOS):
            self._plan_menu.addAction(c.scenario(position))
        self._plan_menu.addSeparator()
        for name in ("add_scenario", "duplicate", "remove_scenario", "scenario_left", "scenario_right", "baseline"):
            self._plan_menu.addAction(c[name])
        self._plan_menu.addSeparator()
        for name in ("measurements", "currency"):
            self._plan_menu.addAction(c[name])
        tools = menu(N_("&Tools"))
        for name in ("claim", "", "add_entry", "compare_entries", "", "renew_entries", "differences"):
            tools.addAction(c[name]) if name else tools.addSeparator()
        help_menu = menu(N_("&Help"))
        for name in ("diagnostics", "about"):
            help_menu.addAction(c[name])

    def _connect(self) -> None:
        c, document = self.commands, self.document
        for name, run in (
            ("new", self.new_plan),
            ("open", self.open_asking),
            ("save", self.save),
            ("save_as", self.save_as),
            ("close", self.close_plan),
            ("quit", self.close),
            ("undo", document.undo),
            ("redo", document.redo),
            ("duplicate", self.duplicate_scenario),
            ("add_group", self.add_group),
            ("add_scenario", self.add_scenario),
            ("remove_scenario", self.remove_scenario),
            ("scenario_left", partial(self.move_scenario, -1)),
            ("scenario_right", partial(self.move_scenario, 1)),
            ("baseline", self.make_baseline),
            ("currency", self.edit_currency),
            ("measurements", self.edit_measurements),
            ("renew_entries", self.renew_entries),
            ("differences", self.show_differences),
            ("compare_entries", self.catalog.compare_ticked),
            ("add_entry", self.catalog.add_entry),
            ("claim", self.check_claim),
            ("compare_plans", self.compare_asking),
            ("recovered", self.show_recovered),
            ("diagnostics", self.show_diagnostics),
            ("network", partial(self.open_page, "network")),
            ("accuracy", partial(self.open_page, "accuracy")),
            ("compare_cards", partial(self.open_page, "compare_cards")),
            ("back", self.back),
            ("explain", self.explain_focused),
            ("reset_layout", self._lay_out),
            ("next_region", partial(self.go_to_region, 1)),
            ("previous_region", partial(self.go_to_region, -1)),
            ("about", self.about),
        ):
            c[name].triggered.connect(partial(_call, run))
        for name in ("system", "light", "dark", "contrast"):
            c[f"theme_{name}"].triggered.connect(partial(_call, partial(self.choose_theme, name)))
        for code in i18n.languages():
            c[f"language_{code}"].triggered.connect(partial(_call, partial(self.choose_language, code)))
        for position, action in enumerate(c.tabs):
            action.triggered.connect(partial(_call, partial(self.show_tab, position)))
        self.comparison.row_requested.connect(self.show_row)
        for position in range(MAX_SCENARIOS):
            c.scenario(position).triggered.connect(partial(_call, partial(self.select_position, position)))
        self.welcome.sample_chosen.connect(self.open_sample)
        self.welcome.file_chosen.connect(lambda name: self.open_file(Path(name)))
        self.welcome.open_pressed.connect(self.open_asking)
        self.welcome.empty_pressed.connect(self.new_plan)
        for view in (self.comparison, self.cards, self.findings, self.cluster):
            if hasattr(view, "explain_requested"):
                view.explain_requested.connect(self.show_explanation)
        for asking in (self.comparison, self.cards, self.explain):
            asking.derivation_requested.connect(self.show_derivation)
        self.catalog.widths_changed.connect(self._keep_widths)
        document.plan_changed.connect(self._plan_changed)
        document.selection_changed.connect(self._show_scenarios)
        document.file_changed.connect(self._show_file)
        document.notice.connect(partial(self.say, "warn"))
        stack = document.undo_stack
        stack.undoTextChanged.connect(self._show_steps)
        stack.redoTextChanged.connect(self._show_steps)
        self.evaluation.results_changed.connect(self._show_status)
        self.evaluation.stale_changed.connect(self._show_stale)
        self.theme.changed.connect(self._theme_changed)
        document.seen_of = self._seen_of
        c["back"].setEnabled(False)

    # --- showing ---------------------------------------------------------------------

    def show_plan_or_welcome(self, plan: bool) -> None:
        """Show the open plan, or what to begin with."""
        self._pages.leave_page()
        self._pages.setCurrentIndex(0 if plan else 1)
        self._pages.setFocus()
        self._show_docks()
        if not plan:
            self.welcome.show_recent(self.settings.recent_files)
            self.welcome.first().setFocus()
        for name in ("save", "save_as", "close", "duplicate", "add_group", "add_scenario", "currency", "renew_entries"):
            self.commands[name].setEnabled(plan)
        self._show_scenarios()
        self._show_file()

    @property
    def shows_plan(self) -> bool:
        """Whether a plan is open."""
        return self._pages.below == 0

    def _show_docks(self) -> None:
        """Docks stand around the plan only; what was hidden by the user stays so."""
        shown = self._pages.currentIndex() == 0
        for name, (dock, _header, _title) in self._docks.items():
            if not shown and self._docks_shown:
                dock.setProperty("was_hidden", dock.isHidden())
            if not shown:
                dock.hide()
            elif dock.property("was_hidden") is False and not (name == "catalog" and self._folded):
                dock.show()
        self._docks_shown = shown
        self._edge.setVisible(self._folded and shown)
        self._edge.setChecked(False)

    # --- full pages --------------------------------------------------------------------

    def open_page(self, name: str) -> Page:
        """Open a full page over the plan; Back returns to the same focus. Raises `KeyError` for an unknown name."""
        if name not in self._made_pages:
            self._made_pages[name] = self._page_makers()[name]()
            self._made_pages[name].retranslate()
        page = self._made_pages[name]
        self._pages.open(page)
        return page

    def show_row(self, identity: str) -> None:
        """Show where a measured row was read; "" opens the page of accuracy as it is."""
        page: Any = self.open_page("accuracy")
        if identity:
            page.show_row(identity)

    def show_tab(self, position: int) -> None:
        """Show the tab of the comparison at a position, and leave a page that is open."""
        if self.shows_plan:
            self._pages.back()
            self.comparison.show_tab(position)

    def back(self) -> None:
        """Leave the page that is open."""
        self._pages.back()

    def _page_makers(self) -> dict[str, Callable[[], Page]]:
        return {
            "accuracy": self._accuracy_page,
            "compare_cards": self._cards_page,
            "derivation": self._derivation_page,
            "measurements": self._measurements_page,
            "network": self._network_page,
        }

    def _accuracy_page(self) -> Page:
        from gpuplanner.ui.panels.accuracy import AccuracyPage

        return AccuracyPage(self.document, self.evaluation, self.theme)

    def _network_page(self) -> Page:
        from gpuplanner.ui.panels.network import NetworkPage

        return NetworkPage(self.document, self.evaluation, self.theme)

    def _cards_page(self) -> Page:
        from gpuplanner.ui.panels.card_ratio import CardRatioPage

        return CardRatioPage(self.document, self.theme)

    def _derivation_page(self) -> Page:
        from gpuplanner.ui.panels.derivation import DerivationPage

        return DerivationPage(self.document, self.evaluation, self.theme)

    def show_derivation(self, letter: str, key: str) -> None:
        """Show how a figure of a scenario comes about, as a page."""
        self.explain.explain(letter, key)
        page: Any = self.open_page("derivation")
        page.show_figure(letter, key)

    def _measurements_page(self) -> Page:
        from gpuplanner.ui.panels.measurements import MeasurementsPage

        return MeasurementsPage(self.document, self.evaluation, self.theme)

    def edit_measurements(self) -> None:
        """Open the plan's own measurements."""
        if self.shows_plan:
            self.open_page("measurements")

    def _page_changed(self) -> None:
        self._show_docks()
        self.commands["back"].setEnabled(self._pages.page is not None)

    def say(self, status: str, sentence: str, action: str = "", act: Callable[[], object] | None = None) -> None:
        """Say something in the message line."""
        self.message.say(status, sentence, action, act)

    def show_explanation(self, letter: str, key: str) -> None:
        """Explain a figure of a scenario."""
        dock = self._docks["explain"][0]
        dock.show()
        dock.raise_()
        self.explain.explain(letter, key)

    def explain_focused(self) -> None:
        """Derive the figure that has the focus; without one, the figure that is explained."""
        widget = QApplication.focusWidget()
        while widget is not None and not hasattr(widget, "explain_current"):
            widget = widget.parentWidget()
        if widget is not None:
            widget.explain_current()
        letter, key = self.explain.subject
        if self.shows_plan and letter and self._pages.page is None:
            self.show_derivation(letter, key)

    def _plan_changed(self, plan: Plan) -> None:
        self._show_scenarios()
        self._show_file()

    def _show_scenarios(self, _letter: str = "") -> None:
        plan = self.document.plan
        for position in range(MAX_SCENARIOS):
            action = self.commands.scenario(position)
            present = position < len(plan.scenarios)
            action.setVisible(present)
            action.setEnabled(present and self.shows_plan)
            if present:
                scenario = plan.scenarios[position]
                name = scenario_name(scenario).replace("&", "&&")
                action.setText(f"{scenario.letter}  {name}")
                action.setChecked(scenario.letter == self.document.selected)
        index = self.document.scenario_index(self.document.selected)
        some = index is not None and self.shows_plan
        for name in ("duplicate", "remove_scenario", "baseline"):
            self.commands[name].setEnabled(some)
        self.commands["duplicate"].setEnabled(some and len(plan.scenarios) < len(LETTERS))
        self.commands["scenario_left"].setEnabled(some and index != 0)
        self.commands["scenario_right"].setEnabled(some and index != len(plan.scenarios) - 1)

    def _show_file(self) -> None:
        document = self.document
        if not self.shows_plan:
            self.top.show_title(_("GPU Planner"), "")
            self.setWindowTitle(_("GPU Planner"))
            return
        state = _("not saved") if document.path is None or document.dirty else _("saved")
        name = document.path.name if document.path is not None else ""
        self.top.show_title(document.title, f"{name} · {state}" if name else state)
        self.setWindowTitle(f"{document.title}[*] – {_('GPU Planner')}")
        self.setWindowModified(document.dirty)
        self.setWindowFilePath("" if document.path is None else str(document.path))

    def _show_steps(self, _text: str = "") -> None:
        stack = self.document.undo_stack
        self.commands.show_steps(stack.undoText(), stack.redoText())

    def _show_status(self, results: Results | None) -> None:
        if results is None:
            return
        milliseconds = words.number(self.evaluation.seconds * 1e3, 2)
        text = ngettext(
            "All results current · {count} scenario in {milliseconds} ms",
            "All results current · {count} scenarios in {milliseconds} ms",
            len(results.scenarios),
        ).format(count=len(results.scenarios), milliseconds=milliseconds)
        self.status.show_state("ok", text)
        catalog = self.document.catalog
        offered = sum(not gpu.unlisted for gpu in catalog.gpus.values())
        parts = [
            _("Catalog {date}").format(date=words.date(catalog.date)),
            ngettext("{count} GPU", "{count} GPUs", offered).format(count=offered),
        ]
        dates = [scenario.money.oldest_price for scenario in results.scenarios if scenario.money.oldest_price]
        if dates:
            parts.append(_("oldest price used: {date}").format(date=words.date(min(dates, key=months))))
        self.status.show_catalog(" · ".join(parts))
        self.status.currency.setText(results.currency)
        self._compare_with_seen(results)

    def _show_stale(self, stale: bool) -> None:
        if stale:
            self.status.show_state("warn", _("Computing; the figures shown are of the plan before."))

    def _theme_changed(self, _theme: object = None) -> None:
        theme = self.theme.theme
        self.commands.tint(theme)
        for _dock, header, _title in self._docks.values():
            tint(header, theme)
        for name in ("system", "light", "dark", "contrast"):
            self.commands[f"theme_{name}"].setChecked(name == self.theme.choice)
        self.update()

    def retranslate(self) -> None:
        """Show every word in the language in force."""
        self.commands.retranslate()
        for menu, title in self._menus:
            menu.setTitle(_(title))
        for action, sample in zip(self._samples.actions(), SAMPLES, strict=True):
            action.setText(_(sample.title).replace("&", "&&"))
        for dock, header, title in self._docks.values():
            header.show_title(_(title))
            dock.setWindowTitle(_(title))
        self._edge.show_words(_("Catalog"))
        for view in (*self._views, *self._made_pages.values()):
            view.retranslate()
        self.racks.retranslate()
        code = i18n.language()
        for each in i18n.languages():
            self.commands[f"language_{each}"].setChecked(each == code)
        self.status.language.setText(i18n.languages()[code])
        self.status.language.setToolTip(_("Language"))
        self.status.currency.setToolTip(_("Currency and exchange rates"))
        self._show_steps()
        self._show_file()
        self._show_scenarios()
        self._show_status(self.evaluation.results)
        # Chinese letters are taller: a bar of a Latin height would hide its menus.
        self.top.setFixedHeight(max(TOP_BAR, self.top.menus.sizeHint().height() + 8))
        self._theme_changed()

    # --- theme and language --------------------------------------------------------------

    def choose_theme(self, name: str) -> None:
        """Use another theme and remember it."""
        self.theme.choose(name)
        self._theme_changed()
        self._remember(theme=name)

    def choose_language(self, code: str) -> None:
        """Use another language, at once and from now on."""
        self._apply_language(code)
        # Fonts may come in another order.
        self.theme.apply()
        self._remember(language=code)

    def _apply_language(self, code: str) -> None:
        i18n.set_language(code)
        if self._translator is not None:
            QCoreApplication.removeTranslator(self._translator)
            self._translator = None
        if code == "zh":
            translator = QTranslator(self)
            folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
            if translator.load("qtbase_zh_CN", folder):
                QCoreApplication.installTranslator(translator)
                self._translator = translator
        self.retranslate()

    def _ask_language(self) -> None:
        menu = QMenu(self)
        for code in i18n.languages():
            menu.addAction(self.commands[f"language_{code}"])
        menu.exec(self.status.language.mapToGlobal(self.status.language.rect().topLeft()))
        menu.deleteLater()

    # --- scenarios -------------------------------------------------------------------------

    def select_position(self, position: int) -> None:
        """Select the scenario at a position of the plan."""
        if position < len(self.document.plan.scenarios):
            self.document.select(self.document.plan.scenarios[position].letter)

    def add_scenario(self) -> None:
        """Add an empty scenario."""
        self._refused(self.document.add_scenario())

    def duplicate_scenario(self) -> None:
        """Copy the selected scenario."""
        if self.document.selected:
            self._refused(self.document.add_scenario(copy_of=self.document.selected))

    def remove_scenario(self) -> None:
        """Remove the selected scenario."""
        self._refused(self.document.remove_scenario(self.document.selected))

    def move_scenario(self, by: int) -> None:
        """Move the selected scenario among the others."""
        index = self.document.scenario_index(self.document.selected)
        if index is not None and 0 <= index + by < len(self.document.plan.scenarios):
            self._refused(self.document.move_scenario(self.document.selected, index + by))

    def make_baseline(self) -> None:
        """Take ratios against the selected scenario."""
        if self.document.selected:
            self._refused(self.document.set_baseline(self.document.selected))

    def add_group(self) -> None:
        """Ask for a group and add it to the selected scenario."""
        from gpuplanner.ui.dialogs.add_group import AddGroupDialog

        self._open(AddGroupDialog(self.document, self))

    def edit_currency(self) -> None:
        """Edit base currency and exchange rates."""
        from gpuplanner.ui.dialogs.currency import CurrencyDialog

        if self.shows_plan:
            self._open(CurrencyDialog(self.document, self))

    def renew_entries(self) -> None:
        """Put today's catalog entries in place of those that the plan keeps."""
        catalog = self.document.catalog
        if not entries_that_differ(self.document.plan, catalog):
            self.say("ok", _("The plan's catalog entries are those of your catalog."))
            return
        text = _("Use today's catalog")
        said = self.document.change(lambda plan: repin(plan, catalog), text)
        if said is None:
            self.say("ok", _("The plan now uses today's catalog entries."), _("Undo"), self.document.undo)
        self._refused(said)

    def about(self) -> None:
        """Show versions and licences."""
        from gpuplanner.ui.dialogs.about import AboutDialog

        self._open(AboutDialog(self.document.catalog, self.evaluation.results, self))

    def check_claim(self) -> None:
        """Ask for a claim and say whether it can be."""
        from gpuplanner.ui.dialogs.claim import ClaimDialog

        dialog = ClaimDialog(self.document, self.theme, self)
        dialog.placed.connect(self._claim_placed)
        self._open(dialog)

    def _claim_placed(self) -> None:
        if not self.shows_plan:
            self.show_plan_or_welcome(True)

    def _open(self, dialog: Any) -> None:
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def _refused(self, sentence: str | None) -> None:
        if sentence is not None:
            self.say("fail", sentence)

    # --- files --------------------------------------------------------------------------------

    def new_plan(self) -> None:
        """Start an empty plan."""
        if self.may_leave_plan():
            self.document.new(Plan())
            self.message.clear()
            self.show_plan_or_welcome(True)

    def open_sample(self, key: str) -> None:
        """Start from a worked example; it has no file until it is saved."""
        from gpuplanner.model.naming import with_full_names
        from gpuplanner.storage.plan_file import PlanFileError
        from gpuplanner.storage.samples import in_the_language_in_force, open_sample

        if not self.may_leave_plan():
            return
        try:
            opened = open_sample(key)
        except PlanFileError as error:
            self.say("fail", str(error))
            return
        plan = in_the_language_in_force(opened.plan)
        self.document.new(with_full_names(plan, self.document.catalog))
        self.message.clear()
        self.show_plan_or_welcome(True)

    def open_asking(self) -> None:
        """Ask for a file and open it."""
        folder = self.document.path.parent if self.document.path is not None else None
        path = self.ask.file_to_open(folder)
        if path is not None:
            self.open_file(path)

    def open_file(self, path: Path) -> bool:
        """Open a plan file. One that is refused shows its sentence and changes nothing."""
        if not self.may_leave_plan():
            return False
        self.message.clear()
        self._compared = False
        said = self.document.open(path)
        if said is not None:
            self.say("fail", said)
            return False
        self.show_plan_or_welcome(True)
        self._remember_file(path)
        self._compare_entries()
        if self.evaluation.results is not None:
            self._compare_with_seen(self.evaluation.results)
        return True

    def save(self) -> bool:
        """Save the plan to its file, asking for one where it has none. False if it was not saved."""
        document = self.document
        if document.path is None:
            return self.save_as()
        overwrite = False
        if document.changed_on_disk():
            answer = self.ask.overwrite_changed(document.path.name)
            if answer == "cancel":
                return False
            if answer == "theirs":
                said = document.take_theirs()
                done = _("The plan is now that of the file. Undo brings yours back.")
                self.say("fail" if said else "ok", said or done)
                return said is None
            if answer == "compare":
                self.compare_with(document.path)
                return False
            if answer == "save_as":
                return self.save_as()
            overwrite = True
        return self._write(document.path, overwrite)

    def save_as(self) -> bool:
        """Ask for a file and save the plan to it. False if it was not saved."""
        suggested = self.document.path or Path.home() / f"{_file_name(self.document.title)}{SUFFIX}"
        path = self.ask.file_to_save(suggested)
        return path is not None and self._write(path, overwrite=True)

    def close_plan(self) -> None:
        """Close the plan and show what to begin with."""
        if self.may_leave_plan():
            self.document.new(Plan())
            self.message.clear()
            self.show_plan_or_welcome(False)

    def may_leave_plan(self) -> bool:
        """Whether the open plan may go: it is saved, or the user has said so."""
        self.document.end_typing()
        if not self.document.dirty:
            return True
        answer = self.ask.save_changes(self.document.title)
        return answer == "discard" or (answer == "save" and self.save())

    def compare_asking(self) -> None:
        """Ask for a file and show the open plan beside it."""
        path = self.ask.file_to_open(self.document.path.parent if self.document.path is not None else None)
        if path is not None:
            self.compare_with(path)

    def compare_with(self, path: Path) -> None:
        """Show the open plan beside another file. One that is refused shows its sentence."""
        from gpuplanner.storage.plan_file import PlanFileError
        from gpuplanner.ui.dialogs.compare_plans import ComparePlansDialog

        try:
            opened = self.document.read(path)
        except PlanFileError as error:
            self.say("fail", str(error))
            return
        self._open(ComparePlansDialog(self.document, opened.plan, path.name, self))

    def offer_recovered(self) -> None:
        """Say that earlier windows left plans that were not saved, where there are any."""
        copies = self.recovery.left_behind()
        if copies:
            sentence = ngettext(
                "“{title}” was not saved when GPU Planner last ended. A copy of {when} was kept.",
                "{count} plans were not saved when GPU Planner last ended, the newest is “{title}” of {when}.",
                len(copies),
            ).format(count=len(copies), title=copies[0].head.title, when=words.moment(copies[0].head.saved_at))
            self.say("warn", sentence, _("Show …"), self.show_recovered)

    def show_recovered(self) -> None:
        """Show the copies of plans that were not saved, to restore or delete."""
        from gpuplanner.ui.dialogs.recovered import RecoveredDialog

        copies = self.recovery.left_behind()
        if not copies:
            self.say("ok", _("No plan was left unsaved."))
            return
        self._open(RecoveredDialog(copies, self.restore, self.recovery.discard, self))

    def restore(self, copy: Copy) -> bool:
        """Go on with a plan that was not saved. False if the open plan stays."""
        if not self.may_leave_plan():
            return False
        self.message.clear()
        said = self.recovery.restore(copy)
        if said is not None:
            self.say("fail", said)
            return False
        self.show_plan_or_welcome(True)
        return True

    def show_diagnostics(self) -> None:
        """Show what helps to find a fault, to copy."""
        from gpuplanner.storage import diagnostics
        from gpuplanner.ui.dialogs.report import ReportDialog

        sentence = _("Versions and recent errors, without names or contents of your files. Nothing is sent.")
        self._open(ReportDialog(_("Diagnostics"), sentence, diagnostics.report(), self))

    def show_crash(self, error: BaseException) -> None:
        """Keep the plan safe after an error that nothing else has caught, and offer a report of it."""
        from gpuplanner.storage import diagnostics
        from gpuplanner.ui.dialogs.report import ReportDialog

        said = self.recovery.now()
        diagnostics.record(error)
        if self._crashed:
            return
        self._crashed = True
        if said is not None:
            sentence = said
        elif self.document.dirty:
            sentence = _("An error occurred. Your plan is still open and a recovery copy of it was kept. Save it now.")
        else:
            sentence = _("An error occurred. Your plan is still open, and it is saved.")
        self._open(ReportDialog(_("Something went wrong"), sentence, diagnostics.report(error), self))

    def _write(self, path: Path, overwrite: bool) -> bool:
        said = self.document.save(path, overwrite)
        if said is not None:
            self.say("fail", said)
            return False
        self.message.clear()
        self._remember_file(path)
        return True

    def _seen_of(self, plan: Plan) -> Any:
        from gpuplanner.storage.seen import seen_of

        results = self.evaluation.results
        return seen_of(results) if results is not None and self.evaluation.plan == plan else self.document.seen

    def _compare_entries(self) -> None:
        differing = entries_that_differ(self.document.plan, self.document.catalog)
        if differing:
            sentence = ngettext(
                "{count} entry of the plan differs from your catalog ({names}); the plan's own is used.",
                "{count} entries of the plan differ from your catalog ({names}); the plan's own are used.",
                len(differing),
            ).format(count=len(differing), names=", ".join(reference.name for reference in differing[:3]))
            self.say("warn", sentence, _("Use today's"), self.renew_entries)

    def _compare_with_seen(self, results: Results) -> None:
        """Say once after opening when figures are not those that the author saw."""
        document = self.document
        if self._compared or document.seen is None or document.dirty or self.evaluation.plan is not document.plan:
            return
        from gpuplanner.storage.seen import differences

        self._compared = True
        changed = differences(document.seen, results)
        if changed:
            sentence = ngettext(
                "{count} figure is not what the author of the plan saw.",
                "{count} figures are not what the author of the plan saw.",
                len(changed),
            ).format(count=len(changed))
            self.say("warn", sentence, _("Details"), self.show_differences)

    def show_differences(self) -> None:
        """Show the figures that the author saw beside today's."""
        from gpuplanner.storage.seen import differences
        from gpuplanner.ui.dialogs.differences import DifferencesDialog

        results = self.evaluation.results
        if results is not None:
            self._open(DifferencesDialog(differences(self.document.seen, results), self))

    def _list_recent(self) -> None:
        self._recent.clear()
        for name in self.settings.recent_files:
            text = str(Path(name)).replace("&", "&&")
            self._recent.addAction(text, partial(self.open_file, Path(name)))
        if not self.settings.recent_files:
            self._recent.addAction(_("No files yet")).setEnabled(False)

    # --- dropping a file ---------------------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _file_of(event.mimeData()) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        path = _file_of(event.mimeData())
        if path is not None:
            event.acceptProposedAction()
            self.open_file(path)

    # --- what is remembered ----------------------------------------------------------------------------

    def _restore(self) -> None:
        self.resize(1600, 1000)
        settings = self.settings
        if settings.window_geometry:
            self.restoreGeometry(_bytes(settings.window_geometry))
        if settings.window_state:
            self.restoreState(_bytes(settings.window_state), LAYOUT_VERSION)
        self.catalog.set_column_widths(settings.column_widths)

    def _remember(self, **changes: object) -> None:
        self.settings = self.settings.changed(**changes)
        try:
            settings_file.save(self.settings, self._settings_folder)
        except OSError as error:
            self.say("warn", _("Settings cannot be kept: {reason}.").format(reason=error.strerror or error))

    def _remember_file(self, path: Path) -> None:
        recent = self.settings.with_recent(path.resolve())
        self._remember(recent_files=recent.recent_files)

    def _keep_widths(self) -> None:
        self._remember(column_widths=self.catalog.column_widths())

    # --- regions ---------------------------------------------------------------------------------------

    def regions(self) -> tuple[QWidget, ...]:
        """The parts of the window, in the order of F6."""
        docks = {name: dock for name, (dock, _header, _title) in self._docks.items()}
        page = self._pages.page
        if page is not None:
            return self.top, page, self.status
        if not self.shows_plan:
            return self.top, self.welcome, self.status
        return (
            self.top, docks["workload"], self.cards, self.cluster, self.comparison, docks["findings"], docks["explain"],
            docks["catalog"], self.status,
        )  # fmt: skip

    def go_to_region(self, by: int) -> None:
        """Focus the next part of the window, or the one before."""
        regions = [region for region in self.regions() if region.isVisible()]
        focused = QApplication.focusWidget()
        at = next((i for i, r in enumerate(regions) if focused is not None and r.isAncestorOf(focused)), -1)
        for step in range(1, len(regions) + 1):
            region = regions[(at + by * step) % len(regions)]
            target = _first_field(region)
            if target is not None:
                target.setFocus(Qt.FocusReason.TabFocusReason)
                return

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._laid_out:
            # Docks have their sizes only once the window has its own.
            self._laid_out = True
            if not self.settings.window_state:
                self._size_docks()

    # --- the window itself -------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        dock = self._docks["catalog"][0]
        if event.size().width() < CATALOG_FROM and not self._folded and not dock.isFloating():
            self._folded = True
            self._edge.setChecked(False)
            dock.hide()
        elif event.size().width() >= CATALOG_FROM and self._folded:
            self._folded = False
            if self._docks_shown:
                dock.show()
            else:
                dock.setProperty("was_hidden", False)
        self._edge.setVisible(self._folded and self._docks_shown)

    def _unfold_catalog(self, shown: bool) -> None:
        """Show the folded catalog, or fold it again."""
        if self._folded:
            dock = self._docks["catalog"][0]
            dock.setVisible(shown)
            if shown:
                self.resizeDocks([dock], [CATALOG_WIDTH], Qt.Orientation.Horizontal)
                self.catalog.filter.setFocus()

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.may_leave_plan():
            event.ignore()
            return
        if not self._docks_shown:
            # The layout of the plan's docks is what is worth keeping.
            for dock, _header, _title in self._docks.values():
                dock.setVisible(dock.property("was_hidden") is False)
        self._remember(
            window_geometry=_text(self.saveGeometry()),
            window_state=_text(self.saveState(LAYOUT_VERSION)),
            column_widths=self.catalog.column_widths(),
        )
        self.evaluation.finish()
        self.findings.finish()
        for page in self._made_pages.values():
            page.finish()
        self.recovery.finish()
        self.document.close()
        event.accept()


def _first_field(region: QWidget) -> QWidget | None:
    """The first widget of a region that takes the focus by Tab."""
    for widget in (region, *region.findChildren(QWidget)):
        takes = widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        if takes and widget.isVisible() and widget.isEnabled():
            return widget
    return None


def _file_of(data: QMimeData) -> Path | None:
    """The one local file that is dragged."""
    urls = data.urls()
    return Path(urls[0].toLocalFile()) if len(urls) == 1 and urls[0].isLocalFile() else None


def _file_name(title: str) -> str:
    """A title as the name of a file."""
    return "".join(letter if letter.isalnum() or letter in " -_." else "-" for letter in title).strip(" .") or "plan"


def _text(data: QByteArray) -> str:
    return base64.b64encode(data.data()).decode("ascii")


def _bytes(text: str) -> QByteArray:
    return QByteArray(base64.b64decode(text))
