/* Structure-aware inputs: files that their readers take for whole, with what is wrong deep inside. Linked beside a fuzz target as libFuzzer's own
 * mutator: FUZZ_GRAMMAR names the format. Three of four inputs are made anew from the seed, the others are earlier ones changed byte by byte
 * or spliced with a new one. Of the new ones two in five are sound, two in five have a mistake here and there, one is wild: what is refused in
 * its first line reaches nothing. How many were taken is printed at the end. FUZZ_LARGE=1: sizes up to the limit (complexity); each input is then answered in the budget of a question to the
 * server and must be done within FUZZ_CPU_S seconds (default: 2) of processor time; the worst is printed at the end. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/budget.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
extern size_t fuzz_taken, fuzz_given;                                /* NOLINT: of this program */
int __real_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); /* NOLINT: the linker's names */
int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); /* NOLINT */

#define LEN(A) (sizeof(A) / sizeof(*(A)))

static bool large;

struct gen {
	uint64_t state;
	uint8_t *out;
	size_t len, max;
	unsigned many; /* of a thousand: how often a repetition goes on */
	enum { SOUND, MISTAKEN, WILD } mess;
};

/* --- chance */

static uint64_t next(struct gen *g)
{
	uint64_t z = (g->state += 0x9e3779b97f4a7c15U);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
	return z ^ (z >> 31);
}

static unsigned below(struct gen *g, unsigned n)
{
	return (unsigned)((next(g) >> 32) * n >> 32);
}

static bool one_in(struct gen *g, unsigned n)
{
	return below(g, n) == 0;
}

/* Something wrong here? */
static bool slip(struct gen *g, unsigned n)
{
	return g->mess != SOUND && one_in(g, g->mess == WILD ? n : 20 * n);
}

/* Another one? Rarely many. */
static bool more(struct gen *g)
{
	return g->len + 64 < g->max && below(g, 1000) < g->many;
}

static int64_t number(struct gen *g)
{
	static const int64_t edges[] = { 0,
					 1,
					 2,
					 3,
					 4,
					 7,
					 8,
					 16,
					 64,
					 128,
					 1024,
					 4096,
					 65535,
					 -1,
					 -2,
					 -8,
					 -9,
					 65536,
					 65537,
					 1 << 20,
					 1 << 30,
					 INT32_MAX,
					 INT32_MIN,
					 (int64_t)1 << 40,
					 ((int64_t)1 << 40) + 1,
					 (int64_t)1 << 53,
					 INT64_MAX,
					 INT64_MIN,
					 1000000000000,
					 100000000000000 };

	if (!slip(g, 5))
		return 1 + below(g, 12);
	return one_in(g, 8) ? (int64_t)next(g) : edges[below(g, LEN(edges))];
}

/* --- bytes */

static void put(struct gen *g, const void *data, size_t len)
{
	if (g->len + len > g->max)
		return;
	memcpy(g->out + g->len, data, len);
	g->len += len;
}

static void put_n(struct gen *g, uint64_t value, size_t n) /* lowest byte first */
{
	uint8_t bytes[8];

	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(value >> (8 * i));
	put(g, bytes, n);
}

__attribute__((format(printf, 2, 3))) static void text(struct gen *g, const char *format, ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	const int n = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	put(g, line, n < (int)sizeof(line) ? (size_t)n : sizeof(line) - 1);
}

#define PICK(G, LIST) ((LIST)[below((G), LEN(LIST))])

/* --- ONNX: protocol buffers, every length patched in behind its content */

static void varint(struct gen *g, uint64_t value)
{
	while (value >= 0x80) {
		put_n(g, (value & 0x7f) | 0x80, 1);
		value >>= 7;
	}
	put_n(g, value, 1);
}

static void field_int(struct gen *g, unsigned field, int64_t value)
{
	varint(g, field << 3);
	varint(g, (uint64_t)value);
}

static void field_text(struct gen *g, unsigned field, const char *value)
{
	varint(g, field << 3 | 2);
	varint(g, strlen(value));
	put(g, value, strlen(value));
}

static size_t open_field(struct gen *g, unsigned field)
{
	varint(g, field << 3 | 2);
	put(g, "\x80\x80\x80\x00", 4);
	return g->len;
}

static void close_field(struct gen *g, size_t begin)
{
	const size_t len = slip(g, 2000) ? (size_t)number(g) : g->len - begin;

	if (begin < 4 || begin > g->len)
		return;
	for (size_t i = 0; i < 4; i++)
		g->out[begin - 4 + i] = (uint8_t)((len >> (7 * i) & 0x7f) | (i < 3 ? 0x80 : 0));
}

static void value_name(struct gen *g, unsigned field, unsigned n)
{
	char name[16];

	(void)snprintf(name, sizeof(name), "v%u", below(g, n ? n : 1));
	field_text(g, field, one_in(g, 40) ? "" : name);
}

static void onnx_ints(struct gen *g, unsigned field, int most)
{
	const int n = (int)below(g, (unsigned)most);

	if (one_in(g, 2)) {
		for (int i = 0; i < n; i++)
			field_int(g, field, number(g));
		return;
	}
	const size_t at = open_field(g, field);

	for (int i = 0; i < n; i++)
		varint(g, (uint64_t)number(g));
	close_field(g, at);
}

