/* jeoul audit: the claims of a text, reckoned again. The counts first, then what is wrong and why, then what nobody can tell. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/audit_memo.h"
#include "cli/view.h"
#include "audit/claims.h"
#include "memo/memo.h"

const struct jl_option jl_audit_options[] = {
	JL_O_FLAG("all", JL_N("also list what follows and what is taken as given")),
	JL_O_FLAG("strict", JL_N("exit status 3 when a claim differs")),
	JL_O_CHOICE("format", "text|md|html|sarif", jl_audit_formats,
		    JL_N("of a note: how it is told (default: text)")),
	JL_O_FLAG("fix", JL_N("of a note: a diff that puts the corrected figures in")),
	{ 0 },
};

/* "2.0x too high", "2.4 % too low" */
static const char *how_far(struct jl_cli *cli, const struct jl_claim *c)
{
	const double ratio = 1 + c->off_frac, larger = ratio > 1 ? ratio : 1 / ratio;
	const bool high = c->off_frac > 0;

	if (!c->derived || !isfinite(larger) || !*c->unit_text) /* a count or a year: no share of it means anything */
		return "";
	if (larger >= 1.5)
		return jl_arena_printf(&cli->arena, JL_(" (%.1fx too %s)"), larger,
				       high ? JL_("high") : JL_C("claim", "low"));
	return jl_arena_printf(&cli->arena, JL_(" (%.*f %% too %s)"), fabs(c->off_frac) < 0.095,
			       fabs(c->off_frac) * 100, high ? JL_("high") : JL_C("claim", "low"));
}

#define PLACES_SHOWN 6

/* "L21 58 93", "L21 58 93 128 138 208 +2" */
static const char *place(struct jl_cli *cli, const struct jl_claim *c)
{
	const char *letter = c->at[0] >= '0' && c->at[0] <= '9' ? "L" : "", *end = c->at;

	if (c->n_places <= PLACES_SHOWN + 1)
		return jl_arena_printf(&cli->arena, "%s %s%s", jl_verdict_mark(c->verdict), letter, c->at);
	for (size_t i = 0; i < PLACES_SHOWN; i++) {
		end += strspn(end, " ,");
		end += strcspn(end, " ,");
	}
	return jl_arena_printf(&cli->arena, "%s %s%.*s +%zu", jl_verdict_mark(c->verdict), letter, (int)(end - c->at),
			       c->at, c->n_places - PLACES_SHOWN);
}

/* One claim in a line or two: where, what it says, what it should be; `why` unless it stands above the group. */
static void one_claim(struct jl_cli *cli, const struct jl_claim *c, bool why)
{
	const char *stop = JL_("; ");
	struct jl_buf text;

	jl_buf_init(&text, 8192);
	jl_buf_printf(&text, "%s: %s", jl_words_in(c->says), jl_claim_say(JL_TXT, c->value_text));
	if (c->verdict == JL_CLAIM_DIFFERS && c->derived)
		jl_buf_printf(&text, " → %s%s", jl_claim_say(JL_TXT, c->result_text), how_far(cli, c));
	if (c->verdict == JL_CLAIM_FOLLOWS || c->verdict == JL_CLAIM_GIVEN)
		jl_buf_printf(&text, " = %s", c->from);
	if (why && c->why_text[0])
		jl_buf_printf(&text, "%s%s", stop, c->why_text);
	if (c->taken_from)
		jl_buf_printf(&text, JL_("; the figure is %s"), c->taken_from);
	else if (c->verdict == JL_CLAIM_DIFFERS && c->derived)
		jl_buf_printf(&text, "%s%s", c->result.estimate ? JL_("; estimated (80 %): ") : JL_("; it is "),
			      c->from);
	if (c->note.en)
		jl_buf_printf(&text, "%s%s", stop, jl_words_in(c->note));
	if (c->against)
		jl_buf_printf(&text, JL_(" [L%s says %s]"), c->against->at,
			      jl_claim_say(JL_TXT, c->against->value_text));
	jl_view_wrapped(cli, 2, place(cli, c), jl_buf_text(&text));
	jl_buf_release(&text);
}

