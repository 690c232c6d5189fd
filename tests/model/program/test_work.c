/* Work of kinds of calls: operator table, product shapes, bytes and launches, against values by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "program/read.h"
#include "program/work.h"

static struct jl_arena arena;

static int begin(void **state)
{
	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	return 0;
}

static int end(void **state)
{
	(void)state;
	jl_arena_release(&arena);
	return 0;
}

/* Work of the last kind in `lines`. */
static struct jl_call_work work_of(const char *lines)
{
	struct jl_program *p = jl_arena_alloc(&arena, sizeof(*p));
	const char *text = jl_arena_printf(&arena, "jeoul-program 1\n%sk 1 0 0\nend 1\n", lines);
	struct jl_err err = { 0 };
	struct jl_call_work w;

	if (jl_program_read(p, text, strlen(text), "a.jprog", &arena, &err))
		fail_msg("%s", err.en);
	jl_work_of(&w, p, &p->kinds[p->n_kinds - 1]);
	return w;
}

static void assert_near(double is, double expected)
{
	if (!(fabs(is - expected) <= 1e-9 * fabs(expected)))
		fail_msg("%.10g, not %.10g", is, expected);
}

/* Names are unique, and cover the calls in captures of a GPT-2, a Llama and a ResNet. */
static void test_table(void **state)
{
	static const char *const captured[] = {
		"aten._amp_foreach_non_finite_check_and_unscale_",
		"aten._foreach_add_.List",
		"aten._foreach_addcdiv_.ScalarList",
		"aten._foreach_addcmul_.Scalar",
		"aten._foreach_copy_",
		"aten._foreach_div_.ScalarList",
		"aten._foreach_lerp_.Scalar",
		"aten._foreach_mul_.Scalar",
		"aten._foreach_norm.Scalar",
		"aten._foreach_sqrt",
		"aten._fused_adamw_",
		"aten._local_scalar_dense",
		"aten._log_softmax",
		"aten._log_softmax_backward_data",
		"aten._softmax",
		"aten._to_copy",
		"aten.add.Tensor",
		"aten.add_.Tensor",
		"aten.addcdiv_",
		"aten.addcmul_",
		"aten.addmm",
		"aten.bmm",
		"aten.cat",
		"aten.clone",
		"aten.constant_pad_nd",
		"aten.convolution",
		"aten.convolution_backward",
		"aten.copy_",
		"aten.div.Scalar",
		"aten.div.Tensor",
		"aten.embedding",
		"aten.embedding_dense_backward",
		"aten.index.Tensor",
		"aten.index_put_",
		"aten.lerp_.Scalar",
		"aten.max_pool2d_with_indices",
		"aten.max_pool2d_with_indices_backward",
		"aten.mean.dim",
		"aten.mm",
		"aten.mul.Scalar",
		"aten.mul.Tensor",
		"aten.mul_.Tensor",
		"aten.native_batch_norm",
		"aten.native_batch_norm_backward",
		"aten.native_layer_norm",
		"aten.native_layer_norm_backward",
		"aten.neg",
		"aten.nll_loss_backward",
		"aten.nll_loss_forward",
		"aten.ones_like",
		"aten.pow.Tensor_Scalar",
		"aten.randint.low",
		"aten.relu_",
		"aten.rsqrt",
		"aten.silu",
		"aten.silu_backward",
		"aten.slice_backward",
		"aten.sqrt",
		"aten.sum.dim_IntList",
		"aten.tanh",
		"aten.tanh_backward",
		"aten.threshold_backward",
		"aten.topk",
		"aten.view",
		"jeoul.copy",
		"jeoul.dropout",
		"jeoul.dropout_backward",
		"jeoul.fused",
		"jeoul.rnn",
		"jeoul.sdpa",
		"jeoul.sdpa_backward",
		"torchvision.nms",
		"aten.__and__.Tensor",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(captured) / sizeof(*captured); i++)
		if (!jl_operator_find(captured[i]))
			fail_msg("%s is not in the table", captured[i]);
	assert_null(jl_operator_find("aten.no_such_thing"));
	assert_null(jl_operator_find("mylib.add"));
	assert_null(jl_operator_find(""));
	for (size_t i = 0; jl_operator_names(i); i++)
		for (const char *at = jl_operator_names(i); at[1]; at = strchr(at + 1, ' ')) {
			const size_t len = strcspn(at + 1, " ");
			char word[80];
			size_t found = 0;

			(void)snprintf(word, sizeof(word), " %.*s ", (int)len, at + 1);
			for (size_t j = 0; jl_operator_names(j); j++)
				for (const char *s = jl_operator_names(j); (s = strstr(s, word)); s++)
					found++;
			if (found != 1)
				fail_msg("'%s' stands %zu times in the table", word, found);
		}
}

