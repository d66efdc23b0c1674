"""What references, forms, identifiers, amounts and dates look like."""

from __future__ import annotations

_CLAUSES = r"(?:\([0-9A-Za-z]{1,4}\))*"
_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_UNIT = (
    r"(?:(?:business|calendar|working)[ -])?(?:second|minute|hour|day|week|month|quarter|year)s?|percent|%|°\s?[CF]|"
    r"kg|lbs?|km|miles?|cm|mm|ft|feet|inch(?:es)?|[KMGT]i?B|ms|kV|kW|[µm]g|m[lL]|ppm"
)
_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
PATTERNS = {
    "date": rf"\b{_MONTH}\s(?:\d{{1,2}}(?:,\s\d{{4}})?|\d{{4}})\b|\b\d{{4}}-\d{{2}}-\d{{2}}\b",
    "reference": (
        rf"\b\d{{1,3}}\s(?:CFR|U\.S\.C\.|USC)\s(?:§+\s?)?\d+(?:[.-]\d+)*[a-z]?{_CLAUSES}"
        rf"|(?:§+\s?|\b(?:Section|Article|Rule)\s)\d+(?:[.-]\d+)*[a-z]?{_CLAUSES}"
        r"|\b\d+\.\d+(?:\([0-9A-Za-z]{1,4}\))+"
    ),
    "form": r"\b(?:[A-Z]\w*[A-Z]\w*\s)?[Ff]orms?\s(?=[A-Z0-9-]*\d)[A-Z0-9]+(?:-[A-Z0-9]+)*\b",
    "identifier": (
        r"\b[A-Z]{1,8}(?:\*[A-Z]+)+\b|\b[A-Z]{2}[A-Za-z-]*[/#]\d+\b|\b[A-Za-z]\w*\+\+\d*"
        r"|\b(?=[\w-]*\d)[A-Z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)+(?:&[A-Z]\b)?\b"
        r"|\b\d+-[A-Z]{2,}\b|\b[A-Z]{2,}\d+[A-Z0-9]*\b|\bv\d+(?:\.\d+)+\b|\b[a-z]{2,}(?:-[a-z0-9]+)*-\d{2,}\b"
        r"|(?<!\w)\d+\([a-z]\)(?!\w)"
    ),
    "amount": rf"[$€£]\s?{_NUMBER}(?:\s(?:thousand|million|billion))?|(?<![\w.]){_NUMBER}[ -]?(?:{_UNIT})(?!\w)",
}
