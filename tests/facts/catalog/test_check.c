/* Inserts one error at a time into a valid catalog: each is refused with its line, column and remedy. */
#include "files.h"

#include "catalog/find.h"
#include "catalog/load.h"

struct planted {
	const char *file;
	const char *line; /* text in the file ... */
	const char *with; /* ... and its replacement */
	const char *at;   /* position of the message: this text, or what follows its '|'; NULL: only the file */
	const char *en, *ko;
	enum jl_status status;
};

#define GPUS   "gpus/nvidia.yaml"
#define CLOUDS "systems/clouds.yaml"
#define CSV    "prices/cloud.csv"

static const struct planted planted[] = {
	{ GPUS, "mem_rate: 3350 GB/s", "mem_rat: 3350 GB/s",
	  "mem_rat:", "unknown key 'mem_rat' in a gpu; did you mean 'mem_rate'?", "'mem_rate'인가요", JL_E_PARSE },
	{ GPUS, "mem_rate: 3350 GB/s", "zzzzzzzzzzzzzz: 3350", "zzzz", "it can have: id, name, aliases",
	  "쓸 수 있는 키", JL_E_PARSE },
	{ GPUS, "mem_rate: 3350 GB/s", "mem_rate: 3350", "mem_rate: |3350", "GB/s", "GB/s", JL_E_UNIT },
	{ GPUS, "mem_rate: 3350 GB/s", "mem_rate: 3350 W", "mem_rate: |3350", "mem_rate", "mem_rate", JL_E_UNIT },
	{ GPUS, "mem_rate: 3350 GB/s", "mem_rate: fast", "fast", "mem_rate", "mem_rate", JL_OK },
	{ GPUS, "mem_rate: 3350 GB/s", "mem_rate: ", NULL, "mem_rate: empty; leave the key out", "키를 쓰지 마세요",
	  JL_E_PARSE },
	{ GPUS, "mem_rate: 3350 GB/s", "mem_rate: 3350 kB/s", "mem_rate: |3350",
	  "mem_rate: 3.35 MB/s cannot be: it should be from 1 GB/s to 100 TB/s", "단위가 맞습니까", JL_E_RANGE },
	{ GPUS, "mem_rate: 3350 GB/s", "mem_rate: 3350 GB/s @nobody", "mem_rate: |3350",
	  "unknown source 'nobody'; add it to sources.yaml", "알 수 없는 출처", JL_E_NOTFOUND },
	{ GPUS, "mem_rate: 3350 GB/s", "mem_rate: 3350 GB/s @somebody guessed", "mem_rate: |3350",
	  "is not a source id and an origin", "근거", JL_E_PARSE },
	{ GPUS, "mem_rate: 3350 GB/s", "mem_rate: 3350 GB/s a note)", "mem_rate: |3350", "')' without '('", "'('",
	  JL_E_PARSE },
	{ GPUS, "tdp: 700 W\n", "tdp: -700 W\n", "-700", "tdp", "tdp", JL_OK },
	{ GPUS, "tdp: 700 W\n", "tdp: 700 W\n    tdp: 701 W\n", "tdp: 701", "key 'tdp' is given twice", "두 번",
	  JL_E_PARSE },
	{ GPUS, "bf16_dense: 989.4 TFLOP/s @somebody", "bf16_dense: 1979 TFLOP/s", "bf16_dense: |1979",
	  "looks like the sparse figure; dense would be about 989.5 TFLOP/s",
	  "sparse 수치로 보입니다. dense라면 약 989.5 TFLOP/s", JL_E_DATA },
	{ GPUS, "fp16_dense: 989.4", "fp16_dense: 1979", "fp16_dense: |1979",
	  "looks like the sparse figure; dense would be about 989", "sparse 수치", JL_E_DATA },
	{ GPUS, "bf16_dense: 989.4 TFLOP/s @somebody", "bf16_dense: 98.94 TFLOP/s", "98.94",
	  "does not agree with SMs x boost x FLOP per clock, about 989 TFLOP/s", "맞지 않습니다", JL_E_DATA },
	{ GPUS, "bf16_sparse: 1979", "bf16_sparse: 3958", "3958",
	  "not twice the dense rate; sparse would be about 1.979 PFLOP/s", "두 배가", JL_E_DATA },
	{ GPUS, "fp16_dense: 989.4", "fp16_dense: 600", "fp16_fp32acc_dense: |989.4",
	  "with FP32 accumulate is more than", "바뀌지", JL_E_DATA },
	{ GPUS, "link_oneway: 450 GB/s", "link_oneway: 900 GB/s", "link_oneway: |900 GB/s", "one way would be 450 GB/s",
	  "450 GB/s여야", JL_E_DATA },
	{ GPUS, "family: hopper", "family: hoper", "hoper", "there is no family 'hoper'; add it to 'families:'",
	  "없는 참조", JL_E_NOTFOUND },
	{ GPUS, "pcie: pcie5-x16", "pcie: pcie9", "pcie9", "there is no link 'pcie9'", "없는 참조", JL_E_NOTFOUND },
	{ GPUS, "link: nvlink4", "link: nvswitch4", "nvswitch4", "a link with role join", "역할이 join", JL_E_DATA },
	{ GPUS, "    source: maker-sheet\n", "", NULL, "no source", "출처", JL_E_DATA },
	{ GPUS, "date: 2024-03\n", "date: March 2024\n", "March", "March 2024", "March 2024", JL_OK },
	{ GPUS, "p2p: yes", "p2p: maybe", "maybe", "none of yes, true, no", "maybe", JL_E_PARSE },
	{ GPUS, "year: 2022", "year: 22", "year: |22\n", "year: 22 cannot be", "22일 수 없습니다", JL_E_RANGE },
	{ GPUS, "year: 2022", "year: soon", "soon", "year", "year", JL_OK },
	{ GPUS, "- id: h100-sxm5", "- id: H100 SXM5", "H100 SXM5\n", "is not an id: lower-case letters", "id 꼴",
	  JL_E_PARSE },
	{ GPUS, "source: somebody\n", "source: anybody\n", "anybody", "conflicts.source: there is no source 'anybody'",
	  "conflicts.source", JL_E_NOTFOUND },
	{ GPUS, "other: 650 W", "other: \"650\"", "\"650\"", "conflicts.other", "conflicts.other", JL_E_UNIT },
	{ GPUS, "field: tdp", "field: tpd", "tpd", "'tpd' is not a key of a gpu", "키가 아닙니다", JL_E_NOTFOUND },
	{ GPUS, "name: H100 SXM5 80GB", "note: nameless", NULL, "missing: every gpu needs 'name: ...'", "'name: ...'",
	  JL_E_DATA },
	{ "sources.yaml", "origin: published", "origin: heard", "heard",
	  "none of measured, published, listed, estimated", "heard", JL_E_PARSE },
	{ "sources.yaml", "date: 2025-06-01", "date: 2025-13-01", "2025-13", "date", "date", JL_OK },
	{ "sources.yaml", "id: somebody", "id: maker-sheet", "maker-sheet\n    title: Some",
	  "duplicate id 'maker-sheet': the first one is at", "겹칩니다", JL_E_DATA },
	{ "links.yaml", "    role: wire\n    kind: nvlink\n", "    kind: nvlink\n", NULL,
	  "missing: every link needs 'role: wire'", "role", JL_E_DATA },
	{ "links.yaml", "    topology: switch\n", "", NULL, "a join says how devices are joined", "잇는 방식",
	  JL_E_DATA },
	{ "links.yaml", "measured: 55 GB/s", "measured: 55", "measured: |55\n", "measured", "measured", JL_E_UNIT },
	{ "links.yaml", "wire: nvlink4", "wire: nvlink9", "nvlink9", "there is no link 'nvlink9'", "없는 참조",
	  JL_E_NOTFOUND },
	{ CLOUDS, "gpu: h100-sxm5", "gpu: h100", "h100\n", "there is no gpu 'h100'", "없는 참조", JL_E_NOTFOUND },
	{ CLOUDS, "join: nvswitch4", "join: nvlink4", "nvlink4", "role wire", "역할이 wire", JL_E_DATA },
	{ CLOUDS, "net: ib-ndr", "net: nvswitch4", "nvswitch4\n    n_net", "role join", "역할이 join", JL_E_DATA },
	{ CLOUDS, "    n_gpu: 8\n", "", NULL, "says how many", "개수", JL_E_DATA },
	{ "tariffs.yaml", "value: 120.0 KRW/kWh", "value: 120.0", "value: |120.0", "not a number with a unit",
	  "단위가 있는 수가", JL_E_UNIT },
	{ "tariffs.yaml", "from_kWh: 0", "from_kWh: 300", "300\n    value", "a tier ends above where it begins", "구간",
	  JL_E_RANGE },
	{ "models/gpt.yaml", "kv_heads: 8", "kv_heads: 7", "kv_heads: |7", "32 heads cannot share 7", "고르게",
	  JL_E_DATA },
	{ "models/gpt.yaml", "top_k: 2", "top_q: 2", "top_q",
	  "unknown key 'top_q' in a moe block; did you mean 'top_k'?", "top_k", JL_E_PARSE },
	{ "models/gpt.yaml", "      top_k: 2\n", "", "n_experts: 8", "moe.top_k: missing", "moe.top_k", JL_E_DATA },
	{ "models/gpt.yaml", "gated: true", "gated: 1", "1\n    moe", "neither true nor false", "true도 false도",
	  JL_E_PARSE },
	{ CSV, ",98.32,", ",about 98,", "about", "about 98", "about 98", JL_OK },
	{ CSV, ",98.32,,30.5,,on-demand,", ",,,,,,", NULL, "a row without a price", "가격이 없는 줄", JL_E_DATA },
	{ CSV, "2026-08-22,https://example.org/card", "yesterday,https://example.org/card", "yesterday", "as_of",
	  "as_of", JL_OK },
	{ CSV, "gpu_count,vcpu", "gpu_count,vcpus", NULL, "vcpu", "vcpu", JL_OK },
};

