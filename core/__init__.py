"""Concord's core: everything that is true without a browser."""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # ONNX Runtime reports to its makers unless told before it is loaded

__version__ = "1.0.0"
