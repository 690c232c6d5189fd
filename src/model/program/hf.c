/* Runs the recipe of a transformer family and the step around it: loss, gradients, scaling, clipping, optimizer. */
#include "program/hf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "program/hf_recipes.h"
#include "program/hf_trace.h"
#include "program/network_ops.h"

static enum jl_elem half_of(const struct jl_hf_run *run)
{
	return run->dtype == JL_FP16 ? JL_ELEM_F16 : JL_ELEM_BF16;
}

static void forward(struct hf_trace *t)
{
	hf_phase(t, "forward");
	t->cast = t->run->autocast ? (int)half_of(t->run) : -1;
	t->grad_on = !t->run->forward;
	hf_run(t, t->recipes['M']);
	t->cast = -1;
	hf_end_autocast(t);
}

static void backward(struct hf_trace *t, int from, const struct hf_val *scale)
{
	struct hf_val loss = hf_pop(t), one;

	if (t->run->accumulate > 1) {
		hf_push(t, loss);
		hf_run(t, "div1");
		loss = hf_pop(t);
	}
	if (scale->store >= 0) {
		hf_push(t, loss);
		hf_hold(t, scale);
		hf_push(t, *scale);
		hf_run(t, "mul");
		loss = hf_pop(t);
	}
	one = hf_scalar(t, (enum jl_elem)loss.elem);
	hf_call(t, "aten.ones_like", &loss, 1, &one, 1, NULL);
	hf_phase(t, "backward");
	hf_give(t, &loss, one);
	hf_backward(t, from);
	hf_drop(t, &loss);
	t->module = 0;
}

/* One call over all parameters with `lists` lists of them. */
static void over_all(struct hf_trace *t, const char *name, int lists, bool scalars, const char *attrs)
{
	const int n = t->n_params;
	struct hf_val *in = jl_realloc(NULL, (size_t)(n * 6 + 1) * sizeof(*in)),
		      step = { .rank = 0, .elem = JL_ELEM_F32 };
	char text[80];

	if (!in) {
		t->broken = true;
		return;
	}
	for (int k = 0; k < lists; k++)
		for (int i = 0; i < n; i++)
			in[k * n + i] = scalars && k == lists - 1 ? step : t->params[i].value;
	snprintf(text, sizeof(text), "inplace=1 lists=%d%s", lists, attrs);
	hf_call(t, name, in, n * lists, NULL, 0, text);
	jl_free(in);
}

static int by_kind(const void *a, const void *b)
{
	const struct hf_param *x = a, *y = b;

	if (x->value.grad != y->value.grad) /* frozen parameters last */
		return x->value.grad ? -1 : 1;

	for (int d = 0; d < 2; d++)
		if (x->value.d[d] != y->value.d[d])
			return x->value.d[d] < y->value.d[d] ? 1 : -1;
	return 0;
}

/* A chain of operations on one scalar. */
static void scalars(struct hf_trace *t, const char *const *names, int n, struct hf_val v)
{
	const int elem = v.elem;

	for (int i = 0; i < n; i++) {
		struct hf_val out = hf_scalar(t, (enum jl_elem)elem);

		hf_call(t, names[i], &v, 1, &out, 1, NULL);
		hf_drop(t, &v);
		v = out;
	}
	hf_drop(t, &v);
}

static void clip(struct hf_trace *t)
{
	static const char *const rest[] = { "aten.linalg_vector_norm", "aten.add.Tensor", "aten.reciprocal",
					    "aten.mul.Tensor", "aten.clamp" };
	const int n = t->n_params;
	struct hf_val *v = jl_realloc(NULL, (size_t)(2 * n + 1) * sizeof(*v)), all;

	if (!v) {
		t->broken = true;
		return;
	}
	for (int i = 0; i < n; i++) {
		v[i] = t->params[i].value;
		v[n + i] = hf_scalar(t, (enum jl_elem)v[i].elem);
	}
	hf_call(t, "aten._foreach_norm.Scalar", v, n, v + n, n, "ord=2 lists=1");
	all = hf_make(t, (enum jl_elem)v[0].elem, 1, (int64_t[]){ n });
	hf_call(t, "aten.stack", v + n, n, &all, 1, "dim=0");
	for (int i = 0; i < n; i++)
		hf_drop(t, &v[n + i]);
	scalars(t, rest, JL_LEN(rest), all);
	over_all(t, "aten._foreach_mul_.Tensor", 1, false, "");
	jl_free(v);
}

/* Sorts into the order of the optimizer's lists and drops frozen ones. */
static void sort_params(struct hf_trace *t)
{
	qsort(t->params, (size_t)t->n_params, sizeof(*t->params), by_kind);
	while (t->n_params > 0 && !t->params[t->n_params - 1].value.grad)
		t->n_params--;
}

