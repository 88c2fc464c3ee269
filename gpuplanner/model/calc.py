"""Single formulas by name, in the units that people write: what `gpuplanner calc` and the worked cases compute.

Every calculation checks its inputs, turns kilowatts and cubic feet into SI, calls the functions that the rest of the
model uses, and turns the answer back. This is the only place where units other than SI meet the model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from gpuplanner.i18n import N_, _
from gpuplanner.i18n.format import exact
from gpuplanner.i18n.parse import parse_number
from gpuplanner.model import cooling, facility, network
from gpuplanner.units import (
    GIGA,
    KILO,
    LITRES_PER_M3,
    LITRES_PER_US_GALLON,
    M3_H_PER_CFM,
    MEGA,
    SECONDS_PER_HOUR,
    SECONDS_PER_MINUTE,
)

Kind = Literal["number", "count", "boolean", "label"]
Value = float | int | bool
Outputs = dict[str, Value]

J_PER_KWH = KILO * SECONDS_PER_HOUR
J_PER_MWH = MEGA * SECONDS_PER_HOUR

# Beyond any plan; they keep products and quotients of inputs finite and counts exact in floats.
LARGEST_NUMBER = 1e15
SMALLEST_POSITIVE = 1e-12
LARGEST_COUNT = 1_000_000_000
LARGEST_RADIX = 4096


class CalcError(ValueError):
    """A calculation that cannot be done; the message is one sentence for the user."""


@dataclass(frozen=True)
class Input:
    """One input of a calculation: its key, its kind and what it may be.

    A number lies between `minimum` and `maximum`, both allowed unless `positive`, which leaves 0 out. An input with
    a `default` may be left out.
    """

    key: str
    kind: Kind
    minimum: float = 0.0
    maximum: float = LARGEST_NUMBER
    positive: bool = False
    multiple_of: int = 1
    choices: tuple[str | int, ...] = ()
    default: Value | str | None = None

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is None


@dataclass(frozen=True)
class Calculation:
    """A formula: its inputs, the keys of its outputs, a sentence about it (a msgid) and the function itself."""

    name: str
    inputs: tuple[Input, ...]
    outputs: tuple[str, ...]
    rule: str
    run: Callable[[Mapping[str, Any]], Outputs]


def compute(name: str, inputs: Mapping[str, object]) -> Outputs:
    """The outputs of the calculation `name`.

    Raises `CalcError` with one sentence for an unknown name, an unknown or missing input, and a value that is of the
    wrong type, not finite or out of range.
    """
    calculation = _calculation(name)
    keys = [entry.key for entry in calculation.inputs]
    for key in inputs:
        if key not in keys:
            raise CalcError(
                _("{name} has no input {key}; its inputs are {keys}.").format(name=name, key=key, keys=", ".join(keys))
            )
    missing = [entry.key for entry in calculation.inputs if entry.required and entry.key not in inputs]
    if missing:
        raise CalcError(_("{name} needs a value for {keys}.").format(name=name, keys=", ".join(missing)))
    values = {
        entry.key: _checked(entry, inputs[entry.key]) if entry.key in inputs else entry.default
        for entry in calculation.inputs
    }
    return calculation.run(values)


def read_inputs(name: str, texts: Mapping[str, str]) -> dict[str, object]:
    """Typed inputs from the texts of a command line, for `compute`.

    Raises `CalcError` for an unknown name and for a text that is not of the input's kind. Keys that the calculation
    does not have stay as they are; `compute` names them.
    """
    entries = {entry.key: entry for entry in _calculation(name).inputs}
    return {key: _read(entries[key], text) if key in entries else text for key, text in texts.items()}


def _calculation(name: str) -> Calculation:
    if name not in CALCULATIONS:
        raise CalcError(
            _("There is no calculation {name}; there are {names}.").format(name=name, names=", ".join(CALCULATIONS))
        )
    return CALCULATIONS[name]


def _read(entry: Input, text: str) -> object:
    if entry.kind == "label":
        return text
    if entry.kind == "boolean":
        if text.lower() not in ("true", "false"):
            raise CalcError(_("{key} must be true or false, not {value}.").format(key=entry.key, value=text))
        return text.lower() == "true"
    value = parse_number(text)
    if value is None:
        raise CalcError(_("{key} must be a finite number, not {value}.").format(key=entry.key, value=text))
    return value


def _checked(entry: Input, value: object) -> Value | str:
    """The value in the input's own type; raises `CalcError` where it is not one."""
    if entry.kind == "boolean":
        if not isinstance(value, bool):
            raise CalcError(_("{key} must be true or false, not {value}.").format(key=entry.key, value=value))
        return value
    if entry.kind == "label":
        if not isinstance(value, str):
            raise CalcError(_("{key} must be a word, not {value}.").format(key=entry.key, value=value))
        _check_choice(entry, value)
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < math.inf:
        raise CalcError(_("{key} must be a finite number, not {value}.").format(key=entry.key, value=value))
    if entry.positive and value <= 0:
        raise CalcError(_("{key} must be above 0, not {value}.").format(key=entry.key, value=exact(value)))
    minimum = SMALLEST_POSITIVE if entry.positive else entry.minimum
    if not minimum <= value <= entry.maximum:
        raise CalcError(
            _("{key} must lie between {low} and {high}, not be {value}.").format(
                key=entry.key, low=exact(minimum), high=exact(entry.maximum), value=exact(value)
            )
        )
    if entry.kind == "number":
        return float(value)
    if value != int(value):
        raise CalcError(_("{key} must be a whole number, not {value}.").format(key=entry.key, value=exact(value)))
    if value % entry.multiple_of:
        raise CalcError(
            _("{key} must be a multiple of {step}, not {value}.").format(
                key=entry.key, step=exact(entry.multiple_of), value=exact(value)
            )
        )
    _check_choice(entry, int(value))
    return int(value)


