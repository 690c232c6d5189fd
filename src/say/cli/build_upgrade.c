/* jeoul build --upgrade: purchases by predicted gain per money. */
#include "cli/build_upgrade.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/view.h"
#include "cli/this_machine.h"
#include "cli/view.h"
#include "build/upgrade.h"

#define SHOWN_MAX 8
#define OLD_DAYS  90 /* prices move faster than this */

#define ROOM_WIDTH 38 /* what the table leaves for the first column in 80 */

/* What the table had to cut, in full. */
static void details(struct jl_cli *cli, const struct jl_upgrades *found)
{
	bool first = true;

	for (size_t i = 0; i < found->n && i < SHOWN_MAX; i++) {
		const struct jl_upgrade *u = &found->items[i];
		const char *text = u->text;

		if (jl_utf8_width(text) <= ROOM_WIDTH)
			continue;
		if (first)
			jl_buf_puts(&cli->out, "\n");
		first = false;
		jl_view_wrapped(cli, 2, jl_arena_printf(&cli->arena, "%zu", i + 1), text);
	}
}

/* "59.1", "1,050": never with an exponent. */
static const char *three_digits(char out[JL_MONEY_TEXT_MAX], double value)
{
	if (value >= 1000) {
		const double size = pow(10, floor(log10(value)) - 2);

		return jl_grouped(out, round(value / size) * size);
	}
	snprintf(out, JL_MONEY_TEXT_MAX, "%.3g", value);
	return out;
}

/* When the price was, marked when that is long ago. */
static const char *price_of(struct jl_cli *cli, const struct jl_upgrade *u)
{
	long day;

	if (u->price.micro == 0)
		return JL_("not known");
	if (!u->price_date)
		return JL_("given");
	if (jl_date_parse(&day, u->price_date, NULL) == JL_OK && cli->today - day <= OLD_DAYS)
		return u->price_date;
	return jl_arena_printf(&cli->arena, "%s ⚠", u->price_date);
}

static enum jl_status view(struct jl_cli *cli, const struct jl_upgrade_ask *ask, const struct jl_upgrades *found,
			   struct jl_err *err)
{
	const struct jl_table_column columns[] = {
		{ .head = JL_("purchase"), .flexible = true, .min_width = 24 },
		{ .head = "USD", .align = JL_RIGHT },
		{ .head = JL_C("upgrade", "faster"), .align = JL_RIGHT },
		{ .head = JL_("per 1,000 USD"), .align = JL_RIGHT },
		{ .head = JL_("price of"), .align = JL_LEFT },
	};
	struct jl_table table;
	char money[JL_MONEY_TEXT_MAX], mid[JL_MONEY_TEXT_MAX], lo[JL_MONEY_TEXT_MAX], hi[JL_MONEY_TEXT_MAX];

	jl_buf_printf(&cli->out, JL_("%s%s now: %s samples/s (%s–%s)%s\n"), jl_view_bold(cli), ask->system,
		      three_digits(mid, found->now_per_s.value), three_digits(lo, found->now_per_s.lo),
		      three_digits(hi, found->now_per_s.hi), jl_view_reset(cli));
	jl_buf_printf(&cli->out, JL_("  %s, batch %g a GPU"), ask->run.model, ask->run.batch);
	if (found->now_zero)
		jl_buf_printf(&cli->out, ", ZeRO-%d", found->now_zero);
	jl_buf_puts(&cli->out, "\n\n");
	jl_table_init(&table, &cli->arena, columns, sizeof columns / sizeof columns[0]);
	for (size_t i = 0; i < found->n && i < SHOWN_MAX; i++) {
		const struct jl_upgrade *u = &found->items[i];

		jl_table_cell(&table, u->text);
		jl_table_cell(&table, u->price.micro ? jl_money_short(money, u->price) : "?");
		jl_table_printf(&table, "%+.0f %%", u->gain_frac * 100);
		if (isnan(u->gain_per_kusd))
			jl_table_cell(&table, "");
		else
			jl_table_printf(&table, "%+.*f %%", fabs(u->gain_per_kusd) < 0.1 ? 1 : 0,
					u->gain_per_kusd * 100);
		jl_table_cell(&table, price_of(cli, u));
		jl_table_end_row(&table);
	}
	if (!found->n)
		jl_buf_puts(&cli->out,
			    JL_("  Nothing in the catalog within the budget makes this run noticeably faster.\n"));
	else if (jl_view_table(cli, &table, 2, err))
		return err->status;
	details(cli, found);
	if (found->n_over_budget)
		jl_buf_printf(&cli->out, JL_("\n  Over the budget: %zu further.\n"), found->n_over_budget);
	jl_view_wrapped(
		cli, 2, JL_("Note"),
		JL_("estimated, each at its fastest ZeRO stage; prices with ⚠ are older than 90 days. Check slots, "
		    "power and cooling with 'jeoul build'."));
	return JL_OK;
}

