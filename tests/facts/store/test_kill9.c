/* Kills writers at random moments: every acknowledged result survives, and the database stays intact.
 *
 * JEOUL_KILLS: number of kills (default 20). Two writers share the database and report acknowledged ids through a pipe. The same with a PostgreSQL
 * server, which is killed now and then too. */
#include "records.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <time.h>

#define WRITERS 2

static char path[512];

static void write_results(int fd)
{
	struct jl_store *store = NULL;
	struct jl_err err;
	struct sample s;

	if (jl_store_open(&store, path, &err)) {
		fprintf(stderr, "writer: %s\n", err.en);
		_exit(9);
	}
	for (double i = 0;; i++) {
		make_record(&s, "kill9", i);
		if (jl_store_put(store, &s.record, NULL, &err)) {
			fprintf(stderr, "writer: %s\n", err.en);
			_exit(9);
		}
		if (write(fd, s.id, JL_RECORD_ID_LEN) != JL_RECORD_ID_LEN)
			_exit(8);
	}
}

static void check_intact(void)
{
	sqlite3 *sq = NULL;
	sqlite3_stmt *statement = NULL;

	assert_int_equal(sqlite3_open(path, &sq), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(sq, "PRAGMA integrity_check", -1, &statement, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	assert_string_equal((const char *)sqlite3_column_text(statement, 0), "ok");
	sqlite3_finalize(statement);
	sqlite3_close(sq);
}

/* Ids fit in a pipe's atomic write, so they are complete. Returns the number acknowledged and found. */
static size_t check_acknowledged(int fd, struct jl_store *store)
{
	char id[JL_RECORD_ID_LEN + 1] = "";
	struct jl_record record;
	struct jl_arena arena;
	struct jl_err err;
	size_t n = 0;

	while (read(fd, id, JL_RECORD_ID_LEN) == JL_RECORD_ID_LEN) {
		jl_arena_init(&arena, JL_ARENA_LIMIT_B);
		must(jl_store_get(store, id, &arena, &record, &err), &err);
		assert_string_equal(record.id, id);
		jl_arena_release(&arena);
		n++;
	}
	return n;
}

/* longest time until the next kill; raised on a busy machine in which nothing gets done */
static long most_us = 40000;

static void nap(void)
{
	const long us = random() % most_us;

	nanosleep(&(struct timespec){ .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 }, NULL);
}

/* `during`: concurrent action while they write; NULL: none. */
static size_t kill_once(void (*during)(void))
{
	struct jl_store *store = NULL;
	struct jl_err err;
	pid_t pids[WRITERS];
	size_t n = 0;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	(void)fcntl(ends[0], 1031 /* F_SETPIPE_SZ */, 1 << 20);
	for (int w = 0; w < WRITERS; w++) {
		pids[w] = fork();
		assert_true(pids[w] >= 0);
		if (pids[w] == 0) {
			close(ends[0]);
			write_results(ends[1]);
		}
	}
	close(ends[1]);
	if (during)
		during();
	for (int w = 0; w < WRITERS; w++) {
		int how = 0;

		nap();
		kill(pids[w], SIGKILL);
		assert_int_equal(waitpid(pids[w], &how, 0), pids[w]);
		assert_true(WIFSIGNALED(how)); /* killed while writing, not ended by an error */
	}
	if (during)
		(void)server_start();
	must(jl_store_open(&store, path, &err), &err);
	assert_null(jl_store_offline(store));
	assert_int_equal(jl_store_waiting(store), 0);
	n = check_acknowledged(ends[0], store);
	close(ends[0]);
	jl_store_close(store);
	most_us = n ? most_us : most_us < 2000000 ? 2 * most_us : most_us;
	return n;
}

static long kills_wanted(void)
{
	const char *wanted = getenv("JEOUL_KILLS");

	return wanted ? strtol(wanted, NULL, 10) : 20;
}

static void test_kill9(void **state)
{
	const long n_kills = kills_wanted();
	size_t n_acknowledged = 0;

	(void)state;
	srandom((unsigned)time(NULL));
	for (long done = 0, round = 0; done < n_kills; done += WRITERS, round++) {
		if (round % 50 == 0) /* sometimes a new database, to kill during its creation */
			(void)snprintf(path, sizeof(path), "%s/kill-%ld.db", temp_dir(), round);
		n_acknowledged += kill_once(NULL);
		if (round % 10 == 0 || done + WRITERS >= n_kills)
			check_intact();
	}
	print_message("%ld kills, %zu results acknowledged, none lost\n", n_kills, n_acknowledged);
	assert_true(n_acknowledged > 0);
}

static void let_the_server_die(void)
{
	nap();
	server_stop(); /* immediate shutdown: data not on disk is lost */
	nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
}

static void test_kill9_postgres(void **state)
{
	const long n_kills = kills_wanted();
	const char *url = server_start();
	size_t n_acknowledged = 0, n_died = 0;
	struct jl_store *store = NULL;
	struct jl_err err;

	(void)state;
	if (!url)
		return;
	(void)snprintf(path, sizeof(path), "%s", url);
	must(jl_store_open(&store, path, &err), &err); /* concurrent creation is tested elsewhere */
	jl_store_close(store);
	for (long done = 0, round = 0; done < n_kills; done += WRITERS, round++) {
		const bool dies = round % 10 == 5;

		n_died += dies;
		n_acknowledged += kill_once(dies ? let_the_server_die : NULL);
	}
	server_stop();
	print_message("PostgreSQL: %ld kills, the server killed %zu times, %zu results acknowledged, none lost\n",
		      n_kills, n_died, n_acknowledged);
	assert_true(n_acknowledged > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_kill9), cmocka_unit_test(test_kill9_postgres) };
	int n_bad;

	(void)temp_dir();
	n_bad = cmocka_run_group_tests(tests, NULL, NULL);
	remove_temp_dir();
	return n_bad;
}
