"""https: the name is verified, and nobody is led back to http."""

import datetime as dt
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.feedserver import FEED, FeedServer
from tests.sources.fetch.fetching import failed, fetched


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


def test_a_redirect_from_https_to_http_is_refused(server: FeedServer, secure: FeedServer, trusting: ssl.SSLContext) -> None:
    for path in ("/feed.xml", "/back.xml"):
        server.route(path, status=301, headers={"Location": secure.url(path)})
    assert fetched(server.url("/feed.xml"), tls=trusting).moved_to == secure.url("/feed.xml")
    assert failed(secure.url("/back.xml"), tls=trusting).code == "insecure_redirect"
    assert failed(server.url("/back.xml"), tls=trusting).code == "insecure_redirect"
