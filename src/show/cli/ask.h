/* Options that describe a training run, shared by all commands that predict one, and their conversion to a request. */
#pragma once

#include "cli/command.h"
#include "cost/money.h"
#include "cost/tariff.h"
#include "predict/observed.h"
#include "predict/request.h"

#define JL_ASK_MAX 1000000000LL

/* clang-format off */
extern const char *const jl_ask_precisions[], *const jl_ask_frameworks[], *const jl_ask_recomputes[], *const jl_ask_yes_no[],
	*const jl_ask_inputs[], *const jl_ask_layouts[], *const jl_ask_states[], *const jl_ask_optimizers[], *const jl_ask_tunes[],
	*const jl_ask_bases[], *const jl_ask_methods[];

#define JL_ASK_COUNT(n, ...) JL_O_COUNT(n, "N", 1, JL_ASK_MAX, __VA_ARGS__)

#define JL_ASK_KWH_OPTION JL_O_TEXT("kwh", "PRICE", JL_N("electricity: \"0.12 USD/kWh\" or \"150 KRW/kWh\""))
#define JL_ASK_SHAPE_OPTIONS \
	JL_ASK_COUNT("layers", JL_N("layers of a model that is given by its shape"), JL_TO(jl_request, shape.layers)), \
	JL_ASK_COUNT("hidden", JL_N("its width"), JL_TO(jl_request, shape.hidden), .with = "layers"), \
	JL_ASK_COUNT("heads", JL_N("its attention heads"), JL_TO(jl_request, shape.heads), .with = "layers"), \
	JL_ASK_COUNT("kv-heads", JL_N("its key/value heads; makes it a gated model like Llama"), JL_TO(jl_request, shape.kv_heads), .with = "layers"), \
	JL_ASK_COUNT("ffn", JL_N("width of its feed-forward part"), JL_TO(jl_request, shape.ffn), .with = "layers"), \
	JL_ASK_COUNT("vocab", JL_N("its vocabulary"), JL_TO(jl_request, shape.vocab), .with = "layers"), \
	JL_ASK_COUNT("seq", JL_N("tokens of a sample"), JL_TO(jl_request, seq)), \
	JL_O_AMOUNT("gmacs", "X", JL_K_NUMBER, JL_N("network given by figures: multiply-adds of a sample, in 1e9"), JL_TO(jl_request, figures.gmac), .above = true), \
	JL_O_AMOUNT("macts", "X", JL_K_NUMBER, JL_N("its activations: output elements of products per sample, in 1e6"), JL_TO(jl_request, figures.mact), .above = true, .with = "gmacs"), \
	JL_O_AMOUNT("params-m", "X", JL_K_NUMBER, JL_N("its parameters, in millions"), JL_TO(jl_request, figures.params_m), .above = true, .with = "gmacs"), \
	JL_O_TEXT("operators", "WORD", JL_N("its operators: conv, gated, grouped, depthwise, attention, windowed, mlp, hybrid (default: conv)"), JL_TO(jl_request, figures.kind), .with = "gmacs")

#define JL_ASK_TUNE_OPTIONS \
	JL_O_CHOICE("tune", "full|lora|qlora|dora|qdora|adapter|layers", jl_ask_tunes, JL_N("fine-tuning: what of the model is trained")), \
	JL_ASK_TUNE_DETAILS

#define JL_ASK_OPTIMIZER_OPTION \
	JL_O_CHOICE("optimizer", "NAME", jl_ask_optimizers, JL_N("foreach (PyTorch's AdamW), fused, adamw8bit, paged8bit, adafactor, lion, sgd, muon or galore"), JL_TO(jl_request, optimizer))

#define JL_ASK_TUNE_DETAILS \
	JL_O_CHOICE("method", "sft|dpo|orpo|grpo", jl_ask_methods, JL_N("its loss: of samples (default), of pairs with a reference model or without, of generated answers"), JL_TO(jl_request, method)), \
	JL_ASK_COUNT("group", JL_N("grpo: answers to one prompt (default: 8)"), JL_TO(jl_request, group)), \
	JL_ASK_COUNT("generate", JL_N("grpo: tokens of an answer (default: half of --seq)"), JL_TO(jl_request, generated)), \
	JL_O_CHOICE("base", "16bit|nf4|nf4-single|int8|gptq4|gptq8", jl_ask_bases, JL_N("how its frozen weights are kept"), .with = "tune"), \
	JL_ASK_COUNT("rank", JL_N("of its adapters (default: 16)"), JL_TO(jl_request, rank), .with = "tune"), \
	JL_O_TEXT("targets", "LIST", JL_N("products with adapters: all, attention, ffn, or of q,k,v,o,gate,up,down"), .with = "tune"), \
	JL_ASK_COUNT("train-layers", JL_N("--tune layers: how many of the last ones (default: 4)"), JL_TO(jl_request, tuned_layers), .with = "tune"), \
	JL_ASK_COUNT("mean-seq", JL_N("tokens of a sample on average, where --seq is the longest"), JL_TO(jl_request, mean_seq)), \
	JL_O_CHOICE("packing", "yes|no", jl_ask_yes_no, JL_N("samples laid end to end instead of padded to the longest of a pass"), JL_TO(jl_request, packed), .with = "mean-seq")

