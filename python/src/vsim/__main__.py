"""The command: `vsim deck.sp`, `python -m vsim deck.sp`."""
import os
import sys


def path() -> str:
    """Of the program in this package."""
    from . import _where
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), _where.COMMAND)


def main() -> None:
    """Becomes the program."""
    os.execv(path(), ['vsim', *sys.argv[1:]])


if __name__ == '__main__':
    main()