static void onnx_tensor(struct gen *g, unsigned field, const char *name)
{
	const size_t at = open_field(g, field);
	const bool whole = one_in(g, 2);
	const int n = (int)below(g, 18);

	if (whole && !one_in(g, 4))
		field_int(g, 1, n);
	else
		onnx_ints(g, 1, one_in(g, 6) ? 40 : 6);
	field_int(g, 2, whole ? 7 : PICK(g, ((const int[]){ 1, 7, 10, 16, 0, 99 })));
	if (name)
		field_text(g, 8, name);
	if (whole && one_in(g, 3)) {
		const size_t raw = open_field(g, 9);

		for (int i = 0; i < n; i++)
			put_n(g, (uint64_t)number(g), 8);
		if (one_in(g, 20))
			put(g, "x", 1);
		close_field(g, raw);
	} else if (whole) {
		for (int i = 0; i < n; i++)
			field_int(g, 7, number(g));
	}
	close_field(g, at);
}

static void onnx_attribute(struct gen *g)
{
	static const char *const names[] = { "axis",     "axes",        "group",     "ceil_mode", "transA",
					     "transB",   "keepdims",    "value_int", "value",     "perm",
					     "pads",     "split",       "strides",   "dilations", "kernel_shape",
					     "auto_pad", "num_outputs", "allowzero" };
	const size_t at = open_field(g, 5);

	field_text(g, 1, PICK(g, names));
	switch (below(g, 5)) {
	case 0: field_int(g, 3, number(g)); break;
	case 1: onnx_ints(g, 8, one_in(g, 10) ? 200 : 10); break;
	case 2: onnx_tensor(g, 5, NULL); break;
	case 3: field_text(g, 4, one_in(g, 2) ? "SAME_UPPER" : "VALID"); break;
	default: field_int(g, 3, number(g)); onnx_ints(g, 8, 6);
	}
	close_field(g, at);
}

static void onnx_input(struct gen *g, unsigned k, unsigned field)
{
	char name[16];
	const size_t at = open_field(g, field);

	(void)snprintf(name, sizeof(name), "v%u", k);
	field_text(g, 1, name);
	const size_t type = open_field(g, 2), tensor = open_field(g, 1);

	field_int(g, 1, 1);
	const size_t shape = open_field(g, 2);

	for (unsigned i = below(g, one_in(g, 10) ? 20 : 5); i > 0; i--) {
		const size_t dim = open_field(g, 1);

		if (one_in(g, 8))
			field_text(g, 2, "batch");
		else
			field_int(g, 1, number(g));
		close_field(g, dim);
	}
	close_field(g, shape);
	close_field(g, tensor);
	close_field(g, type);
	close_field(g, at);
}

static void onnx_node(struct gen *g, unsigned *n)
{
	static const char *const ops[] = { "Conv",
					   "ConvTranspose",
					   "MatMul",
					   "Gemm",
					   "MaxPool",
					   "AveragePool",
					   "GlobalAveragePool",
					   "BatchNormalization",
					   "LayerNormalization",
					   "Softmax",
					   "Add",
					   "Sub",
					   "Mul",
					   "Div",
					   "Pow",
					   "Equal",
					   "Where",
					   "Cast",
					   "Identity",
					   "Constant",
					   "Shape",
					   "Reshape",
					   "Transpose",
					   "Concat",
					   "Split",
					   "Slice",
					   "Gather",
					   "Unsqueeze",
					   "Squeeze",
					   "ReduceMean",
					   "ReduceSum",
					   "Flatten",
					   "Expand",
					   "ConstantOfShape",
					   "Resize",
					   "Tile",
					   "Relu",
					   "Trilu",
					   "CumSum",
					   "Pad",
					   "If",
					   "Loop",
					   "Unknown" };
	const size_t at = open_field(g, 1);

	for (unsigned i = below(g, 5); i > 0; i--)
		value_name(g, 1, *n);
	for (unsigned i = one_in(g, 4) ? below(g, 5) : 1; i > 0; i--) {
		char name[16];

		(void)snprintf(name, sizeof(name), "v%u", one_in(g, 8) ? below(g, *n + 1) : (*n)++);
		field_text(g, 2, name);
	}
	field_text(g, 4, PICK(g, ops));
	for (unsigned i = below(g, 4); i > 0; i--)
		onnx_attribute(g);
	close_field(g, at);
}

static void onnx_wild(struct gen *g)
{
	unsigned n = 0;

	put(g, "", 1); /* which reader */
	field_int(g, 1, 8);
	const size_t graph = open_field(g, 7);

	for (unsigned k = 1 + below(g, 4); k > 0; k--)
		onnx_input(g, n++, 11);
	do {
		char name[16];

		(void)snprintf(name, sizeof(name), "v%u", n++);
		onnx_tensor(g, 5, name);
	} while (more(g));
	do
		onnx_node(g, &n);
	while (more(g));
	if (one_in(g, 2))
		onnx_input(g, n - 1, 12);
	close_field(g, graph);
}

/* A graph that can be followed: each value has a shape, each node fits those it takes. */
struct shape {
	unsigned n, dims[5];
};
struct graph {
	struct gen *g;
	struct shape values[400];
	unsigned n; /* values so far */
};

static void name_field(struct gen *g, unsigned field, unsigned k)
{
	char name[16];

	(void)snprintf(name, sizeof(name), "v%u", slip(g, 40) ? below(g, 50) : k);
	field_text(g, field, name);
}

static int64_t wanted(struct gen *g, int64_t value)
{
	return slip(g, 12) ? number(g) : value;
}

