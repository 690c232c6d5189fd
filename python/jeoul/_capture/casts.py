"""Autocast for CUDA on fake tensors: applies the casts of PyTorch's CUDA lists at the dispatcher level.

PyTorch's CPU list stays active where both agree (products, convolutions; including its cache of cast weights)."""
import torch

aten = torch.ops.aten

# aten/src/ATen/autocast_mode.h, CUDA: operators in the lower format that the CPU list lacks
LOWER = ("addmv addr mv chain_matmul linalg_multi_dot _thnn_fused_lstm_cell _thnn_fused_gru_cell rnn_tanh_cell rnn_relu_cell")
# run in fp32
FP32 = ("acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan pow softplus layer_norm native_layer_norm group_norm "
        "frobenius_norm nuclear_norm cosine_similarity poisson_nll_loss cosine_embedding_loss nll_loss nll_loss2d hinge_embedding_loss kl_div l1_loss "
        "smooth_l1_loss huber_loss mse_loss margin_ranking_loss multilabel_margin_loss soft_margin_loss triplet_margin_loss multi_margin_loss "
        "binary_cross_entropy_with_logits dist pdist cdist renorm logsumexp upsample_nearest1d _upsample_nearest_exact1d upsample_nearest2d "
        "_upsample_nearest_exact2d upsample_nearest3d _upsample_nearest_exact3d upsample_linear1d upsample_bilinear2d _upsample_bilinear2d_aa "
        "upsample_trilinear3d upsample_bicubic2d _upsample_bicubic2d_aa")
# in their own format with an fp32 sum, unless a format is given
FP32_DTYPE = "prod softmax log_softmax cumprod cumsum linalg_vector_norm linalg_matrix_norm sum"
# run in the widest format of their inputs
WIDEST = "addcdiv addcmul atan2 bilinear cross dot vdot grid_sampler index_put tensordot scatter_add"
# cast on the CPU, but not on CUDA
LEFT = ("avg_pool3d max_pool3d binary_cross_entropy polar quantile nanquantile stft trace view_as_complex cholesky cholesky_inverse cholesky_solve inverse lu_solve orgqr "
        "ormqr pinverse max_unpool2d max_unpool3d adaptive_avg_pool3d reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d "
        "replication_pad3d ctc_loss multilabel_margin_loss_forward cross_entropy_loss fft_fft fft_ifft fft_fft2 fft_ifft2 fft_fftn fft_ifftn fft_rfft "
        "fft_irfft fft_rfft2 fft_irfft2 fft_rfftn fft_irfftn fft_hfft fft_ihfft linalg_cond linalg_matrix_rank linalg_solve linalg_cholesky "
        "linalg_svdvals linalg_eigvals linalg_eigvalsh linalg_inv linalg_householder_product linalg_tensorinv linalg_tensorsolve fake_quantize_per_tensor_affine "
        "geqrf _lu_with_info qr svd triangular_solve fractional_max_pool2d fractional_max_pool3d adaptive_max_pool3d linalg_qr linalg_cholesky_ex "
        "linalg_svd linalg_eig linalg_eigh linalg_lstsq linalg_inv_ex")
KEY = torch._C.DispatchKey.AutocastCPU


def overloads(name):
    packet = getattr(aten, name, None)
    if packet is None:
        return []
    found = [getattr(packet, o) for o in packet.overloads() if "out" not in o and "dimname" not in o.lower()]
    return [op for op in found if torch._C._dispatch_has_kernel(op.name())]


class Casts:
    """Registers the lists with the dispatcher; close() removes them."""

    def __init__(self, state):
        self.state = state
        self.library = torch.library.Library("aten", "IMPL")
        makers = ((LOWER, self.lower), (FP32, self.fp32), (FP32_DTYPE, self.fp32_dtype), (WIDEST, self.widest))
        for names, maker in makers:
            for name in names.split():
                for op in overloads(name):
                    self.impl(op, maker(op))
        for op in overloads("norm"):
            self.impl(op, self.fp32(op))
        for name in LEFT.split():
            for op in overloads(name):
                if torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), "AutocastCPU"):
                    self.impl(op, torch.library.fallthrough_kernel)

    def impl(self, op, kernel):
        name = op.name().partition("::")[2]
        self.library.impl(name, kernel, "AutocastCPU")

    def close(self):
        self.library._destroy()

    def eligible(self, x):
        if isinstance(x, (list, tuple)):
            return any(self.eligible(y) for y in x)
        return isinstance(x, torch.Tensor) and x.is_floating_point() and x.dtype is not torch.float64 and (
            self.state.tracing or self.state.is_gpu(x))

    def cast(self, x, dtype):
        if isinstance(x, torch.Tensor):
            return x.to(dtype) if self.eligible(x) and x.dtype is not dtype else x
        if isinstance(x, (list, tuple)) and x and isinstance(x[0], torch.Tensor):
            return type(x)(self.cast(y, dtype) for y in x)
        return x

    def call(self, op, args, kwargs, dtype=None):
        with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(KEY)):
            if dtype is not None:
                args = [self.cast(x, dtype) for x in args]
                kwargs = {k: self.cast(x, dtype) for k, x in kwargs.items()}
            return op(*args, **kwargs)

    def lower(self, op):
        def kernel(*args, **kwargs):
            with torch._C.DisableTorchFunction():
                return self.call(op, args, kwargs, torch.get_autocast_dtype("cpu"))
        return kernel

    def fp32(self, op):
        def kernel(*args, **kwargs):
            with torch._C.DisableTorchFunction():
                return self.call(op, args, kwargs, torch.float32)
        return kernel

    def fp32_dtype(self, op):
        names = [a.name for a in op._schema.arguments]
        at = names.index("dtype") if "dtype" in names else None

        def kernel(*args, **kwargs):
            with torch._C.DisableTorchFunction():
                given = at is not None and (kwargs.get("dtype") is not None or (len(args) > at and args[at] is not None))
                if given or at is None or not any(self.eligible(x) for x in args):
                    return self.call(op, args, kwargs)
                if len(args) > at:
                    args = (*args[:at], torch.float32, *args[at + 1:])
                else:
                    kwargs = {**kwargs, "dtype": torch.float32}
                return self.call(op, args, kwargs)
        return kernel

    def widest(self, op):
        def kernel(*args, **kwargs):
            with torch._C.DisableTorchFunction():
                formats = {x.dtype for a in args for x in (a if isinstance(a, (list, tuple)) else (a,)) if self.eligible(x)}
                if len(formats) < 2:
                    return self.call(op, args, kwargs)
                return self.call(op, args, kwargs, torch.float32 if torch.float32 in formats else torch.get_autocast_dtype("cpu"))
        return kernel