def _check_choice(entry: Input, value: str | int) -> None:
    if entry.choices and value not in entry.choices:
        raise CalcError(
            _("{key} must be one of {choices}, not {value}.").format(
                key=entry.key, choices=", ".join(map(str, entry.choices)), value=value
            )
        )


def _number(key: str, **limits: Any) -> Input:
    return Input(key, "number", **limits)


def _positive(key: str, **limits: Any) -> Input:
    return Input(key, "number", positive=True, **limits)


def _share(key: str, **limits: Any) -> Input:
    return Input(key, "number", maximum=1.0, **limits)


def _count(key: str, minimum: int = 1, maximum: int = LARGEST_COUNT, **limits: Any) -> Input:
    return Input(key, "count", minimum=minimum, maximum=maximum, **limits)


def _altitude() -> Input:
    # From the Dead Sea to the top of the troposphere, where the formula ends.
    return _number("altitude_m", minimum=-430.0, maximum=11_000.0, default=0.0)


def _circuit() -> tuple[Input, ...]:
    return (
        _positive("volts"),
        _positive("amps"),
        _count("phases", maximum=3, choices=(1, 3)),
        _share("continuous_factor", positive=True),
    )


def _continuous_va(values: Mapping[str, Any]) -> float:
    capacity = facility.circuit_capacity(values["volts"], values["amps"], values["phases"], values["continuous_factor"])
    return float(capacity.continuous_va)


def _heat_load(values: Mapping[str, Any]) -> Outputs:
    heat_w = values["heat_kw"] * KILO
    return {"heat_btu_h": float(cooling.heat_btu_h(heat_w)), "cooling_tons": float(cooling.cooling_tons(heat_w))}


def _tons_to_kw(values: Mapping[str, Any]) -> Outputs:
    heat_w = cooling.heat_of_tons(values["cooling_tons"])
    return {"heat_kw": float(heat_w / KILO), "heat_btu_h": float(cooling.heat_btu_h(heat_w))}


def _airflow(values: Mapping[str, Any]) -> Outputs:
    flow_m3_s = cooling.air_flow(
        values["heat_kw"] * KILO,
        values["delta_t_k"],
        values["altitude_m"],
        values["density_kg_m3"],
        values["cp_j_kg_k"],
    )
    flow_m3_h = float(flow_m3_s * SECONDS_PER_HOUR)
    return {
        "airflow_m3_h": flow_m3_h,
        "airflow_cfm": flow_m3_h / M3_H_PER_CFM,
        "density_ratio": float(cooling.air_density_ratio(values["altitude_m"])),
    }


def _air_temperature_rise(values: Mapping[str, Any]) -> Outputs:
    flow_m3_s = values["airflow_cfm"] * M3_H_PER_CFM / SECONDS_PER_HOUR
    rise_k = cooling.air_temperature_rise(values["heat_kw"] * KILO, flow_m3_s, values["altitude_m"])
    return {"delta_t_k": float(rise_k)}


