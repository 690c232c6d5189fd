/* jeoul cost as a person reads it: when buying pays, what has been paid by when, what moves it, where the prices come from. */
#include "cli/cost_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/view.h"

#define OLD_DAYS      90 /* rents move faster than this */
#define MONTH_DAYS    (365.25 / 12)
#define MILESTONE_MAX 9

/* Months after the start at which the table looks; 0 is the first day. */
static const int milestones[] = { 0, 1, 3, 6, 12, 24, 36, 60, 120 };

static size_t milestone_days(long days[MILESTONE_MAX], int months[MILESTONE_MAX], const struct jl_cost_setting *s)
{
	size_t n = 0;

	for (size_t i = 0; i < sizeof milestones / sizeof milestones[0]; i++) {
		const long day = jl_date_add_months(s->start_day, milestones[i]) - s->start_day;

		if (day > s->horizon_days || n == 7)
			break;
		months[n] = milestones[i];
		days[n++] = day;
	}
	return n;
}

static const char *milestone_name(char out[24], int months, enum jl_lang lang)
{
	if (months == 0)
		snprintf(out, 24, "%s", JL_T(lang, "day 1", "첫날"));
	else if (months < 12)
		snprintf(out, 24, JL_T(lang, "%d mo", "%d개월"), months);
	else
		snprintf(out, 24, JL_T(lang, "%d y", "%d년"), months / 12);
	return out;
}

static const char *plural(double n)
{
	return n == 1 ? "" : "s";
}

/* A day begins on which it has paid for itself: parts of a day count as a whole one, here and in the date. */
static void say_days(struct jl_buf *out, const struct jl_cost_setting *s, double days, enum jl_lang lang)
{
	char date[JL_DATE_TEXT_MAX];

	jl_date_text(date, s->start_day + (long)ceil(days));
	if (days < 60)
		jl_buf_printf(out, JL_T(lang, "%.0f day%s (%s)", "%.0f일%.0s (%s)"), ceil(days), plural(ceil(days)),
			      date);
	else
		jl_buf_printf(out, JL_T(lang, "%.0f days (%.1f months, %s)", "%.0f일 (%.1f개월, %s)"), ceil(days),
			      days / MONTH_DAYS, date);
}

/* "3.0 years", "20 days": how far was looked. */
static const char *horizon_text(struct jl_cli *cli, const struct jl_cost_setting *s)
{
	const double days = (double)s->horizon_days;

	if (days < 365)
		return jl_arena_printf(&cli->arena, JL_T(cli->lang, "%.0f day%s", "%.0f일%.0s"), days, plural(days));
	return jl_arena_printf(&cli->arena, JL_T(cli->lang, "%.1f years", "%.1f년"), days / 365.25);
}

static void headline(struct jl_cli *cli, const struct jl_cost_study *study, const struct jl_cost_pair *p)
{
	const struct jl_cost_option *dear = &study->options[p->dear], *cheap = &study->options[p->cheap];
	struct jl_buf *out = &cli->out;

	jl_buf_puts(out, jl_view_bold(cli));
	if (isnan(p->days)) {
		jl_buf_printf(
			out,
			JL_T(cli->lang, "%s is not cheaper than %s%swithin %s", "%s: %s보다%s%s 안에 싸지지 않습니다"),
			dear->name, cheap->name, strlen(dear->name) + strlen(cheap->name) > 40 ? "\n  " : " ",
			horizon_text(cli, &study->setting));
	} else {
		const bool narrow = strlen(dear->name) + strlen(cheap->name) > 26; /* the rest is 54 columns at most */

		jl_buf_printf(out, JL_T(cli->lang, "%s costs less than %s%safter ", "%s: %s보다 싸지는 때%s"),
			      dear->name, cheap->name, narrow ? "\n  " : " ");
		say_days(out, &study->setting, p->days, cli->lang);
	}
	jl_buf_puts(out, jl_view_reset(cli));
	jl_buf_puts(out, "\n");
}

/* Won are many: tables count them in ten thousands where people do, else in thousands. */
static long long table_unit(const struct jl_cli *cli, const struct jl_cost_study *study)
{
	return study->setting.currency != JL_KRW ? 1 : cli->lang == JL_KO ? 10000 : 1000;
}

static enum jl_status paid_table(struct jl_cli *cli, const struct jl_cost_study *study, struct jl_err *err)
{
	static char heads[MILESTONE_MAX][24];
	struct jl_table_column columns[MILESTONE_MAX + 1] = {
		{ .head = JL_T(cli->lang, "paid by", "누적 비용"), .flexible = true, .min_width = 12 }
	};
	long days[MILESTONE_MAX];
	int months[MILESTONE_MAX];
	const size_t n = milestone_days(days, months, &study->setting);
	struct jl_table table;
	char text[JL_MONEY_TEXT_MAX];