static bool same_reason(const struct jl_claim *a, const struct jl_claim *b)
{
	return a->verdict == b->verdict &&
	       (a->reason == b->reason || (a->reason && b->reason && strcmp(a->reason, b->reason) == 0));
}

static const struct jl_claim *first_same(const struct jl_audit *audit, const struct jl_claim *c)
{
	const struct jl_claim *first = audit->claims;

	while (!same_reason(first, c))
		first++;
	return first;
}

static size_t count_same(const struct jl_audit *audit, const struct jl_claim *c)
{
	size_t n = 0;

	for (size_t i = 0; i < audit->n_claims; i++)
		n += same_reason(&audit->claims[i], c);
	return n;
}

static void one_mistake(struct jl_cli *cli, const struct jl_audit *audit, const struct jl_claim *first)
{
	const size_t n = count_same(audit, first);

	jl_buf_putc(&cli->out, '\n');
	if (first->reason)
		jl_view_wrapped(cli, 0, jl_arena_printf(&cli->arena, JL_("Mistake (%zu)"), n), first->why_text);
	else
		jl_view_wrapped(cli, 0, jl_arena_printf(&cli->arena, JL_("Otherwise (%zu)"), n),
				JL_("it does not follow, and none of the usual mistakes gives the figure"));
	for (const struct jl_claim *c = first; c < audit->claims + audit->n_claims; c++)
		if (same_reason(c, first))
			one_claim(cli, c, false);
}

/* Those with the same mistake stand together under it: the mistake with most claims first, what has no known cause last. */
static void differing(struct jl_cli *cli, const struct jl_audit *audit)
{
	const struct jl_claim *done = NULL;

	for (;;) {
		const struct jl_claim *best = NULL;
		size_t best_n = 0;

		for (const struct jl_claim *c = audit->claims; c < audit->claims + audit->n_claims; c++) {
			const size_t n = c->verdict == JL_CLAIM_DIFFERS && c->reason ? count_same(audit, c) : 0;
			const size_t done_n = done ? count_same(audit, done) : SIZE_MAX;

			/* the first claim of each reason, in falling order of (count, place) */
			if (n > best_n && (n < done_n || (n == done_n && c > done)) && c == first_same(audit, c)) {
				best = c;
				best_n = n;
			}
		}
		if (!best)
			break;
		one_mistake(cli, audit, best);
		done = best;
	}
	for (const struct jl_claim *c = audit->claims; c < audit->claims + audit->n_claims; c++)
		if (c->verdict == JL_CLAIM_DIFFERS && !c->reason) {
			one_mistake(cli, audit, c);
			break;
		}
}

static void group(struct jl_cli *cli, const struct jl_audit *audit, enum jl_verdict verdict, const char *title)
{
	if (!audit->n[verdict])
		return;
	jl_buf_printf(&cli->out, "\n%s%s%s\n", jl_view_bold(cli), title, jl_view_reset(cli));
	for (size_t i = 0; i < audit->n_claims; i++)
		if (audit->claims[i].verdict == verdict)
			one_claim(cli, &audit->claims[i], true);
}

static void view(struct jl_cli *cli, const struct jl_audit *audit)
{
	const struct jl_words *title = &audit->scenario->title;
	const bool all = jl_flag(cli, "all");

	if (title->en)
		jl_buf_printf(&cli->out, "%s%s%s\n", jl_view_bold(cli), jl_words_in(*title), jl_view_reset(cli));
	jl_buf_printf(&cli->out,
		      JL_("%zu claims in %zu places:  ✗ %zu differ  ✓ %zu follow  ? %zu open  · %zu given\n"),
		      audit->n_claims, audit->n_places, audit->n[JL_CLAIM_DIFFERS], audit->n[JL_CLAIM_FOLLOWS],
		      audit->n[JL_CLAIM_OPEN], audit->n[JL_CLAIM_GIVEN]);
	if (audit->n_contradictions)
		jl_buf_printf(&cli->out, JL_("The text contradicts itself in %zu place(s).\n"),
			      audit->n_contradictions);
	differing(cli, audit);
	group(cli, audit, JL_CLAIM_OPEN, JL_("Cannot be derived, and what would be needed"));
	if (all) {
		group(cli, audit, JL_CLAIM_FOLLOWS, JL_("Follows"));
		group(cli, audit, JL_CLAIM_GIVEN, JL_("Inputs, taken as given"));
	} else if (audit->n[JL_CLAIM_FOLLOWS]) {
		jl_buf_printf(&cli->out, JL_("\n%zu that follow and %zu inputs are listed with --all.\n"),
			      audit->n[JL_CLAIM_FOLLOWS], audit->n[JL_CLAIM_GIVEN]);
	}
}

