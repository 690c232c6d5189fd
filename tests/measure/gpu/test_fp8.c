/* Tensors of fp8 products, and the products. */
#include "both.h"

static float of_fp8(uint8_t bits, bool wide)
{
	int mantissa = wide ? 2 : 3, bias = wide ? 15 : 7, exponent = bits >> mantissa & (wide ? 31 : 15);
	int fraction = bits & ((1 << mantissa) - 1);
	float x = exponent ? ldexpf((float)(fraction + (1 << mantissa)), exponent - bias - mantissa)
			   : ldexpf((float)fraction, 1 - bias - mantissa);
	return bits >> 7 ? -x : x;
}

static double d_gelu(double x)
{
	double t = tanh(0.7978845608 * (x + 0.044715 * x * x * x));
	return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.7978845608 * (1 + 3 * 0.044715 * x * x);
}

/* What an fp8 tensor is made from, one element. */
static double fp8_wanted(const struct jl_eng_fp8 *op, const float *from, const float *before, size_t row, size_t col)
{
	size_t width = op->width, half = width / 2;
	double x = from[row * width + col];
	const float *pair = before + row * width;
	if (op->of == JL_FP8_GELU)
		return 0.5 * x * (1 + tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
	if (op->of == JL_FP8_GELU_BWD)
		return x * d_gelu(before[row * width + col]);
	if (op->of == JL_FP8_SWIGLU) {
		double g = from[row * 2 * width + col];
		return g / (1 + exp(-g)) * (double)from[row * 2 * width + width + col];
	}
	if (op->of == JL_FP8_SWIGLU_BWD) {
		double g = pair[col % half], u = pair[half + col % half], d = from[row * half + col % half];
		double s = 1 / (1 + exp(-g));
		return col < half ? d * u * s * (1 + g * (1 - s)) : d * g * s;
	}
	return x;
}

/* One kind of tensor: each value within half a unit of its format's last place, its transpose byte for byte, the sums of its
 * columns; the second time by the scale of the step before. */
static void check_fp8(struct both *b, enum jl_fp8_of of, bool wide, size_t n_rows, size_t width)
{
	struct jl_err err = { 0 };
	size_t n = n_rows * width, half = n / 2;
	struct tensor from = make(b, of == JL_FP8_SWIGLU ? 2 * n : of == JL_FP8_SWIGLU_BWD ? half : n, 2, 0.3);
	struct tensor before = make(b, n, 2, 0), sums = make(b, width, 1, 0);
	struct tensor to = make_raw(b, n / 4, NULL), to_t = make_raw(b, n / 4, NULL), scale = make_raw(b, 16, NULL);
	struct jl_fp8_scale got;
	uint8_t *bytes = malloc(n), *turned = malloc(n);
	assert_true(bytes && turned && sizeof got == 16 * sizeof(float));
	for (int step = 0; step < 2; step++) {
		const struct jl_eng_fp8 op = { .of = of,
					       .n_rows = n_rows,
					       .width = width,
					       .from = from.gpu,
					       .before = before.gpu,
					       .to = to.gpu,
					       .to_t = to_t.gpu,
					       .scale = scale.gpu,
					       .wide = wide,
					       .first = step == 0,
					       .bias_grad = wide ? sums.gpu : NULL };
		double largest = 0, worst = 0, least = wide ? ldexp(1, -14) : ldexp(1, -6);
		b->gpu->k->fp8(b->gpu, &op, 1);
		b->gpu->k->to_host(b->gpu, &got, scale.gpu, sizeof got);
		b->gpu->k->to_host(b->gpu, bytes, to.gpu, n);
		b->gpu->k->to_host(b->gpu, turned, to_t.gpu, n);
		assert_ok(b->gpu->k->sync(b->gpu, &err));
		memset(sums.cpu, 0, width * sizeof(float));
		for (size_t row = 0; row < n_rows; row++)
			for (size_t col = 0; col < width; col++) {
				double wanted = fp8_wanted(&op, from.cpu, before.cpu, row, col);
				double is = (double)of_fp8(bytes[row * width + col], wide) * (double)got.inverse;
				double unit = fmax(fabs(wanted), least * (double)got.inverse) * (wide ? 0.125 : 0.0625);
				worst = isnan(is) ? INFINITY : fmax(worst, fabs(is - wanted) / unit);
				largest = fmax(largest, fabs(wanted));
				((float *)sums.cpu)[col] += (float)wanted;
				assert_int_equal(turned[col * n_rows + row], bytes[row * width + col]);
			}
		assert_true(worst <= 1.02); /* 2 % for the activations' own rounding */
		assert_true(fabs((double)got.largest / largest - 1) < 1e-2);
		assert_true(fabs((double)got.scale * (double)got.inverse - 1) < 1e-5);
		if (wide)
			same(b, "sums of an fp8 gradient", &sums);
		b->gpu->k->fp8_scales(b->gpu, scale.gpu, !wide, wide);
	}
	b->gpu->k->to_host(b->gpu, &got, scale.gpu, sizeof got);
	assert_ok(b->gpu->k->sync(b->gpu, &err));
	assert_true(got.largest == 0 && got.history[0] > 0 && got.history[0] == got.history[1] && got.history[2] == 0);
	free(bytes);
	free(turned);
}

/* The product of two such tensors is that of the numbers they stand for. */
static void check_fp8_product(struct both *b, bool wide, enum jl_epilogue epilogue)
{
	enum { M = 256, N = 192, K = 320 };
	struct jl_err err = { 0 };
	struct tensor A = make(b, (size_t)M * K, 1, 0), B = make(b, (size_t)N * K, 0.1, 0),
		      C = make(b, (size_t)M * N, 1, 0);
	struct tensor bias = make(b, N, 1, 0), a8 = make_raw(b, (size_t)M * K / 4, NULL);
	struct tensor b8 = make_raw(b, (size_t)N * K / 4, NULL), scales = make_raw(b, 32, NULL);
	struct jl_fp8_scale *at = scales.gpu, got[2];
	const struct jl_eng_fp8 ops[2] = {
		{ .n_rows = M, .width = K, .from = A.gpu, .to = a8.gpu, .scale = at, .wide = wide, .first = true },
		{ .n_rows = N, .width = K, .from = B.gpu, .to = b8.gpu, .scale = at + 1, .first = true },
	};
	struct jl_eng_gemm op = { .m = M,
				  .n = N,
				  .k = K,
				  .a = A.cpu,
				  .b = B.cpu,
				  .c = C.cpu,
				  .lda = K,
				  .ldb = K,
				  .ldc = N,
				  .tb = true,
				  .epilogue = epilogue,
				  .bias = bias.cpu };
	for (int i = 0; i < 2; i++) {
		b->gpu->k->fp8(b->gpu, &ops[i], 1);
		b->gpu->k->to_host(b->gpu, i ? b8.cpu : a8.cpu, ops[i].to, ops[i].n_rows * K);
	}
	b->gpu->k->to_host(b->gpu, got, scales.gpu, sizeof got);
	assert_ok(b->gpu->k->sync(b->gpu, &err));
	for (size_t i = 0; i < (size_t)M * K; i++)
		((float *)A.cpu)[i] = of_fp8(((uint8_t *)a8.cpu)[i], wide) * got[0].inverse;
	for (size_t i = 0; i < (size_t)N * K; i++)
		((float *)B.cpu)[i] = of_fp8(((uint8_t *)b8.cpu)[i], false) * got[1].inverse;
	b->cpu->k->gemm(b->cpu, &op);
	op.a = a8.gpu, op.b = b8.gpu, op.c = C.gpu, op.bias = bias.gpu;
	op.a_fp8 = at, op.b_fp8 = at + 1, op.wide = wide;
	b->gpu->k->gemm(b->gpu, &op);
	same(b, wide ? "fp8 product with a gradient" : "fp8 product", &C);
}

/* The numbers that e4m3 weights stand for. */
static void widened(struct jl_engine *engine, const void *bytes, const struct jl_fp8_scale *scale, size_t n, float *ret)
{
	struct jl_err err = { 0 };
	struct jl_fp8_scale got;
	uint8_t *here = malloc(n);
	assert_non_null(here);
	engine->k->to_host(engine, here, bytes, n);
	engine->k->to_host(engine, &got, scale, sizeof got);
	assert_ok(engine->k->sync(engine, &err));
	for (size_t i = 0; i < n; i++)
		ret[i] = of_fp8(here[i], false) * got.inverse;
	free(here);
}

/* Few rows of elements times e4m3 weights, and more of them than are done at once. */
static void check_few(struct both *b, size_t m, size_t n, size_t k, enum jl_epilogue epilogue)
{
	struct tensor A = make(b, m * k, 1, 0), B = make(b, n * k, 0.1, 0), C = make(b, m * n, 1, 0);
	struct tensor bias = make(b, n, 1, 0), aux = make(b, m * n, 1, 0), b8 = make_raw(b, n * k / 4, NULL);
	struct tensor scale = make_raw(b, 16, NULL);
	struct jl_eng_gemm op = { .m = m,
				  .n = n,
				  .k = k,
				  .a = A.cpu,
				  .b = B.cpu,
				  .c = C.cpu,
				  .lda = k,
				  .ldb = k,
				  .ldc = n,
				  .tb = true,
				  .epilogue = epilogue,
				  .bias = epilogue == JL_EP_NONE ? NULL : bias.cpu,
				  .aux = epilogue == JL_EP_BIAS_GELU ? aux.cpu : NULL };
	b->gpu->k->fp8(
		b->gpu,
		&(struct jl_eng_fp8){
			.n_rows = n, .width = k, .from = B.gpu, .to = b8.gpu, .scale = scale.gpu, .first = true },
		1);
	widened(b->gpu, b8.gpu, scale.gpu, n * k, B.cpu);
	b->cpu->k->gemm(b->cpu, &op);
	op.a = A.gpu, op.b = b8.gpu, op.c = C.gpu, op.b_fp8 = scale.gpu;
	op.bias = op.bias ? bias.gpu : NULL, op.aux = op.aux ? aux.gpu : NULL;
	b->gpu->k->gemm(b->gpu, &op);
	same(b, "few rows with fp8 weights", &C);
	if (op.aux)
		same(b, "few rows before gelu", &aux);
}

/* A decoder's weights as floats for the CPU's. */
static void take_weights(const struct jl_trainer *from, struct jl_trainer *to)
{
	for (size_t u = 0; u < from->shape.n_units; u++)
		for (int w = 0; w < JL_N_TENSOR; w++) {
			const struct jl_tensor_place *p = &from->shape.weights[w];
			if (p->narrow && p->unit == jl_train_unit_kind(&from->shape, u))
				widened(from->engine, from->units[u].narrow + p->at,
					(struct jl_fp8_scale *)(from->units[u].scales + p->scale_at), p->rows * p->cols,
					(float *)(void *)to->units[u].param + to->shape.weights[w].at);
		}
}

static double lead(const float *logits, size_t n)
{
	double first = -INFINITY, second = -INFINITY;
	for (size_t i = 0; i < n; i++) {
		second = fmax(second, fmin(first, (double)logits[i]));
		first = fmax(first, (double)logits[i]);
	}
	return first - second;
}

/* Logits and tokens of the GPU's decoder beside the CPU's with the same weights, three times: with scales of its own, recorded with those
 * of before, replayed. A sample ends where two tokens that are nearer than the tolerance change places. */
static void beside_cpu(struct both *b, const struct jl_train_shape *shape, size_t n_samples, size_t seq,
		       double tolerance)
{
	enum { N_PASSES = 8, N_ROUNDS = 3, N_MOST = 40 };
	static float logits[2][N_MOST * VOCAB_MOST];
	struct jl_err err = { 0 };
	struct jl_engine *engines[2] = { b->cpu, b->gpu };
	struct jl_trainer *decoders[2];
	struct jl_trainer_in in = jl_trainer_defaults;
	int32_t prompts[128], tokens[2][N_MOST];
	bool parted[N_MOST];
	size_t n_same = 0, n_looked_at = 0, vocab = shape->vocab;
	double worst = 0;
	assert_true(n_samples <= N_MOST && n_samples * seq <= 128);
	in.shape = shape, in.n_samples = n_samples, in.seq = seq, in.max_tokens = seq + N_PASSES;
	for (size_t i = 0; i < n_samples * seq; i++)
		prompts[i] = (int32_t)(jl_train_mix(i) % vocab);
	for (int e = 0; e < 2; e++)
		assert_ok(jl_trainer_create(engines[e], &in, &decoders[e], &err));
	take_weights(decoders[1], decoders[0]);
	for (size_t i = 0; i < (size_t)N_ROUNDS * N_PASSES; i++) {
		size_t pass = i % N_PASSES;
		if (pass == 0)
			memset(parted, 0, sizeof parted);
		for (int e = 0; e < 2; e++) {
			assert_ok(pass ? jl_decode_next(decoders[e], 1, tokens[e], &err)
				       : jl_decode_prompt(decoders[e], prompts, n_samples, tokens[e], &err));
			decode_logits(decoders[e], logits[e]);
		}
		for (size_t s = 0; s < n_samples; s++) {
			const float *wanted = logits[0] + s * vocab;
			if (parted[s])
				continue;
			worst = fmax(worst, decode_off(logits[1] + s * vocab, wanted, vocab));
			parted[s] = tokens[0][s] != tokens[1][s];
			n_looked_at++;
			n_same += !parted[s];
			assert_true(!parted[s] || lead(wanted, vocab) < 2 * tolerance * largest_logit(wanted, vocab));
		}
	}
	print_message("%s, %zu prompts of %zu: logits %.2g from the CPU, %zu of %zu tokens\n", shape->id, n_samples,
		      seq, worst, n_same, n_looked_at);
	assert_true(worst <= tolerance && n_same >= n_looked_at * 9 / 10);
	jl_trainer_destroy(decoders[0]);
	jl_trainer_destroy(decoders[1]);
}

static void fp8_decoding(void **state)
{
	(void)state;
	static const enum jl_epilogue epilogues[] = { JL_EP_NONE, JL_EP_BIAS, JL_EP_BIAS_GELU };
	static const size_t rows[] = { 1, 2, 7, 8, 9, 16, 17, 32, 50 };
	if (!there_is_a_gpu() || n_precisions() == JL_TRAIN_FP8)
		skip();
	struct both b = open_both(JL_TRAIN_FP8);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		check_few(&b, rows[i], 256, 1024, epilogues[i % 3]);
		check_few(&b, rows[i], 208, 16 * (rows[i] + 3), epilogues[(i + 1) % 3]); /* ends of both sides */
		check_few(&b, rows[i], 48, 4176, epilogues[(i + 2) % 3]);
	}
	for (size_t i = 0; i < 2; i++) { /* large weights: sums that blocks divide, and sums that they do not */
		check_few(&b, (size_t[]){ 11, 50 }[i], 2064, 16400, epilogues[i]);
		check_few(&b, (size_t[]){ 32, 9 }[i], 17040, 2000, epilogues[2 - i]);
	}
	for (size_t m = 0; m < N_TINY; m += 2) { /* not the one whose table is its logits: the CPU has that once */
		struct jl_err err = { 0 };
		struct jl_train_shape shape;
		assert_ok(jl_train_shape(&tiny[m], 1, &shape, &err));
		beside_cpu(&b, &shape, 1, 1, 0.03);
		beside_cpu(&b, &shape, 3, 9, 0.03);
		beside_cpu(&b, &shape, 20, 1, 0.03);
		beside_cpu(&b, &shape, 3, 31, 0.1); /* so many tokens are multiplied as fp8 */
		beside_cpu(&b, &shape, 40, 2, 0.1);
	}
	close_both(&b);
}

