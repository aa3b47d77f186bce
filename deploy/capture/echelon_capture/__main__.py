"""`python -m echelon_capture` is the command `echelon-capture`."""

import sys

from .launcher import main

if __name__ == "__main__":
    sys.exit(main())
