"""The site page: what the selected scenario needs of the room, beside the fields."""

import pytest

from gpuplanner.catalog.load import load
from gpuplanner.model.evaluate import evaluate
from gpuplanner.model.plan import Group, Plan, Run, Scenario, Serve, Site
from gpuplanner.ui.panels.site import SitePanel, cooling_lines, supply_lines


@pytest.fixture(scope="module")
def room():
    def made(**site):
        group = Group(gpu="H100 SXM 80GB", server="DGX H100", servers=16, runs=(Run(workload="serve"),))
        plan = Plan(
            workloads=(Serve(llm=("Llama-3.1-8B",)),),
            scenarios=(Scenario(letter="A", groups=(group,)),),
            site=Site(**site),
        )
        return evaluate(plan, load()).scenarios[0].room

    return made


def test_the_supply_is_said_in_the_units_of_electricians(room):
    found = room(plug_region="US", volts=415, amps=32, feeds=2, rack_power_w=45e3)
    lines = {line.name: line.value for line in supply_lines(found.supply)}
    assert lines["Circuits of 415 V, 32 A"] == "32"
    assert lines["Circuits of a full rack"] == "8"
    # √3 · 415 V · 32 A · 0.8 · 0.97.
    assert lines["One circuit carries"] == "17.8 kW"
    assert lines["Plug"] == "IEC 60309 32 A, 3P+N+E"
    assert lines["If one feed is lost"] == "servers slow down"
    assert lines["UPS with a spare"] == "5 modules of 50.0 kW"


def test_the_parts_of_a_server_stand_in_the_tip(room):
    line = next(line for line in supply_lines(room().supply) if line.name == "One server at load")
    assert "fans" in line.hint and "losses of power supplies" in line.hint


def test_cooling_is_said_in_every_unit(room):
    found = room(altitude_m=1500.0)
    lines = {line.name: line.value for line in cooling_lines(found, found.climate)}
    assert lines["Supply air"] == "recommended"
    # 30 °C less (1,500 - 900) / 300 K.
    assert lines["Servers allow"] == "up to 28 °C"
    assert lines["A rack carries"] == "15.0 kW"
    assert "Flow of water" not in lines
    wet = room(cooling="immersion")
    assert "Flow of water" in {line.name for line in cooling_lines(wet, wet.climate)}


def test_the_page_shows_the_selected_scenario_and_an_automatic_voltage(qtbot, document, evaluation, theme):
    page = SitePanel(document, evaluation, theme)
    qtbot.addWidget(page)
    document.set_value(("site", "plug_region"), "US", "")
    qtbot.waitUntil(lambda: page.fields["volts"].placeholderText() == "auto (208)")
    assert page.supply.lines()[0][0] == "Circuits of 208 V, 30 A"
    document.set_value(("site", "volts"), 415.0, "")
    qtbot.waitUntil(lambda: page.supply.lines()[0][0] == "Circuits of 415 V, 30 A")
