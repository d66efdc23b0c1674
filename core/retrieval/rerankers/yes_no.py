"""`yes-no`: a language model says for each passage whether it answers, and how sure it is counts.

Source: Sachan et al. 2022 and Liang et al. 2022 (relevance generation). Every passage is read alone, so there are no
places to be biased by; the score is the probability of "yes" against "no" as the first token of the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

from core.llm.asking import Bill
from core.llm.prompt import RULE, cut, quoted
from core.llm.usable import chance
from core.ports import Llm
from core.retrieval.methods import Outcome, RerankMethod, Task
from core.retrieval.ordering import rank
from core.retrieval.rerankers.ranker import PASSAGE
from core.types import Answer, Frozen, LlmRequest

ALTERNATIVES = 20  # candidates for the first token that are looked at
THREADS = 4
SYSTEM = "You say whether a passage of a knowledge base answers a query. Answer with one word: yes or no. " + RULE


def yes_no(task: Task) -> Outcome:
    """Score each of the top passages by how likely the model says yes."""
    head, llm, bill = task.head(), task.llm(), Bill()
    first = say(llm, task.query, task.text(head[0]))  # refused here, if the endpoint gives no log-probabilities
    with ThreadPoolExecutor(THREADS) as pool:
        rest = [pool.submit(_carried(llm, task.query, task.text(chunk))) for chunk in head[1:]]
        answers = [first, *(future.result() for future in rest)]
    for answer in answers:
        bill.add(answer)
    scores = rank(dict(zip(head, map(chance, answers), strict=True)))
    return Outcome(scores, scores, f"yes or no for the top {len(head)}; {bill}", cost=bill.dollars)


def say(llm: Llm, query: str, text: str) -> Answer:
    """A model's first token for one passage, with its alternatives."""
    request = LlmRequest(prompt(query, text), "yes or no", SYSTEM, 1, alternatives=ALTERNATIVES, check=chance)
    answer = llm.complete(request)
    chance(answer)
    return answer


def prompt(query: str, text: str) -> str:
    """One passage and the query, between tags that they cannot close."""
    shown = quoted("passage", cut(text, PASSAGE))
    return f"{shown}\n\n{quoted('query', query)}\n\nDoes the passage answer the query? Answer yes or no."


def _carried(llm: Llm, query: str, text: str) -> Callable[[], Answer]:
    """The call in the context of the caller, where costs are counted."""
    context = copy_context()
    return lambda: context.run(say, llm, query, text)


YES_NO = RerankMethod(
    name="yes-no",
    title="Yes or no",
    about="A language model says for each passage whether it answers; how sure it is counts. Needs log-probabilities.",
    source="Sachan et al. 2022; Liang et al. 2022",
    run=yes_no,
    asks=("llm",),
    suffix="yesno",
    settings=Frozen(rerank_depth=10, rerank_blend=0.5),
    purpose="yes or no",
    reads=lambda depth: (depth, 1),
)
