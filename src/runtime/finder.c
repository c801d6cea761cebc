/* SPDX-License-Identifier: MIT */
/* finder.c - searches modules for a language runtime, and finds the layout of its structures. */
#include "runtime/finder_internal.h"

#include <stdarg.h>
#include <stdlib.h>

#include "wallsample/dwarf/debug_file.h"

/*
 * A layout is proved wrong by this number of consecutive checks with the result FINDER_FIT_MISFIT
 * (misfits). Of these only the first counts, and those before which the process has used CPU time
 * since the previous one. Single misfits are normal while a runtime is initialised, or while its
 * list of threads changes during the check.
 */
#define FINDER_MISFITS_MOST 20

/* At every FINDER_DELAYS_MOST-th call for a candidate, finder_may_read() waits, for up to 100 ms,
 * until files may be read. */
#define FINDER_DELAYS_MOST 20

struct finder *
finder_create(const struct finder_kind *kind, const struct runtime_tools *tools)
{
	struct finder *finder = xcalloc(1, sizeof(*finder));

	finder->kind = kind;
	finder->tools = tools;
	finder->search = xcalloc(1, kind->search_size);
	return finder;
}

void
finder_free(struct finder *finder)
{
	for (size_t i = 0; i < finder->count; i++)
		free(finder->candidate[i]);
	free(finder->search);
	free(finder);
}

const char *
finder_why(struct finder *finder)
{
	if (!finder->why_pending)
		return NULL;
	finder->why_pending = false;
	return finder->why;
}

const void *
finder_place(const struct finder *finder, const struct finder_candidate *candidate)
{
	return (const uint8_t *)candidate + finder->kind->place_offset;
}

const struct module *
finder_module(const struct finder *finder, const struct finder_candidate *candidate)
{
	return modules_at(maps_modules(finder->tools->config->maps), candidate->module);
}

void
finder_refuse(struct finder *finder, struct finder_candidate *candidate, const char *fmt, ...)
{
	struct strbuf text = STRBUF_INIT;
	char reason[256];
	va_list args;

	/* Its debug information, which was not read yet, may make it readable. */
	if (candidate->dwarf_waits)
		return;
	va_start(args, fmt);
	vsnprintf(reason, sizeof(reason), fmt, args);
	va_end(args);
	strbuf_add_format(&text, "the %s in ",
			  candidate->name != NULL ? candidate->name : finder->kind->name);
	strbuf_add_escaped(&text, finder_module(finder, candidate)->name);
	strbuf_add_format(&text, " cannot be read: %s", reason);
	snprintf(finder->why, sizeof(finder->why), "%s", text.data);
	strbuf_release(&text);
	finder->why_pending = true;
	candidate->state = FINDER_REFUSED;
}

/* Returns true when files may be read that are not read by a proxy (file_proxy.h). Waits for that
 * only at each FINDER_DELAYS_MOST-th look. */
static bool
finder_may_read(const struct finder *finder, struct finder_candidate *candidate)
{
	const struct runtimes_config *config = finder->tools->config;
	const bool wait = ++candidate->delays % FINDER_DELAYS_MOST == 0;

	return config->may_read == NULL || config->may_read(config->context, wait);
}

/* --- layouts ----------------------------------------------------------------------------- */

bool
finder_try_dwarf(struct finder *finder, struct finder_candidate *candidate)
{
	const struct process *process = maps_process(finder->tools->config->maps);
	struct debug_files_config config = { .root = NULL };
	struct debug_info *info;
	char root[32];
	bool taken;

	if (candidate->dwarf_tried)
		return false;
	candidate->dwarf_waits = !finder_may_read(finder, candidate);
	if (candidate->dwarf_waits)
		return false;
	candidate->dwarf_tried = true;
	snprintf(root, sizeof(root), "/proc/%d/root", process->pid);
	config.root = root;
	info = debug_info_open(finder_module(finder, candidate), &config);
	if (info == NULL)
		return false;
	taken = finder->kind->read_dwarf(finder, candidate, debug_info_dwarf(info));
	debug_info_close(info);
	return taken;
}

static void
finder_restart(struct finder_candidate *candidate)
{
	candidate->state = FINDER_NEW;
	candidate->looks = candidate->misfits = 0;
}

/*
 * Counts a misfit. Returns true when the layout is proved wrong. Apart from the first, a misfit
 * counts only if the process has used CPU time since the previous one, or its CPU time cannot be
 * read: otherwise its memory is unchanged.
 */
static bool
finder_count_misfit(const struct finder *finder, struct finder_candidate *candidate)
{
	uint64_t cpu_ns;

	if (!process_read_cpu_ns(maps_process(finder->tools->config->maps), &cpu_ns))
		cpu_ns = candidate->misfit_cpu_ns + 1;
	if (candidate->misfits == 0)
		candidate->misfit_checks = 0;
	candidate->misfit_checks++;
	if (candidate->misfits == 0 || cpu_ns != candidate->misfit_cpu_ns)
		candidate->misfits++;
	candidate->misfit_cpu_ns = cpu_ns;
	return candidate->misfits == FINDER_MISFITS_MOST;
}

/*
 * Checks a candidate in the state FINDER_READY again: after an exec of the same file, the runtime
 * of the new program may be at the same address and not yet initialised. If it is not initialised,
 * or the layout is proved wrong, the candidate returns to the state FINDER_NEW.
 */
static void
finder_check_ready(struct finder *finder, struct finder_candidate *candidate)
{
	const enum finder_fit fit = finder->kind->check(finder, candidate);

	if (fit == FINDER_FIT_GOOD)
		candidate->misfits = 0;
	else if (fit == FINDER_FIT_NOT_YET || finder_count_misfit(finder, candidate))
		finder_restart(candidate);
}