static unsigned new_value(struct graph *s, unsigned n, const unsigned *dims)
{
	struct shape *v = &s->values[s->n];

	v->n = n;
	for (unsigned i = 0; i < n; i++)
		v->dims[i] = dims[i] ? dims[i] : 1;
	return s->n++;
}

static unsigned weight(struct graph *s, unsigned n, const unsigned *dims)
{
	const unsigned k = new_value(s, n, dims);
	const size_t at = open_field(s->g, 5);

	for (unsigned i = 0; i < n; i++)
		field_int(s->g, 1, wanted(s->g, s->values[k].dims[i]));
	field_int(s->g, 2, 1);
	name_field(s->g, 8, k);
	close_field(s->g, at);
	return k;
}

static unsigned whole_numbers(struct graph *s, unsigned n, const int64_t *values)
{
	const unsigned k = new_value(s, 1, &n);
	const size_t at = open_field(s->g, 5);

	field_int(s->g, 1, wanted(s->g, n));
	field_int(s->g, 2, 7);
	name_field(s->g, 8, k);
	for (unsigned i = 0; i < n; i++)
		field_int(s->g, 7, wanted(s->g, values[i]));
	close_field(s->g, at);
	return k;
}

struct attr {
	const char *name;
	unsigned n; /* 0: one number */
	int64_t values[5];
};

static void node(struct graph *s, const char *op, unsigned n_in, const unsigned *in, unsigned out, unsigned n_attrs,
		 const struct attr *attrs)
{
	const size_t at = open_field(s->g, 1);

	for (unsigned i = 0; i < n_in; i++)
		name_field(s->g, 1, in[i]);
	name_field(s->g, 2, out);
	field_text(s->g, 4, op);
	for (unsigned i = 0; i < n_attrs; i++) {
		const size_t a = open_field(s->g, 5);

		field_text(s->g, 1, attrs[i].name);
		if (!attrs[i].n)
			field_int(s->g, 3, wanted(s->g, attrs[i].values[0]));
		for (unsigned k = 0; k < attrs[i].n; k++)
			field_int(s->g, 8, wanted(s->g, attrs[i].values[k]));
		close_field(s->g, a);
	}
	close_field(s->g, at);
}

static void moved(struct graph *s, unsigned x) /* reshaped, turned, joined, cut */
{
	struct gen *g = s->g;
	const struct shape v = s->values[x];
	const unsigned axis = below(g, v.n), *d = v.dims;
	struct shape to = v;
	unsigned out;

	switch (below(g, 6)) {
	case 0: {
		unsigned all = 1;

		for (unsigned i = 1; i < v.n; i++)
			all *= d[i];
		const unsigned in[2] = { x, whole_numbers(
						    s, 2,
						    (const int64_t[]){ one_in(g, 2) ? 0 : (int64_t)d[0],
								       one_in(g, 2) ? (int64_t)-1 : (int64_t)all }) };

		out = new_value(s, 2, (const unsigned[]){ d[0], all });
		node(s, "Reshape", 2, in, out, 0, NULL);
		break;
	}
	case 1: {
		struct attr perm = { "perm", v.n, { 0 } };

		for (unsigned i = 0; i < v.n; i++)
			perm.values[i] = i ? v.n - i : 0;
		for (unsigned i = 1; i < v.n; i++)
			to.dims[i] = d[v.n - i];
		out = new_value(s, v.n, to.dims);
		node(s, "Transpose", 1, &x, out, 1, &perm);
		break;
	}
	case 2:
		to.dims[axis] *= 2;
		out = new_value(s, v.n, to.dims);
		node(s, "Concat", 2, (const unsigned[]){ x, x }, out, 1, &(struct attr){ "axis", 0, { axis } });
		break;
	case 3:
		to.dims[axis] = (d[axis] + 1) / 2;
		unsigned in[4] = { x };

		in[1] = whole_numbers(s, 1, (const int64_t[]){ 0 });
		in[2] = whole_numbers(s, 1, (const int64_t[]){ to.dims[axis] });
		in[3] = whole_numbers(s, 1, (const int64_t[]){ axis });
		out = new_value(s, v.n, to.dims);
		node(s, "Slice", 4, in, out, 0, NULL);
		break;
	case 4:
		to.dims[axis] = 1;
		out = new_value(s, v.n, to.dims);
		node(s, PICK(g, ((const char *const[]){ "ReduceMean", "ReduceSum", "ReduceMax" })), 1, &x, out, 2,
		     (const struct attr[]){ { "axes", 1, { axis } }, { "keepdims", 0, { 1 } } });
		break;
	default: {
		unsigned in2[2] = { x, 0 };

		in2[1] = whole_numbers(s, 2, (const int64_t[]){ 0, below(g, d[axis]) });
		to.dims[axis] = 2;
		out = new_value(s, v.n, to.dims);
		node(s, "Gather", 2, in2, out, 1, &(struct attr){ "axis", 0, { axis } });
	}
	}
}

