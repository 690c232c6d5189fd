/* System expressions: whatever parses has a canonical text that parses to the same system, within the limits; whatever
 * does not has a message in both languages, one line each. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "catalog/find.h"
#include "catalog/sysexpr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
	if (!holds)
		abort();
}

static void check_message(const struct jl_err *err)
{
	must(err->status != JL_OK && err->en[0] && err->text[0]);
	must(!strchr(err->en, '\n') && !strchr(err->text, '\n'));
	must(jl_utf8_valid(err->en, strlen(err->en), NULL) && jl_utf8_valid(err->text, strlen(err->text), NULL));
}

static void check_system(const struct jl_sys *sys, const struct jl_catalog *cat, struct jl_arena *arena)
{
	struct jl_sys again;
	struct jl_err err;

	must(sys->n_nodes >= 1 && sys->n_nodes <= JL_NODES_MAX && sys->n_per_node >= 0 &&
	     sys->n_per_node <= JL_PER_NODE_MAX);
	must((sys->gpu != NULL) != (sys->cpu != NULL));
	must((sys->n_per_node > 1) == (sys->join != NULL) && (sys->n_nodes > 1) == (sys->net != NULL));
	must(jl_sys_parse(&again, cat, sys->text, arena, &err) == JL_OK);
	must(strcmp(again.text, sys->text) == 0 && again.n_nodes == sys->n_nodes &&
	     again.n_per_node == sys->n_per_node);
	must(again.gpu == sys->gpu && again.cpu == sys->cpu && again.system == sys->system &&
	     again.n_net == sys->n_net);
	must(again.join == sys->join && again.net == sys->net);
	must(again.join_assumed == sys->join_assumed && again.net_assumed == sys->net_assumed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct jl_catalog *cat = jl_catalog_embedded();
	struct jl_arena arena;
	struct jl_err err;
	struct jl_sys sys;
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	if (jl_sys_parse(&sys, cat, text, &arena, &err) == JL_OK)
		check_system(&sys, cat, &arena);
	else
		check_message(&err);
	jl_arena_release(&arena);
	free(text);
	return 0;
}
