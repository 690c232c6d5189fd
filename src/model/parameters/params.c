/* Reads parameter vectors from the catalog, cached per thread. */
#include "parameters/params.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "catalog/find.h"

extern const unsigned char jl_constants_text[]; /* text of data/constants.txt */
extern const size_t jl_constants_text_len;

#define PARENTS_MAX 8 /* longest chain of parent families */
#define N_KEPT      24
#define KEPT_MAX    400
#define KEPT_ALL                                                                                                       \
	2048 /* cache capacity in numbers; a prediction reads about 650. Small, as thread-local memory is zeroed before main */
#define KEY_MAX 64

/* True if data/constants.txt lists the name: the parameter is fixed at its prior. */
static bool is_constant(const char *name)
{
	const char *line = (const char *)jl_constants_text, *end = line + jl_constants_text_len, *next;
	const size_t len = strlen(name);

	for (; (next = memchr(line, '\n', (size_t)(end - line))); line = next + 1)
		if ((size_t)(next - line) == len && memcmp(line, name, len) == 0)
			return true;
	return false;
}

/* Value of an unmeasured family: its prior times the parent's fitted value / the parent's prior. */
static double by_parent(const struct jl_catalog *cat, const struct jl_param *param)
{
	static const char mark[] = ".family.";
	const char *at = strstr(param->name, mark), *end = at ? strchr(at + strlen(mark), '.') : NULL;
	char id[80], name[sizeof(param->name)];

	if (!end || (size_t)(end - at) - strlen(mark) >= sizeof(id) || is_constant(param->name))
		return param->prior;
	(void)snprintf(id, sizeof(id), "%.*s", (int)(end - at - (ptrdiff_t)strlen(mark)), at + strlen(mark));
	for (int up = 0; up < PARENTS_MAX; up++) {
		const struct jl_family *family = jl_family_by_id(cat, id);

		if (!family || !family->parent)
			break;
		(void)snprintf(name, sizeof(name), "%.*s%s%s%s", (int)(at - param->name), param->name, mark,
			       family->parent, end);
		const struct jl_param_info *parent = jl_param_by_id(cat, name);

		if (parent && parent->prior > 0)
			return fmin(fmax(param->prior * parent->value / parent->prior, param->lo), param->hi);
		(void)snprintf(id, sizeof(id), "%s", family->parent);
	}
	return param->prior;
}

void jl_param_name(struct jl_param *param, const char *head, const char *owner, const char *tail)
{
	const char *const parts[] = { head, owner, *owner ? "." : "", tail };
	size_t at = 0;

	for (size_t i = 0; i < JL_LEN(parts); i++) {
		const size_t len = strnlen(parts[i], sizeof(param->name) - 1 - at);

		memcpy(param->name + at, parts[i], len);
		at += len;
	}
	param->name[at] = '\0';
}

static void as_listed(const struct jl_param_list *list, size_t i, struct jl_param *ret_param)
{
	if (list->table)
		*ret_param = list->table[i];
	else
		list->at(list->ctx, i, ret_param);
}

void jl_param_of(const struct jl_param_list *list, size_t i, struct jl_param *ret_param)
{
	as_listed(list, i, ret_param);
	if (is_constant(ret_param->name))
		ret_param->lo = ret_param->hi = ret_param->prior;
}

static void read_all(const struct jl_catalog *cat, const struct jl_param_list *list, double *ret_x)
{
	for (size_t i = 0; i < list->n; i++) {
		struct jl_param param;

		as_listed(list, i, &param);
		const struct jl_param_info *info = jl_param_by_id(cat, param.name);

		ret_x[i] = info ? info->value : by_parent(cat, &param);
	}
}

/* One cached vector. A prediction reads the same few vectors about ten times, and building the names would dominate its time. The catalog is
 * identified by the address of its lists and, unless built in, by a hash of the values, because another overlay may lie at the same address. */
struct kept {
	struct jl_params_mark mark;
	const struct jl_family *families;
	const struct jl_param *table;
	void (*list_at)(const void *ctx, size_t i, struct jl_param *ret_param);
	size_t n_families, n;
	char key[KEY_MAX];
	size_t at; /* index of the first value in the array of numbers */
};

struct jl_params_mark jl_params_mark(const struct jl_catalog *cat)
{
	struct jl_params_mark mark = { .params = cat->params, .n = cat->n_params };

	for (size_t i = 0; cat->params != jl_catalog_embedded()->params && i < cat->n_params; i++)
		mark.sum += (cat->params[i].value + fmax(cat->params[i].lo, 0) + fmax(cat->params[i].hi, 0)) *
			    (double)(i + 1);
	return mark;
}

bool jl_params_same(const struct jl_params_mark *a, const struct jl_params_mark *b)
{
	return a->params == b->params && a->n == b->n && a->sum == b->sum;
}

void jl_params_read(const struct jl_catalog *cat, const struct jl_param_list *list, double *ret_x)
{
	static _Thread_local struct kept all[N_KEPT];
	static _Thread_local double numbers[KEPT_ALL];
	static _Thread_local size_t n_all, n_numbers;
	struct kept *kept = all;

	if (!list->key || strlen(list->key) >= KEY_MAX || list->n > KEPT_MAX) {
		read_all(cat, list, ret_x);
		return;
	}
	const struct jl_params_mark mark = jl_params_mark(cat);

	while (kept < all + n_all && !(kept->list_at == list->at && kept->table == list->table && kept->n == list->n &&
				       jl_params_same(&kept->mark, &mark) && kept->families == cat->families &&
				       kept->n_families == cat->n_families && strcmp(kept->key, list->key) == 0))
		kept++;
	if (kept == all + n_all) {
		if (n_all == N_KEPT || n_numbers + list->n > KEPT_ALL)
			n_all = n_numbers = 0;
		kept = &all[n_all++];
		*kept = (struct kept){ .mark = mark,
				       .families = cat->families,
				       .table = list->table,
				       .list_at = list->at,
				       .n_families = cat->n_families,
				       .n = list->n,
				       .at = n_numbers };
		n_numbers += list->n;
		(void)snprintf(kept->key, sizeof(kept->key), "%s", list->key);
		read_all(cat, list, numbers + kept->at);
	}
	memcpy(ret_x, numbers + kept->at, list->n * sizeof(*ret_x));
}

void jl_params_start(const struct jl_param_list *list, double *ret_x)
{
	for (size_t i = 0; i < list->n; i++) {
		struct jl_param param;

		jl_param_of(list, i, &param);
		ret_x[i] = param.prior;
	}
}

bool jl_params_seen(const struct jl_catalog *cat, const char *prefix)
{
	const size_t len = strlen(prefix);

	for (size_t i = 0; i < cat->n_params; i++)
		if (cat->params[i].n_rows > 0 && strncmp(cat->params[i].id, prefix, len) == 0)
			return true;
	return false;
}

bool jl_params_own(const struct jl_catalog *cat, struct jl_param_list list, size_t n_own, double *ret_x)
{
	bool seen = false;

	list.key = "";
	list.n -= n_own;
	jl_params_read(cat, &list, ret_x);
	for (size_t i = list.n; i < list.n + n_own; i++) {
		struct jl_param param;

		jl_param_of(&list, i, &param);
		const struct jl_param_info *info = list.ctx ? jl_param_by_id(cat, param.name) : NULL;

		ret_x[i] = info ? info->value : param.prior;
		seen |= info && info->n_rows > 0;
	}
	return seen;
}
