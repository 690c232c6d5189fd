#include "check/own_params.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "catalog/find.h"
#include "parameters/device_params.h"
#include "system/machine.h"
#include "system/resolve.h"
#include "check/machine_parts.h"

#define ROUNDS  12
#define LARGE_B 64e6 /* collectives from this size measure bandwidth, not latency */
/* Smaller products and arrays measure launch cost and caches, not the rates of units and memory. */
#define GEMM_LEAST  (256.0 * 256.0 * 256.0)
#define ARRAY_LEAST 4e6

/* Selection of a record: the largest size, then the newest. */
struct wanted {
	const char *kind, *backend;
	const char *key, *text; /* required parameter; NULL: any */
};

static double size_of(const struct jl_record *r)
{
	const double m = jl_record_number(r, "m"), n = jl_record_number(r, "n"), k = jl_record_number(r, "k");
	const double size_B = jl_record_number(r, "size_B");

	return isnan(m) ? (isnan(size_B) ? 0 : size_B) : m * n * k;
}

static bool is_wanted(const struct jl_record *r, const struct wanted *w)
{
	const char *text = w->key ? jl_record_text(r, w->key) : NULL;

	return r->n_metrics && strcmp(r->kind, w->kind) == 0 && strcmp(r->backend, w->backend) == 0 &&
	       (!w->key || (text && strcmp(text, w->text) == 0)) && r->metrics[0].value.median > 0;
}

static bool tells_a_rate(const struct jl_record *r)
{
	if (strcmp(r->kind, "gemm") == 0)
		return size_of(r) >= GEMM_LEAST;
	return strcmp(r->kind, "memory") != 0 || size_of(r) >= ARRAY_LEAST;
}

static const struct jl_record *pick(struct jl_own *own, const struct jl_own_ask *ask, const struct wanted *w)
{
	const struct jl_record *best = NULL;

	for (size_t i = 0; i < ask->n_records; i++) {
		const struct jl_record *r = ask->records[i];

		/* the model's copies use pinned memory, and a single rank has no communication */
		if (!is_wanted(r, w) || jl_record_number(r, "pinned") == 0 || jl_record_number(r, "n_ranks") == 1 ||
		    !tells_a_rate(r))
			continue;
		if (r->noise.noisy && !ask->with_noisy)
			own->n_noisy++;
		else if (!best || size_of(r) > size_of(best))
			best = r;
	}
	return best;
}

static struct jl_own_figure *add(struct jl_own *own, const struct jl_record *record, double before)
{
	if (own->n == JL_OWN_MAX)
		return NULL;
	struct jl_own_figure *f = &own->figures[own->n++];
	*f = (struct jl_own_figure){
		.record = record, .before = before, .value = NAN, .lo = NAN, .hi = NAN, .prior = NAN
	};
	return f;
}

/* Scales a catalog parameter by `ratio`, within its bounds. */
static void scale(struct jl_own *own, const struct jl_own_ask *ask, const struct jl_record *record, double before,
		  const struct jl_param *p)
{
	const struct jl_param_info *shipped = jl_param_by_id(ask->cat, p->name);
	struct jl_own_figure *f = add(own, record, before);
	double value;

	if (!f)
		return;
	value = (shipped ? shipped->value : p->prior) * record->metrics[0].value.median / before;
	snprintf(f->param, sizeof(f->param), "%s", p->name);
	f->value = fmin(fmax(value, p->lo), p->hi);
	f->clamped = f->value != value;
	f->lo = p->lo;
	f->hi = p->hi;
	f->prior = p->prior;
}

static struct jl_gemm gemm_of(const struct jl_record *r, enum jl_dtype dtype)
{
	return (struct jl_gemm){ .m = jl_record_number(r, "m"),
				 .n = jl_record_number(r, "n"),
				 .k = jl_record_number(r, "k"),
				 .batch = 1,
				 .dtype = dtype,
				 .out_B = fmax(2, jl_dtype_B(dtype)),
				 .alone = 1 };
}

static double gemm_rate(const struct jl_device *dev, const struct jl_gemm *gemm)
{
	return 2 * gemm->m * gemm->n * gemm->k / jl_gemm_s(dev, gemm);
}

