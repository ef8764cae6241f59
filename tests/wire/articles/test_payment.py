"""An article with a price is given for a payment, again within the hour, and nothing is charged in vain."""

import base64
import datetime as dt
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

import orjson
import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from config.errors import InvalidArgument, NotFound, PaymentRequired, UpstreamFailed
from config.http import answer_cache
from tests.mcpserver.asgi import ERAS, rpc
from tests.publishers import CAKE, cake, draft, publisher, store
from wire.articles import payment, queries, reading
from wire.articles.models import ArticleCount, Payment, Publisher
from wire.articles.price import InvalidPrice, checked, in_words

pytestmark = pytest.mark.django_db(transaction=True)

PRICE: Final[dict[str, Any]] = {
    "scheme": "exact",
    "network": "wire:test",
    "amount": "10000",
    "asset": "test-money",
    "payTo": "the-chef",
    "maxTimeoutSeconds": 60,
    "extra": {"name": "Test money", "decimals": 6},
}
PATH: Final = "/mcp/articles/chef"


class TestFacilitator:
    """One on loopback, that takes every payment whose payload is signed "good", and settles each nonce once."""

    __test__ = False

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.settled: dict[str, str] = {}
        self.is_away = self.fails = False
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = orjson.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.asked.append((self.path, body))
                answer = b"no" if outer.is_away else orjson.dumps(outer.answer(self.path, body["paymentPayload"]["payload"]))
                self.send_response(200)
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def answer(self, path: str, payload: dict[str, Any]) -> dict[str, Any]:
        if path == "/verify":
            return {"isValid": True} if payload.get("signature") == "good" else {"isValid": False, "invalidReason": "bad_signature"}
        if self.fails:
            return {"success": False, "errorReason": "insufficient_funds"}
        transaction = self.settled.setdefault(payload["nonce"], f"tx-{len(self.settled)}")
        return {"success": True, "transaction": transaction, "network": "wire:test"}


@pytest.fixture
def facilitator(settings: Settings) -> Iterator[TestFacilitator]:
    made = TestFacilitator()
    settings.WIRE_X402_FACILITATOR = made.url
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture(autouse=True)
def chef(facilitator: TestFacilitator) -> Publisher:  # noqa: ARG001
    made = publisher(price=PRICE)
    store(made, cake(), draft("Plum cake", "https://yoursite.com/plum"))
    return made


def paid(nonce: str = "1", **fields: Any) -> dict[str, Any]:
    return {"x402Version": 2, "accepted": PRICE, "payload": {"nonce": nonce, "signature": "good"}, **fields}


def rest(client: Client, given: object = None, url: str = CAKE) -> Any:
    sent = {} if given is None else {"payment-signature": base64.b64encode(json.dumps(given).encode()).decode()}
    return client.get("/api/articles/chef/article.json", {"url": url}, headers=sent)


def refusal(given: object, url: str = CAKE) -> PaymentRequired:
    with pytest.raises(PaymentRequired) as refused:
        queries.buy_article("chef", url, paying=given)
    return refused.value


def test_without_a_payment_rest_answers_402_with_the_terms(client: Client, facilitator: TestFacilitator) -> None:
    answer = rest(client)
    body = answer.json()
    assert (answer.status_code, answer["cache-control"], body["error"]) == (402, "no-store", "payment_required")
    assert body["message"] == "An article of The Chef costs 0.01 Test money on wire:test."
    terms = orjson.loads(base64.b64decode(answer["payment-required"]))
    assert terms["accepts"] == body["accepts"] == [PRICE]
    assert (terms["x402Version"], terms["resource"]["url"]) == (2, CAKE)
    assert "deep cocoa" not in answer.text
    assert not facilitator.asked


def test_a_payment_is_settled_after_reading_and_buys_the_article_for_an_hour(client: Client, facilitator: TestFacilitator) -> None:
    for _ in range(2):  # again: what was paid is not charged twice
        answer = rest(client, paid())
        assert (answer.status_code, answer["cache-control"]) == (200, "private, no-store")
        assert "deep cocoa" in answer.json()["text"]
        told = orjson.loads(base64.b64decode(answer["payment-response"]))
        assert told == {"success": True, "transaction": "tx-0", "network": "wire:test"}
    assert [path for path, _ in facilitator.asked] == ["/verify", "/settle"]
    assert facilitator.asked[0][1]["paymentRequirements"] == PRICE
    row = Payment.objects.get()
    assert (row.amount, row.asset, row.transaction, row.settled_at is not None) == ("10000", "test-money", "tx-0", True)
    Payment.objects.update(settled_at=timezone.now() - payment.HELD - dt.timedelta(seconds=1))
    assert "long ago" in refusal(paid()).message


def test_a_payment_buys_one_article() -> None:
    queries.buy_article("chef", CAKE, paying=paid())
    assert "another article" in refusal(paid(), "https://yoursite.com/plum").message
    assert "another article" in refusal(paid("2", resource={"url": CAKE}), "https://yoursite.com/plum").message


@pytest.mark.parametrize(
    "given",
    [
        "money",
        [],
        {},
        {"payload": 1},
        paid(x402Version=1),
        paid(accepted={**PRICE, "amount": "1"}),
        paid(accepted={**PRICE, "payTo": "somebody else"}),
        paid(accepted=None),
        paid(payload={"nonce": "1", "signature": "forged"}),
        paid(payload={"nonce": "1", "signature": "x" * 20_000}),
    ],
)
def test_what_is_no_payment_for_it_is_refused_and_nothing_is_charged(
    client: Client, facilitator: TestFacilitator, given: object
) -> None:
    told = refusal(given)
    assert told.terms["accepts"] == [PRICE]
    assert not facilitator.settled
    assert not Payment.objects.exists()
    assert rest(client, given).status_code == 402


