/* A run of benchmarks: chooses the backend, stores records, shows progress. */
#include "cli/bench_session.h"

#include <signal.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/bench_view.h"
#include "cli/view.h"
#include "version.inc"

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

void jl_bench_watch_keys(void)
{
	/* first signal stops cleanly, second one kills */
	const struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND };

	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
}

bool jl_bench_stop(void *ctx)
{
	(void)ctx;
	return interrupted != 0;
}

void jl_bench_progress(void *ctx, double frac)
{
	struct jl_bench_session *s = ctx;

	if (!s->silent)
		jl_progress_update(&s->progress, s->n_done + frac, jl_clock_s());
}

void jl_bench_flush(struct jl_bench_session *s)
{
	jl_progress_clear(&s->progress);
	if (!s->silent)
		jl_cli_flush(s->cli);
}

double jl_bench_time_s(const struct jl_cli *cli, size_t n_tasks, double instead)
{
	const struct jl_given *given = jl_given(cli, "time");

	return given ? given->value / (double)(n_tasks ? n_tasks : 1) : instead;
}

enum jl_status jl_bench_choose(struct jl_bench_session *s, const char *const *names, struct jl_err *err)
{
	const char *wanted = jl_text(s->cli, "backend");
	enum jl_status status = JL_E_ABSENT;

	if (wanted) {
		s->backend = jl_bench_find(wanted);
		if (!s->backend)
			return jl_fail(
				err, JL_E_USAGE,
				"--backend: '%s' is not known; write cpu, disk, shm, tcp, mpi, cuda, nccl, hip or rccl",
				wanted);
		status = s->backend->present(err);
	}
	for (; !wanted && *names && status; names++) {
		s->backend = jl_bench_find(*names);
		status = s->backend ? s->backend->present(err) : JL_E_ABSENT;
	}
	if (!status && jl_given(s->cli, "device") && strcmp(s->backend->name, "cpu") == 0)
		return jl_fail(
			err, JL_E_USAGE,
			"--device is for a GPU; here the CPU is measured: leave it out (why: 'jeoul bench list')");
	return status;
}

const char *jl_bench_node_name(const struct jl_cli *cli)
{
	const char *name = jl_text(cli, "node");

	if (!name)
		name = getenv("JEOUL_NODE");
	if (!name)
		name = getenv("SLURMD_NODENAME");
	return name && *name ? name : NULL;
}

enum jl_status jl_bench_begin(struct jl_bench_session *s, struct jl_cli *cli, struct jl_err *err)
{
	int rank;

	*s = (struct jl_bench_session){ .cli = cli,
					.where = { .version = JEOUL_VERSION, .note = jl_text(cli, "note") } };
	s->where.node = jl_bench_node_name(cli);
	JL_TRY(jl_record_new_id(s->run, err));
	s->where.run = s->run;
	(void)jl_comm_mpi_launched(&rank); /* only rank 0 prints */
	s->silent = rank > 0;
	if (!s->silent)
		jl_bench_view_machine(cli, &s->where);
	jl_bench_watch_keys();
	jl_progress_begin(&s->progress, &(struct jl_progress_options){ .on = false });
	if (cli->json && !s->silent)
		jl_buf_printf(&cli->out, "{\n\"run\": \"%s\",\n\"records\": [", s->run);
	return JL_OK;
}

/* Starts the progress line when the number of tasks is known. */
void jl_bench_draw(struct jl_bench_session *s)
{
	if (!s->progress.options.write && !s->silent)
		jl_view_progress(s->cli, &s->progress, JL_("measuring"), s->n_tasks, isatty(STDOUT_FILENO));
}

static void put_in_store(struct jl_bench_session *s, const struct jl_record *record)
{
	struct jl_err err = { 0 };
	enum jl_store_kept kept = JL_STORE_NEW;
	enum jl_status status = JL_OK;

	if (jl_flag(s->cli, "no-store") || s->store_failed)
		return;
	if (!s->store)
		status = jl_store_open(&s->store, NULL, &err);
	JL_THEN(status, jl_store_put(s->store, record, &kept, &err));
	if (!status) {
		s->n_stored += kept != JL_STORE_REFUSED;
		if (kept == JL_STORE_REFUSED)
			s->cli->exit_code = 1;
		return;
	}
	/* storing failed: warn once, keep going, exit 1; otherwise older results could be mistaken for these */
	s->store_failed = true;
	s->cli->exit_code = 1;
	jl_buf_printf(&s->cli->warn, "jeoul: %s: %s\n", JL_("results are not kept"), err.text);
}

