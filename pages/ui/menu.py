"""The menu: every page, and the action that a role needs to see it."""

from __future__ import annotations

# section: (script, title, icon, action)
PAGES = {
    "Knowledge": (
        ("home", "Home", ":material/home:", "read documents"),
        ("inbox", "Inbox", ":material/inbox:", "read the inbox"),
        ("search", "Search", ":material/search:", "search"),
        ("documents", "Documents", ":material/description:", "read documents"),
        ("upload", "Upload", ":material/upload_file:", "propose a change"),
        ("reviews", "Reviews", ":material/rate_review:", "propose a change"),
        ("freshness", "Freshness", ":material/event_available:", "read documents"),
        ("words", "Words", ":material/translate:", "propose a change"),
    ),
    "Analysis": (
        ("playground", "Playground", ":material/compare_arrows:", "compare configurations"),
        ("graph", "Graph", ":material/hub:", "explore the graph"),
        ("evaluation", "Evaluation", ":material/leaderboard:", "run an evaluation"),
        ("tuning", "Tuning", ":material/tune:", "run an evaluation"),
    ),
    "Administration": (
        ("index", "Index", ":material/database:", "see the index"),
        ("remote", "Remote", ":material/cloud_sync:", "manage the remote"),
        ("deliveries", "Deliveries", ":material/outbox:", "see deliveries"),
        ("accounts", "Accounts", ":material/group:", "manage accounts"),
        ("audit", "Audit", ":material/history:", "see the audit"),
    ),
    "You": (("account", "Account", ":material/account_circle:", "manage their own account"),),
}
