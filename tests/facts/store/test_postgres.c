/* PostgreSQL: older schema versions, lost connections, passwords hidden in messages. */
#include "records.h"

#include "base/clock.h"

static const char *url;

static void psql(const char *sql)
{
	char command[1200], out[600];

	(void)snprintf(command, sizeof(command), "psql -X -q -v ON_ERROR_STOP=1 '%s' -c \"%s\" 2>&1", url, sql);
	if (shell(out, sizeof(out), command) != 0)
		fail_msg("%s", out);
}

static void test_from_version_1(void **state)
{
	struct jl_store *store = NULL;
	struct jl_err err;
	struct jl_arena arena;
	const struct jl_record *list;
	size_t n = 0;
	static const char *const unknown[] = { "UPDATE jeoul_meta SET version = -1",
					       "UPDATE jeoul_meta SET version = -100000",
					       "UPDATE jeoul_meta SET version = 0", "DELETE FROM jeoul_meta" };

	(void)state;
	psql("CREATE TABLE jeoul_meta (version integer NOT NULL); INSERT INTO jeoul_meta VALUES (1);"
	     "CREATE TABLE jeoul_record (id text PRIMARY KEY, time_s double precision NOT NULL, kind text NOT NULL, "
	     "machine text,"
	     " run text, body text NOT NULL);"
	     "INSERT INTO jeoul_record VALUES ('01JC0000000000000000000001', 10, 'gemm', NULL, NULL,"
	     " '{\\\"record_version\\\":1,\\\"id\\\":\\\"01JC0000000000000000000001\\\",\\\"time_s\\\":10,\\\"kind\\\":"
	     "\\\"gemm\\\","
	     "\\\"backend\\\":\\\"cpu\\\",\\\"origin\\\":\\\"measured\\\",\\\"metrics\\\":[]}')");
	must(jl_store_open(&store, url, &err), &err);
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	must(jl_store_list(store, &(struct jl_store_filter){ .backend = "cpu" }, &arena, &list, &n, &err), &err);
	assert_int_equal(n, 1);
	jl_store_close(store);
	jl_arena_release(&arena);
	psql("UPDATE jeoul_meta SET version = 3");
	assert_int_equal(jl_store_open(&store, url, &err), JL_E_DATA);
	assert_non_null(strstr(err.en, "newer"));
	/* impossible versions are refused before any migration step */
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++) {
		psql(unknown[i]);
		assert_int_equal(jl_store_open(&store, url, &err), JL_E_DATA);
		assert_non_null(strstr(err.en, "which no jeoul makes"));
	}
	psql("DELETE FROM jeoul_meta; INSERT INTO jeoul_meta VALUES (2)");
}

/* Server stopped in the middle: later results wait in the spool and are sent at the next opening. */
static void test_server_stops(void **state)
{
	struct jl_store *store = NULL;
	enum jl_store_kept kept;
	struct jl_err err;
	struct sample s;
	struct jl_arena arena;
	struct jl_record back;
	char ids[6][JL_RECORD_ID_LEN + 1];
	size_t before = 0, n = 0;

	(void)state;
	must(jl_store_open(&store, url, &err), &err);
	must(jl_store_count(store, &before, &err), &err);
	for (int i = 0; i < 4; i++) {
		if (i == 1)
			server_stop();
		make_record(&s, "stopped", i);
		(void)snprintf(ids[i], sizeof(ids[i]), "%s", s.id);
		must(jl_store_put(store, &s.record, &kept, &err), &err);
		assert_int_equal(kept, i == 0 ? JL_STORE_NEW : JL_STORE_SPOOLED);
	}
	assert_non_null(jl_store_offline(store));
	assert_int_equal(jl_store_waiting(store), 3);
	assert_int_equal(jl_store_count(store, &n, &err), JL_E_IO);
	assert_non_null(strstr(err.en, "3 results wait"));
	jl_store_close(store);

	/* server still down: opening and batches work */
	must(jl_store_open(&store, url, &err), &err);
	assert_int_equal(jl_store_waiting(store), 3);
	must(jl_store_begin(store, &err), &err);
	for (int i = 4; i < 6; i++) {
		make_record(&s, "stopped", i);
		(void)snprintf(ids[i], sizeof(ids[i]), "%s", s.id);
		must(jl_store_put(store, &s.record, &kept, &err), &err);
		assert_int_equal(kept, JL_STORE_SPOOLED);
	}
	must(jl_store_end(store, &err), &err);
	assert_int_equal(jl_store_waiting(store), 5);
	jl_store_close(store);

	url = server_start();
	must(jl_store_open(&store, url, &err), &err);
	assert_null(jl_store_offline(store));
	assert_int_equal(jl_store_sent(store), 5);
	assert_int_equal(jl_store_waiting(store), 0);
	must(jl_store_count(store, &n, &err), &err);
	assert_int_equal(n, before + 6);
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	for (int i = 0; i < 6; i++)
		must(jl_store_get(store, ids[i], &arena, &back, &err), &err);
	jl_arena_release(&arena);
	jl_store_close(store);
}

