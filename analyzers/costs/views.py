"""Ops that neither compute nor move anything themselves: views, allocations, queries, and the ops that only hand
their work to others (whose formulas then count it).
"""

from __future__ import annotations

from .registry import aten, free

VIEWS = aten(
    "view reshape _reshape_alias _unsafe_view view_as as_strided as_strided_ t t_ transpose transpose_ permute "
    "movedim moveaxis numpy_T mT swapaxes swapdims expand expand_as slice select narrow split split_with_sizes "
    "chunk unbind tensor_split unsqueeze unsqueeze_ squeeze squeeze_ flatten unflatten ravel alias detach detach_ "
    "diagonal unfold view_as_real view_as_complex real imag conj _conj resolve_conj resolve_neg lift lift_fresh "
    "contiguous to type_as broadcast_to broadcast_tensors _nested_view_from_buffer set_ data"
)
ALLOCATIONS = aten("empty empty_like empty_strided new_empty new_empty_strided resize_ resize_as_ _resize_output_")
QUERIES = aten(
    "result_type item _local_scalar_dense is_nonzero size stride numel dim is_floating_point is_complex can_cast "
    "_fused_sdp_choice _has_compatible_shallow_copy_type record_stream is_pinned pin_memory _pin_memory "
    "equal_scalar promote_types storage_offset is_same_size _assert_async _assert_scalar set_data requires_grad_ "
    "output_nr _version"
)
DISPATCHERS = aten(
    "einsum dropout dropout_ repeat repeat_interleave pad constant_pad_nd zeros zeros_like ones ones_like full "
    "full_like new_zeros new_ones new_full scalar_tensor float half bfloat16 long tile "
    "multi_head_attention_forward cosine_similarity cross_entropy_loss nll_loss_nd tensordot inner outer "
    "chain_matmul numpy_t rot90 meshgrid one_hot fft_rfft fft_irfft fft_fft fft_ifft conv1d conv2d conv3d "
    "max_pool2d avg_pool1d adaptive_avg_pool2d"
)
BARE = ("detach", "detach_")
COMPILER = ("TorchDynamo Cache Lookup", "Pregraph bytecode", "AOTDispatcher Runtime Wrapper Prologue")
"""The host's way into compiled code: Dynamo's guards, the bytecode before the graph, AOTAutograd's prologue."""

free(*VIEWS, *ALLOCATIONS, *QUERIES, *DISPATCHERS, *BARE, *COMPILER, module=__name__)
