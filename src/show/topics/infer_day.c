/* A served model over a day: fixed versus autoscaled number of copies, by hour, and the autoscaler's configuration. */
#include <math.h>

#include "topics/infer_day.h"

static void size(struct jl_doc *doc, const struct jl_day_size *s, const char *name, bool strong)
{
	const struct jl_num copies = jl_num_written(jl_num_count(s->mean),
						    s->least < s->most ? jl_doc_format(doc, "%d–%d", s->least, s->most)
								       : jl_doc_format(doc, "%d", s->most));

	JL_ROW(doc, strong, JL_WORD(name), JL_FIG(copies), JL_SHARE(s->within_frac), JL_SHARE(s->worst_frac),
	       JL_FIG(jl_num_about(s->gpu_h, JL_K_NUMBER, jl_about_text(JL_TXT, s->gpu_h))),
	       JL_FIG(jl_num_about(s->usd, JL_K_NUMBER, isnan(s->usd) ? NULL : jl_about_text(JL_TXT, s->usd))));
}

void jl_show_day_lead(struct jl_doc *doc, const struct jl_day *d)
{
	const double saved = 1 - d->scaled.gpu_h / d->fixed.gpu_h;

	JL_SENTENCE(doc,
		    saved > 0.005 ? JL_("Autoscaling takes |1 fewer GPU hours than |2 cop{y/ies} fixed for the peak; "
					"|3 of the requests are within the targets.")
				  : JL_("Autoscaling saves nothing compared with |2 cop{y/ies} fixed for the peak; |3 "
					"of the requests are within the targets."),
		    JL_SHARE(saved), JL_COUNT(d->fixed.most), JL_SHARE(d->scaled.within_frac));
}

void jl_show_day(struct jl_doc *doc, const struct jl_day *d)
{
	jl_show_table(doc, NULL, "kfffff", JL_N("|copies|within targets|worst hour|GPU hours|USD a day"));
	size(doc, &d->fixed, JL_("fixed, for the peak"), false);
	size(doc, &d->scaled, JL_("autoscaled"), true);
	size(doc, &d->same, JL_("fixed, same GPU hours"), false);
	jl_show_table(doc, NULL, "ffff", JL_N("hour|requests/s|copies|within targets"));
	for (int h = 0; h < JL_DAY_HOURS; h += 2) {
		const struct jl_day_hour *a = &d->hours[h], *b = &d->hours[h + 1];
		const double hz = 0.5 * (a->rate_hz + b->rate_hz), copies = 0.5 * (a->copies + b->copies);

		JL_ROW(doc, false, JL_FIG(jl_num_written(jl_num_count(h), jl_doc_format(doc, "%d–%d", h, h + 2))),
		       JL_FIG(jl_num_written(jl_num_count(hz), jl_doc_format(doc, "%s", jl_about_text(JL_TXT, hz)))),
		       JL_FIG(jl_num_about(copies, JL_K_NUMBER, jl_doc_format(doc, "%.1f", copies))),
		       JL_SHARE(fmin(a->within_frac, b->within_frac)));
	}
	jl_doc_entry(doc, JL_("A copy"));
	JL_SENTENCE(doc,
		    JL_("|1 GPU{/s}; holds |2 requests a second within the targets; ready |3 after it is requested"),
		    JL_COUNT(d->gpus), JL_ABOUT(d->copy_hz, JL_K_NUMBER), JL_ABOUT(d->start_s, JL_K_TIME));
	jl_doc_entry(doc, JL_("Autoscaler"));
	JL_SENTENCE(doc,
		    JL_("one copy per |1 requests in flight, checked every 15 s; scales down only after five minutes"),
		    JL_ABOUT(d->target, JL_K_NUMBER));
	jl_doc_lines(doc, d->policy);
}
