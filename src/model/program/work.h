/* Work of a kind of call, independent of the device: products, bytes, issue clocks, kernels. Pure; no times. */
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

/* Requirement that decides the attention kernel when it is priced: 16 bits without a mask; a mask; fp32. */
enum jl_attention_need { JL_NEED_ANY, JL_NEED_MASK, JL_NEED_WIDE };

struct jl_call_work {
	enum jl_op_class class;
	enum jl_work_form form;
	double n_kernels; /* besides those of a product, convolution or attention */
	double moved_B;   /* inputs read plus outputs written */
	double flop;      /* FLOP of products */
	double n_elems;   /* elements of a stream's largest tensor */
	double clocks;    /* SM clocks of all elements and rows */
	double most_sm;   /* most SMs that work on them; 0: all */
	double paired;    /* thread blocks per SM that run side by side, if there are enough; 0: 1 */
	bool walked;      /* operands of different layout: computed addresses, single loads */
	bool cast;        /* operands of different formats: each element is converted separately */
	bool odd_rows;    /* 16-bit linear layer whose output rows are not word-aligned: written element by element */
	bool by_driver;   /* copy by the driver: no kernel launch */
	double again_B;   /* bytes read a second time: included in the time, not in moved_B */
	double across_B;  /* bytes of operands read across their rows */
	double n_tensors; /* tensor lists: tensors that the host prepares */
	/* second kernel of a stream with its own SM limit, counted in n_kernels; all zero: none */
	struct jl_stream then;
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
			struct jl_gemm input; /* product of the inputs of all steps at once */
			struct jl_conv_op step;
			double batch;
			enum jl_dtype dtype;
			double times; /* number of layers times directions */
		} rnn;
		struct {
			bool pinned, device; /* device: between two devices */
		} transfer;
	} u;
};

void jl_work_of(struct jl_call_work *ret_work, const struct jl_program *p, const struct jl_call_kind *kind);

/* True if a convolution transposes its tensors to channels last, as tensor cores need; and the bytes of the copies. */
bool jl_conv_is_turned(const struct jl_call_work *work);
double jl_conv_copies_B(const struct jl_call_work *work);

/* Compute format of products of such elements; fp64 and integers count as fp32. */
enum jl_dtype jl_elem_dtype(enum jl_elem elem);

/* Launches of an operation over the first of `n_lists` concatenated tensor lists: chunks of 65,536 elements, at most 320 chunks per launch and as
 * many tensors as a launch over `depth` lists takes (PyTorch's multi_tensor_apply). */
struct jl_list_cut {
	double n_launches, n_pieces, n_tensors;
};
struct jl_list_cut jl_cut_lists(const struct jl_program *p, const struct jl_tensor_ref *refs, uint32_t n, int n_lists,
				int depth);
