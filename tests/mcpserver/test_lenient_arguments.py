"""Arguments as clients send them, and errors that name the one that is wrong."""

from typing import Any, Final

import pytest

from tests.mcpserver.asgi import ERAS, LEGACY, refusal, rpc, structured

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sample")]


@pytest.mark.parametrize("sent", ['["FT", "Reuters"]', ' ["FT","Reuters"]', ["FT", "Reuters"]])
def test_a_list_may_come_as_json_text(sent: Any) -> None:
    wanted = structured("search_wire", query="the", sources=["FT", "Reuters"])
    assert wanted["stories"]
    found = structured("search_wire", query="the", sources=sent)
    assert found["stories"] == wanted["stories"]


@pytest.mark.parametrize("sent", ["Reuters", '["Reuters"]'])
def test_a_list_of_one_may_come_as_a_text(sent: str) -> None:
    wanted = structured("search_wire", query="the", sources=["Reuters"])
    assert structured("search_wire", query="the", sources=sent) == wanted


def test_a_publication_outside_the_roster_is_refused_under_the_argument_that_names_it() -> None:
    for arguments, named in (({"source": "Wired News"}, "source"), ({"sources": '["Reuters", "Wired News"]'}, "sources")):
        error = rpc("tools/call", {"name": "search_wire", "arguments": {"query": "moon", **arguments}}).error
        assert error["code"] == -32602
        assert error["message"].startswith(f"{named} is refused. ")


@pytest.mark.parametrize(("sent", "said"), [("[1]", "valid string"), ('{"a": 1}', "valid list"), ("[[]]", "valid string")])
def test_a_list_of_something_else_is_refused_under_its_name(sent: str, said: str) -> None:
    value: Any = {"a": 1} if sent.startswith("{") else sent
    told = refusal("search_wire", query="moon", sources=value)
    assert told.startswith("sources: ")
    assert said in told


WRONG: Final[list[tuple[str, dict[str, Any], str]]] = [
    (
        "prompts/get",
        {"name": "topic-deep-dive", "arguments": {"topic": "openai", "window_days": 7}},
        "params.arguments.window_days:",
    ),
    ("prompts/get", {"name": "topic-deep-dive", "arguments": [1]}, "params.arguments:"),
    ("prompts/get", {"arguments": {}}, "params.name: Field required."),
    ("tools/call", {"name": "search_wire", "arguments": []}, "params.arguments:"),
    ("tools/list", {"_meta": {"progressToken": []}}, "params._meta.progressToken"),
    ("tools/list", {"_meta": {"io.modelcontextprotocol/clientInfo": 5}}, "params._meta.io.modelcontextprotocol/clientInfo:"),
]


@pytest.mark.parametrize(("method", "params", "named"), WRONG, ids=range(len(WRONG)))
def test_an_error_of_the_protocol_says_which_parameter_is_wrong(method: str, params: dict[str, Any], named: str) -> None:
    eras = ERAS[1:] if "clientInfo" in named else ERAS
    for era in eras:
        answer = rpc(method, params, era)
        assert answer.error["code"] == -32602
        assert answer.status == (200 if era == LEGACY else 400)
        assert named in answer.error["message"], answer.error


def test_what_is_wrong_is_said_without_what_was_sent_and_briefly() -> None:
    params = {"name": "topic-deep-dive", "arguments": {f"{'a' * 300}{number}\u202e\n": 7 for number in range(9)}}
    told = rpc("prompts/get", params, LEGACY).error["message"]
    assert len(told) <= 500
    assert "\n" not in told
    assert "\u202e" not in told
