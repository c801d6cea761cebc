/* SPDX-License-Identifier: MIT */
/*
 * view_paths.c - turns the stacks of a profile into paths of functions. Stacks with the same
 * functions share a path. Frames that the filter hides are left out.
 */
#include <stdlib.h>

#include "analysis/view/view_internal.h"
#include "wallsample/process/c_library.h"
#include "wallsample/process/module.h"
#include "wallsample/runtime/language.h"

/*
 * Returns the index in naming->symbol of the frame's outermost symbol: the function into which the
 * functions of the frame's other symbols are inlined.
 */
static size_t
outermost_symbol(const struct naming *naming, uint32_t frame)
{
	return naming->of_frame[frame].first + naming->of_frame[frame].count - 1;
}

/* --- plumbing: frames of the interpreter between two functions of the program -------------- */

/*
 * Returns an array of *modules elements, indexed by module: true if the module is an interpreter.
 * This is so if in some stack a function of a script was called by code of the module that has no
 * symbol, or whose function language_plumbing() knows as PLUMBING_CALL. The caller frees the array.
 */
static bool *
find_interpreters(const struct naming *naming, size_t *modules)
{
	const struct profile *profile = naming->view->profile;
	bool *interpreter;

	*modules = 0;
	for (uint32_t i = 0; i < profile_frame_count(profile); i++) {
		const uint32_t module = profile_frame(profile, i)->module;

		if (module != MODULE_NONE && module >= *modules)
			*modules = (size_t)module + 1;
	}
	interpreter = xcalloc(*modules + 1, sizeof(*interpreter));
	for (uint32_t i = 0; i < profile_stack_count(profile); i++) {
		const struct profile_stack *stack = profile_stack(profile, i);
		const struct profile_frame *outer;
		const struct symbol *symbol;
		uint32_t id;

		if (stack->caller == STACK_NONE ||
		    !frame_is_script(profile_frame(profile, stack->frame)))
			continue;
		id = profile_stack(profile, stack->caller)->frame;
		outer = profile_frame(profile, id);
		symbol = &naming->symbol[outermost_symbol(naming, id)];
		if (outer->module != MODULE_NONE &&
		    (!symbol->known || language_plumbing(symbol->function, true) == PLUMBING_CALL))
			interpreter[outer->module] = true;
	}
	return interpreter;
}

/*
 * Classifies a symbol as language_plumbing() does. `interpreter` is true if its module is an
 * interpreter. Code without a name is PLUMBING_ROOT, and so hidden, in an interpreter. In another
 * module it is PLUMBING_START: it may have started the interpreter. `known` caches the results of
 * language_plumbing().
 */
static enum plumbing
classify_symbol(const struct symbol *symbol, bool interpreter, struct table *known)
{
	uint32_t *place;
	bool added;

	if (!symbol->known)
		return interpreter ? PLUMBING_ROOT : PLUMBING_START;
	place = table_insert(known, (uintptr_t)symbol->function, interpreter, 0, &added);
	if (added)
		*place = language_plumbing(symbol->function, interpreter);
	return (enum plumbing) * place;
}

/* Returns an array with the enum plumbing of each symbol. The caller frees the array. */
static unsigned char *
find_plumbing(const struct naming *naming)
{
	const struct profile *profile = naming->view->profile;
	unsigned char *plumbing = xcalloc(naming->symbol_count + 1, sizeof(*plumbing));
	struct table known = { 0 };
	size_t modules;
	bool *interpreter = find_interpreters(naming, &modules);

	for (uint32_t i = 0; i < profile_frame_count(profile); i++) {
		const struct names names = naming->of_frame[i];
		const uint32_t module = profile_frame(profile, i)->module;

		if (module == MODULE_NONE)
			continue;
		for (size_t at = names.first; at < names.first + names.count; at++)
			plumbing[at] = (unsigned char)classify_symbol(&naming->symbol[at],
								      interpreter[module], &known);
	}
	table_release(&known);
	free(interpreter);
	return plumbing;
}

/* --- visible frames of stacks --------------------------------------------------------------- */

/*
 * What is known of a stack after its frames from the outermost one to a certain frame have been
 * added.
 */
struct trail {
	uint32_t path; /* the visible functions of these frames */
	bool script;   /* these frames have a function of a script */
	bool native;   /* these frames have native code */
	bool starting; /* all these frames may have started an interpreter (PLUMBING_START) */
};

/*
 * Returns the part of the path from its outermost function to its innermost named frame; STACK_NONE
 * if it has no named frame.
 */
