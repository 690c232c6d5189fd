/* The same tests on both backends: an SQLite file and a PostgreSQL server started here. */
#include <sys/stat.h>

#include "records.h"

static const char *url; /* of the backend under test */
static bool is_server;
static char sqlite_url[128];

static struct jl_store *open_store(void)
{
	struct jl_store *store = NULL;
	struct jl_err err;

	must(jl_store_open(&store, url, &err), &err);
	assert_null(jl_store_offline(store));
	return store;
}

static size_t count(struct jl_store *store)
{
	struct jl_err err;
	size_t n = 0;

	must(jl_store_count(store, &n, &err), &err);
	return n;
}

static void test_put_and_get(void **state)
{
	struct jl_store *store = open_store();
	struct jl_record back;
	struct jl_arena arena;
	struct jl_err err;
	enum jl_store_kept kept;
	struct sample s;
	size_t before = count(store);

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	make_record(&s, "allreduce", 16e9);
	must(jl_store_put(store, &s.record, &kept, &err), &err);
	assert_int_equal(kept, JL_STORE_NEW);
	must(jl_store_put(store, &s.record, &kept, &err), &err);
	assert_int_equal(kept, JL_STORE_KNOWN);
	assert_int_equal(count(store), before + 1);
	jl_store_close(store);

	store = open_store();
	must(jl_store_get(store, s.id, &arena, &back, &err), &err);
	assert_string_equal(back.machine_name, "시험 장비");
	assert_string_equal(back.run, "run-1");
	assert_true(back.time_s == s.record.time_s);
	assert_true(back.samples_s[1] == 1.0 / 3);
	assert_true(jl_record_number(&back, "size_B") == 16e9);
	/* abbreviated from either end, in lower case too */
	must(jl_store_get(store, s.id + 12, &arena, &back, &err), &err);
	assert_string_equal(back.id, s.id);
	assert_int_equal(jl_store_get(store, "zz", &arena, &back, &err), JL_E_USAGE);
	assert_int_equal(jl_store_get(store, "' OR 1=1 --", &arena, &back, &err), JL_E_USAGE);
	assert_int_equal(jl_store_get(store, "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", &arena, &back, &err), JL_E_NOTFOUND);
	jl_store_close(store);
	jl_arena_release(&arena);
}

static void test_refuses_bad_records(void **state)
{
	struct jl_store *store = open_store();
	size_t before = count(store);
	struct jl_err err;
	struct sample s;

	(void)state;
	make_record(&s, "gemm", 1);
	s.metric.name = "speed";
	assert_int_equal(jl_store_put(store, &s.record, NULL, &err), JL_E_UNIT);
	make_record(&s, "gemm", 1);
	s.record.id = "short";
	assert_int_equal(jl_store_put(store, &s.record, NULL, &err), JL_E_DATA);
	assert_int_equal(count(store), before);
	jl_store_close(store);
}

static void test_filters(void **state)
{
	static const char *const kinds[] = { "gemm", "memory", "gemm", "net" };
	struct jl_store *store = open_store();
	const struct jl_record *list;
	struct jl_arena arena;
	struct jl_err err;
	struct sample s;
	size_t n = 0;
	double since_s = jl_record_now_s();

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	for (size_t i = 0; i < 4; i++) {
		make_record(&s, kinds[i], (double)i);
		s.record.time_s = since_s + (double)i;
		s.record.run = "filters";
		s.record.origin = i == 3 ? "imported" : "measured";
		must(jl_store_put(store, &s.record, NULL, &err), &err);
	}
	must(jl_store_list(store, &(struct jl_store_filter){ .run = "filters" }, &arena, &list, &n, &err), &err);
	assert_int_equal(n, 4);
	assert_string_equal(list[0].kind, "net"); /* newest first */
	must(jl_store_list(store, &(struct jl_store_filter){ .run = "filters", .kind = "gemm" }, &arena, &list, &n,
			   &err),
	     &err);
	assert_int_equal(n, 2);
	must(jl_store_list(store,
			   &(struct jl_store_filter){ .run = "filters", .since_s = since_s + 2, .oldest_first = true },
			   &arena, &list, &n, &err),
	     &err);
	assert_int_equal(n, 2);
	assert_string_equal(list[0].kind, "gemm");
	must(jl_store_list(store, &(struct jl_store_filter){ .run = "filters", .limit = 1 }, &arena, &list, &n, &err),
	     &err);
	assert_int_equal(n, 1);
	must(jl_store_list(store, &(struct jl_store_filter){ .run = "filters", .origin = "imported" }, &arena, &list,
			   &n, &err),
	     &err);
	assert_int_equal(n, 1);
	must(jl_store_list(store, &(struct jl_store_filter){ .run = "filters", .machine = "시험 장비" }, &arena, &list,
			   &n, &err),
	     &err);
	assert_int_equal(n, 4);
	must(jl_store_list(store, &(struct jl_store_filter){ .kind = "'; DROP TABLE record" }, &arena, &list, &n, &err),
	     &err);
	assert_int_equal(n, 0);
	jl_store_close(store);
	jl_arena_release(&arena);
}

