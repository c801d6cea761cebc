/* SPDX-License-Identifier: MIT */
/*
 * python_greenlet.c - finds where the stack of a greenlet ends.
 *
 * Greenlets are coroutines of the extension module "greenlet", on which gevent and eventlet are
 * built. They share the stack of their thread: while a greenlet runs, the stack has its frames from
 * the function of the extension that has started it inwards. What is further out belongs to
 * whichever greenlet has used that part of the stack last: its frames are not callers of the
 * greenlet.
 *
 * The function that has started the greenlet is the innermost one of the extension that is further
 * out than all Python frames: these end at the greenlet's first one. (Functions of the extension
 * that a Python function has called, such as one that calls a trace function, are further in.) No
 * symbol is needed, as the extension is often stripped.
 *
 * While the extension switches from one greenlet to another, the captured frames may be those of
 * the other one. Such a sample has the functions of the extension alone.
 */
#include <string.h>

#include "runtime/python/python_internal.h"

/* Beginnings of the names of the extension's file: from greenlet 1.0 on, and before. */
static const char *const files[] = { "_greenlet.", "greenlet.cpython-", "greenlet.so" };

static bool
is_extension(const struct module *module)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (module->kind == MODULE_FILE &&
		    strncmp(module->name, files[i], strlen(files[i])) == 0)
			return true;
	return false;
}

void
python_greenlet_find(struct cpython *cpython)
{
	const struct maps *maps = cpython->base.tools->config->maps;

	cpython->greenlet = (struct address_range){ .size = 0 };
	for (size_t i = 0; i < maps_count(maps); i++) {
		const struct mapping *mapping = maps_at(maps, i);

		if (!is_extension(modules_at(maps_modules(maps), mapping->module)))
			continue;
		cpython->greenlet = (struct address_range){ mapping->start,
							    mapping->end - mapping->start };
		return;
	}
}

/* What the frames of a chain, from the innermost one outwards, have of the extension. */
struct view {
	/* index of the first frame of the extension that is further out than all native frames of
	 * the captured groups; chain->count: there is none */
	size_t start;
	size_t evals; /* number of calls of the bytecode loop further in than `start` */
	/* number of frames up to the outermost one of those functions of the extension that the
	 * innermost call of the bytecode loop has called; 0: there are none */
	size_t called;
};

static bool
is_of_extension(const struct cpython *cpython, const struct chain_frame *frame)
{
	return chain_frame_lookup(frame) - cpython->greenlet.start < cpython->greenlet.size;
}

static struct view
view_chain(const struct python_captured *captured, const struct chain *chain)
{
	const size_t groups = captured->group_count;
	const uint64_t anchor = groups > 0 ? captured->group[groups - 1].anchor : 0;
	struct view view = { .evals = 0 };

	for (; view.start < chain->count; view.start++) {
		const struct chain_frame *frame = &chain->frame[view.start];
		const bool is_outside = anchor != 0 ? anchor < frame->sp : view.evals >= groups;
		const bool is_greenlet = is_of_extension(captured->of, frame);

		if (is_outside && is_greenlet)
			break;
		if (is_greenlet && view.evals == 0)
			view.called = view.start + 1;
		view.evals += python_is_eval(captured->of, frame);
	}
	return view;
}

/*
 * Returns true while the extension switches greenlets: then the native stack is that of one
 * greenlet, or of none while it is copied, and CPython has the frames of the other one. The thread
 * is in the extension, and the native stack and the captured frames contradict each other.
 */
static bool
is_switching(const struct python_captured *captured, const struct chain *chain,
	     const struct view *view)
{
	const bool starts = view->start < chain->count;
	const bool is_other = captured->broken || (captured->of->place.eval_count > 0 &&
						   view->evals != captured->group_count);

	if (view->called == 0)
		return starts && view->evals == 0 && is_other;
	return is_other || !(starts || chain_end_is_whole(chain->end));
}

static void
chain_end_at(struct chain *chain, size_t count)
{
	chain->count = count;
	chain->end = CHAIN_OUTERMOST;
	chain->end_address = 0;
}

void
python_greenlet_trim(void *memory, struct chain *chain)
{
	struct python_captured *captured = memory;
	struct view view;

	if (captured->of == NULL || !captured->known || captured->of->greenlet.size == 0)
		return;
	view = view_chain(captured, chain);
	if (is_switching(captured, chain, &view)) {
		captured->greenlet = PYTHON_GREENLET_SWITCH;
		chain_end_at(chain, view.called > 0 ? view.called : view.start + 1);
	} else if (view.start < chain->count) {
		captured->greenlet = PYTHON_GREENLET_RUNS;
		chain_end_at(chain, view.start + 1);
	}
}
