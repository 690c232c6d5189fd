/* Checks scaling tables: efficiency is speedup over the ratio of hardware; a throughput in two tables must be the same. */
#include <math.h>

#include "notes/inside.h"

/* --- efficiency = speedup / (units / units of the base) */

struct scaling {
	int speedup, share;
};

static bool find_columns(const struct jl_audit_note *note, const struct jl_grid *g, struct scaling *s)
{
	*s = (struct scaling){ -1, -1 };
	for (uint32_t c = 1; c < g->n_cols; c++) {
		const struct jl_cell *head = jl_grid_cell(g, 0, c);

		if (JL_PART_HAS(note, head, "이상적|ideal|linear"))
			continue;
		if (JL_PART_HAS(note, head, "배속|speedup|speed-up|가속"))
			s->speedup = (int)c;
		else if (JL_PART_HAS(note, head, "효율|efficiency"))
			s->share = (int)c;
	}
	return s->speedup >= 0 && s->share >= 0;
}

/* Number of units in a row: "2노드 20GPU (DDP)", or the first column. */
static double units_of(const struct jl_audit_note *note, const struct jl_grid *g, uint32_t r)
{
	const int32_t i = jl_grid_cell(g, r, 0)->fig;

	return i >= 0 && (note->figures[i].qty == JL_Q_COUNT || note->figures[i].qty == JL_Q_NUMBER)
		       ? note->figures[i].lo
		       : NAN;
}

struct scaled { /* a row's speedup and efficiency, with the ratio of units to the base */
	int32_t up, share;
	double times;
};

static bool scaled_of(struct scaled *ret, const struct jl_audit_note *note, const struct jl_grid *g,
		      const struct scaling *s, uint32_t r, uint32_t base_r)
{
	*ret = (struct scaled){ jl_grid_cell(g, r, (uint32_t)s->speedup)->fig,
				jl_grid_cell(g, r, (uint32_t)s->share)->fig,
				units_of(note, g, r) / units_of(note, g, base_r) };
	return ret->up >= 0 && ret->share >= 0 && ret->times > 1 && note->figures[ret->share].qty == JL_Q_PERCENT;
}

/* True if another column of both rows (a rate, or the inverse of a time) gives the same ratio. */
static bool borne_out(const struct jl_audit_note *note, const struct jl_grid *g, const struct scaling *s, uint32_t r,
		      uint32_t base_r, double speedup, double digit)
{
	for (uint32_t c = 1; c < g->n_cols; c++) {
		const int32_t i = jl_grid_cell(g, r, c)->fig, k = jl_grid_cell(g, base_r, c)->fig;
		const struct jl_figure *f = i < 0 ? NULL : &note->figures[i], *b = k < 0 ? NULL : &note->figures[k];

		if ((int)c == s->speedup || (int)c == s->share || !f || !b || f->qty != b->qty || !(f->lo > 0) ||
		    !(b->lo > 0) || f->qty == JL_Q_PERCENT)
			continue;
		const double up = f->qty == JL_Q_TIME ? jl_fig_mid(b) / jl_fig_mid(f) : jl_fig_mid(f) / jl_fig_mid(b),
			     rel = jl_fig_slack(f) / jl_fig_mid(f) + jl_fig_slack(b) / jl_fig_mid(b);
		if (fabs(up - speedup) <= digit + up * rel)
			return true;
	}
	return false;
}

/* True if the efficiency refers to another row with as much hardware as the base: another mode or card. */
static bool other_base(const struct jl_audit_note *note, const struct jl_grid *g, const struct scaling *s, uint32_t r,
		       uint32_t base_r, double speedup, double digit)
{
	for (uint32_t k = 1; k < g->n_rows; k++)
		if (k != r && k != base_r && units_of(note, g, k) == units_of(note, g, base_r) &&
		    borne_out(note, g, s, r, k, speedup, digit))
			return true;
	return false;
}

/* Decides which of the two is wrong: the one confirmed by a third column is right. */
static void blame(struct jl_audit_note *note, const struct jl_grid *g, const struct scaling *s, const struct scaled *x,
		  uint32_t r, uint32_t base_r, int n_ok)
{
	const struct jl_figure *u = &note->figures[x->up], *e = &note->figures[x->share];
	const double share = jl_fig_mid(u) / x->times, up = jl_fig_mid(e) * x->times;
	const bool up_holds = borne_out(note, g, s, r, base_r, jl_fig_mid(u), u->digit),
		   share_holds = borne_out(note, g, s, r, base_r, up, e->digit * x->times + u->digit),
		   both = other_base(note, g, s, r, base_r, up, e->digit * x->times),
		   is_share = up_holds && !share_holds && !both;
	const struct jl_figure *is = is_share ? e : u, *other = is_share ? u : e;
	struct jl_audit_finding *said;

	if ((!n_ok && up_holds == share_holds) ||
	    !(said = jl_finding_on_figure(note, JL_AUDIT_WRONG, "table", is_share ? x->share : x->up)))
		return;
	jl_fig_text(said->premises, note, is, is_share ? share : up, 0);
	if (up_holds != share_holds && !both)
		jl_fig_digits(said->fix, is, is_share ? share : up, 0);
	if (is_share)
		jl_audit_finding_explain(said, "does not go with the speed-up of its row, %s: that would be %s",
					 JL_QUOTE(note, other), said->premises);
	else
		jl_audit_finding_explain(
			said,
			both ? JL_N("does not go with the efficiency of its row, %s: that would be %s; "
				    "they are over different bases")
			     : JL_N("does not go with the efficiency of its row, %s: that would be %s"),
			JL_QUOTE(note, other), said->premises);
}

