/* SQLite backend: older schema versions, foreign files, every kind of damage. */
#include "records.h"

#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>

static char path[128];

static void fresh(const char *name)
{
	(void)snprintf(path, sizeof(path), "%s/%s", temp_dir(), name);
}

static void raw(const char *sql)
{
	sqlite3 *sq = NULL;

	assert_int_equal(sqlite3_open(path, &sq), SQLITE_OK);
	if (sqlite3_exec(sq, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s", sqlite3_errmsg(sq));
	sqlite3_close(sq);
}

static size_t read_file(char *out, size_t size)
{
	FILE *file = fopen(path, "rb");
	size_t n;

	assert_non_null(file);
	n = fread(out, 1, size, file);
	fclose(file);
	return n;
}

static void write_file(const char *data, size_t len)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, len, file), len);
	fclose(file);
}

/* Version 1: no columns origin, backend and machine_name. */
static void test_from_version_1(void **state)
{
	struct jl_store *store = NULL;
	const struct jl_record *list;
	struct jl_arena arena;
	struct jl_err err;
	struct sample s;
	size_t n = 0;

	(void)state;
	fresh("v1.db");
	raw("PRAGMA application_id = 1785032565; PRAGMA user_version = 1;"
	    "CREATE TABLE record (id TEXT PRIMARY KEY NOT NULL, time_s REAL NOT NULL, kind TEXT NOT NULL, machine "
	    "TEXT, run TEXT,"
	    " body TEXT NOT NULL);"
	    "CREATE INDEX record_time ON record (time_s, id);"
	    "INSERT INTO record VALUES ('01JC0000000000000000000001', 10, 'gemm', NULL, NULL,"
	    " '{\"record_version\":1,\"id\":\"01JC0000000000000000000001\",\"time_s\":10,\"kind\":\"gemm\",\"backend\":"
	    "\"cpu\","
	    "\"origin\":\"measured\",\"machine_name\":\"old one\",\"metrics\":[]}')");
	must(jl_store_open(&store, path, &err), &err);
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	must(jl_store_list(store,
			   &(struct jl_store_filter){ .origin = "measured", .backend = "cpu", .machine = "old one" },
			   &arena, &list, &n, &err),
	     &err);
	assert_int_equal(n, 1);
	assert_string_equal(list[0].id, "01JC0000000000000000000001");
	make_record(&s, "gemm", 1);
	must(jl_store_put(store, &s.record, NULL, &err), &err);
	jl_store_close(store);
	/* again: no migration left */
	must(jl_store_open(&store, path, &err), &err);
	must(jl_store_count(store, &n, &err), &err);
	assert_int_equal(n, 2);
	jl_store_close(store);
	jl_arena_release(&arena);
}

static void refuse(enum jl_status wanted, const char *word)
{
	static char before[1 << 20], after[1 << 20];
	size_t n = read_file(before, sizeof(before));
	struct jl_store *store = NULL;
	struct jl_err err = { .en = "" };
	enum jl_status status = jl_store_open(&store, path, &err);

	assert_int_equal(status, wanted);
	assert_non_null(strstr(err.en, word));
	assert_null(strchr(err.en, '\n'));
	assert_null(store);
	assert_int_equal(read_file(after, sizeof(after)), n);
	assert_memory_equal(before, after, n); /* the file is unchanged */
}

