/* Evaluates all techniques that make a model fit. */
#include "predict/technique.h"

#include <math.h>

#include "predict/kind.h"
#include "program/tune.h"

#define BATCH_TIMES 4096 /* maximum factor on the batch until all devices can share it */

enum search { AS_IS, SLICES, STAGES, BOTH }; /* degrees to search for the smallest that fits */

static const struct way {
	const char *key, *en;
	bool full_precision;
	enum jl_recompute recompute;
	int offload, zero;
	enum search search;
	bool usual;      /* all choices by predict */
	bool fused;      /* fused kernels for fine-tuning */
	bool accumulate; /* largest pass that fits, with gradient accumulation */
	bool one_kernel; /* AdamW in a fused kernel; PyTorch's foreach version keeps copies */
	bool rounds;     /* changes numerics: only if no earlier row fits without host memory */
	bool moments8, bf16_states;
} ways[] = {
	{ .key = "usual", .en = JL_N("defaults of 'predict'"), .usual = true },
	{ .key = "fp32", .en = JL_N("fp32"), .full_precision = true },
	{ .key = "mixed", .en = JL_N("mixed precision") },
	{ .key = "fused_optimizer", .en = JL_N("+ fused AdamW"), .one_kernel = true },
	{ .key = "fused_optimizer_recompute",
	  .en = JL_N("+ fused AdamW, recompute"),
	  .one_kernel = true,
	  .recompute = JL_RECOMPUTE_SELECTIVE },
	{ .key = "accumulate", .en = JL_N("+ smaller micro-batch"), .accumulate = true },
	{ .key = "recompute_selective", .en = JL_N("+ selective recompute"), .recompute = JL_RECOMPUTE_SELECTIVE },
	{ .key = "recompute_full", .en = JL_N("+ full recompute"), .recompute = JL_RECOMPUTE_FULL },
	{ .key = "fused", .en = JL_N("+ kernels of Unsloth"), .recompute = JL_RECOMPUTE_FULL, .fused = true },
	{ .key = "offload_activations", .en = JL_N("+ offload activations"), .offload = JL_OFFLOAD_ACTIVATIONS },
	{ .key = "offload_optimizer", .en = JL_N("+ offload optimizer"), .offload = JL_OFFLOAD_OPTIMIZER },
	{ .key = "offload_all",
	  .en = JL_N("+ offload all, recompute"),
	  .offload = JL_OFFLOAD_OPTIMIZER | JL_OFFLOAD_PARAMS | JL_OFFLOAD_ACTIVATIONS,
	  .recompute = JL_RECOMPUTE_FULL },
	{ .key = "zero1", .en = JL_N("ZeRO-1"), .zero = 1 },
	{ .key = "zero2", .en = JL_N("ZeRO-2"), .zero = 2 },
	{ .key = "zero3", .en = JL_N("ZeRO-3 (FSDP)"), .zero = 3 },
	{ .key = "zero3_recompute", .en = JL_N("ZeRO-3 + full recompute"), .zero = 3, .recompute = JL_RECOMPUTE_FULL },
	{ .key = "zero3_offload",
	  .en = JL_N("ZeRO-3 + offload all"),
	  .zero = 3,
	  .offload = JL_OFFLOAD_OPTIMIZER | JL_OFFLOAD_PARAMS | JL_OFFLOAD_ACTIVATIONS,
	  .recompute = JL_RECOMPUTE_FULL },
	{ .key = "tensor", .en = JL_N("tensor parallel"), .search = SLICES },
	{ .key = "pipeline", .en = JL_N("pipeline parallel"), .search = STAGES },
	{ .key = "3d", .en = JL_N("3D: tp x pp x dp"), .search = BOTH, .zero = 1, .recompute = JL_RECOMPUTE_SELECTIVE },
	{ .key = "adamw8bit",
	  .en = JL_N("+ 8-bit AdamW, recompute"),
	  .rounds = true,
	  .moments8 = true,
	  .recompute = JL_RECOMPUTE_FULL },
	{ .key = "bf16_states",
	  .en = JL_N("+ states in bf16, recompute"),
	  .rounds = true,
	  .bf16_states = true,
	  .recompute = JL_RECOMPUTE_FULL },
};

