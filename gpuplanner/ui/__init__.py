"""The window: the only place for Qt."""
