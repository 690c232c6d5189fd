/* jeoul bench infer: prompts and tokens of a real decoder on this machine, and what is predicted of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/find.h"
#include "cli/bench_session.h"
#include "cli/this_machine.h"
#include "cli/view.h"
#include "train/decode_run.h"

#define PROMPT  512
#define ANSWER  128
#define RATES_S 0.5 /* with less time than this the machine's own rates are not measured, and nothing is predicted */

static const char *const weights_names[] = { "int8", NULL };

const struct jl_option jl_bench_infer_options[] = {
	JL_O_TEXT("model", "NAME", JL_N("a dense decoder of the catalog (default: gpt-305m)")),
	JL_O_TEXT("batch", "N,N...", JL_N("samples that are answered at once (default: 1,8)")),
	JL_O_COUNT("prompt", "TOKENS", 1, 1000000,
		   JL_N("of each question (default: 512, or what the model's positions leave)")),
	JL_O_COUNT("answer", "TOKENS", 2, 1000000, JL_N("of each answer (default: 128)")),
	JL_O_CHOICE("precision", "NAME", jl_train_precision_names,
		    JL_N("fp32, tf32 or bf16 (default: fp32 on a CPU, bf16 on a GPU)")),
	JL_O_CHOICE("weights", "NAME", weights_names,
		    JL_N("int8: weights of products, on a CPU (default: as they are)")),
	JL_O_COUNT("threads", "N", 1, 1024, JL_N("of the CPU (default: the cores)")),
	JL_BENCH_OPTIONS,
	{ 0 },
};

struct asked {
	struct jl_bench_session session;
	struct jl_decode_run run;
};

static const int columns[] = { 7, 13, 11, 11, 10, 11, 9 };

static void view_head(struct jl_cli *cli, const struct jl_decode_run *run)
{
	const struct jl_train_run *base = &run->base;

	if (cli->json)
		return;
	jl_buf_printf(&cli->out, JL_("%s%s%s · prompt %zu · answer %zu tokens\n%s%s · %s\n\n"), jl_view_bold(cli),
		      base->model->name ? base->model->name : base->model->id, jl_view_reset(cli), base->seq,
		      run->answer, jl_train_precision_names[base->precision], run->int8 ? JL_(", int8 weights") : "",
		      jl_msg(base->kernels->en));
	JL_LIVE(cli, columns, JL_("batch"), JL_("first token"), JL_("token"), JL_("90 %"), JL_("tokens/s"),
		JL_("bandwidth"), JL_("memory"));
	jl_buf_puts(&cli->out, "\n");
}

static void view_predicted(struct jl_cli *cli, const char *name, const struct jl_estimate *e, double seen_s)
{
	if (isfinite(e->value))
		jl_buf_printf(&cli->out, JL_("%8s%s%s: predicted %s (%s–%s), %s%s\n"), "", jl_view_dim(cli), name,
			      jl_units_text(JL_TXT, e->value, JL_K_TIME, 3), jl_units_text(JL_TXT, e->lo, JL_K_TIME, 3),
			      jl_units_text(JL_TXT, e->hi, JL_K_TIME, 3),
			      seen_s < e->lo   ? JL_("measured below")
			      : seen_s > e->hi ? JL_("measured above")
					       : JL_("measured inside"),
			      jl_view_reset(cli));
}

static void on_done(void *ctx, const struct jl_decode_result *r)
{
	struct asked *a = ctx;
	struct jl_cli *cli = a->session.cli;
	struct jl_draft draft;
	const struct jl_record record = jl_decode_record(&draft, r, &a->run);
	const double frac = jl_decode_bandwidth_frac(r);
	char batch[24], share[16];

	a->session.n_done++;
	jl_bench_keep_record(&a->session, &record, r->versions);
	if (cli->json)
		return;
	(void)snprintf(batch, sizeof batch, "%zu", r->batch);
	(void)snprintf(share, sizeof share, isfinite(frac) ? "%.0f %%" : "–", 100 * frac);
	JL_LIVE(cli, columns, batch, jl_units_text(JL_TXT, r->ttft_s.median, JL_K_TIME, 3),
		jl_units_text(JL_TXT, r->tpot_s.median, JL_K_TIME, 3),
		jl_units_text(JL_TXT, r->tpot_p90_s, JL_K_TIME, 3),
		jl_units_text(JL_TXT, (double)r->batch / r->tpot_s.median, JL_K_NUMBER, 3), share,
		jl_units_text(JL_TXT, r->mem_B, JL_K_BYTES, 3));
	jl_buf_puts(&cli->out, r->noise.noisy ? " ~\n" : "\n");
	view_predicted(cli, JL_("first token"), &r->ttft_predicted_s, r->ttft_s.median);
	view_predicted(cli, JL_("token"), &r->tpot_predicted_s, r->tpot_s.median);
	jl_bench_flush(&a->session);
}

