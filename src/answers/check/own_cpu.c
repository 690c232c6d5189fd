#include "check/own_params.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "check/machine_parts.h"

/* FLOP per clock and core in fp32 with two units of a width; a multiply-add counts as 2; AVX and SSE2 have none. Zen 4 executes AVX-512 in two
 * 256-bit units. SVE does not state its width: assumed as in Neoverse V1 and V2. */
static const struct {
	const char *vector, *vendor;
	double fp32_per_clock;
} units[] = {
	{ "AVX-512", "AuthenticAMD", 32 },
	{ "AVX-512", NULL, 64 },
	{ "AVX2", NULL, 32 },
	{ "AVX", NULL, 16 },
	{ "SSE2", NULL, 8 },
	{ "SVE", NULL, 32 },
	{ "NEON", NULL, 16 },
};
/* BFMMLA and AVX512-BF16 process pairs in the width of one fp32; AMX reached 4.5 times the fp32 rate of the same cores. */
static const double bf16_times = 2, amx_times = 4.5;
static const double plain_per_clock = 8, plain_Hz = 2e9; /* minimum of any server or desktop processor */
/* Bandwidth limit of one core by its outstanding cache lines, independent of the memory. */
static const double core_Bps = 12e9;
/* Clocks under load and neighbours are unknown: 80 % of such estimates lie within a third. */
static const double guess_half_ln = 0.35;

static double n_cores_of(const struct jl_probe_machine *here)
{
	const struct jl_probe_cpu *cpu = &here->cpu;
	const double share = cpu->n_threads > 0 && cpu->n_allowed > 0 ? (double)cpu->n_allowed / cpu->n_threads : 1;
	double n = fmax(1, round(cpu->n_cores * share));

	if (here->limits.cpu_quota > 0)
		n = fmin(n, here->limits.cpu_quota);
	return n;
}

static struct jl_fact found(double value)
{
	return (struct jl_fact){
		.value = value, .lo = NAN, .hi = NAN, .origin = JL_MEASURED, .source = JL_OWN_SOURCE_ID
	};
}

static struct jl_fact guessed(double value)
{
	struct jl_fact fact = found(value);

	fact.origin = JL_ESTIMATED;
	fact.lo = value * exp(-guess_half_ln);
	fact.hi = value * exp(guess_half_ln);
	return fact;
}

void jl_own_cpu_plain(struct jl_cpu *ret_cpu, const struct jl_probe_machine *here)
{
	const struct jl_fact unknown = JL_FACT_UNKNOWN;
	struct jl_cpu cpu = { .id = JL_OWN_CPU_ID, .source = JL_OWN_SOURCE_ID };

#define JL_X(member, key, kind, en) cpu.member = unknown;
	JL_CPU_FACTS(JL_X)
#undef JL_X
	cpu.name = here->cpu.model ? here->cpu.model : "CPU";
	cpu.vendor = here->cpu.vendor ? here->cpu.vendor : "unknown";
	cpu.isa = here->arch && strcmp(here->arch, "aarch64") == 0 ? "arm64" : "x86-64";
	cpu.n_core = found(n_cores_of(here));
	cpu.n_thread = found(here->cpu.n_allowed > 0 ? here->cpu.n_allowed : 1);
	if (here->cpu.bf16)
		cpu.bf16_over_fp32 = guessed(strcmp(here->cpu.bf16, "AMX") == 0 ? amx_times : bf16_times);
	if (here->memory.total_B > 0)
		cpu.mem_B = found(here->memory.total_B);
	for (size_t i = 0; i < here->cpu.n_caches; i++)
		if (here->cpu.caches[i].level == 3 && here->cpu.caches[i].size_B > 0)
			cpu.l3_B = found(here->cpu.caches[i].size_B);
	*ret_cpu = cpu;
}

