"""The command ``maptree``.

Every file in ``commands`` is a command: a function with the file's name. Slow imports wait until
they are needed, so that ``maptree --help`` answers at once.
"""

import signal
import sys
from importlib.util import find_spec

from maptree.cli.mistakes import NOT_INSTALLED, interrupted_code
from maptree.engine.interrupts import handle

_NEEDED = ("typer", "rich", "pyarrow")
# Ctrl-C, the end of a terminal or a connection, and what ends jobs: all keep what was found.
_SIGNALS = [getattr(signal, name, None) for name in ("SIGINT", "SIGHUP", "SIGTERM")]


def main() -> None:
    """Run the command line."""
    absent = [name for name in _NEEDED if find_spec(name) is None]
    if absent:
        print(f"maptree: the command line needs {' and '.join(absent)}.", file=sys.stderr)
        print(f"Install with: pip install {' '.join(absent)}", file=sys.stderr)
        sys.exit(NOT_INSTALLED)
    try:
        _handle_signals()
        from maptree.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # before a command runs, or a second one while the first is handled
        code = interrupted_code()
    # All output is written. A signal during Python's shutdown would lose the exit code.
    for number in _SIGNALS:
        if number is not None:
            signal.signal(number, signal.SIG_IGN)
    sys.exit(code)


def _handle_signals() -> None:
    for number in _SIGNALS:
        # Not what is ignored: so it is under nohup, and in the background.
        usual = (signal.SIG_DFL, signal.default_int_handler)
        if number is not None and signal.getsignal(number) in usual:
            signal.signal(number, handle)
