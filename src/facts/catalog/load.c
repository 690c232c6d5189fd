/* Reads catalog folders and merges their files into a catalog. */
#include "catalog/load.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

struct file {
	const char *path;
	bool is_csv;
	bool ok; /* read and parsed */
	enum jl_catalog_kind kind;
	const struct jl_yaml *list; /* list of records of a YAML file */
	struct jl_price *prices;    /* rows of a CSV file */
	struct jl_where *cells;
	size_t n_records;
};

struct load {
	struct jl_arena *arena;
	struct jl_findings *findings;
	struct jl_catalog *cat;
	struct jl_catalog_places *places;
	struct file *files; /* files of the current folder */
	size_t n_files;
	bool broken; /* a file could not be read: references into it would only repeat the error */
};

/* Lists with their own readers that are allowed in catalog folders (src/answers/recommend/purpose.c, src/answers/notes/rule_confusions.c). */
static const char *const others[] = { "purposes:", "confusions:" };

static bool has_ending(const char *name, const char *ending)
{
	size_t n = strlen(name), m = strlen(ending);

	return n > m && strcmp(name + n - m, ending) == 0;
}

static bool is_ours(const char *name)
{
	return has_ending(name, ".yaml") || has_ending(name, ".yml") || has_ending(name, ".csv");
}

/* Case-insensitive: X.YML is read too. */
static bool looks_like_ours(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (strcasecmp(dot, ".yaml") == 0 || strcasecmp(dot, ".yml") == 0 || strcasecmp(dot, ".csv") == 0);
}

/* True if the first key of this YAML text belongs to another reader. */
static bool is_for_others(const char *text, size_t len)
{
	const char *end = text + len;

	while (text < end && strchr("#%-\r\n", *text)) {
		const char *line_end = memchr(text, '\n', (size_t)(end - text));

		text = line_end ? line_end + 1 : end;
	}
	for (size_t i = 0; i < JL_LEN(others); i++)
		if ((size_t)(end - text) >= strlen(others[i]) && memcmp(text, others[i], strlen(others[i])) == 0)
			return true;
	return false;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct file *)a)->path, ((const struct file *)b)->path);
}

/* Reports a catalog file that cannot be read, and continues. */
static void say_unread(struct load *load, const char *path, const char *en)
{
	struct jl_where where = { .file = path };
	struct jl_err err;

	jl_fail_at(&err, JL_E_IO, &where, "{%s}", en);
	jl_findings_add(load->findings, &err);
}

/* Reports a folder entry that cannot be resolved: a dangling link, or deleted meanwhile. */
static void say_dangling(struct load *load, const char *path)
{
	struct stat info;

	if (lstat(path, &info) == 0)
		say_unread(load, path, JL_N("a link that leads nowhere; mend it or take it out"));
}

static enum jl_status add_file(struct load *load, const char *path, const struct stat *info, struct jl_err *err)
{
	struct jl_where where = { .file = path };

	if (!S_ISREG(info->st_mode))
		return jl_fail_at(err, JL_E_IO, &where, "not a plain file");
	if (load->n_files >= JL_CATALOG_FILES_MAX)
		return jl_fail_at(err, JL_E_LIMIT, &where, "more than %d files in one catalog folder",
				  JL_CATALOG_FILES_MAX);
	load->files[load->n_files++] = (struct file){ .path = path, .is_csv = has_ending(path, ".csv") };
	return JL_OK;
}

/* Fills load->files; `depth` 1: also subfolders of `dir`. Sorted, so that the order is the same everywhere. */
static enum jl_status list_files(struct load *load, const char *dir, int depth, struct jl_err *err)
{
	struct jl_where where = { .file = dir };
	enum jl_status status = JL_OK;
	DIR *open = opendir(dir);
	struct dirent *entry;

