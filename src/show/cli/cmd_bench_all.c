/* jeoul bench all: everything that can be measured on this machine. */

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "bench/cpu.h"
#include "cli/cmd_bench.h"

const struct jl_option jl_bench_all_options[] = {
	JL_O_FLAG("quick", JL_N("within a minute")),
	JL_BENCH_DIR,
	JL_BENCH_OPTIONS,
	{ 0 },
};

static enum jl_status collectives(struct jl_bench_session *s, double instead_s, struct jl_err *err)
{
	struct jl_sweep *sweep = jl_arena_alloc(&s->cli->arena, sizeof(*sweep));
	const bool quick = jl_flag(s->cli, "quick");

	JL_TRY(jl_got(sweep, err));
	sweep->task.coll = JL_COLL_ALLREDUCE;
	sweep->task.type = JL_COMM_FLOAT;
	sweep->n_ranks = jl_cpu_count() > 1 ? jl_cpu_count() : 2;
	sweep->plan.check = true;
	JL_TRY(jl_sweep_sizes(sweep, 1024, (size_t)(quick ? 64 : 256) << 20, quick ? 256 : 64, 0, err));
	sweep->plan.time_s = jl_bench_time_s(s->cli, 2 * sweep->n_sizes, instead_s);
	return jl_bench_sweep(s, sweep, NULL, err);
}

static const struct part {
	const char *backend; /* NULL: its default */
	enum jl_status (*measure)(struct jl_bench_session *s, double instead_s, struct jl_err *err);
	double n, quick_s, time_s; /* tasks; default time per task */
} parts[] = {
	{ NULL, jl_bench_loopback, 6, 1, 3 }, /* first, since it cannot be shortened; the others can */
	{ "cpu", jl_bench_gemm, 4, 1, 3 },      { "cpu", jl_bench_memory, 2, 2, 6 },
	{ "cuda", jl_bench_gemm, 4, 1, 3 },     { "cuda", jl_bench_memory, 2, 1, 3 },
	{ "cuda", jl_bench_link, 5, 0.2, 0.5 }, { "hip", jl_bench_memory, 1, 1, 3 },
	{ "hip", jl_bench_link, 5, 0.2, 0.5 },  { "disk", jl_bench_storage, 2, 0.5, 1 },
	{ "shm", collectives, 8, 0.5, 2 },
};

static bool use(struct jl_bench_session *s, const struct part *part)
{
	s->backend = part->backend ? jl_bench_find(part->backend) : NULL;
	return !part->backend || (s->backend && s->backend->present(NULL) == JL_OK);
}

static double usual_s(const struct part *part, bool quick)
{
	return part->n * (quick ? part->quick_s : part->time_s);
}

/* The --time option; NULL: not given. */
static struct jl_given *given_time(struct jl_cli *cli)
{
	for (size_t i = 0; i < cli->args.n_given; i++)
		if (strcmp(cli->args.given[i].option->name, "time") == 0)
			return &cli->args.given[i];
	return NULL;
}

enum jl_status jl_cmd_bench_all(struct jl_cli *cli, struct jl_err *err)
{
	const bool quick = jl_flag(cli, "quick");
	struct jl_given *time = given_time(cli);
	const double end_s = jl_clock_s() + (time ? time->value : 0);
	struct jl_bench_session s;
	double left_s = 0;

	JL_TRY(jl_bench_begin(&s, cli, err));
	if (s.silent)
		return JL_OK;
	if (jl_text(cli, "backend"))
		return jl_fail(err, JL_E_USAGE, "bench all uses every backend; leave --backend out");
	for (size_t i = 0; i < JL_LEN(parts); i++)
		left_s += use(&s, &parts[i]) ? usual_s(&parts[i], quick) : 0;
	for (size_t i = 0; i < JL_LEN(parts) && !jl_bench_stop(NULL); i++) {
		const double part_s = usual_s(&parts[i], quick);
		struct jl_err why = { 0 };

		if (!use(&s, &parts[i]))
			continue;
		if (time) /* divides the remaining --time in proportion to the default times */
			time->value = fmax(0.01, (end_s - jl_clock_s()) * part_s / left_s);
		left_s -= part_s;
		if (!cli->json && s.n_records)
			jl_buf_puts(&cli->out, "\n");
		/* reports a failing part and continues */
		const enum jl_status status = parts[i].measure(&s, part_s / parts[i].n, &why);

		if (status)
			jl_buf_printf(&cli->warn, "jeoul: %s\n", why.text);
		if (status && status != JL_E_ABSENT)
			cli->exit_code = 1;
		jl_bench_flush(&s);
	}
	if (s.n_records == 0)
		return jl_fail(err, JL_E_ABSENT, "nothing could be measured");
	return jl_bench_close(&s, JL_OK);
}
