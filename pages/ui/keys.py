"""Every session key and query parameter, in one place. Sessions hold ids and plain values, never objects."""

PERSONA = "persona"  # who the demo plays
ACCOUNT = "account"  # who signed in with a local account
REFUSED = "refused"  # whom a provider named and no account knows
FLASH = "flash"  # messages that survive a rerun
PENDING = "pending"  # the act that waits for a confirmation

QUERY = "q"  # the search box
HISTORY = "history"  # also retired, superseded and upcoming documents
FACETS = ("types", "statuses", "freshness", "folders", "owners", "tags")  # filters of the search page, also in the URL

DOC = "doc"  # which document is open
START, END = "start", "end"  # which passage of it is marked
VERSION = "version"  # the version in which it stands there
FROM = "from"  # the first block of a long document that is shown
TAB = "tab"  # which side of it is shown
OLD, NEW = "old", "new"  # which versions of a document are compared, with its id behind
FOLDER = "folder"  # which folder of the library is open

UPLOAD = "upload"  # what was brought in and not yet submitted, as plain values
UPLOAD_TURN = "upload_turn"  # goes up when items move, so that their widgets start afresh
UPLOAD_ITEM = "upload_item"  # which of them is open
UPLOAD_SIDE = "upload_side"  # which side of it is shown
UPLOAD_INTO = "upload_into"  # the folder new items go to
UPLOAD_TITLE, UPLOAD_WHY = "upload_title", "upload_why"  # what the change will be called, and why it is made
UPLOAD_MADE = "upload_made"  # the change that the last submit made
PLAYGROUND = "playground"  # the setup that the playground shows, as plain values
LINK = "link"  # a kept setup, in the URL
ASK = "playground_q"  # the playground's query box
NARROWED = {name: f"playground_{name}" for name in ("types", "folders", "tags", "history")}  # the playground's filters
REPLIES = "playground_replies"  # what the columns of a run answered, as plain values
TOOL = "playground_tool"  # which tool is open below the columns
BLIND = "playground_blind"  # whether judges see who found what
EXPECTED = "playground_expected"  # the document that "where is my document?" follows
LOOKED = "playground_looked"  # passages whose neighbours are shown
HEARD = "heard"  # what the browser said last in a conversation, and whether it was done
CHANGE = "change"  # which change is open
QUEUE = "queue"  # which queue of changes is shown
SIDE = "side"  # which side of a change is shown
DO = "do"  # what is done with a document: edit, new
PATH = "path"  # which document of a change is edited
TURN = "edit_turn"  # goes up when an editor starts afresh
OFFERED = "edit_offered"  # when the draft was kept that an editor started with
GRAPH_VIEW = "view"  # which view of the graph is open, also in the URL
AROUND, ABOUT, ENTITY = "around", "about", "entity"  # the document, the query or the entity that it starts from
CONNECT, CONNECT_WITH = "connect", "with"  # the two entities of a path, also in the URL
HOPS, SIZE, COLOUR = "hops", "size", "colour"  # how far it goes, how much it shows, what colours mean
GRAPH_AS = "as"  # picture or table
QUERYSET = "set"  # which query set is evaluated or tuned with, also in the URL
MEASURE = "measure"  # what runs are ranked by
PROBLEMS = "import_problems"  # lines of an imported query set that were left out, as plain values
TEMPLATE = "edit_template"  # what a new document starts from

WORK = (
    *(FLASH, PENDING, UPLOAD, UPLOAD_ITEM, UPLOAD_TITLE, UPLOAD_WHY, UPLOAD_MADE),
    *(PLAYGROUND, ASK, *NARROWED.values(), REPLIES, EXPECTED, LOOKED, OFFERED, TEMPLATE, PROBLEMS),
)  # what a persona leaves behind; the rest only says where in the app somebody looks
