"""Charts of the comparison: plain values are collected first, and painted only when they have changed."""
