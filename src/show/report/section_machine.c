/* This machine: its parts, findings, whether its figures are normal, and advice. */
#include <math.h>

#include "check/answer.h"
#include "check/machine_findings.h"
#include "report/section_answers.h"
#include "topics/probe.h"
#include "record/record.h"

#define JUDGED_MAX  400
#define RECORDS_MAX 40
#define SHOWN_MAX   3

static struct jl_num probed(double value, enum jl_kind kind, const char *unit)
{
	struct jl_num num = jl_num_plain(value, kind, unit, JL_MEASURED, "jeoul probe");

	num.n_digits = kind == JL_K_NUMBER ? 6 : 0;
	num.binary = kind == JL_K_BYTES;
	return num;
}

/* --- the first screen */

static void asked(struct jl_section *s, enum jl_mark mark, const char *title)
{
	jl_doc_finding(s->doc, mark, title);
	if (!s->doc->failed)
		s->doc->last->asked = true;
}

static void what_it_is(struct jl_section *s)
{
	const struct jl_probe_machine *m = s->in->machine;

	asked(s, JL_MARK_NONE, JL_("What is it?"));
	JL_SENTENCE(s->doc, JL_("|1: |2 cores, |3 of memory, GPUs: |4."), JL_NAMED(m->cpu.model ? m->cpu.model : "CPU"),
		    JL_FIG(probed(m->cpu.n_cores, JL_K_NUMBER, NULL)),
		    JL_FIG(probed(m->memory.total_B, JL_K_BYTES, NULL)),
		    JL_FIG(probed((double)m->n_gpus, JL_K_NUMBER, NULL)));
	if (m->n_gpus && m->gpus[0].name) {
		jl_doc_text(s->doc, " ");
		jl_doc_name(s->doc, m->gpus[0].name);
		jl_doc_text(s->doc, ".");
	}
}

static const struct jl_findings *findings_of(struct jl_section *s)
{
	const struct jl_findings *found = NULL;
	struct jl_err ignored;

	return jl_machine_findings(s->in->machine, s->w->cat, s->arena, &found, &ignored) ? NULL : found;
}

static void said_finding(struct jl_section *s, const struct jl_finding *f)
{
	jl_doc_sourced(s->doc, f->what.text, JL_MEASURED, "jeoul probe");
	jl_doc_text(s->doc, ": ");
	jl_doc_sourced(s->doc, f->why.text, JL_ESTIMATED, JL_METHOD);
	jl_doc_text(s->doc, "; ");
	jl_doc_sourced(s->doc, f->todo.text, JL_ESTIMATED, JL_METHOD);
}

/* The gravest come first. */
static void what_is_wrong(struct jl_section *s)
{
	const struct jl_findings *found = findings_of(s);
	size_t n = 0;

	while (found && n < found->n && found->items[n].severity > JL_FINDING_NOTE)
		n++;
	asked(s,
	      !n                                           ? JL_MARK_GOOD
	      : found->items[0].severity == JL_FINDING_BAD ? JL_MARK_BAD
							   : JL_MARK_WARN,
	      JL_("What is wrong with it?"));
	if (!n)
		JL_SHOW(s->doc, "No problem was found.");
	for (size_t i = 0; i < n && i < SHOWN_MAX; i++) {
		if (i)
			jl_doc_break(s->doc);
		said_finding(s, &found->items[i]);
	}
}

