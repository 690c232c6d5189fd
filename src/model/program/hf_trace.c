/* Tensors and calls while a recipe runs, and backward passes in PyTorch's order, newest first. */
#include "program/hf_trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static bool grow(struct hf_trace *t, void **items, int *room, int n, size_t size)
{
	void *more;

	if (n < *room)
		return true;
	more = n > JL_PROGRAM_CALLS_MAX ? NULL : jl_realloc(*items, (size_t)(*room * 2 + 256) * size);
	if (!more) {
		t->broken = true;
		return false;
	}
	*items = more;
	*room = *room * 2 + 256;
	return true;
}

int hf_intern(struct hf_trace *t, struct hf_names *names, const char *text, bool *ret_new)
{
	uint64_t hash = 14695981039346656037ULL;
	size_t i;

	if (names->n * 2 >= names->n_slots) {
		const struct hf_names old = *names;

		names->n_slots = old.n_slots ? old.n_slots * 2 : 1024;
		names->slots = jl_arena_array(&t->arena, names->n_slots, sizeof(*names->slots));
		names->n = 0;
		if (!names->slots) {
			*names = old;
			t->broken = true;
			return 0;
		}
		for (size_t k = 0; k < old.n_slots; k++) {
			if (!old.slots[k].text)
				continue;
			(void)hf_intern(t, names, old.slots[k].text, NULL);
			*names->last = old.slots[k].id; /* rehashing keeps the numbers */
		}
	}
	for (const char *c = text; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 1099511628211ULL;
	for (i = hash & (names->n_slots - 1); names->slots[i].text; i = (i + 1) & (names->n_slots - 1))
		if (strcmp(names->slots[i].text, text) == 0)
			break;
	if (ret_new)
		*ret_new = !names->slots[i].text;
	if (!names->slots[i].text) {
		names->slots[i].text = jl_arena_strdup(&t->arena, text);
		t->broken |= !names->slots[i].text;
		names->slots[i].id = (int)++names->n;
	}
	names->last = &names->slots[i].id;
	return names->slots[i].id;
}

void hf_hold(struct hf_trace *t, const struct hf_val *v)
{
	if (v->store >= 0)
		t->stores[v->store].refs++;
}

void hf_drop(struct hf_trace *t, const struct hf_val *v)
{
	if (v->store < 0 || --t->stores[v->store].refs > 0 || t->stores[v->store].initial)
		return;
	if (t->stores[v->store].listed)
		jl_buf_printf(&t->frees, " -%d", v->store + 1);
}

static int new_store(struct hf_trace *t, double size_B, bool initial)
{
	if (!grow(t, (void **)&t->stores, &t->room_stores, t->n_stores, sizeof(*t->stores)))
		return -1;
	t->stores[t->n_stores] =
		(struct hf_store){ .size_B = fmax(ceil(size_B / 512) * 512, 512), .refs = 1, .initial = initial };
	return t->n_stores++;
}

double hf_count(const struct hf_val *v)
{
	double n = 1;

	for (int d = 0; d < v->rank; d++)
		n *= (double)v->d[d];
	return n;
}

struct hf_val hf_make(struct hf_trace *t, enum jl_elem elem, int rank, const int64_t *dims)
{
	struct hf_val v = { .elem = (int8_t)elem, .rank = (int8_t)rank, .node = -1 };
	int64_t stride = 1;

	for (int d = rank - 1; d >= 0; d--) {
		v.d[d] = dims[d];
		v.s[d] = stride;
		stride *= dims[d] > 0 ? dims[d] : 1;
	}
	v.store = t->mute ? -1 : new_store(t, hf_count(&v) * jl_elem_B(elem), false);
	return v;
}

struct hf_val hf_scalar(struct hf_trace *t, enum jl_elem elem)
{
	return hf_make(t, elem, 0, NULL);
}

/* Same order of dimensions in memory, without gaps. */
struct hf_val hf_like(struct hf_trace *t, const struct hf_val *v, int elem)
{
	struct hf_val out = hf_make(t, elem < 0 ? (enum jl_elem)v->elem : (enum jl_elem)elem, v->rank, v->d);
	int64_t stride = 1;
	unsigned done = 0;

	for (int d = 0; d < v->rank; d++)
		if (v->s[d] == 0 && v->d[d] > 1) /* broadcast input: the result is contiguous */
			return out;
	for (int left = v->rank; left > 0; left--) {
		int least = 0;

		while (done >> least & 1)
			least++;
		for (int d = least + 1; d < v->rank; d++) /* ties: take the last */
			if (!(done >> d & 1) && v->s[d] <= v->s[least])
				least = d;
		done |= 1U << least;
		out.s[least] = stride;
		stride *= v->d[least];
	}
	return out;
}

bool hf_contiguous(const struct hf_val *v)
{
	int64_t stride = 1;

	for (int d = v->rank - 1; d >= 0; d--) {
		if (v->d[d] != 1 && v->s[d] != stride)
			return false;
		stride *= v->d[d];
	}
	return true;
}

void hf_push(struct hf_trace *t, struct hf_val v)
{
	if (t->n_stack < (int)JL_LEN(t->stack))
		t->stack[t->n_stack++] = v;
	else
		t->broken = true;
}

struct hf_val hf_pop(struct hf_trace *t)
{
	if (t->n_stack > 0)
		return t->stack[--t->n_stack];
	t->broken = true;
	return (struct hf_val){ .store = -1, .node = -1 };
}

static int tensor_id(struct hf_trace *t, const struct hf_val *v)
{
	char text[200];
	int len = snprintf(text, sizeof(text), "%s ", jl_elem_name((enum jl_elem)v->elem)), id;
	bool is_new;

	for (int d = 0; d < v->rank; d++)
		len += snprintf(text + len, sizeof(text) - (size_t)len, d ? "x%lld" : "%lld", (long long)v->d[d]);
	if (!v->rank)
		len += snprintf(text + len, sizeof(text) - (size_t)len, "-");
	for (int d = 0; d < v->rank && !hf_contiguous(v); d++)
		len += snprintf(text + len, sizeof(text) - (size_t)len, d ? "x%lld" : " %lld", (long long)v->s[d]);
	id = hf_intern(t, &t->tensors, text, &is_new);
	if (is_new)
		jl_buf_printf(&t->defs, "t %d %s\n", id, text);
	return id;
}

static void put_list(struct hf_trace *t, struct jl_buf *text, const struct hf_val *v, int n)
{
	if (!n)
		jl_buf_putc(text, '-');
	for (int i = 0, count; i < n; i += count) {
		const int id = tensor_id(t, &v[i]);

		for (count = 1; i + count < n && tensor_id(t, &v[i + count]) == id;)
			count++;
		jl_buf_printf(text, i ? ",%d" : "%d", id);
		if (count > 1)
			jl_buf_printf(text, "*%d", count);
	}
}

static void flush(struct hf_trace *t)
{
	if (!t->line.len)
		return;
	jl_buf_puts(&t->calls, jl_buf_text(&t->line));
	jl_buf_puts(&t->calls, jl_buf_text(&t->frees));
	jl_buf_putc(&t->calls, '\n');
	jl_buf_reset(&t->line);
	jl_buf_reset(&t->frees);
}

void hf_call(struct hf_trace *t, const char *name, const struct hf_val *in, int n_in, struct hf_val *out, int n_out,
	     const char *attrs)
{
	struct jl_buf kind;
	bool is_new;
	int id;

	if (t->mute)
		return;
	jl_buf_init(&kind, 1 << 20);
	jl_buf_printf(&kind, "%s ", name);
	put_list(t, &kind, in, n_in);
	jl_buf_putc(&kind, ' ');
	put_list(t, &kind, out, n_out);
	if (attrs && *attrs)
		jl_buf_printf(&kind, " %s", attrs);
	id = hf_intern(t, &t->kinds, jl_buf_text(&kind), &is_new);
	if (is_new)
		jl_buf_printf(&t->defs, "o %d %s\n", id, jl_buf_text(&kind));
	t->broken |= kind.failed != JL_OK;
	jl_buf_release(&kind);
	flush(t);
	jl_buf_printf(&t->line, "k %d %d %d", id, t->module, t->host);
	t->host = 0;
	t->n_records++;
	t->mute |= t->mute_next;
	for (int i = 0; i < n_out; i++)
		if (out[i].store >= 0 && !t->stores[out[i].store].listed && !t->stores[out[i].store].initial) {
			t->stores[out[i].store].listed = true;
			jl_buf_printf(&t->line, " +%d:%.0f", out[i].store + 1, t->stores[out[i].store].size_B);
		}
}

void hf_wait(struct hf_trace *t, const char *reason)
{
	flush(t);
	jl_buf_printf(&t->calls, "w %s\n", reason);
	t->n_records++;
}

void hf_phase(struct hf_trace *t, const char *name)
{
	flush(t);
	jl_buf_printf(&t->calls, "p %s\n", name);
}

struct hf_val hf_initial(struct hf_trace *t, const char *kind, enum jl_elem elem, int rank, const int64_t *dims)
{
	struct hf_val v = hf_make(t, elem, rank, dims);

	if (v.store < 0)
		return v;
	t->stores[v.store].initial = true;
	jl_buf_printf(&t->initial, "a %d %.0f %s t %d\n", v.store + 1, t->stores[v.store].size_B, kind,
		      tensor_id(t, &v));
	return v;
}

/* Adapter target (enum jl_target) of a module by its name, as PEFT matches it. */
static unsigned target_of(const char *name)
{
	static const struct {
		const char *names;
		unsigned targets;
	} known[] = { { " q_proj query ", JL_TARGET_Q },
		      { " k_proj key ", JL_TARGET_K },
		      { " v_proj value ", JL_TARGET_V },
		      { " qkv_proj query_key_value c_attn ", JL_TARGET_Q | JL_TARGET_K | JL_TARGET_V },
		      { " o_proj out_proj out_lin dense ", JL_TARGET_O },
		      { " gate_proj ", JL_TARGET_GATE },
		      { " gate_up_proj ", JL_TARGET_GATE | JL_TARGET_UP },
		      { " up_proj c_fc fc1 dense_h_to_4h intermediate lin1 ", JL_TARGET_UP },
		      { " down_proj fc2 dense_4h_to_h lin2 ", JL_TARGET_DOWN },
		      { " c_proj output ", JL_TARGET_O | JL_TARGET_DOWN } };
	char word[40];

	snprintf(word, sizeof(word), " %.36s ", name);
	for (size_t i = 0; i < JL_LEN(known); i++)
		if (strstr(known[i].names, word))
			return known[i].targets;
	return 0;
}

int hf_enter(struct hf_trace *t, const char *name)
{
	const int was = t->module;
	char key[120];
	bool is_new;

	snprintf(key, sizeof(key), "%d %.80s", was, name);
	t->target = target_of(name);
	t->module = hf_intern(t, &t->modules, key, &is_new);
	if (is_new)
		jl_buf_printf(&t->defs, "m %d %d %.80s %.80s\n", t->module, was, name, name);
	return was;
}

void hf_leave(struct hf_trace *t, int module)
{
	t->module = module;
	t->target = 0;
}

static int new_node(struct hf_trace *t)
{
	struct hf_node *node;

	if (!grow(t, (void **)&t->nodes, &t->room_nodes, t->n_nodes, sizeof(*t->nodes)))
		return -1;
	node = &t->nodes[t->n_nodes];
	*node = (struct hf_node){ .module = t->module };
	for (size_t i = 0; i < JL_LEN(node->save); i++)
		node->save[i].store = -1;
	for (size_t i = 0; i < JL_LEN(node->grad); i++)
		node->grad[i].store = -1;
	return t->n_nodes++;
}

struct hf_val hf_param(struct hf_trace *t, const char *name, enum jl_elem elem, int rank, const int64_t *dims)
{
	char key[120];
	bool is_new;
	int id;

	snprintf(key, sizeof(key), "%d %.80s", *name == '/' ? 0 : t->module, name); /* "/": shared between modules */
	id = hf_intern(t, &t->params_by_name, key, &is_new) - 1;
	if (is_new && grow(t, (void **)&t->params, &t->room_params, t->n_params, sizeof(*t->params))) {
		struct hf_param *p = &t->params[t->n_params++];

		p->value = hf_initial(t, "param", elem, rank, dims);
		p->grad.store = -1;
		p->value.grad = t->run->lora_rank <= 0 || strncmp(name, "lora", 4) == 0;
		p->node = p->value.node = new_node(t);
	}
	return id < t->n_params ? t->params[id].value : (struct hf_val){ .store = -1, .node = -1 };
}

struct hf_node *hf_record(struct hf_trace *t, const struct hf_op *op, const char *arg, const struct hf_val *in,
			  int n_in, struct hf_val *out, int n_out, unsigned keep)
{
	struct hf_node *node;
	bool grad = false;
	int id;

	for (int i = 0; i < n_in; i++)
		grad |= in[i].grad;
	for (int i = 0; i < n_out; i++)
		out[i].grad = false, out[i].node = -1;
	if (!grad || !t->grad_on || (id = new_node(t)) < 0)
		return NULL;
	node = &t->nodes[id];
	node->op = op;
	node->arg = arg;
	node->n_in = (int8_t)n_in;
	for (int i = 0; i < n_in; i++) {
		node->meta[i] = in[i];
		if (in[i].grad && in[i].node >= 0)
			t->nodes[in[i].node].deps++;
	}
	for (int i = 0; i < n_out; i++) {
		out[i].node = id;
		out[i].out = (int8_t)i;
		out[i].grad = true;
	}
	for (int i = 0; i < 5; i++)
		if (keep >> i & 1) {
			node->save[i] = i < 3 ? in[i] : out[i - 3];
			hf_hold(t, &node->save[i]);
			if (++t->n_saved == t->stop_at && t->stop_at)
				*(i < 3 ? &t->mute : &t->mute_next) = true;
		}
	return node;
}

/* Reduces a gradient to its input's shape and format: sums broadcast dimensions, reverts promotion, as autograd does. */
static struct hf_val fit(struct hf_trace *t, struct hf_val v, const struct hf_val *meta)
{
	struct hf_val out;
	char attrs[40] = "dim=";
	int64_t dims[HF_RANK];
	const int lead = v.rank - meta->rank;
	bool sum = false;

	for (int d = 0; d < v.rank; d++) {
		const bool spread = d < lead || (meta->d[d - lead] == 1 && v.d[d] != 1);

		dims[d] = spread ? 1 : v.d[d];
		if (spread)
			snprintf(attrs + strlen(attrs), sizeof(attrs) - strlen(attrs), sum ? "x%d" : "%d", d);
		sum |= spread;
	}
	if (sum) {
		out = hf_make(t, (enum jl_elem)v.elem, v.rank, dims);
		hf_call(t, "aten.sum.dim_IntList", &v, 1, &out, 1, attrs);
		hf_drop(t, &v);
		v = out;
		if (lead) {
			v = hf_view(t, v, meta->rank, meta->d);
			t->host++;
		}
	}
	return hf_cast(t, v, meta->elem, false);
}

static void give_leaf(struct hf_trace *t, struct hf_node *node, int id, struct hf_val grad)
{
	struct hf_param *p = NULL;

	for (int i = 0; i < t->n_params && !p; i++)
		p = t->params[i].node == id ? &t->params[i] : NULL;
	if (!p) { /* no node: the input of a checkpoint */
		node->grad[0] = grad;
		return;
	}
	t->host++;
	if (p->grad.store < 0) {
		p->grad = grad;
		return;
	}
	const struct hf_val in[] = { p->grad, grad };

	hf_call(t, "aten.add_.Tensor", in, 2, &p->grad, 1, "inplace=1");
	hf_drop(t, &grad);
}

void hf_give(struct hf_trace *t, const struct hf_val *to, struct hf_val grad)
{
	struct hf_node *node = to->node >= 0 ? &t->nodes[to->node] : NULL;
	struct hf_val sum;

	if (!node || !to->grad) {
		hf_drop(t, &grad);
		return;
	}
	node->deps--;
	if (node->grad[to->out].store >= 0) {
		const struct hf_val in[] = { node->grad[to->out], grad };

		sum = hf_like(t, &in[0], -1);
		hf_call(t, "aten.add.Tensor", in, 2, &sum, 1, NULL);
		hf_drop(t, &in[0]);
		hf_drop(t, &in[1]);
		grad = sum;
	}
	node->grad[to->out] = (struct hf_val){ .store = -1 };
	if (!node->op && node->deps <= 0)
		give_leaf(t, node, to->node, grad);
	else
		node->grad[to->out] = grad;
}

/* Runs the gradient recipes of an operator; each entry gives the gradient of one input. */
static void by_text(struct hf_trace *t, struct hf_node *node)
{
	struct hf_val made[3];
	bool there[3] = { false };
	char recipe[HF_NAMES];

	for (const char *at = node->op->back; at && *at;) {
		const int i = *at - '0';
		const size_t len = strcspn(at, "|");

		if (node->meta[i].grad && len < sizeof(recipe)) {
			memcpy(recipe, at + 1, len - 1);
			recipe[len - 1] = '\0';
			t->bind = node;
			hf_run(t, recipe);
			made[i] = hf_pop(t);
			there[i] = true;
		}
		at += len + (at[len] == '|');
	}
	for (int i = 0; i < 3; i++)
		if (there[i])
			hf_give(t, &node->meta[i], fit(t, made[i], &node->meta[i]));
}

void hf_backward(struct hf_trace *t, int from)
{
	const bool was = t->grad_on;
	const int cast = t->cast;

	t->cast = -1;
	for (int i = t->n_nodes - 1; i >= from && !t->broken; i--) {
		struct hf_node node = t->nodes[i]; /* copied, because checkpoints append nodes */
		bool there = false;

		for (int k = 0; k < 3; k++)
			there |= node.grad[k].store >= 0;
		if (!node.op || !there)
			continue;
		t->grad_on = false;
		t->now = &node;
		t->module = node.module;
		if (node.op->gradient)
			node.op->gradient(t, &node);
		else
			by_text(t, &node);
		t->now = NULL;
		for (int k = 0; k < 5; k++)
			hf_drop(t, &node.save[k]);
		for (int k = 0; k < 3; k++) {
			hf_drop(t, &node.grad[k]);
			t->nodes[i].grad[k].store = -1;
		}
	}
	t->grad_on = was;
	t->cast = cast;
}

struct hf_val hf_cast(struct hf_trace *t, struct hf_val v, int elem, bool recorded)
{
	static const struct hf_op *to;
	struct hf_val out;

	if (v.elem == elem)
		return v;
	out = hf_like(t, &v, elem);
	hf_call(t, "aten._to_copy", &v, 1, &out, 1, NULL);
	to = hf_op_find("to", 2);
	if (recorded)
		(void)hf_record(t, to, "", &v, 1, &out, 1, 0);
	hf_drop(t, &v);
	return out;
}

struct hf_val hf_autocast(struct hf_trace *t, struct hf_val v, enum hf_cast cast)
{
	const int elem = cast == HF_LOWER ? t->cast : JL_ELEM_F32;
	struct hf_node *leaf = v.node >= 0 && v.store >= 0 && !t->nodes[v.node].op && t->stores[v.store].initial
				       ? &t->nodes[v.node]
				       : NULL;
	const bool wide = v.elem == JL_ELEM_F32 || v.elem == JL_ELEM_F16 || v.elem == JL_ELEM_BF16;

	if (t->cast < 0 || cast == HF_PROMOTE || !wide || v.elem == elem)
		return v;
	if (leaf && leaf->save[0].store >= 0) {
		hf_drop(t, &v);
		hf_hold(t, &leaf->save[0]);
		return leaf->save[0];
	}
	const int node = v.node;

	v = hf_cast(t, v, elem, true);
	if (leaf && v.store >= 0) { /* cached until autocast ends */
		t->nodes[node].save[0] = v;
		hf_hold(t, &v);
	}
	return v;
}

void hf_end_autocast(struct hf_trace *t)
{
	for (int i = 0; i < t->n_params; i++) {
		struct hf_node *leaf = &t->nodes[t->params[i].node];

		hf_drop(t, &leaf->save[0]);
		leaf->save[0].store = -1;
	}
}
