/* Reads parts lists. */
#include "build/rig.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/units.h"
#include "catalog/find.h"
#include "catalog/possible.h"

#define GPUS_MAX 64

enum form { TEXT, NUMBER, QUANTITY, WORD, GPU, FLAG };

static const char *const coolings[] = { "unknown", "open-air", "blower", "water", "passive", NULL };
static const char *const inputs[] = { "unknown", "while-training", "before-training", NULL };

/* One row per part: key, type, member, unit of a quantity, bounds, allowed words. */
/* clang-format off */
#define PARTS(X) \
	X("name", TEXT, name, 0, 0, 0, NULL) \
	X("gpu", GPU, gpu, 0, 0, 0, NULL) \
	X("gpu_power_limit", QUANTITY, gpu_limit_W, JL_K_POWER, 50, 2000, NULL) \
	X("gpu_slots", NUMBER, gpu_slots, 0, 1, 5, NULL) \
	X("gpu_length", QUANTITY, gpu_length_m, JL_K_LENGTH, 0.1, 1, NULL) \
	X("gpu_8pin", NUMBER, gpu_8pin, 0, 0, 8, NULL) \
	X("cooling", WORD, cooling, 0, 0, 0, coolings) \
	X("psu", QUANTITY, psu_W, JL_K_POWER, 100, 20000, NULL) \
	X("psu_model", TEXT, psu_model, 0, 0, 0, NULL) \
	X("psu_peak", QUANTITY, psu_peak_W, JL_K_POWER, 100, 40000, NULL) \
	X("psu_count", NUMBER, n_psu, 0, 1, 8, NULL) \
	X("psu_8pin", NUMBER, psu_8pin, 0, 0, 64, NULL) \
	X("psu_12vhpwr", NUMBER, psu_12vhpwr, 0, 0, 16, NULL) \
	X("psu_atx3", FLAG, psu_atx3, 0, 0, 0, NULL) \
	X("board", TEXT, board, 0, 0, 0, NULL) \
	X("board_x16_slots", NUMBER, board_x16, 0, 1, 16, NULL) \
	X("board_spacing", NUMBER, board_spacing, 0, 1, 8, NULL) \
	X("board_lanes_per_gpu", NUMBER, board_lanes, 0, 1, 16, NULL) \
	X("board_pcie", NUMBER, board_pcie_gen, 0, 1, 7, NULL) \
	X("cpu", TEXT, cpu, 0, 0, 0, NULL) \
	X("cpu_power", QUANTITY, cpu_W, JL_K_POWER, 5, 2000, NULL) \
	X("cpu_threads", NUMBER, cpu_threads, 0, 1, 2048, NULL) \
	X("cpu_lanes", NUMBER, cpu_lanes, 0, 4, 512, NULL) \
	X("input", WORD, input, 0, 0, 0, inputs) \
	X("ram", QUANTITY, ram_B, JL_K_BYTES, 1e6, 1e15, NULL) \
	X("ssd", QUANTITY, ssd_B, JL_K_BYTES, 0, 1e17, NULL) \
	X("hdd", QUANTITY, hdd_B, JL_K_BYTES, 0, 1e17, NULL) \
	X("data", QUANTITY, data_B, JL_K_BYTES, 0, 1e17, NULL) \
	X("case", TEXT, case_name, 0, 0, 0, NULL) \
	X("case_slots", NUMBER, case_slots, 0, 1, 20, NULL) \
	X("case_gpu_length", QUANTITY, case_length_m, JL_K_LENGTH, 0.1, 2, NULL) \
	X("circuit_volts", NUMBER, circuit_V, 0, 90, 420, NULL) \
	X("circuit_amperes", NUMBER, circuit_A, 0, 1, 500, NULL) \
	X("nvlink", FLAG, nvlink, 0, 0, 0, NULL)
