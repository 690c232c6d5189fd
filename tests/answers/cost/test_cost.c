#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cost/option.h"
#include "cost/study.h"
#include "base/units.h"

static const struct jl_catalog *cat(void)
{
	return jl_catalog_embedded();
}

static struct jl_cost_setting setting(void)
{
	struct jl_cost_setting s = { .currency = JL_USD,
				     .horizon_days = 1096,
				     .util_ppm = 150000,
				     .pue_ppm = JL_PPM,
				     .per_kWh = jl_money_from(0.12, JL_USD),
				     .carbon_gpkWh = 369.5 };
	struct jl_err err;

	assert_int_equal(jl_date_parse(&s.start_day, "2026-11-15", &err), JL_OK);
	return s;
}

static void parse(struct jl_cost_option *o, enum jl_cost_kind kind, const char *text, struct jl_arena *arena)
{
	struct jl_err err;

	if (jl_cost_option_parse(o, kind, text, NULL, cat(), arena, &err))
		fail_msg("%s: %s", text, err.en);
}

static double break_even(const char *buy, enum jl_cost_kind kind, const char *rent, struct jl_cost_setting s)
{
	struct jl_arena arena;
	struct jl_cost_option dear, cheap;
	struct jl_cost_line a, b;
	struct jl_err err;
	double days;

	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	parse(&dear, JL_COST_BUY, buy, &arena);
	parse(&cheap, kind, rent, &arena);
	assert_int_equal(jl_cost_line_make(&a, &dear, &s, cat(), &arena, &err), JL_OK);
	assert_int_equal(jl_cost_line_make(&b, &cheap, &s, cat(), &arena, &err), JL_OK);
	days = jl_cost_break_even(&a, &b, s.horizon_days);
	jl_arena_release(&arena);
	return days;
}

/* 2200 / ((2.14 - 0.054) * 3.6) and 2200 / ((0.9 - 0.054) * 3.6) */
static void the_desktop_of_the_guide_pays_after_293_days(void **state)
{
	(void)state;
	assert_true(fabs(break_even("rtx-3090 desktop 2200 USD, watts=450 W", JL_COST_RENT, "2.14 USD/h", setting()) -
			 2200 / ((2.14 - 0.054) * 3.6)) < 1e-6);
	assert_true(fabs(break_even("rtx-3090 desktop 2200 USD, watts=450 W", JL_COST_SPOT, "0.9 USD/h", setting()) -
			 2200 / ((0.9 - 0.054) * 3.6)) < 1e-6);
}

static void its_year_takes_591_kWh_and_71_dollars(void **state)
{
	struct jl_cost_setting s = setting();
	struct jl_arena arena;
	struct jl_cost_option o;
	struct jl_cost_line line;
	struct jl_err err;
	char text[JL_MONEY_TEXT_MAX];

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	parse(&o, JL_COST_BUY, "rtx-3090 desktop 2,200 USD", &arena);
	assert_true(o.watts_assumed); /* 350 W of the card and 100 W of the rest */
	assert_int_equal(o.active_mW, 450000);
	assert_int_equal(jl_cost_line_make(&line, &o, &s, cat(), &arena, &err), JL_OK);
	assert_true(fabs(line.year_kWh - 591.3) < 1e-9);
	assert_string_equal(jl_money_text(text, line.year_power), "70.96달러");
	assert_int_equal(line.cum_micro[0], 2200 * JL_MICRO);
	assert_int_equal(line.cum_micro[300], 2258320000LL);
	jl_arena_release(&arena);
}

static void kepco_350_kWh_is_71269_won(void **state)
{
	const long long expected[JL_N_BILL_PART] = { 1600, 56190, 3150, 1750, 6269, 2310 };
	struct jl_bill bill;
	struct jl_err err;
	const char *id;

	(void)state;
	assert_int_equal(jl_tariff_find(&id, cat(), "kr-residential-low", &err), JL_OK);
	assert_int_equal(
		jl_tariff_bill(&bill, cat(), id, &(struct jl_tariff_use){ .milli_kWh = 350000, .month = 5 }, &err),
		JL_OK);
	for (int p = 0; p < JL_N_BILL_PART; p++)
		assert_int_equal(bill.parts[p].micro, expected[p] * JL_MICRO);
	assert_int_equal(bill.total.micro, 71269 * JL_MICRO);
}

