/* jeoul check: judges whether a measurement is normal, and finds the cause if it is not. */
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/offered.h"
#include "check/answer.h"
#include "check/nodes.h"
#include "check/run.h"
#include "check/trace.h"
#include "cli/ask.h"
#include "cli/bench_session.h"
#include "cli/check_figure.h"
#include "cli/view.h"
#include "cli/this_machine.h"
#include "import/import.h"
#include "import/kineto.h"

#define RECORDS_MAX 4000 /* newest records considered */
#define FLEET_MAX   40000
#define JUDGED_MAX  500
#define RUN_LEAST   4 /* minimum length of an abbreviated run id */
#define CLOCK_OFF_S 60.0
#define FOLLOW_IDLE 10

const struct jl_option jl_check_options[] = {
	JL_O_TEXT("on", "SYSTEM", JL_N("the system that it was measured on, e.g. \"125x aws:p5.48xlarge\"")),
	JL_O_AMOUNT("size", "BYTES", JL_K_BYTES,
		    JL_N("collectives: one rank's whole buffer, e.g. 16GB; memory: of one array"), .above = true),
	JL_O_AMOUNT("algbw", "RATE", JL_K_BYTE_RATE, JL_N("size / time, e.g. \"156 GB/s\""), .above = true),
	JL_O_AMOUNT("busbw", "RATE", JL_K_BYTE_RATE, JL_N("bus bandwidth as nccl-tests counts it"), .above = true),
	JL_O_AMOUNT("time", "TIME", JL_K_TIME, JL_N("collectives: how long one took"), .above = true),
	JL_O_TEXT("rate", "RATE", JL_N("gemm: e.g. \"620 TFLOP/s\"; memory, link, net: e.g. \"25 GB/s\"")),
	JL_O_TEXT("dtype", "NAME", JL_N("gemm: number format (default: bf16, or the 16 bits that the device has)")),
	JL_O_TEXT("shape", "MxNxK", JL_N("gemm: e.g. 8192 or 4096x1024x4096 (default: 8192)")),
	JL_O_TEXT("test", "NAME", JL_N("memory: triad, copy; link: h2d, d2h, d2d")),
	JL_O_COUNT("ranks", "N", 2, 1000000000LL, JL_N("of a collective, where not all of the system took part")),
	JL_O_CHOICE("kind", "NAME", jl_import_collectives,
		    JL_N("of a file: which collective it is, where it does not say")),
	JL_O_FLAG("fleet",
		  JL_N("rank the machines of the store and find slow ones among machines with the same parts")),
	JL_O_TEXT("node", "NAME", JL_N("which machine of a fleet this is (default: JEOUL_NODE or SLURMD_NODENAME)")),
	JL_O_TEXT("run", "RUN", JL_N("judge the results of this run (default: the newest of each kind)")),
	JL_O_TEXT("against", "RUN", JL_N("what changed since that run, where it is significant")),
	JL_O_AMOUNT("max-age", "TIME", JL_K_TIME,
		    JL_N("stored results: refuse what was measured longer ago, e.g. \"1 h\" or \"7 d\""),
		    .above = true),
	JL_O_TEXT("store", "PATH|URL", JL_N("which store (default: JEOUL_STORE, else the one in the data folder)"),
		  .local = true),
	JL_O_TEXT("model", "NAME", JL_N("of a training log: the model, to compare the step with; --on says where"),
		  .with = "on", JL_TO(jl_request, model)),
	JL_ASK_COUNT("batch", JL_N("of a training log: samples of one worker"), .with = "model",
		     JL_TO(jl_request, batch)),
	JL_ASK_COUNT("global-batch", JL_N("of a training log: samples of a step, all workers"), .with = "model",
		     JL_TO(jl_request, global_batch)),
	JL_ASK_COUNT("seq", JL_N("of a training log: tokens of a sample"), .with = "model", JL_TO(jl_request, seq)),
	JL_O_CHOICE("framework", "eager|compiled|megatron|native|unsloth", jl_ask_frameworks,
		    JL_N("of a training log: the framework"), .with = "model", JL_TO(jl_request, framework)),
	JL_O_TEXT("parallel", "LIST", JL_N("of a training log: the parallel layout: dp=,tp=,sp=,pp=,cp=,ep=,zero="),
		  .with = "model"),
	JL_O_AMOUNT("follow", "TIME", JL_K_TIME,
		    JL_N("of a training log: check again at this interval until it has not grown for ten intervals"),
		    .above = true, .local = true),
	{ 0 },
};

