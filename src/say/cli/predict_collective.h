/* jeoul predict allreduce: a collective as the subject of a prediction. And the list behind --sweep, which both kinds of
 * prediction read. */
#ifndef JL_CLI_PREDICT_COLLECTIVE_H
#define JL_CLI_PREDICT_COLLECTIVE_H

#include "cli/command.h"
#include "model/collective.h"

#define JL_SWEEP_MAX 64

enum jl_sweep_over { JL_SWEEP_GPUS, JL_SWEEP_NODES, JL_N_SWEEP };

/* "gpus=1,2,4" or "nodes=2,4,8". */
struct jl_sweep_list {
	enum jl_sweep_over over;
	size_t n;
	int values[JL_SWEEP_MAX];
};
enum jl_status jl_sweep_parse(struct jl_sweep_list *ret_list, const char *text, struct jl_err *err);

enum jl_status jl_predict_collective(struct jl_cli *cli, enum jl_collective_kind kind, struct jl_err *err);

#endif