/* The newest result of each thing, judged as `jeoul check` does; NULL: there is none. */
static const struct jl_check_answer *judged_here(struct jl_section *s)
{
	struct jl_check_answer *answer = jl_arena_alloc(s->arena, sizeof *answer);
	struct jl_judged *list = jl_arena_array(s->arena, JUDGED_MAX, sizeof *list);
	const struct jl_record **past = jl_arena_array(s->arena, s->in->n_records + 1, sizeof *past);
	struct jl_sys *sys = jl_arena_alloc(s->arena, sizeof *sys);
	struct jl_judge judge = { .cat = s->w->cat,
				  .arena = s->arena,
				  .here = s->in->machine,
				  .past = past,
				  .n_past = s->in->n_records,
				  .now_s = (double)s->w->today * 86400 };
	size_t n = 0;

	if (!answer || !list || !past || !sys)
		return NULL;
	if (judge.here->system && judge.here->n_gpus &&
	    jl_sys_parse(sys, s->w->cat, judge.here->system, s->arena, NULL) == JL_OK)
		judge.here_sys = sys;
	for (size_t i = 0; i < s->in->n_records; i++)
		past[i] = &s->in->records[i];
	jl_check_steadiness(&judge.steadiness, past, judge.n_past);
	for (size_t i = 0; i < s->in->n_records && n < JUDGED_MAX; i++)
		if (past[i]->n_metrics && !jl_judged_has(list, n, past[i]) &&
		    jl_judge(&list[n], &judge, past[i], NULL) == JL_OK)
			list[n++].age_s = NAN; /* the dates are in the table of the store */
	if (!n)
		return NULL;
	*answer = (struct jl_check_answer){
		.judged = list, .n = n, .worst = jl_check_worst(list, n), .steadiness = judge.steadiness
	};
	return answer;
}

static void what_is_normal(struct jl_section *s)
{
	const struct jl_check_answer *a = judged_here(s);
	const struct jl_system_result *this = jl_this_system(s);
	const struct jl_sys *sys = this ? &this->said->sys : NULL;
	const struct jl_fact *mem = !sys       ? NULL
				    : sys->gpu ? &sys->gpu->mem_Bps
				    : sys->cpu ? &sys->cpu->mem_Bps
					       : NULL,
			     *rate = !sys       ? NULL
				     : sys->gpu ? &sys->gpu->fp32_flopps
				     : sys->cpu ? &sys->cpu->fp32_flopps
						: NULL;

	asked(s, a ? jl_check_mark(a) : JL_MARK_UNKNOWN, JL_("Is each figure normal?"));
	if (a) {
		jl_show_verdicts(s->doc, a);
		jl_doc_ref(s->doc, "measured");
		return;
	}
	if (mem && rate && jl_fact_known(mem) && jl_fact_known(rate)) {
		JL_SENTENCE(s->doc,
			    JL_("Nothing was measured on it yet. Expect at most |1 from memory and |2 in FP32. "),
			    JL_FIG(jl_num_fact(mem, JL_K_BYTE_RATE)), JL_FIG(jl_num_fact(rate, JL_K_FLOP_RATE)));
	} else {
		JL_SHOW(s->doc, "Nothing was measured on it yet. ");
	}
	JL_SHOW(s->doc, "This measures it in a minute and judges every figure: ");
	jl_doc_code(s->doc, "jeoul bench all --quick && jeoul report");
}

void jl_first_machine(struct jl_section *s)
{
	what_it_is(s);
	what_is_wrong(s);
	what_is_normal(s);
}

/* --- behind it */

void jl_section_machine(struct jl_section *s)
{
	const struct jl_check_answer *a;
	const struct jl_findings *found;

	if (!s->in->machine && s->in->n_records) { /* of the scenario */
		jl_section_open(s, "measured", JL_NC("title", "Measured"));
		jl_show_stored_table(s->doc);
		for (size_t i = 0; i < s->in->n_records && i < RECORDS_MAX; i++)
			jl_show_stored_row(s->doc, &s->in->records[i]);
	}
	if (!s->in->machine)
		return;
	if ((a = judged_here(s))) {
		jl_section_open(s, "measured", "What was measured on it");
		jl_show_check(s->doc, a);
	}
	jl_section_open(s, "machine", "This machine");
	jl_show_machine(s->doc, s->in->machine);
	found = findings_of(s);
	for (size_t i = 0; found && i < found->n; i++) {
		static const enum jl_mark marks[] = { JL_MARK_UNKNOWN, JL_MARK_WARN, JL_MARK_BAD };

		if (i < SHOWN_MAX && found->items[i].severity > JL_FINDING_NOTE)
			continue; /* on the first screen */
		jl_doc_finding(s->doc, marks[found->items[i].severity], JL_("Good to know"));
		said_finding(s, &found->items[i]);
	}
}
