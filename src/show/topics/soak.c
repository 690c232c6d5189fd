#include "bench/soak.h"
#include "topics/show.h"

#include <math.h>

static const char *rate(struct jl_doc *doc, double value)
{
	return jl_doc_format(doc, "%s", jl_units_localized(JL_TXT, value, JL_K_FLOP_RATE, 3));
}

static void findings(struct jl_doc *doc, const struct jl_soak *s)
{
	if (s->n_wrong > 0)
		jl_show_entry(doc, JL_("Wrong"), JL_MEASURED,
			      JL_("%.0f elements: memory, a driver or a library is faulty"), s->n_wrong);
	if (s->n_uncorrected > 0)
		jl_show_entry(doc, JL_("Memory"), JL_MEASURED,
			      JL_("%.0f errors that could not be corrected: replace the part"), s->n_uncorrected);
	if (s->hot_frac > 0)
		jl_show_entry(doc, JL_("Heat"), JL_MEASURED,
			      JL_("clocks were held down by heat %.0f %% of the time: look at fans, dust and air"),
			      100 * s->hot_frac);
	if (s->drift_frac < -JL_SOAK_DRIFT_FRAC)
		jl_show_entry(doc, JL_("Loss"), JL_MEASURED, JL_("it ended %.1f %% slower than it began"),
			      -100 * s->drift_frac);
}

static void sensors(struct jl_doc *doc, const struct jl_soak *s)
{
	if (!isnan(s->clock_low_Hz))
		jl_show_entry(doc, JL_("Clock"), JL_MEASURED, JL_("%s to %s"),
			      jl_units_localized(JL_TXT, s->clock_low_Hz, JL_K_FREQUENCY, 3),
			      jl_units_localized(JL_TXT, s->clock_high_Hz, JL_K_FREQUENCY, 3));
	if (!isnan(s->temperature_C))
		jl_show_entry(doc, JL_("Heat"), JL_MEASURED, JL_("%.0f °C at most"), s->temperature_C);
	if (!isnan(s->power_W))
		jl_show_entry(doc, JL_("Power"), JL_MEASURED, JL_("%.0f W at most; at its limit %.0f %% of the time"),
			      s->power_W, 100 * s->capped_frac);
	if (isnan(s->n_corrected))
		JL_ENTRY(doc, JL_("Memory"), JL_ORIGIN_NONE, "this machine does not count memory errors");
	else
		jl_show_entry(doc, JL_("Memory"), JL_MEASURED, JL_("%.0f errors corrected, %.0f not"), s->n_corrected,
			      s->n_uncorrected);
}

void jl_show_soak(struct jl_doc *doc, const struct jl_soak *s, const char *what)
{
	JL_LEAD(doc, jl_soak_is_bad(s) ? JL_("it failed under the load")
		     : 2 * s->n_noisy > s->n
			     ? JL_("no verdict on its rate: other programs used the machine most of the time")
			     : JL_("it passed the load"));
	jl_show_piece(doc, JL_ORIGIN_NONE, "%s", what);
	jl_show_piece(doc, JL_ORIGIN_NONE, "%s", jl_units_localized(JL_TXT, s->window_s * (double)s->n, JL_K_TIME, 2));
	findings(doc, s);
	if (s->stats.n)
		jl_show_entry(doc, JL_("Rate"), JL_MEASURED, JL_("%s, from %s to %s"), rate(doc, s->stats.median),
			      rate(doc, s->stats.min), rate(doc, s->stats.max));
	if (!isnan(s->drift_frac))
		jl_show_entry(doc, JL_("Drift"), JL_MEASURED, JL_("%+.1f %% from the second fifth to the last"),
			      100 * s->drift_frac);
	sensors(doc, s);
	jl_show_entry(doc, JL_("Checked"), JL_MEASURED, JL_("%.0f times, %.0f elements wrong"), s->n_checks,
		      s->n_wrong);
	if (s->n_noisy)
		jl_show_entry(doc, JL_("Noise"), JL_MEASURED,
			      JL_("in %zu of %zu windows other programs used the machine: they are ignored"),
			      s->n_noisy, s->n);
}