static void test_products(void **state)
{
	struct jl_call_work w;

	(void)state;
	/* x[8,16] w.t(): rows of both are along k */
	w = work_of("t 1 bf16 8x16\nt 2 bf16 16x32 1x16\nt 3 bf16 8x32\no 1 aten.mm 1,2 3\n");
	assert_true(w.form == JL_WORK_PRODUCT && w.u.gemm.m == 8 && w.u.gemm.n == 32 && w.u.gemm.k == 16);
	assert_true(!w.u.gemm.turned && w.u.gemm.dtype == JL_BF16 && w.n_kernels == 0);
	assert_near(w.flop, 2.0 * 8 * 32 * 16);
	assert_near(w.moved_B, 2.0 * (8 * 16 + 16 * 32 + 8 * 32));
	/* weight gradient: dy.t() x */
	w = work_of("t 1 f32 32x8 1x32\nt 2 f32 8x16\nt 3 f32 32x16\no 1 aten.mm 1,2 3\n");
	assert_true(w.u.gemm.turned && w.u.gemm.dtype == JL_FP32 && w.u.gemm.out_B == 4);
	/* rows of 50,257 are unaligned in either operand */
	w = work_of("t 1 bf16 50257x8 1x50257\nt 2 bf16 8x16\nt 3 bf16 50257x16\no 1 aten.mm 1,2 3\n");
	assert_true(w.u.gemm.n == 50257 && w.u.gemm.m == 16);
	/* a row bias is part of the product; a matrix is copied first */
	w = work_of("t 1 bf16 32\nt 2 bf16 8x16\nt 3 bf16 16x32\nt 4 bf16 8x32\no 1 aten.addmm 1,2,3 4\n");
	assert_true(w.n_kernels == 0 && w.u.gemm.k == 16);
	w = work_of("t 1 bf16 8x32\nt 2 bf16 8x16\nt 3 bf16 16x32\no 1 aten.addmm 1,2,3 1\n");
	assert_true(w.n_kernels == 1);
	/* batches; one weight for the whole batch */
	w = work_of("t 1 bf16 4x8x16\nt 2 bf16 4x16x32\nt 3 bf16 4x8x32\no 1 aten.bmm 1,2 3\n");
	assert_true(w.u.gemm.batch == 4 && w.u.gemm.m == 8);
	w = work_of("t 1 bf16 4x8x16\nt 2 bf16 32x16\nt 3 bf16 4x8x32\no 1 aten.linear 1,2 3\n");
	assert_true(w.u.gemm.batch == 1 && w.u.gemm.m == 32 && w.u.gemm.n == 32 && w.u.gemm.k == 16);
	/* empty product */
	w = work_of("t 1 bf16 0x16\nt 2 bf16 16x32\nt 3 bf16 0x32\no 1 aten.mm 1,2 3\n");
	assert_true(w.form == JL_WORK_STREAM && w.n_kernels == 0);
}

static void test_convolutions(void **state)
{
	static const char *const shapes = "t 1 f16 2x8x10x10\nt 2 f16 16x8x3x3\nt 3 f16 2x16x5x5\nt 4 f16 16\n";
	const double flop = 2.0 * 2 * 25 * 16 * 8 * 9;
	struct jl_call_work w;

	(void)state;
	w = work_of(jl_arena_printf(&arena, "%so 1 aten.convolution 1,2,4 3 stride=2x2 pad=1x1 groups=1\n", shapes));
	assert_true(w.form == JL_WORK_CONV && w.u.conv.passes == 1u << JL_PASS_FORWARD && w.n_kernels == 1);
	assert_true(!w.u.conv.last && w.u.conv.batch == 2 && w.u.conv.op.stride == 2);
	assert_near(w.flop, flop);
	/* weight gradient only; gradients of input, weight and bias */
	w = work_of(jl_arena_printf(&arena, "%so 1 aten.convolution_backward 3,1,2 2 stride=2x2 groups=1\n", shapes));
	assert_true(w.u.conv.passes == 1u << JL_PASS_WEIGHT_GRADIENT && w.n_kernels == 0 && w.backward);
	w = work_of(
		jl_arena_printf(&arena, "%so 1 aten.convolution_backward 3,1,2 1,2,4 stride=2x2 groups=1\n", shapes));
	assert_true(w.u.conv.passes == (1u << JL_PASS_WEIGHT_GRADIENT | 1u << JL_PASS_INPUT_GRADIENT));
	assert_true(w.n_kernels == 1);
	assert_near(w.flop, 2 * flop);
	w = work_of("t 1 f16 2x8x10x10 800x1x80x8\nt 2 f16 8x8x1x1\no 1 aten.convolution 1,2 1 stride=1x1 groups=1\n");
	assert_true(w.u.conv.last);
}