static void computed(struct graph *s, unsigned x)
{
	struct gen *g = s->g;
	const struct shape v = s->values[x];
	const unsigned *d = v.dims, wide = 1 + below(g, 64), k = 1 + 2 * below(g, 3);
	const bool grouped = one_in(g, 4);
	struct shape to = v;
	unsigned in[5] = { x }, out;

	to.dims[v.n - 1] = wide;
	if (v.n == 4 && one_in(g, 2) && d[2] >= k && d[3] >= k) {
		in[1] = weight(s, 4, (const unsigned[]){ grouped ? d[1] : wide, grouped ? 1 : d[1], k, k });
		out = new_value(s, 4, (const unsigned[]){ d[0], grouped ? d[1] : wide, d[2], d[3] });
		node(s, "Conv", 2, in, out, 4,
		     (const struct attr[]){ { "kernel_shape", 2, { k, k } },
					    { "pads", 4, { k / 2, k / 2, k / 2, k / 2 } },
					    { "strides", 2, { 1, 1 } },
					    { "group", 0, { grouped ? d[1] : 1 } } });
	} else if (v.n == 4 && one_in(g, 3)) {
		for (unsigned i = 1; i < 5; i++)
			in[i] = weight(s, 1, &d[1]);
		out = new_value(s, 4, d);
		node(s, "BatchNormalization", 5, in, out, 0, NULL);
	} else if (v.n == 4 && one_in(g, 3) && d[2] > 1 && d[3] > 1) {
		out = new_value(s, 4, (const unsigned[]){ d[0], d[1], d[2] / 2, d[3] / 2 });
		node(s, one_in(g, 2) ? "MaxPool" : "AveragePool", 1, in, out, 2,
		     (const struct attr[]){ { "kernel_shape", 2, { 2, 2 } }, { "strides", 2, { 2, 2 } } });
	} else if (v.n == 2 && one_in(g, 2)) {
		in[1] = weight(s, 2, (const unsigned[]){ wide, d[1] });
		in[2] = weight(s, 1, &wide);
		out = new_value(s, 2, to.dims);
		node(s, "Gemm", 3, in, out, 1, &(struct attr){ "transB", 0, { 1 } });
	} else {
		in[1] = weight(s, 2, (const unsigned[]){ d[v.n - 1], wide });
		out = new_value(s, v.n, to.dims);
		node(s, "MatMul", 2, in, out, 0, NULL);
	}
}

static void onnx(struct gen *g)
{
	static const char *const each[] = {
		"Relu", "Sigmoid", "Softmax", "Identity", "Erf", "Tanh", "Cast", "Dropout"
	};
	static const char *const two[] = { "Add", "Mul", "Sub", "Div", "Pow", "Max" };
	struct graph s = { .g = g };

	if (g->mess == WILD) {
		onnx_wild(g);
		return;
	}
	put(g, "", 1); /* which reader */
	field_int(g, 1, 8);
	const size_t graph = open_field(g, 7), at = open_field(g, 11);
	const unsigned x =
		one_in(g, 2)
			? new_value(&s, 4,
				    (const unsigned[]){ 1, 1 + below(g, 4), 4U << below(g, 4), 4U << below(g, 4) })
			: new_value(&s, 2 + below(g, 2), (const unsigned[]){ 1, 1 + below(g, 16), 1 + below(g, 64) });

	name_field(g, 1, x);
	const size_t type = open_field(g, 2), tensor = open_field(g, 1);

	field_int(g, 1, 1);
	const size_t shape = open_field(g, 2);

	for (unsigned i = 0; i < s.values[x].n; i++) {
		const size_t dim = open_field(g, 1);

		if (i == 0 && one_in(g, 3))
			field_text(g, 2, "batch");
		else
			field_int(g, 1, wanted(g, s.values[x].dims[i]));
		close_field(g, dim);
	}
	close_field(g, shape);
	close_field(g, tensor);
	close_field(g, type);
	close_field(g, at);
	unsigned last = x;

	do {
		const unsigned from = one_in(g, 4) ? x : last;
		unsigned all = 1;

		for (unsigned i = 0; i < s.values[from].n; i++)
			all = all > 1U << 20 ? all : all * s.values[from].dims[i];
		if (one_in(g, 3) && all <= 1U << 20)
			moved(&s, from);
		else if (one_in(g, 2))
			computed(&s, from);
		else {
			const unsigned in[2] = { from, from },
				       out = new_value(&s, s.values[from].n, s.values[from].dims);

			if (one_in(g, 2))
				node(&s, PICK(g, each), 1, in, out, 0, NULL);
			else
				node(&s, PICK(g, two), 2, in, out, 0, NULL);
		}
		last = s.n - 1;
	} while ((more(g) || below(g, 6)) && s.n + 8 < LEN(s.values));
	close_field(g, graph);
}

/* --- GGUF */

static void gguf_text(struct gen *g, const char *value)
{
	put_n(g, slip(g, 3000) ? (uint64_t)number(g) : strlen(value), 8);
	put(g, value, strlen(value));
}

static void gguf_value(struct gen *g, unsigned type, bool inside)
{
	static const unsigned char sizes[] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };

	if (type == 8) {
		gguf_text(g, one_in(g, 2) ? "llama" : "x");
	} else if (type == 9) {
		const unsigned of = slip(g, 30) ? below(g, 16) : PICK(g, ((const unsigned[]){ 4, 5, 6, 8, 0, 10 }));
		const uint64_t n = slip(g, 50)                               ? (uint64_t)number(g)
				   : g->len + 4000 < g->max && one_in(g, 20) ? below(g, 300)
									     : below(g, 5);

		put_n(g, of, 4);
		put_n(g, n, 8);
		for (uint64_t i = 0; i < n && i < 300 && of < 13 && !(of == 9 && inside); i++)
			gguf_value(g, of, true);
	} else {
		const int64_t v = number(g);
		const double wide = (double)v;
		const float narrow = (float)v;

		if (type == 12)
			put(g, &wide, 8);
		else if (type == 6)
			put(g, &narrow, 4);
		else
			put_n(g, (uint64_t)v, type < LEN(sizes) ? sizes[type] : 4);
	}
}

