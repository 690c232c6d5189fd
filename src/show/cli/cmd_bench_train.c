/* jeoul bench train: a real training step on one or more workers, with an explanation of its scaling. jeoul bench infer: prompts and tokens of
 * the same networks as decoders, with predictions. */
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "cli/bench_session.h"
#include "cli/bench_tcp.h"
#include "cli/this_machine.h"
#include "cli/view.h"
#include "gpu/cuda.h"
#include "train/records.h"
#include "train/run.h"

#define GPU_TIME_S       3.0 /* seconds per configuration: GPU energy counters update too slowly for five steps */
#define WORKERS_TEXT_MAX 96
#define NOTABLE_FRAC     0.15 /* share of a step that is worth a sentence */
#define BATCH_MAX        65536
#define CPU_ANSWERS_S    10.0 /* seconds per batch on a CPU */
#define RATES_S          0.5  /* with less time the machine's rates are not measured, and nothing is predicted */

const struct jl_option jl_bench_train_options[] = {
	JL_O_TEXT("model", "NAME", JL_N("a dense decoder or a vision transformer of the catalog (default: gpt-305m)")),
	JL_O_COUNT("batch", "N", 1, 1000000, JL_N("samples of one worker and micro-batch (default: 4)")),
	JL_O_COUNT("seq", "N", 1, 1000000, JL_N("tokens of a sample (default: 512; images have their own)")),
	JL_O_CHOICE("precision", "NAME", jl_train_precision_names,
		    JL_N("fp32, tf32, bf16 or fp8 (default: fp32 on a CPU, bf16 on a GPU)")),
	JL_O_TEXT("workers", "N,N...", JL_N("how many (default: 1,2; GPUs: 1,2,4 ... as many as there are)")),
	JL_O_TEXT("mode", "NAME,...", JL_N("ddp, zero1, zero2, zero3 (default: ddp,zero2)")),
	JL_O_COUNT("steps", "N", 1, JL_TRAIN_STEPS_MAX - 1,
		   JL_N("to measure of each configuration (default: 5; GPUs: 3 s of them)")),
	JL_O_COUNT("accumulate", "N", 1, 10000, JL_N("micro-batches of a step (default: 1)")),
	JL_O_FLAG("recompute",
		  JL_N("keep only the input of each layer and recompute the rest in backward: less memory")),
	JL_O_TEXT("tokens", "FILE", JL_N("train on these: little-endian 16-bit numbers, 32-bit if it ends in .u32")),
	JL_O_COUNT("threads", "N", 1, 1024, JL_N("of each worker (default: the cores, shared evenly)")),
	JL_BENCH_TCP_OPTIONS,
	JL_BENCH_OPTIONS,
	{ 0 },
};

static const char *const weights_names[] = { "int8", NULL };

const struct jl_option jl_bench_infer_options[] = {
	JL_O_TEXT("model", "NAME", JL_N("a dense decoder of the catalog (default: gpt-305m)")),
	JL_O_TEXT("batch", "N,N...", JL_N("samples answered at once (default: 1,8)")),
	JL_O_COUNT("prompt", "TOKENS", 1, 1000000,
		   JL_N("of each question (default: 512, or what the model's positions leave)")),
	JL_O_COUNT("answer", "TOKENS", 2, 1000000, JL_N("of each answer (default: 128)")),
	JL_O_CHOICE("precision", "NAME", jl_train_precision_names,
		    JL_N("fp32, tf32, bf16 or fp8 (default: fp32 on a CPU, bf16 on a GPU)")),
	JL_O_CHOICE("weights", "NAME", weights_names,
		    JL_N("int8: weights of products, on a CPU (default: as they are)")),
	JL_O_COUNT("threads", "N", 1, 1024, JL_N("of the CPU (default: the cores)")),
	JL_BENCH_OPTIONS,
	{ 0 },
};

/* --- terminal output: scaling table, then explanation */

struct table {
	struct jl_train_result rows[JL_TRAIN_CONFIGS_MAX];
	size_t n;
};