/* Line and column of the text after '|' (without one: of its beginning). */
static void place_of(const char *text, const char *marked, size_t *ret_line, size_t *ret_column)
{
	size_t skip = strcspn(marked, "|");
	const char *found;
	char part[128];

	snprintf(part, sizeof(part), "%.*s%s", (int)skip, marked, marked + skip + (marked[skip] == '|'));
	found = strstr(text, part);
	assert_non_null(found);
	*ret_line = 1;
	*ret_column = 1;
	for (const char *c = text; c < found + (marked[skip] == '|' ? skip : 0); c++) {
		(*ret_column)++;
		if (*c == '\n') {
			(*ret_line)++;
			*ret_column = 1;
		}
	}
}

static void check_planted(const struct planted *p)
{
	char dir[64], text[8192], where[256];
	const char *before = small_text(p->file);
	const char *found = strstr(before, p->line);
	struct jl_arena arena;
	struct jl_findings findings;
	struct jl_err err = { .en = "" };
	const struct jl_catalog *cat = NULL;
	const char *const dirs[] = { dir };
	enum jl_status status;
	size_t line, column;

	assert_non_null(found);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(found - before), before, p->with, found + strlen(p->line));
	folder_make(dir);
	folder_fill(dir, p->file, text);
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	status = jl_catalog_read(&cat, NULL, dirs, 1, &arena, &findings, &err);
	if (status == JL_OK || (p->status && status != p->status))
		fail_msg("%s with '%s': status %d, '%s'", p->file, p->with, (int)status, err.en);
	assert_null(cat);
	if (!strstr(err.en, p->en) || !strstr(err.text, p->ko))
		fail_msg("%s with '%s': wanted '%s' and '%s', got '%s' and '%s'", p->file, p->with, p->en, p->ko,
			 err.en, err.text);
	snprintf(where, sizeof(where), "%s/%s:", dir, p->file);
	if (p->at) {
		place_of(text, p->at, &line, &column);
		snprintf(where, sizeof(where), "%s/%s:%zu:%zu: ", dir, p->file, line, column);
	}
	if (strncmp(err.en, where, strlen(where)) != 0 || strncmp(err.text, where, strlen(where)) != 0)
		fail_msg("%s with '%s': wanted it at '%s', got '%s'", p->file, p->with, where, err.en);
	folder_remove(dir);
	jl_arena_release(&arena);
}