static double per_clock_of(const struct jl_probe_machine *here)
{
	const struct jl_probe_cpu *cpu = &here->cpu;
	/* every arm64 has NEON, every x86-64 SSE2, even if not listed */
	const bool arm = here->arch && strcmp(here->arch, "aarch64") == 0;
	const char *vector = cpu->vector ? cpu->vector : arm ? "NEON" : "SSE2";

	for (size_t i = 0; i < JL_LEN(units); i++)
		if (strcmp(units[i].vector, vector) == 0 &&
		    (!units[i].vendor || (cpu->vendor && strcmp(units[i].vendor, cpu->vendor) == 0)))
			return units[i].fp32_per_clock;
	return plain_per_clock;
}

/* Virtual machines hide the name and the number of cores; vendor, cache and vector units remain visible. */
static double apart(const struct jl_cpu *listed, const struct jl_cpu *own, double per_clock)
{
	const double cache = fabs(log(listed->l3_B.value / own->l3_B.value));
	double far = fabs(log(listed->fp32_per_clock.value / per_clock));

	far += strcmp(listed->isa ? listed->isa : "", own->isa) == 0 ? 0 : 100;
	far += listed->vendor && strstr(own->vendor, listed->vendor) ? 0 : 1;
	return far + (isnan(cache) ? fabs(log(listed->n_core.value / own->n_core.value)) : cache);
}

static const struct jl_cpu *nearest(const struct jl_catalog *cat, const struct jl_cpu *own, double per_clock)
{
	const struct jl_cpu *best = NULL;
	double least = INFINITY;

	for (size_t i = 0; i < cat->n_cpus; i++) {
		const double far = apart(&cat->cpus[i], own, per_clock);

		if (strcmp(cat->cpus[i].id, JL_OWN_CPU_ID) != 0 && cat->cpus[i].mem_Bps.value > 0 && far < least) {
			least = far;
			best = &cat->cpus[i];
		}
	}
	return best;
}

static void say_guess(struct jl_own_cpu *own, const struct jl_probe_machine *here, const struct jl_cpu *like)
{
	const double n = own->cpu.n_core.value;
	char clock[JL_UNITS_TEXT_MAX];

	(void)jl_units_text(clock, own->cpu.base_Hz.value, JL_K_FREQUENCY, 3);
	if (here->listed_cpu) {
		jl_bitext_print(&own->note, "as listed for %g of the %g cores of %s", n, like->n_core.value,
				like->name);
		return;
	}
	jl_bitext_print(&own->note,
			"not in the catalog: estimated from its cores, clock and vector width (%g x %s%s%s){%s}%s", n,
			clock, here->cpu.vector ? ", " : "", here->cpu.vector ? here->cpu.vector : "",
			like ? JL_N(", memory as of ") : "", like ? like->name : "");
}

void jl_own_cpu_guess(struct jl_own_cpu *ret_cpu, const struct jl_own_ask *ask)
{
	const struct jl_probe_machine *here = ask->here;
	const struct jl_cpu *like = here->listed_cpu;
	double per_clock = per_clock_of(here), clock_Hz = here->cpu.clock_Hz, mem_Bps, n;
	struct jl_own_cpu own = { .measured = false };

	jl_own_cpu_plain(&own.cpu, here);
	n = own.cpu.n_core.value;
	if (!like)
		like = nearest(ask->cat, &own.cpu, per_clock);
	if (here->listed_cpu) {
		per_clock = like->fp32_per_clock.value > 0 ? like->fp32_per_clock.value : per_clock;
		clock_Hz = like->base_Hz.value > 0 ? like->base_Hz.value : clock_Hz;
	}
	if (isnan(clock_Hz))
		clock_Hz = like && like->base_Hz.value > 0 ? like->base_Hz.value : plain_Hz;
	mem_Bps = n * core_Bps;
	if (like && like->mem_Bps.value > 0)
		mem_Bps = fmin(mem_Bps, like->mem_Bps.value * fmax(1, here->cpu.n_sockets));
	own.cpu.base_Hz = guessed(clock_Hz);
	own.cpu.fp32_per_clock = guessed(per_clock);
	own.cpu.fp32_flopps = guessed(n * per_clock * clock_Hz);
	own.cpu.mem_Bps = guessed(mem_Bps);
	say_guess(&own, here, like);
	*ret_cpu = own;
}
