/* Every operator of the CUDA engine against the CPU engine, in each precision; whole steps against it too. Needs a GPU:
 * without one the tests are skipped with the reason. */
#include "both.h"

static void check_gemm(struct both *b, size_t m, size_t n, size_t k, bool ta, bool tb, enum jl_epilogue epilogue,
		       bool accumulate)
{
	static const char *const names[] = { "gemm", "gemm bias", "gemm gelu", "gemm dgelu", "gemm bgrad" };
	struct tensor A = make(b, m * k, 1, 0), B = make(b, k * n, 1, 0), C = make(b, m * n, 5, 0);
	struct tensor bias = make(b, n, 1, 0), aux = make(b, m * n, 2, 0), bgrad = make(b, m, 5, 0);
	struct jl_eng_gemm op = { .m = m,
				  .n = n,
				  .k = k,
				  .a = A.cpu,
				  .b = B.cpu,
				  .c = C.cpu,
				  .lda = ta ? m : k,
				  .ldb = tb ? k : n,
				  .ldc = n,
				  .ta = ta,
				  .tb = tb,
				  .c_is_grad = epilogue == JL_EP_BGRAD || accumulate,
				  .accumulate = accumulate,
				  .epilogue = epilogue,
				  .bias = bias.cpu,
				  .aux = aux.cpu,
				  .bias_grad = bgrad.cpu };
	b->cpu->k->gemm(b->cpu, &op);
	op.a = A.gpu, op.b = B.gpu, op.c = C.gpu, op.bias = bias.gpu, op.aux = aux.gpu, op.bias_grad = bgrad.gpu;
	b->gpu->k->gemm(b->gpu, &op);
	same(b, names[epilogue], &C);
	if (epilogue == JL_EP_BIAS_GELU)
		same(b, "value before gelu", &aux);
	if (epilogue == JL_EP_BGRAD)
		same(b, "bias gradient", &bgrad);
}

static void products(struct both *b)
{
	check_gemm(b, 256, 384, 192, false, false, JL_EP_NONE, false);
	check_gemm(b, 256, 384, 192, false, true, JL_EP_BIAS, false);
	check_gemm(b, 256, 384, 192, false, true, JL_EP_BIAS_GELU, false);
	check_gemm(b, 256, 384, 192, false, false, JL_EP_DGELU, false);
	check_gemm(b, 256, 384, 192, true, false, JL_EP_BGRAD, false);
	check_gemm(b, 256, 384, 192, true, false, JL_EP_BGRAD, true);
	check_gemm(b, 256, 384, 192, true, false, JL_EP_NONE, true);
}

static void check_norm(struct both *b, bool rms, size_t n_rows, size_t width)
{
	size_t n = n_rows * width;
	struct tensor residual = make(b, n, 1, 0.2), branch = make(b, n, 1, 0), kept = make(b, n, 1, 0);
	struct tensor out = make(b, n, 1, 0), weight = make(b, width, 0.3, 1), bias = make(b, width, 1, 0);
	struct tensor mean = make_raw(b, n_rows, NULL), rstd = make_raw(b, n_rows, NULL);
	struct jl_eng_norm op = { rms,      1e-5,    n_rows,     width,    residual.cpu, branch.cpu,
				  kept.cpu, out.cpu, weight.cpu, bias.cpu, mean.cpu,     rstd.cpu };
	if (rms)
		op.bias = NULL;
	b->cpu->k->norm(b->cpu, &op);
	op = (struct jl_eng_norm){ rms,      1e-5,    n_rows,     width,    residual.gpu, branch.gpu,
				   kept.gpu, out.gpu, weight.gpu, bias.gpu, mean.gpu,     rstd.gpu };
	if (rms)
		op.bias = NULL;
	b->gpu->k->norm(b->gpu, &op);
	same(b, "residual", &kept);
	same(b, "norm", &out);
	same_raw(b, "rstd", &rstd, b->tolerance);

	for (int variant = 0; variant < 3; variant++) {
		struct tensor d_out = make(b, n, 1, 0), d_res = make(b, n, 1, 0), again = make(b, n, 1, 0);
		struct tensor dw = make(b, width, 1, 0), db = make(b, width, 1, 0), below = make(b, width, 1, 0);
		struct jl_eng_norm_bwd d = { .rms = rms,
					     .d_residual_fresh = variant == 1,
					     .accumulate = variant == 2,
					     .n_rows = n_rows,
					     .width = width,
					     .d_out = d_out.cpu,
					     .input = kept.cpu,
					     .weight = weight.cpu,
					     .mean = mean.cpu,
					     .rstd = rstd.cpu,
					     .d_residual = d_res.cpu,
					     .weight_grad = dw.cpu,
					     .bias_grad = rms ? NULL : db.cpu,
					     .residual_sums = variant == 1 ? NULL : below.cpu,
					     .recompute_bias = rms ? NULL : bias.cpu,
					     .recompute_out = again.cpu };
		b->cpu->k->norm_bwd(b->cpu, &d);
		d.d_out = d_out.gpu, d.input = kept.gpu, d.weight = weight.gpu, d.mean = mean.gpu, d.rstd = rstd.gpu;
		d.d_residual = d_res.gpu, d.weight_grad = dw.gpu, d.recompute_out = again.gpu;
		d.bias_grad = rms ? NULL : db.gpu, d.recompute_bias = rms ? NULL : bias.gpu;
		d.residual_sums = variant == 1 ? NULL : below.gpu;
		b->gpu->k->norm_bwd(b->gpu, &d);
		same(b, "d_residual", &d_res);
		same(b, "weight gradient", &dw);
		same(b, "sums of d_residual", &below);
		if (!rms)
			same(b, "bias gradient of norm", &db);
		same(b, "norm again", &again);
	}
}

