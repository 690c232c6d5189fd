/* Shared by the store tests: small records, a temporary folder, a PostgreSQL server. */
#ifndef JL_TESTS_STORE_RECORDS_H
#define JL_TESTS_STORE_RECORDS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/store.h"

static inline void must(enum jl_status status, const struct jl_err *err)
{
	if (status)
		print_error("%s\n", err->en);
	assert_int_equal(status, JL_OK);
}

static inline const char *temp_dir(void)
{
	static char dir[64];

	if (!dir[0]) {
		strcpy(dir, P_tmpdir "/jeoul-store-XXXXXX");
		assert_non_null(mkdtemp(dir));
		assert_int_equal(chmod(dir, 0755), 0);
		setenv("XDG_DATA_HOME", dir, 1);
	}
	return dir;
}

static inline void remove_temp_dir(void)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "rm -rf '%s'", temp_dir());
	assert_int_equal(system(command), 0);
}

/* Runs a command; its output in `out`, returns its exit code. */
static inline int shell(char *out, size_t size, const char *command)
{
	FILE *pipe = popen(command, "r");
	size_t n;

	assert_non_null(pipe);
	n = fread(out, 1, size - 1, pipe);
	out[n] = '\0';
	while (n && out[n - 1] == '\n')
		out[--n] = '\0';
	n = (size_t)pclose(pipe);
	return WEXITSTATUS((int)n);
}

/* Starts the server; NULL with a message: no PostgreSQL here. */
static inline const char *server_start(void)
{
	static char url[512];
	char command[256];
	int code;

	(void)snprintf(command, sizeof(command), "bash " JL_SOURCE_DIR "/tests/facts/store/pg_server.sh start %s/pg",
		       temp_dir());
	code = shell(url, sizeof(url), command);
	if (code == 0)
		return url;
	print_message("skipped: %s\n", url);
	assert_int_equal(code, 77);
	jl_test_skipped();
	return NULL;
}

static inline void server_stop(void)
{
	char command[256], out[512];

	(void)snprintf(command, sizeof(command), "bash " JL_SOURCE_DIR "/tests/facts/store/pg_server.sh stop %s/pg",
		       temp_dir());
	(void)shell(out, sizeof(out), command);
}

struct sample {
	struct jl_record record;
	char id[JL_RECORD_ID_LEN + 1];
	struct jl_record_item params[2];
	struct jl_record_metric metric;
	double samples_s[3];
};

static inline const struct jl_record *make_record(struct sample *s, const char *kind, double size_B)
{
	struct jl_err err;

	must(jl_record_new_id(s->id, &err), &err);
	s->params[0] = (struct jl_record_item){ .key = "size_B", .number = size_B };
	s->params[1] = (struct jl_record_item){ .key = "dtype", .text = "float" };
	s->metric = (struct jl_record_metric){ .name = "algbw_Bps", .value = jl_summary_of(1.56e11) };
	s->samples_s[0] = 0.1;
	s->samples_s[1] = 1.0 / 3;
	s->samples_s[2] = 1e-9;
	s->record = (struct jl_record){
		.id = s->id,
		.time_s = jl_record_now_s(),
		.kind = kind,
		.backend = "fake",
		.origin = "measured",
		.machine = "m-0123",
		.machine_name = "시험 장비",
		.run = "run-1",
		.params = s->params,
		.n_params = 2,
		.metrics = &s->metric,
		.n_metrics = 1,
		.samples_s = s->samples_s,
		.n_samples = 3,
		.noise = jl_record_noise_unknown(),
	};
	return &s->record;
}

#endif
