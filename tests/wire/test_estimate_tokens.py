"""The estimate of tokens against what cl100k (js-tiktoken 1.0) made of frozen answers of the sample wire, in every detail."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from wire.schemas.story import estimate_tokens

SAMPLES: Final = json.loads((Path(__file__).parent / "estimated_tokens.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample["what"])
def test_it_is_within_five_per_cent(sample: dict[str, Any]) -> None:
    assert estimate_tokens([sample["text"].encode()]) == pytest.approx(sample["cl100k"], rel=0.05)


def test_nothing_costs_nothing_and_pieces_cost_what_the_whole_costs() -> None:
    assert estimate_tokens([]) == estimate_tokens([b""]) == 0
    whole = SAMPLES[0]["text"].encode()
    assert estimate_tokens([whole, whole]) == pytest.approx(2 * estimate_tokens([whole]), abs=1)
