/* Compares expected scaling efficiencies in a note with predictions for its model. Only for values said to be expected: one in five correct
 * measurements is outside an 80 % interval. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "notes/inside.h"

#define LINES_LOOKED_AT 5000
#define PREDICTIONS_MAX 24

/* The figure right after the words, e.g. "Hidden size: 1024"; NAN: none. */
static double said(const struct jl_audit_note *note, const char *words)
{
	for (size_t l = 0; l < note->n_lines && l < LINES_LOOKED_AT; l++) {
		const struct jl_line *line = &note->lines[l];

		if (!line->n_figs || line->n_figs > 16 || !JL_PART_HAS(note, line, words))
			continue;
		for (uint32_t i = line->fig; i < line->fig + line->n_figs; i++) {
			const struct jl_figure *f = &note->figures[i];
			const uint32_t from = i > line->fig ? f[-1].at + f[-1].len : line->at;

			if (f->qty == JL_Q_NUMBER && jl_span_has(note->text + from, f->at - from, words))
				return f->lo;
		}
	}
	return NAN;
}

/* The catalog's model with the dimensions in the note; NULL: none. */
static const struct jl_model_info *model_of(const struct jl_audit_note *note)
{
	const double hidden = said(note, "hidden size|hidden dim|hidden|은닉 크기"),
		     layers = said(note, "layers|n_layers|층 수|레이어 수|레이어");

	for (size_t i = 0; i < note->cat->n_models && hidden > 0; i++)
		if (note->cat->models[i].hidden == hidden && note->cat->models[i].n_layers == (int)layers)
			return &note->cat->models[i];
	return NULL;
}

static bool samples_per_s(struct jl_estimate *ret, struct jl_audit_note *note, const struct jl_machine *machine,
			  const struct jl_request *req)
{
	struct jl_subject *subject = jl_arena_alloc(note->arena, sizeof *subject);
	struct jl_job *job = jl_arena_alloc(note->arena, sizeof *job);
	struct jl_err err;

	if (!subject || !job || jl_subject_find(subject, note->cat, req, note->arena, &err) ||
	    jl_job_weigh(job, note->cat, subject, machine, req, &err))
		return false;
	*ret = job->prediction.samples_per_s;
	return ret->value > 0;
}

static bool efficiency(struct jl_estimate *ret, struct jl_audit_note *note, const struct jl_mention *on, uint32_t n,
		       const struct jl_request *req)
{
	struct jl_machine all, one;
	struct jl_estimate many, single;

	if (!jl_audit_machine(&all, note, on, n) || !jl_audit_machine(&one, note, on, 1) ||
	    !samples_per_s(&many, note, &all, req) || !samples_per_s(&single, note, &one, req))
		return false;
	*ret = (struct jl_estimate){ many.value / single.value / n, many.lo / single.value / n,
				     fmin(many.hi / single.value / n, 1) };
	return true;
}

static void judge(struct jl_audit_note *note, int32_t fig, const struct jl_estimate *e)
{
	const struct jl_figure *f = &note->figures[fig];
	struct jl_audit_finding *found;
	char range[JL_SHOULD_MAX];
	const bool inside = f->lo <= e->hi + f->digit && f->hi >= e->lo - f->digit;

	if (!(found = jl_finding_on_figure(note, inside ? JL_AUDIT_COMPATIBLE : JL_AUDIT_UNLIKELY, "expected", fig)))
		return;
	jl_fig_text(found->estimate, note, f, e->value, 0);
	jl_fig_range_text(range, note, f, e->lo, e->hi);
	snprintf(found->estimate + strlen(found->estimate), sizeof found->estimate - strlen(found->estimate),
		 " (%.40s)", range);
	jl_audit_finding_explain(found,
				 "jeoul predicts an efficiency of %s for the note's model there (80 %% interval)",
				 found->estimate);
}

static uint32_t gpus_in(const struct jl_audit_note *note, const struct jl_cell *cell)
{
	const struct jl_figure *f = cell->fig < 0 ? NULL : &note->figures[cell->fig];

	return f && f->qty == JL_Q_COUNT && f->lo >= 2 && f->lo <= 64 && JL_PART_HAS(note, f, "GPU|GPUs")
		       ? (uint32_t)f->lo
		       : 0;
}

/* Rows of hardware, columns of "2 GPUs", "4 GPUs", shares in the cells. Skips other than default interconnects. */
static void judge_grid(struct jl_audit_note *note, const struct jl_grid *g, const struct jl_request *req, int *left)
{
	for (uint32_t r = 1; r < g->n_rows; r++)
		for (uint32_t c = 1; c < g->n_cols; c++) {
			const struct jl_cell *cell = jl_grid_cell(g, r, c), *label = jl_grid_cell(g, r, 0);
			const uint32_t n = gpus_in(note, jl_grid_cell(g, 0, c));
			struct jl_estimate e;

			if (cell->fig < 0 || !n || label->mention < 0 || note->figures[cell->fig].qty != JL_Q_PERCENT ||
			    !(note->figures[cell->fig].flags & JL_FIG_ABOUT) ||
			    note->verdicts[cell->fig] != JL_AUDIT_CANNOT ||
			    JL_PART_HAS(note, label, "nvlink|nvswitch|bridge|브릿지") || (*left)-- <= 0)
				continue;
			if (efficiency(&e, note, &note->mentions[label->mention], n, req))
				judge(note, cell->fig, &e);
		}
}

void jl_rule_expected(struct jl_audit_note *note)
{
	const struct jl_model_info *model = model_of(note);
	struct jl_request req = jl_request_empty();
	int left = PREDICTIONS_MAX;

	if (!model)
		return;
	req.model = model->id;
	req.batch = said(note, "batch size|배치 크기");
	req.seq = said(note, "sequence length|seq length|시퀀스 길이|seq");
	for (size_t i = 0; i < note->n_grids && left > 0; i++)
		if (note->grids[i].has_heads && note->grids[i].kind == JL_GRID_TABLE)
			judge_grid(note, &note->grids[i], &req, &left);
}