static void test_note_and_delete_keep_unknown_keys(void **state)
{
	static const char line[] =
		"{\"record_version\":9,\"id\":\"01JCTESTNXTEANDDE1ETEKEY00\",\"time_s\":1.5,\"kind\":\"x\","
		"\"backend\":\"b\",\"origin\":\"measured\",\"metrics\":[{\"name\":\"step_s\",\"n\":1,\"median\":2,"
		"\"stddev_s\":0.25}],\"from_the_future\":{\"a\":[1,2]}}";
	struct jl_store *store = open_store();
	struct jl_arena arena;
	struct jl_record back;
	struct jl_err err;
	enum jl_store_kept kept;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	must(jl_store_put_line(store, line, strlen(line), &kept, &err), &err);
	must(jl_store_note(store, "01JCTEST", "두 번째 측정 \"'; --", &err), &err);
	must(jl_store_get(store, "01JCTEST", &arena, &back, &err), &err);
	assert_string_equal(back.note, "두 번째 측정 \"'; --");
	assert_non_null(strstr(back.extra_json, "from_the_future"));
	must(jl_store_note(store, "01JCTEST", NULL, &err), &err);
	must(jl_store_get(store, "01JCTEST", &arena, &back, &err), &err);
	assert_null(back.note);
	must(jl_store_delete(store, "01JCTEST", &err), &err);
	assert_int_equal(jl_store_get(store, "01JCTEST", &arena, &back, &err), JL_E_NOTFOUND);
	assert_int_equal(jl_store_delete(store, "01JCTEST", &err), JL_E_NOTFOUND);
	jl_store_close(store);
	jl_arena_release(&arena);
}

static enum jl_status find_word(void *ctx, const char *line, size_t len, struct jl_err *err)
{
	(void)err;
	*(bool *)ctx |= memmem(line, len, "\"stddev_s\":0.25", 15) != NULL;
	return JL_OK;
}

static void test_merge(void **state)
{
	static const char line[] =
		"{\"record_version\":9,\"id\":\"01JCMERGEDTEANDDE1ETEKEY00\",\"time_s\":1.5,\"kind\":\"x\","
		"\"backend\":\"b\",\"origin\":\"measured\",\"metrics\":[{\"name\":\"step_s\",\"n\":1,\"median\":2,"
		"\"stddev_s\":0.25}]}";
	struct jl_store *store = open_store(), *other = NULL;
	char path[128];
	struct jl_err err;
	struct sample s;
	size_t before = count(store);
	struct jl_store_taken first, second;
	bool found = false;

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/other-%d.db", temp_dir(), is_server);
	must(jl_store_open(&other, path, &err), &err);
	must(jl_store_put_line(other, line, strlen(line), NULL, &err), &err);
	must(jl_store_begin(other, &err), &err);
	for (size_t i = 0; i < 1200; i++) {
		make_record(&s, "gemm", (double)i);
		must(jl_store_put(other, &s.record, NULL, &err), &err);
		if (i == 7)
			must(jl_store_put(store, &s.record, NULL, &err), &err);
	}
	must(jl_store_end(other, &err), &err);
	first = jl_store_taken(store);
	must(jl_store_merge(store, other, &err), &err);
	second = jl_store_taken(store);
	assert_int_equal(second.n[JL_STORE_NEW] - first.n[JL_STORE_NEW], 1200);
	assert_int_equal(second.n[JL_STORE_KNOWN] - first.n[JL_STORE_KNOWN], 1);
	must(jl_store_merge(store, other, &err), &err);
	first = jl_store_taken(store);
	assert_int_equal(first.n[JL_STORE_NEW] - second.n[JL_STORE_NEW], 0);
	assert_int_equal(first.n[JL_STORE_KNOWN] - second.n[JL_STORE_KNOWN], 1201);
	assert_int_equal(count(store), before + 1201);
	must(jl_store_each(store, &(struct jl_store_filter){ .kind = "x" }, find_word, &found, &err), &err);
	assert_true(found); /* unknown key inside a metric */
	jl_store_close(other);
	jl_store_close(store);
}

