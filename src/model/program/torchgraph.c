/* Reads torch.export graphs as JSON (torch.export's schema), which state the shape of every tensor. */
#include <math.h>
#include <string.h>

#include "base/json_read.h"
#include "base/mem.h"
#include "program/modelfile.h"
#include "program/network_ops.h"

#define NODES_MAX 200000
#define RANK_MAX  8

struct tensor {
	int rank; /* < 0: missing */
	double dims[RANK_MAX];
};

struct reader {
	struct jl_net_state state;
	const json_t *values; /* shapes by name of the value */
	double batch;
};

struct node {
	struct tensor in[3], out; /* first tensors of the arguments */
	const char *weight;       /* name of the second tensor */
};

static struct tensor shape_of(const struct reader *r, const char *name)
{
	const json_t *sizes = name ? json_object_get(json_object_get(r->values, name), "sizes") : NULL, *size;
	struct tensor t = { .rank = json_is_array(sizes) ? 0 : -1 };
	size_t d;

	json_array_foreach(sizes, d, size)
	{
		const json_t *whole = json_object_get(size, "as_int");
		/* a symbolic size counts as 1 */
		const double n = json_is_integer(whole) ? json_number_value(whole) : 1;

		if (t.rank == RANK_MAX || !(n >= 0 && n <= 1e10))
			return (struct tensor){ .rank = -1 };
		t.dims[t.rank++] = n;
	}
	return t;
}

static double elements(const struct tensor *t, int skip_last)
{
	double n = 1;

	for (int d = 0; d < t->rank - skip_last; d++)
		n *= t->dims[d];
	return n;
}

static void wrong(struct reader *r, const char *target)
{
	if (!r->state.status)
		r->state.status = jl_fail(r->state.err, JL_E_DATA,
					  JL_N("%.80s: shapes of %.60s are missing or impossible"), r->state.name,
					  target);
}

static void add_conv(struct reader *r, const struct node *n)
{
	const struct tensor *x = &n->in[0], *w = &n->in[1], *y = &n->out;
	double in[2] = { 1, 1 }, out[2] = { 1, 1 }, kernel[2] = { 1, 1 };

	if (w->rank < 3 || x->rank != w->rank || y->rank != w->rank || !(w->dims[1] >= 1)) {
		wrong(r, "conv");
		return;
	}
	for (int d = 2; d < w->rank; d++) {
		const int side = d + 1 < w->rank ? 0 : 1;

		in[side] *= x->dims[d];
		out[side] *= y->dims[d];
		kernel[side] *= w->dims[d];
	}
	jl_net_product(&r->state,
		       &(struct jl_conv_op){ .kind = JL_CONV_CONV,
					     .count = 1,
					     .c_in = x->dims[1],
					     .h = in[0],
					     .w = in[1],
					     .c_out = y->dims[1],
					     .kh = kernel[0],
					     .kw = kernel[1],
					     .stride = fmax(floor(in[1] / fmax(out[1], 1)), 1),
					     .oh = out[0],
					     .ow = out[1],
					     .groups = fmax(x->dims[1] / w->dims[1], 1) },
		       0);
}

/* Matrix product y = a b; `across`: rows of the weights are outputs. */
static void add_product(struct reader *r, const struct tensor *a, const struct tensor *b, bool across)
{
	const bool weights = b->rank == 2;

	if (a->rank < 1 || b->rank < 2) {
		wrong(r, "a product");
		return;
	}
	const double k = a->dims[a->rank - 1], n = b->dims[across ? b->rank - 2 : b->rank - 1];
	const double m = a->rank > 1 ? a->dims[a->rank - 2] : 1, heads = elements(a, a->rank > 1 ? 2 : 1);

	if (!(k >= 1 && n >= 1 && m >= 1 && heads >= 1 && k * n * m * heads <= 1e18)) {
		wrong(r, "a product");
		return;
	}
	jl_net_product(&r->state,
		       &(struct jl_conv_op){ .kind = weights ? JL_CONV_LINEAR : JL_CONV_BMM,
					     .count = 1,
					     .rows = weights ? fmax(heads * m / r->batch, 1) : m,
					     .k = k,
					     .n = n,
					     .steps = 1,
					     .heads = weights ? 1 : fmax(heads / r->batch, 1) },
		       0);
}

