"""The command ``maptree``.

Every file in ``commands`` is a command: a function with the file's name. Slow imports wait until
they are needed, so that ``maptree --help`` answers at once.
"""

import signal
import sys
from importlib.util import find_spec

from maptree.cli.mistakes import INTERRUPTED, NOT_INSTALLED

_NEEDED = ("typer", "rich", "pyarrow")


def main() -> None:
    """Run the command line."""
    absent = [name for name in _NEEDED if find_spec(name) is None]
    if absent:
        print(f"maptree: the command line needs {' and '.join(absent)}.", file=sys.stderr)
        print(f"Install with: pip install {' '.join(absent)}", file=sys.stderr)
        sys.exit(NOT_INSTALLED)
    try:
        from maptree.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # before a command runs, or a second one while the first is handled
        code = INTERRUPTED
    # All output is written. Another Ctrl-C during Python's shutdown would lose the exit code.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)
