"""Pages of ten layouts as sites have them, each with the text that is the article; words and all choices come from a number."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

_SYLLABLES: Final = "ba be bo da de di fa fe ga ge ka ko la le li ma me mo na ne ni pa pe ra re ri sa se so ta te to va ve".split()  # noqa: SIM905


@dataclass(frozen=True)
class Page:
    """`html` as a site sends it, and `text`: all that a reader would call the article, without its title."""

    layout: str
    url: str
    html: str
    text: str


class Writer:
    """Writes sentences. What is said through it between `begin` and `end` is the article."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.article: list[str] = []
        self.title = self.words(6).capitalize()

    def words(self, count: int) -> str:
        return " ".join("".join(self.random.choices(_SYLLABLES, k=self.random.randint(1, 4))) for _ in range(count))

    def sentences(self, count: int) -> str:
        return " ".join(f"{self.words(self.random.randint(7, 18)).capitalize()}." for _ in range(count))

    def said(self, text: str) -> str:
        """The text, which is part of the article."""
        self.article.append(text)
        return text

    def paragraph(self, sentences: int = 4) -> str:
        """A paragraph of the article, with a link and a word in bold."""
        first, link, bold, rest = self.sentences(1), self.words(2), self.words(1), self.sentences(sentences - 1)
        self.article.append(f"{first} {link} {bold} {rest}")
        return f'<p>{first} <a href="/topic?utm_source=text&id=7">{link}</a> <b>{bold}</b> {rest}</p>'

    def paragraphs(self, count: int = 6) -> str:
        return "\n".join(self.paragraph() for _ in range(count))

    def links(self, count: int = 8) -> str:
        return "".join(f'<li><a href="/{self.words(1)}">{self.words(2)}</a></li>' for _ in range(count))

    def teasers(self, count: int = 4) -> str:
        return "".join(
            f'<div class="teaser"><h3><a href="/a/{n}">{self.words(6)}</a></h3><img src="/t/{n}.jpg" alt=""></div>'
            for n in range(count)
        )

    def page(self, body: str, *, head: str = "", tag: str = "html") -> str:
        return (
            f'<!DOCTYPE html><{tag} lang="en"><head><meta charset="utf-8"><title>{self.title} | Example Wire</title>'
            f'<link rel="stylesheet" href="/s.css"><script>window.tracker = "{self.words(9)}";</script>{head}</head>'
            f'<body>{body}<img src="https://tracker.example/pixel.gif" width="1" height="1"></body></html>'
        )

    def header(self) -> str:
        return f'<header><a href="/">Example Wire</a><nav class="menu"><ul>{self.links()}</ul></nav></header>'

    def footer(self) -> str:
        return f'<footer class="footer"><ul>{self.links(12)}</ul><p>© 2026 Example Wire. {self.words(6)}</p></footer>'

    def advertisement(self) -> str:
        return f'<div class="ad advertisement"><a href="https://ads.example/?c=1">{self.words(4)}</a><script>show()</script></div>'

    def related(self) -> str:
        return f'<aside class="related"><h2>Related stories</h2>{self.teasers()}</aside>'


def classic(w: Writer) -> str:
    content = f'<article><h1>{w.title}</h1><div class="byline">By <a href="/ada">Ada {w.words(1)}</a></div>{w.paragraphs(3)}'
    content += f"{w.advertisement()}<h2>{w.said(w.words(3))}</h2>{w.paragraphs(4)}</article>"
    return w.page(w.header() + f"<main>{content}</main>" + w.related() + w.footer())


def nested_divs(w: Writer) -> str:
    content = "".join(f'<div class="row"><div class="col"><div>{w.paragraph()}</div></div></div>' for _ in range(6))
    body = f'<div id="wrap"><div class="inner"><h1>{w.title}</h1><div class="entry-content"><div>{content}</div></div></div></div>'
    return w.page(w.header() + body + w.related() + w.footer())


def sidebar(w: Writer) -> str:
    beside = "".join(f'<div class="widget"><h4>{w.words(2)}</h4><ul>{w.links(10)}</ul></div>' for _ in range(6))
    article = f'<div class="post"><h1>{w.title}</h1><div class="post-body">{w.paragraphs(7)}</div></div>'
    return w.page(w.header() + f'<div class="sidebar" id="left">{beside}</div>{article}' + w.footer())


