/* A note from bytes to findings: figures as people write them, tables of every kind, the rules one by one, and what must not hurt. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "notes/audit.h"

static struct jl_arena arena;

static int set_up(void **state)
{
	(void)state;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	jl_arena_release(&arena);
	return 0;
}

static struct jl_audit_note *audit(const char *text, const char *name)
{
	struct jl_audit_note *note = NULL;
	struct jl_err err = { .en = "" };

	jl_arena_release(&arena); /* of the note before it */
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	if (jl_audit_note_run(&note, text, strlen(text), name, jl_catalog_embedded(), &arena, &err))
		fail_msg("%s: %s", text, err.en);
	return note;
}

static void test_figures(void **state)
{
	static const struct {
		const char *text;
		enum jl_qty qty;
		double lo, hi;
		int flags;
	} rows[] = {
		{ "it took 1.06 s", JL_Q_TIME, 1.06, 1.06, 0 },
		{ "총 19,252개", JL_Q_COUNT, 19252, 19252, JL_FIG_COMMAS },
		{ "약 5.67시간", JL_Q_TIME, 5.67 * 3600, 5.67 * 3600, JL_FIG_ABOUT },
		{ "5시간 40분", JL_Q_TIME, 340 * 60, 340 * 60, JL_FIG_APPENDED },
		{ "3h 36m a day", JL_Q_TIME, 216 * 60, 216 * 60, JL_FIG_APPENDED },
		{ "0.4-0.6초", JL_Q_TIME, 0.4, 0.6, JL_FIG_RANGE },
		{ "1.3 ~ 2.6 h", JL_Q_TIME, 1.3 * 3600, 2.6 * 3600, JL_FIG_RANGE },
		{ "about 400 GB/s", JL_Q_BYTE_RATE, 400e9, 400e9, JL_FIG_ABOUT },
		{ "3.35 TB/s", JL_Q_BYTE_RATE, 3.35e12, 3.35e12, 0 },
		{ "400 Gbps", JL_Q_BYTE_RATE, 50e9, 50e9, 0 },
		{ "~1,979 TFLOPS", JL_Q_FLOP_RATE, 1979e12, 1979e12, JL_FIG_ABOUT | JL_FIG_COMMAS },
		{ "312 TFLOP/s", JL_Q_FLOP_RATE, 312e12, 312e12, 0 },
		{ "24GB", JL_Q_BYTES, 24e9, 24e9, 0 },
		{ "1.7배 느림", JL_Q_RATIO, 1.7, 1.7, 0 },
		{ "a 1.93x gain", JL_Q_RATIO, 1.93, 1.93, 0 },
		{ "76.5%", JL_Q_PERCENT, 0.765, 0.765, 0 },
		{ "190만원", JL_Q_KRW, 1.9e6, 1.9e6, 0 },
		{ "1억 2000만원", JL_Q_KRW, 1.2e8, 1.2e8, JL_FIG_APPENDED },
		{ "5천만원", JL_Q_KRW, 5e7, 5e7, 0 },
		{ "3백만 토큰", JL_Q_NUMBER, 3e6, 3e6, 0 },
		{ "4억 5천만원", JL_Q_KRW, 4.5e8, 4.5e8, JL_FIG_APPENDED },
		{ "4억 5천 3백만 원", JL_Q_KRW, 4.53e8, 4.53e8, JL_FIG_APPENDED },
		{ "1조 2천억원", JL_Q_KRW, 1.2e12, 1.2e12, JL_FIG_APPENDED },
		{ "1천 2백만원", JL_Q_KRW, 1.2e7, 1.2e7, JL_FIG_APPENDED },
		{ "1만 2천 토큰", JL_Q_NUMBER, 12000, 12000, JL_FIG_APPENDED },
		{ "3만 5,000원", JL_Q_KRW, 35000, 35000, JL_FIG_APPENDED | JL_FIG_COMMAS },
		{ "costs $2,200", JL_Q_USD, 2200, 2200, JL_FIG_COMMAS },
		{ "$2.14/h", JL_Q_USD_RATE, 2.14 / 3600, 2.14 / 3600, 0 },
		{ "$2.14 per hour", JL_Q_USD_RATE, 2.14 / 3600, 2.14 / 3600, 0 },
		{ "시간당 $1.465", JL_Q_USD_RATE, 1.465 / 3600, 1.465 / 3600, 0 },
		{ "27.4 samples/s", JL_Q_COUNT_RATE, 27.4, 27.4, 0 },
		{ "591 kWh", JL_Q_ENERGY, 591 * 3.6e6, 591 * 3.6e6, 0 },
		{ "70B+ parameters", JL_Q_PARAMS, 70e9, 70e9, JL_FIG_LEAST },
		{ "2세대", JL_Q_GENERATION, 2, 2, 0 },
		{ "in 2017년", JL_Q_NUMBER, 2017, 2017, 0 },
		{ "20일 이상", JL_Q_TIME, 20 * 86400, 20 * 86400, JL_FIG_LEAST },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct jl_audit_note *note = audit(rows[i].text, "a.md");
		const struct jl_figure *f = note->figures;

		if (note->n_figures != 1 || f->qty != rows[i].qty || fabs(f->lo / rows[i].lo - 1) > 1e-9 ||
		    fabs(f->hi / rows[i].hi - 1) > 1e-9 || f->flags != rows[i].flags)
			fail_msg("'%s': %zu figures, kind %d, %g to %g, flags %d", rows[i].text, note->n_figures,
				 f->qty, f->lo, f->hi, f->flags);
	}
}

static void test_no_figures(void **state)
{
	static const char *const rows[] = { "RTX 3090",
					    "an A100-SXM4-80GB",
					    "ZeRO-2",
					    "PyTorch 2.5.0",
					    "sm_120",
					    "2021-11-25",
					    "52:00 - 53:00",
					    "4x V100",
					    "H100 x8",
					    "0x1f",
					    "PCIe 4.0",
					    "1. first",
					    "https://a.b/c?d=12",
					    "<img width=\"891\">",
					    "3090Ti",
					    "# 3" };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct jl_audit_note *note = audit(rows[i], "a.md");

		if (note->n_figures && strcmp(rows[i], "# 3") != 0)
			fail_msg("'%s' has the figure %g", rows[i], note->figures[0].lo);
	}
}

