/* Parameters of operator-list networks, and their mapping to struct jl_conv_fit. Knows no data set. */
#include "parameters/conv_params.h"

#include <math.h>

#include "parameters/arch.h"

/* clang-format off: one row per parameter: index; name, unit, lo, hi, prior, sd */
#define PARAMS(X)                                                                                                      \
	X(CONV_VECTOR, "conv.conv_frac.vector", "1", 0.1, 1, 0.55, 0.5)                                                \
	X(CONV_TF32, "conv.conv_frac.tf32", "1", 0.1, 1, 0.5, 0.5)                                                     \
	X(CONV_HALF, "conv.conv_frac.half", "1", 0.1, 1, 0.5, 0.5)                                                     \
	X(LINEAR_VECTOR, "conv.linear_frac.vector", "1", 0.1, 1, 0.8, 0.5)                                             \
	X(LINEAR_HALF, "conv.linear_frac.half", "1", 0.1, 1, 0.7, 0.5)                                                 \
	X(RNN, "conv.rnn_frac", "1", 0.1, 2, 0.8, 0.4)                                                                 \
	X(BMM, "conv.bmm_frac", "1", 0.05, 2, 0.4, 0.4)                                                                \
	X(LAYOUT, "conv.layout_frac", "1", 0.01, 1.5, 0.3, 0.7)                                                        \
	X(FEED, "conv.feed", "FLOP/clock/SM", 100, 20000, 1500, 0.7)                                                   \
	X(ODD_FEED, "conv.odd_feed", "FLOP/clock/SM", 50, 5000, 480, 0.3)                                              \
	X(SLOW_TF32, "conv.slow_tf32_frac", "1", 0.2, 1, 0.6, 0.4)                                                     \
	X(WAVE, "conv.wave_frac", "1", 0.01, 3, 0.5, 0.4)                                                              \
	X(K_HALF, "conv.k_half", "1", 1, 1000, 32, 0.7)                                                                \
	X(MEM, "conv.mem_frac", "1", 0.3, 1.05, 0.85, 0.1)                                                             \
	X(SM_B, "conv.sm_stream", "B/clock/SM", 10, 500, 64, 0.5)                                                      \
	X(KERNEL_S, "conv.kernel_s", "s", 5e-7, 2e-5, 4e-6, 0.2)                                                       \
	X(LAUNCH_S, "conv.launch_s", "s", 2e-6, 4e-5, 1e-5, 0.5)                                                       \
	X(WORKER, "conv.worker_gain", "1", 0.001, 0.5, 0.03, 1.0)                                                      \
	X(NVLINK, "conv.nvlink_frac", "1", 0.1, 1, 0.5, 0.3)                                                           \
	X(ATTENTION, "conv.attention_frac", "1", 0.1, 2, 0.7, 0.4)                                                     \
	X(DEPTHWISE, "conv.depthwise_frac", "1", 0.01, 1, 0.2, 0.7)                                                    \
	X(DEPTHWISE_LAST, "conv.depthwise_last_frac", "1", 0.01, 1, 0.2, 0.7)                                          \
	X(DEPTHWISE_GRAD, "conv.depthwise_grad_gain", "1", 0.5, 50, 3, 0.7)                                            \
	X(GROUP_HALF, "conv.group_half", "1", 0.1, 500, 16, 0.7)                                                       \
	X(FUSED, "conv.fused_frac", "1", 0.05, 1, 0.5, 0.4)                                                            \
	X(GRADIENT, "conv.gradient_turns", "1", 0.5, 8, 1.5, 0.3)                                                      \
	X(GROUP_LAST, "conv.group_last_gain", "1", 0.5, 20, 2, 0.5)
/* clang-format on */
enum shared { PARAMS(JL_PARAM_PLACE) N_SHARED };
static const struct jl_param shared_params[N_SHARED] = { PARAMS(JL_PARAM_ROW) };

/* Fixed: every fit ended at these values, or no rows constrain them. */
static const double linear_tf32_frac = 1;
static const double winograd_gain = 4;    /* multiplications saved in a 3x3 filter by Winograd tiles of 4x4 */
static const double fallback_frac = 1;    /* products that old tensor cores could not run used the vector units */
static const double slow_host_gain = 1.4; /* PyTorch before 1.7 */
static const double overlap_frac = 1;     /* gradient traffic can hide behind the whole backward pass */
static const double exposed_frac = 0.2;   /* 0.2: only the last bucket is exposed */
static const double pcie_frac = 0.95;     /* of the link alone; the fabric limits it further */

static const double amp_calls_gain = 1.3; /* 30 % more launches, for casts */
/* Casts of a weight, a bias, the input, and their gradients: for a convolution, for a linear layer. H200 traces show 6.1 more launches for a
 * convolution of ResNet-50 and 5.6 for a linear layer of a ViT. 5.8 is that measurement; 3.5 was chosen by the residuals of our runs on that
 * machine, as a cast costs the host less than a launch. */
static const double cast_calls[] = { 3.5, 5.8 };

