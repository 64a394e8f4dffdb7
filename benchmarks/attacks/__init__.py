"""Attacks, kept: each prints counts and writes JSON."""
