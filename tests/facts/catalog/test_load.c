/* Reading catalog folders: values of records, the built-in catalog, and invalid files. */
#include "files.h"

#include <math.h>

#include "base/mem.h"
#include "catalog/emit.h"
#include "catalog/find.h"
#include "catalog/load.h"

static void test_small(void **state)
{
	char dir[64];
	struct jl_arena arena;
	struct jl_err err = { .en = "" };
	const struct jl_catalog *cat = NULL;
	const struct jl_gpu *gpu;

	(void)state;
	folder_make(dir);
	folder_fill(dir, NULL, NULL);
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	if (jl_catalog_load(&cat, dir, &arena, &err))
		fail_msg("%s", err.en);
	assert_int_equal(cat->n_sources, 2);
	assert_int_equal(cat->n_gpus, 1);
	gpu = &cat->gpus[0];
	assert_string_equal(gpu->id, "h100-sxm5");
	assert_string_equal(gpu->aliases[1], "H100-80G-SXM5");
	assert_null(gpu->aliases[2]);
	assert_string_equal(gpu->compute_capability, "9.0");
	assert_int_equal(gpu->year, 2022);
	assert_int_equal(gpu->p2p, JL_P2P_YES);
	assert_true(gpu->mem_B.value == 80.0 * 1073741824.0);
	assert_true(gpu->mem_Bps.value == 3350e9);
	assert_int_equal(gpu->mem_Bps.origin, JL_LISTED);
	assert_string_equal(gpu->mem_Bps.source, "maker-sheet");
	assert_string_equal(gpu->mem_Bps.date, "2024-03");
	assert_true(gpu->bf16_dense_flopps.value == 989.4e12);
	assert_string_equal(gpu->bf16_dense_flopps.source, "somebody");
	assert_string_equal(gpu->bf16_dense_flopps.date, "2025-06-01");
	assert_int_equal(gpu->bf16_dense_flopps.origin, JL_PUBLISHED);
	assert_int_equal(gpu->boost_Hz.origin, JL_ESTIMATED);
	assert_string_equal(gpu->boost_Hz.note, "what the tensor rate implies");
	assert_true(isnan(gpu->l2_B.value));
	assert_int_equal(gpu->n_conflicts, 1);
	assert_string_equal(gpu->conflicts[0].other, "650 W");
	folder_remove(dir);
	jl_arena_release(&arena);
}

static void test_small_others(void **state)
{
	char dir[64];
	struct jl_arena arena;
	struct jl_err err = { .en = "" };
	const struct jl_catalog *cat = NULL;

	(void)state;
	folder_make(dir);
	folder_fill(dir, NULL, NULL);
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	if (jl_catalog_load(&cat, dir, &arena, &err))
		fail_msg("%s", err.en);
	assert_int_equal(cat->n_links, 4);
	assert_int_equal(cat->links[0].n_measured, 1);
	assert_true(cat->links[0].measured[0].measured_Bps.value == 55e9);
	assert_int_equal(cat->links[0].measured[0].measured_Bps.origin, JL_PUBLISHED);
	assert_string_equal(cat->links[0].measured[0].date, "2025-06-01");
	assert_int_equal(cat->links[2].role, JL_ROLE_JOIN);
	assert_true(cat->links[2].in_switch_reduction);
	assert_true(cat->links[3].oneway_Bps.value == 50e9);
	assert_int_equal(cat->n_tariffs, 2);
	assert_true(isnan(cat->tariffs[1].to_kWh));
	assert_int_equal(cat->models[0].moe.n_experts, 8);
	assert_true(cat->models[0].head_dim == 128);
	assert_true(cat->models[0].params == 46702792704.0);
	assert_true(cat->models[0].gated && !cat->models[0].tied);
	assert_int_equal(cat->n_prices, 2);
	assert_true(fabs(cat->prices[0].on_demand_usdps * 3600 - 98.32) < 1e-9);
	assert_true(isnan(cat->prices[0].spot_min_usdps));
	assert_string_equal(cat->prices[0].gpu, "h100-sxm5"); /* by the system of that name */
	assert_string_equal(cat->prices[1].gpu, "h100-sxm5"); /* by the alias */
	assert_string_equal(cat->prices[1].note, "one, in a box");
	folder_remove(dir);
	jl_arena_release(&arena);
}

