"""Evaluation: data sets, methods side by side, measures and reports."""
