"""`python -m core`: the command line."""

import sys

from core.entrypoints.cli import main

sys.exit(main())
