/* Electricity bills: tariff, one month, and the monthly addition by a machine. */
#include "topics/cost.h"

#include <math.h>
#include <stdio.h>

#include "topics/show.h"

#define OLD_DAYS 90

/* The tariff with its age: rates change yearly. */
void jl_show_tariff(struct jl_doc *doc, const char *tariff, const char *newer, const char *date, const char *source,
		    long today)
{
	char year[5];
	long day = today;

	if (!date)
		return;
	snprintf(year, sizeof year, "%.4s", date);
	if (jl_date_parse(&day, date, NULL)) /* "2025-Q1": the year suffices */
		(void)jl_date_parse(&day, year, NULL);
	jl_doc_note(doc, JL_MARK_NONE, JL_("Tariff"));
	jl_doc_name(doc, tariff);
	jl_doc_text(doc, " ◇ ");
	jl_doc_name(doc, jl_arena_printf(doc->arena, "%s%s%s", source ? source : "", source ? ", " : "", date));
	if (today - day > OLD_DAYS)
		jl_show_sourced(doc, JL_ORIGIN_NONE, JL_(" ⚠ %s days old: rates may have changed"),
				jl_grouped(JL_TXT, (double)(today - day)));
	if (newer) {
		JL_SHOW(doc, "; newer: --tariff ");
		jl_doc_name(doc, newer);
	}
}

void jl_show_bill(struct jl_doc *doc, const struct jl_bill_asked *asked, long today)
{
	const struct jl_bill *bill = &asked->bill;
	const enum jl_kind kind = bill->currency == JL_KRW ? JL_K_KRW : JL_K_USD;

	JL_LEAD(doc, jl_money_text(JL_TXT, bill->total));
	jl_show_sourced(doc, JL_ORIGIN_NONE, JL_(" for %.6g kWh in month %d (%s)"), (double)asked->use.milli_kWh / 1000,
			asked->use.month, asked->tariff);
	jl_show_table(doc, NULL, "tf", "|");
	for (int p = 0; p < JL_N_BILL_PART; p++) {
		if (bill->parts[p].micro == 0)
			continue;
		JL_ROW(doc, false, JL_WORD(jl_bill_part_name((enum jl_bill_part)p)),
		       JL_FIG(jl_num_written(
			       jl_num_plain(jl_money_value(bill->parts[p]), kind, NULL, JL_LISTED, bill->source),
			       jl_money_text(JL_TXT, bill->parts[p]))));
	}
	jl_show_tariff(doc, asked->tariff, asked->newer, bill->date, bill->source, today);
}

static void money_cell(struct jl_doc *doc, struct jl_money money)
{
	const enum jl_kind kind = money.currency == JL_KRW ? JL_K_KRW : JL_K_USD;

	jl_show_cell(doc, jl_num_about(jl_money_value(money), kind, jl_money_text(JL_TXT, money)));
}

void jl_show_machine_bill(struct jl_doc *doc, const struct jl_machine_bill *bill, const struct jl_cost_study *study,
			  long today)
{
	char text[64];

	JL_LEAD(doc, jl_money_text(JL_TXT, bill->year));
	jl_show_sourced(doc, JL_ESTIMATED, JL_(" more a year for %s (%s): %s of electricity by tariff %s"), bill->name,
			jl_money_text(JL_TXT, bill->year_other),
			jl_units_localized(text, bill->active_W, JL_K_POWER, 3), bill->tariff);
	jl_show_table(doc, NULL, "tffff", JL_N("month|kWh|bill without|bill with|more"));
	for (size_t i = 0; i < bill->n_months; i++) {
		const struct jl_machine_bill_month *m = &bill->months[i];

		jl_format(text, sizeof text, "%d", m->month);
		jl_doc_cell_text(doc, text);
		jl_format(text, sizeof text, "%.0f", m->kWh);
		jl_show_cell(doc,
			     jl_num_written(jl_num_plain(m->kWh, JL_K_NUMBER, "kWh", JL_ESTIMATED, JL_METHOD), text));
		money_cell(doc, m->without);
		money_cell(doc, m->with);
		money_cell(doc, m->more);
		jl_doc_end_row(doc, false);
	}
	jl_show_tariff(doc, bill->tariff, NULL, bill->first.date, bill->first.source, today);
	jl_show_contract(doc, study);
	if (bill->first.borrowed_season)
		jl_show_note(doc, JL_("Season"), JL_ESTIMATED, "%s",
			     JL_("the tariff lists no spring/fall price: winter's was taken"));
	if (!isnan(bill->demand_kW))
		jl_show_note(doc, JL_("Contract"), JL_ESTIMATED,
			     study->setting.site.demand_kW > 0
				     ? JL_("demand %.3g kW")
				     : JL_("demand %.3g kW: what the machine draws (--demand)"),
			     bill->demand_kW);
	jl_show_note(doc, JL_("Assumed"), JL_ESTIMATED,
		     JL_("%.0f %% of the hours at work%s; %.0f kWh a month used there already%s; %s"),
		     100 * bill->util_frac, study->assumed.util ? " (--util)" : "", bill->household_kWh,
		     study->assumed.household ? " (--household)" : "",
		     jl_show_fx(doc, (double)study->setting.fx.krw_micro / 1e6,
				jl_date_text(JL_TXT, study->setting.fx.day), today));
}
