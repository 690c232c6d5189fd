/* Answers on the run: scaling, bottlenecks, improvements. */
#include <math.h>
#include <string.h>

#include "report/section_answers.h"
#include "topics/predict.h"

static const struct jl_answer nothing = { .said = false };

static bool wanted_mode(const struct jl_scenario_question *q, const struct jl_scaling_point *p)
{
	return !q->mode || (p->mode && strcmp(p->mode, q->mode) == 0);
}

static double speedup_of(const struct jl_scaling_point *p)
{
	return isnan(p->measured_speedup) ? p->speedup : p->measured_speedup;
}

static struct jl_num speedup_num(const struct jl_scaling_point *p)
{
	return isnan(p->measured_speedup) ? jl_num_ranged(jl_num_estimate(p->speedup_range, JL_K_NUMBER, "x"))
					  : jl_num_measured(p->measured_speedup, JL_K_NUMBER, "x", p->measured);
}

static struct jl_num efficiency_num(const struct jl_scaling_point *p)
{
	struct jl_num num = jl_num_share(speedup_of(p) / p->n_gpus,
					 isnan(p->measured_speedup) ? JL_ESTIMATED : JL_MEASURED);

	if (p->measured)
		num.source = p->measured->source;
	return num;
}

/* True if the efficiency is measured, or compares points with the same recipe. */
static bool has_efficiency(const struct jl_scaling_point *p)
{
	return p->alike || !isnan(p->measured_speedup);
}

static void above(struct jl_section *s, const struct jl_scaling_point *p)
{
	if (isnan(p->measured_speedup) && p->above.less_s > 0) {
		jl_doc_text(s->doc, " ");
		jl_show_above(s->doc, &p->above);
	}
}

/* The point of a mode at the requested number of GPUs, otherwise at the largest; NULL: not computed. */
static const struct jl_scaling_point *asked_point(const struct jl_scaling_result *sc, size_t mode,
						  const struct jl_scenario_question *q)
{
	const struct jl_scaling_point *p = &sc->points[mode * sc->n_counts];

	for (size_t i = 0; !isnan(q->n_gpus) && i < sc->n_counts; i++)
		if (p[i].n_gpus == q->n_gpus)
			return &p[i];
	return isnan(q->n_gpus) ? &p[sc->n_counts - 1] : NULL;
}

/* Reports the number of GPUs beyond which the run gets no faster. */
static void fastest_count(struct jl_section *s, const struct jl_scaling_point *p, size_t n)
{
	const struct jl_scaling_point *best = p;

	for (size_t i = 1; i < n; i++)
		if (speedup_of(&p[i]) > speedup_of(best))
			best = &p[i];
	if (best != &p[n - 1]) {
		jl_doc_text(s->doc, " ");
		JL_SENTENCE(s->doc, JL_("It is fastest with |1 GPUs: |2."), JL_COUNT(best->n_gpus),
			    JL_FIG(speedup_num(best)));
	}
}

struct jl_answer jl_answer_scaling(struct jl_section *s, const struct jl_scenario_question *q)
{
	const struct jl_scaling_result *sc = &s->w->scaling;
	size_t n = 0;

	for (size_t k = 0; sc->of && k < sc->n_modes; k++) {
		const struct jl_scaling_point *p = asked_point(sc, k, q);

		if (!p || isnan(speedup_of(p)) || !wanted_mode(q, p))
			continue;
		if (n++)
			jl_doc_break(s->doc);
		JL_SENTENCE(s->doc,
			    has_efficiency(p) ? JL_("With |1, |2 GPUs reach |3 of one (efficiency |4).")
					      : JL_("With |1, |2 GPUs reach |3 of one, which runs another recipe."),
			    JL_NAMED(jl_mode_name(p->mode)), JL_COUNT(p->n_gpus), JL_FIG(speedup_num(p)),
			    JL_FIG(efficiency_num(p)));
		above(s, p);
		fastest_count(s, &sc->points[k * sc->n_counts], sc->n_counts);
	}
	return (struct jl_answer){ n > 0, JL_MARK_NONE, JL_("How much do more GPUs bring?") };
}

/* Cause of slow communication, with the figure that shows it. */
static void cause(struct jl_section *s, const struct jl_system_result *of)
{
	const struct jl_sys *sys = &of->said->sys;
	const struct jl_fabric *f = &of->machine.alone;
	const struct jl_num moved = jl_num_about(of->prediction.reduced_B, JL_K_BYTES, NULL);

	if (!of->predicted || !(of->prediction.reduced_B > 0) || jl_sys_n_devices(&of->machine.sys) < 2)
		return;
	jl_doc_text(s->doc, " ");
	if (f->intra_kind == JL_INTRA_PCIE_HOST && f->n_shared > 1)
		JL_SENTENCE(s->doc,
			    JL_("Without P2P the |1 of gradients of each GPU pass through host memory in every step, "
				"and |2 GPUs share the |3 of one root complex."),
			    JL_FIG(moved), JL_COUNT(f->n_shared),
			    JL_FIG(jl_num_about(f->root_Bps, JL_K_BYTE_RATE, NULL)));
	else if (sys->join && jl_fact_known(&sys->join_oneway_Bps))
		JL_SENTENCE(s->doc, JL_("Each GPU exchanges |1 of gradients in every step over |2 (|3 one way)."),
			    JL_FIG(moved), JL_NAMED(jl_msg(sys->join->name)),
			    JL_FIG(jl_num_fact(&sys->join_oneway_Bps, JL_K_BYTE_RATE)));
}