/* Adds versions of jeoul and the kernel, then the backend's "key=value" pairs. */
static void add_versions(struct jl_draft *d, const struct jl_bench_session *s, const char *more)
{
	struct jl_arena *arena = &s->cli->arena;
	struct utsname os;

	jl_draft_begin(d, NULL, NULL, 0, NULL);
	jl_draft_version(d, "jeoul", s->where.version);
	if (uname(&os) == 0)
		jl_draft_version(d, "kernel", jl_arena_strdup(arena, os.release));
	jl_draft_version(d, "mpi", s->where.mpi_version);
	for (const char *at = more; at && *at;) {
		const size_t len = strcspn(at, " ,;"), key = strcspn(at, "=");
		const char *name = key && key < len ? jl_arena_strndup(arena, at, key) : NULL;

		if (name)
			jl_draft_version(d, name, jl_arena_strndup(arena, at + key + 1, len - key - 1));
		at += len;
		at += strspn(at, " ,;");
	}
}

/* The largest cause of lost CPU time. */
static double taken(const struct jl_record_noise *n)
{
	return fmax(fmax(n->cpu_other_frac, n->wait_frac), n->steal_frac);
}

void jl_bench_keep_record(struct jl_bench_session *s, const struct jl_record *given, const char *versions)
{
	struct jl_record named = *given;
	const struct jl_record *record = &named;
	struct jl_draft all;
	char id[JL_RECORD_ID_LEN + 1];

	if (s->silent || jl_record_new_id(id, NULL))
		return;
	if (!versions && s->backend && s->backend->versions)
		versions = s->backend->versions();
	add_versions(&all, s, versions);
	named.id = id;
	named.time_s = jl_record_now_s();
	named.origin = "measured";
	named.machine = s->where.machine;
	named.machine_name = s->where.machine_name;
	named.run = s->run;
	named.note = s->where.note;
	named.versions = all.versions;
	named.n_versions = all.n_versions;
	if (!named.node)
		named.node = s->where.node;
	if (s->cli->json) {
		jl_buf_puts(&s->cli->out, s->n_records ? ",\n" : "\n");
		jl_record_write(record, &s->cli->out);
	}
	s->n_records++;
	if (record->noise.noisy) {
		s->n_noisy++;
		if (!s->why[0] || taken(&record->noise) > taken(&s->noise)) {
			s->noise = record->noise;
			(void)snprintf(s->why, sizeof(s->why), "%s", record->noise.why ? record->noise.why : "?");
		}
	}
	put_in_store(s, record);
}

void jl_bench_keep(struct jl_bench_session *s, const struct jl_bench_result *result)
{
	struct jl_draft draft;

	if (s->silent || result->n_samples == 0)
		return;
	s->n_wrong += result->checked ? result->n_wrong : 0;
	const struct jl_record record = jl_bench_record(&draft, result, s->backend);
	jl_bench_keep_record(s, &record, NULL);
}

/* Ends a run: prints noise, wrong results and where results were stored. */
static void bench_end(struct jl_bench_session *s)
{
	jl_progress_clear(&s->progress);
	if (s->silent)
		return;
	if (s->cli->json) {
		jl_buf_puts(&s->cli->out, s->n_records ? "\n" : "");
		jl_buf_printf(&s->cli->out, "],\n\"noisy\": %s,\n\"stopped\": %s\n}\n", s->n_noisy ? "true" : "false",
			      interrupted ? "true" : "false");
	} else {
		jl_bench_view_end(s, interrupted != 0);
	}
	if (s->n_wrong > 0) {
		jl_buf_printf(&s->cli->warn,
			      JL_("jeoul: %.0f elements are wrong: memory, a drive, a driver or a library is faulty\n"),
			      s->n_wrong);
		s->cli->exit_code = 1;
	}
	if (s->store)
		jl_view_spool(s->cli, s->store);
	jl_cli_flush(s->cli);
	jl_store_close(s->store);
	s->store = NULL;
}

enum jl_status jl_bench_close(struct jl_bench_session *s, enum jl_status status)
{
	jl_progress_clear(&s->progress);
	/* an interrupted or empty run is a failure */
	if (interrupted || (!s->silent && !status && s->n_records == 0))
		s->cli->exit_code = 1;
	if (s->silent) {
		jl_buf_reset(&s->cli->out);
		/* rank 0 reports errors common to all ranks; each rank reports its own I/O errors */
		if (status && status != JL_E_IO) {
			s->cli->exit_code = jl_err_is_usage(&(struct jl_err){ .status = status }) ? 2 : 1;
			status = JL_OK;
		}
		return status;
	}
	if (status && s->n_records == 0) { /* nothing was measured: prints only the error */
		jl_buf_reset(&s->cli->out);
		jl_store_close(s->store);
		s->store = NULL;
		return status;
	}
	bench_end(s);
	return status;
}