def _coolant_flow(values: Mapping[str, Any]) -> Outputs:
    flow_m3_s = cooling.coolant_flow(
        values["heat_kw"] * KILO, values["delta_t_k"], values["density_kg_m3"], values["cp_j_kg_k"]
    )
    flow_l_min = float(flow_m3_s * LITRES_PER_M3 * SECONDS_PER_MINUTE)
    return {"coolant_l_min": flow_l_min, "coolant_gpm": flow_l_min / LITRES_PER_US_GALLON}


def _liquid_split(values: Mapping[str, Any]) -> Outputs:
    split = cooling.liquid_split(values["rack_kw"] * KILO, values["liquid_share"])
    return {"liquid_kw": float(split.liquid_w / KILO), "air_kw": float(split.air_w / KILO)}


def _energy_cost_year(values: Mapping[str, Any]) -> Outputs:
    energy_j = facility.energy_per_year(values["it_kw"] * KILO, values["load_factor"], values["pue"])
    cost = facility.energy_cost(energy_j, values["price_per_kwh"] / J_PER_KWH)
    return {"energy_mwh_year": float(energy_j / J_PER_MWH), "cost_year": float(cost)}


def _facility_power(values: Mapping[str, Any]) -> Outputs:
    power = facility.facility_power(values["systems"], values["system_kw"] * KILO, values["pue"])
    return {"it_kw": float(power.it_w / KILO), "facility_kw": float(power.facility_w / KILO)}


def _rack_budget(values: Mapping[str, Any]) -> Outputs:
    budget = facility.rack_budget(
        values["gpus_per_node"],
        values["gpu_kw"] * KILO,
        values["cpu_kw"] * KILO,
        values["static_node_kw"] * KILO,
        values["nodes"],
    )
    return {
        "managed_node_kw": float(budget.managed_node_w / KILO),
        "node_kw": float(budget.node_w / KILO),
        "rack_kw": float(budget.rack_w / KILO),
    }


def _run_energy(values: Mapping[str, Any]) -> Outputs:
    run = facility.run_energy(values["nodes"], values["node_w"], values["duration_s"])
    return {"energy_kwh": float(run.energy_j / J_PER_KWH), "total_kw": float(run.total_w / KILO)}


def _inlet_check(values: Mapping[str, Any]) -> Outputs:
    check = cooling.inlet_check(
        values["inlet_c"], cooling.ASHRAE_CLASSES[values["ashrae_class"]], values["system_inlet_max_c"]
    )
    return {"room_ok": bool(check.room_ok), "system_ok": bool(check.system_ok)}


def _circuit_capacity(values: Mapping[str, Any]) -> Outputs:
    capacity = facility.circuit_capacity(values["volts"], values["amps"], values["phases"], values["continuous_factor"])
    return {
        "capacity_kva": float(capacity.capacity_va / KILO),
        "continuous_kva": float(capacity.continuous_va / KILO),
    }


def _circuit_feeds(values: Mapping[str, Any]) -> Outputs:
    feeds = facility.circuit_feeds(
        values["systems"],
        values["system_kw"] * KILO,
        _continuous_va(values),
        values["power_factor"],
        values["feeds_per_system"],
    )
    return {
        "usable_kw_per_feed": float(feeds.usable_w_per_feed / KILO),
        "systems_per_feed": int(feeds.systems_per_feed),
        "feeds": int(feeds.feeds),
    }


def _feed_loss(values: Mapping[str, Any]) -> Outputs:
    loss = facility.feed_loss(values["psus"], values["feeds"], values["psu_kw"] * KILO, values["system_kw"] * KILO)
    return {
        "psus_per_feed": int(loss.psus_per_feed),
        "psus_after_loss": int(loss.psus_after_loss),
        "full_performance": bool(loss.full_performance),
    }


def _ups_modules(values: Mapping[str, Any]) -> Outputs:
    ups = facility.ups_modules(values["load_kw"] * KILO, values["module_kw"] * KILO, values["spare_modules"])
    return {
        "modules_for_load": int(ups.modules_for_load),
        "modules": int(ups.modules),
        "installed_kw": float(ups.installed_w / KILO),
    }


def _rack_feed(values: Mapping[str, Any]) -> Outputs:
    feed = facility.rack_feed(
        values["systems"],
        values["system_kw"] * KILO,
        values["circuits"],
        _continuous_va(values),
        values["power_factor"],
    )
    return {
        "load_kw": float(feed.load_w / KILO),
        "capacity_kva": float(feed.capacity_va / KILO),
        "headroom_kw": float(feed.headroom_w / KILO),
        "fits": bool(feed.fits),
    }


