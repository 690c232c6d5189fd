/* Two kinds of GPU in one data-parallel job. */

#include "predict/mixed.h"
#include "topics/predict.h"

static struct jl_num seconds(struct jl_doc *doc, double value_s)
{
	return jl_num_about(value_s, JL_K_TIME,
			    jl_doc_format(doc, "%s", jl_units_localized(JL_TXT, value_s, JL_K_TIME, 2)));
}

static struct jl_num bytes(struct jl_doc *doc, double value_B)
{
	return jl_num_about(value_B, JL_K_BYTES, jl_doc_format(doc, "%s", jl_memory_text(JL_TXT, value_B)));
}

/* "76", or "76 = 2 × 38" with several passes. */
static struct jl_num samples(struct jl_doc *doc, const struct jl_mixed_kind *kind)
{
	const double n_micro = kind->samples / kind->micro;

	return jl_num_about(kind->samples, JL_K_NUMBER,
			    n_micro > 1 ? jl_doc_format(doc, "%.0f = %.0f × %.0f", kind->samples, n_micro, kind->micro)
					: jl_doc_format(doc, "%.0f", kind->samples));
}

static void run(struct jl_doc *doc, const struct jl_mixed *m, const struct jl_estimate *run_s)
{
	if (!isnan(m->steps))
		jl_show_piece(doc, JL_ESTIMATED, JL_("%s for %s step{/s}"), jl_estimate_text(JL_TXT, run_s, JL_K_TIME),
			      jl_grouped_text(JL_TXT, m->steps));
}

static void rates(struct jl_doc *doc, const struct jl_mixed *m)
{
	const struct jl_mixed_kind *slow = &m->kind[m->slowest], *fast = &m->kind[1 - m->slowest];

	jl_show_entry(doc, JL_("Even"), JL_ESTIMATED,
		      JL_("%s samples/s: %.0f samples on every GPU; each step waits for the %s"),
		      jl_about_text(JL_TXT, m->even_per_s), m->even_batch, slow->sys.gpu->id);
	run(doc, m, &m->even_run_s);
	if (m->is_shared) {
		jl_show_entry(doc, JL_("By speed"), JL_ESTIMATED,
			      JL_("%s samples/s (%.2gx): %.0f samples on each %s, %.0f on each %s, gradients weighted "
				  "by samples"),
			      jl_about_text(JL_TXT, m->shared_per_s), m->shared_per_s / m->even_per_s, fast->samples,
			      fast->sys.gpu->id, slow->samples, slow->sys.gpu->id);
		run(doc, m, &m->shared_run_s);
	} else {
		JL_ENTRY(doc, JL_("By speed"), JL_ESTIMATED,
			 "no other share of this batch is faster and fits: take a larger batch");
	}
}

void jl_show_mixed(struct jl_doc *doc, const struct jl_mixed *m)
{
	jl_show_case(doc, &m->pace.how);
	if (m->fits)
		rates(doc, m);
	else
		jl_show_room(doc, &m->pace);
	for (size_t k = 0; k < JL_MIXED_KINDS; k++)
		if (m->kind[k].alone > (m->fits ? m->even_per_s : 0))
			jl_show_entry(doc,
				      m->is_shared && m->kind[k].alone <= m->shared_per_s ? JL_("Beats even")
											  : JL_("Better"),
				      JL_ESTIMATED, JL_("%s alone: %s samples/s"), m->kind[k].sys.text,
				      jl_about_text(JL_TXT, m->kind[k].alone));
	jl_show_table(doc, NULL, m->fits ? "kffff" : "kff",
		      m->fits ? JL_N("GPUs|step|waits|samples by speed|step") : JL_N("GPUs|needs|has"));
	for (size_t k = 0; k < JL_MIXED_KINDS; k++) {
		const struct jl_mixed_kind *kind = &m->kind[k];

		jl_doc_cell_name(doc, jl_doc_format(doc, "%dx %s%s", kind->n, kind->sys.gpu->id,
						    kind->fits ? "" : JL_(" (does not fit)")));
		if (m->fits)
			JL_ROW(doc, false, JL_FIG(seconds(doc, kind->even_s)),
			       JL_FIG(jl_show_share(doc, 1 - kind->even_s / m->even_s.value)),
			       JL_FIG(samples(doc, kind)), JL_FIG(seconds(doc, kind->step_s)));
		else
			JL_ROW(doc, false, JL_FIG(bytes(doc, kind->need_B)), JL_FIG(bytes(doc, kind->has_B)));
	}
	jl_show_confidence(doc, &m->pace.how.notes);
}
