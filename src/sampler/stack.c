/* SPDX-License-Identifier: MIT */
/* stack.c - turns a call chain of addresses into a stack of the profile. A frame of native code is
 * a pair of a module and an address; frames of interpreted functions and texts have no address. */
#include "wallsample/sampler/stack.h"

#include <stdlib.h>

#include "wallsample/base/base.h"
#include "wallsample/tracer/process_memory.h"

void
stacks_init(struct stack_state *stacks, struct maps *maps, struct profile *profile,
	    const struct jit *jit)
{
	*stacks = (struct stack_state){ .maps = maps, .profile = profile, .jit = jit };
	for (int i = 0; i < FAILURE_COUNT; i++)
		stacks->failure[i] = STACK_NONE;
}

void
stacks_release(struct stack_state *stacks)
{
	table_release(&stacks->frames);
	table_release(&stacks->bytecode_sizes);
	free(stacks->script);
}

/* Returns the frame of an address in native code. If no mapping has the address, it is a named
 * frame. */
static uint32_t
frame_at(struct stack_state *stacks, uint64_t address, uint8_t origin)
{
	const struct mapping *mapping = maps_find(stacks->maps, address);
	struct profile_frame frame = { .module = MODULE_NONE, .origin = origin };
	char text[32];

	if (mapping == NULL) {
		snprintf(text, sizeof(text), "[unmapped 0x%llx]", (unsigned long long)address);
		return profile_intern_named(stacks->profile, text);
	}
	frame.module = mapping->module;
	if (mapping->image != NULL)
		frame.address = address - mapping->bias;
	else
		frame.address = address - mapping->start + mapping->offset;
	if (modules_at(maps_modules(stacks->maps), mapping->module)->kind == MODULE_ANONYMOUS) {
		frame.address = address;
		if (stacks->jit != NULL)
			frame.epoch = jit_epoch_at(stacks->jit, address);
	}
	return profile_intern_frame(stacks->profile, &frame);
}

/*
 * Returns the size of the bytecode in the bytecode array (jit.h) at `address`, from the array's
 * header in the target's memory; 0 if the header is not one of bytecode. Arrays move, so the header
 * is read again at each tick. If the array has moved since the capture, a wrong size is read, and
 * the bytecode gets no name.
 */
static uint32_t
bytecode_size(struct stack_state *stacks, uint32_t tick, uint64_t address)
{
	uint8_t header[JIT_HEADER_SIZE];
	struct jit_bytecode bytecode;
	uint32_t *size;
	bool added;

	if (stacks->bytecode_tick != tick) {
		stacks->bytecode_tick = tick;
		table_clear(&stacks->bytecode_sizes);
	}
	size = table_insert(&stacks->bytecode_sizes, address, 0, 0, &added);
	if (added && stacks->reader != NULL &&
	    memory_read(stacks->reader, address, header, sizeof(header)) &&
	    jit_bytecode_set(&bytecode, address, header))
		*size = bytecode.size;
	return *size;
}

/* Returns the frame number `id`, which is one of V8's interpreter, extended by the bytecode that
 * the interpreter executes in it. `executes`: the word of the stack frame that refers to the
 * bytecode (chain.h). Returns `id` if the word refers to no bytecode. */
static uint32_t
interpreted_frame(struct stack_state *stacks, uint32_t tick, uint32_t id, uint64_t executes)
{
	struct profile_frame frame = *profile_frame(stacks->profile, id);
	struct jit_bytecode bytecode;

	if (frame.module == MODULE_NONE || !jit_bytecode_refer(executes, &bytecode.object))
		return id;
	bytecode.size = bytecode_size(stacks, tick, bytecode.object);
	if (bytecode.size == 0)
		return id;
	frame.bytecode = bytecode.object;
	frame.bytecode_size = bytecode.size;
	frame.epoch = jit_epoch_of_bytecode(stacks->jit, &bytecode);
	return profile_intern_frame(stacks->profile, &frame);
}

/* Returns the frame of the place with this number (struct runtime_place): a function and line of an
 * interpreted program, or a text about frames that could not be read. */
