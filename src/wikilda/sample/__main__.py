"""`python -m wikilda.sample` builds the sample model that ships with the package anew."""

from wikilda.model.build import build
from wikilda.sample import MODEL, SETTINGS, WIKI

if __name__ == "__main__":
    print(build(WIKI, MODEL, settings=SETTINGS, workers=1, overwrite=True))