static const int columns[] = { 9, 7, 11, 8, 10, 8, 9, 9 };

static const char *number(char ret_text[JL_UNITS_TEXT_MAX], double value)
{
	return isfinite(value) ? jl_units_text(ret_text, value, JL_K_NUMBER, 3) : "–";
}

static const char *per_cent(char ret_text[16], double frac)
{
	(void)snprintf(ret_text, 16, isfinite(frac) ? "%.0f %%" : "–", 100 * frac);
	return ret_text;
}

static void view_head(struct jl_cli *cli, const struct jl_train_run *run, double n_params)
{
	struct jl_buf *out = &cli->out;

	if (cli->json)
		return;
	jl_buf_printf(out, JL_("%s%s%s · %s parameters · batch %zu a worker · sequence %zu"), jl_view_bold(cli),
		      run->model->name ? run->model->name : run->model->id, jl_view_reset(cli),
		      jl_value_text(JL_TXT, n_params, JL_K_NUMBER, false), run->batch, run->seq);
	if (run->n_micro > 1)
		jl_buf_printf(out, JL_(" · %zu accumulated"), run->n_micro);
	if (run->recompute)
		jl_buf_puts(out, JL_(" · layers recomputed in backward"));
	jl_buf_printf(out, "\n%s · AdamW · %s · %s\n\n", jl_train_precision_names[run->precision],
		      jl_msg(run->kernels->en),
		      run->tokens             ? JL_("tokens from a file")
		      : run->model->patch > 0 ? JL_("synthetic images")
					      : JL_("synthetic tokens"));
	JL_LIVE(cli, columns, JL_("workers"), JL_("mode"), JL_("samples/s"), JL_("ideal"), JL_("speed-up"),
		JL_("effic."), JL_("exposed"), JL_("memory"));
	jl_buf_puts(out, "\n");
}

/* The first result with one worker; NULL: none. */
static const struct jl_train_result *first_alone(const struct table *table)
{
	for (const struct jl_train_result *r = table->rows; r < table->rows + table->n; r++)
		if (r->status == JL_OK && r->config.n_workers == 1)
			return r;
	return NULL;
}

static void under_row(struct jl_cli *cli, const struct jl_train_result *r)
{
	const double n_samples = r->samples_per_s * r->step_s.median;
	struct jl_buf *out = &cli->out;

	jl_buf_printf(out, "%16s%sloss %.3f → %.3f", "", jl_view_dim(cli), r->loss_first, r->loss_last);
	if (isfinite(r->predicted_s.value))
		jl_buf_printf(out, JL_(" · predicted %s (%s–%s)"), number(JL_TXT, n_samples / r->predicted_s.value),
			      number(JL_TXT, n_samples / r->predicted_s.hi),
			      number(JL_TXT, n_samples / r->predicted_s.lo));
	jl_buf_printf(out, "%s%s\n", r->noise.noisy ? " ~" : "", jl_view_reset(cli));
	if (isfinite(r->energy_J))
		jl_buf_printf(out, JL_("%16s%s%s a step · %s a sample · %s (%s)%s\n"), "", jl_view_dim(cli),
			      jl_units_text(JL_TXT, r->energy_J, JL_K_ENERGY, 3),
			      jl_units_text(JL_TXT, r->energy_J / n_samples, JL_K_ENERGY, 3),
			      jl_units_text(JL_TXT, r->energy_J / r->step_s.median, JL_K_POWER, 3), r->energy_from,
			      jl_view_reset(cli));
}

