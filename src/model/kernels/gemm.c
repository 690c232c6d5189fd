/* Time of a matrix product: tiles in waves over the SMs, limited by memory and by operand loads per SM. Formulas: docs/METHOD.md. */
#include "kernels/op.h"

#include <math.h>

/* Candidate output tiles. Libraries have dozens of shapes; these few cover the range of operand bytes per FLOP and of how well tiles fill the
 * device. */
struct tile {
	double m, n;
	double per_m, per_n; /* 1/m, 1/n: exact, and multiplications are cheaper than divisions */
};
static const struct tile tiles[] = {
	{ 256, 128, 1.0 / 256, 1.0 / 128 }, { 128, 256, 1.0 / 128, 1.0 / 256 }, { 128, 128, 1.0 / 128, 1.0 / 128 },
	{ 128, 64, 1.0 / 128, 1.0 / 64 },   { 64, 128, 1.0 / 64, 1.0 / 128 },   { 64, 64, 1.0 / 64, 1.0 / 64 },
};
enum { TILE_SQUARE = 2, TILE_FLAT = 4, N_TILE = sizeof(tiles) / sizeof(*tiles) };

/* shortest depth of one part of a split k */
static const double part_k_min = 512.0;

struct rates {                  /* rates of one product, computed once for all tiles */
	double flop_s;          /* seconds per FLOP on one SM */
	double byte_s;          /* seconds per operand byte into one SM */
	double mem_s, sm_mem_s; /* seconds per byte from memory: all SMs together, one SM */
	double elem_B, weight_B, reuse_frac;
	double n_sm, per_sm;
	double tail_frac, fill_s, tile_elems, overlap_frac, write_frac;
	/* fewest rows of a tile that are computed: small products have special kernels, down to 16 rows on tensor cores */
	double rows;
	double k, read_B, write_B, sum_B;
};

/* Loss by alignment. Wide loads need rows at 16-byte boundaries. Below that the rate falls to align_frac at single elements; devices that fetch
 * whole tiles (turned_frac > 0) fall at once to kernels with 4-byte loads. Vector units load single words anyway. */
static double alignment(const struct jl_device *dev, const struct jl_gemm *g, enum jl_unit unit, double elem_B)
{
	double n = g->n * elem_B * (1.0 / 16.0), k = g->k * elem_B * (1.0 / 16.0);
	if (unit == JL_UNIT_VECTOR || (n == floor(n) && k == floor(k)))
		return 1.0;
	double frac = 1.0, root = cbrt(dev->fit.align_frac);
	const int n_least = dev->fit.turned_frac > 0.0 ? 2 : 1;
	for (int i = 0; i < 3 && (i < n_least || n != floor(n) || k != floor(k)); i++) {
		n *= 2.0;
		k *= 2.0;
		frac *= root;
	}
	return frac;
}

/* Loss of vector kernels on long rows of B: each row beyond the TLB reach costs a miss. */
static double width(const struct jl_device *dev, const struct jl_gemm *g, enum jl_unit unit, double elem_B)
{
	double row_B = g->n * elem_B, reach_B = dev->fit.wide_B;
	if (unit != JL_UNIT_VECTOR || !(row_B > reach_B))
		return 1.0;
	double t = fmin(1.0, 0.25 * (row_B / reach_B - 1.0));
	return 1.0 / (1.0 + t * (1.0 / dev->fit.wide_frac - 1.0));
}

/* Time of n_tile tiles of depth k/split each; step_s and edge_B: time and operand bytes of one tile per unit of k. */
static double waves_s(const struct rates *r, double n_tile, double step_s, double edge_B, double split)
{
	double wave = n_tile * r->per_sm;
	/* minus 1e-9, so that rounding does not add a wave */
	double full = wave <= 1.0 ? 1.0 : wave + r->tail_frac * (ceil(wave - 1e-9) - wave);
	double depth = split > 1.0 ? fmax(r->k / split, part_k_min) : r->k;
	double math = full * (depth * step_s + r->fill_s);
	/* split k: partial sums are written and read again in fp32 */
	double write_B = split > 1.0 ? r->write_B + split * r->sum_B : r->write_B;
	/* SMs share the memory bandwidth, and each is limited by its loads in flight */
	double read = fmax(r->read_B * r->mem_s, edge_B * depth * r->sm_mem_s), write = write_B * r->mem_s;
	double longer = math > read ? math : read, shorter = math > read ? read : math;
	double exposed = longer + r->overlap_frac * shorter + r->write_frac * write;
	/* hidden writes still take memory bandwidth */
	return exposed > read + write ? exposed : read + write;
}

static double best_tile_s(const struct rates *r, const struct jl_gemm *g)
{
	unsigned from = 0, to = N_TILE;
	if (g->kernel == JL_KERNEL_BLOCK) { /* one side is 128 (the block of scales), the other 128 or 64 */
		from = TILE_SQUARE;
		to = TILE_FLAT + 1;
	}
	double best = INFINITY;
	for (unsigned i = from; i < to; i++) {
		const struct tile *t = &tiles[i];
		double rows = t->m < r->rows ? t->m : r->rows, edge = rows + t->n;
		double math_s = (rows * t->n + r->tile_elems * edge) * r->flop_s, load_s = edge * r->byte_s;
		double step_s = math_s > load_s ? math_s : load_s;
		double edge_B = fmin(g->m, t->m) * r->elem_B * r->reuse_frac + fmin(g->n, t->n) * r->weight_B;
		double n_tile = ceil(g->m * t->per_m) * ceil(g->n * t->per_n) * g->batch;
		double whole = waves_s(r, n_tile, step_s, edge_B, 1.0);
		best = whole < best ? whole : best;
		if (g->kernel != JL_KERNEL_LIBRARY || 2.0 * n_tile > r->n_sm || g->k <= part_k_min)
			continue;
		double split = fmin(floor(r->n_sm / n_tile), ceil(g->k * (1.0 / part_k_min)));
		double parts = waves_s(r, n_tile * split, step_s, edge_B, split);
		best = parts < best ? parts : best;
	}
	return best;
}