static void gguf(struct gen *g)
{
	static const char *const keys[] = { "block_count",
					    "embedding_length",
					    "feed_forward_length",
					    "attention.head_count",
					    "attention.head_count_kv",
					    "attention.key_length",
					    "context_length",
					    "expert_count",
					    "expert_used_count",
					    "expert_feed_forward_length",
					    "attention.kv_lora_rank",
					    "attention.q_lora_rank",
					    "rope.dimension_count",
					    "attention.value_length",
					    "expert_shared_count",
					    "leading_dense_block_count",
					    "vocab_size",
					    "unknown" };
	static const char *const archs[] = { "llama", "qwen2",   "qwen3moe", "deepseek2", "gemma3",
					     "gpt2",  "gptneox", "mixtral",  "falcon",    "" };
	const char *arch = archs[below(g, g->mess == WILD ? LEN(archs) : LEN(archs) - 2)];
	uint64_t n_keys = 1, n_tensors = 0;

	put(g,
	    "\x01"
	    "GGUF",
	    5);
	put_n(g, slip(g, 100) ? (uint64_t)number(g) : 3, 4);
	const size_t counts = g->len;

	put_n(g, 0, 8);
	put_n(g, 0, 8);
	gguf_text(g, "general.architecture");
	put_n(g, 8, 4);
	gguf_text(g, arch);
	for (unsigned i = 0; i < LEN(keys) - 1; i++) { /* without these it is no model */
		static const unsigned sizes[] = { 2, 64, 128, 4, 2, 16, 128, 8, 2, 64, 16, 32, 8, 16, 1, 1, 1000 };
		char key[64];

		(void)snprintf(key, sizeof(key), "%s.%s", slip(g, 30) ? "other" : arch, keys[i]);
		/* compressed attention is for those that have it */
		if (slip(g, 30) || (i >= 10 && i <= 13 && strcmp(arch, "deepseek2") != 0))
			continue;
		gguf_text(g, key);
		put_n(g, 4, 4);
		put_n(g, slip(g, 8) ? (uint64_t)number(g) : sizes[i], 4);
		n_keys++;
	}
	do {
		char key[64];
		const unsigned type = one_in(g, 4) ? below(g, g->mess == WILD ? 14 : 13) : 4;

		(void)snprintf(key, sizeof(key), "%s.%s", one_in(g, 10) ? "other" : arch,
			       g->mess == WILD ? PICK(g, keys) : keys[LEN(keys) - 1]);
		gguf_text(g, one_in(g, 10) ? "tokenizer.ggml.tokens" : key);
		put_n(g, type, 4);
		gguf_value(g, type, false);
		n_keys++;
	} while (more(g) && g->len + 200 < g->max);
	while (more(g) && g->len + 200 < g->max) {
		char name[64];

		(void)snprintf(name, sizeof(name), "blk.%u.attn_q.weight", below(g, 40));
		gguf_text(g, one_in(g, 3) ? "token_embd.weight" : one_in(g, 4) ? "output.weight" : name);
		const unsigned rank = slip(g, 50) ? below(g, 12) : 1 + below(g, 4);

		put_n(g, rank, 4);
		for (unsigned d = 0; d < rank; d++)
			put_n(g, (uint64_t)number(g), 8);
		put_n(g, slip(g, 4) ? below(g, 41) : PICK(g, ((const unsigned[]){ 0, 1, 2, 8, 12, 14, 30 })), 4);
		put_n(g, (uint64_t)number(g), 8);
		n_tensors++;
	}
	const struct {
		uint64_t n;
		size_t at;
	} said[] = { { slip(g, 40) ? (uint64_t)number(g) : n_tensors, counts },
		     { slip(g, 40) ? (uint64_t)number(g) : n_keys, counts + 8 } };

	for (size_t k = 0; k < 2 && counts + 16 <= g->len; k++)
		for (size_t i = 0; i < 8; i++)
			g->out[said[k].at + i] = (uint8_t)(said[k].n >> (8 * i));
}

/* --- JSON of any depth, with the names that a reader looks for */

static void json_value(struct gen *g, const char *const *words, unsigned n_words, int depth)
{
	switch (below(g, depth > 5 ? 5 : 8)) {
	case 0: text(g, "%lld", (long long)number(g)); break;
	case 1: text(g, one_in(g, 20) ? "1e999" : "%d.5e%d", (int)below(g, 99), (int)below(g, 300)); break;
	case 2: text(g, "\"%s\"", words[below(g, n_words)]); break;
	case 3:
		text(g, "%s",
		     PICK(g, ((const char *const[]){ "null", "true", "false", "[]", "{}", "\"\\u0000\"", "-0" })));
		break;
	case 4:
		text(g, "[%u", below(g, 9999));
		while (more(g))
			text(g, ",%lld", (long long)number(g));
		text(g, "]");
		break;
	case 5:
		text(g, "[");
		for (unsigned i = below(g, 5); i > 0; i--) {
			json_value(g, words, n_words, depth + 1);
			text(g, i > 1 ? "," : "");
		}
		text(g, "]");
		break;
	default:
		text(g, "{");
		for (unsigned i = 1 + below(g, 6); i > 0; i--) {
			text(g, "\"%s%.0u\":", words[below(g, n_words)], one_in(g, 3) ? below(g, 9) : 0);
			json_value(g, words, n_words, depth + 1);
			text(g, i > 1 ? "," : "");
		}
		text(g, "}");
	}
}

