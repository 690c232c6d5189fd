/* Columns of train_llm, finetune and moe_and_large derived by data/phrases.csv, and the words of each. */
#include "rows/set_llm.h"

#include <math.h>

#include "program/tune.h"

#define WORDS(...)                                                                                                     \
	.words = (const struct jl_word[])                                                                              \
	{                                                                                                              \
		__VA_ARGS__,                                                                                           \
		{                                                                                                      \
			NULL, 0                                                                                        \
		}                                                                                                      \
	}
#define SAID(member) .column = #member, .offset = offsetof(struct jl_llm_text, member)
#define WORD(member, ...)                                                                                              \
	{                                                                                                              \
		SAID(member), WORDS(__VA_ARGS__)                                                                       \
	}
#define LIST(member, ...)                                                                                              \
	{                                                                                                              \
		SAID(member), WORDS(__VA_ARGS__), .several = true                                                      \
	}
#define FLAG(member)                                                                                                   \
	{                                                                                                              \
		SAID(member), .words = jl_word_yes                                                                     \
	}
#define NUMBER(member)                                                                                                 \
	{                                                                                                              \
		SAID(member)                                                                                           \
	}

static const struct jl_phrase_column columns[] = {
	WORD(reject, { "accelerator", JL_REJECT_ACCELERATOR }, { "shape", JL_REJECT_SHAPE },
	     { "unstated", JL_REJECT_UNSTATED }, { "estimate", JL_REJECT_ESTIMATE }),
	WORD(profile, { "native", JL_FW_NATIVE }, { "compiled", JL_FW_COMPILED }, { "megatron", JL_FW_MEGATRON },
	     { "eager", JL_FW_EAGER }, { "apex", JL_FW_APEX }, { "fused", JL_FW_FUSED }, { "general", JL_FW_GENERAL }),
	FLAG(profile_of_kin),
	FLAG(loss_fused),
	FLAG(vendor_flash),
	WORD(format, { "fp32", JL_FORMAT_FP32 }, { "tf32", JL_FORMAT_TF32 }, { "fp32_or_tf32", JL_FORMAT_FP32_OR_TF32 },
	     { "fp16", JL_FORMAT_FP16 }, { "bf16", JL_FORMAT_BF16 }, { "fp8", JL_FORMAT_FP8 },
	     { "nvfp4", JL_FORMAT_FP4 }),
	FLAG(rowwise),
	WORD(states_as, { "mixed", JL_STATES_MIXED }, { "megatron", JL_STATES_MEGATRON }, { "fp32", JL_STATES_FP32 },
	     { "bf16", JL_STATES_BF16 }, { "bf16_8bit", JL_STATES_BF16_8BIT }),
	FLAG(foreach),
	WORD(head, { "span", JL_TEXT_SPAN }, { "lm", JL_TEXT_LM }),
	NUMBER(seq_default),
	NUMBER(seq_as),
	FLAG(binned),
	FLAG(fused_attention),
	WORD(tuning, { "lora", JL_TEXT_LORA }, { "qlora", JL_TEXT_QLORA }, { "dora", JL_TEXT_DORA },
	     { "adapter", JL_TEXT_ADAPTER }, { "full", JL_TEXT_ALL_WEIGHTS }, { "layers", JL_TEXT_LAYERS },
	     { "bare", JL_TEXT_BARE }, { "prompts", JL_TEXT_PROMPTS }, { "scaled_prompts", JL_TEXT_SCALED_PROMPTS }),
	FLAG(no_optimizer),
	NUMBER(loss_chunks),
	LIST(offload, { "optimizer", JL_OFFLOAD_OPTIMIZER }, { "params", JL_OFFLOAD_PARAMS },
	     { "activations", JL_OFFLOAD_ACTIVATIONS }),
	FLAG(paged),
	FLAG(grads_in_backward),
	WORD(link, { "bridge", JL_TEXT_BRIDGE }, { "nvlink", JL_TEXT_NVLINK }, { "pcie", JL_TEXT_PCIE }),
	FLAG(card),
	FLAG(onload),
	NUMBER(node_Gbps),
	NUMBER(gpu_Gbps),
	NUMBER(zero),
	FLAG(data_parallel),
	NUMBER(tp_as),
	NUMBER(pp_as),
	NUMBER(ep_as),
	NUMBER(cp_as),
	FLAG(naive),
	FLAG(shard_node),
	NUMBER(shard),
	FLAG(keep_gathered),
	WORD(fsdp, { "1", JL_TEXT_FSDP }, { "2", JL_TEXT_FSDP2 }),
	WORD(recompute_as, { "none", JL_TEXT_NONE }, { "selective", JL_TEXT_SELECTIVE }, { "full", JL_TEXT_FULL }),
	FLAG(recomputes),
	FLAG(tp_async),
	WORD(cut_sequence, { "y", JL_TEXT_YES }, { "n", JL_TEXT_NO }),
	NUMBER(chunks_least),
	WORD(memory_counted, { "allocated", JL_LLM_ALLOCATED }, { "reserved", JL_LLM_RESERVED },
	     { "device", JL_LLM_DEVICE }),
	WORD(batch_of, { "host", JL_TEXT_OF_HOST }, { "rank", JL_TEXT_OF_RANK }, { "all", JL_TEXT_OF_ALL },
	     { "device", JL_TEXT_OF_DEVICE }),
	NUMBER(micro_as),
	NUMBER(accumulate),
	NUMBER(batch_per_gpu),
	FLAG(micro_of_stages),
	NUMBER(global_per_rank),
	NUMBER(global_per_gpu),
	FLAG(counts_unrun),
	FLAG(counts_megatron),
	FLAG(rack),
	FLAG(experts_spread),
	FLAG(seeing),
	FLAG(alibi),
	FLAG(lean_host),
	WORD(written, { "none", JL_TEXT_UNWRITTEN }, { "loss", JL_TEXT_WRITTEN_LOSS }),
	WORD(base_packing, { "gptq", JL_TEXT_GPTQ }, { "single", JL_TEXT_SINGLE }),
	FLAG(tuned_ends),
	NUMBER(tuned_layers),
	LIST(targets_as, { "all", JL_TARGETS_ALL }, { "qkv", JL_TARGET_QKV }, { "q", JL_TARGET_Q },
	     { "k", JL_TARGET_K }, { "v", JL_TARGET_V }, { "o", JL_TARGET_O }, { "gate", JL_TARGET_GATE },
	     { "up", JL_TARGET_UP }, { "down", JL_TARGET_DOWN }),
	FLAG(tune_dropout),
	FLAG(frozen_narrow),
	WORD(autocast, { "mixed", JL_TEXT_MIXED }, { "amp", JL_TEXT_AMP }),
	WORD(optimizer_as, { "galore", JL_OPT_GALORE }, { "paged8", JL_OPT_PAGED8 }, { "adamw8", JL_OPT_ADAMW8 },
	     { "adamw4", JL_TEXT_ADAMW4 }, { "adafactor", JL_OPT_ADAFACTOR }, { "lion", JL_OPT_LION },
	     { "sgd", JL_OPT_SGD }, { "muon", JL_OPT_MUON }, { "fused", JL_OPT_FUSED }),
	FLAG(rest_narrow),
	FLAG(flat_grads),
	FLAG(keeps_live),
	FLAG(whole_experts),
	FLAG(mean_uncut),
	NUMBER(mean_seq_as),
	FLAG(rows_packed),
	FLAG(images_packed),
	WORD(lengths, { "sorted", JL_TEXT_SORTED }, { "packed", JL_TEXT_PACKED }, { "fixed", JL_TEXT_FIXED }),
	FLAG(iter_is_pass),
	WORD(primary_metric, { "mem_gib_per_gpu", JL_TEXT_MEMORY }, { "s_per_iter", JL_TEXT_SECONDS },
	     { "samples_per_s", JL_TEXT_SAMPLES }, { "tokens_per_s_per_gpu", JL_TEXT_TOKENS },
	     { "tflops_per_gpu", JL_TEXT_FLOP }, { "mfu_pct", JL_TEXT_MFU }, { "oom", JL_TEXT_OOM }),
};

enum jl_status jl_llm_text_read(struct jl_llm_text *ret_said, const struct jl_phrases *phrases,
				const struct jl_row_cells *row, struct jl_arena *arena, struct jl_err *err)
{
	ret_said->nodes_as = ret_said->global_as = NAN;
	return jl_phrase_read(ret_said, columns, JL_LEN(columns), phrases, row, arena, err);
}
