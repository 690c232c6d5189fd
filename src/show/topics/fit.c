/* Techniques that make a model fit: memory and time of each. */
#include <math.h>

#include "predict/kind.h"
#include "predict/technique.h"
#include "topics/predict.h"

static double gib(double bytes)
{
	return bytes / 1073741824.0;
}

static const char *cut_text(struct jl_doc *doc, const struct jl_plan *p)
{
	const char *text = jl_doc_format(doc, "dp %.0f", p->dp);

	if (p->tp > 1)
		text = jl_doc_format(doc, "%s tp %.0f", text, p->tp);
	if (p->pp > 1)
		text = jl_doc_format(doc, "%s pp %.0f", text, p->pp);
	if (p->ep > 1)
		text = jl_doc_format(doc, "%s ep %.0f", text, p->ep);
	if (p->pp <= 1 && p->n_micro > 1)
		text = jl_doc_format(doc, "%s x %.0f", text, p->n_micro);
	return text;
}

/* Offloaded bytes, marked if the host has less memory. */
static void host_cell(struct jl_doc *doc, const struct jl_technique *row)
{
	const bool short_of = row->weight.host_B > JL_HOST_RAM_FRAC * row->how.ram_B;

	jl_doc_cell(doc, short_of ? JL_MARK_BAD : JL_MARK_NONE);
	if (row->weight.host_B > 0)
		jl_show_num(doc, jl_num_about(row->weight.host_B, JL_K_BYTES,
					      jl_doc_format(doc, "%.0f", gib(row->weight.host_B))));
}

static void cost_cell(struct jl_doc *doc, const struct jl_technique *r)
{
	if (r->room == JL_ROOM_NONE || isnan(r->cost_frac))
		jl_doc_cell_text(doc, "");
	else if (r->cost_frac < 0.005)
		jl_doc_cell_text(doc, JL_("fastest"));
	else
		jl_show_cell(doc, jl_num_about(r->cost_frac, JL_K_FRACTION,
					       jl_doc_format(doc, "%+.0f %%", 100 * r->cost_frac)));
}

static void rows(struct jl_doc *doc, const struct jl_fit *fit)
{
	static const struct {
		enum jl_mark mark;
		const char *en;
	} rooms[] = { { JL_MARK_GOOD, JL_NC("verdict", "fits") },
		      { JL_MARK_WARN, JL_NC("verdict", "tight") },
		      { JL_MARK_BAD, JL_NC("verdict", "no") } };

	jl_show_table(doc, NULL, "tkfkfff", JL_N("technique|layout|GiB/GPU||host|step|slower"));
	for (size_t i = 0; i < fit->n; i++) {
		const struct jl_technique *r = &fit->rows[i];
		const double total_B = r->weight.memory.total_B, step_s = r->weight.step.step_s;

		jl_doc_cell_name(doc, jl_msg(r->en));
		if (!r->possible) {
			JL_ROW(doc, false, JL_WORD(JL_("not possible")));
			continue;
		}
		JL_CELLS(doc, JL_NAMED(cut_text(doc, &r->how.plan)),
			 JL_FIG(jl_num_about(total_B, JL_K_BYTES, jl_doc_format(doc, "%.1f", gib(total_B)))),
			 JL_MARKED(rooms[r->room].mark, jl_msg(rooms[r->room].en)));
		host_cell(doc, r);
		jl_show_cell(doc, jl_num_about(step_s, JL_K_TIME, jl_units_localized(JL_TXT, step_s, JL_K_TIME, 2)));
		cost_cell(doc, r);
		jl_doc_end_row(doc, false);
	}
}

