#include "plan/answer.h"
#include "predict/narrow.h"
#include "topics/show.h"

#include <math.h>

#include "topics/predict.h"

static double gib(double bytes)
{
	return bytes / 1073741824.0;
}

static const char *count(struct jl_doc *doc, long long n)
{
	return jl_doc_format(doc, "%s", jl_grouped_text(JL_TXT, (double)n));
}

void jl_show_searched(struct jl_doc *doc, const struct jl_plan_effort *effort)
{
	const struct jl_plan_tally *t = &effort->tally;

	jl_show_entry(doc, JL_("Searched"), JL_MEASURED,
		      JL_("%s%s combinations in %s: %s evaluated; rejected: %s for memory, %s by a lower bound on "
			  "time, %s without a framework, %s not divisible"),
		      effort->stopped ? JL_("stopped after ") : "", count(doc, jl_plan_n_configurations(t)),
		      jl_units_localized(JL_TXT, effort->search_s, JL_K_TIME, 2), count(doc, t->n_evaluated),
		      count(doc, t->n_memory + t->n_host), count(doc, t->n_slower), count(doc, t->n_framework),
		      count(doc, t->n_shape));
}

/* The plan in one line, as a prediction writes a case. */
void jl_show_plan_case(struct jl_doc *doc, const char *label, const struct jl_case *c)
{
	static const char *const zeros[] = { "DDP", "ZeRO-1", "ZeRO-2", "FSDP" };
	const struct jl_plan *p = &c->plan;

	jl_doc_entry(doc, label);
	jl_show_piece(doc, JL_ORIGIN_NONE, "%s %.0f", p->shard > 0 ? "HSDP" : zeros[p->zero], p->dp);
	jl_show_cut_pieces(doc, p);
	jl_show_piece(doc, JL_ORIGIN_NONE, JL_("micro-batch %.0f"), c->shard.micro_batch);
	if (p->recompute)
		jl_show_piece(doc, JL_ORIGIN_NONE, "%s", jl_show_recompute(p));
	if (p->offload)
		jl_show_piece(doc, JL_ORIGIN_NONE, "%s%s%s%s", JL_("offload"),
			      p->offload & JL_OFFLOAD_OPTIMIZER ? JL_(" optimizer") : "",
			      p->offload & JL_OFFLOAD_PARAMS ? JL_(" weights") : "",
			      p->offload & JL_OFFLOAD_ACTIVATIONS ? JL_(" activations") : "");
	jl_show_piece(doc, JL_ORIGIN_NONE, "%s", jl_dtype_name(c->shard.dtype));
}

/* --- the table */

/* How a plan cuts the model and what it keeps: "2 copies, FSDP, TP 4+SP, PP 8×12, selective recompute". */
static const char *plan_text(struct jl_doc *doc, const struct jl_case *c, bool format)
{
	const struct jl_plan *p = &c->plan;
	char cut[JL_CUT_TEXT_MAX];

	jl_show_cut(cut, p, c->shard.micro_batch);
	return jl_doc_format(doc, "%s%s%s%s", p->dp > 1 ? jl_doc_format(doc, JL_("%g copies, %s"), p->dp, cut) : cut,
			     p->keep_gathered ? JL_(", weights stay gathered") : "", format ? ", " : "",
			     format ? jl_dtype_name(c->shard.dtype) : "");
}

static bool formats_differ(const struct jl_plan_answer *a)
{
	bool differ = false;

	for (size_t i = 1; i < a->n; i++)
		differ |= a->plans[i].how.shard.dtype != a->plans[0].how.shard.dtype;
	return differ;
}