static void test_attention(void **state)
{
	struct jl_call_work w;

	(void)state;
	w = work_of("t 1 bf16 2x8x128x64\nt 2 bf16 2x2x256x64\no 1 jeoul.sdpa 1,2,2 1 causal=0 dropout=0\n");
	assert_true(w.form == JL_WORK_ATTENTION && w.u.attention.att.heads == 8 && w.u.attention.att.kv_heads == 2);
	assert_near(w.flop, 4.0 * 2 * 8 * 128 * 256 * 64);
	assert_true(w.u.attention.need == JL_NEED_ANY);
	w = work_of("t 1 bf16 2x8x128x64\nt 2 b8 2x1x128x128\no 1 jeoul.sdpa 1*3,2 1 causal=0\n");
	assert_true(w.u.attention.need == JL_NEED_MASK);
	w = work_of("t 1 f32 2x8x128x64\nt 2 f32 2x8x128\no 1 jeoul.sdpa_backward 1*4,1,2 1*3 causal=1\n");
	assert_true(w.u.attention.need == JL_NEED_WIDE && w.backward);
	assert_near(w.flop, 2.5 * 2.0 * 2 * 8 * 128 * 128 * 64);
}

/* Serial work: rows and boxes one by one, radix digits, one thread per pixel of all images. */
static void test_serial(void **state)
{
	const double per_row = work_of("t 1 f32 1000x16\nt 2 i64 4\nt 3 f32 4x16\no 1 aten.embedding 1,2 3\n").clocks /
			       4;
	struct jl_call_work w;

	(void)state;
	/* one block per row of any length; element by element for rows below 16 bytes, or two indices */
	assert_true(per_row > 0);
	assert_near(work_of("t 1 f32 1000x64\nt 2 i64 8\nt 3 f32 8x64\no 1 aten.index_select 1,2 3\n").clocks,
		    8 * per_row);
	assert_true(work_of("t 1 f32 1000x2\nt 2 i64 8\nt 3 f32 8x2\no 1 aten.embedding 1,2 3\n").walked);
	assert_true(work_of("t 1 f32 9x9x64\nt 2 i64 8\nt 3 f32 8x64\no 1 aten.index.Tensor 1,2,2 3\n").walked);
	/* few indices keep one SM busy, many are sorted */
	w = work_of("t 1 f32 100x64\nt 2 i64 100\nt 3 f32 5000x64\no 1 aten.embedding_dense_backward 1,2 3\n");
	assert_true(w.most_sm == 1 && w.n_kernels == 2);
	w = work_of("t 1 f32 4000x64\nt 2 i64 4000\nt 3 f32 5000x64\no 1 aten.embedding_dense_backward 1,2 3\n");
	assert_true(w.most_sm == 0 && w.n_kernels > 10);
	assert_near(work_of("t 1 f32 2000x4\nt 2 f32 2000\nt 3 i64 1000\no 1 torchvision.nms 1,2 3\n").clocks,
		    2 * work_of("t 1 f32 1000x4\nt 2 f32 1000\nt 3 i64 500\no 1 torchvision.nms 1,2 3\n").clocks);
	/* many short rows: one launch; long rows: a launch per step of each digit, with twice as many digits in fp32 */
	assert_true(work_of("t 1 f32 8192x128\nt 2 f32 8192x8\nt 3 i64 8192x8\no 1 aten.topk 1 2,3\n").n_kernels == 2);
	const double half = work_of("t 1 bf16 64x8192\nt 2 bf16 64x8\nt 3 i64 64x8\no 1 aten.topk 1 2,3\n").n_kernels;

	assert_true(half > 8);
	assert_near(work_of("t 1 f32 64x8192\nt 2 f32 64x8\nt 3 i64 64x8\no 1 aten.topk 1 2,3\n").n_kernels - 4,
		    2 * (half - 4));
	/* rows in other orders are copied first */
	w = work_of("t 1 f32 8x16\nt 2 f32 16\nt 3 f32 8\no 1 aten.native_layer_norm 1,2,2 1,3,3\n");
	assert_true(w.n_kernels == 1 && w.across_B == 0);
	w = work_of("t 1 f32 8x16 1x8\nt 2 f32 16\nt 3 f32 8\no 1 aten.native_layer_norm 1,2,2 1,3,3\n");
	assert_true(w.n_kernels == 2 && w.across_B == 8 * 16 * 4);
	/* channels last are processed in parallel */
	assert_true(work_of("t 1 f32 2x8x4x4\nt 2 f32 2x8x40x40\no 1 aten.upsample_bilinear2d 1 2\n").most_sm == 2);
	w = work_of("t 1 f32 2x8x4x4 128x1x32x8\nt 2 f32 2x8x40x40 12800x1x320x8\no 1 aten.upsample_bilinear2d 1 2\n");
	assert_true(w.most_sm == 0);
}