/* clang-format on */
#define FIELD(KEY, FORM, MEMBER, KIND, LO, HI, WORDS)                                                                  \
	{ KEY, FORM, offsetof(struct jl_rig, MEMBER), KIND, LO, HI, WORDS },
#define KEY_OF(KEY, ...) KEY,
static const struct field {
	const char *key;
	enum form form;
	size_t offset;
	enum jl_kind kind;        /* QUANTITY */
	double lo, hi;            /* NUMBER, QUANTITY */
	const char *const *words; /* WORD */
} fields[] = { PARTS(FIELD) };
#define N_FIELDS (JL_LEN(fields))

const char *const jl_rig_keys[] = { PARTS(KEY_OF) NULL };

struct jl_rig jl_rig_empty(void)
{
	struct jl_rig rig = { 0 };

	for (size_t i = 0; i < N_FIELDS; i++)
		if (fields[i].form == NUMBER || fields[i].form == QUANTITY)
			*(double *)(void *)((char *)&rig + fields[i].offset) = NAN;
	rig.n_psu = 1;
	return rig;
}

/* Parses "2x rtx-3090", "2xrtx-3090", "rtx-3090". */
static enum jl_status set_gpu(struct jl_rig *rig, const char *text, const struct jl_where *where,
			      const struct jl_catalog *cat, struct jl_err *err)
{
	char *end;
	long n = strtol(text, &end, 10);
	struct jl_err inner;

	if (end > text && (*end == 'x' || *end == 'X' || *end == '*')) {
		text = end + 1;
		while (*text == ' ')
			text++;
	} else {
		n = 1;
	}
	if (n < 1 || n > GPUS_MAX)
		return jl_fail_at(err, JL_E_RANGE, where, "gpu: from 1 to %d cards", GPUS_MAX);
	if (jl_find_gpu(&rig->gpu, cat, text, &inner))
		return jl_fail_from(err, inner.status, where, &inner, "gpu: {}");
	if (jl_card_possible(rig->gpu, cat, &inner))
		return jl_fail_from(err, inner.status, where, &inner, "gpu: {}");
	rig->n_gpus = (int)n;
	return JL_OK;
}

static enum jl_status set_word(int *ret_value, const struct field *f, const char *text, const struct jl_where *where,
			       struct jl_err *err)
{
	char list[128] = "";

	for (int i = 1; f->words[i]; i++) {
		if (strcasecmp(f->words[i], text) == 0) {
			*ret_value = i;
			return JL_OK;
		}
		strncat(list, i > 1 ? ", " : "", sizeof list - strlen(list) - 1);
		strncat(list, f->words[i], sizeof list - strlen(list) - 1);
	}
	return jl_fail_at(err, JL_E_PARSE, where, "%s: '%.40s' is none of %s", f->key, text, list);
}

static enum jl_status set_flag(bool *ret_value, const char *key, const char *text, const struct jl_where *where,
			       struct jl_err *err)
{
	if (strcasecmp(text, "yes") != 0 && strcasecmp(text, "no") != 0)
		return jl_fail_at(err, JL_E_PARSE, where, "%s: yes or no", key);
	*ret_value = strcasecmp(text, "yes") == 0;
	return JL_OK;
}

static enum jl_status set_number(double *ret_value, const struct field *f, const char *text,
				 const struct jl_where *where, struct jl_err *err)
{
	double value;
	struct jl_err inner;

	if (jl_units_parse(&value, text, f->form == NUMBER ? JL_K_NUMBER : f->kind, f->key, &inner)) {
		if (!where->file) {
			*err = inner;
			return inner.status;
		}
		jl_fail_from(err, inner.status, where, &inner, "{}");
		return inner.status;
	}
	if (!(value >= f->lo && value <= f->hi))
		return jl_fail_at(err, JL_E_RANGE, where, "%s: '%.40s' is not between %g and %g %s", f->key, text,
				  f->lo, f->hi, f->form == NUMBER ? "" : jl_kind_suffix(f->kind));
	*ret_value = value;
	return JL_OK;
}

