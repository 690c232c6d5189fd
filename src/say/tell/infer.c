#include "tell/infer.h"

#include <math.h>
#include <stdio.h>

static void count(struct jl_doc *doc, double value)
{
	char text[JL_UNITS_TEXT_MAX];
	struct jl_num num = jl_num_count(value);

	jl_tell_num(doc, jl_num_written(num, jl_count_text(text, value)));
}

static void about(struct jl_doc *doc, struct jl_estimate e, bool range)
{
	char value[JL_UNITS_TEXT_MAX], lo[JL_UNITS_TEXT_MAX], hi[JL_UNITS_TEXT_MAX], text[3 * JL_UNITS_TEXT_MAX];

	jl_about_text(value, e.value);
	if (range && e.lo < e.hi)
		snprintf(text, sizeof text, "%s (%s–%s)", value, jl_about_text(lo, e.lo), jl_about_text(hi, e.hi));
	else
		snprintf(text, sizeof text, "%s", value);
	jl_tell_num(doc, jl_num_written(jl_num_estimate(e, JL_K_NUMBER, NULL), text));
}

/* "64 requests at once", "20 requests a second", "200 users", "a trace". */
static void load(struct jl_doc *doc, const struct jl_infer *a)
{
	char text[JL_UNITS_TEXT_MAX];

	switch (a->kind) {
	case JL_LOAD_OPEN:
		jl_about_text(text, a->rate_hz);
		jl_tell_num(doc, jl_num_written(jl_num_count(a->rate_hz), text));
		JL_TELL(doc, " requests a second");
		break;
	case JL_LOAD_USERS:
		count(doc, a->users);
		JL_TELL(doc, " users");
		break;
	case JL_LOAD_TRACE: JL_TELL(doc, "a trace"); break;
	default: count(doc, a->concurrency); JL_TELL(doc, " requests at once");
	}
}

/* The answer in a sentence. */
static void lead(struct jl_doc *doc, const struct jl_infer *a)
{
	const char *rest;

	jl_doc_lead(doc);
	jl_doc_strong(doc, a->model);
	jl_doc_text(doc, " · ");
	jl_doc_name(doc, a->system);
	jl_doc_text(doc, " · ");
	load(doc, a);
	jl_doc_break(doc);
	if (a->has_target && !isnan(a->rate_max_hz)) {
		rest = jl_tell_part(doc, a->rate_max_hz > 0 ? JL_("It holds | requests a second within the targets.")
							    : JL_("It meets the targets at no rate."));
		if (a->rate_max_hz > 0) {
			about(doc, (struct jl_estimate){ a->rate_max_hz, a->rate_max_hz, a->rate_max_hz }, false);
			(void)jl_tell_part(doc, rest);
		}
		return;
	}
	if (a->has_target && a->meets) {
		rest = jl_tell_part(doc, JL_("| GPUs meet the targets: | of the model, | GPUs each."));
		count(doc, a->n_gpus_used);
		rest = jl_tell_part(doc, rest);
		jl_doc_textf(doc, JL_("%d cop{y/ies}"), a->n_copies);
		rest = jl_tell_part(doc, rest);
		count(doc, (double)a->n_gpus * a->n_stages);
		(void)jl_tell_part(doc, rest);
		return;
	}
	if (a->has_target)
		JL_TELL(doc, "The targets are not met, not even with all of it. ");
	else if (!a->keeps_up)
		JL_TELL(doc, "More arrives than it answers: the line grows without end. ");
	rest = jl_tell_part(doc, JL_("First token after |, then | tokens a second for each, | in all."));
	jl_tell_num(doc, jl_num_estimate(a->ttft_s.p50, JL_K_TIME, NULL));
	rest = jl_tell_part(doc, rest);
	about(doc, a->user_tps, false);
	rest = jl_tell_part(doc, rest);
	about(doc, a->output_tps, false);
	(void)jl_tell_part(doc, rest);
}

