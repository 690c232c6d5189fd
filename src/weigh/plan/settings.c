#include "plan/answer.h"

#include "base/json.h"

const char *jl_plan_target_title(enum jl_plan_target target)
{
	static const char *const titles[JL_N_PLAN_TARGET] = { [JL_PLAN_MEGATRON] = "Megatron-LM",
							      [JL_PLAN_DEEPSPEED] = "DeepSpeed",
							      [JL_PLAN_TORCHTITAN] = "PyTorch FSDP (torchtitan)" };

	return titles[target];
}

static int is_cut(const struct jl_plan *p)
{
	return p->tp > 1 || p->pp > 1 || p->cp > 1 || p->ep > 1;
}

enum jl_plan_target jl_plan_settings_of(const struct jl_case *c)
{
	const struct jl_plan *p = &c->plan;

	if (c->framework == JL_FW_MEGATRON && !(p->offload & JL_OFFLOAD_PARAMS))
		return JL_PLAN_MEGATRON;
	if (!is_cut(p) && (p->zero == 1 || p->zero == 2 || p->offload))
		return JL_PLAN_DEEPSPEED;
	return JL_PLAN_TORCHTITAN;
}

struct jl_plan_reason jl_plan_settings_absent(enum jl_plan_target target, const struct jl_case *c)
{
	static const struct jl_plan_reason fine = { 0 };
	const struct jl_plan *p = &c->plan;

	switch (target) {
	case JL_PLAN_MEGATRON:
		if (p->offload & JL_OFFLOAD_ACTIVATIONS && (p->recompute != JL_RECOMPUTE_NONE || p->pp > 1))
			return (struct jl_plan_reason){ JL_N(
				"Megatron-LM offloads activations only without recompute and stages") };
		if (p->offload & JL_OFFLOAD_PARAMS)
			return (struct jl_plan_reason){ JL_N("Megatron-LM does not offload weights") };
		return fine;
	case JL_PLAN_DEEPSPEED:
		if (is_cut(p))
			return (struct jl_plan_reason){ JL_N(
				"its JSON has no tensor, pipeline, context or expert parallelism") };
		if (p->offload & JL_OFFLOAD_ACTIVATIONS && p->recompute != JL_RECOMPUTE_FULL)
			return (struct jl_plan_reason){ JL_N("DeepSpeed offloads only what full recompute keeps") };
		return fine;
	default:
		if (p->offload & JL_OFFLOAD_ACTIVATIONS)
			return (struct jl_plan_reason){ JL_N("torchtitan does not offload activations") };
		if (p->zero >= 1 && p->zero <= 2)
			return (struct jl_plan_reason){ JL_N("torchtitan cuts all states (ZeRO-3) or none") };
		if ((p->offload & (JL_OFFLOAD_OPTIMIZER | JL_OFFLOAD_PARAMS)) && p->zero != 3)
			return (struct jl_plan_reason){ JL_N("torchtitan offloads only with FSDP") };
		return fine;
	}
}

static void megatron_states(struct jl_buf *out, const struct jl_case *c)
{
	static const char *const strategies[] = { NULL, NULL, "optim_grads", "optim_grads_params" };
	const struct jl_plan *p = &c->plan;

	if (p->zero == 1)
		jl_buf_puts(out, "--use-distributed-optimizer --overlap-param-gather\n");
	if (p->zero >= 2)
		jl_buf_printf(out,
			      "--use-distributed-optimizer --use-megatron-fsdp\n--data-parallel-sharding-strategy %s\n"
			      "--no-gradient-accumulation-fusion --ckpt-format fsdp_dtensor\n",
			      strategies[p->zero]);
	if (p->zero >= 1 && p->shard > 0)
		jl_buf_printf(out, "--num-distributed-optimizer-instances %.0f\n", p->dp * p->cp / p->shard);
	if (p->dp * p->cp > 1)
		jl_buf_puts(out, "--overlap-grad-reduce\n");
	if (p->offload & JL_OFFLOAD_OPTIMIZER)
		jl_buf_puts(out, "--optimizer-cpu-offload --use-precision-aware-optimizer\n");
	if (p->offload & JL_OFFLOAD_ACTIVATIONS)
		jl_buf_printf(out, "--cpu-offloading-num-layers %.0f\n", c->subject.model.n_layers - 1);
}