const struct jl_rule *jl_part_named(const struct jl_catalog *cat, const char *kind, const char *text)
{
	for (size_t i = 0; text && i < cat->n_rules; i++)
		if (strcmp(cat->rules[i].kind, kind) == 0 && strcasestr(text, cat->rules[i].name))
			return &cat->rules[i];
	return NULL;
}

/* A power supply is given by its power or by its name. */
static enum jl_status check_psu_name(const char *text, const struct jl_where *where, const struct jl_catalog *cat,
				     struct jl_err *err)
{
	char list[256] = "";

	if (jl_part_named(cat, "psu", text))
		return JL_OK;
	for (size_t i = 0; i < cat->n_rules; i++)
		if (strcmp(cat->rules[i].kind, "psu") == 0) {
			strncat(list, *list ? ", " : "", sizeof list - strlen(list) - 1);
			strncat(list, cat->rules[i].name, sizeof list - strlen(list) - 1);
		}
	return jl_fail_at(err, JL_E_NOTFOUND, where,
			  "psu: '%.60s' is not in the catalog; give its power, e.g. \"1600 W\", or one of %s", text,
			  list);
}

enum jl_status jl_rig_set(struct jl_rig *rig, const char *key, const char *text, const struct jl_where *where,
			  const struct jl_catalog *cat, struct jl_arena *arena, struct jl_err *err)
{
	if (strcmp(key, "psu") == 0 && !isdigit((unsigned char)*text)) {
		JL_TRY(check_psu_name(text, where, cat, err));
		key = "psu_model";
	}
	for (size_t i = 0; i < N_FIELDS; i++) {
		const struct field *f = &fields[i];
		char *at = (char *)rig + f->offset;

		if (strcmp(f->key, key) != 0)
			continue;
		switch (f->form) {
		case GPU: return set_gpu(rig, text, where, cat, err);
		case WORD: return set_word((int *)(void *)at, f, text, where, err);
		case FLAG: return set_flag((bool *)at, key, text, where, err);
		case NUMBER:
		case QUANTITY: return set_number((double *)(void *)at, f, text, where, err);
		case TEXT: {
			const char *copy = jl_arena_strdup(arena, text);
			JL_TRY(jl_got(copy, err));
			memcpy(at, &copy, sizeof copy);
			return JL_OK;
		}
		}
	}
	return jl_fail_at(err, JL_E_USAGE, where, "a parts list has no '%.60s'", key);
}

bool jl_rig_given(const struct jl_rig *rig, const char *key)
{
	for (size_t i = 0; i < N_FIELDS; i++) {
		const char *at = (const char *)rig + fields[i].offset;

		if (strcmp(fields[i].key, key) != 0)
			continue;
		if (fields[i].form == FLAG)
			return *(const bool *)at;
		return (fields[i].form == NUMBER || fields[i].form == QUANTITY) &&
		       !isnan(*(const double *)(const void *)at);
	}
	return true;
}

enum jl_status jl_rig_read(struct jl_rig *ret_rig, const struct jl_yaml *map, const struct jl_catalog *cat,
			   struct jl_arena *arena, struct jl_err *err)
{
	struct jl_rig rig = jl_rig_empty();
	enum jl_status status = jl_yaml_check_keys(map, JL_N("a parts list"), jl_rig_keys, err);

	for (const struct jl_yaml *item = map->items; !status && item; item = item->next) {
		if (item->kind != JL_YAML_TEXT)
			return jl_fail_at(err, JL_E_PARSE, &item->where, "%s: one value is required", item->key);
		status = jl_rig_set(&rig, item->key, item->text, &item->where, cat, arena, err);
	}
	if (!status && !rig.gpu)
		return jl_fail_at(err, JL_E_USAGE, &map->where, "a parts list needs its cards, e.g. gpu: 2x rtx-3090");
	if (!status)
		*ret_rig = rig;
	return status;
}
