"""`python -m antecede` is the command `antecede`."""

from __future__ import annotations

import sys

from antecede.cli import main

if __name__ == "__main__":
    sys.exit(main())
