"""`Analysis`: the whole answer about one trace, frozen. Its JSON form is public, and versioned by `SCHEMA_VERSION`."""

from __future__ import annotations

from typing import Any

import msgspec

from .presenters import present
from .trace import TraceWarning

SCHEMA_VERSION = "1.0"


class ToolInfo(msgspec.Struct, frozen=True):
    """Who made the answer."""

    name: str
    version: str


class TraceInfo(msgspec.Struct, frozen=True):
    """Which trace it is about."""

    path: str
    events: int
    kernels: int
    warnings: tuple[TraceWarning, ...]
    metadata: dict[str, Any]
    """Whitelisted facts of the recording: versions, model, workload, settings. Never the environment."""


class DeviceInfo(msgspec.Struct, frozen=True):
    """The device, and where its figures came from."""

    name: str
    kind: str
    peak_tflops: dict[str, float]
    bandwidth_gb_s: float | None
    memory_gb: float | None
    source: str
    """Where the figures are from: "measured", "table", "user" or "unknown", with a remark after a colon."""


class Shares(msgspec.Struct, frozen=True):
    """Disjoint fractions of a phase's wall time; they sum to 1."""

    compute: float = 0.0
    bandwidth: float = 0.0
    launch: float = 0.0
    communication: float = 0.0
    transfer: float = 0.0
    stall: float = 0.0
    unknown: float = 0.0


class Finding(msgspec.Struct, frozen=True):
    """One diagnosis: what is wrong, what mending it would save, and how."""

    id: str
    title: str
    saving_us: float | None
    saving_fraction: float | None
    evidence: str
    advice: str


class OperatorRow(msgspec.Struct, frozen=True, kw_only=True):
    """One distinct call (op and shapes) within a phase; sums over its `count` calls."""

    name: str
    part: str
    family: str
    count: int
    time_us: float
    flops: float | None
    bytes: float | None
    achieved_tflops: float | None
    achieved_gb_s: float | None
    efficiency: float | None
    bound_class: str = msgspec.field(name="class")
    known_by: str
    shapes: str = ""
    kernel_names: tuple[str, ...] = ()
    cache_resident: bool = False


class KernelRow(msgspec.Struct, frozen=True, kw_only=True):
    """One distinct kernel name within a phase; sums over its `count` instances."""

    name: str
    count: int
    time_us: float
    share: float
    """Of the phase's summed kernel time."""
    bound_class: str = msgspec.field(name="class")
    flops: float | None
    bytes: float | None
    efficiency: float | None
    gap_before_us: float
    """Idle time of the device before these kernels, summed."""
    short_name: str = ""
    family: str = "other"


class StepRow(msgspec.Struct, frozen=True, kw_only=True):
    """One step; times in microseconds from the start of the trace."""

    index: int
    start_us: float
    wall_us: float
    busy_us: float
    launch_us: float
    context_tokens: int | None
    edge: bool = False


class PartRow(msgspec.Struct, frozen=True, kw_only=True):
    """One part of the model (attention, mlp, lm_head, ...) within a phase."""

    part: str
    time_us: float
    share: float
    flops: float | None
    bytes: float | None
    intensity: float | None
    bound_class: str = msgspec.field(name="class")


class TimelineItem(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel (or op) of a drawn step; times from the window's opening."""

    lane: int
    start_us: float
    dur_us: float
    name: str
    bound_class: str = msgspec.field(name="class")
    own: bool = True
    """False for other work that lies in the step's window."""


class TimelineGap(msgspec.Struct, frozen=True, kw_only=True):
    """One idle piece of a drawn step."""

    start_us: float
    dur_us: float
    cause: str


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a phase, for drawing: the typical or the slowest."""

    role: str
    step: int
    """Index into the phase's steps."""
    start_us: float
    wall_us: float
    """As traced, without the untraced correction."""
    lanes: tuple[str, ...]
    items: tuple[TimelineItem, ...]
    gaps: tuple[TimelineGap, ...]
    dropped: int = 0
    """Shorter items left out."""


class PredictedPart(msgspec.Struct, frozen=True, kw_only=True):
    """One part of the model as the analytic model sees it."""

    part: str
    bound: str
    time_us: float
    share: float
    flops: float
    bytes: float
    intensity: float | None


class Predicted(msgspec.Struct, frozen=True, kw_only=True):
    """What the analytic model says of one phase, totals over its steps."""

    bound: str
    wall_us: float
    intensity: float | None
    flops: float
    bytes: float
    parts: tuple[PredictedPart, ...] = ()


class Phase(msgspec.Struct, frozen=True, kw_only=True):
    """Steps of one kind and one shape class. Times, FLOPs and bytes are sums over the phase's steps."""

    id: str
    kind: str
    engine: str
    n_steps: int
    batch: int | None
    query_tokens: int | None
    context_tokens: int | None
    wall_us: float | None
    busy_us: float | None
    idle_us: float | None
    n_kernels: int
    n_launches: int
    shares: Shares | None
    launch_causes: dict[str, float]
    """Microseconds of launch time by cause; they sum to shares.launch x wall."""
    flops: float | None
    bytes: float | None
    intensity: float | None
    ridge: float | None
    achieved_tflops: float | None
    achieved_gb_s: float | None
    peak_fraction: float | None
    cost_coverage: float | None
    bound: str
    margin: float | None
    contested: bool
    untraced_us: float | None
    distortion: float | None
    predicted: Predicted | None
    evidence: tuple[str, ...]
    findings: tuple[Finding, ...]
    operators: tuple[OperatorRow, ...]
    kernels: tuple[KernelRow, ...]
    steps: tuple[StepRow, ...]
    parts: tuple[PartRow, ...] = ()
    host_calls: dict[str, int] = {}
    """Runtime calls in the phase's host spans by what they do: synchronize, blocking_copy, allocate, graph_launch, compile."""
    untraced_samples_us: tuple[float, ...] = ()
    """Times of the same steps without the profiler, each synchronised before and after."""
    timelines: tuple[Timeline, ...] = ()
    """Only when asked for (`analyze(..., timelines=True)`)."""
    confidence: str = "normal"
    """"normal" or "low"; the evidence says why."""


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    """Everything boundby says of one trace."""

    schema_version: str
    tool: ToolInfo
    trace: TraceInfo
    device: DeviceInfo
    phases: tuple[Phase, ...]
    conventions: tuple[str, ...] = ()

    def to_json(self) -> bytes:
        """The public JSON form, UTF-8."""
        return msgspec.json.encode(self)

    @classmethod
    def from_json(cls, data: bytes) -> Analysis:
        """Read what `to_json` wrote; raises `msgspec.ValidationError` on another shape."""
        return msgspec.json.decode(data, type=cls)

    def to_polars(self, table: str = "phases") -> Any:
        """The rows of `table` (phases, operators, kernels, parts, steps or findings) as a polars frame, named as in the JSON."""
        return present("polars", self, table)

    def to_pandas(self, table: str = "phases") -> Any:
        """As `to_polars`, for pandas."""
        return present("pandas", self, table)

    @property
    def plot(self) -> Any:
        """Charts on matplotlib axes: `.plot.roofline(ax=None, phase=None)`, `.plot.steps(...)`, `.plot.shares(ax=None)`."""
        return present("plot", self)

    def _repr_html_(self) -> str:
        return str(present("html", self))
