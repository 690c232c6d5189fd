/* Rows of train_llm and train_vtrain: free text -> plan, shape, links and the measured step. */
#include "rows/set_llm.h"

#include <math.h>

#include "program/tune.h"

#define has           jl_llm_has
#define BERT_BIN_FRAC 0.57
/* NVIDIA's SQuAD script counts batch * max_steps samples, run or not; the benchmark that uses it asks for 100 steps at
 * least and two passes over 88,641 samples, so that larger batches run out of data and seem faster than they are. */
#define SQUAD_SAMPLES 177282.0
#define SQUAD_STEPS   100.0

/* Spellings: the first part that the cell contains decides. */
struct spelling {
	const char *part;
	int value;
};

static int lookup(const struct spelling *table, size_t n, const char *cell, int otherwise)
{
	for (size_t i = 0; i < n; i++)
		if (has(cell, table[i].part))
			return table[i].value;
	return otherwise;
}

/* NVIDIA's BERT pre-training is written with fused kernels throughout, unlike its fine-tuning scripts. */
static const struct spelling framework_table[] = {
	{ "LAMB", JL_FW_NATIVE },         { "NGC PyTorch", JL_FW_NATIVE }, { "compile", JL_FW_COMPILED },
	{ "XLA", JL_FW_COMPILED },        { "MaxText", JL_FW_COMPILED },   { "OneFlow", JL_FW_NATIVE },
	{ "Megatron", JL_FW_MEGATRON },   { "NeMo", JL_FW_MEGATRON },      { "InternEvo", JL_FW_MEGATRON },
	{ "torchtitan", JL_FW_COMPILED }, { "torchtune", JL_FW_EAGER },    { "Composer", JL_FW_EAGER },
	{ "Lightning", JL_FW_EAGER },     { "PyTorch", JL_FW_EAGER },      { "llm.c", JL_FW_NATIVE },
	{ "TensorFlow", JL_FW_EAGER }, /* without XLA: one kernel after the other as well */
};

/* Frameworks whose profile was fitted on others of their kind only. */
static const char *const no_runs[] = { "OneFlow", "TensorFlow", "Composer" };

enum precision { P_FP32, P_TF32, P_FP16, P_BF16, P_FP8, P_FP32_OR_TF32 };
static const struct spelling precision_table[] = {
	{ "TF32 off", P_FP32 },
	{ "TF32 on Ampere+", P_FP32_OR_TF32 },
	{ "fp32 (TF32)", P_FP32_OR_TF32 },
	{ "tf32", P_TF32 },
	{ "fp32", P_FP32 },
	{ "fp8", P_FP8 },
	{ "nvfp4", P_FP8 }, /* faster by fp8_gain */
	{ "bf16", P_BF16 },
	{ "fp16", P_FP16 },
	{ "half", P_FP16 },
};

static const struct spelling recompute_table[] = {
	{ "selective", JL_RECOMPUTE_SELECTIVE },
	{ "full", JL_RECOMPUTE_FULL },
	{ "none", JL_RECOMPUTE_NONE },
};

static const struct spelling zero_table[] = {
	{ "zero1", 1 },  { "zero-1", 1 }, { "zero2", 2 }, { "zero-2", 2 },          { "zero3", 3 }, { "zero-3", 3 },
	{ "zero-0", 0 }, { "fsdp", 3 },   { "hsdp", 3 },  { "distributed opt", 1 }, { "ddp", 0 },   { "none", 0 },
};

struct network {
	const char *part;
	double node_Gbps; /* all NICs of a host */
	double gpu_Gbps;  /* or per device */
};

static const struct network networks[] = {
	{ "4x100 Gbps/node", 400, 0 }, { "1600 Gbps/node", 1600, 0 }, { "800 Gbps/node", 800, 0 },
	{ "400 Gbps/node", 400, 0 },   { "400 Gbps/GPU", 0, 400 },    { "200 Gbps x4 per node", 800, 0 },
	{ "EDR 100", 100, 0 },         { "Jean Zay", 400, 0 }, /* four 100 Gb/s Omni-Path adapters a node */
};

