/* Finds catalog records by names as users write them. */
#include "catalog/find.h"

#include <string.h>
#include <strings.h>

#include "catalog/names.h"
#include "catalog/shelf.h"

/* Searchable records of one kind: by id, name and aliases if they have any. */
#define SHELF(NAME, TYPE, MEMBER, TEXT, MANY, ALIASES, ...)                                                            \
	static struct jl_shelf NAME##_shelf(const struct jl_catalog *cat)                                              \
	{                                                                                                              \
		return (struct jl_shelf){ .en = (TEXT),                                                                \
					  .en_many = (MANY),                                                           \
					  .list = #MEMBER,                                                             \
					  .base = (const char *)cat->MEMBER,                                           \
					  .n = cat->n_##MEMBER,                                                        \
					  .stride = sizeof(struct TYPE),                                               \
					  .id = offsetof(struct TYPE, id),                                             \
					  .name = offsetof(struct TYPE, name),                                         \
					  .aliases = (ALIASES),                                                        \
					  __VA_ARGS__ };                                                               \
	}
#define ALIASES(TYPE) offsetof(struct TYPE, aliases)

SHELF(gpu, jl_gpu, gpus, JL_N("accelerator"), JL_N("accelerators"), ALIASES(jl_gpu), .article = "an", .is_gpu = true)
SHELF(system, jl_system, systems, JL_N("system"), JL_N("systems"), ALIASES(jl_system), .is_system = true)
SHELF(cpu, jl_cpu, cpus, JL_N("CPU"), JL_N("CPUs"), ALIASES(jl_cpu), .is_gpu = false)
SHELF(link, jl_link_info, links, JL_N("link"), JL_N("links"), ALIASES(jl_link_info), .is_gpu = false)
SHELF(model, jl_model_info, models, JL_N("model"), JL_N("models"), ALIASES(jl_model_info), .is_gpu = false)
SHELF(family, jl_family, families, JL_N("family"), JL_N("families"), JL_NO_ALIASES, .is_gpu = false)

static enum jl_status find_on(size_t *ret_index, const struct jl_shelf *shelf, const char *text, struct jl_err *err)
{
	struct jl_nearest nearest = { 0 };
	struct jl_picked picked;
	struct jl_asked asked = { 0 };

	JL_TRY(jl_shelf_ask(&asked, shelf, text, err));
	jl_shelf_search(&picked, shelf, &asked);
	if (picked.n == 1) {
		*ret_index = picked.index[0];
		return JL_OK;
	}
	if (picked.n == 0) {
		jl_shelf_near(&nearest, shelf, &asked);
		return jl_shelf_fail_nearest(shelf, &asked, &nearest, err);
	}
	return jl_shelf_fail_ambiguous(shelf, &asked, &picked, err);
}

/* Unit by a rule of catalog/names.yaml; JL_E_NOTFOUND without a message: no rule. */
static enum jl_status unit_by_rule(struct jl_found *ret_found, const struct jl_catalog *cat, const char *text,
				   struct jl_err *err)
{
	const struct jl_named named = jl_named(cat, "unit-name", text);
	struct jl_found found = { 0 };

	if (!named.rule)
		return JL_E_NOTFOUND;
	JL_TRY(jl_named_settles(&named, text, err));
	const char *id = jl_named_id(&named, &found.n);
	found.gpu = jl_gpu_by_id(cat, id);
	for (size_t i = 0; !found.gpu && !found.system && i < cat->n_systems; i++)
		if (jl_same_text(cat->systems[i].id, id))
			found.system = &cat->systems[i];
	if (!found.gpu && !found.system)
		return JL_E_NOTFOUND;
	jl_named_note(cat, &named, text);
	*ret_found = found;
	return JL_OK;
}

enum jl_status jl_find_gpu(const struct jl_gpu **ret_gpu, const struct jl_catalog *cat, const char *text,
			   struct jl_err *err)
{
	struct jl_shelf shelf = gpu_shelf(cat);
	struct jl_found named = { 0 };
	size_t i = 0;
	const enum jl_status status = find_on(&i, &shelf, text, err);

	if (!status) {
		*ret_gpu = &cat->gpus[i];
		return JL_OK;
	}
	if (status == JL_E_NOMEM || unit_by_rule(&named, cat, text, NULL) || !named.gpu || named.n > 1)
		return status;
	*ret_gpu = named.gpu;
	return JL_OK;
}