static void test_server_stops_inside_a_batch(void **state)
{
	struct jl_store *store = NULL;
	struct jl_err err;
	struct sample s;
	size_t before = 0, n = 0;

	(void)state;
	must(jl_store_open(&store, url, &err), &err);
	must(jl_store_count(store, &before, &err), &err);
	must(jl_store_begin(store, &err), &err);
	for (int i = 0; i < 4; i++) {
		if (i == 2)
			server_stop();
		make_record(&s, "batch", i);
		must(jl_store_put(store, &s.record, NULL, &err), &err);
	}
	must(jl_store_end(store, &err), &err);
	assert_int_equal(jl_store_waiting(store), 4); /* the server rolled the first two back */
	jl_store_close(store);
	url = server_start();
	must(jl_store_open(&store, url, &err), &err);
	assert_int_equal(jl_store_sent(store), 4);
	must(jl_store_count(store, &n, &err), &err);
	assert_int_equal(n, before + 4);
	jl_store_close(store);
}

/* A truncated line of a killed writer is set aside; complete lines around it are sent. */
static void test_torn_spool(void **state)
{
	struct jl_store *store = NULL;
	struct jl_err err;
	struct sample s;
	char command[256], out[128];
	size_t before = 0, n = 0;

	(void)state;
	must(jl_store_open(&store, url, &err), &err);
	must(jl_store_count(store, &before, &err), &err);
	jl_store_close(store);
	server_stop();
	must(jl_store_open(&store, url, &err), &err);
	make_record(&s, "torn", 1);
	must(jl_store_put(store, &s.record, NULL, &err), &err);
	(void)snprintf(
		command, sizeof(command),
		"for f in %s/jeoul/spool-*.jsonl; do printf '{\"record_version\":1,\"id\":\"01J' >> \"$f\"; done",
		temp_dir());
	assert_int_equal(system(command), 0);
	make_record(&s, "torn", 2);
	must(jl_store_put(store, &s.record, NULL, &err), &err);
	jl_store_close(store);
	url = server_start();
	must(jl_store_open(&store, url, &err), &err);
	assert_int_equal(jl_store_sent(store), 2);
	must(jl_store_count(store, &n, &err), &err);
	assert_int_equal(n, before + 2);
	jl_store_close(store);
	(void)snprintf(command, sizeof(command), "cat %s/jeoul/spool-*.bad", temp_dir());
	assert_int_equal(shell(out, sizeof(out), command), 0);
	assert_non_null(strstr(out, "\"01J"));
}

static void long_run(struct sample *s, char run[8001])
{
	srand(5);
	for (int i = 0; i < 8000; i++) /* too large for an index row, and incompressible */
		run[i] = (char)('!' + 1 + rand() % 90);
	run[8000] = '\0';
	make_record(s, "refused", 1);
	s->record.run = run;
}

/* A record refused by the server is set aside with the reason; the others are stored, and reading continues. */
static void test_refused(void **state)
{
	static char run[8001];
	struct jl_store *store = NULL;
	const struct jl_err *why = NULL;
	const char *file = NULL;
	enum jl_store_kept kept;
	struct jl_err err;
	struct sample s;
	struct jl_store_taken taken;
	size_t before = 0, n = 0;
	char command[256], out[200];

	(void)state;
	must(jl_store_open(&store, url, &err), &err);
	must(jl_store_count(store, &before, &err), &err);
	long_run(&s, run);
	must(jl_store_put(store, &s.record, &kept, &err), &err);
	assert_int_equal(kept, JL_STORE_REFUSED);
	assert_null(jl_store_offline(store));
	/* in a batch, before, between and after valid records */
	must(jl_store_begin(store, &err), &err);
	for (int i = 0; i < 6; i++) {
		if (i % 2)
			long_run(&s, run);
		else
			make_record(&s, "good", i);
		must(jl_store_put(store, &s.record, &kept, &err), &err);
		assert_int_equal(kept, i % 2 ? JL_STORE_REFUSED : JL_STORE_NEW);
	}
	must(jl_store_end(store, &err), &err);
	taken = jl_store_taken(store);
	assert_int_equal(taken.n[JL_STORE_NEW], 3);
	assert_int_equal(taken.n[JL_STORE_REFUSED], 4);
	assert_int_equal(taken.n[JL_STORE_SPOOLED], 0);
	must(jl_store_count(store, &n, &err), &err);
	assert_int_equal(n, before + 3);
	jl_store_close(store);

	/* opened again: still refused and reported, without blocking others */
	must(jl_store_open(&store, url, &err), &err);
	assert_null(jl_store_offline(store));
	assert_int_equal(jl_store_waiting(store), 0);
	assert_int_equal(jl_store_refused(store, &file, &why), 4);
	assert_non_null(why);
	assert_non_null(strstr(why->en, "index row"));
	must(jl_store_count(store, &n, &err), &err);
	(void)snprintf(command, sizeof(command), "grep -ac '^# .*index row' '%s'; rm '%s'", file, file);
	jl_store_close(store);
	assert_int_equal(shell(out, sizeof(out), command), 0);
	assert_string_equal(out, "4");
}

