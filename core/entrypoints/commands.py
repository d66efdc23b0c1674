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
        "check": "check files and look for duplicates, without writing anything",
    },
    "knowledge.search": {
        "search": "search the knowledge base",
        "ask": "let the language model answer a question, every sentence with its passage",
        "methods": "every method with its parameters and source",
    },
    "knowledge.questions": {
        "answers": "the questions that documents list under answers:, each a test of search",
    },
    "laboratory.playground": {
        "compare": "search with several configurations and compare what they find",
    },
    "knowledge.documents": {
        "documents": "look at, edit and export the approved documents",
    },
    "team.reviews": {
        "change": "changes under review: list, show, measure and merge them",
    },
    "team.remote": {
        "remote": "a git repository elsewhere: merges go there, commits made there come in as a change",
        "pull-request": "check a pull request of your own repository, and what it does to search",
    },
    "team.deliveries": {
        "messages": "send mail that is due, or a test",
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
    "Find": "search ask documents",
    "Write and review": "check upload import change answers",
    "Measure and tune": "compare eval tune methods",
    "Index and models": "reindex profiles generations models ledger",
    "Operate": "init verify doctor backup restore upgrade database accounts token sessions audit jobs worker store messages deliveries",
    "Integrate": "mcp webhook remote pull-request",
}

BESIDE: Mapping[str, str] = {
    "laboratory.evaluation": "laboratory.querysets",
}  # a module with more of the same group