/* Family factors on the shared values; a family without rows takes those of the nearest relative. */
enum dev { DEV_VECTOR, DEV_TF32, DEV_HALF, DEV_MEM, N_DEV };
static const char *const dev_names[N_DEV] = { "conv_frac.vector", "conv_frac.tf32", "conv_frac.half", "mem_frac" };
static const double dev_sd[N_DEV] = { 0.25, 0.25, 0.25, 0.1 };
#define FAMILIES  offsetof(struct jl_priors, conv_rows)
#define FIRST_GPU (N_SHARED + jl_n_arch_among(FAMILIES) * N_DEV)
#define GPU_SD    0.08
_Static_assert(N_SHARED + JL_ARCHS_MAX * (size_t)N_DEV + JL_CONV_MAX_GPUS <= JL_CONV_MAX_PARAMS,
	       "raise JL_CONV_MAX_PARAMS");

static void param_at(const void *ctx, size_t i, struct jl_param *ret_param)
{
	const char *const *gpu_ids = ctx;
	struct jl_param param;

	if (i < N_SHARED) {
		param = shared_params[i];
	} else if (i < FIRST_GPU) {
		const size_t family = (i - N_SHARED) / N_DEV, dev = (i - N_SHARED) % N_DEV;

		param = (struct jl_param){ .unit = "1",
					   .lo = dev == DEV_MEM ? 0.5 : 0.3,
					   .hi = dev == DEV_MEM ? 1.6 : 3,
					   .prior = 1,
					   .prior_sd_ln = dev_sd[dev] };
		jl_param_name(&param, "conv.family.", jl_arch_among_at(family, FAMILIES)->id, dev_names[dev]);
	} else {
		param = (struct jl_param){ .unit = "1", .lo = 0.6, .hi = 1.6, .prior = 1, .prior_sd_ln = GPU_SD };
		jl_param_name(&param, "conv.gpu.", gpu_ids ? gpu_ids[i - FIRST_GPU] : "?", "rate_frac");
	}
	*ret_param = param;
}

struct jl_param_list jl_conv_params(size_t n_gpu, const char *const *gpu_ids)
{
	return (struct jl_param_list){ .n = FIRST_GPU + n_gpu, .at = param_at, .ctx = gpu_ids };
}

bool jl_conv_read(const struct jl_catalog *cat, const char *gpu_id, double *ret_x)
{
	return jl_params_own(cat, jl_conv_params(1, gpu_id ? &gpu_id : NULL), 1, ret_x);
}

bool jl_conv_param_used(size_t i, int arch, int gpu)
{
	if (i >= FIRST_GPU)
		return gpu >= 0 && i == FIRST_GPU + (size_t)gpu;
	return i < N_SHARED || (i - N_SHARED) / N_DEV == jl_arch_among(arch, FAMILIES);
}

void jl_conv_resolve(const double *x, int gpu, const struct jl_device *device, struct jl_conv_fit *ret_fit)
{
	const double *dev = x + N_SHARED + jl_arch_among(device->arch, FAMILIES) * N_DEV;
	struct jl_conv_fit fit = {
		.rnn_frac = x[RNN],
		.bmm_frac = x[BMM],
		.attn_frac = x[ATTENTION],
		.dw_frac = { x[DEPTHWISE], x[DEPTHWISE_LAST] },
		.dw_grad_gain = x[DEPTHWISE_GRAD],
		.group_half = x[GROUP_HALF],
		.grad_turns = x[GRADIENT],
		.group_last_gain = x[GROUP_LAST],
		.fused_frac = x[FUSED],
		.winograd_gain = winograd_gain,
		.layout_frac = x[LAYOUT],
		.feed_flop = x[FEED],
		.odd_feed_flop = x[ODD_FEED],
		.odd_vector_frac = fallback_frac,
		.dilated_frac = fallback_frac,
		.slow_tf32_frac = x[SLOW_TF32],
		.wave_frac = x[WAVE],
		.k_half = x[K_HALF],
		.mem_frac = fmin(x[MEM] * dev[DEV_MEM], 1.05),
		.sm_B = x[SM_B],
		.kernel_s = x[KERNEL_S],
		.device_frac = gpu >= 0 ? x[FIRST_GPU + (size_t)gpu] : 1,
		.launch_s = x[LAUNCH_S],
		.slow_host_gain = slow_host_gain,
		.amp_calls_gain = amp_calls_gain,
		.cast_calls = { cast_calls[0], cast_calls[1] },
		.worker_gain = x[WORKER],
		.overlap_frac = overlap_frac,
		.exposed_frac = exposed_frac,
	};

	const double linear[JL_N_CONV_PATH] = { x[LINEAR_VECTOR], linear_tf32_frac, x[LINEAR_HALF] };

	for (int path = 0; path < JL_N_CONV_PATH; path++) {
		fit.conv_frac[path] = x[CONV_VECTOR + path] * dev[DEV_VECTOR + path];
		fit.linear_frac[path] = linear[path] * dev[DEV_VECTOR + path];
	}
	*ret_fit = fit;
}

double jl_conv_bus_Bps(const double *x, const struct jl_device *device, bool nvlink)
{
	if (nvlink && !isnan(device->link_Bps))
		return x[NVLINK] * device->link_Bps;
	/* a superchip without PCIe data: assume PCIe 5 for its host link */
	return pcie_frac * (isnan(device->host_Bps) ? 63e9 : device->host_Bps);
}
