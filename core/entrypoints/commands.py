"""The commands and what help says of each, by the module of a room beside this file that holds their records.

Only the module of the command in use is imported: help and a wrong word cost nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping

COMMANDS: Mapping[str, Mapping[str, str]] = {  # in the order of help
    "operation.workspace": {
        "init": "make the workspace and bring in a first folder of documents",
        "verify": "check that repository, database and index agree",
        "doctor": "look at settings, permissions, disk, clock, mail, provider, models, store, database and backups, and say what to do",
        "backup": "save the workspace in a new folder, while people work",
        "upgrade": "bring a workspace of an earlier version to this one: tried on a copy, saved first",
        "database": "move accounts, discussions, audit and jobs to another database",
        "restore": "fill an empty workspace from a backup",
    },
    "knowledge.upload": {
        "import": "bring a folder of Markdown, a zip or one file in as one commit",
        "upload": "bring files in as a change and submit it for review",
        "statuses": "the words of other tools for a status, and what each is written as",
        "check": "check files and look for duplicates, without writing anything",
    },
    "knowledge.search": {
        "search": "search the knowledge base",
        "ask": "let the language model answer a question, every sentence with its passage",
        "methods": "every method with its parameters and source",
    },
    "knowledge.questions": {
        "questions": "what people typed into Search, kept without names",
        "gaps": "questions that nobody could find an answer to, and who looks after each",
        "answers": "the questions that documents list under answers:, each a test of search",
    },
    "laboratory.playground": {
        "compare": "search with several configurations and compare what they find",
        "where": "follow a document through a search, and say what would bring it into the list",
        "judge": "say how relevant a passage is to a query, or list what was said",
        "pool": "the passages that judges of a query grade, blind; find and add what it lacks",
        "rate": "say whether search answered a question well, or list what was said",
    },
    "knowledge.documents": {
        "documents": "look at the approved documents",
    },
    "knowledge.home": {
        "loop": "how often people find what they ask for, gaps, and findability by commit",
        "overview": "what the knowledge base holds, and what needs attention",
    },
    "knowledge.freshness": {
        "freshness": "documents that are due for review or have no owner",
        "confirm": "confirm that a document is still right, and set its next review date",
    },
    "knowledge.disagreements": {
        "disagreements": "documents that say different things",
    },
    "knowledge.words": {
        "words": "synonyms and pinned answers, changed by review",
    },
    "knowledge.graph": {
        "graph": "entities of the knowledge base and how they are related",
    },
    "team.reviews": {
        "change": "propose, discuss, approve and merge edits",
    },
    "team.remote": {
        "remote": "a git repository elsewhere: merges go there, commits made there come in as a change",
        "pull-request": "check a pull request of your own repository, and what it does to search",
    },
    "team.inbox": {
        "inbox": "messages for an account",
        "watch": "folders, documents and questions that an account follows",
        "feedback": "what readers said about documents",
    },
    "team.deliveries": {
        "messages": "what an account gets by mail, and sending what is due",
        "webhook": "addresses that events are sent to",
        "deliveries": "mail and webhook calls: what was sent, what waits, and why",
    },
    "team.accounts": {
        "accounts": "who may do what",
        "sessions": "who is signed in",
        "token": "access tokens of programs and agents",
        "audit": "who did what and when: page, command line, API or assistant",
    },
    "operation.index": {
        "reindex": "make the newest commit searchable",
        "profiles": "how documents become an index",
        "generations": "published states of the index, and rollback",
        "store": "the S3 store that several machines share",
    },
    "operation.jobs": {
        "jobs": "background jobs",
        "worker": "claim and do jobs until it is stopped; Concord starts its own unless CONCORD_WORKERS=0",
    },
    "laboratory.models": {
        "models": "model weights on this machine",
        "ledger": "what models were asked for, and what it cost",
    },
    "laboratory.evaluation": {
        "eval": "measure how well a configuration finds what was judged relevant",
    },
    "laboratory.tuning": {
        "tune": "move alpha and tau with evidence, and put the winner into production",
    },
    "mcp.command": {
        "mcp": "serve assistants on this machine: the Model Context Protocol on standard input and output",
    },
}

GROUPS: Mapping[str, str] = {  # the commands as help shows them
    "Find": "search ask documents graph overview",
    "Write and review": "check upload import change words confirm freshness disagreements statuses",
    "Questions and answers": "questions gaps answers loop",
    "You": "inbox watch feedback messages token sessions",
    "Measure and tune": "compare where judge pool rate eval tune methods",
    "Index and models": "reindex profiles generations models ledger",
    "Operate": "init verify doctor backup restore upgrade database accounts audit jobs worker store deliveries",
    "Integrate": "mcp webhook remote pull-request",
}

BESIDE: Mapping[str, str] = {
    "team.reviews": "team.change_texts",
    "laboratory.evaluation": "laboratory.querysets",
}  # a module with more of the same group
