/* Findings on what joins the GPUs: peer-to-peer, bridges, links below what they could be. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "catalog/find.h"
#include "check/machine_parts.h"

static const char *const p2p_reasons_en[JL_N_P2P] = {
	[JL_P2P_OK] = "ok",
	[JL_P2P_CNS] = "chipset",
	[JL_P2P_GNS] = "GPU",
	[JL_P2P_TNS] = "topology",
	[JL_P2P_DR] = "disabled by a registry key",
	[JL_P2P_NS] = "not supported",
	[JL_P2P_U] = "unknown",
};

static const char *const p2p_reasons_ko[JL_N_P2P] = {
	[JL_P2P_OK] = "정상",          [JL_P2P_CNS] = "칩셋",  [JL_P2P_GNS] = "GPU",      [JL_P2P_TNS] = "토폴로지",
	[JL_P2P_DR] = "설정으로 꺼짐", [JL_P2P_NS] = "미지원", [JL_P2P_U] = "알 수 없음",
};

static void no_p2p(struct jl_finding_in *in)
{
	const struct jl_probe_machine *machine = in->machine;
	const unsigned char *cells = machine->nvml->p2p[JL_P2P_READ];
	size_t n = machine->nvml->n_gpus, bad = 0;
	bool marked[JL_NVML_GPUS_MAX] = { false };
	enum jl_p2p_state state = JL_P2P_OK;
	char list[JL_GPU_LIST_MAX];
	struct jl_finding *finding;

	for (size_t i = 0; cells && i < n * n; i++)
		if (cells[i] != JL_P2P_OK && cells[i] != JL_P2P_U) {
			state = (enum jl_p2p_state)cells[i];
			marked[i / n] = marked[i % n] = true;
			bad++;
		}
	if (!bad || !(finding = jl_finding_add(in, "no_p2p", JL_FINDING_BAD)))
		return;
	jl_finding_gpus(list, marked, n);
	snprintf(finding->what.en, sizeof(finding->what.en), "%s: no P2P (%s, state %s), %zu of %zu pairs", list,
		 p2p_reasons_en[state], jl_p2p_names[state], bad / 2, n * (n - 1) / 2);
	snprintf(finding->what.ko, sizeof(finding->what.ko), "%s: P2P 불가 (%s, 상태 %s), %zu쌍 중 %zu쌍", list,
		 p2p_reasons_ko[state], jl_p2p_names[state], n * (n - 1) / 2, bad / 2);
	jl_finding_say(&finding->why,
		       "every transfer between GPUs crosses host memory, twice, and they share its bandwidth",
		       "GPU 사이의 모든 전송이 호스트 메모리를 두 번 거치고, 그 대역폭을 GPU들이 나눠 씁니다");
	jl_finding_say(&finding->todo,
		       "train on few GPUs or exchange less often (accumulation, ZeRO); run inference on each GPU alone",
		       "GPU를 적게 쓰거나 통신을 줄이고(그래디언트 누적, ZeRO), 추론은 GPU별로 따로 돌리세요");
}

static bool bridgeable(const struct jl_finding_in *in, const struct jl_probe_gpu *gpu)
{
	const struct jl_link_info *link = gpu->listed ? jl_link_by_id(in->cat, gpu->listed->link) : NULL;

	return link && link->kind && strcmp(link->kind, "nvlink-bridge") == 0 && gpu->nvml && gpu->nvml->n_links == 0;
}

/* Cards behind one switch stand side by side: pairs in the order of the bus. */
static size_t bridge_pairs(const struct jl_finding_in *in, char *out, size_t size, size_t *ret_n_gpus)
{
	const struct jl_probe_machine *machine = in->machine;
	bool taken[JL_PROBE_GPUS_MAX] = { false };
	size_t n = 0, len = 0;

	*ret_n_gpus = 0;
	out[0] = '\0';
	for (size_t a = 0; a < machine->n_gpus; a++) {
		*ret_n_gpus += bridgeable(in, &machine->gpus[a]);
		for (size_t b = a + 1; b < machine->n_gpus && !taken[a]; b++) {
			if (taken[b] || !bridgeable(in, &machine->gpus[a]) || !bridgeable(in, &machine->gpus[b]) ||
			    machine->gpus[a].shares < 0 || machine->gpus[a].shares != machine->gpus[b].shares ||
			    jl_probe_path(machine, a, b) != JL_PATH_PIX)
				continue;
			taken[a] = taken[b] = true;
			n++;
			if (len + 24 < size)
				len += (size_t)snprintf(out + len, size - len, "%s%zu+%zu", len ? ", " : "", a, b);
		}
	}
	return n;
}

