import pytest
from example_analyses import ELEMENTWISE_NAME, kernel

from boundby.reports.names import fold, short


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (ELEMENTWISE_NAME, "native::vectorized_elementwise_kernel<…>"),
        ("void at::native::f<float, 4>(int, char*)", "native::f<…>"),
        ("Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)"),
        ("triton_poi_fused_mul_0", "triton_poi_fused_mul_0"),
        ("(anonymous namespace)::softmax_warp<float>(float*)", "softmax_warp<…>"),
        ("void (anonymous namespace)::elementwise_kernel<1>(int)", "(anonymous namespace)::elementwise_kernel<…>"),
        ("<<<", "<…>"),
        ("", ""),
    ],
)
def test_template_arguments_and_parameters_fold(name: str, shown: str) -> None:
    assert fold(name) == shown


def test_the_analysis_own_short_name_goes_first() -> None:
    assert short(kernel("void f<int>()", "compute", 1.0, 1.0, short_name="gemm 128x128")) == "gemm 128x128"
