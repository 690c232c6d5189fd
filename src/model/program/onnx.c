/* Parses ONNX files: protocol buffers by hand. Every length is checked against the remaining bytes. */
#include "program/modelfile.h"

#include <math.h>
#include <string.h>

#include "base/budget.h"
#include "base/hash.h"
#include "base/mem.h"
#include "program/onnx_graph.h"

#define NODES_MAX  100000
#define VALUES_MAX 400000
#define NAME_MAX_B 4096

struct field {
	unsigned number, wire;
	uint64_t number_value; /* varint and fixed-width values */
	struct jl_onnx_bytes bytes;
};

static bool varint(struct jl_onnx_bytes *io, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && io->len; shift += 7) {
		const unsigned char byte = *io->at++;

		io->len--;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = value;
			return true;
		}
	}
	return false;
}

/* 1: a field; 0: end; -1: malformed. */
static int next_field(struct jl_onnx_bytes *io, struct field *ret)
{
	uint64_t key, len = 0;

	if (!io->len)
		return 0;
	if (!varint(io, &key) || key >> 3 > 1000000)
		return -1;
	*ret = (struct field){ .number = (unsigned)(key >> 3), .wire = (unsigned)(key & 7) };
	if (ret->wire == 0)
		return varint(io, &ret->number_value) ? 1 : -1;
	if (ret->wire == 1 || ret->wire == 5)
		len = ret->wire == 1 ? 8 : 4;
	else if (ret->wire != 2 || !varint(io, &len))
		return -1;
	if (len > io->len)
		return -1;
	ret->bytes = (struct jl_onnx_bytes){ .at = io->at, .len = (size_t)len };
	io->at += len;
	io->len -= (size_t)len;
	return 1;
}

/* Repeated integers, single or packed. */
static bool put_ints(const struct field *f, struct jl_onnx_list *list)
{
	struct jl_onnx_bytes rest = f->bytes;
	uint64_t value;

	if (f->wire == 0) {
		jl_onnx_add(list, (double)(int64_t)f->number_value);
		return true;
	}
	while (rest.len) {
		if (!varint(&rest, &value))
			return false;
		jl_onnx_add(list, (double)(int64_t)value);
	}
	return true;
}

/* Little-endian 64-bit integers. */
static void raw_ints(struct jl_onnx_value *v, struct jl_onnx_bytes raw)
{
	v->ints.n = raw.len % 8 ? -1 : 0;
	for (size_t i = 0; v->ints.n >= 0 && i < raw.len / 8; i++) {
		uint64_t value = 0;

		for (size_t b = 0; b < 8; b++)
			value |= (uint64_t)raw.at[8 * i + b] << (8 * b);
		jl_onnx_add(&v->ints, (double)(int64_t)value);
	}
}

bool jl_onnx_tensor(struct jl_onnx_value *v, struct jl_onnx_bytes rest)
{
	struct jl_onnx_bytes raw = { NULL, 0 };
	uint64_t type = 0;
	struct field f;
	int more;

	v->dims.n = 0;
	v->ints.n = 0;
	while ((more = next_field(&rest, &f)) > 0) {
		if (f.number == 1 && !put_ints(&f, &v->dims))
			return false;
		if (f.number == 2)
			type = f.number_value;
		if (f.number == 7 && !put_ints(&f, &v->ints))
			return false;
		if (f.number == 8)
			v->name = f.bytes;
		if (f.number == 9)
			raw = f.bytes;
	}
	if (raw.len && type == 7)
		raw_ints(v, raw);
	if (type != 7)
		v->ints.n = -1;
	for (int d = 0; d < v->dims.n; d++)
		if (!(jl_onnx_get(&v->dims, d) >= 0 && jl_onnx_get(&v->dims, d) <= 1e12))
			return false;
	v->is_float = type == 1 || type == 10 || type == 11 || type == 16;
	return more == 0 && v->dims.n >= 0;
}