static void add_attention(struct reader *r, const struct node *n)
{
	const struct tensor *q = &n->in[0], *k = &n->in[1], *v = &n->in[2];

	if (q->rank < 3 || k->rank != q->rank || v->rank != q->rank || !(elements(q, 0) >= 1) ||
	    !(elements(v, 0) >= 1)) {
		wrong(r, "attention");
		return;
	}
	const int d = q->rank - 1;

	jl_net_product(&r->state,
		       &(struct jl_conv_op){ .kind = JL_CONV_ATTENTION,
					     .fuse = 1,
					     .count = 1,
					     .rows = q->dims[d - 1],
					     .n = k->dims[d - 1],
					     .k = q->dims[d],
					     .v = v->dims[d],
					     .steps = 1,
					     .heads = fmax(elements(q, 2) / r->batch, 1) },
		       0);
}

enum kind { CONV, LINEAR, MATMUL, ADDMM, ATTENTION, STREAM, VIEW };

/* Prefix of the operator's name after "aten."; the first match applies. */
static const struct {
	const char *names;
	enum kind kind;
	enum jl_net_pass pass;
} operators[] = {
	{ "conv", CONV, 0 },
	{ "linear", LINEAR, 0 },
	{ "addmm baddbmm", ADDMM, 0 },
	{ "mm bmm matmul", MATMUL, 0 },
	{ "scaled_dot_product _scaled_dot_product", ATTENTION, 0 },
	{ "batch_norm _native_batch_norm", STREAM, JL_NET_PASS_BATCH_NORM },
	{ "layer_norm native_layer_norm group_norm native_group_norm rms_norm softmax _softmax", STREAM,
	  JL_NET_PASS_NORM },
	{ "max_pool avg_pool adaptive_avg_pool mean", STREAM, JL_NET_PASS_POOL },
	{ "add mul sub div", STREAM, JL_NET_PASS_ADD },
	{ "cat clone contiguous embedding upsample", STREAM, JL_NET_PASS_COPY },
	{ "view reshape flatten permute transpose t. expand unsqueeze squeeze slice select split chunk unbind "
	  "unflatten dropout alias detach sym_size",
	  VIEW, 0 },
};

/* True if `name` begins with one of the blank-separated words. */
static bool begins(const char *words, const char *name)
{
	for (size_t len; *words; words += len + (words[len] == ' ')) {
		len = strcspn(words, " ");
		if (strncmp(words, name, len) == 0)
			return true;
	}
	return false;
}

static void add_node(struct reader *r, const char *target, const struct node *n)
{
	const char *name = strstr(target, "aten.");
	enum kind kind = STREAM;
	enum jl_net_pass pass = JL_NET_PASS_MAP;

	if (!name)
		return; /* Python bookkeeping: no kernel */
	for (size_t i = 0; i < JL_LEN(operators); i++)
		if (begins(operators[i].names, name + 5)) {
			kind = operators[i].kind;
			pass = operators[i].pass;
			break;
		}
	switch (kind) {
	case CONV: add_conv(r, n); break;
	case LINEAR: add_product(r, &n->in[0], &n->in[1], true); break;
	case MATMUL: add_product(r, &n->in[0], &n->in[1], false); break;
	case ADDMM: add_product(r, &n->in[1], &n->in[2], false); break;
	case ATTENTION: add_attention(r, n); break;
	case VIEW: break;
	case STREAM: {
		const double elems = pass == JL_NET_PASS_POOL && n->in[0].rank >= 0 ? elements(&n->in[0], 0)
										    : elements(&n->out, 0);

		if (n->out.rank >= 0 && elems >= r->batch)
			jl_net_pass(&r->state, pass, elems / r->batch, 1);
	}
	}
}

