/* Operators of a network's text: each adds entries to the list of operators. */
#include "program/network_ops.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { C, H, W, F };

bool jl_net_has_word(const char *words, const char *word)
{
	const size_t len = strlen(word);

	for (const char *at = words; len && (at = strstr(at, word)); at += len)
		if ((at == words || isspace((unsigned char)at[-1])) && (!at[len] || isspace((unsigned char)at[len])))
			return true;
	return false;
}

void jl_net_begin(struct jl_net_state *state, const char *name, struct jl_conv_op *ops, struct jl_err *err)
{
	static const char *const shape[JL_NET_SHAPE] = { "c", "h", "w", "frames" };

	*state = (struct jl_net_state){ .name = name, .err = err, .n_vars = JL_NET_SHAPE, .net.ops = ops };
	for (size_t i = 0; i < JL_NET_SHAPE; i++) {
		(void)snprintf(state->vars[i].name.text, sizeof(state->vars[i].name.text), "%s", shape[i]);
		state->vars[i].value.n = 1;
		state->vars[i].value.v[0] = 1;
	}
}

static size_t find(const struct jl_net_state *state, const char *name)
{
	size_t i = 0;

	while (i < state->n_vars && strcmp(state->vars[i].name.text, name) != 0)
		i++;
	return i;
}

const struct jl_net_value *jl_net_var(const struct jl_net_state *state, const char *name)
{
	const size_t i = find(state, name);

	return i < state->n_vars ? &state->vars[i].value : NULL;
}

bool jl_net_set(struct jl_net_state *state, const char *name, const struct jl_net_value *value)
{
	const size_t i = find(state, name);

	if (i == JL_NET_VARS_MAX)
		return false;
	if (i == state->n_vars) {
		strncpy(state->vars[i].name.text, name, sizeof(state->vars[i].name.text) - 1);
		state->n_vars++;
	}
	state->vars[i].value = *value;
	return true;
}

static double shape(const struct jl_net_state *s, int which)
{
	return s->vars[which].value.v[0];
}

static void set_shape(struct jl_net_state *s, int which, double value)
{
	s->vars[which].value.n = 1;
	s->vars[which].value.v[0] = value;
}

static void wrong(struct jl_net_state *s, const char *en)
{
	if (!s->status)
		s->status = jl_fail(s->err, JL_E_RANGE, JL_N("network %.40s: {%s}"), s->name, en);
}

/* Argument by name or else by position (from 0; < 0: by name only). */
static double arg(const struct jl_net_args *args, int place, const char *name, double usual)
{
	int at = 0;

	for (size_t i = 0; i < args->n; i++) {
		const bool has_name = args->args[i].name.text[0] != '\0';

		if (has_name ? strcmp(args->args[i].name.text, name) == 0 : at++ == place)
			return args->args[i].value.v[0];
	}
	return usual;
}

static bool is_size(double x)
{
	return x >= 1 && x <= 1e9;
}

static bool is_count(double x)
{
	return x > 0 && x <= 1e9;
}

