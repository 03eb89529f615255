"""The documentation site: `make docs` builds it into build/docs/html.

The source directory is the whole repository, so that the README, the changelog and the notes are
pages where they are, and the links between them work on the site as they do in the repository.
Pages of Markdown whose head names a kernel are run when the site is built (docs/tutorials).
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from importlib.metadata import version as version_of
from importlib.resources import files
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "site"))

project = "maptree"
author = "The maptree developers"
copyright = "the maptree developers; BSD-3-Clause"
version = release = version_of("maptree")

root_doc = "docs/index"
include_patterns = [
    "*.md",
    "docs/**",
    "core/README.md",
    "bench/README.md",
    "bench/results/*.md",
    "experiments/README.md",
]
# The README is shown by other pages, section by section (site/readme.py).
# Of the figures' notes all but the details are part of the report.
exclude_patterns = ["README.md", "docs/site/**"] + [
    str(note.relative_to(HERE.parent))
    for note in HERE.glob("experiments/figures/*.md")
    if not note.stem.endswith("-details")
]

extensions = [
    "command_reference",
    "myst_nb",
    "numpydoc",
    "readme",
    "shell_cells",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
]
nitpicky = False

# Markdown, as GitHub shows it: headings are targets, `:::` begins a box.
myst_enable_extensions = ["colon_fence", "deflist", "html_image"]
myst_heading_anchors = 4

# Every example is run, each page in an empty folder; an error ends the build.
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_execution_show_tb = True
nb_merge_streams = True
os.environ["PYTHONSTARTUP"] = str(HERE / "site" / "kernel.py")
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # maptree
os.environ["MAPTREE_DOCS"] = str(HERE)  # where pages find the tables that they offer for download

# The table of the first pages. It comes from a package: the repository has no data.
_penguins = files("palmerpenguins").joinpath("data/penguins.csv").read_text(encoding="utf-8")
_penguins = re.sub(r"\bNA\b", "", _penguins)  # an empty field is missing, as in most CSV files
HERE.joinpath("start", "penguins.csv").write_text(_penguins, encoding="utf-8")

autosummary_generate = True
toc_object_entries_show_parents = "hide"  # the margin cuts MAPTreeClassifier.fit() off
autodoc_typehints = "none"  # the docstrings have them
numpydoc_show_class_members = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "maptree"
html_static_path = ["site/static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_extra_path = ["site/root"]  # index.html, which leads to docs/index.html
html_show_sourcelink = False
html_copy_source = False
templates_path = [str(HERE / "site" / "templates")]  # autosummary looks from the source directory
html_theme_options = {
    "logo": {"text": "maptree"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"docs/index": [], "CHANGELOG": []}


def setup(app: Any) -> None:
    """Unlink scikit-learn's user guide, and show the parameters of classes."""

    def unlink(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
        """Its sections, which docstrings that we inherit refer to, are not on this site."""
        lines[:] = [re.sub(r":ref:`([^<`]*?) *<[^`]*>`", r"\1", line) for line in lines]
        lines[:] = [re.sub(r":ref:`[^<`]*`", "its documentation", line) for line in lines]

    def show_parameters(
        app: Any, what: str, name: str, obj: Any, options: Any, signature: str | None, result: Any
    ) -> tuple[str, None] | None:
        """Sphinx would show those of the classifiers' __new__, which only refuses wrong ones."""
        if what != "class" or signature != "(*args, **params)":
            return None
        real = inspect.signature(obj)
        bare = [p.replace(annotation=p.empty) for p in real.parameters.values()]
        return str(real.replace(parameters=bare, return_annotation=real.empty)), None

    app.connect("autodoc-process-docstring", unlink)
    app.connect("autodoc-process-signature", show_parameters)
