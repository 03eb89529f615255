"""Run in every kernel before the cells of a page (PYTHONSTARTUP, which conf.py sets).

`!command` in a cell: what it prints is text of 80 columns, as into a pipe, and a command that fails
ends the build. By itself, IPython shows it a terminal and ignores the exit code.

A warning is shown without the place in a file that is gone when somebody reads the page.
"""

import subprocess
import warnings

from IPython import get_ipython


def run(command: str) -> None:
    """Run a command of the shell and print what it says."""
    done = subprocess.run(
        command,
        shell=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    print(done.stdout, end="")
    if done.returncode != 0:
        raise RuntimeError(f"exit code {done.returncode}: {command}")


def format_warning(message: object, category: type[Warning], *_: object) -> str:
    """Return a warning as Python words it, without file and line."""
    return f"{category.__name__}: {message}\n"


get_ipython().system = run
warnings.formatwarning = format_warning