struct batch {
	struct jl_cli *cli;
	struct jl_judge judge;
	struct jl_judged *judged;
	size_t n, n_skipped;
	size_t n_old; /* excluded by --max-age */
	struct jl_runlog_reader run;
	struct jl_sys sys;
};

static enum jl_status begin(struct batch *b, struct jl_cli *cli, struct jl_err *err)
{
	const char *on = jl_text(cli, "on");
	enum jl_status status = JL_OK;

	*b = (struct batch){ .cli = cli,
			     .judge = { .cat = cli->cat, .arena = &cli->arena },
			     .judged = jl_arena_array(&cli->arena, JUDGED_MAX, sizeof(*b->judged)) };
	JL_TRY(jl_got(b->judged, err));
	if (on) {
		status = jl_sys_parse(&b->sys, cli->cat, on, &cli->arena, err);
		b->judge.sys = &b->sys;
	}
	return status;
}

static enum jl_status finish(struct batch *b, const char *where, struct jl_err *err)
{
	struct jl_cli *cli = b->cli;
	struct jl_check_answer answer = {
		.judged = b->judged, .n = b->n, .where = where, .steadiness = b->judge.steadiness
	};

	if (!b->n)
		return jl_fail(err, JL_E_NOTFOUND,
			       "nothing to judge; measure first: jeoul bench all --quick, or name a file or a figure");
	answer.worst = jl_check_worst(b->judged, b->n);
	if (jl_verdict_is_bad(answer.worst->verdict))
		cli->exit_code = 3;
	JL_ANSWER(cli, err, &jl_check_fields, &answer, jl_show_check(&doc, &answer));
}

static enum jl_status check_figure(struct jl_cli *cli, const char *kind, struct jl_err *err)
{
	const struct jl_record *record = NULL;
	struct batch b = { .cli = cli };

	JL_TRY(begin(&b, cli, err));
	JL_TRY(jl_check_figure_record(&record, &b.judge, cli, kind, err));
	JL_TRY(jl_judge(&b.judged[0], &b.judge, record, err));
	b.n = 1;
	return finish(&b, NULL, err);
}

/* ---- a file */

/* Copies a record, since the reader's records are only valid during the callback. */
static const struct jl_record *keep(struct jl_arena *arena, const struct jl_record *r, struct jl_err *err)
{
	struct jl_record *kept = jl_arena_alloc(arena, sizeof(*kept));
	struct jl_buf text;
	enum jl_status status;

	if (!kept)
		return NULL;
	jl_buf_init(&text, JL_RECORD_TEXT_MAX_B);
	jl_record_write(r, &text);
	status = text.failed ? jl_fail_nomem(err) : jl_record_read(jl_buf_text(&text), text.len, arena, kept, err);
	jl_buf_release(&text);
	return status ? NULL : kept;
}

static enum jl_status take(void *ctx, const struct jl_record *r, struct jl_err *err)
{
	struct batch *b = ctx;
	const struct jl_record *kept;
	enum jl_status status;

	if (!jl_judge_can(r)) {
		b->n_skipped++;
		return JL_OK;
	}
	if (b->n == JUDGED_MAX)
		return jl_fail(err, JL_E_LIMIT, "more than %d results", JUDGED_MAX);
	kept = keep(&b->cli->arena, r, err);
	if (!kept)
		return err && err->status ? err->status : JL_E_NOMEM;
	status = jl_judge(&b->judged[b->n], &b->judge, kept, err);
	b->n += !status;
	return status;
}

