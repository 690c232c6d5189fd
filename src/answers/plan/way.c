/* Checks plans and builds their cases. */
#include "plan/way.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/tune.h"

/* Keeps the assumptions of predict that are true for every plan. */
static void keep_notes(struct jl_notes *notes)
{
	static const char *const kept[] = { "model", "precision", "seq",        "flash", "on",
					    "input", "ram",       "host-power", "pue" };
	size_t n = 0;

	for (size_t i = 0; i < notes->n; i++)
		for (size_t k = 0; k < JL_LEN(kept); k++)
			if (strcmp(notes->items[i].key, kept[k]) == 0) {
				notes->items[n++] = notes->items[i];
				break;
			}
	notes->n = n;
}

/* Default batch if no plan of predict fits: 16,384 tokens per GPU, at most 4 M tokens, a power of two. */
static double default_batch(const struct jl_plan_site *site)
{
	const double seq = site->base.shard.seq, most_tokens = 4194304;
	const double tokens = fmin(16384.0 * site->base.n_gpus, most_tokens);
	double batch = 1;

	while (batch * 2 * seq <= tokens)
		batch *= 2;
	return batch;
}

enum jl_status jl_plan_site_make(struct jl_plan_site *ret_site, const struct jl_catalog *cat,
				 const struct jl_request *req, const struct jl_subject *subject,
				 const struct jl_machine *machine, struct jl_err *err)
{
	struct jl_request open = *req;

	/* one sample per worker is always possible, so the choice cannot fail because of the batch */
	open.plan = jl_request_empty().plan;
	open.batch = open.global_batch = NAN;
	open.micro_batch = open.accumulate = 1;
	open.recompute = open.offload = JL_UNSET;
	JL_TRY(jl_case_choose(&ret_site->base, cat, subject, machine, &open, err));
	keep_notes(&ret_site->base.notes);
	ret_site->framework_given = req->framework != JL_UNSET;
	ret_site->format_given = req->dtype != JL_UNSET;
	ret_site->flash_given = req->flash != JL_UNSET;
	ret_site->any_format = ret_site->any_framework = false;
	for (int i = 0; i < JL_N_FRAMEWORK; i++)
		jl_machine_profile(&ret_site->profile[i], cat, (enum jl_framework)i, ret_site->base.code);
	if (ret_site->base.tuned)
		jl_case_tune_profile(&ret_site->profile[JL_FW_EAGER], JL_FW_EAGER, cat, ret_site->base.code);
	ret_site->has_usual = jl_job_weigh(&ret_site->usual, cat, subject, machine, req, NULL) == JL_OK;
	ret_site->global_batch = !isnan(req->global_batch) ? req->global_batch
				 : ret_site->has_usual && ret_site->usual.prediction.room != JL_ROOM_NONE
					 ? ret_site->usual.how.global_batch
					 : default_batch(ret_site);
	return JL_OK;
}

bool jl_plan_frozen(const struct jl_plan_site *site)
{
	return jl_tune_frozen(&site->base.shard.tune) &&
	       !(site->framework_given && site->base.framework == JL_FW_MEGATRON);
}

double jl_plan_way_dp(const struct jl_plan_site *site, const struct jl_plan_way *way)
{
	return site->base.n_gpus / ((double)way->tp * way->pp * way->cp);
}

double jl_plan_host_ranks(const struct jl_plan_site *site, double tp, double n_ranks)
{
	const int per_node = site->base.machine.sys.n_per_node;
	const double ranks = floor(per_node / tp);

	return ranks > 1 && fmod(per_node, tp) == 0 && ranks < n_ranks && fmod(n_ranks, ranks) == 0 ? ranks : 0;
}

bool jl_plan_way_moves_activations(const struct jl_plan_way *way)
{
	return way->pp == 1 &&
	       way->recompute == (way->framework == JL_FW_MEGATRON ? JL_RECOMPUTE_NONE : JL_RECOMPUTE_FULL);
}

static bool is_cut(const struct jl_plan_way *way)
{
	return way->tp > 1 || way->pp > 1 || way->cp > 1 || way->ep > 1;
}

bool jl_plan_way_moves(const struct jl_plan_way *way, double n_ranks, int zero, unsigned offload)
{
	const bool optimizer = offload & JL_OFFLOAD_OPTIMIZER, params = offload & JL_OFFLOAD_PARAMS;

	if (way->framework == JL_FW_MEGATRON)
		return !params && (!optimizer || zero == (n_ranks > 1));
	return optimizer == params || (optimizer && !is_cut(way));
}

bool jl_plan_way_overlaps(const struct jl_plan_site *site, const struct jl_plan_way *way)
{
	const struct jl_fabric *f = &site->base.machine.fabric;
	const int joined = f->intra_kind == JL_INTRA_MESH || f->intra_kind == JL_INTRA_SWITCH ? f->n_per_node
			   : f->intra_kind == JL_INTRA_BRIDGE_PAIR                            ? 2
											      : 1;

	return way->sp && way->tp <= joined;
}

