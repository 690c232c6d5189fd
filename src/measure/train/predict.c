/* Predicts a training or decoding step on this machine. The device comes from the catalog or the processor's description; rates measured in the
 * workers right before replace the listed ones. */
#include <math.h>

#include "check/own_params.h"
#include "serve/passes.h"
#include "system/resolve.h"
#include "train/run.h"

/* The CPU's products round their operands to bf16; everything else stays in fp32. */
static enum jl_dtype dtype_of(const struct jl_train_run *run)
{
	static const enum jl_dtype dtypes[JL_N_TRAIN_PRECISION] = { JL_FP32, JL_TF32, JL_BF16, JL_FP8 };
	return run->kernels == &jl_engine_cpu ? JL_FP32 : dtypes[run->precision];
}

/* Describes one worker's device by its measured rates of products and copying. */
static enum jl_status solve(struct jl_device *ret_dev, const struct jl_sys *sys, const struct jl_train_run *run,
			    const struct jl_train_result *r, struct jl_err *err)
{
	const double n = r->config.n_workers;
	struct jl_train_shape shape;
	JL_TRY(jl_train_shape(run->model, 1, &shape, err));
	const struct jl_tensor_place *w = &shape.weights[JL_W_UP];
	const struct jl_gemm product = { .m = (double)(run->batch * run->seq),
					 .n = (double)w->rows,
					 .k = (double)w->cols,
					 .batch = 1,
					 .dtype = dtype_of(run),
					 .out_B = r->rates.elem_B,
					 .alone = 1 };
	jl_resolve_system_device(ret_dev, run->cat, sys);
	jl_own_solve(ret_dev, run->cat, sys->gpu ? sys->gpu->id : NULL, &product, r->rates.gemm_flopps / n,
		     r->rates.mem_Bps / n);
	return JL_OK;
}

/* Joins the workers by the measured rate of their all-reduce; a ring sends 2 (n - 1) / n of the message. */
static void join(struct jl_machine *machine, const struct jl_train_result *r)
{
	const double n = r->config.n_workers;
	machine->sys.n_nodes = 1;
	machine->sys.n_per_node = r->config.n_workers;
	machine->fabric = (struct jl_fabric){ .intra_kind = n > 1 ? JL_INTRA_SWITCH : JL_INTRA_NONE,
					      .n_per_node = r->config.n_workers,
					      .n_nodes = 1,
					      .intra = { .rate_Bps = 2 * (n - 1) / n * r->rates.allreduce_Bps,
							 .eff_frac = 1 } };
	machine->alone = machine->fabric;
}

/* `own` describes this machine's CPU; it must outlive *ret_machine. */
static enum jl_status make_machine(struct jl_machine *ret_machine, struct jl_own_cpu *own,
				   const struct jl_train_run *run, const struct jl_train_result *r,
				   struct jl_arena *arena, struct jl_err *err)
{
	const enum jl_dtype dtype = dtype_of(run);
	struct jl_sys sys = { .n_nodes = 1, .n_per_node = 1 };
	struct jl_device dev;
	if (run->kernels == &jl_engine_cpu) {
		jl_own_cpu_guess(own, &(struct jl_own_ask){ .cat = run->cat, .here = run->here });
		sys.cpu = &own->cpu;
	} else if (run->here->system) {
		JL_TRY(jl_sys_parse(&sys, run->cat, run->here->system, arena, err));
	} else {
		return jl_fail(err, JL_E_ABSENT, "{%s}", run->here->system_why_en);
	}
	JL_TRY(solve(&dev, &sys, run, r, err));
	if (sys.cpu) {
		own->cpu.fp32_flopps = (struct jl_fact){
			.value = dev.peak_flopps[JL_FP32], .lo = NAN, .hi = NAN, .origin = JL_MEASURED
		};
		own->cpu.mem_Bps.value = dev.mem_Bps;
		own->cpu.bf16_over_fp32.origin = JL_MEASURED; /* set below where bf16 is the format */
	}
	JL_TRY(jl_machine_make(ret_machine, run->cat, &sys, err));
	ret_machine->dev.peak_flopps[dtype] = dev.peak_flopps[dtype];
	ret_machine->dev.mem_Bps = dev.mem_Bps;
	ret_machine->device_fitted = true;
	join(ret_machine, r);
	return JL_OK;
}

