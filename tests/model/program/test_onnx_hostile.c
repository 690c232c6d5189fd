/* Hostile ONNX graphs: structured, so that they reach the operators. Graphs that are read can be priced; others are refused with a one-line
 * message. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/clock.h"
#include "program/convnet.h"
#include "program/modelfile.h"

static void put_varint(struct jl_buf *out, uint64_t value)
{
	unsigned char bytes[10];
	size_t n = 0;

	do
		bytes[n++] = (unsigned char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
	while (value >>= 7);
	jl_buf_add(out, bytes, n);
}

static void put_number(struct jl_buf *out, unsigned field, int64_t value)
{
	put_varint(out, field << 3);
	put_varint(out, (uint64_t)value);
}

static void put_bytes(struct jl_buf *out, unsigned field, const void *data, size_t len)
{
	put_varint(out, field << 3 | 2);
	put_varint(out, len);
	if (len)
		jl_buf_add(out, data, len);
}

static void put_text(struct jl_buf *out, unsigned field, const char *text)
{
	put_bytes(out, field, text, strlen(text));
}

/* Writes a nested message and frees `in`. */
static void put_inner(struct jl_buf *out, unsigned field, struct jl_buf *in)
{
	put_bytes(out, field, in->data, in->len);
	jl_buf_release(in);
}

static struct jl_buf begin(void)
{
	struct jl_buf out;

	jl_buf_init(&out, (size_t)4 << 20);
	return out;
}

static uint64_t seed;

static unsigned draw(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)((seed >> 33) % n);
}

static int64_t draw_int(void)
{
	static const int64_t ints[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, -1, -2, -3, -9, (int64_t)1 << 53, INT64_MIN };

	return ints[draw(draw(5) ? 10 : (unsigned)(sizeof(ints) / sizeof(*ints)))];
}

static const char *draw_name(void)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h" };

	return names[draw(8)];
}

static void put_tensor(struct jl_buf *out, unsigned field, const char *name)
{
	struct jl_buf t = begin();
	const bool whole = draw(3) > 0;
	const unsigned n_ints = whole ? draw(20) : 0, n_dims = whole && draw(4) ? 1 : draw(20) ? draw(9) : draw(18);

	for (unsigned i = 0; i < n_dims; i++)
		put_number(&t, 1, n_dims == 1 ? n_ints : draw(4));
	put_number(&t, 2, whole ? 7 : 1);
	for (unsigned i = 0; i < n_ints; i++)
		put_number(&t, 7, draw_int());
	put_text(&t, 8, name);
	put_inner(out, field, &t);
}

static void put_attrs(struct jl_buf *node)
{
	static const char *const names[] = { "axis",         "group",     "ceil_mode", "transB", "keepdims",
					     "value_int",    "axes",      "perm",      "pads",   "strides",
					     "kernel_shape", "dilations", "split",     "value" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct jl_buf a = begin();
		const unsigned n = draw(20);

		put_text(&a, 1, names[i]);
		put_number(&a, 3, draw_int());
		for (unsigned k = 0; i >= 6 && k < n; k++)
			put_number(&a, 8, draw_int());
		if (i == 13)
			put_tensor(&a, 5, "");
		if (draw(3) == 0)
			put_inner(node, 5, &a);
		jl_buf_release(&a);
	}
}

static void put_graph(struct jl_buf *out)
{
	static const char *const ops[] = {
		"Conv",
		"ConvTranspose",
		"MatMul",
		"Gemm",
		"MaxPool",
		"GlobalAveragePool",
		"BatchNormalization",
		"Add",
		"Equal",
		"Where",
		"Cast",
		"Constant",
		"Shape",
		"Reshape",
		"Concat",
		"Transpose",
		"Split",
		"Slice",
		"Gather",
		"Unsqueeze",
		"Squeeze",
		"Flatten",
		"ReduceMean",
		"ReduceSum",
		"Expand",
		"Tile",
		"ConstantOfShape",
		"Resize",
		"Relu",
	};
	struct jl_buf graph = begin();

	for (const char *name = "abcdef"; *name; name++)
		put_tensor(&graph, 5, (const char[]){ *name, '\0' });
	for (unsigned n = 1 + draw(4); n > 0; n--) {
		struct jl_buf node = begin();

		for (unsigned i = 1 + draw(5); i > 0; i--)
			put_text(&node, 1, draw(20) ? draw_name() : "");
		for (unsigned i = 1 + draw(3); i > 0; i--)
			put_text(&node, 2, draw_name());
		put_text(&node, 4, ops[draw((unsigned)(sizeof(ops) / sizeof(*ops)))]);
		put_attrs(&node);
		put_inner(&graph, 1, &node);
	}
	put_inner(out, 7, &graph);
}