static void percentiles(struct jl_doc *doc, const struct jl_infer *a)
{
	static const struct jl_tell_head heads[] = {
		{ "", JL_COLUMN_KEEP },
		{ JL_N("half of them"), JL_COLUMN_KEEP },
		{ "90 %", JL_COLUMN_FIGURE },
		{ "99 %", JL_COLUMN_FIGURE },
	};
	const struct {
		const char *en;
		const struct jl_infer_times *t;
	} rows[] = {
		{ JL_N("first token (TTFT)"), &a->ttft_s },
		{ JL_N("each token (TPOT)"), &a->tpot_s },
		{ JL_N("between tokens (ITL)"), &a->itl_s },
		{ JL_N("whole request"), &a->e2e_s },
	};

	jl_tell_table(doc, NULL, heads, 4);
	for (size_t i = 0; i < 4; i++) {
		JL_ROW(doc, false, JL_WORD(jl_msg(rows[i].en)),
		       JL_FIG(jl_num_ranged(jl_num_estimate(rows[i].t->p50, JL_K_TIME, NULL))),
		       JL_FIG(jl_num_estimate(rows[i].t->p90, JL_K_TIME, NULL)),
		       JL_FIG(jl_num_estimate(rows[i].t->p99, JL_K_TIME, NULL)));
	}
}

static void entries(struct jl_doc *doc, const struct jl_infer *a)
{
	const char *rest;

	jl_doc_entry(doc, JL_("Delivers"));
	rest = jl_tell_part(doc, JL_("| answer tokens/s, | requests/s; a batch of | on average"));
	about(doc, a->output_tps, true);
	rest = jl_tell_part(doc, rest);
	about(doc, a->requests_per_s, false);
	rest = jl_tell_part(doc, rest);
	about(doc, (struct jl_estimate){ a->batch_mean, a->batch_mean, a->batch_mean }, false);
	(void)jl_tell_part(doc, rest);
	jl_doc_entry(doc, JL_("Bound by"));
	jl_doc_text(doc, jl_msg(a->bound));
	rest = jl_tell_part(doc, JL_(": | of an answer token's time; busy | of the time"));
	jl_tell_num(doc, jl_num_share(a->bound_frac, JL_ESTIMATED));
	rest = jl_tell_part(doc, rest);
	jl_tell_num(doc, jl_num_share(fmin(a->busy_frac, 1), JL_ESTIMATED));
	(void)jl_tell_part(doc, rest);
	jl_doc_entry(doc, JL_("Cut"));
	jl_doc_textf(doc, JL_("%d cop{y/ies}"), a->n_copies);
	rest = jl_tell_part(doc, JL_(" of the model, | GPUs each; weights | of | on a GPU"));
	count(doc, (double)a->n_gpus * a->n_stages);
	rest = jl_tell_part(doc, rest);
	jl_tell_num(doc, jl_num_about(a->weights_B, JL_K_BYTES, NULL));
	rest = jl_tell_part(doc, rest);
	jl_tell_num(doc, jl_num_plain(a->capacity_B, JL_K_BYTES, NULL, JL_LISTED, NULL));
	(void)jl_tell_part(doc, rest);
	if (a->n_stages > 1 || a->n_ep > 1 || a->dp_attention) {
		jl_doc_entry(doc, "");
		if (a->n_stages > 1)
			jl_doc_textf(doc, JL_("%d stages hold different layers. "), a->n_stages);
		if (a->n_ep > 1)
			jl_doc_textf(doc, JL_("%d GPUs share the experts whole. "), a->n_ep);
		if (a->dp_attention)
			JL_TELL(doc, "Attention is cut by requests.");
	}
	if (a->prompt_gpus > 0) {
		jl_doc_entry(doc, JL_("Prompts"));
		jl_doc_textf(doc, JL_("%d cop{y/ies}"), a->prompt_copies);
		rest = jl_tell_part(doc, JL_(" of their own, | GPUs each: busy | of the time"));
		count(doc, a->prompt_gpus);
		rest = jl_tell_part(doc, rest);
		jl_tell_num(doc, jl_num_share(fmin(a->prompt_busy_frac, 1), JL_ESTIMATED));
		(void)jl_tell_part(doc, rest);
	}
	jl_doc_entry(doc, JL_("KV cache"));
	rest = jl_tell_part(doc, JL_("room for | tokens a copy: | full on average, | at most"));
	about(doc, (struct jl_estimate){ a->kv_tokens, a->kv_tokens, a->kv_tokens }, false);
	rest = jl_tell_part(doc, rest);
	jl_tell_num(doc, jl_num_share(a->kv_mean_frac, JL_ESTIMATED));
	rest = jl_tell_part(doc, rest);
	jl_tell_num(doc, jl_num_share(fmin(a->kv_max_frac, 1), JL_ESTIMATED));
	(void)jl_tell_part(doc, rest);
	if (a->n_preempted > 0 || a->n_refused > 0) {
		jl_doc_entry(doc, "");
		rest = jl_tell_part(doc, JL_("of | simulated requests | were thrown back for lack of room, | refused"));
		count(doc, (double)(a->n_requests + a->n_refused));
		rest = jl_tell_part(doc, rest);
		count(doc, (double)a->n_preempted);
		rest = jl_tell_part(doc, rest);
		count(doc, (double)a->n_refused);
		(void)jl_tell_part(doc, rest);
	}
}

