"""Realistic answers for the tests of what shows them. The figures are consistent: shares sum to 1, rates follow."""

from __future__ import annotations

from typing import Any

from boundby.analyzers.analysis import (
    Analysis,
    DeviceInfo,
    Finding,
    KernelRow,
    OperatorRow,
    PartRow,
    Phase,
    Predicted,
    PredictedPart,
    Shares,
    StepRow,
    Timeline,
    TimelineGap,
    TimelineItem,
    ToolInfo,
    TraceInfo,
)
from boundby.analyzers.trace import TraceWarning

H100 = DeviceInfo(
    "NVIDIA H100 80GB HBM3", "cuda", {"bf16": 989.4, "fp32": 66.9}, 3350.0, 80.0, "table: NVIDIA data sheet"
)
MI300X = DeviceInfo(
    "AMD Instinct MI300X", "hip", {"bf16": 1307.4, "fp32": 163.4}, 5300.0, 192.0, "table: AMD data sheet"
)
CPU = DeviceInfo("2-core CPU", "cpu", {"fp32": 0.192}, 22.0, None, "measured")
NO_DEVICE = DeviceInfo("", "cuda", {}, None, None, "unknown")

HOSTILE = (
    "<script>window.owned=1</script>",
    '"><img src=x onerror="window.owned=1">',
    "{{ 7*7 }}{% raw %}",
    "\x1b[31mred\x1b[0m\x07\x9b2J",
    "\u202egnp.exe\u202c",
    '=HYPERLINK("http://example.invalid")',
    "javascript:window.owned=1//'`${alert(1)}`",
    "kernel\nwith\tbreaks\u2028and\x00nul",
    "</style><style>*{display:none}</style>",
    "x" * 5000,
)


def analysis(*phases: Phase, device: DeviceInfo = H100, path: str = "trace.json.gz", **changes: Any) -> Analysis:
    """An answer made of `phases`."""
    trace = TraceInfo(
        path=path,
        events=120_000,
        kernels=sum(phase.n_kernels for phase in phases),
        warnings=changes.pop("warnings", ()),
        metadata=changes.pop("metadata", {"versions": {"torch": "2.9.0"}, "model": {"name": "qwen3-8b"}}),
    )
    return Analysis(
        schema_version="1.0",
        tool=ToolInfo("boundby", "0.1.0"),
        trace=trace,
        device=device,
        phases=phases,
        conventions=("A multiply-add is 2 FLOPs; softmax is not counted.",),
        **changes,
    )


def phase(kind: str, wall_us: float, shares: Shares | None, bound: str, **changes: Any) -> Phase:
    """A phase whose busy time is what its shares leave beside launch and stall, and whose margin is theirs."""
    values = sorted((getattr(shares, name) for name in Shares.__struct_fields__), reverse=True) if shares else []
    idle = wall_us * (shares.launch + shares.stall) if shares else None
    given: dict[str, Any] = {
        "id": kind,
        "kind": kind,
        "engine": "boundby",
        "n_steps": 1,
        "batch": 1,
        "query_tokens": 512,
        "context_tokens": 512,
        "wall_us": wall_us if shares else None,
        "busy_us": None if idle is None else wall_us - idle,
        "idle_us": idle,
        "n_kernels": 400,
        "n_launches": 400,
        "shares": shares,
        "launch_causes": {"python": 0.75 * wall_us * shares.launch, "tiny": 0.25 * wall_us * shares.launch}
        if shares
        else {},
        "flops": None,
        "bytes": None,
        "intensity": None,
        "ridge": None,
        "achieved_tflops": None,
        "achieved_gb_s": None,
        "peak_fraction": None,
        "cost_coverage": None,
        "bound": bound,
        "margin": values[0] - values[1] if values else None,
        "contested": bool(values) and values[0] - values[1] < 0.1,
        "untraced_us": None,
        "distortion": None,
        "predicted": None,
        "evidence": (),
        "findings": (),
        "operators": (),
        "kernels": (),
        "steps": (),
    }
    return Phase(**{**given, **changes})