struct reader {
	const char *file;
	struct jl_err *err;
	struct jl_net_state state;
	struct jl_onnx_value *values;
	size_t n_values, values_max, n_nodes, n_slots;
	uint32_t *slots; /* hash table: index + 1 */
	double batch;
};

struct shown {
	char text[48];
};

static struct shown shown(struct jl_onnx_bytes name)
{
	struct shown s = { "" };

	for (size_t i = 0; i < name.len && i + 1 < sizeof(s.text); i++)
		s.text[i] = name.at[i] > ' ' && name.at[i] < 0x7f ? (char)name.at[i] : '?';
	return s;
}

static void fail(struct reader *r, struct jl_onnx_bytes name, const char *en)
{
	if (!r->state.status)
		r->state.status = jl_fail_at(r->err, JL_E_PARSE, &(struct jl_where){ .file = r->file },
					     JL_N("not an ONNX graph that can be followed: {%s} '%s'"), en,
					     shown(name).text);
}

/* Value with this name; `make`: creates a new one if needed. */
static struct jl_onnx_value *value_of(struct reader *r, struct jl_onnx_bytes name, bool make)
{
	if (name.len > NAME_MAX_B) {
		fail(r, name, JL_N("a name is too long:"));
		return NULL;
	}
	for (size_t slot = (size_t)(jl_hash_keyed(name.at, name.len) % r->n_slots);; slot = (slot + 1) % r->n_slots) {
		struct jl_onnx_value *v = r->slots[slot] ? &r->values[r->slots[slot] - 1] : NULL;

		if (v && v->name.len == name.len && (!name.len || memcmp(v->name.at, name.at, name.len) == 0))
			return v;
		if (v)
			continue;
		if (!make)
			return NULL;
		if (r->n_values == r->values_max) {
			fail(r, name, JL_N("there are too many values:"));
			return NULL;
		}
		v = &r->values[r->n_values++];
		*v = (struct jl_onnx_value){ .name = name, .dims.n = -1, .ints.n = -1 };
		r->slots[slot] = (uint32_t)r->n_values;
		return v;
	}
}

static void read_initializer(struct reader *r, struct jl_onnx_bytes bytes)
{
	struct jl_onnx_value read = { 0 }, *v;

	if (!jl_onnx_tensor(&read, bytes)) {
		fail(r, read.name, JL_N("a tensor is damaged:"));
		return;
	}
	v = value_of(r, read.name, true);
	if (v) {
		*v = read;
		v->is_weight = true;
	}
}

/* Dimension of an input: a number, or a symbol. Only the first (the batch) may be a symbol; it counts as 1. */
static double read_dim(struct reader *r, const struct jl_onnx_value *input, struct jl_onnx_bytes dim)
{
	struct field size;
	double value = NAN;

	while (next_field(&dim, &size) > 0)
		if (size.number == 1 && size.wire == 0)
			value = (double)(int64_t)size.number_value;
	if (value > 0)
		return fmin(value, 1e9);
	if (input->dims.n > 0 && !r->state.status)
		r->state.status = jl_fail_at(
			r->err, JL_E_DATA, &(struct jl_where){ .file = r->file },
			isnan(value) ? JL_N("dimension %d of its input '%s' is left open; export it with fixed shapes, "
					    "only the batch may be free")
				     : JL_N("dimension %d of its input '%s' is %.0f; it must be 1 or more"),
			input->dims.n + 1, shown(input->name).text, value);
	return 1;
}