/* Copies for channels last of input, output and weights; none if a product reads them in place. */
static void test_copies(void **state)
{
	struct jl_call_work w;

	(void)state;
	w = work_of("t 1 f16 2x8x10x10\nt 2 f16 16x8x3x3\nt 3 f16 2x16x10x10\no 1 aten.convolution 1,2 3 stride=1x1 "
		    "groups=1\n");
	assert_near(jl_conv_copies_B(&w), 2.0 * (2 * 8 * 100 + 2 * 16 * 100 + 16 * 8 * 9));
	w = work_of("t 1 f16 2x8x8x8\nt 2 f16 8x8x1x1\no 1 aten.convolution 1,2 1 stride=1x1 groups=1\n");
	assert_true(!jl_conv_is_turned(&w) && jl_conv_copies_B(&w) == 0);
	w = work_of("t 1 f16 2x8x1x1\nt 2 f16 8x8x1x1\no 1 aten.convolution 1,2 1 stride=1x1 groups=1\n");
	assert_true(!jl_conv_is_turned(&w));
	w = work_of("t 1 f16 2x8x10x10 800x1x80x8\nt 2 f16 8x8x3x3\no 1 aten.convolution 1,2 1 stride=1x1 groups=1\n");
	assert_true(!jl_conv_is_turned(&w));
}

static void test_streams(void **state)
{
	struct jl_call_work w;

	(void)state;
	w = work_of("t 1 bf16 8x16\no 1 aten.add.Tensor 1*2 1\n");
	assert_true(!w.walked && !w.cast && w.n_kernels == 1);
	assert_near(w.moved_B, 3 * 8 * 16 * 2);
	/* broadcast row: read once, element-wise loads */
	w = work_of("t 1 bf16 8x16\nt 2 bf16 8x16 0x1\no 1 aten.mul.Tensor 1,2 1\n");
	assert_true(w.walked && !w.cast);
	assert_near(w.moved_B, 2 * 8 * 16 * 2 + 16 * 2);
	w = work_of("t 1 bf16 8x16\nt 2 f32 8x16\no 1 aten.mul.Tensor 1,2 2\n");
	assert_true(!w.walked && w.cast);
	/* booleans need no conversion */
	w = work_of("t 1 f32 8x16\nt 2 b8 8x16\no 1 aten.where.self 2,1,1 1\n");
	assert_true(!w.cast);
	/* widening copies are converted one by one; strided reads fetch more than they use */
	w = work_of("t 1 bf16 8x16\nt 2 f32 8x16\no 1 aten._to_copy 1 2\n");
	assert_true(w.cast);
	w = work_of("t 1 f32 8x16\nt 2 bf16 8x16\no 1 aten._to_copy 1 2\n");
	assert_true(!w.cast && !w.walked);
	w = work_of("t 1 f32 16x8 1x16\nt 2 f32 16x8\no 1 aten.clone 1 2\n");
	assert_true(w.walked);
	assert_near(w.across_B, 16 * 8 * 4);
	/* same layout and format: copied by the driver */
	assert_true(work_of("t 1 f32 8x16\no 1 aten.clone 1 1\n").by_driver);
	assert_false(work_of("t 1 f32 8x16\nt 2 bf16 8x16\no 1 aten._to_copy 1 2\n").by_driver);
	/* overwritten data is not read */
	w = work_of("t 1 f32 8x16\no 1 aten.copy_ 1,1 1 inplace=1\n");
	assert_near(w.moved_B, 2 * 8 * 16 * 4);
	w = work_of("t 1 f32 8x16\no 1 aten.zero_ 1 1 inplace=1\n");
	assert_near(w.moved_B, 8 * 16 * 4);
	/* selected rows only, not the table */
	w = work_of("t 1 f32 1000x16\nt 2 i64 4\nt 3 f32 4x16\no 1 aten.embedding 1,2 3\n");
	assert_near(w.moved_B, 2 * 4 * 16 * 4 + 4 * 8);
	assert_near(w.n_elems, 64);
	w = work_of("t 1 f32 8\no 1 aten.cat 1*300 1\n");
	assert_true(w.n_kernels == 3);
	w = work_of("t 1 f32 8x16\no 1 aten.view 1 1\n");
	assert_true(w.form == JL_WORK_NONE && w.n_kernels == 0);
	/* not in the table: treated as elementwise, and marked */
	w = work_of("t 1 f32 8x16\no 1 mylib.strange 1 1\n");
	assert_true(w.class == JL_CLASS_OTHER && w.n_kernels == 1);
	assert_near(w.moved_B, 2 * 8 * 16 * 4);
	w = work_of("t 1 f32 0\no 1 aten.relu 1 1\n");
	assert_true(w.n_kernels == 0);
}

