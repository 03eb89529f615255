"""``python -m maptree``: the command line."""

from maptree.cli import main

if __name__ == "__main__":
    main()
