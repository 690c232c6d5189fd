/* Findings on the GPUs themselves. */
#include <math.h>
#include <stdio.h>

#include "check/machine_parts.h"
#include "probe/rocm_smi.h"

#define GPUS_MAX JL_PROBE_GPUS_MAX

static void no_driver(struct jl_finding_in *in)
{
	const struct jl_probe_machine *machine = in->machine;
	bool marked[GPUS_MAX] = { false };
	char list[JL_GPU_LIST_MAX];
	struct jl_finding *finding;

	for (size_t i = 0; i < machine->n_gpus; i++)
		marked[i] = !machine->gpus[i].nvml && machine->pci[machine->gpus[i].pci].vendor == 0x10de;
	if (!(finding = jl_finding_on(in, "no_driver", JL_FINDING_BAD, marked, list)))
		return;
	jl_bitext_print(&finding->what, "%s: on the bus, but the NVIDIA driver does not know them", list);
	snprintf(finding->why.en, sizeof(finding->why.en), "%.300s", machine->nvml->absent_en);
	snprintf(finding->why.text, sizeof(finding->why.text), "%.300s", machine->nvml->absent_text);
	jl_bitext_print(
		&finding->todo,
		"install the NVIDIA driver; in a container start it with --gpus all (NVIDIA container toolkit)");
}

static void hidden(struct jl_finding_in *in)
{
	struct jl_finding *finding;

	if (in->machine->n_hidden_gpus == 0 || !(finding = jl_finding_add(in, "hidden_gpus", JL_FINDING_NOTE)))
		return;
	jl_bitext_print(&finding->what, "%d more GPUs are on the bus than the driver shows here",
			in->machine->n_hidden_gpus);
	jl_bitext_print(&finding->why, "a container or VM was given a part of them, or one has fallen off the bus");
	jl_bitext_print(&finding->todo, "look for 'Xid' in dmesg on the host if all of them should be here");
}

static void mixed(struct jl_finding_in *in)
{
	struct jl_finding *finding;

	if (!in->machine->mixed || !(finding = jl_finding_add(in, "mixed_gpus", JL_FINDING_WARN)))
		return;
	jl_bitext_print(&finding->what, "GPUs of several kinds");
	jl_bitext_print(&finding->why, "a job over all of them runs at the speed and with the memory of the smallest");
	jl_bitext_print(&finding->todo, "give each job GPUs of one kind (CUDA_VISIBLE_DEVICES)");
}

