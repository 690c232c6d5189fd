/* Converts a figure given on the command line to a record that can be judged. */
#include "cli/check_figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/this_machine.h"
#include "import/import.h"

struct figure {
	struct jl_record record;
	struct jl_record_item params[8];
	struct jl_record_metric metric;
};

static void put(struct figure *f, const char *key, const char *text, double number)
{
	f->params[f->record.n_params++] = (struct jl_record_item){ .key = key, .text = text, .number = number };
}

/* Checks the number of ranks: with one host given and more ranks than it has, several such hosts are assumed. */
static enum jl_status check_ranks(const struct jl_sys *sys, int per_node, int n_ranks, struct jl_err *err)
{
	const int most = per_node * sys->n_nodes;

	if (sys->n_nodes > 1 && n_ranks > most)
		return jl_fail(err, JL_E_USAGE, "--ranks: %d, but %s has %d devices", n_ranks, sys->text, most);
	if (n_ranks > per_node && n_ranks % per_node != 0)
		return jl_fail(err, JL_E_USAGE,
			       "--ranks: %d is not a whole number of hosts; write 2 to %d, or a multiple of %d",
			       n_ranks, per_node, per_node);
	return JL_OK;
}

static enum jl_status coll_figure(struct figure *f, const struct jl_sys *sys, struct jl_cli *cli,
				  enum jl_collective_kind kind, struct jl_err *err)
{
	static const char *const names[] = { "algbw", "busbw", "time" };
	const struct jl_given *size = jl_given(cli, "size"), *value = NULL;
	const int per_node = jl_sys_per_node(sys);
	const int n_ranks = (int)jl_whole(cli, "ranks", (long long)sys->n_nodes * per_node);
	size_t which = 0;
	int n = 0;

	for (size_t i = 0; i < JL_LEN(names); i++)
		if (jl_given(cli, names[i])) {
			value = jl_given(cli, names[i]);
			which = i;
			n++;
		}
	if (!size)
		return jl_fail(err, JL_E_USAGE, "%s needs a size: --size 16GB", jl_collective_name(kind));
	if (n != 1)
		return jl_fail(err, JL_E_USAGE, "%s needs one figure: --algbw, --busbw or --time",
			       jl_collective_name(kind));
	JL_TRY(jl_given(cli, "ranks") ? check_ranks(sys, per_node, n_ranks, err) : JL_OK);
	f->metric.name = "algbw_Bps";
	f->metric.value = jl_summary_of(which == 0   ? value->value
					: which == 1 ? value->value / jl_busbw_factor(kind, n_ranks)
						     : size->value / value->value);
	put(f, "size_B", NULL, size->value);
	put(f, "n_ranks", NULL, n_ranks);
	put(f, JL_PARAM_ASKED, names[which], NAN);
	return JL_OK;
}

/* Parses "8192" or "4096x1024x4096". */
static enum jl_status read_shape(double ret_mnk[3], const char *text, struct jl_err *err)
{
	const char *at = text;
	size_t n = 0;

	for (; n < 3 && (n == 0 || *at == 'x'); n++) {
		char *end;
		const long value = strtol(at + (n > 0), &end, 10);

		if (value < 1 || value > 10000000)
			break;
		ret_mnk[n] = (double)value;
		at = end;
	}
	if (*at || (n != 1 && n != 3))
		return jl_fail(err, JL_E_USAGE, "--shape: '%s' is not a shape; write 8192 or 4096x1024x4096", text);
	if (n == 1)
		ret_mnk[1] = ret_mnk[2] = ret_mnk[0];
	return JL_OK;
}

/* Default format of products: bf16, else fp16, else fp32. */
static const char *usual_format(const struct jl_gpu *gpu)
{
	return !gpu                               ? "fp32"
	       : gpu->bf16_dense_flopps.value > 0 ? "bf16"
	       : gpu->fp16_dense_flopps.value > 0 ? "fp16"
						  : "fp32";
}

static enum jl_status check_test(const char *kind, const char *test, struct jl_err *err)
{
	static const char *const known[][2] = {
		{ "memory", "triad" }, { "memory", "copy" }, { "link", "h2d" }, { "link", "d2h" }, { "link", "d2d" }
	};

