/* Catalog files: whatever is in them, one clear error or a catalog that is right. The first byte chooses YAML or CSV. */
#include <stdint.h>
#include <stdlib.h>

#include "catalog/load.h"

#define ARENA_MAX_B ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Something that references can point at. */
static const struct jl_source source = { .id = "s", .title = "S", .date = "2024", .origin = JL_LISTED };
static const struct jl_family family = { .id = "f",
					 .name = "F",
					 .vendor = "V",
					 .fp32_per_sm_clock = 256,
					 .tf32_per_sm_clock = 2048,
					 .fp16_per_sm_clock = 4096,
					 .bf16_per_sm_clock = 4096,
					 .fp8_per_sm_clock = 8192,
					 .int8_per_sm_clock = 8192,
					 .sparsity = true,
					 .source = "s" };
static const struct jl_catalog base = { .sources = &source, .n_sources = 1, .families = &family, .n_families = 1 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct jl_catalog *cat = NULL;
	struct jl_arena arena;
	struct jl_findings findings;
	struct jl_err err = { .en = "" };
	enum jl_status status;

	if (size < 1)
		return 0;
	jl_arena_init(&arena, ARENA_MAX_B);
	status = jl_catalog_read_text(&cat, &base, data[0] & 1 ? "x.csv" : "x.yaml", (const char *)data + 1, size - 1,
				      &arena, &findings, &err);
	if ((status == JL_OK) != (cat != NULL) || (status && !err.en[0]))
		abort();
	jl_arena_release(&arena);
	return 0;
}