static double count_or(const char *cell, double otherwise)
{
	const double x = jl_llm_number(cell);

	return x >= 1.0 ? x : otherwise;
}

static void read_framework(const struct jl_llm_cells *c, struct jl_llm_row *row)
{
	int fw = lookup(framework_table, JL_LEN(framework_table), c->framework, -1);

	if (fw < 0) {
		fw = JL_FW_GENERAL;
		row->assumed |= JL_ASSUMED_FRAMEWORK;
	}
	if ((has(c->framework, "DeepLearningExamples") && fw == JL_FW_EAGER) || has(c->framework, "apex"))
		fw = JL_FW_APEX;
	if (fw == JL_FW_NATIVE && has(c->task, "squad"))
		fw = JL_FW_APEX;
	if (has(c->framework, "torchtitan") && !has(c->remark, "compile") && !has(c->remark, "TP") &&
	    !has(c->precision, "fp8"))
		fw = JL_FW_EAGER; /* its tables say where the compiler was on; fp8 and async TP need it */
	if (has(c->framework, "torchtune") && has(c->remark, "cumulative") && !has(c->remark, "Packed"))
		fw = JL_FW_COMPILED; /* each line of that table adds to the one before; the second adds the compiler */
	for (size_t i = 0; i < JL_LEN(no_runs); i++)
		if (has(c->framework, no_runs[i]))
			row->assumed |= JL_ASSUMED_FRAMEWORK;
	row->framework = (enum jl_framework)fw;
	row->codebase = c->codebase && *c->codebase ? jl_codebase_by_id(c->codebase) : jl_codebase_in(c->framework);
	row->graphs = has(c->graphs, "y");
	row->portable_flash = fw != JL_FW_MEGATRON && fw != JL_FW_NATIVE && !has(c->framework, "PyTorch 2.11");
	row->loss = jl_loss_of(row->framework);
	if (fw == JL_FW_NATIVE && !has(c->framework, "llm.c")) /* scripts of fused modules: the loss is PyTorch's */
		row->loss = JL_LOSS_FUSED;
	/* These compile layer by layer and leave the loss to fused kernels of its own. */
	if (row->loss == JL_LOSS_COMPILED && (has(c->framework, "torchtitan") || has(c->framework, "torchtune")))
		row->loss = JL_LOSS_FUSED;
}

/* Of what is listed for products in 4 bits over those in 8: their scales are finer, and what is not worth it stays in 8. */
#define FP4_GAIN_FRAC 0.8

static void read_precision(const struct jl_llm_cells *c, struct jl_llm_row *row)
{
	const struct jl_device *dev = &row->gpu.dev;
	int p = lookup(precision_table, JL_LEN(precision_table), c->precision, P_BF16);
	struct jl_shard *s = &row->shard;

	if (p == P_FP32_OR_TF32)
		p = dev->priors->no_tf32 || isnan(dev->peak_flopps[JL_TF32]) ? P_FP32 : P_TF32;
	static const enum jl_dtype dtype_of[] = { [P_FP32] = JL_FP32, [P_TF32] = JL_TF32, [P_FP16] = JL_FP16,
						  [P_BF16] = JL_BF16, [P_FP8] = JL_FP8,   [P_FP32_OR_TF32] = JL_TF32 };
	s->dtype = dtype_of[p];
	s->act_dtype = p == P_FP32 || p == P_TF32 ? JL_FP32 : p == P_FP16 ? JL_FP16 : JL_BF16;
	row->rowwise = has(c->precision, "rowwise");
	row->fp8_gain = has(c->precision, "nvfp4")
				? fmax(FP4_GAIN_FRAC * dev->peak_flopps[JL_FP4] / dev->peak_flopps[JL_FP8], 1.0)
				: 0.0;
	if (dev->priors->no_tensor)
		s->dtype = JL_FP32;
	if (isnan(dev->peak_flopps[s->dtype])) /* stored short, computed in fp32 */
		s->dtype = !isnan(dev->peak_flopps[JL_FP16]) ? JL_FP16 : JL_FP32;
	if (isnan(dev->peak_flopps[s->act_dtype]) && !isnan(dev->peak_flopps[JL_FP16]))
		s->act_dtype = JL_FP16;
}

