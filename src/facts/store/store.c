/* Opens stores, reads, changes and merges records. */
#include "store/store.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "store/handle.h"

void jl_store_go_offline(struct jl_store *store, const struct jl_err *why)
{
	store->offline = *why;
	store->backend->close(store->db);
	store->db = NULL;
}

static enum jl_status open_at(struct jl_store **ret_store, const char *url, enum jl_store_missing missing,
			      struct jl_err *err)
{
	struct jl_store *store = jl_realloc(NULL, sizeof(*store));
	struct jl_err why = { .status = JL_OK };

	JL_TRY(jl_got(store, err));
	*store = (struct jl_store){ .offline = { .status = JL_OK } };
	jl_buf_init(&store->batch, JL_STORE_BATCH_MAX_B);
	jl_buf_init(&store->refused, JL_STORE_BATCH_MAX_B);
	enum jl_status status = jl_store_place_init(&store->place, &store->backend, url, err);
	if (status)
		goto out;
	store->place.missing = missing == JL_STORE_EMPTY && store->place.named ? JL_STORE_FAIL : missing;
	status = store->backend->open(&store->db, &store->place, &why);
	if (status == JL_E_IO && store->backend->spools) {
		store->offline = why;
		status = JL_OK;
	} else if (status && err) {
		*err = why;
	}
	if (!status && store->backend->spools)
		jl_store_send_waiting(store);
out:
	if (status) {
		jl_store_close(store);
		return status;
	}
	*ret_store = store;
	return JL_OK;
}

enum jl_status jl_store_open(struct jl_store **ret_store, const char *url, struct jl_err *err)
{
	return open_at(ret_store, url, JL_STORE_MAKE, err);
}

enum jl_status jl_store_open_to_read(struct jl_store **ret_store, const char *url, struct jl_err *err)
{
	return open_at(ret_store, url, JL_STORE_EMPTY, err);
}

enum jl_status jl_store_open_existing(struct jl_store **ret_store, const char *url, struct jl_err *err)
{
	return open_at(ret_store, url, JL_STORE_FAIL, err);
}

void jl_store_close(struct jl_store *store)
{
	if (!store)
		return;
	if (store->in_batch)
		jl_store_abandon(store);
	if (store->db)
		store->backend->close(store->db);
	jl_buf_release(&store->batch);
	jl_buf_release(&store->refused);
	jl_store_place_release(&store->place);
	jl_free(store);
}

const char *jl_store_where(const struct jl_store *store)
{
	return store->place.shown;
}

size_t jl_store_waiting(const struct jl_store *store)
{
	return store->n_waiting;
}

size_t jl_store_sent(const struct jl_store *store)
{
	return store->n_sent;
}

size_t jl_store_refused(const struct jl_store *store, const char **ret_file, const struct jl_err **ret_why)
{
	*ret_file = store->place.refused;
	*ret_why = store->refusal.status ? &store->refusal : NULL;
	return store->n_refused;
}

struct jl_store_taken jl_store_taken(const struct jl_store *store)
{
	return store->done;
}

const struct jl_err *jl_store_offline(const struct jl_store *store)
{
	return store->db ? NULL : &store->offline;
}

static enum jl_status need_db(const struct jl_store *store, struct jl_err *err)
{
	if (store->db)
		return JL_OK;
	return jl_fail_from(err, JL_E_IO, NULL, &store->offline, "{}; %zu results wait to be sent", store->n_waiting);
}

#define SHORT_ID_MIN 4

static enum jl_status find_id(struct jl_store *store, const char *text, char ret_id[JL_RECORD_ID_LEN + 1],
			      struct jl_err *err)
{
	char part[JL_RECORD_ID_LEN + 1], ids[JL_STORE_FIND_MAX][JL_RECORD_ID_LEN + 1];
	size_t len = strlen(text), n = 0;