static void safetensors(struct gen *g)
{
	static const char *const layers[] = { "q_proj.weight", "k_proj.weight", "v_proj.bias", "o_proj.weight",
					      "q_norm.weight" };
	static const char *const types[] = { "F32", "BF16", "F16", "F8_E4M3", "I64", "U8", "BOOL", "X" };
	static const char *const words[] = { "dtype", "shape", "data_offsets", "__metadata__", "format" };

	put(g, "\x02", 1);
	const size_t head = g->len;

	put_n(g, 0, 8);
	text(g, "{\"__metadata__\":{\"format\":\"pt\"}");
	do {
		const unsigned k = below(g, 8), at = below(g, 20);

		if (k == 0)
			text(g, ",\"model.embed_tokens.weight\":");
		else if (k == 1)
			text(g, ",\"lm_head.weight\":");
		else if (k == 2)
			text(g, ",\"model.layers.%u.mlp.gate_proj.weight\":", at);
		else
			text(g, ",\"model.layers.%u.self_attn.%s\":", at, PICK(g, layers));
		if (slip(g, 30)) {
			json_value(g, words, LEN(words), 0);
			continue;
		}
		text(g, "{\"dtype\":\"%s\",\"shape\":[", PICK(g, types));
		for (unsigned d = below(g, slip(g, 50) ? 30 : 4); d > 0; d--)
			text(g, "%lld%s", one_in(g, 2) ? 4096LL : (long long)number(g), d > 1 ? "," : "");
		text(g, "],\"data_offsets\":[0,%lld]}", (long long)number(g));
	} while (more(g) || below(g, 6));
	text(g, "}");
	const uint64_t len = slip(g, 200) ? (uint64_t)number(g) : g->len - head - 8;

	for (size_t i = 0; i < 8; i++)
		g->out[head + i] = (uint8_t)(len >> (8 * i));
}

/* --- program lists */

static unsigned dims(struct gen *g, int n)
{
	unsigned rank = slip(g, 30) ? below(g, 14) : n >= 0 ? (unsigned)n : below(g, 5);

	const unsigned made = rank;

	if (rank == 0)
		text(g, "-");
	for (; rank > 0; rank--)
		text(g, "%llu%s",
		     slip(g, 12) ? (unsigned long long)(number(g) & INT64_MAX)
				 : (unsigned long long)(1U << below(g, 12)),
		     rank > 1 ? "x" : "");
	return made;
}

static void list(struct gen *g, unsigned n)
{
	unsigned count = 1 + below(g, one_in(g, 40) ? 100 : one_in(g, 200) ? 4096 : 4);

	if (one_in(g, 6) || n == 0) {
		text(g, " -");
		return;
	}
	for (text(g, " "); count > 0; count--)
		text(g, "%u%s%s", 1 + below(g, n),
		     one_in(g, 12)   ? "*7"
		     : one_in(g, 40) ? "*65536"
				     : "",
		     count > 1 ? "," : "");
}