static void test_planted(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(planted) / sizeof(planted[0]); i++)
		check_planted(&planted[i]);
}

/* Several errors in several files are found in one run. */
static void test_all_at_once(void **state)
{
	static const char gpus[] = "gpus:\n"
				   "  - id: a\n"
				   "    name: A\n"
				   "    vendor: V\n"
				   "    family: hopper\n"
				   "    source: maker-sheet\n"
				   "    mem: 80\n"
				   "    tdp: 3 kg\n"
				   "    boost: 1 GHz @nobody\n";
	char dir[64];
	const char *const dirs[] = { dir };
	struct jl_arena arena;
	struct jl_findings findings;
	struct jl_err err = { .en = "" };
	const struct jl_catalog *cat = NULL;

	(void)state;
	folder_make(dir);
	folder_fill(dir, GPUS, gpus);
	folder_put(dir, "zz.yaml", "nothing\n", 8);
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	assert_int_not_equal(jl_catalog_read(&cat, NULL, dirs, 1, &arena, &findings, &err), JL_OK);
	assert_int_equal(findings.n, 4);
	assert_non_null(strstr(err.en, "(and 3 more"));
	assert_non_null(strstr(err.text, "그 밖에 3건"));
	folder_remove(dir);
	jl_arena_release(&arena);
}