static void norms(struct both *b)
{
	check_norm(b, false, 300, 1024);
	check_norm(b, true, 77, 768);
	check_norm(b, false, 130, 640);
	check_norm(b, true, 33, 2048);
	check_norm(b, true, 700, 4096);
	check_norm(b, false, 65, 5120);
	check_norm(b, true, 9, 12288);
}

static void check_attention(struct both *b, const struct jl_eng_attn *shape)
{
	size_t rows = shape->n_samples * shape->seq, width = (shape->n_heads + 2 * shape->n_kv) * shape->head_dim;
	size_t out_width = shape->n_heads * shape->head_dim;
	struct tensor qkv = make(b, rows * width, 1.5, 0), out = make(b, rows * out_width, 1, 0);
	struct tensor d_out = make(b, rows * out_width, 1, 0), d_qkv = make(b, rows * width, 1, 0);
	struct tensor lse = make_raw(b, rows * shape->n_heads, NULL);
	struct jl_err err = { 0 };
	void *scratch[2] = { NULL, NULL };
	struct jl_engine *engines[2] = { b->cpu, b->gpu };
	struct jl_eng_attn ops[2];
	for (int i = 0; i < 2; i++) {
		size_t scratch_B = engines[i]->k->attn_scratch_B(engines[i], shape);
		if (scratch_B)
			assert_ok(engines[i]->k->alloc(engines[i], scratch_B, JL_MEM_PLAIN, &scratch[i], &err));
		ops[i] = *shape;
		ops[i].qkv = i ? qkv.gpu : qkv.cpu, ops[i].out = i ? out.gpu : out.cpu;
		ops[i].lse = i ? lse.gpu : lse.cpu, ops[i].d_out = i ? d_out.gpu : d_out.cpu;
		ops[i].d_qkv = i ? d_qkv.gpu : d_qkv.cpu, ops[i].scratch = scratch[i];
		engines[i]->k->attn(engines[i], &ops[i]);
	}
	same(b, "attention", &out);
	same_raw(b, "log of the sum of exponentials", &lse, b->tolerance);
	for (int i = 0; i < 2; i++)
		engines[i]->k->attn_bwd(engines[i], &ops[i]);
	same(b, "attention backward", &d_qkv);
}