	for (size_t i = 0; i < n; i++)
		columns[i + 1] = (struct jl_table_column){ .head = milestone_name(heads[i], months[i], cli->lang),
							   .align = JL_RIGHT };
	jl_table_init(&table, &cli->arena, columns, n + 1);
	for (size_t o = 0; o < study->n_options; o++) {
		jl_table_printf(&table, "%s", study->options[o].name);
		for (size_t i = 0; i < n; i++)
			jl_table_cell(
				&table,
				jl_money_short(text, (struct jl_money){
							     .micro = jl_micro_scale(study->lines[o].cum_micro[days[i]],
										     1, table_unit(cli, study)),
							     .currency = study->setting.currency }));
		jl_table_end_row(&table);
	}
	jl_buf_printf(&cli->out, "\n  %s (%s)\n", JL_T(cli->lang, "What has been paid", "누적으로 낸 돈"),
		      study->setting.currency == JL_KRW ? JL_T(cli->lang, "thousand KRW", "만원")
							: jl_currency_name(study->setting.currency));
	return jl_view_table(cli, &table, 2, err);
}

static void swings(struct jl_cli *cli, const struct jl_cost_pair *p)
{
	struct jl_buf *out = &cli->out;

	if (!p->n_swings)
		return;
	jl_buf_printf(out, "\n  %s\n",
		      JL_T(cli->lang, "What moves it most (each input 20 % lower and higher)",
			   "무엇에 민감한가 (입력을 하나씩 20 % 낮추고 높임)"));
	for (size_t i = 0; i < p->n_swings && i < 4; i++) {
		const struct jl_cost_swing *s = &p->swings[i];
		char lo[32], hi[32];

		snprintf(lo, sizeof lo,
			 isnan(s->lo) ? JL_T(cli->lang, "never", "없음") : JL_T(cli->lang, "%.0f days", "%.0f일"),
			 ceil(s->lo));
		snprintf(hi, sizeof hi,
			 isnan(s->hi) ? JL_T(cli->lang, "never", "없음") : JL_T(cli->lang, "%.0f days", "%.0f일"),
			 ceil(s->hi));
		jl_buf_printf(out, "    %s: %s … %s\n", JL_T(cli->lang, s->en, s->ko), lo, hi);
	}
}

/* Why a rounder figure is often told for the same inputs. */
static void by_hand(struct jl_cli *cli, const struct jl_cost_pair *p)
{
	if (isnan(p->by_hand) || isnan(p->days) || p->by_hand == ceil(p->days) || p->days < 60)
		return;
	jl_view_wrapped(
		cli, 2, JL_T(cli->lang, "Note", "참고"),
		jl_arena_printf(
			&cli->arena,
			JL_T(cli->lang,
			     "Often told as %.0f days: that pays a whole year's electricity at once (%.0f days) "
			     "and rounds up to full months of 30 days.",
			     "흔히 %.0f일이라고도 합니다. 1년치 전기료를 한 번에 더하고(%.0f일) 30일 단위로 올림한 "
			     "값입니다."),
			p->by_hand, p->by_hand_unrounded));
}

static void power_line(struct jl_cli *cli, const struct jl_cost_study *study, const struct jl_cost_said *assumed)
{
	for (size_t i = 0; i < study->n_options; i++) {
		const struct jl_cost_option *o = &study->options[i];
		const struct jl_cost_line *l = &study->lines[i];
		const long long util = o->util_ppm > 0 ? o->util_ppm : study->setting.util_ppm;
		char money[JL_MONEY_TEXT_MAX], kWh[JL_MONEY_TEXT_MAX], watts[JL_UNITS_TEXT_MAX],
			idle[JL_UNITS_TEXT_MAX], co2[64] = "";

		if (jl_cost_is_rent(o->kind) || o->active_mW == 0)
			continue;
		jl_units_text(watts, (double)o->active_mW / 1000, JL_K_POWER, 3);
		jl_units_text(idle, (double)o->idle_mW / 1000, JL_K_POWER, 3);
		if (!isnan(l->year_co2_g))
			snprintf(co2, sizeof co2, JL_T(cli->lang, "; %s kg CO2e", ", CO2e %s kg"),
				 jl_grouped(money, l->year_co2_g / 1000));
		jl_view_wrapped(
			cli, 2, JL_T(cli->lang, "Power", "전력"),
			jl_arena_printf(&cli->arena,
					JL_T(cli->lang, "%s: %s kWh and %s a year (%s%s for %.3g %% of the time, %s)%s",
					     "%s: 1년에 %s kWh, %s (%s%s, 가동률 %.3g %%, %s)%s"),
					o->name, jl_grouped(kWh, l->year_kWh), jl_money_text(money, l->year_power),
					watts,
					o->watts_predicted ? JL_T(cli->lang, " predicted", " 예측")
					: o->watts_assumed ? JL_T(cli->lang, " assumed", " 가정")
							   : "",
					(double)util / 1e4,
					o->off_when_idle ? JL_T(cli->lang, "off otherwise", "나머지는 꺼둠")
							 : jl_arena_printf(&cli->arena,
									   JL_T(cli->lang, "%s idle", "유휴 %s"), idle),
					co2));
	}
	(void)assumed;
}