/* A word means the newest rates that there are; an id means that one. */
static void words_mean_the_newest_rates(void **state)
{
	static const struct {
		const char *word, *id;
	} rows[] = { { "kepco", "kr-residential-low-2025" },         { "주택용", "kr-residential-low-2025" },
		     { "kr-residential-low", "kr-residential-low" }, { "일반용", "kr-general-1-low" },
		     { "kepco-general", "kr-general-1-low" },        { "교육용", "kr-educational-1-low" } };
	struct jl_err err;
	const char *id;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(jl_tariff_find(&id, cat(), rows[i].word, &err), JL_OK);
		assert_string_equal(id, rows[i].id);
	}
	assert_true(jl_tariff_is_household("kr-residential-low-2025") && !jl_tariff_is_household("kr-general-1-low"));
}

/* Where power is charged, a machine pays for its own: 8 kW at 6,160 won for each of twelve months, VAT and fund on top. */
static void demand_does_not_cancel_out(void **state)
{
	const struct jl_tariff_use alone = { .month = 5 }, site = { .month = 5, .milli_kWh = 1000000, .demand_kW = 20 };
	struct jl_money without, with, beside;
	struct jl_err err;

	(void)state;
	assert_int_equal(jl_tariff_marginal(&without, cat(), "kr-general-1-low", &alone, 100000, 0, &err), JL_OK);
	assert_int_equal(jl_tariff_marginal(&with, cat(), "kr-general-1-low", &alone, 100000, 8, &err), JL_OK);
	assert_int_equal(jl_tariff_marginal(&beside, cat(), "kr-general-1-low", &site, 100000, 8, &err), JL_OK);
	assert_true(llabs(with.micro - without.micro - llround(8 * 6160 * 1.127 * JL_MICRO)) < 20 * JL_MICRO);
	assert_true(llabs(beside.micro - with.micro) < 40 * JL_MICRO);
}

/* At the value that is told, the other option is the cheaper one at the horizon; just before it is not. */
static void the_decision_flips_where_it_is_told(void **state)
{
	struct jl_cost_option dear, cheap;
	struct jl_cost_swing swings[JL_COST_SWINGS_MAX];
	struct jl_cost_setting s = { .currency = JL_USD,
				     .horizon_days = 1095,
				     .util_ppm = 150000,
				     .pue_ppm = 1000000,
				     .per_kWh = jl_money_from(0.12, JL_USD) };
	struct jl_arena arena;
	struct jl_err err;
	size_t n, n_flips = 0;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	assert_int_equal(
		jl_cost_option_parse(&dear, JL_COST_BUY, "rtx-3090 desktop 2200 USD", NULL, cat(), &arena, &err),
		JL_OK);
	assert_int_equal(jl_cost_option_parse(&cheap, JL_COST_RENT, "2.14 USD/h", NULL, cat(), &arena, &err), JL_OK);
	struct jl_cost_line of_dear, of_cheap;

	assert_int_equal(jl_cost_line_make(&of_dear, &dear, &s, cat(), &arena, &err), JL_OK);
	assert_int_equal(jl_cost_line_make(&of_cheap, &cheap, &s, cat(), &arena, &err), JL_OK);
	assert_int_equal(jl_cost_sensitivity(swings, &n, &of_dear, &of_cheap, &s, 0.2, cat(), &err), JL_OK);
	for (size_t i = 0; i < n; i++) {
		struct jl_cost_line a, b;

		if (strcmp(swings[i].key, "rent") != 0)
			continue;
		n_flips++;
		assert_true(swings[i].flip > 0.1 && swings[i].flip < 1);
		for (int k = 0; k < 2; k++) {
			struct jl_cost_option rent = cheap;

			rent.per_hour.micro = llround((double)rent.per_hour.micro * swings[i].flip * (k ? 1.01 : 0.99));
			assert_int_equal(jl_cost_line_make(&a, &dear, &s, cat(), &arena, &err), JL_OK);
			assert_int_equal(jl_cost_line_make(&b, &rent, &s, cat(), &arena, &err), JL_OK);
			assert_int_equal(isnan(jl_cost_break_even(&a, &b, s.horizon_days)), !k);
		}
	}
	assert_int_equal(n_flips, 1);
	jl_arena_release(&arena);
}