	JL_TRY(need_db(store, err));
	for (size_t i = 0; i < len && i < JL_RECORD_ID_LEN; i++)
		part[i] = (char)toupper((unsigned char)text[i]);
	part[len < JL_RECORD_ID_LEN ? len : JL_RECORD_ID_LEN] = '\0';
	if (len < SHORT_ID_MIN || len > JL_RECORD_ID_LEN || strspn(part, "0123456789ABCDEFGHJKMNPQRSTVWXYZ") != len)
		return jl_fail(err, JL_E_USAGE,
			       "'%.40s' is not an id; 'jeoul store list' shows them (at least %d characters from its "
			       "beginning or end)",
			       text, SHORT_ID_MIN);
	JL_TRY(jl_sql_find(store, part, ids, &n, err));
	if (n == 0)
		return jl_fail(err, JL_E_NOTFOUND, "there is no record %s in %s", part, store->place.shown);
	if (n > 1)
		return jl_fail(err, JL_E_AMBIGUOUS, "%s fits several records: %s, %s%s", part, ids[0], ids[1],
			       n > 2 ? ", ..." : "");
	memcpy(ret_id, ids[0], JL_RECORD_ID_LEN + 1);
	return JL_OK;
}

static enum jl_status fetch(struct jl_store *store, const char *text, struct jl_buf *out, struct jl_err *err)
{
	char id[JL_RECORD_ID_LEN + 1];

	JL_TRY(find_id(store, text, id, err));
	return jl_sql_body(store, id, out, err);
}

enum jl_status jl_store_get(struct jl_store *store, const char *id, struct jl_arena *arena,
			    struct jl_record *ret_record, struct jl_err *err)
{
	struct jl_buf body;

	jl_buf_init(&body, JL_RECORD_TEXT_MAX_B);
	enum jl_status status = fetch(store, id, &body, err);
	JL_THEN(status, jl_record_read(jl_buf_text(&body), body.len, arena, ret_record, err));
	jl_buf_release(&body);
	return status;
}

struct visiting {
	struct jl_store *store;
	jl_store_visit *visit;
	void *ctx;
};

static enum jl_status visit_sound(void *ctx, const char *row, size_t len, struct jl_err *err)
{
	struct visiting *v = ctx;
	struct jl_store *store = v->store;
	const char *blank = memchr(row, ' ', len), *line = blank ? blank + 1 : row;
	const size_t line_len = len - (size_t)(line - row);
	struct jl_record record;
	struct jl_arena arena;
	struct jl_err why = { 0 };

	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	const enum jl_status status = jl_record_read(line, line_len, &arena, &record, &why);

	jl_arena_release(&arena);
	if (status == JL_E_NOMEM)
		return jl_fail_nomem(err);
	if (!status)
		return v->visit(v->ctx, line, line_len, err);
	if (store->n_damaged++ == 0) {
		(void)snprintf(store->damaged_id, sizeof(store->damaged_id), "%.*s", (int)(line - row - 1), row);
		jl_utf8_sanitize(store->damaged_id);
		store->damage = why;
	}
	return JL_OK;
}

enum jl_status jl_store_each(struct jl_store *store, const struct jl_store_filter *filter, jl_store_visit *visit,
			     void *ctx, struct jl_err *err)
{
	struct visiting v = { .store = store, .visit = visit, .ctx = ctx };

	JL_TRY(need_db(store, err));
	return jl_sql_each(store, filter, visit_sound, &v, err);
}

size_t jl_store_damaged(const struct jl_store *store, const char **ret_id, const struct jl_err **ret_why)
{
	*ret_id = store->damaged_id;
	*ret_why = &store->damage;
	return store->n_damaged;
}

enum jl_status jl_store_count(struct jl_store *store, size_t *ret_n, struct jl_err *err)
{
	JL_TRY(need_db(store, err));

	return jl_sql_count(store, ret_n, err);
}

struct listing {
	struct jl_arena *arena;
	struct jl_record *records;
	size_t n, room;
};

