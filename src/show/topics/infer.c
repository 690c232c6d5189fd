#include "serve/infer.h"
#include "parameters/engine.h"
#include "topics/infer_day.h"
#include "topics/show.h"

#include <math.h>

static struct jl_num count(struct jl_doc *doc, double value)
{
	return jl_num_written(jl_num_count(value), jl_doc_format(doc, "%s", jl_count_text(JL_TXT, value)));
}

static struct jl_num about(struct jl_doc *doc, struct jl_estimate e, bool range)
{
	const bool ends = range && e.lo < e.hi;

	return jl_num_written(
		jl_num_estimate(e, JL_K_NUMBER, NULL),
		jl_doc_format(doc, "%s", ends ? jl_about_range_text(JL_TXT, &e) : jl_about_text(JL_TXT, e.value)));
}

static struct jl_num exactly(struct jl_doc *doc, double value)
{
	return about(doc, (struct jl_estimate){ value, value, value }, false);
}

static const char *copies(struct jl_doc *doc, int n)
{
	return jl_doc_format(doc, JL_("%d cop{y/ies}"), n);
}

static struct jl_num rate(struct jl_doc *doc, double hz)
{
	return jl_num_written(jl_num_count(hz), jl_doc_format(doc, "%s", jl_about_text(JL_TXT, hz)));
}

/* "64 requests at once", "20 requests a second", "200 users", "a trace". */
static void load(struct jl_doc *doc, const struct jl_infer *a)
{
	if (a->day.asked)
		JL_SENTENCE(doc, JL_("a day with up to |1 request{/s} a second, |2 on average"),
			    JL_FIG(rate(doc, a->day.peak_hz)), JL_FIG(rate(doc, a->day.mean_hz)));
	else if (a->kind == JL_LOAD_TRACE)
		JL_SHOW(doc, "a trace");
	else if (a->kind == JL_LOAD_OPEN)
		JL_SENTENCE(doc, JL_("|1 request{/s} a second"), JL_FIG(rate(doc, a->rate_hz)));
	else if (a->kind == JL_LOAD_JOB)
		JL_SENTENCE(doc, JL_("a job of |1 request{/s}"), JL_FIG(count(doc, a->n_job)));
	else if (a->kind == JL_LOAD_USERS)
		JL_SENTENCE(doc, JL_("|1 user{/s}"), JL_FIG(count(doc, a->users)));
	else
		JL_SENTENCE(doc,
			    a->kind == JL_LOAD_SESSIONS ? JL_("|1 session{/s} at once, of |2 turns each")
							: JL_("|1 request{/s} at once"),
			    JL_FIG(count(doc, a->concurrency)), JL_FIG(count(doc, a->sessions.turns)));
}

/* The model does not fit: required and available memory, and remedies. */
static void no_room(struct jl_doc *doc, const struct jl_infer *a)
{
	const double request_B = a->kv_token_B * a->longest;

	JL_SENTENCE(doc, JL_("It does not fit: weights in |1 |2 and one request |3, of |4 on a device. "),
		    JL_NAMED(a->weights), JL_MEM(a->weights_B), JL_MEM(request_B),
		    JL_FIG(jl_num_written(jl_num_plain(a->capacity_B, JL_K_BYTES, NULL, JL_LISTED, NULL),
					  jl_memory_text(JL_TXT, a->capacity_B))));
	if (a->weights_B < a->capacity_B)
		jl_doc_text(
			doc,
			a->narrow_fits
				? JL_("Use more GPUs, shorter requests or a smaller weight format (--weights int4).")
				: JL_("Use more GPUs or shorter requests: 4-bit weights would not fit either."));
	else
		jl_doc_text(doc, a->narrow_fits ? JL_("Use more GPUs or a smaller weight format (--weights int4).")
						: JL_("Use more GPUs: 4-bit weights would not fit either."));
}