static void progressive_tiers_make_the_next_kWh_dearer(void **state)
{
	const struct jl_tariff_use empty = { .month = 5 }, home = { .month = 5, .milli_kWh = 350000 };
	struct jl_money alone, beside;
	struct jl_err err;

	(void)state;
	assert_int_equal(jl_tariff_marginal(&alone, cat(), "kr-residential-low", &empty, 200000, 0, &err), JL_OK);
	assert_int_equal(jl_tariff_marginal(&beside, cat(), "kr-residential-low", &home, 200000, 0, &err), JL_OK);
	assert_true(beside.micro > 2 * alone.micro);
	/* summer has wider tiers */
	assert_int_equal(jl_tariff_marginal(&alone, cat(), "kr-residential-low",
					    &(struct jl_tariff_use){ .month = 8, .milli_kWh = 250000 }, 50000, 0, &err),
			 JL_OK);
	assert_int_equal(jl_tariff_marginal(&beside, cat(), "kr-residential-low",
					    &(struct jl_tariff_use){ .month = 5, .milli_kWh = 250000 }, 50000, 0, &err),
			 JL_OK);
	assert_true(alone.micro < beside.micro);
}

/* A tariff's months add up: what is paid by the end of the year is the sum of its bills. */
static void a_year_of_bills_is_twelve_months(void **state)
{
	struct jl_cost_setting s = setting();
	struct jl_arena arena;
	struct jl_cost_option o;
	struct jl_cost_line line;
	struct jl_err err;
	long long sum = 0;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	s.currency = JL_KRW;
	s.tariff = "kr-residential-low";
	assert_int_equal(jl_date_parse(&s.start_day, "2028-01-01", &err), JL_OK); /* leap year */
	s.horizon_days = 366;
	parse(&o, JL_COST_OWN, "rtx-3090 desktop, watts=450 W", &arena);
	assert_int_equal(jl_cost_line_make(&line, &o, &s, cat(), &arena, &err), JL_OK);
	for (int m = 1; m <= 12; m++) {
		struct jl_money bill;
		const struct jl_tariff_use none = { .month = m };

		assert_int_equal(jl_tariff_marginal(&bill, cat(), s.tariff, &none,
						    jl_cost_milli_kWh(&o, &s, jl_date_month_days(2028, m)), 0, &err),
				 JL_OK);
		sum += bill.micro;
	}
	assert_int_equal(line.cum_micro[366], sum);
	jl_arena_release(&arena);
}

/* A contract that is the machine's is paid by it; one that was there before is paid only for what the machine adds. */
static void a_contract_is_paid_by_who_needs_it(void **state)
{
	struct jl_cost_setting s = setting();
	struct jl_machine_bill alone, large, beside;
	struct jl_arena arena;
	struct jl_cost_option o;
	struct jl_err err;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	s.currency = JL_KRW;
	s.tariff = "kr-general-1-low";
	s.fx.krw_micro = 1460000000;
	parse(&o, JL_COST_OWN, "my machine, watts=2000 W", &arena);
	assert_int_equal(jl_machine_bill_make(&alone, &o, &s, cat(), &err), JL_OK);
	assert_true(alone.demand_kW == 2 && alone.months[0].without.micro == 0);
	s.site.demand_kW = 8;
	assert_int_equal(jl_machine_bill_make(&large, &o, &s, cat(), &err), JL_OK);
	assert_true(large.demand_kW == 8 && large.year.micro > alone.year.micro);
	s.site.milli_kWh = 1000000;
	assert_int_equal(jl_machine_bill_make(&beside, &o, &s, cat(), &err), JL_OK);
	assert_true(beside.demand_kW == 10 && beside.months[0].without.micro > 0);
	assert_true(beside.year.micro < large.year.micro);
	for (int m = 0; m < 12; m++)
		assert_true(beside.months[m].with.micro ==
			    beside.months[m].without.micro + beside.months[m].more.micro);
	jl_arena_release(&arena);
}

