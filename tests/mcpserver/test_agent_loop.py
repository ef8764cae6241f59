"""The loop of examples/agent_loop.py on the sample wire: five questions, each in two calls and 3,000 tokens at most."""

import json
from typing import Any, Final

import pytest

from examples import agent_loop
from examples.agent_loop import MAX_CALLS, QUESTIONS, Agent, Call
from tests.mcpserver.asgi import rpc

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sample")]

MAX_TOKENS: Final = 3_000
HAPPENED, CONFIRMED, CITED, CHANGED, ROSTER = QUESTIONS


def ask(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return rpc(method, params).result


def takes_since() -> bool:
    tools = {tool["name"]: tool for tool in ask("tools/list", {})["tools"]}
    return "since" in tools["get_changes"]["inputSchema"]["properties"]


@pytest.fixture
def answers(sample: None) -> dict[str, list[Call]]:  # noqa: ARG001
    """The calls by question, asked one after the other."""
    agent = Agent(ask)
    return {question: agent.answer(question) for question in QUESTIONS}


def test_each_question_takes_two_calls_and_3000_tokens_at_most(answers: dict[str, list[Call]]) -> None:
    for question, calls in answers.items():
        assert 1 <= len(calls) <= MAX_CALLS, question
        assert sum(call.tokens for call in calls) <= MAX_TOKENS, question
        if question != CHANGED or takes_since():
            assert not calls[-1].is_error, (question, calls[-1].text)


def test_the_tool_is_the_one_that_a_reader_would_choose(answers: dict[str, list[Call]]) -> None:
    chosen = {question: calls[-1].tool for question, calls in answers.items()}
    assert chosen == {
        HAPPENED: "list_events",
        CONFIRMED: "get_event",
        CITED: "get_citation",
        CHANGED: "get_changes",
        ROSTER: "verify_source_integrity",
    }
    assert answers[HAPPENED][-1].arguments["topic"] == "openai"
    assert answers[CHANGED][-1].arguments["since"] == "yesterday"


def test_what_is_confirmed_and_cited_is_the_top_event(answers: dict[str, list[Call]]) -> None:
    top = json.loads(answers[HAPPENED][-1].text)["events"][0]["event_id"]
    assert answers[CONFIRMED][-1].arguments == {"event_id": top}
    event = json.loads(answers[CONFIRMED][-1].text)
    assert answers[CITED][-1].arguments == {"story_id": event["lead"]}
    assert answers[CITED][-1].text.startswith("According to ")
    assert json.loads(answers[ROSTER][-1].text)["in_roster"] is False


def test_a_question_s_own_words_are_never_left_out_after_an_error() -> None:
    refused = Call("get_changes", {"limit": 10, "since": "yesterday"}, "'since' is an unknown argument.", is_error=True)
    assert agent_loop.correct_arguments(refused) == refused.arguments
    refused = Call("get_changes", {"limit": 10, "since": "yesterday"}, "'limit' is an unknown argument.", is_error=True)
    assert agent_loop.correct_arguments(refused) == {"since": "yesterday"}


@pytest.mark.slow
def test_the_twelve_questions_are_answered() -> None:
    calls = [call for _question, _arguments, call in agent_loop.list_costs(ask)]
    assert len(calls) == 12
    assert [call for call in calls if call.is_error and (call.tool != "get_changes" or takes_since())] == []
