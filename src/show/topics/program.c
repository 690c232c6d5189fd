/* A captured program: time by kind of call and by module; its composition. */

#include "topics/flops.h"
#include "topics/predict.h"

/* Names of the classes of calls. */
static const char *const classes[JL_N_OP_CLASS] = {
	[JL_CLASS_NONE] = JL_N("views"),
	[JL_CLASS_POINTWISE] = JL_N("pointwise"),
	[JL_CLASS_REDUCTION] = JL_N("reductions"),
	[JL_CLASS_SOFTMAX] = JL_N("softmax and loss"),
	[JL_CLASS_NORM] = JL_NC("calls", "norms"),
	[JL_CLASS_PRODUCT] = JL_N("products"),
	[JL_CLASS_CONVOLUTION] = JL_N("convolutions"),
	[JL_CLASS_ATTENTION] = JL_N("attention"),
	[JL_CLASS_GATHER] = JL_N("gathers and scatters"),
	[JL_CLASS_SORT] = JL_N("sorts"),
	[JL_CLASS_COPY] = JL_N("copies and casts"),
	[JL_CLASS_UPDATE] = JL_N("lists of tensors"),
	[JL_CLASS_RANDOM] = JL_N("random numbers"),
	[JL_CLASS_POOL] = JL_N("pooling"),
	[JL_CLASS_RECURRENT] = JL_N("recurrent layers"),
	[JL_CLASS_FOURIER] = JL_N("Fourier transforms"),
	[JL_CLASS_FUSED] = JL_N("compiled groups"),
	[JL_CLASS_OTHER] = JL_N("other calls"),
};

static void class_table(struct jl_doc *doc, const struct jl_timeline *t)
{
	const double all_s = t->track_s[JL_TRACK_DEVICE];
	unsigned done = 0;

	jl_show_table(doc, NULL, "tffff", JL_N("calls|share|device time|launches|moves"));
	for (int n = 0; n < JL_N_OP_CLASS; n++) {
		int best = -1;

		for (int i = 0; i < JL_N_OP_CLASS; i++)
			if (!(done >> i & 1) && (best < 0 || t->class_s[i] > t->class_s[best]))
				best = i;
		done |= 1u << best;
		if (!(t->class_s[best] >= 0.005 * all_s))
			break;
		JL_ROW(doc, false, JL_WORD(jl_msg(classes[best])), JL_FIG(jl_show_share(doc, t->class_s[best] / all_s)),
		       JL_FIG(jl_num_about(t->class_s[best], JL_K_TIME,
					   jl_units_localized(JL_TXT, t->class_s[best], JL_K_TIME, 3))),
		       JL_FIG(jl_num_about(t->class_kernels[best], JL_K_NUMBER,
					   jl_grouped_text(JL_TXT, t->class_kernels[best]))),
		       JL_FIG(jl_num_about(t->class_B[best], JL_K_BYTES,
					   jl_units_localized(JL_TXT, t->class_B[best], JL_K_BYTES, 3))));
	}
}

#define LEAST_SHARE 0.03

/* True if one child takes nearly all the time: then only the child is shown, with both names. */
static bool passes_on(const struct jl_modules *m, size_t row)
{
	for (size_t i = row + 1; i < m->n && m->rows[i].depth > m->rows[row].depth; i++)
		if (m->rows[i].parent == row && m->rows[i].device_s > 0.97 * m->rows[row].device_s)
			return true;
	return false;
}

/* "model.layers.*" relative to the last expanded row. */
static const char *path_text(struct jl_doc *doc, const struct jl_modules *m, size_t row)
{
	const char *text = m->rows[row].name;

	for (size_t up = m->rows[row].parent; up && passes_on(m, up); up = m->rows[up].parent)
		text = jl_doc_format(doc, "%s.%s", m->rows[up].name, text);
	return text;
}