/*
 * Handles a misfit of a candidate in the state FINDER_WAITING. After FINDER_MISFITS_MOST misfits in
 * a row the layout is read from DWARF, once, even if the current layout is not proved wrong: DWARF
 * describes this very build. The candidate is refused when the layout is proved wrong, or when it
 * does not fit at the last regular check.
 */
static void
finder_check_misfit(struct finder *finder, struct finder_candidate *candidate)
{
	const bool proved = finder_count_misfit(finder, candidate);
	char text[FINDER_VERSION_TEXT];

	if (candidate->misfit_checks >= FINDER_MISFITS_MOST &&
	    finder_try_dwarf(finder, candidate)) {
		candidate->misfits = 0;
		return;
	}
	if (candidate->dwarf_waits)
		return;
	if (!proved && candidate->looks + 1 != FINDER_LOOKS_MOST)
		return;
	finder->kind->version_text(candidate, text);
	finder_refuse(finder, candidate, "its memory is not laid out as that of version %s", text);
}

static void
finder_check_waiting(struct finder *finder, struct finder_candidate *candidate)
{
	switch (finder->kind->check(finder, candidate)) {
	case FINDER_FIT_NOT_YET:
		candidate->misfits = 0;
		return;
	case FINDER_FIT_MISFIT:
		finder_check_misfit(finder, candidate);
		return;
	case FINDER_FIT_GOOD:
		candidate->state = FINDER_READY;
		candidate->looks = candidate->misfits = 0;
	}
}

static void
finder_check(struct finder *finder, struct finder_candidate *candidate)
{
	candidate->dwarf_waits = false;
	if (candidate->state == FINDER_READY)
		finder_check_ready(finder, candidate);
	if (candidate->state == FINDER_NEW && finder->kind->choose_layout(finder, candidate) &&
	    !candidate->dwarf_waits) {
		candidate->state = FINDER_WAITING;
		candidate->misfits = 0;
	}
	if (candidate->state == FINDER_WAITING)
		finder_check_waiting(finder, candidate);
}

/*
 * Returns true when finder_look must be called again for this candidate: it is in the state
 * FINDER_READY and its last check did not fit, or it is in the state FINDER_NEW or FINDER_WAITING
 * and candidate->looks, which is counted here, has not reached FINDER_LOOKS_MOST.
 */
static bool
finder_is_unsettled(struct finder_candidate *candidate)
{
	if (candidate->state == FINDER_NEW || candidate->state == FINDER_WAITING)
		return candidate->looks++ < FINDER_LOOKS_MOST;
	return candidate->misfits > 0 && candidate->state == FINDER_READY;
}

/* --- modules ----------------------------------------------------------------------------- */

static void
finder_add_candidate(struct finder *finder, uint32_t module)
{
	struct finder_candidate *candidate;

	if (finder->count == FINDER_CANDIDATES_MOST)
		return;
	candidate = xcalloc(1, finder->kind->candidate_size);
	candidate->module = module;
	if (finder->kind->take(candidate, finder->search))
		finder->candidate[finder->count++] = candidate;
	else
		free(candidate);
}

/*
 * Searches the modules that have not been searched yet, until finder->budget is used up. Returns
 * true when all modules have been searched.
 */
static bool
finder_search_modules(struct finder *finder)
{
	const struct modules *modules = maps_modules(finder->tools->config->maps);

	for (; finder->searched < modules_count(modules); finder->searched++) {
		const uint32_t id = (uint32_t)finder->searched;
		const struct module *module = modules_at(modules, id);

		if (finder->budget == 0)
			return false;
		if (module->kind != MODULE_FILE ||
		    (!finder->searching && !finder->kind->search_begin(finder->search, module)))
			continue;
		finder->searching = !finder->kind->search_step(finder->search, &finder->budget);
		if (finder->searching)
			return false;
		finder_add_candidate(finder, id);
	}
	return true;
}

/* Sets `mapped` and `bias` of each candidate from the first mapping of its module. A candidate
 * whose bias has changed, for example by an exec, returns to the state FINDER_NEW. */
static void
finder_place_candidates(struct finder *finder)
{
	struct maps *maps = finder->tools->config->maps;

	for (size_t k = 0; k < finder->count; k++)
		finder->candidate[k]->mapped = false;
	for (size_t i = 0; finder->count > 0 && i < maps_count(maps); i++) {
		const struct mapping *mapping = maps_at(maps, i);

		for (size_t k = 0; k < finder->count; k++) {
			struct finder_candidate *candidate = finder->candidate[k];

			if (candidate->module != mapping->module || mapping->image == NULL ||
			    candidate->mapped)
				continue;
			if (candidate->bias != mapping->bias)
				finder_restart(candidate);
			candidate->bias = mapping->bias;
			candidate->mapped = true;
		}
	}
}

bool
finder_look(struct finder *finder)
{
	bool busy;

	finder->budget = FINDER_BUDGET;
	busy = !finder_search_modules(finder);
	finder_place_candidates(finder);
	for (size_t k = 0; k < finder->count; k++) {
		if (!finder->candidate[k]->mapped)
			continue;
		finder_check(finder, finder->candidate[k]);
		busy |= finder_is_unsettled(finder->candidate[k]);
	}
	return busy;
}

const struct finder_candidate *
finder_next(const struct finder *finder, size_t *at)
{
	while (*at < finder->count) {
		const struct finder_candidate *candidate = finder->candidate[(*at)++];

		if (candidate->mapped && candidate->state == FINDER_READY)
			return candidate;
	}
	return NULL;
}