/* Two GPUs as they are and with a bridge, over one. */
static void bridge_gain(const struct jl_finding_in *in, struct jl_finding *finding)
{
	const struct jl_gpu *gpu = in->machine->gpus[0].listed;
	const struct jl_link_info *bridge = jl_probe_join(in->cat, "bridge-pair", gpu ? gpu->link : NULL,
							  in->machine->join);
	double one, now, then;

	if (!bridge || !in->machine->join || in->machine->mixed)
		return;
	one = jl_finding_samples_per_s(in, gpu->id);
	now = jl_finding_samples_per_s(in, jl_arena_printf(in->arena, "2x %s via %s", gpu->id, in->machine->join));
	then = jl_finding_samples_per_s(in, jl_arena_printf(in->arena, "2x %s via %s", gpu->id, bridge->id));
	if (!(then > now))
		return;
	finding->before = now / one;
	finding->after = then / one;
	finding->gain_gpus = 2;
}

static void bridges(struct jl_finding_in *in)
{
	char pairs[160];
	size_t n_gpus, n = bridge_pairs(in, pairs, sizeof(pairs), &n_gpus);
	struct jl_finding *finding;

	if (n_gpus < 2 || !(finding = jl_finding_add(in, "nvlink_bridge", JL_FINDING_WARN)))
		return;
	bridge_gain(in, finding);
	if (finding->after < 1.05 * finding->before)
		finding->severity = JL_FINDING_NOTE;
	if (n > 1)
		jl_finding_say(&finding->what, "GPU %s: each pair shares a PCIe switch and can take an NVLink bridge",
			       "GPU %s: 쌍마다 같은 PCIe 스위치에 있어 NVLink 브리지를 달 수 있음", pairs);
	else if (n == 1)
		jl_finding_say(&finding->what, "GPU %s share a PCIe switch and can take an NVLink bridge",
			       "GPU %s: 같은 PCIe 스위치에 있어 NVLink 브리지를 달 수 있음", pairs);
	else
		jl_finding_say(&finding->what, "GPUs that stand side by side can take an NVLink bridge; none is there",
			       "나란히 꽂힌 GPU는 NVLink 브리지로 이을 수 있으나 브리지가 없음");
	jl_finding_say(&finding->why, "the bridge carries what goes through PCIe now; it joins pairs, no more",
		       "지금 PCIe로 가는 데이터가 브리지로 갑니다. 두 장씩만 이어집니다");
	if (!isnan(finding->before))
		jl_finding_say(&finding->todo,
			       "bridges that fit the slot spacing; predicted on 2 GPUs (gpt-305m): %.2fx → %.2fx",
			       "슬롯 간격에 맞는 브리지를 다세요. 2장 예측(gpt-305m): %.2f배 → %.2f배", finding->before,
			       finding->after);
	else
		jl_finding_say(&finding->todo, "bridges that fit the slot spacing", "슬롯 간격에 맞는 브리지를 다세요");
}

