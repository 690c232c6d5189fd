/* Writes and parses NVML snapshots as JSON. */
#include "probe/nvml_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_read.h"
#include "base/utf8.h"

enum type { TEXT, REAL, WHOLE };

struct field {
	const char *key;
	enum type type;
	size_t offset, size; /* size: of texts */
	bool is_name;
};

/* clang-format off */
#define CHARS(M, IS_NAME) { #M, TEXT, offsetof(struct jl_nvml_gpu, M), sizeof(((struct jl_nvml_gpu *)0)->M), IS_NAME }
#define R(M)              { #M, REAL, offsetof(struct jl_nvml_gpu, M), 0, false }
#define W(M)              { #M, WHOLE, offsetof(struct jl_nvml_gpu, M), 0, false }

static const struct field fields[] = {
	CHARS(name, false), CHARS(uuid, true), CHARS(bus, false),
	R(mem_B), R(mem_used_B), R(sm_Hz), R(sm_max_Hz), R(mem_Hz), R(mem_max_Hz),
	R(power_W), R(limit_W), R(limit_default_W), R(limit_max_W), R(temperature_C), R(busy_frac),
	W(cc_major), W(cc_minor), W(ecc), W(ecc_pending), W(persistence), W(mig), W(pstate),
	W(pcie_gen), W(pcie_width), W(pcie_gen_max), W(pcie_width_max), W(pcie_gen_busy), W(pcie_width_busy),
	W(throttle),
};
/* clang-format on */
#define N_FIELDS (JL_LEN(fields))

static const char *const ends[] = {
	[JL_NVLINK_GPU] = "gpu", [JL_NVLINK_SWITCH] = "switch", [JL_NVLINK_OTHER] = "other"
};
static const char *const whats[JL_N_P2P_WHAT] = { "read", "write", "atomics" };

void jl_nvml_gpu_clear(struct jl_nvml_gpu *gpu)
{
	*gpu = (struct jl_nvml_gpu){ 0 };
	for (size_t i = 0; i < N_FIELDS; i++) {
		void *at = (char *)gpu + fields[i].offset;

		if (fields[i].type == REAL)
			*(double *)at = NAN;
		else if (fields[i].type == WHOLE)
			*(int *)at = -1;
	}
}

static void write_field(struct jl_json *json, const struct field *field, const struct jl_nvml_gpu *gpu)
{
	const char *at = (const char *)gpu + field->offset;

	jl_json_key(json, field->key);
	if (field->type == TEXT)
		jl_json_string(json, *at ? at : NULL);
	else if (field->type == REAL)
		jl_json_number(json, *(const double *)(const void *)at);
	else if (*(const int *)(const void *)at < 0)
		jl_json_null(json);
	else
		jl_json_integer(json, *(const int *)(const void *)at);
}

void jl_nvml_gpu_json(struct jl_json *json, const struct jl_nvml_gpu *gpu, bool with_names)
{
	for (size_t i = 0; i < N_FIELDS; i++)
		if (with_names || !fields[i].is_name)
			write_field(json, &fields[i], gpu);
	jl_json_put_array(json, "nvlinks");
	for (int i = 0; i < gpu->n_links; i++) {
		const struct jl_nvml_link *link = &gpu->links[i];

		jl_json_pack(json, "{to:s remote:s version?f oneway_Bps:f}", ends[link->end],
			     link->remote[0] ? link->remote : NULL,
			     link->version >= 0 ? (double)link->version : (double)NAN, link->oneway_Bps);
	}
	jl_json_end_array(json);
}

void jl_nvml_p2p_json(struct jl_json *json, const struct jl_nvml_snapshot *snapshot)
{
	size_t n = snapshot->n_gpus;

	jl_json_object(json);
	for (size_t what = 0; what < JL_N_P2P_WHAT; what++) {
		if (!snapshot->p2p[what])
			continue;
		jl_json_put_array(json, whats[what]);
		for (size_t a = 0; a < n; a++) {
			jl_json_array(json);
			for (size_t b = 0; b < n; b++)
				jl_json_string(json, a == b ? "X" : jl_p2p_names[snapshot->p2p[what][a * n + b]]);
			jl_json_end_array(json);
		}
		jl_json_end_array(json);
	}
	jl_json_end_object(json);
}

/* "absent_ko": reason why there is no data, in the user's language */
static const char *absent_key(char key[32])
{
	snprintf(key, 32, "absent_%s", jl_lang()->code);
	return key;
}

