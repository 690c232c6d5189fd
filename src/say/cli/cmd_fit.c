/* jeoul fit: which techniques make a model fit in a system's memory, and what each costs in time. */
#include <math.h>
#include <stdio.h>

#include "cli/ask.h"
#include "cli/predict_view.h"
#include "predict/kind.h"
#include "predict/technique.h"

const struct jl_option jl_fit_options[] = {
	JL_ASK_RUN_OPTIONS,
	JL_ASK_SHAPE_OPTIONS,
	JL_ASK_HOST_OPTIONS,
	{ 0 },
};

static void how_cell(struct jl_table *table, const struct jl_technique *row)
{
	const struct jl_plan *p = &row->how.plan;
	char text[64];
	int at = snprintf(text, sizeof(text), "dp %.0f", p->dp);

	if (p->tp > 1 && at > 0)
		at += snprintf(text + at, sizeof(text) - (size_t)at, " tp %.0f", p->tp);
	if (p->pp > 1 && at > 0)
		at += snprintf(text + at, sizeof(text) - (size_t)at, " pp %.0f", p->pp);
	if (p->pp <= 1 && p->n_micro > 1 && at > 0)
		(void)snprintf(text + at, sizeof(text) - (size_t)at, " x %.0f", p->n_micro);
	jl_table_cell(table, text);
}

/* What is offloaded, red where the host has not so much. */
static void host_cell(struct jl_table *table, const struct jl_technique *row)
{
	const bool short_of = row->weight.host_B > JL_HOST_RAM_FRAC * row->how.ram_B;

	if (!(row->weight.host_B > 0))
		jl_table_cell(table, "");
	else
		jl_table_printf(table, short_of ? JL_TABLE_RED "%.0f" JL_TABLE_RESET : "%.0f",
				row->weight.host_B / 1073741824.0);
}

/* Whether the host has the memory that the offloading rows ask for. */
static void host_line(struct jl_cli *cli, const struct jl_technique *rows, size_t n)
{
	const double ram_B = rows[0].how.ram_B;
	double most_B = 0;

	for (size_t i = 0; i < n; i++)
		if (rows[i].possible)
			most_B = fmax(most_B, rows[i].weight.host_B);
	if (!(most_B > 0))
		return;
	if (isnan(ram_B))
		jl_buf_printf(&cli->out, "  %s\n",
			      JL_T(cli->lang, "Host RAM is not known: say it with --ram, e.g. --ram \"512 GiB\".",
				   "호스트 메모리를 모릅니다. --ram \"512 GiB\"처럼 알려 주세요."));
	else
		jl_buf_printf(&cli->out,
			      JL_T(cli->lang, "  A host has %.0f GiB of RAM, %.0f %% of it for offloading: %s.\n",
				   "  호스트 메모리 %.0f GiB, 오프로드에 %.0f %%까지: %s.\n"),
			      ram_B / 1073741824.0, 100 * JL_HOST_RAM_FRAC,
			      most_B > JL_HOST_RAM_FRAC * ram_B
				      ? JL_T(cli->lang, "not enough for every row", "부족한 방법이 있음")
				      : JL_T(cli->lang, "enough for every row", "모든 방법에 충분함"));
}

static enum jl_status print_rows(struct jl_cli *cli, const struct jl_technique *rows, size_t n, struct jl_err *err)
{
	const enum jl_lang lang = cli->lang;
	const struct jl_table_column columns[] = {
		{ .head = JL_T(lang, "technique", "기법"), .flexible = true, .min_width = 16 },
		{ .head = JL_T(lang, "cut", "분할") },
		{ .head = JL_T(lang, "GiB/GPU", "GPU GiB"), .align = JL_RIGHT },
		{ .head = "" },
		{ .head = JL_T(lang, "host", "호스트"), .align = JL_RIGHT },
		{ .head = JL_T(lang, "step", "스텝"), .align = JL_RIGHT },
		{ .head = JL_T(lang, "cost", "대가"), .align = JL_RIGHT },
	};
	static const char *const en[] = { JL_TABLE_GREEN "fits" JL_TABLE_RESET, JL_TABLE_YELLOW "tight" JL_TABLE_RESET,
					  JL_TABLE_RED "no" JL_TABLE_RESET };
	static const char *const ko[] = { JL_TABLE_GREEN "가능" JL_TABLE_RESET, JL_TABLE_YELLOW "빠듯함" JL_TABLE_RESET,
					  JL_TABLE_RED "불가" JL_TABLE_RESET };
	struct jl_table table;
	char time[JL_UNITS_TEXT_MAX];

