"""Statements of the layered citation: text that makes sense to somebody who sees nothing else."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citations.format.citation_statement import StatementKind, build_statement
from tests.citations.stories import texts
from tests.examples import examples

HEADLINE, SUMMARY, BOTH, QUOTED = StatementKind
NEWSROOM = [
    # The summary names what it is about
    (
        "Mira Murati’s Thinking Machines Lab closes on $2B at $10B valuation",
        "Thinking Machines Lab, founded by Mira Murati, has closed a $2 billion seed round.",
        (BOTH, "Mira Murati’s Thinking Machines Lab closes on $2B at $10B valuation. Thinking Machines Lab, founded by Mira"),
    ),
    (
        "Ford has an AI assistant and new hands-free BlueCruise tech on the way",
        "Ford says the new generation of BlueCruise will be 30% cheaper to build than the current technology.",
        (BOTH, "Ford has an AI assistant and new hands-free BlueCruise tech on the way. Ford says the new generation"),
    ),
    (
        "Meta-backed Hupo finds growth after pivot to AI sales coaching",
        "Hupo, backed by Meta, pivoted to AI sales coaching, and secured a $10M Series A led by DST Global",
        (BOTH, "Meta-backed Hupo finds growth after pivot to AI sales coaching. Hupo, backed by Meta, pivoted"),
    ),
    # It sets a scene, of which the headline has no word
    (
        "Yahoo is using AI to recap football games in real time",
        "It's about to be week 14 of the NFL season, and stakes and storylines abound across the league.",
        (HEADLINE, "Yahoo is using AI to recap football games in real time."),
    ),
    # It lacks the news: half of the headline's words are not enough
    (
        "Google Research and ISTA are using light microscopes to map the brain",
        "For more than a decade, Google Research has been using AI to map the connections between every cell in the brain.",
        (BOTH, "Google Research and ISTA are using light microscopes to map the brain. For more than a decade"),
    ),
    # It tells something else than the headline, whose news comes first then
    (
        "David Sacks is done as AI czar — here’s what he’s doing instead",
        "Sacks will be much further from the power center in Washington than since the outset of this administration.",
        (BOTH, '"David Sacks is done as AI czar — here’s what he’s doing instead." Sacks will be much further'),
    ),
    (
        "Amazon launches Kiro, its own Claude-powered challenger to Windsurf and Codex",
        "Initial community reactions to Kiro were mixed, but developers were intrigued.",
        (BOTH, "Amazon launches Kiro, its own Claude-powered challenger to Windsurf and Codex. Initial community"),
    ),
    (
        "India orders Musk’s X to fix Grok over ‘obscene’ AI content",
        "India's IT ministry has given X 72 hours to submit an action-taken report.",
        (BOTH, "India orders Musk’s X to fix Grok over ‘obscene’ AI content. India's IT ministry"),
    ),
    # A headline that is no sentence stands in quotation marks
    ("5 ways to use Quince", "", (HEADLINE, '"5 ways to use Quince."')),
    ("Five ways that AI is learning to improve itself", "", (HEADLINE, '"Five ways that AI is learning to improve itself."')),
    ("Tired of ads? Quince hides them now", "", (HEADLINE, '"Tired of ads? Quince hides them now."')),
    (
        "AI Impact Summit 2026",
        "A look at what Google announced at the AI Impact Summit 2026.",
        (HEADLINE, '"AI Impact Summit 2026."'),
    ),
    ("Inside Quince’s new office", "", (HEADLINE, '"Inside Quince’s new office."')),
    ("This startup is trying to get them out", "", (HEADLINE, '"This startup is trying to get them out."')),
    # It only goes on from the headline
    (
        "Grammarly acquires AI email client Superhuman",
        "In its announcement, Grammarly said it wants to build AI agents for emails using Superhuman's tech.",
        (BOTH, "Grammarly acquires AI email client Superhuman. In its announcement, Grammarly said"),
    ),
    (
        "Forget AGI - Meta is going after 'superintelligence' now",
        "The company is also apparently in talks to invest more than $10 billion in Scale AI.",
        (BOTH, "\"Forget AGI - Meta is going after 'superintelligence' now.\" The company is also apparently"),
    ),
    ("Quince ships", "It works.", (BOTH, "Quince ships. It works.")),
    ("Quince ships", "Next week, Quince will ship.", (BOTH, "Quince ships. Next week, Quince will ship.")),
    (
        "Can AI companies turn brainrot into revenue?",
        "The U.S. government shutdown that began this week is the first in seven years.",
        (HEADLINE, '"Can AI companies turn brainrot into revenue?"'),
    ),
    # It says nothing: it is cut off, asks, orders, teases or is about its author
    (
        "OpenAI asked Trump administration to expand Chips Act tax credit to cover data centers",
        "A recent letter from OpenAI reveals how the company is hoping the government can support its plans for data…",
        (HEADLINE, "OpenAI asked Trump administration to expand Chips Act tax credit to cover data centers."),
    ),
    ("Quince ships", "Quince said that….", (HEADLINE, "Quince ships.")),
    ("Quince ships", "Quince said on Tuesday that...", (HEADLINE, "Quince ships.")),
    ("Quince ships", "Quince said it (and others", (HEADLINE, "Quince ships.")),
    ("Quince ships", "Quince said “we are not", (HEADLINE, "Quince ships.")),
    ("Quince ships", "Quince said what users want is the", (HEADLINE, "Quince ships.")),
    ("Should AI flatter us, or just inform people?", "How do you want your AI to treat you?", (HEADLINE, '"Should AI flatter us')),
    (
        "Is that video AI? 6 telltale signs",
        "Don't be fooled. Here's how you can spot AI videos.",
        (HEADLINE, '"Is that video AI? 6'),
    ),
    ("How to use Quince", "Learn more about how to use Quince in ChatGPT.", (HEADLINE, '"How to use Quince."')),
    ("Quince ships", "Plus: Quince has a new office.", (HEADLINE, "Quince ships.")),
    ("Quince ships", "Quince matters to us, and we have tried it.", (HEADLINE, "Quince ships.")),
    ("I quit all my AI fitness plans", "I feel free.", (HEADLINE, '"I quit all my AI fitness plans."')),
    ("The end of Quince…", "", (HEADLINE, '"The end of Quince."')),
    ("Quince: “The end…”", "", (HEADLINE, '"Quince: ‘The end’."')),
    ("Who needs Quince?", "", (HEADLINE, '"Who needs Quince?"')),
    (
        "The Download: caste bias, and AI videos",
        "Listen to Earth’s rumbling, secret soundtrack The boom of a calving glacier.",
        (HEADLINE, '"The Download: caste bias, and AI videos."'),
    ),
    ("How Quince is secure", "Discover OpenAI's blueprint for Quince.", (HEADLINE, '"How Quince is secure."')),
    ("Quince comes to India", "As part of the rollout, Quince will speak Hindi.", (BOTH, "Quince comes to India. As part of the")),
    ("PayPal buys Quince", "The arrangement is new to PayPal.", (BOTH, "PayPal buys Quince. The arrangement is new")),
    # Only its beginning says something
    ("Quince in your Slack", "Quince can act in Slack. Here's how.", (SUMMARY, "Quince can act in Slack.")),
    ("Quince ships", "Quince has shipped. But can you trust it?", (SUMMARY, "Quince has shipped.")),
    ("Quince ships", "Quince has shipped. It also said that prices…", (SUMMARY, "Quince has shipped.")),
    ("Quince ships", "Quince has shipped. I tried it.", (SUMMARY, "Quince has shipped.")),
    # What is no end of a sentence
    (
        "Quince v. Acme",
        "Quince sued Acme Inc. in the U.S. over No. 5 of Dr. Doe.",
        (SUMMARY, "Quince sued Acme Inc. in the U.S. over No. 5 of"),
    ),
    ("Quince ships", "Quince 2.1.88 costs $1.5 billion. Its price is…", (SUMMARY, "Quince 2.1.88 costs $1.5 billion.")),
    ("Quince ships", "Quince says it is “ready. Really ready.” Others…", (SUMMARY, "Quince says it is “ready. Really ready.”")),
    ("Quince ships", "Quince (known as Q. and others.) ships… now.", (SUMMARY, "Quince (known as Q. and others.) ships… now.")),
    # Whoever is quoted may say "we", and the US is no "us"
    ("Quince ships", "Quince said “we are ready” to the US at I/O.", (SUMMARY, "Quince said “we are ready” to the US at I/O.")),
    # Other languages
    (
        "Quitte liefert aus",
        "Quitte hat am Dienstag geliefert. Weitere Länder sollen…",
        (BOTH, "Quitte liefert aus. Quitte hat am Dienstag geliefert."),
    ),
    ("Quitte liefert aus", "Das Unternehmen hat geliefert.", (BOTH, "Quitte liefert aus. Das Unternehmen hat geliefert.")),
    ("Coing arrive", "Il est arrivé mardi.", (BOTH, "Coing arrive. Il est arrivé mardi.")),
    ("Coing arrive", "Nous lançons Coing.", (HEADLINE, "Coing arrive.")),
    ("榅桲发布", "它已经发布。价格是…", (BOTH, "榅桲发布. 它已经发布。")),
    ("Айва вышла", "Это новая модель.", (BOTH, "Айва вышла. Это новая модель.")),
]
MAKER = [
    ("Launching Quince", "We’re launching Quince.", (QUOTED, '"We’re launching Quince."')),
    (
        "Gemini 3 Pro in Search",
        "We're bringing Gemini 3 Pro, our “best”, to Search.",
        (QUOTED, '"We\'re bringing Gemini 3 Pro, our ‘best’, to Search."'),
    ),
    ("Quince is here", "Our new model is here.", (QUOTED, 'Quince is here: "Our new model is here."')),
    ("Our new model", "Today, we're shipping it.", (QUOTED, '"Today, we\'re shipping it."')),
    ("Our new model", "", (HEADLINE, '"Our new model."')),
    ("Quince is here", "Learn more about our new model.", (HEADLINE, "Quince is here.")),
    ("Quince is here", "Quince is for everyone.", (SUMMARY, "Quince is for everyone.")),
]


@pytest.mark.parametrize(("headline", "summary", "said"), NEWSROOM)
def test_a_newsrooms_report(headline: str, summary: str, said: tuple[StatementKind, str]) -> None:
    _says(headline, summary, said, of_maker=False)


@pytest.mark.parametrize(("headline", "summary", "said"), MAKER)
def test_a_makers_own_blog_is_quoted_where_it_says_we(headline: str, summary: str, said: tuple[StatementKind, str]) -> None:
    _says(headline, summary, said, of_maker=True)


@given(st.sampled_from([one[0] for one in NEWSROOM]), texts | st.sampled_from([one[1] for one in NEWSROOM]), st.booleans())
@examples(300)
def test_whatever_the_summary_it_ends_as_sentences_do_and_never_in_an_ellipsis(headline: str, summary: str, of_maker: bool) -> None:
    said = build_statement(headline, " ".join(summary.split()), of_maker=of_maker).text
    assert re.search(r"[.!?؟।。！？｡][\"'”’»“«)\]」』）】]*$", said)
    assert not re.search(r"(?:…|\.\.)[.\"'”’»)\]]*$", said)


def _says(headline: str, summary: str, said: tuple[StatementKind, str], *, of_maker: bool) -> None:
    found = build_statement(headline, summary, of_maker=of_maker)
    kind, beginning = said
    assert (found.kind, found.text[: len(beginning)]) == (kind, beginning)