/* Without listed SMs or clock, a rate is checked against the record's other formats. */
static void test_sparse_by_siblings(void **state)
{
	static const char gpus[] =
		"gpus:\n"
		"  - {id: x, name: X, vendor: V, family: hopper, source: maker-sheet, tf32_dense: 495 TFLOP/s,\n"
		"     bf16_dense: 1979 TFLOP/s}\n"
		"  - {id: h100-sxm5, name: Y, vendor: V, family: hopper, source: maker-sheet, tf32_dense: 495 "
		"TFLOP/s,\n"
		"     bf16_dense: 989 TFLOP/s, fp8_dense: 1979 TFLOP/s, fp16_dense: 1979 TFLOP/s}\n";
	char dir[64];
	const char *const dirs[] = { dir };
	struct jl_arena arena;
	struct jl_findings findings;
	struct jl_err err = { .en = "" };
	const struct jl_catalog *cat = NULL;

	(void)state;
	folder_make(dir);
	folder_fill(dir, GPUS, gpus);
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	assert_int_equal(jl_catalog_read(&cat, NULL, dirs, 1, &arena, &findings, &err), JL_E_DATA);
	assert_int_equal(findings.n, 1);
	assert_non_null(strstr(err.en, "nvidia.yaml:3:18: gpu x: bf16_dense: 1.979 PFLOP/s looks like the sparse "
				       "figure; dense would be about 989.5"));
	folder_remove(dir);
	jl_arena_release(&arena);
}

static void test_embedded_is_right(void **state)
{
	struct jl_arena arena;
	struct jl_findings findings;

	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	jl_findings_init(&findings, &arena);
	jl_catalog_check(jl_catalog_embedded(), NULL, &findings);
	if (findings.n)
		fail_msg("%s", findings.first->err.en);
	jl_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_planted),
		cmocka_unit_test(test_all_at_once),
		cmocka_unit_test(test_sparse_by_siblings),
		cmocka_unit_test(test_embedded_is_right),
	};

	jl_lang_set_default(jl_lang_find("ko"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