/* "first token 310 ms, each 22 ms; ... */
static void seen(struct jl_doc *doc, const struct jl_infer_seen *s)
{
	const struct {
		double s;
		const char *origin;
	} times[] = { { s->ttft_s, NULL },
		      { s->tpot_s, NULL },
		      { s->ttft_before_s, JL_METHOD },
		      { s->tpot_before_s, JL_METHOD },
		      { s->ttft_after_s, JL_METHOD },
		      { s->tpot_after_s, JL_METHOD } };
	const char *rest;

	jl_doc_entry(doc, JL_("Observed"));
	rest = jl_tell_part(doc,
			    JL_("first token |, each |; predicted before | and |, after the correction | and |. "));
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		jl_tell_num(doc, jl_num_plain(times[i].s, JL_K_TIME, NULL, i < 2 ? JL_MEASURED : JL_ESTIMATED,
					      times[i].origin));
		rest = jl_tell_part(doc, rest);
	}
	rest = jl_tell_part(doc, JL_("Passes take | times what was thought."));
	about(doc, (struct jl_estimate){ s->pass_factor, s->pass_factor, s->pass_factor }, false);
	(void)jl_tell_part(doc, rest);
}

/* "1.23 USD": two digits of small money. */
static void money(struct jl_doc *doc, struct jl_estimate e, bool range)
{
	char text[160];

	if (range && e.lo < e.hi)
		jl_format(text, sizeof text, JL_("%.2g USD (%.2g–%.2g)"), e.value, e.lo, e.hi);
	else
		jl_format(text, sizeof text, JL_("%.2g USD"), e.value);
	jl_tell_num(doc, jl_num_written(jl_num_estimate(e, JL_K_NUMBER, NULL), text));
}

static void costs(struct jl_doc *doc, const struct jl_tell_infer *in)
{
	const struct jl_infer *a = in->infer;
	const struct jl_estimate power = { a->power_usd_per_Mtoken, a->power_usd_per_Mtoken, a->power_usd_per_Mtoken };
	const char *rest;

	jl_doc_entry(doc, JL_("A million tokens"));
	if (a->rent.usdps > 0) {
		rest = jl_tell_part(doc, JL_("out | by rent, in |; electricity |"));
		money(doc, a->usd_per_Mtoken_out, true);
		rest = jl_tell_part(doc, rest);
		money(doc, a->usd_per_Mtoken_in, false);
		rest = jl_tell_part(doc, rest);
	} else {
		rest = jl_tell_part(doc, JL_("no rent is known; electricity |"));
	}
	money(doc, power, false);
	(void)jl_tell_part(doc, rest);
	jl_doc_entry(doc, JL_("Energy"));
	rest = jl_tell_part(doc, JL_("| for an answer token, | in all"));
	jl_tell_num(doc, jl_num_about(a->energy_J_token, JL_K_ENERGY, NULL));
	rest = jl_tell_part(doc, rest);
	jl_tell_num(doc, jl_num_about(a->power_W, JL_K_POWER, NULL));
	(void)jl_tell_part(doc, rest);
}

