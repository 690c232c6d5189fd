/* jeoul cost: compares buying and renting over time for given work, or computes one month's electricity bill. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "catalog/find.h"
#include "cli/ask.h"
#include "cli/view.h"
#include "cost/study.h"
#include "topics/cost.h"

#define DAY_S 86400.0

static const char *const currencies[] = { "USD", "KRW", NULL };

/* clang-format off */
const struct jl_option jl_cost_options[] = {
	JL_O_TEXT("buy", "TEXT", JL_N("to buy: \"rtx-3090 desktop 2200 USD, watts=450 W, life=3 y, resale=30 %\""), .many = true),
	JL_O_TEXT("own", "TEXT", JL_N("owned already: only running costs count"), .many = true),
	JL_O_TEXT("rent", "TEXT", JL_N("to rent by the hour: aws:p3.2xlarge, or \"2.14 USD/h\""), .many = true),
	JL_O_TEXT("spot", "TEXT", JL_N("spot: \"aws:p3.2xlarge, interrupts=5 %/h, lost=30 min, restart=10 min\""), .many = true),
	JL_O_TEXT("reserve", "TEXT", JL_N("reserved, paid whether used or not: \"1.3 USD/h, term=1 y, upfront=1000 USD\""), .many = true),
	JL_O_AMOUNT("util", "SHARE", JL_K_FRACTION, JL_N("share of all hours in use (default: 15 %)"), JL_WITHIN(1e-9, 1, JL_N("utilisation is above 0 % and at most 100 %"))),
	JL_O_AMOUNT("runs-per-month", "N", JL_K_NUMBER, JL_N("training runs a month instead of --util; needs a model"), .above = true, .apart = "util"),
	JL_O_TEXT("kwh", "PRICE", JL_N("electricity: \"0.12 USD/kWh\" or \"150 KRW/kWh\""), .apart = "tariff"),
	JL_O_TEXT("tariff", "NAME", JL_N("a tariff of the catalog instead: kepco, us-california, ...")),
	JL_O_AMOUNT("household", "ENERGY", JL_K_ENERGY, JL_N("electricity used a month already; decides the tier"), .with = "tariff", JL_WITHIN(0, 3.6e15, JL_N("must be 0 to 1e9 kWh a month"))),
	JL_O_AMOUNT("demand", "POWER", JL_K_POWER, JL_N("contract demand of tariffs that charge by kW"), .with = "tariff", JL_WITHIN(0, 1e9, JL_N("must be 0 to 1 GW"))),
	JL_O_TEXT("bands", "LIST", JL_N("hours of use for time-of-use tariffs: off-peak=60%,mid=25%,peak=15% (default: all day)"), .with = "tariff"),
	JL_O_AMOUNT("bill", "ENERGY", JL_K_ENERGY, JL_N("only the bill of one month with this use"), .with = "tariff", JL_WITHIN(0, 3.6e18, JL_N("must not be below zero"))),
	JL_O_TEXT("bill-of", "TEXT", JL_N("electricity that a machine adds to the bill, month by month: \"rtx-4090 desktop\"; with --tariff, --util, --household"), .with = "tariff"),
	JL_O_COUNT("month", "1..12", 1, 12, JL_N("month of --bill (default: that of the start)"), .with = "bill"),
	JL_O_TEXT("region", "NAME", JL_N("where to rent: seoul, us, us-east-1")),
	JL_O_CHOICE("currency", "USD|KRW", currencies, JL_N("currency of the answer (default: the first option's)")),
	JL_O_AMOUNT("fx", "N", JL_K_NUMBER, JL_N("won for one dollar"), JL_WITHIN(1, 1e6, JL_N("must be the won for one dollar, e.g. 1400"))),
	JL_O_TEXT("fx-date", "DATE", JL_N("the day of that rate (default: today)")),
	JL_O_TEXT("start", "DATE", JL_N("first day (default: today)")),
	JL_O_AMOUNT("horizon", "TIME", JL_K_TIME, JL_N("time horizon (default: 3 years)"), JL_WITHIN(DAY_S, JL_COST_DAYS_MAX * DAY_S, JL_N("must be one day to fifty years"))),
	JL_O_AMOUNT("carbon", "RATE", JL_K_MASS_ENERGY, JL_N("CO2e of a kWh, e.g. \"430 g/kWh\"")),
	JL_O_TEXT("baseline", "SYSTEM", JL_N("where --observed was measured"), .with = "observed"),
	JL_ASK_OBSERVED_OPTIONS,
	JL_ASK_COUNT("batch", JL_N("the run: samples of one worker"), JL_TO(jl_request, batch)),
	JL_ASK_COUNT("global-batch", JL_N("the run: samples of a step"), JL_TO(jl_request, global_batch)),
	JL_O_CHOICE("precision", "fp32|tf32|fp16|bf16|fp8", jl_ask_precisions, JL_N("format of the matrix products"), JL_TO(jl_request, dtype)),
	JL_O_CHOICE("framework", "eager|compiled|megatron|native", jl_ask_frameworks, JL_N("framework"), JL_TO(jl_request, framework)),
	JL_ASK_TUNE_OPTIONS,
	JL_ASK_SHAPE_OPTIONS,
	JL_ASK_LENGTH_OPTIONS,
	{ 0 },
};
/* clang-format on */

