/* jeoul flops: parameters, FLOP and activation bytes of a model, by kind of layer. */
#include <math.h>
#include <stdio.h>

#include "cli/ask.h"
#include "cli/view.h"
#include "predict/kind.h"

const struct jl_option jl_flops_options[] = {
	JL_ASK_COUNT("batch", JL_N("samples (default: 1)")),
	JL_ASK_SHAPE_OPTIONS,
	{ 0 },
};

struct counted {
	const char *id, *name, *item;
	double batch, seq; /* seq NAN: no sequence */
	struct jl_counts counts;
};

static enum jl_status count_model(struct counted *ret, struct jl_cli *cli, const struct jl_request *req,
				  struct jl_err *err)
{
	const double batch = isnan(req->batch) ? 1 : req->batch;
	struct jl_subject subject;
	enum jl_status status = jl_subject_find(&subject, cli->cat, req, &cli->arena, err);
	double seq;

	if (status)
		return status;
	if (!subject.kind->has_tokens && !isnan(req->seq))
		return jl_fail(err, JL_E_USAGE, "--seq is for transformers; leave it out for %s", subject.id);
	seq = !subject.kind->has_tokens ? NAN : !isnan(req->seq) ? req->seq : !isnan(subject.seq) ? subject.seq : 2048;
	*ret = (struct counted){
		.id = subject.id, .name = subject.name, .item = subject.kind->item(&subject), .batch = batch, .seq = seq
	};
	subject.kind->count(&ret->counts, &subject, batch, seq);
	return JL_OK;
}

static void count_row(struct jl_table *table, const struct jl_count *row, bool total)
{
	char params[JL_UNITS_TEXT_MAX], flop[JL_UNITS_TEXT_MAX], bytes[JL_UNITS_TEXT_MAX];

	jl_table_cell(table, jl_msg(row->en));
	if (total || !(row->n > 0))
		jl_table_cell(table, "");
	else
		jl_table_printf(table, "%.0f", row->n);
	jl_table_cell(table, row->params > 0 ? jl_view_value(params, row->params, JL_K_NUMBER, false) : "");
	jl_table_cell(table, row->fwd_flop > 0 ? jl_units_text(flop, row->fwd_flop, JL_K_FLOP, 4) : "");
	jl_table_cell(table, row->saved_B > 0 ? jl_units_text(bytes, row->saved_B, JL_K_BYTES, 3) : "");
	jl_table_end_row(table);
}

static enum jl_status print_text(struct jl_cli *cli, const struct counted *c, struct jl_err *err)
{
	const struct jl_table_column columns[] = {
		{ .head = JL_C("rows", "layers"), .flexible = true, .min_width = 12 },
		{ .head = JL_("number"), .align = JL_RIGHT },
		{ .head = JL_("parameters"), .align = JL_RIGHT },
		{ .head = JL_("FLOP forward"), .align = JL_RIGHT },
		{ .head = JL_("kept activations"), .align = JL_RIGHT },
	};
	const struct jl_counts *n = &c->counts;
	struct jl_table table;
	char a[JL_UNITS_TEXT_MAX], b[JL_UNITS_TEXT_MAX];
	enum jl_status status;

	jl_buf_printf(&cli->out, JL_("%s%s%s · batch %g"), jl_view_bold(cli), c->name, jl_view_reset(cli), c->batch);
	if (!isnan(c->seq))
		jl_buf_printf(&cli->out, JL_(" · sequence %g"), c->seq);
	jl_buf_puts(&cli->out, "\n\n");
	jl_table_init(&table, &cli->arena, columns, 5);
	for (size_t i = 0; i < n->n; i++)
		count_row(&table, &n->rows[i], false);
	jl_table_rule(&table);
	count_row(&table, &n->total, true);
	status = jl_view_table(cli, &table, 2, err);
	jl_buf_putc(&cli->out, '\n');
	if (n->active_params < n->total.params)
		jl_view_entry(cli, "Active", JL_("%s parameters a token"),
			      jl_view_value(a, floor(n->active_params + 0.5), JL_K_NUMBER, false));
	jl_view_entry(cli, "Forward", "%s = %.4g %s", jl_units_text(a, n->total.fwd_flop, JL_K_FLOP, 4),
		      n->total.fwd_flop / (n->total.fwd_flop < 2e12 ? 2e9 : 2e12),
		      n->total.fwd_flop < 2e12 ? "GMAC" : "TMAC");
	jl_view_entry(cli, "Training", JL_("%s forward and backward; %s per %s"),
		      jl_units_text(a, 3 * n->total.fwd_flop, JL_K_FLOP, 4),
		      jl_units_text(b, 3 * n->total.fwd_flop / c->batch / (isnan(c->seq) ? 1 : c->seq), JL_K_FLOP, 3),
		      isnan(c->seq) ? c->item : JL_("token"));
	jl_buf_printf(&cli->out, "  %s%s%s\n", jl_view_dim(cli),
		      isnan(c->seq) ? JL_("A multiply-add is two FLOP; activations in 16 bits.")
				    : JL_("A multiply-add is two FLOP; masked attention counts half; 16 bits, flash."),
		      jl_view_reset(cli));
	return status;
}

static void count_json(struct jl_json *json, const struct jl_count *row)
{
	jl_json_put_number(json, "params", row->params);
	jl_json_put_number(json, "fwd_flop", row->fwd_flop);
	jl_json_put_number(json, "activations_B", row->saved_B);
}

static void print_json(struct jl_cli *cli, const struct counted *c)
{
	struct jl_json json;

	jl_json_init(&json, &cli->out, true);
	jl_json_object(&json);
	jl_json_put_string(&json, "model", c->id);
	jl_json_put_string(&json, "name", c->name);
	jl_json_put_number(&json, "batch", c->batch);
	jl_json_put_number(&json, "seq", c->seq);
	count_json(&json, &c->counts.total);
	jl_json_put_number(&json, "active_params", c->counts.active_params);
	jl_json_put_number(&json, "fwd_mac", c->counts.total.fwd_flop / 2);
	jl_json_put_number(&json, "train_flop", c->counts.total.fwd_flop * 3);
	jl_json_put_array(&json, "layers");
	for (size_t i = 0; i < c->counts.n; i++) {
		jl_json_object(&json);
		jl_json_put_string(&json, "kind", c->counts.rows[i].key);
		jl_json_put_number(&json, "n", c->counts.rows[i].n);
		count_json(&json, &c->counts.rows[i]);
		jl_json_end_object(&json);
	}
	jl_json_end_array(&json);
	jl_json_end_object(&json);
	jl_json_finish(&json);
}

enum jl_status jl_cmd_flops(struct jl_cli *cli, struct jl_err *err)
{
	struct jl_request req;
	struct counted counted = { 0 };
	enum jl_status status = jl_ask_request(&req, cli, err);

	if (!status)
		status = count_model(&counted, cli, &req, err);
	if (status)
		return status;
	if (!cli->json)
		return print_text(cli, &counted, err);
	print_json(cli, &counted);
	return JL_OK;
}