static void remark(void *ctx, size_t line, const char *text)
{
	struct jl_cli *cli = ((struct batch *)ctx)->cli;

	if (line)
		jl_buf_printf(&cli->warn, JL_("jeoul: line %zu: %s\n"), line, text);
	else
		jl_buf_printf(&cli->warn, "jeoul: %s\n", text);
}

static void take_step(void *ctx, const struct jl_run_step *step)
{
	jl_runlog_step(&((struct batch *)ctx)->run, step);
}

static void take_pause(void *ctx, const struct jl_run_pause *pause)
{
	jl_runlog_pause(&((struct batch *)ctx)->run, pause);
}

/* The job given by --model, --on and the log; NULL: no model was given. */
static enum jl_status job_of(const struct jl_job **ret_job, struct jl_cli *cli, const struct jl_runlog *log,
			     struct jl_err *err)
{
	struct jl_job *job = jl_arena_alloc(&cli->arena, sizeof(*job));
	struct jl_request req = jl_request_empty();

	*ret_job = NULL;
	JL_TRY(jl_got(job, err));
	if (!jl_text(cli, "model"))
		return JL_OK;
	JL_READ(&req, jl_request, cli);
	req.system = jl_text(cli, "on");
	if (jl_text(cli, "parallel"))
		JL_TRY(jl_request_parallel(&req.plan, jl_text(cli, "parallel"), err));
	if (isnan(req.batch) && isnan(req.global_batch) && log->batch > 0)
		req.global_batch = log->batch;
	req.seq = jl_given_or(req.seq, log->seq);
	JL_TRY(jl_job_make(job, cli->cat, &req, &cli->arena, err));
	*ret_job = job;
	return JL_OK;
}

static enum jl_status finish_run(struct batch *b, const char *where, struct jl_err *err)
{
	struct jl_cli *cli = b->cli;
	struct jl_run_view *view = jl_arena_alloc(&cli->arena, sizeof(*view));
	struct jl_advice *advice = jl_arena_array(&cli->arena, JL_ADVICE_MAX, sizeof(*advice));
	struct jl_runlog log;
	const struct jl_job *job;

	JL_TRY(view && advice ? JL_OK : jl_fail_nomem(err));
	JL_TRY(jl_runlog_end(&log, &b->run, err));
	JL_TRY(job_of(&job, cli, &log, err));
	JL_TRY(jl_run_judge(view, &log, job, &cli->arena, err));
	if (job) {
		view->n_advice = jl_advise(advice, cli->cat, &job->how, &cli->arena);
		view->advice = advice;
	}
	cli->exit_code = jl_run_is_bad(view) ? 3 : 0;
	JL_ANSWER(cli, err, &jl_run_fields, view, jl_show_run(&doc, view, where));
}

static enum jl_status check_trace(struct jl_cli *cli, const char *path, struct jl_err *err)
{
	struct jl_trace_view *view = jl_arena_alloc(&cli->arena, sizeof(*view));

	JL_TRY(view ? jl_trace_judge(view, path, err) : jl_fail_nomem(err));
	cli->exit_code = jl_verdict_is_bad(view->verdict) ? 3 : 0;
	JL_ANSWER(cli, err, &jl_trace_fields, view, jl_show_trace(&doc, view, path));
}

/* Waits until the file grows; false: it does not. */
static bool has_grown(const char *path, double every_s, off_t *io_size)
{
	struct stat now;

	for (int i = 0; i < FOLLOW_IDLE; i++) {
		struct timespec nap = { .tv_sec = (time_t)every_s, .tv_nsec = (long)(fmod(every_s, 1) * 1e9) };

		(void)nanosleep(&nap, NULL);
		if (stat(path, &now) == 0 && now.st_size != *io_size) {
			*io_size = now.st_size;
			return true;
		}
	}
	return false;
}