static void attention(struct both *b)
{
	struct jl_eng_attn shapes[] = {
		{ .n_samples = 2, .seq = 256, .n_heads = 3, .n_kv = 3, .head_dim = 64 },
		{ .n_samples = 1, .seq = 100, .n_heads = 4, .n_kv = 2, .head_dim = 64, .rope_theta = 10000 },
		{ .n_samples = 6,
		  .seq = 130,
		  .n_heads = 16,
		  .n_kv = 16,
		  .head_dim = 64 }, /* several groups of samples */
		{ .n_samples = 9, .seq = 70, .n_heads = 24, .n_kv = 8, .head_dim = 64, .rope_theta = 10000 },
		{ .n_samples = 2, .seq = 37, .n_heads = 2, .n_kv = 1, .head_dim = 128 },
		{ .n_samples = 1, .seq = 192, .n_heads = 2, .n_kv = 2, .head_dim = 128, .rope_theta = 500000 },
		{ .n_samples = 2, .seq = 333, .n_heads = 10, .n_kv = 2, .head_dim = 128, .rope_theta = 10000 },
	};
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		shapes[i].causal = true, check_attention(b, &shapes[i]);
	static const size_t lengths[] = { 1, 40, 64, 65, 197 };
	for (size_t i = 0; i < 2 * sizeof lengths / sizeof *lengths; i++) /* all keys, some of them shared by heads */
		check_attention(b, &(struct jl_eng_attn){ .n_samples = 6,
							  .seq = lengths[i / 2],
							  .n_heads = 4,
							  .n_kv = i / 2 % 2 ? 2 : 4,
							  .head_dim = i % 2 ? 128 : 64 });
}

static void activations(struct both *b)
{
	struct tensor in = make(b, 1003, 3, 0), out = make(b, 1003, 1, 0);
	b->cpu->k->gelu(b->cpu, out.cpu, in.cpu, 1003);
	b->gpu->k->gelu(b->gpu, out.gpu, in.gpu, 1003);
	same(b, "gelu", &out);
	struct tensor gate_up = make(b, 7104, 2, 0), glu = make(b, 3552, 1, 0), d = make(b, 3552, 1, 0);
	b->cpu->k->swiglu(b->cpu, glu.cpu, gate_up.cpu, 37, 96);
	b->gpu->k->swiglu(b->gpu, glu.gpu, gate_up.gpu, 37, 96);
	same(b, "swiglu", &glu);
	b->cpu->k->swiglu_bwd(b->cpu, gate_up.cpu, gate_up.cpu, d.cpu, 37, 96);
	b->gpu->k->swiglu_bwd(b->gpu, gate_up.gpu, gate_up.gpu, d.gpu, 37, 96);
	same(b, "swiglu backward", &gate_up);
}

static void embedding(struct both *b)
{
	enum { SAMPLES = 20, SEQ = 128, WIDTH = 96, VOCAB = 117, ROWS = SAMPLES * SEQ };
	static int32_t values[ROWS];
	for (size_t i = 0; i < ROWS; i++) /* one token is very frequent */
		values[i] = i % 3 ? (int32_t)(fabsf(draw()) * (VOCAB - 1)) : 5;
	struct tensor tokens = make_raw(b, ROWS, values), table = make(b, (size_t)VOCAB * WIDTH, 1, 0);
	struct tensor positions = make(b, (size_t)SEQ * WIDTH, 1, 0), out = make(b, (size_t)ROWS * WIDTH, 1, 0);
	struct jl_eng_embed op = { ROWS, SEQ, WIDTH, tokens.cpu, NULL, table.cpu, positions.cpu, out.cpu };
	b->cpu->k->embed(b->cpu, &op);
	op = (struct jl_eng_embed){ ROWS, SEQ, WIDTH, tokens.gpu, NULL, table.gpu, positions.gpu, out.gpu };
	b->gpu->k->embed(b->gpu, &op);
	same(b, "embedding", &out);
	struct jl_eng_embed_bwd d = { .n_rows = ROWS,
				      .seq = SEQ,
				      .width = WIDTH,
				      .vocab = VOCAB,
				      .tokens = tokens.cpu,
				      .d_out = out.cpu,
				      .table_grad = table.cpu,
				      .position_grad = positions.cpu };
	b->cpu->k->embed_bwd(b->cpu, &d);
	d.tokens = tokens.gpu, d.d_out = out.gpu, d.table_grad = table.gpu, d.position_grad = positions.gpu;
	b->gpu->k->embed_bwd(b->gpu, &d);
	same(b, "token gradient", &table);
	same(b, "position gradient", &positions);
}

