"""Citations found in texts, where others once hid them or took long."""

import pytest

from citations.finding import find_citations
from citations.markup import unmarked


@pytest.mark.timeout(20)
def test_sentences_before_an_id_are_looked_for_once() -> None:
    """Each sentence was once looked for from the beginning of its paragraph: some minutes."""
    found = find_citations(("。" * 1_600 + "cbn-06ff206kfxbb\n\n") * 200)
    assert len(found) == 200


@pytest.mark.timeout(20)
def test_a_tag_is_read_once() -> None:
    """Three parts of a tag of any length each were once tried with each other: some minutes."""
    text = ("<a " + "href=" * 99 + "a" * 480) * 1_000
    assert unmarked(text) == text


@pytest.mark.parametrize("beside", ['{"id": "cbn-7kt2v7n2ns0w", "claim": "It rained."}', '"It rained (cbn-7kt2v7n2ns0w)."'])
def test_what_stands_in_a_list_beside_a_record_is_found_too(beside: str) -> None:
    record = '{"id": "cbn-06ff206kfxbb", "type": "webpage", "title": "Rain"}'
    assert [one.story_id for one in find_citations(f"[{record}, {beside}]")] == ["cbn-06ff206kfxbb", "cbn-7kt2v7n2ns0w"]