/* Adds the kind to names that occur twice. */
static void tell_apart(struct jl_cost_study *study, bool json)
{
	bool twice[JL_COST_OPTIONS_MAX] = { false };

	for (size_t a = 0; a < study->n_options; a++)
		for (size_t b = 0; b < study->n_options; b++)
			twice[a] |= a != b && strcmp(study->options[a].name, study->options[b].name) == 0;
	for (size_t i = 0; i < study->n_options; i++) {
		struct jl_cost_option *o = &study->options[i];
		const size_t len = strlen(o->name);

		if (twice[i])
			snprintf(o->name + len, sizeof o->name - len, " (%s)",
				 json ? jl_cost_kind_name(o->kind) : jl_msg(jl_cost_kind_name(o->kind)));
	}
}

/* Parses "off-peak=60%,mid=25%,peak=15%"; the shares must sum to 100 %. */
static enum jl_status read_bands(double ret_frac[3], const char *text, struct jl_err *err)
{
	static const char *const names[] = { "off-peak", "mid", "peak" };
	double frac[3] = { 0 }, sum;
	const char *at = text;

	while (*at) {
		const size_t len = strcspn(at, ","), name = strcspn(at, "=,");
		char value[32];
		int band = 0;

		while (band < 3 && (strlen(names[band]) != name || strncmp(names[band], at, name) != 0))
			band++;
		if (band == 3 || at[name] != '=' || len - name - 1 >= sizeof value)
			return jl_fail(err, JL_E_USAGE, "--bands '%s': write e.g. off-peak=60%%,mid=25%%,peak=15%%",
				       text);
		snprintf(value, sizeof value, "%.*s", (int)(len - name - 1), at + name + 1);
		if (jl_units_parse(&frac[band], value, JL_K_FRACTION, "--bands", err))
			return err->status;
		at += len + (at[len] == ',');
	}
	sum = frac[0] + frac[1] + frac[2];
	if (!(frac[0] >= 0 && frac[1] >= 0 && frac[2] >= 0 && fabs(sum - 1) < 1e-6))
		return jl_fail(err, JL_E_RANGE, "--bands '%s' add up to %.4g %%, not to 100 %%", text, sum * 100);
	memcpy(ret_frac, frac, sizeof frac);
	return JL_OK;
}

static enum jl_status read_options(struct jl_cost_study *study, struct jl_cli *cli, struct jl_err *err)
{
	const char *region = jl_text(cli, "region");