def _racks_needed(values: Mapping[str, Any]) -> Outputs:
    needed = facility.racks_needed(values["systems"], values["systems_per_rack"], values["system_kw"] * KILO)
    return {
        "racks": int(needed.racks),
        "rack_kw": float(needed.rack_w / KILO),
        "total_kw": float(needed.total_w / KILO),
    }


def _rack_fit(values: Mapping[str, Any]) -> Outputs:
    return {"systems": int(facility.rack_fit(values["rack_kw"] * KILO, values["system_kw"] * KILO))}


def _rail_fabric(values: Mapping[str, Any]) -> Outputs:
    sized_nodes = values["scalable_units"] * values["nodes_per_unit"]
    if values["displaced_nodes"] >= sized_nodes:
        raise CalcError(
            _("The fabric manager cannot displace {displaced} of {nodes} nodes.").format(
                displaced=exact(values["displaced_nodes"]), nodes=exact(sized_nodes)
            )
        )
    limit = network.fat_tree_limit(values["switch_radix"]).endpoints_3_tiers
    endpoints = sized_nodes * values["nics_per_node"]
    if endpoints > limit and not values["rails_isolated"]:
        raise CalcError(
            _("Three tiers of {radix}-port switches connect {limit} NICs, not {endpoints}.").format(
                radix=exact(values["switch_radix"]), limit=exact(int(limit)), endpoints=exact(endpoints)
            )
        )
    fabric = network.rail_fabric(**values)
    return {key: bool(value) if key == "single_switch" else int(value) for key, value in fabric._asdict().items()}


def _fat_tree_limit(values: Mapping[str, Any]) -> Outputs:
    limit = network.fat_tree_limit(values["switch_radix"])
    return {"endpoints_2_tiers": int(limit.endpoints_2_tiers), "endpoints_3_tiers": int(limit.endpoints_3_tiers)}


def _fat_tree(values: Mapping[str, Any]) -> Outputs:
    limit = network.fat_tree_limit(values["switch_radix"]).endpoints_2_tiers
    if values["endpoints"] > limit:
        raise CalcError(
            _("Two tiers of {radix}-port switches connect {limit} endpoints, not {endpoints}.").format(
                radix=exact(values["switch_radix"]), limit=exact(int(limit)), endpoints=exact(values["endpoints"])
            )
        )
    tree = network.fat_tree(values["endpoints"], values["switch_radix"])
    return {
        "single_switch": bool(tree.single_switch),
        "leaf_switches": int(tree.leaf_switches),
        "spine_switches_by_ports": int(tree.spine_switches_by_ports),
    }


def _node_bandwidth(values: Mapping[str, Any]) -> Outputs:
    return {"node_gb_s": float(network.node_bandwidth(values["nics"], values["nic_gbit_s"] * GIGA) / GIGA)}


def _bus_bandwidth(values: Mapping[str, Any]) -> Outputs:
    bandwidth = network.bus_bandwidth(values["ranks"], values["algbw_gb_s"] * GIGA)
    return {
        "busbw_gb_s": float(bandwidth.bus_bytes_s / GIGA),
        "factor_all_reduce": float(bandwidth.factor_all_reduce),
        "factor_all_gather": float(bandwidth.factor_all_gather),
    }


def _allreduce_time(values: Mapping[str, Any]) -> Outputs:
    time_s = network.transfer_time(values["message_bytes"], values["ranks"], values["busbw_gb_s"] * GIGA)
    return {"time_s": float(time_s)}


def _failure_rate(values: Mapping[str, Any]) -> Outputs:
    rate = facility.failure_rate(values["gpus"], values["days"], values["failures"])
    return {
        "hours_between_failures": float(rate.hours_between_failures),
        "failures_per_gpu_year": float(rate.failures_per_gpu_year),
    }


def _time_between_failures(values: Mapping[str, Any]) -> Outputs:
    hours = facility.time_between_failures(values["gpus"], values["failures_per_gpu_year"])
    return {"hours_between_failures": float(hours)}


_RADIX = _count("switch_radix", minimum=2, maximum=LARGEST_RADIX, multiple_of=2)