void jl_nvml_write(struct jl_buf *out, const struct jl_nvml_snapshot *snapshot, bool with_names)
{
	struct jl_json json;
	char key[32];

	jl_json_init(&json, out, true);
	jl_json_pack(&json, "{record:s absent?s", "nvml", snapshot->absent_en[0] ? snapshot->absent_en : NULL);
	if (snapshot->absent_en[0] && !jl_lang_is("en"))
		jl_json_put_string(&json, absent_key(key), snapshot->absent_text);
	jl_json_put_string(&json, "driver", snapshot->driver[0] ? snapshot->driver : NULL);
	if (snapshot->cuda >= 0)
		jl_json_put_integer(&json, "cuda", snapshot->cuda);
	jl_json_put_array(&json, "gpus");
	for (size_t i = 0; i < snapshot->n_gpus; i++) {
		jl_json_object(&json);
		jl_nvml_gpu_json(&json, &snapshot->gpus[i], with_names);
		jl_json_end_object(&json);
	}
	jl_json_end_array(&json);
	jl_json_key(&json, "p2p");
	jl_nvml_p2p_json(&json, snapshot);
	jl_json_end_object(&json);
	jl_json_finish(&json);
}

/* Error with the right form, in words that need no translation. */
static enum jl_status wrong(const char *name, const char *key, const char *right, struct jl_err *err)
{
	return jl_fail(err, JL_E_DATA, "%.200s: '%s' is wrong; it should be: %s", name, key, right);
}

static enum jl_status wrong_type(const char *name, const char *key, enum type type, struct jl_err *err)
{
	static const char *const right[] = { "\"text\"", "1.5", "1" };

	return wrong(name, key, right[type], err);
}

static void copy_text(char *out, size_t size, const char *text)
{
	snprintf(out, size, "%s", text);
	jl_utf8_sanitize(out);
}

static enum jl_status read_field(const char *name, const struct field *field, json_t *object, struct jl_nvml_gpu *gpu,
				 struct jl_err *err)
{
	json_t *value = json_object_get(object, field->key);
	char *at = (char *)gpu + field->offset;

	if (!value || json_is_null(value))
		return JL_OK;
	if (field->type == TEXT   ? !json_is_string(value)
	    : field->type == REAL ? !json_is_number(value)
				  : !json_is_integer(value))
		return wrong_type(name, field->key, field->type, err);
	if (field->type == TEXT) {
		copy_text(at, field->size, json_string_value(value));
	} else if (field->type == REAL) {
		double x = json_number_value(value);

		if (!(x >= 0 && x < 1e18))
			return wrong(name, field->key, "0 ... 1e18", err);
		*(double *)(void *)at = x;
	} else {
		json_int_t x = json_integer_value(value);

		if (x < 0 || x > 1 << 20)
			return wrong(name, field->key, "0 ... 1048576", err);
		*(int *)(void *)at = (int)x;
	}
	return JL_OK;
}

static enum jl_status read_links(const char *name, json_t *array, struct jl_nvml_gpu *gpu, struct jl_err *err)
{
	size_t i;
	json_t *item;

	if (array && (!json_is_array(array) || json_array_size(array) > JL_NVML_LINKS_MAX))
		return wrong(name, "nvlinks", "[...], n <= 36", err);
	json_array_foreach(array, i, item)
	{
		struct jl_nvml_link *link = &gpu->links[gpu->n_links++];
		const char *to = json_string_value(json_object_get(item, "to"));
		const char *remote = json_string_value(json_object_get(item, "remote"));
		json_t *version = json_object_get(item, "version"), *rate = json_object_get(item, "oneway_Bps");

		*link = (struct jl_nvml_link){ .version = -1, .end = JL_NVLINK_OTHER, .oneway_Bps = NAN };
		for (size_t end = 0; to && end < JL_LEN(ends); end++)
			if (strcmp(ends[end], to) == 0)
				link->end = (enum jl_nvlink_end)end;
		if (remote)
			jl_nvml_bus_id(link->remote, remote);
		if (json_is_integer(version) && json_integer_value(version) >= 0 && json_integer_value(version) < 100)
			link->version = (int)json_integer_value(version);
		if (json_is_number(rate) && json_number_value(rate) >= 0 && json_number_value(rate) < 1e18)
			link->oneway_Bps = json_number_value(rate);
	}
	return JL_OK;
}