static uint32_t
cut_to_named(const struct view *view, uint32_t path)
{
	while (path != STACK_NONE && !view_is_named(&view->function[view->path[path].function]))
		path = view->path[path].caller;
	return path;
}

/*
 * Adds the symbols of a native frame to the trail, except those that enum plumbing (language.h)
 * hides. If the frame is the outermost one of an interpreter, and all frames further outside may
 * have started the interpreter, these outer frames are removed from the trail; but if there is a
 * named frame among them, it and all frames outside of it stay. Used with NATIVE_MERGED.
 */
static void
extend_by_code(struct naming *naming, const unsigned char *plumbing, uint32_t frame,
	       struct trail *trail)
{
	const struct names names = naming->of_frame[frame];

	switch ((enum plumbing)plumbing[outermost_symbol(naming, frame)]) {
	case PLUMBING_CALL:
		trail->starting = false;
		return;
	case PLUMBING_ROOT:
		if (trail->starting)
			trail->path = cut_to_named(naming->view, trail->path);
		return;
	case PLUMBING_START:
		break;
	case PLUMBING_NONE:
		trail->starting = false;
		break;
	}
	for (size_t at = names.first + names.count; at-- > names.first;)
		if (plumbing[at] != PLUMBING_CALL && plumbing[at] != PLUMBING_ROOT)
			trail->path = view_extend_symbol(naming, trail->path, at);
}

/*
 * Returns the trail `caller` extended inwards by the frame `id`. `caller` is NULL for an outermost
 * frame. `plumbing` is the result of find_plumbing(), or NULL with NATIVE_NONE, which hides all
 * native frames.
 */
static struct trail
extend_trail(struct naming *naming, const unsigned char *plumbing, uint32_t id,
	     const struct trail *caller)
{
	const struct profile_frame *frame = profile_frame(naming->view->profile, id);
	struct trail trail = { .path = STACK_NONE, .starting = true };

	if (caller != NULL)
		trail = *caller;
	if (frame->module != MODULE_NONE) {
		trail.native = true;
		if (plumbing != NULL)
			extend_by_code(naming, plumbing, id, &trail);
		return trail;
	}
	trail.path = view_extend_symbols(naming, trail.path, id, 0);
	if (frame_is_script(frame)) {
		trail.script = true;
		trail.starting = false;
	}
	return trail;
}

/*
 * Returns the path `caller` extended inwards by the frame "[native]", which stands for the native
 * frames of a stack without functions of a script.
 */
static uint32_t
extend_by_native(struct naming *naming, uint32_t caller)
{
	static const char name[] = "[native]";
	struct path matched = {
		.included = view_matches(naming->filter->include, name),
		.excluded = view_matches(naming->filter->exclude, name),
	};

	if (caller != STACK_NONE) {
		matched.included |= naming->view->path[caller].included;
		matched.excluded |= naming->view->path[caller].excluded;
	}

	return view_extend_own(naming, caller, name, &matched);
}

/* --- plumbing of the C library ---------------------------------------------------------------- */

/* True if the frame is code of a C library without a name. */
static bool
is_nameless_c_library(const struct naming *naming, uint32_t frame)
{
	const struct symbol *symbol = &naming->symbol[outermost_symbol(naming, frame)];

	return !symbol->known && c_library_has_module(symbol->module);
}

/* True if the frame is a function, not a text about a sample such as "[truncated: …]". */
static bool
is_code(const struct profile_frame *frame)
{
	return frame->module != MODULE_NONE || frame_is_script(frame);
}

/*
 * Returns the stack whose innermost function made, through callees without names, the system call
 * of the stack `id`, whose innermost frame is code of a C library without a name: the first caller
 * with a name if it belongs to a C library, such as poll(); otherwise the function of the C library
 * that the program called. Such a function has no name where the exported one, such as sem_wait(),
 * has jumped to it. Returns `id` if it is not known what called the C library.
 */
static uint32_t
stack_of_call(const struct naming *naming, uint32_t id)
{
	const struct profile *profile = naming->view->profile;
	const struct profile_stack *stack = profile_stack(profile, id);
	uint32_t at = id;

	while (stack->caller != STACK_NONE && is_nameless_c_library(naming, stack->frame)) {
		const uint32_t caller = stack->caller;
		const struct symbol *symbol;

		stack = profile_stack(profile, caller);
		symbol = &naming->symbol[outermost_symbol(naming, stack->frame)];
		if (is_nameless_c_library(naming, stack->frame))
			at = caller;
		else if (c_library_has_module(symbol->module))
			return caller;
		else
			return is_code(profile_frame(profile, stack->frame)) ? at : id;
	}
	return id;
}

