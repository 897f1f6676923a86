"""aten's ops that stream: each byte read once and written once."""

from costcalls import BF16, BOOL, FP32, FP64, INT64, Case, T, named

# 6 elements: 24 bytes in fp32, 12 in bf16, 48 in int64, 6 in bool.
X = T([2, 3])
IN_PLACE = "abs_ exp_ sqrt_ tanh_"
ROW = T([2, 3], FP32, [0, 1])
"""[3] expanded to [2, 3]: 12 bytes in memory."""


def both(names: str) -> str:
    """Each aten op and its in-place form: of x they read and write the same."""
    return named("aten", " ".join(f"{n} {n}_" for n in names.split()))


UNARY = (
    "abs acos acosh angle asin asinh atan atanh bernoulli bitwise_not ceil cos cosh deg2rad digamma erf erfc erfinv exp "
    "exp2 expm1 floor frac i0 lgamma log log10 log1p log2 logit neg negative rad2deg reciprocal round rsqrt sgn sign sin "
    "sinc sinh sqrt square tan tanh trunc nan_to_num conj_physical threshold tril triu cumsum cumprod cummax flip roll"
)
ACTIVATIONS = (
    "celu elu gelu hardsigmoid hardswish hardtanh leaky_relu log_sigmoid mish relu relu6 sigmoid silu softplus"
)
BINARY = (
    "add sub subtract rsub mul multiply div divide true_divide pow remainder fmod maximum minimum fmax fmin atan2 hypot "
    "bitwise_and bitwise_or bitwise_xor copysign floor_divide lerp prelu xlogy"
)
TESTS = (
    "eq ne lt le gt ge isnan isinf isfinite isposinf isneginf logical_and logical_or logical_xor logical_not signbit"
)

