"""The process that reads words from a picture of a page: a picture in, `{"lines": [[left, top, right, bottom, text,
sure]]}` out.
"""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Mapping
from typing import Any

from core.adapters.conversion.confined import Answer, serve


def load() -> Answer:
    """The models are read from the package before the process is confined."""
    import numpy as np
    from PIL import Image
    from rapidocr import RapidOCR

    logging.disable(logging.CRITICAL)
    engine = RapidOCR()
    engine(np.full((64, 256, 3), 255, np.uint8))

    def read(_: Mapping[str, Any], raw: bytes) -> Mapping[str, Any]:
        try:
            found = engine(np.asarray(Image.open(io.BytesIO(raw)).convert("RGB"))[:, :, ::-1])
            if found.boxes is None:
                return {"lines": []}
            return {"lines": [_line(*part) for part in zip(found.boxes, found.txts, found.scores, strict=True)]}
        except MemoryError:
            return {"error": "it needs too much memory"}
        except Exception as error:  # a broken picture may make a library raise anything
            return {"error": type(error).__name__}

    return read


def _line(corners: Any, text: str, score: float) -> list[Any]:
    across, down = [float(corner[0]) for corner in corners], [float(corner[1]) for corner in corners]
    return [min(across), min(down), max(across), max(down), str(text), float(score)]


if __name__ == "__main__":
    sys.exit(serve(load, *map(int, sys.argv[1:])))
