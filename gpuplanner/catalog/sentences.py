"""What is wrong with an entry, in words for people."""

from typing import Any

from gpuplanner.i18n import _


def sentence(detail: Any) -> str:
    """One sentence for one error of a record (an item of `pydantic.ValidationError.errors()`)."""
    kind = detail["type"]
    limits = detail.get("ctx", {})
    if kind == "missing":
        return _("This figure is required.")
    if kind == "extra_forbidden":
        return _("This key is not known.")
    if kind in ("float_type", "float_parsing", "int_type", "int_parsing", "int_from_float"):
        return _("A number is expected here.")
    if kind == "finite_number":
        return _("The number must be finite.")
    if kind in ("string_type",):
        return _("A text is expected here.")
    if kind in ("bool_type", "bool_parsing"):
        return _("Yes or no (true or false) is expected here.")
    if kind == "greater_than":
        return _("The number must be greater than %(limit)s.") % {"limit": limits["gt"]}
    if kind == "greater_than_equal":
        return _("The number must be at least %(limit)s.") % {"limit": limits["ge"]}
    if kind == "less_than_equal":
        return _("The number must be at most %(limit)s.") % {"limit": limits["le"]}
    if kind == "string_too_long":
        return _("The text is longer than %(limit)s characters.") % {"limit": limits["max_length"]}
    if kind == "string_too_short":
        return _("The text must not be empty.")
    if kind == "literal_error":
        return _("One of these words is expected: %(words)s") % {"words": limits["expected"]}
    if kind == "string_pattern_mismatch":
        return _("The text does not have the form that is expected here.")
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        return _("A group of keys in braces is expected here.")
    if kind in ("tuple_type", "list_type"):
        return _("A list is expected here.")
    return _("The value cannot be used here: %(reason)s") % {"reason": detail["msg"]}