/* The objective of the search as a cell. */
static void value_cell(struct jl_doc *doc, const struct jl_plan_answer *a, const struct jl_plan_ranked *plan)
{
	const struct {
		const struct jl_estimate *e;
		enum jl_kind kind;
	} values[JL_N_PLAN_OBJECTIVE] = { { &plan->p.step_s, JL_K_TIME },
					  { &plan->elapsed.cost_usd, JL_K_USD },
					  { &plan->p.energy_J, JL_K_ENERGY } },
	  *v = &values[a->ask->objective];
	const double per_usd = plan->how.global_batch * plan->how.shard.seq / plan->value;

	if (v->e)
		jl_show_cell(doc, jl_num_written(jl_num_estimate(*v->e, v->kind, NULL),
						 jl_estimate_text(JL_TXT, v->e, v->kind)));
	else
		jl_show_cell(doc, jl_num_about(per_usd, JL_K_NUMBER,
					       jl_doc_format(doc, "%s/USD", jl_about_text(JL_TXT, per_usd))));
}

static void table(struct jl_doc *doc, const struct jl_plan_answer *a)
{
	static const char *const values[JL_N_PLAN_OBJECTIVE] = { JL_N("step"), JL_N("cost"), JL_N("energy"),
								 JL_N("tokens") };
	const struct jl_show_head heads[] = { { "", JL_COLUMN_FIGURE },
					      { values[a->ask->objective], JL_COLUMN_KEEP },
					      { "GiB", JL_COLUMN_FIGURE },
					      { JL_N("plan"), JL_COLUMN_TEXT } };
	const bool format = formats_differ(a);

	jl_show_columns(doc, NULL, heads, JL_LEN(heads));
	for (size_t i = 0; i < a->n; i++) {
		const struct jl_plan_ranked *plan = &a->plans[i];
		const double total_B = plan->p.memory.total_B;

		jl_doc_cell_name(doc, jl_doc_format(doc, "%s%d", plan->tied && i ? "≈ " : "", plan->rank));
		value_cell(doc, a, plan);
		JL_ROW(doc, i == 0, JL_FIG(jl_num_about(total_B, JL_K_BYTES, jl_doc_format(doc, "%.0f", gib(total_B)))),
		       JL_WORD(plan_text(doc, &plan->how, format)));
	}
}

/* --- why */

static void tied(struct jl_doc *doc, const struct jl_plan_answer *a)
{
	int n = 0;

	for (size_t i = 1; i < a->n; i++)
		n += a->plans[i].tied;
	if (n)
		jl_show_entry(doc, JL_("Confidence"), JL_ESTIMATED,
			      JL_("%d of the others (≈) lie inside the interval of plan 1: try them too"), n);
	else if (a->n > 1)
		JL_ENTRY(doc, JL_("Confidence"), JL_ESTIMATED, "no other plan lies inside the interval of plan 1");
}

/* The best plan with other parallelisms than the winner, not only other degrees. 0: none shown. */
static size_t other_kind(const struct jl_plan_answer *a)
{
	const struct jl_plan *first = &a->plans[0].how.plan;

	for (size_t i = 1; i < a->n; i++) {
		const struct jl_plan *p = &a->plans[i].how.plan;

		if ((p->tp > 1) != (first->tp > 1) || (p->pp > 1) != (first->pp > 1) ||
		    (p->cp > 1) != (first->cp > 1) || (p->ep > 1) != (first->ep > 1) ||
		    (p->zero == 3) != (first->zero == 3))
			return i;
	}
	return a->n > 1;
}

/* The part with the largest difference to `second`, where the first is shorter (sign 1) or longer (-1). */
static size_t part_apart(const struct jl_step_cost *first, const struct jl_step_cost *second, double sign,
			 unsigned done)
{
	double most_s = 0.002 * first->step_s;
	size_t best = JL_N_PART;

	for (size_t i = 0; i < JL_N_PART; i++) {
		const double less_s = sign * (jl_part_s(second, i) - jl_part_s(first, i));

		if (!(done >> i & 1) && less_s > most_s) {
			most_s = less_s;
			best = i;
		}
	}
	return best;
}