static void megatron(struct jl_buf *out, const struct jl_case *c)
{
	const struct jl_plan *p = &c->plan;

	jl_buf_printf(out, "--micro-batch-size %.0f --global-batch-size %.0f --seq-length %.0f\n", c->shard.micro_batch,
		      c->global_batch, c->shard.seq);
	jl_buf_printf(out, "--tensor-model-parallel-size %.0f%s\n%s", p->tp, p->sp ? " --sequence-parallel" : "",
		      p->tp_async ? "--tp-comm-overlap\n" : "");
	jl_buf_printf(out, "--pipeline-model-parallel-size %.0f\n", p->pp);
	if (p->n_chunks > 1)
		jl_buf_printf(out, "--num-virtual-stages-per-pipeline-rank %.0f\n", p->n_chunks);
	if (p->cp > 1)
		jl_buf_printf(out, "--context-parallel-size %.0f\n", p->cp);
	if (p->ep > 1)
		jl_buf_printf(out, "--expert-model-parallel-size %.0f\n", p->ep);
	megatron_states(out, c);
	if (p->recompute == JL_RECOMPUTE_SELECTIVE)
		jl_buf_puts(out, "--recompute-granularity selective\n");
	if (p->recompute == JL_RECOMPUTE_FULL)
		jl_buf_puts(out, "--recompute-granularity full --recompute-method uniform\n--recompute-num-layers 1\n");
	if (c->shard.act_dtype != JL_FP32)
		jl_buf_printf(out, "--%s%s%s\n", jl_dtype_name(c->shard.act_dtype),
			      c->shard.dtype == JL_FP8 ? " --fp8-format hybrid" : "",
			      c->shard.flash ? " --attention-backend flash" : "");
}

static void deepspeed_device(struct jl_json *json, const char *key)
{
	jl_json_put_object(json, key);
	jl_json_put_string(json, "device", "cpu");
	jl_json_put_bool(json, "pin_memory", true);
	jl_json_end_object(json);
}

static void deepspeed(struct jl_buf *out, const struct jl_case *c)
{
	const struct jl_plan *p = &c->plan;
	/* On one device stage 3 is how weights get to the host. */
	const int stage = p->offload & JL_OFFLOAD_PARAMS ? 3 : p->offload && !p->zero ? 1 : p->zero;
	struct jl_json json;

	jl_json_init(&json, out, true);
	jl_json_object(&json);
	jl_json_put_number(&json, "train_batch_size", c->global_batch);
	jl_json_put_number(&json, "train_micro_batch_size_per_gpu", c->shard.micro_batch);
	jl_json_put_number(&json, "gradient_accumulation_steps", p->n_micro);
	if (c->shard.act_dtype != JL_FP32) {
		jl_json_put_object(&json, c->shard.act_dtype == JL_FP16 ? "fp16" : "bf16");
		jl_json_put_bool(&json, "enabled", true);
		jl_json_end_object(&json);
	}
	jl_json_put_object(&json, "zero_optimization");
	jl_json_put_integer(&json, "stage", stage);
	if (p->shard > 0 && stage == 3)
		jl_json_put_number(&json, "zero_hpz_partition_size", p->shard);
	if (p->offload & JL_OFFLOAD_OPTIMIZER)
		deepspeed_device(&json, "offload_optimizer");
	if (p->offload & JL_OFFLOAD_PARAMS)
		deepspeed_device(&json, "offload_param");
	jl_json_end_object(&json);
	if (p->recompute == JL_RECOMPUTE_FULL || p->offload & JL_OFFLOAD_ACTIVATIONS) {
		jl_json_put_object(&json, "activation_checkpointing");
		jl_json_put_bool(&json, "partition_activations", false);
		jl_json_put_bool(&json, "cpu_checkpointing", (p->offload & JL_OFFLOAD_ACTIVATIONS) != 0);
		jl_json_end_object(&json);
	}
	jl_json_end_object(&json);
	jl_json_finish(&json);
}