/* What the work does not fit on is not compared, however cheap. */
static void what_cannot_do_the_work_is_no_choice(void **state)
{
	static struct jl_cost_study study;
	struct jl_request run = jl_request_empty();
	struct jl_arena arena;
	struct jl_err err;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	study.setting = setting();
	study.runs_per_month = NAN;
	study.n_options = 2;
	parse(&study.options[0], JL_COST_BUY, "4x rtx-3090 workstation 9000 USD", &arena);
	parse(&study.options[1], JL_COST_RENT, "aws:p5.48xlarge", &arena);
	run.model = "llama-3-70b";
	run.tokens = 1e9;
	assert_int_equal(jl_cost_study_make(&study, &run, cat(), &arena, &err), JL_OK);
	assert_true(!jl_cost_any_does(&study) && study.n_pairs == 0); /* nothing can: none is a rival of another */
	run.model = "gpt2-355m";
	assert_int_equal(jl_cost_study_make(&study, &run, cat(), &arena, &err), JL_OK);
	assert_true(jl_cost_does(&study, 0) && jl_cost_does(&study, 1) && study.n_pairs == 1);
	for (size_t i = 0; i < study.pairs[0].n_swings; i++)
		assert_true(study.pairs[0].swings[i].now > 0);
	memset(study.work, 0, sizeof study.work);
	run.model = "llama-2-7b"; /* fits on eight of 80 GiB, not on four of 24 */
	assert_int_equal(jl_cost_study_make(&study, &run, cat(), &arena, &err), JL_OK);
	assert_true(!jl_cost_does(&study, 0) && study.n_pairs == 0);
	assert_int_equal(jl_cost_cheapest(&study, study.setting.horizon_days), 1);
	jl_arena_release(&arena);
}

static struct jl_cost_line line_of(enum jl_cost_kind kind, const char *text, const struct jl_cost_setting *s,
				   struct jl_arena *arena)
{
	struct jl_cost_option *o = jl_arena_alloc(arena, sizeof *o);
	struct jl_cost_line line;
	struct jl_err err;

	parse(o, kind, text, arena);
	assert_int_equal(jl_cost_line_make(&line, o, s, cat(), arena, &err), JL_OK);
	return line;
}

/* Terms and lives in years end with years of the calendar, leap years too, and begin again the day after. */
static void years_are_those_of_the_calendar(void **state)
{
	const struct jl_cost_setting s = setting(); /* 2026-11-15: two years are 731 days, three 1,096 */
	struct jl_arena arena;
	struct jl_cost_line line;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	line = line_of(JL_COST_RESERVE, "1.3 USD/h, term=1 y, upfront=1000 USD", &s, &arena);
	assert_int_equal(line.cum_micro[0], 1000 * JL_MICRO);
	assert_int_equal(line.cum_micro[365], (1000 * 10 + 365 * 24 * 13) * JL_MICRO / 10);
	assert_int_equal(line.cum_micro[366], (2000 * 10 + 366 * 24 * 13) * JL_MICRO / 10);
	assert_int_equal(line.cum_micro[731], (2000 * 10 + 731 * 24 * 13) * JL_MICRO / 10);
	assert_int_equal(line.cum_micro[1096], (3000 * 10 + 1096 * 24 * 13) * JL_MICRO / 10);
	line = line_of(JL_COST_BUY, "x 3500 USD, life=3 y, resale=30 %", &s, &arena);
	assert_int_equal(line.cum_micro[1095], 3500 * JL_MICRO);
	assert_int_equal(line.cum_micro[1096], 2450 * JL_MICRO); /* the last day: it is sold, and not replaced */
	line = line_of(JL_COST_BUY, "x 3500 USD, life=6 y, resale=25 %", &s, &arena);
	assert_true(fabs((double)line.cum_micro[1096] / JL_MICRO - 1750) <
		    2); /* half of its life: the root of a quarter */
	line = line_of(JL_COST_BUY, "x 3500 USD, life=1 y, resale=30 %", &s, &arena);
	assert_int_equal(line.cum_micro[731], (3500 + 2450) * JL_MICRO);
	line = line_of(JL_COST_BUY, "x 3500 USD, life=100 d", &s, &arena);
	assert_int_equal(line.cum_micro[100], 3500 * JL_MICRO);
	assert_int_equal(line.cum_micro[101], 7000 * JL_MICRO);
	jl_arena_release(&arena);
}

