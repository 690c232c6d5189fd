/* The options that describe a run of which only its time is known, shared by the commands that carry one to other hardware. */
#ifndef JL_CLI_ASK_OBSERVED_H
#define JL_CLI_ASK_OBSERVED_H

#include "cli/ask.h"
#include "predict/observed.h"

extern const char *const jl_ask_kinds[];

/* clang-format off */
#define JL_ASK_OBSERVED_OPTIONS \
	{ .name = "observed", .type = JL_OPT_QUANTITY, .kind = JL_K_TIME, .arg = "TIME", .en = "time of one step on the baseline, e.g. \"1.06 s\"", \
	  .ko = "기준 시스템에서 잰 스텝 시간. 예: \"1.06 s\"" }, \
	JL_ASK_COUNT("observed-batch", "samples of that step, all devices together", "그 스텝의 샘플 수, 모든 장치 합계"), \
	{ .name = "batches", .type = JL_OPT_COUNT, .min = 1, .max = 1000000000000LL, .arg = "N", .en = "steps of an epoch at that batch", .ko = "그 배치로 에폭당 스텝 수" }, \
	{ .name = "kind", .type = JL_OPT_CHOICE, .choices = jl_ask_kinds, .arg = "cnn|transformer|unknown", .en = "what was observed (default: unknown, the widest interval)", \
	  .ko = "실측한 모델의 종류 (기본값: unknown, 범위가 가장 넓음)" }, \
	{ .name = "params", .type = JL_OPT_COUNT, .min = 1, .max = 1000000000000000LL, .arg = "N", .en = "parameters of the observed model", .ko = "실측한 모델의 파라미터 수" }, \
	{ .name = "memory-per-sample", .type = JL_OPT_QUANTITY, .kind = JL_K_BYTES, .arg = "BYTES", .en = "device memory that one more sample takes, e.g. \"0.9 GiB\"", \
	  .ko = "샘플 하나가 쓰는 장치 메모리. 예: \"0.9 GiB\"" }, \
	{ .name = "memory-fixed", .type = JL_OPT_QUANTITY, .kind = JL_K_BYTES, .arg = "BYTES", .en = "device memory that does not depend on the batch", \
	  .ko = "배치와 무관한 장치 메모리" }, \
	JL_ASK_COUNT("batch-limit", "largest batch of one baseline device (default: the observed one)", "기준 장치 하나에 들어가는 최대 배치 (기본값: 실측 배치)"), \
	{ .name = "watts", .type = JL_OPT_QUANTITY, .kind = JL_K_POWER, .arg = "POWER", .en = "what the whole baseline draws while it runs", .ko = "실행 중 기준 시스템 전체의 소비 전력" }
/* clang-format on */

/* The run that --observed and its kin describe. */
enum jl_status jl_ask_observed(struct jl_observed *ret_run, const struct jl_cli *cli, struct jl_err *err);

/* The same with the machine it was observed on (--baseline) made and checked. */
enum jl_status jl_ask_observed_on(struct jl_observed *ret_run, struct jl_machine *ret_base, struct jl_cli *cli,
				  struct jl_err *err);

#endif
