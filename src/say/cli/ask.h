/* The options that describe a training run, shared by the commands that weigh one; from them to a request. */
#ifndef JL_CLI_ASK_H
#define JL_CLI_ASK_H

#include "cli/command.h"
#include "predict/request.h"

#define JL_ASK_MAX 1000000000LL

extern const char *const jl_ask_precisions[],
	*const jl_ask_frameworks[], *const jl_ask_recomputes[], *const jl_ask_yes_no[],
									*const jl_ask_inputs[],
										*const jl_ask_states[],
											*const jl_ask_optimizers[];

#define JL_ASK_COUNT(n, e, k)                                                                                          \
	{                                                                                                              \
		.name = n, .type = JL_OPT_COUNT, .min = 1, .max = JL_ASK_MAX, .arg = "N", .en = e, .ko = k             \
	}

/* clang-format off */
#define JL_ASK_SHAPE_OPTIONS \
	JL_ASK_COUNT("layers", "layers of a model that is given by its shape", "모델을 크기로 줄 때: 레이어 수"), \
	JL_ASK_COUNT("hidden", "its width", "hidden 크기"), \
	JL_ASK_COUNT("heads", "its attention heads", "어텐션 헤드 수"), \
	JL_ASK_COUNT("kv-heads", "its key/value heads; makes it a gated model like Llama", \
		     "key/value 헤드 수. 주면 Llama 같은 게이트 모델로 봄"), \
	JL_ASK_COUNT("ffn", "width of its feed-forward part", "FFN 크기"), \
	JL_ASK_COUNT("vocab", "its vocabulary", "어휘 수"), \
	JL_ASK_COUNT("seq", "tokens of a sample", "샘플당 토큰 수")

#define JL_ASK_RUN_OPTIONS \
	{ .name = "on", .type = JL_OPT_TEXT, .arg = "SYSTEM", .en = "the system, e.g. dgx-h100 or \"4x rtx-3090\"", \
	  .ko = "시스템. 예: dgx-h100, \"4x rtx-3090\"" }, \
	JL_ASK_COUNT("batch", "samples of one worker", "작업자당 배치"), \
	JL_ASK_COUNT("micro-batch", "samples of one pass", "한 번에 처리하는 샘플 수"), \
	JL_ASK_COUNT("global-batch", "samples of a step, all workers", "스텝당 전체 배치"), \
	JL_ASK_COUNT("accumulate", "passes of a step", "그래디언트 누적 횟수"), \
	{ .name = "precision", .type = JL_OPT_CHOICE, .choices = jl_ask_precisions, .arg = "fp32|tf32|fp16|bf16|fp8", \
	  .en = "format of the matrix products", .ko = "행렬곱의 수 형식" }, \
	{ .name = "framework", .type = JL_OPT_CHOICE, .choices = jl_ask_frameworks, \
	  .arg = "eager|compiled|megatron|native", \
	  .en = "what runs it", .ko = "실행 방식" }, \
	{ .name = "recompute", .type = JL_OPT_CHOICE, .choices = jl_ask_recomputes, .arg = "none|selective|full", \
	  .en = "activations made again instead of kept", .ko = "활성값 재계산" }, \
	{ .name = "flash", .type = JL_OPT_CHOICE, .choices = jl_ask_yes_no, \
	  .arg = "yes|no", .en = "flash attention", .ko = "flash attention 사용" }, \
	{ .name = "states", .type = JL_OPT_CHOICE, .choices = jl_ask_states, .arg = "default|bf16", \
	  .en = "weights and optimizer states: as the framework keeps them, or all in bf16", \
	  .ko = "가중치와 옵티마이저 상태: 프레임워크 기본값 또는 모두 bf16" }, \
	{ .name = "optimizer", .type = JL_OPT_CHOICE, .choices = jl_ask_optimizers, .arg = "foreach|fused", \
	  .en = "AdamW as PyTorch has it by default, or its fused kernel", \
	  .ko = "AdamW 구현: PyTorch 기본값(foreach) 또는 fused 커널" }, \
	{ .name = "offload", .type = JL_OPT_TEXT, .arg = "LIST", .en = "to host memory: optimizer,params,activations", \
	  .ko = "호스트 메모리로 보낼 것: optimizer,params,activations" }, \
	{ .name = "parallel", .type = JL_OPT_TEXT, \
	  .arg = "LIST", .en = "how it is cut: dp=,tp=,sp=,pp=,vpp=,cp=,ep=,zero=", \
	  .ko = "병렬화: dp=,tp=,sp=,pp=,vpp=,cp=,ep=,zero=" }

