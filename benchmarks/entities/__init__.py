"""Benchmarks of own entities: lists in text, dirty tables, graphs, suggested links."""
