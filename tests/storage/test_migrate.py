from gpuplanner.storage.migrate import FORMAT_VERSION, STEPS, migrate


def _rename(data):
    return {"new": data["old"]}, "“old” is called “new” now."


def _double(data):
    return {"new": data["new"] * 2}, "The figure counts both directions now."


def test_each_step_brings_the_next_version_and_says_what_changed():
    data, notes = migrate({"old": 3}, 1, {1: _rename, 2: _double})
    assert data == {"new": 6}
    assert notes == ("“old” is called “new” now.", "The figure counts both directions now.")


def test_a_plan_of_a_middle_version_takes_the_later_steps_only():
    data, notes = migrate({"new": 3}, 2, {1: _rename, 2: _double})
    assert data == {"new": 6}
    assert len(notes) == 1


def test_the_present_format_is_left_alone():
    data = {"format_version": FORMAT_VERSION}
    assert migrate(data, FORMAT_VERSION) == (data, ())


def test_every_older_version_has_a_step():
    assert set(STEPS) == set(range(1, FORMAT_VERSION))
