/* Checks listed compute rates against the chip: SMs x clock x FLOP per clock. The most common mistake in hardware tables is the rate for 2:4 sparse
 * matrices, twice the dense one, listed as dense. */
#include <math.h>
#include <string.h>

#include "catalog/check.h"
#include "catalog/find.h"

#define RATIO_LO      0.55
#define RATIO_LO_CUT  0.27 /* GeForce cards run at half rate when accumulating in FP32, the L40 for all formats */
#define RATIO_LO_INT8 0.02 /* Blackwell Ultra has almost no INT8 units, in favour of FP4 */
#define RATIO_HI      1.35
#define SPARSE_LO     1.6 /* about 2, minus a tolerance for the clock */
#define SPARSE_HI     2.7

struct rate {
	const char *key;
	size_t offset;    /* offset of the fact in struct jl_gpu */
	size_t per_clock; /* offset of the double in struct jl_family */
	double to_fp16;   /* factor from this rate to the FP16 rate of the same chip */
	double ratio_lo;
	const char *sparse; /* key of the sparse rate; NULL: none */
};

#define RATE(KEY, MEMBER, PER, TO_FP16, LO, SPARSE)                                                                    \
	{                                                                                                              \
		.key = KEY, .offset = offsetof(struct jl_gpu, MEMBER), .per_clock = offsetof(struct jl_family, PER),   \
		.to_fp16 = (TO_FP16), .ratio_lo = (LO), .sparse = SPARSE                                               \
	}

static const struct rate rates[] = {
	RATE("fp32", fp32_flopps, fp32_per_sm_clock, 0, RATIO_LO, NULL),
	RATE("tf32_dense", tf32_dense_flopps, tf32_per_sm_clock, 2, RATIO_LO_CUT, "tf32_sparse"),
	RATE("fp16_dense", fp16_dense_flopps, fp16_per_sm_clock, 1, RATIO_LO_CUT, "fp16_sparse"),
	RATE("fp16_fp32acc_dense", fp16_fp32acc_dense_flopps, fp16_per_sm_clock, 1, RATIO_LO_CUT, "fp16_sparse"),
	RATE("bf16_dense", bf16_dense_flopps, bf16_per_sm_clock, 1, RATIO_LO_CUT, "bf16_sparse"),
	RATE("fp8_dense", fp8_dense_flopps, fp8_per_sm_clock, 0.5, RATIO_LO_CUT, "fp8_sparse"),
	RATE("int8_dense", int8_dense_opps, int8_per_sm_clock, 0.5, RATIO_LO_INT8, "int8_sparse"),
};

static double fact_at(const struct jl_gpu *gpu, size_t offset)
{
	return ((const struct jl_fact *)(const void *)((const char *)gpu + offset))->value;
}

static enum jl_kind kind_of(const struct rate *rate)
{
	return strcmp(rate->key, "int8_dense") == 0 ? JL_K_OP_RATE : JL_K_FLOP_RATE;
}

static void look_at(struct jl_check *check, const char *key)
{
	check->field = jl_schema_field(jl_schema_of(check->kind), key);
}

/* Rate of the chip in this format, from its family's FLOP per clock; NAN: unknown. */
static double chip_rate(const struct jl_gpu *gpu, const struct jl_family *family, const struct rate *rate)
{
	double per_clock;

	memcpy(&per_clock, (const char *)family + rate->per_clock, sizeof(per_clock));
	return gpu->n_sm.value * gpu->boost_Hz.value * per_clock;
}

/* The same from other formats of the record if SMs or clock are not listed: the lowest FP16 equivalent. */
static double sibling_rate(const struct jl_gpu *gpu, const struct rate *rate)
{
	double least = NAN;

	if (!(rate->to_fp16 > 0))
		return NAN;
	for (size_t i = 0; i < JL_LEN(rates); i++) {
		double as_fp16 = fact_at(gpu, rates[i].offset) * rates[i].to_fp16;

		/* FP16 accumulation may run at twice the rate, so it is no reference */
		if (&rates[i] == rate || !(as_fp16 > 0) || strcmp(rates[i].key, "fp16_dense") == 0)
			continue;
		if (isnan(least) || as_fp16 < least)
			least = as_fp16;
	}
	return least / rate->to_fp16;
}

/* `expected`: from SMs, boost clock and the family's FLOP per clock (`is_chip`), or from other formats of the record. */
static void say_rate(struct jl_check *check, const struct rate *rate, double listed, double expected, bool is_chip,
		     bool sparsity)
{
	double ratio = listed / expected;
	char shown[JL_UNITS_TEXT_MAX], want[JL_UNITS_TEXT_MAX], half[JL_UNITS_TEXT_MAX];
	enum jl_kind kind = kind_of(rate);

	look_at(check, rate->key);
	jl_units_text(shown, listed, kind, 4);
	jl_units_text(want, expected, kind, 3);
	jl_units_text(half, listed / 2, kind, 4);
	if (sparsity && rate->sparse && ratio >= SPARSE_LO && ratio <= SPARSE_HI) {
		if (is_chip)
			jl_check_report(
				check, JL_E_DATA,
				"%s looks like the sparse figure; dense would be about %s (SMs x boost x FLOP per "
				"clock allow %s); put the sparse one under '%s'",
				shown, half, want, rate->sparse);
		else
			jl_check_report(
				check, JL_E_DATA,
				"%s looks like the sparse figure; dense would be about %s (the other formats of "
				"this record say %s); put the sparse one under '%s'",
				shown, half, want, rate->sparse);
		return;
	}
	jl_check_report(
		check, JL_E_DATA,
		"%s does not agree with SMs x boost x FLOP per clock, about %s: %.2f times as much; is the unit right?",
		shown, want, ratio);
}