CASES = [
    Case(both(UNARY), (X,), 24, 24),
    Case(both(ACTIVATIONS), (X,), 24, 24),
    Case(both(BINARY), (X, T([2, 3])), 48, 24),
    Case(named("aten", "__and__ __or__ __xor__ __lshift__ __rshift__"), (X, T([2, 3])), 48, 24),
    # Out of place a test writes a byte per element; in place it keeps the input's width.
    Case(named("aten", TESTS), (X, 1), 24, 6),
    Case(named("aten", " ".join(f"{n}_" for n in TESTS.split())), (X, 1), 24, 24),
    Case(both("bitwise_left_shift bitwise_right_shift clamp clamp_min clamp_max"), (X, T([2, 3])), 48, 24),
    Case(both("masked_fill"), (X, T([2, 3], BOOL), 0), 30, 24),
    Case(both("addcmul addcdiv"), (X, X, X, 1), 72, 24),
    # The condition is a byte, the branches decide the dtype.
    Case("aten::where", (T([2, 3], BOOL), X, X), 54, 24),
    Case("aten::where_", (X, X, X), 72, 24),
    Case("aten::native_dropout", (X, 0.1, True), 24, 30),
    Case("aten::native_dropout_", (X, 0.1, True), 24, 24),
    # A stride-0 dimension is one element in memory.
    Case("aten::mul", (X, ROW), 36, 24),
    # [2, 1] broadcast against [1, 3]: 8 + 12 read, 24 written.
    Case("aten::add", (T([2, 1]), T([1, 3]), 1), 20, 24),
    # bf16 with fp32 gives fp32.
    Case("aten::mul", (T([2, 3], BF16), X), 36, 24),
    # A 0-d double beside an fp32 tensor: 8 more bytes read, the result stays fp32.
    Case("aten::mul", (X, T([], FP64)), 32, 24),
    # out= is written at its own width and not read.
    Case("aten::add", (X, X, 1, T([2, 3], BF16)), 48, 12),
    Case(named("aten", "fill_ zero_ uniform_ normal_ exponential_ random_"), (X, 0), 0, 24),
    Case("aten::arange", (5, None, None, None, False), 0, 40),
    Case("aten::arange", (2, 5, 6, None, None, False), 0, 12),
    Case("aten::arange", (0, 5, 2, 4, None, None, False), 0, 24),
    Case("aten::arange", (0, 5, 1, T([5], INT64)), 0, 40),
    Case("aten::linspace", (0, 1, 5, 6, None, None, False), 0, 20),
    Case("aten::copy_", (T([2, 3], BF16), X, False), 24, 12),
    Case("aten::copy_", (X, ROW, False), 12, 24),
    Case("aten::clone", (X, 0), 24, 24),
    # ScalarType 15 is bf16.
    Case("aten::_to_copy", (X, 15, None, None, None, False, None), 24, 12),
    Case(named("aten", "cat _cat concat concatenate"), ([T([2, 3]), T([2, 5])], 1), 64, 64),
    Case(named("aten", "stack _stack hstack vstack"), ([T([2, 3]), T([2, 3])], 0), 48, 48),
    Case(named("aten", "softmax log_softmax"), (X, -1, None), 24, 24),
    Case(named("aten", "softmax"), (T([2, 3], BF16), -1, 6), 12, 24),
    Case(named("aten", "_softmax _log_softmax _safe_softmax"), (X, -1, False), 24, 24),
    Case("aten::_softmax", (T([2, 3], BF16), -1, True), 12, 24),
    Case("aten::_masked_softmax", (X, T([2, 3], BOOL), -1, 0), 30, 24),
    # Two rows: mean and deviation in fp32, 16 bytes, beside y.
    Case(named("aten", "layer_norm native_layer_norm"), (X, [3], T([3]), T([3]), 1e-5), 48, 40),
    Case("aten::rms_norm", (X, [3], T([3]), 1e-5), 36, 24),
    Case("aten::_fused_rms_norm", (X, [3], T([3]), 1e-5), 36, 32),
    Case("aten::group_norm", (T([2, 4, 3]), 2, T([4]), T([4]), 1e-5), 128, 96),
    Case("aten::native_group_norm", (T([2, 4, 3]), T([4]), T([4]), 2, 4, 3, 2, 1e-5), 128, 96),
    Case(
        named("aten", "batch_norm _batch_norm_impl_index native_batch_norm cudnn_batch_norm miopen_batch_norm")
        + " aten::_native_batch_norm_legit aten::_native_batch_norm_legit_no_training",
        (T([2, 3, 4]), T([3]), T([3]), T([3]), T([3]), False),
        144,
        96,
    ),
    # Four rows of 8 bf16 values (64 bytes) of 100, and four int64 indices.
    Case("aten::embedding", (T([100, 8], BF16), T([2, 2], INT64), -1, False, False), 96, 64),
    # Six look-ups in a table of two rows read it once: 2 rows of 8 bytes, 48 of indices.
    Case("aten::embedding", (T([2, 4], BF16), T([6], INT64), -1, False, False), 64, 48),
    Case(
        "aten::_embedding_bag aten::_embedding_bag_forward_only",
        (T([100, 8]), T([6], INT64), T([2], INT64), False, 0),
        6 * 32 + 48 + 16,
        64,
    ),
    # Two of ten rows of 4 fp32 values.
    Case("aten::index_select", (T([10, 4]), 0, T([2], INT64)), 48, 32),
    Case("aten::gather", (T([10, 4]), 0, T([2, 4], INT64)), 96, 32),
    # An index expanded from [2, 1] to [2, 4] is 16 bytes.
    Case("aten::gather", (T([10, 4]), 0, T([2, 4], INT64, [1, 0])), 48, 32),
    Case(named("aten", "take take_along_dim"), (T([10, 4]), T([5], INT64)), 60, 20),
    Case("aten::scatter_", (T([10, 4]), 0, T([2, 4], INT64), T([2, 4])), 96, 32),
    Case("aten::scatter_", (T([10, 4]), 0, T([2, 4], INT64), 1), 64, 32),
    Case("aten::scatter", (T([10, 4]), 0, T([2, 4], INT64), T([2, 4])), 256, 192),
    # Adding reads the places it adds to.
    Case(named("aten", "scatter_add_ scatter_reduce_"), (T([10, 4]), 0, T([2, 4], INT64), T([2, 4])), 128, 32),
    Case("aten::scatter_add", (T([10, 4]), 0, T([2, 4], INT64), T([2, 4])), 288, 192),
    Case("aten::index_copy_", (T([10, 4]), 0, T([2], INT64), T([2, 4])), 48, 32),
    Case("aten::index_copy", (T([10, 4]), 0, T([2], INT64), T([2, 4])), 208, 192),
    Case("aten::index_add_", (T([10, 4]), 0, T([2], INT64), T([2, 4])), 80, 32),
    Case("aten::index_add", (T([10, 4]), 0, T([2], INT64), T([2, 4])), 240, 192),
    Case("aten::index_fill_", (T([10, 4]), 0, T([2], INT64), 0), 16, 32),
    # How many are taken is data: the inputs' read is the least that moves.
    Case(named("aten", "masked_select"), (X, T([2, 3], BOOL)), 30, 0),
    Case("aten::nonzero", (X,), 24, 0),
    # Two values into a static cache; the index list's shapes are not recorded.
    Case(named("aten", "index_put_ _index_put_impl_"), (T([10, 4]), None, T([2, 4]), False), 32, 32),
    Case("aten::index_put", (T([10, 4]), None, T([2, 4]), True), 224, 192),
    Case(named("aten", "sum mean prod"), (X, [-1], False, None), 24, 8),
    Case(named("aten", "sum"), (X, None), 24, 4),
    Case(named("aten", "prod"), (X, 1, False, None), 24, 8),
    Case(named("aten", "amax amin logsumexp nansum count_nonzero"), (X, [0], False), 24, 12),
    Case(named("aten", "norm linalg_vector_norm"), (X, 2, [1], False, None), 24, 8),
    Case(named("aten", "all any"), (X,), 24, 1),
    Case(named("aten", "all any"), (X, 1, False), 24, 2),
    Case(named("aten", "max min median aminmax var std var_mean"), (X,), 24, 4),
    # Values and int64 indices of two rows.
    Case(named("aten", "max min median"), (X, 1, False), 24, 24),
    Case("aten::max", (X, T([2, 3])), 48, 24),
    Case("aten::logcumsumexp", (X, 1), 24, 24),
    Case("aten::histc", (X, 4, 0, 1), 24, 16),
    Case("aten::bincount", (T([6], INT64), None, 0), 48, 0),
    Case(named("aten", "argmax argmin"), (X, -1, False), 24, 16),
    Case("aten::argmax", (X, None, False), 24, 8),
    # Two of three kept in each of two rows: 12 bytes each.
    Case("aten::topk", (X, 2, -1, True, True), 24, 48),
    Case("aten::kthvalue", (X, 2, -1, False), 24, 24),
    Case("aten::sort", (X, -1, False), 24, 72),
    Case("aten::argsort", (X, -1, False), 24, 48),
    Case("aten::msort", (X,), 24, 24),
    Case("aten::multinomial", (X, 1, False, None), 24, 16),
]
