"""What every room stands on: errors, settings, progress, artifacts, workers, the compiler, plain data structures."""
