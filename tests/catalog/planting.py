"""Change one figure of a catalog entry, as someone who copies from a bad table would."""

from typing import Any

from gpuplanner.catalog.load import Catalog, load
from gpuplanner.catalog.schema import Record

CATALOG = load()


class Pins:
    """Records that a view puts in front of the catalog, by the names that `Catalog.over` reads."""

    def __init__(self, **records: tuple[Any, ...]) -> None:
        for name in (
            "gpus",
            "servers",
            "cpus",
            "nics",
            "switches",
            "llms",
            "runtimes",
            "prices",
            "assumptions",
            "sources",
        ):
            setattr(self, name, records.get(name, ()))


def changed(record: Any, **changes: Any) -> Any:
    """A copy with other values; `peak_flops__fp16` reaches into a group, a number replaces the value of a figure."""
    data = record.model_dump()
    for path, value in changes.items():
        *groups, key = path.split("__")
        place = data
        for group in groups:
            place = place[group]
        if isinstance(place.get(key), dict) and "value" in place[key] and not isinstance(value, dict | None):
            place[key]["value"] = value
        elif isinstance(getattr(record, key, None), Record) or isinstance(value, dict):
            place[key] = value
        elif (groups and groups[-1] == "peak_flops") or key.endswith(("_bytes", "_bytes_s", "_w", "_c")):
            place[key] = None if value is None else {"value": value, "source": "unverified", "mark": "unverified"}
        else:
            place[key] = value
    if "peak_flops" in data:
        data["peak_flops"] = {name: fact for name, fact in data["peak_flops"].items() if fact is not None}
    return type(record).model_validate(data)


def with_gpu(name: str, **changes: Any) -> Catalog:
    return CATALOG.over(Pins(gpus=(changed(CATALOG.gpus[name], **changes),)))


def with_llm(name: str, **changes: Any) -> Catalog:
    return CATALOG.over(Pins(llms=(changed(CATALOG.llms[name], **changes),)))
