/* Parses parallelism and offloading of requests. */
#include "predict/request.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

#define PARALLEL_MAX 1000000 /* maximum ranks: maximum number of hosts */

struct jl_request jl_request_empty(void)
{
	struct jl_request r = { .shape = { NAN, NAN, NAN, NAN, NAN, NAN }, .figures = { NAN, NAN, NAN, NULL } };

	r.batch = r.micro_batch = r.global_batch = r.accumulate = r.seq = NAN;
	r.plan = (struct jl_ask_plan){
		NAN, NAN, NAN, NAN, NAN, NAN, .sp = JL_UNSET, .overlap = JL_UNSET, .zero = JL_UNSET, .shard = NAN
	};
	r.dtype = r.framework = r.recompute = r.flash = r.states = r.optimizer = r.layout = r.offload = r.input =
		JL_UNSET;
	r.tune = r.base = r.packed = r.method = JL_UNSET;
	r.launch_s = r.host_step_s = r.rank = r.tuned_layers = r.mean_seq = r.expert_load = r.group = r.generated = NAN;
	r.cpu_threads = r.storage_Bps = r.sample_B = r.sample_s = r.ram_B = r.host_W = NAN;
	r.samples = r.tokens = r.steps_per_epoch = r.epochs = r.pue = NAN;
	return r;
}

#define DEGREES "dp=, tp=, sp=, overlap=, pp=, vpp=, cp=, ep=, zero="

static enum jl_status set_degree(struct jl_ask_plan *plan, const char *key, const char *value, struct jl_err *err)
{
	const struct {
		const char *name;
		double *degree;
		int *choice;
		long long min, max;
	} rows[] = {
		{ "dp", &plan->dp, NULL, 1, PARALLEL_MAX }, { "tp", &plan->tp, NULL, 1, PARALLEL_MAX },
		{ "pp", &plan->pp, NULL, 1, PARALLEL_MAX }, { "vpp", &plan->vpp, NULL, 1, PARALLEL_MAX },
		{ "cp", &plan->cp, NULL, 1, PARALLEL_MAX }, { "ep", &plan->ep, NULL, 1, PARALLEL_MAX },
		{ "sp", NULL, &plan->sp, 0, PARALLEL_MAX }, { "zero", NULL, &plan->zero, 0, 3 },
		{ "overlap", NULL, &plan->overlap, 0, 1 },
	};

	for (size_t i = 0; i < JL_LEN(rows); i++) {
		char what[96];
		long long n;

		if (strcmp(rows[i].name, key) != 0)
			continue;
		snprintf(what, sizeof(what), "--parallel %s", key);
		JL_TRY(jl_units_parse_count(&n, value, rows[i].min, rows[i].max, what, err));
		if (rows[i].degree)
			*rows[i].degree = (double)n;
		else
			*rows[i].choice = rows[i].max == 3 ? (int)n : n > 1 || n == 1; /* sp=8 is sp=1 */
		return JL_OK;
	}
	return jl_fail(err, JL_E_USAGE, "--parallel: '%s=' is not one of %s; write e.g. dp=4,tp=2", key, DEGREES);
}

enum jl_status jl_request_parallel(struct jl_ask_plan *plan, const char *text, struct jl_err *err)
{
	struct jl_ask_plan next = *plan;
	char piece[JL_ITEM_MAX];

	while (jl_next_item(&text, piece)) {
		char *equals = strchr(piece, '=');

		if (!equals)
			return jl_fail(err, JL_E_USAGE, "--parallel: '%s' has no '='; write e.g. dp=4,tp=2", piece);
		*equals = '\0';
		JL_TRY(set_degree(&next, piece, equals + 1, err));
	}
	*plan = next;
	return JL_OK;
}

static const struct {
	const char *name;
	unsigned bit;
} offloads[] = {
	{ "none", 0 },
	{ "optimizer", JL_OFFLOAD_OPTIMIZER },
	{ "params", JL_OFFLOAD_PARAMS },
	{ "activations", JL_OFFLOAD_ACTIVATIONS },
	{ "nvme", JL_OFFLOAD_NVME },
};

const char *jl_offload_text(char out[JL_OFFLOAD_TEXT_MAX], unsigned offload)
{
	snprintf(out, JL_OFFLOAD_TEXT_MAX, "%s", offload ? "" : offloads[0].name);
	for (size_t i = 1, at = 0; i < JL_LEN(offloads); i++)
		if (offload & offloads[i].bit)
			at += (size_t)snprintf(out + at, JL_OFFLOAD_TEXT_MAX - at, "%s%s", at ? "," : "",
					       offloads[i].name);
	return out;
}

enum jl_status jl_request_offload(int *ret_offload, const char *text, struct jl_err *err)
{
	int offload = 0;
	char piece[JL_ITEM_MAX];

	while (jl_next_item(&text, piece)) {
		size_t i = 0;

		while (i < JL_LEN(offloads) && strcmp(offloads[i].name, piece) != 0)
			i++;
		if (i == JL_LEN(offloads))
			return jl_fail(err, JL_E_USAGE,
				       "--offload: '%s' is not one of optimizer, params, activations, nvme, none",
				       piece);
		offload |= (int)offloads[i].bit;
	}
	if ((offload & JL_OFFLOAD_NVME) && !(offload & JL_OFFLOAD_OPTIMIZER))
		return jl_fail(err, JL_E_USAGE,
			       "--offload: nvme is where the optimizer's states go: take optimizer,nvme");
	*ret_offload = offload;
	return JL_OK;
}