#define JL_ASK_RUN_OPTIONS \
	JL_O_TEXT("on", "SYSTEM", JL_N("the system, e.g. dgx-h100 or \"4x rtx-3090\""), JL_TO(jl_request, system)), \
	JL_ASK_COUNT("batch", JL_N("samples of one worker"), JL_TO(jl_request, batch)), \
	JL_ASK_COUNT("micro-batch", JL_N("samples of one pass"), JL_TO(jl_request, micro_batch)), \
	JL_ASK_COUNT("global-batch", JL_N("samples of a step, all workers"), JL_TO(jl_request, global_batch)), \
	JL_ASK_COUNT("accumulate", JL_N("passes of a step"), JL_TO(jl_request, accumulate)), \
	JL_O_CHOICE("precision", "fp32|tf32|fp16|bf16|fp8", jl_ask_precisions, JL_N("format of the matrix products"), JL_TO(jl_request, dtype)), \
	JL_O_CHOICE("framework", "eager|transformers|compiled|megatron|native|unsloth|CODEBASE", jl_ask_frameworks, JL_N("framework, or a codebase: torchtitan, nemo, axolotl, ..."), JL_TO(jl_request, framework)), \
	JL_O_CHOICE("recompute", "none|selective|full", jl_ask_recomputes, JL_N("recompute activations instead of keeping them"), JL_TO(jl_request, recompute)), \
	JL_O_CHOICE("flash", "yes|no", jl_ask_yes_no, JL_N("flash attention"), JL_TO(jl_request, flash)), \
	JL_O_CHOICE("states", "default|bf16", jl_ask_states, JL_N("weights and optimizer states: as the framework keeps them, or all in bf16"), JL_TO(jl_request, states)), \
	JL_ASK_OPTIMIZER_OPTION, \
	JL_ASK_TUNE_OPTIONS, \
	JL_O_TEXT("offload", "LIST", JL_N("to host memory: optimizer,params,activations; optimizer,nvme: to its drives")), \
	JL_O_AMOUNT("expert-load", "X", JL_K_NUMBER, JL_N("mixtures: tokens of the fullest experts, of the mean (default: 1; a capacity factor bounds it)"), JL_TO(jl_request, expert_load)), \
	JL_O_TEXT("parallel", "LIST", JL_N("parallel layout: dp=,tp=,sp=,overlap=,pp=,vpp=,cp=,ep=,zero="))

#define JL_ASK_INPUT_OPTIONS \
	JL_O_CHOICE("input", "images|images-gpu|tokens|synthetic", jl_ask_inputs, JL_N("input: images decoded by the CPU or GPU, prepared data, or none"), JL_TO(jl_request, input)), \
	JL_O_CHOICE("layout", "first|last", jl_ask_layouts, JL_N("images in memory: channels first (PyTorch's default) or last"), JL_TO(jl_request, layout)), \
	JL_ASK_COUNT("cpu-threads", JL_N("data loader threads of one host"), JL_TO(jl_request, cpu_threads)), \
	JL_O_AMOUNT("storage", "RATE", JL_K_BYTE_RATE, JL_N("what one host reads from storage, e.g. \"2 GB/s\" (default: never the bound)"), JL_TO(jl_request, storage_Bps), JL_WITHIN(1e3, 1e15, JL_N("must be 1 kB/s to 1 PB/s, e.g. 2 GB/s"))), \
	JL_O_AMOUNT("sample-size", "BYTES", JL_K_BYTES, JL_N("bytes read for one sample, e.g. \"110 kB\""), JL_TO(jl_request, sample_B), JL_WITHIN(1, 1e15, JL_N("must be 1 B to 1 PB, e.g. 110 kB"))), \
	JL_O_AMOUNT("decode-time", "TIME", JL_K_TIME, JL_N("of one CPU thread for one sample, e.g. \"5 ms\""), JL_TO(jl_request, sample_s), JL_WITHIN(1e-9, 86400, JL_N("must be 1 ns to a day, e.g. 5 ms")))