void jl_own_solve(struct jl_device *dev, const struct jl_catalog *cat, const char *gpu_id, const struct jl_gemm *gemm,
		  double gemm_flopps, double mem_Bps)
{
	double *peak = &dev->peak_flopps[gemm->dtype];

	(void)jl_gemm_shipped(cat, gpu_id, dev);
	if (mem_Bps > 0)
		dev->mem_Bps = mem_Bps / dev->fit.mem_frac;
	if (!(gemm_flopps > 0))
		return;
	*peak = gemm_flopps;
	for (int i = 0; i < ROUNDS;
	     i++) { /* tiles and memory make the relation nonlinear, and some parameters interact */
		(void)jl_gemm_shipped(cat, gpu_id, dev);
		*peak *= gemm_flopps / gemm_rate(dev, gemm);
	}
}

/* ---- the CPU as a device */

static double median_of(const struct jl_record *r)
{
	return r ? r->metrics[0].value.median : NAN;
}

/* A NULL record changes nothing. */
static void solve_cpu(struct jl_cpu *cpu, const struct jl_own_ask *ask, const struct jl_record *gemm,
		      const struct jl_record *mem)
{
	const struct jl_gemm product = gemm ? gemm_of(gemm, JL_FP32) : (struct jl_gemm){ .dtype = JL_FP32 };
	struct jl_device dev;

	jl_resolve_cpu(&dev, cpu);
	jl_own_solve(&dev, ask->cat, NULL, &product, median_of(gemm), median_of(mem));
	if (mem)
		cpu->mem_Bps.value = dev.mem_Bps;
	if (gemm)
		cpu->fp32_flopps.value = dev.peak_flopps[JL_FP32];
}

static const struct wanted cpu_gemm = { "gemm", "cpu", "dtype", "fp32" },
			   cpu_mem = { "memory", "cpu", "test", "triad" };

static enum jl_status make_cpu(struct jl_own *own, const struct jl_own_ask *ask, struct jl_err *err)
{
	const struct jl_record *gemm = pick(own, ask, &cpu_gemm), *mem = pick(own, ask, &cpu_mem);
	struct jl_cpu cpu;

	if ((!gemm || !mem) && own->n_noisy)
		return jl_fail(err, JL_E_NOTFOUND,
			       "only noisy results of %s (%zu); measure again on a quiet machine, or add --noisy",
			       gemm ? "memory" : "gemm", own->n_noisy);
	if (!gemm || !mem)
		return jl_fail(err, JL_E_NOTFOUND, "no result of '%s' on this machine yet: run jeoul bench %s first",
			       gemm ? "memory" : "gemm", gemm ? "memory" : "gemm");
	(void)add(own, gemm, NAN);
	(void)add(own, mem, NAN);
	jl_own_cpu_plain(&cpu, ask->here);
	solve_cpu(&cpu, ask, gemm, mem);
	own->fp32_flopps = cpu.fp32_flopps.value;
	own->mem_Bps = cpu.mem_Bps.value;
	return JL_OK;
}

/* A quiet result; else a noisy one above the estimate: noise never increases a rate. */
static const struct jl_record *pick_any(const struct jl_own_ask *ask, const struct wanted *w, double guess,
					bool *io_noisy)
{
	struct jl_own_ask all = *ask;
	struct jl_own ignored = { 0 };
	const struct jl_record *r = pick(&ignored, ask, w);

	all.with_noisy = true;
	if (r || (r = pick(&ignored, &all, w)) == NULL)
		return r;
	*io_noisy = true;
	return r->metrics[0].value.median > guess ? r : NULL;
}

static void found(struct jl_fact *fact)
{
	fact->origin = JL_MEASURED;
	fact->lo = fact->hi = NAN;
}

void jl_own_cpu(struct jl_own_cpu *ret_cpu, const struct jl_own_ask *ask)
{
	struct jl_own_cpu own = { .measured = false };
	char day[JL_DATE_TEXT_MAX] = "";

	jl_own_cpu_guess(&own, ask);
	const struct jl_record *gemm = pick_any(ask, &cpu_gemm, own.cpu.fp32_flopps.value, &own.noisy);
	const struct jl_record *mem = pick_any(ask, &cpu_mem, own.cpu.mem_Bps.value, &own.noisy);
	solve_cpu(&own.cpu, ask, gemm, mem);
	if (gemm)
		found(&own.cpu.fp32_flopps);
	if (mem)
		found(&own.cpu.mem_Bps);
	own.measured = gemm && mem;
	if (gemm || mem)
		(void)jl_date_text(day, (long)floor((gemm ? gemm : mem)->time_s / 86400));
	if (own.measured) {
		jl_bitext_print(&own.note, "measured here on %s", day);
	} else if (gemm || mem) {
		const struct jl_bitext rest = own.note;

		jl_bitext_print(&own.note,
				gemm ? JL_N("products measured here on %s; the rest ")
				     : JL_N("memory measured here on %s; the rest "),
				day);
		jl_finding_join(&own.note, &rest);
	}
	*ret_cpu = own;
}