static void program(struct gen *g)
{
	static const char *const formats[] = { "f32", "bf16", "f16",  "f64",  "i64", "i32",
					       "u8",  "b8",   "e4m3", "e5m2", "c64", "x" };
	static const char *const ops[] = { "aten.mm",
					   "aten.bmm",
					   "aten.addmm",
					   "aten.relu",
					   "aten.sum.dim_IntList",
					   "aten.add_.Tensor",
					   "aten._foreach_add_.List",
					   "aten.convolution",
					   "aten.convolution_backward",
					   "aten._softmax",
					   "aten.native_layer_norm",
					   "aten.native_layer_norm_backward",
					   "aten.embedding",
					   "aten.embedding_dense_backward",
					   "aten.view",
					   "aten.cat",
					   "aten._scaled_dot_product_flash_attention",
					   "aten._scaled_dot_product_flash_attention_backward",
					   "jeoul.sdpa",
					   "jeoul.sdpa_backward",
					   "aten.sort",
					   "aten.topk",
					   "aten.index.Tensor",
					   "aten._grouped_mm",
					   "aten.native_batch_norm",
					   "aten.max_pool2d_with_indices",
					   "aten.upsample_nearest2d",
					   "aten.randperm",
					   "aten.copy_",
					   "aten._fused_adamw_",
					   "aten.cumsum",
					   "aten.linalg_vector_norm",
					   "aten.gather",
					   "aten.scatter_add",
					   "aten.conv_transpose2d",
					   "mylib.strange" };
	static const char *const keys[] = { "inplace=1",    "alpha=-0.1",   "dim=1",    "dim=-1",     "stride=2x2",
					    "padding=1x1",  "dilation=1x1", "groups=4", "causal=1",   "kernel=7",
					    "transposed=1", "scale=0.125",  "k=5",      "kind=flash", "dim=99999999999",
					    "groups=0",     "stride=0x0",   "x" };
	static const char *const roles[] = { "param", "grad", "state", "buffer", "input", "other", "x" };
	static const char *const phases[] = { "forward", "backward", "update", "input", "other", "x" };
	static const char *const collectives[] = { "all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce",
						   "all_to_all", "send",       "recv",           "barrier",   "gather",
						   "x" };
	unsigned n_tensors = 0, n_kinds = 0, n_modules = 0, n_events = 0, n_async = 0, storage = 1;

	/* room for the end: a cut file is refused */
	const size_t max = g->max;

	g->max -= max > 400 ? 200 : 0;
	text(g, "jeoul-program %d\ntitle fuzz\nunit samples %u\nworld %u %u\ngraph %u\n", slip(g, 200) ? 2 : 1,
	     1 + below(g, 64), 1 + below(g, 9), slip(g, 9) ? below(g, 9) : 0, below(g, 2));
	while (more(g) && n_modules < (large ? 60000 : 200)) {
		n_modules++;
		text(g, "m %u %u name%u Linear\n", n_modules,
		     large && n_modules < 150 ? n_modules - 1 : below(g, n_modules), n_modules);
	}
	do {
		text(g, "t %u %s ", ++n_tensors, slip(g, 40) ? "x" : formats[below(g, LEN(formats) - 1)]);
		const unsigned rank = dims(g, -1);

		if (one_in(g, 6)) {
			text(g, " ");
			(void)dims(g, (int)rank);
		}
		text(g, "\n");
	} while (more(g) || below(g, 6));
	do {
		text(g, "o %u %s", ++n_kinds, PICK(g, ops));
		list(g, n_tensors);
		list(g, n_tensors);
		for (unsigned k = below(g, 4); k > 0; k--)
			text(g, " %s", slip(g, 20) ? "x" : keys[below(g, LEN(keys) - 1)]);
		text(g, "\n");
	} while (more(g) || below(g, 3));
	while (below(g, 3))
		text(g, "a %u %lld %s t %u\n", storage++, (long long)(number(g) & INT64_MAX) % 10000000000000,
		     slip(g, 20) ? "x" : roles[below(g, 6)], 1 + below(g, n_tensors));
	do {
		switch (below(g, 12)) {
		case 0: text(g, "p %s\n", slip(g, 30) ? "x" : phases[below(g, 5)]); break;
		case 1:
			text(g, "w item\n");
			n_events++;
			break;
		case 2:
			text(g, "c %s %lld %u async=%u\n", slip(g, 20) ? "x" : collectives[below(g, 10)],
			     (long long)(number(g) & INT64_MAX) % 1000000000000, below(g, 10), ++n_async);
			n_events++;
			break;
		case 3:
			if (n_async == 0)
				break;
			text(g, "x %u\n", 1 + below(g, n_async));
			n_events++;
			break;
		default:
			text(g, "k %u %u %u", 1 + below(g, n_kinds), n_modules ? below(g, n_modules + 1) : 0,
			     slip(g, 20) ? (unsigned)number(g) : below(g, 4));
			if (one_in(g, 2))
				text(g, " +%u:%lld", storage++, (long long)(number(g) & INT64_MAX) % 10000000000000);
			if (one_in(g, 3) && storage > 1)
				text(g, " -%u", 1 + below(g, storage - 1));
			text(g, "\n");
			n_events++;
		}
	} while (more(g) || below(g, 10));
	g->max = max;
	text(g, "end %u\n", slip(g, 50) ? n_events + 1 : n_events);
}

/* --- traces of requests */

static void trace(struct gen *g)
{
	static const char *const heads[] = { "arrival_s,input_tokens,output_tokens,cached_tokens",
					     "timestamp,prompt_tokens,answer_tokens",
					     "isl,osl",
					     "\"arrival\",\"prompt\",\"answer\"",
					     "input_tokens,input_tokens,output_tokens",
					     "x,y",
					     "arrival_s;input_length;output_length" };
	static const char *const words[] = { "arrival_s",     "timestamp", "input_tokens", "prompt_tokens",
					     "output_tokens", "answer",    "cached" };
	const bool table = one_in(g, 2);

	if (table)
		text(g, "%s\n", slip(g, 2) ? PICK(g, heads) : heads[0]);
	do {
		if (table) {
			for (int i = 0; i < 4; i++)
				text(g, slip(g, 40) ? "\"%lld\"\"\"%s" : "%lld%s", (long long)number(g),
				     i < 3 && !slip(g, 50) ? "," : "");
		} else if (slip(g, 8)) {
			json_value(g, words, LEN(words), 0);
		} else {
			text(g, "{\"%s\":%u.%u,\"input_tokens\":%lld,\"output_tokens\":%lld}",
			     slip(g, 9) ? "x" : "arrival_s", below(g, 1000), below(g, 99), (long long)number(g),
			     (long long)(1 + below(g, 100)));
		}
		text(g, one_in(g, 100) ? "\r\n\n" : "\n");
	} while (more(g) || below(g, 20));
}

/* --- YAML scenarios */

