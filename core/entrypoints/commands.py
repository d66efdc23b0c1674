"""The commands and what help says of each, by the module of this package that adds their options and runs them.

Only the module of the command in use is imported: help and a wrong word cost nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping

COMMANDS: Mapping[str, Mapping[str, str]] = {  # in the order of help
    "workspace": {
        "init": "make the workspace and bring in a first folder of documents",
        "verify": "check that repository, database and index agree",
        "backup": "save the workspace in a new folder, while people work",
        "database": "where accounts, discussions, audit and jobs are kept",
        "restore": "fill an empty workspace from a backup",
    },
    "upload": {
        "import": "bring a folder of Markdown, a zip or one file in as one commit",
        "upload": "bring files in as a change and submit it for review",
        "statuses": "the words of other tools for a status, and what each is written as",
        "check": "check files and look for duplicates, without writing anything",
    },
    "search": {
        "search": "search the knowledge base",
    },
    "ask": {
        "ask": "answer a question from the knowledge base, every sentence with its passage",
    },
    "questions": {
        "questions": "what people asked; kept without names",
    },
    "playground": {
        "compare": "search with several configurations and compare what they find",
        "where": "follow a document through a search, and say what would bring it into the list",
        "judge": "say how relevant a passage is to a query, or list what was said",
        "pool": "the passages that judges of a query grade, blind; find and add what it lacks",
        "rate": "say whether the answer to a query was good, or list what was said",
    },
    "documents": {
        "documents": "look at the approved documents",
    },
    "gaps": {
        "gaps": "what people looked for and did not find",
    },
    "home": {
        "loop": "from question to answer: what people asked and found, gaps, findability by commit",
        "overview": "what the knowledge base holds, and what needs attention",
    },
    "freshness": {
        "freshness": "documents that are due for review or have no owner",
        "confirm": "re-verify a document: its words are still right",
    },
    "disagreements": {
        "disagreements": "documents that say different things",
    },
    "answers": {
        "answers": "the questions that documents answer, as tests of search",
    },
    "words": {
        "words": "synonyms and pinned answers, changed by review",
    },
    "graph": {
        "graph": "entities of the knowledge base and how they hang together",
    },
    "reviews": {
        "change": "propose, discuss, approve and merge edits",
    },
    "remote": {
        "remote": "a git repository elsewhere: merges go there, commits made there come in as a change",
        "pull-request": "check a pull request of your own repository, and what it does to search",
    },
    "inbox": {
        "inbox": "what reached an account",
        "watch": "folders, documents and questions that an account hears about",
        "feedback": "what readers said about documents",
    },
    "deliveries": {
        "messages": "what an account gets by mail, and sending what is due",
        "webhook": "where events go",
        "deliveries": "what left, what waits, and why",
    },
    "accounts": {
        "accounts": "who may do what",
    },
    "sessions": {
        "sessions": "who is signed in",
    },
    "tokens": {
        "token": "access tokens of programs and agents",
    },
    "audit": {
        "audit": "who did what, when, and through which door",
    },
    "index": {
        "reindex": "make the newest commit searchable",
        "profiles": "how documents become an index",
        "generations": "published states of an index",
    },
    "store": {
        "store": "files that several machines share",
    },
    "jobs": {
        "jobs": "long work in the background",
        "worker": "claim and do jobs until it is stopped; Concord starts its own unless CONCORD_WORKERS=0",
    },
    "models": {
        "models": "model weights on this machine",
    },
    "methods": {
        "methods": "every method with its parameters and source",
    },
    "evaluation": {
        "eval": "measure how well a configuration finds what was judged relevant",
    },
    "tuning": {
        "tune": "move alpha and tau with evidence, and put the winner into production",
    },
    "ledger": {
        "ledger": "what models were asked for, and what it cost",
    },
    "mcp.command": {
        "mcp": "serve assistants on this machine: the Model Context Protocol on standard input and output",
    },
}
