/* Reads rows of train_llm and train_vtrain: plan, shape, links and the measured step. */
#include "rows/set_llm.h"

#include <math.h>

#include "program/tune.h"

#define BERT_BIN_FRAC 0.57
/* NVIDIA's SQuAD script counts batch * max_steps samples whether run or not. The benchmark asks for at least 100 steps and two passes over 88,641
 * samples, so larger batches run out of data and appear faster. */
#define SQUAD_SAMPLES 177282.0
#define SQUAD_STEPS   100.0

/* The value from the text, else the cell's. */
static double either(double said, const char *cell)
{
	return isnan(said) ? jl_llm_number(cell) : said;
}

static double count_or(double x, double otherwise)
{
	return x >= 1.0 ? x : otherwise;
}

static void read_framework(const struct jl_llm_cells *c, const struct jl_llm_text *said, struct jl_llm_row *row)
{
	const enum jl_framework fw = (enum jl_framework)said->profile;

	if (fw == JL_FW_GENERAL || said->profile_of_kin)
		row->assumed |= JL_ASSUMED_FRAMEWORK;
	row->framework = fw;
	row->codebase = c->codebase && *c->codebase ? jl_codebase_by_id(c->codebase) : jl_codebase_in(c->framework);
	row->graphs = jl_llm_yes(c->graphs);
	row->portable_flash = fw != JL_FW_MEGATRON && fw != JL_FW_NATIVE && !said->vendor_flash;
	row->loss = said->loss_fused ? JL_LOSS_FUSED : jl_loss_of(fw);
}

/* share of the listed gain of 4-bit over 8-bit products: scales are finer, and some products stay in 8 bits */
#define FP4_GAIN_FRAC 0.8

static void read_precision(const struct jl_llm_text *said, struct jl_llm_row *row)
{
	static const enum jl_dtype dtype_of[] = {
		[JL_FORMAT_FP32] = JL_FP32, [JL_FORMAT_TF32] = JL_TF32, [JL_FORMAT_FP16] = JL_FP16,
		[JL_FORMAT_BF16] = JL_BF16, [JL_FORMAT_FP8] = JL_FP8,   [JL_FORMAT_FP4] = JL_FP8
	};
	const struct jl_device *dev = &row->gpu.dev;
	struct jl_shard *s = &row->shard;
	int f = said->format;

	if (f == JL_FORMAT_FP32_OR_TF32)
		f = dev->priors->no_tf32 || isnan(dev->peak_flopps[JL_TF32]) ? JL_FORMAT_FP32 : JL_FORMAT_TF32;
	s->dtype = dtype_of[f];
	s->act_dtype = f == JL_FORMAT_FP32 || f == JL_FORMAT_TF32 ? JL_FP32 : f == JL_FORMAT_FP16 ? JL_FP16 : JL_BF16;
	row->rowwise = said->rowwise;
	row->fp8_gain = f == JL_FORMAT_FP4
				? fmax(FP4_GAIN_FRAC * dev->peak_flopps[JL_FP4] / dev->peak_flopps[JL_FP8], 1.0)
				: 0.0;
	if (dev->priors->no_tensor)
		s->dtype = JL_FP32;
	if (isnan(dev->peak_flopps[s->dtype])) /* stored narrow, computed in fp32 */
		s->dtype = !isnan(dev->peak_flopps[JL_FP16]) ? JL_FP16 : JL_FP32;
	if (isnan(dev->peak_flopps[s->act_dtype]) && !isnan(dev->peak_flopps[JL_FP16]))
		s->act_dtype = JL_FP16;
}

static void read_states(const struct jl_llm_text *said, struct jl_llm_row *row)
{
	struct jl_plan *plan = &row->plan;
	const enum jl_states states = (enum jl_states)said->states_as;

	jl_plan_set_states(plan, states);
	if (said->foreach)
		jl_plan_set_foreach(plan);
	if (plan->zero == 3 && states == JL_STATES_MIXED) { /* gathered in 16 bits, stored and reduced in fp32 */
		plan->grad_B = 4.0;
		plan->optimizer_B = 10.0;
	}
	/* NVIDIA's question answering script uses a fused optimizer only with mixed precision */
	if (said->head == JL_TEXT_SPAN && row->shard.act_dtype == JL_FP32)
		jl_plan_set_unfused(plan);
	if (row->framework == JL_FW_APEX)
		jl_plan_set_clipped(plan);
	plan->trained_frac = 1.0;
	if (said->tuning == JL_TEXT_LORA || said->tuning == JL_TEXT_QLORA) {
		row->shard.tune = (struct jl_tune){ .kind = JL_TUNE_LORA, .rank = 16.0, .targets = JL_TARGETS_ALL };
		if (said->tuning == JL_TEXT_QLORA)
			row->shard.tune.base = JL_BASE_NF4;
		jl_tune_plan(plan, &row->model, &row->shard.tune, 2.0, 2.0);
	}
	plan->no_optimizer = said->no_optimizer;
	row->chunked_loss = fmax(said->loss_chunks, 0.0);
	plan->offload |= said->offload;
	if (said->paged) { /* 8-bit states, paged to the host if the device is full */
		plan->grad_B = 0.1;
		plan->optimizer_B = jl_transformer_params(&row->model).total * 4.5 > row->gpu.dev.mem_B ? 0.01 : 2.0;
	}
	if (said->grads_in_backward)
		/* fused update: a gradient is freed once applied; the embedding's is the largest */
		plan->grad_B = 0.25;
}