size_t jl_find_gpus(const struct jl_gpu **ret_gpus, size_t max, const struct jl_catalog *cat, const char *text)
{
	struct jl_shelf shelf = gpu_shelf(cat);
	struct jl_picked picked;
	struct jl_asked asked = { 0 };
	size_t n = 0, i;

	if (jl_shelf_ask(&asked, &shelf, text, NULL) != JL_OK)
		return 0;
	jl_shelf_search(&picked, &shelf, &asked);
	if (picked.fit == JL_FIT_ID && max > 0)
		ret_gpus[0] = &cat->gpus[picked.index[0]];
	if (picked.fit == JL_FIT_ID)
		return 1;
	for (i = 0; n < picked.n && i < shelf.n; i++) {
		if (jl_shelf_fit(&shelf, i, &asked) != picked.fit)
			continue;
		if (n < max)
			ret_gpus[n] = &cat->gpus[i];
		n++;
	}
	return n;
}

enum jl_status jl_find_cpu(const struct jl_cpu **ret_cpu, const struct jl_catalog *cat, const char *text,
			   struct jl_err *err)
{
	struct jl_shelf shelf = cpu_shelf(cat);
	size_t i = 0;

	if (strncasecmp(text, "cpu:", 4) == 0)
		text += 4;
	JL_TRY(find_on(&i, &shelf, text, err));
	*ret_cpu = &cat->cpus[i];
	return JL_OK;
}

static const struct {
	const char *en, *en_many;
	const char *hint_en; /* text that says where such a name belongs */
} role_names[] = {
	[JL_ROLE_WIRE] = { JL_N("wire"), JL_N("wires"), JL_N("a wire, of which joins are made") },
	[JL_ROLE_JOIN] = { JL_N("join"), JL_N("joins"), JL_N("a join (via)") },
	[JL_ROLE_NETWORK] = { JL_N("network"), JL_N("networks"), JL_N("a network (over)") },
	[JL_ROLE_SWITCH] = { JL_N("switch"), JL_N("switches"), JL_N("a switch chip") },
};
#define N_ROLES (JL_LEN(role_names))

/* Error for a link of another role: "pcie4-no-p2p" after `over`. */
static enum jl_status other_role(const struct jl_catalog *cat, const struct jl_shelf *shelf, const char *text,
				 enum jl_status status, struct jl_err *err)
{
	struct jl_shelf all = *shelf;
	struct jl_picked picked;
	struct jl_asked asked = { 0 };
	size_t role;

	all.has_role = false;
	if (jl_shelf_ask(&asked, &all, text, NULL) != JL_OK)
		return status;
	jl_shelf_search(&picked, &all, &asked);
	if (picked.n == 0 || picked.fit > JL_FIT_ORDER)
		return status;
	role = (size_t)cat->links[picked.index[0]].role;
	if (role >= N_ROLES)
		return status;
	return jl_fail(err, JL_E_NOTFOUND, "'%s' is {%s}; here should be a {%s}", asked.text, role_names[role].hint_en,
		       shelf->en);
}

enum jl_status jl_find_link(const struct jl_link_info **ret_link, const struct jl_catalog *cat, const char *text,
			    enum jl_link_role role, struct jl_err *err)
{
	struct jl_shelf shelf = link_shelf(cat);
	size_t i = 0;

	if ((size_t)role < N_ROLES) {
		shelf.has_role = true;
		shelf.role = role;
		shelf.en = role_names[role].en;
		shelf.en_many = role_names[role].en_many;
	}
	enum jl_status status = find_on(&i, &shelf, text, err);
	if (status == JL_E_NOTFOUND && shelf.has_role)
		return other_role(cat, &shelf, text, status, err);
	if (!status)
		*ret_link = &cat->links[i];
	return status;
}

/* Adds a network's name to the near names; true: it is the exact name. */
static bool near_network(struct jl_nearest *nearest, const struct jl_asked *asked, const char *name)
{
	struct jl_words have;

	jl_words_split(&have, name);
	jl_nearest_add(nearest, name, jl_nearest_cost(asked->words.glued, have.glued));
	return strcmp(asked->words.glued, have.glued) == 0;
}

/* Error for an unknown name; suggests the nearest model or network. */
static enum jl_status fail_model(const struct jl_catalog *cat, const char *text, const char *plain, struct jl_err *err)
{
	const struct jl_shelf shelf = model_shelf(cat);
	struct jl_nearest nearest = { 0 };
	struct jl_asked asked = { 0 }, whole = { 0 };
	bool is_network = false;

