/* Answers on how the run behaves: over more GPUs, what takes its time, what would help. */
#include <math.h>
#include <string.h>

#include "report/section_answers.h"

static const struct jl_answer nothing = { .mark = JL_MARK_NONE };

static bool wanted_mode(const struct jl_scenario_question *q, const struct jl_weighed_point *p)
{
	return !q->mode || (p->mode && strcmp(p->mode, q->mode) == 0);
}

static double speedup_of(const struct jl_weighed_point *p)
{
	return isnan(p->measured_speedup) ? p->speedup : p->measured_speedup;
}

static struct jl_num speedup_num(const struct jl_weighed_point *p)
{
	return isnan(p->measured_speedup) ? jl_num_ranged(jl_num_estimate(p->speedup_range, JL_K_NUMBER, "x"))
					  : jl_num_measured(p->measured_speedup, JL_K_NUMBER, "x", p->measured);
}

/* "10 GPU: 1.75x, efficiency 17 %" */
static void scaling_point(struct jl_section *s, const struct jl_weighed_point *p)
{
	const bool seen = !isnan(p->measured_speedup);

	jl_tell_num(s->doc, jl_num_given(p->n_gpus, JL_K_NUMBER, "GPU"));
	jl_doc_text(s->doc, ": ");
	jl_tell_num(s->doc, speedup_num(p));
	JL_SAY(s, ", efficiency ");
	jl_tell_num(s->doc, jl_num_share(speedup_of(p) / p->n_gpus, seen ? JL_MEASURED : JL_ESTIMATED));
}

/* How many pay off: half of each card's worth, and where more of them make it no faster. */
static void pays_off(struct jl_section *s, const struct jl_weighed_point *p, size_t n)
{
	const struct jl_weighed_point *half = NULL, *best = NULL;

	for (size_t i = 0; i < n; i++) {
		const double times = speedup_of(&p[i]);

		if (isnan(times))
			continue;
		if (times >= 0.5 * p[i].n_gpus)
			half = &p[i];
		if (!best || times > speedup_of(best))
			best = &p[i];
	}
	if (half) {
		JL_SAY(s, " At least half of what they could: up to ");
		jl_tell_num(s->doc, jl_num_plain(half->n_gpus, JL_K_NUMBER, "GPU", JL_ESTIMATED, JL_METHOD));
		JL_SAY(s, ".");
	}
	if (best && best != &p[n - 1]) {
		JL_SAY(s, " Fastest with ");
		jl_tell_num(s->doc, jl_num_plain(best->n_gpus, JL_K_NUMBER, "GPU", JL_ESTIMATED, JL_METHOD));
		jl_doc_text(s->doc, " (");
		jl_tell_num(s->doc, speedup_num(best));
		jl_doc_text(s->doc, ").");
	}
}

static void largest_part(struct jl_section *s, const struct jl_step_cost *step)
{
	const size_t part = jl_part_largest(step);

	jl_doc_text(s->doc, jl_msg(jl_parts[part].en));
	jl_doc_text(s->doc, " ");
	jl_tell_num(s->doc, jl_num_share(jl_part_s(step, part) / step->step_s, JL_ESTIMATED));
}

/* Of a mode: the number of GPUs that was asked for, else the largest; NULL: it was not weighed. */
static const struct jl_weighed_point *asked_point(const struct jl_weighed_scaling *sc, size_t mode,
						  const struct jl_scenario_question *q)
{
	const struct jl_weighed_point *p = &sc->points[mode * sc->n_counts];

	for (size_t i = 0; !isnan(q->n_gpus) && i < sc->n_counts; i++)
		if (p[i].n_gpus == q->n_gpus)
			return &p[i];
	return isnan(q->n_gpus) ? &p[sc->n_counts - 1] : NULL;
}

struct jl_answer jl_answer_scaling(struct jl_section *s, const struct jl_scenario_question *q)
{
	const struct jl_weighed_scaling *sc = &s->w->scaling;
	enum jl_mark worst = JL_MARK_NONE;
	const char *title = NULL;

	for (size_t k = 0; sc->of && k < sc->n_modes; k++) {
		const struct jl_weighed_point *p = asked_point(sc, k, q);
		const double times = p ? speedup_of(p) : NAN;
		const enum jl_mark mark = !p                        ? JL_MARK_NONE
					  : times < 0.5 * p->n_gpus ? JL_MARK_BAD
					  : times < 0.8 * p->n_gpus ? JL_MARK_WARN
								    : JL_MARK_GOOD;

		if (!p || isnan(times) || !wanted_mode(q, p))
			continue;
		if (worst)
			jl_doc_break(s->doc);
		jl_doc_name(s->doc, q->ask ? jl_mode_name(p->mode) : jl_system_name(sc->of));
		jl_doc_text(s->doc, ", ");
		scaling_point(s, p);
		if (p->predicted) {
			JL_SAY(s, ". Most of a step: ");
			largest_part(s, &p->step);
		}
		jl_doc_text(s->doc, ".");
		if (q->ask)
			pays_off(s, &sc->points[k * sc->n_counts], sc->n_counts);
		worst = mark > worst ? mark : worst;
		title = jl_arena_printf(s->arena, JL_("Scaling with %s"), jl_mode_name(p->mode));
	}
	return (struct jl_answer){ worst, title };
}