	for (size_t i = 0; i < JL_LEN(known); i++)
		if (!test || (strcmp(kind, known[i][0]) == 0 && strcmp(test, known[i][1]) == 0))
			return JL_OK;
	return jl_fail(err, JL_E_USAGE, "--test: '%s' is none of %s; memory has triad and copy, link h2d, d2h and d2d",
		       test, kind);
}

static enum jl_status device_figure(struct figure *f, const struct jl_sys *sys, struct jl_cli *cli, const char *kind,
				    struct jl_err *err)
{
	const bool gemm = strcmp(kind, "gemm") == 0;
	const char *rate = jl_text(cli, "rate"), *shape = jl_text(cli, "shape"), *dtype = jl_text(cli, "dtype"),
		   *test = jl_text(cli, "test");
	double value, mnk[3];

	if (!rate)
		return jl_fail(err, JL_E_USAGE, "%s needs a figure: --rate \"%s\"", kind,
			       gemm ? "620 TFLOP/s" : "25 GB/s");
	if (jl_units_parse(&value, rate, gemm ? JL_K_FLOP_RATE : JL_K_BYTE_RATE, "--rate", err))
		return err->status = JL_E_USAGE;
	if (!(value > 0))
		return jl_fail(err, JL_E_USAGE, "--%s: '%s' must be above zero", "rate", rate);
	JL_TRY(check_test(kind, test, err));
	f->metric.value = jl_summary_of(value);
	f->metric.name = jl_arena_printf(&cli->arena, gemm ? "gemm_flopps" : "%.3s%s_Bps", kind,
					 strcmp(kind, "link") == 0 ? "k" : "");
	JL_TRY(jl_got(f->metric.name, err));
	if (gemm) {
		JL_TRY(read_shape(mnk, shape ? shape : "8192", err));
		put(f, "m", NULL, mnk[0]);
		put(f, "n", NULL, mnk[1]);
		put(f, "k", NULL, mnk[2]);
		put(f, "dtype", dtype ? dtype : usual_format(sys->gpu), NAN);
	}
	if (jl_given(cli, "size"))
		put(f, "size_B", NULL, jl_value(cli, "size"));
	if (test)
		put(f, "test", test, NAN);
	return JL_OK;
}

/* Without a GPU: judges by the processor and memory, like records measured on this machine. */
static enum jl_status use_host(struct figure *f, struct jl_judge *judge, struct jl_cli *cli, struct jl_err *err)
{
	JL_TRY(jl_this_machine_probe(cli, &judge->here, err));
	judge->sys = NULL;
	judge->now_s = NAN; /* time of the measurement is unknown */
	f->record.backend = "cpu";
	if (judge->here->cpu.n_allowed > 0)
		put(f, "n_threads", NULL, judge->here->cpu.n_allowed);
	return JL_OK;
}

enum jl_status jl_check_figure_record(const struct jl_record **ret_record, struct jl_judge *judge, struct jl_cli *cli,
				      const char *kind, struct jl_err *err)
{
	struct figure *f = jl_arena_alloc(&cli->arena, sizeof(*f));
	enum jl_collective_kind coll = JL_ALLREDUCE;
	const bool is_coll = jl_collective_by_name(&coll, kind);

	JL_TRY(jl_got(f, err));
	if (!judge->sys)
		return jl_fail(err, JL_E_USAGE, "name the system, e.g. --on \"125x aws:p5.48xlarge\"");
	*f = (struct figure){ .record = { .id = "",
					  .kind = is_coll ? jl_import_collectives[coll] : kind,
					  .backend = "given",
					  .origin = "given",
					  .params = f->params,
					  .metrics = &f->metric,
					  .n_metrics = 1,
					  .noise = jl_record_noise_unknown() } };
	JL_TRY(is_coll ? coll_figure(f, judge->sys, cli, coll, err) : device_figure(f, judge->sys, cli, kind, err));
	if (!is_coll && strcmp(jl_text(cli, "on"), "cpu:this") == 0) /* "this" on a machine without a GPU */
		JL_TRY(use_host(f, judge, cli, err));
	*ret_record = &f->record;
	return JL_OK;
}