def operator(name: str, cls: str, time_us: float, *, device: DeviceInfo = H100, **given: Any) -> OperatorRow:
    """An operator whose rates follow from its FLOPs, bytes and time."""
    flops, size = given.pop("flops", None), given.pop("bytes", None)
    peak = next(iter(device.peak_tflops.values()), None)
    roof = None
    if flops is not None and size is not None and peak and device.bandwidth_gb_s:
        roof = max(flops / (peak * 1e12), size / (device.bandwidth_gb_s * 1e9))
    return OperatorRow(
        **{
            "name": name,
            "part": "other",
            "family": "other",
            "count": 1,
            "time_us": time_us,
            "flops": flops,
            "bytes": size,
            "achieved_tflops": None if flops is None else flops / time_us / 1e6,
            "achieved_gb_s": None if size is None else size / time_us / 1e3,
            "efficiency": None if roof is None else roof / (time_us * 1e-6),
            "bound_class": cls,
            "known_by": "none" if size is None else "shapes",
            **given,
        }
    )


def kernel(name: str, cls: str, time_us: float, share: float, **given: Any) -> KernelRow:
    """A kernel without costs unless `given` has them."""
    figures = {"flops": None, "bytes": None, "efficiency": None, "gap_before_us": 0.0, "count": 1}
    return KernelRow(name=name, bound_class=cls, time_us=time_us, share=share, **{**figures, **given})


GEMM_NAME = (
    "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x256_32x3_tn_align8>"
    "(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x256_32x3_tn_align8::Params)"
)
ELEMENTWISE_NAME = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float, float, "
    "at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >(int, float)"
)


