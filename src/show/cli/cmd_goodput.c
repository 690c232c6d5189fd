/* jeoul goodput: total time of a training run with failures, checkpoints, restarts and stragglers. */
#include <math.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/view.h"
#include "catalog/find.h"
#include "goodput/goodput.h"
#include "store/store.h"

#define A_YEAR_S 31536000.0

static const char *const currencies[] = { "USD", "KRW", NULL };

/* clang-format off */
const struct jl_option jl_goodput_options[] = {
	JL_ASK_RUN_OPTIONS,
	JL_ASK_SHAPE_OPTIONS,
	JL_ASK_LENGTH_OPTIONS,
	JL_O_CHOICE("checkpoint", "blocking|async|memory|tiered", jl_checkpoints, JL_N("how checkpoints are written (default: async); memory, tiered: copies on other hosts"), JL_TO(jl_goodput_ask, checkpoint)),
	JL_O_AMOUNT("checkpoint-size", "BYTES", JL_K_BYTES, JL_N("of one checkpoint (default: weights and optimizer states)"), JL_TO(jl_goodput_ask, checkpoint_B), JL_WITHIN(1, 1e18, JL_N("must be 1 B to 1 EB, e.g. 2.3 TB"))),
	JL_O_AMOUNT("interval", "TIME", JL_K_TIME, JL_N("between checkpoints (default: the best)"), JL_TO(jl_goodput_ask, interval_s), JL_WITHIN(1e-3, A_YEAR_S, JL_N("must be 1 ms to a year, e.g. 30 min"))),
	JL_O_AMOUNT("store-rate", "RATE", JL_K_BYTE_RATE, JL_N("write rate of shared storage, all nodes together, e.g. \"200 GB/s\""), JL_TO(jl_goodput_ask, store_Bps), JL_WITHIN(1e3, 1e18, JL_N("must be 1 kB/s to 1 EB/s, e.g. 200 GB/s"))),
	JL_O_AMOUNT("load-rate", "RATE", JL_K_BYTE_RATE, JL_N("read rate of shared storage, all nodes together (default: 2.5 times as long as writing)"), JL_TO(jl_goodput_ask, load_Bps), JL_WITHIN(1e3, 1e18, JL_N("must be 1 kB/s to 1 EB/s, e.g. 200 GB/s"))),
	JL_O_FLAG("store-measured", JL_N("a node's rate as 'bench storage' or an imported fio measured it last"), .local = true),
	JL_O_AMOUNT("detect", "TIME", JL_K_TIME, JL_N("until a failure is acted on, on average"), JL_TO(jl_goodput_ask, detect_s), JL_WITHIN(0, A_YEAR_S, JL_N("must be 0 s to a year, e.g. 5 min"))),
	JL_O_AMOUNT("restart", "TIME", JL_K_TIME, JL_N("time of a restart without loading the checkpoint (default: 8 min)"), JL_TO(jl_goodput_ask, restart_s), JL_WITHIN(0, A_YEAR_S, JL_N("must be 0 s to a year, e.g. 10 min"))),
	JL_O_AMOUNT("planned-per-day", "X", JL_K_NUMBER, JL_N("stops for maintenance, e.g. 0.14 (default: as often a node as Llama 3 had)"), JL_TO(jl_goodput_ask, planned_per_day), JL_WITHIN(0, 1e6, JL_N("must be 0 to 1e6, e.g. 0.14"))),
	JL_O_COUNT("spares", "N", 0, 1000000, JL_N("spare nodes (default: 2 % of the job's)"), JL_TO(jl_goodput_ask, n_spares)),
	JL_O_CHOICE("recovery", "restart|swap|elastic", jl_recoveries, JL_N("after a failure: all start again (default), a standby host steps in, or the other replicas go on"), JL_TO(jl_goodput_ask, recovery)),
	JL_O_AMOUNT("repair", "TIME", JL_K_TIME, JL_N("until a node that was taken out is back (default: 1 d)"), JL_TO(jl_goodput_ask, repair_s), JL_WITHIN(0, A_YEAR_S, JL_N("must be 0 s to a year, e.g. 1 d"))),
	JL_O_AMOUNT("jitter", "SHARE", JL_K_FRACTION, JL_N("standard deviation of a node's step, of the step (default: 0.7 %)"), JL_TO(jl_goodput_ask, jitter_frac), JL_WITHIN(0, 1, JL_N("must be a share from 0 to 1, e.g. 1%"))),
	JL_O_AMOUNT("congestion", "SHARE", JL_K_FRACTION, JL_N("how much longer communication takes beside other jobs (default: 0)"), JL_TO(jl_goodput_ask, congestion_frac), JL_WITHIN(0, 100, JL_N("must be a share from 0 to 100, e.g. 15%"))),
	JL_O_TEXT("site", "ID", JL_N("failure rate of one published site, e.g. llama-3-run (default: pooled from all)"), JL_TO(jl_goodput_ask, site)),
	JL_O_AMOUNT("failures-per-node-day", "X", JL_K_NUMBER, JL_N("of each node of 8 GPUs, in place of published ones, e.g. 0.004"), JL_TO(jl_goodput_ask, node_per_day), .apart = "site", JL_WITHIN(0, 1e12, JL_N("must be 0 to 1e12, e.g. 0.004"))),
	JL_O_AMOUNT("failures-per-day", "X", JL_K_NUMBER, JL_N("of the job whatever its size, added to those of its nodes, e.g. 0.02"), JL_TO(jl_goodput_ask, job_per_day), JL_WITHIN(0, 1e12, JL_N("must be 0 to 1e12, e.g. 0.02"))),
	JL_O_AMOUNT("mttf", "TIME", JL_K_TIME, JL_N("from one failure of this job to the next, all of them counted, in place of other rates, e.g. \"7.9 h\""), JL_TO(jl_goodput_ask, mttf_s), JL_WITHIN(1e-6, 1e12, JL_N("must be 1 us to 30,000 years, e.g. 7.9 h")), .apart = "failures-per-day"),
	JL_O_COUNT("failures", "N", 0, JL_ASK_MAX, JL_N("failures counted on this job in --observed-time; combined with published rates"), JL_TO(jl_goodput_ask, n_failures), .with = "observed-time", .apart = "failures-per-node-day"),
	JL_O_AMOUNT("observed-time", "TIME", JL_K_TIME, JL_N("how long failures were counted, e.g. \"20 d\""), JL_TO(jl_goodput_ask, observed_s), .above = true, .with = "failures"),
	JL_O_AMOUNT("power-cap", "POWER", JL_K_POWER, JL_N("of the site, cooling included: clocks fall below it, e.g. \"20 MW\""), JL_TO(jl_goodput_ask, campus.cap_W), JL_WITHIN(1, 1e12, JL_N("must be 1 W to 1 TW, e.g. 20 MW"))),
	JL_O_AMOUNT("rack-power", "POWER", JL_K_POWER, JL_N("that a rack may draw (default: 44 kW)"), JL_TO(jl_goodput_ask, campus.rack_W), JL_WITHIN(100, 1e7, JL_N("must be 100 W to 10 MW, e.g. 44 kW"))),
	JL_O_AMOUNT("carbon", "X", JL_K_MASS_ENERGY, JL_N("CO2 of the grid, e.g. \"400 g/kWh\" (default: Korea, USA)"), JL_TO(jl_goodput_ask, campus.carbon_gpJ)),
	JL_O_CHOICE("grid", "korea|usa|france|germany|sweden|norway|finland|uk|canada|japan|china|india|singapore|taiwan", jl_grids, JL_N("its CO2 by country"), JL_TO(jl_goodput_ask, campus.grid), .apart = "carbon"),
	JL_O_COUNT("rent-block", "N", 1, 10000000, JL_N("GPUs are rented in blocks of N"), JL_TO(jl_goodput_ask, campus.block_gpus)),
	JL_O_AMOUNT("rent-least", "TIME", JL_K_TIME, JL_N("and for at least so long, e.g. \"90 d\""), JL_TO(jl_goodput_ask, campus.least_s), JL_WITHIN(0, 1e9, JL_N("must be 0 s to 30 years, e.g. 90 d"))),
	JL_O_FLAG("fabrics", JL_N("the step on other networks, 1,024 to 131,072 GPUs"), JL_TO(jl_goodput_ask, campus.fabrics)),
	JL_O_AMOUNT("oversubscription", "X", JL_K_NUMBER, JL_N("oversubscription of the narrower network: bandwidth into a pod / out of it (default: 4)"), JL_TO(jl_goodput_ask, campus.oversub), JL_WITHIN(1, 1000, JL_N("must be 1 to 1000, e.g. 4")), .with = "fabrics"),
	JL_O_TEXT("log", "FILE", JL_N("the job's own log so far: its steps, checkpoints, stalls and restarts; the rest is predicted with them"), .apart = "failures"),
	JL_O_TEXT("start", "DATE", JL_N("first day of the run (default: today)")),
	JL_O_CHOICE("currency", "USD|KRW", currencies, JL_N("currency of the answer (default: KRW in Korean, else USD)")),
	JL_O_AMOUNT("fx", "N", JL_K_NUMBER, JL_N("won for one dollar"), JL_WITHIN(1, 1e6, JL_N("must be the won for one dollar, e.g. 1400"))),
	{ 0 },
};
/* clang-format on */

