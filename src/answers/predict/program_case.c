/* Captured programs as subjects: parses them and predicts their calls. */
#include "predict/program_case.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "program/read.h"
#include "program/modelfile.h"

#define UNKNOWN_SHOWN 5

/* The format with most FLOP; fp32 if there are no products. */
static enum jl_dtype main_dtype(const struct jl_captured *captured)
{
	double flop[JL_N_DTYPE] = { 0 };
	enum jl_dtype best = JL_FP32;

	for (size_t k = 0; k < captured->p.n_kinds; k++) {
		const struct jl_call_work *w = &captured->works[k];
		enum jl_dtype dtype = w->form == JL_WORK_PRODUCT     ? w->u.gemm.dtype
				      : w->form == JL_WORK_CONV      ? w->u.conv.dtype
				      : w->form == JL_WORK_ATTENTION ? w->u.attention.att.dtype
				      : w->form == JL_WORK_RECURRENT ? w->u.rnn.dtype
								     : JL_FP32;

		if (dtype == JL_FP32 && (w->form == JL_WORK_CONV || captured->p.tf32))
			dtype = JL_TF32;
		for (int phase = 0; phase < JL_N_PHASE; phase++)
			flop[dtype] += captured->p.uses[k].n[phase] * w->flop;
	}
	for (int d = 0; d < JL_N_DTYPE; d++)
		best = flop[d] > flop[best] ? (enum jl_dtype)d : best;
	return best;
}

static enum jl_status name_unknown(struct jl_captured *captured, struct jl_arena *arena, struct jl_err *err)
{
	const struct jl_program *p = &captured->p;
	const char *names[UNKNOWN_SHOWN];
	struct jl_buf text;
	size_t n = 0;

	jl_buf_init(&text, UNKNOWN_SHOWN * (JL_PROGRAM_TEXT_MAX + 2));
	for (size_t k = 0; k < p->n_kinds; k++) {
		size_t i = 0;

		if (p->kinds[k].op)
			continue;
		captured->n_unknown++;
		for (int phase = 0; phase < JL_N_PHASE; phase++)
			captured->unknown_calls += p->uses[k].n[phase];
		while (i < n && strcmp(names[i], p->kinds[k].name) != 0)
			i++;
		if (i < n || n == UNKNOWN_SHOWN)
			continue;
		names[n++] = p->kinds[k].name;
		jl_buf_printf(&text, "%s%s", n > 1 ? ", " : "", p->kinds[k].name);
	}
	captured->unknown = jl_arena_strdup(arena, jl_buf_text(&text));
	jl_buf_release(&text);
	return jl_got(captured->unknown, err);
}

/* Names libraries first, then torch. */
static enum jl_status name_codes(struct jl_captured *captured, struct jl_arena *arena, struct jl_err *err)
{
	const struct jl_program *p = &captured->p;
	struct jl_buf text;

	jl_buf_init(&text, JL_PROGRAM_CODES_MAX * (JL_PROGRAM_TEXT_MAX + 2));
	for (int torch = 0; torch < 2; torch++)
		for (size_t i = 0; i < p->n_codes; i++)
			if ((strncmp(p->code[i], "torch ", 6) == 0) == torch)
				jl_buf_printf(&text, "%s%s", text.len ? ", " : "", p->code[i]);
	captured->codes = jl_arena_strdup(arena, text.len ? jl_buf_text(&text) : "PyTorch");
	jl_buf_release(&text);
	return jl_got(captured->codes, err);
}

/* Convolutions hold copies of their tensors while they run; each calling thread has a workspace of the BLAS library. */
static enum jl_status find_peak(struct jl_captured *captured, struct jl_arena *arena, struct jl_err *err)
{
	const struct jl_program *p = &captured->p;
	double *brief_B = jl_arena_array(arena, p->n_kinds + 1, sizeof(*brief_B));
	bool ahead = false, back = false;