/* Reads a graph and checks that the result is plausible; false: refused. */
static bool reads(const void *data, size_t len)
{
	struct jl_arena arena;
	struct jl_network net = { .n_ops = 0 };
	struct jl_err err = { 0 };

	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	const bool fine = jl_onnx_parse(&net, data, len, "a.onnx", &arena, &err) == JL_OK;

	if (fine) {
		const struct jl_layers_total total = jl_layers_sum(net.ops, net.n_ops);

		assert_true(isfinite(total.mac) && total.mac >= 0 && isfinite(net.n_params));
	} else {
		assert_true(err.en[0] && !strchr(err.en, '\n'));
	}
	jl_arena_release(&arena);
	return fine;
}

static void test_structured_graphs(void **state)
{
	int n_read = 0;

	(void)state;
	for (seed = 1; seed < 20000;) {
		const uint64_t number = seed;
		struct jl_buf file = begin();

		put_graph(&file);
		n_read += reads(file.data, file.len);
		jl_buf_release(&file);
		seed = number + 1;
	}
	assert_true(n_read > 100); /* otherwise the operators are never reached */
}

/* Nine dimensions where eight are the limit: an axis after the last keeps all of them. */
static void test_gather_beyond_the_rank(void **state)
{
	static const char *const files[] = { "gather_overflow.onnx", "gather_overflow_long.onnx" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char path[512];
		unsigned char data[1024];

		snprintf(path, sizeof(path), JL_SOURCE_DIR "/tests/fixtures/hostile/%s", files[i]);
		FILE *in = fopen(path, "rb");

		assert_non_null(in);
		const size_t len = fread(data, 1, sizeof(data), in);

		assert_true(fclose(in) == 0 && len > 100);
		assert_false(reads(data, len));
	}
}

/* Names that collide under 64-bit FNV-1a. */
static void test_colliding_names(void **state)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&()*+,-./";
	const size_t n_letters = sizeof(letters) - 1, file_B = 960000, n_slots = 2 * (size_t)400000 + 1;
	struct jl_buf graph = begin(), file = begin();
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < n_letters * n_letters * n_letters * n_letters && n < 60000; i++) {
		const char name[4] = { letters[i % n_letters], letters[i / n_letters % n_letters],
				       letters[i / n_letters / n_letters % n_letters],
				       letters[i / n_letters / n_letters / n_letters] };
		uint64_t hash = 1469598103934665603u;

		for (int k = 0; k < 4; k++)
			hash = (hash ^ (unsigned char)name[k]) * 1099511628211u;
		if (hash % n_slots >= 8000)
			continue;
		struct jl_buf tensor = begin();

		put_bytes(&tensor, 8, name, 4);
		put_inner(&graph, 5, &tensor);
		n++;
	}
	while (graph.len < file_B)
		put_text(&graph, 2, "a name of the graph that fills the file up to where its table has all its slots");
	put_inner(&file, 7, &graph);
	assert_int_equal(n, 60000);
	const double begin_s = jl_clock_thread_s();

	(void)reads(file.data, file.len);
	jl_buf_release(&file);
	assert_true(jl_clock_thread_s() - begin_s < 2); /* takes half a minute with collisions */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gather_beyond_the_rank),
		cmocka_unit_test(test_structured_graphs),
		cmocka_unit_test(test_colliding_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
