/* The options that describe a training run, shared by the commands that weigh one; from them to a request. */
#ifndef JL_CLI_ASK_H
#define JL_CLI_ASK_H

#include "cli/command.h"
#include "predict/request.h"

#define JL_ASK_MAX 1000000000LL

extern const char *const jl_ask_precisions[],
	*const jl_ask_frameworks[], *const jl_ask_recomputes[], *const jl_ask_yes_no[],
									*const jl_ask_inputs[],
										*const jl_ask_states[],
											*const jl_ask_optimizers[],
												*const jl_ask_tunes[],
													*const jl_ask_bases[],
														*const jl_ask_methods[];

#define JL_ASK_COUNT(n, e)                                                                                             \
	{                                                                                                              \
		.name = n, .type = JL_OPT_COUNT, .min = 1, .max = JL_ASK_MAX, .arg = "N", .en = e                      \
	}

/* clang-format off */
#define JL_ASK_SHAPE_OPTIONS \
	JL_ASK_COUNT("layers", JL_N("layers of a model that is given by its shape")), \
	JL_ASK_COUNT("hidden", JL_N("its width")), \
	JL_ASK_COUNT("heads", JL_N("its attention heads")), \
	JL_ASK_COUNT("kv-heads", JL_N("its key/value heads; makes it a gated model like Llama")), \
	JL_ASK_COUNT("ffn", JL_N("width of its feed-forward part")), \
	JL_ASK_COUNT("vocab", JL_N("its vocabulary")), \
	JL_ASK_COUNT("seq", JL_N("tokens of a sample"))

#define JL_ASK_TUNE_OPTIONS \
	{ .name = "tune", .type = JL_OPT_CHOICE, .choices = jl_ask_tunes, .arg = "full|lora|qlora|dora|qdora|adapter|layers", \
	  .en = JL_N("fine-tuning: what of the model is trained") }, \
	JL_ASK_TUNE_DETAILS

#define JL_ASK_OPTIMIZER_OPTION \
	{ .name = "optimizer", .type = JL_OPT_CHOICE, .choices = jl_ask_optimizers, .arg = "NAME", \
	  .en = JL_N("foreach (PyTorch's AdamW), fused, adamw8bit, paged8bit, adafactor, lion, sgd, muon or galore") }

#define JL_ASK_TUNE_DETAILS \
	{ .name = "method", .type = JL_OPT_CHOICE, .choices = jl_ask_methods, .arg = "sft|dpo|orpo|grpo", \
	  .en = JL_N("its loss: of samples (default), of pairs with a reference model or without, of generated answers") }, \
	JL_ASK_COUNT("group", JL_N("grpo: answers to one prompt (default: 8)")), \
	JL_ASK_COUNT("generate", JL_N("grpo: tokens of an answer (default: half of --seq)")), \
	{ .name = "base", .type = JL_OPT_CHOICE, .choices = jl_ask_bases, .arg = "16bit|nf4|nf4-single|int8|gptq4|gptq8", \
	  .en = JL_N("how its frozen weights are kept") }, \
	JL_ASK_COUNT("rank", JL_N("of its adapters (default: 16)")), \
	{ .name = "targets", .type = JL_OPT_TEXT, .arg = "LIST", .en = JL_N("products with adapters: all, attention, ffn, or of q,k,v,o,gate,up,down") }, \
	JL_ASK_COUNT("train-layers", JL_N("--tune layers: so many of the last ones (default: 4)")), \
	JL_ASK_COUNT("mean-seq", JL_N("tokens of a sample on average, where --seq is the longest")), \
	{ .name = "packing", .type = JL_OPT_CHOICE, .choices = jl_ask_yes_no, .arg = "yes|no", \
	  .en = JL_N("samples laid end to end instead of padded to the longest of a pass") }