def prefill_h100() -> Analysis:
    """A compute-bound prefill of 8,944 tokens."""
    gemms = operator(
        "aten::mm",
        "compute",
        60_000.0,
        flops=3.66e13,
        bytes=5.2e10,
        count=96,
        part="mlp",
        family="gemm",
        shapes="[8944,1024] [1024,2816] BFloat16",
        kernel_names=("cutlass_80_tensorop_bf16_s16816gemm",),
    )
    attention = operator(
        "aten::_flash_attention_forward",
        "compute",
        12_000.0,
        flops=6.1e12,
        bytes=1.1e9,
        count=24,
        part="attention",
        family="attention",
        shapes="[1,8944,16,64] BFloat16",
    )
    mul = operator(
        "aten::mul", "bandwidth", 18_000.0, flops=1.5e9, bytes=3.9e10, count=240, part="mlp", family="elementwise"
    )
    norm = operator(
        "aten::layer_norm", "bandwidth", 5_000.0, flops=2e8, bytes=9e9, count=48, part="norm", family="norm"
    )
    tiny = operator("aten::fill_", "launch", 96.0, flops=0.0, bytes=4.0, count=48)
    shares = Shares(compute=0.70, bandwidth=0.22, launch=0.05, unknown=0.03)
    given = phase(
        "prefill",
        102_000.0,
        shares,
        "compute",
        batch=1,
        query_tokens=8944,
        context_tokens=8944,
        flops=4.27e13,
        bytes=1.011e11,
        intensity=4.27e13 / 1.011e11,
        ridge=989.4e12 / 3350e9,
        achieved_tflops=4.27e13 / 0.102 / 1e12,
        achieved_gb_s=1.011e11 / 0.102 / 1e9,
        peak_fraction=0.56,
        cost_coverage=0.97,
        untraced_us=101_000.0,
        distortion=0.0099,
        predicted=Predicted(
            bound="compute",
            wall_us=61_000.0,
            intensity=510.0,
            flops=4.2e13,
            bytes=8.2e10,
            parts=(
                PredictedPart(
                    part="mlp", bound="compute", time_us=48_000.0, share=0.79, flops=3.6e13, bytes=5e10, intensity=720.0
                ),
                PredictedPart(
                    part="attention", bound="compute", time_us=9_000.0, share=0.15, flops=6e12, bytes=1e9, intensity=6e3
                ),
            ),
        ),
        evidence=(
            "wall time 102 ms: compute 70.0%, bandwidth 22.0%, launch 5.0%, unknown 3.0%; "
            "the device is busy 95.0% of it",
        ),
        findings=(
            Finding(
                "elementwise-traffic",
                "Fuse the elementwise operators of the MLP",
                14_200.0,
                0.139,
                "240 aten::mul calls move 39 GB in 18 ms at 2.17 TB/s; "
                "fused into the GEMM's epilogue they would move none of it.",
                "Compile the model: `model = torch.compile(model)`",
            ),
            Finding(
                "low-gemm-efficiency",
                "The GEMMs run at 62 % of the peak",
                None,
                None,
                "611 of 989 TFLOP/s.",
                "Pad to 128.",
            ),
        ),
        operators=(gemms, mul, attention, norm, tiny),
        kernels=(
            kernel(
                GEMM_NAME,
                "compute",
                60_000.0,
                0.62,
                count=96,
                flops=3.66e13,
                bytes=5.2e10,
                efficiency=0.617,
                gap_before_us=1200.0,
                short_name="cutlass gemm bf16 128x256",
                family="gemm",
            ),
            kernel(
                ELEMENTWISE_NAME,
                "bandwidth",
                18_000.0,
                0.19,
                count=240,
                flops=1.5e9,
                bytes=3.9e10,
                efficiency=0.647,
                gap_before_us=2400.0,
                family="elementwise",
            ),
            kernel("flash_fwd_kernel", "compute", 12_000.0, 0.12, count=24, gap_before_us=300.0, family="attention"),
            kernel("layer_norm_kernel", "bandwidth", 5_000.0, 0.05, count=48, gap_before_us=500.0, family="norm"),
            kernel("memset (Device)", "launch", 96.0, 0.001, count=48, gap_before_us=100.0),
        ),
        steps=(
            StepRow(
                index=0, start_us=1200.0, wall_us=102_000.0, busy_us=96_900.0, launch_us=5_100.0, context_tokens=8944
            ),
        ),
        parts=(
            PartRow(
                part="mlp",
                time_us=78_000.0,
                share=0.81,
                flops=3.66e13,
                bytes=9.1e10,
                intensity=402.2,
                bound_class="compute",
            ),
            PartRow(
                part="attention",
                time_us=12_000.0,
                share=0.12,
                flops=6.1e12,
                bytes=1.1e9,
                intensity=5545.0,
                bound_class="compute",
            ),
            PartRow(
                part="norm", time_us=5_000.0, share=0.05, flops=2e8, bytes=9e9, intensity=0.022, bound_class="bandwidth"
            ),
        ),
    )
    warnings = (TraceWarning("truncated-head", "the capture starts inside a step: its kernels have no launch", 509),)
    return analysis(given, warnings=warnings, path="hf-qwen-prefill.pt.trace.json.gz")


