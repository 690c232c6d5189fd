/* Sets "train_llm" and "train_vtrain": published training runs as model inputs, predictions, and the fit of parameters/framework_params.h to them. */
#pragma once

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/cells.h"
#include "rows/phrases.h"
#include "rows/set.h"
#include "parameters/framework_params.h"
#include "predict/predict.h"

/* Columns with numbers and names; a missing column is an empty cell. Columns derived from free text are in struct jl_llm_text. */
#define JL_LLM_CELLS                                                                                                   \
	gpu, n_gpus, nodes, framework, model, catalog_model, params_b, layers, hidden, heads, kv_heads, ffn, seq_len,  \
		vocab, tp, pp, vp, cp, ep, micro_batch, global_batch, dropout, tied, mem_gib_per_gpu, primary_value,   \
		graphs, codebase
struct jl_llm_cells {
	jl_cell JL_LLM_CELLS;
};

/* Further columns of finetune and moe_and_large. */
#define JL_TUNE_CELLS                                                                                                  \
	method, rank, base_bits, oom, s_per_iter, samples_per_s, tokens_per_s_per_gpu, n_experts, topk, moe_ffn
struct jl_tune_cells {
	jl_cell JL_TUNE_CELLS;
};

/* Values of columns derived by data/phrases.csv (data/validation/README.md explains them). Unstated: words 0, numbers NAN. */
enum jl_text_format {
	JL_FORMAT_FP32 = 1,
	JL_FORMAT_TF32,
	JL_FORMAT_FP32_OR_TF32,
	JL_FORMAT_FP16,
	JL_FORMAT_BF16,
	JL_FORMAT_FP8,
	JL_FORMAT_FP4
};
enum { JL_TEXT_YES = 1, JL_TEXT_NO };
enum { JL_TEXT_SPAN = 1, JL_TEXT_LM };
enum { JL_TEXT_BRIDGE = 1, JL_TEXT_NVLINK, JL_TEXT_PCIE };
enum { JL_TEXT_NONE = 1, JL_TEXT_SELECTIVE, JL_TEXT_FULL };
enum { JL_TEXT_OF_HOST = 1, JL_TEXT_OF_RANK, JL_TEXT_OF_ALL, JL_TEXT_OF_DEVICE };
enum { JL_TEXT_MEMORY = 1, JL_TEXT_SECONDS, JL_TEXT_SAMPLES, JL_TEXT_TOKENS, JL_TEXT_FLOP, JL_TEXT_MFU, JL_TEXT_OOM };
enum { JL_TEXT_UNWRITTEN = 1, JL_TEXT_WRITTEN_LOSS };
enum { JL_TEXT_ADAMW4 = 100 }; /* in addition to enum jl_optimizer */
enum { JL_TEXT_GPTQ = 1, JL_TEXT_SINGLE };
enum { JL_TEXT_MIXED = 1, JL_TEXT_AMP };
enum { JL_TEXT_FSDP = 1, JL_TEXT_FSDP2 };
enum { JL_TEXT_SORTED = 1, JL_TEXT_PACKED, JL_TEXT_FIXED };
enum jl_text_tuning {
	JL_TEXT_LORA = 1,
	JL_TEXT_QLORA,
	JL_TEXT_DORA,
	JL_TEXT_ADAPTER,
	JL_TEXT_ALL_WEIGHTS,
	JL_TEXT_LAYERS,
	JL_TEXT_BARE, /* no adapters inside the layers */
	JL_TEXT_PROMPTS,
	JL_TEXT_SCALED_PROMPTS
};
enum jl_text_reject { JL_REJECT_ACCELERATOR = 1, JL_REJECT_SHAPE, JL_REJECT_UNSTATED, JL_REJECT_ESTIMATE };

