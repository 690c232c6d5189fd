/* What really runs in a step: operations by where they stand, with launches, bytes and time. */
#include "predict/kernels.h"

#include "topics/predict.h"

void jl_tell_kernels(struct jl_doc *doc, const struct jl_case *c, const struct jl_kernels *kernels)
{
	struct jl_num moved = jl_num_about(kernels->stream_B, JL_K_BYTES, NULL);

	jl_doc_para(doc);
	if (c->subject.program)
		jl_doc_text(doc,
			    jl_tell_text(doc, JL_("%s on %s, %s, batch %.0f: one step, one device"), c->subject.id,
					 c->machine.sys.text, jl_dtype_name(c->shard.dtype), c->shard.micro_batch));
	else
		jl_doc_text(doc,
			    jl_tell_text(doc, JL_("%s on %s, %s, %s, batch %.0f, sequence %.0f: one step, one device"),
					 c->subject.id, c->machine.sys.text, jl_framework_word(c->framework),
					 jl_dtype_name(c->shard.dtype), c->global_batch, c->shard.seq));
	jl_tell_table(doc, NULL, "ktffff", JL_N("part|operation|times|launches|moves|device time"));
	for (size_t i = 0; i < kernels->n; i++) {
		const struct jl_kernel *k = &kernels->items[i];

		JL_CELLS(doc, JL_WORD(jl_msg(k->block)), JL_WORD(jl_msg(k->name)),
			 JL_FIG(jl_num_about(k->n_times, JL_K_NUMBER, NULL)),
			 JL_FIG(jl_num_about(k->launches, JL_K_NUMBER, NULL)));
		if (k->moved_B > 0)
			jl_tell_cell(doc, jl_num_about(k->moved_B, JL_K_BYTES, NULL));
		else
			jl_doc_cell_text(doc, "");
		jl_tell_cell(doc, jl_num_about(k->device_s, JL_K_TIME, NULL));
		jl_doc_end_row(doc, false);
	}
	moved.n_digits = 3;
	jl_doc_para(doc);
	jl_doc_text(doc, jl_tell_text(doc, JL_("%.0f launches, "), kernels->launches));
	jl_tell_num(doc, jl_num_about(kernels->device_s, JL_K_TIME, NULL));
	jl_doc_text(doc, JL_(" together; what only streams moves "));
	jl_tell_num(doc, moved);
	jl_doc_text(doc, JL_(". Times are the device's, before what the framework adds."));
}
