#include "build/rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/units.h"
#include "catalog/find.h"
#include "catalog/possible.h"

#define GPUS_MAX 64

struct jl_rig jl_rig_empty(void)
{
	return (struct jl_rig){ .gpu_limit_W = NAN,
				.gpu_slots = NAN,
				.gpu_length_m = NAN,
				.gpu_8pin = NAN,
				.psu_W = NAN,
				.n_psu = 1,
				.psu_8pin = NAN,
				.psu_12vhpwr = NAN,
				.board_x16 = NAN,
				.board_spacing = NAN,
				.board_lanes = NAN,
				.board_pcie_gen = NAN,
				.cpu_W = NAN,
				.cpu_threads = NAN,
				.cpu_lanes = NAN,
				.ram_B = NAN,
				.ssd_B = NAN,
				.hdd_B = NAN,
				.data_B = NAN,
				.case_slots = NAN,
				.case_length_m = NAN,
				.circuit_V = NAN,
				.circuit_A = NAN };
}

enum form { TEXT, NUMBER, QUANTITY, WORD, GPU, FLAG };

static const char *const coolings[] = { "unknown", "open-air", "blower", "water", "passive", NULL };
static const char *const inputs[] = { "unknown", "while-training", "before-training", NULL };

static const struct field {
	const char *key;
	enum form form;
	size_t offset;
	enum jl_kind kind;        /* QUANTITY */
	double lo, hi;            /* NUMBER, QUANTITY */
	const char *const *words; /* WORD */
} fields[] = {
#define AT(member) offsetof(struct jl_rig, member)
	{ "name", TEXT, AT(name), 0, 0, 0, NULL },
	{ "gpu", GPU, 0, 0, 0, 0, NULL },
	{ "gpu_power_limit", QUANTITY, AT(gpu_limit_W), JL_K_POWER, 50, 2000, NULL },
	{ "gpu_slots", NUMBER, AT(gpu_slots), 0, 1, 5, NULL },
	{ "gpu_length", QUANTITY, AT(gpu_length_m), JL_K_LENGTH, 0.1, 1, NULL },
	{ "gpu_8pin", NUMBER, AT(gpu_8pin), 0, 0, 8, NULL },
	{ "cooling", WORD, AT(cooling), 0, 0, 0, coolings },
	{ "psu", QUANTITY, AT(psu_W), JL_K_POWER, 100, 20000, NULL },
	{ "psu_count", NUMBER, AT(n_psu), 0, 1, 8, NULL },
	{ "psu_8pin", NUMBER, AT(psu_8pin), 0, 0, 64, NULL },
	{ "psu_12vhpwr", NUMBER, AT(psu_12vhpwr), 0, 0, 16, NULL },
	{ "psu_atx3", FLAG, AT(psu_atx3), 0, 0, 0, NULL },
	{ "board", TEXT, AT(board), 0, 0, 0, NULL },
	{ "board_x16_slots", NUMBER, AT(board_x16), 0, 1, 16, NULL },
	{ "board_spacing", NUMBER, AT(board_spacing), 0, 1, 8, NULL },
	{ "board_lanes_per_gpu", NUMBER, AT(board_lanes), 0, 1, 16, NULL },
	{ "board_pcie", NUMBER, AT(board_pcie_gen), 0, 1, 7, NULL },
	{ "cpu", TEXT, AT(cpu), 0, 0, 0, NULL },
	{ "cpu_power", QUANTITY, AT(cpu_W), JL_K_POWER, 5, 2000, NULL },
	{ "cpu_threads", NUMBER, AT(cpu_threads), 0, 1, 2048, NULL },
	{ "cpu_lanes", NUMBER, AT(cpu_lanes), 0, 4, 512, NULL },
	{ "input", WORD, AT(input), 0, 0, 0, inputs },
	{ "ram", QUANTITY, AT(ram_B), JL_K_BYTES, 1e6, 1e15, NULL },
	{ "ssd", QUANTITY, AT(ssd_B), JL_K_BYTES, 0, 1e17, NULL },
	{ "hdd", QUANTITY, AT(hdd_B), JL_K_BYTES, 0, 1e17, NULL },
	{ "data", QUANTITY, AT(data_B), JL_K_BYTES, 0, 1e17, NULL },
	{ "case", TEXT, AT(case_name), 0, 0, 0, NULL },
	{ "case_slots", NUMBER, AT(case_slots), 0, 1, 20, NULL },
	{ "case_gpu_length", QUANTITY, AT(case_length_m), JL_K_LENGTH, 0.1, 2, NULL },
	{ "circuit_volts", NUMBER, AT(circuit_V), 0, 90, 420, NULL },
	{ "circuit_amperes", NUMBER, AT(circuit_A), 0, 1, 500, NULL },
	{ "nvlink", FLAG, AT(nvlink), 0, 0, 0, NULL },
#undef AT
};
#define N_FIELDS (sizeof fields / sizeof fields[0])

const char *const jl_rig_keys[] = { "name",
				    "gpu",
				    "gpu_power_limit",
				    "gpu_slots",
				    "gpu_length",
				    "gpu_8pin",
				    "cooling",
				    "psu",
				    "psu_count",
				    "psu_8pin",
				    "psu_12vhpwr",
				    "psu_atx3",
				    "board",
				    "board_x16_slots",
				    "board_spacing",
				    "board_lanes_per_gpu",
				    "board_pcie",
				    "cpu",
				    "cpu_power",
				    "cpu_threads",
				    "cpu_lanes",
				    "input",
				    "ram",
				    "ssd",
				    "hdd",
				    "data",
				    "case",
				    "case_slots",
				    "case_gpu_length",
				    "circuit_volts",
				    "circuit_amperes",
				    "nvlink",
				    NULL };

/* "2x rtx-3090", "2xrtx-3090", "rtx-3090" */
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

enum jl_status jl_rig_set(struct jl_rig *rig, const char *key, const char *text, const struct jl_where *where,
			  const struct jl_catalog *cat, struct jl_arena *arena, struct jl_err *err)
{
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
	for (size_t i = 0; i < N_FIELDS; i++)
		if (strcmp(fields[i].key, key) == 0)
			return (fields[i].form == NUMBER || fields[i].form == QUANTITY) &&
			       !isnan(*(const double *)(const void *)((const char *)rig + fields[i].offset));
	return true;
}

enum jl_status jl_rig_read(struct jl_rig *ret_rig, const struct jl_yaml *map, const struct jl_catalog *cat,
			   struct jl_arena *arena, struct jl_err *err)
{
	struct jl_rig rig = jl_rig_empty();
	enum jl_status status = jl_yaml_check_keys(map, "a parts list", jl_rig_keys, err);

	for (const struct jl_yaml *item = map->items; !status && item; item = item->next) {
		if (item->kind != JL_YAML_TEXT)
			return jl_fail_at(err, JL_E_PARSE, &item->where, "%s: one value is wanted", item->key);
		status = jl_rig_set(&rig, item->key, item->text, &item->where, cat, arena, err);
	}
	if (!status && !rig.gpu)
		return jl_fail_at(err, JL_E_USAGE, &map->where, "a parts list needs its cards, e.g. gpu: 2x rtx-3090");
	if (!status)
		*ret_rig = rig;
	return status;
}