/* Wires of set_collectives for the links of this set. */
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

static enum jl_llm_link intra_link(const struct jl_llm_text *said, const struct jl_llm_row *row, double nvlink_Bps)
{
	/* cards have bridges only if the source says so; baseboard GPUs always use NVLink */
	const int on_board = nvlink_Bps >= 140e9 && !said->card;

	if (said->link == JL_TEXT_BRIDGE || (said->link == JL_TEXT_NVLINK && !on_board))
		return nvlink_Bps > 0.0 ? JL_LLM_BRIDGE : row->gpu.p2p ? JL_LLM_PCIE_P2P : JL_LLM_PCIE_HOST;
	if (on_board && said->link != JL_TEXT_PCIE)
		return nvlink_Bps < 200e9   ? JL_LLM_NVLINK_MESH
		       : nvlink_Bps < 400e9 ? JL_LLM_NVLINK3
		       : nvlink_Bps < 700e9 ? JL_LLM_NVLINK4
					    : JL_LLM_NVLINK5;
	/* workstation boards of the PCIe 3 era route traffic between slots through host memory */
	if (row->gpu.dev.priors->slots_via_host)
		return JL_LLM_PCIE_HOST;
	return row->gpu.p2p ? JL_LLM_PCIE_P2P : JL_LLM_PCIE_HOST;
}

/* Network bytes/s per host; default: the generation's reference system, per device. */
static double network_Bps(const struct jl_llm_text *said, struct jl_llm_row *row)
{
	const double gpu_Gbps = row->gpu.dev.priors->net_Gbps;

	if (!isnan(said->node_Gbps))
		return said->node_Gbps * 1e9 / 8.0;
	if (!isnan(said->gpu_Gbps))
		return said->gpu_Gbps * row->n_per_node * 1e9 / 8.0;
	if (row->n_nodes > 1)
		row->assumed |= JL_ASSUMED_NETWORK;
	return (gpu_Gbps > 0.0 ? gpu_Gbps : 25.0) * row->n_per_node * 1e9 / 8.0;
}

static void read_links(const struct jl_llm_text *said, const double *link_x, struct jl_llm_row *row)
{
	double x[JL_COLL_MAX_PARAMS];
	const struct jl_device *dev = &row->gpu.dev;
	const double pcie_Bps = isnan(dev->host_Bps) ? 16e9 : dev->host_Bps;
	const double nvlink_Bps = isnan(dev->link_Bps) ? 0.0 : dev->link_Bps;
	struct jl_fabric *f = &row->fabric;

	row->intra = intra_link(said, row, nvlink_Bps);
	row->inter = said->onload ? JL_LLM_ONLOAD : JL_LLM_RDMA;
	*f = (struct jl_fabric){
		.intra_kind = row->n_per_node > 1 ? jl_wires[wire_of[row->intra]].intra : JL_INTRA_NONE,
		.n_per_node = row->n_per_node,
		.n_nodes = row->n_nodes,
		.intra = { .rate_Bps = row->intra >= JL_LLM_NVLINK_MESH ? nvlink_Bps : pcie_Bps,
			   .in_switch = row->intra == JL_LLM_NVLINK4 || row->intra == JL_LLM_NVLINK5 },
		.pair = { .rate_Bps = fmax(nvlink_Bps, pcie_Bps) },
		.inter = { .rate_Bps = network_Bps(said, row) },
	};
	if (!link_x)
		jl_coll_read(jl_catalog_embedded(), x);
	jl_coll_fill(link_x ? link_x : x, wire_of[row->intra], wire_of[row->inter], 0, f);
}

