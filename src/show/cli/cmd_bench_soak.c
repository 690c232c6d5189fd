/* jeoul bench soak: runs one load for a long time. */
#include <string.h>

#include "bench/cpu.h"
#include "cli/bench_view.h"
#include "cli/cmd_bench.h"
#include "cli/view.h"
#include "bench/soak.h"

#define TIME_S 300.0

const struct jl_option jl_bench_soak_options[] = {
	JL_O_COUNT("device", "N", 0, 63, JL_N("which GPU (default 0)")),
	JL_BENCH_OPTIONS,
	{ 0 },
};

static void keep(struct jl_bench_session *s, const struct jl_soak *soak, const struct jl_bench_task *task)
{
	const struct {
		const char *name;
		double value;
	} more[] = { { "drift_frac", soak->drift_frac },
		     { "clock_low_Hz", soak->clock_low_Hz },
		     { "clock_high_Hz", soak->clock_high_Hz },
		     { "temperature_C", soak->temperature_C },
		     { "power_W", soak->power_W },
		     { "hot_frac", soak->hot_frac },
		     { "power_capped_frac", soak->capped_frac } };
	struct jl_draft draft;

	jl_draft_begin(&draft, "soak", s->backend->name, 0, NULL);
	jl_draft_text(&draft, "dtype", jl_dtype_name(task->dtype));
	jl_draft_number(&draft, "m", (double)task->m);
	if (task->n_threads)
		jl_draft_number(&draft, "n_threads", task->n_threads);
	else
		jl_draft_number(&draft, "device", task->device);
	jl_draft_number(&draft, "n_steps", (double)soak->n);
	jl_draft_number(&draft, "n_wrong", soak->n_wrong);
	jl_draft_summary(&draft, "gemm_flopps", false, &soak->stats);
	for (size_t i = 0; i < JL_LEN(more); i++) {
		const struct jl_stats value = jl_summary_of(more[i].value);

		jl_draft_summary(&draft, more[i].name, false, &value);
	}
	struct jl_record record = jl_draft_record(&draft);

	record.noise.noisy = soak->n_noisy > soak->n / 2;
	record.noise.why = record.noise.noisy ? "other processes used the machine" : NULL;
	if (soak->stats.n)
		jl_bench_keep_record(s, &record, NULL);
}

enum jl_status jl_cmd_bench_soak(struct jl_cli *cli, struct jl_err *err)
{
	static const char *const backends[] = { "cuda", "cpu", NULL };
	const struct jl_given *time = jl_given(cli, "time");
	struct jl_soak *soak = jl_arena_alloc(&cli->arena, sizeof(*soak));
	struct jl_bench_session s;
	struct jl_doc doc;
	char what[96];
	enum jl_status status = soak ? jl_bench_begin(&s, cli, err) : jl_fail_nomem(err);

	if (status || s.silent)
		return status;
	status = jl_bench_choose(&s, backends, err);
	if (status)
		return jl_bench_close(&s, status);
	const bool gpu = strcmp(s.backend->name, "cuda") == 0;
	const size_t n = gpu ? 8192 : 1024;
	const struct jl_bench_task task = { .kind = JL_BENCH_GEMM,
					    .dtype = gpu ? JL_BF16 : JL_FP32,
					    .m = n,
					    .n = n,
					    .k = n,
					    .n_threads = gpu ? 0 : jl_cpu_count(),
					    .device = (int)jl_whole(cli, "device", 0) };

	s.n_tasks = 1;
	jl_bench_draw(&s);
	status = jl_soak_run(soak, s.backend, &task,
			     &(struct jl_bench_plan){ .time_s = time ? time->value : TIME_S,
						      .stop = jl_bench_stop,
						      .progress = jl_bench_progress,
						      .ctx = &s },
			     err);
	if (!status) {
		keep(&s, soak, &task);
		jl_bench_flush(&s);
		(void)jl_format(what, sizeof(what), JL_("products of %zu, %s, %s"), n, jl_dtype_name(task.dtype),
				s.backend->name);
		if (!cli->json) {
			jl_view_page(cli, &doc);
			jl_show_soak(&doc, soak, what);
			status = jl_view_show(cli, &doc, err);
		}
		cli->exit_code = jl_soak_is_bad(soak) ? 3 : cli->exit_code;
	}
	return jl_bench_close(&s, status);
}
