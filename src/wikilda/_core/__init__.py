"""Foundations of all packages: errors, settings, progress, artifacts, workers, the compiler, data structures."""
