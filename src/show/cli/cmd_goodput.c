/* jeoul goodput: what a training run really takes, with failures, checkpoints, restarts and stragglers. */
#include <math.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/view.h"
#include "catalog/find.h"
#include "goodput/goodput.h"
#include "store/store.h"

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
	JL_O_FLAG("store-measured", JL_N("a node's rate as 'bench storage' or an imported fio measured it last"), .local = true),
	JL_O_AMOUNT("detect", "TIME", JL_K_TIME, JL_N("until a failure is acted on, on average"), JL_TO(jl_goodput_ask, detect_s), JL_WITHIN(0, A_YEAR_S, JL_N("it is 0 s to a year, e.g. 5 min"))),
	JL_O_AMOUNT("restart", "TIME", JL_K_TIME, JL_N("a restart beside loading the checkpoint (default: 10 min)"), JL_TO(jl_goodput_ask, restart_s), JL_WITHIN(0, A_YEAR_S, JL_N("it is 0 s to a year, e.g. 10 min"))),
	JL_O_COUNT("spares", "N", 0, 1000000, JL_N("spare nodes (default: 2 % of the job's)"), JL_TO(jl_goodput_ask, n_spares)),
	JL_O_CHOICE("recovery", "restart|swap|elastic", jl_recoveries, JL_N("after a failure: all start again (default), a standby host steps in, or the other replicas go on"), JL_TO(jl_goodput_ask, recovery)),
	JL_O_AMOUNT("repair", "TIME", JL_K_TIME, JL_N("until a node that was taken out is back (default: 1 d)"), JL_TO(jl_goodput_ask, repair_s), JL_WITHIN(0, A_YEAR_S, JL_N("it is 0 s to a year, e.g. 1 d"))),
	JL_O_AMOUNT("jitter", "SHARE", JL_K_FRACTION, JL_N("standard deviation of a node's step, of the step (default: 1 %)"), JL_TO(jl_goodput_ask, jitter_frac), JL_WITHIN(0, 1, JL_N("it is a share from 0 to 1, e.g. 1%"))),
	JL_O_AMOUNT("congestion", "SHARE", JL_K_FRACTION, JL_N("exchanges take so much longer beside other jobs (default: 0)"), JL_TO(jl_goodput_ask, congestion_frac), JL_WITHIN(0, 100, JL_N("it is a share from 0 to 100, e.g. 15%"))),
	JL_O_TEXT("site", "ID", JL_N("failure rate of one published site, e.g. llama-3-run (default: pooled from all)"), JL_TO(jl_goodput_ask, site)),
	JL_O_AMOUNT("failures-per-node-day", "X", JL_K_NUMBER, JL_N("of a node of 8 GPUs, e.g. 0.004"), JL_TO(jl_goodput_ask, node_per_day), .apart = "site", JL_WITHIN(0, 1e12, JL_N("it is 0 to 1e12, e.g. 0.004"))),
	JL_O_AMOUNT("failures-per-day", "X", JL_K_NUMBER, JL_N("of the job whatever its size, e.g. 0.02"), JL_TO(jl_goodput_ask, job_per_day), JL_WITHIN(0, 1e12, JL_N("it is 0 to 1e12, e.g. 0.02"))),
	JL_O_COUNT("failures", "N", 0, JL_ASK_MAX, JL_N("counted on this job in --observed-time; weighed beside published rates"), JL_TO(jl_goodput_ask, n_failures), .with = "observed-time", .apart = "failures-per-node-day"),
	JL_O_AMOUNT("observed-time", "TIME", JL_K_TIME, JL_N("how long failures were counted, e.g. \"20 d\""), JL_TO(jl_goodput_ask, observed_s), .above = true, .with = "failures"),
	JL_O_AMOUNT("power-cap", "POWER", JL_K_POWER, JL_N("of the site, cooling included: clocks fall below it, e.g. \"20 MW\""), JL_TO(jl_goodput_ask, campus.cap_W), JL_WITHIN(1, 1e12, JL_N("it is 1 W to 1 TW, e.g. 20 MW"))),
	JL_O_AMOUNT("rack-power", "POWER", JL_K_POWER, JL_N("that a rack may draw (default: 44 kW)"), JL_TO(jl_goodput_ask, campus.rack_W), JL_WITHIN(100, 1e7, JL_N("it is 100 W to 10 MW, e.g. 44 kW"))),
	JL_O_AMOUNT("carbon", "X", JL_K_MASS_ENERGY, JL_N("CO2 of the grid, e.g. \"400 g/kWh\" (default: Korea, USA)"), JL_TO(jl_goodput_ask, campus.carbon_gpJ)),
	JL_O_COUNT("rent-block", "N", 1, 10000000, JL_N("GPUs are rented in blocks of so many"), JL_TO(jl_goodput_ask, campus.block_gpus)),
	JL_O_AMOUNT("rent-least", "TIME", JL_K_TIME, JL_N("and for at least so long, e.g. \"90 d\""), JL_TO(jl_goodput_ask, campus.least_s), JL_WITHIN(0, 1e9, JL_N("it is 0 s to 30 years, e.g. 90 d"))),
	JL_O_FLAG("fabrics", JL_N("the step on other networks, 1,024 to 131,072 GPUs"), JL_TO(jl_goodput_ask, campus.fabrics)),
	JL_O_AMOUNT("oversubscription", "X", JL_K_NUMBER, JL_N("of the narrower one: way into a pod / way out of it (default: 4)"), JL_TO(jl_goodput_ask, campus.oversub), JL_WITHIN(1, 1000, JL_N("it is 1 to 1000, e.g. 4")), .with = "fabrics"),
	JL_O_TEXT("log", "FILE", JL_N("the job's own log so far: its steps, checkpoints, stalls and restarts; the rest is predicted with them"), .apart = "failures"),
	JL_O_TEXT("start", "DATE", JL_N("first day of the run (default: today)")),
	{ 0 },
};
/* clang-format on */

