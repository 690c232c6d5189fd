/* Parameters of one device, and their mapping to struct jl_device_fit. Knows no data set. */
#include "parameters/device_params.h"

#include <math.h>

#include "parameters/arch.h"
#include "parameters/power_params.h"

/* Shared parameters. sd: standard deviation (ln) of the prior. */
/* clang-format off: one row per parameter: index; name, unit, lo, hi, prior, sd */
#define PARAMS(X)                                                                                                      \
	X(FRAC_VECTOR, "gemm.gemm_frac.vector", "1", 0.5, 1.0, 0.93, 0.1)                                              \
	X(FRAC_T16, "gemm.gemm_frac.tensor16", "1", 0.4, 1.0, 0.88, 0.1)                                               \
	X(FRAC_T8, "gemm.gemm_frac.tensor8", "1", 0.4, 1.0, 0.76, 0.1)                                                 \
	X(ENERGY_VECTOR, "gemm.energy.vector", "1", 0.5, 2.0, 0.93, 0.15)                                              \
	X(ENERGY_T16, "gemm.energy.tensor16", "1", 0.5, 2.0, 0.93, 0.15)                                               \
	X(ENERGY_T8, "gemm.energy.tensor8", "1", 0.5, 2.0, 0.93, 0.15)                                                 \
	X(MEM_FRAC, "gemm.mem_frac", "1", 0.5, 1.0, 0.87, 0.05)                                                        \
	X(KERNEL_S, "gemm.kernel_s", "s", 1e-6, 10e-6, 3e-6, 0.3)                                                      \
	X(TAIL_VECTOR, "gemm.tail_frac.vector", "1", 0.05, 1.0, 0.8, 0.3)                                              \
	X(TAIL_TENSOR, "gemm.tail_frac.tensor", "1", 0.05, 1.0, 0.8, 0.3)                                              \
	X(TILE_VECTOR, "gemm.tile_elements.vector", "1", 0.5, 100.0, 10.0, 0.7)                                        \
	X(TILE_TENSOR, "gemm.tile_elements.tensor", "1", 0.5, 100.0, 8.0, 0.4)                                         \
	X(HEAT_S, "gemm.heat_s", "s", 2e-5, 1e-2, 3e-4, 0.7)                                                           \
	X(FILL_VECTOR, "gemm.fill_s.vector", "s", 1e-7, 3e-5, 3e-6, 1.0)                                               \
	X(FILL_TENSOR, "gemm.fill_s.tensor", "s", 1e-8, 1e-5, 1e-6, 1.0)                                               \
	X(OVERLAP_VECTOR, "gemm.overlap_frac.vector", "1", 0.01, 1.0, 0.2, 0.7)                                        \
	X(OVERLAP_TENSOR, "gemm.overlap_frac.tensor", "1", 0.01, 1.0, 0.2, 0.7)                                        \
	X(SM_B_PER_CLOCK, "gemm.sm_rate", "B/clock", 16.0, 256.0, 64.0, 0.3)                                           \
	X(SM_MEM_B_PER_CLOCK, "gemm.sm_mem_rate", "B/clock", 8.0, 256.0, 40.0, 0.3)                                    \
	X(L2_B_PER_CLOCK, "gemm.l2_rate", "B/clock/SM", 4.0, 64.0, 12.0, 0.3)                                          \
	X(WARM_FRAC, "gemm.warm_frac", "1", 0.02, 1.0, 0.17, 0.5)                                                      \
	X(WRITE_VECTOR, "gemm.write_frac.vector", "1", 0.02, 1.0, 0.5, 0.5)                                            \
	X(WRITE_TENSOR, "gemm.write_frac.tensor", "1", 0.02, 1.0, 0.5, 0.5)                                            \
	X(NARROW_FRAC, "gemm.narrow_frac.blackwell-dc", "1", 0.3, 1.0, 0.55, 0.2)                                      \
	X(BLOCK_B, "gemm.block_quant", "1", 0.5, 3.0, 1.2, 0.2)                                                        \
	X(WIDE_FRAC, "gemm.wide_frac", "1", 0.2, 1.0, 0.4, 0.5)                                                        \
	X(BEST_FRAC, "gemm.best_frac", "1", 1.0, 1.3, 1.03, 0.05)                                                      \
	X(COPY_FRAC, "gemm.copy_frac", "1", 0.6, 1.2, 0.95, 0.1)                                                       \
	X(UNFUSED_B, "gemm.quant_unfused.moved", "B/element", 8.0, 80.0, 28.0, 0.3)                                    \
	X(UNFUSED_FLOP, "gemm.quant_unfused.flop", "FLOP/element", 10.0, 600.0, 120.0, 0.5)                            \
	X(UNFUSED_KERNELS, "gemm.quant_unfused.kernels", "1", 1.0, 20.0, 4.0, 0.5)                                     \
	X(FUSED_B, "gemm.quant_fused.moved", "B/element", 2.0, 20.0, 5.0, 0.3)                                         \
	X(FUSED_KERNELS, "gemm.quant_fused.kernels", "1", 0.1, 10.0, 1.0, 0.5)                                         \
	X(BLOCK_FRAC, "gemm.block_frac", "1", 0.4, 1.0, 0.75, 0.15)                                                    \
	X(BLOCK_BLACKWELL, "gemm.block_frac.blackwell-dc", "1", 0.3, 1.0, 0.55, 0.2)                                   \
	X(BLOCK_KERNELS, "gemm.block_unfused.kernels", "1", 0.5, 6.0, 3.0, 0.3)                                        \
	X(NVLINK_FRAC, "gemm.nvlink_frac", "1", 0.5, 1.0, 0.87, 0.1)                                                   \
	X(PCIE_FRAC, "gemm.pcie_frac", "1", 0.5, 1.0, 0.85, 0.1)                                                       \
	X(CROSS_FRAC, "gemm.pcie_cross_frac", "1", 0.3, 1.0, 0.85, 0.15)                                               \
	X(VIA_HOST_FRAC, "gemm.via_host_frac", "1", 0.1, 1.0, 0.6, 0.2)                                                \
	X(VIA_HOST_BOTH, "gemm.via_host_both_frac", "1", 0.3, 1.0, 0.55, 0.2)                                          \
	X(HOST_FRAC, "gemm.host_frac", "1", 0.4, 1.0, 0.82, 0.1)                                                       \
	X(HOST_BOTH, "gemm.host_both_frac", "1", 0.3, 1.0, 0.6, 0.3)                                                   \
	X(P2P_LATENCY_S, "gemm.p2p_latency_s", "s", 5e-7, 1e-5, 1.4e-6, 0.4)                                           \
	X(HOST_LATENCY_S, "gemm.via_host_latency_s", "s", 3e-6, 5e-5, 1.2e-5, 0.4)