/* ValueInfoProto: an input's name and shape. */
static void read_input(struct reader *r, struct jl_onnx_bytes rest)
{
	static const unsigned path[] = { 2, 1, 2 }; /* field numbers of type, tensor, shape */
	struct jl_onnx_bytes name = { NULL, 0 }, at = rest, inner;
	struct jl_onnx_value *v;
	struct field f;

	while (next_field(&rest, &f) > 0)
		if (f.number == 1)
			name = f.bytes;
	v = value_of(r, name, true);
	if (!v || v->is_weight)
		return;
	for (size_t step = 0; step < 3; step++) {
		inner = (struct jl_onnx_bytes){ NULL, 0 };
		while (next_field(&at, &f) > 0)
			if (f.number == path[step] && f.wire == 2)
				inner = f.bytes;
		at = inner;
	}
	v->dims.n = 0;
	while (next_field(&at, &f) > 0 && v->dims.n >= 0)
		jl_onnx_add(&v->dims, read_dim(r, v, f.bytes));
	if (v->dims.n < 0)
		fail(r, name, JL_N("an input has too many dimensions:"));
	if (r->batch == 0 && v->dims.n > 0)
		r->batch = r->state.net.batch = jl_onnx_get(&v->dims, 0);
	if (v->dims.n == 4 && r->state.net.h == 0) {
		r->state.net.h = jl_onnx_get(&v->dims, 2);
		r->state.net.w = jl_onnx_get(&v->dims, 3);
	}
}

static bool read_attr(struct jl_onnx_attr *attr, struct jl_onnx_bytes rest)
{
	struct field f;
	int more;

	*attr = (struct jl_onnx_attr){ 0 };
	while ((more = next_field(&rest, &f)) > 0) {
		if (f.number == 1)
			attr->name = f.bytes;
		if (f.number == 3)
			attr->i = (double)(int64_t)f.number_value;
		if (f.number == 4)
			attr->text = f.bytes;
		if (f.number == 5)
			attr->tensor = f.bytes;
		if (f.number == 8 && !put_ints(&f, &attr->ints))
			return false;
	}
	return more == 0;
}

static void read_arg(struct reader *r, struct jl_onnx_node *node, const struct field *f)
{
	const bool out = f->number == 2;
	struct jl_onnx_value *v = f->bytes.len ? value_of(r, f->bytes, out) : NULL;
	int *n = out ? &node->n_out : &node->n_in;

	if (!out && f->bytes.len && !v)
		fail(r, f->bytes, JL_N("used before anything makes it (a cycle, or a cut file):"));
	else if (*n == JL_ONNX_ARGS_MAX)
		fail(r, f->bytes, JL_N("a node has too many arguments:"));
	else
		(out ? node->out : node->in)[(*n)++] = v;
}

static void read_node(struct reader *r, struct jl_onnx_bytes rest)
{
	struct jl_onnx_node node = { 0 };
	struct jl_onnx_bytes op = { NULL, 0 };
	struct field f;
	int more;

	if (++r->n_nodes > NODES_MAX) {
		fail(r, op, JL_N("it has an impossible number of nodes"));
		return;
	}
	if (jl_budget_spend(5)) {
		r->state.status = jl_budget_fail(r->err);
		return;
	}
	while ((more = next_field(&rest, &f)) > 0 && !r->state.status) {
		if (f.number == 1 || f.number == 2)
			read_arg(r, &node, &f);
		if (f.number == 4)
			op = f.bytes;
		if (f.number == 5 && node.n_attrs < JL_ONNX_ATTRS_MAX &&
		    !read_attr(&node.attrs[node.n_attrs++], f.bytes))
			more = -1;
		if (more < 0)
			break;
	}
	if (more < 0)
		fail(r, op, JL_N("a node is damaged:"));
	if (r->state.status)
		return;
	memcpy(node.op, op.at ? op.at : (const unsigned char *)"", op.len < sizeof(node.op) ? op.len : 0);
	jl_onnx_node_run(&r->state, &node, r->batch > 0 ? r->batch : 1);
}

