/* Reads host properties: vendor, kernel, virtual machine, container, and their limits. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "probe/read.h"

#define DMI    "/sys/class/dmi/id/"
#define CGROUP "/sys/fs/cgroup"

/* NULL for placeholder texts of firmware. */
static const char *said(const char *text)
{
	static const char *const empty[] = {
		"",        "Default string", "To Be Filled By O.E.M.", "System Product Name", "Not Specified", "None",
		"Unknown", "0123456789"
	};

	for (size_t i = 0; text && i < JL_LEN(empty); i++)
		if (strcasecmp(text, empty[i]) == 0)
			return NULL;
	return text;
}

/* Hypervisors by the firmware's vendor string. */
static const struct {
	const char *path, *begins, *vm;
} guests[] = {
	{ DMI "sys_vendor", "QEMU", "kvm" },
	{ DMI "sys_vendor", "Amazon EC2", "kvm (EC2)" },
	{ DMI "sys_vendor", "Google", "kvm (GCE)" },
	{ DMI "sys_vendor", "VMware", "vmware" },
	{ DMI "sys_vendor", "Xen", "xen" },
	{ DMI "sys_vendor", "innotek", "virtualbox" },
	{ DMI "product_name", "Virtual Machine", "hyper-v" },
	{ DMI "product_name", "KVM", "kvm" },
	{ DMI "product_name", "OpenStack", "kvm (OpenStack)" },
	{ "/sys/hypervisor/type", "xen", "xen" },
	{ "/sys/firmware/devicetree/base/hypervisor/compatible", "linux,kvm", "kvm" },
};

/* EC2 has bare-metal machines: "p5.metal" */
static const char *find_vm(struct jl_probe_in *in)
{
	const char *product = jl_source_read(in->source, DMI "product_name");
	const char *flags = jl_text_value(in->arena, jl_source_read(in->source, "/proc/cpuinfo"), "flags");

	if (product && strstr(product, "metal"))
		return NULL;
	for (size_t i = 0; i < JL_LEN(guests); i++) {
		const char *text = jl_source_read(in->source, "%s", guests[i].path);

		if (text && strncmp(text, guests[i].begins, strlen(guests[i].begins)) == 0)
			return guests[i].vm;
	}
	for (size_t i = 0; i < in->machine->n_pci; i++)
		if (in->machine->pci[i].vendor == 0x1af4)
			return "kvm (virtio)";
	return flags && strstr(flags, " hypervisor") ? "?" : NULL;
}

static const char *find_container(struct jl_probe_in *in)
{
	static const struct {
		const char *word, *name;
	} names[] = { { "kubepods", "kubernetes" },
		      { "docker", "docker" },
		      { "libpod", "podman" },
		      { "lxc", "lxc" },
		      { "containerd", "containerd" } };
	const char *cgroup = jl_source_read(in->source, "/proc/self/cgroup");
	const char *systemd = jl_source_read(in->source, "/run/systemd/container");

	for (size_t i = 0; cgroup && i < JL_LEN(names); i++)
		if (strstr(cgroup, names[i].word))
			return names[i].name;
	if (jl_source_list(in->source, "/run/secrets/kubernetes.io"))
		return "kubernetes";
	if (systemd && *systemd)
		return systemd;
	if (jl_source_read(in->source, "/run/.containerenv"))
		return "podman";
	return jl_source_read(in->source, "/.dockerenv") ? "docker" : NULL;
}

/* Path of this process in the tree of a cgroup controller ("": version 2); NULL: none. */
static const char *cgroup_of(struct jl_probe_in *in, const char *controller)
{
	const char *text = jl_source_read(in->source, "/proc/self/cgroup");
	char line[2048];

	while (text && jl_text_line(&text, line, sizeof(line))) {
		char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
		char *save = NULL;

		if (!path)
			continue;
		*path++ = '\0';
		names++;
		if (!*controller && !*names)
			return jl_arena_strdup(in->arena, path);
		for (char *name = strtok_r(names, ",", &save); *controller && name; name = strtok_r(NULL, ",", &save))
			if (strcmp(name, controller) == 0)
				return jl_arena_strdup(in->arena, path);
	}
	return NULL;
}

