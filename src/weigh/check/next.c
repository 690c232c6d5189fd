#include "check/next.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static void add(struct jl_next *a, const char *en, const char *ko, ...)
	__attribute__((format(printf, 2, 4), format(printf, 3, 4)));

static void add(struct jl_next *a, const char *en, const char *ko, ...)
{
	va_list args;

	if (a->n == JL_NEXT_MAX)
		return;
	va_start(args, ko);
	jl_both_text(a->items[a->n].en, a->items[a->n].ko, sizeof(a->items[a->n].en), en, ko, args);
	va_end(args);
	a->n++;
}

/* Networks: how to see that the fast path is taken. */
static void look_at_network(struct jl_next *a, enum jl_wire inter)
{
	switch (inter) {
	case JL_WIRE_EFA:
		add(a, "NCCL_DEBUG=INFO must say NET/OFI and efa (aws-ofi-nccl); NET/Socket is TCP",
		    "NCCL_DEBUG=INFO에 NET/OFI와 efa(aws-ofi-nccl)가 나와야 함. NET/Socket이면 TCP로 도는 것");
		break;
	case JL_WIRE_IB:
	case JL_WIRE_ROCE:
		add(a, "NCCL_DEBUG=INFO must say NET/IB with GDRDMA for every NIC (NCCL_IB_HCA, nvidia-peermem)",
		    "NCCL_DEBUG=INFO에 NIC마다 NET/IB와 GDRDMA가 나와야 함 (NCCL_IB_HCA, nvidia-peermem)");
		break;
	default:
		add(a, "measure the network alone: jeoul bench net --to HOST --streams 4",
		    "네트워크만 따로 측정: jeoul bench net --to HOST --streams 4");
		break;
	}
}

static void low_collective(struct jl_next *a, const struct jl_next_ask *ask)
{
	const struct jl_collective_case *c = &ask->coll->c;

	if (c->n_nodes > 1) {
		look_at_network(a, ask->inter);
		if (c->n_nodes > 3)
			add(a, "halve the hosts and measure again: the half that stays slow has the bad host or NIC",
			    "호스트를 절반씩 나눠 다시 측정: 계속 느린 쪽에 문제가 있는 호스트나 NIC이 있음");
		if (c->kind == JL_ALLREDUCE)
			add(a, "NCCL_ALGO=Ring, then Tree: the model has %s as the fastest here",
			    "NCCL_ALGO=Ring과 Tree를 차례로 시도: 모델로는 %s이(가) 가장 빠름",
			    jl_algorithm_name(c->algorithm));
		add(a, "on each host: all NICs up at full rate, and on the NUMA node of their GPU (jeoul probe)",
		    "호스트마다: 모든 NIC이 최고 속도로 연결됐는지, GPU와 같은 NUMA 노드에 있는지 (jeoul probe)");
		return;
	}
	if (ask->intra == JL_WIRE_PCIE_HOST || ask->intra == JL_WIRE_PCIE_P2P || ask->intra == JL_WIRE_BRIDGE)
		add(a, "P2P and PCIe links: jeoul probe shows the matrix, narrow links and shared root complexes",
		    "P2P와 PCIe 링크: jeoul probe가 P2P 표, 좁아진 링크, 공유 루트를 보여 줌");
	else
		add(a, "NVLinks: nvidia-smi nvlink -s must show every link up; fabric manager running",
		    "NVLink: nvidia-smi nvlink -s에 모든 링크가 켜져 있어야 함. fabric manager도 확인");
	add(a, "NCCL_DEBUG=INFO: the channels must say P2P, not SHM; NCCL_P2P_DISABLE must not be set",
	    "NCCL_DEBUG=INFO: 채널이 SHM이 아니라 P2P여야 함. NCCL_P2P_DISABLE이 설정돼 있으면 해제");
	add(a, "each GPU alone: jeoul bench link and jeoul bench memory show the one that is slow",
	    "GPU를 하나씩: jeoul bench link, jeoul bench memory로 느린 것을 찾음");
}

static void impossible_collective(struct jl_next *a, const struct jl_next_ask *ask)
{
	const struct jl_coll_expect *e = ask->coll;
	const double as_alg = ask->value / e->c.busbw_factor;

	if (e->c.busbw_factor > 1.01 && as_alg >= e->range.lo && as_alg <= e->c.bound_Bps)
		add(a, "is it a busbw? %.0f GB/s of busbw would be an algbw of %.0f, and that is in the range",
		    "busbw 값인지 확인: busbw %.0f GB/s라면 algbw는 %.0f GB/s로 범위 안에 듦", ask->value / 1e9,
		    as_alg / 1e9);
	if (ask->value / 8 >= e->range.lo && ask->value / 8 <= e->c.bound_Bps)
		add(a, "bits instead of bytes? an eighth of it is in the range",
		    "비트와 바이트를 바꿔 쓴 것은 아닌지: 8로 나누면 범위 안에 듦");
	if (e->c.kind == JL_ALLREDUCE && !e->c.in_network && e->c.n_nodes > 1)
		add(a, "the number of hosts, or a network that reduces in its switches (SHARP): name it with over",
		    "호스트 수를 확인. 스위치가 리덕션하는 네트워크(SHARP)라면 over로 적어 줌");
	add(a, "the size is one rank's whole buffer, and all ranks took part",
	    "크기는 한 랭크의 버퍼 전체, 모든 랭크가 참여했는지 확인");
}