static void read_plan(const struct jl_llm_cells *c, const struct jl_llm_text *said, struct jl_llm_row *row)
{
	struct jl_plan *plan = &row->plan;
	const double tp = either(said->tp_as, c->tp), pp = either(said->pp_as, c->pp);

	plan->tp = count_or(tp, 1.0);
	plan->pp = count_or(pp, 1.0);
	plan->cp = count_or(either(said->cp_as, c->cp), 1.0);
	plan->ep = count_or(either(said->ep_as, c->ep), 1.0);
	/* a single device, or stated data parallelism: nothing else is sharded unless stated */
	if (isnan(tp) && isnan(pp) && row->n_gpus > 1 && !said->data_parallel)
		jl_llm_default_plan(row);
	plan->dp = fmax(1.0, floor(row->n_gpus / (plan->tp * plan->pp * plan->cp)));
	plan->n_chunks = fmax(count_or(jl_llm_number(c->vp), 1.0), said->chunks_least);
	plan->zero = (int)said->zero;
	plan->shard = said->shard_node ? row->n_per_node : said->shard >= 1.0 ? said->shard : plan->shard;
	plan->keep_gathered = said->keep_gathered;
	plan->recompute = said->recompute_as == JL_TEXT_FULL        ? JL_RECOMPUTE_FULL
			  : said->recompute_as == JL_TEXT_SELECTIVE ? JL_RECOMPUTE_SELECTIVE
			  : said->recompute_as == JL_TEXT_NONE      ? JL_RECOMPUTE_NONE
			  : said->recomputes                        ? JL_RECOMPUTE_FULL
								    : JL_RECOMPUTE_NONE;
	row->assumed |= said->recompute_as ? 0u : (unsigned)JL_ASSUMED_RECOMPUTE;
	/* tp_comm_overlap: default in NeMo's recipes, an option in Megatron-LM */
	plan->tp_async = said->tp_async && plan->tp > 1.0;
	/* current Megatron, NeMo and torchtitan use sequence parallelism with tensor parallelism */
	plan->sp = said->cut_sequence == JL_TEXT_YES ||
		   (plan->tp > 1.0 && row->shard.flash && said->cut_sequence != JL_TEXT_NO);
	plan->hold_step = plan->zero == 3 && plan->pp > 1.0;
	row->scope = (enum jl_llm_scope)said->memory_counted;
}

/* Batch missing in the source: the largest power of two that fits. */
static double default_micro_batch(const struct jl_llm_row *row, double most)
{
	double mb = 1.0;

	while (mb * 2.0 <= most && jl_llm_rough_memory_B(row, mb * 2.0) < 0.9 * row->gpu.dev.mem_B)
		mb *= 2.0;
	return mb;
}

static void read_batch(const struct jl_llm_cells *c, const struct jl_llm_text *said, struct jl_llm_row *row)
{
	struct jl_plan *plan = &row->plan;
	double mb = either(said->micro_as, c->micro_batch), gb = either(said->global_as, c->global_batch);

	/* this benchmark's batch column is per host: at the same memory it grows with the number of GPUs */
	if (said->batch_of == JL_TEXT_OF_HOST && isnan(gb) && !isnan(mb))
		mb = fmax(1.0, floor(mb / row->n_gpus));
	if (isnan(mb) && !isnan(said->batch_per_gpu) && said->accumulate >= 1.0)
		mb = said->batch_per_gpu / said->accumulate;
	const double local = isnan(gb) ? NAN : fmax(1.0, gb / plan->dp);

	if (isnan(mb)) {
		row->assumed |= JL_ASSUMED_BATCH;
		if (said->micro_of_stages && plan->pp > 1.0)
			mb = fmax(1.0, local / plan->pp); /* as many micro-batches as stages */
		else if (!isnan(said->global_per_rank))
			mb = 1.0, gb = said->global_per_rank * plan->dp;
		else if (row->framework == JL_FW_MEGATRON)
			mb = 1.0;
		else if (plan->pp > 1.0)
			mb = local;
		else
			mb = default_micro_batch(row, isnan(local) ? 4096.0 : local);
	}
	mb = fmax(mb, 1.0);
	if (isnan(gb))
		gb = mb * plan->dp * count_or(said->accumulate, 1.0);
	if (gb < plan->dp &&
	    !(row->assumed & JL_ASSUMED_PLAN)) { /* fewer samples than ranks: long sequences are sharded further */
		plan->cp *= floor(plan->dp / gb);
		row->shard.cp = plan->cp;
		plan->dp = gb;
		row->assumed |= JL_ASSUMED_PLAN;
	}
	plan->n_micro = fmax(1.0, round(gb / (mb * plan->dp)));
	row->shard.micro_batch = fmin(mb, fmax(1.0, gb / plan->dp));
	row->global_batch = gb;
}

/* FLOP per step that a source's TFLOP/s or MFU counts. */
static double counted_flop(const struct jl_llm_text *said, const struct jl_llm_row *row)
{
	const struct jl_transformer *m = &row->model;
	const double tokens = row->global_batch * row->shard.seq, L = m->n_layers, h = m->hidden, s = row->shard.seq;

	if (said->counts_megatron) /* 72 B L s h^2 (1 + s/6h + V/12hL): model FLOP, recompute not counted */
		return 72.0 * tokens * L * h * h * (1.0 + s / (6.0 * h) + m->vocab / (12.0 * h * L));
	/* 6 (N - embedding) + 12 L h s per token: full attention, causal or not; consistent with rows that give both */
	return 3.0 * tokens * jl_transformer_fwd_flop(m, s, 0);
}

