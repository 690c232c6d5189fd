/* Writes plans as settings of frameworks. */
#include "plan/answer.h"

#include "base/json.h"
#include "program/tune.h"

const char *jl_plan_target_title(enum jl_plan_target target)
{
	static const char *const titles[JL_N_PLAN_TARGET] = { [JL_PLAN_MEGATRON] = "Megatron-LM",
							      [JL_PLAN_DEEPSPEED] = "DeepSpeed",
							      [JL_PLAN_TORCHTITAN] = "PyTorch FSDP (torchtitan)",
							      [JL_PLAN_TRL] = "TRL (Hugging Face)" };

	return titles[target];
}

static int is_cut(const struct jl_plan *p)
{
	return p->tp > 1 || p->pp > 1 || p->cp > 1 || p->ep > 1;
}

enum jl_plan_target jl_plan_settings_of(const struct jl_case *c)
{
	const struct jl_plan *p = &c->plan;

	if (c->tuned && !jl_plan_settings_absent(JL_PLAN_TRL, c).en)
		return JL_PLAN_TRL;
	if (c->framework == JL_FW_MEGATRON && !(p->offload & JL_OFFLOAD_PARAMS))
		return JL_PLAN_MEGATRON;
	if (!is_cut(p) && (p->zero == 1 || p->zero == 2 || p->offload))
		return JL_PLAN_DEEPSPEED;
	return JL_PLAN_TORCHTITAN;
}

static const char *const trl_optimizers[JL_N_OPTIMIZER] = { [JL_OPT_FOREACH] = "adamw_torch",
							    [JL_OPT_FUSED] = "adamw_torch_fused",
							    [JL_OPT_ADAMW8] = "adamw_bnb_8bit",
							    [JL_OPT_PAGED8] = "paged_adamw_8bit",
							    [JL_OPT_ADAFACTOR] = "adafactor",
							    [JL_OPT_LION] = "lion_32bit",
							    [JL_OPT_SGD] = "sgd",
							    [JL_OPT_GALORE] = "galore_adamw" };
static const char *const trl_commands[JL_N_METHOD] = {
	[JL_METHOD_SFT] = "sft", [JL_METHOD_DPO] = "dpo", [JL_METHOD_GRPO] = "grpo"
};

static struct jl_plan_reason trl_absent(const struct jl_case *c)
{
	const struct jl_tune *tune = &c->shard.tune;
	const struct jl_plan *p = &c->plan;
	const char *why = !c->tuned ? JL_N("TRL tunes models; this one is trained from its beginning")
			  : is_cut(p) || c->framework == JL_FW_MEGATRON ? JL_N("TRL runs whole layers in plain PyTorch")
			  : p->offload                             ? JL_N("its ready configurations do not offload")
			  : p->recompute == JL_RECOMPUTE_SELECTIVE ? JL_N("TRL makes layers again whole or not at all")
			  : tune->kind == JL_TUNE_ADAPTER || tune->kind == JL_TUNE_LAYERS ||
					  tune->base >= JL_BASE_GPTQ4 || !trl_commands[c->method] ||
					  (c->optimizer != JL_UNSET && !trl_optimizers[c->optimizer])
				  ? JL_N("its command line has no option for that method, base or optimizer")
				  : NULL;

	return (struct jl_plan_reason){ why };
}

/* Vendors whose devices each target supports. */
static bool runs_on(enum jl_plan_target target, const struct jl_gpu *gpu)
{
	static const char *const vendors[JL_N_PLAN_TARGET] = { [JL_PLAN_MEGATRON] = "NVIDIA AMD",
							       [JL_PLAN_DEEPSPEED] = "NVIDIA AMD Intel",
							       [JL_PLAN_TORCHTITAN] = "NVIDIA AMD Intel",
							       [JL_PLAN_TRL] = "NVIDIA AMD Intel Apple" };

	return !gpu || !gpu->vendor || strstr(vendors[target], gpu->vendor);
}

struct jl_plan_reason jl_plan_settings_absent(enum jl_plan_target target, const struct jl_case *c)
{
	static const struct jl_plan_reason fine = { 0 };
	const struct jl_plan *p = &c->plan;
	const struct jl_gpu *gpu = c->machine.sys.gpu;

	if (!runs_on(target, gpu) && jl_same_text(gpu->vendor, "Google"))
		return (struct jl_plan_reason){ JL_N("it does not run on TPUs; MaxText and PyTorch/XLA do") };
	if (!runs_on(target, gpu))
		return (struct jl_plan_reason){ JL_N("it does not run on these devices") };

