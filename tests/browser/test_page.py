from collections.abc import Callable
from typing import Any

import pytest
from example_analyses import ALL, decode_mi300x, hostile, many_kernels, prefill_h100

pytestmark = pytest.mark.browser
Open = Callable[..., Any]
ROWS = "document.querySelectorAll('#tk-decode-0 tbody tr:not([hidden])').length"


@pytest.mark.parametrize("name", ALL)
def test_the_page_asks_for_nothing_and_the_console_stays_empty(open_page: Open, name: str) -> None:
    shown = open_page(ALL[name])
    shown.page.wait_for_timeout(100)
    assert [url for url in shown.requests if not url.startswith("data:")] == [shown.page.url]
    assert shown.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "name", ["prefill_h100", "decode_mi300x", "launch_bound_cpu", "contested", "no_gpu_data", "hostile"]
)
def test_axe_finds_no_barrier(open_page: Open, name: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    page = open_page(ALL[name], color_scheme=scheme, bypass_csp=True).page
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    found = axe.Axe().run(page).response["violations"]
    assert [(rule["id"], [node["html"][:200] for node in rule["nodes"][:3]]) for rule in found] == []


def test_no_script_of_a_hostile_trace_runs(open_page: Open) -> None:
    shown = open_page(hostile)
    assert shown.page.evaluate("window.owned") is None
    assert shown.page.evaluate("document.querySelectorAll('main img, main script:not([type])').length") == 0
    assert shown.page.is_visible("main")
    assert "<script>window.owned=1</script>" in shown.page.inner_text("#kernels")


def test_the_policy_stops_a_script_that_gets_into_the_page(open_page: Open) -> None:
    shown = open_page(prefill_h100)
    shown.page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.owned=1\">')")
    shown.page.evaluate("fetch('http://127.0.0.1:9/').catch(() => {})")
    shown.page.wait_for_timeout(100)
    assert shown.page.evaluate("window.owned") is None
    assert any("Content Security Policy" in said for said in shown.complaints)


def test_sorting_orders_by_value_and_turns_round(open_page: Open) -> None:
    page = open_page(prefill_h100).page
    times = "[...document.querySelectorAll('#tk-prefill tbody tr')].map((row) => Number(row.cells[6].dataset.v))"
    page.click("#tk-prefill th:has-text('gap before') button")
    assert page.evaluate(times) == [2400, 1200, 500, 300, 100]
    assert page.get_attribute("#tk-prefill th:has-text('gap before')", "aria-sort") == "descending"
    page.click("#tk-prefill th:has-text('gap before') button")
    assert page.evaluate(times) == [100, 300, 500, 1200, 2400]


def test_what_is_not_known_sorts_last_both_ways(open_page: Open) -> None:
    page = open_page(prefill_h100).page
    last = "document.querySelector('#tk-prefill tbody tr:last-child').cells[7].textContent"
    for _ in range(2):
        page.click("#tk-prefill th:has-text('of the roof') button")
        assert page.evaluate(last) == "–"


def test_filters_combine_and_count(open_page: Open) -> None:
    page = open_page(prefill_h100).page
    rows = "document.querySelectorAll('#tk-prefill tbody tr:not([hidden])').length"
    page.fill(".tools[data-for=tk-prefill] input", "KERNEL")
    assert page.evaluate(rows) == 4  # three by their short name, the GEMM by its full one
    page.select_option(".tools[data-for=tk-prefill] select", "bandwidth")
    assert page.evaluate(rows) == 2
    assert page.inner_text(".tools[data-for=tk-prefill] .found") == "2 of 5 rows"


def test_long_tables_start_short_and_open_whole(open_page: Open) -> None:
    page = open_page(many_kernels).page
    assert page.evaluate(ROWS) == 15
    page.click("#kernels-decode-0 button:has-text('Show all 120 rows')")
    assert page.evaluate(ROWS) == 120
    assert "and 780 more, 87 % of the time" in page.inner_text("#kernels-decode-0").replace("\u00a0", " ")


def test_csv_holds_all_rows_full_names_and_no_formula(open_page: Open) -> None:
    page = open_page(hostile).page
    with page.expect_download() as got:
        page.click(f"{page.evaluate('`.tools[data-for=${document.querySelector(`#kernels table`).id}]`')} .csv")
    text = got.value.path().read_bytes().decode()
    lines = text.split("\r\n")
    assert lines[0] == "#,kernel,class,count,time_us,share,gap_before_us,of the roof,FLOP,bytes"
    assert len(lines) == 12
    assert '"\'=HYPERLINK(""http://example.invalid"")"' in text
    assert "\x1b" not in text