/* cuDNN's single kernel, also with channels last; PyTorch's three kernels in bf16, and without a scale. */
static void test_batch_norm(void **state)
{
	struct jl_call_work w;

	(void)state;
	w = work_of("t 1 f32 2x8x4x4\nt 2 f32 8\no 1 aten.native_batch_norm 1,2*4 1,2*2 training=1\n");
	assert_true(w.n_kernels == 1 && w.class == JL_CLASS_NORM);
	assert_near(w.moved_B + w.then.moved_B, 3 * 256 * 4 + 10 * 32); /* statistics first, then scaling */
	assert_true(w.then.clocks > 0 && w.then.most_sm == 0);
	w = work_of("t 1 f32 2x8x4x4 128x1x32x8\nt 2 f32 8\no 1 aten.native_batch_norm 1,2*4 1,2*2 training=1\n");
	assert_true(w.n_kernels == 1 && w.most_sm == 0 && w.then.clocks == 0);
	assert_true(work_of("t 1 f32 2x8x4x4\no 1 aten.native_batch_norm 1 1 training=1\n").n_kernels == 3);
	w = work_of("t 1 bf16 2x8x4x4\nt 2 f32 8\no 1 aten.native_batch_norm 1,2*4 1,2*2 training=1\n");
	assert_true(w.n_kernels == 3 && w.most_sm > 0);
	w = work_of("t 1 f32 2x8x4x4\nt 2 f32 8\no 1 aten.native_batch_norm 1,2*4 1 training=0\n");
	assert_near(w.moved_B, 2 * 256 * 4 + 4 * 32);
	/* every pixel of a window */
	const double one = work_of("t 1 f32 2x8x4x4\no 1 aten.avg_pool2d 1 1 kernel=1x1\n").clocks;

	assert_near(work_of("t 1 f32 2x8x4x4\no 1 aten.avg_pool2d 1 1 kernel=3x3\n").clocks, 9 * one);
}

/* Reductions: along rows a fixed cost per output; across rows parts of columns are combined, longer with more rows. */
static void test_sums(void **state)
{
	struct jl_call_work w, longer;

	(void)state;
	w = work_of("t 1 f32 4096x256\nt 2 f32 4096\no 1 aten.sum.dim_IntList 1 2 dim=1\n");
	assert_true(w.then.clocks == 0 && w.clocks > 0.25 * 4096 * 256);
	longer = work_of("t 1 f32 256x4096\nt 2 f32 256\no 1 aten.sum.dim_IntList 1 2 dim=-1\n");
	assert_true(longer.clocks < w.clocks);
	w = work_of("t 1 f32 4096x256\nt 2 f32 256\no 1 aten.sum.dim_IntList 1 2 dim=0\n");
	longer = work_of("t 1 f32 8192x128\nt 2 f32 128\no 1 aten.sum.dim_IntList 1 2 dim=0\n");
	assert_true(w.then.most_sm == 1 && longer.then.clocks > w.then.clocks);
	/* transposed operand: its first dimension is contiguous */
	w = work_of("t 1 f32 256x4096 1x256\nt 2 f32 4096\no 1 aten.sum.dim_IntList 1 2 dim=0\n");
	assert_true(w.then.clocks == 0);
}