/* "1.23 USD": two digits of small money. */
static struct jl_num money(struct jl_doc *doc, struct jl_estimate e, bool range)
{
	return jl_num_written(jl_num_estimate(e, JL_K_NUMBER, NULL),
			      range && e.lo < e.hi
				      ? jl_doc_format(doc, JL_("%s USD (%s–%s)"), jl_about_text(JL_TXT, e.value),
						      jl_about_text(JL_TXT, e.lo), jl_about_text(JL_TXT, e.hi))
				      : jl_doc_format(doc, JL_("%s USD"), jl_about_text(JL_TXT, e.value)));
}

/* Of targets that are met: what nine in ten requests see, and the price. */
static void met(struct jl_doc *doc, const struct jl_infer *a)
{
	if (!(a->tpot_s.p90.value > 0))
		return;
	JL_SENTENCE(doc,
		    a->usd_per_Mtoken_out.value > 0
			    ? JL_(" Nine in ten requests have their first token within |1 and each further one within "
				  "|2; a million answer tokens cost |3.")
			    : JL_(" Nine in ten requests have their first token within |1 and each further one within "
				  "|2."),
		    JL_FIG(jl_num_estimate(a->ttft_s.p90, JL_K_TIME, NULL)),
		    JL_FIG(jl_num_estimate(a->tpot_s.p90, JL_K_TIME, NULL)),
		    JL_FIG(money(doc, a->usd_per_Mtoken_out, false)));
}

/* The answer in a sentence. */
static void lead(struct jl_doc *doc, const struct jl_infer *a)
{
	JL_LEAD(doc, a->model);
	jl_doc_text(doc, " · ");
	jl_doc_name(doc, a->system);
	jl_doc_text(doc, " · ");
	load(doc, a);
	jl_doc_break(doc);
	if (!a->fits) {
		no_room(doc, a);
		return;
	}
	if (!a->published_pair)
		jl_doc_textf(doc, JL_("There is no published measurement of %s on this device: the ranges are wide. "),
			     jl_engine_info(jl_engine_by_text(a->engine))->name);
	if (a->day.asked) {
		jl_show_day_lead(doc, &a->day);
		return;
	}
	if (a->has_target && !isnan(a->rate_max_hz)) {
		JL_SENTENCE(doc,
			    a->rate_max_hz > 0 ? JL_("It holds |1 request{/s} a second within the targets.")
					       : JL_("It meets the targets at no rate."),
			    JL_FIG(exactly(doc, a->rate_max_hz)));
		return;
	}
	if (!isnan(a->sessions.held)) {
		JL_SENTENCE(doc,
			    a->sessions.held > 0 ? JL_("It holds |1 session{/s} at once within the targets, |2 a GPU.")
						 : JL_("It holds no session within the targets."),
			    JL_FIG(count(doc, a->sessions.held)),
			    JL_FIG(exactly(doc, a->sessions.held / a->n_gpus_used)));
		return;
	}
	if (a->has_target && a->meets) {
		JL_SENTENCE(doc, JL_("The targets are met by |1 GPU{/s}: |2 of the model, |3 GPU{/s} each."),
			    JL_FIG(count(doc, a->n_gpus_used)), JL_WORD(copies(doc, a->n_copies)),
			    JL_FIG(count(doc, (double)a->n_gpus * a->n_stages)));
		met(doc, a);
		return;
	}
	if (!a->keeps_up) {
		JL_SENTENCE(doc,
			    a->rate_held_hz > 0 ? JL_("Overloaded: it holds at most |1 request{/s} a second. At |2 the "
						      "queue grows by |4 a second (the times below are from a "
						      "simulated period), and |3 answer tokens a second come out.")
						: JL_("Overloaded at any rate. At |2 the queue grows by |4 a second, "
						      "and |3 answer tokens a second come out."),
			    JL_FIG(exactly(doc, a->rate_held_hz)), JL_FIG(rate(doc, a->rate_hz)),
			    JL_FIG(about(doc, a->output_tps, true)),
			    JL_FIG(exactly(doc, a->rate_hz - fmax(a->rate_held_hz, 0))));
		return;
	}
	if (a->has_target)
		JL_SHOW(doc, "The targets are not met, not even with all of it. ");
	if (!isnan(a->users_held))
		JL_SENTENCE(doc,
			    !a->has_target ? JL_("Overloaded: it holds about |1 user{/s}; with |2, requests queue. ")
			    : a->users_held > 0 ? JL_("Within them it would hold about |1 user{/s}. ")
						: JL_("Within them it would hold not even one user. "),
			    JL_FIG(jl_num_about(a->users_held, JL_K_NUMBER, jl_about_text(JL_TXT, a->users_held))),
			    JL_FIG(count(doc, a->users)));
	if (a->kind == JL_LOAD_JOB)
		JL_SENTENCE(doc, JL_("The last answer after |1. "), JL_FIG(jl_num_wide(a->job_s, JL_K_TIME)));
	if (a->embeds)
		JL_SENTENCE(doc,
			    JL_("|1 sequence{/s} of |2 tokens a second in all, |3 tokens/s; each after |4 on average."),
			    JL_FIG(about(doc, a->requests_per_s, true)), JL_FIG(count(doc, a->prompt)),
			    JL_FIG(about(doc, a->input_tps, true)), JL_WIDE(a->e2e_s.mean, JL_K_TIME));
	else
		JL_SENTENCE(
			doc,
			a->tpot_s.mean.value > 0
				? JL_("First token after |1 on average, then |2 tokens/s a request while decoding; |3 "
				      "answer tokens/s in all, waits and prompts included.")
				: JL_("The one token of an answer after |1 on average; |3 answers a second in all."),
			JL_WIDE(a->ttft_s.mean, JL_K_TIME), JL_FIG(about(doc, a->user_tps, true)),
			JL_FIG(about(doc, a->output_tps, true)));
}