static void losses(struct both *b)
{
	enum { ROWS = 70, VOCAB = 1001, LD = 1024 };
	int32_t values[ROWS];
	for (size_t i = 0; i < ROWS; i++)
		values[i] = i % 7 == 3 ? -1 : (int32_t)(i * 13 % VOCAB);
	struct tensor logits = make(b, (size_t)ROWS * LD, 4, 0), targets = make_raw(b, ROWS, values);
	struct tensor loss = make_raw(b, ROWS, NULL);
	struct jl_eng_loss op = { ROWS, VOCAB, LD, logits.cpu, targets.cpu, 0.25, loss.cpu };
	b->cpu->k->loss(b->cpu, &op);
	op = (struct jl_eng_loss){ ROWS, VOCAB, LD, logits.gpu, targets.gpu, 0.25, loss.gpu };
	b->gpu->k->loss(b->gpu, &op);
	same(b, "gradient of logits", &logits);
	same_raw(b, "loss", &loss, 1e-5);
}

static void optimizer(struct both *b)
{
	enum { N = 4003 };
	bool half = b->gpu->elem_B == 2;
	struct tensor param = make(b, N, 1, 0), grad = make(b, N, 1, 0), more = make(b, N, 1, 0);
	struct tensor master = make_raw(b, N, param.cpu), m = make_raw(b, N, grad.cpu), v = make_raw(b, N, NULL);
	struct tensor sum = make_raw(b, 1, NULL);
	struct jl_eng_scalars scalars = { .lr = 1e-2,
					  .beta1 = 0.9,
					  .beta2 = 0.95,
					  .eps = 1e-8,
					  .weight_decay = 0.1,
					  .clip = 10,
					  .grad_mul = 0.5,
					  .step = 3 };
	struct jl_engine *engines[2] = { b->cpu, b->gpu };
	for (int i = 0; i < 2; i++) {
		struct jl_engine *e = engines[i];
		e->k->grad_add(e, i ? grad.gpu : grad.cpu, i ? more.gpu : more.cpu, N);
		e->k->set_scalars(e, &scalars);
		e->k->grad_norm_sq(e, i ? sum.gpu : sum.cpu, i ? grad.gpu : grad.cpu, N, false);
		e->k->grad_norm_sq(e, i ? sum.gpu : sum.cpu, i ? more.gpu : more.cpu, N, true);
		e->k->adamw(e, &(struct jl_eng_adamw){ .n = N,
						       .param = i ? param.gpu : param.cpu,
						       .master = half && i ? master.gpu : NULL,
						       .m = i ? m.gpu : m.cpu,
						       .v = i ? v.gpu : v.cpu,
						       .grad = i ? grad.gpu : grad.cpu,
						       .norm_sq = i ? sum.gpu : sum.cpu });
	}
	same(b, "sum of gradients", &grad);
	same_raw(b, "norm of gradients", &sum, b->tolerance);
	same_raw(b, "first moment", &m, b->tolerance);
	same_raw(b, "second moment", &v, b->tolerance);
	same(b, "parameters", &param);
}

static void in_all_precisions(void (*test)(struct both *b))
{
	if (!there_is_a_gpu())
		skip();
	for (int p = 0, n = n_precisions(); p < n; p++) {
		struct both b = open_both((enum jl_train_precision)p);
		test(&b);
		close_both(&b);
	}
}

#define ON_GPU(name)                                                                                                   \
	static void test_##name(void **state)                                                                          \
	{                                                                                                              \
		(void)state;                                                                                           \
		in_all_precisions(name);                                                                               \
	}

ON_GPU(products)
ON_GPU(norms)
ON_GPU(attention)
ON_GPU(activations)
ON_GPU(embedding)
ON_GPU(losses)
ON_GPU(optimizer)

struct run {
	double losses[TINY_STEPS];
	float gradient[128 * 512];
};