def decode_mi300x(n_steps: int = 24) -> Analysis:
    """A bandwidth-bound decode replayed from a graph; one step in it is an outlier."""
    walls = [10_400.0 + 14.0 * i + (6_000.0 if i == 17 else 0.0) for i in range(n_steps)]
    wall = sum(walls)
    steps = tuple(
        StepRow(
            index=i,
            start_us=sum(walls[:i]),
            wall_us=w,
            busy_us=0.96 * w,
            launch_us=0.04 * w,
            context_tokens=32 * (1024 + i),
            edge=i in (0, n_steps - 1),
        )
        for i, w in enumerate(walls)
    )
    shares = Shares(compute=0.06, bandwidth=0.78, launch=0.04, unknown=0.12)
    size = 0.62 * 5.3e12 * wall * 1e-6
    gemm = operator(
        "gemm (graph)",
        "bandwidth",
        0.6 * wall,
        device=MI300X,
        flops=5e12,
        bytes=0.8 * size,
        count=113 * n_steps,
        part="mlp",
        family="gemm",
        known_by="model",
    )
    attention = operator(
        "paged_attention",
        "bandwidth",
        0.18 * wall,
        device=MI300X,
        flops=4e11,
        bytes=0.2 * size,
        count=36 * n_steps,
        part="attention",
        family="attention",
        known_by="span",
    )
    given = phase(
        "decode",
        wall,
        shares,
        "bandwidth",
        engine="sglang",
        n_steps=n_steps,
        batch=32,
        query_tokens=32,
        context_tokens=32 * 1036,
        n_kernels=421 * n_steps,
        n_launches=n_steps,
        flops=5.4e12,
        bytes=size,
        intensity=5.4e12 / size,
        ridge=1307.4e12 / 5.3e12,
        achieved_tflops=5.4e12 / wall / 1e6,
        achieved_gb_s=0.62 * 5300.0,
        peak_fraction=0.62,
        cost_coverage=0.88,
        operators=(gemm, attention, operator("Cijk_unknown", "unknown", 0.12 * wall)),
        kernels=(
            kernel(
                "Cijk_Alik_Bljk_BBS_BH_MT128x128x64_MI16x16x16x1_SN",
                "bandwidth",
                0.6 * wall,
                0.625,
                count=113 * n_steps,
            ),
            kernel(
                "_ZN5aiter15paged_attentionE",
                "bandwidth",
                0.18 * wall,
                0.1875,
                count=36 * n_steps,
                gap_before_us=0.04 * wall,
            ),
            kernel("Cijk_unknown", "unknown", 0.12 * wall, 0.125, count=36 * n_steps),
        ),
        steps=steps,
        evidence=("at the device's peaks the FLOPs would take 4.1 ms and the bytes 155 ms",),
        timelines=(timeline("typical", 3, 10_442.0), timeline("slowest", 17, 16_638.0)),
    )
    facts = {
        "model": {"name": "qwen3-8b", "parameter_bytes": 16.4e9, "kv_bytes_per_token": 147_456},
        "memory": {"weights_bytes": 16.4e9, "kv_bytes": 4.9e9, "peak_bytes": 24.0e9},
        "workload": {"batch": 32, "command": "boundby profile Qwen/Qwen3-8B --batch 32"},
        "versions": {"torch": "2.9.0", "rocm": "7.0"},
    }
    return analysis(given, device=MI300X, path="sglang-decode.trace.json.gz", metadata=facts)


