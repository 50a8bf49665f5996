"""`python -m glla`: the same as the command `glla`."""

import sys

from glla.cli import main

if __name__ == "__main__":
    sys.exit(main())