/* clang-format on */
enum shared { PARAMS(JL_PARAM_PLACE) N_SHARED };
static const struct jl_param shared_params[N_SHARED] = { PARAMS(JL_PARAM_ROW) };

/* Factors: family / shared value, GPU / family. */
enum dev { DEV_VECTOR, DEV_T16, DEV_T8, DEV_MEM, DEV_SM, DEV_TAIL, DEV_READ, N_ARCH_DEV, N_GPU_DEV = DEV_SM };
static const char *const dev_names[N_ARCH_DEV] = {
	"gemm_frac.vector", "gemm_frac.tensor16", "gemm_frac.tensor8", "mem_frac", "sm_rate", "tail_frac", "read_frac"
};
static const double arch_sd[N_ARCH_DEV] = { 0.10, 0.08, 0.10, 0.06, 0.25, 0.3, 0.08 };
static const double gpu_sd[N_GPU_DEV] = { 0.06, 0.04, 0.05, 0.07 };

static double dev_prior(const struct jl_priors *priors, size_t dev)
{
	const double fracs[N_ARCH_DEV] = { priors->vector_frac, priors->tensor16_frac, priors->tensor8_frac,
					   priors->mem_frac,    priors->sm_frac,       priors->tail_frac,
					   priors->read_frac };

	return fracs[dev];
}

/* Index of the first GPU factor, behind those of all families. */
static size_t first_gpu(void)
{
	return N_SHARED + (size_t)jl_n_arch() * N_ARCH_DEV;
}

/* GeForce cards accumulate in FP32 at half rate: their units are easily kept busy, and the cards boost beyond the listed clock. */
static const double half_rate_gain = 1.12;