	if ((target == JL_PLAN_MEGATRON || target == JL_PLAN_TORCHTITAN) && jl_tune_frozen(&c->shard.tune))
		return (struct jl_plan_reason){ JL_N("its own scripts have no adapters") };
	switch (target) {
	case JL_PLAN_TRL: return trl_absent(c);
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
	if (p->offload & JL_OFFLOAD_OPTIMIZER) /* included in the distributed optimizer */
		jl_buf_printf(out, "%s--optimizer-cpu-offload --use-precision-aware-optimizer\n",
			      p->zero ? "" : "--use-distributed-optimizer\n");
	if (p->offload & JL_OFFLOAD_ACTIVATIONS)
		jl_buf_printf(out, "--cpu-offloading-num-layers %.0f\n", c->subject.model.n_layers - 1);
}

/* PyTorch multiplies FP32 without TF32 by default. */
static const char *tf32_of(const struct jl_case *c, const char *text)
{
	return c->shard.dtype == JL_TF32 ? text : "";
}

/* The number of layers divides only if embedding and head count as one layer each. */
static void megatron_uneven(struct jl_buf *out, double n_layers, double n_chunks)
{
	if (fmod(n_layers, n_chunks) == 0)
		return;
	if (fmod(n_layers + 2, n_chunks) == 0)
		jl_buf_puts(out, "--account-for-embedding-in-pipeline-split\n");
	if (fmod(n_layers + 1, n_chunks) == 0 || fmod(n_layers + 2, n_chunks) == 0)
		jl_buf_puts(out, "--account-for-loss-in-pipeline-split\n");
}

static void megatron(struct jl_buf *out, const struct jl_case *c)
{
	const struct jl_plan *p = &c->plan;

	jl_buf_puts(out, tf32_of(c, "export TORCH_ALLOW_TF32_CUBLAS_OVERRIDE=1\n"));
	if (p->zero >= 2) /* FSDP requires > 1; before Blackwell tensor parallelism requires 1 */
		jl_buf_puts(out, "unset CUDA_DEVICE_MAX_CONNECTIONS\n");
	else if (p->tp * p->cp > 1 && jl_plan_one_queue(c))
		jl_buf_puts(out, "export CUDA_DEVICE_MAX_CONNECTIONS=1\n");
	jl_buf_printf(out, "--micro-batch-size %.0f --global-batch-size %.0f --seq-length %.0f\n", c->shard.micro_batch,
		      c->global_batch, c->shard.seq);
	jl_buf_printf(out, "--tensor-model-parallel-size %.0f%s\n%s", p->tp, p->sp ? " --sequence-parallel" : "",
		      p->tp_async ? "--tp-comm-overlap\n" : "");
	jl_buf_printf(out, "--pipeline-model-parallel-size %.0f\n", p->pp);
	if (p->pp > 1)
		megatron_uneven(out, c->subject.model.n_layers, p->pp * p->n_chunks);
	if (p->n_chunks > 1)
		jl_buf_printf(out, "--num-virtual-stages-per-pipeline-rank %.0f\n", p->n_chunks);
	if (p->cp > 1)
		jl_buf_printf(out, "--context-parallel-size %.0f\n", p->cp);
	if (p->ep > 1)
		jl_buf_printf(out, "--expert-model-parallel-size %.0f\n", p->ep);
	if (c->subject.model.moe.n_experts > 1)
		jl_buf_puts(out, "--moe-token-dispatcher-type alltoall --moe-grouped-gemm\n");
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
	jl_json_key(json, key);
	jl_json_pack(json, "{device:s pin_memory:b}", "cpu", true);
}

static void deepspeed(struct jl_buf *out, const struct jl_case *c)
{
	const struct jl_plan *p = &c->plan;
	/* on one device only stage 3 offloads weights */
	const int stage = p->offload & JL_OFFLOAD_PARAMS ? 3 : p->offload && !p->zero ? 1 : p->zero;
	struct jl_json json;

	jl_json_init(&json, out, true);
	jl_json_pack(&json, "{train_batch_size:f train_micro_batch_size_per_gpu:f gradient_accumulation_steps:f",
		     c->global_batch, c->shard.micro_batch, p->n_micro);
	if (c->shard.act_dtype != JL_FP32)
		jl_json_pack(&json, c->shard.act_dtype == JL_FP16 ? "fp16:{enabled:b}" : "bf16:{enabled:b}", true);
	jl_json_pack(&json, "zero_optimization:{stage:i zero_hpz_partition_size?f", stage,
		     p->shard > 0 && stage == 3 ? p->shard : (double)NAN);
	if (p->offload & JL_OFFLOAD_OPTIMIZER)
		deepspeed_device(&json, "offload_optimizer");
	if (p->offload & JL_OFFLOAD_PARAMS)
		deepspeed_device(&json, "offload_param");
	jl_json_end_object(&json);
	if (p->recompute == JL_RECOMPUTE_FULL || p->offload & JL_OFFLOAD_ACTIVATIONS)
		jl_json_pack(&json, "activation_checkpointing:{partition_activations:b cpu_checkpointing:b}", false,
			     (p->offload & JL_OFFLOAD_ACTIVATIONS) != 0);
	jl_json_end_object(&json);
	jl_json_finish(&json);
}

static void torchtitan(struct jl_buf *out, const struct jl_case *c)
{
	static const char *const modes[JL_N_RECOMPUTE] = { "none", "selective", "full" };
	const struct jl_plan *p = &c->plan;
	const double cut = p->zero == 3 ? (p->shard > 0 ? p->shard / p->cp : p->dp) : 1;

	jl_buf_puts(out, tf32_of(c, "# with TORCH_ALLOW_TF32_CUBLAS_OVERRIDE=1 in the environment\n"));
	jl_buf_printf(out, "[training]\nlocal_batch_size = %.0f\nglobal_batch_size = %.0f\nseq_len = %.0f\n",
		      p->pp > 1 ? c->shard.micro_batch * p->n_micro : c->shard.micro_batch, c->global_batch,
		      c->shard.seq);
	jl_buf_printf(out, "mixed_precision_param = \"%s\"\n",
		      c->shard.act_dtype == JL_FP32   ? "float32"
		      : c->shard.act_dtype == JL_FP16 ? "float16"
						      : "bfloat16");
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
	if (c->framework == JL_FW_COMPILED || p->tp_async) /* overlapped tensor parallelism needs the compiler */
		jl_buf_puts(out, "\n[compile]\nenable = true\n");
	if (c->shard.dtype == JL_FP8)
		jl_buf_puts(out, "\n[model]\nconverters = [\"float8\"]\n");
}

static void trl_adapters(struct jl_buf *out, const struct jl_tune *tune, bool cut)
{
	static const char *const modules[] = { "q_proj",    "k_proj",  "v_proj",    "o_proj",
					       "gate_proj", "up_proj", "down_proj", "qkv_proj" };

	if (tune->kind == JL_TUNE_FULL)
		return;
	jl_buf_printf(out, " \\\n  --use_peft --lora_r %.0f%s --lora_target_modules", tune->rank,
		      tune->kind == JL_TUNE_DORA ? " --use_dora" : "");
	for (unsigned i = 0; tune->targets != JL_TARGETS_ALL && i < 8; i++)
		if (tune->targets >> i & 1)
			jl_buf_printf(out, " %s", modules[i]);
	jl_buf_puts(out, tune->targets == JL_TARGETS_ALL ? " all-linear" : "");
	if (tune->base == JL_BASE_INT8)
		jl_buf_puts(out, " \\\n  --load_in_8bit");
	if (tune->base == JL_BASE_NF4 || tune->base == JL_BASE_NF4_1)
		jl_buf_printf(out, " \\\n  --load_in_4bit --bnb_4bit_quant_type nf4%s%s",
			      tune->base == JL_BASE_NF4 ? " --use_bnb_nested_quant" : "",
			      cut ? " --bnb_4bit_quant_storage bfloat16"
				  : ""); /* FSDP shards floating-point tensors only */
}

static void trl(struct jl_buf *out, const struct jl_case *c)
{
	static const char *const shards[] = { "multi_gpu", "zero1", "zero2", "fsdp2" };
	const int optimizer = c->optimizer == JL_UNSET ? (int)JL_OPT_FOREACH : c->optimizer;

	jl_buf_printf(out, "trl %s --model_name_or_path MODEL --dataset_name DATA --max_length %.0f",
		      trl_commands[c->method], c->shard.seq);
	jl_buf_printf(out, " \\\n  --per_device_train_batch_size %.0f --gradient_accumulation_steps %.0f",
		      c->shard.micro_batch, c->plan.n_micro);
	jl_buf_printf(out, " \\\n  --%s true --gradient_checkpointing %s --optim %s",
		      c->shard.act_dtype == JL_FP16 ? "fp16" : "bf16",
		      c->plan.recompute == JL_RECOMPUTE_FULL ? "true" : "false", trl_optimizers[optimizer]);
	trl_adapters(out, &c->shard.tune, c->plan.zero == 3);
	if (c->n_gpus > 1)
		jl_buf_printf(out, " \\\n  --accelerate_config %s --num_processes %d", shards[c->plan.zero], c->n_gpus);
	jl_buf_puts(out, "\n");
}

void jl_plan_settings(struct jl_buf *out, enum jl_plan_target target, const struct jl_case *c)
{
	static void (*const writers[JL_N_PLAN_TARGET])(struct jl_buf *, const struct jl_case *) = {
		[JL_PLAN_MEGATRON] = megatron,
		[JL_PLAN_DEEPSPEED] = deepspeed,
		[JL_PLAN_TORCHTITAN] = torchtitan,
		[JL_PLAN_TRL] = trl,
	};

	writers[target](out, c);
}
