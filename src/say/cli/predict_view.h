/* How a prediction looks: text and JSON. Shared by the commands that weigh training runs. */
#ifndef JL_CLI_PREDICT_VIEW_H
#define JL_CLI_PREDICT_VIEW_H

#include "cli/view.h"
#include "predict/advise.h"

/* "0.87 s (0.64–1.2)": value and interval to two digits, all in one unit. */
#define JL_RANGE_TEXT_MAX 160
const char *jl_view_range(char out[JL_RANGE_TEXT_MAX], const struct jl_estimate *estimate, enum jl_kind kind);

/* A count to two digits with separators: 46, 2,400. */
const char *jl_view_about(char out[JL_UNITS_TEXT_MAX], double value);

/* "GPU", or "CPU" where there is none. */
const char *jl_view_device(const struct jl_case *c);

/* A bar of `width` cells, `frac` of them full. */
#define JL_BAR_MAX 24
const char *jl_view_bar(char out[3 * JL_BAR_MAX + 1], double frac, int width);

/* "  Label     text": continued lines pass NULL. */
void jl_view_entry(struct jl_cli *cli, const char *en, const char *ko, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* "ZeRO-1, TP 8+SP, selective recompute, micro-batch 1": what of a case may differ from a system to the next. `micro_batch` NAN: not said. */
#define JL_CUT_TEXT_MAX 160
const char *jl_view_cut(char out[JL_CUT_TEXT_MAX], const struct jl_cli *cli, const struct jl_plan *plan,
			double micro_batch);

/* Samples, tokens, steps as they are written: 8192, but 100,000. */
const char *jl_view_count(char out[JL_UNITS_TEXT_MAX], double n);

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
