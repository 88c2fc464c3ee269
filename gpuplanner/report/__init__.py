"""Results for readers outside the window: data for scripts, text for people."""
