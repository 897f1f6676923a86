import re

import pytest
from example_analyses import (
    H100,
    MI300X,
    NO_DEVICE,
    decode_mi300x,
    many_kernels,
    operator,
    phase,
    prefill_h100,
    timeline,
)
from matplotlib.figure import Figure

from boundby.analyzers.analysis import DeviceInfo, Shares, StepRow
from boundby.reports.charts.roofline import draw_roofline, points, roof
from boundby.reports.charts.steps import draw_steps, grows, outliers
from boundby.reports.charts.svg import inline_svg, mark
from boundby.reports.charts.timeline import draw_timeline


def step(index: int, wall_us: float, context: int | None = None) -> StepRow:
    return StepRow(index=index, start_us=0.0, wall_us=wall_us, busy_us=wall_us, launch_us=0.0, context_tokens=context)


def test_a_point_stands_at_its_intensity_and_its_own_rate() -> None:
    (first, *_) = points(prefill_h100().phases[0], key="op", limit=60)
    assert first.key == "op-1"
    assert first.intensity == pytest.approx(3.66e13 / 5.2e10)
    assert first.rate == pytest.approx(610e12)
    assert first.share == pytest.approx(60_000 / 95_096)


def test_an_operator_of_unknown_cost_has_no_point_and_ranks_are_those_of_the_table() -> None:
    assert [point.rank for point in points(prefill_h100().phases[0], key="op", limit=60)] == [1, 2, 3, 4, 5]
    assert [point.rank for point in points(decode_mi300x().phases[0], key="op", limit=60)] == [1, 2]


def test_an_operator_without_flops_stands_as_far_under_the_roof_as_its_memory_rate() -> None:
    copy = operator("aten::copy_", "bandwidth", 1000.0, flops=0.0, bytes=1.675e9)  # half of the H100's 3,350 GB/s
    given = phase("prefill", 2000.0, Shares(bandwidth=1.0), "bandwidth", operators=(copy,))
    ax = Figure().add_subplot()
    draw_roofline(ax, given, H100, points(given, key="op", limit=60))
    (point,) = [drawn for drawn in ax.collections if "c-bandwidth" in (drawn.get_gid() or "")]
    x, y = point.get_offsets()[0]
    assert y / (x * 3350e9) == pytest.approx(0.5)
    assert x < 989.4e12 / 3350e9 / 3


def test_dtypes_of_one_peak_share_its_label_and_near_ones_give_way() -> None:
    device = DeviceInfo(
        "x", "cuda", {"bf16": 1000.0, "fp16": 1000.0, "int8": 1001.0, "fp32": 100.0}, 1000.0, None, "user"
    )
    given = phase("prefill", 2000.0, Shares(compute=1.0), "compute", ridge=1000.0)
    ax = Figure().add_subplot()
    draw_roofline(ax, given, device, [])
    said = [text.get_text() for text in ax.texts]
    assert "bf16, fp16: 1.00 PFLOP/s" in said
    assert "fp32: 100 TFLOP/s" in said
    assert not any("int8" in text for text in said)


def test_the_roof_is_that_of_the_unit_behind_the_ridge() -> None:
    peak, bandwidth = roof(prefill_h100().phases[0], H100) or (0, 0)
    assert (peak, bandwidth) == (pytest.approx(989.4e12), 3350e9)
    assert roof(many_kernels(1, 1).phases[0], H100) == (989.4e12, 3350e9)
    assert roof(prefill_h100().phases[0], NO_DEVICE) is None


def test_without_peaks_a_roofline_is_refused() -> None:
    with pytest.raises(ValueError, match="pass --device"):
        draw_roofline(Figure().add_subplot(), prefill_h100().phases[0], NO_DEVICE, [])


def test_the_axes_hold_the_roof_and_all_points() -> None:
    given = decode_mi300x().phases[0]
    ax = Figure().add_subplot()
    draw_roofline(ax, given, MI300X, points(given, key="op", limit=60), legend=True)
    (low, high), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    assert low < 4e11 / given.bytes * 5 < high
    assert bottom < given.achieved_tflops * 1e12 < 1307.4e12 < top
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["decode as a whole"]


def test_an_outlier_is_told_from_growth() -> None:
    growing = [step(n, 1000.0 + 40.0 * n) for n in range(20)]
    assert outliers(growing) == []
    assert [s.index for s in outliers([*growing, step(20, 9000.0), step(21, 7000.0)])] == [20, 21]
    assert outliers([step(0, 1.0), step(1, 100.0)]) == []


def test_the_steps_stand_against_their_context_where_it_grows() -> None:
    assert grows([step(0, 1.0, 10), step(1, 1.0, 11)])
    assert not grows([step(0, 1.0, 10), step(1, 1.0, 10)])
    assert not grows([step(0, 1.0, 10), step(1, 1.0, None)])
    ax = Figure().add_subplot()
    draw_steps(ax, [step(0, 2000.0, 12), step(1, 1000.0, 11)])
    assert ax.lines[0].get_xdata().tolist() == [11.0, 12.0]
    assert ax.lines[0].get_ydata().tolist() == [1.0, 2.0]
    assert ax.get_xlabel() == "context tokens of the step"


def test_svg_for_the_page_has_classes_and_links_but_no_style_or_foreign_id() -> None:
    def draw(ax: object) -> None:
        ax.scatter([1], [1], marker="o", color="#d55e00", gid=mark("pt c-compute", "op-1"))  # type: ignore[attr-defined]
        ax.plot([0, 1], [0, 1], color="#000000", gid=mark("roof"))  # type: ignore[attr-defined]

    svg = inline_svg(draw, size=(3, 2), prefix="x", title='a "title"', links={"op-1": "<first>"})
    assert "style=" not in svg
    assert "<style" not in svg
    assert 'aria-label="a &quot;title&quot;"' in svg
    assert '<a class="pt c-compute" href="#op-1" data-key="op-1" aria-label="&lt;first&gt;">' in svg
    assert '<g class="roof">' in svg
    assert "currentColor" in svg
    assert all(name.startswith("x-") for name in re.findall(r'\bid="([^"]*)"', svg))
    assert set(re.findall(r"url\(#([^)]*)\)", svg)) <= set(re.findall(r'\bid="([^"]*)"', svg))


def test_a_timeline_keeps_the_longest_in_time_order_and_counts_the_rest() -> None:
    drawing = draw_timeline(timeline("typical", 0, 4250.0), most=100)
    assert len(drawing.data["items"]) == 100
    starts = [item[1] for item in drawing.data["items"]]
    assert starts == sorted(starts)
    assert drawing.dropped == 3 + 321
    assert drawing.lanes == ("idle", "stream 7", "stream 20")
    assert dict(drawing.paths).keys() == {"g-host", "g-dispatch", "g-stall", "c-bandwidth", "c-launch"}


def test_a_timeline_s_first_kernel_is_drawn_to_scale() -> None:
    drawing = draw_timeline(timeline("typical", 0, 425.0), most=1000)
    # 425 slots of 1 µs over 1000 units: the first kernel (on lane 2 of the drawing) from 1 µs for 0.8 µs.
    assert drawing.data["items"][0][:3] == [2, 1.0, 0.8]
    assert dict(drawing.paths)["c-bandwidth"].startswith("M2.35 52h1.88v22h-1.88z")
