/* What one kind of call does, whatever the device: its products, bytes, issue clocks and kernels. Pure; no times. */
#pragma once

#include "kernels/conv.h"
#include "kernels/op.h"
#include "program/operators.h"
#include "program/program.h"

enum jl_work_form {
	JL_WORK_NONE, /* no kernel */
	JL_WORK_STREAM,
	JL_WORK_PRODUCT,
	JL_WORK_CONV,
	JL_WORK_ATTENTION,
	JL_WORK_RECURRENT,
	JL_WORK_TRANSFER
};

/* How attention runs: by what the device has of it, chosen when it is priced. */
enum jl_attention_need { JL_NEED_ANY, JL_NEED_MASK, JL_NEED_WIDE }; /* no mask and 16 bits; a mask; fp32 */

struct jl_call_work {
	enum jl_op_class class;
	enum jl_work_form form;
	double n_kernels; /* beside those of a product, convolution or attention */
	double moved_B;   /* of all of it: inputs read, outputs written */
	double flop;      /* of products */
	double n_elems;   /* of the largest tensor of a stream */
	double clocks;    /* of an SM, all its elements and rows together */
	double most_sm;   /* no more SMs work on those; 0: all */
	double paired;    /* blocks of them that an SM works on side by side, where there are as many; 0: 1 */
	bool walked;      /* operands lie differently: addresses are computed, loads are single */
	bool cast;        /* operands of different formats: each element is converted by itself */
	bool odd_rows; /* a linear layer of 16 bits whose output's rows begin between words: written element by element */
	bool by_driver;   /* a copy that the driver makes: no launch of a kernel */
	double again_B;   /* that are read once more: counted in its time, not in moved_B */
	double across_B;  /* of operands that are read across their rows */
	double n_tensors; /* of lists: what the host prepares */
	struct jl_stream
		then; /* of a stream: a kernel behind it with SMs of its own; counted in n_kernels; all zero: none */
	bool backward;
	union {
		struct jl_gemm gemm;
		struct {
			struct jl_attention att;
			enum jl_attention_need need;
			double mask_B;
		} attention;
		struct {
			struct jl_conv_op op;
			double batch;
			enum jl_dtype dtype;
			bool last, bias;
			unsigned passes; /* bits of enum jl_conv_pass */
		} conv;
		struct {
			struct jl_gemm input; /* all steps at once */
			struct jl_conv_op step;
			double batch;
			enum jl_dtype dtype;
			double times; /* layers and directions */
		} rnn;
		struct {
			bool pinned, device; /* device: between two of them */
		} transfer;
	} u;
};

void jl_work_of(struct jl_call_work *ret_work, const struct jl_program *p, const struct jl_call_kind *kind);

/* Does a convolution work on copies of its tensors whose channels lie last, as tensor cores want them? Bytes of those copies. */
bool jl_conv_is_turned(const struct jl_call_work *work);
double jl_conv_copies_B(const struct jl_call_work *work);

/* The format that products of such elements are computed in; fp64 and integers have none of their own: fp32. */
enum jl_dtype jl_elem_dtype(enum jl_elem elem);

/* Launches that PyTorch cuts lists of tensors into, the first of `n_lists` that stand behind each other: pieces of 65,536 elements, 320 of them
 * a launch, or as many tensors as a launch takes that works on `depth` lists. */
struct jl_list_cut {
	double n_launches, n_pieces, n_tensors;
};
struct jl_list_cut jl_cut_lists(const struct jl_program *p, const struct jl_tensor_ref *refs, uint32_t n, int n_lists,
				int depth);
