"""The command ``maptree``.

Every file in ``commands`` is a command: a function of the file's name. Nothing here imports what
takes long before it is needed, so that ``maptree --help`` answers at once.
"""

import signal
import sys
from importlib.util import find_spec

from maptree.cli.mistakes import INTERRUPTED, NOT_INSTALLED

_NEEDED = ("typer", "rich", "pyarrow")


def main() -> None:
    """Run the command line."""
    lacking = [name for name in _NEEDED if find_spec(name) is None]
    if lacking:
        print(f"maptree: the command line needs {' and '.join(lacking)}.", file=sys.stderr)
        print('Install what it needs: pip install "maptree[cli]"', file=sys.stderr)
        sys.exit(NOT_INSTALLED)
    try:
        from maptree.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # before there is a command, or again, while the first is answered
        code = INTERRUPTED
    # All is said and written. Python would die of one more Ctrl-C, and lose the exit code.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)