/* Initializers and inputs come after the nodes in the file, so they are read first. */
static void read_graph(struct reader *r, struct jl_onnx_bytes graph)
{
	struct jl_onnx_bytes rest = graph;
	struct field f;
	int more;

	while ((more = next_field(&rest, &f)) > 0 && !r->state.status)
		if (f.number == 5 && f.wire == 2)
			read_initializer(r, f.bytes);
	if (more < 0)
		fail(r, (struct jl_onnx_bytes){ NULL, 0 }, JL_N("a length reaches behind its end"));
	for (rest = graph; next_field(&rest, &f) > 0 && !r->state.status;)
		if (f.number == 11 && f.wire == 2)
			read_input(r, f.bytes);
	for (rest = graph; next_field(&rest, &f) > 0 && !r->state.status;)
		if (f.number == 1 && f.wire == 2)
			read_node(r, f.bytes);
}

const struct jl_onnx_attr *jl_onnx_attr(const struct jl_onnx_node *node, const char *name)
{
	for (int i = 0; i < node->n_attrs; i++)
		if (node->attrs[i].name.len == strlen(name) &&
		    memcmp(node->attrs[i].name.at, name, node->attrs[i].name.len) == 0)
			return &node->attrs[i];
	return NULL;
}

double jl_onnx_int(const struct jl_onnx_node *node, const char *name, double usual)
{
	const struct jl_onnx_attr *attr = jl_onnx_attr(node, name);

	return attr ? attr->i : usual;
}

double jl_onnx_int_at(const struct jl_onnx_node *node, const char *name, int i, double usual)
{
	const struct jl_onnx_attr *attr = jl_onnx_attr(node, name);

	return attr && i >= 0 && i < attr->ints.n ? jl_onnx_get(&attr->ints, i) : usual;
}

double jl_onnx_size(const struct jl_onnx_value *v)
{
	double n = 1;

	for (int d = 0; v && d < v->dims.n; d++)
		n *= jl_onnx_get(&v->dims, d);
	return n;
}

static enum jl_status parse(struct reader *r, struct jl_network *ret_net, const unsigned char *data, size_t len,
			    struct jl_arena *arena)
{
	struct jl_onnx_bytes rest = { data, len };
	struct field f;
	int more;
	bool found = false;

	while ((more = next_field(&rest, &f)) > 0 && !r->state.status)
		if (f.number == 7 && f.wire == 2) {
			read_graph(r, f.bytes);
			found = true;
		}
	if (more < 0 || !found)
		fail(r, (struct jl_onnx_bytes){ NULL, 0 }, JL_N("no graph in it"));
	r->state.net.n_params = 0;
	for (size_t i = 0; i < r->n_values; i++)
		if (r->values[i].is_weight && r->values[i].is_float && !r->values[i].is_statistic)
			r->state.net.n_params += jl_onnx_size(&r->values[i]);
	return jl_net_finish(&r->state, ret_net, arena);
}

enum jl_status jl_onnx_parse(struct jl_network *ret_net, const unsigned char *data, size_t len, const char *file,
			     struct jl_arena *arena, struct jl_err *err)
{
	struct reader *r = jl_realloc(NULL, sizeof(*r));
	struct jl_conv_op *ops = jl_realloc(NULL, JL_NETWORK_OPS_MAX * sizeof(*ops));
	/* a value takes at least two bytes of the file; load factor 1/2 */
	const size_t values_max = len / 2 + 1 < VALUES_MAX ? len / 2 + 1 : VALUES_MAX, n_slots = 2 * values_max + 1;
	struct jl_onnx_value *values = jl_realloc(NULL, values_max * sizeof(*values));
	uint32_t *slots = jl_realloc(NULL, n_slots * sizeof(*slots));
	enum jl_status status = r && ops && values && slots ? JL_OK : jl_fail_nomem(err);

	if (!status) {
		memset(slots, 0, n_slots * sizeof(*slots));
		*r = (struct reader){ .file = file,
				      .err = err,
				      .values = values,
				      .values_max = values_max,
				      .n_slots = n_slots,
				      .slots = slots };
		jl_net_begin(&r->state, file, ops, err);
		status = parse(r, ret_net, data, len, arena);
	}
	jl_free(r);
	jl_free(ops);
	jl_free(values);
	jl_free(slots);
	return status;
}
