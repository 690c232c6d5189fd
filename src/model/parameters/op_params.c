/* Parameters of serving engines' operators, and their mapping to struct jl_op_fit. Knows no data set. */
#include "parameters/op_params.h"

#include <stdio.h>

#include "parameters/arch.h"

enum level { SHARED, FAMILY, ENGINE };
#define FAMILIES offsetof(struct jl_priors, serve_rows)
#define N_SERVER 3 /* engines with measured operators: catalog rows with `operators` */

/* A parameter and the range of terms it multiplies. */
static const struct item {
	const char *name, *unit;
	enum jl_op_set set;
	enum level level;
	int first, last;
	double lo, hi, prior, sd;
} items[] = {
#define ONE(set, name, term, lo, hi, prior, sd)                                                                        \
	{                                                                                                              \
		name, "1", JL_OPS_##set, SHARED, JL_TERM_##term, JL_TERM_##term, lo, hi, prior, sd                     \
	}
#define TIME(set, name, term, prior)                                                                                   \
	{                                                                                                              \
		name, "s", JL_OPS_##set, SHARED, JL_TERM_##term, JL_TERM_##term, 1e-8, 1e-2, prior, 0.7                \
	}
#define FORMAT(set, name, term, from, to, prior, sd)                                                                   \
	{                                                                                                              \
		name, "1", JL_OPS_##set, SHARED, JL_TERM_##term + JL_OP_##from, JL_TERM_##term + JL_OP_##to, 0.05, 3,  \
			prior, sd                                                                                      \
	}
#define FORMAT_S(set, name, term, from, to, prior)                                                                     \
	{                                                                                                              \
		name, "s", JL_OPS_##set, SHARED, JL_TERM_##term + JL_OP_##from, JL_TERM_##term + JL_OP_##to, 1e-11,    \
			1e-2, prior, 0.7                                                                               \
	}
#define OF(set, level, name, from, to, sd)                                                                             \
	{                                                                                                              \
		name, "1", JL_OPS_##set, level, JL_TERM_##from, JL_TERM_##to, 0.1, 10, 1, sd                           \
	}
	FORMAT(GEMM, "rate.bf16", RATE, FP32, BF16, 1, 0.1),
	FORMAT(GEMM, "rate.narrow", RATE, MX16, INT4_WO, 0.8, 0.3),
	FORMAT(GEMM, "rate.fp8", RATE, FP8, FP8_STATIC, 0.8, 0.3),
	FORMAT(GEMM, "rate.fp8_block", RATE, FP8_BLOCK, INT8, 0.7, 0.3),
	FORMAT(GEMM, "rate.nvfp4", RATE, NVFP4, NVFP4, 0.5, 0.3),
	FORMAT(GEMM, "mem", MEM, FP32, INT8, 1, 0.1),
	FORMAT(GEMM, "mem.nvfp4", MEM, NVFP4, NVFP4, 0.8, 0.3),
	FORMAT_S(GEMM, "fixed_s.bf16", FIXED_S, FP32, BF16, 3e-6),
	FORMAT_S(GEMM, "fixed_s.narrow", FIXED_S, MX16, INT4_WO, 4e-6),
	FORMAT_S(GEMM, "fixed_s.fp8", FIXED_S, FP8, FP8_STATIC, 6e-6),
	FORMAT_S(GEMM, "fixed_s.fp8_block", FIXED_S, FP8_BLOCK, NVFP4, 6e-6),
	FORMAT_S(GEMM, "k_s.16", K_S, FP32, INT4_WO, 4e-10),
	FORMAT_S(GEMM, "k_s.8", K_S, FP8, INT8, 8e-10),
	FORMAT_S(GEMM, "k_s.nvfp4", K_S, NVFP4, NVFP4, 1e-9),
	ONE(GEMM, "quant", QUANT, 0.02, 5, 0.7, 0.5),
	OF(GEMM, FAMILY, "rate8", RATE + JL_OP_FP8, RATE + JL_OP_NVFP4, 0.2),
	OF(GEMM, ENGINE, "fixed_s.8", FIXED_S + JL_OP_FP8, FIXED_S + JL_OP_FP8_STATIC, 0.5),
	OF(GEMM, ENGINE, "k_s", K_S + JL_OP_FP8, K_S + JL_OP_NVFP4, 0.5),
	OF(GEMM, ENGINE, "rate.block", RATE + JL_OP_FP8_BLOCK, RATE + JL_OP_MX8, 0.2),
	OF(GEMM, ENGINE, "fixed_s.block", FIXED_S + JL_OP_FP8_BLOCK, FIXED_S + JL_OP_MX8, 0.5),

	ONE(PROMPT, "rate8", FLASH8, 0.1, 3, 0.7, 0.3),
	ONE(PROMPT, "head", HEAD, 0.1, 2, 0.8, 0.3),
	ONE(PROMPT, "wide_head", WIDE_HEAD, 0.1, 2, 0.8, 0.3),
	TIME(PROMPT, "block_s", FLASH_BLOCK_S, 1e-6),
	TIME(PROMPT, "fixed_s", FLASH_FIXED_S, 1e-5),
	OF(PROMPT, FAMILY, "rate", FLASH, FLASH, 0.3),

	ONE(ANSWER, "mem", KV, 0.1, 2, 0.85, 0.2),
	ONE(ANSWER, "mem8", KV8, 0.1, 2, 0.85, 0.2),
	ONE(ANSWER, "math", KV_MATH, 0.01, 2, 0.2, 0.7),
	ONE(ANSWER, "part", KV_PART, 16, 8192, 256, 0.7),
	TIME(ANSWER, "fixed_s", KV_FIXED_S, 8e-6),
	OF(ANSWER, FAMILY, "mem", STREAM, STREAM, 0.15),

	ONE(LATENT, "prompt", LATENT, 0.1, 3, 1, 0.3),
	ONE(LATENT, "math", LATENT_MATH, 0.05, 3, 0.8, 0.3),
	ONE(LATENT, "mem", LATENT_KV, 0.05, 2, 0.7, 0.3),
	TIME(LATENT, "fixed_s", LATENT_FIXED_S, 1.5e-5),
	TIME(LATENT, "module_s", LATENT_MODULE_S, 3e-5),
	OF(LATENT, ENGINE, "fixed_s", LATENT_FIXED_S, LATENT_MODULE_S, 0.5),

	FORMAT(EXPERT, "rate.bf16", EXPERT, FP32, BF16, 0.7, 0.3),
	FORMAT(EXPERT, "rate.narrow", EXPERT, MX16, INT4_WO, 0.5, 0.3),
	FORMAT(EXPERT, "rate.fp8", EXPERT, FP8, FP8_STATIC, 0.6, 0.3),
	FORMAT(EXPERT, "rate.fp8_block", EXPERT, FP8_BLOCK, INT8, 0.6, 0.3),
	FORMAT(EXPERT, "rate.nvfp4", EXPERT, NVFP4, NVFP4, 0.4, 0.3),
	FORMAT(EXPERT, "mem.bf16", EXPERT_MEM, FP32, BF16, 0.85, 0.2),
	FORMAT(EXPERT, "mem.narrow", EXPERT_MEM, MX16, INT4_WO, 0.7, 0.3),
	FORMAT(EXPERT, "mem.8", EXPERT_MEM, FP8, INT8, 0.7, 0.3),
	FORMAT(EXPERT, "mem.nvfp4", EXPERT_MEM, NVFP4, NVFP4, 0.7, 0.3),
	FORMAT_S(EXPERT, "fixed_s", EXPERT_FIXED_S, FP32, NVFP4, 3e-5),
	ONE(EXPERT, "move", EXPERT_MOVE, 0.1, 30, 2, 0.5),
	ONE(EXPERT, "skew", SKEW, 1, 4, 1.3, 0.3),
	OF(EXPERT, FAMILY, "rate", EXPERT, EXPERT + JL_OP_NVFP4, 0.2),

	TIME(EXCHANGE, "one_s", ONE_S, 4e-6),
	TIME(EXCHANGE, "rank_s", ONE_RANK_S, 3e-7),
	TIME(EXCHANGE, "two_s", TWO_S, 8e-6),
	TIME(EXCHANGE, "library_s", LIB_S, 1.2e-5),
	TIME(EXCHANGE, "library_rank_s", LIB_RANK_S, 1e-6),
	ONE(EXCHANGE, "link", LINK, 0.05, 1.5, 0.6, 0.3),
	ONE(EXCHANGE, "switch", SWITCH, 0.5, 3, 1.3, 0.3),
	TIME(EXCHANGE, "exchange_s", EXCHANGE_S, 1.5e-5),
	ONE(EXCHANGE, "exchange", EXCHANGE, 0.05, 1.5, 0.6, 0.3),
	OF(EXCHANGE, FAMILY, "link", LINK, LINK, 0.2),
};
static const char *const heads[JL_N_OPS] = { "op_gemm",   "op_prompt", "op_answer",
					     "op_latent", "op_expert", "op_exchange" };
