import sys

import pytest
from PySide6.QtWidgets import QLabel


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None cannot be lost from Python 3.12 on")
def test_a_call_that_returns_nothing_keeps_its_reference_to_none(qapp):
    # PySide6 6.12.0 on Python 3.11 drops one reference a call and aborts after some thousands.
    label = QLabel()
    label.setText("warm")
    before = sys.getrefcount(None)
    for number in range(1000):
        label.setText(str(number))
    assert abs(sys.getrefcount(None) - before) < 50