static void param_at(const void *ctx, size_t i, struct jl_param *ret_param)
{
	const char *const *gpu_ids = ctx;
	struct jl_param p;
	size_t first = first_gpu();
	if (i < N_SHARED) {
		p = shared_params[i];
	} else if (i < first) {
		const struct jl_family *family = jl_arch_family((int)((i - N_SHARED) / N_ARCH_DEV));
		size_t d = (i - N_SHARED) % N_ARCH_DEV;
		double prior = dev_prior(&family->priors, d);
		p = (struct jl_param){
			.unit = "1", .lo = prior * 0.4, .hi = prior * 2.5, .prior = prior, .prior_sd_ln = arch_sd[d]
		};
		jl_param_name(&p, "gemm.family.", family->id, dev_names[d]);
	} else {
		size_t gpu = (i - first) / N_GPU_DEV, d = (i - first) % N_GPU_DEV;
		p = (struct jl_param){ .unit = "1", .lo = 0.6, .hi = 1.6, .prior = 1.0, .prior_sd_ln = gpu_sd[d] };
		jl_param_name(&p, "gemm.gpu.", gpu_ids ? gpu_ids[gpu] : "?", dev_names[d]);
	}
	*ret_param = p;
}

struct jl_param_list jl_gemm_params(size_t n_gpu, const char *const *gpu_ids)
{
	return (struct jl_param_list){ .n = first_gpu() + n_gpu * N_GPU_DEV, .at = param_at, .ctx = gpu_ids };
}

bool jl_gemm_read(const struct jl_catalog *cat, const char *gpu_id, double *ret_x)
{
	return jl_params_own(cat, jl_gemm_params(1, gpu_id ? &gpu_id : NULL), N_GPU_DEV, ret_x);
}

bool jl_gemm_shipped(const struct jl_catalog *cat, const char *gpu_id, struct jl_device *dev)
{
	double x[JL_GEMM_MAX_PARAMS];
	const bool own = jl_gemm_read(cat, gpu_id, x);

	_Static_assert(N_SHARED + (size_t)JL_ARCHS_MAX * N_ARCH_DEV + N_GPU_DEV <= JL_GEMM_MAX_PARAMS,
		       "raise JL_GEMM_MAX_PARAMS");
	jl_gemm_resolve(x, own ? 0 : -1, dev);
	return own;
}

/* The smaller of the units' rate and the rate at the power limit, smoothed where they are close. */
static double capped(double units_flopps, double power_flopps)
{
	if (isnan(power_flopps))
		return units_flopps;
	double q = units_flopps / power_flopps;
	return units_flopps / pow(1.0 + pow(q, 12.0), 1.0 / 12.0);
}