/* What is in a price of the catalog and what is not, and whether it is old. */
static const char *price_notes(struct jl_cli *cli, const struct jl_cost_option *o, long age_days)
{
	char host[JL_MONEY_TEXT_MAX];

	return jl_arena_printf(
		&cli->arena, "%s%s%s",
		o->host.micro
			? jl_arena_printf(&cli->arena,
					  JL_T(cli->lang, "; %s of it assumed for the host", "; 이 중 본체 %s 가정"),
					  jl_money_text(host, o->host))
			: "",
		o->bare ? JL_T(cli->lang, "; card only, no host", "; 카드만, 본체 제외") : "",
		age_days > OLD_DAYS ? JL_T(cli->lang, " ⚠ older than 90 days", " ⚠ 90일 넘은 가격") : "");
}

static void price_lines(struct jl_cli *cli, const struct jl_cost_study *study)
{
	for (size_t i = 0; i < study->n_options; i++) {
		const struct jl_cost_option *o = &study->options[i];
		const struct jl_money m = jl_cost_is_rent(o->kind) ? o->per_hour : o->price;
		char money[JL_MONEY_TEXT_MAX];
		long day = cli->today;
		struct jl_err ignored;

		if (o->kind == JL_COST_OWN)
			continue;
		jl_money_text(money, m);
		if (o->price_date && jl_date_parse(&day, o->price_date, &ignored))
			day = cli->today;
		jl_view_wrapped(cli, 2, JL_T(cli->lang, "Price", "가격"),
				o->price_date ? jl_arena_printf(&cli->arena, "%s: %s%s 📄 %s, %s%s", o->name, money,
								jl_cost_is_rent(o->kind) ? "/h" : "",
								o->price_source ? o->price_source : "?", o->price_date,
								price_notes(cli, o, cli->today - day))
					      : jl_arena_printf(&cli->arena, "%s: %s%s %s", o->name, money,
								jl_cost_is_rent(o->kind) ? "/h" : "",
								JL_T(cli->lang, "(as given)", "(입력값)")));
	}
}

static const char *plain_money(char out[JL_MONEY_TEXT_MAX], const struct jl_cost_study *study, double amount)
{
	return jl_money_short(out, jl_money_from(fmin(amount, 3e12), study->setting.currency));
}

/* What one run draws, on machines of one's own. */
static void work_energy(struct jl_cli *cli, const struct jl_cost_study *study)
{
	for (size_t i = 0; i < study->n_options; i++) {
		const struct jl_cost_work *w = &study->work[i];

		if (!w->known || isnan(w->run_kWh.value) || !(w->run_kWh.value > 0))
			continue;
		jl_view_wrapped(cli, 2, JL_T(cli->lang, "One run", "1회 학습"),
				jl_arena_printf(&cli->arena, "%s: %.3g kWh (%.3g–%.3g)%s", study->options[i].name,
						w->run_kWh.value, w->run_kWh.lo, w->run_kWh.hi,
						isnan(w->run_co2_g) ? ""
								    : jl_arena_printf(&cli->arena, ", %.3g kg CO2e",
										      w->run_co2_g / 1000)));
	}
}

static enum jl_status work_table(struct jl_cli *cli, const struct jl_cost_study *study, struct jl_err *err)
{
	const struct jl_table_column columns[] = {
		{ .head = JL_T(cli->lang, "one training run", "1회 학습"), .flexible = true, .min_width = 12 },
		{ .head = JL_T(cli->lang, "time", "시간"), .align = JL_RIGHT },
		{ .head = jl_currency_name(study->setting.currency), .align = JL_RIGHT },
		{ .head = JL_T(cli->lang, "80 % interval", "80 % 구간"), .align = JL_RIGHT },
		{ .head = JL_T(cli->lang, "per Mtoken", "백만 토큰당"), .align = JL_RIGHT },
	};
	struct jl_table table;