/* What all GPUs would gain if the slowest link were as its card could be. */
static void link_gain(const struct jl_finding_in *in, struct jl_finding *finding)
{
	const struct jl_probe_machine *machine = in->machine;
	const struct jl_gpu *gpu = machine->gpus[0].listed;
	const struct jl_link_info *join = jl_link_by_id(in->cat, machine->join);
	bool is_pcie = join && join->kind && strcmp(join->kind, "pcie") == 0;
	int gen = gpu && gpu->pcie ? gpu->pcie[4] - '0' : 0;
	double one, now, then;

	if (!machine->system || !is_pcie || gen < 3 || gen > 5)
		return;
	one = jl_finding_samples_per_s(in, gpu->id);
	now = jl_finding_samples_per_s(in, machine->system);
	then = jl_finding_samples_per_s(in, jl_arena_printf(in->arena, "%zux %s via pcie%d%s", machine->n_gpus, gpu->id,
							    gen, strstr(join->id, "no-p2p") ? "-no-p2p" : ""));
	if (!(then > now * 1.02))
		return;
	finding->before = now / one;
	finding->after = then / one;
	finding->gain_gpus = (int)machine->n_gpus;
}

enum narrow { NARROW_NO, NARROW_SLOT, NARROW_TRAINED, NARROW_IDLE };

/* Width does not step down at idle; speed does, so a slow one only counts while it copies. */
static enum narrow narrow(const struct jl_probe_gpu *gpu)
{
	double most = jl_probe_pcie_Bps(gpu->most), card = jl_probe_pcie_Bps(gpu->card);

	if (gpu->now.width > 0 && gpu->now.width < gpu->most.width)
		return NARROW_TRAINED;
	if (gpu->now.gen > 0 && gpu->now.gen < gpu->most.gen)
		return gpu->under_load ? NARROW_TRAINED : NARROW_IDLE;
	return most < card * 0.99 ? NARROW_SLOT : NARROW_NO;
}

static void link_text(char out[64], const struct jl_probe_gpu *gpu)
{
	struct jl_pci_link now = jl_probe_link(gpu);

	snprintf(out, 64, "gen%d x%d of gen%d x%d", now.gen, now.width, gpu->card.gen, gpu->card.width);
}

static void slow_links(struct jl_finding_in *in)
{
	const struct jl_probe_machine *machine = in->machine;
	bool done[JL_PROBE_GPUS_MAX] = { false };

	for (size_t a = 0; a < machine->n_gpus; a++) {
		enum narrow how = narrow(&machine->gpus[a]);
		bool marked[JL_PROBE_GPUS_MAX] = { false };
		char text[64], other[64], list[JL_GPU_LIST_MAX];
		struct jl_pci_link now = jl_probe_link(&machine->gpus[a]), card = machine->gpus[a].card;
		struct jl_finding *finding;

		if (done[a] || (how != NARROW_SLOT && how != NARROW_TRAINED))
			continue;
		link_text(text, &machine->gpus[a]);
		for (size_t b = a; b < machine->n_gpus; b++) {
			link_text(other, &machine->gpus[b]);
			marked[b] = narrow(&machine->gpus[b]) == how && strcmp(text, other) == 0;
			done[b] = done[b] || marked[b];
		}
		jl_finding_gpus(list, marked, machine->n_gpus);
		finding = jl_finding_add(in, "slow_link", how == NARROW_TRAINED ? JL_FINDING_BAD : JL_FINDING_WARN);
		if (!finding)
			return;
		jl_finding_say(&finding->what, "%s: link runs at gen%d x%d of gen%d x%d",
			       "%s: 링크가 gen%d x%d로 동작 (가능: gen%d x%d)", list, now.gen, now.width, card.gen,
			       card.width);
		link_gain(in, finding);
		if (how == NARROW_SLOT)
			jl_finding_say(&finding->why, "the slot or riser above it has no more than that",
				       "슬롯이나 라이저가 그만큼만 지원합니다");
		else
			jl_finding_say(&finding->why, "card and slot can do gen%d x%d; the link was trained below that",
				       "카드와 슬롯은 gen%d x%d까지 되는데 링크가 그보다 낮게 잡혔습니다",
				       machine->gpus[a].most.gen, machine->gpus[a].most.width);
		jl_finding_say(&finding->todo,
			       how == NARROW_SLOT ? "move it to a wider slot, or look at bifurcation in the BIOS"
						  : "reseat card and riser, look at the slot's setting in the BIOS",
			       how == NARROW_SLOT ? "더 넓은 슬롯으로 옮기거나 BIOS의 bifurcation 설정을 확인하세요"
						  : "카드와 라이저를 다시 꽂고 BIOS의 슬롯 설정을 확인하세요");
		if (!isnan(finding->before)) {
			size_t en = strlen(finding->todo.en), ko = strlen(finding->todo.ko);

			snprintf(finding->todo.en + en, sizeof(finding->todo.en) - en,
				 "; predicted on %d GPUs with full links: %.2fx → %.2fx", finding->gain_gpus,
				 finding->before, finding->after);
			snprintf(finding->todo.ko + ko, sizeof(finding->todo.ko) - ko,
				 ". 모두 제 속도일 때 %d장 예측: %.2f배 → %.2f배", finding->gain_gpus, finding->before,
				 finding->after);
		}
	}
}

