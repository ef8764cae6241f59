"""https: the name is verified, HTTP/2 is spoken where it is offered, and nobody is led back to http."""

import asyncio
import datetime as dt
import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import h2.config
import h2.connection
import h2.events
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.feedserver import FEED, FeedServer
from tests.sources.fetch.fetching import AGENT, failed, fetched


def _certificate(file: Path, valid_days: int = 9) -> ssl.SSLContext:
    """A server's context with a certificate of its own, kept in `file`, for feeds.example and 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "feeds.example")])
    names = [x509.DNSName("feeds.example"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=9))
        .not_valid_after(now + dt.timedelta(days=valid_days))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file.write_bytes(private + certificate.public_bytes(pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("certificates") / "feeds.pem"


@pytest.fixture(scope="module")
def secure(certificate: Path) -> Iterator[FeedServer]:
    with FeedServer(tls=_certificate(certificate)) as server:
        server.route("/feed.xml")
        server.route("/back.xml", status=301, headers={"Location": "http://127.0.0.1/feed.xml"})
        yield server


@pytest.fixture
def trusting(secure: FeedServer, certificate: Path) -> ssl.SSLContext:  # noqa: ARG001  the file is written by the server
    return ssl.create_default_context(cafile=certificate)


def _here(_host: str, _port: int) -> Sequence[str]:
    return ["127.0.0.1"]


def test_a_feed_is_fetched_over_https(secure: FeedServer, trusting: ssl.SSLContext) -> None:
    assert fetched(secure.url("/feed.xml"), tls=trusting).body == FEED


def test_the_name_is_verified_though_the_address_is_dialled(secure: FeedServer, trusting: ssl.SSLContext) -> None:
    assert fetched(secure.url("/feed.xml", "feeds.example"), tls=trusting, resolver=_here).body == FEED
    outcome = failed(secure.url("/feed.xml", "other.example"), tls=trusting, resolver=_here)
    assert outcome.code == "tls"
    assert "other.example" in outcome.message


def test_a_certificate_that_nobody_vouches_for_is_refused(secure: FeedServer) -> None:
    assert failed(secure.url("/feed.xml")).code == "tls"


def test_a_certificate_that_is_over_is_refused(tmp_path: Path) -> None:
    with FeedServer(hosts=1, tls=_certificate(tmp_path / "over.pem", valid_days=-1)) as server:
        outcome = failed(server.url("/feed.xml"), tls=ssl.create_default_context(cafile=tmp_path / "over.pem"))
    assert outcome.code == "tls"
    assert "expired" in outcome.message


def test_a_server_that_speaks_no_tls_is_a_tls_failure() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def refuse() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        threading.Thread(target=refuse, daemon=True).start()
        assert failed(f"https://127.0.0.1:{listening.getsockname()[1]}/feed.xml").code == "tls"


def test_a_redirect_from_https_to_http_is_refused(secure: FeedServer, trusting: ssl.SSLContext) -> None:
    assert failed(secure.url("/back.xml"), tls=trusting).code == "insecure_redirect"


def test_a_redirect_from_http_to_https_is_followed(server: FeedServer, secure: FeedServer, trusting: ssl.SSLContext) -> None:
    server.route("/feed.xml", status=301, headers={"Location": secure.url("/feed.xml")})
    assert fetched(server.url("/feed.xml"), tls=trusting).moved_to == secure.url("/feed.xml")


def test_a_redirect_to_https_and_back_is_refused(server: FeedServer, secure: FeedServer, trusting: ssl.SSLContext) -> None:
    server.route("/feed.xml", status=301, headers={"Location": secure.url("/back.xml")})
    assert failed(server.url("/feed.xml"), tls=trusting).code == "insecure_redirect"


Serve = Callable[[h2.connection.H2Connection, int], None]


@contextmanager
def _http2(file: Path, serve: Serve) -> Iterator[tuple[str, list[dict[bytes, bytes]]]]:
    """An HTTP/2 server's address and the heads of its requests; robots.txt is 404, `serve` answers all else."""
    context = _certificate(file)
    context.set_alpn_protocols(["h2"])
    heads: list[dict[bytes, bytes]] = []
    loop = asyncio.new_event_loop()
    address: list[int] = []
    ready, stop = threading.Event(), asyncio.Event()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = h2.connection.H2Connection(
            h2.config.H2Configuration(client_side=False, validate_outbound_headers=False, normalize_outbound_headers=False)
        )
        connection.initiate_connection()
        try:
            while not writer.is_closing():
                writer.write(connection.data_to_send())
                data = await reader.read(65_536)
                if not data:
                    break
                for event in connection.receive_data(data):
                    if isinstance(event, h2.events.RequestReceived):
                        heads.append(dict(event.headers or []))
                        if heads[-1][b":path"] == b"/robots.txt":
                            connection.send_headers(event.stream_id or 0, [(":status", "404")], end_stream=True)
                        else:
                            serve(connection, event.stream_id or 0)
        except (OSError, asyncio.CancelledError):
            pass
        writer.close()

    async def main() -> None:
        async with await asyncio.start_server(converse, "127.0.0.1", 0, ssl=context) as server:
            address.append(server.sockets[0].getsockname()[1])
            ready.set()
            await stop.wait()

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(main())

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    ready.wait()
    try:
        yield f"https://127.0.0.1:{address[0]}/feed.xml", heads
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()


