"""Genres of real headlines, and of news that talks about podcasts, newsletters, reviews and deals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.text.filters import Genre, find_genre

HEADLINES = {
    Genre.LIVE: """
CES 2026: Follow live for the best, weirdest, most interesting tech as this robot and AI-heavy event wraps up
Live updates: Nvidia’s keynote at CES
Google I/O 2026 live blog: all the news from the keynote
Musk v OpenAI trial opens in Oakland – live
""",
    Genre.ROUNDUP: """
The Download: AI’s energy future
Week in Review: Why Anthropic cut access to Windsurf
Samsung Unpacked 2026 recap: All the news on Galaxy S26 Ultra, Privacy Display, Buds 4 Pro
60 of our biggest AI announcements in 2025
""",
    Genre.PODCAST: """
LWiAI Podcast #229 - Gemini 3 Flash, ChatGPT Apps, Nemotron 3
X rated: Ofcom investigates Grok – podcast
Why AI datacentres are draining our energy and water – Full Story podcast
After the Bondi attack, a deepfaked Guardian video went viral. It won't be the last – video
Hear a podcast discussion about Gemini’s coding capabilities.
Roundtables: Why AI Companies Are Betting on Next-Gen Nuclear
""",
    Genre.NEWSLETTER: """
Newsletter: Who pays for the data centers?
""",
    Genre.OPINION: """
The Guardian view on regulating big tech: politicians must back Ofcom’s challenge to Musk | Editorial
It’s the governance of AI that matters, not its ‘personhood’ | Letters
The case for embedding audit trails in AI systems before scaling
Opinion: The chip ban will not work
""",
    Genre.HOWTO: """
How to remove Copilot from your Microsoft 365 plan - before you have to pay for it
How to watch Jensen Huang’s Nvidia GTC 2026 keynote
8 ways to write better ChatGPT prompts - and get the results you want faster
5 AI coding tips every pro should know to actually save time - and stay out of trouble
A Coding Guide to Demonstrate Targeted Data Poisoning Attacks in Deep Learning by Label Flipping on CIFAR-10 with PyTorch
ChatGPT: Everything you need to know about the AI-powered chatbot
Ditching ChatGPT for Claude? How to easily transfer your memories and preferences
Ask a techspert: What is inference?
""",
    Genre.REVIEW: """
I tried Perplexity's Comet AI browser - here's what you need to know
I've tested free vs. paid AI coding tools - here's which one I'd actually use
The best AI for coding in 2025 (including a new winner - and what not to use)
Samsung Galaxy Z Flip 7 vs. Motorola Razr Ultra: I tested both foldables, and here's the winner
Love Machines by James Muldoon review – inside the uncanny world of AI relationships
Hands on with Stickerbox, the AI-powered sticker maker for kids
This Windows laptop is my pocket pick for best MacBook Pro alternative - and it's $800 off
The 50 best Black Friday laptop deals
Last week: Exhibit your startup at TechCrunch Sessions AI
4 days to go: TechCrunch Sessions: AI is almost in session
""",
    Genre.NEWS: """
Microsoft’s Satya Nadella is choosing chatbots over podcasts
Adobe Acrobat uses AI to turn your PDFs into podcasts
Making AI Work, MIT Technology Review’s new AI newsletter, is here
Joe Rogan podcast: Musk says xAI will merge
Musk claims new Grok 4 beats o3 and Gemini 2.5 Pro - how to try it
Apple’s new App Review Guidelines clamp down on apps sharing personal data with ‘third-party AI’
The Meta-Manus review: What enterprise AI buyers need to know about cross-border compliance risk
Google’s Windsurf purchase faces antitrust review: report
EU opens an in-depth review: sources
Perplexity’s Comet AI browser is hurtling toward Chrome
The case against Google goes to a jury
Anthropic vs. the Pentagon: What’s actually at stake?
AI vs. AI: Prophet Security raises $30M to replace human analysts with autonomous defenders
Best Buy expects AI PCs to lift sales in 2026
Nvidia shares are 20% off their peak
Meta signs deals with nuclear energy companies
Warner Music signs deal with AI music startup Suno, settles lawsuit
Akool Live Camera can translate video calls in real time, swap faces, and get live virtual avatars
Live-action AI film opens in Cannes
OpenAI launches Sora 2 | TechCrunch
Musk vs. OpenAI, which seeks to dismiss, goes to trial
Last week OpenAI moved to register a trademark
Opinion is divided on OpenAI’s new model
""",
}
ADDRESSES = {
    "https://techcrunch.com/podcast/nvidia-has-an-openclaw-strategy-do-you/": Genre.PODCAST,
    "https://techcrunch.com/video/nvidia-has-an-openclaw-strategy-do-you/": Genre.PODCAST,
    "https://www.theverge.com/decoder-podcast-with-nilay-patel/673638/google-ceo-sundar-pichai": Genre.PODCAST,
    "https://www.theverge.com/command-line-newsletter/690720/meta-buy-thinking-machines": Genre.NEWSLETTER,
    "https://www.theguardian.com/commentisfree/2026/jan/09/grok-undressing-women": Genre.OPINION,
    "https://www.theguardian.com/technology/live/2026/jan/09/musk-trial": Genre.LIVE,
    "https://www.example.com/opinion/openai-is-wrong?utm_source=rss": Genre.OPINION,
    "https://www.example.com/reviews/rabbit-r1": Genre.REVIEW,
    "https://www.example.com/how-to/use-chatgpt": Genre.HOWTO,
    # A word of the story's own address is about the story; only sections count.
    "https://www.zdnet.com/article/adobe-acrobat-ai-editing-presentations-podcasts/": Genre.NEWS,
    "https://www.example.com/podcasts": Genre.NEWS,
    "https://www.example.com/markets/deals/openai-buys-io": Genre.NEWS,
    "https://www.example.com/ai/video/sora-2-is-out": Genre.NEWS,
    "https://podcasts.example.com/news/openai-buys-io": Genre.NEWS,
    "https://www.example.com/news/openai-buys-io?section=/opinion/x": Genre.NEWS,
    "": Genre.NEWS,
}
SUMMARIES = {
    "This is an excerpt of Sources by Alex Heath, a newsletter about AI and the tech industry.": Genre.NEWSLETTER,
    "This is today’s edition of The Download, our weekday newsletter.": Genre.NEWSLETTER,
    "Hello, and welcome to Decoder! I’m Alex Heath.": Genre.PODCAST,
    "The company is launching a newsletter about AI.": Genre.NEWS,
    "This week on Monday, OpenAI said it would file for an offering.": Genre.NEWS,
}


@pytest.mark.parametrize(
    ("headline", "genre"), [(line, genre) for genre, lines in HEADLINES.items() for line in lines.strip().splitlines()]
)
def test_a_headline_has_its_genre(headline: str, genre: Genre) -> None:
    assert find_genre(headline) == genre


@pytest.mark.parametrize(("url", "genre"), ADDRESSES.items())
def test_an_address_tells_the_genre_by_its_sections(url: str, genre: Genre) -> None:
    assert find_genre("OpenAI buys io", url) == genre


@pytest.mark.parametrize(("summary", "genre"), SUMMARIES.items())
def test_a_summary_tells_the_genre_by_its_first_words(summary: str, genre: Genre) -> None:
    assert find_genre("OpenAI buys io", summary=summary) == genre


@given(st.text(max_size=300), st.text(max_size=200), st.text(max_size=300))
def test_any_text_has_a_genre(headline: str, url: str, summary: str) -> None:
    assert find_genre(headline, url, summary) in Genre