	JL_TRY(jl_shelf_ask(&whole, &shelf, text, err));
	JL_TRY(jl_shelf_ask(&asked, &shelf, plain, err));
	jl_shelf_near(&nearest, &shelf, &asked);
	for (size_t i = 0; i < cat->n_convnets; i++) {
		if (!cat->convnets[i].program)
			is_network |= near_network(&nearest, &asked, cat->convnets[i].id);
		for (const char *const *m = cat->convnets[i].members; m && *m; m++)
			is_network |= near_network(&nearest, &asked, *m);
	}
	if (is_network)
		return jl_fail(err, JL_E_NOTFOUND,
			       "'%s' is a network of other layers; a transformer is required here, 'jeoul catalog list "
			       "models' shows them",
			       text);
	return jl_shelf_fail_nearest(&shelf, &whole, &nearest, err);
}

/* Model by its words, or by a rule of catalog/names.yaml. JL_E_NOTFOUND without a message: unknown. */
static enum jl_status model_by_words(size_t *ret_index, const struct jl_catalog *cat, const char *text,
				     struct jl_err *err)
{
	const struct jl_shelf shelf = model_shelf(cat);
	struct jl_asked asked = { 0 };
	struct jl_picked picked;
	int n;

	JL_TRY(jl_shelf_ask(&asked, &shelf, text, err));
	jl_shelf_search(&picked, &shelf, &asked);
	const bool is_called = picked.n == 1 && picked.fit <= JL_FIT_ORDER;
	struct jl_named named = { .rule = NULL };

	if (!is_called || picked.fit > JL_FIT_ID_WORDS)
		named = jl_named(cat, "model-name", text);
	if (!named.rule) {
		*ret_index = is_called ? picked.index[0] : *ret_index;
		return is_called ? JL_OK : JL_E_NOTFOUND;
	}
	JL_TRY(jl_named_settles(&named, text, err));
	const struct jl_model_info *model = jl_model_by_id(cat, jl_named_id(&named, &n));
	if (!model) /* not a model: try networks */
		return JL_E_NOTFOUND;
	jl_named_note(cat, &named, text);
	*ret_index = (size_t)(model - cat->models);
	return JL_OK;
}

enum jl_status jl_find_model(const struct jl_model_info **ret_model, const struct jl_catalog *cat, const char *text,
			     struct jl_err *err)
{
	const struct jl_shelf shelf = model_shelf(cat);
	char plain[JL_NAME_MAX + 1];
	size_t i = 0;
	enum jl_status status = JL_E_NOTFOUND;

	if (strnlen(text, JL_NAME_MAX + 1) > JL_NAME_MAX)
		return find_on(&i, &shelf, text, err);
	status = model_by_words(&i, cat, text, err);
	jl_name_of_model(plain, text);
	if (status == JL_E_NOTFOUND && strcmp(plain, text) != 0)
		status = model_by_words(&i, cat, plain, err);
	while (status == JL_E_NOTFOUND && jl_name_cut_suffix(plain, cat, NULL))
		status = model_by_words(&i, cat, plain, err);
	if (status == JL_E_NOTFOUND)
		status = find_on(&i, &shelf, text, err);
	if (status == JL_E_NOTFOUND)
		status = find_on(&i, &shelf, plain, err);
	if (status == JL_E_NOTFOUND && err)
		return fail_model(cat, text, plain, err);
	if (!status)
		*ret_model = &cat->models[i];
	return status;
}

static enum jl_status fail_unit(const struct jl_shelf *gpus, const struct jl_shelf *systems,
				const struct jl_asked *asked, struct jl_err *err)
{
	const struct jl_shelf either = { .en = JL_N("accelerator or system") };
	struct jl_nearest nearest = { 0 };

	jl_shelf_near(&nearest, gpus, asked);
	jl_shelf_near(&nearest, systems, asked);
	return jl_shelf_fail_nearest(&either, asked, &nearest, err);
}

/* Finds a unit: words of its id, then rules, then aliases and words inside longer text. JL_E_NOTFOUND without a message. */
static enum jl_status find_unit(struct jl_found *ret_found, const struct jl_catalog *cat, const char *text,
				struct jl_err *err)
{
	const struct jl_shelf gpus = gpu_shelf(cat), systems = system_shelf(cat);
	struct jl_picked gpu, system;
	struct jl_asked asked = { 0 };

	JL_TRY(jl_shelf_ask(&asked, &gpus, text, err));
	jl_shelf_search(&gpu, &gpus, &asked);
	jl_shelf_search(&system, &systems, &asked);
	/* The better match wins. Systems are named after their accelerators, so on a tie the accelerator is meant. */
	const bool is_gpu = gpu.fit <= system.fit;
	const struct jl_picked *best = is_gpu ? &gpu : &system;