_TABLE = (
    Calculation(
        "heat_load",
        (_number("heat_kw"),),
        ("heat_btu_h", "cooling_tons"),
        N_("Heat in BTU an hour (3412.142 a kW) and in tons of refrigeration (3.51685 kW each)."),
        _heat_load,
    ),
    Calculation(
        "tons_to_kw",
        (_number("cooling_tons"),),
        ("heat_kw", "heat_btu_h"),
        N_("Heat that tons of refrigeration remove, 12,000 BTU an hour each."),
        _tons_to_kw,
    ),
    Calculation(
        "airflow",
        (
            _number("heat_kw"),
            _positive("delta_t_k"),
            _altitude(),
            _positive("density_kg_m3", default=cooling.AIR_DENSITY_KG_M3),
            _positive("cp_j_kg_k", default=cooling.AIR_HEAT_CAPACITY_J_KGK),
        ),
        ("airflow_m3_h", "airflow_cfm", "density_ratio"),
        N_(
            "Air that carries heat away at a temperature rise, P = ρ·cp·V·ΔT, "
            "with the density falling with altitude as in the standard atmosphere."
        ),
        _airflow,
    ),
    Calculation(
        "air_temperature_rise",
        (_number("heat_kw"), _positive("airflow_cfm"), _altitude()),
        ("delta_t_k",),
        N_("Temperature rise of an air flow that takes up heat, with air of 1.204 kg/m³ and 1006 J/(kg K)."),
        _air_temperature_rise,
    ),
    Calculation(
        "coolant_flow",
        (
            _number("heat_kw"),
            _positive("delta_t_k"),
            Input("fluid", "label", default=""),
            _positive("cp_j_kg_k"),
            _positive("density_kg_m3"),
        ),
        ("coolant_l_min", "coolant_gpm"),
        N_("Liquid that carries heat away at a temperature rise, P = ρ·cp·V·ΔT; the fluid's name is a label only."),
        _coolant_flow,
    ),
    Calculation(
        "liquid_split",
        (_number("rack_kw"), _share("liquid_share")),
        ("liquid_kw", "air_kw"),
        N_("Heat of a rack that the liquid takes, and what is left for the air."),
        _liquid_split,
    ),
    Calculation(
        "energy_cost_year",
        (_number("it_kw"), _share("load_factor"), _number("pue", minimum=1.0), _number("price_per_kwh")),
        ("energy_mwh_year", "cost_year"),
        N_("Energy at the meter and its cost for a year of 8,760 hours."),
        _energy_cost_year,
    ),
    Calculation(
        "facility_power",
        (_count("systems", minimum=0), _number("system_kw"), _number("pue", minimum=1.0)),
        ("it_kw", "facility_kw"),
        N_("Power of equal systems, and of the site around them."),
        _facility_power,
    ),
    Calculation(
        "rack_budget",
        (
            _count("gpus_per_node", minimum=0),
            _number("gpu_kw"),
            _number("cpu_kw"),
            _number("static_node_kw"),
            _count("nodes", minimum=0),
        ),
        ("managed_node_kw", "node_kw", "rack_kw"),
        N_("Power of a rack of equal nodes; the managed part of a node is its GPUs and CPUs."),
        _rack_budget,
    ),
    Calculation(
        "run_energy",
        (_count("nodes", minimum=0), _number("node_w"), _number("duration_s")),
        ("energy_kwh", "total_kw"),
        N_("Energy that the nodes of one run take, before the site's overhead."),
        _run_energy,
    ),
    Calculation(
        "inlet_check",
        (
            _number("inlet_c", minimum=-50.0, maximum=100.0),
            Input("ashrae_class", "label", choices=tuple(cooling.ASHRAE_CLASSES)),
            _number("system_inlet_max_c", minimum=-50.0, maximum=100.0),
        ),
        ("room_ok", "system_ok"),
        N_(
            "Whether the inlet air is inside the allowable range of the room's class, "
            "and inside the narrower of that range and the system's own limit."
        ),
        _inlet_check,
    ),
    Calculation(
        "circuit_capacity",
        _circuit(),
        ("capacity_kva", "continuous_kva"),
        N_("Capacity of a circuit, √3·V·I with the line-to-line voltage for three phases, and its continuous part."),
        _circuit_capacity,
    ),
    Calculation(
        "circuit_feeds",
        (
            _count("systems", minimum=0),
            _positive("system_kw"),
            *_circuit(),
            _share("power_factor", positive=True),
            _count("feeds_per_system"),
        ),
        ("usable_kw_per_feed", "systems_per_feed", "feeds"),
        N_("Feeds for a set of systems when each feed of a system must carry it alone; 2 feeds a system is 2N."),
        _circuit_feeds,
    ),
    Calculation(
        "feed_loss",
        (_count("psus"), _count("feeds"), _number("psu_kw"), _number("system_kw")),
        ("psus_per_feed", "psus_after_loss", "full_performance"),
        N_("Power supplies that are left when one feed fails, and whether they carry the system at full load."),
        _feed_loss,
    ),
    Calculation(
        "ups_modules",
        (_number("load_kw"), _positive("module_kw"), _count("spare_modules", minimum=0)),
        ("modules_for_load", "modules", "installed_kw"),
        N_("Modules of an uninterruptible supply; 1 spare module is N+1."),
        _ups_modules,
    ),
    Calculation(
        "rack_feed",
        (
            _count("systems", minimum=0),
            _number("system_kw"),
            _count("circuits", minimum=0),
            *_circuit(),
            _share("power_factor", positive=True),
        ),
        ("load_kw", "capacity_kva", "headroom_kw", "fits"),
        N_("Load of a rack against its circuits, after the continuous factor."),
        _rack_feed,
    ),
    Calculation(
        "racks_needed",
        (_count("systems", minimum=0), _count("systems_per_rack"), _number("system_kw")),
        ("racks", "rack_kw", "total_kw"),
        N_("Racks for a set of systems, and the power of the fullest rack."),
        _racks_needed,
    ),
    Calculation(
        "rack_fit",
        (_number("rack_kw"), _positive("system_kw")),
        ("systems",),
        N_("Whole systems that the power of a rack feeds."),
        _rack_fit,
    ),
    Calculation(
        "rail_fabric",
        (
            _count("scalable_units", maximum=1_000_000),
            _count("nodes_per_unit", maximum=1_000_000),
            _count("nics_per_node", maximum=1_000),
            _count("gpus_per_node", minimum=0, maximum=1_000),
            _RADIX,
            _count("displaced_nodes", minimum=0, default=0),
            _count("manager_links", minimum=0, default=0),
            Input("rails_isolated", "boolean", default=False),
        ),
        tuple(network.RailFabric._fields),
        N_("Switches and cables of a non-blocking, rail-aligned fabric by the rules of published designs."),
        _rail_fabric,
    ),
    Calculation(
        "fat_tree_limit",
        (_RADIX,),
        ("endpoints_2_tiers", "endpoints_3_tiers"),
        N_("Most endpoints of a non-blocking fat tree: r²/2 in two tiers, r³/4 in three."),
        _fat_tree_limit,
    ),
    Calculation(
        "fat_tree",
        (_count("endpoints"), _RADIX),
        ("single_switch", "leaf_switches", "spine_switches_by_ports"),
        N_("Switches of a non-blocking tree: one switch if it has the ports, else leaves and spines."),
        _fat_tree,
    ),
    Calculation(
        "node_bandwidth",
        (_count("nics", minimum=0), _number("nic_gbit_s")),
        ("node_gb_s",),
        N_("Network bandwidth of a server in one direction."),
        _node_bandwidth,
    ),
    Calculation(
        "bus_bandwidth",
        (_count("ranks"), _number("algbw_gb_s")),
        ("busbw_gb_s", "factor_all_reduce", "factor_all_gather"),
        N_("Bus bandwidth of an all-reduce, 2(n−1)/n times the buffer divided by the time; all-gather (n−1)/n."),
        _bus_bandwidth,
    ),
    Calculation(
        "allreduce_time",
        (_count("ranks"), _number("message_bytes"), _positive("busbw_gb_s")),
        ("time_s",),
        N_("Time of an all-reduce at a known bus bandwidth."),
        _allreduce_time,
    ),
    Calculation(
        "failure_rate",
        (_count("gpus"), _positive("days"), _count("failures")),
        ("hours_between_failures", "failures_per_gpu_year"),
        N_("How often a fleet failed, from the failures that were counted over a number of days."),
        _failure_rate,
    ),
    Calculation(
        "time_between_failures",
        (_count("gpus"), _positive("failures_per_gpu_year")),
        ("hours_between_failures",),
        N_("Mean time between failures of a job that stops when any of its GPUs fails."),
        _time_between_failures,
    ),
)

CALCULATIONS: dict[str, Calculation] = {calculation.name: calculation for calculation in _TABLE}