/* Whether the host's memory suffices for the offloading rows. */
static void host_note(struct jl_doc *doc, const struct jl_fit *fit)
{
	const double ram_B = fit->rows[0].how.ram_B;
	double most_B = 0;

	for (size_t i = 0; i < fit->n; i++)
		if (fit->rows[i].possible)
			most_B = fmax(most_B, fit->rows[i].weight.host_B);
	if (!(most_B > 0))
		return;
	if (isnan(ram_B))
		JL_NOTE(doc, NULL, JL_ORIGIN_NONE, "Host RAM is not known: give it, e.g. --ram \"512 GiB\".");
	else
		jl_show_note(doc, NULL, JL_ESTIMATED,
			     JL_("A host has %.0f GiB of RAM, %.0f %% of it for offloading: %s."), gib(ram_B),
			     100 * JL_HOST_RAM_FRAC,
			     most_B > JL_HOST_RAM_FRAC * ram_B ? JL_("not enough for every row")
							       : JL_("enough for every row"));
}

/* Host memory that a fitting technique needs; NAN: none fits. */
static double host_needed_B(const struct jl_fit *fit)
{
	double least_B = NAN;

	for (size_t i = 0; i < fit->n; i++) {
		const struct jl_technique *r = &fit->rows[i];

		if (r->possible && r->weight.host_B > JL_HOST_RAM_FRAC * r->how.ram_B &&
		    r->weight.memory.total_B <= JL_TIGHT_FRAC * r->how.machine.dev.mem_B)
			least_B = fmin(isnan(least_B) ? INFINITY : least_B, r->weight.host_B);
	}
	return least_B;
}

static void nothing_fits(struct jl_doc *doc, const struct jl_fit *fit)
{
	const double host_B = host_needed_B(fit);

	if (!isnan(host_B))
		jl_show_sourced(doc, JL_ESTIMATED,
				JL_("Nothing fits: host memory is the limit. Offloading needs %.0f GiB of "
				    "RAM, the host has %.0f."),
				gib(host_B) / JL_HOST_RAM_FRAC, gib(fit->rows[0].how.ram_B));
	else if (fit->rows[0].how.shard.micro_batch > 1)
		JL_SHOW(doc, "Nothing fits: it needs more GPUs, GPUs with more memory, or a smaller batch.");
	else
		JL_SHOW(doc, "Nothing fits: it needs more GPUs, or GPUs with more memory.");
}

#define ANY_HOST_B (4 * 1073741824.0) /* available on every host */

static const struct jl_technique *fastest(const struct jl_fit *fit, bool host, enum jl_room least)
{
	const struct jl_technique *best = NULL;

	for (const struct jl_technique *r = fit->rows; r < fit->rows + fit->n; r++)
		if (r->possible && r->room <= least && (host || !(r->weight.host_B > ANY_HOST_B)) &&
		    (!best || r->weight.step.step_s < best->weight.step.step_s))
			best = r;
	return best;
}

/* The answer in a sentence: without host memory if possible. */
static void answer(struct jl_doc *doc, const struct jl_fit *fit)
{
	const struct jl_technique *any = fastest(fit, true, JL_ROOM_TIGHT), *alone = fastest(fit, false, JL_ROOM_TIGHT),
				  *best = alone ? alone : any, *sure = fastest(fit, true, JL_ROOM_FITS);

	jl_doc_break(doc);
	if (!best) {
		nothing_fits(doc, fit);
		return;
	}
	const double ram_B = best->how.ram_B, need_B = best->weight.host_B / (isnan(ram_B) ? JL_HOST_RAM_FRAC : 1);

	if (best->weight.host_B > ANY_HOST_B) /* without enough known host memory it would not fit */
		JL_SENTENCE(doc,
			    isnan(ram_B) ? JL_("It fits where the host has |1 of RAM.")
					 : JL_("It fits with |1 of the host's |2 of RAM."),
			    JL_MEM(need_B), JL_MEM(ram_B));
	else
		jl_doc_text(doc, best->room == JL_ROOM_TIGHT ? JL_("It barely fits.") : JL_("It fits."));
	JL_SENTENCE(doc,
		    best->weight.host_B > ANY_HOST_B || best == any
			    ? JL_(" Fastest: |1; |2 of |3 on a GPU, |4 a step.")
			    : JL_(" Fastest without host memory: |1; |2 of |3 on a GPU, |4 a step."),
		    JL_WORD(jl_msg(best->en) + (best->en[0] == '+' ? 2 : 0)), JL_MEM(best->weight.memory.total_B),
		    JL_MEM(best->how.machine.dev.mem_B), JL_ABOUT(best->weight.step.step_s, JL_K_TIME));
	if (best->room == JL_ROOM_TIGHT && sure)
		JL_SENTENCE(doc, JL_(" With room to spare: |1, |2, |3 a step."),
			    JL_WORD(jl_msg(sure->en) + (sure->en[0] == '+' ? 2 : 0)),
			    JL_MEM(sure->weight.memory.total_B), JL_ABOUT(sure->weight.step.step_s, JL_K_TIME));
}