/* Latest measured storage rates of one node; NAN: not measured. */
struct measured {
	double write_Bps, read_Bps;
};

static enum jl_status read_store(struct measured *ret_measured, struct jl_cli *cli, struct jl_err *err)
{
	struct measured m = { NAN, NAN };
	const struct jl_store_filter filter = { .kind = "storage", .limit = 100 };
	const struct jl_record *records = NULL;
	struct jl_store *store = NULL;
	size_t n = 0;
	enum jl_status status = jl_store_open_to_read(&store, NULL, err);

	JL_THEN(status, jl_store_list(store, &filter, &cli->arena, &records, &n, err));
	jl_store_close(store);
	JL_TRY(status);
	for (size_t i = n; i-- > 0;) /* the list has the newest first */
		for (size_t k = 0; records[i].n_metrics && k < records[i].n_params; k++) {
			const char *test = strcmp(records[i].params[k].key, "test") == 0 ? records[i].params[k].text
											 : "";

			if (jl_same_text(test, "write"))
				m.write_Bps = records[i].metrics[0].value.median;
			if (jl_same_text(test, "read"))
				m.read_Bps = records[i].metrics[0].value.median;
		}
	*ret_measured = m;
	if (!isnan(m.write_Bps))
		return JL_OK;
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

/* Reads the job's log so far. */
static enum jl_status read_log(struct jl_runlog *ret_log, struct jl_cli *cli, struct jl_err *err)
{
	struct jl_runlog_reader reader;
	const struct jl_import_options options = { .time_s = NAN };
	const struct jl_import_sink sink = {
		.record = ignore_record, .step = jl_runlog_step, .pause = jl_runlog_pause, .ctx = &reader
	};
	struct jl_import_count counted;

