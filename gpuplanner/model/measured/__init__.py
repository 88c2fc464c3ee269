"""Measured rows → cases of the model → predictions in the row's own metric, unit and scope.

The same path predicts the shipped rows that validation scores and the buyer's own rows in a plan.
"""