/* Several in one launch, each with what is wanted of it, are what each is by itself. */
static void check_many(struct both *b)
{
	enum { N = 3 };
	static const size_t n_rows[N] = { 256, 400, 16 }, widths[N] = { 128, 224, 336 };
	struct jl_err err = { 0 };
	struct tensor scales = make_raw(b, (size_t)N * 16, NULL), from[N], one[N], many[N];
	struct jl_eng_fp8 ops[N];
	for (size_t i = 0; i < N; i++) {
		size_t n = n_rows[i] * widths[i];
		from[i] = make(b, n, 1, 0);
		one[i] = make_raw(b, n / 4, NULL);
		many[i] = make_raw(b, n / 4, NULL);
		ops[i] = (struct jl_eng_fp8){ .n_rows = n_rows[i],
					      .width = widths[i],
					      .from = from[i].gpu,
					      .scale = (struct jl_fp8_scale *)scales.gpu + i,
					      .first = true };
		*(i == 1 ? &ops[i].to_t : &ops[i].to) = one[i].gpu;
		b->gpu->k->fp8(b->gpu, &ops[i], 1);
		*(i == 1 ? &ops[i].to_t : &ops[i].to) = many[i].gpu;
	}
	b->gpu->k->fp8(b->gpu, ops, N);
	for (size_t i = 0; i < N; i++) {
		b->gpu->k->to_host(b->gpu, one[i].cpu, one[i].gpu, one[i].n * 4);
		b->gpu->k->to_host(b->gpu, many[i].cpu, many[i].gpu, many[i].n * 4);
		assert_ok(b->gpu->k->sync(b->gpu, &err));
		assert_memory_equal(one[i].cpu, many[i].cpu, one[i].n * 4);
	}
}

