"""Summaries that are none, as real feeds had them between 2025 and 2026."""

import pytest

from wire.text.filters import is_caption, repeats_headline, strip_headline

CAPTIONS = """
ask ai mode
Gemini 3 Flash text
Gemini Enterprise logo
Sweetwater short film poster
Animation showing Jules Tools
Gemini Enterprise user interface
Text: AI Futures Fund from Google
AI agent trends report 2026 graphic
an illustration of blue and white cubes
Photograph of the 3 people in the caption
Image showing sample tracks created with Lyria 3
Image with black background and Gemini 3 Pro logo
Gemini CLI icon on a background with code snippets
Nuclear power plant with sunrise in the background
Drawing of a person sitting cross legged with their laptop
Photos of animals being identified by the SpeciesNet AI model
a picture of a conference with interactive displays and screens
Collage of images showing nurses working with patients and technology
Google Meet icon, Google Classroom icon, with various browser windows
Blue and black futuristic illustration with Gemini 2.5 logo in the middle
Logos for AI Mode in Search and Search Live in front of a black background
Gemini 3 logo in front of a black background with the number 3 in blue dots
an MP4 of a carousel with images reading "Gemini 3.1 Pro" and "Nano Banana 2"
Three phone screens showing different screens of using virtual clothing try-on
Gemini 3.5 text and multi-colored star icon on an abstract blue background
A collage of photos showing people using technology around the world, on a white background
Video sharing the future of AI & Learning with examples from classrooms from around the world
The Gemini emblem sits next to text reading 'Gemini 3.1 Flash Live'. The background has blue dots making up a microphone icon
The image is a dark-themed illustration depicting three people interacting with technology, surrounded by various product icons.
An illustration of a King and Ace playing card, a wolf's head, two chess pieces and a poker chip on a white background.
"""
SUMMARIES = """
Zoom is also introducing a real-time deepfake detection tech for meetings
Meta will not sign the EU's new rules, calling the implementation "over-reach"
Google said that merchants can now offer discounts to users directly in AI mode results
Amazon Quick Suite aims to be 'everything you want to do with ChatGPT at work, but can't.'
Grammarly is renaming itself as Superhuman, after acquiring Superhuman email client in July
A new iPhone app, Endless Summer, uses AI to create photorealistic vacation photos starring you, no travel required
Perplexity has acquired Visual Electric, an AI Design tool. Its team is going to lead a new agents experience group at Perplexity
Another day, another model.
阿里巴巴发布了新的人工智能模型。
ما الذي يعرفه النموذج؟
Image generators are getting better at text, and worse at everything else.
Video calls on the phone now show captions in 24 languages.
Photos of the prototype leaked on Friday.
My initial tests revealed the text and prompt adherence was not noticeably better than Midjourney, the image generator
"""


@pytest.mark.parametrize("text", CAPTIONS.strip().splitlines())
def test_a_pictures_description_is_no_summary(text: str) -> None:
    assert is_caption(text)


@pytest.mark.parametrize("text", SUMMARIES.strip().splitlines())
def test_what_tells_news_is_none_of_a_picture(text: str) -> None:
    assert not is_caption(text)


OF_MAKERS = """
A doctor is sitting across a desk from a patient. The doctor is holding a tablet and a pen.
A woman outdoors in the snow looks at a tablet. A half pipe is behind her.
Screenshot of the AI Mode page with the text, "Hi Lukas what's on your mind?"
Zoubeir Jlassi reacts with surprise on stage at the AI Film Awards for the film "Lily". He stands by a trophy podium.
Golden retriever catching frisbee over water. UI overlay shows Google AI watermark detected.
Google's capital G logo, colored red, yellow, green, and blue, on a white background.
Three people engaged in conversation sit in chairs at a Google for Startups Campus.
Two smiling women pose side-by-side. One wears a light patterned hijab and white shirt; the other a black hijab and glasses.
Gemini CLI GitHub Actions implements a feature at a user's request
Google Lens on a ladybug, Ask AI Mode search bar, Chrome rocket launch.
"""
NEWS_OF_MAKERS = """
Sundar Pichai sits down with Logan Kilpatrick to discuss Gemini 3 on the Google AI: Release Notes podcast.
Learn how Gemini 3 powers Google Search with Generative UI, Nano Banana, and interactive graphics.
Google is partnering with the Massachusetts AI Hub to provide every Baystater with no-cost access to Google’s AI training.
At The Check Up 2025, we shared more about the potential of AI in health and our latest health AI research.
Our Perch AI model helps conservationists analyze bioacoustic data to protect endangered species like birds and coral reefs.
DINOv3 scales self-supervised learning for images to create universal vision backbones that achieve state-of-the-art performance.
Gemma 3n runs on phones, tablets and laptops.
Introducing Gemini Robotics, which helps people fold clothes on a table.
Claude for Chrome sits in a side panel and helps people fill forms.
Meta AI app displays captions on glasses for people who are hard of hearing.
How Nubank built an assistant for people in Brazil with the Realtime API on phones.
Nvidia reported record revenue of $57bn, up 62% on the year
Command A Vision excels across enterprise image understanding tasks while keeping a low compute footprint.
"""


@pytest.mark.parametrize("text", OF_MAKERS.strip().splitlines())
def test_a_makers_blog_describes_its_picture_in_whole_sentences(text: str) -> None:
    assert is_caption(text, of_maker=True)


@pytest.mark.parametrize("text", NEWS_OF_MAKERS.strip().splitlines())
def test_what_a_makers_blog_tells_is_no_picture(text: str) -> None:
    assert not is_caption(text, of_maker=True)


def test_a_newsroom_may_begin_with_a_scene() -> None:
    assert not is_caption("Several people are gathered around a bleach blond man in a bright pink suit in a clear plastic tube.")


@pytest.mark.parametrize(
    ("headline", "text", "expected"),
    [
        ("Introducing Muse Spark 1.1", "Introducing Muse Spark 1.1", True),
        ("Introducing vibe coding in Google AI Studio", "Vibe Coding in Google AI Studio", True),
        ("OpenAI signs  up — again", "OpenAI signs up, again.", True),
        ("Meta opens a data center", "Meta opens a data center | Meta AI", True),
        ("Meta opens a data center", "Meta opens a data center in Ohio, its third this year.", False),
        ("Meta opens a data center", "The site in Ohio is its third this year.", False),
        ("Meta opens a data center", "Meta opens", True),
    ],
)
def test_a_summary_that_says_no_more_than_the_headline_repeats_it(headline: str, text: str, expected: bool) -> None:
    assert repeats_headline(headline, text) is expected


def test_a_summary_that_begins_with_its_headline_goes_on_after_it() -> None:
    headline = "Gemini 3 Flash is now available in Gemini CLI"
    assert strip_headline(headline, f"{headline}. It delivers Pro-grade coding.") == "It delivers Pro-grade coding."
    assert strip_headline(headline, f"{headline}.") == f"{headline}."
    assert strip_headline(headline, "It delivers Pro-grade coding. It is fast.") == "It delivers Pro-grade coding. It is fast."
