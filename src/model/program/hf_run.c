/* Interpreter of recipes, token by token. */
#include "program/hf_modules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int hf_dims(struct hf_trace *t, const char *arg, int64_t *ret_dims)
{
	int n = 0;

	for (const char *at = arg; at && *at && n < HF_RANK; n++) {
		double value = 1;
		char sign = '*';

		for (; *at && *at != ','; at++) {
			char *end;
			double x;

			if (*at == '+') {
				value += strtod(at + 1, &end);
				at = end - 1;
				continue;
			}

			if (*at == '*' || *at == '/') {
				sign = *at;
				continue;
			}
			if (*at >= '0' && *at <= '9') {
				x = strtod(at, &end);
				at = end - 1;
			} else {
				x = t->var[*at & 127];
			}
			value = sign == '*' ? value * x : value / x;
		}
		ret_dims[n] = (int64_t)value;
		at += *at == ',';
	}
	return n;
}

/* Bits of the inputs x y z r m that needed gradients read. */
static unsigned kept(const struct hf_op *op, const struct hf_val *in)
{
	static const char names[] = "xyzrm";
	unsigned keep = 0;

	for (const char *at = op->back; at && *at;) {
		const bool wanted = in[*at - '0'].grad;

		for (at++; *at && *at != '|'; at++)
			if (wanted && at[-1] == ' ' && (at[1] == ' ' || !at[1] || at[1] == '|') && strchr(names, *at))
				keep |= 1U << (strchr(names, *at) - names);
		at += *at == '|';
	}
	return keep;
}

static int code_elem(const struct hf_op *op)
{
	return *op->attrs == 'f'   ? JL_ELEM_F32
	       : *op->attrs == 'i' ? JL_ELEM_I64
	       : *op->attrs == 'j' ? JL_ELEM_I32
				   : JL_ELEM_B8;
}

/* Output of an elementwise operator: broadcast sizes, the wider format, and the layout of the first input with all dimensions. */
static struct hf_val pointwise(struct hf_trace *t, const struct hf_val *in, int n)
{
	int64_t dims[HF_RANK] = { 0 };
	int rank = 0, elem = in[0].elem;

	for (int i = 0; i < n; i++) {
		rank = in[i].rank > rank ? in[i].rank : rank;
		if (in[i].elem == JL_ELEM_F32 || (elem >= JL_ELEM_I64 && in[i].elem < JL_ELEM_I64))
			elem = in[i].rank || !in[0].rank ? in[i].elem : elem;
	}
	for (int d = 0; d < rank; d++)
		for (int i = 0; i < n; i++) {
			const int from = d - (rank - in[i].rank);

			if (from >= 0 && in[i].d[from] > dims[d])
				dims[d] = in[i].d[from];
		}
	for (int i = 0; i < n; i++)
		if (in[i].rank == rank && memcmp(in[i].d, dims, (size_t)rank * sizeof(*dims)) == 0)
			return hf_like(t, &in[i], elem);
	return hf_make(t, (enum jl_elem)elem, rank, dims);
}

static void run_table(struct hf_trace *t, const struct hf_op *op, const char *arg)
{
	struct hf_val in[3], out;
	char attrs[60] = "";
	int64_t dims[HF_RANK];

	for (int i = op->n_in - 1; i >= 0; i--)
		in[i] = hf_autocast(t, hf_pop(t), op->cast);
	if (op->form == HF_NEW) {
		out = hf_make(t, (enum jl_elem)code_elem(op), hf_dims(t, arg, dims), dims);
	} else if (op->form == HF_LIKE) {
		out = pointwise(t, in, op->n_in);
		out = hf_like(t, &out, code_elem(op));
	} else {
		snprintf(attrs, sizeof(attrs), op->attrs && strstr(op->attrs, "%s") ? "exp=%s" : "%s",
			 op->attrs && strstr(op->attrs, "%s") ? (arg ? arg : "1") : (op->attrs ? op->attrs : ""));
		out = pointwise(t, in, op->n_in);
	}
	if (op->form == HF_MEAN) {
		memcpy(dims, in[0].d, sizeof(dims));
		dims[in[0].rank - 1] = 1;
		out = hf_make(t, (enum jl_elem)in[0].elem, in[0].rank, dims);
	}
	(void)hf_record(t, op, arg, in, op->back ? op->n_in : 0, &out, 1, op->back ? kept(op, in) : 0);
	hf_call(t, op->name, in, op->n_in, &out, 1, attrs);
	for (int i = 0; i < op->n_in; i++)
		hf_drop(t, &in[i]);
	hf_push(t, out);
}