/* What joins the devices, and how much of it they share. */
static void joined(struct jl_section *s, const struct jl_weighed_system *of)
{
	const struct jl_sys *sys = &of->said->sys;
	const struct jl_fabric *f = &of->machine.alone;

	if (of->predicted && of->prediction.reduced_B > 0 && jl_machine_n_devices(&of->machine) > 1) {
		JL_SAY(s, " Gradients that each card exchanges: ");
		jl_tell_num(s->doc, jl_num_plain(of->prediction.reduced_B, JL_K_BYTES, NULL, JL_ESTIMATED, JL_METHOD));
		jl_doc_text(s->doc, ".");
	}
	if (!sys->join || !jl_fact_known(&sys->join_oneway_Bps))
		return;
	JL_SAY(s, " Joined by ");
	jl_doc_name(s->doc, sys->join->name);
	jl_doc_text(s->doc, ", ");
	jl_tell_num(s->doc, jl_num_fact(&sys->join_oneway_Bps, JL_K_BYTE_RATE));
	JL_SAY(s, JL_NC("aside", " one way"));
	if (f->intra_kind == JL_INTRA_PCIE_HOST && f->root_Bps > 0) {
		JL_SAY(s, "; through the host's memory, what the cards below one root complex share: ");
		jl_tell_num(s->doc, jl_num_plain(f->root_Bps, JL_K_BYTE_RATE, NULL, JL_ESTIMATED, JL_METHOD));
	}
	jl_doc_text(s->doc, ".");
}

/* What takes the time, with what joins the devices: of the largest number in the scaling, else of the system asked for. */
struct jl_answer jl_answer_why(struct jl_section *s, const struct jl_scenario_question *q)
{
	const struct jl_weighed_scaling *sc = &s->w->scaling;
	const struct jl_weighed_system *of = sc->of ? sc->of : s->w->advised;
	const struct jl_step_cost *step = NULL;

	for (size_t i = 0; q->of && i < s->w->n_systems; i++)
		if (jl_answer_about(s, q, &s->w->systems[i]))
			of = &s->w->systems[i];
	if (!of)
		return nothing;
	if (of == sc->of)
		for (size_t k = 0; k < sc->n_modes && !step; k++) {
			const struct jl_weighed_point *p = &sc->points[(k + 1) * sc->n_counts - 1];

			if (!p->predicted || !wanted_mode(q, p) || isnan(speedup_of(p)))
				continue;
			jl_doc_name(s->doc, jl_mode_name(p->mode));
			jl_doc_text(s->doc, ", ");
			scaling_point(s, p);
			JL_SAY(s, ". Of a step: ");
			step = &p->step;
		}
	if (!step && of->predicted) {
		jl_doc_name(s->doc, jl_system_name(of));
		JL_SAY(s, ": of a step ");
		step = &of->prediction.step;
	}
	if (!step)
		return nothing;
	largest_part(s, step);
	jl_doc_text(s->doc, ".");
	joined(s, of);
	return (struct jl_answer){ JL_MARK_WARN, JL_("What bounds it") };
}

/* --- what would help */

static void advice(struct jl_section *s, const struct jl_advice *a)
{
	jl_doc_name(s->doc, jl_system_name(s->w->advised));
	jl_doc_text(s->doc, ": ");
	jl_doc_said(s->doc, a->text, JL_ESTIMATED, JL_METHOD);
	jl_doc_text(s->doc, " — ");
	jl_tell_num(s->doc, jl_num_given(a->n_gpus, JL_K_NUMBER, "GPU"));
	jl_doc_text(s->doc, ": ");
	if (!a->makes_it_fit) {
		jl_tell_num(s->doc, jl_num_plain(a->samples_per_s_before, JL_K_NUMBER, NULL, JL_ESTIMATED, JL_METHOD));
		jl_doc_text(s->doc, " → ");
	}
	jl_tell_num(s->doc, jl_num_plain(a->samples_per_s_after, JL_K_NUMBER, "samples/s", JL_ESTIMATED, JL_METHOD));
	if (!a->makes_it_fit) {
		jl_doc_text(s->doc, " (");
		jl_tell_num(s->doc, jl_num_plain(a->samples_per_s_after / a->samples_per_s_before, JL_K_NUMBER, "x",
						 JL_ESTIMATED, JL_METHOD));
		jl_doc_text(s->doc, ")");
	}
	jl_doc_text(s->doc, ".");
}

struct jl_answer jl_answer_do(struct jl_section *s, const struct jl_scenario_question *q)
{
	(void)q;
	/* in a report on this machine, advice for another one is for its own section */
	if (!s->w->n_advice || (s->in->this_on && s->w->advised != jl_this_system(s)))
		return nothing;
	advice(s, &s->w->advice[0]);
	return (struct jl_answer){ JL_MARK_GOOD, JL_("Do first") };
}

struct jl_answer jl_answer_helps(struct jl_section *s, const struct jl_scenario_question *q)
{
	size_t n = 0;

	for (size_t i = 0; i < s->w->n_advice; i++) {
		if (q->what && strcmp(q->what, s->w->advice[i].key) != 0)
			continue;
		if (n++)
			jl_doc_break(s->doc);
		advice(s, &s->w->advice[i]);
	}
	if (n)
		return (struct jl_answer){ JL_MARK_GOOD, JL_("Would help") };
	if (!s->w->advised)
		return nothing;
	JL_SAY(s, "It is not among the changes that gain most on ");
	jl_doc_name(s->doc, jl_system_name(s->w->advised));
	jl_doc_text(s->doc, ".");
	return (struct jl_answer){ JL_MARK_WARN, JL_("Would not help much") };
}