static void run_tiny(const struct jl_engine_kernels *k, const struct jl_model_info *model,
		     enum jl_train_precision precision, struct run *ret_run)
{
	struct jl_err err = { 0 };
	struct jl_train_shape shape;
	struct jl_tokens tokens;
	struct jl_engine *engine;
	struct jl_trainer *train;
	int32_t in[TINY_BATCH * TINY_SEQ], out[TINY_BATCH * TINY_SEQ];
	assert_ok(jl_train_shape(model, 1, &shape, &err));
	assert_ok(jl_tokens_open(&tokens, NULL, shape.vocab, tiny_inputs(model), &err));
	assert_ok(k->create(&(struct jl_engine_in){ .precision = precision, .n_threads = 4 }, &engine, &err));
	struct jl_trainer_in setting = jl_trainer_defaults;
	setting.shape = &shape;
	setting.n_samples = TINY_BATCH;
	setting.seq = tiny_seq(model);
	setting.lr = TINY_LR;
	assert_ok(jl_trainer_create(engine, &setting, &train, &err));
	for (size_t step = 0; step < TINY_STEPS; step++) {
		tiny_batch(&tokens, model, step * TINY_BATCH, TINY_BATCH, in, out);
		assert_ok(jl_trainer_step(train, in, out, &ret_run->losses[step], &err));
		if (step == 0 && engine->elem_B == 4)
			assert_ok(jl_trainer_weight(train, JL_W_DOWN, 0, true, ret_run->gradient, &err));
	}
	jl_trainer_destroy(train);
	k->destroy(engine);
	jl_tokens_close(&tokens);
}

/* 20 steps, recorded as a graph from the second on, give the losses of the CPU; the first gradient of the lowest layer
 * too. */
static void whole_steps(void **state)
{
	(void)state;
	static const double loss_tolerances[] = { 1e-4, 2e-3, 2e-2, 1e-2 }, grad_tolerances[] = { 1e-4, 5e-3, 0, 0 };
	static struct run cpu, gpu;
	if (!there_is_a_gpu())
		skip();
	for (size_t m = 0; m < N_TRAINED; m++) {
		if (!jl_engine_cuda.supports_head_dim((size_t)tiny[m].head_dim))
			continue;
		run_tiny(&jl_engine_cpu, &tiny[m], JL_TRAIN_FP32, &cpu);
		for (int p = 0, n_all = tiny[m].patch > 0 ? JL_TRAIN_FP8 : n_precisions(); p < n_all; p++) {
			double worst = 0, off = 0, all = 0;
			run_tiny(&jl_engine_cuda, &tiny[m], (enum jl_train_precision)p, &gpu);
			for (size_t i = 0; i < TINY_STEPS; i++)
				worst = isnan(gpu.losses[i]) ? INFINITY
							     : fmax(worst, fabs(gpu.losses[i] / cpu.losses[i] - 1));
			size_t n = (size_t)(tiny[m].hidden * tiny[m].ffn);
			for (size_t i = 0; i < n; i++) {
				off += pow((double)gpu.gradient[i] - (double)cpu.gradient[i], 2);
				all += pow((double)cpu.gradient[i], 2);
			}
			print_message("%s %s: loss %.4f to %.4f, largest difference %.2g, gradient %.2g\n", tiny[m].id,
				      jl_train_precision_names[p], gpu.losses[0], gpu.losses[TINY_STEPS - 1], worst,
				      p >= JL_TRAIN_BF16 ? (double)NAN : sqrt(off / all));
			assert_true(worst <= loss_tolerances[p]);
			if (p < JL_TRAIN_BF16)
				assert_true(sqrt(off / all) <= grad_tolerances[p]);
		}
	}
}

/* Heads that share keys in every number that has a kernel, long enough for several stretches of keys. Two tokens that are nearer than
 * the format's tolerance may change places; what follows in that sample is then another answer. */