def timeline(role: str, step: int, wall_us: float, kernels: int = 421) -> Timeline:
    """Kernels back to back on one stream, a few on a second, and a gap after every tenth."""
    each = wall_us / (kernels + 4)
    items, gaps, at = [], [], each
    for n in range(kernels):
        name = ("Cijk_Alik_Bljk gemm", "paged_attention", "rmsnorm")[n % 3]
        cls = ("bandwidth", "bandwidth", "launch")[n % 3]
        items.append(TimelineItem(lane=int(n % 40 == 0), start_us=at, dur_us=0.8 * each, name=name, bound_class=cls))
        at += 0.8 * each
        if n % 10 == 9:
            gaps.append(TimelineGap(start_us=at, dur_us=2 * each, cause=("python", "dispatch", "stall")[n // 10 % 3]))
            at += 2 * each
    return Timeline(
        role=role,
        step=step,
        start_us=1000.0,
        wall_us=wall_us,
        lanes=("stream 7", "stream 20"),
        items=tuple(items),
        gaps=tuple(gaps),
        dropped=3,
    )


def launch_bound_cpu() -> Analysis:
    """A tiny model on a CPU: decode takes longer to dispatch than to compute."""
    decode = phase(
        "decode",
        32 * 1200.0,
        Shares(compute=0.08, bandwidth=0.20, launch=0.72),
        "launch",
        n_steps=32,
        query_tokens=1,
        context_tokens=40,
        untraced_us=1200.0,
        distortion=0.6,
        cost_coverage=1.0,
        operators=(
            operator("aten::addmm", "bandwidth", 5000.0, device=CPU, flops=2e8, bytes=8e7, count=640, family="gemm"),
        ),
        kernels=(kernel("aten::addmm", "bandwidth", 5000.0, 0.5, count=640, gap_before_us=9000.0),),
        findings=(
            Finding(
                "gaps-dominate",
                "Launch less",
                20_000.0,
                0.52,
                "72 % of the time.",
                'torch.compile(mode="reduce-overhead")',
            ),
        ),
    )
    return analysis(decode, device=CPU, warnings=(TraceWarning("distortion", "the profiler slows a step by 60 %"),))


def contested() -> Analysis:
    """Two bounds within a few points."""
    shares = Shares(compute=0.44, bandwidth=0.41, launch=0.15)
    return analysis(
        phase("prefill", 13_800.0, shares, "compute", evidence=("the lead over bandwidth is 3.0% of the time",))
    )


def no_gpu_data() -> Analysis:
    """Launches and no kernel: nothing can be said."""
    missing = "GPU activity missing: the trace holds launches and no kernel; record again with the device activity on"
    return analysis(
        phase("unknown", 0.0, None, "unknown", n_kernels=0, evidence=(missing,), confidence="low"), device=NO_DEVICE
    )


def many_kernels(n: int = 900, phases: int = 3) -> Analysis:
    """Hundreds of distinct kernels and operators in several phases."""
    share = 1.0 / n
    rows = tuple(
        kernel(
            f"void ns::kernel_{i}<float, {i}>(int)",
            "bandwidth",
            100.0,
            share,
            flops=1e6,
            bytes=1e6 * (i + 1),
            efficiency=0.3,
        )
        for i in range(n)
    )
    ops = tuple(
        operator(
            f"aten::op_{i}", "bandwidth", 100.0, flops=1e6 * (i + 1), bytes=1e7, shapes=f"[{i},64] float", part="mlp"
        )
        for i in range(n)
    )
    shares = Shares(bandwidth=0.9, launch=0.1)
    return analysis(
        *(
            phase("decode", 1e5, shares, "bandwidth", id=f"decode-{i}", kernels=rows, operators=ops)
            for i in range(phases)
        )
    )


def hostile() -> Analysis:
    """Every text a trace controls is an attack."""
    rows = tuple(kernel(name, "bandwidth", 10.0, 0.1) for name in HOSTILE)
    ops = tuple(
        operator(name, "bandwidth", 10.0, flops=1e6, bytes=1e7, shapes=name, part=name, family=name) for name in HOSTILE
    )
    nasty = HOSTILE[0] + HOSTILE[1] + HOSTILE[3] + HOSTILE[4]
    given = phase(
        "decode",
        100.0,
        Shares(bandwidth=1.0),
        "bandwidth",
        id=nasty,
        engine=nasty,
        kernels=rows,
        operators=ops,
        evidence=(nasty,),
        launch_causes={nasty: 0.0},
        findings=(Finding(nasty, nasty, 1.0, 0.01, nasty, nasty),),
        parts=(
            PartRow(
                part=nasty, time_us=1.0, share=1.0, flops=None, bytes=None, intensity=None, bound_class="bandwidth"
            ),
        ),
    )
    return analysis(
        given,
        path=nasty,
        device=DeviceInfo(nasty, "cuda", {"bf16": 100.0}, 1000.0, 10.0, "table: " + nasty),
        warnings=(TraceWarning(nasty, nasty),),
        metadata={nasty: {nasty: nasty}},
    )


ALL = {
    "prefill_h100": prefill_h100,
    "decode_mi300x": decode_mi300x,
    "launch_bound_cpu": launch_bound_cpu,
    "contested": contested,
    "no_gpu_data": no_gpu_data,
    "many_kernels": many_kernels,
    "hostile": hostile,
}