	jl_table_init(&table, &cli->arena, columns, 7);
	for (size_t i = 0; i < n; i++) {
		const struct jl_technique *r = &rows[i];

		jl_table_cell(&table, JL_T(lang, r->en, r->ko));
		if (!r->possible) {
			jl_table_cell(&table, JL_T(lang, "not possible", "불가능"));
			jl_table_end_row(&table);
			continue;
		}
		how_cell(&table, r);
		jl_table_printf(&table, "%.1f", r->weight.memory.total_B / 1073741824.0);
		jl_table_cell(&table, JL_T(lang, en[r->room], ko[r->room]));
		host_cell(&table, r);
		jl_table_cell(&table, jl_units_text(time, r->weight.step.step_s, JL_K_TIME, 2));
		if (r->room == JL_ROOM_NONE || isnan(r->cost_frac))
			jl_table_cell(&table, "");
		else if (r->cost_frac < 0.005)
			jl_table_cell(&table, JL_T(lang, "fastest", "가장 빠름"));
		else
			jl_table_printf(&table, "%+.0f %%", 100 * r->cost_frac);
		jl_table_end_row(&table);
	}
	return jl_view_table(cli, &table, 2, err);
}

static void print_json(struct jl_cli *cli, const struct jl_technique *rows, size_t n)
{
	static const char *const rooms[] = { "fits", "tight", "no" };
	struct jl_json json;

	jl_json_init(&json, &cli->out, true);
	jl_json_object(&json);
	jl_json_put_array(&json, "techniques");
	for (size_t i = 0; i < n; i++) {
		const struct jl_technique *r = &rows[i];

		jl_json_object(&json);
		jl_json_put_string(&json, "technique", r->key);
		jl_json_put_bool(&json, "possible", r->possible);
		if (r->possible) {
			jl_json_put_bool(&json, "fits", r->room != JL_ROOM_NONE);
			jl_json_put_string(&json, "room", rooms[r->room]);
			jl_json_put_number(&json, "memory_B", r->weight.memory.total_B);
			jl_json_put_number(&json, "capacity_B", r->how.machine.dev.mem_B);
			jl_json_put_number(&json, "host_memory_B", r->weight.host_B);
			jl_json_put_number(&json, "host_capacity_B", r->how.ram_B);
			jl_json_put_number(&json, "offload_s", r->weight.step.offload_s);
			jl_json_put_number(&json, "step_s", r->weight.step.step_s);
			jl_json_put_number(&json, "cost_frac", r->room == JL_ROOM_NONE ? NAN : r->cost_frac);
			jl_view_case_json(&json, &r->how);
		} else {
			jl_json_put_string(&json, "why", r->why.en);
		}
		jl_json_end_object(&json);
	}
	jl_json_end_array(&json);
	jl_json_end_object(&json);
	jl_json_finish(&json);
}

