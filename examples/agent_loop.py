"""Answer five questions as a language model would, but by a few rules: without a model, a key or a package.

The rules read what a model reads, and nothing else: the list of tools, answers and errors. A table before it
says what the answers to twelve questions cost, asked by given calls. `--write docs/agents.md` puts both there.
"""

import argparse
import datetime as dt
import json
import math
import os
import re
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

WIRE_URL = os.environ.get("WIRE_URL", "http://localhost:8000")
QUESTIONS = (
    "What happened with OpenAI this week?",
    "Who was first? Is it confirmed?",
    "Cite it",
    "What changed since yesterday?",
    "Is Forbes in the wire?",
)
MAX_CALLS = 2
FRUGAL = {"detail": "brief", "limit": 10, "max_tokens": 1_000}  # wherever a tool takes them: a model's window is small
KNOWN = {"forbes": "publication", "it": "story"}  # what a model knows of the world and of the talk
FILLERS = {"a", "an", "the"}
PERIOD = re.compile(r"today|yesterday|this week|last week|this month")
SHOWN = 300  # characters of an answer in the transcript
COSTS: list[tuple[str, str, dict[str, Any]]] = [  # "$event" and the like are filled with what the wire has
    ("What happened on the latest day?", "list_events", {"limit": 10}),
    ("What happened with OpenAI that week?", "list_events", {"topic": "openai", "date": "$week", "limit": 10}),
    ("Who reports this event, and who was first?", "get_event", {"event_id": "$event"}),
    ("Is it true that …?", "corroborate", {"claim": "$headline"}),
    ("How do the reports differ?", "compare_coverage", {"event_id": "$event"}),
    ("What came before and after?", "get_storyline", {"event_id": "$event", "limit": 5}),
    ("What is known about …?", "search_wire", {"query": "OpenAI funding", "detail": "brief", "limit": 5}),
    ("How do I cite it?", "get_citation", {"story_id": "$event"}),
    ("Is this citation right?", "verify_citation", {"text": "$citation"}),
    ("Is Forbes in the wire?", "verify_source_integrity", {"publication_name": "Forbes"}),
    ("What changed since yesterday?", "get_changes", {"since": "yesterday", "limit": 10}),
    ("What does the day's brief say?", "get_editor_take", {}),
]

Json = dict[str, Any]
Ask = Callable[[str, Json], Json]  # method and params to result


class Call(NamedTuple):
    tool: str
    arguments: Json
    text: str
    is_error: bool

    @property
    def tokens(self) -> int:
        return math.ceil(len(self.text) / 4)


def call_tool(ask: Ask, name: str, arguments: Json) -> tuple[Call, Json]:
    """Return the call, and its answer as an object; {} for an error."""
    result = ask("tools/call", {"name": name, "arguments": arguments})
    call = Call(name, arguments, result["content"][0]["text"], bool(result.get("isError")))
    return call, {} if call.is_error else result["structuredContent"]


