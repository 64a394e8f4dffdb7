"""Benchmarks of `wikilda build`: how it grows, how fast it reads, and its scanner beside the libraries."""
