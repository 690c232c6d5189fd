/* Resolves the accelerator of a price row. Sources write "H100" for any of several variants. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "catalog/find.h"
#include "catalog/load.h"

#define SPELLINGS_MAX  1000
#define CANDIDATES_MAX 16

/* Words of an item that identify the form factor if the accelerator cell does not. */
static const char *const boards[] = { "sxm", "pcie", "nvl" };

/* "AWS" and "p5.48xlarge" give the system aws:p5.48xlarge, "Azure" and "Standard_NC6" azure:nc6; NULL: no such system, or no accelerator in it. */
static const char *gpu_of_system(const struct jl_catalog *cat, const struct jl_price *price)
{
	static const char prefix[] = "Standard_"; /* used in Azure's price list, mostly not in its documentation */
	size_t n_provider = price->provider ? strlen(price->provider) : 0;
	const char *item = price->item ? price->item : "";

	if (strncmp(item, prefix, strlen(prefix)) == 0)
		item += strlen(prefix);
	for (size_t i = 0; n_provider && i < cat->n_systems; i++) {
		const char *id = cat->systems[i].id;

		if (id && strncasecmp(id, price->provider, n_provider) == 0 && id[n_provider] == ':' &&
		    strcasecmp(id + n_provider + 1, item) == 0)
			return cat->systems[i].gpu;
	}
	return NULL;
}

/* GPU that the provider offers under that name. */
static const char *gpu_of_provider(const struct jl_catalog *cat, const struct jl_price *price)
{
	for (size_t i = 0; i < cat->n_rules; i++) {
		const struct jl_rule *rule = &cat->rules[i];

		if (jl_same_text(rule->kind, "rents-out") && jl_same_text(rule->subject, price->provider) &&
		    jl_same_text(rule->name, price->gpu_text)) {
			const struct jl_gpu *gpu = jl_gpu_by_id(cat, rule->value);

			return gpu ? gpu->id : NULL;
		}
	}
	return NULL;
}

/* "tpu-v6e-8" -> "tpu-v6e": removes the slice size. */
static void plain_name(char out[64], const char *text)
{
	snprintf(out, 64, "%s", text);
	char *dash = strrchr(out, '-');
	if (strncmp(out, "tpu-", 4) == 0 && dash > out + 4 && dash[1] >= '0' && dash[1] <= '9')
		*dash = '\0';
}

/* Accelerator in an item COUNTx-NAME-...: "4x-RTX_4070S_Ti-32-65536" -> "RTX 4070 SUPER Ti". */
static bool name_in_item(char out[64], const char *item)
{
	size_t digits = strspn(item, "0123456789"), at = 0;
	const char *c = item + digits + 2;

	if (digits == 0 || strncmp(item + digits, "x-", 2) != 0)
		return false;
	for (; *c && *c != '-' && at + 8 < 64; c++) {
		if (*c == 'S' && c[-1] >= '0' && c[-1] <= '9' && (c[1] == '_' || c[1] == '-' || !c[1]))
			at += (size_t)snprintf(out + at, 64 - at, " SUPER");
		else
			out[at++] = *c == '_' ? ' ' : *c;
	}
	out[at] = '\0';
	return at > 0;
}

/* Accelerators of that name with the form factor named in the item. */
static size_t with_board(const struct jl_gpu **gpus, const struct jl_catalog *cat, const char *name, const char *item)
{
	char text[80];
	size_t n = 0;

	for (size_t b = 0; n == 0 && b < JL_LEN(boards); b++) {
		if (!strcasestr(item, boards[b]))
			continue;
		snprintf(text, sizeof(text), "%s %s", name, boards[b]);
		n = jl_find_gpus(gpus, CANDIDATES_MAX, cat, text);
	}
	return n;
}