static bool on_tick(void *ctx, const struct jl_train_config *config, size_t n_rounds)
{
	(void)config;
	(void)n_rounds;
	jl_bench_progress(&((struct asked *)ctx)->session, 0.5);
	return !jl_bench_stop(NULL);
}

static enum jl_status read_batches(struct jl_decode_run *run, const char *text, struct jl_err *err)
{
	char word[JL_ITEM_MAX], *end;

	for (text = text ? text : "1,8"; jl_next_item(&text, word);) {
		const long n = strtol(word, &end, 10);

		if (end == word || *end || n < 1 || n > 65536)
			return jl_fail(err, JL_E_USAGE, "--batch: '%s' is no number from 1 to 65536; write e.g. 1,8",
				       word);
		if (run->n_batches >= JL_DECODE_BATCHES_MAX)
			return jl_fail(err, JL_E_LIMIT, "--batch: more than %d", JL_DECODE_BATCHES_MAX);
		run->batches[run->n_batches++] = (size_t)n;
	}
	return JL_OK;
}

static enum jl_status read_asked(struct asked *a, struct jl_err *err)
{
	struct jl_cli *cli = a->session.cli;
	struct jl_train_run *base = &a->run.base;
	const int precision = jl_chosen(cli, "precision", jl_train_precision_names);
	const char *model = jl_text(cli, "model");
	struct jl_train_shape shape;

	JL_TRY(jl_find_model(&base->model, cli->cat, model ? model : "gpt-305m", err));
	JL_TRY(jl_train_shape(base->model, 1, &shape, err));
	JL_TRY(jl_bench_engine(cli, &base->kernels, err));
	JL_TRY(read_batches(&a->run, jl_text(cli, "batch"), err));
	const bool on_cpu = strcmp(base->kernels->name, "cpu") == 0;

	(void)jl_this_machine_probe(cli, &base->here, NULL); /* without it nothing is predicted */
	base->cat = cli->cat;
	base->precision = precision >= 0 ? (enum jl_train_precision)precision : on_cpu ? JL_TRAIN_FP32 : JL_TRAIN_BF16;
	base->n_threads = (int)jl_whole(cli, "threads", 0);
	base->time_s = jl_bench_time_s(cli, a->run.n_batches, on_cpu ? 10 : 3);
	base->no_rates = jl_given(cli, "time") && jl_given(cli, "time")->value < RATES_S;
	base->tick = on_tick;
	base->ctx = a;
	a->run.done = on_done;
	a->run.int8 = jl_chosen(cli, "weights", weights_names) == 0;
	a->run.answer = (size_t)jl_whole(cli, "answer", ANSWER);
	const size_t room = shape.n_positions > a->run.answer ? shape.n_positions - a->run.answer : 1;

	base->seq = (size_t)jl_whole(cli, "prompt", (long)(shape.n_positions && room < PROMPT ? room : PROMPT));
	return JL_OK;
}

enum jl_status jl_cmd_bench_infer(struct jl_cli *cli, struct jl_err *err)
{
	struct asked *a = jl_arena_alloc(&cli->arena, sizeof *a);

	JL_TRY(jl_got(a, err));
	enum jl_status status = jl_bench_begin(&a->session, cli, err);

	JL_THEN(status, read_asked(a, err));
	if (!status) {
		a->session.n_tasks = (double)a->run.n_batches;
		view_head(cli, &a->run);
		jl_bench_draw(&a->session);
		status = jl_decode_run(&a->run, err);
	}
	return jl_bench_close(&a->session, status);
}
