/* Messages: every number within its limits, every bit that is not refused; secrets that are proved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "hostile.h"

static enum jl_status there_and_back(const struct jl_wire_message *m, struct jl_wire_message *ret)
{
	unsigned char bytes[JL_WIRE_MESSAGE_B];

	jl_wire_pack(bytes, m);
	return jl_wire_unpack(bytes, ret, NULL);
}

static void limits_are_held(void **state)
{
	static const struct {
		uint32_t word;
		uint64_t good[JL_WIRE_NUMBERS];
		struct {
			size_t at;
			uint64_t value;
		} bad[6];
	} cases[] = {
		{ JL_WIRE_HELLO, { 1, 2, 1, 3, 4 }, { { 2, 2 }, { 5, 1 } } },
		{ JL_WIRE_CHALLENGE, { 1, 2, 1 }, { { 2, 2 }, { 3, 1 } } },
		{ JL_WIRE_WELCOME,
		  { 5, 1, 2, 5270 },
		  { { 1, 0 }, { 1, 128 }, { 2, 1 }, { 2, 129 }, { 3, 0 }, { 3, 65536 } } },
		{ JL_WIRE_READY, { 1 }, { { 0, 0 }, { 0, 65536 }, { 1, 1 } } },
		{ JL_WIRE_PEER, { 1, 4, 5, 6, 7, 8 }, { { 0, 128 }, { 1, 3 }, { 1, 7 }, { 4, 65536 } } },
		{ JL_WIRE_WAIT, { 0 }, { { 0, 1 } } },
		{ JL_WIRE_HERE, { 1, 2, 128, 3, 4 }, { { 2, 129 }, { 5, 1 } } },
		{ JL_WIRE_GONE, { 1, 1 }, { { 0, 128 }, { 1, 0 }, { 1, 6 } } },
		{ JL_WIRE_SESSION, { 1 }, { { 0, 0 } } },
		{ JL_WIRE_PING, { 0 }, { { 0, 10001 } } },
		{ JL_WIRE_TEST, { 1, 1, 500 }, { { 0, 0 }, { 0, 4 }, { 1, 0 }, { 1, 65 }, { 2, 99 }, { 2, 60001 } } },
		{ JL_WIRE_REPORT, { 700 }, { { 0, 701 }, { 0, UINT64_MAX } } },
		{ JL_WIRE_RATES, { 0, 1, 2, 3, 4, 5 }, { { 5, UINT64_C(1000000000000001) } } },
		{ JL_WIRE_BYE, { 0 }, { { 0, 1 } } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct jl_wire_message m = { .word = cases[i].word }, got;

		memcpy(m.n, cases[i].good, sizeof(m.n));
		assert_int_equal(there_and_back(&m, &got), JL_OK);
		assert_memory_equal(got.n, m.n, sizeof(m.n));
		for (size_t k = 0; k < 6 && (cases[i].bad[k].at || cases[i].bad[k].value || k == 0); k++) {
			memcpy(m.n, cases[i].good, sizeof(m.n));
			m.n[cases[i].bad[k].at] = cases[i].bad[k].value;
			assert_int_equal(there_and_back(&m, &got), JL_E_DATA);
		}
	}
	for (uint32_t word = JL_N_WIRE_WORD; word; word = word == JL_N_WIRE_WORD ? UINT32_MAX : 0)
		assert_int_equal(
			there_and_back(&(struct jl_wire_message){ .word = word }, &(struct jl_wire_message){ 0 }),
			JL_E_DATA);
}

static void texts_can_be_printed(void **state)
{
	struct jl_wire_message m = { .word = JL_WIRE_OTHER }, got;

	(void)state;
	memset(m.text, '\33', sizeof(m.text));
	assert_int_equal(there_and_back(&m, &got), JL_OK);
	assert_int_equal(strlen(got.text), JL_WIRE_TEXT_B - 1);
	assert_null(strchr(got.text, '\33'));
}

static const char *file_with(const char *text)
{
	static char path[] = "/tmp/jeoul-secret-XXXXXX";
	int fd;

	(void)snprintf(path, sizeof(path), "/tmp/jeoul-secret-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	(void)close(fd);
	return path;
}

static enum jl_status read_of(const char *text, struct jl_wire_secret *ret, struct jl_err *err)
{
	const char *path = file_with(text);
	const enum jl_status status = jl_wire_read_secret(ret, path, err);

	(void)unlink(path);
	return status;
}

static void secrets_are_read(void **state)
{
	struct jl_wire_secret a, b, none;
	struct jl_err err = { 0 };
	char large[5000];

	(void)state;
	assert_int_equal(read_of("correct horse battery", &a, &err), JL_OK);
	assert_int_equal(read_of("correct horse battery \r\n", &b, &err), JL_OK);
	assert_true(a.given && jl_same_digest(a.key, b.key));
	assert_int_equal(read_of("correct horse batterx", &b, &err), JL_OK);
	assert_false(jl_same_digest(a.key, b.key));
	assert_int_equal(jl_wire_read_secret(&none, NULL, &err), JL_OK);
	assert_false(none.given);
	assert_int_equal(read_of("short\n", &b, &err), JL_E_RANGE);
	assert_non_null(strstr(err.en, "can be guessed"));
	memset(large, 'x', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	assert_int_equal(read_of(large, &b, &err), JL_E_LIMIT);
	assert_int_equal(jl_wire_read_secret(&b, "/nowhere/at/all", &err), JL_E_IO);
	assert_int_equal(jl_wire_read_secret(&b, "/", &err), JL_E_IO);
}

/* Each side's proof is its own, of this hello and this challenge. */
static void proofs_differ(void **state)
{
	unsigned char hello[JL_WIRE_MESSAGE_B] = { 0 };
	struct jl_wire_message challenge = { .word = JL_WIRE_CHALLENGE, .n = { 1, 2 } },
			       said = { .word = JL_WIRE_PROVE };
	struct jl_wire_secret secret = { .given = true }, other = { .given = true, .key = { 1 } };
	uint64_t proof[4];

	(void)state;
	jl_wire_proof(said.n, &secret, JL_WIRE_CONNECTS, hello, &challenge);
	jl_wire_proof(proof, &secret, JL_WIRE_CONNECTS, hello, &challenge);
	assert_true(jl_wire_proves(&said, proof));
	jl_wire_proof(proof, &secret, JL_WIRE_LISTENS, hello, &challenge);
	assert_false(jl_wire_proves(&said, proof));
	jl_wire_proof(proof, &other, JL_WIRE_CONNECTS, hello, &challenge);
	assert_false(jl_wire_proves(&said, proof));
	challenge.n[0]++;
	jl_wire_proof(proof, &secret, JL_WIRE_CONNECTS, hello, &challenge);
	assert_false(jl_wire_proves(&said, proof));
	challenge.n[0]--;
	hello[95] = 1;
	jl_wire_proof(proof, &secret, JL_WIRE_CONNECTS, hello, &challenge);
	assert_false(jl_wire_proves(&said, proof));
}

/* A message that comes byte by byte has one deadline. */
static void trickle_has_an_end(void **state)
{
	int ends[2];
	struct jl_wire_message m;
	const double start_s = jl_clock_s();
	unsigned char bytes[JL_WIRE_MESSAGE_B];
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	jl_wire_pack(bytes, &(struct jl_wire_message){ .word = JL_WIRE_GO });
	pid = fork();
	if (pid == 0) {
		(void)close(ends[0]);
		for (size_t i = 0; i < sizeof(bytes) && send(ends[1], bytes + i, 1, MSG_NOSIGNAL) == 1; i++)
			nap(0.1);
		_exit(0);
	}
	(void)close(ends[1]);
	assert_int_equal(jl_wire_receive(ends[0], &(struct jl_wire_wait){ .end_s = start_s + 0.7 }, &m, NULL), JL_E_IO);
	assert_true(jl_clock_s() - start_s < 3);
	(void)close(ends[0]);
	(void)waitpid(pid, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_are_held),    cmocka_unit_test(texts_can_be_printed),
		cmocka_unit_test(secrets_are_read),   cmocka_unit_test(proofs_differ),
		cmocka_unit_test(trickle_has_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