/* Steps of two micro-batches: gradients are added up as in bf16. */
static void in_parts(enum jl_train_precision precision, const struct jl_model_info *model, double losses[TINY_STEPS])
{
	struct jl_err err = { 0 };
	struct jl_train_shape shape;
	struct jl_tokens tokens;
	struct jl_engine *engine;
	struct jl_trainer *train;
	int32_t in[TINY_BATCH * TINY_SEQ], out[TINY_BATCH * TINY_SEQ];
	assert_ok(jl_train_shape(model, 1, &shape, &err));
	assert_ok(jl_tokens_open(&tokens, NULL, shape.vocab, TINY_SEQ, &err));
	assert_ok(jl_engine_cuda.create(&(struct jl_engine_in){ .precision = precision }, &engine, &err));
	struct jl_trainer_in setting = jl_trainer_defaults;
	setting.shape = &shape;
	setting.n_samples = TINY_BATCH / 2;
	setting.n_micro = 2;
	setting.seq = TINY_SEQ;
	setting.lr = TINY_LR;
	setting.clip = 1;
	assert_ok(jl_trainer_create(engine, &setting, &train, &err));
	for (size_t step = 0; step < TINY_STEPS; step++) {
		tiny_batch(&tokens, model, step * TINY_BATCH, TINY_BATCH, in, out);
		assert_ok(jl_trainer_step(train, in, out, &losses[step], &err));
	}
	jl_trainer_destroy(train);
	jl_engine_cuda.destroy(engine);
	jl_tokens_close(&tokens);
}