/* What slows the rest down, in the order of how often. */
static const struct {
	const char *kind;
	int on_gpu;
	const char *en, *ko;
} looks[] = {
	{ "gemm", 1, "clocks and power under load: nvidia-smi -q -d CLOCK,PERFORMANCE (throttling, a low power limit)",
	  "부하 중 클럭과 전력: nvidia-smi -q -d CLOCK,PERFORMANCE (쓰로틀링, 낮은 전력 한도)" },
	{ "gemm", 1, "sizes divisible by 64, and the format that was meant (TF32 is off by default for fp32)",
	  "크기가 64의 배수인지, 의도한 수 형식인지 (fp32에서 TF32는 기본으로 꺼져 있음)" },
	{ "gemm", 0, "other processes, the governor (performance), fewer threads than cores: jeoul probe",
	  "다른 프로세스, CPU governor(performance), 코어보다 적은 스레드: jeoul probe" },
	{ "memory", 1, "memory clock and ECC: nvidia-smi -q -d CLOCK,ECC; remapped rows",
	  "메모리 클럭과 ECC: nvidia-smi -q -d CLOCK,ECC, 재매핑된 행" },
	{ "memory", 0, "other processes; memory channels that are empty; threads on another NUMA node",
	  "다른 프로세스, 비어 있는 메모리 채널, 다른 NUMA 노드에서 도는 스레드" },
	{ "link", 1, "PCIe generation and width under load, pinned memory, the NUMA node: jeoul probe",
	  "부하 중 PCIe 세대와 폭, pinned 메모리, NUMA 노드: jeoul probe" },
	{ "train", 1,
	  "clocks and power while it trains: nvidia-smi -q -d CLOCK,PERFORMANCE; other processes on the GPU",
	  "학습 중 클럭과 전력: nvidia-smi -q -d CLOCK,PERFORMANCE. GPU를 함께 쓰는 프로세스" },
	{ "train", 0, "other processes and the governor; then jeoul bench gemm and jeoul bench memory by themselves",
	  "다른 프로세스와 CPU governor. 그다음 jeoul bench gemm, jeoul bench memory를 따로 측정" },
	{ "train", -1, "jeoul bench train --workers 1: is one worker alone as fast as predicted?",
	  "jeoul bench train --workers 1: 워커 하나만으로는 예측만큼 빠른지" },
	{ "train", -1, "jeoul bench allreduce: an exchange that is slow by itself; --accumulate 4 exchanges less often",
	  "jeoul bench allreduce: 통신만 따로 느린지. --accumulate 4로 통신 횟수를 줄임" },
	{ "net", -1, "several streams (--streams 4): one TCP stream fills neither 100 Gb/s nor a bond",
	  "스트림 여러 개(--streams 4): TCP 스트림 하나로는 100 Gb/s나 본딩을 채우지 못함" },
	{ "net", -1, "InfiniBand, RoCE, EFA: their full rate is for RDMA (ib_write_bw, fi_pingpong), not for TCP",
	  "InfiniBand, RoCE, EFA의 전체 속도는 TCP가 아니라 RDMA로 나옴 (ib_write_bw, fi_pingpong)" },
	{ "net", -1, "frames of 9,000 bytes on both ends and the switch; interrupts on the NIC's NUMA node",
	  "양쪽과 스위치의 MTU 9000, NIC과 같은 NUMA 노드의 인터럽트 처리" },
};

void jl_check_next(struct jl_next *ret_next, const struct jl_next_ask *ask)
{
	struct jl_next a = { .n = 0 };

	if (ask->verdict == JL_VERDICT_IMPOSSIBLE && ask->coll)
		impossible_collective(&a, ask);
	else if (ask->verdict == JL_VERDICT_IMPOSSIBLE)
		add(&a, "the unit (bits, bytes; sparse rates), and whether a cache served it",
		    "단위(비트/바이트, sparse 속도)와 캐시에서 읽힌 값이 아닌지 확인");
	else if (ask->verdict == JL_VERDICT_LOW && ask->coll)
		low_collective(&a, ask);
	for (size_t i = 0; ask->verdict == JL_VERDICT_LOW && i < sizeof(looks) / sizeof(*looks); i++)
		if (strcmp(looks[i].kind, ask->kind) == 0 && !(ask->n_workers == 1 && looks[i].on_gpu < 0) &&
		    (looks[i].on_gpu < 0 || looks[i].on_gpu == ask->on_gpu))
			add(&a, "%s%.0s", "%.0s%s", looks[i].en, looks[i].ko);
	*ret_next = a;
}
