"""Content-Digest (RFC 9530): of the bytes as they are sent, whatever their coding."""

import base64
import hashlib

import pytest

from tests.mcpserver.asgi import request

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sample")]


@pytest.mark.parametrize("coding", ["", "gzip", "zstd"])
def test_an_answer_of_rest_bears_the_digest_of_its_bytes(coding: str) -> None:
    answer = request("GET", "/api/today.json", headers={"accept-encoding": coding})
    digest = base64.b64encode(hashlib.sha256(answer.body).digest()).decode()
    assert answer["content-digest"] == f"sha-256=:{digest}:"
    assert answer["content-encoding"] == (coding or None)
    unchanged = request("GET", "/api/today.json", headers={"accept-encoding": coding, "if-none-match": str(answer["etag"])})
    assert (unchanged.status, unchanged["content-digest"]) == (304, None)