static void idle_links(struct jl_finding_in *in)
{
	bool marked[JL_PROBE_GPUS_MAX] = { false };
	char list[JL_GPU_LIST_MAX];
	struct jl_finding *finding;

	for (size_t i = 0; i < in->machine->n_gpus; i++)
		marked[i] = narrow(&in->machine->gpus[i]) == NARROW_IDLE;
	if (!jl_finding_gpus(list, marked, in->machine->n_gpus) ||
	    !(finding = jl_finding_add(in, "idle_link", JL_FINDING_NOTE)))
		return;
	jl_finding_say(&finding->what, "%s: links were read at idle", "%s: 링크를 유휴 상태에서 읽음", list);
	jl_finding_say(&finding->why, "idle links step down to save power, so this says nothing about their speed",
		       "유휴 링크는 절전을 위해 느려지므로 실제 속도는 알 수 없습니다");
	jl_finding_say(&finding->todo, "run jeoul probe while something uses the GPUs, or as a user who may use CUDA",
		       "GPU를 쓰는 중에 또는 CUDA를 쓸 수 있는 사용자로 jeoul probe를 다시 실행하세요");
}

/* A switch link that is down is easily overlooked: everything works, only slower. */
static void missing_nvlinks(struct jl_finding_in *in)
{
	const struct jl_probe_machine *machine = in->machine;
	bool marked[JL_PROBE_GPUS_MAX] = { false };
	int most = 0, least = JL_NVML_LINKS_MAX;
	char list[JL_GPU_LIST_MAX];
	struct jl_finding *finding;

	for (size_t i = 0; i < machine->n_gpus; i++)
		if (machine->gpus[i].nvml && machine->gpus[i].nvml->n_links > most)
			most = machine->gpus[i].nvml->n_links;
	for (size_t i = 0; i < machine->n_gpus; i++) {
		int n = machine->gpus[i].nvml ? machine->gpus[i].nvml->n_links : most;
		const struct jl_link_info *wire = machine->gpus[i].listed
							  ? jl_link_by_id(in->cat, machine->gpus[i].listed->link)
							  : NULL;

		if (wire && jl_fact_known(&wire->n_links) && jl_probe_nvswitched(machine, i) &&
		    wire->n_links.value > most)
			most = (int)wire->n_links.value;
		marked[i] = n > 0 && n < most && jl_probe_nvswitched(machine, i);
		if (marked[i] && n < least)
			least = n;
	}
	if (!jl_finding_gpus(list, marked, machine->n_gpus) ||
	    !(finding = jl_finding_add(in, "nvlink_down", JL_FINDING_BAD)))
		return;
	jl_finding_say(&finding->what, "%s: %d of %d NVLinks are up", "%s: NVLink %d개만 동작 (전체 %d개)", list, least,
		       most);
	jl_finding_say(&finding->why, "collectives run at the pace of the GPU with the fewest links",
		       "집합 통신은 링크가 가장 적은 GPU의 속도를 따릅니다");
	jl_finding_say(&finding->todo, "look at nvidia-smi nvlink -s -e and the fabric manager's log",
		       "nvidia-smi nvlink -s -e와 fabric manager 로그를 확인하세요");
}

