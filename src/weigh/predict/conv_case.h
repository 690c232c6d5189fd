/* Inside predict only: cases whose subject is a network that is a list of operators. */
#ifndef JL_PREDICT_CONV_CASE_H
#define JL_PREDICT_CONV_CASE_H

#include "predict/predict.h"
#include "workload/convnet_train.h"

/* The model's own form of such a case; its pointers point into `c`. */
struct jl_convnet_train jl_conv_case_train(const struct jl_case *c);

/* What a practitioner would choose where the request says nothing; refuses what such a network cannot be asked. */
enum jl_status jl_conv_case_choose(struct jl_case *c, const struct jl_request *req, struct jl_err *err);

/* Half of an 80 % interval, as ln. */
double jl_conv_case_half_ln(const struct jl_case *c, const struct jl_step_cost *step);

#endif