static void view_row(struct jl_cli *cli, struct table *table, const struct jl_train_result *r)
{
	const struct jl_train_result *alone;
	char workers[16], times[16];
	double ideal;

	if (table->n >= JL_TRAIN_CONFIGS_MAX)
		return;
	table->rows[table->n++] = *r;
	if (cli->json)
		return;
	alone = first_alone(table);
	ideal = alone ? alone->samples_per_s * r->config.n_workers : NAN;
	(void)snprintf(workers, sizeof workers, "%d", r->config.n_workers);
	(void)snprintf(times, sizeof times, alone ? "%.2fx" : "–", alone ? r->samples_per_s / alone->samples_per_s : 0);
	jl_view_live(
		cli, columns, 2,
		(const char *const[]){ workers, r->config.n_workers == 1 ? "–" : jl_train_mode_names[r->config.mode] });
	if (r->status != JL_OK) {
		jl_buf_printf(&cli->out, "  %s: %s\n", JL_("failed"), r->err.text);
		return;
	}
	jl_view_live(cli, columns + 2, JL_LEN(columns) - 2,
		     (const char *const[]){ number(JL_TXT, r->samples_per_s), number(JL_TXT, ideal), times,
					    per_cent(JL_TXT, r->samples_per_s / ideal),
					    per_cent(JL_TXT, r->exposed_s / r->step_s.median),
					    jl_units_text(JL_TXT, r->mem_B, JL_K_BYTES, 3) });
	jl_buf_puts(&cli->out, "\n");
	under_row(cli, r);
}

/* The row that the explanation is about: most workers, then the fastest. */
static const struct jl_train_result *largest(const struct table *table)
{
	const struct jl_train_result *best = NULL;

	for (const struct jl_train_result *r = table->rows; r < table->rows + table->n; r++)
		if (r->status == JL_OK &&
		    (!best || r->config.n_workers > best->config.n_workers ||
		     (r->config.n_workers == best->config.n_workers && r->samples_per_s > best->samples_per_s)))
			best = r;
	return best;
}

static void why_compute(struct jl_doc *doc, const struct jl_train_result *r, const struct jl_train_run *run)
{
	const double cpu_frac = jl_train_gemm_cpu_frac(r, run);

	if (isfinite(jl_train_gemm_frac(r)))
		jl_show_entry(
			doc, JL_("Compute"), JL_MEASURED,
			JL_("%s of %s that this machine's own product reaches: %.0f %%%s"),
			jl_units_text(JL_TXT, r->flop / r->step_s.median, JL_K_FLOP_RATE, 3),
			jl_units_text(JL_TXT, r->rates.gemm_flopps, JL_K_FLOP_RATE, 3), 100 * jl_train_gemm_frac(r),
			isfinite(cpu_frac) ? jl_doc_format(doc, JL_("; by CPU time %.0f %%"), 100 * cpu_frac) : "");
}

static void view_why(struct jl_cli *cli, const struct jl_train_run *run, const struct table *table)
{
	const struct jl_train_result *r = largest(table), *alone = first_alone(table);
	struct jl_doc doc;

	if (cli->json || !r)
		return;
	jl_buf_puts(&cli->out, "\n");
	jl_view_page(cli, &doc);
	why_compute(&doc, alone ? alone : r, run);
	if (r->config.n_workers > 1)
		jl_show_entry(&doc, JL_("Exchange"), JL_MEASURED,
			      JL_("%.0f %% of the step is spent waiting for other workers: %s of gradients, all-reduce "
				  "alone %s here, %.2g s if nothing hides it"),
			      100 * r->exposed_s / r->step_s.median, jl_units_text(JL_TXT, r->grad_B, JL_K_BYTES, 3),
			      jl_units_text(JL_TXT, r->rates.allreduce_Bps, JL_K_BYTE_RATE, 3),
			      r->grad_B / r->rates.allreduce_Bps);
	/* workers sharing the same cores cannot be faster than one worker with all of them */
	if (strcmp(run->kernels->name, "cpu") == 0 && alone && r->n_threads < alone->n_threads)
		jl_show_entry(&doc, JL_("Why"), JL_MEASURED,
			      JL_("one worker already uses all %.0f cores; more workers share them. --threads 1 gives "
				  "each one core and shows how they scale"),
			      (double)alone->n_threads);
	if (r->config.n_workers > 1 && r->exposed_s > NOTABLE_FRAC * r->step_s.median && run->n_micro == 1)
		JL_ENTRY(&doc, JL_("Try"), JL_MEASURED,
			 "--accumulate 4: gradients are exchanged once for four micro-batches");
	(void)jl_view_show(cli, &doc, NULL); /* memory failures are reported at the end */
}

