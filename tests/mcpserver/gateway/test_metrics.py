"""The figures have the names that the specification gives: milliseconds, by resource."""

from mcpserver.gateway import metrics
from tests.mcpserver.gateway.stage import Stage, failure, tweet


def _figures() -> dict[str, float]:
    rows = [line.rsplit(" ", 1) for line in metrics.render_metrics() if line and not line.startswith("#")]
    return {name: float(value) for name, value in rows}


def test_each_resource_has_a_histogram_a_hit_rate_errors_and_what_is_left(stage: Stage) -> None:
    before = _figures()
    stage.upstream.script["twitter_mentions_recent"] = [failure("refused"), [tweet()]]
    stage.upstream.script["twitter_feed"] = [failure("refused")]
    for _ in range(3):
        stage.ask("twitter://mentions/recent")
        stage.wait(36)
    after = _figures()

    def more(name: str) -> float:
        return after[name] - before.get(name, 0.0)

    assert more("mcp_twitter_mentions_recent_duration_ms_count") == 3
    assert more('mcp_twitter_mentions_recent_errors_total{error_code="refused"}') == 2  # the question's, and the chain's
    assert 0 < after["mcp_twitter_mentions_recent_cache_hit_rate"] < 1
    assert after["mcp_twitter_mentions_recent_rate_limit_remaining"] == 98
    assert 'mcp_twitter_mentions_recent_duration_ms_bucket{le="100.0"}' in after