/* Eight boards draw 5.6 kW and their host 2.8, as predict takes it; a desktop of one card keeps the rule's 100 W. */
static void hosts_draw_power_too(void **state)
{
	struct jl_arena arena;
	struct jl_cost_option o;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	parse(&o, JL_COST_BUY, "8x h100-sxm5 300000 USD", &arena);
	assert_int_equal(o.active_mW, 8400000);
	parse(&o, JL_COST_OWN, "dgx-h100", &arena);
	assert_in_range(o.active_mW, 8000000, 10200000);
	parse(&o, JL_COST_BUY, "rtx-4090 3500 USD", &arena);
	assert_int_equal(o.active_mW, 550000);
	jl_arena_release(&arena);
}

/* A card has the host of a desktop around it, unless that is there already. */
static void a_desktop_has_a_host(void **state)
{
	struct jl_arena arena;
	struct jl_cost_option desktop, card, two;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	parse(&desktop, JL_COST_BUY, "rtx-3090 desktop", &arena);
	parse(&card, JL_COST_BUY, "rtx-3090, host=owned", &arena);
	parse(&two, JL_COST_BUY, "2x rtx-3090 workstation", &arena);
	assert_int_equal(desktop.price.micro - card.price.micro, 700 * JL_MICRO);
	assert_int_equal(two.price.micro, 2 * card.price.micro + 1500 * JL_MICRO);
	assert_true(card.bare && !desktop.bare && desktop.host.micro == 700 * JL_MICRO);
	jl_arena_release(&arena);
}

/* The rates of 2025-08: fund 2.7 %, and above 1,000 kWh 736.2 KRW in winter and summer. */
static void kepco_of_2025_charges_those_who_use_most(void **state)
{
	static const struct {
		int month;
		long long milli_kWh, energy;
	} bills[] = {
		{ 5, 350000, 56190 },
		{ 1, 1200000, 24000 + 42920 + 184380 + 147240 },
		{ 4, 1200000, 24000 + 42920 + 245840 },
		{ 8, 1200000, 36000 + 32190 + 169015 + 147240 },
	};
	struct jl_bill bill;
	struct jl_err err;
	const char *id;

	(void)state;
	assert_int_equal(jl_tariff_find(&id, cat(), "kepco-2025", &err), JL_OK);
	assert_string_equal(jl_tariff_newer(cat(), "kr-residential-low"), id);
	assert_null(jl_tariff_newer(cat(), "kr-industrial-1-low"));
	for (size_t i = 0; i < sizeof bills / sizeof bills[0]; i++) {
		const struct jl_tariff_use use = { .milli_kWh = bills[i].milli_kWh, .month = bills[i].month };

		assert_int_equal(jl_tariff_bill(&bill, cat(), id, &use, &err), JL_OK);
		assert_int_equal(bill.parts[JL_BILL_ENERGY].micro, bills[i].energy * JL_MICRO);
		assert_non_null(bill.source);
	}
	assert_int_equal(
		jl_tariff_bill(&bill, cat(), id, &(struct jl_tariff_use){ .milli_kWh = 350000, .month = 5 }, &err),
		JL_OK);
	assert_int_equal(bill.parts[JL_BILL_FUND].micro, 1690 * JL_MICRO); /* 2.7 % of 62,690, tens of won */
}

static void spot_pays_for_what_it_loses(void **state)
{
	struct jl_arena arena;
	struct jl_cost_option o;
	struct jl_err err;
	long long ppm;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	parse(&o, JL_COST_SPOT, "0.9 USD/h, interrupts=20 %/h, lost=30 min, restart=6 min", &arena);
	assert_int_equal(jl_cost_overhead_ppm(&ppm, &o, &err), JL_OK);
	assert_int_equal(ppm, 1136364); /* 1 / (1 - 0.2 * 0.6) */
	parse(&o, JL_COST_SPOT, "0.9 USD/h, interrupts=20 %/h, save=2 min, restart=6 min", &arena);
	assert_float_equal(jl_cost_save_every_s(&o), 2078.5, 0.1); /* sqrt(2 * 120 s * 5 h) */
	assert_int_equal(jl_cost_overhead_ppm(&ppm, &o, &err), JL_OK);
	assert_int_equal(ppm, 1156698); /* 1 / (1 - 120 / 2078.5 - 0.2 * (1039.2 + 360) / 3600) */
	parse(&o, JL_COST_SPOT, "0.9 USD/h, interrupts=200 %/h, lost=60 min", &arena);
	assert_int_equal(jl_cost_overhead_ppm(&ppm, &o, &err), JL_E_RANGE);
	jl_arena_release(&arena);
}

