/* This machine: what is in it and what was measured on it. */
#include <stdio.h>
#include <string.h>

#include "report/section.h"

#define RECORDS_SHOWN 40

static void fact(struct jl_section *s, const char *en)
{
	jl_doc_cell_text(s->doc, jl_msg(en));
}

static struct jl_num probed(double value, enum jl_kind kind, const char *unit)
{
	struct jl_num num = jl_num_plain(value, kind, unit, JL_MEASURED, "jeoul probe");

	num.n_digits = kind == JL_K_NUMBER ? 6 : 0;
	num.binary = kind == JL_K_BYTES;
	return num;
}

static void parts_table(struct jl_section *s, const struct jl_probe_machine *m)
{
	static const struct jl_tell_head heads[] = { { JL_N("Part"), false }, { JL_N("Here"), false } };

	jl_tell_table(s->doc, NULL, heads, 2);
	fact(s, JL_N("Processor"));
	jl_doc_cell_name(s->doc, m->cpu.model ? m->cpu.model : "—");
	jl_doc_end_row(s->doc, false);
	fact(s, JL_N("Cores"));
	jl_tell_cell(s->doc, probed(m->cpu.n_cores, JL_K_NUMBER, NULL));
	jl_doc_end_row(s->doc, false);
	fact(s, JL_N("Memory"));
	jl_tell_cell(s->doc, probed(m->memory.total_B, JL_K_BYTES, NULL));
	jl_doc_end_row(s->doc, false);
	fact(s, JL_N("GPUs"));
	jl_tell_cell(s->doc, probed((double)m->n_gpus, JL_K_NUMBER, NULL));
	jl_doc_end_row(s->doc, false);
	for (size_t i = 0; i < m->n_gpus && i < 16; i++) {
		char name[24];

		snprintf(name, sizeof name, "GPU%zu", i);
		jl_doc_cell_name(s->doc, name);
		jl_doc_cell_name(s->doc, m->gpus[i].name ? m->gpus[i].name : "—");
		jl_doc_end_row(s->doc, false);
	}
	fact(s, JL_N("Kernel"));
	jl_doc_cell_name(s->doc, m->kernel ? m->kernel : "—");
	jl_doc_end_row(s->doc, false);
}

/* Kind and unit from the end of a metric's name: algbw_Bps, gemm_flopps, samples_per_s. */
static struct jl_num metric_num(const struct jl_record_metric *metric)
{
	static const struct {
		const char *end;
		enum jl_kind kind;
		const char *unit;
	} ends[] = {
		{ "samples_per_s", JL_K_NUMBER, "samples/s" },
		{ "tokens_per_s", JL_K_NUMBER, "tokens/s" },
		{ "_Bps", JL_K_BYTE_RATE, NULL },
		{ "_flopps", JL_K_FLOP_RATE, NULL },
		{ "_opps", JL_K_OP_RATE, NULL },
		{ "_B", JL_K_BYTES, NULL },
		{ "_s", JL_K_TIME, NULL },
		{ "_W", JL_K_POWER, NULL },
		{ "_J", JL_K_ENERGY, NULL },
		{ "_frac", JL_K_FRACTION, NULL },
	};
	struct jl_num num = jl_num_plain(metric->value.median, JL_K_NUMBER, NULL, JL_MEASURED, "jeoul bench");
	const size_t len = strlen(metric->name);

	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		const size_t n = strlen(ends[i].end);
		if (len >= n && strcmp(metric->name + len - n, ends[i].end) == 0) {
			num.kind = ends[i].kind;
			num.unit = ends[i].unit;
			break;
		}
	}
	num.lo = metric->value.lo95;
	num.hi = metric->value.hi95;
	return num;
}

static void what_was(struct jl_section *s, const struct jl_record *r)
{
	struct jl_buf text;

	jl_buf_init(&text, 4096);
	for (size_t i = 0, n = 0; i < r->n_params && n < 4; i++) {
		const struct jl_record_item *p = &r->params[i];
		const char *at = p->key;
		const size_t len = strlen(at);
		char number[JL_UNITS_TEXT_MAX];

		if (strcmp(at, "count") == 0) /* the size says it */
			continue;
		jl_buf_puts(&text, n++ ? ", " : "");
		if (p->text)
			jl_buf_puts(&text, p->text);
		else if (len > 2 && strcmp(at + len - 2, "_B") == 0)
			jl_buf_printf(&text, "%s", jl_units_text(number, p->number, JL_K_BYTES, 3));
		else
			jl_buf_printf(&text, "%s=%.6g", p->key, p->number);
	}
	jl_doc_cell_name(s->doc, jl_buf_text(&text));
	jl_buf_release(&text);
}

static void records_table(struct jl_section *s)
{
	static const struct jl_tell_head heads[] = { { JL_N("Measured"), false },
						     { JL_N("With"), false },
						     { JL_NC("backend", "By"), false },
						     { JL_N("Result"), true },
						     { JL_N("On"), false } };
	const size_t n = s->in->n_records < RECORDS_SHOWN ? s->in->n_records : RECORDS_SHOWN;

	jl_tell_table(s->doc, JL_("Measured on this machine, newest first"), heads, 5);
	for (size_t i = 0; i < n; i++) {
		const struct jl_record *r = &s->in->records[i];
		char day[JL_DATE_TEXT_MAX];

		if (!r->n_metrics)
			continue;
		(void)jl_date_text(day, (long)(r->time_s / 86400));
		jl_doc_cell(s->doc, r->noise.noisy ? JL_MARK_WARN : JL_MARK_NONE);
		jl_doc_name(s->doc, r->kind ? r->kind : "—");
		what_was(s, r);
		jl_doc_cell_name(s->doc, r->backend ? r->backend : "—");
		{
			struct jl_num num = metric_num(&r->metrics[0]);
			const char *date = jl_arena_strdup(s->arena, day);
			num.date = date;
			jl_tell_cell(s->doc, num);
			jl_doc_cell_name(s->doc, date ? date : "—");
		}
		jl_doc_end_row(s->doc, false);
	}
	if (n < s->in->n_records) {
		const struct jl_num left = jl_num_plain((double)(s->in->n_records - n), JL_K_NUMBER, NULL, JL_MEASURED,
							"jeoul store");
		jl_doc_para(s->doc);
		jl_doc_num(s->doc, &left);
		JL_SAY(s, " older ones are in the store: ");
		jl_doc_code(s->doc, "jeoul store list");
	}
}

void jl_section_machine(struct jl_section *s)
{
	if (s->in->machine) {
		jl_section_open(s, "machine", "This machine");
		jl_doc_para(s->doc);
		jl_doc_name(s->doc, s->in->machine->short_name ? s->in->machine->short_name : "");
		parts_table(s, s->in->machine);
	}
	if (!s->in->n_records) {
		if (s->in->machine) {
			jl_doc_para(s->doc);
			JL_SAY(s, "Nothing was measured on it yet: ");
			jl_doc_code(s->doc, "jeoul bench all --quick");
		}
		return;
	}
	if (!s->in->machine)
		jl_section_open(s, "measured", JL_NC("title", "Measured"));
	records_table(s);
}
