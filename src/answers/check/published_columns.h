/* Columns of data/validation/collectives.csv compiled into the program for verdicts, in their order there. */
#pragma once

enum jl_published_column {
	JL_PUB_COLLECTIVE,
	JL_PUB_BYTES,
	JL_PUB_N_GPUS,
	JL_PUB_N_NODES,
	JL_PUB_GPU,
	JL_PUB_INTRA,
	JL_PUB_INTER,
	JL_PUB_LATENCY,
	JL_PUB_ALGBW,
	JL_PUB_BUSBW,
	JL_PUB_TOOL,
	JL_N_PUB
};
