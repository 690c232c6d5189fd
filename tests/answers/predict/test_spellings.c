/* Names of systems and models as people write them (tests/fixtures/spellings.csv): what each resolves to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/csv.h"
#include "catalog/sysexpr.h"
#include "catalog/words.h"
#include "predict/predict.h"

#define ROWS_LEAST  300
#define RIGHT_LEAST 0.95
#define WRONG_MOST  0.01 /* resolved to something else than meant: worse than a question */

enum outcome { RIGHT, MISSED, WRONG };

static enum jl_status resolve(const char **ret_id, const char *kind, const char *text, struct jl_arena *arena,
			      struct jl_err *err)
{
	struct jl_request req = jl_request_empty();
	struct jl_subject subject;
	struct jl_sys sys;

	if (strcmp(kind, "system") == 0) {
		JL_TRY(jl_sys_parse(&sys, jl_catalog_embedded(), text, arena, err));
		*ret_id = sys.text;
		return JL_OK;
	}
	req.model = text;
	JL_TRY(jl_subject_find(&subject, jl_catalog_embedded(), &req, arena, err));
	*ret_id = subject.id;
	return JL_OK;
}

/* Networks keep the name that was given: its words count, not case, hyphens or who published it. */
static bool is_meant(const char *id, const char *meant)
{
	const char *slash = strrchr(id, '/');
	struct jl_words a, b;

	if (strcmp(id, meant) == 0)
		return true;
	jl_words_split(&a, slash ? slash + 1 : id);
	jl_words_split(&b, meant);
	return jl_words_equal(&a, &b) && !strchr(id, ' ');
}

/* "ask A B": a question that names both. */
static bool asks_for(const char *ids, const char *said)
{
	char id[64];

	while (sscanf(ids, "%63s", id) == 1) {
		if (!strstr(said, id))
			return false;
		ids = strstr(ids, id) + strlen(id);
	}
	return true;
}

static enum outcome judge(const char *kind, const char *text, const char *meant, struct jl_arena *arena)
{
	struct jl_err err = { 0 };
	const char *id = NULL;
	const enum jl_status status = resolve(&id, kind, text, arena, &err);
	enum outcome outcome = MISSED;

	if (!status)
		outcome = is_meant(id, meant) ? RIGHT : WRONG;
	else if (strcmp(meant, "unknown") == 0)
		outcome = status == JL_E_NOTFOUND || status == JL_E_RANGE ? RIGHT : MISSED;
	else if (strncmp(meant, "ask ", 4) == 0)
		outcome = status == JL_E_AMBIGUOUS && asks_for(meant + 4, err.en) ? RIGHT : MISSED;
	if (outcome != RIGHT)
		print_message("%s %s '%s': meant %s, %s\n", outcome == WRONG ? "WRONG" : "missed", kind, text, meant,
			      status ? err.en : id);
	return outcome;
}

static void test_spellings(void **state)
{
	size_t n[3] = { 0 }, kind, written, meant;
	struct jl_arena arena;
	struct jl_err err = { 0 };
	struct jl_buf text;
	struct jl_csv csv;
	bool more;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	assert_int_equal(jl_buf_read_file(&text, JL_SOURCE_DIR "/tests/fixtures/spellings.csv", 1 << 20, &err), JL_OK);
	assert_int_equal(jl_csv_open(&csv, text.data, text.len, "spellings.csv", &err), JL_OK);
	assert_int_equal(jl_csv_need(&csv, "kind", &kind, &err), JL_OK);
	assert_int_equal(jl_csv_need(&csv, "written", &written, &err), JL_OK);
	assert_int_equal(jl_csv_need(&csv, "meant", &meant, &err), JL_OK);
	while (jl_csv_next(&csv, &more, &err) == JL_OK && more)
		n[judge(jl_csv_text(&csv, kind), jl_csv_text(&csv, written), jl_csv_text(&csv, meant), &arena)]++;
	assert_int_equal(err.status, JL_OK);
	const double all = (double)(n[RIGHT] + n[MISSED] + n[WRONG]);
	print_message("%zu of %.0f spellings resolve as meant (%.1f %%), %zu to something else\n", n[RIGHT], all,
		      100 * (double)n[RIGHT] / all, n[WRONG]);
	assert_true(all >= ROWS_LEAST);
	assert_true((double)n[RIGHT] >= RIGHT_LEAST * all);
	assert_true((double)n[WRONG] <= WRONG_MOST * all);
	jl_csv_release(&csv);
	jl_buf_release(&text);
	jl_arena_release(&arena);
}

/* Names that are not known bring no neighbour that looks nothing like them. */
static void test_no_absurd_neighbours(void **state)
{
	static const struct {
		const char *kind, *text, *absurd;
	} cases[] = {
		{ "system", "mac studio m9", "gaudi" },   { "system", "v9e-256", "mi" },
		{ "system", "dual banana", "dgx" },       { "system", "quantum computer", "did you mean" },
		{ "model", "alexnetwork", "unet" },       { "model", "squeezebert", "densenet" },
		{ "system", "raspberry pi", "did you" },  { "system", "xeon phi", "did you" },
		{ "model", "chatgpt", "did you mean q" },
	};
	struct jl_arena arena;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct jl_err err = { 0 };
		const char *id;

		if (resolve(&id, cases[i].kind, cases[i].text, &arena, &err) == JL_OK)
			fail_msg("'%s' is %s", cases[i].text, id);
		if (strstr(strchr(err.en + 1, ';') ? strchr(err.en + 1, ';') : "", cases[i].absurd))
			fail_msg("%s", err.en);
	}
	jl_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spellings),
		cmocka_unit_test(test_no_absurd_neighbours),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