static void largest_of(const struct jl_step_cost *step, struct jl_num *ret_share, const char **ret_name)
{
	const struct jl_bound bound = jl_bound_of(step);

	*ret_share = jl_num_share(bound.frac, JL_ESTIMATED);
	*ret_name = jl_msg(bound.en);
}

/* Bottleneck of a step and its cause: at the largest number of GPUs, otherwise on the system in question. */
struct jl_answer jl_answer_why(struct jl_section *s, const struct jl_scenario_question *q)
{
	const struct jl_scaling_result *sc = &s->w->scaling;
	const struct jl_system_result *of = sc->of ? sc->of : s->w->advised;
	const struct jl_answer answer = { true, JL_MARK_NONE, JL_("What takes the time?") };
	struct jl_num share;
	const char *name;

	for (size_t i = 0; q->of && i < s->w->n_systems; i++)
		if (jl_answer_about(s, q, &s->w->systems[i]))
			of = &s->w->systems[i];
	if (!of || !of->predicted)
		return nothing;
	for (size_t k = 0; of == sc->of && k < sc->n_modes; k++) {
		const struct jl_scaling_point *p = &sc->points[(k + 1) * sc->n_counts - 1];

		if (!p->predicted || !wanted_mode(q, p) || isnan(speedup_of(p)))
			continue;
		largest_of(&p->step, &share, &name);
		JL_SENTENCE(
			s->doc,
			has_efficiency(p)
				? JL_("On |1 GPUs, |2 of every step goes to |3, so that they are only |4 as fast as "
				      "one "
				      "(efficiency |5).")
				: JL_("On |1 GPUs, |2 of every step goes to |3; they are |4 as fast as one, which runs "
				      "another recipe."),
			JL_COUNT(p->n_gpus), JL_FIG(share), JL_WORD(name), JL_FIG(speedup_num(p)),
			JL_FIG(efficiency_num(p)));
		cause(s, of);
		return answer;
	}
	largest_of(&of->prediction.step, &share, &name);
	JL_SENTENCE(s->doc, JL_("On |1, |2 of every step goes to |3."), JL_NAMED(jl_system_name(of)), JL_FIG(share),
		    JL_WORD(name));
	cause(s, of);
	return answer;
}

/* --- improvements */

static struct jl_num rate_num(double per_s, enum jl_origin origin, const char *source)
{
	struct jl_num num = jl_num_plain(per_s, JL_K_NUMBER, NULL, origin, source);

	num.n_digits = 2 + (per_s >= 100 || origin == JL_MEASURED);
	return num;
}

/* Formats "|1: on |2 GPUs |3 → |4 samples/s, about |5" for one advice. */
static void answer_advice(struct jl_section *s, size_t i)
{
	const struct jl_advice *a = &s->w->advice[i];
	const struct jl_scenario_measured *seen = s->w->advice_seen[i];
	struct jl_num after = rate_num(a->samples_per_s_after, JL_ESTIMATED, JL_METHOD), gain;
	const struct jl_estimate times = jl_advice_gain(a, &s->w->advised->machine.widths, seen ? seen->value : NAN);

	after.unit = "samples/s";
	after.lo = a->samples_per_s_after * exp(-a->half_ln_after);
	after.hi = a->samples_per_s_after * exp(a->half_ln_after);
	after.show_interval = true;
	gain = jl_num_times(times.value);
	gain.n_digits = 2;
	JL_SENTENCE(s->doc,
		    a->makes_it_fit ? JL_("|1: then it fits, with |4 on |2 GPU{/s}.")
				    : JL_("|1: on |2 GPU{/s} |3 → |4, about |5 as fast."),
		    { .text = a->text }, JL_COUNT(a->n_gpus),
		    JL_FIG(seen ? rate_num(seen->value, JL_MEASURED, seen->source)
				: rate_num(a->samples_per_s_before, JL_ESTIMATED, JL_METHOD)),
		    JL_FIG(after), JL_FIG(gain));
}

struct jl_answer jl_answer_do(struct jl_section *s, const struct jl_scenario_question *q)
{
	(void)q;
	/* on this machine's first screen, omit advice for other machines */
	if (!s->w->n_advice || (s->in->this_on && s->w->advised != jl_this_system(s)))
		return nothing;
	answer_advice(s, 0);
	return (struct jl_answer){ true, JL_MARK_NONE, JL_("What to do first?") };
}

struct jl_answer jl_answer_helps(struct jl_section *s, const struct jl_scenario_question *q)
{
	for (size_t i = 0; i < s->w->n_advice; i++) {
		const struct jl_scenario_measured *seen = s->w->advice_seen[i];
		const bool sure =
			s->w->advice[i].makes_it_fit ||
			jl_advice_gain(&s->w->advice[i], &s->w->advised->machine.widths, seen ? seen->value : NAN).lo >
				1;

		if (q->what && strcmp(q->what, s->w->advice[i].key) != 0)
			continue;
		jl_doc_text(s->doc, sure ? JL_("Yes. ") : JL_("Probably. "));
		answer_advice(s, i);
		return (struct jl_answer){ true, sure ? JL_MARK_GOOD : JL_MARK_WARN, JL_("Would it help?") };
	}
	if (!s->w->advised)
		return nothing;
	JL_SENTENCE(s->doc, JL_("Hardly: it is not among the changes that gain most on |1."),
		    JL_NAMED(jl_system_name(s->w->advised)));
	return (struct jl_answer){ true, JL_MARK_WARN, JL_("Would it help?") };
}