static bool zero_halves_weights(const struct jl_fit *fit)
{
	double with_B = INFINITY, without_B = 0;

	for (const struct jl_technique *r = fit->rows; r < fit->rows + fit->n; r++) {
		if (r->possible && r->how.plan.zero > 0)
			with_B = fmin(with_B, r->how.plan.weight_B);
		else if (r->possible && r->how.shard.dtype != JL_FP32)
			without_B = fmax(without_B, r->how.plan.weight_B);
	}
	return with_B < without_B;
}

static void notes(struct jl_doc *doc, const struct jl_fit *fit)
{
	bool tight = false;

	for (size_t i = 0; i < fit->n; i++)
		tight |= fit->rows[i].possible && fit->rows[i].room == JL_ROOM_TIGHT;
	if (tight)
		jl_show_note(doc, NULL, JL_ESTIMATED, JL_("Tight: less than %.0f %% of the memory stays free."),
			     100 * JL_MEMORY_MARGIN_FRAC);
	host_note(doc, fit);
	JL_NOTE(doc, NULL, JL_ESTIMATED, "○ estimated; 'jeoul predict' gives the interval of each.");
	if (fit->rows[0].how.subject.kind->is_cut)
		JL_NOTE(doc, NULL, JL_ORIGIN_NONE,
			"All rows but fp32: mixed precision, AdamW. host: GiB offloaded per host. One technique a row; "
			"'jeoul plan' combines several, which may be faster.");
	if (zero_halves_weights(fit))
		JL_NOTE(doc, NULL, JL_ORIGIN_NONE,
			"ZeRO rows keep weights and activations in 16 bits, the others weights in 32 bits (autocast): "
			"part of the saving comes from that.");
	jl_show_confidence(doc, &fit->rows[0].how.notes);
}

void jl_show_fit(struct jl_doc *doc, const struct jl_fit *fit)
{
	const struct jl_case *c = &fit->rows[0].how;

	JL_LEAD(doc, c->subject.name);
	jl_show_piece(doc, JL_LISTED, JL_("%s parameters"), jl_params_text(JL_TXT, jl_subject_params(&c->subject)));
	jl_show_piece(doc, JL_ORIGIN_NONE, "%s", c->machine.sys.text);
	jl_show_piece(doc, JL_LISTED, JL_("%s a GPU"), jl_memory_text(JL_TXT, c->machine.dev.mem_B));
	jl_doc_lead(doc);
	jl_show_piece(doc, JL_ORIGIN_NONE, JL_("global batch %.0f"), c->global_batch);
	jl_show_piece(doc, JL_ORIGIN_NONE, JL_("micro-batch %.0f"), c->shard.micro_batch);
	if (c->subject.kind->has_tokens)
		jl_show_piece(doc, JL_ORIGIN_NONE, JL_("sequence %.0f"), c->shard.seq);
	jl_show_piece(doc, JL_ORIGIN_NONE, "%s", jl_dtype_name(c->shard.dtype));
	answer(doc, fit);
	rows(doc, fit);
	notes(doc, fit);
}
