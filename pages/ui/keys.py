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

CHANGE = "change"  # which change is open
QUEUE = "queue"  # which queue of changes is shown
SIDE = "side"  # which side of a change is shown
DO = "do"  # what is done with a document: edit, new
PATH = "path"  # which document of a change is edited
TURN = "edit_turn"  # goes up when an editor starts afresh
OFFERED = "edit_offered"  # when the draft was kept that an editor started with