def comments(w: Writer) -> str:
    said = ""
    for _ in range(8):
        said += f'<li class="comment"><b>{w.words(1)}</b><div class="comment-body"><p>{w.sentences(3)}</p></div></li>'
    below = f'<section id="comments" class="comments"><h3>8 comments</h3><ol class="comment-list">{said}</ol></section>'
    return w.page(w.header() + f"<article><h1>{w.title}</h1>{w.paragraphs(5)}</article>" + below + w.footer())


def amp(w: Writer) -> str:
    content = w.paragraphs(2) + '<amp-ad width="300" height="250" type="x"></amp-ad>' + w.paragraphs(4)
    body = f'<amp-sidebar id="menu"><ul>{w.links()}</ul></amp-sidebar><main role="main"><h1>{w.title}</h1>'
    body += f'<amp-img src="/a.jpg" width="9" height="9"></amp-img><div class="article-body">{content}</div></main>'
    return w.page(body + w.footer(), head='<script async src="https://cdn.example/v0.js"></script>', tag="html amp")


def tables(w: Writer) -> str:
    before = w.paragraphs(3)
    table = "".join("<tr>" + "".join(f"<td>{w.said(w.words(2))}</td>" for _ in range(3)) + "</tr>" for _ in range(5))
    article = f"<article><h1>{w.title}</h1>{before}<table>{table}</table>{w.paragraphs(3)}</article>"
    return w.page(w.header() + article + w.related() + w.footer())


def code(w: Writer) -> str:
    content = ""
    for _ in range(3):
        content += w.paragraph()
        lines = "\n".join(f"    {w.words(1)} = call({w.words(1)}, {w.random.randint(1, 99)})" for _ in range(4))
        content += f'<pre><code class="language-python">{w.said(lines)}</code></pre>'
    content += w.paragraph()
    return w.page(w.header() + f'<article class="post"><h1>{w.title}</h1>{content}</article>' + w.footer())


def lists(w: Writer) -> str:
    content = w.paragraphs(2)
    for tag in ("ul", "ol"):
        items = "".join(f"<li>{w.said(w.sentences(2))}</li>" for _ in range(5))
        content += f"<{tag}>{items}</{tag}>{w.paragraphs(2)}"
    body = f'<div class="content"><h1>{w.title}</h1><div class="body">{content}</div></div>'
    return w.page(w.header() + body + w.related() + w.footer())


def gallery(w: Writer) -> str:
    slides = ""
    for n in range(6):
        slides += f'<div class="slide"><h2>{w.said(w.words(3))}</h2><figure><img src="/{n}.jpg" alt="{w.words(3)}"></figure>'
        slides += f"{w.paragraph()}</div>"
    pager = '<div class="pagination"><a href="?p=1">1</a> <a href="?p=2">2</a> <a href="?p=3">3</a> <a href="?p=2">Next</a></div>'
    return w.page(w.header() + f'<article class="gallery"><h1>{w.title}</h1>{slides}{pager}</article>' + w.related() + w.footer())


def bare(w: Writer) -> str:
    top = f'<a href="/">Home</a> | <a href="/news">{w.words(1)}</a><hr><h1>{w.title}</h1>'
    return (
        f"<title>{w.title}</title><body>{top}{w.paragraphs(5)}<hr><a href='/next'>Next</a> <a href='mailto:a@example.org'>Mail</a>"
    )


LAYOUTS: Final[tuple[Callable[[Writer], str], ...]] = (
    *(classic, nested_divs, sidebar, comments, amp),
    *(tables, code, lists, gallery, bare),
)


def pages(each: int = 10, seed: int = 0) -> list[Page]:
    """So many pages of each layout."""
    made = []
    for number in range(each * len(LAYOUTS)):
        layout, writer = LAYOUTS[number % len(LAYOUTS)], Writer(1_000 * seed + number)
        html = layout(writer)
        made.append(Page(layout.__name__, f"https://news.example/a/{number}", html, "\n".join(writer.article)))
    return made