	jl_table_init(&table, &cli->arena, columns, sizeof columns / sizeof columns[0]);
	for (size_t i = 0; i < study->n_options; i++) {
		const struct jl_cost_work *w = &study->work[i];
		char time[JL_UNITS_TEXT_MAX], mid[JL_MONEY_TEXT_MAX], lo[JL_MONEY_TEXT_MAX], hi[JL_MONEY_TEXT_MAX];

		jl_table_cell(&table, study->options[i].name);
		if (!w->known) {
			jl_table_cell(&table, "—");
			jl_table_end_row(&table);
			jl_buf_printf(&cli->warn, "jeoul: %s: %s\n", study->options[i].name,
				      jl_err_text(&w->why, cli->lang));
			continue;
		}
		jl_table_cell(&table, jl_units_text(time, w->run_s.value, JL_K_TIME, 3));
		jl_table_cell(&table, plain_money(mid, study, w->run_cost.value));
		jl_table_printf(&table, "%s–%s", plain_money(lo, study, w->run_cost.lo),
				plain_money(hi, study, w->run_cost.hi));
		if (isnan(w->mtoken_cost.value))
			jl_table_cell(&table, "");
		else
			jl_table_cell(&table, plain_money(mid, study, w->mtoken_cost.value));
		jl_table_end_row(&table);
	}
	jl_buf_puts(&cli->out, "\n");
	return jl_view_table(cli, &table, 2, err);
}

static bool resale_counts(const struct jl_cost_study *study)
{
	bool any = false;

	for (size_t i = 0; i < study->n_options; i++)
		any |= study->options[i].kind == JL_COST_BUY && study->options[i].resale_ppm > 0;
	return any;
}

/* The tariff with its age: rates change every year. */
static void tariff_line(struct jl_cli *cli, const char *tariff, const char *date, const char *source)
{
	const char *newer = jl_tariff_newer(cli->cat, tariff), *old = "", *next = "";
	char year[5], days[JL_MONEY_TEXT_MAX];
	long day = cli->today;

	if (!date)
		return;
	snprintf(year, sizeof year, "%.4s", date);
	if (jl_date_parse(&day, date, NULL)) /* "2025-Q1": its year is near enough */
		(void)jl_date_parse(&day, year, NULL);
	if (cli->today - day > OLD_DAYS)
		old = jl_arena_printf(&cli->arena,
				      JL_T(cli->lang, " ⚠ %s days old: rates may have changed",
					   " ⚠ %s일 지남: 요율이 바뀌었을 수 있음"),
				      jl_grouped(days, (double)(cli->today - day)));
	if (newer)
		next = jl_arena_printf(&cli->arena, JL_T(cli->lang, "; newer: --tariff %s", "; 최신: --tariff %s"),
				       newer);
	jl_view_wrapped(cli, 2, JL_T(cli->lang, "Tariff", "요금제"),
			jl_arena_printf(&cli->arena, "%s 📄 %s%s%s%s%s", tariff, source ? source : "",
					source ? ", " : "", date, old, next));
}

static void assumptions(struct jl_cli *cli, const struct jl_cost_study *study, const struct jl_cost_said *assumed)
{
	const struct jl_cost_setting *s = &study->setting;
	struct jl_buf text;
	char date[JL_DATE_TEXT_MAX];

	jl_buf_init(&text, 4096);
	if (assumed->util)
		jl_buf_puts(&text, JL_T(cli->lang, "15 % utilisation (--util); ", "가동률 15 % (--util); "));
	if (assumed->power_price)
		jl_buf_puts(&text,
			    JL_T(cli->lang, "0.12 USD/kWh (--kwh or --tariff); ", "0.12 USD/kWh (--kwh, --tariff); "));
	if (assumed->carbon_region)
		jl_buf_printf(&text, JL_T(cli->lang, "grid of %s; ", "전력망 %s; "), assumed->carbon_name);
	if (s->fx.krw_micro)
		jl_buf_printf(&text, "1 USD = %.6g KRW (%s); ", (double)s->fx.krw_micro / 1e6,
			      jl_date_text(date, s->fx.day));
	for (size_t i = 0; i < study->n_options; i++)
		if (study->lines[i].borrowed_season) {
			jl_buf_puts(&text,
				    JL_T(cli->lang, "the tariff lists no spring/fall price: winter's was taken; ",
					 "요금제에 봄·가을 단가가 없어 겨울 단가를 씀; "));
			break;
		}
	if (resale_counts(study))
		jl_buf_puts(&text, JL_T(cli->lang, "resale counts when a machine is replaced, not before; ",
					"되파는 값은 교체할 때만 반영; "));
	else
		jl_buf_puts(&text, JL_T(cli->lang, "no resale within the table; ", "표에는 되파는 값 없음; "));
	jl_buf_puts(&text, JL_T(cli->lang, "a year has 365 days of electricity", "전기료는 1년 365일"));
	jl_view_wrapped(cli, 2, JL_T(cli->lang, "Assumed", "가정"), jl_buf_text(&text));
	jl_buf_release(&text);
}