static void micro_batches(void **state)
{
	(void)state;
	double bf16[TINY_STEPS], fp8[TINY_STEPS];
	if (!there_is_a_gpu() || n_precisions() == JL_TRAIN_FP8)
		skip();
	for (size_t m = 0; m < N_TINY; m++) {
		double worst = 0;
		if (!jl_engine_cuda.supports_head_dim((size_t)tiny[m].head_dim))
			continue;
		in_parts(JL_TRAIN_BF16, &tiny[m], bf16);
		in_parts(JL_TRAIN_FP8, &tiny[m], fp8);
		for (size_t i = 0; i < TINY_STEPS; i++)
			worst = isnan(fp8[i]) ? INFINITY : fmax(worst, fabs(fp8[i] / bf16[i] - 1));
		print_message("%s in two parts: loss %.4f to %.4f, bf16 %.4f, largest difference %.2g\n", tiny[m].id,
			      fp8[0], fp8[TINY_STEPS - 1], bf16[TINY_STEPS - 1], worst);
		assert_true(worst <= 1e-2 && fp8[TINY_STEPS - 1] < 0.9 * fp8[0]);
	}
}

static void fp8_tensors(void **state)
{
	(void)state;
	if (!there_is_a_gpu() || n_precisions() == JL_TRAIN_FP8)
		skip();
	struct both b = open_both(JL_TRAIN_FP8);
	for (size_t i = 0; i < 2; i++) { /* whole tiles, and tiles that hang over both ends */
		size_t n_rows = i ? 400 : 256, width = i ? 224 : 128;
		check_fp8(&b, JL_FP8_PLAIN, false, n_rows, width);
		check_fp8(&b, JL_FP8_PLAIN, true, n_rows, width);
		check_fp8(&b, JL_FP8_GELU, false, n_rows, width);
		check_fp8(&b, JL_FP8_GELU_BWD, true, n_rows, width);
		check_fp8(&b, JL_FP8_SWIGLU, false, n_rows, width);
		check_fp8(&b, JL_FP8_SWIGLU_BWD, true, n_rows, width);
	}
	check_many(&b);
	check_fp8_product(&b, false, JL_EP_NONE);
	check_fp8_product(&b, false, JL_EP_BIAS);
	check_fp8_product(&b, true, JL_EP_NONE);
	close_both(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(fp8_tensors), cmocka_unit_test(micro_batches),
					    cmocka_unit_test(fp8_decoding) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