static const char product_table[] =
	"| run | power | time | energy |\n|---|---|---|---|\n| a | 2 kW | 3 h | 6 kWh |\n| b | 4 kW | 5 h | 20 kWh |\n"
	"| c | 7 kW | 2 h | %s kWh |\n| d | 3 kW | 9 h | 27 kWh |\n";

static void test_tables(void **state)
{
	static const char *const forms[] = {
		product_table,
		"run\tpower\ttime\tenergy\na\t2 kW\t3 h\t6 kWh\nb\t4 kW\t5 h\t20 kWh\nc\t7 kW\t2 h\t%s kWh\nd\t3 kW\t9 "
		"h\t27 kWh\n",
		"┌─┬─┬─┬─┐\n│ run │ power │ time │ energy │\n├─┼─┼─┼─┤\n│ a │ 2 kW │ 3 h │ 6 kWh │\n│ b │ 4 kW │ 5 h │ "
		"20 kWh │\n│ c │ 7 kW │ 2 h │ %s kWh │\n"
		"│ d │ 3 kW │ 9 h │ 27 kWh │\n└─┴─┴─┴─┘\n",
		"<table><tr><th>run<th>power<th>time<th>energy</tr>\n<tr><td>a</td><td>2 kW</td><td>3 h</td>\n<td>6 "
		"kWh</td></tr><tr><td>b<td>4 kW<td>5 h<td>20 kWh"
		"</tr><tr><td>c<td>7 kW<td>2 h<td>%s kWh</tr><tr><td>d<td>3 kW<td>9 h<td>27 kWh</tr></table>",
	};

	(void)state;
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		char text[1024];
		const struct jl_audit_note *note;

		snprintf(text, sizeof text, forms[i], "14");
		if (audit(text, "a.md")->n_findings)
			fail_msg("form %zu: a table that is right has a finding", i);
		snprintf(text, sizeof text, forms[i], "41");
		note = audit(text, "a.md");
		if (note->n_grids != 1 || note->n_findings != 1 || strcmp(note->findings[0].premises, "14 kWh") != 0 ||
		    strcmp(note->findings[0].fix, "14") != 0)
			fail_msg("form %zu: %zu tables, %zu findings: %s", i, note->n_grids, note->n_findings,
				 note->n_findings ? note->findings[0].premises : "");
	}
}

static const struct jl_audit_finding *find(const struct jl_audit_note *note, const char *written)
{
	for (size_t i = 0; i < note->n_findings; i++)
		if (strcmp(note->findings[i].written, written) == 0)
			return &note->findings[i];
	return NULL;
}