static void run_layers(struct hf_trace *t, char slot)
{
	char name[24], arg[2] = { slot, '\0' };
	const int outer = hf_enter(t, "layers");

	for (int i = 0; i < (int)t->model->n_layers && !t->broken; i++) {
		snprintf(name, sizeof(name), "%d", i);
		const int was = hf_enter(t, name);

		t->var['i'] = i;
		const bool local = t->model->window > 0 && t->var['S'] > t->model->window &&
				   (i + 1) % (int)fmax(t->var['e'], 1) != 0;

		t->globals['m'] = t->globals[local ? 'l' : 'g'];
		const bool repeats = t->model->kv_heads < t->model->heads, mask = t->globals['m'].store >= 0;

		t->var['r'] = repeats && (mask || t->run->eager_attention);
		t->var['u'] = repeats && !mask && !t->run->autocast && jl_dtype_B(t->run->dtype) >= 4;
		t->var['s'] = local;
		hf_op_find("again", 5)->run(t, hf_op_find("again", 5), jl_arena_strdup(&t->arena, arg));
		hf_leave(t, was);
	}
	hf_leave(t, outer);
}

static void bind(struct hf_trace *t, struct hf_val *regs)
{
	const struct hf_node *node = t->bind;
	static const char names[] = "xyzrm";

	for (int i = 0; i < 26; i++)
		regs[i].store = -1;
	if (!node)
		return;
	t->bind = NULL;
	for (int i = 0; i < 5; i++)
		regs[names[i] - 'a'] = node->save[i];
	regs['g' - 'a'] = node->grad[node->op->token[0] == 's' && node->grad[0].store < 0 ? 1 : 0];
	for (int i = 0; i < 26; i++) {
		hf_hold(t, &regs[i]);
		regs[i].grad = false;
	}
}

static void token(struct hf_trace *t, struct hf_val *regs, const char *text, size_t len)
{
	const char *colon = memchr(text, ':', len);
	const struct hf_op *op;
	struct hf_val *reg = &regs[(text[len - 1] - 'a') & 31];

	if (len == 1 || (len == 2 && text[0] == '!')) {
		hf_push(t, *reg);
		if (len == 1)
			hf_hold(t, reg);
		else
			reg->store = -1;
		return;
	}
	if (len == 2 && text[0] == ':') {
		hf_drop(t, reg);
		*reg = hf_pop(t);
		return;
	}
	if (len == 3 && text[0] == '%' && text[1] == '!') {
		hf_push(t, t->globals[(unsigned char)text[2]]);
		t->globals[(unsigned char)text[2]] = (struct hf_val){ .store = -1, .node = -1 };
		return;
	}
	if (len == 2 && text[0] == '%') {
		hf_hold(t, &t->globals[(unsigned char)text[1]]);
		hf_push(t, t->globals[(unsigned char)text[1]]);
		return;
	}
	if (len == 2 && text[0] == '=') {
		hf_drop(t, &t->globals[(unsigned char)text[1]]);
		t->globals[(unsigned char)text[1]] = hf_pop(t);
		return;
	}
	if (len == 2 && text[0] == '@') {
		t->broken |= !t->recipes[(unsigned char)text[1]];
		if (t->recipes[(unsigned char)text[1]])
			hf_run(t, t->recipes[(unsigned char)text[1]]);
		return;
	}
	if (len == 2 && text[0] == '&') {
		run_layers(t, text[1]);
		return;
	}
	op = hf_op_find(text, colon ? (size_t)(colon - text) : len);
	if (!op) {
		t->broken = true;
		return;
	}
	t->regs = regs;
	(op->form == HF_CODE ? op->run : run_table)(
		t, op, colon ? jl_arena_strndup(&t->arena, colon + 1, (size_t)(text + len - colon) - 1) : NULL);
}

void hf_run(struct hf_trace *t, const char *recipe)
{
	struct hf_val regs[32] = { 0 };
	int modules[8], n_modules = 0;

	bind(t, regs);
	if (t->depth++ > 20)
		t->broken = true;
	for (const char *at = recipe; *at && !t->broken;) {
		const size_t len = strcspn(at, " ");
		char name[80];
		bool skip = false;

		if (*at == '(' && n_modules < 8 && len < sizeof(name)) {
			memcpy(name, at + 1, len - 1);
			name[len - 1] = '\0';
			modules[n_modules++] = hf_enter(t, name);
		} else if (*at == ')' && n_modules > 0) {
			hf_leave(t, modules[--n_modules]);
		} else if (*at == '?' || *at == '~') {
			skip = (t->var[at[1] & 127] > 0) == (*at == '~');
		} else if (len) {
			token(t, regs, at, len);
			if (t->broken && !*t->where)
				snprintf(t->where, sizeof(t->where), "%.*s", (int)len, at);
		}
		at += len + strspn(at + len, " ");
		if (skip) {
			const size_t more = strcspn(at, " ");

			at += more + strspn(at + more, " ");
		}
	}
	for (int i = 0; i < 26; i++)
		if (!t->broken)
			hf_drop(t, &regs[i]);
	t->depth--;
}
