"""What grows with the number of topics, and how: every step from tables to trained models, at several sizes."""