static void update(struct hf_trace *t)
{
	static const struct {
		const char *name;
		int lists;
	} steps[] = { { "aten._foreach_mul_.Scalar", 1 },
		      { "aten._foreach_lerp_.Scalar", 2 },
		      { "aten._foreach_mul_.Scalar", 1 },
		      { "aten._foreach_addcmul_.Scalar", 3 },
		      { NULL, 0 }, /* an additional list: square roots of the second moments */
		      { "aten._foreach_div_.ScalarList", 1 },
		      { "aten._foreach_add_.Scalar", 1 },
		      { "aten._foreach_addcdiv_.ScalarList", 3 } };
	static const char *const scaled[] = { "aten._to_copy", "aten.reciprocal", "aten._to_copy", "aten._to_copy",
					      "aten._to_copy" };
	sort_params(t);
	const int n = t->n_params;
	const bool scaler = t->run->autocast && t->run->dtype == JL_FP16;
	struct hf_val *roots = jl_realloc(NULL, (size_t)(2 * n + 1) * sizeof(*roots));

	if (!roots) {
		t->broken = true;
		return;
	}
	hf_phase(t, "update");
	if (scaler) {
		scalars(t, scaled, JL_LEN(scaled), hf_scalar(t, JL_ELEM_F32));
		over_all(t, "aten._amp_foreach_non_finite_check_and_unscale_", 1, false, "");
	}
	if (t->run->clip)
		clip(t);
	if (scaler && !t->run->fused)
		hf_wait(t, "item");
	for (int k = 0; k < 2; k++)
		for (int i = 0; i < n; i++)
			(void)hf_initial(t, "state", (enum jl_elem)t->params[i].value.elem, t->params[i].value.rank,
					 t->params[i].value.d);
	if (t->run->fused) {
		struct hf_val one = hf_scalar(t, JL_ELEM_F32);

		hf_drop(t, &one);
		over_all(t, "aten._foreach_add_.Scalar", 1, true, "");
		over_all(t, "aten._fused_adamw_", 5, true, "");
	}
	for (size_t s = 0; s < JL_LEN(steps) && !t->run->fused; s++) {
		if (steps[s].name) {
			over_all(t, steps[s].name, steps[s].lists, false, "");
			continue;
		}
		t->host += 2 * n;
		for (int i = 0; i < n; i++) {
			roots[i] = t->params[i].value;
			roots[n + i] = hf_make(t, (enum jl_elem)roots[i].elem, roots[i].rank, roots[i].d);
		}
		hf_call(t, "aten._foreach_sqrt", roots, n, roots + n, n, "lists=1");
	}
	for (int i = 0; i < n && !t->run->fused; i++)
		hf_drop(t, &roots[n + i]);
	for (int i = 0; i < n; i++) /* zero_grad: frees the gradients */
		hf_drop(t, &t->params[i].grad);
	if (scaler) {
		scalars(t, (const char *const[]){ "aten._amp_update_scale_" }, 1, hf_scalar(t, JL_ELEM_F32));
	}
	jl_free(roots);
}

static void step(struct hf_trace *t)
{
	const struct jl_hf_run *run = t->run;
	const int64_t ids[] = { (int64_t)run->batch, (int64_t)run->seq };
	const int n_micro = run->accumulate > 1 && !run->forward ? (int)run->accumulate : 1;
	const bool scaler = run->autocast && run->dtype == JL_FP16;
	struct hf_val scale = { .store = -1, .node = -1 };

	t->globals['i'] = t->globals['y'] = hf_initial(t, "input", JL_ELEM_I64, 2, ids);
	t->stores[0].refs = 1 << 20;
	if (run->mask != JL_HF_MASK_NONE)
		t->globals['a'] = hf_initial(t, "input", JL_ELEM_I64, 2, ids);
	if (scaler)
		scale = hf_initial(t, "other", JL_ELEM_F32, 0, NULL);
	for (int i = 0; i < n_micro; i++) {
		const int from = t->n_nodes;

		forward(t);
		if (!run->forward)
			backward(t, from, &scale);
		t->module = 0;
		for (int c = 'A'; c < 128; c++) /* free the step's own tensors */
			if (c != 'i' && c != 'y' && c != 'a' && c != 'f') {
				hf_drop(t, &t->globals[c]);
				t->globals[c].store = -1;
			}
	}
	if (!run->forward)
		update(t);
}