static void used_cards_keep_what_the_catalog_has_seen(void **state)
{
	const struct jl_resale curve = jl_resale_curve(cat());
	struct jl_arena arena;
	struct jl_cost_option o;

	(void)state;
	assert_true(curve.n_cards >= 4 && curve.lo > 0.5 && curve.lo <= curve.yearly_frac &&
		    curve.yearly_frac <= curve.hi && curve.yearly_frac < 1);
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	parse(&o, JL_COST_BUY, "rtx-3090 desktop 2200 USD, resale=market, life=2 y", &arena);
	assert_int_equal(o.resale_ppm, llround(1e6 * curve.yearly_frac * curve.yearly_frac));
	jl_arena_release(&arena);
}

static void bad_options_say_what_would_be_right(void **state)
{
	static const struct {
		enum jl_cost_kind kind;
		const char *text, *expect;
	} bad[] = {
		{ JL_COST_BUY, "rtx-3090 desktop 2200", "currency" },
		{ JL_COST_BUY, "", "needs a name" },
		{ JL_COST_BUY, "rtx-3090 desktop 0 USD", "above zero" },
		{ JL_COST_BUY, "rtx-3090 2200 USD, life=0 y", "life" },
		{ JL_COST_BUY, "rtx-3090 2200 USD, resale=150 %", "resale" },
		{ JL_COST_BUY, "rtx-3090 2200 USD, resale=market", "life=3 y" },
		{ JL_COST_BUY, "rtx-3090 2200 USD, watts=-5 W", "watts" },
		{ JL_COST_BUY, "rtx-3090 2200 USD, colour=red", "not a setting" },
		{ JL_COST_RENT, "2.14 USD/h, util=150 %", "util" },
		{ JL_COST_RENT, "nobody:nothing", "no rent of" },
		{ JL_COST_RENT, "2.14 USD/h, resale=3 %", "not a setting" },
		{ JL_COST_RENT, "-2 USD/h", "above zero" },
	};
	struct jl_arena arena;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct jl_cost_option o;
		struct jl_err err = { 0 };

		assert_int_not_equal(jl_cost_option_parse(&o, bad[i].kind, bad[i].text, NULL, cat(), &arena, &err),
				     JL_OK);
		if (!strstr(err.en, bad[i].expect))
			fail_msg("'%s': %s", bad[i].text, err.en);
		assert_true(strlen(err.text) > 0);
	}
	jl_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_desktop_of_the_guide_pays_after_293_days),
		cmocka_unit_test(its_year_takes_591_kWh_and_71_dollars),
		cmocka_unit_test(kepco_350_kWh_is_71269_won),
		cmocka_unit_test(words_mean_the_newest_rates),
		cmocka_unit_test(demand_does_not_cancel_out),
		cmocka_unit_test(the_decision_flips_where_it_is_told),
		cmocka_unit_test(progressive_tiers_make_the_next_kWh_dearer),
		cmocka_unit_test(a_year_of_bills_is_twelve_months),
		cmocka_unit_test(a_contract_is_paid_by_who_needs_it),
		cmocka_unit_test(what_cannot_do_the_work_is_no_choice),
		cmocka_unit_test(years_are_those_of_the_calendar),
		cmocka_unit_test(hosts_draw_power_too),
		cmocka_unit_test(a_desktop_has_a_host),
		cmocka_unit_test(kepco_of_2025_charges_those_who_use_most),
		cmocka_unit_test(spot_pays_for_what_it_loses),
		cmocka_unit_test(used_cards_keep_what_the_catalog_has_seen),
		cmocka_unit_test(bad_options_say_what_would_be_right),
	};

	jl_lang_set_default(jl_lang_find("ko"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