bool jl_plan_one_queue(const struct jl_case *c)
{
	const struct jl_gpu *gpu = c->machine.sys.gpu;

	return gpu && gpu->compute_capability && strtod(gpu->compute_capability, NULL) < 10;
}

bool jl_plan_at_odds(const struct jl_case *c, enum jl_framework framework, int zero)
{
	return framework == JL_FW_MEGATRON && zero >= 2 && jl_plan_one_queue(c);
}

bool jl_plan_way_runs(const struct jl_plan_site *site, const struct jl_plan_way *way)
{
	const double dp = jl_plan_way_dp(site, way), n_ranks = dp * way->cp;
	const double n_micro = site->global_batch / dp / way->micro_batch;
	const bool cut = is_cut(way);
	const double layers = site->base.subject.model.n_layers;

	if (cut && way->framework == JL_FW_EAGER && !site->framework_given) /* not Megatron, as in predict */
		return false;
	/* these need whole layers and whole experts */
	if (cut && (way->framework == JL_FW_FUSED || jl_plan_frozen(site)))
		return false;
	if (way->sp && way->tp == 1)
		return false;
	if (way->tp_async && (!jl_plan_way_overlaps(site, way) ||
			      jl_plan_at_odds(&site->base, (enum jl_framework)way->framework, way->zero)))
		return false; /* requires sequence parallelism, excludes Megatron's FSDP */
	if (way->vpp > 1 &&
	    (way->pp == 1 || !jl_chunks_divide(layers, way->pp, way->vpp) || fmod(n_micro, way->pp) != 0))
		return false;
	if (n_ranks <= 1 && (way->zero || way->keep || way->in_host))
		return false;
	if (way->zero == 2 && way->pp > 1) /* DeepSpeed's pipeline supports stages 0 and 1; FSDP counts as stage 3 */
		return false;
	if (way->keep && (way->zero != 3 || way->offload & JL_OFFLOAD_PARAMS))
		return false;
	if (way->in_host && (!way->zero || jl_plan_host_ranks(site, way->tp, n_ranks) <= 0))
		return false;
	if (way->offload & JL_OFFLOAD_ACTIVATIONS && !jl_plan_way_moves_activations(way))
		return false;
	if (!jl_plan_way_moves(way, n_ranks, way->zero, way->offload))
		return false;
	/* Offloading weights requires ZeRO-3; on a single device there is nothing to shard. */
	return !(way->offload & JL_OFFLOAD_PARAMS) || way->zero == 3 || (n_ranks <= 1 && !cut);
}

/* Activation format, as in predict. */
static enum jl_dtype activation_of(enum jl_dtype dtype)
{
	return dtype == JL_FP16 ? JL_FP16 : dtype == JL_BF16 || dtype == JL_FP8 || dtype == JL_FP4 ? JL_BF16 : JL_FP32;
}

void jl_plan_way_case(struct jl_case *ret_case, const struct jl_plan_site *site, const struct jl_plan_way *way)
{
	struct jl_plan *plan = &ret_case->plan;

	if (ret_case != &site->base)
		*ret_case = site->base;
	ret_case->global_batch = site->global_batch;
	ret_case->framework = (enum jl_framework)way->framework;
	ret_case->profile = site->profile[way->framework];
	ret_case->shard.dtype = (enum jl_dtype)way->dtype;
	ret_case->shard.act_dtype = activation_of((enum jl_dtype)way->dtype);
	/* Flash attention needs 16 bits; a request with 32 bits gets predict's choice. */
	ret_case->shard.flash = site->base.shard.flash &&
				(site->flash_given || jl_dtype_B(ret_case->shard.act_dtype) < 4);
	ret_case->shard.micro_batch = way->micro_batch;
	if (ret_case->run_seq > 0 && ret_case->asked.packed != 1) /* samples are padded to the longest one of a pass */
		ret_case->run_seq = jl_padded_seq(ret_case->mean_seq, ret_case->shard.seq,
						  jl_shard_sequences(&ret_case->shard));
	plan->tp = way->tp;
	plan->pp = way->pp;
	plan->cp = way->cp;
	plan->ep = way->ep;
	plan->dp = jl_plan_way_dp(site, way);
	plan->n_chunks = way->vpp;
	plan->n_micro = site->global_batch / plan->dp / way->micro_batch;
	plan->sp = way->sp;
	plan->tp_async = way->tp_async;
	plan->ep_async = jl_case_ep_async(ret_case);
	plan->zero = way->zero;
	plan->keep_gathered = way->keep;
	plan->shard = way->in_host ? jl_plan_host_ranks(site, plan->tp, plan->dp * plan->cp) : 0;
	plan->recompute = (enum jl_recompute)way->recompute;
	plan->offload = way->offload;
	jl_case_set_states(ret_case);
}