/* All accelerators that match the row, at most CANDIDATES_MAX. */
static size_t candidates(const struct jl_gpu **gpus, const struct jl_catalog *cat, const struct jl_price *price)
{
	char name[64];
	size_t n = 0;

	/* the item first: the accelerator column of this source gives only the family */
	if (price->item && name_in_item(name, price->item))
		n = jl_find_gpus(gpus, CANDIDATES_MAX, cat, name);
	if (n == 1)
		return n;
	plain_name(name, price->gpu_text);
	n = jl_find_gpus(gpus, CANDIDATES_MAX, cat, name);
	if (n > 1 && price->item) {
		const struct jl_gpu *closer[CANDIDATES_MAX];
		size_t n_closer = with_board(closer, cat, name, price->item);

		if (n_closer && n_closer < n) {
			n = n_closer;
			memcpy(gpus, closer, (n < CANDIDATES_MAX ? n : CANDIDATES_MAX) * sizeof(*gpus));
		}
	}
	return n < CANDIDATES_MAX ? n : CANDIDATES_MAX;
}

size_t jl_price_gpus(const struct jl_gpu **ret_gpus, size_t max, const struct jl_catalog *cat,
		     const struct jl_price *price)
{
	const struct jl_gpu *found[CANDIDATES_MAX];

	found[0] = jl_gpu_by_id(cat, price->gpu);
	size_t n = found[0] ? 1 : price->gpu_text ? candidates(found, cat, price) : 0;
	for (size_t i = 0; i < n && i < max; i++)
		ret_gpus[i] = found[i];
	return n;
}

/* Cache of spellings: they repeat from row to row. */
struct spelling {
	const char *text, *item;
	const char *gpu;
};

struct spellings {
	struct spelling *known;
	size_t n, max;
};

static const char *gpu_by_spelling(const struct jl_catalog *cat, const struct jl_price *price, struct spellings *all)
{
	const struct jl_gpu *gpus[CANDIDATES_MAX];
	const char *item = price->item ? price->item : "";

	for (size_t i = all->n; i-- > 0;)
		if (strcmp(all->known[i].text, price->gpu_text) == 0 && strcmp(all->known[i].item, item) == 0)
			return all->known[i].gpu;
	/* more spellings than any price list has: looking each up would take minutes */
	if (all->n >= all->max)
		return NULL;
	const char *gpu = candidates(gpus, cat, price) == 1 ? gpus[0]->id : NULL;
	all->known[all->n++] = (struct spelling){ .text = price->gpu_text, .item = item, .gpu = gpu };
	return gpu;
}

enum jl_status jl_prices_resolve(const struct jl_catalog *cat, struct jl_price *prices, size_t n,
				 struct jl_arena *arena, struct jl_err *err)
{
	struct spellings all = { .max = n < SPELLINGS_MAX ? n : SPELLINGS_MAX };

	all.known = jl_arena_array(arena, all.max, sizeof(*all.known));
	JL_TRY(jl_got(all.known, err));
	for (size_t i = 0; i < n; i++) {
		if (prices[i].gpu)
			continue;
		prices[i].gpu = gpu_of_system(cat, &prices[i]);
		if (!prices[i].gpu)
			prices[i].gpu = gpu_of_provider(cat, &prices[i]);
		if (!prices[i].gpu && prices[i].gpu_text)
			prices[i].gpu = gpu_by_spelling(cat, &prices[i], &all);
	}
	return JL_OK;
}

bool jl_price_is_offer(const struct jl_price *price, const char *system_id)
{
	const char *colon = strchr(system_id, ':');
	size_t len = colon ? (size_t)(colon - system_id) : 0;
	const char *item = price->item ? price->item : "";

	if (!colon || !price->provider || strncasecmp(price->provider, system_id, len) != 0 || price->provider[len])
		return false;
	if (strncmp(item, "Standard_", 9) == 0) /* item names of Azure have the prefix Standard_ */
		item += 9;
	return strcasecmp(item, colon + 1) == 0;
}

const struct jl_system *jl_price_system(const struct jl_catalog *cat, const struct jl_price *price)
{
	for (size_t i = 0; price->gpu && i < cat->n_systems; i++) {
		const struct jl_system *s = &cat->systems[i];

		if (s->n_gpu == (int)price->n_gpu && s->gpu && strcmp(s->gpu, price->gpu) == 0 &&
		    jl_price_is_offer(price, s->id))
			return s;
	}
	return NULL;
}
