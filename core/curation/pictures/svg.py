"""SVG drawings, written anew from what is allowed: shapes, text, gradients, and styles that load nothing.

Scripts, event handlers, HTML inside, animations and every reference that leaves the file are dropped. Entities are
refused before they are expanded, and parts that repeat each other are counted as often as they would be drawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from core.curation.document import size_limits
from core.errors import BadInput

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_XML_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
ELEMENTS = frozenset(
    [
        "svg",
        "g",
        "defs",
        "symbol",
        "use",
        "title",
        "desc",
        "path",
        "rect",
        "circle",
        "ellipse",
        "line",
        "polyline",
        "polygon",
        "text",
        "tspan",
        "textPath",
        "style",
        "switch",
        "linearGradient",
        "radialGradient",
        "stop",
        "clipPath",
        "mask",
        "pattern",
        "marker",
        "image",
        "filter",
        "feBlend",
        "feColorMatrix",
        "feComponentTransfer",
        "feComposite",
        "feDropShadow",
        "feFlood",
        "feFuncA",
        "feFuncB",
        "feFuncG",
        "feFuncR",
        "feGaussianBlur",
        "feMerge",
        "feMergeNode",
        "feMorphology",
        "feOffset",
    ]
)
ATTRIBUTES = frozenset(
    [
        "id",
        "class",
        "style",
        "transform",
        "x",
        "y",
        "x1",
        "x2",
        "y1",
        "y2",
        "cx",
        "cy",
        "r",
        "rx",
        "ry",
        "fx",
        "fy",
        "d",
        "points",
        "width",
        "height",
        "viewBox",
        "preserveAspectRatio",
        "version",
        "dx",
        "dy",
        "rotate",
        "textLength",
        "lengthAdjust",
        "startOffset",
        "offset",
        "gradientUnits",
        "gradientTransform",
        "spreadMethod",
        "patternUnits",
        "patternContentUnits",
        "patternTransform",
        "clipPathUnits",
        "maskUnits",
        "maskContentUnits",
        "markerUnits",
        "markerWidth",
        "markerHeight",
        "refX",
        "refY",
        "orient",
        "pathLength",
        "filterUnits",
        "primitiveUnits",
        "in",
        "in2",
        "result",
        "stdDeviation",
        "mode",
        "type",
        "values",
        "operator",
        "k1",
        "k2",
        "k3",
        "k4",
        "radius",
        "tableValues",
        "slope",
        "intercept",
        "amplitude",
        "exponent",
        "flood-color",
        "flood-opacity",
        "color-interpolation-filters",
        "role",
        "aria-label",
        "fill",
        "fill-opacity",
        "fill-rule",
        "stroke",
        "stroke-width",
        "stroke-opacity",
        "stroke-linecap",
        "stroke-linejoin",
        "stroke-miterlimit",
        "stroke-dasharray",
        "stroke-dashoffset",
        "opacity",
        "color",
        "display",
        "visibility",
        "overflow",
        "clip-path",
        "clip-rule",
        "mask",
        "filter",
        "marker-start",
        "marker-mid",
        "marker-end",
        "stop-color",
        "stop-opacity",
        "font-family",
        "font-size",
        "font-size-adjust",
        "font-style",
        "font-variant",
        "font-weight",
        "font-stretch",
        "letter-spacing",
        "word-spacing",
        "text-anchor",
        "text-decoration",
        "text-rendering",
        "dominant-baseline",
        "alignment-baseline",
        "baseline-shift",
        "writing-mode",
        "direction",
        "unicode-bidi",
        "white-space",
        "shape-rendering",
        "image-rendering",
        "color-rendering",
        "vector-effect",
        "paint-order",
        "mix-blend-mode",
        "isolation",
    ]
)
_LOCAL = re.compile(r"#[\w.:-]+")
_RASTER = re.compile(r"data:image/(png|jpe?g|gif|webp);base64,[A-Za-z0-9+/=\s]*")
_URL = re.compile(r"""url\(\s*(["']?)#([\w.:-]+)\1\s*\)""", re.IGNORECASE)
_ACTIVE = re.compile(
    r"url\s*\(|@(?!media\b)|\\|expression|javascript|vbscript|behaviou?r\s*:|-moz-binding|<|image-set|src\s*\(",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_TOO_MANY = f"The drawing repeats its own parts, or has more than {size_limits.SVG_ELEMENTS:,} of them. Simplify it."
_REMARKS = rb"(?:<!--(?:(?!-->).){0,2000}-->\s*)*+"
_START = re.compile(  # what was matched is not given back: a file of remarks alone has only one way through
    rb"(?:\xef\xbb\xbf)?\s*+(?:<\?xml[^>]{0,200}>\s*)?+"
    + _REMARKS
    + rb"(?:<!DOCTYPE svg[^\[>]{0,300}(?:\[[^\]]{0,4000}\]\s*)?>\s*)?+"
    + _REMARKS
    + rb"<(?:svg:)?svg[\s>]",
    re.DOTALL,
)


def looks_like(raw: bytes) -> bool:
    """Whether a file begins like a drawing.

    >>> looks_like(b'<?xml version="1.0"?><svg xmlns="x">'), looks_like(b"<html><svg>")
    (True, False)
    """
    return _START.match(raw) is not None


def sanitised(raw: bytes) -> bytes:
    """The drawing with only what is allowed in it.

    >>> sanitised(b'<svg xmlns="http://www.w3.org/2000/svg"><script>x</script><rect width="1" onload="x"/></svg>')
    b'<svg xmlns="http://www.w3.org/2000/svg"><rect width="1" /></svg>'
    """
    if (
        raw.count(b"<") > 5 * size_limits.SVG_ELEMENTS
    ):  # before it costs anything; each element has two, and some will go
        raise BadInput(_TOO_MANY)
    root = _parsed(raw)
    if root.tag != f"{{{SVG}}}svg":
        raise BadInput(
            "The drawing does not begin with an svg element of the SVG namespace. Save it again as plain SVG."
        )
    kept = _copy(root, 1)
    _check_repeats(kept)
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    written: bytes = ElementTree.tostring(kept, encoding="utf-8")
    return written


def _parsed(raw: bytes) -> ElementTree.Element:
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        root: ElementTree.Element = fromstring(raw)
        return root
    except DefusedXmlException:
        raise BadInput("The drawing defines entities, which can hide anything. Save it again as plain SVG.") from None
    except (ElementTree.ParseError, ValueError, LookupError):
        raise BadInput("The drawing is no well-formed XML. Save it again as plain SVG.") from None


def _copy(element: ElementTree.Element, depth: int) -> ElementTree.Element:
    """An element with its allowed attributes and children."""
    if depth > size_limits.SVG_DEPTH:
        raise BadInput(f"The drawing nests more than {size_limits.SVG_DEPTH} elements inside each other. Simplify it.")
    kept = ElementTree.Element(element.tag, dict(_attributes(element)))
    kept.text = _text(element)
    for child in element:
        if isinstance(child.tag, str) and _is_allowed(child):
            copied = _copy(child, depth + 1)
            copied.tail = child.tail
            kept.append(copied)
    return kept


def _name(element: ElementTree.Element) -> str:
    return element.tag.removeprefix(f"{{{SVG}}}")


def _is_allowed(element: ElementTree.Element) -> bool:
    name = _name(element)
    if name == "style":
        return not _acts(element.text or "") and len(element) == 0
    if name == "image":
        return any(_RASTER.fullmatch(value.strip()) for key, value in element.items() if key in _HREFS)
    return name in ELEMENTS


def _acts(style: str) -> bool:
    """Whether a style could load or run something."""
    return _ACTIVE.search(_URL.sub("", _COMMENT.sub("", style))) is not None


_HREFS = ("href", f"{{{XLINK}}}href")


def _text(element: ElementTree.Element) -> str | None:
    return _COMMENT.sub("", element.text or "") if _name(element) == "style" else element.text


def _attributes(element: ElementTree.Element) -> Iterator[tuple[str, str]]:
    for name, value in element.items():
        if name in _HREFS:
            local, raster = _LOCAL.fullmatch(value.strip()), _RASTER.fullmatch(value.strip())
            if local or (raster and _name(element) == "image"):
                yield name, value.strip()
        elif (name in ATTRIBUTES or name == _XML_SPACE) and not _acts(value):
            yield name, value


def _check_repeats(root: ElementTree.Element) -> None:
    """Refuse a drawing whose parts repeat parts that repeat parts, until a browser stands still."""
    named = {element.get("id", ""): element for element in root.iter() if element.get("id")}
    for sheet in root.iter(f"{{{SVG}}}style"):
        _only_gradients(sheet, named)
    weights: dict[int, int] = {}
    too_much = BadInput(_TOO_MANY)

    def weight(element: ElementTree.Element, open_: tuple[int, ...]) -> int:
        key = id(element)
        if key in open_ or len(open_) > 5 * size_limits.SVG_DEPTH:
            raise too_much
        if key not in weights:
            inside = (*element, *_targets(element, named))
            weights[key] = 1 + sum(weight(child, (*open_, key)) for child in inside)
            if weights[key] > size_limits.SVG_ELEMENTS:
                raise too_much
        return weights[key]

    weight(root, ())


def _targets(element: ElementTree.Element, named: dict[str, ElementTree.Element]) -> Iterator[ElementTree.Element]:
    """What an element draws besides its children: a part used again, a pattern, a mask, a marker."""
    for key, value in element.items():
        names = [value[1:]] if key in _HREFS and value.startswith("#") else [match[2] for match in _URL.finditer(value)]
        yield from (named[name] for name in names if name in named)


def _only_gradients(element: ElementTree.Element, named: dict[str, ElementTree.Element]) -> None:
    """A style sheet may name gradients, which draw nothing else; whom it meets cannot be counted."""

    def kept(match: re.Match[str]) -> str:
        target = named.get(match[2])
        return match[0] if target is not None and _name(target).endswith("Gradient") else "none"

    element.text = _URL.sub(kept, element.text or "")
