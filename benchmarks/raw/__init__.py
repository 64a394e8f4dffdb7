"""Raw text: names as people write them, on annotated news and on short regression texts."""