#define JL_ASK_HOST_OPTIONS \
	{ .name = "input", .type = JL_OPT_CHOICE, .choices = jl_ask_inputs, .arg = "images|images-gpu|tokens|synthetic", \
	  .en = "what samples are: pictures decoded by the CPU or GPU, prepared, or none", \
	  .ko = "입력: CPU 또는 GPU가 디코딩하는 이미지, 준비된 데이터, 합성 데이터" }, \
	JL_ASK_COUNT("cpu-threads", "threads of one host that load samples", "호스트당 데이터 로딩 CPU 스레드 수"), \
	{ .name = "storage", .type = JL_OPT_QUANTITY, .kind = JL_K_BYTE_RATE, .arg = "RATE", \
	  .en = "what one host reads from storage, e.g. \"2 GB/s\" (default: never the bound)", \
	  .ko = "호스트당 저장장치 읽기 속도. 예: \"2 GB/s\" (기본값: 병목 아님)" }, \
	{ .name = "sample-size", .type = JL_OPT_QUANTITY, .kind = JL_K_BYTES, .arg = "BYTES", \
	  .en = "bytes read for one sample, e.g. \"110 kB\"", .ko = "샘플 하나를 읽는 바이트 수. 예: \"110 kB\"" }, \
	{ .name = "decode-time", .type = JL_OPT_QUANTITY, .kind = JL_K_TIME, .arg = "TIME", \
	  .en = "of one CPU thread for one sample, e.g. \"5 ms\"", .ko = "샘플당 CPU 스레드 시간. 예: \"5 ms\"" }, \
	{ .name = "ram", .type = JL_OPT_QUANTITY, .kind = JL_K_BYTES, .arg = "BYTES", \
	  .en = "memory of one host, e.g. \"512 GiB\": what offloading may use", \
	  .ko = "호스트 메모리. 예: \"512 GiB\" (오프로드에 사용)" }, \
	{ .name = "host-power", .type = JL_OPT_QUANTITY, .kind = JL_K_POWER, .arg = "POWER", \
	  .en = "what one host draws beside its GPUs, e.g. \"300 W\"", .ko = "GPU를 뺀 호스트의 소비 전력. 예: \"300 W\"" }

#define JL_ASK_LENGTH_OPTIONS JL_ASK_LENGTH_WITH("epochs of the run (default: 1)", "에폭 수 (기본값: 1)")

#define JL_ASK_LENGTH_WITH(epochs_en, epochs_ko) \
	{ .name = "samples", .type = JL_OPT_COUNT, .min = 1, .max = 1000000000000000LL, \
	  .arg = "N", .en = "samples of an epoch", \
	  .ko = "에폭당 샘플 수" }, \
	{ .name = "tokens", .type = JL_OPT_COUNT, .min = 1, .max = 9000000000000000LL, \
	  .arg = "N", .en = "tokens of an epoch", \
	  .ko = "에폭당 토큰 수" }, \
	{ .name = "steps-per-epoch", .type = JL_OPT_COUNT, .min = 1, .max = 1000000000000LL, \
	  .arg = "N", .en = "steps of an epoch", \
	  .ko = "에폭당 스텝 수" }, \
	{ .name = "epochs", .type = JL_OPT_COUNT, .min = 1, .max = JL_ASK_MAX, \
	  .arg = "N", .en = epochs_en, \
	  .ko = epochs_ko }, \
	{ .name = "pue", .type = JL_OPT_QUANTITY, .kind = JL_K_NUMBER, \
	  .arg = "X", .en = "power of the building / of the machines (default: 1)", \
	  .ko = "건물 전력 / 장비 전력 (기본값: 1)" }
/* clang-format on */

/* The options that were given; the first operand, where there is one, is the model. */
enum jl_status jl_ask_request(struct jl_request *ret_req, struct jl_cli *cli, struct jl_err *err);

#endif