static void yaml_node(struct gen *g, int depth)
{
	static const char *const keys[] = { "accumulate", "allreduce", "ask",       "batch",   "batches",
					    "buy",        "cost",      "deadline",  "epochs",  "global_batch",
					    "measured",   "model",     "months",    "on",      "params",
					    "power",      "questions", "recommend", "scaling", "sections",
					    "seq",        "step",      "system",    "systems", "title",
					    "tokens",     "watts",     "workload" };
	static const char *const values[] = { "gpt2-124m",
					      "rtx-4090",
					      "8x h100-sxm5",
					      "2x(4x a100)",
					      "bf16",
					      "16",
					      "1e9",
					      "1B tokens",
					      "30 days",
					      "999999937",
					      "'it''s'",
					      "\"\\x41\"",
					      "|\n    text",
					      ">-\n    folded",
					      "&a x",
					      "*a",
					      "!!str x",
					      "!x y",
					      "~",
					      "[a, [b, {c: d}]]",
					      "{a: 1, a: 2}",
					      "? x",
					      "- -",
					      "1 USD",
					      "0x10",
					      "#",
					      "@",
					      "\xc2\x85",
					      "\xe2\x80\xa8",
					      "%x" };
	unsigned n = 1 + below(g, 5);
	const bool is_list = one_in(g, 3);

	if (depth > 0 && one_in(g, depth > 8 ? 1 : 2)) {
		text(g, " %s\n", PICK(g, values));
		return;
	}
	text(g, "%s", depth ? "\n" : "");
	while (n-- > 0 || more(g)) {
		text(g, "%*s", 2 * depth, "");
		if (is_list)
			text(g, "-");
		else
			text(g, "%s:", PICK(g, keys));
		if (is_list && depth < 10)
			text(g, " %s\n", PICK(g, values));
		else
			yaml_node(g, depth + 1);
		if (g->len + 64 > g->max)
			break;
	}
}

static void yaml(struct gen *g)
{
	if (one_in(g, 10))
		text(g, "%%YAML 1.%u\n", below(g, 4));
	for (unsigned i = 0; one_in(g, 4) || (i && more(g)); i++)
		text(g, "%%TAG !%c%u! tag:x,%u:\n", 'a' + (char)below(g, 26), i, below(g, 99));
	text(g, one_in(g, 3) ? "---\n" : "title: fuzz\n");
	yaml_node(g, 0);
	if (one_in(g, 12))
		text(g, "...\n---\na: b\n");
}

/* --- which, and what libFuzzer asks for */

static const struct grammar {
	const char *name;
	void (*make)(struct gen *g);
} grammars[] = { { "onnx", onnx },       { "gguf", gguf },   { "safetensors", safetensors },
		 { "program", program }, { "trace", trace }, { "yaml", yaml } };

static const struct grammar *grammar;
static double cpu_max_s = 2, worst_s;
static unsigned long long worst_steps, worst_B;
static size_t worst_size;

/* Counted by the targets: what their parser took. */
size_t fuzz_taken, fuzz_given; /* NOLINT */

static void say_worst(void)
{
	fprintf(stderr, "taken: %zu of %zu\n", fuzz_taken, fuzz_given);
	if (!large)
		return;
	fprintf(stderr, "worst: %.3f s of processor time (%zu bytes), %.1f million steps, %.1f MB\n", worst_s,
		worst_size, (double)worst_steps / 1e6, (double)worst_B / 1e6);
}

static void choose(void)
{
	const char *name = getenv("FUZZ_GRAMMAR"), *s = getenv("FUZZ_CPU_S");

	for (size_t i = 0; i < LEN(grammars); i++)
		if (name && strcmp(name, grammars[i].name) == 0)
			grammar = &grammars[i];
	if (!grammar) {
		fprintf(stderr, "FUZZ_GRAMMAR: onnx, gguf, safetensors, program, trace or yaml\n");
		exit(2);
	}
	large = getenv("FUZZ_LARGE") != NULL;
	cpu_max_s = s ? strtod(s, NULL) : 2;
	(void)atexit(say_worst);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	struct gen g = { .state = seed * 0x2545f4914f6cdd1dU + 1, .out = data, .max = max };

	if (!grammar)
		choose();
	if (size > 1 && one_in(&g, 4)) {
		if (one_in(&g, 2))
			return LLVMFuzzerMutate(data, size, max);
		g.len = 1 + below(&g, (unsigned)(size < max ? size
							    : max)); /* a new one behind the beginning of an old one */
		if (g.len > max / 2)
			g.len = 0;
	}
	/* most inputs are short; a large one in a hundred, where that is asked for */
	static const unsigned many[] = { 300, 500, 700, 800, 900, 950 };

	g.many = large && one_in(&g, 20) ? 999 : large && one_in(&g, 4) ? 990 : PICK(&g, many);
	g.mess = PICK(&g, ((const unsigned char[]){ SOUND, SOUND, MISTAKEN, MISTAKEN, WILD }));
	grammar->make(&g);
	return g.len;
}

int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jl_budget budget;
	struct timespec begin, end;
	double cpu_s;

	fuzz_given++;
	if (!large)
		return __real_LLVMFuzzerTestOneInput(data, size);
	jl_budget_init(&budget, 400000000, 20);
	budget.bytes_max = (unsigned long long)256 << 20;
	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	struct jl_budget *const outer = jl_budget_enter(&budget);
	const int result = __real_LLVMFuzzerTestOneInput(data, size);

	(void)jl_budget_enter(outer);
	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	cpu_s = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
	if (cpu_s > worst_s) {
		worst_s = cpu_s;
		worst_size = size;
	}
	if (atomic_load(&budget.spent) > worst_steps)
		worst_steps = atomic_load(&budget.spent);
	if (atomic_load(&budget.most_B) > worst_B)
		worst_B = atomic_load(&budget.most_B);
	if (cpu_s > cpu_max_s) {
		fprintf(stderr, "%.2f s of processor time for %zu bytes\n", cpu_s, size);
		abort();
	}
	return result;
}