static const char *tensor_name(const json_t *arg)
{
	return json_string_value(json_object_get(json_object_get(arg, "as_tensor"), "name"));
}

static void read_node(struct reader *r, const json_t *json)
{
	struct node n = { .in = { { .rank = -1 }, { .rank = -1 }, { .rank = -1 } }, .out = { .rank = -1 } };
	const char *target = json_string_value(json_object_get(json, "target"));
	const json_t *arg;
	size_t i;
	int at = 0;

	json_array_foreach(json_object_get(json, "inputs"), i, arg)
	{
		const char *name = tensor_name(json_object_get(arg, "arg"));

		if (name && at < 3)
			n.in[at++] = shape_of(r, name);
	}
	n.out = shape_of(r, tensor_name(json_array_get(json_object_get(json, "outputs"), 0)));
	if (target)
		add_node(r, target, &n);
}

/* Reads the parameters and the first user input from the signature. */
static void read_signature(struct reader *r, const json_t *specs)
{
	const json_t *spec;
	size_t i;

	json_array_foreach(specs, i, spec)
	{
		const json_t *parameter = json_object_get(json_object_get(spec, "parameter"), "arg");
		const json_t *input = json_object_get(json_object_get(spec, "user_input"), "arg");
		const struct tensor t = shape_of(r, parameter ? json_string_value(json_object_get(parameter, "name"))
							      : tensor_name(input));

		if (parameter && t.rank >= 0)
			r->state.net.n_params += elements(&t, 0);
		if (input && t.rank > 0 && r->batch == 0)
			r->batch = fmax(t.dims[0], 1);
		if (input && t.rank == 4 && r->state.net.h == 0) {
			r->state.net.h = t.dims[2];
			r->state.net.w = t.dims[3];
		}
	}
}

static enum jl_status parse(struct reader *r, const json_t *root, const char *file, struct jl_err *err)
{
	const json_t *module = json_object_get(root, "graph_module"), *graph = json_object_get(module, "graph"), *node;
	const json_t *nodes = json_object_get(graph, "nodes");
	double n_params;
	size_t i;

	r->values = json_object_get(graph, "tensor_values");
	if (!json_is_array(nodes) || !json_is_object(r->values))
		return jl_fail_at(err, JL_E_PARSE, &(struct jl_where){ .file = file },
				  JL_N("not a graph of torch.export: no graph_module with nodes and tensor_values"));
	if (json_array_size(nodes) > NODES_MAX)
		return jl_fail_at(err, JL_E_LIMIT, &(struct jl_where){ .file = file }, JL_N("more than %d nodes"),
				  NODES_MAX);
	read_signature(r, json_object_get(json_object_get(module, "signature"), "input_specs"));
	r->batch = r->batch > 0 ? r->batch : 1;
	n_params = r->state.net.n_params;
	json_array_foreach(nodes, i, node) if (!r->state.status) read_node(r, node);
	if (n_params > 0) /* otherwise use the products' weights */
		r->state.net.n_params = n_params;
	return r->state.status;
}

enum jl_status jl_torchgraph_parse(struct jl_network *ret_net, const char *text, size_t len, const char *file,
				   struct jl_arena *arena, struct jl_err *err)
{
	struct reader *r = jl_realloc(NULL, sizeof(*r));
	struct jl_conv_op *ops = jl_realloc(NULL, JL_NETWORK_OPS_MAX * sizeof(*ops));
	json_t *root = jl_json_load(text, len, 0, NULL);
	enum jl_status status = r && ops ? JL_OK : jl_fail_nomem(err);

	if (!status) {
		memset(r, 0, sizeof(*r));
		jl_net_begin(&r->state, file, ops, err);
		status = parse(r, root, file, err);
	}
	JL_THEN(status, jl_net_finish(&r->state, ret_net, arena));
	json_decref(root);
	jl_free(r);
	jl_free(ops);
	return status;
}
