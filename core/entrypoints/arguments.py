"""What help says of arguments whose meaning is the same everywhere: by name, or by command and name where it is not."""

from __future__ import annotations

from collections.abc import Mapping

ARGUMENTS: Mapping[str, str] = {
    "--add-tag": "a tag that they get; may be repeated",
    "--limit": "at most so many rows",
    "--reason": "why; it stays beside the disagreement and in the audit",
    "--remove-tag": "a tag that they lose; may be repeated",
    "account": "the id of an account",
    "change": "the number of a change, as change list prints it",
    "choice": "nothing, at once, or in the daily digest",
    "comment": "the number of a comment, as change show prints it",
    "delivery": "the number of a delivery, as deliveries list prints it",
    "document": "a document by its id or path",
    "feedback": "the number of the feedback, as feedback list prints it",
    "files": "files to read: Markdown, text, Word, PDF, HTML, PowerPoint, Excel or zip",
    "gap": "the number of a gap, as gaps list prints it",
    "job": "the number of a job, as jobs list prints it",
    "key": "the disagreement, as disagreements list prints it",
    "prompt": "what to ask",
    "query": "a question or a few words",
    "question": "the question, in quotation marks",
    "queryset": "the name of a query set, as eval querysets lists it",
    "querysets": "names of query sets, as eval querysets lists them",
    "role": "reader, author, reviewer or admin",
    "watch": "the number of a watch, as watch list prints it",
    "webhook": "the number of a webhook, as webhook list prints it",
    "accounts add account": "the id of the new account: lower-case letters, digits, dots, dashes and underscores",
    "deliveries list --limit": "at most so many lines",
    "disagreements check file": "a Markdown file",
    "eval beir folder": "a folder in the form of BEIR: corpus.jsonl, queries.jsonl and qrels/",
    "eval compare after": "the id of the run that is compared",
    "eval compare before": "the id of the run that it is compared with",
    "eval export name": "a query set by its name, or a run by its id",
    "eval export out": "the file or folder to write",
    "eval generate name": "the name of the new query set (default: its kind)",
    "eval import path": "the file or folder to read",
    "eval judge runs": "ids of runs, as eval runs prints them",
    "eval querysets name": "one query set, to see more of it (default: all)",
    "eval question text": "the words of the question",
    "eval rename new": "the new name",
    "feedback give kind": "wrong, right (it still holds) or comment",
    "gaps assign account": "whoever looks after it from now on",
    "generations rollback number": "the number of a generation, as generations list prints it",
    "graph document start": "a document by its id or path",
    "graph entity start": "the name of an entity",
    "graph path source": "the name of the first entity",
    "graph path target": "the name of the second entity",
    "graph query start": "a question or a few words",
    "import folder": "a folder of Markdown, a zip, or one file",
    "messages test --to": "the account whose address gets it",
    "models allow feature": "the feature, as models check names it",
    "models allow name": "the model, such as openai:MODEL",
    "models allow reason": "why; it is shown wherever the model is used",
    "models fetch names": "bundled models, as models list names them (default: those that profiles need)",
    "profiles add name": "the name of the new profile",
    "profiles default name": "the profile to search with",
    "profiles delete name": "a profile that was added",
    "profiles estimate name": "the profile to estimate",
    "questions mine keep": "on keeps them, off does not; without it, says which",
    "sessions end id": "the id of a session, as sessions list prints it",
    "token revoke id": "the id of a token, as token list prints it",
    "tune promote run_id": "the run whose configuration is promoted, as eval runs prints it; or name one with --config",
    "watch add kind": "what is watched",
    "webhook add --format": "what the receiver understands: Concord's own JSON, Slack or Teams",
    "webhook add url": "where events are sent, by https",
}


def help_of(command: str, names: tuple[str, ...]) -> str | None:
    """What help says of an argument of a command.

    >>> help_of("change approve", ("change",))
    'the number of a change, as change list prints it'
    """
    found = (ARGUMENTS.get(f"{command} {name}") or ARGUMENTS.get(name) for name in names)
    return next((about for about in found if about), None)
