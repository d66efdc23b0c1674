"""Every session key and query parameter, in one place. Sessions hold ids and plain values, never objects."""

PERSONA = "persona"  # the demo account that is chosen
SESSION = "session"  # the sign-in that this tab belongs to
FLASH = "flash"  # messages that survive a rerun
PAGE = "page_shown"  # the page that this tab shows
DIALOG = "dialog"  # whether one is open

QUERY = "q"  # the search box
AS_OF = "as_of"  # the day or commit that is looked at, of Search and of a document
COMMIT = 12  # characters of a commit in an address
HISTORY = "history"  # also retired, superseded and upcoming documents
FACETS = ("types", "statuses", "freshness", "folders", "owners", "tags")  # filters of the search page, also in the URL

DOC = "doc"  # which document is open
FOLDER = "folder"  # which folder of the library is open
LIBRARY = (FOLDER, "owner", "status")  # what the library shows, in the URL
START, END = "start", "end"  # the marked passage in it
VERSION = "version"  # the version that the passage was found in
FROM = "from"  # the first block of a long document that is shown
TAB = "tab"  # which tab of it is shown
MOST = "most"  # how many ended changes are shown; the queue follows
VIEWS = "views"  # what the tabs of a page last belonged to
SINCE = "since"  # whether what changed since an earlier day is shown
OLD, NEW = "old", "new"  # the compared versions of a document; its id follows

UPLOAD = "upload"  # the name of the files not submitted yet; "" where there are none
UPLOAD_TURN = "upload_turn"  # goes up when items move, to reset their widgets
UPLOAD_ITEM = "upload_item"  # which of them is open
UPLOAD_AT = "file"  # the number of the open one, in the URL
UPLOAD_SIDE = "upload_side"  # which tab of an item is shown; the item follows
UPLOAD_SAVED = "upload_saved"  # the version of their draft that this tab has
UPLOAD_OTHER = "upload_other"  # whether another tab saved another one
UPLOAD_PAGE = "upload_page"  # the page of an original that was drawn last: which, and what it shows
UPLOAD_INTO = "upload_into"  # the folder of all of them
UPLOAD_OWNER, UPLOAD_TYPE = "upload_owner", "upload_type"  # the owner and the type of all of them
UPLOAD_TITLE, UPLOAD_WHY = "upload_title", "upload_why"  # title and description of the change
UPLOAD_ASK = "upload_ask"  # who is asked to review it
UPLOAD_MADE = "upload_made"  # the change that was just made, and is opened next
PLAYGROUND = "playground"  # the setup that the playground shows, as plain values
LINK = "link"  # a saved setup, in the URL
JUDGE = "judge"  # a query set to judge question by question, in the URL
ASK = "playground_q"  # the playground's query box
NARROWED = {name: f"playground_{name}" for name in ("types", "folders", "tags", "history")}  # the playground's filters
REPLIES = "playground_replies"  # the answers in the columns of a run, as plain values
TOOL = "playground_tool"  # which tool is open below the columns
BLIND = "playground_blind"  # whether judges see which configuration found what
MISSING = "playground_missing"  # what a judge looks for that the pool lacks
SHOWN_ANSWER = "playground_shown_answer"  # the answer that a judge rates, as plain values
EXPECTED = "playground_expected"  # the document that "where is my document?" follows
LOOKED = "playground_looked"  # passages whose neighbours are shown
ANALYSIS = "analysis"  # whether somebody sees what analysts use
ACCOUNT_VIEW = "part"  # which part of Account is shown, also in the URL
DELIVERIES_VIEW = "deliveries"  # which part of Deliveries is shown, also in the URL
DELIVERY_STATE, DELIVERY_CHANNEL = "delivery_state", "delivery_by"  # which deliveries are listed, also in the URL
DELIVERY_MOST = "delivery_most"  # how many of them
WEBHOOK_SECRET = "webhook_secret"  # of a webhook that was just added, until it is shown
TOKEN_MADE = "token_made"  # an access token that was just made, until it is shown
INBOX_SHOWN, INBOX_KIND = "shown", "kind"  # which messages the inbox shows, also in the URL
WORDS_SHOWN = "list"  # which list of Words is shown, also in the URL
SYNONYM_WORDS, SYNONYM_WAY = "synonym_words", "synonym_way"  # the form of a synonym
PIN_QUESTION, PIN_DOCUMENT = "pin_question", "pin_document"  # the form of a pin
PIN_SECTION, PIN_ALSO = "pin_section", "pin_also"
FRESHNESS_SHOWN = "show"  # which list of Freshness is shown, also in the URL
HEARD = "heard"  # the browser's last message in a discussion, and whether it succeeded
CHANGE = "change"  # which change is open
COMMENT = "comment"  # which conversation of it is scrolled to
QUEUE = "queue"  # which queue of changes is shown
SIDE = "side"  # which tab of a change is shown
AT = "at"  # the comment, verdict or line of a change that a link leads to
LOOK = "look"  # the whole change, or what is new since the last look
LOADED = "loaded"  # documents of a long change whose text was asked for
DONE = "done"  # how often each button of a change was pressed, to reset its box
BULK = "docs"  # the ids of the documents that are edited together, in the URL; "=" and a digest for many
BULK_SAVED = "bulk_saved"  # which of their drafts the form shows, and its version
DO = "do"  # what to do with a document: edit, new; with all of them: owners
PATH = "path"  # which document of a change is edited
TURN = "edit_turn"  # goes up to reset the editor
EDITOR = "editor"  # what names the session of this tab among the tabs of its person
EDITING = "editing"  # what the open editor began with, and the versions of its text that are saved
GRAPH_VIEW = "view"  # which view of the graph is open, also in the URL
AROUND, ABOUT, ENTITY = "around", "about", "entity"  # the document, query or entity that it starts from
CONNECT, CONNECT_WITH = "connect", "with"  # the two entities of a path, also in the URL
HOPS, SIZE, COLOUR = "hops", "size", "colour"  # how far it reaches, how many nodes, what colours mean
GRAPH_AS = "as"  # picture or table
NODE_TYPES, NODE_FOLDERS = "of_type", "in_folder"  # what the nodes are narrowed to, also in the URL
RUN_WAITING = "run_waiting"  # what to run, until its estimate was seen
QUERYSET = "set"  # the chosen query set, also in the URL
MEASURE = "measure"  # what runs are ranked by
IMPORTED = "imported"  # goes up with every import of a query set, to close its popover
EDITED = "edited_question"  # the question of a query set that is open for editing
TEMPLATE = "template"  # what a new document starts from, in the URL

TOUR = "tour"  # which tour somebody is on, and its step
TOUR_GO = "tour_go"  # that the page of the step is to be opened

WORK = (
    *(FLASH, UPLOAD, UPLOAD_SAVED, UPLOAD_OTHER, UPLOAD_ITEM, UPLOAD_PAGE, UPLOAD_OWNER, UPLOAD_TYPE),
    *(UPLOAD_TITLE, UPLOAD_WHY, UPLOAD_ASK, UPLOAD_MADE),
    *(PLAYGROUND, ASK, *NARROWED.values(), REPLIES, EXPECTED, LOOKED, EDITING, BULK_SAVED),
    *(TOKEN_MADE, WEBHOOK_SECRET, SYNONYM_WORDS, PIN_QUESTION, PIN_DOCUMENT, PIN_ALSO),
)  # dropped when the demo switches persona; the rest only says where in the app somebody is