/* Comparison with the next plan of another kind: two parts that shrink, one that grows. */
static void why(struct jl_doc *doc, const struct jl_plan_answer *a)
{
	static const double signs[] = { 1, 1, -1 };
	const size_t other = other_kind(a);
	const struct jl_step_cost *first = &a->plans[0].p.step, *second = &a->plans[other].p.step;
	const char *text = "";
	unsigned done = 0;

	if (!other)
		return;
	for (size_t n = 0; n < JL_LEN(signs); n++) {
		const size_t i = part_apart(first, second, signs[n], done);

		if (i == JL_N_PART)
			continue;
		done |= 1u << i;
		text = jl_doc_format(
			doc, "%s%s%s %s%s", text, *text ? ", " : "", jl_msg(jl_parts[i].en), signs[n] > 0 ? "−" : "+",
			jl_units_localized(JL_TXT, fabs(jl_part_s(first, i) - jl_part_s(second, i)), JL_K_TIME, 2));
	}
	if (*text)
		jl_show_entry(doc, JL_("Why"), JL_ESTIMATED, JL_("compared with plan %d: %s"), (int)other + 1, text);
	else
		jl_show_entry(doc, JL_("Why"), JL_ESTIMATED, JL_("the difference to plan %d is within the error"),
			      (int)other + 1);
}

/* --- the answer */

static void no_plan(struct jl_doc *doc, const struct jl_plan_answer *a)
{
	const struct jl_plan_site *site = a->ask->site;

	jl_doc_lead(doc);
	jl_doc_name(doc, site->base.subject.name);
	jl_show_piece(doc, JL_ORIGIN_NONE, "%s", site->base.machine.sys.text);
	if (!a->miss) {
		jl_show_entry(doc, JL_("No plan"), JL_ESTIMATED,
			      JL_("nothing divides: %d GPUs, global batch %.0f; change --global-batch or --fix"),
			      site->base.n_gpus, site->global_batch);
	} else {
		jl_show_entry(doc, JL_("No plan"), JL_ESTIMATED,
			      JL_("fits. The nearest needs %.1f GiB a GPU of %.1f: it lacks %.1f GiB"), gib(a->miss_B),
			      gib(a->miss_B - a->lacks_B), gib(a->lacks_B));
		jl_show_plan_case(doc, "", a->miss);
	}
	jl_show_searched(doc, &a->effort);
}

/* Limits of the run, and whether the best plan meets them. */
static void limits(struct jl_doc *doc, const struct jl_plan_answer *a)
{
	const struct jl_elapsed *p = &a->plans[0].elapsed;

	if (!isnan(a->deadline_s))
		jl_show_entry(doc, JL_("Deadline"), JL_ESTIMATED,
			      !a->in_time ? JL_("exceeded: %s, limit %s")
			      : p->time_s.hi > a->deadline_s
				      ? JL_("probably met, but not at the slow end of the interval: %s of %s")
				      : JL_("met: %s of %s"),
			      jl_estimate_text(JL_TXT, &p->time_s, JL_K_TIME),
			      jl_units_localized(JL_TXT, a->deadline_s, JL_K_TIME, 3));
	if (!isnan(a->budget_usd))
		jl_show_entry(doc, JL_("Budget"), JL_ESTIMATED,
			      a->in_budget ? JL_("met: %s of %s") : JL_C("budget", "exceeded: %s, limit %s"),
			      jl_units_localized(JL_TXT, p->cost_usd.value, JL_K_USD, 2),
			      jl_units_localized(JL_TXT, a->budget_usd, JL_K_USD, 6));
	if (!a->in_time || !a->in_budget)
		JL_ENTRY(doc, "", JL_ORIGIN_NONE, "other numbers or kinds of GPUs: --gpus 64..4096 --kinds h100-sxm5");
}

