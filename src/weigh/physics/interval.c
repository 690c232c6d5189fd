#include "physics/interval.h"

#include <math.h>

/* Collectives: half widths of the left-out rows by class. */
static const double width_switch_ln = 0.13; /* one NVLink domain, NVLink 4 on */
static const double width_old_ln = 0.23;    /* one host, NVLink 2 and 3, xGMI */
static const double width_pcie_ln = 0.30;   /* one host, PCIe or bridges */
static const double width_path_ln = 0.36;   /* the same where nobody says how devices reach each other */
static const double width_net_ln = 0.21;    /* several hosts, network stated */
static const double width_unstated_ln = 0.33;
/* Beyond what was seen: a device link never measured over that network, or more hosts than any row has. */
static const double width_unseen_ln = 0.20;
static const double width_hosts_ln = 0.05; /* per doubling beyond n_hosts_seen */
static const double n_hosts_seen = 16.0;

double jl_link_half_ln(const struct jl_link_doubt *d)
{
	const double unseen = jl_coll_seen(d->intra, d->inter) ? 0.0 : width_unseen_ln;
	const double far = width_hosts_ln * fmax(0.0, log2(d->n_nodes / n_hosts_seen));
	double width;

	if (d->n_nodes > 1.0)
		width = d->network_assumed ? width_unstated_ln : width_net_ln;
	else if (d->intra == JL_WIRE_NVLINK4 || d->intra == JL_WIRE_NVLINK5 || d->intra == JL_WIRE_NVL72)
		width = width_switch_ln;
	else if (d->intra == JL_WIRE_NVLINK2 || d->intra == JL_WIRE_NVLINK3 || d->intra == JL_WIRE_XGMI)
		width = width_old_ln;
	else
		width = d->path_assumed ? width_path_ln : width_pcie_ln;
	return sqrt(width * width + unseen * unseen + far * far);
}

enum reach { ONE_DEVICE, ONE_HOST, SEVERAL_HOSTS, N_REACH };

static const double train_ln[JL_N_FRAMEWORK][N_REACH] = {
	[JL_FW_EAGER] = { 0.125, 0.15, 0.20 },   [JL_FW_COMPILED] = { 0.18, 0.20, 0.20 },
	[JL_FW_MEGATRON] = { 0.11, 0.11, 0.14 }, [JL_FW_NATIVE] = { 0.15, 0.15, 0.17 },
	[JL_FW_APEX] = { 0.15, 0.17, 0.20 },     [JL_FW_GENERAL] = { 0.25, 0.25, 0.25 },
};

/* What each assumption adds, in quadrature, in the order of enum jl_train_assumed. */
static const double assumed_ln[] = { 0.03, 0.14, 0.30, 0.06, 0.13, 0.10 };
/* A GPU without runs of its own: on one device its listed rates say nearly all, several show their links as well. */
static const double unseen_ln[N_REACH] = { 0.08, 0.15, 0.10 };
static const double beyond_ln = 0.04; /* each doubling beyond the largest run seen */
static const double n_gpus_seen = 1024.0;
/* Nobody says how fast the host is, and hosts of one kind differ: two virtual machines by a quarter. */
static const double host_ln = 0.25;

/* How much of the step follows the host: host and device are paced by the fourth power (model/step.c). */
static double host_share(double host_frac)
{
	const double device = 1.0 - fmin(fmax(host_frac, 0.0), 1.0);

	return 1.0 - device * device * device * device;
}

double jl_train_half_ln(const struct jl_train_doubt *d)
{
	const enum reach reach = d->n_nodes > 1.0 ? SEVERAL_HOSTS : d->n_gpus > 1.0 ? ONE_HOST : ONE_DEVICE;
	const double base = train_ln[d->framework][reach];
	const double links = d->exposed_frac > 0.0 ? d->exposed_frac * d->link_half_ln : 0.0;
	const double host = host_ln * host_share(d->host_frac);
	double sum = base * base + links * links + host * host;

	for (unsigned i = 0; i < sizeof(assumed_ln) / sizeof(assumed_ln[0]); i++)
		if (d->assumed & (1u << i))
			sum += assumed_ln[i] * assumed_ln[i];
	if (!d->device_seen)
		sum += unseen_ln[reach] * unseen_ln[reach];
	return sqrt(sum) + beyond_ln * fmax(0.0, log2(d->n_gpus / n_gpus_seen));
}