int jl_plan_way_compare(const struct jl_plan_way *a, const struct jl_plan_way *b)
{
	const int of_a[] = { a->offload, a->recompute, a->pp,    a->tp,          a->cp,
			     a->ep,      a->zero,      a->vpp,   a->tp_async,    a->sp,
			     a->in_host, a->keep,      a->dtype, a->micro_batch, a->framework };
	const int of_b[] = { b->offload, b->recompute, b->pp,    b->tp,          b->cp,
			     b->ep,      b->zero,      b->vpp,   b->tp_async,    b->sp,
			     b->in_host, b->keep,      b->dtype, b->micro_batch, b->framework };

	for (size_t i = 0; i < JL_LEN(of_a); i++)
		if (of_a[i] != of_b[i])
			return of_a[i] < of_b[i] ? -1 : 1;
	return 0;
}

bool jl_plan_way_same_cut(const struct jl_plan_way *a, const struct jl_plan_way *b)
{
	return a->tp == b->tp && a->pp == b->pp && a->cp == b->cp && a->ep == b->ep && (a->zero == 3) == (b->zero == 3);
}

#define CHANGES_MAX 200

static void change(char text[CHANGES_MAX], const char *name, double from, double to)
{
	const size_t at = strlen(text);

	if (from != to)
		snprintf(text + at, CHANGES_MAX - at, "%s%s %.0f → %.0f", at ? ", " : "", name, from, to);
}

static void changed_word(char text[CHANGES_MAX], const char *name, const char *from, const char *to)
{
	const size_t at = strlen(text);

	if (strcmp(from, to) != 0)
		snprintf(text + at, CHANGES_MAX - at, "%s%s%s → %s", at ? ", " : "", name, from, to);
}

void jl_plan_note_changes(struct jl_case *way, const struct jl_plan_site *site, const struct jl_prediction *prediction)
{
	static const char *const recompute[] = { "none", "selective", "full" };
	char offload[2][JL_OFFLOAD_TEXT_MAX];
	const struct jl_case *was = &site->usual.how;
	const double was_s = site->usual.prediction.step_s.value, is_s = prediction->step_s.value;
	char text[CHANGES_MAX] = "";
	size_t most = 0;

	if (way->plan.tp * way->plan.cp > 1 && jl_plan_at_odds(way, way->framework, way->plan.zero))
		jl_note_add(&way->notes, "parallel",
			    "Megatron-FSDP with tensor or context parallelism: Megatron-LM warns about it before "
			    "Blackwell, since they need different CUDA_DEVICE_MAX_CONNECTIONS; tensor parallel "
			    "communication is not overlapped here");
	if (!site->has_usual || was->global_batch != way->global_batch)
		return;
	changed_word(text, "", jl_dtype_name(was->shard.dtype), jl_dtype_name(way->shard.dtype));
	changed_word(text, "", jl_framework_word(was->framework), jl_framework_word(way->framework));
	change(text, "tp", was->plan.tp, way->plan.tp);
	change(text, "sp", was->plan.sp, way->plan.sp);
	change(text, "overlap", was->plan.tp_async, way->plan.tp_async);
	change(text, "pp", was->plan.pp, way->plan.pp);
	change(text, "vpp", was->plan.n_chunks, way->plan.n_chunks);
	change(text, "cp", was->plan.cp, way->plan.cp);
	change(text, "ep", was->plan.ep, way->plan.ep);
	change(text, "zero", was->plan.zero, way->plan.zero);
	change(text, "hsdp", was->plan.shard > 0, way->plan.shard > 0);
	change(text, "keep-gathered", was->plan.keep_gathered, way->plan.keep_gathered);
	change(text, "--micro-batch", was->shard.micro_batch, way->shard.micro_batch);
	changed_word(text, "--recompute ", recompute[was->plan.recompute], recompute[way->plan.recompute]);
	changed_word(text, "--offload ", jl_offload_text(offload[0], was->plan.offload),
		     jl_offload_text(offload[1], way->plan.offload));
	for (size_t i = 1; i < JL_N_PART; i++)
		if (jl_part_s(&site->usual.prediction.step, i) - jl_part_s(&prediction->step, i) >
		    jl_part_s(&site->usual.prediction.step, most) - jl_part_s(&prediction->step, most))
			most = i;
	if (!*text)
		jl_note_add(&way->notes, "parallel",
			    "the defaults of 'jeoul predict': the search found nothing faster");
	else if (site->usual.prediction.room == JL_ROOM_NONE)
		jl_note_add(&way->notes, "parallel", "compared with 'jeoul predict', which does not fit: %s", text);
	else
		jl_note_add(&way->notes, "parallel",
			    "compared with 'jeoul predict' (%.3g s a step): %s; %+.0f %%, mostly in {%s}", was_s, text,
			    100 * (is_s / was_s - 1), jl_parts[most].en);
}
