/* A program's time, bytes and memory by module. */
#include <ctype.h>
#include <string.h>

#include "predict/program_case.h"

static bool is_number(const char *name)
{
	while (isdigit((unsigned char)*name))
		name++;
	return !*name;
}

/* Name of a row from "layers.12.mlp": names may be a path or one part; numbered modules share a row. */
static const char *last_part(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && dot[1] ? dot + 1 : name;
}

static size_t row_for(struct jl_modules *modules, size_t parent, const struct jl_program_module *module)
{
	const char *name = last_part(module->name);
	const bool number = *name && is_number(name);

	for (size_t i = parent + 1; i < modules->n; i++)
		if (modules->rows[i].parent == parent && strcmp(modules->rows[i].name, number ? "*" : name) == 0)
			return i;
	if (modules->n == JL_MODULE_ROWS_MAX)
		return parent;
	modules->rows[modules->n] = (struct jl_module_cost){ .name = number ? "*" : name,
							     .type = module->type,
							     .parent = parent,
							     .depth = modules->rows[parent].depth + 1 };
	return modules->n++;
}

static void add_event(struct jl_module_cost *row, const struct jl_timeline_in *in, const struct jl_captured *captured,
		      const struct jl_event *e)
{
	const struct jl_call_work *w = &captured->works[e->kind];

	row->n_calls++;
	row->flop += w->flop;
	row->moved_B += w->moved_B;
	if (in) {
		const struct jl_call_cost *cost = &in->costs[e->kind];

		row->device_s += cost->device_s * in->device_ratio;
		row->n_kernels += cost->n_kernels;
		row->host_s += captured->p.graph ? 0 : jl_event_host_s(in, e);
	}
}

static void add_row(struct jl_module_cost *to, const struct jl_module_cost *row)
{
	to->device_s += row->device_s;
	to->host_s += row->host_s;
	to->n_kernels += row->n_kernels;
	to->n_calls += row->n_calls;
	to->flop += row->flop;
	to->moved_B += row->moved_B;
	to->peak_B += row->peak_B;
}

/* Writes children after their parent, in order of appearance. */
static void lay_out(struct jl_modules *out, const struct jl_modules *in, size_t at)
{
	const size_t own = out->n++;

	out->rows[own] = in->rows[at];
	for (size_t i = at + 1; i < in->n; i++)
		if (in->rows[i].parent == at) {
			const size_t child = out->n;

			lay_out(out, in, i);
			out->rows[child].parent = own;
		}
}

enum jl_status jl_captured_modules(struct jl_modules *ret_modules, const struct jl_captured *captured,
				   const struct jl_timeline_in *in, struct jl_arena *arena, struct jl_err *err)
{
	const struct jl_program *p = &captured->p;
	struct jl_modules found = { .rows = jl_arena_array(arena, JL_MODULE_ROWS_MAX, sizeof(*found.rows)) };
	struct jl_modules laid = { .rows = jl_arena_array(arena, JL_MODULE_ROWS_MAX, sizeof(*laid.rows)) };
	size_t *row_of = jl_arena_array(arena, p->n_modules, sizeof(*row_of));

	JL_TRY(jl_got(found.rows && laid.rows && row_of, err));
	found.rows[found.n++] = (struct jl_module_cost){ .name = "", .type = "" };
	for (size_t m = 1; m < p->n_modules; m++) {
		row_of[m] = row_for(&found, row_of[p->modules[m].parent], &p->modules[m]);
		found.rows[row_of[m]].n++;
	}
	for (size_t i = 0; i < p->n_events; i++)
		if (p->events[i].what == JL_EVENT_CALL)
			add_event(&found.rows[row_of[p->events[i].module]], in, captured, &p->events[i]);
	for (size_t m = 0; m < p->n_modules; m++)
		found.rows[row_of[m]].peak_B += captured->peak.module_B[m];
	for (size_t i = found.n - 1; i > 0; i--) /* parents precede their children */
		add_row(&found.rows[found.rows[i].parent], &found.rows[i]);
	lay_out(&laid, &found, 0);
	*ret_modules = laid;
	return JL_OK;
}

enum jl_status jl_case_modules(struct jl_modules *ret_modules, const struct jl_case *c, struct jl_arena *arena,
			       struct jl_err *err)
{
	const struct jl_captured *captured = c->subject.program;
	const struct jl_program_fit fit = jl_program_shipped(c->machine.cat);
	struct jl_call_cost *costs = jl_arena_array(arena, captured->p.n_kinds, sizeof(*costs));

	JL_TRY(jl_got(costs, err));
	const double ratio = jl_captured_price(captured, c, costs);
	const struct jl_timeline_in in = jl_captured_timeline_in(c, costs, ratio, &fit);

	return jl_captured_modules(ret_modules, captured, &in, arena, err);
}
