"""Seven documents in every state of their lives, for tests of search."""

from __future__ import annotations

FILES = {
    "fin/ctr.md": "---\nid: BSA-1\ntitle: Currency reports\ndoc_type: sop\nowner: Mei\ntags: [bsa, cash]\n---\n# "
    "Currency reports\n\nFile Form 112 for cash over $10,000.\n",
    "fin/sar.md": "---\nid: BSA-2\ntitle: Suspicious activity\ndoc_type: sop\nowner: Mei\ntags: [bsa]\n---\n# "
    "Suspicious activity\n\nFile Form 111 within 30 days of detection.\n",
    "fin/old.md": "---\nid: BSA-9\ntitle: Old reports\nstatus: superseded\n---\n# Old reports\n\nFile Form 111 by "
    "fax.\n",
    "it/fob.md": "---\nid: IT-6\ntitle: Token fobs\nstatus: retired\n---\n# Token fobs\n\nFile a request for a fob.\n",
    "hr/soon.md": "---\nid: HR-3\ntitle: Fatigue\neffective_date: 2029-01-01\n---\n# Fatigue\n\nFile the fatigue "
    "form.\n",
    "hr/draft.md": "---\nid: HR-4\ntitle: Draft\nstatus: draft\n---\n# Draft\n\nFile the draft form.\n",
    "it/vpn.md": "---\nid: IT-1\ntitle: VPN\ndoc_type: faq\nowner: Farid\n---\n# VPN\n\nHow to connect from "
    "home.\n\n## Errors\n\nError 809 means the port is closed.\n",
}
