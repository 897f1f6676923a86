"""Dense matrix products, in aten's spellings.

C[M, N] = A[M, K] B[K, N]: FLOPs 2 M N K (a complex product is four real ones); bytes: A and B read once, C written
once, a bias or an accumulated C read too. FLOPs are judged by the operands' dtype. Source: the definition;
torch.utils.flop_counter counts the same FLOPs.
"""

from __future__ import annotations

import math

from .arguments import Arguments, Tensor, Unusable, require
from .cost import Cost, Unit
from .dtypes import Dtype
from .registry import formula

_WIDEST_FIRST: tuple[Unit, ...] = ("fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8", "fp4", "int4")


def product(
    a: Tensor,
    b: Tensor,
    m: int,
    n: int,
    k: int,
    *,
    batch: int = 1,
    out: Dtype | None = None,
    also_read: float = 0.0,
    weight: bool = True,
    unit: Unit | None = None,
) -> Cost:
    """The cost of `batch` products [m, k] x [k, n]. `out`: the result's dtype, A's unless given; `also_read`: bytes of
    biases and scales; `weight`: whether B is a parameter; `unit`: what multiplies, the wider operand's dtype unless given."""
    times = 4 if "complex" in a.type_name else 1
    return Cost(
        family="gemm",
        flops=2.0 * times * batch * m * n * k,
        bytes_read=a.bytes + b.bytes + also_read,
        bytes_written=batch * m * n * (out or a.dtype).bytes,
        unit=unit or wider_unit(a, b),
        weight_bytes=b.bytes if weight else 0.0,
    )


def wider_unit(a: Tensor, b: Tensor) -> Unit | None:
    """The unit of a product of two dtypes: that of the wider one, to which the narrower is converted."""
    units = {a.unit, b.unit} - {None}
    return next((u for u in _WIDEST_FIRST if u in units), None)


def read_if(tensor: Tensor | None, *, scale: str = "1") -> float:
    """Bytes of an optional operand; none where it is absent or multiplied by zero."""
    return 0.0 if tensor is None or scale in ("0", "0.", "0.0") else tensor.bytes


def _matrix(a: Tensor, b: Tensor, out: Tensor | None, also_read: float = 0.0) -> Cost:
    (m, k), (k2, n) = a.shape, b.shape
    require(k == k2)
    return product(a, b, m, n, k, out=out.dtype if out else None, also_read=also_read)


@formula("aten::mm", "aten::_int_mm")
def mm(a: Arguments) -> Cost:
    """mm(a[M, K], b[K, N], out?); `_int_mm` of int8 gives int32."""
    x, w = a.tensor(0, rank=2), a.tensor(1, rank=2)
    cost = _matrix(x, w, a.maybe(2))
    if a.name == "aten::_int_mm":
        return product(x, w, x.shape[0], w.shape[1], x.shape[1], out=Dtype(4, None))
    return cost


@formula("aten::addmm", "aten::_addmm_activation")
def addmm(a: Arguments) -> Cost:
    """addmm(c, a[M, K], b[K, N], beta, alpha, out?): c is a bias [N] or an [M, N] to add to."""
    added = read_if(a.tensor(0), scale=a.text(3))
    return _matrix(a.tensor(1, rank=2), a.tensor(2, rank=2), None, added)


def _batched(x: Tensor, y: Tensor, also_read: float = 0.0) -> Cost:
    (batch, m, k), (batch2, k2, n) = x.shape, y.shape
    require(batch == batch2 and k == k2)
    return product(x, y, m, n, k, batch=batch, also_read=also_read, weight=False)


@formula("aten::bmm")
def bmm(a: Arguments) -> Cost:
    """bmm(a[B, M, K], b[B, K, N]); an expanded batch (stride 0) is read once."""
    return _batched(a.tensor(0, rank=3), a.tensor(1, rank=3))


@formula("aten::baddbmm", "aten::baddbmm_")
def baddbmm(a: Arguments) -> Cost:
    """baddbmm(c, a[B, M, K], b[B, K, N], beta, alpha)."""
    return _batched(a.tensor(1, rank=3), a.tensor(2, rank=3), read_if(a.tensor(0), scale=a.text(3)))


