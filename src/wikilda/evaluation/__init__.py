"""How good linking is: data sets, methods side by side, measures, reports, and the search for settings."""
