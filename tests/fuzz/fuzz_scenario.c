/* Any bytes as a scenario file: refused in one line that says where, or read, weighed and told, in a form that reads back. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/catalog.h"
#include "scenario/scenario.h"
#include "scenario/results.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct jl_scenario scenario;
	static struct jl_scenario_results weighed;
	const struct jl_yaml *root = NULL;
	struct jl_err err = { .en = "" };
	struct jl_arena arena;
	enum jl_status status;
	char *text = malloc(size + 1);

	must(text != NULL);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	status = jl_yaml_read(&root, "fuzz.yaml", text, size, &arena, &err);
	if (!status)
		status = jl_scenario_read(&scenario, root, jl_catalog_embedded(), &arena, &err);
	if (!status)
		status = jl_compute_scenario(&weighed, &scenario, jl_catalog_embedded(), &arena, 20770, &err);
	must(!status || (err.en[0] && !strchr(err.en, '\n') && strncmp(err.en, "fuzz.yaml:", 10) == 0) ||
	     status == JL_E_NOMEM || status == JL_E_LIMIT);
	jl_arena_release(&arena);
	free(text);
	return 0;
}
