"""Every session key and query parameter, in one place. Sessions hold ids and plain values, never objects."""

PERSONA = "persona"  # who the demo plays
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

PLAYGROUND = "playground"  # the setup that the playground shows, as plain values
LINK = "link"  # a kept setup, in the URL
ASK = "playground_q"  # the playground's query box
TOOL = "playground_tool"  # which tool is open below the columns
BLIND = "playground_blind"  # whether judges see who found what
EXPECTED = "playground_expected"  # the document that "where is my document?" follows
LOOKED = "playground_looked"  # passages whose neighbours are shown