/* Treats patches of images as tokens of an encoder with a classification head. The cost of embedding patches is neglected. */
static enum jl_status find_subject(struct jl_subject *ret_subject, const struct jl_train_run *run,
				   const struct jl_request *ask, struct jl_arena *arena, struct jl_err *err)
{
	const struct jl_model_info *model = run->model;
	if (!(model->patch > 0))
		return jl_subject_find(ret_subject, run->cat, ask, arena, err);
	*ret_subject = (struct jl_subject){ .kind = &jl_kind_transformer,
					    .id = model->id,
					    .name = model->name,
					    .info = model,
					    .seq = model->positions };
	jl_transformer_from_catalog(&ret_subject->model, model);
	ret_subject->model.head_tokens_frac = 1 / model->positions;
	return JL_OK;
}

static enum jl_status weigh(struct jl_estimate *ret_step_s, const struct jl_train_run *run,
			    const struct jl_train_result *r, struct jl_arena *arena, struct jl_err *err)
{
	struct jl_own_cpu own;
	struct jl_machine machine;
	struct jl_subject subject;
	struct jl_job job;
	struct jl_request ask = jl_request_empty();
	JL_TRY(make_machine(&machine, &own, run, r, arena, err));
	ask.model = run->model->id;
	ask.batch = (double)run->batch;
	ask.seq = (double)run->seq;
	ask.accumulate = (double)run->n_micro;
	ask.recompute = run->recompute ? JL_RECOMPUTE_FULL : JL_RECOMPUTE_NONE;
	ask.dtype = (int)dtype_of(run);
	ask.framework = JL_FW_NATIVE;
	ask.own_kernels = run->kernels != &jl_engine_cpu;
	ask.plan.dp = r->config.n_workers;
	ask.plan.zero = (int)r->config.mode;
	JL_TRY(find_subject(&subject, run, &ask, arena, err));
	JL_TRY(jl_job_weigh(&job, run->cat, &subject, &machine, &ask, err));
	*ret_step_s = job.prediction.step_s;
	return JL_OK;
}

void jl_decode_predict(struct jl_train_result *r, const struct jl_train_run *run)
{
	const struct jl_passes_ask ask = { .model = run->model,
					   .weight_B = run->int8 || run->precision == JL_TRAIN_FP8 ? 1
												   : r->rates.elem_B,
					   .elem_B = r->rates.elem_B,
					   .n_requests = (double)r->config.batch,
					   .prompt = (double)run->seq,
					   .answer = (double)run->answer };
	struct jl_arena arena;
	struct jl_own_cpu own;
	struct jl_machine machine;
	struct jl_err err;
	r->first_predicted_s = r->predicted_s = (struct jl_estimate){ NAN, NAN, NAN };
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	if (!run->no_rates && run->here && make_machine(&machine, &own, run, r, &arena, &err) == JL_OK)
		(void)jl_passes_predict(&r->first_predicted_s, &r->predicted_s, &machine, &ask, &err);
	jl_arena_release(&arena);
}

enum jl_status jl_train_predict(struct jl_estimate *ret_step_s, const struct jl_train_run *run,
				const struct jl_train_result *result, struct jl_err *err)
{
	struct jl_arena arena;
	struct jl_err local;
	jl_arena_init(&arena, JL_ARENA_LIMIT_B);
	enum jl_status status = weigh(ret_step_s, run, result, &arena, err ? err : &local);
	jl_arena_release(&arena);
	return status;
}
