import json
from importlib.resources import files

import pytest
from example_analyses import ALL, contested, prefill_h100
from jsonschema import Draft202012Validator

from boundby.analyzers.analysis import Analysis
from boundby.reports.delivery import as_json

SCHEMA = json.loads(files("boundby.reports").joinpath("schema/analysis.schema.json").read_text())


def test_the_schema_is_a_valid_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", ALL)
def test_every_answer_fits_the_published_schema(name: str) -> None:
    document = json.loads(as_json([ALL[name]()], many=False))
    Draft202012Validator(SCHEMA).validate(document)


def test_several_traces_give_an_array_in_order() -> None:
    documents = json.loads(as_json([prefill_h100(), contested()], many=True))
    assert [document["phases"][0]["bound"] for document in documents] == ["compute", "compute"]
    assert [document["trace"]["path"] for document in documents] == [
        "hf-qwen-prefill.pt.trace.json.gz",
        "trace.json.gz",
    ]


def test_one_trace_of_several_is_still_an_array() -> None:
    assert len(json.loads(as_json([contested()], many=True))) == 1


def test_the_json_reads_back_as_the_same_answer() -> None:
    assert Analysis.from_json(as_json([prefill_h100()], many=False)) == prefill_h100()


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["phases"][0].pop("shares"),
        lambda d: d["phases"][0].update(bound="memory"),
        lambda d: d["phases"][0]["shares"].update(compute=1.2),
        lambda d: d["phases"][0]["operators"][0].pop("class"),
        lambda d: d["device"].update(source="guessed"),
        lambda d: d.update(schema_version="2.0"),
    ],
)
def test_the_schema_refuses_a_renamed_or_impossible_field(change: object) -> None:
    document = json.loads(prefill_h100().to_json())
    change(document)  # type: ignore[operator]
    assert not Draft202012Validator(SCHEMA).is_valid(document)
