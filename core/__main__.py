"""`python -m core`: the command line."""

import sys

try:
    from core.entrypoints.cli import main
except ModuleNotFoundError as error:
    if (error.name or "core").startswith("core"):
        raise
    sys.exit(f"The package {error.name!r} is not here. Run: make setup, then: .venv/bin/python -m core")

sys.exit(main())
