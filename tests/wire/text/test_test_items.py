"""Items that only try out publishing, as publishers have let them slip into their feeds; and news that tells of tests."""

import pytest

from wire.text.filters import is_test_item

TRIALS = """
[dev] Muse Spark 1.1
[DEV] Introducing Llama 5
[dev 2] Page
[test] New layout
(TEST) Election results
[DRAFT] OpenAI ships
OpenAI ships GPT-6 [draft]
Body image story - DON'T PUBLISH
DO NOT PUBLISH: Quarterly results
[Do not publish] Quarterly results
TEST - Election night story
Test
TEST
Test post
Test Post 2
This is a test
This is just a test post
This is only a test, please ignore
Testing 1 2 3
Testing, testing, one two three
Test article – ignore
test test test
Hello world!
Lorem ipsum
Lorem ipsum dolor sit amet, consectetur adipiscing elit
Auto Draft
Untitled
(no title)
Title goes here
Placeholder
asdfgh
My test page
Sample Page
TKTK
"""
NEWS = """
Google tests AI mode in Search
Google test turns search results into an AI-generated podcast
Testing, testing: OpenAI tries ads
GPT-5 failed the hype test
Scaling How We Build and Test Our Most Advanced AI
Test post-quantum cryptography before it is too late
A test of faith
Hello World raises $10M
Hello, world model
Draft EU rules target AI
OpenAI publishes its constitution (draft)
Google tells publishers: Do Not Publish AI slop
Lorem ipsum generator made by AI goes viral
Testing AI agents: what we learned
Legal work with AI: The DraftWise story
Dev Day 2026: everything OpenAI announced
[Updated] OpenAI ships
Test-time compute, explained
Sample efficiency in RL
Untitled Goose Game maker uses AI
Staging a comeback
GPT-5
2026
o3
"""


@pytest.mark.parametrize("headline", TRIALS.strip().splitlines())
def test_an_item_that_tries_out_publishing_is_no_story(headline: str) -> None:
    assert is_test_item(headline)


@pytest.mark.parametrize("headline", NEWS.strip().splitlines())
def test_news_that_tells_of_tests_is(headline: str) -> None:
    assert not is_test_item(headline)


def test_filler_text_gives_an_item_away() -> None:
    assert is_test_item("Our new look", "Lorem ipsum dolor sit amet, consectetur adipiscing elit.")
    assert not is_test_item("Our new look", "The phrase lorem ipsum dolor sit amet is 500 years old.")