_Static_assert(JL_LEN(ways) <= JL_TECHNIQUES_MAX, "rows fit");

struct input {
	const struct jl_catalog *cat;
	const struct jl_subject *subject;
	const struct jl_machine *machine;
	struct jl_request req; /* with the common batch of all rows */
	const struct jl_request *asked;
	bool shared; /* the batch differs from predict's, so that all devices can share it */
	bool adapters;
	bool lists; /* PyTorch's AdamW by tensor lists */
	int n_gpus;
};

static bool choose(const struct input *in, const struct jl_request *req, struct jl_technique *row)
{
	if (jl_case_choose(&row->how, in->cat, in->subject, in->machine, req, &row->why))
		return false;
	row->possible = true;
	row->weight = jl_case_price(&row->how);
	row->room = jl_case_room(&row->how, &row->weight);
	return true;
}

static bool weigh_at(const struct input *in, const struct way *way, double tp, double pp, struct jl_technique *row)
{
	struct jl_request req = in->req;

	if (way->usual) {
		req = *in->asked;
		if (in->shared) { /* batch differs from predict's own */
			req.global_batch = in->req.global_batch;
			req.batch = req.micro_batch = req.accumulate = NAN;
		}
		return choose(in, &req, row);
	}
	req.plan.tp = tp;
	req.plan.pp = pp;
	req.plan.dp = NAN;
	req.plan.zero = in->n_gpus > tp * pp ? way->zero : 0;
	req.recompute = (int)way->recompute;
	req.offload = way->offload;
	if (way->full_precision)
		req.dtype = JL_FP32;
	if (way->fused)
		req.framework = JL_FW_FUSED;
	if (way->one_kernel)
		req.optimizer = JL_OPT_FUSED;
	if (way->moments8)
		req.optimizer = JL_OPT_ADAMW8;
	if (way->bf16_states)
		req.states = 1;
	if (way->accumulate)
		req.micro_batch = NAN;
	return choose(in, &req, row);
}

/* Increases degrees until a split fits; if none does, shows the last possible one. */
static void search_cuts(const struct input *in, const struct way *way, struct jl_technique *row)
{
	const int per_node = jl_sys_per_node(&in->machine->sys);
	const double most = fmin(in->n_gpus, 4096);

	for (double cut = 2; cut <= most; cut++) {
		double tp = 1;
		struct jl_technique next = *row;

		if (fmod(in->n_gpus, cut) != 0)
			continue;
		if (way->search == SLICES)
			tp = cut;
		for (double t = fmin(cut, per_node); way->search == BOTH && t > 1 && tp == 1; t--)
			if (fmod(cut, t) == 0 && fmod(in->subject->model.heads, t) == 0 && cut / t > 1)
				tp = t;
		if (tp > per_node || fmod(in->subject->model.heads, tp) != 0 ||
		    cut / tp > in->subject->model.n_layers || (way->search == BOTH && (tp == 1 || cut == tp)))
			continue;
		if (!weigh_at(in, way, tp, cut / tp, &next))
			continue;
		*row = next;
		if (row->room != JL_ROOM_NONE)
			return;
	}
	if (!row->possible && !row->why.en[0])
		jl_fail(&row->why, JL_E_RANGE, "%d GPUs and %.0f heads leave no such cut", in->n_gpus,
			in->subject->model.heads);
}

