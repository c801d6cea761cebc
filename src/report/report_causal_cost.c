/* SPDX-License-Identifier: MIT */
/*
 * report_causal_cost.c - reports the reasons for doubt in experiments, and their cost.
 */
#include "wallsample/report/quantity.h"
#include "report/report_internal.h"

/* A smaller share of late samples is not reported. */
#define LATE_SHARE_LEAST 0.01

struct closing {
	const struct causal_result *result;
	struct page *page;
	bool doubted;     /* the heading has been written */
	struct strbuf sb; /* the current line */
};

static void
end_doubt(struct closing *c)
{
	if (!c->doubted)
		c->page->ops->heading(c->page, "What makes this less certain");
	c->doubted = true;
	c->page->ops->paragraph(c->page, c->sb.data);
	strbuf_clear(&c->sb);
}

static void
end_field(struct closing *c, const char *label)
{
	c->page->ops->field(c->page, label, c->sb.data);
	strbuf_clear(&c->sb);
}

static uint64_t
ticks_of(const struct causal_result *result)
{
	uint64_t ticks = 0;

	for (size_t i = 0; i < result->experiment_count; i++)
		ticks += result->experiment[i].ticks;
	return ticks;
}

static size_t
count_ended(const struct causal_result *result, enum causal_end end)
{
	size_t count = 0;

	for (size_t i = 0; i < result->experiment_count; i++)
		count += result->experiment[i].end == end;
	return count;
}

static void
doubt_cpus(struct closing *c)
{
	const struct causal_result *result = c->result;

	if (result->cpus == 0 || !(result->runnable > result->cpus))
		return;
	strbuf_add_format(&c->sb, "On average %.1f threads could run, on ", result->runnable);
	quantity_add_things(&c->sb, result->cpus, "CPU", "CPUs");
	strbuf_add_text(&c->sb, ": while some are held, those that waited for a CPU get it "
				"sooner. On more CPUs the gains may differ.");
	end_doubt(c);
}

static void
doubt_ticks(struct closing *c)
{
	const struct causal_result *result = c->result;
	const uint64_t ticks = ticks_of(result);

	if (ticks == 0 || (double)result->late_ticks < LATE_SHARE_LEAST * (double)ticks)
		return;
	quantity_add_count(&c->sb, result->late_ticks);
	strbuf_add_text(&c->sb, " of ");
	quantity_add_things(&c->sb, ticks, "tick", "ticks");
	strbuf_add_text(&c->sb, " (");
	quantity_add_share(&c->sb, (double)result->late_ticks, (double)ticks);
	strbuf_add_text(&c->sb, ") came more than half a tick (of ");
	quantity_add_time(&c->sb, (int64_t)result->tick_ns);
	strbuf_add_text(&c->sb, ") late: the machine was busy. A longer --tick helps.");
	end_doubt(c);
}

static void
doubt_holds(struct closing *c)
{
	if (c->result->unheld == 0)
		return;
	quantity_add_things(&c->sb, c->result->unheld, "time", "times");
	strbuf_add_text(&c->sb, " a thread that was to be held waited for a CPU, and was held as "
				"soon as it had one.");
	end_doubt(c);
}

static void
doubt_stalls(struct closing *c)
{
	const size_t stalled = count_ended(c->result, CAUSAL_STALLED);

	if (stalled > 0) {
		quantity_add_things(&c->sb, stalled, "experiment was", "experiments were");
		strbuf_add_text(&c->sb, " given up, because there was no progress while threads "
					"were held; no gain is computed from them.");
		end_doubt(c);
	}
	if (c->result->target_gone) {
		strbuf_add_text(&c->sb, "The process ended, or executed another program, before "
					"the experiments were over.");
		end_doubt(c);
	}
}

static void
write_held(struct closing *c)
{
	const struct causal_result *result = c->result;

	quantity_add_time(&c->sb, (int64_t)result->held_ns);
	strbuf_add_text(&c->sb, ", ");
	/* --max-hold limits both, too. */
	quantity_add_share(&c->sb, (double)result->held_ns,
			   (double)(result->wall_ns + result->profile_ns));
	strbuf_add_text(&c->sb, " of the run");
	if (result->max_hold > 0)
		strbuf_add_format(&c->sb, ", of %.4g%% allowed", 100 * result->max_hold);
	end_field(c, "Held");
	quantity_add_count(&c->sb, result->stops);
	strbuf_add_text(&c->sb, ", of a thread each");
	end_field(c, "Stops");
	quantity_add_time(&c->sb, (int64_t)result->own_cpu_ns);
	strbuf_add_text(&c->sb, " of CPU time, ");
	quantity_add_share(&c->sb, (double)result->own_cpu_ns,
			   (double)(result->wall_ns + result->profile_ns));
	strbuf_add_text(&c->sb, " of one CPU");
	end_field(c, "Own cost");
	if (report_add_excluded(&result->excluded, &c->sb))
		end_field(c, "Excluded");
}

void
report_write_causal_cost(const struct causal_input *input, struct page *page)
{
	struct closing c = { .result = input->result, .page = page };

	strbuf_init(&c.sb);
	doubt_cpus(&c);
	doubt_ticks(&c);
	doubt_holds(&c);
	doubt_stalls(&c);
	page->ops->heading(page, "What it cost");
	write_held(&c);
	strbuf_release(&c.sb);
}