static void test_refuses_what_is_not_ours(void **state)
{
	static const char text[] =
		"These are my notes, and no database at all. They are longer than a hundred bytes, which is "
		"where SQLite begins to look.\n";
	static const int unknown[] = { -1, -100000, INT_MIN, 0 };

	(void)state;
	fresh("newer.db");
	raw("PRAGMA application_id = 1785032565; PRAGMA user_version = 3; CREATE TABLE record (id TEXT)");
	refuse(JL_E_DATA, "newer");
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++) {
		char sql[160];

		fresh("unknown.db");
		(void)unlink(path);
		(void)snprintf(
			sql, sizeof(sql),
			"PRAGMA application_id = 1785032565; PRAGMA user_version = %d; CREATE TABLE record (id TEXT)",
			unknown[i]);
		raw(sql);
		refuse(JL_E_DATA, "which no jeoul makes");
	}
	fresh("endless.db");
	raw("PRAGMA application_id = 1785032565; PRAGMA user_version = 2;"
	    "CREATE VIEW record AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i AS id FROM n");
	refuse(JL_E_DATA, "not jeoul's");
	/* expressions in a schema are executed by our statements: 65 s for a prepared file of 897 kB */
	static const char *const more[] = {
		"ALTER TABLE record ADD COLUMN x TEXT GENERATED ALWAYS AS (hex(zeroblob(100000000))) VIRTUAL",
		"CREATE INDEX slow ON record (length(hex(zeroblob(100000000))))",
		"CREATE TABLE other (a INTEGER CHECK (length(hex(zeroblob(100000000))) > 0))",
		"CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM record; END",
		("PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = replace(sql, 'kind TEXT', 'kind TEXT "
		 "CHECK "
		 "(randomblob(100000000) IS NOT NULL)') WHERE name = 'record'"),
	};
	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++) {
		struct jl_store *store = NULL;

		fresh("more.db");
		(void)unlink(path);
		assert_int_equal(jl_store_open(&store, path, NULL), JL_OK);
		jl_store_close(store);
		raw("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE");
		raw(more[i]);
		refuse(JL_E_DATA, "not jeoul's");
	}
	fresh("foreign.db");
	raw("CREATE TABLE cookies (id TEXT)");
	refuse(JL_E_DATA, "another program");
	fresh("notes.txt");
	write_file(text, strlen(text));
	refuse(JL_E_DATA, "not an SQLite database");
}

static void test_missing_and_folder(void **state)
{
	struct jl_store *store = NULL;
	struct jl_err err;

	(void)state;
	fresh("not-there.db");
	assert_int_equal(jl_store_open_existing(&store, path, &err), JL_E_NOTFOUND);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(jl_store_open(&store, temp_dir(), &err), JL_E_IO);
	assert_int_equal(jl_store_open(&store, "mysql://u:secret@h/d", &err), JL_E_USAGE);
	assert_null(strstr(err.en, "secret"));
}

/* Any page overwritten with random bytes: a one-line error or a correct answer, and reading never changes the file. */
static void test_damage(void **state)
{
	static char good[1 << 20], bad[1 << 20];
	struct jl_store *store = NULL;
	struct jl_err err = { .en = "" };
	struct sample s;
	size_t n;
	int n_refused = 0;

	(void)state;
	fresh("damaged.db");
	must(jl_store_open(&store, path, &err), &err);
	for (int i = 0; i < 60; i++) {
		make_record(&s, "gemm", i);
		must(jl_store_put(store, &s.record, NULL, &err), &err);
	}
	jl_store_close(store);
	n = read_file(good, sizeof(good));
	srand(7);
	for (int i = 0; i < 200; i++) {
		size_t at = (size_t)rand() % n, len = (size_t)rand() % 4096, n_after;
		struct jl_arena arena;
		const struct jl_record *list;
		size_t n_list;
		enum jl_status status;

		memcpy(bad, good, n);
		for (size_t k = at; k < n && k < at + len; k++)
			bad[k] = (char)rand();
		write_file(bad, i % 5 ? n : at);
		n_after = i % 5 ? n : at;
		jl_arena_init(&arena, JL_ARENA_LIMIT_B);
		store = NULL;
		err = (struct jl_err){ .en = "" };
		status = n_after ? jl_store_open(&store, path, &err) : JL_E_DATA;
		if (!status)
			status = jl_store_list(store, &(struct jl_store_filter){ .limit = 0 }, &arena, &list, &n_list,
					       &err);
		if (status && n_after) {
			assert_true(err.en[0] != '\0' && !strchr(err.en, '\n'));
			n_refused++;
		}
		jl_store_close(store);
		if (n_after && status)
			assert_int_equal(read_file(bad, sizeof(bad)), n_after);
		jl_arena_release(&arena);
	}
	assert_true(n_refused > 20);
}