#define N_ITEM (JL_LEN(items))

static size_t copies(const struct item *item)
{
	return item->level == SHARED ? 1 : item->level == FAMILY ? jl_n_arch_among(FAMILIES) : N_SERVER;
}

/* head: entry of the set in `heads`. */
static void param_at(const void *head, size_t at, struct jl_param *ret_param)
{
	const enum jl_op_set set = (enum jl_op_set)((const char *const *)head - heads);
	size_t i = 0;

	for (; items[i].set != set || at >= copies(&items[i]); i++)
		at -= items[i].set == set ? copies(&items[i]) : 0;
	const struct item *item = &items[i];
	struct jl_param param = {
		.unit = item->unit, .lo = item->lo, .hi = item->hi, .prior = item->prior, .prior_sd_ln = item->sd
	};
	const char *of = item->level == FAMILY ? jl_arch_among_at(at, FAMILIES)->id
					       : jl_engine_id(jl_engine_with_operators((int)at));

	if (item->level == SHARED)
		(void)snprintf(param.name, sizeof(param.name), "%s.%s", heads[set], item->name);
	else
		(void)snprintf(param.name, sizeof(param.name), "%s.%s.%s.%s", heads[set],
			       item->level == FAMILY ? "family" : "engine", of, item->name);
	*ret_param = param;
}

