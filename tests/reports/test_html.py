import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from example_analyses import (
    ALL,
    HOSTILE,
    NO_DEVICE,
    analysis,
    decode_mi300x,
    hostile,
    kernel,
    operator,
    phase,
    prefill_h100,
)

from boundby.analyzers.analysis import Shares
from boundby.reports.html import LARGEST_PAGE, render


@cache
def page(name: str) -> str:
    return render(ALL[name]())


class Reader(HTMLParser):
    """What a browser would see: elements, attributes and the ids, in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def values(self, name: str) -> list[str]:
        return [value for attribute, value in self.attributes if attribute == name]


@pytest.mark.parametrize("name", ALL)
def test_ids_are_distinct_and_every_link_within_the_page_has_its_target(name: str) -> None:
    shown = Reader(page(name))
    ids = shown.values("id")
    assert len(ids) == len(set(ids))
    targets = {href[1:] for href in shown.values("href") if href.startswith("#")}
    assert targets - set(ids) == set()


@pytest.mark.parametrize("name", ALL)
def test_the_page_names_no_address_to_load_from(name: str) -> None:
    shown = Reader(page(name))
    loads = shown.values("src") + shown.values("xlink:href") + shown.values("href")
    assert [value for value in loads if not value.startswith(("#", "data:,"))] == []
    assert {"img", "iframe", "object", "embed", "form", "base"} & set(shown.tags) == set()


@pytest.mark.parametrize("name", ALL)
def test_the_policy_allows_only_the_page_s_own_style_and_script(name: str) -> None:
    text = page(name)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    allowed = policy.group(1).replace("&#39;", "'")
    assert allowed.startswith("default-src 'none'; ")
    for kind, element in (("style", "style"), ("script", "script")):
        (body,) = re.findall(rf"<{element}>(.*?)</{element}>", text, re.DOTALL)
        digest = b64encode(sha256(body.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in allowed
    shown = Reader(text)
    assert shown.values("style") == []
    assert [name for name, _ in shown.attributes if name.startswith("on")] == []


def test_hostile_text_is_text() -> None:
    text = render(hostile())
    shown = Reader(text)
    assert shown.tags.count("script") == 1
    assert shown.tags.count("style") == 1
    for raw in HOSTILE[:2]:
        assert raw not in text
    assert "{{ 7*7 }}" in text
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)


def test_a_page_stays_under_3_mb_whatever_the_names() -> None:
    long = "<&" * 2000
    rows = tuple(kernel(f"{n}{long}", "bandwidth", 1.0, 0.001) for n in range(500))
    ops = tuple(operator(f"{n}{long}", "bandwidth", 1.0, flops=1.0, bytes=1.0, shapes=long) for n in range(500))
    shares = Shares(bandwidth=1.0)
    many = analysis(
        *(
            phase("decode", 1e3, shares, "bandwidth", id=f"d{n}", kernels=rows, operators=ops, evidence=(long,) * 30)
            for n in range(30)
        )
    )
    page = render(many).encode()
    assert len(page) <= LARGEST_PAGE
    assert "and 18 lighter phases" in page.decode()


def test_what_is_cut_is_counted() -> None:
    text = page("many_kernels").replace("\u00a0", " ")
    assert text.count("and 780 more, 87 % of the time; --json and --parquet hold all") == 6


def test_an_unknown_device_has_no_roofline_and_says_how_to_get_one() -> None:
    given = phase("decode", 1e3, Shares(unknown=1.0), "unknown", operators=(operator("aten::mm", "unknown", 1.0),))
    text = render(analysis(given, device=NO_DEVICE))
    assert "Pass <code>--device NAME</code>" in text
    assert 'class="chart"' not in text


def test_the_sections_stand_in_the_documented_order() -> None:
    text = render(prefill_h100())
    places = [text.index(f'<section id="{name}"') for name in (
        "verdicts", "warnings", "time", "roofline", "findings", "kernels", "operators", "steps", "memory", "about",
    )]  # fmt: skip
    assert places == sorted(places)


def test_a_phase_s_anchor_is_its_id_and_never_doubles() -> None:
    shares = Shares(compute=1.0)
    text = render(
        analysis(*(phase("decode", 1.0, shares, "compute", id=name) for name in ("Decode b=32", "decode b 32", "…")))
    )
    assert re.findall(r'id="verdict-([^"]*)"', text) == ["decode-b-32", "decode-b-32-2", "phase"]


def test_memory_says_how_many_more_tokens_fit() -> None:
    text = render(decode_mi300x())
    # (192 GB - 24 GB in use) / 147,456 B a token
    assert "<dd>1,139,322</dd>" in text


def test_findings_stand_by_saving_and_code_is_set_apart() -> None:
    text = render(prefill_h100())
    assert text.index("Fuse the elementwise") < text.index("The GEMMs run at 62")
    assert "<code>model = torch.compile(model)</code>" in text
