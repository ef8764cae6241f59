"""Headlines of round-ups, newsletters and live pages, most of them recorded; and of news that talks about such."""

import pytest

from wire.text.filters import is_roundup

ROUNDUPS = """
The Download: AI’s energy future
Live updates: Nvidia’s keynote at CES
Live Blog: Digging Into The #UkraineDocs
Google I/O 2026 live blog: all the news from the keynote
The Voice Blind Auditions #5 - Live blog
House begins historic impeachment debate over President Trump – live updates
Week in Review: Why Anthropic cut access to Windsurf
Week in review
Weekly roundup
AI Weekly: agents everywhere
Newsletter: Who pays for the data centers?
This Week in AI: Apple won’t say how the sausage gets made
Last Week in AI #330 - Groq->Nvidia , ChatGPT Apps, US AI Genesis Mission
LWiAI Podcast #229 - Gemini 3 Flash, ChatGPT Apps, Nemotron 3
Monday briefing: How Elon Musk’s Grok is being used as a tool for digital sexual abuse
Equity Live: From $300M seed rounds to data center builds, AI is feeling bubbly
5 things to know
5 things to know for Monday, March 10
10 Things You Need To Know This Morning
10 Things You Need To Know Before The Opening Bell
Morning brief
All the news from Meta Connect 2025
All of the updates from OpenAI DevDay 2025
Everything OpenAI announced at DevDay 2025: Agent Kit, Apps SDK, ChatGPT, and more
Google I/O 2025: Everything announced at this year’s developer conference
CES 2026: Follow live for the best, weirdest, most interesting tech as this robot and AI-heavy event wraps up
I'm an AI expert, and these 8 announcements at Google I/O impressed me the most
The latest AI news we announced in December
Google I/O 2025: What to expect, including updates to Gemini and Android 16
The biggest announcements from Nvidia’s keynote
The Daily Brief: OpenAI, Anthropic and the rest
Axios AM: Trump’s order
Axios PM
Axios AI+: Chips
TechCrunch Mobility: Waymo goes to court
Startups Weekly: Drama at Techstars
StrictlyVC: May 5
The Briefing: Meta’s big bet
Top 10 stories of the week
The biggest AI stories of the week
AI news roundup: chips, models, lawsuits
Tech news digest
"""
NEWS = """
Making AI Work, MIT Technology Review’s new AI newsletter, is here
The 3 biggest bombshells from this week’s AI extravaganza
ChatGPT rockets to 700M weekly users ahead of GPT-5 launch with reasoning superpowers
OpenAI launches ChatGPT Pulse to proactively write you morning briefs
ChatGPT’s yearly recap sums up your conversations with the chatbot
Every product Apple launched this week: M5 MacBook Pro, iPad, $3,500 Vision Pro, more
Five things you need to know about AI right now
5 Things To Know: Net Neutrality Is Back In Court
5 things to know about Trump's U.N. pick: S.C. Gov. Nikki Haley
Gemini 3.1 Flash Live: Making audio AI more natural and reliable
Search Live: Talk, listen and explore in real time with AI Mode
Live demo fails, AI safety wins, and the golden age of robotics
Live translation comes to AirPods
Weekly jobless claims hit 6.6 million due to coronavirus outbreak, Labor Department says
Downloads of Claude double
Spotify’s new audiobook recap feature uses AI to remind you of the story so far
Samsung Unpacked 2026 recap: All the news on Galaxy S26 Ultra, Privacy Display, Buds 4 Pro
Perplexity Partners with ElevenLabs to launch 'Discover Daily' Podcast
These top 30 AI agents deliver a mix of functions and autonomy
What your tools miss at 2:13 AM: How gen AI attack chains exploit telemetry lag – Part 2
Axios raises $20M
"""


@pytest.mark.parametrize("headline", ROUNDUPS.strip().splitlines())
def test_a_round_up_is_known_by_its_headline(headline: str) -> None:
    assert is_roundup(headline)


@pytest.mark.parametrize("headline", NEWS.strip().splitlines())
def test_news_that_sounds_a_little_like_one_is_none(headline: str) -> None:
    assert not is_roundup(headline)