	JL_TRY(jl_got(brief_B, err));
	for (size_t k = 0; k < p->n_kinds; k++) {
		const bool product = captured->works[k].form == JL_WORK_PRODUCT;

		brief_B[k] = jl_conv_copies_B(&captured->works[k]);
		for (int phase = 0; phase < JL_N_PHASE; phase++)
			*(phase == JL_PHASE_BACKWARD ? &back : &ahead) |= product && p->uses[k].n[phase] > 0;
	}
	captured->n_workspaces = ahead + back;
	return jl_program_peak(&captured->peak, p, brief_B, arena, err);
}

enum jl_status jl_captured_parse(struct jl_captured **ret_captured, const char *text, size_t len, const char *name,
				 struct jl_arena *arena, struct jl_err *err)
{
	struct jl_captured *captured = jl_arena_alloc(arena, sizeof(*captured));

	JL_TRY(jl_got(captured, err));
	JL_TRY(jl_program_read(&captured->p, text, len, name, arena, err));
	captured->works = jl_arena_array(arena, captured->p.n_kinds, sizeof(*captured->works));
	JL_TRY(jl_got(captured->works, err));
	for (size_t k = 0; k < captured->p.n_kinds; k++)
		jl_work_of(&captured->works[k], &captured->p, &captured->p.kinds[k]);
	captured->dtype = main_dtype(captured);
	JL_TRY(find_peak(captured, arena, err));
	JL_TRY(name_unknown(captured, arena, err));
	JL_TRY(name_codes(captured, arena, err));
	*ret_captured = captured;
	return JL_OK;
}

enum jl_status jl_captured_read(struct jl_captured **ret_captured, const char *path, struct jl_arena *arena,
				struct jl_err *err)
{
	struct jl_filemap map;
	enum jl_status status;

	JL_TRY(jl_filemap_open(&map, path, err));
	status = jl_captured_parse(ret_captured, (const char *)map.data, map.len, path, arena, err);
	jl_filemap_close(&map);
	return status;
}

double jl_captured_price(const struct jl_captured *captured, const struct jl_case *c, struct jl_call_cost *ret_costs)
{
	const struct jl_program_fit fit = jl_program_shipped(c->machine.cat);
	struct jl_device dev = c->machine.dev;
	const struct jl_price_in in = {
		.dev = &dev, .profile = &c->profile, .fit = &fit, .tf32 = captured->p.tf32 || c->asked.dtype == JL_TF32
	};
	double device_s = 0, hot_s = 0, product_s = 0;

	/* Listed operators state their traffic and products, so memory and vector rates are those of isolated kernels. The loss on tensor cores
	 * is half due to the power limit, half unexplained (80 programs on an H200). */
	dev.fit.mem_frac = c->machine.served.fit.mem_frac;
	for (int d = 0; d < JL_N_DTYPE; d++) {
		const double alone_frac = c->machine.served.fit.gemm_frac[d];

		dev.fit.gemm_frac[d] = jl_unit_of((enum jl_dtype)d) == JL_UNIT_VECTOR
					       ? alone_frac
					       : sqrt(alone_frac * dev.fit.gemm_frac[d]);
	}
	dev.fit.flash_frac *= c->machine.dev.fit.gemm_frac[JL_FP16] / dev.fit.gemm_frac[JL_FP16];
	dev.fit.flash_vector_frac *= c->machine.dev.fit.gemm_frac[JL_FP32] / dev.fit.gemm_frac[JL_FP32];

	for (size_t k = 0; k < captured->p.n_kinds; k++) {
		double n = 0;

		jl_work_price(&ret_costs[k], &in, &captured->works[k]);
		for (int phase = 0; phase < JL_N_PHASE; phase++)
			n += captured->p.uses[k].n[phase];
		device_s += n * ret_costs[k].device_s;
		hot_s += n * ret_costs[k].hot_s;
		product_s += captured->works[k].form == JL_WORK_PRODUCT ? n * ret_costs[k].device_s : 0;
	}
	/* power saved between products may be spent in the next one */
	return device_s > 0 ? 1 - fmin(hot_s, c->profile.cool_frac * (device_s - product_s)) / device_s : 1;
}