	if (region && jl_cost_check_region(cli->cat, region, true, err))
		return err->status;
	for (size_t i = 0; i < cli->args.n_given; i++) {
		const struct jl_given *g = &cli->args.given[i];
		int kind = 0;

		while (kind < JL_N_COST_KIND && strcmp(jl_cost_kind_key((enum jl_cost_kind)kind), g->option->name) != 0)
			kind++;
		if (kind == JL_N_COST_KIND)
			continue;
		if (study->n_options == JL_COST_OPTIONS_MAX)
			return jl_fail(err, JL_E_LIMIT, "more than %d options", JL_COST_OPTIONS_MAX);
		JL_TRY(jl_cost_option_parse(&study->options[study->n_options], (enum jl_cost_kind)kind, g->text, region,
					    cli->cat, &cli->arena, err));
		study->n_options++;
	}
	if (study->n_options == 0)
		return jl_fail(err, JL_E_USAGE,
			       "name what to compare, e.g. --buy \"rtx-3090 desktop 2200 USD\" --rent aws:p3.2xlarge");
	tell_apart(study, cli->json);
	return JL_OK;
}

static enum jl_status read_power(struct jl_cost_study *study, struct jl_cli *cli, struct jl_cost_said *assumed,
				 struct jl_err *err)
{
	struct jl_cost_setting *s = &study->setting;
	const char *kwh = jl_text(cli, "kwh"), *tariff = jl_text(cli, "tariff"), *bands = jl_text(cli, "bands");
	const double pue = jl_value(cli, "pue"), household = jl_value(cli, "household"),
		     demand = jl_value(cli, "demand");

	s->pue_ppm = isnan(pue) ? JL_PPM : llround(pue * 1e6);
	s->site.milli_kWh = isnan(household) ? 0 : llround(household / 3600);
	s->site.demand_kW = isnan(demand) ? 0 : demand / 1000;
	JL_TRY(bands ? read_bands(s->site.band_frac, bands, err) : JL_OK);
	JL_TRY(tariff ? jl_tariff_find(&s->tariff, cli->cat, tariff, err) : JL_OK);
	assumed->household = tariff && isnan(household) && jl_tariff_is_household(s->tariff) && !jl_given(cli, "bill");
	if (assumed->household)
		s->site.milli_kWh = llround(jl_figure(cli->cat, "household-month") * 1000);
	if (tariff)
		return JL_OK;
	assumed->power_price = !kwh;
	s->per_kWh = jl_money_from(0.12, JL_USD);
	return kwh ? jl_kwh_price_parse(&s->per_kWh, kwh, "--kwh", err) : JL_OK;
}

/* Carbon intensity of the grid: as given, otherwise that of the tariff's country. */
static void read_carbon(struct jl_cost_setting *s, const struct jl_cli *cli, struct jl_cost_said *assumed)
{
	const bool korea = (s->tariff && strncmp(s->tariff, "kr-", 3) == 0) ||
			   (!s->tariff && s->per_kWh.currency == JL_KRW);
	const char *subject = korea ? JL_N("Korea") : JL_N("USA");

	s->carbon_gpkWh = jl_value(cli, "carbon") * 3.6e6;
	if (!isnan(s->carbon_gpkWh))
		return;
	for (size_t i = 0; i < cli->cat->n_rules; i++) {
		const struct jl_rule *r = &cli->cat->rules[i];

		if (strcmp(r->kind, "carbon") == 0 && r->subject && strcmp(r->subject, subject) == 0) {
			struct jl_err ignored;
			double value;
			if (jl_units_parse(&value, r->value, JL_K_NUMBER, r->id, &ignored) == JL_OK)
				s->carbon_gpkWh = value;
		}
	}
	assumed->carbon_region = true;
	assumed->carbon_name = subject;
}

static enum jl_status read_calendar(struct jl_cost_setting *s, const struct jl_cli *cli, struct jl_err *err)
{
	const char *start = jl_text(cli, "start"), *fx_date = jl_text(cli, "fx-date");
	const double horizon = jl_value(cli, "horizon"), fx = jl_value(cli, "fx");

	s->start_day = s->fx.day = cli->today;
	JL_TRY(start ? jl_date_parse(&s->start_day, start, err) : JL_OK);
	JL_TRY(fx_date ? jl_date_parse(&s->fx.day, fx_date, err) : JL_OK);
	if (isnan(fx) && !fx_date)
		(void)jl_date_parse(&s->fx.day, jl_rule_by_id(cli->cat, "krw-per-usd")->date, err);
	s->fx.krw_micro = llround((isnan(fx) ? jl_figure(cli->cat, "krw-per-usd") : fx) * 1e6);
	s->horizon_days = isnan(horizon) ? jl_date_add_months(s->start_day, 36) - s->start_day
					 : lround(horizon / DAY_S);
	return JL_OK;
}