static enum jl_status add_to_list(void *ctx, const char *line, size_t len, struct jl_err *err)
{
	struct listing *list = ctx;

	if (list->n == JL_STORE_LIST_MAX)
		return jl_fail(err, JL_E_LIMIT, "more than %d records fit; ask for fewer", JL_STORE_LIST_MAX);
	if (list->n == list->room) {
		size_t room = list->room ? list->room * 2 : 64;
		struct jl_record *more = jl_arena_array(list->arena, room, sizeof(*more));

		JL_TRY(jl_got(more, err));
		if (list->n)
			memcpy(more, list->records, list->n * sizeof(*more));
		list->records = more;
		list->room = room;
	}
	return jl_record_read(line, len, list->arena, &list->records[list->n], err) ? JL_E_DATA : (list->n++, JL_OK);
}

enum jl_status jl_store_list(struct jl_store *store, const struct jl_store_filter *filter, struct jl_arena *arena,
			     const struct jl_record **ret_records, size_t *ret_n, struct jl_err *err)
{
	struct listing list = { .arena = arena };

	JL_TRY(jl_store_each(store, filter, add_to_list, &list, err));
	*ret_records = list.records;
	*ret_n = list.n;
	return JL_OK;
}

enum jl_status jl_store_delete(struct jl_store *store, const char *id, struct jl_err *err)
{
	char whole[JL_RECORD_ID_LEN + 1];

	JL_TRY(find_id(store, id, whole, err));
	return jl_sql_erase(store, whole, err);
}

/* Edits the stored text itself, so that unknown keys stay. */
static char *with_note(const char *body, size_t len, const char *note)
{
	json_t *root = jl_json_load(body, len, 0, NULL);
	char *text = NULL;
	int failed = 0;

	if (!root)
		return NULL;
	if (note && *note)
		failed = json_object_set_new(root, "note", json_string(note));
	else
		(void)json_object_del(root, "note"); /* fails if there is no note */
	if (!failed)
		text = json_dumps(root, JSON_COMPACT);
	json_decref(root);
	return text;
}

enum jl_status jl_store_note(struct jl_store *store, const char *id, const char *note, struct jl_err *err)
{
	struct jl_buf body;
	struct jl_record record;
	struct jl_arena arena;
	char *text = NULL;

	jl_buf_init(&body, JL_RECORD_TEXT_MAX_B);
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	enum jl_status status = fetch(store, id, &body, err);
	if (status)
		goto out;
	text = with_note(jl_buf_text(&body), body.len, note);
	if (!text) {
		status = jl_fail(err, JL_E_DATA, "the note is not UTF-8, or the record is damaged");
		goto out;
	}
	status = jl_record_read(text, strlen(text), &arena, &record, err);
	if (status)
		goto out;
	status = jl_sql_replace(store, &record, text, err);
out:
	free(text);
	jl_arena_release(&arena);
	jl_buf_release(&body);
	return status;
}

#define MERGE_BATCH 500

struct merging {
	struct jl_store *into;
	size_t n_open;
};

static enum jl_status merge_one(void *ctx, const char *line, size_t len, struct jl_err *err)
{
	struct merging *m = ctx;
	enum jl_status status = JL_OK;

	if (m->n_open == 0)
		status = jl_store_begin(m->into, err);
	JL_THEN(status, jl_store_put_line(m->into, line, len, NULL, err));
	if (!status && ++m->n_open == MERGE_BATCH) {
		m->n_open = 0;
		status = jl_store_end(m->into, err);
	}
	return status;
}

enum jl_status jl_store_merge(struct jl_store *into, struct jl_store *from, struct jl_err *err)
{
	struct merging m = { .into = into };
	enum jl_status status = jl_store_each(from, &(struct jl_store_filter){ .oldest_first = true }, merge_one, &m,
					      err);

	JL_THEN(status, jl_store_end(into, err));
	if (status)
		jl_store_abandon(into);
	return status;
}