	if (!open && errno == ENOMEM)
		return jl_fail_nomem(err);
	if (!open)
		return jl_fail_at(err, errno == ENOENT ? JL_E_NOTFOUND : JL_E_IO, &where,
				  "not a folder that can be read: {%s}; a catalog folder holds *.yaml and *.csv",
				  strerror(errno));
	while (!status && (entry = readdir(open))) {
		struct stat info;

		if (entry->d_name[0] == '.')
			continue;
		const char *path = jl_arena_printf(load->arena, "%s/%s", dir, entry->d_name);
		if (!path) {
			status = jl_fail_nomem(err);
			break;
		}
		if (stat(path, &info) != 0) {
			say_dangling(load, path);
			continue;
		}
		if (S_ISDIR(info.st_mode) && depth > 0)
			status = list_files(load, path, depth - 1, err);
		else if (!S_ISDIR(info.st_mode) && is_ours(entry->d_name))
			status = add_file(load, path, &info, err);
		else if (!S_ISDIR(info.st_mode) && looks_like_ours(entry->d_name))
			say_unread(load, path,
				   JL_N("not read: the ending is written in small letters, .yaml, .yml or .csv"));
	}
	closedir(open);
	return status;
}

static enum jl_status parse_file(struct load *load, struct file *file, const char *text, size_t len, struct jl_err *err)
{
	enum jl_status status;

	if (!file->is_csv && is_for_others(text, len))
		return JL_OK;
	load->findings->n_files++;
	if (file->is_csv) {
		file->kind = JL_R_PRICE;
		status = jl_prices_read(&file->prices, &file->n_records, &file->cells, file->path, text, len,
					load->arena, load->findings, err);
	} else {
		status = jl_shape_read(&file->kind, &file->list, file->path, text, len, load->arena, err);
		file->n_records = status ? 0 : file->list->n_items;
	}
	file->ok = !status;
	return status;
}

static enum jl_status read_file(struct load *load, struct file *file, struct jl_err *err)
{
	struct jl_buf text;

	JL_TRY(jl_buf_read_own(&text, file->path, JL_CATALOG_FILE_MAX_B, err));
	enum jl_status status = parse_file(load, file, jl_buf_text(&text), text.len, err);
	jl_buf_release(&text);
	return status;
}

/* List of one kind while a folder is merged into it. */
struct merge {
	enum jl_catalog_kind kind;
	const struct jl_schema *schema;
	char *list;
	const struct jl_record_place **places;
	size_t n, n_old; /* records before n_old are from earlier folders */
};

static char *record_at(const struct merge *merge, size_t i)
{
	return merge->list + i * merge->schema->size_B;
}

static enum jl_status start_merge(struct load *load, struct merge *merge, enum jl_catalog_kind kind, struct jl_err *err)
{
	size_t n_new = 0, n_old;
	const void *old = jl_catalog_list(load->cat, kind, &n_old);
	const struct jl_record_place **old_places = load->places->of[kind];
	size_t limit = kind == JL_R_PRICE ? JL_CATALOG_PRICES_MAX : JL_CATALOG_RECORDS_MAX;

	*merge = (struct merge){ .kind = kind, .schema = jl_schema_of(kind), .n = n_old, .n_old = n_old };
	for (size_t f = 0; f < load->n_files; f++) {
		if (load->files[f].ok && load->files[f].kind == kind)
			n_new += load->files[f].n_records;
	}
	if (n_old + n_new > limit)
		return jl_fail(err, JL_E_LIMIT, "more than %zu records under '%s'", limit, merge->schema->list);
	merge->list = jl_arena_array(load->arena, n_old + n_new, merge->schema->size_B);
	merge->places = jl_arena_array(load->arena, n_old + n_new, sizeof(void *));
	JL_TRY(jl_got(merge->list && merge->places, err));
	if (n_old)
		memcpy(merge->list, old, n_old * merge->schema->size_B);
	if (n_old && old_places)
		memcpy(merge->places, old_places, n_old * sizeof(void *));
	return JL_OK;
}

static size_t find_id(const struct merge *merge, const char *id)
{
	for (size_t i = 0; i < merge->n; i++) {
		if (strcmp(jl_record_id(merge->schema, record_at(merge, i)), id) == 0)
			return i;
	}
	return merge->n;
}

