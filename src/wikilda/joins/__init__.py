"""Joins on Spark: tables of rows by key, and the packets that are made of them."""