/* --- decoding: one row per batch, with prediction */

static const int answer_columns[] = { 7, 13, 11, 11, 10, 11, 9 };

static const char *seconds(char ret_text[JL_UNITS_TEXT_MAX], double value)
{
	return jl_units_text(ret_text, value, JL_K_TIME, 3);
}

static void answers_head(struct jl_cli *cli, const struct jl_train_run *run)
{
	if (cli->json)
		return;
	jl_buf_printf(&cli->out, JL_("%s%s%s · prompt %zu · answer %zu tokens\n%s%s · %s\n\n"), jl_view_bold(cli),
		      run->model->name ? run->model->name : run->model->id, jl_view_reset(cli), run->seq, run->answer,
		      jl_train_precision_names[run->precision], run->int8 ? JL_(", int8 weights") : "",
		      jl_msg(run->kernels->en));
	JL_LIVE(cli, answer_columns, JL_("batch"), JL_("first token"), JL_("token"), JL_("90 %"), JL_("tokens/s"),
		JL_("bandwidth"), JL_("memory"));
	jl_buf_puts(&cli->out, "\n");
}

static void view_predicted(struct jl_cli *cli, const char *name, const struct jl_estimate *e, double seen_s)
{
	if (isfinite(e->value))
		jl_buf_printf(&cli->out, JL_("%8s%s%s: predicted %s (%s–%s), %s%s\n"), "", jl_view_dim(cli), name,
			      seconds(JL_TXT, e->value), seconds(JL_TXT, e->lo), seconds(JL_TXT, e->hi),
			      seen_s < e->lo   ? JL_("measured below")
			      : seen_s > e->hi ? JL_("measured above")
					       : JL_("measured inside"),
			      jl_view_reset(cli));
}

static void answers_row(struct jl_cli *cli, const struct jl_train_result *r)
{
	char batch[24];

	if (cli->json)
		return;
	(void)snprintf(batch, sizeof batch, "%zu", r->config.batch);
	JL_LIVE(cli, answer_columns, batch, seconds(JL_TXT, r->first_s.median), seconds(JL_TXT, r->step_s.median),
		seconds(JL_TXT, r->step_p90_s), number(JL_TXT, r->samples_per_s), per_cent(JL_TXT, r->bandwidth_frac),
		jl_units_text(JL_TXT, r->mem_B, JL_K_BYTES, 3));
	jl_buf_puts(&cli->out, r->noise.noisy ? " ~\n" : "\n");
	view_predicted(cli, JL_("first token"), &r->first_predicted_s, r->first_s.median);
	view_predicted(cli, JL_("token"), &r->predicted_s, r->step_s.median);
}

/* --- options */

struct asked {
	struct jl_bench_session session;
	struct jl_train_run run;
	struct table table;
	struct jl_comm *mpi; /* or hosts joined by --listen and --to */
	double n_params;
	size_t n_failed;
};

static enum jl_status read_modes(struct jl_cli *cli, enum jl_train_mode *ret_modes, size_t *ret_n, struct jl_err *err)
{
	const char *text = jl_text(cli, "mode");
	char word[JL_ITEM_MAX];
	size_t n = 0;
	for (text = text ? text : "ddp,zero2"; jl_next_item(&text, word);) {
		size_t m = 0;
		while (m < JL_N_TRAIN_MODE && strcmp(word, jl_train_mode_names[m]) != 0)
			m++;
		if (m == JL_N_TRAIN_MODE || n >= JL_N_TRAIN_MODE)
			return jl_fail(err, JL_E_USAGE, "--mode: '%s' is none of ddp, zero1, zero2, zero3", word);
		ret_modes[n++] = (enum jl_train_mode)m;
	}
	*ret_n = n;
	return JL_OK;
}