/* The built-in catalog equals the files, field by field. */
static void test_embedded_is_the_files(void **state)
{
	struct jl_arena arena;
	struct jl_err err = { .en = "" };
	const struct jl_catalog *cat = NULL;
	struct jl_buf a, b;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	if (jl_catalog_load(&cat, JL_SOURCE_DIR "/catalog", &arena, &err))
		fail_msg("%s", err.en);
	for (int kind = 0; kind < JL_N_RECORD; kind++) {
		size_t n, m;

		(void)jl_catalog_list(cat, (enum jl_catalog_kind)kind, &n);
		(void)jl_catalog_list(jl_catalog_embedded(), (enum jl_catalog_kind)kind, &m);

		assert_int_equal(n, m);
	}
	assert_true(jl_catalog_embedded()->n_gpus > 0);
	jl_buf_init(&a, JL_EMIT_MAX_B);
	jl_buf_init(&b, JL_EMIT_MAX_B);
	jl_catalog_emit(&a, cat);
	jl_catalog_emit(&b, jl_catalog_embedded());
	assert_int_equal(a.failed, JL_OK);
	assert_string_equal(jl_buf_text(&a), jl_buf_text(&b));
	jl_buf_release(&a);
	jl_buf_release(&b);
	jl_arena_release(&arena);
}

static void expect_text(const char *name, const char *text, size_t len, const char *want_en, const char *want_ko)
{
	struct jl_arena arena;
	struct jl_err err = { .en = "" };
	const struct jl_catalog *cat = NULL;

	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	assert_int_not_equal(jl_catalog_read_text(&cat, NULL, name, text, len, &arena, NULL, &err), JL_OK);
	assert_null(cat);
	if (!strstr(err.en, want_en) || !strstr(err.text, want_ko))
		fail_msg("wanted '%s' and '%s', got '%s' and '%s'", want_en, want_ko, err.en, err.text);
	assert_null(strchr(err.en, '\n'));
	jl_arena_release(&arena);
}

static void expect(const char *text, const char *want_en, const char *want_ko)
{
	expect_text("x.yaml", text, strlen(text), want_en, want_ko);
}

static void test_no_catalog(void **state)
{
	static const char garbage[] = "\x7f"
				      "ELF\x02\x01\x00\x00\xff\xfe";
	static const char latin1[] = "sources:\n  - id: caf\xe9\n";

	(void)state;
	expect("", "x.yaml:1:1: nothing in it", "비어 있습니다");
	expect("# only this\n", "nothing in it", "비어 있습니다");
	expect_text("x.yaml", garbage, sizeof(garbage) - 1, "x.yaml:1:9: byte 0xff is not valid UTF-8", "UTF-8");
	expect_text("x.yaml", garbage, 8, "x.yaml:1:1: control character 0x7f", "제어 문자");
	expect_text("x.yaml", latin1, sizeof(latin1) - 1,
		    "x.yaml:2:12: byte 0xe9 is not valid UTF-8; save the file as UTF-8", "UTF-8로 저장");
	expect("hello\n", "x.yaml:1:1: not a catalog file", "카탈로그 파일이 아닙니다");
	expect("- id: a\n", "x.yaml:1:1: not a catalog file", "카탈로그 파일이 아닙니다");
	expect("gpu:\n  - id: a\n", "x.yaml:1:1: unknown top-level key 'gpu'", "맨 위 키 'gpu'");
	expect("gpus: 3\n", "x.yaml:1:7: 'gpus' must be a list", "목록");
	expect("gpus:\n  - one\n", "x.yaml:2:5: 'gpus' must be a list of records", "레코드 목록");
	expect("gpus: []\nlinks: []\n", "x.yaml:2:1: a second top-level key", "맨 위 키가 둘");
	expect("gpus: []\n---\ngpus: []\n", "x.yaml:2:1: a second YAML document", "문서가 둘");
	expect("gpus:\n  - id: a\n    name: b: c\n", "x.yaml:3:", "올바른 YAML이 아닙니다");
	expect("gpus:\n  - id: \"a\\0b\"\n", "x.yaml:2:9: a value must be text without NUL", "NUL");
	expect("gpus:\n  - ? [a, b]\n    : c\n", "x.yaml:2:7: a key must be a word: write 'key: value' lines", "단어");
	expect("gpus:\n  - id: [a]\n", "x.yaml:2:9: 'id' must be one plain value", "하나의 값");
	expect("gpus:\n  - aliases: a\n", "x.yaml:2:14: 'aliases' must be a list", "목록");
	expect("models:\n  - moe: 8\n", "x.yaml:2:10: 'moe' must be a mapping", "묶음");
}

