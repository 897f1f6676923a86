"""Gate results as JUnit XML: one test case a gate and phase. A gate that could not tell is a skipped test."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from .inert import inert

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boundby.analyzers.comparison.gates import GateResult

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(results: Sequence[GateResult]) -> bytes:
    """The document, UTF-8."""
    failures = sum(r.outcome == "fail" for r in results)
    skipped = sum(r.outcome == "unknown" for r in results)
    counts = {"tests": str(len(results)), "failures": str(failures), "skipped": str(skipped), "errors": "0"}
    suites = ET.Element("testsuites", counts)
    suite = ET.SubElement(suites, "testsuite", {"name": "boundby", **counts})
    for result in results:
        case = ET.SubElement(
            suite, "testcase", {"classname": f"boundby.{_xml(result.phase)}", "name": _xml(result.gate)}
        )
        if result.outcome == "fail":
            ET.SubElement(case, "failure", {"message": _xml(result.message)})
        elif result.outcome == "unknown":
            ET.SubElement(case, "skipped", {"message": _xml(result.message)})
    ET.indent(suites)
    document: bytes = ET.tostring(suites, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _xml(text: str) -> str:
    return _NOT_XML.sub("?", inert(text))
