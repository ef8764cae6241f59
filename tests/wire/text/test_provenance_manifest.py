"""The hashes that anyone can recompute: pinned for ever, and blind to how JSON happens to be written."""

import datetime as dt
import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sources import roster
from tests.factories import NOW
from wire.models import StoryRevision
from wire.text import provenance_manifest

DAY = dt.date(2026, 10, 12)
EMPTY = hashlib.sha256(b"").hexdigest()


def revision(**values: Any) -> StoryRevision:
    usual: dict[str, Any] = {
        "revision": 2,
        "status": "corrected",
        "headline": "Quince “buys” Lantern for €90 million — \u2028 & <more>",
        "author": None,
        "summary_medium": "It does.\nReally \\ 🤖.",
        "category": "funding",
        "topics": ["nvidia", "funding"],
        "original_publisher": "TechCrunch",
        "original_publisher_tier": 2,
        "via": None,
        "credited_source": "Daily Bugle",
        "published_at": dt.datetime(2026, 1, 15, 23, 59, 59, 999_999, tzinfo=dt.timezone(dt.timedelta(hours=-2))),
        "language": "en",
    }
    return StoryRevision(**(usual | values))


CONTENT = provenance_manifest.build_story_content("cbn-0123456789ab", "https://techcrunch.com/quince?a=%C3%A9", revision())
LINES = [
    provenance_manifest.build_manifest_story(
        "cbn-0123456789ab", 2, provenance_manifest.hash_json(CONTENT), "cbn-0123456789ab", 0.8549999, 3
    ),
    provenance_manifest.build_manifest_story("cbn-zzzzzzzzzzzz", 1, EMPTY, "cbn-zzzzzzzzzzzz", 0.0, 1),
    provenance_manifest.build_manifest_story("cbn-yyyyyyyyyyyy", 1, EMPTY, "cbn-yyyyyyyyyyyy", 1.0, 24),
]
MANIFEST = provenance_manifest.build_manifest(DAY, 3, EMPTY, EMPTY, "# Editor's Take\n\n*Ünïcode*\n", LINES)


def test_the_hashes_of_a_story_a_day_and_the_first_day_are_pinned() -> None:
    assert provenance_manifest.hash_json(CONTENT) == "170581b9bdf0b60cc0de5c16b8f06f5fa0b919c6417ff2064953810c6e7f9409"
    assert provenance_manifest.hash_json(MANIFEST) == "fb5e4f60126b9dad1a2ec5cf72a767b092fe82e0e1907dd93390c746dbe16b86"
    first = provenance_manifest.build_manifest(DAY, 1, None, EMPTY, "", [])
    assert provenance_manifest.canonicalize_json(first) == (
        b'{"editor_take":"","previous_sha256":null,"revision":1,"roster_sha256":"' + EMPTY.encode() + b'","stories":[],"v":1,'
        b'"wire_date":"2026-10-12"}'
    )
    assert provenance_manifest.hash_json(first) == "f6514febf543bdf9939d2ae41b90f7310231cfffe7068bdbe6bff32f40a8c048"


def test_times_are_hashed_in_utc_and_whole_seconds_and_scores_with_two_decimals() -> None:
    assert CONTENT["published_at"] == "2026-01-16T01:59:59Z"
    assert [line["consensus_score"] for line in LINES] == [0.85, 0.0, 1.0]
    assert b'"consensus_score":0.85,' in provenance_manifest.canonicalize_json(MANIFEST)
    assert b'"consensus_score":1,' in provenance_manifest.canonicalize_json(MANIFEST)


def test_the_anchor_is_pinned() -> None:
    anchor = provenance_manifest.build_fpl_anchor("https://wire.example/api/archive/2026-10-12.json?revision=1", EMPTY, NOW)
    assert list(anchor) == ["fpl_version", "canonical_uri", "hash_algorithm", "sha256", "utc_timestamp"]
    assert anchor["utc_timestamp"] == "2026-01-16T12:00:00Z"
    assert provenance_manifest.hash_json(anchor) == "a769a7c5606efa2b13d974ad1ec8612b0ab7c386064c8b25fc5e6767eaebb02d"


@pytest.mark.usefixtures("sample_wire")
def test_the_hash_of_the_samples_first_day_is_pinned() -> None:
    """Lexicon, clustering and take are held still here: only identity, texts and hashing can move this one."""
    stories = StoryRevision.objects.filter(story__wire_date=DAY, revision=1).order_by("story__chatbotnews_id")
    fixed = {"category": "industry", "topics": []}
    contents = [
        provenance_manifest.build_story_content(row.story.chatbotnews_id, row.story.original_url, row) | fixed
        for row in stories.select_related("story")
    ]
    lines = [
        provenance_manifest.build_manifest_story(
            c["chatbotnews_id"], 1, provenance_manifest.hash_json(c), c["chatbotnews_id"], 0.0, 1
        )
        for c in contents
    ]
    assert len(lines) == 43
    manifest = provenance_manifest.build_manifest(DAY, 1, None, roster.get_current_roster().fingerprint, "", lines)
    assert provenance_manifest.hash_json(manifest) == "1c1e44af9a4539246409df9069efb91220ff072a96a6936b41506ce71c896521"


def test_every_field_of_the_content_counts() -> None:
    values: dict[str, Any] = {"revision": 3, "original_publisher_tier": 1, "topics": [], "published_at": NOW}
    for name in set(CONTENT) - {"v", "chatbotnews_id", "original_url"}:
        changed = revision(**{name: values.get(name, "other")})
        other = provenance_manifest.build_story_content("cbn-0123456789ab", "https://techcrunch.com/quince?a=%C3%A9", changed)
        assert {key for key in CONTENT if other[key] != CONTENT[key]} == {name}
        assert provenance_manifest.hash_json(other) != provenance_manifest.hash_json(CONTENT)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), JSON, max_size=6), st.randoms(use_true_random=False))
def test_a_hash_does_not_depend_on_the_order_of_keys_or_the_way_json_is_written(value: dict[str, Any], chance: Any) -> None:
    shuffled = list(value.items())
    chance.shuffle(shuffled)
    digest = provenance_manifest.hash_json(value)
    assert provenance_manifest.hash_json(dict(shuffled)) == digest
    assert provenance_manifest.hash_json(json.loads(json.dumps(dict(shuffled), indent=chance.choice([None, 2])))) == digest


@given(st.dictionaries(st.sampled_from(sorted(MANIFEST)), JSON, min_size=1))
def test_only_revision_and_link_may_differ_between_two_manifests_of_the_same_news(changes: dict[str, Any]) -> None:
    other = MANIFEST | changes
    told = {name for name in MANIFEST if other[name] != MANIFEST[name]}
    assert provenance_manifest.has_same_content(MANIFEST, other) == (told <= {"revision", "previous_sha256"})