struct jl_llm_text {
	int reject, primary_metric, profile, profile_of_kin, loss_fused, vendor_flash, format, rowwise, states_as,
		foreach, head, binned, fused_attention, tuning, no_optimizer, paged, grads_in_backward, link, card,
		onload, data_parallel, shard_node, keep_gathered, recompute_as, recomputes, tp_async, cut_sequence,
		memory_counted, batch_of, micro_of_stages, counts_unrun, counts_megatron, rack, experts_spread, naive,
		fsdp, seeing, alibi, lean_host, written, base_packing, tuned_ends, tune_dropout, frozen_narrow,
		autocast, optimizer_as, rest_narrow, flat_grads, keeps_live, whole_experts, mean_uncut, rows_packed,
		images_packed, lengths, iter_is_pass;
	unsigned offload, targets_as;
	double seq_default, seq_as, loss_chunks, node_Gbps, gpu_Gbps, zero, tp_as, pp_as, ep_as, cp_as, shard,
		chunks_least, micro_as, accumulate, batch_per_gpu, global_per_rank, global_per_gpu, tuned_layers,
		mean_seq_as;
	double nodes_as, global_as; /* not columns: computed from others */
};
enum jl_status jl_llm_text_read(struct jl_llm_text *ret_said, const struct jl_phrases *phrases,
				const struct jl_row_cells *row, struct jl_arena *arena, struct jl_err *err);

/* A GPU as resolved by the caller; `index` is any small id, equal for the same GPU. */
struct jl_llm_gpu {
	const char *id;       /* catalog id; NULL: not from the catalog */
	int index;            /* < 0: not measured, the family's values */
	struct jl_device dev; /* with single-operator parameters already fitted (set_gemm) */
	int p2p;              /* the stock driver supports peer-to-peer over PCIe */
};

enum jl_llm_metric { JL_LLM_TIME, JL_LLM_MEMORY };

/* Assumptions about a training run. */
enum jl_train_assumed {
	JL_ASSUMED_SHAPE = 1,
	JL_ASSUMED_BATCH = 2,
	JL_ASSUMED_PLAN = 4,
	JL_ASSUMED_NETWORK = 8,
	JL_ASSUMED_RECOMPUTE = 16,
	JL_ASSUMED_FRAMEWORK = 32
};

struct jl_llm_row {
	struct jl_llm_gpu gpu;
	struct jl_transformer model;
	struct jl_plan plan;
	struct jl_shard shard;
	enum jl_framework framework;
	int codebase; /* index in jl_codebases; < 0: unnamed */
	enum jl_llm_link intra, inter;
	struct jl_fabric fabric; /* with collective parameters already fitted (set_collectives) */
	int n_gpus, n_nodes, n_per_node;
	int portable_flash; /* PyTorch's own fused attention, from before it used the vendor's */
	int graphs;         /* CUDA graphs: no launches by the host */
	int rowwise;        /* fp8 with row-wise scales: slower kernels */
	double fp8_gain;    /* rate of narrower products / fp8; 0: 1 */
	double chunked_loss;
	double run_seq, mean_seq; /* as in struct jl_case; 0: equal to the longest */
	int ragged;               /* lengths vary from step to step */
	int lean_host;            /* launches cost the same as in training */
	enum jl_loss loss;
	enum jl_llm_scope scope;
	double global_batch;
	double meas_s;     /* seconds per step from the row's metric; NAN: none */
	double meas_mem_B; /* NAN: unstated */
	double least_B;    /* out of memory: it needed more than this; NAN: it ran */
	enum jl_llm_metric metric;
	unsigned assumed;
	const char *unscored; /* reason why nothing is scored; NULL: scored */
};

struct jl_llm_find {
	enum jl_status (*gpu)(void *ctx, const char *text, struct jl_llm_gpu *ret_gpu, struct jl_err *err);
	void *ctx;
	const double *link_x;   /* link parameters (jl_coll_read); NULL: the built-in catalog's */
	struct jl_arena *arena; /* for texts generated while reading */
};