void jl_gemm_resolve(const double *x, int gpu, struct jl_device *dev)
{
	const struct jl_priors *prior = dev->priors ? dev->priors : &jl_arch_family(dev->arch)->priors;
	const double unit_pJ[JL_N_UNIT] = { prior->vector_pJ, prior->tensor16_pJ, prior->tensor8_pJ };
	const double *arch = x + N_SHARED + (size_t)dev->arch * N_ARCH_DEV;
	const double *own = gpu < 0 ? NULL : x + first_gpu() + (size_t)gpu * N_GPU_DEV;
	struct jl_device_fit *fit = &dev->fit;
	double clock_Hz = isnan(dev->boost_Hz) ? 1.8e9 : dev->boost_Hz;

	dev->priors = prior;
	if (isnan(dev->n_sm))
		dev->n_sm = prior->n_sm;
	if (isnan(dev->l2_B))
		dev->l2_B = 40e6;
	if (isnan(dev->peak_flopps[JL_FP32])) /* accelerators without a listed vector rate */
		dev->peak_flopps[JL_FP32] = dev->peak_flopps[JL_BF16] / 16.0;

	fit->idle_W = isnan(dev->tdp_W) ? NAN : JL_POWER_IDLE_FRAC * dev->tdp_W;
	for (int d = 0; d < JL_N_DTYPE; d++) {
		enum jl_unit unit = jl_unit_of((enum jl_dtype)d);
		double frac = x[FRAC_VECTOR + unit] * arch[DEV_VECTOR + unit] * (own ? own[DEV_VECTOR + unit] : 1.0);
		double peak = dev->peak_flopps[d];
		double per_vector = dev->peak_flopps[JL_FP16] / dev->peak_flopps[JL_FP32];
		if (unit == JL_UNIT_TENSOR16 && per_vector > 1.5 && per_vector < 3.0)
			frac *= half_rate_gain;
		/* energy per FLOP is proportional to the operand width: tf32 / fp16, fp4 / fp8 */
		double energy_pJ = unit_pJ[unit] * x[ENERGY_VECTOR + unit] *
				   (d == JL_TF32  ? 2.0
				    : d == JL_FP4 ? 0.5
						  : 1.0);
		double fed = (dev->tdp_W - fit->idle_W) / (energy_pJ * 1e-12);
		fit->gemm_frac[d] = isnan(peak) ? NAN : capped(frac * peak, fed) / peak;
		fit->burst_frac[d] = frac / fit->gemm_frac[d];
	}
	fit->mem_frac = fmin(x[MEM_FRAC] * arch[DEV_MEM] * (own ? own[DEV_MEM] : 1.0), 1.0);
	fit->read_frac = fmin(arch[DEV_READ], 1.0 / fit->mem_frac);
	fit->kernel_s = x[KERNEL_S];
	for (int u = 0; u < JL_N_UNIT; u++) {
		int vector = u == JL_UNIT_VECTOR;
		fit->tail_frac[u] = fmin(1.0, x[vector ? TAIL_VECTOR : TAIL_TENSOR] * (vector ? 1.0 : arch[DEV_TAIL]));
		fit->tile_elems[u] = x[vector ? TILE_VECTOR : TILE_TENSOR];
		fit->fill_s[u] = x[vector ? FILL_VECTOR : FILL_TENSOR];
		fit->write_frac[u] = x[vector ? WRITE_VECTOR : WRITE_TENSOR];
		fit->overlap_frac[u] = x[vector ? OVERLAP_VECTOR : OVERLAP_TENSOR];
	}
	fit->sm_Bps = x[SM_B_PER_CLOCK] * arch[DEV_SM] * clock_Hz;
	fit->sm_mem_Bps = x[SM_MEM_B_PER_CLOCK] * clock_Hz;
	fit->l2_Bps = x[L2_B_PER_CLOCK] * clock_Hz * dev->n_sm;
	fit->heat_s = x[HEAT_S];
	fit->warm_frac = x[WARM_FRAC];
	fit->align_frac = prior->align_frac;
	fit->turned_frac = prior->turned_frac;
	fit->wide_B = prior->wide_B > 0.0 ? prior->wide_B : INFINITY;
	fit->wide_frac = x[WIDE_FRAC];
	fit->dequant_frac = prior->dequant_frac;
	fit->flash_frac = fit->flash_vector_frac = prior->flash_frac;
	/* head size 64 reaches nearly the rate of 128 on Ampere, but not with the wide instructions of later chips */
	fit->flash_half_frac = prior->warpgroup ? 0.71 : 0.9;
	fit->flash_step = prior->warpgroup ? 64.0 : 32.0;
	/* SM clocks per dropped score of cuDNN and of flash-attn, both on an H200 (data/validation/ops_h200.csv); independent of the head size */
	fit->drop_clocks = prior->warpgroup ? 0.25 : 0.09;
	fit->drop_back_clocks = prior->warpgroup ? 0.145 : 0.12;
}

void jl_gemm_shared_at(const double *x, struct jl_gemm_shared *ret_shared)
{
	*ret_shared = (struct jl_gemm_shared){
		.best_frac = x[BEST_FRAC],
		.copy_frac = x[COPY_FRAC],
		.quant_B = { [JL_QUANT_FUSED] = x[FUSED_B], [JL_QUANT_UNFUSED] = x[UNFUSED_B] },
		.quant_flop = { [JL_QUANT_UNFUSED] = x[UNFUSED_FLOP] },
		.quant_kernels = { [JL_QUANT_FUSED] = x[FUSED_KERNELS], [JL_QUANT_UNFUSED] = x[UNFUSED_KERNELS] },
		.block_frac = x[BLOCK_FRAC],
		.block_blackwell_frac = x[BLOCK_BLACKWELL],
		.block_quant = x[BLOCK_B],
		.narrow_frac = x[NARROW_FRAC],
		.block_kernels = x[BLOCK_KERNELS],
		.nvlink_frac = x[NVLINK_FRAC],
		.pcie_frac = x[PCIE_FRAC],
		.cross_frac = x[CROSS_FRAC],
		.via_host_frac = x[VIA_HOST_FRAC],
		.via_host_both_frac = x[VIA_HOST_BOTH],
		.host_frac = x[HOST_FRAC],
		.host_both_frac = x[HOST_BOTH],
		.p2p_latency_s = x[P2P_LATENCY_S],
		.host_latency_s = x[HOST_LATENCY_S],
	};
}