/* True if a model is given by name, dimensions or figures. */
static bool has_work(const struct jl_cli *cli)
{
	return cli->args.n_operands > 0 || jl_given(cli, "layers") || jl_given(cli, "gmacs");
}

static enum jl_status check_options(const struct jl_cli *cli, struct jl_err *err)
{
	const bool observed = jl_given(cli, "observed"),
		   rented = jl_given(cli, "rent") || jl_given(cli, "spot") || jl_given(cli, "reserve");
	const struct jl_idle rules[] = {
		{ .when = jl_given(cli, "bill"),
		  .but = true,
		  .options = "bill tariff demand bands month start",
		  .beside = "--bill" },
		{ .when = jl_given(cli, "bill-of"),
		  .but = true,
		  .options = "bill-of tariff util household demand bands pue fx fx-date",
		  .beside = "--bill-of" },
		{ .when = !has_work(cli),
		  .options = "batch global-batch framework tune mean-seq seq tokens",
		  .with = JL_N("a model") },
		{ .when = !has_work(cli) && !observed,
		  .options = "precision samples steps-per-epoch epochs",
		  .with = JL_N("a model") },
		{ .when = !rented, .options = "region", .with = "--rent" },
	};

	return jl_check_idle(cli, rules, JL_LEN(rules), err);
}

static enum jl_status read_util(struct jl_cost_study *study, const struct jl_cli *cli, struct jl_cost_said *assumed,
				struct jl_err *err)
{
	const double util = jl_value(cli, "util"), runs = jl_value(cli, "runs-per-month");

	if (!isnan(runs) && !has_work(cli) && !jl_given(cli, "observed"))
		return jl_fail(err, JL_E_USAGE, "--runs-per-month needs to know what runs: name a model");
	study->runs_per_month = runs;
	study->setting.util_ppm = isnan(util) ? 150000 : llround(util * 1e6);
	assumed->util = isnan(util) && isnan(runs);
	return JL_OK;
}

/* Transfers an observed run to each option's system. */
static enum jl_status observed_study(struct jl_cost_study *study, struct jl_cli *cli, struct jl_err *err)
{
	struct jl_machine *machines = jl_arena_array(&cli->arena, 2, sizeof(*machines));
	const struct jl_given *epochs = jl_given(cli, "epochs");
	struct jl_observed run;

	JL_TRY(jl_got(machines, err));
	if (cli->args.n_operands)
		return jl_fail(err, JL_E_USAGE, "a model or an observed run, not both: leave '%s' or --observed out",
			       cli->args.operands[0]);
	JL_TRY(jl_ask_observed_on(&run, &machines[0], cli, err));
	if (!(run.batches > 0))
		return jl_fail(err, JL_E_USAGE, "the length of a run is missing: give --batches or --samples");
	for (size_t i = 0; i < study->n_options; i++) {
		struct jl_cost_work *w = &study->work[i];
		const struct jl_cost_option *o = &study->options[i];
		const double steps = run.batches * (epochs ? (double)epochs->count : 1);
		struct jl_carried carried;
		double limit;

		if (!o->has_system) {
			jl_fail(&w->why, JL_E_NOTFOUND, "'%s' is not in the catalog", o->name);
			continue;
		}
		if (jl_machine_make(&machines[1], cli->cat, &o->system, &w->why) ||
		    jl_observed_check_target(&run, &machines[1], &w->why))
			continue;
		limit = jl_observed_limit(&run, &machines[0], &machines[1]);
		if (!(limit >= 1)) {
			jl_fail(&w->why, JL_E_RANGE, "one sample is not sure to fit in the memory of %s", o->name);
			continue;
		}
		jl_observed_carry(&carried, &run, &machines[0], &machines[1], run.batch, limit);
		w->run_s = w->elapsed_s = jl_estimate_times(carried.step_s, steps);
		w->power_W = carried.host_power ? carried.power_W : NAN;
		w->known = true;
	}
	return jl_cost_study_times(study, cli->cat, &cli->arena, err);
}

