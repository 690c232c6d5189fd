/* Operators of PyTorch by name: which kernels a call launches and what they move. A table; it knows no devices. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* What a call does, as people sort it. */
enum jl_op_class {
	JL_CLASS_NONE, /* a view: nothing runs */
	JL_CLASS_POINTWISE,
	JL_CLASS_REDUCTION,
	JL_CLASS_SOFTMAX,
	JL_CLASS_NORM,
	JL_CLASS_PRODUCT,
	JL_CLASS_CONVOLUTION,
	JL_CLASS_ATTENTION,
	JL_CLASS_GATHER, /* embeddings, indices, scatters */
	JL_CLASS_SORT,
	JL_CLASS_COPY,
	JL_CLASS_UPDATE, /* lists of tensors: the optimizer's */
	JL_CLASS_RANDOM,
	JL_CLASS_POOL,
	JL_CLASS_RECURRENT,
	JL_CLASS_FOURIER,
	JL_CLASS_FUSED, /* what a compiler made of several */
	JL_CLASS_OTHER, /* not in the table: taken as pointwise */
	JL_N_OP_CLASS
};
extern const char *const jl_class_names[JL_N_OP_CLASS];

/* How the work of a call follows from its tensors. */
enum jl_op_rule {
	JL_RULE_STREAM,  /* inputs `reads` times, outputs `writes` times */
	JL_RULE_WRITE,   /* outputs only: fills */
	JL_RULE_COPY,    /* the last input is read, the output written */
	JL_RULE_CAT,     /* as many kernels as there are groups of inputs */
	JL_RULE_GATHER,  /* rows that are taken, not the table */
	JL_RULE_BAG,     /* rows that are summed up as they are taken */
	JL_RULE_SCATTER, /* rows that are put; out of place the table is copied before */
	JL_RULE_INDEX,   /* like a gather; a mask is made indices first */
	JL_RULE_INDEX_PUT,
	JL_RULE_EMBEDDING_BACK,
	JL_RULE_SUM,        /* over columns fewer SMs work */
	JL_RULE_RESIZE,     /* pixels between pixels; backward, gradients added into fewer places */
	JL_RULE_ROWS,       /* reductions inside rows: clocks of a row beside those of an element */
	JL_RULE_NORM_BACK,  /* of layer and RMS norms: the sums for scale and shift beside it */
	JL_RULE_BATCH_NORM, /* in training statistics first */
	JL_RULE_POOL,       /* clocks of a pixel of the window */
	JL_RULE_SORT,
	JL_RULE_TOPK,
	JL_RULE_LISTS, /* lists of tensors, in pieces */
	JL_RULE_PRODUCT,
	JL_RULE_GROUPED, /* one product for each group of rows */
	JL_RULE_CONV,
	JL_RULE_CONV_BACK,
	JL_RULE_ATTENTION,
	JL_RULE_ATTENTION_BACK,
	JL_RULE_RECURRENT,
	JL_RULE_FUSED,   /* inputs once, outputs once; the file says FLOP */
	JL_RULE_TRANSFER /* between host and device */
};

struct jl_operator {
	enum jl_op_class class;
	enum jl_op_rule rule;
	float kernels;
	float reads, writes; /* times that inputs are read and outputs written */
	float clocks;        /* of an SM, for an element of the largest tensor: where issue binds before memory does */
	uint8_t lists; /* JL_RULE_LISTS: of one call, outputs too; JL_RULE_PRODUCT: inputs before the two factors */
};

/* By its name in PyTorch, "aten.add_.Tensor": library, overload and the mark of an in-place call do not count. NULL: not in the table. */
const struct jl_operator *jl_operator_find(const char *name);
const char *jl_operator_names(size_t i); /* of the i-th form, between blanks; NULL: there are no more */