def _good(connection: h2.connection.H2Connection, stream: int) -> None:
    connection.send_headers(stream, [(":status", "200"), ("content-type", "application/rss+xml"), ("etag", '"v1"')])
    connection.send_data(stream, FEED, end_stream=True)


def _status_of_letters(connection: h2.connection.H2Connection, stream: int) -> None:
    connection.send_headers(stream, [(":status", "fine")], end_stream=True)


def _many_headers(connection: h2.connection.H2Connection, stream: int) -> None:
    connection.send_headers(stream, [(":status", "200")] + [(f"x-{n}", "y" * 4000) for n in range(20)], end_stream=True)


def _reset(connection: h2.connection.H2Connection, stream: int) -> None:
    connection.send_headers(stream, [(":status", "200")])
    connection.reset_stream(stream)


def _goes_away(connection: h2.connection.H2Connection, stream: int) -> None:  # noqa: ARG001
    connection.close_connection(last_stream_id=0)


def _goes_away_in_mid_body(connection: h2.connection.H2Connection, stream: int) -> None:
    connection.send_headers(stream, [(":status", "200")])
    connection.send_data(stream, FEED[:10])
    connection.close_connection(error_code=2, last_stream_id=stream)


def _babbles_in_mid_body(connection: h2.connection.H2Connection, stream: int) -> None:
    connection.send_headers(stream, [(":status", "200")])
    connection.send_data(stream, FEED[:10])
    connection._data_to_send += b"\0\0\4\3\0\0\0\0\0dead"  # RST_STREAM of no stream: RFC 9113 §6.4 calls it an error


def test_http_2_is_spoken_where_it_is_offered(tmp_path: Path) -> None:
    with _http2(tmp_path / "own.pem", _good) as (url, heads):
        outcome = fetched(url, tls=ssl.create_default_context(cafile=tmp_path / "own.pem"))
    assert (outcome.body, outcome.etag) == (FEED, '"v1"')
    assert heads[-1][b":path"] == b"/feed.xml"
    assert heads[-1][b"user-agent"] == AGENT.encode()
    assert b"cookie" not in heads[-1]


@pytest.mark.parametrize(
    "serve", [_status_of_letters, _many_headers, _reset, _goes_away, _goes_away_in_mid_body, _babbles_in_mid_body]
)
def test_a_broken_http_2_answer_is_a_broken_answer(tmp_path: Path, serve: Serve) -> None:
    with _http2(tmp_path / "own.pem", serve) as (url, _):
        assert failed(url, tls=ssl.create_default_context(cafile=tmp_path / "own.pem")).code == "broken_answer"
