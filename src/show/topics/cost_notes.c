/* Notes of a cost study: prices with dates, power, assumptions. */
#include "topics/cost.h"

#include <stdlib.h>
#include <math.h>
#include <stdio.h>

#include "cost/option.h"

/* Power of one run on owned machines. */
static void work_notes(struct jl_doc *doc, const struct jl_cost_study *study)
{
	for (size_t i = 0; i < study->n_options; i++) {
		const struct jl_cost_work *w = &study->work[i];
		char co2[64] = "";

		if (!w->known || !(w->run_kWh.value > 0))
			continue;
		if (!isnan(w->run_co2_g))
			snprintf(co2, sizeof co2, ", %.3g kg CO2e", w->run_co2_g / 1000);
		jl_show_note(doc, JL_("One run"), JL_ESTIMATED, "%s: %.3g kWh (%.3g–%.3g)%s",
			     jl_option_name(study->options[i].name), w->run_kWh.value, w->run_kWh.lo, w->run_kWh.hi,
			     co2);
	}
}

static void power_note(struct jl_doc *doc, const struct jl_cost_study *study, size_t i)
{
	const struct jl_cost_option *o = &study->options[i];
	const struct jl_cost_line *l = &study->lines[i];
	const long long util = o->util_ppm > 0 ? o->util_ppm : study->setting.util_ppm;
	char cost[JL_MONEY_TEXT_MAX], kWh[JL_MONEY_TEXT_MAX], kg[JL_MONEY_TEXT_MAX], watts[JL_UNITS_TEXT_MAX],
		idle[JL_UNITS_TEXT_MAX], rest[96], co2[96] = "";

	jl_units_localized(watts, (double)o->active_mW / 1000, JL_K_POWER, 3);
	jl_units_localized(idle, (double)o->idle_mW / 1000, JL_K_POWER, 3);
	if (o->off_when_idle)
		jl_format(rest, sizeof rest, "%s", JL_("off otherwise"));
	else
		jl_format(rest, sizeof rest, JL_("%s idle"), idle);
	if (!isnan(l->year_co2_g))
		jl_format(co2, sizeof co2, JL_("; %s kg CO2e"), jl_grouped(kg, l->year_co2_g / 1000));
	jl_show_note(doc, JL_("Power"), JL_ESTIMATED,
		     JL_("%s: %s kWh and %s a year (%s%s for %.3g %% of the time, %s)%s"), jl_option_name(o->name),
		     jl_grouped(kWh, l->year_kWh), jl_money_text(cost, l->year_power), watts,
		     o->watts_predicted ? JL_(" predicted")
		     : o->watts_assumed ? JL_(" assumed")
					: "",
		     (double)util / 1e4, rest, co2);
}

/* Contents of a catalog price, and its age. */
static void price_notes(struct jl_doc *doc, const struct jl_cost_option *o, long today)
{
	if (o->host.micro) {
		const struct jl_num part = jl_num_written(jl_num_plain(jl_money_value(o->host),
								       o->host.currency == JL_KRW ? JL_K_KRW : JL_K_USD,
								       NULL, JL_ESTIMATED, NULL),
							  jl_money_text(JL_TXT, o->host));

		JL_SENTENCE(doc, JL_("; |1 of it assumed for the host"), JL_FIG(part));
	}
	if (!isnan(o->other.usd) && o->card.usd > 0)
		jl_doc_sourced(doc,
			       jl_doc_format(doc,
					     o->other.used ? JL_("; of a new card, a used one is %s USD (%s, %s)")
							   : JL_("; of a used card, a new one is %s USD (%s, %s)"),
					     jl_grouped(JL_TXT, o->other.usd),
					     jl_msg(o->other.price ? o->other.price->provider : JL_N("list price")),
					     o->other.date),
			       JL_LISTED, o->other.price ? o->other.price->provider : NULL);
	else if (o->card.usd > 0)
		jl_doc_sourced(doc, o->card.used ? JL_("; of a used card") : JL_("; of a new card"), JL_ORIGIN_NONE,
			       NULL);
	if (o->bare)
		JL_SHOW(doc, "; card only, the host is owned already");
	if (jl_date_is_old(o->price_date, today))
		jl_doc_sourced(doc, JL_(" ⚠ older than 90 days"), JL_ORIGIN_NONE, NULL);
}