/* A folder that defines a group of records (a tariff) replaces the whole group. */
static void drop_group(struct merge *merge, const char *id)
{
	size_t kept = 0;

	for (size_t i = 0; i < merge->n; i++) {
		if (i < merge->n_old && strcmp(jl_record_id(merge->schema, record_at(merge, i)), id) == 0)
			continue;
		if (kept != i) {
			memcpy(record_at(merge, kept), record_at(merge, i), merge->schema->size_B);
			merge->places[kept] = merge->places[i];
		}
		kept++;
	}
	merge->n_old -= merge->n - kept;
	merge->n = kept;
}

static void say_duplicate(struct load *load, const struct merge *merge, const struct jl_yaml *id, size_t first)
{
	size_t field = jl_schema_field(merge->schema, "id");
	struct jl_where there = jl_record_where(merge->places[first], field, JL_NO_FIELD, JL_NO_FIELD);
	struct jl_err err;

	jl_fail_at(&err, JL_E_DATA, &id->where,
		   "duplicate id '%.80s': the first one is at %s:%zu:%zu; give this %s another id or merge the two",
		   id->text, there.file, there.line, there.column, merge->schema->en);
	jl_findings_add(load->findings, &err);
}

static enum jl_status merge_record(struct load *load, struct merge *merge, const struct jl_yaml *map,
				   struct jl_err *err)
{
	const struct jl_schema *schema = merge->schema;
	const struct jl_yaml *id = jl_yaml_get(map, "id");
	struct jl_record_place *place = jl_arena_alloc(load->arena, sizeof(*place));
	struct jl_cook cook = { .arena = load->arena, .cat = load->cat, .findings = load->findings, .schema = schema };
	size_t at = merge->n;

	JL_TRY(jl_got(place, err));
	*place = (struct jl_record_place){ .schema = schema, .map = map, .folder = load->files };
	if (id && schema->grouped) {
		drop_group(merge, id->text);
		at = merge->n;
	} else if (id) {
		at = find_id(merge, id->text);
		if (at < merge->n && merge->places[at] && merge->places[at]->folder == load->files) {
			say_duplicate(load, merge, id, at);
			return JL_OK;
		}
		cook.amends = at < merge->n;
	}
	if (cook.amends) {
		place->older = merge->places[at];
	} else {
		at = merge->n;
		jl_schema_clear(schema, record_at(merge, at));
	}
	JL_TRY(jl_cook_record(&cook, map, record_at(merge, at), err));
	merge->places[at] = place;
	if (at == merge->n)
		merge->n++;
	return JL_OK;
}

static enum jl_status merge_prices(struct load *load, struct merge *merge, const struct file *file, struct jl_err *err)
{
	struct jl_record_place *place = jl_arena_array(load->arena, file->n_records, sizeof(*place));
	const struct jl_price *old = (const void *)merge->list;
	struct jl_price_index index;

	if (!place || jl_price_index_init(&index, old, merge->n_old, load->arena))
		return jl_fail_nomem(err);
	for (size_t i = 0; i < file->n_records; i++) {
		/* skip known rows: a copy of the catalog overlaid on itself must not double its prices */
		if (jl_price_index_has(&index, &file->prices[i]))
			continue;
		memcpy(record_at(merge, merge->n), &file->prices[i], sizeof(struct jl_price));
		place[i] = (struct jl_record_place){ .schema = merge->schema,
						     .cells = file->cells + i * merge->schema->n_fields };
		merge->places[merge->n++] = &place[i];
	}
	return JL_OK;
}

static enum jl_status merge_kind(struct load *load, enum jl_catalog_kind kind, struct jl_err *err)
{
	struct merge merge;
	enum jl_status status = start_merge(load, &merge, kind, err);

	for (size_t f = 0; !status && f < load->n_files; f++) {
		const struct file *file = &load->files[f];

		if (!file->ok || file->kind != kind)
			continue;
		if (file->is_csv)
			status = merge_prices(load, &merge, file, err);
		for (const struct jl_yaml *map = file->is_csv ? NULL : file->list->items; !status && map;
		     map = map->next)
			status = merge_record(load, &merge, map, err);
	}
	if (status)
		return status;
	/* new accelerators may match existing price rows, so all rows are resolved again */
	if (kind == JL_R_PRICE) {
		JL_TRY(jl_prices_resolve(load->cat, (struct jl_price *)(void *)merge.list, merge.n, load->arena, err));
	}
	jl_catalog_set_list(load->cat, kind, merge.list, merge.n);
	load->places->of[kind] = merge.places;
	return JL_OK;
}

