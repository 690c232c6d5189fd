/* jeoul bench all: everything that this machine can measure by itself. */

#include "bench/cpu.h"
#include "cli/cmd_bench.h"

const struct jl_option jl_bench_all_options[] = {
	JL_O_FLAG("quick", JL_N("within a minute")),
	JL_BENCH_DIR,
	JL_BENCH_OPTIONS,
	{ 0 },
};

static void blank_line(struct jl_bench_session *s)
{
	if (!s->cli->json && s->n_records)
		jl_buf_puts(&s->cli->out, "\n");
}

static bool use(struct jl_bench_session *s, const char *name)
{
	s->backend = jl_bench_find(name);
	return s->backend && s->backend->present(NULL) == JL_OK;
}

static enum jl_status collectives(struct jl_bench_session *s, double time_s, bool quick, struct jl_err *err)
{
	struct jl_sweep *sweep = jl_arena_alloc(&s->cli->arena, sizeof(*sweep));
	enum jl_status status;

	JL_TRY(jl_got(sweep, err));
	sweep->task.coll = JL_COLL_ALLREDUCE;
	sweep->task.type = JL_COMM_FLOAT;
	sweep->n_ranks = jl_cpu_count() > 1 ? jl_cpu_count() : 2;
	sweep->plan.check = true;
	sweep->plan.time_s = time_s;
	status = jl_sweep_sizes(sweep, 1024, (size_t)(quick ? 64 : 256) << 20, quick ? 256 : 64, 0, err);
	return status ? status : jl_bench_sweep(s, sweep, NULL, err);
}

/* A part that fails is said; the others go on. */
static void say(struct jl_bench_session *s, enum jl_status status, const struct jl_err *err)
{
	if (status)
		jl_buf_printf(&s->cli->warn, "jeoul: %s\n", err->text);
	jl_bench_flush(s);
}

enum jl_status jl_cmd_bench_all(struct jl_cli *cli, struct jl_err *err)
{
	const bool quick = jl_flag(cli, "quick");
	const double time_s = quick ? 1 : 3;
	struct jl_err why = { 0 };
	struct jl_bench_session s;
	enum jl_status status = jl_bench_begin(&s, cli, err);

	if (status || s.silent)
		return status;
	if (jl_text(cli, "backend"))
		return jl_fail(err, JL_E_USAGE, "bench all uses every backend; leave --backend out");
	if (use(&s, "cpu")) {
		say(&s, jl_bench_gemm(&s, time_s, &why), &why);
		blank_line(&s);
		say(&s, jl_bench_memory(&s, 2 * time_s, &why), &why);
	}
	if (use(&s, "cuda") && !jl_bench_stop(NULL)) {
		blank_line(&s);
		say(&s, jl_bench_gemm(&s, time_s, &why), &why);
		blank_line(&s);
		say(&s, jl_bench_memory(&s, time_s, &why), &why);
		blank_line(&s);
		say(&s, jl_bench_link(&s, quick ? 0.2 : 0.5, &why), &why);
	} else if (use(&s, "hip") && !jl_bench_stop(NULL)) {
		blank_line(&s);
		say(&s, jl_bench_memory(&s, time_s, &why), &why);
		blank_line(&s);
		say(&s, jl_bench_link(&s, quick ? 0.2 : 0.5, &why), &why);
	}
	if (use(&s, "disk") && !jl_bench_stop(NULL)) {
		blank_line(&s);
		say(&s, jl_bench_storage(&s, quick ? 0.5 : 1, &why), &why);
	}
	if (!jl_bench_stop(NULL)) {
		blank_line(&s);
		say(&s, jl_bench_loopback(&s, quick ? 1 : 3, &why), &why);
	}
	if (use(&s, "shm") && !jl_bench_stop(NULL)) {
		blank_line(&s);
		say(&s, collectives(&s, quick ? 0.5 : 2, quick, &why), &why);
	}
	if (s.n_records == 0)
		return jl_fail(err, JL_E_ABSENT, "nothing could be measured");
	return jl_bench_close(&s, JL_OK);
}