/* All uses of a store: open, read, merge, write. */
static enum jl_status use_damaged(struct jl_store *into, struct jl_err *err)
{
	struct jl_store *store = NULL;
	const struct jl_record *list;
	struct jl_arena arena;
	struct sample s;
	size_t n = 0;
	enum jl_status status = jl_store_open_existing(&store, path, err);

	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	if (!status)
		status = jl_store_list(store, &(struct jl_store_filter){ .machine = "m-0123" }, &arena, &list, &n, err);
	if (!status)
		status = jl_store_merge(into, store, err);
	make_record(&s, "gemm", 7);
	if (!status)
		status = jl_store_put(store, &s.record, NULL, err);
	jl_store_close(store);
	jl_arena_release(&arena);
	return status;
}

/* Single bytes of a real store changed, half of them in the header: a one-line error or a correct answer. JEOUL_STORE_FUZZ=N for more than the
 * default few hundred. */
static void test_flipped_bytes(void **state)
{
	static const char *const beside[] = { "flipped.db-wal", "flipped.db-shm", "flipped.db-journal" };
	static char good[1 << 20], bad[1 << 20], other[160];
	const char *more = getenv("JEOUL_STORE_FUZZ");
	const long n_rounds = more ? atol(more) : 300;
	struct jl_store *store = NULL, *into = NULL;
	struct jl_err err = { .en = "" };
	struct sample s;
	size_t n;
	long n_refused = 0;

	(void)state;
	fresh("flipped.db");
	must(jl_store_open(&store, path, &err), &err);
	for (int i = 0; i < 20; i++) {
		make_record(&s, "gemm", i);
		must(jl_store_put(store, &s.record, NULL, &err), &err);
	}
	jl_store_close(store);
	n = read_file(good, sizeof(good));
	(void)snprintf(other, sizeof(other), "%s/into.db", temp_dir());
	must(jl_store_open(&into, other, &err), &err);
	srand(11);
	for (long i = 0; i < n_rounds; i++) {
		memcpy(bad, good, n);
		for (int k = rand() % 6; k >= 0; k--)
			bad[(size_t)rand() % (i % 2 ? n : 100)] = (char)(i % 3 ? rand() : 0xff);
		write_file(bad, n);
		err = (struct jl_err){ .en = "" };
		if (use_damaged(into, &err)) {
			assert_true(err.en[0] != '\0' && !strchr(err.en, '\n'));
			n_refused++;
		}
		for (size_t k = 0; k < sizeof(beside) / sizeof(*beside); k++) {
			fresh(beside[k]);
			(void)unlink(path);
		}
		fresh("flipped.db");
	}
	jl_store_close(into);
	assert_true(n_refused > n_rounds / 10);
	print_message("flipped bytes: %ld stores, %ld refused\n", n_rounds, n_refused);
}

static void test_where_it_is_by_default(void **state)
{
	struct jl_store *store = NULL;
	struct jl_err err;

	(void)state;
	assert_int_equal(jl_store_open(&store, "", NULL) == JL_OK, true); /* $XDG_DATA_HOME/jeoul/jeoul.db */
	assert_non_null(strstr(jl_store_where(store), "/jeoul/jeoul.db"));
	jl_store_close(store);
	setenv("JEOUL_STORE", path, 1);
	fresh("env.db");
	setenv("JEOUL_STORE", path, 1);
	must(jl_store_open(&store, NULL, &err), &err);
	assert_string_equal(jl_store_where(store), path);
	jl_store_close(store);
	unsetenv("JEOUL_STORE");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_from_version_1),     cmocka_unit_test(test_refuses_what_is_not_ours),
		cmocka_unit_test(test_missing_and_folder), cmocka_unit_test(test_damage),
		cmocka_unit_test(test_flipped_bytes),      cmocka_unit_test(test_where_it_is_by_default),
	};
	int n_bad;

	(void)temp_dir();
	n_bad = cmocka_run_group_tests(tests, NULL, NULL);
	remove_temp_dir();
	return n_bad;
}