def test_a_header_that_is_no_base64_is_no_payment(client: Client) -> None:
    answer = client.get("/api/articles/chef/article.json", {"url": CAKE}, headers={"payment-signature": "%%"})
    assert answer.status_code == 402


def test_nobody_is_charged_for_what_cannot_be_read(facilitator: TestFacilitator, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise UpstreamFailed("The publisher's server was not found.")

    monkeypatch.setattr(reading, "article_at", away)
    with pytest.raises(UpstreamFailed):
        queries.buy_article("chef", CAKE, paying=paid())
    assert not facilitator.settled
    monkeypatch.undo()
    assert queries.buy_article("chef", CAKE, paying=paid())[1] is not None


def test_nobody_is_asked_to_pay_for_what_there_is_not() -> None:
    with pytest.raises(InvalidArgument):
        queries.buy_article("chef", "https://elsewhere.example/")
    with pytest.raises(NotFound):
        queries.buy_article("chef", "https://yoursite.com/")


def test_a_settlement_that_fails_gives_nothing(facilitator: TestFacilitator) -> None:
    facilitator.fails = True
    assert "insufficient_funds" in refusal(paid()).message
    facilitator.fails = False
    assert queries.buy_article("chef", CAKE, paying=paid())[1] is not None


def test_while_the_facilitator_is_away_nothing_is_given_and_the_same_payment_works_later(facilitator: TestFacilitator) -> None:
    facilitator.is_away = True
    with pytest.raises(UpstreamFailed, match="does not answer"):
        queries.buy_article("chef", CAKE, paying=paid())
    facilitator.is_away = False
    assert queries.buy_article("chef", CAKE, paying=paid())[1] is not None


def test_who_was_killed_before_the_settlement_sends_the_same_payment_again(facilitator: TestFacilitator) -> None:
    queries.buy_article("chef", CAKE, paying=paid())
    Payment.objects.filter(transaction="tx-0").update(settled_at=None)
    assert "at this moment" in refusal(paid()).message
    Payment.objects.update(taken_at=timezone.now() - payment.TAKING - dt.timedelta(seconds=1))
    assert queries.buy_article("chef", CAKE, paying=paid())[1] == payment.Settled("tx-0", "wire:test")
    assert len(facilitator.settled) == 1


def test_without_a_facilitator_nothing_that_has_a_price_is_given(chef: Publisher, settings: Settings) -> None:
    settings.WIRE_X402_FACILITATOR = ""
    told = refusal(paid())
    assert (told.terms["accepts"], told.hint) == ([], f"Read it at its publisher: {CAKE}")
    with pytest.raises(ValidationError, match="WIRE_X402_FACILITATOR"):
        chef.clean()


@pytest.mark.parametrize("era", ERAS)
def test_by_mcp_it_is_asked_for_and_paid_in_meta(era: str) -> None:
    answer_cache.answers.clear()
    answer_cache.answers.set_version(1)
    try:
        asked = {"name": "get-article", "arguments": {"url": CAKE}}
        for _ in range(2):
            result = rpc("tools/call", asked, era, PATH).result
            assert result["isError"]
            assert orjson.loads(result["content"][0]["text"]) == result["structuredContent"]
            assert result["structuredContent"]["accepts"] == [PRICE]
            paying = asked | {"_meta": {"x402/payment": paid()}}
            result = rpc("tools/call", paying, era, PATH).result
            assert not result.get("isError")
            assert "deep cocoa" in result["content"][0]["text"]
            assert result["_meta"]["x402/payment-response"]["transaction"] == "tx-0"
        for meta in (5, "x402/payment", ["x402/payment"]):
            rpc("tools/call", asked | {"_meta": meta}, era, PATH)  # refused, or asked to pay
    finally:
        answer_cache.answers.set_version(None)
    assert not rpc("tools/call", {"name": "search-content", "arguments": {"query": "cake"}}, era, PATH).result.get("isError")


def test_every_door_tells_the_price(client: Client) -> None:
    words = "0.01 Test money on wire:test"
    assert client.get("/api/articles/chef.json").json()["price"] == words
    for path in ("/articles/chef", "/articles/chef/llms.txt", "/articles/chef/ai.txt"):
        assert words in client.get(path).text
    assert '<payment type="crawl">' in client.get("/articles/chef/license.xml").text
    assert words in rpc("server/discover", {}, ERAS[-1], PATH).result["instructions"]


@pytest.mark.parametrize(
    "raw",
    [
        [],
        "10",
        {"amount": "1"},
        PRICE | {"amount": 5},
        PRICE | {"amount": "0"},
        PRICE | {"amount": "-1"},
        PRICE | {"amount": "٣"},
        PRICE | {"maxTimeoutSeconds": True},
        PRICE | {"extra": []},
        PRICE | {"payto": "me"},
        PRICE | {"asset": "a\nb"},
    ],
)
def test_what_is_no_price_is_refused(raw: Any) -> None:
    with pytest.raises(InvalidPrice):
        checked(raw or "x")


def test_a_price_in_words() -> None:
    assert (checked({}), in_words({})) == ({}, "")
    assert in_words(checked(PRICE | {"extra": {}})) == "10000 of the smallest unit of test-money on wire:test"
    assert not ArticleCount.objects.exists()