static bool on_cpu(const struct asked *a)
{
	return strcmp(a->run.kernels->name, "cpu") == 0;
}

/* Default numbers of workers: all ranks of a launcher; on a CPU 1 and 2; with GPUs 1, 2, 4 ... up to all. */
static void usual_workers(const struct asked *a, char ret_text[WORKERS_TEXT_MAX])
{
	int n_gpus = on_cpu(a) ? 2 : jl_gpu_count();
	int n = snprintf(ret_text, WORKERS_TEXT_MAX, "%d", a->mpi ? a->mpi->n_ranks : 1);
	for (int i = 2; !a->mpi && i < 2 * n_gpus && n < WORKERS_TEXT_MAX - 16; i *= 2)
		n += snprintf(ret_text + n, (size_t)(WORKERS_TEXT_MAX - n), ",%d", i < n_gpus ? i : n_gpus);
}

/* The next number of a list; 0: end of the list, or *ret_status is set. */
static long next_number(const char **text, const char *option, long most, enum jl_status *ret_status,
			struct jl_err *err)
{
	char word[JL_ITEM_MAX], *end;
	if (!jl_next_item(text, word))
		return 0;
	long n = strtol(word, &end, 10);
	if (end != word && !*end && n >= 1 && n <= most)
		return n;
	*ret_status = jl_fail(err, JL_E_USAGE, "--%s: '%s' is not a number from 1 to %ld; write e.g. 1,2,4", option,
			      word, most);
	return 0;
}

static enum jl_status add_config(struct asked *a, struct jl_train_config config, struct jl_err *err)
{
	if (a->run.n_configs >= JL_TRAIN_CONFIGS_MAX)
		return jl_fail(err, JL_E_LIMIT, "more than %d configurations", JL_TRAIN_CONFIGS_MAX);
	a->run.configs[a->run.n_configs++] = config;
	return JL_OK;
}

/* All combinations of worker counts and modes; a single worker shares nothing, so it runs once. */
static enum jl_status read_configs(struct asked *a, struct jl_err *err)
{
	struct jl_cli *cli = a->session.cli;
	enum jl_train_mode modes[JL_N_TRAIN_MODE];
	size_t n_modes = 0;
	enum jl_status status = JL_OK;
	const char *text = jl_text(cli, "workers");
	char usual[WORKERS_TEXT_MAX];
	JL_TRY(read_modes(cli, modes, &n_modes, err));
	usual_workers(a, usual);
	text = text ? text : usual;
	for (long n; (n = next_number(&text, "workers", JL_TRAIN_WORKERS_MAX, &status, err)) > 0;) {
		if (a->mpi && n != 1 && n != a->mpi->n_ranks)
			return jl_fail(err, JL_E_USAGE, "--workers %ld: the launcher started %d; write %d, or 1", n,
				       a->mpi->n_ranks, a->mpi->n_ranks);
		for (size_t m = 0; m < (n == 1 ? 1 : n_modes); m++)
			JL_TRY(add_config(a,
					  (struct jl_train_config){ .n_workers = (int)n,
								    .mode = n == 1 ? JL_TRAIN_DDP : modes[m] },
					  err));
	}
	return status;
}

/* The engine of --backend, otherwise the first available; --threads implies the CPU. */
static enum jl_status choose_engine(struct asked *a, struct jl_err *err)
{
	const bool threads = jl_whole(a->session.cli, "threads", 0) > 0;
	const char *backend = jl_text(a->session.cli, "backend"), *wanted = backend || !threads ? backend : "cpu";
	enum jl_status status = JL_E_ABSENT;
	for (size_t i = 0; jl_engines[i] && status != JL_OK; i++) {
		if (wanted && strcmp(wanted, jl_engines[i]->name) != 0)
			continue;
		a->run.kernels = jl_engines[i];
		status = jl_engines[i]->present(err);
	}
	if (!a->run.kernels)
		return jl_fail(err, JL_E_USAGE, "--backend: '%s' is not an engine for training; write cpu or cuda",
			       wanted);
	return status;
}

