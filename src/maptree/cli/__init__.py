"""The command ``maptree``.

Every file in ``commands`` is a command: a function of the file's name. Nothing here imports what
takes long before it is needed, so that ``maptree --help`` answers at once.
"""

import sys
from importlib.util import find_spec

_NEEDED = ("typer", "rich", "pyarrow")


def main() -> None:
    """Run the command line."""
    lacking = [name for name in _NEEDED if find_spec(name) is None]
    if lacking:
        from maptree.cli.refusal import NOT_INSTALLED

        print(f"maptree: the command line needs {' and '.join(lacking)}.", file=sys.stderr)
        print('Install what it needs: pip install "maptree[cli]"', file=sys.stderr)
        sys.exit(NOT_INSTALLED)
    from maptree.cli.app import run

    sys.exit(run(sys.argv[1:]))
