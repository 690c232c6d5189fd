/* Tables of the facts of accelerators, CPUs and systems. */
#include "catalog/fields.h"

#define ROW(type, member, key, kind, en) { #member, key, kind, en, offsetof(struct type, member) },
#define GPU_ROW(...)                     ROW(jl_gpu, __VA_ARGS__)
#define CPU_ROW(...)                     ROW(jl_cpu, __VA_ARGS__)
#define SYSTEM_ROW(...)                  ROW(jl_system, __VA_ARGS__)

static const struct jl_fact_field gpu_rows[] = { JL_GPU_FACTS(GPU_ROW) };
static const struct jl_fact_field cpu_rows[] = { JL_CPU_FACTS(CPU_ROW) };
static const struct jl_fact_field system_rows[] = { JL_SYSTEM_FACTS(SYSTEM_ROW) };

const struct jl_fact_fields jl_gpu_fields = { gpu_rows, JL_LEN(gpu_rows) };
const struct jl_fact_fields jl_cpu_fields = { cpu_rows, JL_LEN(cpu_rows) };
const struct jl_fact_fields jl_system_fields = { system_rows, JL_LEN(system_rows) };