static void percentiles(struct jl_doc *doc, const struct jl_infer *a)
{
	const struct {
		const char *en;
		const struct jl_infer_times *t;
	} rows[] = {
		{ JL_N("first token (TTFT)"), &a->ttft_s }, { JL_N("of further turns"), &a->sessions.later_s },
		{ JL_N("each token (TPOT)"), &a->tpot_s },  { JL_N("between tokens (ITL)"), &a->itl_s },
		{ JL_N("whole request"), &a->e2e_s },
	};

	jl_show_table(doc, NULL, "kkff", JL_N("|p50|p90|p99"));
	for (size_t i = 0; i < JL_LEN(rows); i++) {
		if (!(rows[i].t->p50.value > 0) || (a->embeds && rows[i].t != &a->e2e_s))
			continue; /* a one-token answer has no further tokens, a one-turn session no further turns */
		JL_ROW(doc, false, JL_WORD(jl_msg(rows[i].en)),
		       JL_FIG(jl_num_ranged(jl_num_estimate(rows[i].t->p50, JL_K_TIME, NULL))),
		       JL_FIG(jl_num_estimate(rows[i].t->p90, JL_K_TIME, NULL)),
		       JL_FIG(jl_num_estimate(rows[i].t->p99, JL_K_TIME, NULL)));
	}
}