/* A refused record in the spool does not block the others. */
static void test_refused_while_waiting(void **state)
{
	static char run[8001];
	struct jl_store *store = NULL;
	const struct jl_err *why = NULL;
	const char *file = NULL;
	struct jl_err err;
	struct sample s;
	char command[256], out[200];

	(void)state;
	server_stop();
	must(jl_store_open(&store, url, &err), &err);
	for (int i = 0; i < 3; i++) {
		if (i == 1)
			long_run(&s, run);
		else
			make_record(&s, "late", i);
		must(jl_store_put(store, &s.record, NULL, &err), &err);
	}
	assert_int_equal(jl_store_waiting(store), 3);
	jl_store_close(store);
	url = server_start();
	must(jl_store_open(&store, url, &err), &err);
	assert_null(jl_store_offline(store));
	assert_int_equal(jl_store_sent(store), 2);
	assert_int_equal(jl_store_waiting(store), 0);
	assert_int_equal(jl_store_refused(store, &file, &why), 1);
	(void)snprintf(command, sizeof(command), "rm '%s'", file);
	assert_int_equal(shell(out, sizeof(out), command), 0);
	jl_store_close(store);
}

/* Read-only role: reading works; new records are set aside, and stored once writing is allowed. */
static void test_read_only_role(void **state)
{
	char address[256];
	struct jl_store *store = NULL;
	const struct jl_err *why = NULL;
	const char *file = NULL;
	enum jl_store_kept kept;
	struct jl_err err;
	struct sample s;
	size_t n = 0, before = 0;

	(void)state;
	psql("CREATE ROLE reader LOGIN; GRANT SELECT ON jeoul_record, jeoul_meta TO reader");
	(void)snprintf(address, sizeof(address), "postgresql://reader@/postgres?host=%s/pg", temp_dir());
	must(jl_store_open(&store, address, &err), &err);
	must(jl_store_count(store, &before, &err), &err);
	make_record(&s, "unwelcome", 1);
	must(jl_store_put(store, &s.record, &kept, &err), &err);
	assert_int_equal(kept, JL_STORE_REFUSED);
	must(jl_store_count(store, &n, &err), &err);
	assert_int_equal(n, before);
	jl_store_close(store);
	must(jl_store_open(&store, address, &err), &err);
	assert_int_equal(jl_store_refused(store, &file, &why), 1);
	assert_non_null(strstr(why->en, "permission denied"));
	must(jl_store_count(store, &n, &err), &err);
	jl_store_close(store);
	psql("GRANT INSERT ON jeoul_record TO reader");
	must(jl_store_open(&store, address, &err), &err);
	assert_int_equal(jl_store_refused(store, &file, &why), 0);
	must(jl_store_count(store, &n, &err), &err);
	assert_int_equal(n, before + 1);
	jl_store_close(store);
}

