"""What publishers print around an article, as recorded from their feeds; and openings of articles that look a little like it."""

import pytest

from wire.text.filters import is_boilerplate
from wire.text.plain_text import extract_summary

BOILERPLATE = """
Disclosure: Quince Media is an investor in Medlar Press, this magazine’s parent company.
This is today’s edition of The Download, our weekday newsletter that provides a daily dose of what’s going on in the world of technology.
This is an excerpt of Sources by Alex Heath, a newsletter about AI and the tech industry, syndicated just for The Verge subscribers once a week.
This story originally appeared in The Algorithm, our weekly newsletter on AI.
To get stories like this in your inbox first, sign up here.
This is The Stepback, a weekly newsletter breaking down one essential story from the tech world.
For more on all things AI, follow Hayden Field.
For more on smartphones and digital imagery - real or otherwise - follow Allison Johnson.
The Stepback arrives in our subscribers' inboxes at 8AM ET.
Opt in for The Stepback here.
Hello, and welcome to Decoder!
This is Alex Heath, your Thursday episode guest host and deputy editor at The Verge.
I’m Jon Fortt — CNBC journalist, cohost of Closing Bell: Overtime, and creator of the Fortt Knox streaming series on LinkedIn.
This is the last episode I’ll be guest-hosting for Nilay while he’s out on parental leave.
Hello and welcome to Regulator, a newsletter about the collision between Big Tech and Washington (last week of summer edition).
If you enjoy this, consider subscribing to get this newsletter weekly and everything The Verge has to offer.
Welcome back to The State of AI, a new collaboration between the Financial Times and MIT Technology Review.
This story first appeared in The Debrief, our subscriber-only newsletter about the biggest news in tech by Mat Honan, Editor in Chief.
Subscribe to read the next edition as soon as it lands.
MIT Technology Review Explains: Let our writers untangle the complex, messy world of technology to help you understand what’s coming next.
You can read more from the series here.
You can read the rest of them here.
Editor’s note: This post is part of the AI On blog series, which explores the latest techniques and applications of agentic AI.
This post is co-written with Jane Doe and John Roe from Acme.
Continue reading...
Happy Friday.
Skip to main content
Read more
Learn more here.
Click here to read our privacy policy.
Sign up for our daily newsletter.
The post OpenAI ships appeared first on TechCrunch.
Advertisement
Photo by Justin Sullivan/Getty Images
Image credits: Kirsten Korosec
Illustration: Sarah Grillo/Axios
Illustration by Cath Virginia / The Verge | Photos from Getty Images
"""  # noqa: E501  (as recorded)
NEWS = """
The disclosure says that Quince Media sold its shares.
This story is a partnership between MIT Technology Review, Lighthouse Reports, and Trouw, and was supported by the Pulitzer Center.
This is what happened when I used AI to rebuild an open-source project, and it's why open source is so powerful.
This is a bad idea.
This week on Equity, Anthony Ha and Max Zeff go beyond the headlines to break down what's really going on.
Learn more about the latest Pixel and Android updates, featuring the latest in Google AI innovation.
Welcome to the age of agents.
Welcome to America’s Cultural Revolution
Sign up for Amazon Prime and get the assistant for nothing.
Subscribers of ChatGPT Plus get the newsletter feature first.
The newsletter platform Substack sues OpenAI.
Getty Images sues Stability AI.
Photos by Midjourney fool more people than real ones.
Image generators are getting better at text, and worse at everything else.
Video: Pyongyang dialing down the rhetoric?
Read the fine print before you let an agent shop for you.
Reuters first reported the talks.
"""


@pytest.mark.parametrize("sentence", BOILERPLATE.strip().splitlines())
def test_what_is_printed_around_an_article_is_boilerplate(sentence: str) -> None:
    assert is_boilerplate(sentence)
    assert not extract_summary(sentence)


@pytest.mark.parametrize("sentence", NEWS.strip().splitlines())
def test_what_an_article_says_is_none(sentence: str) -> None:
    assert not is_boilerplate(sentence)
    assert extract_summary(sentence) == sentence


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "This is today’s edition of The Download, our weekday newsletter that provides a daily dose of what’s going on in the "
            "world of technology. AI coding is now everywhere. But not everyone is convinced.",
            "AI coding is now everywhere. But not everyone is convinced.",
        ),
        (
            "This is The Stepback, a weekly newsletter breaking down one essential story from the tech world. For more on all "
            "things AI, follow Hayden Field. The Stepback arrives in our subscribers' inboxes at 8AM ET. Opt in for The Stepback "
            "here. How it started It all started with J.A.R.V.I.S. Yes, that J.A.R.V.I.S.",
            "It all started with J.A.R.V.I.S. Yes, that J.A.R.V.I.S.",
        ),
        ("Skip to content OpenAI ships GPT-6 to everyone.", "OpenAI ships GPT-6 to everyone."),
        ("Illustration: Sarah Grillo/Axios The White House drafts an order on AI.", "The White House drafts an order on AI."),
        ("Photo by Justin Sullivan/Getty Images OpenAI has raised $40 billion.", "OpenAI has raised $40 billion."),
        ("OpenAI has raised $40 billion. Continue reading…", "OpenAI has raised $40 billion."),
        ("Sign up for our newsletter. OpenAI has raised $40 billion.", "OpenAI has raised $40 billion."),
    ],
)
def test_the_summary_begins_with_what_the_article_says(text: str, expected: str) -> None:
    assert extract_summary(text) == expected


def test_what_a_feed_cut_off_before_it_said_anything_is_no_summary() -> None:
    assert extract_summary("Hey there, and welcome to Decoder! It’s been a very […]") == ""
    assert extract_summary("It’s been a very […]") == "It’s been a very…"
