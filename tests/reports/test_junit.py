"""JUnit XML, whole: failures fail, doubts are skipped, and any name makes a document that parses."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from example_comparisons import compared

from boundby.analyzers.comparison import GateResult
from boundby.reports.junit import junit_xml

EXPECTED = """<?xml version='1.0' encoding='utf-8'?>
<testsuites tests="5" failures="3" skipped="1" errors="0">
  <testsuite name="boundby" tests="5" failures="3" skipped="1" errors="0">
    <testcase classname="boundby.decode-b1" name="bound">
      <failure message="bound: bandwidth -&gt; launch" />
    </testcase>
    <testcase classname="boundby.decode-b1" name="launches_per_step:0">
      <failure message="launches_per_step: 100 -&gt; 120 (+20.0%)" />
    </testcase>
    <testcase classname="boundby.decode-b1" name="bytes_per_token:2%" />
    <testcase classname="boundby.decode-b1" name="itl:5%">
      <failure message="itl: x1.200 (99 % interval 1.200 to 1.200, p = 1.6e-05, fastest tenth x1.200, 10 and 10 samples)" />
    </testcase>
    <testcase classname="boundby.decode-b1" name="efficiency:0">
      <skipped message="efficiency is not known on both sides" />
    </testcase>
  </testsuite>
</testsuites>
"""


def test_the_whole_document() -> None:
    assert junit_xml(compared()[1]).decode() == EXPECTED


def test_characters_that_xml_forbids_do_not_break_it() -> None:
    hostile = GateResult("bound", 'p"<&\x00\x1b\ud800\uffff', "fail", "]]>\x07")
    case = ET.fromstring(junit_xml([hostile]))[0][0]
    assert case.get("classname") == 'boundby.p"<&\\x00\\x1b\\ud800\\uffff'
    assert case[0].get("message") == "]]>\\x07"