/* The answer in a sentence. */
static void answer(struct jl_doc *doc, const struct jl_plan_answer *a)
{
	const struct jl_plan_site *site = a->ask->site;
	const struct jl_prediction *p = &a->plans[0].p;
	const struct jl_elapsed *e = &a->plans[0].elapsed;
	const double gain = site->has_usual && site->usual.prediction.room != JL_ROOM_NONE &&
					    site->usual.how.global_batch == a->plans[0].how.global_batch
				    ? site->usual.prediction.step_s.value / p->step_s.value
				    : NAN;

	jl_doc_break(doc);
	JL_SENTENCE(doc,
		    !p->whole_run              ? JL_("The best plan takes |3 a step, |4.")
		    : isnan(p->cost_usd.value) ? JL_("The best plan takes |1 for the whole run, |3 a step.")
		    : a->plans[0].how.n_gpus > p->rent.most
			    ? JL_("The best plan takes |1 for the whole run and |2 at list price, |3 a step.")
			    : JL_("The best plan takes |1 for the whole run and |2 of rent, |3 a step."),
		    JL_WIDE(e->time_s, JL_K_TIME), JL_WIDE(e->cost_usd, JL_K_USD), JL_WIDE(p->step_s, JL_K_TIME),
		    JL_FIG(jl_num_digits(jl_num_estimate(p->samples_per_s, JL_K_NUMBER, "samples/s"), 2)));
	if (gain >= 1.05) /* below this it would print as 1x */
		JL_SENTENCE(
			doc,
			site->usual.how.framework == a->plans[0].how.framework
				? JL_(" That is |1 as fast as the defaults of 'jeoul predict'.")
				: JL_(" That is |1 as fast as the defaults of 'jeoul predict', with |2 instead of |3."),
			JL_FIG(jl_num_digits(jl_num_times(gain), gain < 1.2 ? 3 : 2)),
			JL_WORD(jl_show_framework(&a->plans[0].how)), JL_WORD(jl_show_framework(&site->usual.how)));
}

static void best(struct jl_doc *doc, const struct jl_plan_answer *a, long today)
{
	const struct jl_prediction *p = &a->plans[0].p;

	jl_show_plan_case(doc, JL_("Best"), &a->plans[0].how);
	jl_show_piece(doc, JL_ESTIMATED, "MFU %s %%", jl_about_text(JL_TXT, 100 * p->mfu_frac));
	if (!isnan(p->rent.usdps) &&
	    (p->whole_run || a->ask->objective == JL_PLAN_COST || a->ask->objective == JL_PLAN_TOKENS_PER_USD))
		jl_show_entry(doc, JL_("Rent"), JL_LISTED, JL_("%.2f USD/h a GPU (%s)"), p->rent.usdps * 3600,
			      jl_show_rent(doc, &p->rent, a->plans[0].how.n_gpus, today));
	jl_show_elapsed(doc, &a->plans[0].elapsed, p);
	limits(doc, a);
}

static void settings(struct jl_doc *doc, const struct jl_plan_ranked *plan)
{
	const enum jl_plan_target target = jl_plan_settings_of(&plan->how);
	const struct jl_plan_setting *setting = &plan->settings[target];
	const char *title = jl_plan_target_title(target);

	if (!setting->text) {
		jl_show_entry(doc, JL_("Settings"), JL_ORIGIN_NONE, JL_("none for %s: %s (others: --settings)"), title,
			      jl_msg(setting->absent));
		return;
	}
	jl_show_entry(doc, JL_("Settings"), JL_ORIGIN_NONE, JL_("%s (others: --settings)"), title);
	jl_doc_lines(doc, setting->text);
}

void jl_show_plan(struct jl_doc *doc, const struct jl_plan_answer *a, long today)
{
	const struct jl_plan_site *site = a->ask->site;
	struct jl_narrow found[JL_NARROW_MAX];

	if (!a->n) {
		no_plan(doc, a);
		return;
	}
	jl_doc_lead(doc);
	jl_doc_name(doc, site->base.subject.name);
	jl_show_piece(doc, JL_ORIGIN_NONE, "%s", site->base.machine.sys.text);
	jl_show_piece(doc, JL_ORIGIN_NONE, JL_("global batch %.0f%s"), site->global_batch,
		      a->batch_given ? "" : JL_(" (assumed)"));
	jl_show_piece(doc, JL_ORIGIN_NONE, JL_("sequence %.0f"), site->base.shard.seq);
	answer(doc, a);
	best(doc, a, today);
	table(doc, a);
	why(doc, a);
	tied(doc, a);
	jl_show_searched(doc, &a->effort);
	settings(doc, &a->plans[0]);
	jl_show_narrow(doc, &a->plans[0].p.step_s, found, jl_narrow_predicted(found, &a->plans[0].p, &a->plans[0].how));
	jl_show_confidence(doc, &a->plans[0].how.notes);
}