static void decoding(void **state)
{
	(void)state;
	static const double tolerances[] = { 1e-4, 3e-3, 3e-2 };
	static struct decoded cpu, gpu;
	struct jl_model_info models[6] = { tiny[0], tiny[2], tiny[2], tiny[2], tiny[2], tiny[2] };
	if (!there_is_a_gpu())
		skip();
	for (size_t m = 0; m < 6; m++) {
		static const double heads[6] = { 2, 2, 4, 8, 12, 2 }, dims[6] = { 64, 64, 64, 128, 64, 128 };
		struct jl_err err = { 0 };
		struct jl_train_shape shape;
		int32_t prompts[DECODE_BATCH * DECODE_PROMPT];
		models[m].heads = heads[m];
		models[m].head_dim = dims[m];
		models[m].kv_heads = m == 0 ? 2 : 1;
		assert_ok(jl_train_shape(&models[m], 1, &shape, &err));
		decode_prompts(shape.vocab, prompts);
		for (int p = 0; p <= JL_TRAIN_BF16; p++) {
			struct both b = open_both((enum jl_train_precision)p);
			struct jl_trainer *here = decoder_of(b.cpu, &shape, DECODE_PROMPT, false),
					  *there = decoder_of(b.gpu, &shape, DECODE_PROMPT, false);
			size_t n_other, n_parted = 0;
			decode_all(here, prompts, DECODE_BATCH, &cpu);
			decode_all(there, prompts, DECODE_BATCH, &gpu);
			double first = decode_off(gpu.logits[0], cpu.logits[0], DECODE_BATCH * shape.vocab);
			double off = decode_differs(b.gpu, &shape, false, prompts, &gpu, tolerances[p], &n_other);
			for (size_t s = 0; s < DECODE_BATCH; s++) {
				size_t i = 0;
				while (i < DECODE_ANSWER && gpu.tokens[i][s] == cpu.tokens[i][s])
					i++;
				n_parted += i < DECODE_ANSWER &&
					    !decode_tie(cpu.logits[i], s, shape.vocab, tolerances[p]);
			}
			print_message("%s heads %g of %g, %s: prompt %.2g from the CPU; decoded %.2g from whole "
				      "passes; without "
				      "a tie %zu tokens differ, %zu samples part from the CPU's\n",
				      models[m].id, heads[m], dims[m], jl_train_precision_names[p], first, off, n_other,
				      n_parted);
			assert_true(first <= tolerances[p] && off <= tolerances[p]);
			assert_true(n_other == 0 && n_parted == 0);
			jl_trainer_destroy(here);
			jl_trainer_destroy(there);
			close_both(&b);
		}
	}
}

/* Several stretches of keys and recorded passes: 300 tokens one by one against the CPU, and the product of few rows against the library's. */
static void long_decoding(void **state)
{
	(void)state;
	enum { PROMPT = 40, ANSWER = 300 };
	struct jl_err err = { 0 };
	struct jl_train_shape shape;
	static int32_t prompts[8 * PROMPT], tokens[2][ANSWER][8];
	if (!there_is_a_gpu())
		skip();
	struct both b = open_both(JL_TRAIN_FP32);
	assert_ok(jl_train_shape(&tiny[2], 1, &shape, &err));
	struct jl_trainer_in in = jl_trainer_defaults;
	in.shape = &shape;
	in.n_samples = 8;
	in.seq = PROMPT;
	in.max_tokens = PROMPT + ANSWER;
	for (size_t i = 0; i < (size_t)8 * PROMPT; i++)
		prompts[i] = (int32_t)(jl_train_mix(i) % shape.vocab);
	for (size_t n = 1; n <= 8; n *= 2) {
		for (int e = 0; e < 2; e++) {
			struct jl_trainer *decoder;
			assert_ok(jl_trainer_create(e ? b.gpu : b.cpu, &in, &decoder, &err));
			assert_ok(jl_decode_prompt(decoder, prompts, n, tokens[e][0], &err));
			for (size_t i = 1; i < ANSWER; i++)
				assert_ok(jl_decode_next(decoder, 1, tokens[e][i], &err));
			jl_trainer_destroy(decoder);
		}
		for (size_t s = 0; s < n; s++) {
			size_t same = 0;
			while (same < ANSWER && tokens[0][same][s] == tokens[1][same][s])
				same++;
			print_message("batch %zu, sample %zu: %zu of %d tokens as on the CPU\n", n, s, same, ANSWER);
			assert_true(same >= ANSWER / 2); /* two nearly equal logits may part them */
		}
	}
	close_both(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_products),    cmocka_unit_test(test_norms),     cmocka_unit_test(test_attention),
		cmocka_unit_test(test_activations), cmocka_unit_test(test_embedding), cmocka_unit_test(test_losses),
		cmocka_unit_test(test_optimizer),   cmocka_unit_test(whole_steps),    cmocka_unit_test(decoding),
		cmocka_unit_test(long_decoding),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
