/* jeoul flops: parameters, FLOP and activation bytes of a model, by kind of layer. */
#include <math.h>

#include "cli/ask.h"
#include "cli/view.h"
#include "predict/kind.h"
#include "topics/flops.h"

const struct jl_option jl_flops_options[] = {
	JL_ASK_COUNT("batch", JL_N("samples (default: 1)"), JL_TO(jl_request, batch)),
	JL_ASK_SHAPE_OPTIONS,
	{ 0 },
};

static enum jl_status count_model(struct jl_flops *ret, const struct jl_subject *subject, const struct jl_request *req,
				  struct jl_err *err)
{
	const double batch = isnan(req->batch) ? 1 : req->batch;
	double seq;

	if (!subject->kind->has_tokens && !isnan(req->seq))
		return jl_fail(err, JL_E_USAGE, "--seq is for transformers; leave it out for %s", subject->id);
	seq = !subject->kind->has_tokens ? NAN
	      : !isnan(req->seq)         ? req->seq
	      : !isnan(subject->seq)     ? subject->seq
					 : 2048;
	*ret = (struct jl_flops){ .id = subject->id,
				  .name = subject->name,
				  .item = subject->kind->sample(subject).item,
				  .batch = batch,
				  .seq = seq,
				  .file_batch = subject->net ? subject->net->file_batch : 0 };
	subject->kind->count(&ret->counts, subject, batch, seq);
	return JL_OK;
}

static enum jl_status count_program(struct jl_cli *cli, const struct jl_subject *subject, const struct jl_request *req,
				    struct jl_err *err)
{
	struct jl_program_flops flops = { .id = subject->id, .name = subject->name, .captured = subject->program };

	JL_TRY(subject->kind->refuse(subject, req, err));
	JL_TRY(jl_captured_modules(&flops.modules, flops.captured, NULL, &cli->arena, err));
	JL_ANSWER(cli, err, &jl_program_flops_fields, &flops, jl_show_program_flops(&doc, &flops));
}

enum jl_status jl_cmd_flops(struct jl_cli *cli, struct jl_err *err)
{
	struct jl_request req;
	struct jl_subject subject;
	struct jl_flops flops = { 0 };

	JL_TRY(jl_ask_request(&req, cli, err));
	JL_TRY(jl_subject_find(&subject, cli->cat, &req, &cli->arena, err));
	if (subject.program)
		return count_program(cli, &subject, &req, err);
	JL_TRY(count_model(&flops, &subject, &req, err));
	JL_ANSWER(cli, err, &jl_flops_fields, &flops, jl_show_flops(&doc, &flops));
}