def test_a_point_and_its_row_find_each_other(open_page: Open) -> None:
    page = open_page(prefill_h100).page
    point = page.locator("a.pt[data-key=op-prefill-2]")
    point.hover()
    assert "aten::mul" in page.inner_text("#tip")
    assert "hot" in (page.get_attribute("#op-prefill-2", "class") or "")
    point.click()
    assert page.url.endswith("#op-prefill-2")
    assert "chosen" in (page.get_attribute("#op-prefill-2", "class") or "")
    page.hover("#op-prefill-1")
    assert "hot" in (page.get_attribute("a.pt[data-key=op-prefill-1]", "class") or "")


def test_the_number_on_a_point_does_not_cover_it(open_page: Open) -> None:
    page = open_page(decode_mi300x).page
    page.hover("a.pt[data-key=op-decode-1]")
    assert page.inner_text("#tip").startswith("1: gemm (graph)")


def test_a_deep_link_reaches_a_row_beyond_the_first_ones(open_page: Open) -> None:
    page = open_page(many_kernels, fragment="#k-decode-1-77").page
    assert page.is_visible("#k-decode-1-77")
    box = page.locator("#k-decode-1-77").bounding_box()
    assert 0 <= box["y"] < 900


def test_each_section_has_a_link_in_order(open_page: Open) -> None:
    page = open_page(decode_mi300x).page
    targets = page.evaluate("[...document.querySelectorAll('.toc a')].map((a) => a.hash.slice(1))")
    sections = page.evaluate("[...document.querySelectorAll('main > section')].map((s) => s.id)")
    assert targets == sections == [
        "verdicts", "warnings", "time", "roofline", "findings", "kernels", "operators", "steps", "memory", "about",
    ]  # fmt: skip


def test_zooming_in_and_back(open_page: Open) -> None:
    page = open_page(prefill_h100).page
    box = "document.querySelector('#roofline svg.chart').viewBox.baseVal.width"
    whole = page.evaluate(box)
    page.click("#roofline-prefill [data-zoom='0.8']")
    assert page.evaluate(box) == pytest.approx(0.8 * whole)
    page.click("#roofline-prefill [data-zoom='0']")
    assert page.evaluate(box) == pytest.approx(whole)


def test_a_step_can_be_walked_kernel_by_kernel(open_page: Open) -> None:
    page = open_page(decode_mi300x).page
    figure = page.locator("figure.timeline").first
    figure.locator("[data-step='1']").click()
    # 10,442 µs over 425 slots: the first kernel starts after one slot and fills 0.8 of one.
    assert figure.locator(".readout").inner_text() == "1 of 421: Cijk_Alik_Bljk gemm, 19.7 µs from 24.6 µs, bandwidth"
    for _ in range(10):
        figure.locator("[data-step='1']").click()
    assert "49.1 µs idle before it (python)" in figure.locator(".readout").inner_text()


def test_dark_mode_follows_the_system_and_the_button(open_page: Open) -> None:
    page = open_page(prefill_h100, color_scheme="dark").page
    ink = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ink) == "rgb(20, 23, 27)"
    page.click("#theme")
    assert page.evaluate(ink) == "rgb(255, 255, 255)"


@pytest.mark.parametrize("name", ["prefill_h100", "decode_mi300x", "many_kernels", "hostile"])
@pytest.mark.parametrize("width", [360, 800, 1280])
def test_nothing_is_wider_than_the_window(open_page: Open, name: str, width: int) -> None:
    page = open_page(ALL[name], width=width).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_without_script_the_verdict_and_all_rows_are_there(open_page: Open) -> None:
    page = open_page(many_kernels, java_script_enabled=False).page
    assert page.is_visible(
        "text=Decode is bandwidth-bound: 90 % of its 100 ms".replace(" %", "\u00a0%").replace(" ms", "\u00a0ms")
    )
    assert page.is_visible("#k-decode-0-120")
    assert not page.is_visible(".tools")


def test_print_is_black_on_white_without_controls(open_page: Open) -> None:
    page = open_page(prefill_h100, color_scheme="dark").page
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.is_visible(".toc")
    assert not page.is_visible("#theme")
    assert page.pdf(format="A4")[:5] == b"%PDF-"


def test_one_phase_can_be_looked_at_alone(open_page: Open) -> None:
    page = open_page(many_kernels).page
    page.select_option("#phase-choice", "decode-1")
    assert page.is_visible("#kernels-decode-1")
    assert not page.is_visible("#kernels-decode-0")
    assert not page.is_visible("#verdict-decode-2")


def test_a_full_name_is_copied(open_page: Open) -> None:
    shown = open_page(prefill_h100, permissions=["clipboard-read", "clipboard-write"])
    shown.page.hover("#k-prefill-1")
    shown.page.click("#k-prefill-1 td.name button")
    shown.page.wait_for_selector("#k-prefill-1 button:has-text('copied')")
    assert shown.page.evaluate("navigator.clipboard.readText()").startswith("void cutlass::Kernel2<cutlass_80_tensorop")
