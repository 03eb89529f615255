"""``python -m maptree.demo``: another way to run ``maptree demo``."""

import sys

from maptree import cli


def main() -> None:
    """Run ``maptree demo`` with the given options."""
    sys.argv[1:1] = ["demo"]
    cli.main()


if __name__ == "__main__":
    main()
