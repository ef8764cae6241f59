"""A word inside a title of a script without spaces finds it by REST and by MCP."""

from urllib.parse import quote

import pytest

from tests.factories import entry, publish
from tests.mcpserver.asgi import get, structured

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def test_rest_and_mcp_find_by_a_word_inside_a_title() -> None:
    titles = (
        "谷歌发布新的人工智能模型",
        "ｿﾆｰが新型ﾛﾎﾞｯﾄを公開",
        "삼성전자, 새로운 인공지능 반도체 공개",
        "นักวิจัยไทยเปิดตัวแบบจำลองภาษาใหม่",
    )
    publish(*(entry(title=title, summary="") for title in titles))
    for word, title in zip(("人工智能", "ロボット", "반도체", "ภาษา"), titles, strict=True):
        assert get(f"/api/search.json?query={quote(word)}")["stories"][0]["headline"] == title
        assert structured("search_wire", query=word)["stories"][0]["headline"] == title
        assert structured("search", query=word)["results"][0]["title"].startswith(title)