static void claim_json(struct jl_json *json, const struct jl_claim *c)
{
	char unit[JL_DIM_TEXT_MAX];

	jl_json_pack(
		json,
		"{at:s n_places:z line:l says:s value:s verdict:s si_unit:s claimed_lo_si:f claimed_hi_si:f from:s "
		"derived_si:f derived_lo_si:f derived_hi_si:f derived:s off_frac:f reason:s figure_is:s why:s note:s "
		"contradicts_at:s}",
		c->at, c->n_places, (long long)c->where.line, c->says.en, c->value_text, jl_verdict_key(c->verdict),
		jl_dim_text(unit, &c->unit.dim), c->lo, c->hi, c->from, c->derived ? c->result.v : NAN,
		c->derived ? c->result.lo : NAN, c->derived ? c->result.hi : NAN, c->derived ? c->result_text : NULL,
		c->derived ? c->off_frac : NAN, c->reason, c->taken_from, c->why_en[0] ? c->why_en : NULL, c->note.en,
		c->against ? c->against->at : NULL);
}

static void view_json(struct jl_cli *cli, const struct jl_audit *audit)
{
	struct jl_json json;

	jl_json_init(&json, &cli->out, true);
	jl_json_object(&json);
	jl_json_put_string(&json, "file", audit->scenario->file);
	jl_json_put_string(&json, "title", audit->scenario->title.en);
	jl_json_put_integer(&json, "n_claims", (long long)audit->n_claims);
	jl_json_put_integer(&json, "n_places", (long long)audit->n_places);
	for (int v = 0; v < JL_N_VERDICT; v++)
		jl_json_put_integer(&json, jl_arena_printf(&cli->arena, "n_%s", jl_verdict_key((enum jl_verdict)v)),
				    (long long)audit->n[v]);
	jl_json_put_integer(&json, "n_contradictions", (long long)audit->n_contradictions);
	jl_json_put_array(&json, "claims");
	for (size_t i = 0; i < audit->n_claims; i++)
		claim_json(&json, &audit->claims[i]);
	jl_json_end_array(&json);
	jl_json_end_object(&json);
	jl_json_finish(&json);
}

static enum jl_status audit_claims(struct jl_cli *cli, const char *text, size_t len, struct jl_err *err)
{
	struct jl_scenario *scenario = jl_arena_alloc(&cli->arena, sizeof *scenario);
	const struct jl_yaml *root;
	struct jl_audit audit;

	JL_TRY(jl_got(scenario, err));
	if (jl_flag(cli, "fix") || jl_text(cli, "format"))
		return jl_fail(err, JL_E_USAGE,
			       "--fix and --format are for a note (.md, .txt, .html), not for a scenario");
	JL_TRY(jl_yaml_read(&root, cli->args.operands[0], text, len, &cli->arena, err));
	JL_TRY(jl_scenario_read(scenario, root, cli->cat, &cli->arena, err));
	JL_TRY(jl_audit_make(&audit, scenario, cli->cat, &cli->arena, cli->today, err));
	if (cli->json)
		view_json(cli, &audit);
	else
		view(cli, &audit);
	if (jl_flag(cli, "strict") && audit.n[JL_CLAIM_DIFFERS])
		cli->exit_code = 3;
	return JL_OK;
}

enum jl_status jl_cmd_audit(struct jl_cli *cli, struct jl_err *err)
{
	const char *path = cli->args.operands[0];
	struct jl_buf text;
	enum jl_status status;

	JL_TRY(jl_buf_read_file(&text, path, JL_MEMO_MAX_B, err));
	if (jl_memo_is_note(path, jl_buf_text(&text), text.len))
		status = jl_audit_memo(cli, jl_buf_text(&text), text.len, err);
	else
		status = audit_claims(cli, jl_buf_text(&text), text.len, err);
	jl_buf_release(&text);
	return status;
}