static void throttled(struct jl_finding_in *in)
{
	static const struct {
		int bits;
		const char *key, *what_en, *why_en, *todo_en;
	} kinds[] = {
		{ JL_THROTTLE_SW_THERMAL | JL_THROTTLE_HW_THERMAL, "hot", JL_N("too hot: clocks are held down now"),
		  JL_N("the GPU lowers its clocks to protect itself from heat"),
		  JL_N("check fans, dust, air flow and the spacing of cards") },
		{ JL_THROTTLE_POWER_BRAKE | JL_THROTTLE_HW_SLOWDOWN, "power_brake",
		  JL_N("slowed by hardware: clocks are held down now"),
		  JL_N("the power supply requested less power, or the board is too hot"),
		  JL_N("check the power supplies and their cables") },
		{ JL_THROTTLE_POWER_CAP, "power_cap", JL_N("at their power limit now"),
		  JL_N("full load; clocks follow the limit"),
		  JL_N("normal under load; a higher limit (nvidia-smi -pl) would give more clock where it is "
		       "allowed") },
	};
	const struct jl_probe_machine *machine = in->machine;

	for (size_t k = 0; k < JL_LEN(kinds); k++) {
		bool marked[GPUS_MAX] = { false };
		char list[JL_GPU_LIST_MAX];

		for (size_t i = 0; i < machine->n_gpus; i++)
			marked[i] = machine->gpus[i].nvml && machine->gpus[i].nvml->throttle > 0 &&
				    (machine->gpus[i].nvml->throttle & kinds[k].bits);
		if (!jl_finding_gpus(list, marked, machine->n_gpus))
			continue;
		struct jl_finding *finding = jl_finding_add(
			in, kinds[k].key, kinds[k].bits == JL_THROTTLE_POWER_CAP ? JL_FINDING_NOTE : JL_FINDING_BAD);
		if (!finding)
			return;
		jl_bitext_print(&finding->what, "%s: {%s}", list, kinds[k].what_en);
		jl_bitext_print(&finding->why, "{%s}", kinds[k].why_en);
		jl_bitext_print(&finding->todo, "{%s}", kinds[k].todo_en);
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
	if (!(finding = jl_finding_on(in, "power_limit", JL_FINDING_WARN, marked, list)))
		return;
	jl_bitext_print(&finding->what, "%s: power limit %.0f W, by default %.0f W", list, least_W, default_W);
	jl_bitext_print(&finding->why, "it is below the default: less heat, but lower clocks under full load");
	jl_bitext_print(&finding->todo, "if that is not on purpose: %s %.0f",
			jl_rocm_smi_said(machine->nvml) ? "rocm-smi --setpoweroverdrive" : "nvidia-smi -pl", default_W);
}

static void ecc_off(struct jl_finding_in *in)
{
	bool off[GPUS_MAX] = { false };
	char list[JL_GPU_LIST_MAX];
	struct jl_finding *finding;
	size_t n_on = 0;

	for (size_t i = 0; i < in->machine->n_gpus; i++) {
		const struct jl_nvml_gpu *nvml = in->machine->gpus[i].nvml;

		off[i] = nvml && nvml->ecc == 0;
		n_on += nvml && nvml->ecc == 1;
	}
	if (!(finding = jl_finding_on(in, "ecc_off", n_on ? JL_FINDING_WARN : JL_FINDING_NOTE, off, list)))
		return;
	jl_bitext_print(&finding->what, "%s: ECC is off", list);
	jl_bitext_print(&finding->why,
			"bit errors in memory go unnoticed; GDDR cards gain some memory and speed that way");
	jl_bitext_print(&finding->todo, "nvidia-smi -e 1 for long runs; then restart");
}

#define SHOWS(name, condition)                                                                                         \
	static bool name(const struct jl_probe_machine *machine, const struct jl_probe_gpu *gpu)                       \
	{                                                                                                              \
		const struct jl_nvml_gpu *nvml = gpu->nvml;                                                            \
                                                                                                                       \
		(void)machine;                                                                                         \
		return nvml && (condition);                                                                            \
	}
SHOWS(ecc_pending, nvml->ecc >= 0 && nvml->ecc_pending >= 0 && nvml->ecc != nvml->ecc_pending)
SHOWS(not_persistent, nvml->persistence == 0)
SHOWS(cut_up, nvml->mig == 1)

static const struct jl_gpu_look looks[] = {
	{ "ecc_pending", JL_FINDING_NOTE, ecc_pending, JL_N("%s: ECC changes at the next restart"),
	  JL_N("the setting was changed and waits"), JL_N("restart, or nvidia-smi -r on idle GPUs") },
	{ "persistence_off", JL_FINDING_NOTE, not_persistent, JL_N("%s: persistence mode is off"),
	  JL_N("the driver unloads for idle GPUs: the first job starts seconds late and settings are lost"),
	  JL_N("systemctl enable --now nvidia-persistenced") },
	{ "mig", JL_FINDING_NOTE, cut_up, JL_N("%s: cut into instances (MIG)"),
	  JL_N("an instance has a part of the GPU and no P2P; predictions are for the whole"),
	  JL_N("nvidia-smi -mig 0 to train on whole GPUs") },
};

void jl_findings_gpus(struct jl_finding_in *in)
{
	no_driver(in);
	hidden(in);
	mixed(in);
	throttled(in);
	power_limit(in);
	ecc_off(in);
	jl_finding_look(in, looks, JL_LEN(looks));
}
