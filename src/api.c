/* The installed C interface: a thin coat over the rooms. */
#include "jeoul/jeoul.h"

#include <string.h>

#include "request/ask.h"
#include "request/cache.h"
#include "base/mem.h"
#include "catalog/fields.h"
#include "catalog/find.h"
#include "catalog/sysexpr.h"
#include "cli/command.h"
#include "version.inc"

struct jeoul {
	struct jl_arena arena;
	const struct jl_catalog *cat;
	struct jl_ask_cache *cache;
};

_Static_assert(sizeof(((struct jeoul_error *)0)->text) == JL_ERR_TEXT_MAX, "messages fit");

const char *jeoul_version(void)
{
	return JEOUL_VERSION;
}

static enum jeoul_status give_error(struct jeoul_error *error, const struct jl_err *err)
{
	enum jeoul_status status = JEOUL_FAILED;

	if (err->status == JL_E_NOTFOUND)
		status = JEOUL_NOT_FOUND;
	else if (err->status == JL_E_AMBIGUOUS)
		status = JEOUL_AMBIGUOUS;
	else if (jl_err_is_usage(err))
		status = JEOUL_USAGE;
	if (error) {
		error->status = status;
		memcpy(error->text, err->text, sizeof(error->text));
	}
	return status;
}

struct jeoul *jeoul_open(const char *const *overlay_dirs, struct jeoul_error *error)
{
	struct jl_err err = { 0 };
	struct jeoul *jeoul = jl_realloc(NULL, sizeof(*jeoul));
	size_t n = 0;

	if (!jeoul) {
		jl_fail_nomem(&err);
		goto failed;
	}
	*jeoul = (struct jeoul){ .cat = jl_catalog_embedded(), .cache = jl_ask_cache_create() };
	jl_arena_init(&jeoul->arena, JL_ARENA_LIMIT_B);
	while (overlay_dirs && overlay_dirs[n])
		n++;
	if (n && jl_catalog_overlay(&jeoul->cat, overlay_dirs, n, &jeoul->arena, &err))
		goto failed;
	return jeoul;
failed:
	give_error(error, &err);
	jeoul_close(jeoul);
	return NULL;
}

void jeoul_close(struct jeoul *jeoul)
{
	if (!jeoul)
		return;
	jl_ask_cache_destroy(jeoul->cache);
	jl_arena_release(&jeoul->arena);
	jl_free(jeoul);
}

static struct jeoul_fact public_fact(const struct jeoul *jeoul, const struct jl_fact *fact, enum jl_kind kind)
{
	const struct jl_source *source = fact->source ? jl_source_by_id(jeoul->cat, fact->source) : NULL;

	return (struct jeoul_fact){
		.value = fact->value,
		.unit = jl_kind_suffix(kind),
		.origin = jl_fact_known(fact) ? jl_origin_name(fact->origin) : NULL,
		.source = fact->source,
		.source_url = source ? source->url : NULL,
		.date = fact->date,
	};
}

enum jeoul_status jeoul_gpu_fact(struct jeoul *jeoul, const char *name, const char *key, struct jeoul_fact *ret_fact,
				 struct jeoul_error *error)
{
	struct jl_err err = { 0 };
	const struct jl_gpu *gpu;

	if (jl_find_gpu(&gpu, jeoul->cat, name, &err))
		return give_error(error, &err);
	for (size_t i = 0; i < jl_gpu_fields.n; i++) {
		const struct jl_fact_field *field = &jl_gpu_fields.rows[i];

		if (strcmp(field->member, key) == 0) {
			*ret_fact = public_fact(jeoul, jl_field_fact(gpu, field), field->kind);
			return JEOUL_OK;
		}
	}
	jl_fail(&err, JL_E_USAGE, "'%s' is not a figure of an accelerator; one is e.g. '%s'", key,
		jl_gpu_fields.rows[0].member);
	return give_error(error, &err);
}

enum jeoul_status jeoul_system_parse(struct jeoul *jeoul, const char *text, struct jeoul_system *ret_system,
				     struct jeoul_error *error)
{
	struct jl_err err = { 0 };
	struct jl_sys sys;

	if (jl_sys_parse(&sys, jeoul->cat, text, &jeoul->arena, &err))
		return give_error(error, &err);
	*ret_system = (struct jeoul_system){
		.text = sys.text,
		.n_nodes = sys.n_nodes,
		.n_per_node = sys.n_per_node,
		.gpu = sys.gpu ? sys.gpu->id : NULL,
		.join = sys.join ? sys.join->id : NULL,
		.network = sys.net ? sys.net->id : NULL,
		.join_oneway_Bps = public_fact(jeoul, &sys.join_oneway_Bps, JL_K_BYTE_RATE),
		.network_oneway_Bps = public_fact(jeoul, &sys.net_oneway_Bps, JL_K_BYTE_RATE),
	};
	return JEOUL_OK;
}

enum jeoul_status jeoul_ask(const struct jeoul *jeoul, const char *command, const char *request, char **ret_answer,
			    struct jeoul_error *error)
{
	return jeoul_ask_reading(jeoul, command, request, NULL, ret_answer, error);
}

enum jeoul_status jeoul_ask_reading(const struct jeoul *jeoul, const char *command, const char *request,
				    const char *const *paths, char **ret_answer, struct jeoul_error *error)
{
	const struct jl_ask ask = { .front = &jl_cli_front,
				    .cat = jeoul->cat,
				    .cache = paths && *paths ? NULL : jeoul->cache, /* files change */
				    .paths = paths,
				    .today = jl_cli_today() };
	enum jeoul_status status = JEOUL_OK;
	struct jl_answer answer;

	jl_ask(&answer, &ask, command, request, strlen(request));
	if (answer.code == 1 || answer.code == 2) {
		status = give_error(error, &answer.err);
	} else if (!answer.out.data) {
		(void)jl_fail_nomem(&answer.err);
		status = give_error(error, &answer.err);
	} else {
		status = answer.code == 3 ? JEOUL_BAD : JEOUL_OK;
		*ret_answer = answer.out.data;
		answer.out = (struct jl_buf){ 0 };
	}
	jl_answer_release(&answer);
	return status;
}

void jeoul_free(char *answer)
{
	jl_free(answer);
}