static void price_note(struct jl_doc *doc, const struct jl_cost_option *o, long today)
{
	const bool rent = jl_cost_is_rent(o->kind);
	const struct jl_money m = rent ? o->per_hour : o->price;
	const bool krw = m.currency == JL_KRW;
	char shown[JL_MONEY_TEXT_MAX + 4];
	struct jl_num num = rent && !krw ? jl_num_given(jl_money_value(m) / 3600, JL_K_USD_RATE, NULL)
					 : jl_num_given(jl_money_value(m), krw ? JL_K_KRW : JL_K_USD, NULL);

	snprintf(shown, sizeof shown, "%s%s", jl_money_text(JL_TXT, m), rent ? JL_C("rate", "/h") : "");
	num.text = shown;
	jl_doc_note(doc, JL_MARK_NONE, JL_("Price"));
	jl_doc_name(doc, jl_option_name(o->name));
	jl_doc_text(doc, ": ");
	if (!o->price_date) {
		jl_doc_num(doc, &num);
		JL_SHOW(doc, " (as given)");
		return;
	}
	num.origin = JL_LISTED;
	num.source = o->price_source ? o->price_source : "?";
	num.date = o->price_date;
	num.show_source = true;
	jl_doc_num(doc, &num);
	price_notes(doc, o, today);
}

/* A given flat electricity price; an assumed one is listed among the assumptions. */
static void kwh_note(struct jl_doc *doc, const struct jl_cost_study *study)
{
	const struct jl_money m = study->setting.per_kWh;
	struct jl_num num = jl_num_given(jl_money_value(m) / 3.6e6,
					 m.currency == JL_KRW ? JL_K_KRW_ENERGY : JL_K_USD_ENERGY, NULL);

	if (study->setting.tariff || study->assumed.power_price || m.micro == 0)
		return;
	jl_doc_note(doc, JL_MARK_NONE, JL_("Price"));
	JL_SHOW(doc, "electricity: ");
	jl_doc_num(doc, &num);
	JL_SHOW(doc, " (as given)");
}

static bool resale_counts(const struct jl_cost_study *study)
{
	bool any = false;

	for (size_t i = 0; i < study->n_options; i++)
		any |= study->options[i].kind == JL_COST_BUY && study->options[i].resale_ppm > 0;
	return any;
}

/* Catalog or computed values of an option's settings. */
static void said_of_options(struct jl_buf *text, const struct jl_show_cost *in)
{
	bool market = false;

	for (size_t i = 0; i < in->study->n_options; i++) {
		const struct jl_cost_option *o = &in->study->options[i];

		market |= o->resale_market;
		if ((o->price_date || o->lost_assumed) && o->interrupts_ppm)
			jl_buf_printf(text,
				      JL_("%s: taken away %.3g %%/h, %.0f min lost, %.0f min until it is back "
					  "(interrupts=, lost=, restart=); "),
				      o->name, (double)o->interrupts_ppm / 1e4, (double)o->lost_s / 60,
				      (double)o->restart_s / 60);
		if (jl_cost_save_every_s(o) > 0)
			jl_buf_printf(text, JL_("%s: saved every %s, which loses least; "), jl_option_name(o->name),
				      jl_units_localized(JL_TXT, jl_cost_save_every_s(o), JL_K_TIME, 2));
	}
	const struct jl_resale curve = market ? jl_resale_curve(in->cat) : (struct jl_resale){ 0 };
	if (market)
		jl_buf_printf(
			text,
			JL_("used cards of the catalog kept %.0f %% of their price a year (%.0f–%.0f %%, %zu cards); "),
			100 * curve.yearly_frac, 100 * curve.lo, 100 * curve.hi, curve.n_cards);
}

static bool borrows_season(const struct jl_cost_study *study)
{
	bool any = false;

	for (size_t i = 0; i < study->n_options; i++)
		any |= study->lines[i].borrowed_season;
	return any;
}

/* Assumptions about the run, from the first option that runs it. */
static void run_assumptions(struct jl_doc *doc, const struct jl_show_cost *in)
{
	for (size_t i = 0; i < in->study->n_options; i++)
		if (in->study->work[i].known) {
			jl_show_assumed(doc, &in->study->work[i].assumed, in->options);
			return;
		}
}