struct jl_timeline_in jl_captured_timeline_in(const struct jl_case *c, const struct jl_call_cost *costs,
					      double device_ratio, const struct jl_program_fit *fit)
{
	/* overhead of a compiled graph's guards and wrappers in launches: forward only; with its gradients (H200 host) */
	static const double graph_launches = 3, trained_launches = 25;
	const struct jl_program *p = &c->subject.program->p;
	const double view_s = fit->view_ratio * c->profile.launch_s,
		     graph_s = p->compiled ? c->profile.launch_s * (p->trains ? trained_launches : graph_launches) : 0;

	return (struct jl_timeline_in){
		.begin_s = { [JL_PHASE_FORWARD] = graph_s, [JL_PHASE_BACKWARD] = p->trains ? graph_s : 0 },
		.p = p,
		.costs = costs,
		.view_s = { view_s, view_s * fit->grad_ratio, view_s * fit->back_ratio },
		.module_s = fit->module_ratio * c->profile.launch_s,
		.wait_s = fit->wait_s,
		.comm_launch_s = c->profile.comm_launch_s,
		.device_ratio = device_ratio
	};
}

static void price_collectives(double *ret_s, const struct jl_case *c)
{
	const struct jl_program *p = &c->subject.program->p;

	for (size_t i = 0; i < p->n_collectives; i++) {
		const struct jl_collective coll = { .kind = p->collectives[i].kind,
						    .size_B = p->collectives[i].size_B,
						    .n_ranks = p->collectives[i].n_ranks };

		ret_s[i] = coll.n_ranks > 1 ? jl_collective_cost(&c->machine.fabric, &coll).time_s : 0;
	}
}

void jl_captured_timeline(struct jl_timeline *ret_timeline, const struct jl_case *c)
{
	const struct jl_captured *captured = c->subject.program;
	const struct jl_program *p = &captured->p;
	const struct jl_program_fit fit = jl_program_shipped(c->machine.cat);
	struct jl_call_cost *costs = jl_realloc(NULL, p->n_kinds * sizeof(*costs));
	double *collective_s = p->n_collectives ? jl_realloc(NULL, p->n_collectives * (JL_N_TRACK + 1) * sizeof(double))
						: NULL;

	*ret_timeline = (struct jl_timeline){ .step_s = NAN };
	if (costs && (collective_s || !p->n_collectives)) {
		const double ratio = jl_captured_price(captured, c, costs);
		struct jl_timeline_in in = jl_captured_timeline_in(c, costs, ratio, &fit);

		if (collective_s) {
			price_collectives(collective_s, c);
			in.collective_s = collective_s;
			in.scratch = collective_s + p->n_collectives;
		}
		jl_timeline(ret_timeline, &in);
	}
	jl_free(costs);
	jl_free(collective_s);
}

const char *jl_captured_kind_text(const struct jl_captured *captured, size_t kind, struct jl_arena *arena)
{
	const struct jl_call_kind *k = &captured->p.kinds[kind];
	struct jl_buf text;
	const char *copy;

	jl_buf_init(&text, 512);
	jl_buf_puts(&text, strncmp(k->name, "aten.", 5) == 0 ? k->name + 5 : k->name);
	for (uint32_t i = 0; i < k->n_in && i < 4; i++) {
		const struct jl_tensor_kind *t = &captured->p.tensors[k->in[i].tensor];

		jl_buf_printf(&text, " %s",
			      i == 0 || t->elem != captured->p.tensors[k->in[0].tensor].elem ? jl_elem_name(t->elem)
											     : "");
		for (int d = 0; d < t->rank; d++)
			jl_buf_printf(&text, "%s%lld",
				      d                                ? "x"
				      : text.data[text.len - 1] == ' ' ? ""
								       : " ",
				      (long long)t->dims[d]);
		if (k->in[i].count > 1)
			jl_buf_printf(&text, "*%u", k->in[i].count);
	}
	if (k->n_in > 4)
		jl_buf_puts(&text, " ...");
	copy = jl_arena_strdup(arena, jl_buf_text(&text));
	jl_buf_release(&text);
	return copy ? copy : k->name;
}
