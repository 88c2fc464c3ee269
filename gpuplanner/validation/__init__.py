"""Predict measured rows and worked cases through the same formulas as plans, score them, and calibrate."""