static enum jl_status read_p2p(const char *name, json_t *rows, struct jl_nvml_snapshot *snap, size_t what,
			       struct jl_arena *arena, struct jl_err *err)
{
	size_t n = snap->n_gpus;

	if (!rows)
		return JL_OK;
	unsigned char *cells = jl_arena_array(arena, n * n + 1, 1);
	JL_TRY(jl_got(cells, err));
	if (!json_is_array(rows) || json_array_size(rows) != n)
		return wrong(name, "p2p", "n_gpus x n_gpus", err);
	for (size_t a = 0; a < n; a++) {
		json_t *row = json_array_get(rows, a);

		if (!json_is_array(row) || json_array_size(row) != n)
			return wrong(name, "p2p", "n_gpus x n_gpus", err);
		for (size_t b = 0; b < n; b++) {
			const char *cell = json_string_value(json_array_get(row, b));
			size_t state = a == b ? 0 : JL_N_P2P;

			for (size_t i = 0; a != b && cell && i < JL_N_P2P; i++)
				if (strcmp(jl_p2p_names[i], cell) == 0)
					state = i;
			if (state == JL_N_P2P)
				return wrong(name, "p2p", "OK | CNS | GNS | TNS | DR | NS | U", err);
			cells[a * n + b] = (unsigned char)state;
		}
	}
	snap->p2p[what] = cells;
	return JL_OK;
}

static enum jl_status read_document(const char *name, json_t *root, struct jl_nvml_snapshot *snap,
				    struct jl_arena *arena, struct jl_err *err)
{
	json_t *gpus = json_object_get(root, "gpus"), *cuda = json_object_get(root, "cuda");
	const char *driver = json_string_value(json_object_get(root, "driver"));
	const char *absent = json_string_value(json_object_get(root, "absent"));
	char key[32];
	const char *said = json_string_value(json_object_get(root, absent_key(key)));
	enum jl_status status = JL_OK;

	if (!json_is_array(gpus) || json_array_size(gpus) > JL_NVML_GPUS_MAX)
		return wrong(name, "gpus", "[...], n <= 64", err);
	if (driver)
		copy_text(snap->driver, sizeof(snap->driver), driver);
	if (absent)
		copy_text(snap->absent_en, sizeof(snap->absent_en), absent);
	if (absent)
		copy_text(snap->absent_text, sizeof(snap->absent_text), said ? said : jl_msg(absent));
	if (json_is_integer(cuda) && json_integer_value(cuda) > 0 && json_integer_value(cuda) < 1000000)
		snap->cuda = (int)json_integer_value(cuda);
	snap->n_gpus = json_array_size(gpus);
	snap->gpus = jl_arena_array(arena, snap->n_gpus + 1, sizeof(*snap->gpus));
	JL_TRY(jl_got(snap->gpus, err));
	for (size_t i = 0; !status && i < snap->n_gpus; i++) {
		json_t *item = json_array_get(gpus, i);
		char bus[32];

		jl_nvml_gpu_clear(&snap->gpus[i]);
		for (size_t f = 0; !status && f < N_FIELDS; f++)
			status = read_field(name, &fields[f], item, &snap->gpus[i], err);
		memcpy(bus, snap->gpus[i].bus, sizeof(bus));
		jl_nvml_bus_id(snap->gpus[i].bus, bus);
		JL_THEN(status, read_links(name, json_object_get(item, "nvlinks"), &snap->gpus[i], err));
	}
	for (size_t what = 0; !status && what < JL_N_P2P_WHAT; what++)
		status = read_p2p(name, json_object_get(json_object_get(root, "p2p"), whats[what]), snap, what, arena,
				  err);
	return status;
}

enum jl_status jl_nvml_parse(struct jl_nvml_snapshot *ret_snapshot, const char *name, const char *text, size_t len,
			     struct jl_arena *arena, struct jl_err *err)
{
	struct jl_nvml_snapshot snap = { .cuda = -1 };
	json_error_t where;
	json_t *root = jl_json_load(text, len, JSON_REJECT_DUPLICATES, &where);

	if (!root)
		return jl_fail(err, JL_E_DATA, "%.200s:%d:%d: %s", name, where.line, where.column, where.text);
	enum jl_status status = read_document(name, root, &snap, arena, err);
	json_decref(root);
	if (!status)
		*ret_snapshot = snap;
	return status;
}