/* True if the rate is consistent. */
static bool check_rate(struct jl_check *check, const struct jl_gpu *gpu, const struct jl_family *family,
		       const struct rate *rate)
{
	double listed = fact_at(gpu, rate->offset);
	double expected = family ? chip_rate(gpu, family, rate) : NAN;
	bool sparsity = !family || family->sparsity;
	double ratio;

	if (isnan(listed))
		return true;
	if (!isnan(expected)) {
		ratio = listed / expected;
		if (ratio >= rate->ratio_lo && ratio <= RATIO_HI)
			return true;
		say_rate(check, rate, listed, expected, true, sparsity);
		return false;
	}
	/* without sparsity the formats have no fixed ratios, and FP16 accumulation may run at twice the rate */
	if (!sparsity || strcmp(rate->key, "fp16_dense") == 0)
		return true;
	expected = sibling_rate(gpu, rate);
	ratio = listed / expected;
	if (!(ratio >= SPARSE_LO && ratio <= SPARSE_HI))
		return true;
	say_rate(check, rate, listed, expected, false, true);
	return false;
}

static void check_sparse(struct jl_check *check, const char *key, double sparse, double dense, double dense_too,
			 const struct jl_family *family)
{
	char shown[JL_UNITS_TEXT_MAX], want[JL_UNITS_TEXT_MAX];
	enum jl_kind kind = strncmp(key, "int8", 4) == 0 ? JL_K_OP_RATE : JL_K_FLOP_RATE;

	if (isnan(sparse))
		return;
	look_at(check, key);
	if (family && !family->sparsity) {
		jl_check_report(
			check, JL_E_DATA,
			"family '%s' has no 2:4 sparsity; leave the key out or set 'sparsity: true' in families.yaml",
			family->id);
		return;
	}
	if (isnan(dense))
		dense = dense_too;
	if (isnan(dense) || fabs(sparse / dense - 2) <= 0.2 || fabs(sparse / dense_too - 2) <= 0.2)
		return;
	jl_check_report(check, JL_E_DATA, "%s is not twice the dense rate; sparse would be about %s",
			jl_units_text(shown, sparse, kind, 4), jl_units_text(want, 2 * dense, kind, 4));
}

static void check_sparse_rates(struct jl_check *check, const struct jl_gpu *gpu, const struct jl_family *family)
{
	check_sparse(check, "tf32_sparse", gpu->tf32_sparse_flopps.value, gpu->tf32_dense_flopps.value, NAN, family);
	check_sparse(check, "fp16_sparse", gpu->fp16_sparse_flopps.value, gpu->fp16_dense_flopps.value,
		     gpu->fp16_fp32acc_dense_flopps.value, family);
	check_sparse(check, "bf16_sparse", gpu->bf16_sparse_flopps.value, gpu->bf16_dense_flopps.value, NAN, family);
	check_sparse(check, "fp8_sparse", gpu->fp8_sparse_flopps.value, gpu->fp8_dense_flopps.value, NAN, family);
	check_sparse(check, "int8_sparse", gpu->int8_sparse_opps.value, gpu->int8_dense_opps.value, NAN, family);
}

void jl_check_gpu_rates(struct jl_check *check)
{
	const struct jl_gpu *gpu = check->record;
	const struct jl_family *family = gpu->family ? jl_family_by_id(check->cat, gpu->family) : NULL;
	bool dense_ok = true;
	char acc32[JL_UNITS_TEXT_MAX], acc16[JL_UNITS_TEXT_MAX];

	for (size_t i = 0; i < JL_LEN(rates); i++)
		dense_ok = check_rate(check, gpu, family, &rates[i]) && dense_ok;
	if (dense_ok) /* the sparse rate is checked against the dense one, which must be right */
		check_sparse_rates(check, gpu, family);
	if (gpu->fp16_fp32acc_dense_flopps.value > gpu->fp16_dense_flopps.value * 1.005) {
		look_at(check, "fp16_fp32acc_dense");
		jl_check_report(check, JL_E_DATA,
				"%s with FP32 accumulate is more than %s with FP16 accumulate; are the two swapped?",
				jl_units_text(acc32, gpu->fp16_fp32acc_dense_flopps.value, JL_K_FLOP_RATE, 4),
				jl_units_text(acc16, gpu->fp16_dense_flopps.value, JL_K_FLOP_RATE, 4));
	}
}