/*
 * Returns the stack of the function that the innermost frame of the stack `id` only serves: it is
 * plumbing of the C library, or makes a system call and has no name. Returns `id` if there is no
 * such function.
 */
static uint32_t
stack_without_plumbing(const struct naming *naming, uint32_t id)
{
	const struct profile *profile = naming->view->profile;
	const struct profile_stack *stack = profile_stack(profile, id);
	const struct profile_frame *frame = profile_frame(profile, stack->frame);
	const struct symbol *symbol = &naming->symbol[outermost_symbol(naming, stack->frame)];

	if (naming->filter->interpreter_frames || frame->module == MODULE_NONE ||
	    stack->caller == STACK_NONE)
		return id;
	if (symbol->known)
		return c_library_only_calls(symbol->function) ? stack->caller : id;
	if (!symbol->follows_syscall || !is_nameless_c_library(naming, stack->frame))
		return id;
	return stack_of_call(naming, id);
}

/* --- all stacks ------------------------------------------------------------------------------ */

/* Fills view->of_stack for NATIVE_NONE, and for NATIVE_MERGED without interpreter_frames. */
static void
make_trails(struct naming *naming)
{
	struct view *view = naming->view;
	const struct profile *profile = view->profile;
	const size_t count = profile_stack_count(profile);
	const bool merged = naming->filter->native == NATIVE_MERGED;
	unsigned char *plumbing = merged ? find_plumbing(naming) : NULL;
	struct trail *trail = xcalloc(count + 1, sizeof(*trail));

	for (uint32_t i = 0; i < count; i++) {
		const struct profile_stack *stack = profile_stack(profile, i);
		const uint32_t caller = stack->caller;
		const uint32_t served = stack_without_plumbing(naming, i);

		if (served != i) {
			trail[i] = trail[served];
			view->of_stack[i] = view->of_stack[served];
			continue;
		}
		trail[i] = extend_trail(naming, plumbing, stack->frame,
					caller != STACK_NONE ? &trail[caller] : NULL);
		if (trail[i].script || (!merged && !trail[i].native))
			view->of_stack[i] = trail[i].path;
		else if (merged)
			view->of_stack[i] = view_extend_symbols(naming,
								caller != STACK_NONE ?
									view->of_stack[caller] :
									STACK_NONE,
								stack->frame, 0);
		else
			view->of_stack[i] = extend_by_native(naming, trail[i].path);
	}
	free(trail);
	free(plumbing);
}

static bool
has_scripts(const struct profile *profile)
{
	for (uint32_t i = 0; i < profile_frame_count(profile); i++)
		if (frame_is_script(profile_frame(profile, i)))
			return true;
	return false;
}

/*
 * True if NATIVE_ONLY hides the frame: it is an interpreted function, or a named frame that a
 * runtime put in the place of functions that could not be read (runtime_language.marker).
 */
static bool
is_of_runtime(const struct profile *profile, uint32_t id)
{
	const struct profile_frame *frame = profile_frame(profile, id);

	return frame->module == MODULE_NONE &&
	       (frame->origin == FRAME_SCRIPT ||
		language_is_marker(profile_text(profile, (uint32_t)frame->address)));
}

void
view_make_paths(struct naming *naming)
{
	const struct profile *profile = naming->view->profile;
	const struct filter *filter = naming->filter;
	const bool only = filter->native == NATIVE_ONLY;
	uint32_t *of_stack = naming->view->of_stack;

	if (filter->native == NATIVE_NONE ||
	    (filter->native == NATIVE_MERGED && !filter->interpreter_frames &&
	     has_scripts(profile))) {
		make_trails(naming);
		return;
	}
	for (uint32_t i = 0; i < profile_stack_count(profile); i++) {
		const struct profile_stack *stack = profile_stack(profile, i);
		const uint32_t path = stack->caller != STACK_NONE ? of_stack[stack->caller] :
								    STACK_NONE;
		const uint32_t served = stack_without_plumbing(naming, i);

		if (served != i)
			of_stack[i] = of_stack[served];
		else
			of_stack[i] = only && is_of_runtime(profile, stack->frame) ?
					      path :
					      view_extend_symbols(naming, path, stack->frame, 0);
	}
}