static void entries(struct jl_doc *doc, const struct jl_infer *a)
{
	jl_doc_entry(doc, JL_("Delivers"));
	JL_SENTENCE(doc,
		    a->embeds           ? JL_("|2 sequences/s, |4 tokens/s")
		    : a->batch_mean > 0 ? JL_("|1 answer tokens/s, |2 requests/s; a batch of |3 on average")
					: JL_("|1 answer tokens/s, |2 requests/s"),
		    JL_FIG(about(doc, a->output_tps, true)), JL_FIG(about(doc, a->requests_per_s, a->embeds)),
		    JL_FIG(exactly(doc, a->batch_mean)), JL_FIG(about(doc, a->input_tps, true)));
	jl_doc_entry(doc, JL_("Bound by"));
	jl_doc_text(doc, jl_msg(a->bound));
	JL_SENTENCE(doc,
		    a->tpot_s.mean.value > 0 ? JL_(": |1 of an answer token's time; busy |2 of the time")
					     : JL_(": |1 of the first token's time; busy |2 of the time"),
		    JL_SHARE(a->bound_frac), JL_SHARE(fmin(a->busy_frac, 1)));
	jl_doc_entry(doc, JL_("Copies"));
	jl_doc_sourced(doc, copies(doc, a->n_copies), JL_ORIGIN_NONE, NULL);
	JL_SENTENCE(doc,
		    a->processor ? JL_(" of the model on |1 processor{/s}; weights |2 of |3 of memory")
				 : JL_(" of the model, |1 GPU{/s} each; weights |2 of |3 on a GPU"),
		    JL_FIG(count(doc, (double)a->n_gpus * a->n_stages)), JL_MEM(a->weights_B),
		    JL_FIG(jl_num_written(jl_num_plain(a->capacity_B, JL_K_BYTES, NULL, JL_LISTED, NULL),
					  jl_memory_text(JL_TXT, a->capacity_B))));
	if (a->n_stages > 1 || a->n_ep > 1 || a->dp_attention) {
		jl_doc_entry(doc, "");
		if (a->n_stages > 1)
			jl_doc_textf(doc, JL_("%d stages hold different layers. "), a->n_stages);
		if (a->n_ep > 1)
			jl_doc_textf(doc, JL_("%d GPUs share the experts whole. "), a->n_ep);
		if (a->dp_attention)
			JL_SHOW(doc, "Attention is cut by requests.");
	}
	if (a->prompt_gpus > 0) {
		jl_doc_entry(doc, JL_("Prompts"));
		jl_doc_sourced(doc, copies(doc, a->prompt_copies), JL_ORIGIN_NONE, NULL);
		JL_SENTENCE(doc, JL_(" separate, |1 GPU{/s} each: busy |2 of the time"),
			    JL_FIG(count(doc, a->prompt_gpus)), JL_SHARE(fmin(a->prompt_busy_frac, 1)));
	}
	if (a->draft) {
		jl_doc_entry(doc, JL_("Draft"));
		jl_doc_name(doc, a->draft);
		JL_SENTENCE(doc, JL_(": |1 of weights on a device, |2 of an answer's pass"), JL_MEM(a->draft_B),
			    JL_SHARE(a->draft_frac));
	}
	if (a->n_adapters > 0) {
		jl_doc_entry(doc, JL_("Adapters"));
		JL_SENTENCE(doc, JL_("|1 of rank |2: |3 on a device, |4 of an answer's pass"),
			    JL_FIG(count(doc, a->n_adapters)), JL_FIG(count(doc, a->adapter_rank)),
			    JL_MEM(a->adapters_B), JL_SHARE(a->adapters_frac));
	}
	if (a->embeds)
		return; /* no keys and values are kept */
	jl_doc_entry(doc, JL_("KV cache"));
	JL_SENTENCE(doc, JL_("room for |1 tokens a copy: |2 full on average, |3 at most"),
		    JL_FIG(exactly(doc, a->kv_tokens)), JL_SHARE(a->kv_mean_frac), JL_SHARE(fmin(a->kv_max_frac, 1)));
	if (a->n_preempted > 0 || a->n_refused > 0) {
		jl_doc_entry(doc, "");
		JL_SENTENCE(doc, JL_("of |1 simulated request{/s} |2 were preempted (KV cache full), |3 refused"),
			    JL_FIG(count(doc, (double)(a->n_requests + a->n_refused))),
			    JL_FIG(count(doc, (double)a->n_preempted)), JL_FIG(count(doc, (double)a->n_refused)));
	}
}

