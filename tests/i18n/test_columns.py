from gpuplanner.i18n import columns


def test_a_chinese_character_takes_two_places():
    assert columns.width("GPU 功率") == 4 + 2 * 2
    assert columns.left("功率", 6) == "功率  "
    assert columns.right("功率", 6) == "  功率"


def test_a_text_that_is_too_long_stays_whole():
    assert columns.left("power of a card", 4) == columns.right("power of a card", 4) == "power of a card"