static void torchtitan(struct jl_buf *out, const struct jl_case *c)
{
	static const char *const modes[JL_N_RECOMPUTE] = { "none", "selective", "full" };
	const struct jl_plan *p = &c->plan;
	const double cut = p->zero == 3 ? (p->shard > 0 ? p->shard / p->cp : p->dp) : 1;

	jl_buf_printf(out, "[training]\nlocal_batch_size = %.0f\nglobal_batch_size = %.0f\nseq_len = %.0f\n",
		      p->pp > 1 ? c->shard.micro_batch * p->n_micro : c->shard.micro_batch, c->global_batch,
		      c->shard.seq);
	if (c->shard.act_dtype != JL_FP32)
		jl_buf_printf(out, "mixed_precision_param = \"%s\"\n",
			      c->shard.act_dtype == JL_FP16 ? "float16" : "bfloat16");
	if (p->offload & (JL_OFFLOAD_PARAMS | JL_OFFLOAD_OPTIMIZER))
		jl_buf_puts(out, "enable_cpu_offload = true\n");
	jl_buf_printf(out,
		      "\n[parallelism]\ndata_parallel_replicate_degree = %.0f\ndata_parallel_shard_degree = %.0f\n",
		      p->dp / (cut >= 1 ? cut : 1), cut >= 1 ? cut : 1);
	if (p->zero == 3)
		jl_buf_printf(out, "fsdp_reshard_after_forward = \"%s\"\n", p->keep_gathered ? "never" : "always");
	jl_buf_printf(out, "tensor_parallel_degree = %.0f\n", p->tp);
	if (p->tp_async)
		jl_buf_puts(out, "enable_async_tensor_parallel = true\n");
	jl_buf_printf(out, "pipeline_parallel_degree = %.0f\n", p->pp);
	if (p->pp > 1)
		jl_buf_printf(out,
			      "pipeline_parallel_schedule = \"%s\"\npipeline_parallel_microbatch_size = %.0f\n"
			      "pipeline_parallel_layers_per_stage = %.0f\n",
			      p->n_chunks > 1 ? "Interleaved1F1B" : "1F1B", c->shard.micro_batch,
			      c->subject.model.n_layers / (p->pp * p->n_chunks));
	jl_buf_printf(out, "context_parallel_degree = %.0f\n", p->cp);
	if (p->ep > 1)
		jl_buf_printf(out, "expert_parallel_degree = %.0f\n", p->ep);
	jl_buf_printf(out, "\n[activation_checkpoint]\nmode = \"%s\"\n", modes[p->recompute]);
	if (p->recompute == JL_RECOMPUTE_SELECTIVE)
		jl_buf_puts(out, "selective_ac_option = \"op\"\n");
	if (c->framework == JL_FW_COMPILED || p->tp_async) /* overlapped slices are the compiler's work */
		jl_buf_puts(out, "\n[compile]\nenable = true\n");
	if (c->shard.dtype == JL_FP8)
		jl_buf_puts(out, "\n[model]\nconverters = [\"float8\"]\n");
}

void jl_plan_settings(struct jl_buf *out, enum jl_plan_target target, const struct jl_case *c)
{
	static void (*const writers[JL_N_PLAN_TARGET])(struct jl_buf *, const struct jl_case *) = {
		[JL_PLAN_MEGATRON] = megatron,
		[JL_PLAN_DEEPSPEED] = deepspeed,
		[JL_PLAN_TORCHTITAN] = torchtitan,
	};

	writers[target](out, c);
}
