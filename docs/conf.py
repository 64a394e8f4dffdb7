"""Configuration of the documentation site: `pip install '.[docs]' && sphinx-build -W docs site`."""

import wikilda

project, author, version = "wikilda", "the wikilda authors", wikilda.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown"}
exclude_patterns = ["figures"]
html_theme = "furo"
html_title = "wikilda"
autodoc_typehints = "none"  # signatures have them
napoleon_google_docstring = False
suppress_warnings = ["myst.xref_missing"]  # links to files of the repository that are no pages
