#include "topics/serve.h"

#include <math.h>
#include <string.h>

#include "topics/predict.h"

static int n_copies(const struct jl_serving *s)
{
	const int per_host = jl_sys_per_node(&s->sys);

	return s->sys.n_nodes * (per_host / s->rows[0].a.n_gpus);
}

static const char *weights_name(const struct jl_serving *s)
{
	return jl_served_weights(s->ask.weights, s->ask.model);
}

/* --- JSON */

static const struct jl_field row[] = {
	{ JL_FIELD(jl_serving_row, NUMBER, n_requests) },
	{ JL_FIELD_AS(jl_serving_row, NUMBER, a.batch, "n_running") },
	{ JL_FIELD_AS(jl_serving_row, ESTIMATE, a.ttft_s, "ttft_s") },
	{ JL_FIELD_AS(jl_serving_row, ESTIMATE, a.tpot_s, "tpot_s") },
	{ JL_FIELD_AS(jl_serving_row, ESTIMATE, a.request_tps, "request_tokens_per_s") },
	{ JL_FIELD_AS(jl_serving_row, ESTIMATE, a.total_tps, "total_tokens_per_s") },
};
static const struct jl_schema row_schema = JL_SCHEMA("load", jl_serving_row, row);

JL_TEXT_OF(weights, jl_serving, weights_name(r));
JL_TEXT_OF(engine, jl_serving, r->engine ? r->engine : "general");
JL_NUMBER_OF(copies, jl_serving, n_copies(r));
JL_NUMBER_OF(room, jl_serving, floor(r->rows[0].a.room));

#define S(TYPE, M, KEY) JL_FIELD_AS(jl_serving, TYPE, M, KEY)
static const struct jl_field fields[] = {
	{ S(TEXT, subject.id, "model") },
	{ S(TEXT, sys.text, "system") },
	{ JL_FIELD_TEXT_OF("weights", weights) },
	{ JL_FIELD_TEXT_OF("engine", engine) },
	{ S(NUMBER, ask.prompt, "prompt_tokens") },
	{ S(NUMBER, ask.output, "output_tokens") },
	{ S(INT, rows[0].a.n_gpus, "n_gpus") },
	{ JL_FIELD_NUMBER_OF("n_copies", copies) },
	{ S(BOOL, rows[0].a.fits, "fits") },
	{ S(NUMBER, rows[0].a.weights_B, "weights_B"), .about = "on each device" },
	{ S(NUMBER, rows[0].a.context_B, "request_B"), .about = "on each device, one request at its longest" },
	{ S(NUMBER, rows[0].a.capacity_B, "capacity_B") },
	{ JL_FIELD_NUMBER_OF("room_requests", room) },
	{ S(BOOL, rows[0].a.checked, "load_checked") },
	{ JL_FIELD_MANY(jl_serving, ARRAY, rows, n, "series", &row_schema) },
};
const struct jl_schema jl_serving_fields = JL_SCHEMA("serving", jl_serving, fields);

/* --- the page */

static void estimate_cell(struct jl_doc *doc, const struct jl_estimate *e)
{
	jl_show_cell(doc, jl_num_written(jl_num_estimate(*e, JL_K_TIME, NULL), jl_estimate_text(JL_TXT, e, JL_K_TIME)));
}

static void table(struct jl_doc *doc, const struct jl_serving *s)
{
	jl_show_table(doc, NULL, "fkkfk", JL_N("requests|first token|each token|one, tok/s|all, tok/s"));
	for (size_t i = 0; i < s->n; i++) {
		const struct jl_serve_answer *a = &s->rows[i].a;

		jl_show_cell(doc, jl_num_count(s->rows[i].n_requests));
		estimate_cell(doc, &a->ttft_s);
		estimate_cell(doc, &a->tpot_s);
		JL_ROW(doc, false,
		       JL_FIG(jl_num_written(jl_num_estimate(a->request_tps, JL_K_NUMBER, "tokens/s"),
					     jl_about_text(JL_TXT, a->request_tps.value))),
		       JL_FIG(jl_num_written(jl_num_estimate(a->total_tps, JL_K_NUMBER, "tokens/s"),
					     jl_about_range_text(JL_TXT, &a->total_tps))));
	}
}