/* GPU from the catalog with its set_gemm fit. Its index is -1: the fit numbers the GPUs. */
void jl_llm_gpu_of(struct jl_llm_gpu *ret_gpu, const struct jl_catalog *cat, const struct jl_gpu *gpu);
enum jl_status jl_llm_row_read(const struct jl_llm_cells *cells, const struct jl_llm_text *said,
			       const struct jl_llm_find *find, struct jl_llm_row *ret_row, struct jl_err *err);

/* Rows of finetune: method, lengths, measurements. */
enum jl_status jl_tune_row_read(struct jl_llm_cells *cells, const struct jl_tune_cells *more, struct jl_llm_text *said,
				const struct jl_llm_find *find, struct jl_llm_row *ret_row, struct jl_err *err);
/* Rows of moe_and_large: names, hosts and exchanges of newer runs, in the columns of train_llm. */
enum jl_status jl_large_row_read(struct jl_llm_cells *cells, const struct jl_tune_cells *more, struct jl_llm_text *said,
				 const struct jl_llm_find *find, struct jl_llm_row *ret_row, struct jl_err *err);

struct jl_llm_prediction {
	double step_s, mem_B;
	struct jl_step_cost step;
	struct jl_memory memory;
	struct jl_train train; /* as priced; its pointers refer to `x_*` below */
	struct jl_device dev;
	struct jl_fabric fabric;
	struct jl_profile profile;
};

/* prices: cache, see struct jl_train; NULL: none. */
void jl_llm_predict(const struct jl_llm_row *row, const double *x, struct jl_train_prices *prices,
		    struct jl_llm_prediction *ret_pred);

/* The row as a case for jl_predict, with the parameters `x`. */
void jl_llm_case(struct jl_case *ret_case, const struct jl_llm_row *row, const double *x, const struct jl_known *known);
void jl_llm_wires(const struct jl_llm_row *row, enum jl_wire *ret_intra, enum jl_wire *ret_inter);

/* Command line that asks for the row. */
void jl_llm_command(struct jl_buf *out, const struct jl_llm_row *row, bool tuned);

/* True if the row's prediction uses parameter i: globals, its profile, architecture, links and GPU. */
int jl_llm_uses(const struct jl_llm_row *row, size_t i);

struct jl_llm_set {
	size_t n_row, n_gpu;
	const struct jl_llm_row *rows;
	const char *const *group; /* per row; equal groups share one pointer; NULL: each row is its own group */
	double memory_weight;     /* weight of a memory residual / of a time residual */
};

/* Fits to the rows with use[i] != 0 (NULL: all). x: in: start; out: best; max_iter 0: the optimiser's default. */
enum jl_status jl_llm_fit(const struct jl_llm_set *set, const unsigned char *use, int max_iter, double *x,
			  double *ret_cost, struct jl_err *err);

/* The vector before any fit. */
void jl_llm_start(size_t n_gpu, double *ret_x);

/* Plan for a row whose source gives none. Private to calibrate. Before the batch is known: tensor parallel inside a host, then pipeline stages,
 * until the states fit. */
void jl_llm_default_plan(struct jl_llm_row *row);

/* Step memory of a row at a micro-batch, with unfitted values: sufficient for choosing a plan. */
double jl_llm_rough_memory_B(const struct jl_llm_row *row, double micro_batch);

/* Sets the fastest plan that fits and gives every rank a sample, by unfitted values; keeps the row's plan if there is none. */
void jl_llm_best_plan(struct jl_llm_row *row);

/* Shapes of published models by names in sources. Private to calibrate. A number in a cell; NAN: empty. */
double jl_llm_number(const char *cell);
/* "y" */
int jl_llm_yes(const char *cell);

/* Model of a row: stated dimensions first, then the name, then the parameter count. Sets JL_ASSUMED_SHAPE in *assumed if dimensions were unstated. */
enum jl_status jl_llm_shape(const struct jl_llm_cells *cells, int head, struct jl_transformer *ret_model,
			    unsigned *assumed, struct jl_err *err);