	jl_runlog_begin(&reader, &cli->arena);
	JL_TRY(jl_import_file(jl_text(cli, "log"), &options, &sink, &counted, err));
	return jl_runlog_end(ret_log, &reader, err);
}

/* The time from one failure to the next holds all of them. */
static enum jl_status check_mttf(const struct jl_cli *cli, struct jl_err *err)
{
	static const char *const others[] = { "site", "failures-per-node-day", "failures" };

	for (size_t i = 0; jl_given(cli, "mttf") && i < JL_LEN(others); i++)
		if (jl_given(cli, others[i]))
			return jl_fail(err, JL_E_USAGE, "--mttf counts all failures: leave --%s out", others[i]);
	return JL_OK;
}

enum jl_status jl_cmd_goodput(struct jl_cli *cli, struct jl_err *err)
{
	struct jl_goodput *goodput = jl_arena_alloc(&cli->arena, sizeof(*goodput));
	struct jl_job *job = jl_arena_alloc(&cli->arena, sizeof(*job));
	struct jl_run_spent *spent = jl_arena_alloc(&cli->arena, sizeof(*spent));
	struct jl_goodput_ask ask = jl_goodput_ask_empty();
	struct jl_runlog log;
	const char *start = jl_text(cli, "start"), *currency = jl_text(cli, "currency");
	struct measured measured = { NAN, NAN };
	struct jl_request req;

	JL_TRY(goodput && job && spent ? JL_OK : jl_fail_nomem(err));
	JL_TRY(check_mttf(cli, err));
	JL_READ(&ask, jl_goodput_ask, cli);
	ask.start_day = ask.today = cli->today;
	if (currency ? strcmp(currency, "KRW") == 0 : jl_lang_is("ko")) {
		ask.krw_per_usd = jl_ask_krw_per_usd(cli);
		ask.fx_date = jl_ask_fx_date(cli);
	}
	if (start)
		JL_TRY(jl_date_parse(&ask.start_day, start, err));
	JL_TRY(jl_ask_request(&req, cli, err));
	if (jl_flag(cli, "store-measured"))
		JL_TRY(read_store(&measured, cli, err));
	req.storage_Bps = jl_given_or(req.storage_Bps, measured.read_Bps);
	if (jl_text(cli, "log")) {
		JL_TRY(read_log(&log, cli, err));
		if (isnan(req.batch) && isnan(req.global_batch) && log.batch > 0)
			req.global_batch = log.batch;
		req.seq = jl_given_or(req.seq, log.seq);
	}
	JL_TRY(jl_job_make(job, cli->cat, &req, &cli->arena, err));
	if (jl_text(cli, "log")) {
		jl_runlog_spent(spent, &log);
		JL_TRY(jl_goodput_take_log(job, &ask, &log, spent, err));
	}
	const double nodes = ceil((double)job->how.n_gpus / jl_sys_per_tray(&job->how.machine.sys));
	const double most_Bps = jl_figure(cli->cat, "checkpoint-store-rate");

	if (!isnan(measured.write_Bps))
		ask.store_Bps = jl_given_or(ask.store_Bps, fmin(measured.write_Bps * nodes, most_Bps));
	if (!isnan(measured.read_Bps))
		ask.load_Bps = jl_given_or(ask.load_Bps, fmin(measured.read_Bps * nodes, most_Bps));
	JL_TRY(jl_goodput_weigh(goodput, cli->cat, job, &ask, err));
	if (!goodput->progresses)
		cli->exit_code = 3;
	JL_ANSWER(cli, err, &jl_goodput_fields, goodput, jl_show_goodput(&doc, goodput, jl_view_options(cli)));
}
