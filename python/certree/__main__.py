"""``python -m certree`` is the command ``certree``."""

from certree.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