/* When the vendor's library splits k and sums the parts in a second kernel: the 128 x 128 tiles leave half of the SMs idle and k is long. Follows
 * cuBLAS 13 on an H200 (bench/trace_pytorch/cuts.py: 105 of 3,783 products differ). TF32: only if both operands are transposed; 16 bit: up to one
 * wave if k is very long. */
struct cutting {
	double per_tile, least, enough; /* depth of k to split at: per tile, lower bound, upper bound */
	double idle_frac;               /* most tiles, as a share of the SMs */
};
static const struct cutting cut_vector = { 20.0, 384.0, INFINITY, 0.5 }, cut_tf32 = { 35.0, 512.0, INFINITY, 0.5 },
			    cut_tensor = { 350.0, 4096.0, 16384.0, 1.1 };

double jl_gemm_sums(const struct jl_device *dev, const struct jl_gemm *g)
{
	const enum jl_dtype dtype = isnan(dev->peak_flopps[g->dtype]) ? JL_FP32 : g->dtype;
	const struct cutting *cut = dtype == JL_TF32                      ? &cut_tf32
				    : jl_unit_of(dtype) == JL_UNIT_VECTOR ? &cut_vector
									  : &cut_tensor;
	const double n_tile = ceil(g->m * (1.0 / 128.0)) * ceil(g->n * (1.0 / 128.0)) * g->batch,
		     share = n_tile * 132.0 / dev->n_sm;
	double depth = fmin(fmax(cut->per_tile * share, cut->least), cut->enough);

	if (g->kernel != JL_KERNEL_LIBRARY || !(n_tile <= cut->idle_frac * dev->n_sm))
		return 0.0;
	if (cut == &cut_tf32 &&
	    (!g->turned || g->k * share > 524288.0)) /* above this depth one kernel walks along k without splitting */
		return 0.0;
	if (2.0 * n_tile > dev->n_sm)
		depth *= 2.0;
	return g->k >= depth;
}

double jl_gemm_s(const struct jl_device *dev, const struct jl_gemm *g)
{
	const struct jl_device_fit *fit = &dev->fit;
	enum jl_dtype dtype = isnan(dev->peak_flopps[g->dtype]) ? JL_FP32 : g->dtype;
	enum jl_unit unit = jl_unit_of(dtype);
	double elem_B = jl_dtype_B(g->dtype);
	double weight_B = g->weight_B > 0.0 ? g->weight_B : elem_B;
	double rate = dev->peak_flopps[dtype] * fit->gemm_frac[dtype];
	rate *= alignment(dev, g, unit, elem_B) * width(dev, g, unit, elem_B);
	if (weight_B < elem_B)
		rate *= fit->dequant_frac;
	if (g->turned && dtype == JL_TF32 && fit->turned_frac > 0.0)
		rate *= fit->turned_frac;
	double out = g->m * g->n * g->batch;
	struct rates r = {
		/* the largest tile reaches the full rate */
		.flop_s = 2.0 * dev->n_sm / (rate * (1.0 + fit->tile_elems[unit] * (3.0 / 256.0))),
		.byte_s = elem_B / fit->sm_Bps,
		.mem_s = 1.0 / (dev->mem_Bps * fit->mem_frac * fit->read_frac),
		.sm_mem_s = 1.0 / fit->sm_mem_Bps,
		.elem_B = elem_B,
		.weight_B = weight_B,
		.n_sm = dev->n_sm,
		.per_sm = 1.0 / dev->n_sm,
		.tail_frac = fit->tail_frac[unit],
		.fill_s = fit->fill_s[unit],
		.tile_elems = fit->tile_elems[unit],
		.overlap_frac = fit->overlap_frac[unit],
		.write_frac = fit->write_frac[unit],
		.rows = g->m > 64.0 || g->kernel == JL_KERNEL_BLOCK ? INFINITY
			: unit == JL_UNIT_VECTOR                    ? g->m
								    : fmax(g->m, 16.0),
		.k = g->k,
		.reuse_frac = g->reuse_frac > 0.0 ? g->reuse_frac : 1.0,
		.read_B = g->batch * g->k *
			  (g->m * elem_B * (g->reuse_frac > 0.0 ? g->reuse_frac : 1.0) + g->n * weight_B),
		.write_B = out * g->out_B,
		.sum_B = 8.0 * out,
	};
	if (!g->alone)
		return best_tile_s(&r, g) + fit->kernel_s;
	if (fit->l2_Bps * r.mem_s > 1.0) {
		double hit = 1.5 - (r.read_B + r.write_B) / (fit->warm_frac * dev->l2_B);
		hit = hit < 0.0 ? 0.0 : hit > 1.0 ? 1.0 : hit;
		r.mem_s = (1.0 - hit) * r.mem_s + hit / fit->l2_Bps;
	}
	double best = best_tile_s(&r, g);
	/* short products end before power throttling */
	double hot = best / fit->heat_s, cool = 1.0 / (1.0 + hot * hot);
	double math = 2.0 * out * g->k / rate;
	best -= fmin(math, best) * cool * (1.0 - 1.0 / fit->burst_frac[dtype]);
	return best + fit->kernel_s;
}