/* Hash of the options on which all hosts must agree; the number of threads may differ. */
static uint64_t tag_of(const struct jl_cli *cli)
{
	static const char *const names[] = { "model", "batch",      "seq",    "precision", "workers", "mode",
					     "steps", "accumulate", "tokens", "time",      "backend" };
	uint64_t hash = JL_HASH_START;
	for (size_t i = 0; i < JL_LEN(names); i++) {
		const struct jl_given *given = jl_given(cli, names[i]);
		if (given && given->text)
			hash = jl_hash(hash, given->text, strlen(given->text));
		hash = jl_hash(hash, "\x1f", 1);
	}
	return jl_hash(hash, jl_flag(cli, "recompute") ? "r" : "", 1);
}

static enum jl_status open_comm(struct asked *a, struct jl_err *err)
{
	struct jl_cli *cli = a->session.cli;
	enum jl_status status = JL_OK;
	if (jl_bench_tcp_asked(cli) || cli->args.n_operands)
		return jl_bench_tcp_open(&a->session, tag_of(cli), &a->mpi, err);
	if (jl_comm_mpi_wanted()) {
		status = jl_comm_mpi(&a->mpi, err);
		a->session.silent = a->mpi && a->mpi->rank > 0;
	}
	return status;
}

/* Options shared by `bench train` and `bench infer`. */
static enum jl_status read_network(struct asked *a, struct jl_train_shape *ret_shape, struct jl_err *err)
{
	struct jl_cli *cli = a->session.cli;
	const int precision = jl_chosen(cli, "precision", jl_train_precision_names);
	const char *model = jl_text(cli, "model");
	JL_TRY(jl_train_find(&a->run.model, cli->cat, model ? model : "gpt-305m", &cli->arena, err));
	JL_TRY(choose_engine(a, err));
	JL_TRY(jl_train_shape(a->run.model, 1, ret_shape, err));
	a->run.cat = cli->cat;
	if (!a->session.silent)
		(void)jl_this_machine_probe(cli, &a->run.here, NULL); /* without it nothing is predicted */
	a->run.precision = precision >= 0 ? (enum jl_train_precision)precision
			   : on_cpu(a)    ? JL_TRAIN_FP32
					  : JL_TRAIN_BF16;
	JL_TRY(jl_engine_check(a->run.kernels, a->run.precision, err));
	a->run.n_threads = (int)jl_whole(cli, "threads", 0);
	return JL_OK;
}

static enum jl_status read_training(struct asked *a, struct jl_err *err)
{
	struct jl_cli *cli = a->session.cli;
	struct jl_train_shape shape;
	JL_TRY(open_comm(a, err));
	JL_TRY(read_network(a, &shape, err));
	JL_TRY(read_configs(a, err));
	a->n_params = (double)shape.n_params;
	a->run.batch = (size_t)jl_whole(cli, "batch", 4);
	a->run.seq = (size_t)jl_whole(cli, "seq", shape.patches ? (long)shape.n_positions : 512);
	a->run.n_micro = (size_t)jl_whole(cli, "accumulate", 1);
	a->run.recompute = jl_flag(cli, "recompute");
	a->run.tokens = jl_text(cli, "tokens");
	a->run.n_steps = (size_t)jl_whole(cli, "steps", jl_given(cli, "time") || !on_cpu(a) ? 0 : 5);
	a->run.time_s = jl_bench_time_s(cli, a->run.n_configs, GPU_TIME_S);
	return JL_OK;
}

