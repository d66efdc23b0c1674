"""Every session key and query parameter, in one place. Sessions hold ids and plain values, never objects."""

PERSONA = "persona"  # who the demo plays
ACCOUNT = "account"  # who signed in with a local account
FLASH = "flash"  # messages that survive a rerun
PENDING = "pending"  # the act that waits for a confirmation

QUERY = "q"  # the search box
HISTORY = "history"  # also retired, superseded and upcoming documents
FACETS = ("types", "statuses", "freshness", "folders", "owners", "tags")  # filters of the search page, also in the URL

DOC = "doc"  # which document is open
START, END = "start", "end"  # which passage of it is marked
TAB = "tab"  # which side of it is shown
OLD, NEW = "old", "new"  # which versions are compared
FOLDER = "folder"  # which folder of the library is open
