import os

os.environ.setdefault("WIKILDA_COMPILE", "now")  # what is measured is compiled