/* Layer norm gradients: sums over many rows are split among SMs, those of fewer are not. */
static void test_norm_back(void **state)
{
	struct jl_call_work few, many;

	(void)state;
	few = work_of("t 1 f32 65536x64\nt 2 f32 65536x1\nt 3 f32 64\no 1 aten.native_layer_norm_backward 1,1,2,2,3,3 "
		      "1,3,3\n");
	many = work_of("t 1 f32 65568x64\nt 2 f32 65568x1\nt 3 f32 64\no 1 aten.native_layer_norm_backward 1,1,2,2,3,3 "
		       "1,3,3\n");
	assert_true(few.then.most_sm == 2 && many.then.most_sm == 0);
}

/* Concatenation: long contiguous parts are copied; for short or strided ones each element computes its place. */
static void test_cat(void **state)
{
	const double n = 64.0 * 1024 * 2;
	const double pieces = work_of("t 1 bf16 64x1024\nt 2 bf16 128x1024\no 1 aten.cat 1*2 2 dim=0\n").clocks / n;
	const double pairs = work_of("t 1 bf16 2048x32\nt 2 bf16 2048x64\no 1 aten.cat 1*2 2 dim=1\n").clocks / n;
	const double strided =
		work_of("t 1 bf16 64x1024 4096x2\nt 2 bf16 128x1024\no 1 aten.cat 1*2 2 dim=0\n").clocks / n;

	(void)state;
	assert_true(pieces < pairs && pairs < strided);
}

/* PyTorch's multi_tensor_apply: 320 chunks of 65,536 elements and a limited number of tensors per launch. */
static void test_lists(void **state)
{
	struct jl_call_work w;

	(void)state;
	/* two lists of 100 small tensors: 64 per launch */
	w = work_of("t 1 f32 8\no 1 aten._foreach_add_.List 1*200 - inplace=1\n");
	assert_true(w.n_tensors == 100 && w.n_kernels == 2);
	assert_near(w.moved_B, 300 * 32);
	/* one list: 110 per launch */
	w = work_of("t 1 f32 8\no 1 aten._foreach_mul_.Scalar 1*111 - inplace=1\n");
	assert_true(w.n_tensors == 111 && w.n_kernels == 2);
	/* one tensor of 1,000 chunks */
	w = work_of("t 1 f32 65536000\no 1 aten._foreach_mul_.Scalar 1 - inplace=1\n");
	assert_true(w.n_kernels == 4 && w.most_sm == 250);
	/* out of place: the result is a list too */
	w = work_of("t 1 f32 8\no 1 aten._foreach_sqrt 1*65 1*65\n");
	assert_true(w.n_tensors == 65 && w.n_kernels == 2);
	/* fused Adam: weights, gradients, two moments and the steps */
	w = work_of("t 1 f32 8\nt 2 f32 -\no 1 aten._fused_adamw_ 1*288,2*72 -\n");
	assert_true(w.n_tensors == 72 && w.n_kernels == 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_table, begin, end),
		cmocka_unit_test_setup_teardown(test_products, begin, end),
		cmocka_unit_test_setup_teardown(test_convolutions, begin, end),
		cmocka_unit_test_setup_teardown(test_attention, begin, end),
		cmocka_unit_test_setup_teardown(test_serial, begin, end),
		cmocka_unit_test_setup_teardown(test_copies, begin, end),
		cmocka_unit_test_setup_teardown(test_streams, begin, end),
		cmocka_unit_test_setup_teardown(test_batch_norm, begin, end),
		cmocka_unit_test_setup_teardown(test_sums, begin, end),
		cmocka_unit_test_setup_teardown(test_norm_back, begin, end),
		cmocka_unit_test_setup_teardown(test_cat, begin, end),
		cmocka_unit_test_setup_teardown(test_lists, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