static void judge_scaling(struct jl_audit_note *note, const struct jl_grid *g)
{
	uint32_t base_r = 0;
	struct scaling s;
	struct scaled x;
	int n_ok = 0;

	if (!g->has_heads || !find_columns(note, g, &s))
		return;
	for (uint32_t r = 1; r < g->n_rows && !base_r; r++) {
		const int32_t up = jl_grid_cell(g, r, (uint32_t)s.speedup)->fig;

		if (up >= 0 && fabs(note->figures[up].lo - 1) < 1e-9 && units_of(note, g, r) > 0)
			base_r = r;
	}
	for (int pass = 0; pass < 2 && base_r; pass++)
		for (uint32_t r = 1; r < g->n_rows; r++) {
			if (!scaled_of(&x, note, g, &s, r, base_r))
				continue;
			const struct jl_figure *u = &note->figures[x.up], *e = &note->figures[x.share];
			const double want = jl_fig_mid(u) / x.times;

			if (fabs(want - jl_fig_mid(e)) > e->digit + want * u->digit / jl_fig_mid(u)) {
				if (pass)
					blame(note, g, &s, &x, r, base_r, n_ok);
				continue;
			}
			n_ok++;
			jl_audit_judge(note, x.share, JL_AUDIT_CONFIRMED);
		}
}

/* --- a throughput in two tables */

struct fact {
	double gpus;
	int mode; /* index of modes + 1 */
	int32_t fig;
	const struct jl_grid *grid;
};

static const char *const modes[] = { "DDP", "DeepSpeed|ZeRO|ZeRO-2", "FSDP" };
#define FACTS_MAX 400

static int mode_of(const struct jl_audit_note *note, const struct jl_cell *a, const struct jl_cell *b)
{
	for (size_t i = 0; i < JL_LEN(modes); i++)
		if (JL_PART_HAS(note, a, modes[i]) || JL_PART_HAS(note, b, modes[i]))
			return (int)i + 1;
	return 0;
}

/* Number of GPUs: "10GPU" in the label, or the first column if its header counts GPUs. */
static double gpus_of(const struct jl_audit_note *note, const struct jl_grid *g, uint32_t r)
{
	const struct jl_cell *label = jl_grid_cell(g, r, 0), *head = jl_grid_cell(g, 0, 0);
	const struct jl_line *line;

	if (label->fig < 0)
		return NAN;
	line = &note->lines[note->figures[label->fig].line];
	for (uint32_t i = line->fig; i < line->fig + line->n_figs; i++) {
		const struct jl_figure *f = &note->figures[i];

		if (f->at + f->len <= label->at + label->len && f->qty == JL_Q_COUNT &&
		    JL_PART_HAS(note, f, "GPU|GPUs"))
			return f->lo;
	}
	return JL_PART_HAS(note, head, "GPU|GPUs") ? note->figures[label->fig].lo : NAN;
}

static size_t read_facts(const struct jl_audit_note *note, struct fact *facts)
{
	size_t n = 0;

	for (size_t i = 0; i < note->n_grids && i < 64; i++) {
		const struct jl_grid *g = &note->grids[i];

		for (uint32_t r = 1; g->has_heads && g->kind == JL_GRID_TABLE && r < g->n_rows; r++)
			for (uint32_t c = 1; c < g->n_cols && n < FACTS_MAX; c++) {
				const struct jl_cell *cell = jl_grid_cell(g, r, c), *head = jl_grid_cell(g, 0, c);
				const int mode = cell->fig < 0 ? 0 : mode_of(note, head, jl_grid_cell(g, r, 0));
				const double gpus = mode ? gpus_of(note, g, r) : NAN;

				/* a rate by its unit or by the column's header */
				if (!isnan(gpus) && note->figures[cell->fig].decimals &&
				    (note->figures[cell->fig].qty == JL_Q_COUNT_RATE ||
				     (note->figures[cell->fig].qty == JL_Q_NUMBER && mode)))
					facts[n++] = (struct fact){ gpus, mode, cell->fig, g };
			}
	}
	return n;
}

static void contradictions(struct jl_audit_note *note)
{
	struct fact *facts = jl_arena_array(note->arena, FACTS_MAX, sizeof *facts);
	const size_t n = facts ? read_facts(note, facts) : 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++) {
			const struct jl_figure *a = &note->figures[facts[k].fig], *b = &note->figures[facts[i].fig];
			struct jl_audit_finding *said;
			uint32_t line, column;
			bool agree = false;

			if (facts[i].grid == facts[k].grid || facts[i].gpus != facts[k].gpus ||
			    facts[i].mode != facts[k].mode || a->lo == b->lo || fabs(log(b->lo / a->lo)) > 0.06)
				continue;
			/* another equal pair shows that both tables are about the same runs */
			for (size_t x = 0; x < n; x++)
				for (size_t y = 0; y < n; y++)
					agree |= facts[x].grid == facts[i].grid && facts[y].grid == facts[k].grid &&
						 facts[x].gpus == facts[y].gpus && facts[x].mode == facts[y].mode &&
						 note->figures[facts[x].fig].lo == note->figures[facts[y].fig].lo;
			if (!agree || !(said = jl_finding_on_figure(note, JL_AUDIT_WRONG, "same-fact", facts[i].fig)))
				continue;
			jl_fig_text(said->premises, note, b, a->lo, 0);
			jl_audit_place(note, a->at, &line, &column);
			jl_audit_finding_explain(
				said, "line %u has %s for the same run; which of them is right, the note does not say",
				line, said->premises);
		}
}

void jl_rule_scaling(struct jl_audit_note *note)
{
	for (size_t i = 0; i < note->n_grids; i++)
		if (note->grids[i].kind == JL_GRID_TABLE)
			judge_scaling(note, &note->grids[i]);
	contradictions(note);
}