/* ACS sends what passes between two ports of a switch up to the root, where it may also be translated. */
static void access_control(struct jl_finding_in *in)
{
	enum { REDIRECT = 0x001c };
	const struct jl_probe_machine *machine = in->machine;
	bool marked[JL_PROBE_GPUS_MAX] = { false };
	char list[JL_GPU_LIST_MAX];
	struct jl_finding *finding;

	for (size_t i = 0; i < machine->n_gpus && machine->n_gpus > 1; i++)
		for (int at = machine->gpus[i].pci < 0 ? -1 : machine->pci[machine->gpus[i].pci].parent; at >= 0;
		     at = machine->pci[at].parent) {
			unsigned control = 0;

			if (machine->pci[at].acs && sscanf(machine->pci[at].acs, "0x%x", &control) == 1)
				marked[i] = marked[i] || (control & REDIRECT);
		}
	if (!jl_finding_gpus(list, marked, machine->n_gpus) || !(finding = jl_finding_add(in, "acs", JL_FINDING_WARN)))
		return;
	jl_finding_say(&finding->what, "%s: PCIe access control (ACS) is on above them",
		       "%s: 상위 PCIe 포트의 ACS가 켜져 있음", list);
	jl_finding_say(&finding->why, "peer traffic goes up to the processor instead of straight through the switch",
		       "GPU 사이의 데이터가 스위치에서 바로 가지 않고 CPU까지 올라갑니다");
	jl_finding_say(&finding->todo,
		       "switch ACS off in the BIOS, or with setpci on those bridges, unless VMs need it",
		       "가상 머신에 필요하지 않다면 BIOS나 setpci로 해당 브리지의 ACS를 끄세요");
}

static void iommu(struct jl_finding_in *in)
{
	const struct jl_probe_machine *machine = in->machine;
	bool marked[JL_PROBE_GPUS_MAX] = { false };
	char list[JL_GPU_LIST_MAX];
	struct jl_finding *finding;

	for (size_t i = 0; i < machine->n_gpus; i++) {
		const char *type = machine->gpus[i].pci < 0 ? NULL : machine->pci[machine->gpus[i].pci].iommu_type;

		marked[i] = type && strcmp(type, "identity") != 0;
	}
	if (!jl_finding_gpus(list, marked, machine->n_gpus) ||
	    !(finding = jl_finding_add(in, "iommu", JL_FINDING_WARN)))
		return;
	jl_finding_say(&finding->what, "%s: the IOMMU translates their memory accesses",
		       "%s: IOMMU가 메모리 접근을 변환함", list);
	jl_finding_say(&finding->why, "each transfer is looked up; P2P is slower and on some boards fails",
		       "전송마다 주소를 변환하므로 P2P가 느려지고, 일부 보드에서는 실패합니다");
	jl_finding_say(&finding->todo, "boot with iommu=pt, or switch it off in the BIOS where no VM needs it",
		       "iommu=pt로 부팅하거나, 가상 머신을 쓰지 않으면 BIOS에서 끄세요");
}

void jl_findings_links(struct jl_finding_in *in)
{
	no_p2p(in);
	bridges(in);
	slow_links(in);
	missing_nvlinks(in);
	access_control(in);
	iommu(in);
	idle_links(in);
}
