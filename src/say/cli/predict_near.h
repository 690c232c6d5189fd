/* The published runs nearest to a case; json NULL: as text. */
#ifndef JL_CLI_PREDICT_NEAR_H
#define JL_CLI_PREDICT_NEAR_H

#include "base/json.h"
#include "cli/command.h"
#include "predict/predict.h"

enum jl_status jl_predict_near(struct jl_cli *cli, const struct jl_case *c, struct jl_json *json, struct jl_err *err);

#endif