@formula("aten::addbmm", "aten::addbmm_")
def addbmm(a: Arguments) -> Cost:
    """addbmm(c[M, N], a[B, M, K], b[B, K, N], beta, alpha): the batch is summed, so one [M, N] is written."""
    x, y = a.tensor(1, rank=3), a.tensor(2, rank=3)
    (batch, m, k), n = x.shape, y.shape[2]
    added = read_if(a.tensor(0), scale=a.text(3))
    return product(x, y, m, n, batch * k, also_read=added, weight=False)


@formula("aten::mv")
def mv(a: Arguments) -> Cost:
    """mv(a[M, K], x[K]): the matrix is the weight, whichever side it stands on."""
    return _matrix_vector(a.tensor(0, rank=2), a.tensor(1, rank=1), 0.0)


@formula("aten::addmv", "aten::addmv_")
def addmv(a: Arguments) -> Cost:
    """addmv(y, a[M, K], x[K], beta, alpha)."""
    return _matrix_vector(a.tensor(1, rank=2), a.tensor(2, rank=1), read_if(a.tensor(0), scale=a.text(3)))


def _matrix_vector(matrix: Tensor, vector: Tensor, added: float) -> Cost:
    m, k = matrix.shape
    require(vector.shape == (k,))
    return product(vector, matrix, 1, m, k, also_read=added)


@formula("aten::dot", "aten::vdot")
def dot(a: Arguments) -> Cost:
    """dot(x[K], y[K])."""
    x, y = a.tensor(0, rank=1), a.tensor(1, rank=1)
    require(x.shape == y.shape)
    return product(x, y, 1, 1, x.shape[0], weight=False)


@formula("aten::linear", hands_on=True)
@formula("aten::mkldnn_linear", "mkldnn::_linear_pointwise", "vllm::rocm_unquantized_gemm")
@formula("vllm::unquantized_gemm", "vllm::cpu_unquantized_gemm", "onednn::linear", "torch_ipex::ipex_linear")
def linear(a: Arguments) -> Cost:
    """linear(x[..., K], w[N, K], bias[N]?): x w^T. mkldnn's fused form may also take a tensor to add or multiply before w."""
    x, w, others = a.tensor(0), a.tensor(1), 0.0
    if len(w.shape) != 2 or (w.shape == x.shape[:-1] and a.maybe(2) is not None):
        others, w = w.bytes, a.tensor(2, rank=2)
        return linear_of(x, w, others + read_if(a.maybe(3)))
    return linear_of(x, w, read_if(a.maybe(2)))


@formula("mkl::_mkl_linear")
def mkl_linear(a: Arguments) -> Cost:
    """_mkl_linear(x[..., K], packed, w[N, K], bias?, batch): the packed copy is what is read, of w's size."""
    return linear_of(a.tensor(0), a.tensor(2, rank=2), read_if(a.maybe(3)))


def linear_of(x: Tensor, w: Tensor, also_read: float = 0.0, *, out: Dtype | None = None) -> Cost:
    """x[..., K] times w, which stands as [N, K] or as [K, N]: a square one costs the same either way."""
    require(len(x.shape) >= 1 and len(w.shape) == 2)
    k = x.shape[-1]
    if k == w.shape[1]:
        n = w.shape[0]
    elif k == w.shape[0]:
        n = w.shape[1]
    else:
        raise Unusable
    return product(x, w, math.prod(x.shape[:-1]), n, k, also_read=also_read, out=out)


@formula("aten::matmul", hands_on=True)
def matmul(a: Arguments) -> Cost:
    """matmul(a[..., M, K], b[..., K, N]) with broadcast batches; vectors are rows or columns of one."""
    x, y = a.tensor(0), a.tensor(1)
    require(len(x.shape) >= 1 and len(y.shape) >= 1)
    left = x.shape if len(x.shape) > 1 else (1, *x.shape)
    right = y.shape if len(y.shape) > 1 else (*y.shape, 1)
    require(left[-1] == right[-2])
    batch = math.prod(broadcast(left[:-2], right[:-2]))
    return product(x, y, left[-2], right[-1], left[-1], batch=batch, weight=len(y.shape) <= 2)


def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that these shapes broadcast to; raises `Unusable` where they don't."""
    rank = max(map(len, shapes), default=0)
    padded = [(1,) * (rank - len(s)) + s for s in shapes]
    result = []
    for sizes in zip(*padded, strict=True):
        wanted = set(sizes) - {1}
        require(len(wanted) <= 1)
        result.append(wanted.pop() if wanted else 1)
    return tuple(result)