static void test_a_batch_is_all_or_nothing(void **state)
{
	struct jl_store *store = open_store();
	size_t before = count(store);
	struct jl_err err;
	struct sample s;

	(void)state;
	must(jl_store_begin(store, &err), &err);
	make_record(&s, "gemm", 1);
	must(jl_store_put(store, &s.record, NULL, &err), &err);
	jl_store_abandon(store);
	assert_int_equal(count(store), before);
	must(jl_store_begin(store, &err), &err);
	must(jl_store_put(store, &s.record, NULL, &err), &err);
	must(jl_store_end(store, &err), &err);
	assert_int_equal(count(store), before + 1);
	jl_store_close(store);
}

#define WRITERS 4
#define EACH    40

/* Concurrent writers, each with its own handle: nothing is lost. */
static void test_writers_at_once(void **state)
{
	struct jl_store *store;
	pid_t pids[WRITERS];
	size_t before, n = 0;

	(void)state;
	store = open_store();
	before = count(store);
	jl_store_close(store);
	for (int w = 0; w < WRITERS; w++) {
		pids[w] = fork();
		assert_true(pids[w] >= 0);
		if (pids[w] == 0) {
			struct jl_store *own = NULL;
			struct jl_err err;
			struct sample s;
			int bad = jl_store_open(&own, url, &err) != JL_OK;

			for (int i = 0; i < EACH && !bad; i++) {
				make_record(&s, "writers", i);
				bad = jl_store_put(own, &s.record, NULL, &err) != JL_OK || jl_store_offline(own);
			}
			if (bad)
				fprintf(stderr, "writer: %s\n", err.en);
			jl_store_close(own);
			_exit(bad);
		}
	}
	for (int w = 0; w < WRITERS; w++) {
		int how = 0;

		assert_int_equal(waitpid(pids[w], &how, 0), pids[w]);
		assert_int_equal(how, 0);
	}
	store = open_store();
	n = count(store);
	jl_store_close(store);
	assert_int_equal(n, before + (size_t)WRITERS * EACH);
}

/* Four processes create the same database concurrently; repeated, because the race is short. */
static void test_created_at_once(void **state)
{
	char path[128];
	pid_t pids[WRITERS];

	(void)state;
	for (int round = 0; round < 20; round++) {
		(void)snprintf(path, sizeof(path), "%s/new%d/deep/fresh.db", temp_dir(), round);
		for (int w = 0; w < WRITERS; w++) {
			pids[w] = fork();
			if (pids[w] == 0) {
				struct jl_store *own = NULL;
				struct jl_err err = { .en = "" };
				int bad = jl_store_open(&own, path, &err) != JL_OK;

				if (bad)
					fprintf(stderr, "creator: %s\n", err.en);
				jl_store_close(own);
				_exit(bad);
			}
		}
		for (int w = 0; w < WRITERS; w++) {
			int how = 0;

			assert_int_equal(waitpid(pids[w], &how, 0), pids[w]);
			assert_int_equal(how, 0);
		}
	}
}

/* Opening for reading creates nothing; a named store must exist, the default one need not. */
static void test_looking_makes_nothing(void **state)
{
	struct jl_store *store = NULL;
	char path[128];

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/nowhere/jeoul/jeoul.db", temp_dir());
	assert_int_equal(jl_store_open_to_read(&store, path, NULL), JL_E_NOTFOUND);
	assert_null(store);
	*strstr(path, "/jeoul/") = '\0';
	unsetenv("JEOUL_STORE");
	setenv("XDG_DATA_HOME", path, 1);
	assert_int_equal(jl_store_open_to_read(&store, NULL, NULL), JL_OK);
	assert_int_equal(count(store), 0);
	jl_store_close(store);
	assert_int_equal(access(path, F_OK), -1);
}

#define CONTRACT                                                                                                       \
	cmocka_unit_test(test_put_and_get), cmocka_unit_test(test_refuses_bad_records),                                \
		cmocka_unit_test(test_filters), cmocka_unit_test(test_note_and_delete_keep_unknown_keys),              \
		cmocka_unit_test(test_merge), cmocka_unit_test(test_a_batch_is_all_or_nothing),                        \
		cmocka_unit_test(test_writers_at_once)

int main(void)
{
	const struct CMUnitTest sqlite[] = { CONTRACT, cmocka_unit_test(test_created_at_once),
					     cmocka_unit_test(test_looking_makes_nothing) };
	const struct CMUnitTest postgres[] = { CONTRACT };
	int n_bad;

	(void)snprintf(sqlite_url, sizeof(sqlite_url), "sqlite:%s/contract.db", temp_dir());
	url = sqlite_url;
	n_bad = cmocka_run_group_tests_name("sqlite", sqlite, NULL, NULL);
	url = server_start();
	is_server = true;
	if (url) {
		n_bad += cmocka_run_group_tests_name("postgresql", postgres, NULL, NULL);
		server_stop();
	}
	remove_temp_dir();
	return n_bad;
}