#define JL_ASK_RUN_OPTIONS \
	{ .name = "on", .type = JL_OPT_TEXT, .arg = "SYSTEM", .en = JL_N("the system, e.g. dgx-h100 or \"4x rtx-3090\"") }, \
	JL_ASK_COUNT("batch", JL_N("samples of one worker")), \
	JL_ASK_COUNT("micro-batch", JL_N("samples of one pass")), \
	JL_ASK_COUNT("global-batch", JL_N("samples of a step, all workers")), \
	JL_ASK_COUNT("accumulate", JL_N("passes of a step")), \
	{ .name = "precision", .type = JL_OPT_CHOICE, .choices = jl_ask_precisions, .arg = "fp32|tf32|fp16|bf16|fp8", \
	  .en = JL_N("format of the matrix products") }, \
	{ .name = "framework", .type = JL_OPT_CHOICE, .choices = jl_ask_frameworks, \
	  .arg = "eager|compiled|megatron|native|unsloth", \
	  .en = JL_N("what runs it") }, \
	{ .name = "recompute", .type = JL_OPT_CHOICE, .choices = jl_ask_recomputes, .arg = "none|selective|full", \
	  .en = JL_N("activations made again instead of kept") }, \
	{ .name = "flash", .type = JL_OPT_CHOICE, .choices = jl_ask_yes_no, \
	  .arg = "yes|no", .en = JL_N("flash attention") }, \
	{ .name = "states", .type = JL_OPT_CHOICE, .choices = jl_ask_states, .arg = "default|bf16", \
	  .en = JL_N("weights and optimizer states: as the framework keeps them, or all in bf16") }, \
	JL_ASK_OPTIMIZER_OPTION, \
	JL_ASK_TUNE_OPTIONS, \
	{ .name = "offload", .type = JL_OPT_TEXT, .arg = "LIST", .en = JL_N("to host memory: optimizer,params,activations") }, \
	{ .name = "parallel", .type = JL_OPT_TEXT, \
	  .arg = "LIST", .en = JL_N("how it is cut: dp=,tp=,sp=,pp=,vpp=,cp=,ep=,zero=") }

#define JL_ASK_HOST_OPTIONS \
	{ .name = "input", .type = JL_OPT_CHOICE, .choices = jl_ask_inputs, .arg = "images|images-gpu|tokens|synthetic", \
	  .en = JL_N("what samples are: pictures decoded by the CPU or GPU, prepared, or none") }, \
	JL_ASK_COUNT("cpu-threads", JL_N("threads of one host that load samples")), \
	{ .name = "storage", .type = JL_OPT_QUANTITY, .kind = JL_K_BYTE_RATE, .arg = "RATE", \
	  .en = JL_N("what one host reads from storage, e.g. \"2 GB/s\" (default: never the bound)") }, \
	{ .name = "sample-size", .type = JL_OPT_QUANTITY, .kind = JL_K_BYTES, .arg = "BYTES", \
	  .en = JL_N("bytes read for one sample, e.g. \"110 kB\"") }, \
	{ .name = "decode-time", .type = JL_OPT_QUANTITY, .kind = JL_K_TIME, .arg = "TIME", \
	  .en = JL_N("of one CPU thread for one sample, e.g. \"5 ms\"") }, \
	{ .name = "ram", .type = JL_OPT_QUANTITY, .kind = JL_K_BYTES, .arg = "BYTES", \
	  .en = JL_N("memory of one host, e.g. \"512 GiB\": what offloading may use") }, \
	{ .name = "host-power", .type = JL_OPT_QUANTITY, .kind = JL_K_POWER, .arg = "POWER", \
	  .en = JL_N("what one host draws beside its GPUs, e.g. \"300 W\"") }, \
	{ .name = "launch", .type = JL_OPT_QUANTITY, .kind = JL_K_TIME, .arg = "TIME", \
	  .en = JL_N("host time of one kernel launch of the framework, measured, e.g. \"30 us\"") }

#define JL_ASK_LENGTH_OPTIONS JL_ASK_LENGTH_WITH(JL_N("epochs of the run (default: 1)"))

#define JL_ASK_LENGTH_WITH(epochs_en) \
	{ .name = "samples", .type = JL_OPT_COUNT, .min = 1, .max = 1000000000000000LL, \
	  .arg = "N", .en = JL_N("samples of an epoch") }, \
	{ .name = "tokens", .type = JL_OPT_COUNT, .min = 1, .max = 9000000000000000LL, \
	  .arg = "N", .en = JL_N("tokens of an epoch") }, \
	{ .name = "steps-per-epoch", .type = JL_OPT_COUNT, .min = 1, .max = 1000000000000LL, \
	  .arg = "N", .en = JL_N("steps of an epoch") }, \
	{ .name = "epochs", .type = JL_OPT_COUNT, .min = 1, .max = JL_ASK_MAX, \
	  .arg = "N", .en = epochs_en }, \
	{ .name = "pue", .type = JL_OPT_QUANTITY, .kind = JL_K_NUMBER, \
	  .arg = "X", .en = JL_N("power of the building / of the machines (default: 1)") }
/* clang-format on */

/* The options that were given; the first operand, where there is one, is the model. */
enum jl_status jl_ask_request(struct jl_request *ret_req, struct jl_cli *cli, struct jl_err *err);

#endif
