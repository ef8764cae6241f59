"""The policy's file: each mistake is told by table and key, with what to write there."""

from pathlib import Path

import pytest

from mcpserver.gateway.resource_policy import PolicyError, load_policy

TRENDS = "resources.news_global_trends"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("version = 2", "version: 2 is unknown; this release reads version 1."),
        (f"[{TRENDS}]\nlmit = 3", f"{TRENDS}.lmit: this key is unknown"),
        (f"[{TRENDS}]\nlimit = 1.5", f"{TRENDS}.limit: a whole number is needed."),
        (f"[{TRENDS}]\nttl = 'soon'", f"{TRENDS}.ttl: 'soon' is not a time such as 36s, 5m, 24h or forever."),
        (f"[{TRENDS}]\nttl = true", f"{TRENDS}.ttl: 'True' is not a time"),
        (f"[{TRENDS}]\ntimeout = '0s'", f"{TRENDS}.timeout: a time longer than 0 is needed."),
        (f"[{TRENDS}]\nupstream = 'x'", f"{TRENDS}.upstream: there is no upstream 'x'."),
        (f"[{TRENDS}]\nlimit_per = ['x']", f"{TRENDS}: there is no parameter 'x'"),
        (f"[{TRENDS}.params]\nx = {{ type = 'enum' }}", f"{TRENDS}.params.x.values: an enum lists its values."),
        ("[resources.x]\nuri = 'x://y'", "resources.x.upstream: this key is missing."),
        ("[upstreams.a]\nkind = 'x'", "upstreams.a.kind: the value should be 'off', 'wire', 'stdio' or 'http'."),
        ("[upstreams.a]\nkind = 'stdio'", "upstreams.a.command: a list of words is needed"),
        ("[upstreams.a]\nkind = 'http'", "upstreams.a.address: an http(s) address is needed."),
        ("[upstreams.a.env]\nAPI_KEY = 'secret!'", "upstreams.a.env: API_KEY: name the variable with the secret, as 'env:NAME'."),
        ("[upstreams.a.adapters.x]\ntool = 'y'", "upstreams.a.adapters: there is no resource 'x'."),
        (
            "[upstreams.a.adapters.news_global_trends]\ntool = 'y'\narguments = { n = '{+limit}' }",
            "upstreams.a.adapters.news_global_trends: there is no parameter '+limit' (",
        ),
        ("resources = 3", "resources: the value should be a valid table."),
    ],
)
def test_a_mistake_is_told_by_table_and_key(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(text)
    with pytest.raises(PolicyError) as refused:
        load_policy(file)
    assert str(refused.value).startswith(sentence)
    assert "secret!" not in str(refused.value)


def test_tables_of_the_operator_are_laid_over_those_that_ship(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(f"[defaults]\nattempts = 7\n[{TRENDS}]\nttl = '1h'\n")
    trends, vectors = (load_policy(file).resources[name] for name in ("news_global_trends", "weaviate_vector_search"))
    assert (trends.ttl, trends.limit, trends.attempts, vectors.attempts) == (3_600, 50, 7, 1)