static void set_sizes(struct hf_trace *t, const struct hf_family *family)
{
	const struct jl_transformer *m = t->model;
	const struct jl_hf_run *run = t->run;
	const bool cache = run->cache && (run->forward || !run->checkpoint);
	const struct {
		char name;
		double value;
	} sizes[] = { { 'B', run->batch },
		      { 'S', run->seq },
		      { 'Z', run->seq + 1 },
		      { 'T', run->batch * run->seq },
		      { 'N', m->heads },
		      { 'K', m->kv_heads },
		      { 'D', m->head_dim },
		      { 'H', m->hidden },
		      { 'F', m->ffn },
		      { 'V', m->vocab },
		      { 'P', m->n_positions },
		      { 'E', m->moe.n_experts },
		      { 'k', m->moe.top_k },
		      { 'X', m->moe.expert_ffn },
		      { 'A', run->batch * run->seq * m->moe.top_k },
		      { 'b', m->bias },
		      { 'o', m->bias },
		      { 'q', m->bias || m->qkv_bias },
		      { 'n', m->qk_norm },
		      { 't', m->tied },
		      { 'a', run->mask != JL_HF_MASK_NONE },
		      { 'w', m->window > 0 && m->window < run->seq },
		      { 'l', !run->forward },
		      { 'p', !cache && run->mask == JL_HF_MASK_NONE && m->causal },
		      { 'x', run->eager_attention },
		      { 'c', run->classes },
		      { 'm', m->moe.n_experts > 0 },
		      { 'U', cache },
		      { 'L', run->expert_loop },
		      { 'v',
			m->window > 0 && m->local_frac < 1 && m->window < run->seq && run->mask == JL_HF_MASK_NONE },
		      { 'j', m->window > 0 && m->local_frac < 1 && run->mask != JL_HF_MASK_NONE },
		      { 'O', 1 } };

	for (size_t i = 0; i < JL_LEN(sizes); i++)
		t->var[(int)sizes[i].name] = sizes[i].value;
	for (const char *at = family->flags; at && *at; at += strcspn(at, " "), at += *at == ' ')
		t->var[at[0] & 127] = atof(at + 2);
	t->var['e'] = m->window <= 0 || m->local_frac <= 0 ? 1
		      : m->local_frac >= 1                 ? 1e9
							   : round(1 / (1 - m->local_frac));
	t->var['R'] = t->var['f'] > 0 ? 2 * floor(m->head_dim * t->var['f'] / 2) : m->head_dim;
	t->var['W'] = m->head_dim - t->var['R'];
	t->var['Q'] = (m->heads + 2 * m->kv_heads) * m->head_dim;
	t->var['G'] = m->heads / m->kv_heads + 2;
	t->var['g'] = m->kv_heads > 1;
	t->var['O'] *= cache && run->mask != JL_HF_MASK_NONE;
	t->var['y'] = t->var['p'] > 0 && run->batch == 1;
	for (int c = 0; c < 128; c++)
		t->globals[c] = (struct hf_val){ .store = -1, .node = -1 };
}

static void set_recipes(struct hf_trace *t, const char *slots)
{
	for (const char *at = slots; at && *at;) {
		const size_t len = strcspn(at, "|");
		char *text = jl_arena_strndup(&t->arena, at + 2, len - 2);

		t->broken |= !text;
		((const char **)t->recipes)[(unsigned char)*at] = text;
		at += len + (at[len] == '|');
	}
}

static const struct hf_family *family_of(const char *type)
{
	for (const struct hf_family *f = hf_families; f->types; f++)
		if (type && jl_net_has_word(f->types, type))
			return f;
	return NULL;
}

bool jl_hf_known(const char *type)
{
	return family_of(type) != NULL;
}

enum jl_status jl_hf_program(struct jl_buf *ret_text, const struct jl_transformer *model, const struct jl_hf_run *run,
			     struct jl_err *err)
{
	const struct hf_family *family = family_of(run->type);
	struct hf_trace *t = family ? jl_realloc(NULL, sizeof(*t)) : NULL;
	const char *recipes[128] = { NULL };

	if (!family)
		return jl_fail(err, JL_E_NOTFOUND, "no recipe of transformers' code for models of type '%.60s'",
			       run->type ? run->type : "?");
	if (!t)
		return jl_fail_nomem(err);
	*t = (struct hf_trace){ .model = model, .run = run, .recipes = recipes, .cast = -1 };
	jl_arena_init(&t->arena, JL_ARENA_LIMIT_B);
	struct jl_buf *const bufs[] = { &t->defs, &t->initial, &t->calls, &t->line, &t->frees };

	for (size_t i = 0; i < JL_LEN(bufs); i++)
		jl_buf_init(bufs[i], JL_PROGRAM_MAX_B);
	set_sizes(t, family);
	set_recipes(t, hf_defaults);
	set_recipes(t, family->slots);
	step(t);
	hf_phase(t, "other");
	jl_buf_printf(ret_text,
		      "jeoul-program 1\ntitle %s\ncode transformers\ncode torch\nunit samples %.0f\nunit tokens %.0f\n"
		      "world 1 0\ngraph 0\ntf32 %d\n",
		      run->title ? run->title : run->type, run->batch * fmax(run->accumulate, 1),
		      run->batch * run->seq * fmax(run->accumulate, 1), run->dtype == JL_TF32);
	for (size_t i = 0; i < 3; i++)
		jl_buf_add(ret_text, jl_buf_text(bufs[i]), bufs[i]->len);
	jl_buf_printf(ret_text, "end %zu\n", t->n_records);
	const bool broken = t->broken || ret_text->failed;

	char where[sizeof(t->where)];

	memcpy(where, t->where, sizeof(where));
	for (size_t i = 0; i < JL_LEN(bufs); i++)
		jl_buf_release(bufs[i]);
	jl_free(t->stores);
	jl_free(t->nodes);
	jl_free(t->params);
	jl_arena_release(&t->arena);
	jl_free(t);
	return broken ? jl_fail(err, JL_E_LIMIT, "the recipe of '%.60s' does not fit this shape at '%s'", run->type,
				where)
		      : JL_OK;
}