static uint32_t
script_frame(struct stack_state *stacks, uint32_t number)
{
	struct profile *profile = stacks->profile;
	const struct runtime_place *place;
	uint32_t frame;

	if (number < stacks->script_count && stacks->script[number] != FRAME_NONE)
		return stacks->script[number];
	stacks->script = xgrow(stacks->script, &stacks->script_capacity, (size_t)number + 1,
			       sizeof(*stacks->script));
	while (stacks->script_count <= number)
		stacks->script[stacks->script_count++] = FRAME_NONE;
	place = runtimes_place(stacks->runtimes, number);
	frame = place->marker ? profile_intern_named(profile, place->function) :
				profile_intern_script(profile,
						      profile_intern_text(profile, place->function),
						      profile_intern_text(profile, place->file),
						      place->line);
	stacks->script[number] = frame;
	return frame;
}

/* Returns the frame of the profile for a frame of native code. If it is one of V8's interpreter, it
 * includes the bytecode that the interpreter executes. */
static uint32_t
native_frame(struct stack_state *stacks, const struct chain_frame *frame, uint32_t tick)
{
	const uint64_t address = chain_frame_lookup(frame);
	bool added;
	uint32_t *known = table_insert(&stacks->frames, address, frame->origin, 0, &added);

	if (added)
		*known = frame_at(stacks, address, frame->origin);
	if (frame->executes != 0 && stacks->jit != NULL)
		return interpreted_frame(stacks, tick, *known, frame->executes);
	return *known;
}

/*
 * Adds frames of interpreted code to `stack`, the outermost first. `frames` has them leaf first,
 * and the first *left of them are not added yet. Adds the last ones of these, as long as their
 * native caller (runtime_frame.before) is frame number `at` of the chain or one further out, and
 * reduces *left by their number. Returns the new stack.
 */
static uint32_t
intern_scripts(struct stack_state *stacks, const struct runtime_frame *frames, size_t *left,
	       size_t at, uint32_t stack)
{
	for (; *left > 0 && frames[*left - 1].before >= at; (*left)--)
		stack = profile_intern_stack(stacks->profile,
					     script_frame(stacks, frames[*left - 1].place), stack);
	return stack;
}

uint32_t
stacks_intern(struct stack_state *stacks, const struct chain *chain,
	      struct runtime_capture *capture, uint32_t tick, uint32_t root)
{
	const uint32_t epoch = stacks->jit != NULL ? jit_epoch(stacks->jit) : 0;
	const struct runtime_frame *scripts = NULL;
	uint32_t stack = root;
	size_t left = 0;

	if (capture != NULL)
		left = runtime_capture_merge(capture, chain, &scripts);
	if (stacks->generation != maps_generation(stacks->maps) || stacks->epoch != epoch) {
		stacks->generation = maps_generation(stacks->maps);
		stacks->epoch = epoch;
		table_clear(&stacks->frames);
	}
	if (!chain_end_is_whole(chain->end))
		stack = stack_of_text(stacks->profile, chain_end_text(chain->end), stack);
	stack = intern_scripts(stacks, scripts, &left, chain->count, stack);
	for (size_t i = chain->count; i-- > 0;) {
		stack = profile_intern_stack(stacks->profile,
					     native_frame(stacks, &chain->frame[i], tick), stack);
		stack = intern_scripts(stacks, scripts, &left, i, stack);
	}
	return stack;
}

uint32_t
stacks_frame(struct stack_state *stacks, uint64_t address, bool exact)
{
	const struct chain_frame frame = { .address = address, .exact = exact };

	return frame_at(stacks, chain_frame_lookup(&frame), FRAME_REGISTERS);
}

uint32_t
stacks_failure(struct stack_state *stacks, enum sample_failure failure)
{
	uint32_t *stack = &stacks->failure[failure];

	if (*stack == STACK_NONE)
		*stack = stack_of_text(stacks->profile, sample_failure_text(failure), STACK_NONE);
	return *stack;
}

uint32_t
stack_of_text(struct profile *profile, const char *text, uint32_t caller)
{
	return profile_intern_stack(profile, profile_intern_named(profile, text), caller);
}