enum jl_status jl_cost_view(struct jl_cli *cli, const struct jl_cost_study *study, const struct jl_cost_said *assumed,
			    struct jl_err *err)
{
	enum jl_status status;

	for (size_t i = 0; i < study->n_pairs; i++)
		headline(cli, study, &study->pairs[i]);
	if (!study->n_pairs)
		jl_buf_printf(&cli->out, JL_T(cli->lang, "Cheapest over %s: %s\n", "%s 동안 가장 싼 것: %s\n"),
			      horizon_text(cli, &study->setting),
			      study->options[jl_cost_cheapest(study, study->setting.horizon_days)].name);
	if ((status = paid_table(cli, study, err)))
		return status;
	if (study->n_pairs)
		swings(cli, &study->pairs[0]);
	if (study->has_work && (status = work_table(cli, study, err)))
		return status;
	jl_buf_puts(&cli->out, "\n");
	if (study->has_work)
		work_energy(cli, study);
	power_line(cli, study, assumed);
	price_lines(cli, study);
	for (size_t i = 0; study->setting.tariff && i < study->n_options; i++)
		if (study->lines[i].tariff_date) {
			tariff_line(cli, study->setting.tariff, study->lines[i].tariff_date,
				    study->lines[i].tariff_source);
			break;
		}
	for (size_t i = 0; i < study->n_pairs; i++)
		by_hand(cli, &study->pairs[i]);
	assumptions(cli, study, assumed);
	return JL_OK;
}

enum jl_status jl_cost_bill_view(struct jl_cli *cli, const char *tariff, const struct jl_tariff_use *use,
				 const struct jl_bill *bill, struct jl_err *err)
{
	const struct jl_table_column columns[] = { { .head = NULL }, { .head = NULL, .align = JL_RIGHT } };
	char money[JL_MONEY_TEXT_MAX];
	struct jl_table table;

	if (cli->json) {
		struct jl_json json;

		jl_json_init(&json, &cli->out, true);
		jl_json_object(&json);
		jl_json_put_string(&json, "tariff", tariff);
		jl_json_put_number(&json, "energy_kWh", (double)use->milli_kWh / 1000);
		jl_json_put_integer(&json, "month", use->month);
		jl_json_put_string(&json, "currency", jl_currency_name(bill->currency));
		jl_json_put_object(&json, "parts");
		for (int p = 0; p < JL_N_BILL_PART; p++)
			jl_json_put_number(&json, jl_bill_part_key((enum jl_bill_part)p),
					   jl_money_value(bill->parts[p]));
		jl_json_end_object(&json);
		jl_json_put_number(&json, "total", jl_money_value(bill->total));
		jl_json_put_string(&json, "date", bill->date);
		jl_json_put_string(&json, "source", bill->source);
		jl_json_put_string(&json, "newer_tariff", jl_tariff_newer(cli->cat, tariff));
		jl_json_end_object(&json);
		jl_json_finish(&json);
		return JL_OK;
	}
	jl_buf_printf(&cli->out,
		      JL_T(cli->lang, "%s%s%s for %.6g kWh in month %d (%s)\n", "%s%s%s, %.6g kWh, %d월 (%s)\n"),
		      jl_view_bold(cli), jl_money_text(money, bill->total), jl_view_reset(cli),
		      (double)use->milli_kWh / 1000, use->month, tariff);
	jl_table_init(&table, &cli->arena, columns, 2);
	for (int p = 0; p < JL_N_BILL_PART; p++) {
		if (bill->parts[p].micro == 0)
			continue;
		jl_table_cell(&table, jl_bill_part_name((enum jl_bill_part)p, cli->lang));
		jl_table_cell(&table, jl_money_text(money, bill->parts[p]));
		jl_table_end_row(&table);
	}
	jl_buf_puts(&cli->out, "\n");
	if (jl_view_table(cli, &table, 2, err))
		return err->status;
	jl_buf_puts(&cli->out, "\n");
	tariff_line(cli, tariff, bill->date, bill->source);
	return JL_OK;
}