static int shown_depth(const struct jl_modules *m, size_t row)
{
	int depth = 0;

	for (size_t up = m->rows[row].parent; up; up = m->rows[up].parent)
		depth += !passes_on(m, up);
	return depth;
}

static void module_table(struct jl_doc *doc, const struct jl_modules *m)
{
	const double all_s = m->n ? m->rows[0].device_s : 0;

	if (m->n < 2)
		return;
	jl_show_table(doc, NULL, "t24ffff", JL_N("module|share|device time|launches|at the peak"));
	for (size_t i = 1; i < m->n; i++) {
		const struct jl_module_cost *r = &m->rows[i];

		if (!(r->device_s >= LEAST_SHARE * all_s) || passes_on(m, i))
			continue;
		JL_ROW(doc, false,
		       JL_WORD(jl_doc_format(doc, "%*s%s", 2 * shown_depth(m, i), "", path_text(doc, m, i))),
		       JL_FIG(jl_show_share(doc, r->device_s / all_s)),
		       JL_FIG(jl_num_about(r->device_s, JL_K_TIME,
					   jl_units_localized(JL_TXT, r->device_s, JL_K_TIME, 3))),
		       JL_FIG(jl_num_about(r->n_kernels, JL_K_NUMBER, jl_grouped_text(JL_TXT, r->n_kernels))),
		       JL_FIG(jl_num_about(r->peak_B, JL_K_BYTES,
					   jl_units_localized(JL_TXT, r->peak_B, JL_K_BYTES, 3))));
	}
}

void jl_show_program(struct jl_doc *doc, const struct jl_predicted *x)
{
	const struct jl_timeline *t = &x->p.timeline;

	if (!x->how.subject.program)
		return;
	jl_show_entry(doc, JL_("Calls"), JL_ESTIMATED,
		      JL_("%s launches: %s of device time, %s of the host's; %s moved"),
		      jl_grouped_text(JL_TXT, t->n_kernels),
		      jl_units_localized(JL_TXT, t->track_s[JL_TRACK_DEVICE], JL_K_TIME, 3),
		      jl_units_localized(JL_TXT, t->track_s[JL_TRACK_HOST], JL_K_TIME, 3),
		      jl_units_localized(JL_TXT, t->moved_B, JL_K_BYTES, 3));
	class_table(doc, t);
	module_table(doc, &x->modules);
}

/* --- composition */

static const struct {
	const char *en;
} parts[JL_N_PEAK] = {
	[JL_PEAK_PARAMS] = { JL_N("weights") },        [JL_PEAK_GRADS] = { JL_N("gradients") },
	[JL_PEAK_STATES] = { JL_N("optimizer") },      [JL_PEAK_INPUTS] = { JL_N("input") },
	[JL_PEAK_KEPT] = { JL_N("kept activations") }, [JL_PEAK_BRIEF] = { JL_N("temporary") },
};

static void module_row(struct jl_doc *doc, const struct jl_module_cost *r)
{
	JL_ROW(doc, r->depth == 0,
	       JL_WORD(jl_doc_format(doc, "%*s%s", 2 * (r->depth > 0 ? r->depth - 1 : 0), "",
				     r->depth ? r->name : JL_("total"))),
	       JL_FIG(jl_num_about(r->n_calls, JL_K_NUMBER, jl_grouped_text(JL_TXT, r->n_calls))),
	       JL_FIG(jl_num_about(r->flop, JL_K_FLOP, jl_units_localized(JL_TXT, r->flop, JL_K_FLOP, 4))),
	       JL_FIG(jl_num_about(r->moved_B, JL_K_BYTES, jl_units_localized(JL_TXT, r->moved_B, JL_K_BYTES, 4))),
	       JL_FIG(jl_num_about(r->peak_B, JL_K_BYTES, jl_units_localized(JL_TXT, r->peak_B, JL_K_BYTES, 4))));
}