static enum jl_status read_answers(struct asked *a, struct jl_err *err)
{
	struct jl_cli *cli = a->session.cli;
	struct jl_train_run *run = &a->run;
	struct jl_train_shape shape;
	enum jl_status status = JL_OK;
	const char *text = jl_text(cli, "batch");
	JL_TRY(read_network(a, &shape, err));
	text = text ? text : "1,8";
	for (long n; (n = next_number(&text, "batch", BATCH_MAX, &status, err)) > 0;)
		JL_TRY(add_config(a, (struct jl_train_config){ .n_workers = 1, .batch = (size_t)n }, err));
	run->batch = run->configs[0].batch; /* the batch for which the rates are measured */
	run->time_s = jl_bench_time_s(cli, run->n_configs, on_cpu(a) ? CPU_ANSWERS_S : GPU_TIME_S);
	run->no_rates = jl_given(cli, "time") && jl_given(cli, "time")->value < RATES_S;
	run->int8 = jl_chosen(cli, "weights", weights_names) == 0;
	run->answer = (size_t)jl_whole(cli, "answer", 128);
	long room = (long)shape.n_positions - (long)run->answer;
	run->seq = (size_t)jl_whole(cli, "prompt", shape.n_positions == 0 || room > 512 ? 512 : room > 1 ? room : 1);
	return status;
}

static bool on_done(void *ctx, const struct jl_train_result *result)
{
	struct asked *a = ctx;
	struct jl_cli *cli = a->session.cli;
	a->session.n_done++;
	if (result->status == JL_OK) {
		struct jl_draft draft;
		const struct jl_record record = jl_train_record(&draft, result, &a->run);

		jl_bench_keep_record(&a->session, &record, result->versions);
	} else {
		a->n_failed++;
		if (cli->json)
			jl_buf_printf(&cli->warn, "jeoul: %d %s %s: %s\n", result->config.n_workers, JL_("workers,"),
				      jl_train_mode_names[result->config.mode], result->err.text);
	}
	if (a->run.answer)
		answers_row(cli, result);
	else
		view_row(cli, &a->table, result);
	if (!cli->json)
		jl_bench_flush(&a->session);
	return !jl_bench_stop(NULL);
}

static bool on_tick(void *ctx, const struct jl_train_config *config, size_t n_steps)
{
	struct asked *a = ctx;
	(void)config;
	double n_all = (double)(a->run.n_steps ? a->run.n_steps + 1 : 0);
	jl_bench_progress(&a->session, n_all > 0 ? (double)n_steps / n_all : 0);
	return !jl_bench_stop(NULL);
}

static enum jl_status measure(struct jl_cli *cli, enum jl_status (*read)(struct asked *, struct jl_err *),
			      struct jl_err *err)
{
	struct asked *a = jl_arena_alloc(&cli->arena, sizeof *a);
	JL_TRY(jl_got(a, err));
	enum jl_status status = jl_bench_begin(&a->session, cli, err);
	JL_THEN(status, read(a, err));
	if (!status) {
		a->run.done = on_done;
		a->run.tick = on_tick;
		a->run.ctx = a;
		a->session.n_tasks = (double)a->run.n_configs;
		if (a->run.answer)
			answers_head(cli, &a->run);
		else if (!a->session.silent)
			view_head(cli, &a->run, a->n_params);
		jl_bench_draw(&a->session);
		status = a->run.answer ? jl_decode_run(&a->run, err) : jl_train_run(&a->run, a->mpi, err);
	}
	if (status == JL_OK && !a->session.silent)
		view_why(cli, &a->run, &a->table); /* the table is empty for `bench infer` */
	if (a->n_failed)
		cli->exit_code = 1;
	if (a->session.silent && jl_bench_tcp_asked(cli))
		status = jl_bench_tcp_left(&a->session, a->mpi, status);
	else
		status = jl_bench_close(&a->session, status);
	jl_comm_destroy(a->mpi);
	return status;
}

enum jl_status jl_cmd_bench_train(struct jl_cli *cli, struct jl_err *err)
{
	return measure(cli, read_training, err);
}

enum jl_status jl_cmd_bench_infer(struct jl_cli *cli, struct jl_err *err)
{
	return measure(cli, read_answers, err);
}
