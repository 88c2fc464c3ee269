"""What follows from a plan: pure functions on numpy arrays; no files, no Qt, no words."""