/* Location of earlier turns' keys and values, and the value of host memory. */
static void sessions(struct jl_doc *doc, const struct jl_infer *a)
{
	const struct jl_infer_sessions *s = &a->sessions;
	const bool without = s->other_host_B <= 0;

	jl_doc_entry(doc, JL_("Earlier turns"));
	JL_SENTENCE(doc, JL_("found on the GPU |1, in host memory |2, on drives |3; recomputed |4"),
		    JL_SHARE(s->found_frac[JL_KV_DEVICE]), JL_SHARE(s->found_frac[JL_KV_HOST]),
		    JL_SHARE(s->found_frac[JL_KV_DISK]), JL_SHARE(s->computed_frac));
	if (isnan(s->other_host_B))
		return;
	jl_doc_entry(doc, without ? JL_("Without --kv-host") : JL_("With --kv-host"));
	if (!without)
		jl_doc_textf(doc, JL_("%s a copy: "), jl_memory_text(JL_TXT, s->other_host_B));
	JL_SENTENCE(doc, JL_("recomputed |1, first tokens of further turns (90 %) after |2"),
		    JL_SHARE(s->other_computed_frac), JL_FIG(jl_num_estimate(s->other_p90_s, JL_K_TIME, NULL)));
	if (!isnan(s->other_held))
		JL_SENTENCE(doc, JL_("; |1 session{/s} within the targets"), JL_FIG(count(doc, s->other_held)));
}

/* "first token 310 ms, each 22 ms; ... */
static void seen(struct jl_doc *doc, const struct jl_infer_seen *s)
{
	jl_doc_entry(doc, JL_("Observed"));
	JL_SENTENCE(doc, JL_("first token |1, each further token |2; predicted |3 and |4, corrected |5 and |6. "),
		    JL_FIG(jl_num_plain(s->ttft_s, JL_K_TIME, NULL, JL_MEASURED, NULL)),
		    JL_FIG(jl_num_plain(s->tpot_s, JL_K_TIME, NULL, JL_MEASURED, NULL)),
		    JL_FIG(jl_num_about(s->ttft_before_s, JL_K_TIME, NULL)),
		    JL_FIG(jl_num_about(s->tpot_before_s, JL_K_TIME, NULL)),
		    JL_FIG(jl_num_about(s->ttft_after_s, JL_K_TIME, NULL)),
		    JL_FIG(jl_num_about(s->tpot_after_s, JL_K_TIME, NULL)));
	JL_SENTENCE(doc, JL_("Measured passes take |1 times the prediction."), JL_FIG(exactly(doc, s->pass_factor)));
}

static void costs(struct jl_doc *doc, const struct jl_infer *a)
{
	/* per answer token; where rent is also given per input token, per that too */
	const bool in = a->embeds || (a->rent.usdps > 0 && !(a->usd_per_Mtoken_out.value > 0));
	const double usd = a->power_usd_per_Mtoken * (in ? a->output_tps.value / a->input_tps.value : 1);
	const struct jl_estimate power = { usd, usd, usd };

	jl_doc_entry(doc, JL_("A million tokens"));
	if (isnan(a->power_W) && !(a->rent.usdps > 0)) {
		JL_SHOW(doc, "neither a rent nor the power of these devices is known");
		return;
	}
	JL_SENTENCE(doc,
		    !(a->rent.usdps > 0)              ? JL_("no rent is known; electricity |3")
		    : a->embeds                       ? JL_("|2 by rent; electricity |3")
		    : a->usd_per_Mtoken_out.value > 0 ? JL_("out |1 by rent, in |2; electricity |3")
						      : JL_("in |2 by rent, the answer with it; electricity |3"),
		    JL_FIG(money(doc, a->usd_per_Mtoken_out, true)), JL_FIG(money(doc, a->usd_per_Mtoken_in, false)),
		    JL_FIG(money(doc, power, false)));
	jl_doc_entry(doc, JL_("Energy"));
	JL_SENTENCE(doc, a->embeds ? JL_("|1 for a sequence, |2 in all") : JL_("|1 for an answer token, |2 in all"),
		    JL_FIG(jl_num_about(a->energy_J_token, JL_K_ENERGY, NULL)),
		    JL_FIG(jl_num_about(a->power_W, JL_K_POWER, NULL)));
}

