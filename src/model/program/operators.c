/* Table of PyTorch operators: kernels as PyTorch 2.4 to 2.11 launches them on CUDA. SM clocks of norms, softmax, losses, GELU, dropout and sums are
 * measured on an H200 (data/validation/ops_h200.csv); the others are assumed similar. */
#include "program/operators.h"

#include <string.h>

#include "base/text.h"

static const struct form {
	const char *names; /* names, separated by blanks */
	struct jl_operator op;
} forms[] = {
	{ " view reshape _reshape_alias _unsafe_view t transpose permute expand unsqueeze squeeze select slice "
	  "split split_with_sizes chunk unbind detach alias as_strided diagonal unfold narrow lift lift_fresh "
	  "view_as_real view_as_complex real imag empty empty_like empty_strided new_empty new_empty_strided "
	  "resize set sym_size sym_numel sym_stride size is_same_size record_stream movedim swapaxes swapdims "
	  "view_as expand_as flatten unflatten numel stride dim result_type can_cast is_pinned requires_grad "
	  "retain_grad tensor_split hsplit vsplit adjoint mT moveaxis _conj conj resolve_conj resolve_neg "
	  "_neg_view _assert_tensor_metadata _has_compatible_shallow_copy_type is_contiguous storage_offset "
	  "_nested_view_from_buffer ",
	  { JL_CLASS_NONE, JL_RULE_STREAM, 0, 0, 0, 0, 0 } },
	{ " add sub rsub mul div true_divide neg abs sign sgn square reciprocal sqrt rsqrt maximum minimum fmax "
	  "fmin clamp clamp_min clamp_max clip relu relu6 leaky_relu leaky_relu_backward threshold "
	  "threshold_backward hardtanh hardtanh_backward hardswish hardswish_backward hardsigmoid "
	  "hardsigmoid_backward where eq ne lt le gt ge logical_and logical_or logical_not logical_xor "
	  "bitwise_and bitwise_or bitwise_not bitwise_xor bitwise_left_shift bitwise_right_shift __and __or "
	  "__xor __lshift __rshift masked_fill lerp addcmul addcdiv floor ceil round trunc frac floor_divide "
	  "remainder fmod isnan isinf isfinite nan_to_num copysign heaviside hypot tril triu _prelu_kernel "
	  "_prelu_kernel_backward polar complex angle ldexp signbit isposinf isneginf glu glu_backward positive "
	  "softshrink hardshrink rrelu_with_noise prelu eye nextafter _assert_async native_dropout_backward "
	  "jeoul.dropout_backward mse_loss_backward smooth_l1_loss_backward l1_loss_backward "
	  "huber_loss_backward binary_cross_entropy_backward ",
	  { JL_CLASS_POINTWISE, JL_RULE_STREAM, 1, 1, 1, 0, 0 } },
	{ " exp exp2 expm1 log log2 log10 log1p sigmoid sigmoid_backward tanh tanh_backward silu silu_backward "
	  "sin cos tan asin acos atan sinh cosh asinh acosh atanh atan2 pow softplus softplus_backward "
	  "log_sigmoid_forward log_sigmoid_backward logaddexp logaddexp2 xlogy elu elu_backward celu selu sinc "
	  "erfinv lgamma digamma i0 logit logit_backward mish mish_backward special_xlog1py deg2rad rad2deg "
	  "gelu erf erfc ",
	  { JL_CLASS_POINTWISE, JL_RULE_STREAM, 1, 1, 1, 0.34F, 0 } },
	{ " gelu_backward ", { JL_CLASS_POINTWISE, JL_RULE_STREAM, 1, 1, 1, 0.46F, 0 } },
	{ " fill zero zeros ones full zeros_like ones_like full_like new_zeros new_ones new_full scalar_tensor "
	  "arange linspace logspace tril_indices triu_indices ",
	  { JL_CLASS_POINTWISE, JL_RULE_WRITE, 1, 1, 1, 0, 0 } },
	{ " normal uniform random bernoulli rand randn randint rand_like randn_like randint_like exponential "
	  "log_normal geometric cauchy ",
	  { JL_CLASS_RANDOM, JL_RULE_WRITE, 1, 1, 1, 0.46F, 0 } },
	{ " randperm ", { JL_CLASS_RANDOM, JL_RULE_SORT, 4, 1, 1, 0, 0 } },
	{ " native_dropout dropout jeoul.dropout alpha_dropout feature_dropout poisson binomial ",
	  { JL_CLASS_RANDOM, JL_RULE_STREAM, 1, 1, 1, 0.46F, 0 } },
	{ " multinomial ", { JL_CLASS_RANDOM, JL_RULE_STREAM, 3, 2, 1, 0.5F, 0 } },
	{ " copy _to_copy to clone contiguous _copy_from _copy_from_and_resize ",
	  { JL_CLASS_COPY, JL_RULE_COPY, 1, 1, 1, 0, 0 } },
	{ " cat stack concat hstack vstack _chunk_cat ", { JL_CLASS_COPY, JL_RULE_CAT, 1, 1, 1, 0, 0 } },
	{ " constant_pad_nd roll ", { JL_CLASS_COPY, JL_RULE_STREAM, 2, 1, 1, 1, 0 } },
	{ " repeat tile flip rot90 reflection_pad1d reflection_pad2d reflection_pad3d "
	  "replication_pad1d replication_pad2d replication_pad3d pixel_shuffle pixel_unshuffle channel_shuffle "
	  "im2col split_copy split_with_sizes_copy view_copy expand_copy permute_copy ",
	  { JL_CLASS_COPY, JL_RULE_STREAM, 1, 1, 1, 0.5F, 0 } },
	{ " select_backward slice_backward unfold_backward diagonal_backward reflection_pad1d_backward "
	  "reflection_pad2d_backward replication_pad1d_backward replication_pad2d_backward col2im slice_scatter "
	  "select_scatter as_strided_scatter diagonal_scatter ",
	  { JL_CLASS_COPY, JL_RULE_STREAM, 2, 1, 1, 0, 0 } },
	{ " jeoul.copy pin_memory _pin_memory _local_scalar_dense item is_nonzero ",
	  { JL_CLASS_COPY, JL_RULE_TRANSFER, 1, 1, 1, 0, 0 } },
	{ " argmax argmin max min median nanmedian ", { JL_CLASS_REDUCTION, JL_RULE_SUM, 1, 1, 1, 0.42F, 0 } },
	{ " sum mean amax amin prod any all nansum norm linalg_vector_norm var std "
	  "count_nonzero aminmax dist nanmean trace ",
	  { JL_CLASS_REDUCTION, JL_RULE_SUM, 1, 1, 1, 0.2F, 0 } },
	{ " var_mean std_mean ", { JL_CLASS_REDUCTION, JL_RULE_SUM, 1, 1, 1, 0.45F, 0 } },
	{ " logsumexp ", { JL_CLASS_REDUCTION, JL_RULE_STREAM, 5, 2, 1, 0.6F, 0 } },
	{ " cumsum cumprod cummax cummin logcumsumexp ", { JL_CLASS_REDUCTION, JL_RULE_STREAM, 1, 1, 1, 2.8F, 0 } },
	{ " mse_loss smooth_l1_loss l1_loss huber_loss binary_cross_entropy equal ",
	  { JL_CLASS_REDUCTION, JL_RULE_STREAM, 2, 1, 1, 0.3F, 0 } },
	{ " binary_cross_entropy_with_logits ", { JL_CLASS_REDUCTION, JL_RULE_STREAM, 8, 4, 4, 0.5F, 0 } },
	{ " kl_div soft_margin_loss margin_ranking_loss bincount histc ",
	  { JL_CLASS_REDUCTION, JL_RULE_STREAM, 3, 2, 1, 0.4F, 0 } },
	{ " _softmax softmax _masked_softmax ", { JL_CLASS_SOFTMAX, JL_RULE_ROWS, 1, 1, 1, 0.5F, 0 } },
	/* additional kernels find fully masked rows and zero them */
	{ " _safe_softmax ", { JL_CLASS_SOFTMAX, JL_RULE_ROWS, 5, 2, 5, 0.5F, 0 } },
	{ " _softmax_backward_data ", { JL_CLASS_SOFTMAX, JL_RULE_ROWS, 2, 2, 2, 0.4F, 0 } },
	{ " _log_softmax log_softmax ", { JL_CLASS_SOFTMAX, JL_RULE_ROWS, 1, 1, 1, 0.36F, 0 } },
	{ " _log_softmax_backward_data ", { JL_CLASS_SOFTMAX, JL_RULE_ROWS, 1, 1, 1, 0.48F, 0 } },
	{ " nll_loss_forward nll_loss2d_forward ", { JL_CLASS_SOFTMAX, JL_RULE_GATHER, 1, 1, 1, 0, 0 } },
	{ " nll_loss_backward nll_loss2d_backward ", { JL_CLASS_SOFTMAX, JL_RULE_WRITE, 2, 1, 1, 0, 0 } },
	{ " _ctc_loss _ctc_loss_backward ", { JL_CLASS_SOFTMAX, JL_RULE_STREAM, 4, 2, 1, 2, 0 } },
	{ " native_layer_norm layer_norm ", { JL_CLASS_NORM, JL_RULE_ROWS, 1, 1, 1, 0.36F, 0 } },
	{ " _fused_rms_norm rms_norm ", { JL_CLASS_NORM, JL_RULE_ROWS, 1, 1, 1, 0.3F, 0 } },
	{ " native_layer_norm_backward _fused_rms_norm_backward ",
	  { JL_CLASS_NORM, JL_RULE_NORM_BACK, 2, 1, 1, 0.45F, 0 } },
	{ " native_group_norm ", { JL_CLASS_NORM, JL_RULE_STREAM, 3, 2, 1, 1.45F, 0 } },
	{ " native_group_norm_backward ", { JL_CLASS_NORM, JL_RULE_STREAM, 5, 2, 1, 1.6F, 0 } },
	{ " native_batch_norm cudnn_batch_norm _native_batch_norm_legit _native_batch_norm_legit_functional "
	  "_native_batch_norm_legit_no_training _batch_norm_with_update _batch_norm_with_update_functional "
	  "_batch_norm_no_update miopen_batch_norm batch_norm instance_norm _batch_norm_impl_index "
	  "native_batch_norm_backward cudnn_batch_norm_backward batch_norm_backward miopen_batch_norm_backward ",
	  { JL_CLASS_NORM, JL_RULE_BATCH_NORM, 1, 2, 1, 0, 0 } },
	{ " batch_norm_stats batch_norm_backward_reduce ", { JL_CLASS_NORM, JL_RULE_STREAM, 1, 1, 1, 0.4F, 0 } },
	{ " batch_norm_elemt batch_norm_backward_elemt batch_norm_gather_stats_with_counts "
	  "batch_norm_gather_stats batch_norm_update_stats ",
	  { JL_CLASS_NORM, JL_RULE_STREAM, 1, 1, 1, 0, 0 } },
	{ " local_response_norm _weight_norm_interface _weight_norm_interface_backward ",
	  { JL_CLASS_NORM, JL_RULE_STREAM, 1, 2, 1, 0, 0 } },
	{ " mm bmm dot vdot mv matmul _int_mm linear _scaled_mm ",
	  { JL_CLASS_PRODUCT, JL_RULE_PRODUCT, 1, 1, 1, 0, 0 } },
	{ " addmm baddbmm addbmm addmv _addmm_activation addr ", { JL_CLASS_PRODUCT, JL_RULE_PRODUCT, 1, 1, 1, 0, 1 } },
	{ " _grouped_mm _scaled_grouped_mm ", { JL_CLASS_PRODUCT, JL_RULE_GROUPED, 1, 1, 1, 0, 0 } },
	{ " _cdist_forward _cdist_backward _euclidean_dist ", { JL_CLASS_PRODUCT, JL_RULE_STREAM, 4, 2, 1, 2, 0 } },
	{ " convolution _convolution cudnn_convolution conv1d conv2d conv3d convolution_overrideable "
	  "_conv_depthwise2d conv_depthwise3d cudnn_convolution_transpose miopen_convolution conv_transpose2d "
	  "conv_transpose1d conv_transpose3d ",
	  { JL_CLASS_CONVOLUTION, JL_RULE_CONV, 1, 1, 1, 0, 0 } },
	{ " convolution_backward convolution_backward_overrideable ",
	  { JL_CLASS_CONVOLUTION, JL_RULE_CONV_BACK, 1, 1, 1, 0, 0 } },
	{ " jeoul.sdpa _scaled_dot_product_flash_attention _scaled_dot_product_efficient_attention "
	  "_scaled_dot_product_cudnn_attention scaled_dot_product_attention _scaled_dot_product_attention_math "
	  "_flash_attention_forward _efficient_attention_forward "
	  "_scaled_dot_product_fused_attention_overrideable ",
	  { JL_CLASS_ATTENTION, JL_RULE_ATTENTION, 1, 1, 1, 0, 0 } },
	{ " jeoul.sdpa_backward _scaled_dot_product_flash_attention_backward "
	  "_scaled_dot_product_efficient_attention_backward _scaled_dot_product_cudnn_attention_backward "
	  "_flash_attention_backward _efficient_attention_backward "
	  "_scaled_dot_product_fused_attention_overrideable_backward ",
	  { JL_CLASS_ATTENTION, JL_RULE_ATTENTION_BACK, 1, 1, 1, 0, 0 } },
	{ " jeoul.rnn jeoul.rnn_backward _cudnn_rnn _cudnn_rnn_backward ",
	  { JL_CLASS_RECURRENT, JL_RULE_RECURRENT, 1, 1, 1, 0, 0 } },
	{ " _thnn_fused_lstm_cell _thnn_fused_lstm_cell_backward_impl _thnn_fused_gru_cell "
	  "_thnn_fused_gru_cell_backward ",
	  { JL_CLASS_RECURRENT, JL_RULE_STREAM, 1, 1, 1, 0.5F, 0 } },
	{ " embedding index_select gather take take_along_dim ", { JL_CLASS_GATHER, JL_RULE_GATHER, 1, 1, 1, 0, 0 } },
	{ " _embedding_bag embedding_bag _embedding_bag_forward_only ",
	  { JL_CLASS_GATHER, JL_RULE_BAG, 1, 1, 1, 0, 0 } },
	{ " grid_sampler_2d grid_sampler_3d grid_sampler_2d_backward grid_sampler_3d_backward ",
	  { JL_CLASS_GATHER, JL_RULE_GATHER, 2, 1, 1, 1, 0 } },
	{ " index _unsafe_index ", { JL_CLASS_GATHER, JL_RULE_INDEX, 1, 1, 1, 0, 0 } },
	{ " masked_select nonzero ", { JL_CLASS_GATHER, JL_RULE_SORT, 6, 1, 1, 0, 0 } },
	{ " scatter scatter_add scatter_reduce index_add index_copy index_fill masked_scatter index_reduce put ",
	  { JL_CLASS_GATHER, JL_RULE_SCATTER, 1, 1, 1, 0, 0 } },
	{ " one_hot ", { JL_CLASS_GATHER, JL_RULE_SCATTER, 3, 1, 1, 0, 0 } },
	{ " index_put _index_put_impl _unsafe_index_put ", { JL_CLASS_GATHER, JL_RULE_INDEX_PUT, 1, 1, 1, 0, 0 } },
	{ " embedding_dense_backward _embedding_bag_dense_backward _embedding_bag_backward "
	  "_embedding_bag_per_sample_weights_backward ",
	  { JL_CLASS_GATHER, JL_RULE_EMBEDDING_BACK, 1, 1, 1, 0, 0 } },
	{ " bucketize searchsorted isin nonzero_static ", { JL_CLASS_GATHER, JL_RULE_STREAM, 1, 1, 1, 4, 0 } },
	{ " torchvision.roi_align torchvision.deform_conv2d torchvision.ps_roi_align torchvision.roi_pool "
	  "torchvision.ps_roi_pool ",
	  { JL_CLASS_GATHER, JL_RULE_GATHER, 1, 1, 1, 5.2F, 0 } },
	{ " torchvision._roi_align_backward torchvision._deform_conv2d_backward "
	  "torchvision._ps_roi_align_backward torchvision._roi_pool_backward ",
	  { JL_CLASS_GATHER, JL_RULE_STREAM, 2, 1, 1, 21.5F, 0 } },
	{ " sort argsort msort ", { JL_CLASS_SORT, JL_RULE_SORT, 4, 1, 1, 0, 0 } },
	{ " unique _unique _unique2 unique_dim unique_consecutive unique_dim_consecutive torchvision.nms ",
	  { JL_CLASS_SORT, JL_RULE_SORT, 10, 1, 1, 0, 0 } },
	{ " topk kthvalue mode ", { JL_CLASS_SORT, JL_RULE_TOPK, 2, 1, 1, 0, 0 } },
	{ " avg_pool1d avg_pool2d avg_pool3d avg_pool2d_backward avg_pool3d_backward ",
	  { JL_CLASS_POOL, JL_RULE_POOL, 1, 1, 1, 0.5F, 0 } },
	{ " max_pool3d_with_indices max_pool3d_with_indices_backward ",
	  { JL_CLASS_POOL, JL_RULE_POOL, 1, 1, 1, 0, 0 } },
	{ " max_pool2d_with_indices max_pool1d max_pool2d ", { JL_CLASS_POOL, JL_RULE_STREAM, 1, 1, 1, 1.05F, 0 } },
	{ " _adaptive_avg_pool2d _adaptive_avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d "
	  "adaptive_max_pool2d adaptive_max_pool1d adaptive_max_pool3d ",
	  { JL_CLASS_POOL, JL_RULE_STREAM, 1, 1, 1, 0.5F, 0 } },
	{ " upsample_nearest1d upsample_nearest2d upsample_nearest3d _upsample_nearest_exact1d "
	  "_upsample_nearest_exact2d _upsample_nearest_exact3d _upsample_bilinear2d_aa _upsample_bicubic2d_aa "
	  "_adaptive_avg_pool2d_backward _adaptive_avg_pool3d_backward "
	  "upsample_nearest1d_backward upsample_nearest2d_backward upsample_nearest3d_backward "
	  "_upsample_nearest_exact1d_backward _upsample_nearest_exact2d_backward ",
	  { JL_CLASS_POOL, JL_RULE_STREAM, 1, 1, 1, 0.8F, 0 } },
	{ " max_pool2d_with_indices_backward adaptive_max_pool2d_backward "
	  "adaptive_max_pool3d_backward ",
	  { JL_CLASS_POOL, JL_RULE_STREAM, 2, 1, 2, 2.3F, 0 } },
	{ " upsample_bilinear2d upsample_bicubic2d upsample_linear1d upsample_trilinear3d ",
	  { JL_CLASS_POOL, JL_RULE_RESIZE, 1, 1, 1, 0, 0 } },
	{ " upsample_bilinear2d_backward upsample_bicubic2d_backward upsample_linear1d_backward "
	  "upsample_trilinear3d_backward _upsample_bilinear2d_aa_backward _upsample_bicubic2d_aa_backward ",
	  { JL_CLASS_POOL, JL_RULE_RESIZE, 1, 1, 2, 0, 0 } },
	{ " _fft_r2c _fft_c2r _fft_c2c stft istft ", { JL_CLASS_FOURIER, JL_RULE_STREAM, 2, 2, 2, 1, 0 } },
	{ " linalg_inv_ex linalg_cholesky_ex linalg_qr linalg_svd _linalg_svd linalg_eigh _linalg_eigh "
	  "linalg_solve_triangular _linalg_solve_ex linalg_lu_factor_ex triangular_solve linalg_solve "
	  "_linalg_det ",
	  { JL_CLASS_OTHER, JL_RULE_STREAM, 8, 4, 4, 20, 0 } },
	{ " jeoul.fused ", { JL_CLASS_FUSED, JL_RULE_FUSED, 1, 1, 1, 0, 0 } },
	{ " _amp_update_scale ", { JL_CLASS_UPDATE, JL_RULE_STREAM, 1, 1, 1, 0, 0 } },
	{ " _foreach_zero _foreach_max _amp_foreach_non_finite_check_and_unscale ",
	  { JL_CLASS_UPDATE, JL_RULE_LISTS, 1, 1, 1, 0, 1 } },
	{ " _foreach_norm ", { JL_CLASS_UPDATE, JL_RULE_LISTS, 3, 1, 1, 0.25F, 1 } },
	{ " _foreach_sqrt _foreach_rsqrt _foreach_neg _foreach_abs _foreach_exp _foreach_log _foreach_reciprocal "
	  "_foreach_sign _foreach_sigmoid _foreach_tanh _foreach_copy _foreach_round _foreach_clamp_min "
	  "_foreach_clamp_max _foreach_maximum _foreach_minimum _foreach_add _foreach_sub _foreach_mul "
	  "_foreach_div _foreach_pow ",
	  { JL_CLASS_UPDATE, JL_RULE_LISTS, 1, 1, 1, 0, 2 } },
	{ " _foreach_lerp _foreach_addcmul _foreach_addcdiv _fused_sgd _fused_adagrad ",
	  { JL_CLASS_UPDATE, JL_RULE_LISTS, 1, 1, 1, 0, 3 } },
	{ " _fused_adam _fused_adamw ", { JL_CLASS_UPDATE, JL_RULE_LISTS, 1, 1, 1, 0.6F, 5 } },
};