/* The largest part of a token's time at the highest load. */
static void bound(struct jl_doc *doc, const struct jl_serving_row *last)
{
	double frac;
	const char *en = jl_serve_bound(&last->a.step, &frac);

	jl_show_entry(doc, JL_("Bound by"), JL_ESTIMATED, JL_("%s: %.0f %% of a token's time at %.0f requests"),
		      jl_msg(en), 100 * fmin(1, frac), last->n_requests);
}

static void memory(struct jl_doc *doc, const struct jl_serving *s)
{
	const struct jl_serving_row *last = &s->rows[s->n - 1];
	const struct jl_serve_answer *a = &last->a;
	char weights[JL_UNITS_TEXT_MAX], context[JL_UNITS_TEXT_MAX], room[JL_UNITS_TEXT_MAX], have[JL_UNITS_TEXT_MAX];

	jl_units_localized(weights, a->weights_B, JL_K_BYTES, 3);
	jl_units_localized(context, a->context_B, JL_K_BYTES, 2);
	jl_memory_text(have, a->capacity_B);
	jl_about_text(room, floor(a->room));
	if (a->n_gpus == 1)
		jl_show_entry(doc, JL_("Memory"), JL_ESTIMATED, JL_("weights %s and %s a request, of %s"), weights,
			      context, have);
	else
		jl_show_entry(doc, JL_("Memory"), JL_ESTIMATED,
			      JL_("%d GPUs, each: weights %s and %s a request, of %s"), a->n_gpus, weights, context,
			      have);
	if (!a->fits)
		JL_ENTRY(doc, "", JL_ORIGIN_NONE,
			 "it does not fit: use more GPUs or a smaller weight format (--weights fp8, int4)");
	else if (a->room < last->n_requests)
		jl_show_entry(doc, "", JL_ESTIMATED, JL_("%s requests fit at once; the others wait"), room);
	else
		jl_show_entry(doc, "", JL_ESTIMATED, JL_("room for %s requests at once"), room);
	if (n_copies(s) > 1)
		jl_show_entry(doc, JL_("Copies"), JL_ESTIMATED,
			      JL_("the system holds %d copies of the model: multiply requests and tokens by that"),
			      n_copies(s));
}

void jl_show_context(struct jl_doc *doc, double tokens, double context)
{
	if (tokens > context)
		jl_show_note(doc, JL_("Context"), JL_LISTED, JL_(JL_SERVED_TOO_LONG), jl_grouped_text(JL_TXT, tokens),
			     jl_grouped_text(JL_TXT, context));
}

void jl_show_serving(struct jl_doc *doc, const struct jl_serving *s)
{
	const struct jl_serve_answer *first = &s->rows[0].a;

	JL_LEAD(doc, jl_doc_format(doc, JL_("%s served"), s->subject.name));
	jl_show_piece(doc, JL_ORIGIN_NONE, "%s", s->sys.text);
	jl_doc_lead(doc);
	jl_show_piece(doc, JL_ORIGIN_NONE,
		      s->ask.weights || strcmp(weights_name(s), JL_WEIGHTS_16) == 0
			      ? JL_("%s weights")
			      : JL_("%s weights, as it is published"),
		      weights_name(s));
	jl_show_piece(doc, JL_ORIGIN_NONE, "%s", s->engine ? s->engine : JL_("no engine in particular"));
	jl_show_piece(doc, JL_ORIGIN_NONE, JL_("prompt %s, answer %s tokens"), jl_grouped_text(JL_TXT, s->ask.prompt),
		      jl_grouped_text(JL_TXT, s->ask.output));
	if (first->fits) {
		table(doc, s);
		bound(doc, &s->rows[s->n - 1]);
	}
	memory(doc, s);
	jl_show_context(doc, s->ask.prompt + s->ask.output, jl_subject_context(&s->subject));
	if (first->checked)
		jl_show_confidence(doc, &(struct jl_notes){ 0 });
	else
		JL_NOTE(doc, NULL, JL_ESTIMATED,
			"○ estimated; published measurements of this GPU family are of single requests, none under "
			"load.");
}
