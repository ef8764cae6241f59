"""An article with a price is given for a payment, again within the hour, and nothing is charged in vain."""

import base64
import datetime as dt
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

import orjson
import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from config.errors import InvalidArgument, NotFound, PaymentRequired, UpstreamFailed
from config.http import memory_cache
from tests.mcpserver.asgi import ERAS, rpc
from tests.publishers import CAKE, cake, draft, publisher, store
from wire.corpora.articles import page_fetch, payment, queries
from wire.corpora.articles import store as storing
from wire.corpora.articles.models import Article, ArticleCount, Payment, Publisher
from wire.corpora.articles.store import ArticleDraft
from wire.corpora.articles.url_keys import build_url_key
from wire.corpora.articles.x402 import InvalidPrice, describe_price, parse_price, read_authorization

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
        self.is_away = self.fails = self.breaks_off = self.settles_once = False
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = orjson.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.asked.append((self.path, body))
                answer = b"no" if outer.is_away else orjson.dumps(outer.answer(self.path, body["paymentPayload"]["payload"]))
                self.send_response(200)
                if outer.breaks_off and self.path == "/settle":
                    self.send_header("content-length", "1000")
                    self.end_headers()
                    return
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
        nonce = str(payload.get("authorization", payload)["nonce"]).lower()
        nonce = str(int(nonce, 16)) if nonce.startswith("0x") else nonce.lstrip("0")
        if self.settles_once and nonce in self.settled:
            return {"success": False, "errorReason": "nonce_used"}
        transaction = self.settled.setdefault(nonce, f"tx-{len(self.settled)}")
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


def cake_at(url: str) -> ArticleDraft:
    return replace(cake(), url=url, key=build_url_key(url))


def paid(nonce: str = "1", **fields: Any) -> dict[str, Any]:
    return {"x402Version": 2, "accepted": PRICE, "payload": {"nonce": nonce, "signature": "good"}, **fields}


ARTICLES: Final = [f"https://yoursite.com/plum-{number}" for number in range(6)]
EVM: Final = PRICE | {"network": "eip155:84532", "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e"}
FROM: Final = "0x857b06519E91e3A54538791bDbb0E22373e36b66"
NONCE: Final = "0x0374" + "6613c2d920b5fdabc0856f2aeb2d4f88ee6037b8cc5d04a71a4462f13480"


def signed(authorization: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """A payment as x402's exact scheme has it on an EVM network."""
    whole = {"from": FROM, "to": "0x2096", "value": "10000", "validAfter": "0", "validBefore": "9", "nonce": NONCE}
    payload = {"signature": "good", "authorization": whole | (authorization or {})} | fields
    return {"x402Version": 2, "accepted": EVM, "payload": payload}


FLAT: Final[list[dict[str, Any]]] = [
    paid(),
    paid(payload={"nonce": "1", "signature": "good", "junk": 1}),
    paid(payload={"junk": [2], "signature": "good", "nonce": "1"}),
    paid(payload={"nonce": "001", "signature": "good"}),
    paid(payload={"nonce": 1, "signature": "good"}),
    paid(junk="3", extensions={"a": 4}),
]
NESTED: Final = [
    signed(),
    signed({"junk": 1}),
    signed(junk=1),
    signed({"nonce": NONCE.upper().replace("X", "x"), "from": FROM.lower()}),
    signed({"nonce": "0x" + NONCE.removeprefix("0x0")}),
    signed({"value": "010000", "validBefore": "0x9"}),
]
SPELLINGS: Final = pytest.mark.parametrize(("spellings", "terms"), [(FLAT, PRICE), (NESTED, EVM)], ids=["flat", "evm"])


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


@pytest.mark.slow
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


@pytest.mark.slow
@SPELLINGS
def test_one_authorisation_buys_one_article_however_it_is_spelled(
    client: Client, facilitator: TestFacilitator, chef: Publisher, spellings: list[dict[str, Any]], terms: dict[str, Any]
) -> None:
    Publisher.objects.update(price=terms)
    store(chef, *(draft(f"Plum {number}", url) for number, url in enumerate(ARTICLES)))
    answers = [rest(client, given, url) for given, url in zip(spellings, ARTICLES, strict=True)]
    assert [answer.status_code for answer in answers] == [200, 402, 402, 402, 402, 402]
    assert {answer.json()["message"] for answer in answers[1:]} == {"This payment was already used, for another article."}
    assert [path for path, _ in facilitator.asked].count("/settle") == len(facilitator.settled) == Payment.objects.count() == 1
    assert [rest(client, given, ARTICLES[0]).status_code for given in spellings] == [200] * 6  # any spelling is that payment
    assert [path for path, _ in facilitator.asked].count("/settle") == 1


@pytest.mark.slow
@SPELLINGS
def test_six_spellings_of_one_authorisation_at_the_same_time_buy_one_article(
    facilitator: TestFacilitator, chef: Publisher, spellings: list[dict[str, Any]], terms: dict[str, Any]
) -> None:
    Publisher.objects.update(price=terms)
    store(chef, *(draft(f"Plum {number}", url) for number, url in enumerate(ARTICLES)))
    start = threading.Barrier(6)

    def buy(given: dict[str, Any], url: str) -> object:
        start.wait()
        try:
            return queries.buy_article("chef", url, paying=given)[1]
        except (PaymentRequired, UpstreamFailed) as refused:
            return refused
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(buy, spellings, ARTICLES))
    assert [isinstance(one, payment.Settlement) for one in results].count(True) == 1, results
    assert len(facilitator.settled) == Payment.objects.exclude(settled_at=None).count() == Payment.objects.count() == 1


