import matplotlib as mpl
import pytest
from example_analyses import contested, decode_mi300x, hostile, no_gpu_data, prefill_h100
from matplotlib.figure import Figure

from boundby.analyzers.errors import UsageError


def test_an_answer_shows_its_verdicts_as_a_table() -> None:
    html = prefill_h100()._repr_html_()
    assert "<b>compute-bound</b>" in html
    assert "NVIDIA H100 80GB HBM3" in html
    assert "<script" not in hostile()._repr_html_()


def test_frames_are_named_as_the_json() -> None:
    assert prefill_h100().to_polars("kernels")["class"].to_list() == [
        "compute",
        "bandwidth",
        "compute",
        "bandwidth",
        "launch",
    ]
    assert contested().to_pandas()["bound"].tolist() == ["compute"]


def test_the_roofline_comes_back_as_the_axes_it_was_given() -> None:
    ax = Figure().add_subplot()
    assert prefill_h100().plot.roofline(ax=ax) is ax
    assert ax.get_title() == "prefill"


def test_without_axes_a_new_figure_is_made() -> None:
    with mpl.rc_context({"backend": "agg"}):
        import matplotlib.pyplot as plt

        ax = decode_mi300x().plot.steps()
        assert len(ax.lines[0].get_xdata()) == 24
        plt.close(ax.figure)


def test_shares_stack_to_the_whole() -> None:
    ax = Figure().add_subplot()
    prefill_h100().plot.shares(ax=ax)
    last = [bar.get_x() + bar.get_width() for bars in ax.containers for bar in bars][-1]
    assert last == pytest.approx(100.0)


def test_what_cannot_be_drawn_says_why() -> None:
    with pytest.raises(UsageError, match="no peaks are known"):
        no_gpu_data().plot.roofline()
    with pytest.raises(UsageError, match="it has prefill"):
        prefill_h100().plot.roofline(phase="decode")