void jl_show_program_flops(struct jl_doc *doc, const struct jl_program_flops *f)
{
	const struct jl_captured *captured = f->captured;
	const struct jl_program_peak *peak = &captured->peak;

	JL_LEAD(doc, f->name);
	jl_show_piece(doc, JL_ORIGIN_NONE, JL_("%s code, captured"), captured->codes);
	for (size_t i = 0; i < captured->p.n_units; i++)
		jl_show_piece(doc, JL_ORIGIN_NONE, "%s %s", jl_grouped_text(JL_TXT, captured->p.units[i].count),
			      captured->p.units[i].name);
	jl_show_table(doc, NULL, "t24ffff", JL_N("module|calls|FLOP|moves|at the peak"));
	for (size_t i = 1; i < f->modules.n; i++)
		module_row(doc, &f->modules.rows[i]);
	module_row(doc, &f->modules.rows[0]);
	jl_doc_entry(doc, JL_("Memory"));
	jl_show_piece(doc, JL_ESTIMATED, JL_("%s at the peak, in the phase \"%s\""),
		      jl_units_localized(JL_TXT, peak->peak_B, JL_K_BYTES, 4),
		      jl_phase_names[captured->p.events[peak->event].phase]);
	for (int i = 0; i < JL_N_PEAK; i++)
		if (peak->part_B[i] > 0)
			jl_show_piece(doc, JL_ESTIMATED, "%s %s", jl_msg(parts[i].en),
				      jl_units_localized(JL_TXT, peak->part_B[i], JL_K_BYTES, 3));
	if (captured->n_unknown)
		jl_show_note(doc, NULL, JL_ORIGIN_NONE,
			     JL_("%.0f calls of operators that are not known (%.120s) are taken as pointwise."),
			     captured->unknown_calls, captured->unknown);
	JL_NOTE(doc, NULL, JL_ORIGIN_NONE,
		"A multiply-add is two FLOP; moves are what calls read and write, each once.");
}

/* --- JSON */

#define R(TYPE, NAME) JL_FIELD(jl_module_cost, TYPE, NAME)
static const struct jl_field module[] = {
	{ R(TEXT, name) },      { JL_FIELD_AS(jl_module_cost, TEXT, type, "class") },
	{ R(INT, depth) },      { JL_FIELD_AS(jl_module_cost, NUMBER, n, "modules") },
	{ R(NUMBER, n_calls) }, { R(NUMBER, flop) },
	{ R(NUMBER, moved_B) }, { R(NUMBER, peak_B) },
};
static const struct jl_schema module_schema = JL_SCHEMA("module", jl_module_cost, module);

JL_NUMBER_OF(calls, jl_program_flops, (double)r->captured->p.n_calls);
JL_NUMBER_OF(n_params, jl_program_flops, r->captured->p.n_params);
JL_NUMBER_OF(all_flop, jl_program_flops, r->modules.rows[0].flop);
JL_NUMBER_OF(all_B, jl_program_flops, r->modules.rows[0].moved_B);
JL_NUMBER_OF(peak_B, jl_program_flops, r->captured->peak.peak_B);
JL_NUMBER_OF(unknown_calls, jl_program_flops, r->captured->unknown_calls);
static const struct jl_field fields[] = {
	{ JL_FIELD_AS(jl_program_flops, TEXT, id, "model") },
	{ JL_FIELD(jl_program_flops, TEXT, name) },
	{ JL_FIELD_NUMBER_OF("params", n_params) },
	{ JL_FIELD_NUMBER_OF("n_calls", calls) },
	{ JL_FIELD_NUMBER_OF("flop", all_flop) },
	{ JL_FIELD_NUMBER_OF("moved_B", all_B) },
	{ JL_FIELD_NUMBER_OF("peak_B", peak_B) },
	{ JL_FIELD_NUMBER_OF("unknown_calls", unknown_calls) },
	{ JL_FIELD_MANY(jl_program_flops, LIST, modules.rows, modules.n, "modules", &module_schema) },
};
const struct jl_schema jl_program_flops_fields = JL_SCHEMA("program_flops", jl_program_flops, fields);