static void read_states(const struct jl_llm_cells *c, struct jl_llm_row *row)
{
	struct jl_plan *plan = &row->plan;
	enum jl_states states = JL_STATES_MIXED;

	if (row->shard.act_dtype == JL_FP32)
		states = JL_STATES_FP32;
	else if (row->framework == JL_FW_MEGATRON && !has(c->framework, "DeepSpeed"))
		states = JL_STATES_MEGATRON;
	else if (has(c->framework, "torchtune"))
		states = has(c->remark, "8bit") || has(c->remark, "8-bit") ? JL_STATES_BF16_8BIT : JL_STATES_BF16;
	if (has(c->states, "autocast"))
		states = JL_STATES_FP32;
	else if (has(c->states, "bf16"))
		states = JL_STATES_BF16;
	jl_plan_set_states(plan, states);
	if (has(c->optimizer, "foreach") || has(c->framework, "(HF)") || has(c->framework, "Lightning"))
		jl_plan_set_foreach(plan);
	if (plan->zero == 3 && states == JL_STATES_MIXED) { /* gathered in 16 bits, kept and reduced in fp32 */
		plan->grad_B = 4.0;
		plan->optimizer_B = 10.0;
	}
	/* NVIDIA's question answering script has a fused optimizer only with mixed precision. */
	if (has(c->task, "squad") && row->shard.act_dtype == JL_FP32)
		jl_plan_set_unfused(plan);
	if (row->framework == JL_FW_APEX)
		jl_plan_set_clipped(plan);
	plan->trained_frac = 1.0;
	if (has(c->task, "lora")) {
		row->shard.tune = (struct jl_tune){ .kind = JL_TUNE_LORA, .rank = 16.0, .targets = JL_TARGETS_ALL };
		if (has(c->task, "qlora") || has(c->remark, "qlora"))
			row->shard.tune.base = JL_BASE_NF4;
		jl_tune_plan(plan, &row->model, &row->shard.tune, 2.0, 2.0);
	}
	plan->no_optimizer = has(c->task, "no optimizer");
	row->chunked_loss = has(c->framework, "torchtune") && row->framework == JL_FW_COMPILED &&
					    !has(c->remark, "+Compile")
				    ? 8.0
				    : 0.0;
	if (has(c->framework, "torchtune") && !has(c->remark, "cumulative"))
		row->chunked_loss = 8.0; /* its default loss */
	if (has(c->remark, "CPU offload") && has(c->task, "full") && has(c->model, "70B"))
		plan->offload |= JL_OFFLOAD_OPTIMIZER | JL_OFFLOAD_PARAMS;
	if (has(c->remark, "paged opt")) { /* 8-bit states that move to the host when the device is full */
		plan->grad_B = 0.1;
		plan->optimizer_B = jl_transformer_params(&row->model).total * 4.5 > row->gpu.dev.mem_B ? 0.01 : 2.0;
	}
	if (has(c->remark, "act offload") || has(c->remark, "8bit AdamW (cum"))
		plan->offload |= JL_OFFLOAD_ACTIVATIONS;
	if (has(c->remark, "optimizer in bwd") || has(c->remark, "act offload") || has(c->remark, "8bit AdamW (cum"))
		plan->grad_B = 0.25; /* a gradient dies as soon as it is applied; the embedding's is the largest */
}

/* Which wires of set_collectives the links of this set are. */
static const enum jl_wire wire_of[JL_N_LLM_LINK] = {
	[JL_LLM_PCIE_HOST] = JL_WIRE_PCIE_HOST, [JL_LLM_PCIE_P2P] = JL_WIRE_PCIE_P2P,
	[JL_LLM_BRIDGE] = JL_WIRE_BRIDGE,       [JL_LLM_NVLINK_MESH] = JL_WIRE_NVLINK2,
	[JL_LLM_NVLINK3] = JL_WIRE_NVLINK3,     [JL_LLM_NVLINK4] = JL_WIRE_NVLINK4,
	[JL_LLM_NVLINK5] = JL_WIRE_NVLINK5,     [JL_LLM_RDMA] = JL_WIRE_ROCE,
	[JL_LLM_ONLOAD] = JL_WIRE_ROCE,         [JL_LLM_ETHERNET] = JL_WIRE_ETHERNET,
};