static enum jl_status check_file(struct jl_cli *cli, const char *path, struct jl_err *err)
{
	const struct jl_import_options options = { .time_s = NAN, .kind = jl_text(cli, "kind") };
	struct jl_import_count counted;
	struct batch b;
	const struct jl_import_sink sink = {
		.record = take, .remark = remark, .step = take_step, .pause = take_pause, .ctx = &b
	};
	const char *where = strcmp(path, "-") == 0 ? JL_("standard input") : path;
	const struct jl_given *follow = jl_given(cli, "follow");
	off_t size = 0;

	if (strcmp(path, "-") != 0 && jl_kineto_is(path))
		return check_trace(cli, path, err);
	while (follow && has_grown(path, follow->value, &size))
		;
	JL_TRY(begin(&b, cli, err));
	jl_runlog_begin(&b.run, &cli->arena);
	JL_TRY(jl_import_file(path, &options, &sink, &counted, err));
	if (!b.n && (b.run.log.n_steps || jl_text(cli, "model")))
		return finish_run(&b, where, err);
	if (!b.n && b.n_skipped)
		return jl_fail(err, JL_E_DATA,
			       "%zu result{/s}, but of a kind without expectation; jeoul import keeps them",
			       b.n_skipped);
	return finish(&b, where, err);
}

/* Machines of the same build share a fingerprint. Of their results in a store, uses those of this node and those without a node name. */
static enum jl_status only_own(struct batch *b, struct jl_err *err)
{
	const char *own = jl_bench_node_name(b->cli), *seen = NULL;
	const struct jl_record **kept = jl_arena_array(&b->cli->arena, b->judge.n_past + 1, sizeof(*kept));
	size_t n = 0;

	JL_TRY(jl_got(kept, err));
	for (size_t i = 0; i < b->judge.n_past; i++) {
		const char *node = b->judge.past[i]->node;

		if (!own && node && seen && strcmp(node, seen) != 0)
			return jl_fail(
				err, JL_E_AMBIGUOUS,
				"the store has results of several machines built like this one, e.g. %s and %s; say "
				"which this is: --node NAME, or JEOUL_NODE",
				seen, node);
		seen = node ? node : seen;
		if (!own || !node || strcmp(node, own) == 0)
			kept[n++] = b->judge.past[i];
	}
	b->judge.past = kept;
	b->judge.n_past = n;
	return JL_OK;
}

static enum jl_status load_past(struct batch *b, const char *fingerprint, struct jl_err *err)
{
	JL_TRY(jl_this_records(&b->judge.past, &b->judge.n_past, b->cli, fingerprint,
			       fingerprint ? RECORDS_MAX : FLEET_MAX, err));
	JL_TRY(fingerprint ? only_own(b, err) : JL_OK);
	if (fingerprint)
		jl_check_steadiness(&b->judge.steadiness, b->judge.past, b->judge.n_past);
	return JL_OK;
}

/* True if `text` is the run's id, or its beginning or end. */
static bool is_run(const struct jl_record *r, const char *text)
{
	const size_t len = strlen(text), have = r->run ? strlen(r->run) : 0;

	return len >= RUN_LEAST && have >= len &&
	       (strncmp(r->run, text, len) == 0 || strcmp(r->run + have - len, text) == 0);
}

static enum jl_status find_run(const char **ret_run, const struct batch *b, const char *option, struct jl_err *err)
{
	const char *text = jl_text(b->cli, option), *run = NULL;