/* Appends an operator, or increments the count of an equal one. */
static void add_op(struct jl_net_state *s, const struct jl_conv_op *op)
{
	struct jl_network *net = &s->net;
	struct jl_conv_op plain = *op;

	if (s->status || s->idle)
		return;
	plain.inside = s->inside;
	plain.count = 1;
	for (size_t i = 0; i < net->n_ops; i++) {
		struct jl_conv_op *there = &net->ops[i];
		const double count = there->count;

		there->count = 1;
		/* the struct has no padding. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
		const bool same = memcmp(there, &plain, sizeof(plain)) == 0;

		there->count = count + (same ? op->count : 0);
		if (same)
			return;
	}
	if (net->n_ops == JL_NETWORK_OPS_MAX) {
		wrong(s, JL_N("an impossible number of operators"));
		return;
	}
	plain.count = op->count;
	net->ops[net->n_ops++] = plain;
}

static void own(struct jl_net_state *s, double n_params)
{
	s->net.n_params += n_params;
	if (s->frozen || s->idle)
		s->net.n_still += n_params;
}

void jl_net_product(struct jl_net_state *s, const struct jl_conv_op *op, double bias)
{
	struct jl_conv_op o = *op;

	if (s->frozen)
		o.train = JL_CONV_FROZEN;
	else if (s->net.n_ops == 0)
		o.train = JL_CONV_FIRST;
	own(s, jl_conv_op_weights(&o) + bias);
	if (s->idle)
		return;
	s->net.n_outputs += jl_conv_op_outputs(&o);
	add_op(s, &o);
}

/* `fwd`, `bwd`: number of times the elements pass through memory. */
struct pass {
	double fwd, bwd, fwd_calls, bwd_calls;
	double amp_fwd_B, amp_bwd_B; /* additional bytes per element for fp32 and casts under autocast */
	double macs;                 /* per element, as FLOP-counting tools report it */
	int fuse, turns;
};

/* Norms under autocast: batch norm stays in 16 bits; the others read and write fp32, and their output is cast. */
static const struct pass passes[] = {
	[JL_NET_PASS_BATCH_NORM] = { 2, 6, 1, 1, .macs = 2 },
	[JL_NET_PASS_NORM] = { 2, 5, 1, 2, .amp_fwd_B = 10, .amp_bwd_B = 14, .macs = 5 },
	[JL_NET_PASS_GROUP_NORM] = { 2, 5, 1, 2, .amp_fwd_B = 10, .amp_bwd_B = 14, .macs = 5, .turns = 1 },
	[JL_NET_PASS_MAP] = { 2, 3, 1, 1, .fuse = 1 },
	[JL_NET_PASS_ADD] = { 3, 3, 1, 1, .fuse = 1 },
	[JL_NET_PASS_POOL] = { 1, 1.5, 1, 1, .fuse = 0 },
	[JL_NET_PASS_COPY] = { 2, 2, 1, 1, .fuse = 0 },
	[JL_NET_PASS_BIAS] = { 0, 1, 0, 1, .fuse = 0 },
	[JL_NET_PASS_JOIN] = { 0, 6, 0, 1, .fuse = 0 },
};

static void stream(struct jl_net_state *s, double count, double elems, const struct pass *how)
{
	struct pass forward = *how;
	const struct pass *p = s->frozen ? &forward : how;

	forward.bwd = forward.bwd_calls = forward.amp_bwd_B = 0;
	if (p->fwd + p->bwd <= 0)
		return;
	if (!(count > 0 && count <= 1e9 && elems >= 1 && elems <= 1e15)) {
		wrong(s, JL_N("impossible traffic"));
		return;
	}
	add_op(s, &(struct jl_conv_op){ .kind = JL_CONV_STREAM,
					.fuse = p->fuse,
					.turns = p->turns,
					.count = count,
					.elems = elems,
					.passes = p->fwd + p->bwd,
					.fwd_passes = p->fwd,
					.back_only = p->fwd == 0,
					.calls = p->fwd_calls + p->bwd_calls,
					.fwd_calls = p->fwd_calls,
					.amp_fwd_B = p->amp_fwd_B,
					.amp_bwd_B = p->amp_bwd_B,
					.macs = p->macs });
}

void jl_net_pass(struct jl_net_state *s, enum jl_net_pass kind, double elems, double count)
{
	stream(s, count, elems, &passes[kind]);
}

static double times(const struct jl_net_args *args)
{
	return arg(args, -1, "x", 1);
}

static double elements(const struct jl_net_state *s)
{
	return shape(s, C) * shape(s, H) * shape(s, W) * shape(s, F);
}

static double out_size(double in, double k, double stride, double pad, double dilation)
{
	if (pad < 0) /* "same" padding: the output size follows from the stride */
		return ceil(in / stride);
	return floor((in + 2 * pad - dilation * (k - 1) - 1) / stride) + 1;
}

static void convolve(struct jl_net_state *s, const struct jl_net_args *args, double c_out, double kh, double groups)
{
	const double c = shape(s, C), h = shape(s, H), w = shape(s, W), kw = arg(args, -1, "kw", kh);
	const double d = arg(args, -1, "d", 1), stride = arg(args, -1, "s", 1), sw = arg(args, -1, "sw", stride);
	const double ph = arg(args, -1, "p", floor(d * (kh - 1) / 2)),
		     pw = ph < 0 || kw == kh ? ph : floor(d * (kw - 1) / 2);
	const double oh = out_size(h, kh, stride, ph, d), ow = out_size(w, kw, sw, pw, d);
	/* video frames are stacked along the height: a temporal filter multiplies the filter height */
	const double frames = shape(s, F), kt = arg(args, -1, "kt", 1);
	const double of = out_size(frames, kt, arg(args, -1, "st", 1), arg(args, -1, "pt", floor((kt - 1) / 2)), 1);
	const double count = arg(args, -1, "x", 1);

	if (!is_size(c_out) || !is_count(count) || !is_size(kh) || !is_size(kw) || !is_size(groups) ||
	    !is_size(stride) || !is_size(sw) || !is_size(oh) || !is_size(ow) || !is_size(kt) || !is_size(of) ||
	    fmod(c, groups) != 0 || fmod(c_out, groups) != 0) {
		wrong(s, JL_N("a convolution with impossible sizes"));
		return;
	}
	jl_net_product(s,
		       &(struct jl_conv_op){ .kind = JL_CONV_CONV,
					     .dilated = d > 1,
					     .count = count,
					     .c_in = c,
					     .h = h * frames,
					     .w = w,
					     .c_out = c_out,
					     .kh = kh * kt,
					     .kw = kw,
					     .stride = stride,
					     .oh = oh * of,
					     .ow = ow,
					     .groups = groups },
		       arg(args, -1, "b", 0) != 0 ? c_out : 0);
	if (arg(args, -1, "w", 1) == 0) /* w=0: constant filters, not parameters */
		own(s, -c_out * c * kh * kw * kt / groups);
	set_shape(s, C, c_out);
	set_shape(s, H, oh);
	set_shape(s, W, ow);
	set_shape(s, F, of);
}

static void op_conv(struct jl_net_state *s, const struct jl_net_args *args)
{
	convolve(s, args, arg(args, 0, "n", NAN), arg(args, 1, "k", 1), arg(args, -1, "g", 1));
}

static void op_dw(struct jl_net_state *s, const struct jl_net_args *args)
{
	convolve(s, args, shape(s, C) * arg(args, -1, "m", 1), arg(args, 0, "k", 3), shape(s, C));
}

static void linear(struct jl_net_state *s, double rows, double k, double n, double bias, double count)
{
	if (!is_size(rows) || !is_size(k) || !is_size(n) || !is_count(count)) {
		wrong(s, JL_N("a matrix product with impossible sizes"));
		return;
	}
	jl_net_product(
		s,
		&(struct jl_conv_op){
			.kind = JL_CONV_LINEAR, .count = count, .rows = rows, .k = k, .n = n, .steps = 1, .heads = 1 },
		bias != 0 ? n * count : 0);
	if (bias != 0)
		stream(s, count, rows * n, &passes[JL_NET_PASS_BIAS]);
}

static void op_fc(struct jl_net_state *s, const struct jl_net_args *args)
{
	const double n = arg(args, 0, "n", NAN);

	linear(s, shape(s, H) * shape(s, W) * shape(s, F), shape(s, C), n, arg(args, -1, "b", 1), 1);
	set_shape(s, C, n);
}

static void op_linear(struct jl_net_state *s, const struct jl_net_args *args)
{
	linear(s, arg(args, 0, "rows", NAN), arg(args, 1, "k", NAN), arg(args, 2, "n", NAN), arg(args, -1, "b", 0),
	       arg(args, -1, "x", 1));
}

/* bmm ROWS K N HEADS: a product of activations */
static void op_bmm(struct jl_net_state *s, const struct jl_net_args *args)
{
	const struct jl_conv_op op = { .kind = JL_CONV_BMM,
				       .count = arg(args, -1, "x", 1),
				       .rows = arg(args, 0, "rows", NAN),
				       .k = arg(args, 1, "k", NAN),
				       .n = arg(args, 2, "n", NAN),
				       .steps = 1,
				       .heads = arg(args, 3, "heads", 1) };

	if (!is_size(op.rows) || !is_size(op.k) || !is_size(op.n) || !is_size(op.heads) || !is_size(op.count))
		wrong(s, JL_N("a matrix product with impossible sizes"));
	else
		jl_net_product(s, &op, 0);
}

/* attn HEADS q= kv= (tokens; default: all of the shape) k= v= (head widths) x= (windows): softmax(q k) v, fused if the software supports it */
static void op_attn(struct jl_net_state *s, const struct jl_net_args *args)
{
	const double heads = arg(args, 0, "heads", 1), q = arg(args, -1, "q", elements(s) / shape(s, C));
	const double k = arg(args, -1, "k", shape(s, C) / heads);
	const struct jl_conv_op op = { .kind = JL_CONV_ATTENTION,
				       .fuse = arg(args, -1, "fused", 1) != 0,
				       .count = arg(args, -1, "layers", 1),
				       .rows = q,
				       .n = arg(args, -1, "kv", q),
				       .k = k,
				       .v = arg(args, -1, "v", k),
				       .steps = 1,
				       .heads = heads * arg(args, -1, "x", 1) };

	if (!is_size(op.rows) || !is_size(op.k) || !is_size(op.n) || !is_size(op.heads) || !is_size(op.v) ||
	    !is_count(op.count))
		wrong(s, JL_N("attention with impossible sizes"));
	else
		jl_net_product(s, &op, 0);
	/* gradients of queries, keys and values are concatenated */
	stream(s, op.count, op.rows * op.heads * op.k, &passes[JL_NET_PASS_JOIN]);
}

/* Residual sum; `wide`: fp32 under autocast. */
static void sum(struct jl_net_state *s, double count, bool wide)
{
	struct pass p = passes[JL_NET_PASS_ADD];

	if (wide) {
		p.amp_fwd_B = 4;
		p.amp_bwd_B = 12;
	}
	stream(s, count, elements(s), &p);
}

/* prenorm LAYERS HEADS FFN b=: transformer blocks with a norm before each half (b=0: norms without parameters). Counted operator by operator; timed
 * by the transformers' own kernel list. */
static void op_prenorm(struct jl_net_state *s, const struct jl_net_args *args)
{
	const double width = shape(s, C), rows = elements(s) / width, layers = arg(args, 0, "layers", NAN);
	const double heads = arg(args, 1, "heads", 1), ffn = arg(args, 2, "ffn", 4 * width);
	struct jl_conv_op block = {
		.kind = JL_CONV_BLOCK, .count = layers, .rows = rows, .k = width, .n = ffn, .heads = heads
	};
	const struct jl_conv_op attention = { .kind = JL_CONV_ATTENTION,
					      .fuse = 1,
					      .count = layers,
					      .rows = rows,
					      .n = rows,
					      .k = width / heads,
					      .v = width / heads,
					      .steps = 1,
					      .heads = heads };

	if (!is_size(rows) || !is_count(layers) || !is_size(heads) || !is_size(ffn) || !is_size(width / heads)) {
		wrong(s, JL_N("blocks with impossible sizes"));
		return;
	}
	block.train = s->frozen ? JL_CONV_FROZEN : JL_CONV_FULL;
	s->inside = true;
	jl_net_pass(s, JL_NET_PASS_NORM, rows * width, 2 * layers);
	own(s, arg(args, -1, "b", 1) != 0 ? 4 * width * layers : 0);
	linear(s, rows, width, 3 * width, 1, layers);
	jl_net_product(s, &attention, 0);
	linear(s, rows, width, width, 1, layers);
	linear(s, rows, width, ffn, 1, layers);
	jl_net_pass(s, JL_NET_PASS_MAP, rows * ffn, layers);
	linear(s, rows, ffn, width, 1, layers);
	sum(s, 2 * layers, true);
	s->inside = false;
	add_op(s, &block);
}

static void norm(struct jl_net_state *s, const struct jl_net_args *args, enum jl_net_pass kind)
{
	jl_net_pass(s, kind, elements(s), times(args));
	own(s, arg(args, -1, "b", 2) * shape(s, C));
}

static void op_bn(struct jl_net_state *s, const struct jl_net_args *args)
{
	norm(s, args, JL_NET_PASS_BATCH_NORM);
}

static void op_ln(struct jl_net_state *s, const struct jl_net_args *args)
{
	norm(s, args, JL_NET_PASS_NORM);
}

/* Group norm: supports channels first only. */
static void op_gn(struct jl_net_state *s, const struct jl_net_args *args)
{
	norm(s, args, JL_NET_PASS_GROUP_NORM);
}

static void op_act(struct jl_net_state *s, const struct jl_net_args *args)
{
	jl_net_pass(s, JL_NET_PASS_MAP, elements(s), times(args));
}

static void op_add(struct jl_net_state *s, const struct jl_net_args *args)
{
	sum(s, times(args), arg(args, -1, "wide", 0) != 0);
}

/* move PASSES: copies, permutations, concatenations */
static void op_move(struct jl_net_state *s, const struct jl_net_args *args)
{
	const double through = arg(args, 0, "passes", 2), share = arg(args, -1, "of", 1),
		     back = arg(args, -1, "b", through);

	if (!(through > 0 && through <= 1e4 && back >= 0 && back <= 1e4 && share > 0 && share <= 1e4))
		wrong(s, JL_N("impossible traffic"));
	else
		stream(s, times(args), elements(s) * share, &(struct pass){ through, back, 1, 1, .fuse = 0 });
}

static void pool(struct jl_net_state *s, const struct jl_net_args *args, double oh, double ow, double of)
{
	const double in = elements(s), out = shape(s, C) * oh * ow * of;

	if (!is_size(oh) || !is_size(ow) || !is_size(of)) {
		wrong(s, JL_N("a pool with impossible sizes"));
		return;
	}
	jl_net_pass(s, JL_NET_PASS_POOL, in + out, times(args));
	set_shape(s, H, oh);
	set_shape(s, W, ow);
	set_shape(s, F, of);
}

static void op_pool(struct jl_net_state *s, const struct jl_net_args *args)
{
	const double k = arg(args, 0, "k", 2), stride = arg(args, -1, "s", k),
		     p = arg(args, -1, "p", floor((k - 1) / 2));
	const double up = arg(args, -1, "ceil", 0) != 0 ? stride - 1 : 0;

	const double kt = arg(args, -1, "kt", 1), of = out_size(shape(s, F), kt, arg(args, -1, "st", 1),
								arg(args, -1, "pt", floor((kt - 1) / 2)), 1);

	pool(s, args, out_size(shape(s, H) + up, k, stride, p, 1), out_size(shape(s, W) + up, k, stride, p, 1), of);
}

static void op_gap(struct jl_net_state *s, const struct jl_net_args *args)
{
	pool(s, args, 1, 1, 1);
}

static void op_up(struct jl_net_state *s, const struct jl_net_args *args)
{
	const double by = arg(args, 0, "by", 2);

	pool(s, args, floor(shape(s, H) * by), floor(shape(s, W) * by), shape(s, F));
}

static void op_param(struct jl_net_state *s, const struct jl_net_args *args)
{
	const double n = arg(args, 0, "n", NAN);

	if (!(n >= 0 && n <= 1e13))
		wrong(s, JL_N("an impossible number of parameters"));
	else
		own(s, n);
}

/* in C H W FRAMES: size of a sample */
static void op_in(struct jl_net_state *s, const struct jl_net_args *args)
{
	const double h = arg(args, 1, "h", 1),
		     size[JL_NET_SHAPE] = { arg(args, 0, "c", 3), h, arg(args, 2, "w", h), arg(args, 3, "frames", 1) };

	for (int i = 0; i < JL_NET_SHAPE; i++) {
		if (!is_size(size[i]))
			wrong(s, JL_N("an impossible input"));
		set_shape(s, i, size[i]);
	}
	if (s->net.h == 0 && size[C] == 3) { /* an image: other samples need no decoding */
		s->net.h = size[1];
		s->net.w = size[2] * size[3];
	}
}

/* host CALLS step= sync=: additional launches per item or per step; sync: the device waits for them */
static void op_host(struct jl_net_state *s, const struct jl_net_args *args)
{
	const double calls = arg(args, 0, "calls", NAN);

	if (!(calls > 0 && calls <= 1e9))
		wrong(s, JL_N("an impossible number of launches"));
	else
		add_op(s, &(struct jl_conv_op){ .kind = JL_CONV_HOST,
						.per_step = arg(args, -1, "step", 0) != 0,
						.sync = arg(args, -1, "sync", 0) != 0,
						.count = 1,
						.calls = calls });
}

/* refuse: the words match, but no such network exists */
static void op_refuse(struct jl_net_state *s, const struct jl_net_args *args)
{
	(void)args;
	if (!s->status)
		s->status = JL_E_NOTFOUND;
}

static const struct {
	const char *name;
	void (*add)(struct jl_net_state *s, const struct jl_net_args *args);
} operators[] = {
	{ "conv", op_conv },       { "dw", op_dw },     { "fc", op_fc },         { "linear", op_linear },
	{ "bmm", op_bmm },         { "attn", op_attn }, { "bn", op_bn },         { "ln", op_ln },
	{ "gn", op_gn },           { "act", op_act },   { "add", op_add },       { "mul", op_add },
	{ "move", op_move },       { "pool", op_pool }, { "gap", op_gap },       { "up", op_up },
	{ "param", op_param },     { "in", op_in },     { "refuse", op_refuse }, { "host", op_host },
	{ "prenorm", op_prenorm },
};

bool jl_net_operator(struct jl_net_state *state, const char *name, const struct jl_net_args *args)
{
	for (size_t i = 0; i < JL_LEN(operators); i++)
		if (strcmp(operators[i].name, name) == 0) {
			operators[i].add(state, args);
			return true;
		}
	return false;
}

enum jl_status jl_net_finish(struct jl_net_state *state, struct jl_network *ret_net, struct jl_arena *arena)
{
	struct jl_network *net = &state->net;
	struct jl_conv_op *ops;

	if (!state->status && !net->n_ops)
		wrong(state, JL_N("it has no operators"));
	if (!state->status && !(isfinite(net->n_params) && isfinite(net->n_outputs)))
		wrong(state, JL_N("its sizes are not finite"));
	if (state->status)
		return state->status;
	ops = jl_arena_array(arena, net->n_ops, sizeof(*ops));
	if (!ops)
		return jl_fail_nomem(state->err);
	memcpy(ops, net->ops, net->n_ops * sizeof(*ops));
	*ret_net = *net;
	ret_net->ops = ops;
	return JL_OK;
}