static void test_rules(void **state)
{
	static const struct {
		const char *text, *written, *rule;
		enum jl_audit_verdict verdict;
		const char *premises, *estimate;
	} rows[] = {
		{ "8 GPUs at $2.50 per GPU hour cost $25 per hour\n", "$25 per hour", "arithmetic", JL_AUDIT_WRONG,
		  "$20 per hour", "" },
		{ "H100 8장을 GPU당 시간당 $2.50에 쓰면 시간당 $25입니다\n", "$25", "arithmetic", JL_AUDIT_WRONG, "$20",
		  "" },
		{ "The weights of a 70B model in bf16 are 140 GB and fit in 128 GB\n", "140 GB", "bound",
		  JL_AUDIT_WRONG, "", "" },
		{ "70B 모델의 bf16 가중치는 140GB이므로 128GB 메모리에 들어갑니다\n", "140GB", "bound", JL_AUDIT_WRONG,
		  "", "" },
		{ "# 학습\n\n70B 모델의 bf16 가중치는 140GB이므로 A100 80GB 1장에 들어갑니다\n", "70B", "bound",
		  JL_AUDIT_UNLIKELY, "", "140 GB > 80 GiB" },
		{ "13B 모델을 fp16으로 RTX 3090 한 장에 올려 서빙합니다\n", "13B", "bound", JL_AUDIT_UNLIKELY, "",
		  "26 GB > 24 GiB" },
		{ "A 13B model in fp16 (26 GB) runs on one RTX 3090 (24 GB)\n", "26 GB", "bound", JL_AUDIT_WRONG, "",
		  "" },
		{ "| item | GPUs | price per GPU | total |\n|---|---|---|---|\n| a | 8 | $20,000 | $160,000 |\n"
		  "| b | 4 | $3,000 | $16,000 |\n",
		  "$16,000", "table", JL_AUDIT_WRONG, "$12,000", "" },
		{ "A 60 % discount on 440.32 = 264.19\n", "264.19", "arithmetic", JL_AUDIT_WRONG, "176.13", "" },
		{ "$440.32에서 60% 할인하면 $264.19입니다\n", "$264.19", "arithmetic", JL_AUDIT_WRONG, "$176.13", "" },
		{ "1,000만원의 15%는 200만원\n", "200만원", "arithmetic", JL_AUDIT_WRONG, "150만원", "" },
		{ "15 % of $1,000 is $200\n", "$200", "arithmetic", JL_AUDIT_WRONG, "$150", "" },
		{ "The step went from 2.4 s to 0.8 s, 4x faster\n", "4x", "arithmetic", JL_AUDIT_WRONG, "3x", "" },
		{ "1.2 TB over a 10 Gb/s link takes 120 s\n", "120 s", "arithmetic", JL_AUDIT_WRONG, "960 s", "" },
		{ "RTX 4090: memory bandwidth 1,008 Gb/s\n", "1,008 Gb/s", "listed", JL_AUDIT_DIFFERS, "",
		  "8,080 Gb/s" },
		{ "A V100 900 Gb/s\n", "900 Gb/s", "listed", JL_AUDIT_DIFFERS, "", "7176–9040 Gb/s" },
		{ "A100은 H100보다 3배 빠릅니다\n", "3배", "listed", JL_AUDIT_DIFFERS, "", "" },
		{ "The A100 is 3x faster than the H100\n", "3x", "listed", JL_AUDIT_DIFFERS, "", "" },
		{ "The H100 is 3x slower than the A100\n", "3x", "listed", JL_AUDIT_DIFFERS, "", "" },
		{ "154,016 × 2.5 s = 107 s\n", "107 s", "arithmetic", JL_AUDIT_WRONG, "385,040 s", "" },
		{ "38,504 × 0.9초 = 34,653초 = 약 6.9시간\n", "6.9시간", "arithmetic", JL_AUDIT_WRONG, "9.6시간", "" },
		{ "(350 W + 100 W) × 2 h = 800 Wh\n", "800 Wh", "arithmetic", JL_AUDIT_WRONG, "900 Wh", "" },
		{ "16GB / 0.1초 = 1600 GB/s\n", "1600 GB/s", "arithmetic", JL_AUDIT_WRONG, "160 GB/s", "" },
		{ "took 1,711시간 (17일)\n", "17일", "arithmetic", JL_AUDIT_WRONG, "71일", "" },
		{ "from 30 s → 10 s (4.0x)\n", "4.0x", "arithmetic", JL_AUDIT_WRONG, "3.0x", "" },
		{ "서버 3천만원 × 10 = 2억원\n", "2억원", "arithmetic", JL_AUDIT_WRONG, "3억원", "" },
		{ "2억 5천만원 × 1.2 = 3억 5천만원\n", "3억 5천만원", "arithmetic", JL_AUDIT_WRONG, "3억원", "" },
		{ "1천 5백만원 × 3 = 4천 2백만원\n", "4천 2백만원", "arithmetic", JL_AUDIT_WRONG, "4,500만원", "" },
		{ "6 × 7 = 43\n", "43", "arithmetic", JL_AUDIT_WRONG, "42", "" },
		{ "노드 4 × 5 = 21대\n", "21대", "arithmetic", JL_AUDIT_WRONG, "20대", "" },
		{ "7 + 2 + 4 = 14\n", "14", "arithmetic", JL_AUDIT_WRONG, "13", "" },
		{ "memory went from 60 GB to 15 GB, a 25 % reduction\n", "25 %", "arithmetic", JL_AUDIT_WRONG, "75 %",
		  "" },
		{ "50시간에서 15시간으로 30 % 감소\n", "30 %", "arithmetic", JL_AUDIT_WRONG, "70 %", "" },
		{ "800 → 2,400 tok/s (+300 %)\n", "300 %", "arithmetic", JL_AUDIT_WRONG, "200 %", "" },
		{ "from $4.00/h to $5.00/h, a 20 % increase\n", "20 %", "arithmetic", JL_AUDIT_WRONG, "25 %", "" },
		{ "| part | pieces | cost |\n|---|---|---|\n| a | 3 | 31 |\n| b | 4 | 42 |\n| c | 5 | 36 |\n"
		  "| total | 12 | 119 |\n",
		  "119", "table", JL_AUDIT_WRONG, "109", "" },
		{ "| item | unit price | qty | amount |\n|---|---|---|---|\n| gpu | $20,000 | 8 | $160,000 |\n"
		  "| cpu | $3,000 | 2 | $7,000 |\n",
		  "$7,000", "table", JL_AUDIT_WRONG, "$6,000", "" },
		{ "| size | time | algbw |\n|---|---|---|\n| 1.000 GB | 10.00 ms | 100.0 GB/s |\n"
		  "| 2.000 GB | 16.00 ms | 160.0 GB/s |\n",
		  "160.0 GB/s", "table", JL_AUDIT_WRONG, "125.0 GB/s", "" },
		{ "H100: 1,400 TFLOPS per GPU in BF16\n", "1,400 TFLOPS", "bound", JL_AUDIT_WRONG, "", "989 TFLOPS" },
		{ "1.3B × 2 bytes = 2.6 MB\n", "2.6 MB", "arithmetic", JL_AUDIT_WRONG, "2600.0 MB", "" },
		{ "### H200\n- FP16 성능: ~1,979 TFLOPS\n", "1,979 TFLOPS", "listed", JL_AUDIT_DIFFERS, "",
		  "989 TFLOPS" },
		{ "### A100\n- 2세대 Tensor Core\n", "2세대", "listed", JL_AUDIT_DIFFERS, "", "3세대" },
		{ "Hopper (2025)\n", "2025", "listed", JL_AUDIT_DIFFERS, "", "2022" },
		{ "the RTX 3090 48GB\n", "48GB", "listed", JL_AUDIT_DIFFERS, "", "24GB" },
		{ "An RTX 4090 has 82 TFLOP/s and 32 GB of memory\n", "32 GB", "listed", JL_AUDIT_DIFFERS, "",
		  "24 GB" },
		{ "RTX 4090 has 32 GB GDDR6X\n", "32 GB", "listed", JL_AUDIT_DIFFERS, "", "24 GB" },
		{ "The H200 comes with 141 GB of HBM3e at 8.4 TB/s\n", "8.4 TB/s", "listed", JL_AUDIT_DIFFERS, "",
		  "4.8 TB/s" },
		{ "A100 80GB SXM: 3.0 TB/s\n", "3.0 TB/s", "listed", JL_AUDIT_DIFFERS, "", "2.0 TB/s" },
		{ "RTX 4090은 메모리 32 GB, 대역폭 1,008 GB/s입니다\n", "32 GB", "listed", JL_AUDIT_DIFFERS, "",
		  "24 GB" },
		{ "H200의 대역폭은 8.4 TB/s입니다\n", "8.4 TB/s", "listed", JL_AUDIT_DIFFERS, "", "4.8 TB/s" },
		{ "서버: A100 80GB SXM 8장 (GPU당 메모리 80 GB, 메모리 대역폭 2,039 GB/s, BF16 624 TFLOPS, TDP 400 "
		  "W)\n",
		  "624 TFLOPS", "listed", JL_AUDIT_DIFFERS, "", "312 TFLOPS" },
		{ "서버: H100 SXM 8장 (TDP 900 W)\n", "900 W", "listed", JL_AUDIT_DIFFERS, "", "700 W" },
		{ "H100 SXM의 NVLink 대역폭은 1,200 GB/s (양방향 합)입니다\n", "1,200 GB/s", "listed", JL_AUDIT_DIFFERS,
		  "", "900 GB/s" },
		{ "Weights: 70B in bf16. An H100 SXM has 80 GB of HBM3 at 4.35 TB/s.\n", "4.35 TB/s", "listed",
		  JL_AUDIT_DIFFERS, "", "3.35 TB/s" },
		{ "| card | BF16 |\n|---|---|\n| RTX 4090 | 330 TFLOPS |\n| A100 80GB | 312 TFLOPS |\n", "330 TFLOPS",
		  "listed", JL_AUDIT_DIFFERS, "", "165 TFLOPS" },
		{ "one H100 reached 1,500 TFLOPS in BF16\n", "1,500 TFLOPS", "bound", JL_AUDIT_WRONG, "",
		  "989 TFLOPS" },
		{ "the throughput grows from 640 to 3,328 tokens/s, 4.2x\n", "4.2x", "arithmetic", JL_AUDIT_WRONG,
		  "5.2x", "" },
		{ "처리량은 400.0 → 1499.3 samples/s로 4.75배입니다\n", "4.75배", "arithmetic", JL_AUDIT_WRONG,
		  "3.75배", "" },
		{ "the bus bandwidth is 405.74 GB/s, 80 % of the 450 GB/s of NVLink\n", "80 %", "arithmetic",
		  JL_AUDIT_WRONG, "90 %", "" },
		{ "10,692 of 23,360 GPU-hours were used, 54.8 %\n", "54.8 %", "arithmetic", JL_AUDIT_WRONG, "45.8 %",
		  "" },
		{ "메모리 용량은 141 GB로 H100(80 GB)의 1.67배입니다\n", "1.67배", "arithmetic", JL_AUDIT_WRONG,
		  "1.76배", "" },
		{ "Keeping 12 checkpoints of 182 GB takes 2.81 TB\n", "2.81 TB", "arithmetic", JL_AUDIT_WRONG,
		  "2.18 TB", "" },
		{ "월 1,350 × 152 = 205,200원, 연 2,642,400원\n", "2,642,400원", "arithmetic", JL_AUDIT_WRONG,
		  "2,462,400원", "" },
		{ "```python\ncost = 256 * 214.6 * 2.5   # 173344 USD\n```\n", "173344 USD", "arithmetic",
		  JL_AUDIT_WRONG, "137344 USD", "" },
		{ "2.0e12 / 4,194,304 = 467,837\n\n6 × 6.74e9 × 2.0e12 = 8.09e22\n\n476,837 × 1.62 s = 772,476 s\n\n"
		  "6.74e9 × 14 bytes = 94.4 GB and 256 × 214.6 h = 54,938 h\n",
		  "467,837", "arithmetic", JL_AUDIT_WRONG, "476,837", "" },
		{ "| GPUs | tokens/s | each | tokens a day (억) |\n|---|---|---|---|\n| 1 | 3,150 | 3,150 | 2.72 |\n"
		  "| 2 | 6,180 | 3,090 | 5.34 |\n| 4 | 12,080 | 3,020 | 10.44 |\n| 8 | 23,360 | 2,920 | 21.18 |\n",
		  "21.18", "table", JL_AUDIT_WRONG, "20.18", "" },
		{ "L40S 메모리 대역폭은 964 GB/s, H100 SXM은 3.35 TB/s입니다\n", "964 GB/s", "listed", JL_AUDIT_DIFFERS,
		  "", "864 GB/s" },
		{ "대역폭은 864 GB/s, 다른 쪽은 3.35 TB/s로 3.78배입니다\n", "3.78배", "arithmetic", JL_AUDIT_WRONG,
		  "3.88배", "" },
		{ "24 GPUs at 310 W average are 7.94 kW\n", "7.94 kW", "arithmetic", JL_AUDIT_WRONG, "7.44 kW", "" },
		{ "9,500 H100 hours at $2.20 = $29,900\n", "$29,900", "arithmetic", JL_AUDIT_WRONG, "$20,900", "" },
		{ "We own 3x DGX A100.\n\nAll-reduce over the DGX A100 nodes reaches an algbw of 218 GB/s\n",
		  "218 GB/s", "bound", JL_AUDIT_WRONG, "≤ 150 GB/s", NULL },
		{ "with an MFU of 140 %\n", "140 %", "bound", JL_AUDIT_WRONG, "", "" },
		{ "EFA 400 GB/s 노드당\nall-reduce 8 노드: 270 GB/s\n", "270 GB/s", "bound", JL_AUDIT_WRONG,
		  "≤ 229 GB/s", "" },
		{ "4x dgx-h100: all-reduce algbw 350 GB/s\n", "350 GB/s", "bound", JL_AUDIT_WRONG, "≤ 267 GB/s", NULL },
		{ "all-reduce on 4 nodes of 8 H100: 350 GB/s\n", "350 GB/s", "bound", JL_AUDIT_WRONG, "≤ 267 GB/s",
		  NULL },
		{ "DGX H100 4대에서 NCCL all-reduce busbw는 862 GB/s\n", "862 GB/s", "bound", JL_AUDIT_WRONG,
		  "≤ 517 GB/s", NULL },
		{ "# DGX H100 4대\n\n4노드에서 NCCL all-reduce busbw는 862 GB/s\n", "862 GB/s", "bound", JL_AUDIT_WRONG,
		  "≤ 517 GB/s", NULL },
		{ "DGX H100 서버 8대로 잰 all-reduce algbw 300 GB/s\n", "300 GB/s", "bound", JL_AUDIT_WRONG,
		  "≤ 229 GB/s", NULL },
		{ "8 GPUs × 24 h = 200 GPU-hours\n", "200 GPU-hours", "arithmetic", JL_AUDIT_WRONG, "192 GPU-hours",
		  "" },
		{ "GPU 16장 × 5일 = 2,920 GPU시간\n", "2,920 GPU시간", "arithmetic", JL_AUDIT_WRONG, "1,920 GPU시간",
		  "" },
		{ "we ran 64 GPUs for 12 days, 19,432 GPU-hours in all\n", "19,432 GPU-hours", "arithmetic",
		  JL_AUDIT_WRONG, "18,432 GPU-hours", "" },
		{ "208 GB are 203.1 GiB\n", "203.1 GiB", "arithmetic", JL_AUDIT_WRONG, "193.7 GiB", "" },
		{ "a page of 64 KiB = 64.0 KB\n", "64.0 KB", "arithmetic", JL_AUDIT_WRONG, "65.5 KB", "" },
		{ "| file | GB | GiB |\n|---|---|---|\n| a | 26.0 GB | 24.2 GiB |\n| b | 182.0 GB | 169.5 GiB |\n"
		  "| c | 208.0 GB | 208.0 GiB |\n| d | 94.4 GB | 87.9 GiB |\n",
		  "208.0 GiB", "same-fact", JL_AUDIT_WRONG, "193.7 GiB", "" },
		{ "## RTX 3090\n| join | rate |\n|---|---|\n| PCIe | 12 GB/s |\n| NVLink | 112.5 GB/s |\n",
		  "112.5 GB/s", "listed", JL_AUDIT_DIFFERS, "", "56.2 GB/s" },
		{ "| run | rate | speedup | efficiency |\n|---|---|---|---|\n| 1 node | 10.0 | 1.00x | - |\n| 2 nodes "
		  "| 15.3 | 1.53x | 76.5 % |\n"
		  "| 4 nodes | 30.0 | 3.00x | 60.0 % |\n",
		  "60.0 %", "table", JL_AUDIT_WRONG, "75.0 %", "" },
		{ "DDP: Backward: 계산만 (통신 없음)\n", "DDP: Backward: 계산만 (통신 없음)", "confusion",
		  JL_AUDIT_WRONG, "", "" },
		{ "Busbw = Algbw × 2배\n", "Busbw = Algbw × 2배", "confusion", JL_AUDIT_DIFFERS, "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct jl_audit_note *note = audit(rows[i].text, "a.md");
		const struct jl_audit_finding *f = find(note, rows[i].written);

		if (!f || strcmp(f->rule, rows[i].rule) != 0 || f->verdict != rows[i].verdict ||
		    strcmp(f->premises, rows[i].premises) != 0 ||
		    (rows[i].estimate && strcmp(f->estimate, rows[i].estimate) != 0) || !f->en[0] || !f->text[0])
			fail_msg("'%s': %zu findings, '%s' '%s' '%s' '%s'", rows[i].text, note->n_findings,
				 f ? f->rule : "", f ? f->premises : "", f ? f->estimate : "", f ? f->en : "");
	}
}

/* What is right, or what nobody can know, is not called wrong. */
static void test_quiet(void **state)
{
	static const char *const rows[] = {
		"8 H100 at $2.50 per GPU hour cost $20 per hour",
		"| GPUs | card | rent |\n|---|---|---|\n| 8 | H100 | $20/h |\n| 4 | H100 | $10/h |",
		"8 GPUs at $2.50 per GPU hour with storage cost $25 per hour",
		"# 학습\n\n8B 모델의 bf16 가중치는 16GB이므로 RTX 5090 1장에 들어갑니다",
		"# Training\n\nthe weights of an 8B model in bf16 are 16 GB and fit one RTX 5090",
		"A 13B model in fp16 (26 GB) does not fit one RTX 3090 (24 GB)",
		"13B fp16 모델(26 GB)은 RTX 3090 (24 GB) 1장에 들어가지 않습니다",
		"70B in 4-bit: the 140 GB become 35 GB and fit in 48 GB",
		"140 GB fit in the 80 GB of each of the two cards together",
		"a card with 80 GB fits a model of 16 GB",
		"40 GB of activations are recomputed so that it fits in 24 GB",
		"## Training a 10B parameter GPT-2 on a single V100 GPU",
		"Inference runs on a single A100-SXM4-80G GPU with Flash-Attention 2. (72B + vLLM uses PyTorch 2.1.0.)",
		"A 15 % discount on $1,000 is $150",
		"15 % of $1,000 is $150, and 33 % of 120 is 40",
		"1,000만원의 15%는 150만원",
		"from 2.4 s to 0.8 s, 3x faster",
		"from 9.8 s to 2.5 s, 3x faster",
		"1.2 TB over a 10 Gb/s link takes 960 s",
		"1.2 TB over a 10 Gb/s link took 1,400 s",
		"H100은 A100보다 3배 빠릅니다",
		"A100보다 H100이 3배 빠릅니다",
		"The A100 is 3x slower than the H100",
		"8 A100 are 3x faster than one H100",
		"| card | price |\n|---|---|\n| L40S | $8,000 |\n| RTX 4090 | $1,700 |",
		"A100 with 200 Gb/s InfiniBand",
		"24 hours * 365 days = 8760 hours",
		"avg=13.36s min=12.54s max=14.12s",
		"18 links at 53.125 GB/s = 956.25 GB/s",
		"x = 3, y = 4 and z = 5",
		"one H100 reached 640 TFLOPS in BF16",
		"an H100 with 14 GB of memory free",
		"the H100 has 14 GB of memory left",
		"H100 FP8: 1,979 TFLOPS",
		"8 NVIDIA V100s with NVLink",
		"The RTX 4090 is faster, the other has more room (24GB VRAM vs 128GB VRAM)",
		"B200: 180 GB can be used of the 192 GB of HBM3e that the B200 has",
		"8x H200: 38.4 TB/s of bandwidth",
		"an H100 with NVSwitch: 7.2 TB/s among eight",
		"L2 cache of the A100: 7.1 TB/s",
		"On an A100 the model takes 14 GB of memory and its cache 9 GB VRAM",
		"RTX 4090에서 메모리 18 GB를 사용했습니다",
		"Models above 32 GB do not fit an RTX 4090",
		"the H100 copies at 2.9 TB/s, the A100 at 1.7 TB/s",
		"H100 SXM: TF32 494 TFLOPS, BF16 989 TFLOPS, FP8 1,979 TFLOPS",
		"| GPU | bandwidth | busbw |\n|---|---|---|\n| H100 | 2900 GB/s | 480 GB/s |\n| A100 | 1700 GB/s | 230 "
		"GB/s |\n",
		"H100 FP16 with sparsity: 1,979 TFLOPS",
		"A100 (40 GB or 80 GB)",
		"120일 (4개월)",
		"45-55일 (1.5-2개월)",
		"713일 (약 2년)",
		"| a | b |\n|---|---|\n| 1 | 2 |\n| 2 | 4 |\n| 3 | 7 |\n",
		"### H100\n| dtype | TFLOPS |\n|---|---|\n| FP8 | 1979 TFLOPS |\n",
		"utilization of the CPU: 400 %",
		"DGX H100 4대에서 all-reduce busbw는 362 GB/s (알고리즘 대역폭 187 GB/s)",
		"We own 3x DGX A100.\n\nAll-reduce over the DGX A100 nodes reaches an algbw of 118 GB/s. Each A100 has "
		"600 GB/s of "
		"NVLink.",
		"4x dgx-h100 with SHARP: all-reduce busbw 640 GB/s",
		"64 GPUs for 12 days, 18,432 GPU-hours (288 hours of wall time)",
		"40,000 GPU-hours on 512 GPUs, 78 hours",
		"8 × 24 GiB = 192 GB",
		"an epoch takes 9,600 s, the whole run 80 h",
		"3천만원 × 4 = 1억 2천만원",
		"2억 5천만원 × 1.2 = 3억원",
		"1천 5백만원 × 3 = 4천 5백만원",
		"1만 5천 토큰 × 4 = 6만 토큰",
		"100 / 7 = 14",
		"| 월 | 사용량 (kWh) |\n|---|---|\n| 7월 | 1,284 |\n| 8월 | 1,347 |\n| 9월 | 1,102 |\n\n"
		"8월 대비 9월 사용량은 18 % 감소, 7월 대비 8월 요금은 12 % 증가\n",
		"| GPU | throughput |\n|---|---|\n| A100 80GB | 3,420 |\n| H100 SXM | 8,690 |\n\n"
		"Compared with the A100 80GB, the H100 SXM gets up to 3.1x the throughput\n",
		"1.3 × 214 = 281",
		"```\nn = 3 * 4  # 2 GPUs\nx = 8 * 16  # 128\n```",
		"141 GB로, A100(80 GB)의 1.5배 성능",
		"405 GB/s, 90 % of the 450 GB/s that a link has",
		"it reads 3 of 7 shards, 90 % of the time",
		"12 files of 182 GB in a folder of 3.84 TB",
		"memory went from 60 GB to 15 GB, reduced to 25 %",
		"60 GB에서 15 GB로, 25 %로 감소",
		"100 ms → 80 ms (25 % faster)",
		"50,000 × 6.0e10 = 3.00 PFLOP/s, 장당 375 TFLOPS. H100 SXM BF16 dense 989 TFLOPS 대비 37.9 %",
		"| run | avg ms | cost |\n|---|---|---|\n| a | 10 | 30 |\n| b | 12 | 40 |\n| c | 13 | 35 |\n"
		"| total | 12 | 105 |\n",
		"| 품목 | 단가 | 금액 |\n|---|---|---|\n| 가 | 10 | 30 |\n| 나 | 20 | 40 |\n| 다 | 7 | 35 |\n"
		"| 합계 | 32 | 105 |\n",
		"| 노드 | 토큰 | 온도 |\n|---|---|---|\n| 가 | 10 | 61 |\n| 나 | 20 | 66 |\n| 다 | 7 | 70 |\n"
		"| 합계 | 37 | 190 |\n",
		"| day | steps | so far |\n|---|---|---|\n| 1 | 100 | 100 |\n| 2 | 150 | 250 |\n| 3 | 130 | 380 |\n"
		"| total | 380 | 380 |\n",
		"| item | unit price | qty | discount | amount |\n|---|---|---|---|---|\n"
		"| gpu | $20,000 | 8 | 10 % | $144,000 |\n| cpu | $3,000 | 2 | 0 % | $6,000 |\n",
		"| 품목 | 단가 | 수량 | 금액 |\n|---|---|---|---|\n| 가 | 10만원 | 2 | 20만원 |\n"
		"| 나 | 20만원 | 3 | 60만원 |\n| 합계 | 30만원 | 5 | 80만원 |\n",
		"| job | work | span | pace |\n|---|---|---|---|\n| a | 1000 | 4 | 250 |\n| b | 3000 | 5 | 600 |\n"
		"| c | 2000 | 8 | 250 |\n| total | 6000 | 17 | 353 |\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct jl_audit_note *note = audit(rows[i], "a.md");

		for (size_t k = 0; k < note->n_findings; k++)
			if (note->findings[k].shown && note->findings[k].verdict <= JL_AUDIT_UNLIKELY)
				fail_msg("'%s': %s: %s", rows[i], note->findings[k].written, note->findings[k].en);
	}
}

/* A root once, what follows from it below it; a value from premises that cannot hold is no correction. */
static void test_roots(void **state)
{
	const struct jl_audit_note *note = audit("### V100 × 4개\n배치 크기: 128\n배치당 시간: 1.06초\n에폭당 시간: "
						 "5.67시간\n\n### H200\n배치 크기: 512\n배치당 시간: 0.2초\n"
						 "에폭당 시간: 1.07시간\n\nH200: 1.07시간이면 됩니다\n",
						 "a.md");
	const struct jl_audit_finding *f;

	(void)state;
	assert_int_equal(note->n_findings, 2);
	f = &note->findings[0];
	assert_string_equal(f->rule, "batches");
	assert_int_equal(f->root, -1);
	assert_true(f->impossible_premise);
	assert_string_equal(f->premises, "0.267시간");
	assert_string_equal(f->fix, "");
	assert_true(f->estimate[0] && strstr(f->estimate, "("));
	assert_int_equal(note->findings[1].root, 0);
	assert_int_equal(note->findings[1].line, 11);
	assert_int_equal(note->n_roots, 1);
}

/* Where one wrong cell breaks several relations, that cell is named and the others stay as they are; where two would do, both are named and
 * neither is put right. `fix` "" and `or`: a word of the reason that names the other. */
static void test_blame(void **state)
{
	static const struct {
		const char *text, *written, *fix, *other;
	} rows[] = {
		/* as it was written: separators, the prefix of the unit, powers of ten, the sign of money */
		{ "500 ms + 932 ms = 1,234 ms\n", "1,234 ms", "1,432", NULL },
		{ "5000 + 7345 = 12354\n", "12354", "12345", NULL },
		{ "20,000 × 0.45 s = 900 s\n", "900 s", "9,000", NULL },
		{ "6 × 6.74e9 × 2.0e12 = 8.90e22\n", "8.90e22", "8.09e22", NULL },
		{ "12 × $250 = $3,100\n", "$3,100", "3,000", NULL },
		/* a speed-up that the rates bear out stands, and so does an efficiency */
		{ "| GPUs | samples/s | speed-up | efficiency |\n|---|---|---|---|\n| 1 | 100 | 1x | 100% |\n"
		  "| 4 | 360 | 3.6x | 90% |\n| 8 | 640 | 6.4x | 90% |\n",
		  "90%", "80", "6.4x" },
		{ "| GPUs | samples/s | speed-up | efficiency |\n|---|---|---|---|\n| 1 | 100 | 1x | 100% |\n"
		  "| 4 | 360 | 3.6x | 90% |\n| 8 | 640 | 7.2x | 80% |\n",
		  "7.2x", "6.4", "80%" },
		/* one in the middle of a chain */
		{ "20,000 × 0.45초 = 9,900초 = 2.5시간\n", "9,900초", "9,000", NULL },
		{ "400 h × $32.77 = $13,018 a month, $157,296 a year\n", "$13,018", "13,108", NULL },
		{ "월 320,400원, 연 3,628,800원\n", "320,400원", "302,400", NULL },
		{ "월 310,000원, 연 4,180,000원\n", "4,180,000원", "", "310,000원" },
		/* an input that three columns follow from */
		{ "| run | tokens/s | tokens/s per GPU | $ per 1M |\n|---|---|---|---|\n| a | 920 | 230 | 3.37 |\n"
		  "| b | 1,640 | 410 | 1.89 |\n| c | 2,080 | 520 | 1.49 |\n| d | 3,238 | 832 | 0.93 |\n"
		  "| e | 4,864 | 1,216 | 0.64 |\n",
		  "3,238", "3,328", NULL },
		/* one in the middle: what it follows from and what follows from it are right */
		{ "| part | each | pieces | power | a day |\n|---|---|---|---|---|\n| GPU | 450 W | 4 | 1800 W | 43.2 "
		  "kWh |\n"
		  "| CPU | 280 W | 2 | 650 W | 13.4 kWh |\n| disk | 12 W | 6 | 72 W | 1.73 kWh |\n"
		  "| fan | 15 W | 8 | 120 W | 2.88 kWh |\n",
		  "650 W", "560", NULL },
		/* its own column's sum bears the input out */
		{ "| part | each | pieces | power |\n|---|---|---|---|\n| GPU | 450 W | 4 | 1600 W |\n"
		  "| CPU | 280 W | 2 | 560 W |\n| disk | 12 W | 6 | 72 W |\n| fan | 15 W | 8 | 120 W |\n"
		  "| total | | 20 | 2552 W |\n",
		  "1600 W", "1800", NULL },
		/* 400 W each would do as well */
		{ "| part | each | pieces | power |\n|---|---|---|---|\n| GPU | 450 W | 4 | 1600 W |\n"
		  "| CPU | 280 W | 2 | 560 W |\n| disk | 12 W | 6 | 72 W |\n| fan | 15 W | 8 | 120 W |\n",
		  "1600 W", "", "400 W" },
		/* a count is whole, and half a watt was not written */
		{ "| part | each | pieces | power |\n|---|---|---|---|\n| GPU | 450 W | 4 | 1800 W |\n"
		  "| CPU | 280 W | 2 | 560 W |\n| disk | 12 W | 6 | 27 W |\n| fan | 15 W | 8 | 120 W |\n",
		  "27 W", "72", NULL },
		/* a total beside rows that nothing bears out: neither is known */
		{ "| part | cost |\n|---|---|\n| a | 311 |\n| b | 422 |\n| c | 367 |\n| total | 1207 |\n", "1207", "",
		  "a row" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct jl_audit_note *note = audit(rows[i].text, "a.md");
		const struct jl_audit_finding *f = find(note, rows[i].written);
		size_t n = 0;

		for (size_t k = 0; k < note->n_findings; k++)
			n += note->findings[k].shown && note->findings[k].verdict <= JL_AUDIT_UNLIKELY;
		if (!f || n != 1 || strcmp(f->fix, rows[i].fix) != 0 ||
		    (rows[i].other && !strstr(f->en, rows[i].other)))
			fail_msg("'%s': %zu findings, '%s' '%s' '%s'", rows[i].text, n,
				 note->n_findings ? note->findings[0].written : "", f ? f->fix : "", f ? f->en : "");
	}
}

/* What nccl-tests prints: algbw = size / time, and busbw as many times that as the collective and its ranks have it, row by row and on both
 * sides. */
static void test_collectives(void **state)
{
	static const char head[] =
		"#                                        out-of-place                     in-place\n"
		"#       size    count  type redop root   time  algbw  busbw #wrong   time  algbw  busbw #wrong\n"
		"#        (B) (elements)                  (us) (GB/s) (GB/s)          (us) (GB/s) (GB/s)\n";
	static const char *const lines[] = {
		"   16777216  4194304 float   sum  -1   139.4 120.35 210.62      0  138.15 121.44 212.52      0\n",
		"   67108864 16777216 float   sum  -1   371.9 180.45 315.79      0  368.55 182.09 318.66      0\n",
		"  268435456 67108864 float   sum  -1  1248.0 215.09 376.41      0  1236.8 217.04 379.82      0\n",
		" 1073741824 268435456 float  sum  -1  4631.2 231.85 405.74      0  4589.5 233.96 409.42      0\n",
	};
	static const struct {
		size_t line;
		const char *was, *is, *fix;
	} rows[] = {
		{ 0, "210.62", "216.02", "210.61" }, { 1, "180.45", "190.45", "180.45" },
		{ 2, "379.82", "434.08", "379.82" }, { 3, "4631.2", "4361.2", "4631.2" },
		{ 0, "121.44", "112.44", "121.44" },
	};
	char text[4096];

	(void)state;
	for (size_t i = 0; i <= sizeof rows / sizeof rows[0]; i++) {
		const bool wrong = i < sizeof rows / sizeof rows[0];
		const struct jl_audit_note *note;
		size_t n = (size_t)snprintf(text, sizeof text, "```\n%s", head);

		for (size_t l = 0; l < 4; l++)
			n += (size_t)snprintf(text + n, sizeof text - n, "%s", lines[l]);
		snprintf(text + n, sizeof text - n, "```\n");
		if (wrong)
			memcpy(strstr(text, rows[i].was), rows[i].is, strlen(rows[i].is));
		note = audit(text, "a.md");
		if (note->n_roots != wrong ||
		    (wrong && (!find(note, rows[i].is) || strcmp(find(note, rows[i].is)->fix, rows[i].fix) != 0)))
			fail_msg("%s: %zu roots, %s: %s", wrong ? rows[i].is : "right", note->n_roots,
				 note->n_findings ? note->findings[0].written : "",
				 note->n_findings ? note->findings[0].en : "");
	}
	/* two rows are enough where it is said how many ranks there are */
	snprintf(text, sizeof text, "# all_gather_perf with 16 ranks\n\n```\n%s%s```\n", head,
		 "  67108864 16777216 float  none  -1   371.9 180.45 176.35      0  368.55 182.09 170.71      0\n"
		 "  268435456 67108864 float none  -1  1248.0 215.09 201.65      0  1236.8 217.04 203.47      0\n");
	assert_non_null(find(audit(text, "a.md"), "176.35"));
	assert_string_equal(find(audit(text, "a.md"), "176.35")->fix, "169.17");
	assert_null(find(audit(text, "a.md"), "170.71"));
	/* all rows by another factor than that of so many */
	snprintf(text, sizeof text, "# all_reduce_perf, 4 ranks\n\n```\n%s%s%s%s```\n", head, lines[0], lines[1],
		 lines[2]);
	assert_int_equal(audit(text, "a.md")->n_roots, 1);
}

static void test_hostile(void **state)
{
	struct jl_err err = { .en = "" };
	struct jl_audit_note *note;
	char *big = malloc(3000001);

	(void)state;
	assert_non_null(big);
	for (int form = 0; form < 4; form++) {
		static const char *const units[] = { "1|", "(", "<td>", "1 = " };

		for (size_t i = 0; i < 3000000; i++)
			big[i] = units[form][i % strlen(units[form])];
		big[3000000] = '\0';
		assert_int_equal(jl_audit_note_run(&note, big, 3000000, "a.md", jl_catalog_embedded(), &arena, &err),
				 JL_OK);
		jl_arena_release(&arena);
		jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	}
	free(big);
	note = audit("RTX 3090 \xff\xfe 24GB \xe2\x80\xae evil \x1b[31m 2 × 3 = 7 GB\n| a | b |\n|---|---|\n| 1 | 2",
		     "a.md");
	assert_true(note->n_replaced >= 4);
	for (size_t i = 0; i < note->n_findings; i++) {
		assert_true(jl_utf8_valid(note->findings[i].written, strlen(note->findings[i].written), NULL));
		assert_null(strchr(note->findings[i].written, '\x1b'));
	}
	assert_int_equal(jl_audit_note_run(&note, "\0\1\2\3\0\0", 6, "a.md", jl_catalog_embedded(), &arena, &err),
			 JL_E_PARSE);
	assert_non_null(strstr(err.en, "not a text"));
	assert_int_equal(jl_audit_note_run(&note, "%PDF-1.7", 8, "a.pdf", jl_catalog_embedded(), &arena, &err),
			 JL_E_PARSE);
	assert_non_null(strstr(err.en, "pdftotext"));
	assert_int_equal(jl_audit_note_run(&note, "", 0, "a.md", jl_catalog_embedded(), &arena, &err), JL_OK);
	assert_int_equal(note->n_figures, 0);
}

static void test_which(void **state)
{
	(void)state;
	assert_true(jl_audit_is_note("a.md", "claims:", 7));
	assert_false(jl_audit_is_note("a.yaml", "# A note", 8));
	assert_false(jl_audit_is_note("-", "title: x\nclaims:\n", 17));
	assert_true(jl_audit_is_note("-", "# A note\n", 9));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_figures, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_figures, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_tables, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_rules, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_quiet, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_roots, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_blame, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_collectives, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_hostile, set_up, tear_down),
		cmocka_unit_test(test_which),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
