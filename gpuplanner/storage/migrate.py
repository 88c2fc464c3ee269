"""Bring the contents of an older plan file to the present format.

Format history
--------------
1  First released format. (0.1)

A step works on plain dicts and lists, never on today's classes, and returns the sentence that the user reads after
opening the file. Adding an optional field with a default is not a new version; changing a meaning is.
"""

from collections.abc import Callable, Mapping
from typing import Any

Data = dict[str, Any]
Step = Callable[[Data], tuple[Data, str]]

FORMAT_VERSION = 1

# The step at n brings the whole envelope from format n to n + 1.
STEPS: Mapping[int, Step] = {}


def migrate(data: Data, version: int, steps: Mapping[int, Step] = STEPS) -> tuple[Data, tuple[str, ...]]:
    """The envelope in the present format, and a sentence for every change.

    `version` must not be newer than the present one.
    """
    notes: list[str] = []
    last = max(steps, default=FORMAT_VERSION - 1)
    for step in range(version, last + 1):
        data, note = steps[step](data)
        notes.append(note)
    return data, tuple(notes)