static enum jl_status one_bill(struct jl_cli *cli, const struct jl_cost_setting *s, struct jl_err *err)
{
	struct jl_bill_asked asked = { .tariff = s->tariff, .use = s->site };

	asked.use.milli_kWh = llround(jl_value(cli, "bill") / 3600);
	asked.use.month = (int)jl_whole(cli, "month", jl_date_civil(s->start_day).month);
	JL_TRY(jl_tariff_bill(&asked.bill, cli->cat, s->tariff, &asked.use, err));
	asked.newer = jl_tariff_newer(cli->cat, s->tariff);
	JL_ANSWER(cli, err, &jl_bill_fields, &asked, jl_show_bill(&doc, &asked, cli->today));
}

/* Effect of a machine on the monthly bills of a year. */
static enum jl_status machine_bill(struct jl_cli *cli, struct jl_cost_study *study, struct jl_err *err)
{
	struct jl_machine_bill bill;

	study->setting.currency = JL_KRW;
	JL_TRY(read_util(study, cli, &study->assumed, err));
	JL_TRY(jl_cost_option_parse(&study->options[0], JL_COST_OWN, jl_text(cli, "bill-of"), NULL, cli->cat,
				    &cli->arena, err));
	study->n_options = 1;
	jl_cost_take_contract(study, cli->cat, jl_text(cli, "tariff"));
	JL_TRY(jl_machine_bill_make(&bill, &study->options[0], &study->setting, cli->cat, err));
	JL_ANSWER(cli, err, &jl_machine_bill_fields, &bill, jl_show_machine_bill(&doc, &bill, study, cli->today));
}

enum jl_status jl_cmd_cost(struct jl_cli *cli, struct jl_err *err)
{
	struct jl_cost_study *study = jl_arena_alloc(&cli->arena, sizeof *study);
	struct jl_cost_said *assumed;
	struct jl_request request = jl_request_empty();
	const char *currency = jl_text(cli, "currency");

	JL_TRY(jl_got(study, err));
	JL_TRY(check_options(cli, err));
	assumed = &study->assumed;
	JL_TRY(read_calendar(&study->setting, cli, err));
	JL_TRY(read_power(study, cli, assumed, err));
	if (jl_given(cli, "bill"))
		return one_bill(cli, &study->setting, err);
	if (jl_given(cli, "bill-of"))
		return machine_bill(cli, study, err);
	JL_TRY(read_options(study, cli, err));
	jl_cost_take_contract(study, cli->cat, jl_text(cli, "tariff"));
	JL_TRY(read_util(study, cli, assumed, err));
	if (has_work(cli))
		JL_TRY(jl_ask_request(&request, cli, err));
	read_carbon(&study->setting, cli, assumed);
	study->setting.currency = jl_cost_is_rent(study->options[0].kind) ? study->options[0].per_hour.currency
									  : study->options[0].price.currency;
	if (study->options[0].kind == JL_COST_OWN && study->setting.tariff) { /* only electricity has a cost */
		struct jl_tariff_use none = { .month = 1 };
		struct jl_bill bill;

		JL_TRY(jl_tariff_bill(&bill, cli->cat, study->setting.tariff, &none, err));
		study->setting.currency = bill.currency;
	}
	if (currency)
		study->setting.currency = strcmp(currency, "KRW") == 0 ? JL_KRW : JL_USD;
	JL_TRY(jl_given(cli, "observed")
		       ? observed_study(study, cli, err)
		       : jl_cost_study_make(study, has_work(cli) ? &request : NULL, cli->cat, &cli->arena, err));
	JL_ANSWER(cli, err, &jl_cost_fields, study,
		  jl_show_cost(&doc, &(struct jl_show_cost){ .study = study,
							     .cat = cli->cat,
							     .today = cli->today,
							     .command = true,
							     .options = jl_view_options(cli) }));
}
