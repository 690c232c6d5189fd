/* How a prediction looks: text and JSON. Shared by the commands that weigh training runs. */
#ifndef JL_CLI_PREDICT_VIEW_H
#define JL_CLI_PREDICT_VIEW_H

#include "cli/view.h"
#include "doc/num.h"
#include "predict/advise.h"

/* "0.87 s (0.64–1.2)": value and interval to two digits, all in one unit. */
const char *jl_view_range(char out[JL_RANGE_TEXT_MAX], const struct jl_estimate *estimate, enum jl_kind kind);

/* "GPU", or "CPU" where there is none. */
const char *jl_view_device(const struct jl_case *c);

/* "  Label     text": continued lines pass NULL. */
void jl_view_entry(struct jl_cli *cli, const char *en, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* "2025-10-27, old ⚠": rents move, so an old one is marked. */
#define JL_DATED_MAX 64
const char *jl_view_dated(char out[JL_DATED_MAX], const struct jl_cli *cli, const char *date);

/* "batch 4 a GPU · ... · PyTorch eager": how the case runs. */
void jl_view_case(struct jl_cli *cli, const struct jl_case *c);
void jl_view_prediction(struct jl_cli *cli, const struct jl_case *c, const struct jl_prediction *p,
			const struct jl_advice *advice, size_t n_advice);
void jl_view_advice(struct jl_cli *cli, const struct jl_advice *advice, size_t n_advice);
void jl_view_bound(struct jl_cli *cli, const struct jl_case *c, const struct jl_prediction *p);
void jl_view_memory(struct jl_cli *cli, const struct jl_case *c, const struct jl_prediction *p);
/* What was assumed, and how sure all of this is. */
void jl_view_assumed(struct jl_cli *cli, const struct jl_case *c);

/* JSON: members of the object that is open. */
void jl_view_estimate_json(struct jl_json *json, const char *key, const struct jl_estimate *estimate);
void jl_view_case_json(struct jl_json *json, const struct jl_case *c);
void jl_view_prediction_json(struct jl_json *json, const struct jl_case *c, const struct jl_prediction *p);
void jl_view_advice_json(struct jl_json *json, const struct jl_advice *advice, size_t n_advice);
void jl_view_assumed_json(struct jl_json *json, const struct jl_case *c);

#endif
