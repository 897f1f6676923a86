"""The pull-request comment, whole; and names from traces that try to be markup."""

from __future__ import annotations

from example_comparisons import compared, recording

from boundby.analyzers.comparison import compare
from boundby.reports.markdown import comparison_markdown

EXPECTED = r"""## boundby: 3 failed, 1 could not tell, 1 passed

**Not recorded alike**

- versions\_torch\: 2.12 -&gt; 2.13

**Regressed**

- `decode-b1` bound\: bandwidth -&gt; launch
- `decode-b1` launches\_per\_step\: 100 -&gt; 120 \(\+20.0%\)
- `decode-b1` itl\: x1.200 \(99 % interval 1.200 to 1.200, p = 1.6e-05, fastest tenth x1.200, 10 and 10 samples\)

**Could not tell**

- `decode-b1` efficiency is not known on both sides

**Untouched**

- `decode-b1` bytes\_per\_token\: 2,000,000,000 -&gt; 2,000,000,000 \(\+0.0%\)

<details><summary>decode-b1: bandwidth -&gt; launch</summary>

step time x1.200 (99 % interval 1.200 to 1.200, p = 1.6e-05, fastest tenth x1.200, 10 and 10 untraced steps)

| figure | before | after | change |
| --- | --- | --- | --- |
| launches\_per\_step | 100 | 120 | \+20.0% |
| share\_launch | 20 % | 70 % | \+50 points |

| kernel | calls a step | time a step |  |
| --- | --- | --- | --- |
| copy&lt;…&gt; | 0 -&gt; 60 | \+120 µs | new |
| norm | 40 -&gt; 0 | -100 µs | gone |

</details>
"""


def test_the_whole_comment() -> None:
    assert comparison_markdown(*compared()) == EXPECTED


def test_without_gates_it_says_what_changed() -> None:
    comparison, _ = compared()
    assert comparison_markdown(comparison).startswith("## boundby: what changed\n\n**Not recorded alike**\n")


def test_names_are_neither_markup_nor_mentions() -> None:
    name = "</summary><img src=x>|@octocat [x](http://e.example) `a`"
    side = recording("a.json", id=name, kernels={name: 1.0}, kernel_time_us={name: 1.0})
    other = recording("b.json", id=name, kernels={name: 2.0}, kernel_time_us={name: 9.0})
    text = comparison_markdown(compare(side, other))
    for harm in ("<img", "</summary><", " @octocat", "](http", "|@"):
        assert harm not in text
    assert "&lt;/summary&gt;&lt;img src=x&gt;|&#64;octocat" in text