/* ---- GPUs */

static bool named(struct jl_param *ret_param, struct jl_param_list list, const char *name)
{
	for (size_t i = 0; i < list.n; i++) {
		jl_param_of(&list, i, ret_param);
		if (strcmp(ret_param->name, name) == 0)
			return true;
	}
	return false;
}

static void gpu_param(struct jl_param *ret_param, const char *gpu_id, const char *end)
{
	char name[80];

	(void)snprintf(name, sizeof(name), "gemm.gpu.%.40s%s", gpu_id, end);
	(void)named(ret_param, jl_gemm_params(1, &gpu_id), name);
}

static void make_gemm(struct jl_own *own, const struct jl_own_ask *ask, const struct jl_device *dev)
{
	static const struct {
		enum jl_dtype dtype;
		const char *end;
	} units[] = { { JL_FP32, ".gemm_frac.vector" },
		      { JL_BF16, ".gemm_frac.tensor16" },
		      { JL_FP8, ".gemm_frac.tensor8" } };

	for (size_t i = 0; i < JL_LEN(units); i++) {
		const struct wanted w = { "gemm", "cuda", "dtype", jl_dtype_name(units[i].dtype) };
		const struct jl_record *r = dev->peak_flopps[units[i].dtype] > 0 ? pick(own, ask, &w) : NULL;
		struct jl_param p = { .prior = 1 };

		if (!r)
			continue;
		gpu_param(&p, own->gpu->id, units[i].end);
		const struct jl_gemm product = gemm_of(r, units[i].dtype);

		scale(own, ask, r, gemm_rate(dev, &product), &p);
	}
}

static enum jl_status make_links(struct jl_own *own, const struct jl_own_ask *ask, struct jl_err *err)
{
	const struct wanted w = { "allreduce", "nccl", NULL, NULL };
	const struct jl_record *r = ask->sys->n_per_node > 1 ? pick(own, ask, &w) : NULL;
	const char *id = jl_wires[jl_wire_of(ask->sys->join)].eff;
	struct jl_machine machine;
	struct jl_collective_case c;
	struct jl_param p;

	if (!r || !id || size_of(r) < LARGE_B)
		return JL_OK;
	JL_TRY(jl_machine_make(&machine, ask->cat, ask->sys, err));
	JL_TRY(jl_collective_case(&c, &machine,
				  &(struct jl_collective_ask){ .kind = JL_ALLREDUCE,
							       .size_B = size_of(r),
							       .n_ranks = (int)jl_record_number(r, "n_ranks") },
				  err));
	if (named(&p, jl_coll_params, id))
		scale(own, ask, r, c.algbw_Bps.value, &p);
	return JL_OK;
}

static enum jl_status make_gpu(struct jl_own *own, const struct jl_own_ask *ask, struct jl_err *err)
{
	const struct wanted want_mem = { "memory", "cuda", "test", "triad" },
			    want_host = { "link", "cuda", "test", "h2d" };
	const struct jl_record *mem, *host;
	double x[JL_GEMM_MAX_PARAMS];
	struct jl_gemm_shared shared;
	struct jl_device dev;
	struct jl_param p = { .prior = 1 };

	jl_resolve_device(&dev, ask->cat, own->gpu);
	(void)jl_gemm_shipped(ask->cat, own->gpu->id, &dev);
	(void)jl_gemm_read(ask->cat, own->gpu->id, x);
	jl_gemm_shared_at(x, &shared);
	make_gemm(own, ask, &dev);
	if ((mem = pick(own, ask, &want_mem)) != NULL && dev.mem_Bps > 0) {
		gpu_param(&p, own->gpu->id, ".mem_frac");
		scale(own, ask, mem, dev.mem_Bps * dev.fit.mem_frac, &p);
	}
	if ((host = pick(own, ask, &want_host)) != NULL && dev.host_Bps > 0 &&
	    named(&p, jl_gemm_params(0, NULL), "gemm.host_frac"))
		scale(own, ask, host, dev.host_Bps * shared.host_frac, &p);
	enum jl_status status = make_links(own, ask, err);
	if (status || own->n)
		return status;
	return own->n_noisy ? jl_fail(err, JL_E_NOTFOUND,
				      "only noisy results of the GPUs (%zu); measure again on a quiet machine, or add "
				      "--noisy",
				      own->n_noisy)
			    : jl_fail(err, JL_E_NOTFOUND,
				      "no result of the GPUs of this machine yet: run jeoul bench all first");
}