static void assumptions(struct jl_doc *doc, const struct jl_show_cost *in)
{
	const struct jl_cost_setting *s = &in->study->setting;
	const struct jl_cost_said *assumed = &in->study->assumed;
	struct jl_buf text;

	jl_buf_init(&text, 2000);
	if (assumed->util)
		jl_buf_printf(&text, JL_("15 %% utilisation%s; "), in->command ? " (--util)" : "");
	if (assumed->power_price)
		jl_buf_printf(&text, JL_("0.12 USD/kWh%s; "), in->command ? JL_(" (--kwh or --tariff)") : "");
	if (assumed->household)
		jl_buf_printf(&text, JL_("the household already uses %.0f kWh a month%s; "),
			      (double)s->site.milli_kWh / 1000, in->command ? " (--household)" : "");
	for (size_t i = 0; i < in->study->n_options; i++)
		if (in->study->lines[i].by_kW && !(s->site.demand_kW > 0))
			jl_buf_printf(&text, JL_("contract demand %.3g kW, what %s draws%s; "),
				      (double)in->study->options[i].active_mW / 1e6 * (double)s->pue_ppm / 1e6,
				      jl_option_name(in->study->options[i].name), in->command ? " (--demand)" : "");
	if (assumed->carbon_region)
		jl_buf_printf(&text, JL_("grid of %s; "), jl_msg(assumed->carbon_name));
	if (s->fx.krw_micro)
		jl_buf_printf(
			&text, "%s; ",
			jl_show_fx(doc, (double)s->fx.krw_micro / 1e6, jl_date_text(JL_TXT, s->fx.day), in->today));
	if (borrows_season(in->study))
		jl_buf_puts(&text, JL_("the tariff lists no spring/fall price: winter's was taken; "));
	said_of_options(&text, in);
	jl_buf_puts(&text, resale_counts(in->study) ? JL_("a machine is sold when it is replaced and on the last day; ")
						    : JL_("no resale within the table; "));
	jl_buf_puts(&text, JL_("a year has 365 days of electricity"));
	jl_show_note(doc, JL_("Assumed"), JL_ESTIMATED, "%s", jl_buf_text(&text));
	jl_buf_release(&text);
}

/* Precision of a converted amount: three digits, like the exchange rate. */
static long long three_digits(long long value)
{
	long long unit = 1;

	while (llabs(value) / unit >= 1000)
		unit *= 10;
	return unit;
}

/* The totals in the other currency. */
static void other_currency(struct jl_doc *doc, const struct jl_cost_study *study)
{
	const enum jl_currency other = study->setting.currency == JL_KRW ? JL_USD : JL_KRW;
	struct jl_buf text;

	jl_buf_init(&text, 2000);
	for (size_t i = 0; i < study->n_options; i++) {
		struct jl_money paid = { study->lines[i].cum_micro[study->setting.horizon_days],
					 study->setting.currency };

		if (jl_money_convert(&paid, paid, other, &study->setting.fx, NULL) == JL_OK) {
			const long long unit = three_digits(paid.micro);

			paid.micro = (paid.micro + unit / 2) / unit * unit;
			jl_buf_printf(&text, "%s%s %s", i ? "; " : "", jl_option_name(study->options[i].name),
				      jl_money_text(JL_TXT, paid));
		}
	}
	if (text.len) /* no exchange rate, no second currency */
		jl_show_note(doc, other == JL_KRW ? JL_("In won, in all") : JL_("In dollars, in all"), JL_ESTIMATED,
			     "%s", jl_buf_text(&text));
	jl_buf_release(&text);
}

void jl_show_contract(struct jl_doc *doc, const struct jl_cost_study *study)
{
	const struct jl_cost_said *assumed = &study->assumed;

	if (assumed->too_large)
		jl_show_note(doc, JL_("Contract"), JL_ESTIMATED,
			     JL_("%s draws %.3g kW, more than the %.3g kW of a household: the general tariff is taken"),
			     jl_option_name(assumed->too_large), assumed->too_large_kW, assumed->contract_kW);
}

void jl_show_cost_notes(struct jl_doc *doc, const struct jl_show_cost *in)
{
	const struct jl_cost_study *study = in->study;
	const char *tariff = study->setting.tariff;

	other_currency(doc, study);
	if (study->has_work)
		work_notes(doc, study);
	for (size_t i = 0; i < study->n_options; i++)
		if (!jl_cost_is_rent(study->options[i].kind) && study->options[i].active_mW)
			power_note(doc, study, i);
	for (size_t i = 0; i < study->n_options; i++)
		if (study->options[i].kind != JL_COST_OWN)
			price_note(doc, &study->options[i], in->today);
	kwh_note(doc, study);
	for (size_t i = 0; tariff && i < study->n_options; i++)
		if (study->lines[i].tariff_date) {
			jl_show_tariff(doc, tariff, jl_tariff_newer(in->cat, tariff), study->lines[i].tariff_date,
				       study->lines[i].tariff_source, in->today);
			break;
		}
	jl_show_contract(doc, study);
	if (in->study->has_work)
		run_assumptions(doc, in);
	assumptions(doc, in);
}