/* Reports an invalid file and continues. */
static enum jl_status settle_file(struct load *load, enum jl_status status, const struct jl_err *wrong,
				  struct jl_err *err)
{
	if (status == JL_E_NOMEM)
		return jl_fail_nomem(err);
	if (status) {
		jl_findings_add(load->findings, wrong);
		load->broken = true;
	}
	return JL_OK;
}

static enum jl_status merge_all(struct load *load, struct jl_err *err)
{
	enum jl_status status = JL_OK;

	for (int kind = 0; !status && kind < JL_N_RECORD; kind++)
		status = merge_kind(load, (enum jl_catalog_kind)kind, err);
	return status;
}

static enum jl_status read_dir(struct load *load, const char *dir, struct jl_err *err)
{
	enum jl_status status = JL_OK;

	load->files = jl_arena_array(load->arena, JL_CATALOG_FILES_MAX, sizeof(*load->files));
	load->n_files = 0;
	JL_TRY(jl_got(load->files, err));
	JL_TRY(list_files(load, dir, 1, err));
	qsort(load->files, load->n_files, sizeof(*load->files), by_path);
	for (size_t f = 0; !status && f < load->n_files; f++) {
		struct jl_err wrong;

		status = settle_file(load, read_file(load, &load->files[f], &wrong), &wrong, err);
	}
	return status ? status : merge_all(load, err);
}

static enum jl_status begin(struct load *load, const struct jl_catalog *base, struct jl_err *err)
{
	jl_findings_init(load->findings, load->arena);
	load->cat = jl_arena_alloc(load->arena, sizeof(*load->cat));
	load->places = jl_arena_alloc(load->arena, sizeof(*load->places));
	JL_TRY(jl_got(load->cat && load->places, err));
	if (base)
		*load->cat = *base;
	return JL_OK;
}

static enum jl_status finish(struct load *load, const struct jl_catalog **ret_catalog, struct jl_err *err)
{
	if (!load->broken)
		jl_catalog_check(load->cat, load->places, load->findings);
	JL_TRY(jl_findings_status(load->findings, err));
	*ret_catalog = load->cat;
	return JL_OK;
}

enum jl_status jl_catalog_read(const struct jl_catalog **ret_catalog, const struct jl_catalog *base,
			       const char *const *dirs, size_t n_dirs, struct jl_arena *arena,
			       struct jl_findings *findings, struct jl_err *err)
{
	struct jl_findings own = { .arena = arena };
	struct load load = { .arena = arena, .findings = findings ? findings : &own };

	JL_TRY(begin(&load, base, err));
	for (size_t i = 0; i < n_dirs; i++)
		JL_TRY(read_dir(&load, dirs[i], err));
	return finish(&load, ret_catalog, err);
}

enum jl_status jl_catalog_read_text(const struct jl_catalog **ret_catalog, const struct jl_catalog *base,
				    const char *name, const char *text, size_t len, struct jl_arena *arena,
				    struct jl_findings *findings, struct jl_err *err)
{
	struct jl_findings own = { .arena = arena };
	struct file *file = jl_arena_alloc(arena, sizeof(*file));
	struct load load = { .arena = arena, .findings = findings ? findings : &own, .files = file, .n_files = 1 };
	struct jl_err wrong;
	enum jl_status status = begin(&load, base, err);

	JL_TRY(jl_got(file, err));
	*file = (struct file){ .path = name, .is_csv = has_ending(name, ".csv") };
	JL_THEN(status, settle_file(&load, parse_file(&load, file, text, len, &wrong), &wrong, err));
	JL_THEN(status, merge_all(&load, err));
	return status ? status : finish(&load, ret_catalog, err);
}

enum jl_status jl_catalog_load(const struct jl_catalog **ret_catalog, const char *dir, struct jl_arena *arena,
			       struct jl_err *err)
{
	return jl_catalog_read(ret_catalog, NULL, &dir, 1, arena, NULL, err);
}