	*ret_run = NULL;
	if (!text)
		return JL_OK;
	if (strlen(text) < RUN_LEAST)
		return jl_fail(err, JL_E_USAGE, "--%s: '%s' is too short; write %d characters of a run or more", option,
			       text, RUN_LEAST);
	for (size_t i = 0; i < b->judge.n_past; i++) {
		const struct jl_record *r = b->judge.past[i];

		if (!is_run(r, text))
			continue;
		if (run && strcmp(run, r->run) != 0)
			return jl_fail(err, JL_E_AMBIGUOUS, "--%s: '%s' fits several runs, e.g. %s and %s", option,
				       text, run, r->run);
		run = r->run;
	}
	for (size_t i = 0; !run && i < b->judge.n_past; i++)
		if (b->judge.past[i]->run)
			return jl_fail(err, JL_E_NOTFOUND, "--%s: this machine has no run '%s'; the newest is %s",
				       option, text, b->judge.past[i]->run);
	if (!run)
		return jl_fail(err, JL_E_NOTFOUND,
			       "--%s: no run of this machine is stored; measure first: jeoul bench all --quick",
			       option);
	*ret_run = run;
	return JL_OK;
}

/* The newest record of the same measurement in that run. */
static const struct jl_record *same_in(const struct batch *b, const struct jl_record *r, const char *run)
{
	for (size_t i = 0; i < b->judge.n_past; i++) {
		const struct jl_record *other = b->judge.past[i];

		if (other != r && other->run && strcmp(other->run, run) == 0 && jl_check_alike(r, other))
			return other;
	}
	return NULL;
}

static bool is_newest(const struct batch *b, size_t at, const char *only, const char *without)
{
	const struct jl_record *r = b->judge.past[at];

	return r->n_metrics && !(only && (!r->run || strcmp(r->run, only) != 0)) &&
	       !(without && r->run && strcmp(r->run, without) == 0) && !jl_judged_has(b->judged, b->n, r);
}

/* Dates in the future come from a wrong clock and are not used. */
static bool is_too_old(const struct batch *b, const struct jl_record *r)
{
	const struct jl_given *most = jl_given(b->cli, "max-age");
	const double age_s = b->judge.now_s - r->time_s;

	return most && !(age_s <= most->value && age_s > -CLOCK_OFF_S);
}

/* Excludes old records with a note, if some are recent; otherwise there is no verdict. */
static enum jl_status say_old(struct batch *b, struct jl_err *err)
{
	struct jl_cli *cli = b->cli;

	if (!b->n_old)
		return JL_OK;
	if (!b->n)
		return jl_fail(err, JL_E_NOTFOUND,
			       "the newest result of this machine was measured %s ago, longer than --max-age allows; "
			       "measure again: jeoul bench all --quick",
			       jl_units_text(JL_TXT, b->judge.now_s - b->judge.past[0]->time_s, JL_K_TIME, 2));
	jl_buf_printf(&cli->warn, JL_("jeoul: %zu results are older than --max-age and are not judged\n"), b->n_old);
	return JL_OK;
}

static enum jl_status judge_past(struct batch *b, struct jl_err *err)
{
	const char *only = NULL, *against = NULL;
	enum jl_status status = find_run(&only, b, "run", err);

	JL_THEN(status, find_run(&against, b, "against", err));
	for (size_t i = 0; !status && i < b->judge.n_past && b->n < JUDGED_MAX; i++) {
		const struct jl_record *r = b->judge.past[i];

		if (!is_newest(b, i, only, against))
			continue;
		const struct jl_record *before = against ? same_in(b, r, against) : NULL;

		if (against && !before)
			continue;
		if (is_too_old(b, r)) {
			b->n_old++;
			continue;
		}
		status = before ? jl_judge_change(&b->judged[b->n], &b->judge, r, before, err)
				: jl_judge(&b->judged[b->n], &b->judge, r, err);
		b->n += !status;
	}
	JL_THEN(status, say_old(b, err));
	if (!status && against && !b->n)
		status = jl_fail(err, JL_E_NOTFOUND,
				 "nothing was measured again since run %s; jeoul bench all --quick does it", against);
	return status;
}

