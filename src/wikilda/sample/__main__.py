"""`python -m wikilda.sample` builds the sample model that ships with the package anew."""

import shutil

from wikilda.knowledge.account import HTML_FILE, JSON_FILE
from wikilda.model.build import INSIDE, build
from wikilda.sample import MODEL, SETTINGS, WIKI

if __name__ == "__main__":
    print(build(WIKI, MODEL, settings=SETTINGS, workers=1, overwrite=True))
    shutil.rmtree(MODEL / INSIDE / "pieces")  # the wiki ships, too
    for name in (JSON_FILE, HTML_FILE):
        (MODEL / name).unlink()