/* Networks given as lists of operators have no model parallelism, recomputation or offloading. */
static bool applies(const struct input *in, const struct way *way)
{
	const bool plain = !way->zero && way->search == AS_IS;

	if ((way->accumulate && in->req.micro_batch <= 1) || (way->recompute == JL_RECOMPUTE_SELECTIVE && in->adapters))
		return false;
	if (way->one_kernel && !in->lists)
		return false;
	if (way->rounds && (in->adapters || in->asked->states != JL_UNSET || in->asked->optimizer != JL_UNSET ||
			    !in->subject->kind->is_cut))
		return false;
	if (way->search != AS_IS && in->adapters && in->asked->framework != JL_FW_MEGATRON)
		return false; /* adapter libraries do not split layers */
	if (way->fused && (in->asked->tune == JL_UNSET || in->asked->framework != JL_UNSET))
		return false;
	if (!in->subject->kind->is_cut)
		return plain && !way->offload && way->recompute == JL_RECOMPUTE_NONE;
	return plain || in->n_gpus > 1;
}

static bool fit_alone(const struct jl_technique *rows, size_t n)
{
	for (const struct jl_technique *r = rows; r < rows + n; r++)
		if (r->possible && r->room != JL_ROOM_NONE && !(r->weight.host_B > 0) && !r->rounds)
			return true;
	return false;
}

static void compare_times(struct jl_technique *rows, size_t n)
{
	double best_s = INFINITY;

	for (size_t i = 0; i < n; i++)
		if (rows[i].possible && rows[i].room != JL_ROOM_NONE)
			best_s = fmin(best_s, rows[i].weight.step.step_s);
	for (size_t i = 0; i < n; i++)
		rows[i].cost_frac = rows[i].possible && best_s < INFINITY ? rows[i].weight.step.step_s / best_s - 1
									  : NAN;
}

enum jl_status jl_techniques(struct jl_technique *ret_rows, size_t *ret_n, const struct jl_catalog *cat,
			     const struct jl_subject *subject, const struct jl_machine *machine,
			     const struct jl_request *req, struct jl_err *err)
{
	struct input in = { .cat = cat,
			    .subject = subject,
			    .machine = machine,
			    .req = *req,
			    .asked = req,
			    .n_gpus = jl_sys_n_devices(&machine->sys) };
	struct jl_case usual;
	size_t n = 0;

	/* every row has predict's batch, or the next one that all devices can share */
	JL_TRY(jl_case_choose(&usual, cat, subject, machine, req, err));
	in.req.global_batch = usual.global_batch;
	while (isnan(req->global_batch) && fmod(in.req.global_batch, in.n_gpus) != 0 &&
	       in.req.global_batch < BATCH_TIMES * usual.global_batch)
		in.req.global_batch += usual.global_batch;
	in.adapters = jl_case_adapters(&usual);
	in.lists = req->optimizer == JL_UNSET && subject->kind->is_cut && !in.adapters &&
		   (usual.framework == JL_FW_EAGER || usual.framework == JL_FW_COMPILED);
	in.shared = in.req.global_batch != usual.global_batch;
	in.req.micro_batch = fmin(usual.shard.micro_batch, in.req.global_batch / in.n_gpus);
	if (!(in.req.micro_batch >= 1))
		in.req.micro_batch = NAN;
	in.req.batch = in.req.accumulate = NAN;
	for (size_t i = 0; i < JL_LEN(ways); i++) {
		struct jl_technique *row = &ret_rows[n];

		*row = (struct jl_technique){ .key = ways[i].key, .en = ways[i].en, .rounds = ways[i].rounds };
		if (!applies(&in, &ways[i]) || (ways[i].rounds && fit_alone(ret_rows, n)))
			continue;
		if (ways[i].search == AS_IS)
			weigh_at(&in, &ways[i], 1, 1, row);
		else
			search_cuts(&in, &ways[i], row);
		/* shows "smaller" only if it is smaller */
		if (ways[i].accumulate && row->possible && row->how.shard.micro_batch >= in.req.micro_batch)
			continue;
		n++;
	}
	compare_times(ret_rows, n);
	*ret_n = n;
	return JL_OK;
}