	if (best->n != 1 || best->fit > JL_FIT_ID_WORDS) {
		const enum jl_status status = unit_by_rule(ret_found, cat, text, err);

		if (status != JL_E_NOTFOUND || best->n == 0)
			return status;
	}
	if (best->n > 1)
		return jl_shelf_fail_ambiguous(is_gpu ? &gpus : &systems, &asked, best, err);
	*ret_found = (struct jl_found){ .gpu = is_gpu ? &cat->gpus[gpu.index[0]] : NULL,
					.system = is_gpu ? NULL : &cat->systems[system.index[0]] };
	return JL_OK;
}

bool jl_unit_is_called(const struct jl_catalog *cat, const char *text)
{
	const struct jl_shelf shelves[] = { gpu_shelf(cat), system_shelf(cat) };
	char clean[JL_NAME_MAX + 1];
	struct jl_asked asked = { 0 };
	struct jl_picked picked;
	bool is = false;

	for (size_t i = 0; !is && i < JL_LEN(shelves) && jl_shelf_ask(&asked, &shelves[i], text, NULL) == JL_OK; i++) {
		jl_shelf_search(&picked, &shelves[i], &asked);
		is = picked.n > 0 && picked.fit <= JL_FIT_MEMORY;
	}
	return is ||
	       (jl_name_clean_unit(clean, cat, text) && strcmp(clean, text) != 0 && jl_unit_is_called(cat, clean));
}

enum jl_status jl_find_unit(struct jl_found *ret_found, const struct jl_catalog *cat, const char *text,
			    struct jl_err *err)
{
	const struct jl_shelf gpus = gpu_shelf(cat), systems = system_shelf(cat);
	const struct jl_found at_once = { .gpu = jl_gpu_by_id(cat, text) }; /* fast path: exact id */
	char clean[JL_NAME_MAX + 1];
	struct jl_asked asked = { 0 };
	enum jl_status status;

	if (at_once.gpu) {
		*ret_found = at_once;
		return JL_OK;
	}
	status = find_unit(ret_found, cat, text, err);
	if (status == JL_E_NOTFOUND && jl_name_clean_unit(clean, cat, text))
		status = find_unit(ret_found, cat, clean, err);
	if (status != JL_E_NOTFOUND)
		return status;
	JL_TRY(jl_shelf_ask(&asked, &gpus, text, err));
	return fail_unit(&gpus, &systems, &asked, err);
}

/* Kinds in the order of struct jl_found_any. */
enum { ANY_GPU, ANY_SYSTEM, ANY_CPU, ANY_MODEL, ANY_FAMILY, ANY_LINK, N_ANY };

enum jl_status jl_find_any(struct jl_found_any *ret_found, const struct jl_catalog *cat, const char *text,
			   struct jl_err *err)
{
	struct jl_shelf shelves[N_ANY] = { gpu_shelf(cat),   system_shelf(cat), cpu_shelf(cat),
					   model_shelf(cat), family_shelf(cat), link_shelf(cat) };
	const struct jl_shelf all = { .en = JL_N("record of the catalog") };
	struct jl_nearest nearest = { 0 };
	struct jl_picked picked, best = { .fit = JL_FIT_NOT };
	struct jl_asked asked = { 0 };
	const struct jl_model_info *model;
	size_t kind = 0, at;

	JL_TRY(jl_shelf_ask(&asked, &all, text, err));
	for (size_t k = 0; k < N_ANY; k++) {
		shelves[k].strict = k > ANY_SYSTEM;
		jl_shelf_search(&picked, &shelves[k], &asked);
		jl_shelf_near(&nearest, &shelves[k], &asked);
		if (picked.n == 0 || picked.fit >= best.fit)
			continue;
		best = picked;
		kind = k;
	}
	if (best.n == 0 && !jl_find_model(&model, cat, text, NULL)) {
		*ret_found = (struct jl_found_any){ .model = model };
		return JL_OK;
	}
	if (best.n == 0)
		return jl_shelf_fail_nearest(&all, &asked, &nearest, err);
	if (best.n > 1)
		return jl_shelf_fail_ambiguous(&shelves[kind], &asked, &best, err);
	at = best.index[0];
	*ret_found = (struct jl_found_any){ .gpu = kind == ANY_GPU ? &cat->gpus[at] : NULL,
					    .system = kind == ANY_SYSTEM ? &cat->systems[at] : NULL,
					    .cpu = kind == ANY_CPU ? &cat->cpus[at] : NULL,
					    .model = kind == ANY_MODEL ? &cat->models[at] : NULL,
					    .family = kind == ANY_FAMILY ? &cat->families[at] : NULL,
					    .link = kind == ANY_LINK ? &cat->links[at] : NULL };
	return JL_OK;
}