static enum jl_status check_here(struct jl_cli *cli, struct jl_err *err)
{
	const struct jl_probe_machine *here = NULL;
	struct jl_sys *sys = jl_arena_alloc(&cli->arena, sizeof(*sys));
	struct batch b = { .cli = cli };

	JL_TRY(sys ? begin(&b, cli, err) : jl_fail_nomem(err));
	JL_TRY(jl_this_machine_probe(cli, &here, err));
	JL_TRY(load_past(&b, here->fingerprint, err));
	b.judge.here = here;
	b.judge.now_s = jl_record_now_s();
	if (here->system && here->n_gpus && jl_sys_parse(sys, cli->cat, here->system, &cli->arena, NULL) == JL_OK)
		b.judge.here_sys = sys;
	JL_TRY(judge_past(&b, err));
	return finish(&b, here->short_name_text, err);
}

/* ---- machines of a fleet */

static enum jl_status check_fleet(struct jl_cli *cli, struct jl_err *err)
{
	struct batch b = { .cli = cli, .judge = { .arena = &cli->arena } };
	struct jl_nodes nodes;

	JL_TRY(load_past(&b, NULL, err));
	JL_TRY(jl_nodes_of_records(&nodes, b.judge.past, b.judge.n_past, &cli->arena, err));
	if (nodes.n < 2)
		return jl_fail(err, JL_E_NOTFOUND,
			       "the store has %zu machine; on each: jeoul bench all --quick --node NAME, into one "
			       "store (jeoul store --help)",
			       nodes.n);
	cli->exit_code = nodes.n_slow ? 3 : 0;
	JL_ANSWER(cli, err, &jl_nodes_fields, &nodes, jl_show_nodes(&doc, &nodes));
}

#define STORED "store fleet run against max-age"
#define RUN    "model batch global-batch seq framework parallel follow"
#define FIGURE "size algbw busbw time rate dtype shape test ranks"

/* Rejects options that have no effect in this mode. */
static enum jl_status check_options(const struct jl_cli *cli, const char *word, struct jl_err *err)
{
	enum jl_collective_kind coll;
	const bool file = word && (strcmp(word, "-") == 0 || jl_file_exists(word)),
		   figure = word && !file && jl_judge_knows(word),
		   collective = figure && jl_collective_by_name(&coll, word),
		   gemm = figure && strcmp(word, "gemm") == 0;
	const struct jl_idle rules[] = {
		{ .when = word, .options = STORED, .beside = word },
		{ .when = jl_flag(cli, "fleet"), .but = true, .options = "fleet store", .beside = "--fleet" },
		{ .when = !word, .options = FIGURE " kind " RUN, .with = JL_N("a figure or a file") },
		{ .when = figure, .options = RUN, .beside = word },
		{ .when = file, .options = FIGURE, .beside = word },
		{ .when = collective, .options = "rate dtype shape test kind", .beside = word },
		{ .when = figure && !collective, .options = "algbw busbw time ranks kind", .beside = word },
		{ .when = figure && !gemm, .options = "dtype shape", .with = "gemm" },
		{ .when = gemm, .options = "size test", .beside = word },
	};

	return jl_check_idle(cli, rules, JL_LEN(rules), err);
}

enum jl_status jl_cmd_check(struct jl_cli *cli, struct jl_err *err)
{
	const char *word = cli->args.n_operands ? cli->args.operands[0] : NULL;

	JL_TRY(check_options(cli, word, err));
	if (!word)
		return jl_flag(cli, "fleet") ? check_fleet(cli, err) : check_here(cli, err);
	if (strcmp(word, "-") != 0 && !jl_file_exists(word) && jl_judge_knows(word))
		return check_figure(cli, word, err);
	if (strcmp(word, "-") != 0 && !jl_file_exists(word))
		return jl_fail(err, JL_E_USAGE,
			       "'%s' is neither a file nor one of gemm, memory, link, net, allreduce, allgather, ...",
			       word);
	return check_file(cli, word, err);
}
