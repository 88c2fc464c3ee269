"""Text in columns of one width: a Chinese character takes two places of a terminal, a Latin one takes one."""

import unicodedata


def width(text: str) -> int:
    """How many places of a terminal a text takes."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def left(text: str, places: int) -> str:
    """A text at the left of so many places; a longer one stays whole."""
    return text + " " * (places - width(text))


def right(text: str, places: int) -> str:
    """A text at the right of so many places; a longer one stays whole."""
    return " " * (places - width(text)) + text
