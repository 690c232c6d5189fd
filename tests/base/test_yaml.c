/* YAML reader: refused constructs and their positions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/yaml.h"

static const struct jl_yaml *read_ok(const char *text, struct jl_arena *arena)
{
	const struct jl_yaml *root = NULL;
	struct jl_err err;

	if (jl_yaml_read(&root, "a.yaml", text, strlen(text), arena, &err))
		fail_msg("%s", err.en);
	return root;
}

static void the_tree_knows_where_things_stand(void **state)
{
	const char *const keys[] = { "title", "systems", NULL };
	struct jl_arena arena;
	const struct jl_yaml *root, *systems;
	struct jl_err err;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	root = read_ok("title: 저울\nsystems:\n  - rtx-3090\n  - {on: h100}\n", &arena);
	assert_string_equal(jl_yaml_text(root, "title"), "저울");
	systems = jl_yaml_get(root, "systems");
	assert_int_equal(systems->kind, JL_YAML_LIST);
	assert_int_equal(systems->n_items, 2);
	assert_string_equal(systems->items->text, "rtx-3090");
	assert_int_equal(systems->items->where.line, 3);
	assert_int_equal(systems->items->where.column, 5);
	assert_string_equal(jl_yaml_text(systems->items->next, "on"), "h100");
	assert_null(jl_yaml_get(root, "nothing"));
	assert_int_equal(jl_yaml_check_keys(root, "a scenario", keys, &err), JL_OK);
	root = read_ok("titel: x\n", &arena);
	assert_int_equal(jl_yaml_check_keys(root, "a scenario", keys, &err), JL_E_PARSE);
	assert_non_null(strstr(err.en, "unknown key 'titel' in a scenario; did you mean 'title'?"));
	assert_non_null(strstr(err.en, "a.yaml:1:1: "));
	assert_int_equal(read_ok("", &arena)->kind, JL_YAML_MAP);
	jl_arena_release(&arena);
}

static void odd_documents_are_refused_in_one_line(void **state)
{
	static const char *const bad[] = { "a: 1\na: 2\n", "a: &x 1\nb: *x\n", "a: &x 1\n",   "a: !t 1\n",
					   "a: \x01\n",    "\"a\\0b\": 1\n",   "a: [1, 2\n",  "--- 1\n--- 2\n",
					   "? [a]\n: b\n", "a: \"x\\0y\"\n",   "\xff\xfe\x01" };
	char deep[256];
	struct jl_arena arena;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	for (size_t i = 0; i <= sizeof bad / sizeof bad[0]; i++) {
		const struct jl_yaml *root = NULL;
		const char *text = i < sizeof bad / sizeof bad[0] ? bad[i] : deep;
		struct jl_err err;

		memset(deep, '[', 200);
		deep[200] = '\0';
		assert_int_not_equal(jl_yaml_read(&root, "b.yaml", text, strlen(text), &arena, &err), JL_OK);
		assert_null(root);
		assert_null(strchr(err.en, '\n'));
	}
	jl_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tree_knows_where_things_stand),
		cmocka_unit_test(odd_documents_are_refused_in_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