static void sweep(struct jl_doc *doc, const struct jl_infer *a)
{
	static const struct jl_tell_head rates[] = {
		{ JL_N("requests/s"), JL_COLUMN_FIGURE },     { JL_N("first token, 90 %"), JL_COLUMN_KEEP },
		{ JL_N("each token, 90 %"), JL_COLUMN_KEEP }, { JL_N("tokens/s"), JL_COLUMN_FIGURE },
		{ JL_N("busy"), JL_COLUMN_FIGURE },           { "", JL_COLUMN_TEXT },
	};
	static const struct jl_tell_head formats[] = {
		{ JL_N("weights"), JL_COLUMN_KEEP },          { JL_N("on a GPU"), JL_COLUMN_FIGURE },
		{ JL_N("GPUs"), JL_COLUMN_FIGURE },           { JL_N("first token, 90 %"), JL_COLUMN_KEEP },
		{ JL_N("each token, 90 %"), JL_COLUMN_KEEP }, { JL_N("tokens/s"), JL_COLUMN_FIGURE },
	};

	jl_tell_table(doc, NULL, a->compared ? formats : rates, 6);
	for (size_t i = 0; i < a->n_rows; i++) {
		const struct jl_infer_row *r = &a->rows[i];
		char text[JL_UNITS_TEXT_MAX];

		if (a->compared) {
			jl_doc_cell_name(doc, r->weights);
			if (!r->fits) {
				jl_doc_cell_text(doc, JL_("does not fit"));
				for (int k = 0; k < 4; k++)
					jl_doc_cell_text(doc, "–");
				jl_doc_end_row(doc, false);
				continue;
			}
			jl_tell_cell(doc, jl_num_about(r->weights_B, JL_K_BYTES, NULL));
			jl_tell_cell(doc, jl_num_count(r->n_gpus));
		} else {
			jl_about_text(text, r->rate_hz);
			jl_tell_cell(doc, jl_num_written(jl_num_count(r->rate_hz), text));
		}
		jl_tell_cell(doc, jl_num_ranged(jl_num_estimate(r->ttft_p90_s, JL_K_TIME, NULL)));
		jl_tell_cell(doc, jl_num_ranged(jl_num_estimate(r->tpot_p90_s, JL_K_TIME, NULL)));
		jl_about_text(text, r->output_tps.value);
		jl_tell_cell(doc, jl_num_written(jl_num_estimate(r->output_tps, JL_K_NUMBER, NULL), text));
		if (!a->compared) {
			jl_tell_cell(doc, jl_num_share(fmin(r->busy_frac, 1), JL_ESTIMATED));
			jl_doc_cell_text(doc, r->knee ? JL_("← knee") : r->keeps_up ? "" : JL_("overloaded"));
		}
		jl_doc_end_row(doc, r->knee);
	}
}

void jl_tell_infer(struct jl_doc *doc, const struct jl_tell_infer *in)
{
	const struct jl_infer *a = in->infer;
	char line[sizeof a->flags[0]];

	lead(doc, a);
	percentiles(doc, a);
	entries(doc, a);
	if (a->seen.pass_factor > 0)
		seen(doc, &a->seen);
	costs(doc, in);
	if (a->n_rows > 0)
		sweep(doc, a);
	for (int i = 0; i < a->n_flags; i++) {
		snprintf(line, sizeof line, "%s", a->flags[i]);
		jl_doc_lines(doc, line);
	}
	jl_doc_note(doc, JL_MARK_WARN, NULL);
	JL_TELL(doc, "estimated; 80 % intervals, checked on published runs (jeoul validate). ");
	if (!a->checked)
		JL_TELL(doc, "Of this family only single requests were published, not loads.");
	if (a->rent.usdps > 0 && a->rent.provider) {
		jl_doc_note(doc, JL_MARK_NONE, JL_("Rent"));
		jl_doc_said(doc, a->rent.provider, JL_LISTED, a->rent.provider);
		jl_doc_text(doc, ", ");
		jl_doc_name(doc, a->rent.item ? a->rent.item : "");
		jl_doc_text(doc, ", ");
		jl_doc_name(doc, a->rent.date ? a->rent.date : "");
	}
}
