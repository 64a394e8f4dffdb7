"""Training: Algorithm 2 of the paper, on this machine or on a cluster.

The folder reads in this order: corpus, settings, shard, updates, interpolate, checkpoints, engines, pipeline.
"""