static void view_json(struct jl_cli *cli, const struct jl_upgrade_ask *ask, const struct jl_upgrades *found)
{
	struct jl_json json;

	jl_json_init(&json, &cli->out, true);
	jl_json_object(&json);
	jl_json_put_string(&json, "system", ask->system);
	jl_json_put_string(&json, "model", ask->run.model);
	jl_view_estimate_json(&json, "samples_per_s", &found->now_per_s);
	jl_json_put_integer(&json, "zero", found->now_zero);
	jl_json_put_integer(&json, "n_over_budget", (long long)found->n_over_budget);
	jl_json_put_array(&json, "upgrades");
	for (size_t i = 0; i < found->n; i++) {
		const struct jl_upgrade *u = &found->items[i];

		jl_json_object(&json);
		jl_json_put_string(&json, "kind", u->kind);
		jl_json_put_string(&json, "text", u->en);
		jl_json_put_string(&json, "before", u->before);
		jl_json_put_string(&json, "after", u->after);
		jl_json_put_integer(&json, "n_items", u->n_items);
		jl_json_put_number(&json, "price_usd", u->price.micro ? jl_money_value(u->price) : NAN);
		jl_json_put_string(&json, "price_date", u->price_date);
		jl_view_estimate_json(&json, "before_samples_per_s", &u->before_per_s);
		jl_view_estimate_json(&json, "after_samples_per_s", &u->after_per_s);
		jl_json_put_integer(&json, "before_zero", u->before_zero);
		jl_json_put_integer(&json, "after_zero", u->after_zero);
		if (!isnan(u->pair_before_per_s)) {
			jl_json_put_number(&json, "pair_before_samples_per_s", u->pair_before_per_s);
			jl_json_put_number(&json, "pair_after_samples_per_s", u->pair_after_per_s);
		}
		jl_json_put_number(&json, "gain_frac", u->gain_frac);
		jl_json_put_number(&json, "gain_frac_per_1000_usd", u->gain_per_kusd);
		jl_json_end_object(&json);
	}
	jl_json_end_array(&json);
	jl_json_end_object(&json);
	jl_json_finish(&json);
}

enum jl_status jl_build_upgrade(struct jl_cli *cli, struct jl_err *err)
{
	struct jl_upgrades *found = jl_arena_alloc(&cli->arena, sizeof *found);
	const struct jl_given *batch = jl_given(cli, "batch"), *seq = jl_given(cli, "seq");
	struct jl_upgrade_ask ask = { .system = jl_text(cli, "upgrade"),
				      .run = jl_request_empty(),
				      .budget_usd = jl_value(cli, "budget"),
				      .bridge_usd = jl_value(cli, "bridge-price") };
	enum jl_status status;

	if (!found)
		return jl_fail_nomem(err);
	if (ask.budget_usd <= 0 || ask.bridge_usd < 0)
		return jl_fail(err, JL_E_RANGE, "--budget and --bridge-price are amounts above zero");
	ask.run.model = jl_text(cli, "model") ? jl_text(cli, "model") : "gpt-305m";
	ask.run.batch = batch ? (double)batch->count : 4;
	ask.run.seq = seq ? (double)seq->count : jl_text(cli, "model") ? NAN : 512;
	if ((status = jl_this_machine(cli, ask.system, &ask.system, err)))
		return status;
	if ((status = jl_upgrades_find(found, &ask, cli->cat, &cli->arena, err)))
		return status;
	if (cli->json) {
		view_json(cli, &ask, found);
		return JL_OK;
	}
	return view(cli, &ask, found, err);
}