static void sweep(struct jl_doc *doc, const struct jl_infer *a)
{
	jl_show_table(doc, NULL, a->compared ? "kffkkf" : "fkkfft",
		      a->compared ? JL_N("weights|on a GPU|GPUs|first token, 90 %|each token, 90 %|tokens/s")
				  : JL_N("requests/s|first token, 90 %|each token, 90 %|tokens/s|busy|"));
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
			JL_CELLS(doc, JL_MEM(r->weights_B), JL_COUNT(r->n_gpus));
		} else {
			jl_about_text(text, r->rate_hz);
			jl_show_cell(doc, jl_num_written(jl_num_count(r->rate_hz), text));
		}
		JL_CELLS(doc, JL_FIG(jl_num_ranged(jl_num_estimate(r->ttft_p90_s, JL_K_TIME, NULL))),
			 JL_FIG(jl_num_ranged(jl_num_estimate(r->tpot_p90_s, JL_K_TIME, NULL))));
		jl_about_text(text, r->output_tps.value);
		jl_show_cell(doc, jl_num_written(jl_num_estimate(r->output_tps, JL_K_NUMBER, NULL), text));
		if (!a->compared) {
			JL_CELLS(doc, JL_SHARE(fmin(r->busy_frac, 1)),
				 JL_WORD(r->knee       ? JL_("← knee")
					 : r->keeps_up ? ""
						       : JL_("overloaded")));
		}
		jl_doc_end_row(doc, r->knee);
	}
}

/* Default values with the option that changes each. */
static void assumed(struct jl_doc *doc, const struct jl_infer *a)
{
	const struct {
		bool used;
		const char *text;
	} pieces[JL_N_ASSUMED] = {
		[JL_ASSUMED_PROMPT] = { a->kind != JL_LOAD_TRACE,
					jl_doc_format(doc,
						      a->embeds ? JL_("sequences of about %s tokens (--input)")
								: JL_("questions of about %s tokens (--prompt)"),
						      jl_count_text(JL_TXT, a->prompt)) },
		[JL_ASSUMED_ANSWER] = { a->kind != JL_LOAD_TRACE,
					jl_doc_format(doc, JL_("answers of about %s (--answer)"),
						      jl_count_text(JL_TXT, a->answer)) },
		[JL_ASSUMED_LOAD] = { a->kind == JL_LOAD_CLOSED,
				      jl_doc_format(doc, JL_("%s at once (--concurrency, --rate, --users)"),
						    jl_count_text(JL_TXT, a->concurrency)) },
		[JL_ASSUMED_THINK] = { a->kind == JL_LOAD_USERS,
				       jl_doc_format(doc, JL_("%s before the next question (--think)"),
						     jl_units_localized(JL_TXT, a->think_s, JL_K_TIME, 3)) },
		[JL_ASSUMED_WEIGHTS] = { true,
					 a->published
						 ? jl_doc_format(doc, "%s (--weights)",
								 jl_doc_format(doc,
									       JL_("weights: %s, as it is published"),
									       a->weights))
						 : JL_("weights: 16-bit (--weights)") },
		[JL_ASSUMED_TURN] = { a->sessions.turns > 1,
				      jl_doc_format(doc, JL_("%s tokens more each turn (--turn-tokens)"),
						    jl_count_text(JL_TXT, a->sessions.turn_tokens)) },
		[JL_ASSUMED_WAIT] = { a->sessions.turns > 1,
				      jl_doc_format(doc, JL_("%s before each (--tool-wait)"),
						    jl_units_localized(JL_TXT, a->sessions.wait_s, JL_K_TIME, 3)) },
		[JL_ASSUMED_TARGET] = { true,
					jl_doc_format(
						doc, JL_("targets: %s to the first token, %s a token (--ttft, --tpot)"),
						jl_units_localized(JL_TXT, a->ttft_max_s, JL_K_TIME, 2),
						jl_units_localized(JL_TXT, a->tpot_max_s, JL_K_TIME, 2)) },
		[JL_ASSUMED_START] = { a->day.asked,
				       jl_doc_format(doc,
						     JL_("%s until a copy answers, %s of it reading weights (--start)"),
						     jl_units_localized(JL_TXT, a->day.start_s, JL_K_TIME, 2),
						     jl_units_localized(JL_TXT, a->day.load_s, JL_K_TIME, 2)) },
		[JL_ASSUMED_ENGINE] = { true, JL_("no engine in particular (--engine)") },
		[JL_ASSUMED_KWH] = { true,
				     jl_doc_format(doc, JL_("electricity at %.3g USD/kWh (--kwh)"), a->usd_per_kWh) },
		[JL_ASSUMED_PUE] = { true, jl_doc_format(doc, JL_("PUE %.3g (--pue)"), a->pue) },
	};
	bool open = false;

	for (size_t i = 0; i < JL_N_ASSUMED; i++) {
		if (!pieces[i].used || !(a->assumed & 1u << i))
			continue;
		if (!open)
			jl_doc_note(doc, JL_MARK_NONE, JL_("Assumed"));
		open = true;
		jl_show_piece(doc, JL_ORIGIN_NONE, "%s", pieces[i].text);
	}
}