void jl_llm_wires(const struct jl_llm_row *row, enum jl_wire *ret_intra, enum jl_wire *ret_inter)
{
	*ret_intra = row->n_per_node > 1 ? wire_of[row->intra] : JL_WIRE_NONE;
	*ret_inter = row->n_nodes > 1 ? wire_of[row->inter] : JL_WIRE_NONE;
}

static enum jl_llm_link intra_link(const struct jl_llm_cells *c, const struct jl_llm_row *row, double nvlink_Bps)
{
	/* Cards have bridges only where the source says so; boards with NVLink on them always use it. */
	const int on_board = nvlink_Bps >= 140e9 && !has(c->gpu, "pcie");

	if (has(c->intra_link, "bridge") ||
	    (has(c->intra_link, "nvlink") && !on_board && !has(c->intra_link, "see gpu")))
		return nvlink_Bps > 0.0 ? JL_LLM_BRIDGE : row->gpu.p2p ? JL_LLM_PCIE_P2P : JL_LLM_PCIE_HOST;
	if (on_board && !has(c->intra_link, "pcie (not"))
		return nvlink_Bps < 200e9   ? JL_LLM_NVLINK_MESH
		       : nvlink_Bps < 400e9 ? JL_LLM_NVLINK3
		       : nvlink_Bps < 700e9 ? JL_LLM_NVLINK4
					    : JL_LLM_NVLINK5;
	/* Workstation boards of the PCIe 3 years send what goes between slots through the host. */
	if (row->gpu.dev.priors->slots_via_host)
		return JL_LLM_PCIE_HOST;
	return row->gpu.p2p ? JL_LLM_PCIE_P2P : JL_LLM_PCIE_HOST;
}

/* Bytes a second of one host; the default is what the generation's reference system ships with, per device. */
static double network_Bps(const struct jl_llm_cells *c, struct jl_llm_row *row)
{
	const double gpu_Gbps = row->gpu.dev.priors->net_Gbps;

	for (size_t i = 0; i < JL_LEN(networks); i++)
		if (has(c->inter_link, networks[i].part))
			return (networks[i].node_Gbps + networks[i].gpu_Gbps * row->n_per_node) * 1e9 / 8.0;
	if (row->n_nodes > 1)
		row->assumed |= JL_ASSUMED_NETWORK;
	return (gpu_Gbps > 0.0 ? gpu_Gbps : 25.0) * row->n_per_node * 1e9 / 8.0;
}

static void read_links(const struct jl_llm_cells *c, const double *link_x, struct jl_llm_row *row)
{
	double x[JL_COLL_MAX_PARAMS];
	const struct jl_device *dev = &row->gpu.dev;
	const double pcie_Bps = isnan(dev->host_Bps) ? 16e9 : dev->host_Bps;
	const double nvlink_Bps = isnan(dev->link_Bps) ? 0.0 : dev->link_Bps;
	struct jl_fabric *f = &row->fabric;

	row->intra = intra_link(c, row, nvlink_Bps);
	row->inter = has(c->inter_link, "Jean Zay") ? JL_LLM_ONLOAD : JL_LLM_RDMA;
	*f = (struct jl_fabric){
		.intra_kind = row->n_per_node > 1 ? jl_wires[wire_of[row->intra]].intra : JL_INTRA_NONE,
		.n_per_node = row->n_per_node,
		.n_nodes = row->n_nodes,
		.intra = { .rate_Bps = row->intra >= JL_LLM_NVLINK_MESH ? nvlink_Bps : pcie_Bps,
			   .in_switch = row->intra == JL_LLM_NVLINK4 || row->intra == JL_LLM_NVLINK5 },
		.pair = { .rate_Bps = fmax(nvlink_Bps, pcie_Bps) },
		.inter = { .rate_Bps = network_Bps(c, row) },
	};
	if (!link_x)
		jl_coll_read(jl_catalog_embedded(), x);
	jl_coll_fill(link_x ? link_x : x, wire_of[row->intra], wire_of[row->inter], 0, f);
}

