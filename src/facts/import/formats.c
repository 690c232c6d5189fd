/* List of the import formats. */
#include "import/format.h"

const struct jl_format *const jl_formats[] = {
	&jl_format_nccl,         &jl_format_train,         &jl_format_osu,    &jl_format_nvbandwidth,
	&jl_format_topo,         &jl_format_nccl_json,     &jl_format_iperf3, &jl_format_nvbandwidth_json,
	&jl_format_trainer_json, &jl_format_llama_factory, &jl_format_fio,    NULL,
};

const char *const jl_import_known[] = {
	"nccl-tests (-J)",
	"OSU micro-benchmarks",
	"iperf3 -J",
	"fio --output-format=json",
	"nvbandwidth (-j)",
	"nvidia-smi topo -m / -p2p r",
	"tqdm",
	"Hugging Face Trainer",
	"DeepSpeed",
	"Megatron-LM",
	"torchtitan, NeMo, MaxText, Lightning, LLaMA-Factory, Axolotl, nanoGPT, llm.c",
	NULL,
};