struct jl_param_list jl_op_params(enum jl_op_set set)
{
	struct jl_param_list list = { .at = param_at, .ctx = &heads[set], .key = heads[set] };

	for (size_t i = 0; i < N_ITEM; i++)
		list.n += items[i].set == set ? copies(&items[i]) : 0;
	return list;
}

void jl_op_apply(struct jl_op_fit *fit, enum jl_op_set set, const double *x, int arch, int engine)
{
	const int server = jl_engine_operators(engine);
	const bool own = server >= 0;

	/* terms without a parameter are 1 */
	for (int turn = 0; turn < 2; turn++) {
		const double *value = x;

		for (size_t i = 0; i < N_ITEM; i++) {
			const struct item *item = &items[i];
			const size_t n = copies(item);
			const size_t at = item->level == FAMILY          ? jl_arch_among(arch, FAMILIES)
					  : item->level == ENGINE && own ? (size_t)server
									 : 0;

			if (item->set != set)
				continue;
			for (int term = item->first; term <= item->last; term++) {
				if (turn == 0)
					fit->v[term] = 1.0;
				else if (item->level != ENGINE || own)
					fit->v[term] *= value[at];
			}
			value += n;
		}
	}
}

struct jl_op_fit jl_op_shipped(const struct jl_catalog *cat, int arch, int engine)
{
	struct jl_op_fit fit = { .v = { 0 } };
	double x[JL_OP_MAX_PARAMS];

	for (enum jl_op_set set = 0; set < JL_N_OPS; set++) {
		const struct jl_param_list params = jl_op_params(set);

		jl_params_read(cat, &params, x);
		jl_op_apply(&fit, set, x, arch, engine);
	}
	return fit;
}

const struct jl_op_fit *jl_op_table_at(struct jl_op_table *table, const struct jl_catalog *cat, int arch, int engine)
{
	if (!table->known[arch][engine])
		table->fits[arch][engine] = jl_op_shipped(cat, arch, engine);
	table->known[arch][engine] = true;
	return &table->fits[arch][engine];
}
