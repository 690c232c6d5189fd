/* PyTorch operators by name: kernels launched by a call, and bytes moved. A table; knows no devices. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Classes of calls, for display. */
enum jl_op_class {
	JL_CLASS_NONE, /* view: launches nothing */
	JL_CLASS_POINTWISE,
	JL_CLASS_REDUCTION,
	JL_CLASS_SOFTMAX,
	JL_CLASS_NORM,
	JL_CLASS_PRODUCT,
	JL_CLASS_CONVOLUTION,
	JL_CLASS_ATTENTION,
	JL_CLASS_GATHER, /* embeddings, indexing, scatters */
	JL_CLASS_SORT,
	JL_CLASS_COPY,
	JL_CLASS_UPDATE, /* optimizer calls over tensor lists */
	JL_CLASS_RANDOM,
	JL_CLASS_POOL,
	JL_CLASS_RECURRENT,
	JL_CLASS_FOURIER,
	JL_CLASS_FUSED, /* kernels fused by a compiler */
	JL_CLASS_OTHER, /* not in the table: treated as elementwise */
	JL_N_OP_CLASS
};
extern const char *const jl_class_names[JL_N_OP_CLASS];

/* Rule that computes a call's work from its tensors. */
enum jl_op_rule {
	JL_RULE_STREAM,  /* reads inputs `reads` times, writes outputs `writes` times */
	JL_RULE_WRITE,   /* writes outputs only: fills */
	JL_RULE_COPY,    /* reads the last input, writes the output */
	JL_RULE_CAT,     /* concatenation: one kernel per group of inputs */
	JL_RULE_GATHER,  /* reads the selected rows, not the table */
	JL_RULE_BAG,     /* sums the selected rows (embedding bag) */
	JL_RULE_SCATTER, /* writes rows; out of place it copies the table first */
	JL_RULE_INDEX,   /* as a gather; a mask is converted to indices first */
	JL_RULE_INDEX_PUT,
	JL_RULE_EMBEDDING_BACK,
	JL_RULE_SUM,        /* reduction; over columns fewer SMs work */
	JL_RULE_RESIZE,     /* interpolation; backward: atomic additions */
	JL_RULE_ROWS,       /* row-wise reductions: clocks per row and per element */
	JL_RULE_NORM_BACK,  /* backward of layer and RMS norm, with the sums for scale and shift */
	JL_RULE_BATCH_NORM, /* computes statistics first in training */
	JL_RULE_POOL,       /* pooling: clocks per pixel of the window */
	JL_RULE_SORT,
	JL_RULE_TOPK,
	JL_RULE_LISTS, /* tensor lists, in chunks */
	JL_RULE_PRODUCT,
	JL_RULE_GROUPED, /* one product per group of rows */
	JL_RULE_CONV,
	JL_RULE_CONV_BACK,
	JL_RULE_ATTENTION,
	JL_RULE_ATTENTION_BACK,
	JL_RULE_RECURRENT,
	JL_RULE_FUSED,   /* reads inputs once, writes outputs once; the file gives the FLOP */
	JL_RULE_TRANSFER /* between host and device */
};

struct jl_operator {
	enum jl_op_class class;
	enum jl_op_rule rule;
	float kernels;
	float reads, writes; /* number of times inputs are read and outputs written */
	float clocks;        /* SM clocks per element of the largest tensor, if limited by issue rather than memory */
	/* JL_RULE_LISTS: lists per call, outputs included; JL_RULE_PRODUCT: inputs before the two factors */
	uint8_t lists;
};

/* Finds a PyTorch operator, "aten.add_.Tensor"; library, overload and in-place suffix are ignored. NULL: not in the table. */
const struct jl_operator *jl_operator_find(const char *name);
const char *jl_operator_names(size_t i); /* names in the i-th row, separated by blanks; NULL: end */