def test_a_transaction_pays_for_one_article_though_the_nonces_look_different(facilitator: TestFacilitator) -> None:
    """The facilitator ignores case, which nobody can know of a nonce that is no number."""
    queries.buy_article("chef", CAKE, paying=paid("abc-1"))
    assert "its transaction paid for another" in refusal(paid("ABC-1"), "https://yoursite.com/plum").message
    assert queries.buy_article("chef", CAKE, paying=paid("ABC-1"))[1] == payment.Settlement("tx-0", "wire:test")
    assert (len(facilitator.settled), Payment.objects.count()) == (1, 1)


def test_two_payers_whom_one_transaction_settled_have_both_paid(facilitator: TestFacilitator) -> None:
    Publisher.objects.update(price=EVM)
    facilitator.settled = {str(int(NONCE, 16)): "batch", "5": "batch"}
    assert queries.buy_article("chef", CAKE, paying=signed())[1] == payment.Settlement("batch", "wire:test")
    assert queries.buy_article("chef", CAKE, paying=signed({"nonce": "0x5"}))[1] == payment.Settlement("batch", "wire:test")


def test_of_an_evm_payment_only_the_fields_of_the_specification_reach_the_facilitator(facilitator: TestFacilitator) -> None:
    Publisher.objects.update(price=EVM)
    queries.buy_article("chef", CAKE, paying=signed({"Nonce": "0x7", "junk": 1}, Signature="x"))
    assert [body["paymentPayload"]["payload"] for _, body in facilitator.asked] == [signed()["payload"]] * 2