/* A database whose encoding lacks Korean letters. */
static void test_other_encoding(void **state)
{
	char address[256], command[600], out[600];
	struct jl_store *store = NULL;
	enum jl_store_kept kept;
	struct jl_err err;
	struct sample s;
	size_t n = 0;

	(void)state;
	psql("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
	(void)snprintf(address, sizeof(address), "postgresql://jeoul@/latin?host=%s/pg", temp_dir());
	must(jl_store_open(&store, address, &err), &err);
	make_record(&s, "korean", 1);
	must(jl_store_put(store, &s.record, &kept, &err), &err);
	assert_int_equal(kept, JL_STORE_REFUSED);
	s.record.machine_name = "plain";
	must(jl_store_put(store, &s.record, &kept, &err), &err);
	assert_int_equal(kept, JL_STORE_NEW);
	must(jl_store_count(store, &n, &err), &err);
	assert_int_equal(n, 1);
	jl_store_close(store);

	/* in the command's output: reported as not stored, and the exit code is not 0 */
	(void)snprintf(
		command, sizeof(command),
		"J=$JEOUL; [ -n \"$J\" ] || exit 0; echo '{\"record_version\":1,\"id\":\"01JC0000000000000000000009\","
		"\"time_s\":10,\"kind\":\"gemm\",\"backend\":\"cpu\",\"origin\":\"measured\",\"note\":\"가\","
		"\"metrics\":[]}' | $J store import - --store '%s' 2>&1; echo rc $?",
		address);
	assert_int_equal(shell(out, sizeof(out), command), 0);
	if (out[0]) {
		assert_non_null(strstr(out, "0 new, 0 were there already, 1 refused"));
		assert_non_null(strstr(out, "are not stored: the server refuses them"));
		if (!strstr(out, "rc 1"))
			fail_msg("%s", out);
	}
}

static void unseen(const char *address)
{
	struct jl_store *store = NULL;
	struct jl_err err = { .en = "" };
	struct sample s;
	enum jl_status status = jl_store_open(&store, address, &err);

	if (status == JL_OK) {
		const struct jl_err *why = jl_store_offline(store);

		assert_non_null(why);
		assert_null(strstr(why->en, "hunter2"));
		assert_null(strstr(why->text, "hunter2"));
		assert_null(strstr(jl_store_where(store), "hunter2"));
		make_record(&s, "wrong", 1);
		must(jl_store_put(store, &s.record, NULL, &err), &err);
		assert_int_equal(jl_store_waiting(store) > 0, true);
	}
	assert_null(strstr(err.en, "hunter2"));
	assert_null(strstr(err.text, "hunter2"));
	jl_store_close(store);
}

/* A suspended server: accepts data and never answers. */
static void test_silent_server(void **state)
{
	struct jl_store *store = NULL;
	enum jl_store_kept kept;
	struct jl_err err;
	struct sample s;
	char command[200], out[64];
	double start_s;

	(void)state;
	must(jl_store_open(&store, url, &err), &err);
	(void)snprintf(command, sizeof(command), "pkill -STOP -P $(head -1 %s/pg/data/postmaster.pid)", temp_dir());
	(void)shell(out, sizeof(out), command);
	start_s = jl_clock_s();
	make_record(&s, "silent", 1);
	must(jl_store_put(store, &s.record, &kept, &err), &err);
	assert_true(jl_clock_s() - start_s < 25);
	assert_int_equal(kept, JL_STORE_SPOOLED);
	assert_non_null(strstr(jl_store_offline(store)->en, "no answer for 10 s"));
	jl_store_close(store);
	(void)snprintf(command, sizeof(command), "pkill -CONT -P $(head -1 %s/pg/data/postmaster.pid)", temp_dir());
	(void)shell(out, sizeof(out), command);
	must(jl_store_open(&store, url, &err), &err);
	assert_int_equal(jl_store_sent(store), 1);
	jl_store_close(store);
}

static void test_password_is_never_shown(void **state)
{
	char address[256];

	(void)state;
	psql("CREATE ROLE guarded LOGIN PASSWORD 'right'");
	(void)snprintf(address, sizeof(address), "postgresql://guarded:hunter2@/postgres?host=%s/pg", temp_dir());
	unseen(address);
	unseen("postgresql://u:hunter2@127.0.0.1:1/db");
	unseen("postgresql://u:hunter2@[::1/db");
	unseen("postgresql://u:x/hunter2@h:port/db");
	unseen("postgresql://h/db?password=hunter2&nonsense=1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_from_version_1),
		cmocka_unit_test(test_server_stops),
		cmocka_unit_test(test_server_stops_inside_a_batch),
		cmocka_unit_test(test_torn_spool),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_refused_while_waiting),
		cmocka_unit_test(test_read_only_role),
		cmocka_unit_test(test_other_encoding),
		cmocka_unit_test(test_silent_server),
		cmocka_unit_test(test_password_is_never_shown),
	};
	int n_bad = 0;

	url = server_start();
	if (url) {
		n_bad = cmocka_run_group_tests(tests, NULL, NULL);
		server_stop();
	}
	remove_temp_dir();
	jl_lang_set_default(jl_lang_find("ko"));
	return n_bad;
}
