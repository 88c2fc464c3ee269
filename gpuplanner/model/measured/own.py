"""The buyer's own rows of a plan: predicted as validation predicts rows, checked against physics, and made residuals
that `own_rows` takes into account."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gpuplanner.catalog.load import Catalog
from gpuplanner.model.case import RunColumns
from gpuplanner.model.evidence import Evidence, factor
from gpuplanner.model.measured.keys import LARGEST, Keys, Lookup, Unpredictable
from gpuplanner.model.measured.predict import Prepared, predict, prepare
from gpuplanner.model.measured.rows import ServingRow, TrainingRow, card_of, framework_of
from gpuplanner.model.measured.suspect import broken_bounds
from gpuplanner.model.own_rows import SPEAKS_FOR, Residual, serving_like, training_like
from gpuplanner.model.results import NOT_KNOWN, Check, Figure, OwnRow, exact
from gpuplanner.model.training import TrainColumns

_PROMPT, _ANSWER = RunColumns._fields.index("input"), RunColumns._fields.index("output")
_SEQUENCE = TrainColumns._fields.index("sequence")
_TIMES = frozenset({"ttft_s", "tpot_s", "step_time_s"})
# Of a server in use by many: which figure a metric of it is about.
_BY_METRIC = {
    ("consumer_server", "tpot_s"): ("serving_tpot",),
    ("consumer_server", "ttft_s"): ("ttft_loaded",),
}
# A row names its measurement here; without any of them all rows count as one hand's.
_SOURCE_KEYS = ("publisher", "source")
# What tells two settings apart: everything but the figure and the words about it.
_NOT_A_SETTING = frozenset(
    {"id", "value", "note", "source", "where", "publisher", "date", "family", "scorable", "scope"}
)


class OwnRows(NamedTuple):
    """What a plan's own rows come to: every row judged, in order, and the residuals of those that count.

    ``at`` says which row a residual is of.
    """

    judged: tuple[OwnRow, ...]
    residuals: tuple[Residual, ...]
    at: tuple[int, ...]


def judge(rows: Sequence[Mapping[str, Any]], catalog: Catalog) -> OwnRows:
    """Predict the rows, with the constants as shipped, and tell which of them count. Never raises for valid rows."""
    calibration = catalog.calibration
    prepared = prepare(rows, catalog, calibration)
    values = predict(prepared, calibration)
    broken = broken_bounds(prepared)
    lookup = Lookup(catalog)
    judged: list[OwnRow] = []
    residuals: list[Residual] = []
    at: list[int] = []
    for i, row in enumerate(rows):
        family, metric = prepared.families[i], prepared.metrics[i]
        measured, value = _measured(row), float(values[i])
        entry = OwnRow(i, family, metric, measured, NOT_KNOWN, "skipped", Check("unknown"))
        reason = prepared.reasons[i]
        bound = broken[i]
        if reason is not None:
            entry = entry._replace(reason=Check("unknown", "row_not_read", {"reason": reason}))
        elif not np.isfinite(value):
            entry = entry._replace(reason=Check("unknown", "row_not_predicted"))
        else:
            predicted = _figure(prepared, i, value, catalog)
            entry = entry._replace(predicted=predicted, status="shown", reason=Check("unknown", "row_moves_nothing"))
            if measured is None:
                entry = entry._replace(status="skipped", reason=Check("unknown", "row_without_value"))
            elif bound is not None:
                over = measured / bound.limit if bound.limit > 0 else np.inf
                numbers = {"ratio": 1.0 / over if metric in _TIMES and over > 0 else over}
                entry = entry._replace(status="suspect", reason=Check("fail", f"row_breaks_{bound.bound}", numbers))
            elif row.get("scorable") is not False and measured > 0 and value > 0:
                residual = _residual(prepared, i, float(np.log(measured / value)), lookup, catalog)
                if residual is not None:
                    residuals.append(residual)
                    at.append(i)
                    entry = entry._replace(status="counts", reason=Check("ok"))
        judged.append(entry)
    return OwnRows(tuple(judged), tuple(residuals), tuple(at))


def _measured(row: Mapping[str, Any]) -> float | None:
    value = row.get("value")
    return float(value) if isinstance(value, bool | int | float) and abs(value) <= LARGEST else None


def _figure(prepared: Prepared, i: int, value: float, catalog: Catalog) -> Figure:
    """The prediction with the band that the scenario of such a row would have."""
    family = prepared.families[i]
    if prepared.metrics[i] == "fits":
        return exact(value, "predicted")
    if family not in catalog.calibration.bands:
        return Figure(value, None, None, "predicted")
    seen = getattr(prepared.records[i], "evidence", None) or Evidence(1.0, (), True)
    wide = factor(catalog.calibration, family, seen)
    high = min(value * wide, 1.0) if prepared.metrics[i] in ("mfu", "hfu") else value * wide
    return Figure(value, value / wide, high, "predicted" if seen.validated else "not validated")


def _residual(prepared: Prepared, i: int, log: float, lookup: Lookup, catalog: Catalog) -> Residual | None:
    """The residual of a row of a kind that moves figures; None for other kinds."""
    family, metric, record = prepared.families[i], prepared.metrics[i], prepared.records[i]
    families = _BY_METRIC.get((family, metric)) or SPEAKS_FOR.get(family, ())
    if not families or metric == "fits" or not isinstance(record, ServingRow | TrainingRow):
        return None
    keys = Keys(prepared.rows[i])
    try:
        card, llm = card_of(keys, lookup).gpu, lookup.entry("llm", keys.text("model") or "")
        source = next((text for key in _SOURCE_KEYS if (text := keys.text(key))), "")
        engine = framework_of(keys, lookup) if isinstance(record, TrainingRow) else record.setting.engine
    except Unpredictable:
        return None
    if isinstance(record, ServingRow):
        like = serving_like(card, llm, record.setting, float(record.run[_PROMPT]), float(record.run[_ANSWER]))
    else:
        method = (keys.text("method") or "full").casefold()
        like = training_like(card, llm, catalog.calibration, engine, method, float(record.run[_SEQUENCE]))
    setting = {key: value for key, value in prepared.rows[i].items() if key not in _NOT_A_SETTING}
    return Residual(
        like, families, -log if metric in _TIMES else log, source, json.dumps(setting, sort_keys=True, default=str)
    )
