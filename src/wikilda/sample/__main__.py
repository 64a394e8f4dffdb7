"""Rebuild the sample model that ships with the package: `python -m wikilda.sample`."""

import shutil

import wikilda
from wikilda.knowledge.account import HTML_FILE, JSON_FILE
from wikilda.sample import MODEL, SETTINGS, WIKI

if __name__ == "__main__":
    print(wikilda.build(WIKI, MODEL, settings=SETTINGS, workers=1, overwrite=True))
    shutil.rmtree(MODEL / "knowledge" / "pieces")  # the wiki ships, too
    for name in (JSON_FILE, HTML_FILE):
        (MODEL / name).unlink()