/* One device, or a way of data parallelism that is named: nothing else is cut unless the source says so. */
static int is_whole(const struct jl_llm_cells *c, const struct jl_llm_row *row)
{
	static const char *const ways[] = { "fsdp", "hsdp", "ddp", "zero2", "zero-2", "zero3", "zero-3" };

	if (row->n_gpus == 1)
		return 1;
	for (size_t i = 0; i < JL_LEN(ways); i++)
		if (has(c->zero_or_fsdp, ways[i]))
			return 1;
	return 0;
}

static void read_plan(const struct jl_llm_cells *c, struct jl_llm_row *row)
{
	struct jl_plan *plan = &row->plan;
	int zero = lookup(zero_table, JL_LEN(zero_table), c->zero_or_fsdp, -1);

	plan->tp = count_or(c->tp, 1.0);
	plan->pp = count_or(c->pp, 1.0);
	plan->cp = count_or(c->cp, 1.0);
	plan->ep = count_or(c->ep, 1.0);
	if (isnan(jl_llm_number(c->tp)) && isnan(jl_llm_number(c->pp)) && !is_whole(c, row))
		jl_llm_default_plan(row);
	if (has(c->zero_or_fsdp, "tp2+pp4")) {
		plan->tp = 2.0;
		plan->pp = 4.0;
	}
	plan->dp = fmax(1.0, floor(row->n_gpus / (plan->tp * plan->pp * plan->cp)));
	plan->n_chunks = count_or(c->vp, 1.0);
	if (has(c->remark, "Interleaved"))
		plan->n_chunks = fmax(plan->n_chunks, 2.0);
	if (zero < 0) /* NeMo and its kin cut optimizer states by default */
		zero = has(c->framework, "NeMo") || isnan(jl_llm_number(c->tp)) ? 1 : 0;
	plan->zero = zero;
	if (has(c->zero_or_fsdp, "hsdp"))
		plan->shard = row->n_per_node;
	plan->keep_gathered = has(c->zero_or_fsdp, "SHARD_GRAD_OP");
	const double cut = jl_llm_number_after(c->zero_or_fsdp, "(zero1=", 1);

	if (cut >= 1.0 && !has(c->zero_or_fsdp, "=-1"))
		plan->shard = cut;
	plan->recompute = (enum jl_recompute)lookup(recompute_table, JL_LEN(recompute_table), c->recompute, -1);
	if ((int)plan->recompute < 0) {
		plan->recompute = has(c->framework, "torchtune") && !jl_tune_frozen(&row->shard.tune)
					  ? JL_RECOMPUTE_FULL
					  : JL_RECOMPUTE_NONE;
		row->assumed |= JL_ASSUMED_RECOMPUTE;
	}
	/* NeMo's recipes exchange slices of tensors behind the products (tp_comm_overlap); Megatron-LM does where it is told to */
	plan->tp_async = has(c->remark, "asyncTP") || has(c->remark, "async TP") ||
			 (plan->tp > 1.0 && has(c->framework, "NeMo"));
	/* Today's Megatron, NeMo and torchtitan cut the sequence wherever they cut tensors. */
	plan->sp = has(c->recompute, "seqpar") || (plan->tp > 1.0 && row->shard.flash &&
						   !has(c->framework, "InternEvo") && !has(c->framework, "DeepSpeed"));
	plan->hold_step = plan->zero == 3 && plan->pp > 1.0;
	row->scope = has(c->framework, "DeepSpeed") ? JL_LLM_DEVICE
		     : has(c->framework, "Megatron-LM") || has(c->framework, "torchtune") || has(c->remark, "allocated")
			     ? JL_LLM_ALLOCATED
			     : JL_LLM_RESERVED;
}

/* A batch that the source does not give: the largest power of two that fits. */
static double default_micro_batch(const struct jl_llm_row *row, double most)
{
	double mb = 1.0;

	while (mb * 2.0 <= most && jl_llm_rough_memory_B(row, mb * 2.0) < 0.9 * row->gpu.dev.mem_B)
		mb *= 2.0;
	return mb;
}