enum jl_status jl_own_make(struct jl_own *ret_own, const struct jl_own_ask *ask, struct jl_err *err)
{
	struct jl_own own = { .gpu = ask->sys ? ask->sys->gpu : NULL, .fp32_flopps = NAN, .mem_Bps = NAN };

	if (!own.gpu && ask->here->n_gpus)
		return jl_fail(err, JL_E_ABSENT, "the GPUs of this machine (%s) are not in the catalog",
			       ask->here->short_name);
	enum jl_status status = own.gpu ? make_gpu(&own, ask, err) : make_cpu(&own, ask, err);
	if (!status)
		*ret_own = own;
	return status;
}

/* ---- as catalog text */

/* Names come from the machine: removes characters that would end a quoted text. */
static void quoted(struct jl_buf *out, const char *text)
{
	jl_buf_putc(out, '"');
	for (; *text; text++)
		if (*text != '"' && *text != '\\' && (unsigned char)*text >= ' ')
			jl_buf_putc(out, *text);
	jl_buf_putc(out, '"');
}

static void cpu_yaml(struct jl_buf *out, const struct jl_own *own, const struct jl_probe_machine *here,
		     const char *date)
{
	struct jl_cpu cpu;
	char name[160];

	jl_own_cpu_plain(&cpu, here);
	snprintf(name, sizeof(name), "%.80s, %g threads", cpu.name, cpu.n_thread.value);
	jl_buf_printf(out, "cpus:\n  - id: %s\n    name: ", JL_OWN_CPU_ID);
	quoted(out, name);
	jl_buf_puts(out, "\n    vendor: ");
	quoted(out, cpu.vendor);
	jl_buf_puts(out, "\n    isa: ");
	quoted(out, cpu.isa);
	jl_buf_printf(out, "\n    source: %s\n    date: %s\n    cores: %g\n    threads: %g\n", JL_OWN_SOURCE_ID, date,
		      cpu.n_core.value, cpu.n_thread.value);
	jl_buf_printf(out, "    fp32: %.6g GFLOP/s\n    mem_rate: %.6g GB/s\n", own->fp32_flopps / 1e9,
		      own->mem_Bps / 1e9);
	if (cpu.bf16_over_fp32.value > 0)
		jl_buf_printf(out, "    bf16_over_fp32: %g estimated\n", cpu.bf16_over_fp32.value);
	if (cpu.mem_B.value > 0)
		jl_buf_printf(out, "    mem: %.4g GiB\n", cpu.mem_B.value / 1073741824.0);
	if (cpu.l3_B.value > 0)
		jl_buf_printf(out, "    l3: %.4g MiB\n", cpu.l3_B.value / 1048576.0);
}

#define HEAD                                                                                                           \
	"# What was measured on this machine. Written by `jeoul calibrate`; `jeoul calibrate --forget` removes it.\n"

void jl_own_source_yaml(struct jl_buf *out, const struct jl_own *own, const struct jl_probe_machine *here,
			const char *date)
{
	jl_buf_printf(out, HEAD "sources:\n  - id: %s\n    title: ", JL_OWN_SOURCE_ID);
	quoted(out, here->short_name);
	jl_buf_printf(out, "\n    date: %s\n    origin: measured\n    note: \"records", date);
	for (size_t i = 0; i < own->n; i++)
		jl_buf_printf(out, " %s", own->figures[i].record->id);
	jl_buf_puts(out, "\"\n");
}

void jl_own_figures_yaml(struct jl_buf *out, const struct jl_own *own, const struct jl_probe_machine *here,
			 const char *date)
{
	jl_buf_puts(out, HEAD);
	if (!own->gpu) {
		cpu_yaml(out, own, here, date);
		return;
	}
	jl_buf_puts(out, "params:\n");
	for (size_t i = 0; i < own->n; i++) {
		const struct jl_own_figure *f = &own->figures[i];

		jl_buf_printf(out,
			      "  - {id: %s, value: %.9g, lo: %.9g, hi: %.9g, prior: %.9g, n_rows: 1, unit: \"1\", "
			      "note: \"measured here on %s, record %s\"}\n",
			      f->param, f->value, f->lo, f->hi, f->prior, date, f->record->id);
	}
}