static void summary(struct jl_cli *cli, const struct jl_technique *rows, size_t n)
{
	const struct jl_technique *best = NULL;

	for (size_t i = 0; i < n; i++)
		if (rows[i].possible && rows[i].room != JL_ROOM_NONE &&
		    (!best || rows[i].weight.step.step_s < best->weight.step.step_s))
			best = &rows[i];
	jl_buf_putc(&cli->out, '\n');
	if (best)
		jl_buf_printf(&cli->out,
			      JL_T(cli->lang, "  Fastest that fits: %s.\n", "  들어가는 것 중 가장 빠름: %s.\n"),
			      JL_T(cli->lang, best->en[0] == '+' ? best->en + 2 : best->en,
				   best->ko[0] == '+' ? best->ko + 2 : best->ko));
	else
		jl_buf_printf(&cli->out, "  %s\n",
			      JL_T(cli->lang,
				   "Nothing fits: it needs more GPUs, GPUs with more memory, or a smaller batch.",
				   "들어가는 방법이 없습니다. GPU 수나 메모리를 늘리거나 배치를 줄이세요."));
	for (size_t i = 0; i < n; i++)
		if (rows[i].possible && rows[i].room == JL_ROOM_TIGHT) {
			jl_buf_printf(&cli->out,
				      JL_T(cli->lang, "  Tight: less than %.0f %% of the memory stays free.\n",
					   "  빠듯함: 메모리 여유가 %.0f %% 미만.\n"),
				      100 * JL_MEMORY_MARGIN_FRAC);
			break;
		}
	host_line(cli, rows, n);
	jl_buf_printf(&cli->out, "  %s%s%s\n", jl_view_dim(cli),
		      !rows[1].how.subject.kind->is_cut
			      ? JL_T(cli->lang, "⚠ estimated; 'jeoul predict' gives the interval of each.",
				     "⚠ 추정값. 각각의 구간은 'jeoul predict'로 볼 수 있음.")
			      : JL_T(cli->lang,
				     "⚠ estimated; 'jeoul predict' gives the interval of each.\n"
				     "  All but fp32 in mixed precision, AdamW; host: GiB offloaded to one host.",
				     "⚠ 추정값. 각각의 구간은 'jeoul predict'로 볼 수 있음.\n"
				     "  fp32 외에는 혼합 정밀도, AdamW. 호스트: 호스트 한 대로 오프로드하는 GiB."),
		      jl_view_reset(cli));
}

enum jl_status jl_cmd_fit(struct jl_cli *cli, struct jl_err *err)
{
	struct jl_technique *rows = jl_arena_array(&cli->arena, JL_TECHNIQUES_MAX, sizeof(*rows));
	struct jl_request req;
	struct jl_subject subject;
	struct jl_machine machine;
	struct jl_sys sys;
	size_t n = 0;
	char params[JL_PARAMS_TEXT_MAX];
	char capacity[JL_UNITS_TEXT_MAX];
	enum jl_status status = rows ? jl_ask_request(&req, cli, err) : jl_fail_nomem(err);

	if (!status)
		status = jl_subject_find(&subject, cli->cat, &req, &cli->arena, err);
	if (!status && !req.system)
		status = jl_fail(err, JL_E_USAGE, "name a system with --on, e.g. --on dgx-h100",
				 "--on으로 시스템을 쓰세요. 예: --on dgx-h100");
	if (!status)
		status = jl_sys_parse(&sys, cli->cat, req.system, &cli->arena, err);
	if (!status)
		status = jl_machine_make(&machine, cli->cat, &sys, err);
	if (!status)
		status = jl_techniques(rows, &n, cli->cat, &subject, &machine, &req, err);
	if (status)
		return status;
	if (cli->json) {
		print_json(cli, rows, n);
		return JL_OK;
	}
	jl_buf_printf(
		&cli->out,
		JL_T(cli->lang, "%s%s%s · %s parameters · %s · %s a GPU\n", "%s%s%s · 파라미터 %s · %s · GPU당 %s\n"),
		jl_view_bold(cli), subject.name, jl_view_reset(cli),
		jl_params_text(params, jl_subject_params(&subject)), machine.sys.text,
		jl_view_value(capacity, machine.dev.mem_B, JL_K_BYTES, true));
	jl_buf_printf(&cli->out,
		      JL_T(cli->lang, "global batch %.0f · micro-batch %.0f", "전체 배치 %.0f · 마이크로배치 %.0f"),
		      rows[1].how.global_batch, rows[1].how.shard.micro_batch);
	if (subject.kind->has_tokens)
		jl_buf_printf(&cli->out, JL_T(cli->lang, " · sequence %.0f", " · 시퀀스 %.0f"), rows[1].how.shard.seq);
	jl_buf_printf(&cli->out, " · %s\n\n", jl_dtype_name(rows[1].how.shard.dtype));
	status = print_rows(cli, rows, n, err);
	summary(cli, rows, n);
	return status;
}