static void read_batch(const struct jl_llm_cells *c, struct jl_llm_row *row)
{
	struct jl_plan *plan = &row->plan;
	double mb = jl_llm_number(c->micro_batch), gb = jl_llm_number(c->global_batch), accumulate = NAN;

	/* "OneFlow bsz=160": tables whose columns had batches of their own */
	const double named = jl_llm_number_after(c->framework, "bsz=", 0);

	if (named >= 1.0)
		mb = named;
	/* The batch column of this benchmark is the whole host's: it grows with the GPUs at the same memory. */
	if (has(c->framework, "DeepLearningExamples") && has(c->task, "squad") && isnan(gb) && !isnan(mb))
		mb = fmax(1.0, floor(mb / row->n_gpus));
	if (has(c->remark, "accum")) /* "accum 64 and 32": without and with mixed precision */
		accumulate = jl_llm_number_after(c->remark, "accum s", has(c->precision, "amp"));
	if (has(c->remark, "accum") && isnan(accumulate))
		accumulate = jl_llm_number_after(c->remark, "accum ",
						 has(c->precision, "amp") && has(c->remark, " and "));
	const double per_gpu = jl_llm_number_after(c->remark, "accumulated batch/GPU", 0);

	if (isnan(mb) && !isnan(per_gpu) && accumulate >= 1.0)
		mb = per_gpu / accumulate;
	const double local = isnan(gb) ? NAN : fmax(1.0, gb / plan->dp);

	if (isnan(mb)) {
		row->assumed |= JL_ASSUMED_BATCH;
		if (has(c->framework, "torchtitan") && plan->pp > 1.0)
			mb = fmax(1.0, local / plan->pp); /* as many micro-batches as stages */
		else if (has(c->framework, "ColossalAI"))
			mb = 1.0, gb = 128.0 * plan->dp;
		else if (row->framework == JL_FW_MEGATRON)
			mb = 1.0;
		else if (plan->pp > 1.0)
			mb = local;
		else
			mb = default_micro_batch(row, isnan(local) ? 4096.0 : local);
	}
	mb = fmax(mb, 1.0);
	if (isnan(gb))
		gb = mb * plan->dp * (accumulate >= 1.0 ? accumulate : 1.0);
	if (gb < plan->dp &&
	    !(row->assumed & JL_ASSUMED_PLAN)) { /* ranks without a sample share one: long sequences are cut further */
		plan->cp *= floor(plan->dp / gb);
		row->shard.cp = plan->cp;
		plan->dp = gb;
		row->assumed |= JL_ASSUMED_PLAN;
	}
	plan->n_micro = fmax(1.0, round(gb / (mb * plan->dp)));
	row->shard.micro_batch = fmin(mb, fmax(1.0, gb / plan->dp));
	row->global_batch = gb;
}

/* FLOP that a source's TFLOP/s or MFU counts for one step. */
static double counted_flop(const struct jl_llm_cells *c, const struct jl_llm_row *row)
{
	const struct jl_transformer *m = &row->model;
	const double tokens = row->global_batch * row->shard.seq, L = m->n_layers, h = m->hidden, s = row->shard.seq;

	if (has(c->split_group,
		"korthikanti")) /* 72 B L s h^2 (1 + s/6h + V/12hL): model FLOP, recompute not counted */
		return 72.0 * tokens * L * h * h * (1.0 + s / (6.0 * h) + m->vocab / (12.0 * h * L));
	/* 6 (N - embedding) + 12 L h s a token: full attention, causal or not; agrees with the rows that give both */
	return 3.0 * tokens * jl_transformer_fwd_flop(m, s, 0);
}

/* Samples that a source counts for each one that was run. */
static double counted_samples_frac(const struct jl_llm_cells *c, const struct jl_llm_row *row)
{
	if (!has(c->framework, "DeepLearningExamples") || !has(c->task, "squad"))
		return 1.0;
	return fmax(1.0, SQUAD_STEPS * row->global_batch / SQUAD_SAMPLES);
}

