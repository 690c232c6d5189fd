/* Program files: what is read can be priced on a GPU, walked through and measured in memory; what is not has a message of one line. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/load.h"
#include "program/peak.h"
#include "program/read.h"
#include "program/timeline.h"
#include "system/machine.h"

extern size_t fuzz_taken __attribute__((weak)); /* generate.c: how many were taken */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

static const struct jl_machine *machine(void)
{
	static struct jl_machine kept;
	static bool made;

	if (!made) {
		const struct jl_catalog *cat = jl_catalog_embedded();
		struct jl_arena arena;
		struct jl_sys sys;

		jl_arena_init(&arena, JL_ARENA_LIMIT_B);
		must(!jl_sys_parse(&sys, cat, "h100-sxm5", &arena, NULL) && !jl_machine_make(&kept, cat, &sys, NULL));
		jl_arena_release(&arena);
		made = true;
	}
	return &kept;
}

static void price(const struct jl_program *p, struct jl_arena *arena)
{
	const struct jl_machine *m = machine();
	const struct jl_profile profile = jl_profile_default(JL_FW_EAGER);
	const struct jl_program_fit fit = jl_program_shipped(m->cat);
	const struct jl_price_in in = { .dev = &m->dev, .profile = &profile, .fit = &fit };
	struct jl_call_cost *costs = jl_arena_array(arena, p->n_kinds, sizeof(*costs));
	double *collective_s = jl_arena_array(arena, p->n_collectives + 1, sizeof(double));
	double *scratch = jl_arena_array(arena, p->n_collectives * JL_N_TRACK + 1, sizeof(double));
	struct jl_program_peak peak;
	struct jl_timeline t;

	if (!costs || !collective_s || !scratch || jl_program_peak(&peak, p, NULL, arena, NULL))
		return;
	for (size_t k = 0; k < p->n_kinds; k++) {
		struct jl_call_work w;

		jl_work_of(&w, p, &p->kinds[k]);
		jl_work_price(&costs[k], &in, &w);
		must(costs[k].device_s >= 0 && costs[k].n_kernels >= 0 && isfinite(costs[k].moved_B) &&
		     costs[k].host_s[0] >= 0);
	}
	jl_timeline(
		&t,
		&(struct jl_timeline_in){
			.p = p, .costs = costs, .collective_s = collective_s, .device_ratio = 1, .scratch = scratch });
	must(t.step_s >= 0 && peak.peak_B >= peak.begin_B);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jl_arena arena;
	struct jl_err err = { 0 };
	struct jl_program p;

	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	const enum jl_status status = jl_program_read(&p, (const char *)data, size, "a.jprog", &arena, &err);

	if (status)
		must(err.en[0] && !strchr(err.en, '\n') && !strchr(err.text, '\n'));
	else {
		if (&fuzz_taken)
			fuzz_taken++;
		price(&p, &arena);
	}
	jl_arena_release(&arena);
	return 0;
}