/* Storage rate of the job: the last measured write rate of one node times the nodes, at most the default of shared storage. */
static enum jl_status read_store(struct jl_goodput_ask *ask, struct jl_cli *cli, const struct jl_case *c,
				 struct jl_err *err)
{
	const struct jl_store_filter filter = { .kind = "storage", .limit = 100 };
	const struct jl_record *records = NULL;
	struct jl_store *store = NULL;
	size_t n = 0;
	enum jl_status status = jl_store_open_to_read(&store, NULL, err);

	JL_THEN(status, jl_store_list(store, &filter, &cli->arena, &records, &n, err));
	jl_store_close(store);
	JL_TRY(status);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < records[i].n_params; k++)
			if (records[i].n_metrics && strcmp(records[i].params[k].key, "test") == 0 &&
			    jl_same_text(records[i].params[k].text, "write")) {
				ask->store_Bps = fmin(records[i].metrics[0].value.median * c->machine.sys.n_nodes,
						      jl_figure(cli->cat, "checkpoint-store-rate"));
				return JL_OK;
			}
	return jl_fail(err, JL_E_NOTFOUND,
		       "--store-measured: nothing is stored; run 'jeoul bench storage' or 'jeoul import fio.json'");
}

static enum jl_status ignore_record(void *ctx, const struct jl_record *record, struct jl_err *err)
{
	(void)ctx;
	(void)record;
	(void)err;
	return JL_OK;
}

/* The rest of the job that this log is of. */
static enum jl_status read_log(struct jl_goodput_ask *ask, struct jl_job *job, struct jl_cli *cli, struct jl_err *err)
{
	struct jl_runlog_reader reader;
	struct jl_run_spent *spent = jl_arena_alloc(&cli->arena, sizeof(*spent));
	const struct jl_import_options options = { .time_s = NAN };
	const struct jl_import_sink sink = {
		.record = ignore_record, .step = jl_runlog_step, .pause = jl_runlog_pause, .ctx = &reader
	};
	struct jl_import_count counted;
	struct jl_runlog log;

	JL_TRY(jl_got(spent, err));
	jl_runlog_begin(&reader, &cli->arena);
	JL_TRY(jl_import_file(jl_text(cli, "log"), &options, &sink, &counted, err));
	JL_TRY(jl_runlog_end(&log, &reader, err));
	jl_runlog_spent(spent, &log);
	return jl_goodput_take_log(job, ask, &log, spent, err);
}

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
	if (jl_text(cli, "log"))
		JL_TRY(read_log(&ask, job, cli, err));
	if (jl_flag(cli, "store-measured"))
		JL_TRY(read_store(&ask, cli, &job->how, err));
	JL_TRY(jl_goodput_weigh(goodput, cli->cat, job, &ask, err));
	if (!goodput->progresses)
		cli->exit_code = 3;
	JL_ANSWER(cli, err, &jl_goodput_fields, goodput, jl_show_goodput(&doc, goodput, jl_view_options(cli)));
}