static void read_measured(const struct jl_llm_cells *c, struct jl_llm_row *row)
{
	const double value = jl_llm_number(c->primary_value), mem = jl_llm_number(c->mem_gib_per_gpu);
	const double tokens = row->global_batch * row->shard.seq, n = row->n_gpus;
	const char *metric = c->primary_metric;

	row->meas_s = NAN;
	row->meas_mem_B = mem > 0.0 ? mem * 1073741824.0 : NAN;
	row->metric = JL_LLM_TIME;
	if (!(value > 0.0))
		row->unscored = "the measured value is not a positive number";
	else if (has(metric, "mem_gib"))
		row->metric = JL_LLM_MEMORY, row->meas_mem_B = value * 1073741824.0;
	else if (has(metric, "s_per_iter"))
		row->meas_s = value;
	else if (has(metric, "samples_per_s"))
		row->meas_s = row->global_batch / value * counted_samples_frac(c, row);
	else if (has(metric, "tokens_per_s_per_gpu"))
		row->meas_s = tokens / (value * n);
	else if (has(metric, "tflops"))
		row->meas_s = counted_flop(c, row) / (value * 1e12 * n);
	else if (has(metric, "mfu"))
		row->meas_s = counted_flop(c, row) / (value / 100.0 * row->gpu.dev.peak_flopps[row->shard.dtype] * n);
	else
		row->unscored = "the metric is not known";
}

enum jl_status jl_llm_row_read(const struct jl_llm_cells *c, const struct jl_llm_find *find, struct jl_llm_row *ret_row,
			       struct jl_err *err)
{
	struct jl_llm_row row = { .least_B = NAN };

	JL_TRY(find->gpu(find->ctx, c->gpu, &row.gpu, err));
	JL_TRY(jl_llm_shape(c, &row.model, &row.assumed, err));
	const double n_gpus = count_or(c->n_gpus, 1.0);

	row.n_gpus = (int)fmin(n_gpus, 1e7);
	row.n_nodes = (int)fmin(count_or(c->nodes, ceil(n_gpus / 8.0)), n_gpus);
	row.n_per_node = (row.n_gpus + row.n_nodes - 1) / row.n_nodes;
	row.shard.seq = count_or(c->seq_len, !has(c->model, "bert") ? 2048.0 : has(c->task, "squad") ? 384.0 : 512.0);
	/* NVIDIA's BERT sorts long sequences into bins of 64 tokens and pads a batch to its bin only. How long the mean
	 * sequence is, it does not say; its fp32 rate on a V100 would be 122 % of the peak with 512. */
	if (has(c->framework, "LAMB") && has(c->task, "BERT pretrain") && row.shard.seq > 256.0)
		row.shard.seq *= BERT_BIN_FRAC;
	row.shard.flash = has(c->flash_attn, "y");
	row.shard.ep = 1.0;
	read_framework(c, &row);
	read_precision(c, &row);
	read_plan(c, &row);
	read_states(c, &row);
	row.shard.tp = row.plan.tp;
	row.shard.cp = row.plan.cp;
	row.shard.ep = row.plan.ep;
	row.shard.sp = row.plan.sp;
	/* Megatron pads the vocabulary so that every device has whole tiles of it. */
	if (row.framework == JL_FW_MEGATRON)
		row.model.vocab = ceil(row.model.vocab / (128.0 * row.plan.tp)) * 128.0 * row.plan.tp;
	read_links(c, find->link_x, &row);
	read_batch(c, &row);
	if ((row.assumed & JL_ASSUMED_PLAN) && isnan(jl_llm_number(c->tp)) && row.framework == JL_FW_MEGATRON)
		jl_llm_best_plan(&row);
	/* Nobody says whether activations were kept: they were where that fits, give or take our own error. */
	if ((row.assumed & JL_ASSUMED_RECOMPUTE) &&
	    jl_llm_rough_memory_B(&row, row.shard.micro_batch) > 1.2 * row.gpu.dev.mem_B)
		row.plan.recompute = JL_RECOMPUTE_FULL;
	read_measured(c, &row);
	*ret_row = row;
	return JL_OK;
}