static void test_bombs(void **state)
{
	static const char bomb[] = "gpus:\n  - &a { id: x, note: lol }\n  - *a\n";
	static const char alias[] = "gpus:\n  - id: x\n    note: *b\n";
	size_t len = (size_t)3 << 20;
	char *deep = malloc(len);

	(void)state;
	expect(bomb, "x.yaml:2:5: anchors (&name) are not taken", "앵커");
	expect(alias, "x.yaml:3:11: aliases (*name) are not taken", "별칭");
	expect("gpus:\n  - !!map { id: x }\n", "x.yaml:2:5: tags (!name) are not taken", "태그");
	assert_non_null(deep);
	memset(deep, '[', len);
	expect_text("x.yaml", deep, len, "x.yaml:1:34: nested more than 32 deep", "중첩");
	memset(deep, ' ', len);
	for (size_t i = 0; i < len; i += 2)
		deep[i] = '-';
	expect_text("x.yaml", deep, len, "x.yaml:1:67: nested more than 32 deep", "중첩");
	memset(deep, '{', len);
	expect_text("x.yaml", deep, len, "x.yaml:1:", "");
	for (size_t i = 0; i + 8 < len; i += 8) /* half a million different keys */
		snprintf(deep + i, 9, "k%05zx:\n", i / 8);
	expect_text("x.yaml", deep, len - 8, "x.yaml:1001:1: more than 1000 keys", "1000개");
	for (size_t i = 0; i < len; i++)
		deep[i] = i % 2 ? '\n' : 'a';
	expect_text("x.csv", deep, len - 2, "x.csv:", "x.csv:");
	free(deep);
}

static void test_huge_file(void **state)
{
	char dir[64], path[128];
	struct jl_arena arena;
	struct jl_err err = { .en = "" };
	const struct jl_catalog *cat = NULL;

	(void)state;
	folder_make(dir);
	folder_put(dir, "huge.yaml", "gpus:\n", 6);
	snprintf(path, sizeof(path), "%s/huge.yaml", dir);
	assert_int_equal(truncate(path, 100000000), 0);
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	assert_int_equal(jl_catalog_load(&cat, dir, &arena, &err), JL_E_LIMIT);
	assert_non_null(strstr(err.en, "huge.yaml: larger than 4 MB"));
	folder_remove(dir);
	assert_int_equal(jl_catalog_load(&cat, dir, &arena, &err), JL_E_NOTFOUND);
	assert_non_null(strstr(err.en, dir));
	jl_arena_release(&arena);
}

static void test_too_many(void **state)
{
	struct jl_buf text;

	(void)state;
	jl_buf_init(&text, (size_t)4 << 20);
	jl_buf_puts(&text, "rules:\n");
	for (int i = 0; i <= JL_CATALOG_RECORDS_MAX; i++)
		jl_buf_printf(&text, "- {id: r%d}\n", i);
	expect_text("x.yaml", text.data, text.len, "more than 8000 records", "8000개보다");
	jl_buf_release(&text);
}

/* Every allocation fails once: no leak, no crash, and an error status. */
static void test_starved(void **state)
{
	char dir[64];
	enum jl_status status = JL_E_NOMEM;
	size_t nth;

	(void)state;
	folder_make(dir);
	folder_fill(dir, NULL, NULL);
	for (nth = 1; status && nth < 100000; nth++) {
		struct jl_arena arena;
		struct jl_err err = { .en = "" };
		const struct jl_catalog *cat = NULL;
		struct jl_buf out;

		jl_arena_init(&arena, JL_ARENA_LIMIT_B);
		jl_buf_init(&out, JL_EMIT_MAX_B);
		jl_mem_fail_from(nth);
		status = jl_catalog_load(&cat, dir, &arena, &err);
		if (!status) {
			jl_catalog_emit(&out, cat);
			status = out.failed;
		}
		jl_mem_fail_from(0);
		if (status)
			assert_int_equal(status, JL_E_NOMEM);
		jl_buf_release(&out);
		jl_arena_release(&arena);
	}
	assert_int_equal(status, JL_OK);
	assert_true(nth > 20);
	folder_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_small_others),
		cmocka_unit_test(test_embedded_is_the_files),
		cmocka_unit_test(test_no_catalog),
		cmocka_unit_test(test_bombs),
		cmocka_unit_test(test_huge_file),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_starved),
	};

	jl_lang_set_default(jl_lang_find("ko"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