/* Samples counted by the source / samples run. */
static double counted_samples_frac(const struct jl_llm_text *said, const struct jl_llm_row *row)
{
	return said->counts_unrun ? fmax(1.0, SQUAD_STEPS * row->global_batch / SQUAD_SAMPLES) : 1.0;
}

static void read_measured(const struct jl_llm_cells *c, const struct jl_llm_text *said, struct jl_llm_row *row)
{
	const double value = jl_llm_number(c->primary_value), mem = jl_llm_number(c->mem_gib_per_gpu);
	const double tokens = row->global_batch * row->shard.seq, n = row->n_gpus;

	row->meas_s = NAN;
	row->meas_mem_B = mem > 0.0 ? mem * 1073741824.0 : NAN;
	row->metric = JL_LLM_TIME;
	if (!(value > 0.0))
		row->unscored = "the measured value is not a positive number";
	else if (said->primary_metric == JL_TEXT_MEMORY)
		row->metric = JL_LLM_MEMORY, row->meas_mem_B = value * 1073741824.0;
	else if (said->primary_metric == JL_TEXT_SECONDS)
		row->meas_s = value;
	else if (said->primary_metric == JL_TEXT_SAMPLES)
		row->meas_s = row->global_batch / value * counted_samples_frac(said, row);
	else if (said->primary_metric == JL_TEXT_TOKENS)
		row->meas_s = tokens / (value * n);
	else if (said->primary_metric == JL_TEXT_FLOP)
		row->meas_s = counted_flop(said, row) / (value * 1e12 * n);
	else if (said->primary_metric == JL_TEXT_MFU)
		row->meas_s = counted_flop(said, row) /
			      (value / 100.0 * row->gpu.dev.peak_flopps[row->shard.dtype] * n);
	else
		row->unscored = "the metric is not known";
}

enum jl_status jl_llm_row_read(const struct jl_llm_cells *c, const struct jl_llm_text *said,
			       const struct jl_llm_find *find, struct jl_llm_row *ret_row, struct jl_err *err)
{
	struct jl_llm_row row = { .least_B = NAN };

	JL_TRY(find->gpu(find->ctx, c->gpu, &row.gpu, err));
	JL_TRY(jl_llm_shape(c, said->head, &row.model, &row.assumed, err));
	const double n_gpus = count_or(jl_llm_number(c->n_gpus), 1.0);

	row.n_gpus = (int)fmin(n_gpus, 1e7);
	row.n_nodes = (int)fmin(count_or(either(said->nodes_as, c->nodes), ceil(n_gpus / 8.0)), n_gpus);
	row.n_per_node = (row.n_gpus + row.n_nodes - 1) / row.n_nodes;
	row.shard.seq = count_or(either(said->seq_as, c->seq_len), count_or(said->seq_default, 2048.0));
	/* NVIDIA's BERT sorts long sequences into bins of 64 tokens and pads a batch to its bin. The mean length is not stated; with 512 its fp32
	 * rate on a V100 would be 122 % of the peak. */
	if (said->binned && row.shard.seq > 256.0)
		row.shard.seq *= BERT_BIN_FRAC;
	row.shard.flash = said->fused_attention;
	row.shard.ep = 1.0;
	read_framework(c, said, &row);
	read_precision(said, &row);
	read_plan(c, said, &row);
	read_states(said, &row);
	row.shard.tp = row.plan.tp;
	row.shard.cp = row.plan.cp;
	row.shard.ep = row.plan.ep;
	row.shard.sp = row.plan.sp;
	/* Megatron pads the vocabulary to whole tiles per device */
	if (row.framework == JL_FW_MEGATRON)
		row.model.vocab = ceil(row.model.vocab / (128.0 * row.plan.tp)) * 128.0 * row.plan.tp;
	read_links(said, find->link_x, &row);
	read_batch(c, said, &row);
	if ((row.assumed & JL_ASSUMED_PLAN) && isnan(either(said->tp_as, c->tp)) && row.framework == JL_FW_MEGATRON)
		jl_llm_best_plan(&row);
	/* recompute unknown: assumed only if the memory would be clearly exceeded without it (1.2: our own error) */
	if ((row.assumed & JL_ASSUMED_RECOMPUTE) &&
	    jl_llm_rough_memory_B(&row, row.shard.micro_batch) > 1.2 * row.gpu.dev.mem_B)
		row.plan.recompute = JL_RECOMPUTE_FULL;
	read_measured(c, said, &row);
	*ret_row = row;
	return JL_OK;
}