/* Smallest limit on the path from `path` to the root. `limit` reads one folder's; NAN: none. */
static double smallest(struct jl_probe_in *in, const char *root, const char *path,
		       double (*limit)(struct jl_probe_in *in, const char *folder))
{
	double least = NAN;
	char folder[1024];
	size_t root_len = strlen(root);
	int n = path ? snprintf(folder, sizeof(folder), "%s%s", root, strcmp(path, "/") == 0 ? "" : path) : -1;

	if (n < 0 || (size_t)n >= sizeof(folder) || strstr(folder, "/.."))
		return NAN;
	for (;;) {
		double here = limit(in, folder);

		if (!isnan(here) && !(least <= here))
			least = here;
		char *slash = strrchr(folder, '/');
		if (strlen(folder) <= root_len || !slash)
			return least;
		*slash = '\0';
	}
}

static double quota_v2(struct jl_probe_in *in, const char *folder)
{
	const char *text = jl_source_read(in->source, "%s/cpu.max", folder);
	double quota, period;

	return text && sscanf(text, "%lf %lf", &quota, &period) == 2 && period > 0 && quota > 0 ? quota / period : NAN;
}

static double quota_v1(struct jl_probe_in *in, const char *folder)
{
	double quota = (double)jl_source_whole(in->source, -1, "%s/cpu.cfs_quota_us", folder);
	double period = (double)jl_source_whole(in->source, -1, "%s/cpu.cfs_period_us", folder);

	return quota > 0 && period > 0 ? quota / period : NAN;
}

/* NAN: "max", or version 1's huge number */
static double memory_limit(const char *text)
{
	double limit = (double)jl_text_whole(text, -1);

	return limit > 0 && limit < 1e18 ? limit : NAN;
}

static double memory_v2(struct jl_probe_in *in, const char *folder)
{
	return memory_limit(jl_source_read(in->source, "%s/memory.max", folder));
}

static double memory_v1(struct jl_probe_in *in, const char *folder)
{
	return memory_limit(jl_source_read(in->source, "%s/memory.limit_in_bytes", folder));
}

static void read_limits(struct jl_probe_in *in)
{
	struct jl_probe_limits *limits = &in->machine->limits;

	limits->cpu_quota = smallest(in, CGROUP, cgroup_of(in, ""), quota_v2);
	if (isnan(limits->cpu_quota))
		limits->cpu_quota = smallest(in, CGROUP "/cpu", cgroup_of(in, "cpu"), quota_v1);
	limits->memory_B = smallest(in, CGROUP, cgroup_of(in, ""), memory_v2);
	if (isnan(limits->memory_B))
		limits->memory_B = smallest(in, CGROUP "/memory", cgroup_of(in, "memory"), memory_v1);
	if (limits->memory_B >= in->machine->memory.total_B)
		limits->memory_B = NAN; /* a limit above the installed memory is none */
	if (limits->cpu_quota >= in->machine->cpu.n_threads)
		limits->cpu_quota = NAN;
	limits->in = find_container(in);
	limits->vm = find_vm(in);
}

static void read_iommu(struct jl_probe_in *in)
{
	const char *groups = jl_source_list(in->source, "/sys/class/iommu");
	const char *boot = jl_source_read(in->source, "/proc/cmdline");
	char word[128];

	in->machine->iommu_on = groups && *groups;
	while (boot && *boot) {
		size_t len = strcspn(boot, " ");

		snprintf(word, sizeof(word), "%.*s", (int)(len < 127 ? len : 127), boot);
		if (strncmp(word, "iommu=", 6) == 0 || strncmp(word, "intel_iommu=", 12) == 0 ||
		    strncmp(word, "amd_iommu=", 10) == 0 || strncmp(word, "iommu.passthrough=", 18) == 0)
			in->machine->boot_iommu = jl_arena_strdup(in->arena, word);
		boot += len + (boot[len] == ' ');
	}
}

enum jl_status jl_read_host(struct jl_probe_in *in, struct jl_err *err)
{
	struct jl_probe_machine *machine = in->machine;
	const char *release = jl_source_read(in->source, "/etc/os-release");

	(void)err;
	machine->arch = jl_source_read(in->source, "/proc/sys/kernel/arch");
	machine->kernel = jl_source_read(in->source, "/proc/sys/kernel/osrelease");
	machine->os = jl_text_value(in->arena, release, "PRETTY_NAME");
	machine->vendor = said(jl_source_read(in->source, DMI "sys_vendor"));
	machine->product = said(jl_source_read(in->source, DMI "product_name"));
	machine->board = said(jl_source_read(in->source, DMI "board_name"));
	if (in->options->with_names)
		machine->hostname = jl_source_read(in->source, "/proc/sys/kernel/hostname");
	read_limits(in);
	read_iommu(in);
	return JL_OK;
}