def test_of_a_solana_payment_the_signed_message_counts(facilitator: TestFacilitator) -> None:  # noqa: ARG001
    def solana(slot: bytes, message: bytes = b"transfer", end: str = "") -> str:
        raw = bytes([2]) + slot * 64 + b"p" * 64 + message
        identity = {"network": "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "asset": "EPjFWdd5"}
        given = {"accepted": identity, "payload": {"transaction": base64.urlsafe_b64encode(raw).decode().rstrip("=") + end}}
        return read_authorization(given).identity

    assert solana(b"\0") == solana(b"x") == solana(b"\0", end="==")
    assert solana(b"\0") != solana(b"\0", b"another")


def test_who_knows_only_the_nonce_of_a_payment_gets_nothing_for_it() -> None:
    queries.buy_article("chef", CAKE, paying=paid())
    assert "another signature" in refusal(paid(payload={"nonce": "1", "signature": "forged"})).message


def test_a_settlement_without_an_answer_is_not_lost_and_buys_nothing_else(client: Client, facilitator: TestFacilitator) -> None:
    facilitator.breaks_off = True
    assert rest(client, paid()).status_code == 502
    assert len(facilitator.settled) == 1  # the money moved
    facilitator.breaks_off = False
    assert "is being processed" in refusal(paid()).message
    assert "another article" in refusal(paid(), "https://yoursite.com/plum").message
    Payment.objects.update(taken_at=timezone.now() - payment.TAKING - dt.timedelta(seconds=1))
    assert "another article" in refusal(paid(), "https://yoursite.com/plum").message
    Publisher.objects.update(price=PRICE | {"amount": "20000"})  # it was paid at the price of then
    assert queries.buy_article("chef", CAKE, paying=paid())[1] == payment.Settlement("tx-0", "wire:test")
    assert (len(facilitator.settled), Payment.objects.count()) == (1, 1)
    assert queries.buy_article("chef", CAKE, paying=paid())[1] is not None


def test_a_payment_that_may_have_been_charged_stays_noted_whatever_fails_then(
    facilitator: TestFacilitator, monkeypatch: pytest.MonkeyPatch
) -> None:
    facilitator.breaks_off = facilitator.settles_once = True
    with pytest.raises(UpstreamFailed):
        queries.buy_article("chef", CAKE, paying=paid())
    facilitator.breaks_off = False
    Payment.objects.update(taken_at=timezone.now() - payment.TAKING - dt.timedelta(seconds=1))

    def away(*_: object) -> None:
        raise UpstreamFailed("The publisher's server was not found.")

    with monkeypatch.context() as patch:
        patch.setattr(page_fetch, "get_or_fetch_article", away)
        with pytest.raises(UpstreamFailed):
            queries.buy_article("chef", CAKE, paying=paid())
    Payment.objects.update(taken_at=timezone.now() - payment.TAKING - dt.timedelta(seconds=1))
    told = refusal(paid()).message
    assert "nonce_used" in told
    assert "may have been charged" in told
    assert Payment.objects.get().settling_at is not None


def test_a_settlement_that_names_a_transaction_but_is_not_confirmed_stays_noted(
    facilitator: TestFacilitator, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed_out = {"success": False, "errorReason": "confirmation_timed_out", "transaction": "tx-9"}
    with monkeypatch.context() as patch:
        patch.setattr(facilitator, "answer", lambda path, _: {"isValid": True} if path == "/verify" else timed_out)
        with pytest.raises(UpstreamFailed, match="tx-9"):
            queries.buy_article("chef", CAKE, paying=paid())
    Payment.objects.update(taken_at=timezone.now() - payment.TAKING - dt.timedelta(seconds=1))
    assert queries.buy_article("chef", CAKE, paying=paid())[1] is not None


def test_a_paid_answer_that_was_lost_is_given_again_after_the_article_moved(chef: Publisher) -> None:
    queries.buy_article("chef", CAKE, paying=paid(resource={"url": CAKE}))
    article = Article.objects.get(url=CAKE)
    storing.move_article(chef, article, cake_at("https://yoursite.com/cakes/chocolate"))
    assert queries.buy_article("chef", CAKE, paying=paid(resource={"url": CAKE}))[1] is not None


def test_more_payments_than_can_be_checked_at_once_are_refused_without_asking(facilitator: TestFacilitator) -> None:
    taken = [payment._checks.acquire(blocking=False) for _ in range(payment.AT_ONCE)]
    try:
        with pytest.raises(UpstreamFailed, match="being checked"):
            queries.buy_article("chef", CAKE, paying=paid())
    finally:
        for _ in taken:
            payment._checks.release()
    assert not facilitator.asked
    assert not Payment.objects.exists()


def test_a_header_that_names_a_field_twice_is_refused(client: Client, facilitator: TestFacilitator) -> None:
    text = json.dumps(paid()).replace('"nonce": "1"', '"nonce": "2", "nonce": "1"')
    sent = base64.b64encode(text.encode()).decode()
    answer = client.get("/api/articles/chef/article.json", {"url": CAKE}, headers={"payment-signature": sent})
    assert (answer.status_code, answer.json()["message"]) == (402, "The payment names a field twice.")
    assert not facilitator.asked


def test_a_header_that_is_no_base64_is_no_payment(client: Client) -> None:
    answer = client.get("/api/articles/chef/article.json", {"url": CAKE}, headers={"payment-signature": "%%"})
    assert answer.status_code == 402


def test_nobody_is_charged_for_what_cannot_be_read(facilitator: TestFacilitator, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise UpstreamFailed("The publisher's server was not found.")

    monkeypatch.setattr(page_fetch, "get_or_fetch_article", away)
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
    with pytest.raises(UpstreamFailed, match="no usable answer"):
        queries.buy_article("chef", CAKE, paying=paid())
    facilitator.is_away = False
    assert queries.buy_article("chef", CAKE, paying=paid())[1] is not None


def test_who_was_killed_before_the_settlement_sends_the_same_payment_again(facilitator: TestFacilitator) -> None:
    queries.buy_article("chef", CAKE, paying=paid())
    Payment.objects.filter(transaction="tx-0").update(settled_at=None)
    assert "is being processed" in refusal(paid()).message
    Payment.objects.update(taken_at=timezone.now() - payment.TAKING - dt.timedelta(seconds=1))
    assert queries.buy_article("chef", CAKE, paying=paid())[1] == payment.Settlement("tx-0", "wire:test")
    assert len(facilitator.settled) == 1


def test_without_a_facilitator_nothing_that_has_a_price_is_given(chef: Publisher, settings: Settings) -> None:
    settings.WIRE_X402_FACILITATOR = ""
    told = refusal(paid())
    assert (told.terms["accepts"], told.hint) == ([], f"Read it at its publisher: {CAKE}")
    with pytest.raises(ValidationError, match="WIRE_X402_FACILITATOR"):
        chef.clean()


@pytest.mark.parametrize("era", ERAS)
def test_by_mcp_it_is_asked_for_and_paid_in_meta(era: str) -> None:
    memory_cache.answers.clear()
    memory_cache.answers.set_version(1)
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
        memory_cache.answers.set_version(None)
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
        parse_price(raw or "x")


def test_a_price_in_words() -> None:
    assert (parse_price({}), describe_price({})) == ({}, "")
    assert describe_price(parse_price(PRICE | {"extra": {}})) == "10000 smallest units of test-money on wire:test"
    assert not ArticleCount.objects.exists()