const char *const jl_class_names[JL_N_OP_CLASS] = {
	"view", "pointwise", "reduction", "softmax", "norm", "product",   "convolution", "attention", "gather",
	"sort", "copy",      "update",    "random",  "pool", "recurrent", "fourier",     "fused",     "other",
};

/* "aten.add_.Tensor" is looked up as "add"; names of other libraries keep their prefix. */
const struct jl_operator *jl_operator_find(const char *name)
{
	static const char aten[] = "aten.";
	char key[64];
	size_t len;

	if (strncmp(name, aten, sizeof(aten) - 1) == 0) {
		name += sizeof(aten) - 1;
		len = strcspn(name, ".");
	} else {
		const size_t space = strcspn(name, ".");

		len = name[space] ? space + 1 + strcspn(name + space + 1, ".") : space;
	}
	while (len > 1 && name[len - 1] == '_')
		len--;
	if (len + 3 > sizeof(key))
		return NULL;
	key[0] = key[len + 1] = ' ';
	memcpy(key + 1, name, len);
	key[len + 2] = '\0';
	for (size_t i = 0; i < JL_LEN(forms); i++)
		if (strstr(forms[i].names, key))
			return &forms[i].op;
	return NULL;
}

const char *jl_operator_names(size_t i)
{
	return i < JL_LEN(forms) ? forms[i].names : NULL;
}
