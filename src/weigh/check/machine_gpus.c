/* Findings on the GPUs themselves. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check/machine_parts.h"

#define GPUS_MAX JL_PROBE_GPUS_MAX

static void no_driver(struct jl_finding_in *in)
{
	const struct jl_probe_machine *machine = in->machine;
	bool marked[GPUS_MAX] = { false };
	char list[JL_GPU_LIST_MAX];
	struct jl_finding *finding;

	for (size_t i = 0; i < machine->n_gpus; i++)
		marked[i] = !machine->gpus[i].nvml && machine->pci[machine->gpus[i].pci].vendor == 0x10de;
	if (!jl_finding_gpus(list, marked, machine->n_gpus) ||
	    !(finding = jl_finding_add(in, "no_driver", JL_FINDING_BAD)))
		return;
	jl_finding_say(&finding->what, "%s: on the bus, but the NVIDIA driver does not know them",
		       "%s: 버스에는 있으나 NVIDIA 드라이버가 인식하지 못함", list);
	snprintf(finding->why.en, sizeof(finding->why.en), "%.300s", machine->nvml->absent_en);
	snprintf(finding->why.ko, sizeof(finding->why.ko), "%.300s", machine->nvml->absent_ko);
	jl_finding_say(&finding->todo,
		       "install the NVIDIA driver; in a container start it with --gpus all (NVIDIA container toolkit)",
		       "NVIDIA 드라이버를 설치하세요. 컨테이너라면 --gpus all로 시작하세요 (NVIDIA container toolkit)");
}

static void hidden(struct jl_finding_in *in)
{
	struct jl_finding *finding;

	if (in->machine->n_hidden_gpus == 0 || !(finding = jl_finding_add(in, "hidden_gpus", JL_FINDING_NOTE)))
		return;
	jl_finding_say(&finding->what, "%d more NVIDIA GPUs are on the bus than the driver shows here",
		       "드라이버가 보여 주는 것보다 NVIDIA GPU가 버스에 %d개 더 있음", in->machine->n_hidden_gpus);
	jl_finding_say(&finding->why, "a container or VM was given a part of them, or one has fallen off the bus",
		       "컨테이너나 VM에 일부만 할당되었거나, GPU가 버스에서 떨어졌을 수 있습니다");
	jl_finding_say(&finding->todo, "look for 'Xid' in dmesg on the host if all of them should be here",
		       "모두 보여야 한다면 호스트의 dmesg에서 'Xid'를 찾아보세요");
}

static void mixed(struct jl_finding_in *in)
{
	struct jl_finding *finding;

	if (!in->machine->mixed || !(finding = jl_finding_add(in, "mixed_gpus", JL_FINDING_WARN)))
		return;
	jl_finding_say(&finding->what, "GPUs of several kinds", "여러 종류의 GPU가 섞여 있음");
	jl_finding_say(&finding->why, "a job over all of them runs at the pace and with the memory of the least",
		       "모두 함께 쓰면 가장 느리고 메모리가 작은 GPU에 맞춰집니다");
	jl_finding_say(&finding->todo, "give each job GPUs of one kind (CUDA_VISIBLE_DEVICES)",
		       "작업마다 같은 종류의 GPU만 쓰세요 (CUDA_VISIBLE_DEVICES)");
}

static void throttled(struct jl_finding_in *in)
{
	static const struct {
		int bits;
		const char *key, *what_en, *what_ko, *why_en, *why_ko, *todo_en, *todo_ko;
	} kinds[] = {
		{ JL_THROTTLE_SW_THERMAL | JL_THROTTLE_HW_THERMAL, "hot", "too hot: clocks are held down now",
		  "과열로 지금 클럭이 제한됨", "the GPU protects itself from heat",
		  "GPU가 열로부터 스스로를 보호합니다", "look at fans, dust, air flow and the spacing of cards",
		  "팬, 먼지, 공기 흐름, 카드 간격을 확인하세요" },
		{ JL_THROTTLE_POWER_BRAKE | JL_THROTTLE_HW_SLOWDOWN, "power_brake",
		  "slowed by hardware: clocks are held down now", "하드웨어가 지금 클럭을 제한함",
		  "the supply asked for less power, or the board is too hot",
		  "전원 장치가 전력을 줄이라고 했거나 보드가 과열되었습니다",
		  "look at the power supplies and their cables", "파워와 전원 케이블을 확인하세요" },
		{ JL_THROTTLE_POWER_CAP, "power_cap", "at their power limit now", "지금 전력 한도에 도달함",
		  "full load; clocks follow the limit", "최대 부하이며 클럭이 한도에 따라 정해집니다",
		  "normal under load; a higher limit (nvidia-smi -pl) would give more clock where it is allowed",
		  "부하 중에는 정상입니다. 허용된다면 한도를 올려(nvidia-smi -pl) 클럭을 높일 수 있습니다" },
	};
	const struct jl_probe_machine *machine = in->machine;

	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		bool marked[GPUS_MAX] = { false };
		char list[JL_GPU_LIST_MAX];
		struct jl_finding *finding;

		for (size_t i = 0; i < machine->n_gpus; i++)
			marked[i] = machine->gpus[i].nvml && machine->gpus[i].nvml->throttle > 0 &&
				    (machine->gpus[i].nvml->throttle & kinds[k].bits);
		if (!jl_finding_gpus(list, marked, machine->n_gpus))
			continue;
		finding = jl_finding_add(in, kinds[k].key,
					 kinds[k].bits == JL_THROTTLE_POWER_CAP ? JL_FINDING_NOTE : JL_FINDING_BAD);
		if (!finding)
			return;
		snprintf(finding->what.en, sizeof(finding->what.en), "%s: %s", list, kinds[k].what_en);
		snprintf(finding->what.ko, sizeof(finding->what.ko), "%s: %s", list, kinds[k].what_ko);
		snprintf(finding->why.en, sizeof(finding->why.en), "%s", kinds[k].why_en);
		snprintf(finding->why.ko, sizeof(finding->why.ko), "%s", kinds[k].why_ko);
		snprintf(finding->todo.en, sizeof(finding->todo.en), "%s", kinds[k].todo_en);
		snprintf(finding->todo.ko, sizeof(finding->todo.ko), "%s", kinds[k].todo_ko);
	}
}

static void power_limit(struct jl_finding_in *in)
{
	const struct jl_probe_machine *machine = in->machine;
	bool marked[GPUS_MAX] = { false };
	double least_W = INFINITY, default_W = NAN;
	char list[JL_GPU_LIST_MAX];
	struct jl_finding *finding;

	for (size_t i = 0; i < machine->n_gpus; i++) {
		const struct jl_nvml_gpu *nvml = machine->gpus[i].nvml;

		marked[i] = nvml && nvml->limit_W < nvml->limit_default_W * 0.99;
		if (marked[i] && nvml->limit_W < least_W) {
			least_W = nvml->limit_W;
			default_W = nvml->limit_default_W;
		}
	}
	if (!jl_finding_gpus(list, marked, machine->n_gpus) ||
	    !(finding = jl_finding_add(in, "power_limit", JL_FINDING_WARN)))
		return;
	jl_finding_say(&finding->what, "%s: power limit %.0f W, by default %.0f W",
		       "%s: 전력 한도 %.0f W (기본값 %.0f W)", list, least_W, default_W);
	jl_finding_say(&finding->why, "somebody lowered it: less heat, but lower clocks under full load",
		       "누군가 낮췄습니다. 열은 줄지만 최대 부하에서 클럭이 낮아집니다");
	jl_finding_say(&finding->todo, "if that is not on purpose: nvidia-smi -pl %.0f",
		       "의도한 것이 아니라면: nvidia-smi -pl %.0f", default_W);
}

static void ecc(struct jl_finding_in *in)
{
	const struct jl_probe_machine *machine = in->machine;
	bool off[GPUS_MAX] = { false }, pending[GPUS_MAX] = { false };
	char list[JL_GPU_LIST_MAX];
	struct jl_finding *finding;
	size_t n_on = 0;

	for (size_t i = 0; i < machine->n_gpus; i++) {
		const struct jl_nvml_gpu *nvml = machine->gpus[i].nvml;

		off[i] = nvml && nvml->ecc == 0;
		n_on += nvml && nvml->ecc == 1;
		pending[i] = nvml && nvml->ecc >= 0 && nvml->ecc_pending >= 0 && nvml->ecc != nvml->ecc_pending;
	}
	if (jl_finding_gpus(list, off, machine->n_gpus) &&
	    (finding = jl_finding_add(in, "ecc_off", n_on ? JL_FINDING_WARN : JL_FINDING_NOTE)) != NULL) {
		jl_finding_say(&finding->what, "%s: ECC is off", "%s: ECC가 꺼져 있음", list);
		jl_finding_say(&finding->why,
			       "bit errors in memory go unnoticed; GDDR cards gain some memory and speed that way",
			       "메모리 비트 오류를 알 수 없습니다. GDDR 카드는 대신 메모리와 속도를 조금 얻습니다");
		jl_finding_say(&finding->todo, "nvidia-smi -e 1 for long runs; then restart",
			       "오래 학습한다면 nvidia-smi -e 1을 실행하고 재시작하세요");
	}
	if (jl_finding_gpus(list, pending, machine->n_gpus) &&
	    (finding = jl_finding_add(in, "ecc_pending", JL_FINDING_NOTE)) != NULL) {
		jl_finding_say(&finding->what, "%s: ECC changes at the next restart",
			       "%s: 다음 재시작 때 ECC 설정이 바뀜", list);
		jl_finding_say(&finding->why, "the setting was changed and waits",
			       "설정이 바뀌었고 아직 적용되지 않았습니다");
		jl_finding_say(&finding->todo, "restart, or nvidia-smi -r on idle GPUs",
			       "재시작하거나, 쓰지 않는 GPU라면 nvidia-smi -r");
	}
}

static void persistence(struct jl_finding_in *in)
{
	const struct jl_probe_machine *machine = in->machine;
	bool marked[GPUS_MAX] = { false };
	char list[JL_GPU_LIST_MAX];
	struct jl_finding *finding;

	for (size_t i = 0; i < machine->n_gpus; i++)
		marked[i] = machine->gpus[i].nvml && machine->gpus[i].nvml->persistence == 0;
	if (!jl_finding_gpus(list, marked, machine->n_gpus) ||
	    !(finding = jl_finding_add(in, "persistence_off", JL_FINDING_NOTE)))
		return;
	jl_finding_say(&finding->what, "%s: persistence mode is off", "%s: persistence mode가 꺼져 있음", list);
	jl_finding_say(&finding->why,
		       "the driver lets go of idle GPUs: the first job waits for seconds, settings get lost",
		       "쓰지 않는 GPU를 드라이버가 내려놓아 첫 작업이 몇 초 늦고 설정이 사라집니다");
	jl_finding_say(&finding->todo, "systemctl enable --now nvidia-persistenced",
		       "systemctl enable --now nvidia-persistenced");
}

static void mig(struct jl_finding_in *in)
{
	const struct jl_probe_machine *machine = in->machine;
	bool marked[GPUS_MAX] = { false };
	char list[JL_GPU_LIST_MAX];
	struct jl_finding *finding;

	for (size_t i = 0; i < machine->n_gpus; i++)
		marked[i] = machine->gpus[i].nvml && machine->gpus[i].nvml->mig == 1;
	if (!jl_finding_gpus(list, marked, machine->n_gpus) || !(finding = jl_finding_add(in, "mig", JL_FINDING_NOTE)))
		return;
	jl_finding_say(&finding->what, "%s: cut into instances (MIG)", "%s: MIG로 나뉘어 있음", list);
	jl_finding_say(&finding->why, "an instance has a part of the GPU and no P2P; predictions are for the whole",
		       "인스턴스는 GPU의 일부이고 P2P가 없습니다. 예측은 GPU 전체 기준입니다");
	jl_finding_say(&finding->todo, "nvidia-smi -mig 0 to train on whole GPUs",
		       "GPU 전체로 학습하려면 nvidia-smi -mig 0");
}

void jl_findings_gpus(struct jl_finding_in *in)
{
	no_driver(in);
	hidden(in);
	mixed(in);
	throttled(in);
	power_limit(in);
	ecc(in);
	persistence(in);
	mig(in);
}
