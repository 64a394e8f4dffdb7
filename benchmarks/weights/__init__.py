"""Weights of the evidence: those that ship with the package, and how good they are."""