void jl_show_infer(struct jl_doc *doc, const struct jl_infer *a)
{
	lead(doc, a);
	if (!a->fits) {
		if (a->n_rows > 0)
			sweep(doc, a);
		jl_show_context(doc, a->longest, a->context);
		assumed(doc, a);
		return;
	}
	if (a->day.asked) {
		jl_show_day(doc, &a->day);
	} else {
		percentiles(doc, a);
		entries(doc, a);
	}
	if (a->sessions.turns > 1)
		sessions(doc, a);
	if (a->seen.pass_factor > 0)
		seen(doc, &a->seen);
	if (!a->day.asked) {
		costs(doc, a);
		jl_show_narrow(doc, &a->ttft_s.p50, NULL, 0);
	}
	if (a->n_rows > 0)
		sweep(doc, a);
	if (a->n_flags && a->flags_rate_hz > 0)
		jl_show_entry(doc, JL_("Settings"), JL_ORIGIN_NONE, JL_("%s, settings for %s requests/s (the knee)"),
			      a->started, jl_about_text(JL_TXT, a->flags_rate_hz));
	else if (a->n_flags)
		jl_show_entry(doc, JL_("Settings"), JL_ORIGIN_NONE, "%s", a->started);
	for (int i = 0; i < a->n_flags; i++)
		jl_doc_lines(doc, a->flags[i]);
	jl_show_note(doc, NULL, JL_ESTIMATED, "%s",
		     JL_("○ estimated; 80 % intervals, checked on published runs (jeoul validate)."));
	if (!a->checked)
		JL_SHOW(doc, " Published measurements of this GPU family are of single requests, none under load.");
	jl_show_context(doc, a->longest, a->context);
	assumed(doc, a);
	if (a->rent.usdps > 0 && a->rent.provider) {
		jl_doc_note(doc, JL_MARK_NONE, JL_("Rent"));
		jl_doc_sourced(doc, a->rent.provider, JL_LISTED, a->rent.provider);
		jl_doc_text(doc, ", ");
		jl_doc_name(doc, a->rent.item ? a->rent.item : "");
		jl_doc_text(doc, ", ");
		jl_doc_name(doc, a->rent.date ? a->rent.date : "");
	}
}
