/* jeoul goodput: what a training run really takes, with failures, checkpoints, restarts and stragglers. */
#include <math.h>

#include "cli/ask.h"
#include "cli/view.h"
#include "goodput/goodput.h"

#define A_YEAR_S 31536000.0

/* clang-format off */
const struct jl_option jl_goodput_options[] = {
	JL_ASK_RUN_OPTIONS,
	JL_ASK_SHAPE_OPTIONS,
	JL_ASK_LENGTH_OPTIONS,
	JL_O_CHOICE("checkpoint", "blocking|async|memory|tiered", jl_checkpoints, JL_N("how checkpoints are written (default: async); memory, tiered: copies on other hosts"), JL_TO(jl_goodput_ask, checkpoint)),
	JL_O_AMOUNT("checkpoint-size", "BYTES", JL_K_BYTES, JL_N("of one checkpoint (default: weights and optimizer states)"), JL_TO(jl_goodput_ask, checkpoint_B), JL_WITHIN(1, 1e18, JL_N("it is 1 B to 1 EB, e.g. 2.3 TB"))),
	JL_O_AMOUNT("interval", "TIME", JL_K_TIME, JL_N("between checkpoints (default: the best)"), JL_TO(jl_goodput_ask, interval_s), JL_WITHIN(1e-3, A_YEAR_S, JL_N("it is 1 ms to a year, e.g. 30 min"))),
	JL_O_AMOUNT("store-rate", "RATE", JL_K_BYTE_RATE, JL_N("what storage takes from all nodes together, e.g. \"200 GB/s\""), JL_TO(jl_goodput_ask, store_Bps), JL_WITHIN(1e3, 1e18, JL_N("it is 1 kB/s to 1 EB/s, e.g. 200 GB/s"))),
	JL_O_AMOUNT("detect", "TIME", JL_K_TIME, JL_N("until a failure is acted on, on average"), JL_TO(jl_goodput_ask, detect_s), JL_WITHIN(0, A_YEAR_S, JL_N("it is 0 s to a year, e.g. 5 min"))),
	JL_O_AMOUNT("restart", "TIME", JL_K_TIME, JL_N("a restart beside loading the checkpoint (default: 10 min)"), JL_TO(jl_goodput_ask, restart_s), JL_WITHIN(0, A_YEAR_S, JL_N("it is 0 s to a year, e.g. 10 min"))),
	JL_O_COUNT("spares", "N", 0, 1000000, JL_N("spare nodes (default: 2 % of the job's)"), JL_TO(jl_goodput_ask, n_spares)),
	JL_O_AMOUNT("repair", "TIME", JL_K_TIME, JL_N("until a node that was taken out is back (default: 1 d)"), JL_TO(jl_goodput_ask, repair_s), JL_WITHIN(0, A_YEAR_S, JL_N("it is 0 s to a year, e.g. 1 d"))),
	JL_O_AMOUNT("jitter", "SHARE", JL_K_FRACTION, JL_N("standard deviation of a node's step, of the step (default: 1 %)"), JL_TO(jl_goodput_ask, jitter_frac), JL_WITHIN(0, 1, JL_N("it is a share from 0 to 1, e.g. 1%"))),
	JL_O_TEXT("site", "ID", JL_N("failure rate of one published site, e.g. llama-3-run (default: pooled from all)"), JL_TO(jl_goodput_ask, site)),
	JL_O_AMOUNT("failures-per-node-day", "X", JL_K_NUMBER, JL_N("of a node of 8 GPUs, e.g. 0.004"), JL_TO(jl_goodput_ask, node_per_day), .apart = "site", JL_WITHIN(0, 1e12, JL_N("it is 0 to 1e12, e.g. 0.004"))),
	JL_O_AMOUNT("failures-per-day", "X", JL_K_NUMBER, JL_N("of the job whatever its size, e.g. 0.02"), JL_TO(jl_goodput_ask, job_per_day), JL_WITHIN(0, 1e12, JL_N("it is 0 to 1e12, e.g. 0.02"))),
	JL_O_COUNT("failures", "N", 0, JL_ASK_MAX, JL_N("counted on this job in --observed-time; in place of published rates"), JL_TO(jl_goodput_ask, n_failures), .with = "observed-time", .apart = "failures-per-node-day"),
	JL_O_AMOUNT("observed-time", "TIME", JL_K_TIME, JL_N("how long failures were counted, e.g. \"20 d\""), JL_TO(jl_goodput_ask, observed_s), .above = true, .with = "failures"),
	JL_O_TEXT("start", "DATE", JL_N("first day of the run (default: today)")),
	{ 0 },
};
/* clang-format on */

enum jl_status jl_cmd_goodput(struct jl_cli *cli, struct jl_err *err)
{
	struct jl_goodput *goodput = jl_arena_alloc(&cli->arena, sizeof(*goodput));
	struct jl_job *job = jl_arena_alloc(&cli->arena, sizeof(*job));
	struct jl_goodput_ask ask = jl_goodput_ask_empty();
	const char *start = jl_text(cli, "start");
	struct jl_request req;

	JL_TRY(goodput && job ? JL_OK : jl_fail_nomem(err));
	JL_READ(&ask, jl_goodput_ask, cli);
	ask.start_day = cli->today;
	if (start)
		JL_TRY(jl_date_parse(&ask.start_day, start, err));
	JL_TRY(jl_ask_request(&req, cli, err));
	JL_TRY(jl_job_make(job, cli->cat, &req, &cli->arena, err));
	JL_TRY(jl_goodput_weigh(goodput, cli->cat, job, &ask, err));
	if (!goodput->progresses)
		cli->exit_code = 3;
	JL_ANSWER(cli, err, &jl_goodput_fields, goodput, jl_tell_goodput(&doc, goodput, jl_view_options(cli)));
}
