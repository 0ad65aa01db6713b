"""``python -m certree`` is the command ``certree``."""

import sys


def main() -> int:
    if sys.argv[1:] == ["--version"]:
        # At once: the other commands load polars and scikit-learn.
        from certree._core import __version__

        print(f"certree {__version__}")
        return 0
    try:
        from certree import cli
    except KeyboardInterrupt:
        # Loading takes a second, and there is no tree yet. As `certree.cli` does.
        return 130
    return cli.main()


if __name__ == "__main__":
    raise SystemExit(main())