class Agent:
    """Chooses tools by their descriptions, and remembers the ids of the answer before."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self.tools: dict[str, Json] = {tool["name"]: tool for tool in ask("tools/list", {})["tools"]}
        # The sentence that ends every description tells no tool from another.
        ending = os.path.commonprefix([tool["description"][::-1] for tool in self.tools.values()])[::-1]  # noqa: RUF071  no paths
        texts = {name: f"{tool['title']}. {tool['description'].removesuffix(ending)}" for name, tool in self.tools.items()}
        self._phrases = {name: set(list_phrases(text)) for name, text in texts.items()}
        self._titles = {name: set(list_phrases(tool["title"])) for name, tool in self.tools.items()}
        self._memory: Json = {}

    def answer(self, question: str) -> list[Call]:
        """Return the calls that the question took; the last one has the answer, or the error that left no way."""
        name, arguments = self._choose_call(question)
        call, answer = call_tool(self._ask, name, arguments)
        calls = [call]
        while call.is_error and len(calls) < MAX_CALLS and (arguments := correct_arguments(call)) != call.arguments:
            call, answer = call_tool(self._ask, name, arguments)
            calls.append(call)
        self._memory = read_first_values(answer) or self._memory
        return calls

    def _choose_call(self, question: str) -> tuple[str, Json]:
        """Return the tool whose description, its title above all, shares the most telling phrases with the question, and its
        arguments.
        """
        told = " ".join(KNOWN.get(word, word) for word in re.findall(r"\w+", question.lower()))
        asked = set(list_phrases(told))
        scores = {}
        for name, tool in self.tools.items():
            arguments = self._fill_arguments(tool["inputSchema"], question)
            if set(tool["inputSchema"].get("required", ())) <= set(arguments):
                shared = [*(asked & self._phrases[name]), *(asked & self._titles[name])]
                scores[name] = sum(map(self._weigh_phrase, shared)), arguments
        best = max(scores, key=lambda name: scores[name][0])
        return best, scores[best][1]

    def _weigh_phrase(self, phrase: str) -> float:
        return math.log(len(self.tools) / sum(phrase in phrases for phrases in self._phrases.values()))

    def _fill_arguments(self, schema: Json, question: str) -> Json:
        arguments: Json = {}
        period = PERIOD.search(question.lower())
        words = re.findall(r"\w+", question.lower())
        for name, about in schema["properties"].items():
            # list_events says: "give get_citation the event's lead, or its event_id where it has none".
            known = self._memory.get("lead", self._memory.get("event_id")) if name == "story_id" else self._memory.get(name)
            values = [value for part in (about, *about.get("anyOf", ())) for value in part.get("enum", ())]
            if name in FRUGAL:
                arguments[name] = FRUGAL[name]
            elif found := [value for value in values if value in words]:
                arguments[name] = found[0]
            elif name.endswith("_id") and known:
                arguments[name] = known
            elif name == "query":
                arguments[name] = question
            elif found := [word for word in re.findall(r"\w+", question) if f"{KNOWN.get(word.lower())}_name" == name]:
                arguments[name] = found[0]
        if period:
            arguments["date" if "date" in schema["properties"] else "since"] = period[0]
        return arguments


def list_phrases(text: str) -> Iterator[str]:
    """Yield the words of a text without their endings, and each two and three that stand together."""
    for sentence in re.split(r"[.:;,?]", text.lower()):
        stems = [re.sub(r"(?<=\w\w\w)(s|ed|d|e|ing)$", "", word) for word in re.findall(r"\w+", sentence) if word not in FILLERS]
        for size in (1, 2, 3):
            yield from (" ".join(stems[start : start + size]) for start in range(len(stems) - size + 1))


def read_first_values(answer: Any) -> Json:
    """Return the texts of an answer by name, those of the first of each list with it; what stands further out wins."""
    if isinstance(answer, list):
        return read_first_values(answer[0]) if answer else {}
    if not isinstance(answer, dict):
        return {}
    found: Json = {}
    for part in answer.values():
        found = read_first_values(part) | found
    return found | {name: value for name, value in answer.items() if isinstance(value, str)}


def correct_arguments(call: Call) -> Json:
    """Return a failed call's arguments with the last day that the error names, or without the limits that it refuses.

    What the question named itself is never left out: the answer would be to another question.
    """
    days = re.findall(r"\d{4}-\d{2}-\d{2}", call.text)
    if "date" in call.arguments and days:
        return call.arguments | {"date": days[-1]}
    return {name: value for name, value in call.arguments.items() if name not in FRUGAL or f"'{name}'" not in call.text}


def connect(url: str) -> Ask:
    def ask(method: str, params: Json) -> Json:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as response:
            answer = json.load(response)
        if "error" in answer:
            raise SystemExit(f"{method} {params}: {answer['error']['message']}")
        result: Json = answer["result"]
        return result

    return ask


def format_transcript(agent: Agent) -> str:
    lines = []
    for question in QUESTIONS:
        calls = agent.answer(question)
        lines.append(f"> {question}")
        for call in calls:
            shown = call.text if len(call.text) <= SHOWN else f"{call.text[:SHOWN]}…"
            lines += [
                f"{call.tool} {json.dumps(call.arguments)}",
                f"  {'error' if call.is_error else 'answer'}, {call.tokens} tokens: {shown}",
            ]
        outcome = "not answered" if calls[-1].is_error else "answered"
        lines.append(f"  {outcome}; calls: {len(calls)}, tokens: {sum(call.tokens for call in calls)}\n")
    return "\n".join(lines).rstrip()


def list_costs(ask: Ask) -> Iterator[tuple[str, Json, Call]]:
    """Yield each of the twelve questions, its arguments to read, and its call. They are about the most widely reported event of
    the last seven days.
    """
    newest = dt.date.fromisoformat(call_tool(ask, "list_events", {"limit": 1})[1]["wire_date"])
    week = f"{newest - dt.timedelta(days=6)}/{newest}"
    event = call_tool(ask, "list_events", {"date": week, "limit": 1})[1]["events"][0]
    citation = call_tool(ask, "get_citation", {"story_id": event["event_id"]})[0].text
    values = {"$week": week, "$event": event["event_id"], "$headline": event["headline"], "$citation": citation}
    shown = {"$week": week, "$event": "cbn-…", "$headline": "…", "$citation": "According to …"}
    for question, tool, arguments in COSTS:
        given, read = ({name: known.get(value, value) for name, value in arguments.items()} for known in (values, shown))
        yield question, read, call_tool(ask, tool, given)[0]


def format_costs(ask: Ask) -> str:
    rows = ["| question | tool | arguments | tokens of the answer |", "| --- | --- | --- | --- |"]
    for question, arguments, call in list_costs(ask):
        given = ", ".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())
        cost = f"error: {call.text}" if call.is_error else f"{call.tokens:,}"
        rows.append(f"| {question} | `{call.tool}` | `{{{given}}}` | {cost} |")
    return "\n".join(rows)


def replace_section(file: Path, name: str, content: str) -> None:
    """Replace what is between the marks of a section of a document."""
    marks = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.S)
    text = file.read_text(encoding="utf-8")
    file.write_text(marks.sub(lambda found: f"{found[1]}{content}\n{found[2]}", text), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Answer questions by the wire's tools, and print each call and its size.")
    parser.add_argument("--write", type=Path, metavar="FILE", help="put table and transcript between the marks in FILE")
    options = parser.parse_args()
    ask = connect(f"{WIRE_URL}/mcp")
    costs, transcript = format_costs(ask), format_transcript(Agent(ask))
    print(f"{costs}\n\n{transcript}")
    if options.write:
        replace_section(options.write, "costs", costs)
        replace_section(options.write, "transcript", f"```\n{transcript}\n```")


if __name__ == "__main__":
    main()