#define JL_ASK_HOST_OPTIONS \
	JL_O_AMOUNT("ram", "BYTES", JL_K_BYTES, JL_N("memory of one host, e.g. \"512 GiB\": what offloading may use"), JL_TO(jl_request, ram_B), .above = true), \
	JL_O_AMOUNT("host-power", "POWER", JL_K_POWER, JL_N("power of one host without its GPUs, e.g. \"300 W\""), JL_TO(jl_request, host_W), .above = true), \
	JL_O_AMOUNT("launch", "TIME", JL_K_TIME, JL_N("host time of one kernel launch of the framework, measured, e.g. \"30 us\""), JL_TO(jl_request, launch_s), JL_WITHIN(1e-7, 1, JL_N("must be 0.1 us to 1 s, e.g. 30 us"))), \
	JL_O_AMOUNT("host-step", "TIME", JL_K_TIME, JL_N("of a captured program: a small step on this host, as 'python -m jeoul host' times it, e.g. \"140 us\""), JL_TO(jl_request, host_step_s), JL_WITHIN(1e-6, 1, JL_N("must be 1 us to 1 s, e.g. 140 us")))

#define JL_ASK_LENGTH_OPTIONS JL_ASK_LENGTH_WITH(JL_N("epochs of the run (default: 1)"))

#define JL_ASK_LENGTH_WITH(epochs_en) \
	JL_O_COUNT("samples", "N", 1, 1000000000000000LL, JL_N("samples of an epoch"), JL_TO(jl_request, samples)), \
	JL_O_COUNT("tokens", "N", 1, 9000000000000000LL, JL_N("tokens of an epoch"), JL_TO(jl_request, tokens)), \
	JL_O_COUNT("steps-per-epoch", "N", 1, 1000000000000LL, JL_N("steps of an epoch"), JL_TO(jl_request, steps_per_epoch)), \
	JL_O_COUNT("epochs", "N", 1, JL_ASK_MAX, epochs_en, JL_TO(jl_request, epochs)), \
	JL_O_AMOUNT("pue", "X", JL_K_NUMBER, JL_N("power of the building / of the machines (default: 1)"), JL_TO(jl_request, pue), JL_WITHIN(1, 5, JL_N("must be 1 (no cooling) to 5, e.g. 1.2")))
/* clang-format on */

/* Converts the given options; the first operand, if any, is the model. */
enum jl_status jl_ask_request(struct jl_request *ret_req, struct jl_cli *cli, struct jl_err *err);

/* An observed run with known step time only; shared by commands that transfer one to other hardware. */
extern const char *const jl_ask_kinds[];

/* clang-format off */
#define JL_ASK_OBSERVED_OPTIONS \
	JL_O_AMOUNT("observed", "TIME", JL_K_TIME, JL_N("time of one step on the baseline, e.g. \"1.06 s\""), JL_TO(jl_observed, step_s), .above = true), \
	JL_ASK_COUNT("observed-batch", JL_N("samples of that step, all devices together"), JL_TO(jl_observed, batch), .with = "observed"), \
	JL_O_COUNT("batches", "N", 1, 1000000000000LL, JL_N("steps of an epoch at that batch"), .with = "observed"), \
	JL_O_CHOICE("kind", "cnn|transformer|unknown", jl_ask_kinds, JL_N("what was observed (default: unknown, the widest interval)"), JL_TO(jl_observed, kind), .with = "observed"), \
	JL_O_COUNT("params", "N", 1, 1000000000000000LL, JL_N("parameters of the observed model"), JL_TO(jl_observed, params), .with = "observed"), \
	JL_O_AMOUNT("memory-per-sample", "BYTES", JL_K_BYTES, JL_N("device memory that one more sample takes, e.g. \"0.9 GiB\""), JL_TO(jl_observed, sample_B), .above = true, .with = "observed"), \
	JL_O_AMOUNT("memory-fixed", "BYTES", JL_K_BYTES, JL_N("device memory that does not depend on the batch"), JL_TO(jl_observed, fixed_B), .above = true, .with = "observed"), \
	JL_ASK_COUNT("batch-limit", JL_N("largest batch of one baseline device (default: the observed one)"), JL_TO(jl_observed, batch_limit), .with = "observed"), \
	JL_O_AMOUNT("watts", "POWER", JL_K_POWER, JL_N("what the whole baseline draws while it runs"), JL_TO(jl_observed, watts_W), .above = true, .with = "observed")
/* clang-format on */

/* Reads --observed and related options. */
enum jl_status jl_ask_observed(struct jl_observed *ret_run, const struct jl_cli *cli, struct jl_err *err);

/* The same, and also builds and checks the machine of --baseline. */
enum jl_status jl_ask_observed_on(struct jl_observed *ret_run, struct jl_machine *ret_base, struct jl_cli *cli,
				  struct jl_err *err);

/* Exchange rate for all conversions to dollars: --fx if given, otherwise the catalog's. */
double jl_ask_krw_per_usd(const struct jl_cli *cli);
const char *jl_ask_fx_date(const struct jl_cli *cli); /* date of that rate, or the option's name */
double jl_ask_usd(struct jl_money money, const struct jl_cli *cli);
/* Read --budget and --kwh if given. */
enum jl_status jl_ask_budget(double *io_usd, bool *io_won, const struct jl_cli *cli, struct jl_err *err);
enum jl_status jl_ask_kwh(double *io_usd_per_kWh, const struct jl_cli *cli, struct jl_err *err);
