/* SPDX-License-Identifier: MIT */
/* stack.c - from a call chain of addresses to an interned stack of (module, address). */
#include "sampler_state.h"
#include "wallsample/memory.h"

const char *
sample_failure_text(enum sample_failure failure)
{
	static const char *const texts[] = {
#define X(name, text) [FAILURE_##name] = text,
		SAMPLE_FAILURES(X)
#undef X
	};

	return texts[failure];
}

/* An address that no mapping holds (any more) keeps its number as its name. */
static uint32_t
frame_at(struct sampler *sampler, uint64_t address, uint8_t origin)
{
	const struct mapping *mapping = maps_find(sampler->maps, address);
	struct profile_frame frame = { .module = MODULE_NONE, .origin = origin };
	char text[32];

	if (mapping == NULL) {
		snprintf(text, sizeof(text), "[unmapped 0x%llx]", (unsigned long long)address);
		return profile_intern_named(sampler->profile, text);
	}
	frame.module = mapping->module;
	if (mapping->image != NULL)
		frame.address = address - mapping->bias;
	else
		frame.address = address - mapping->start + mapping->offset;
	if (modules_get(sampler->modules, mapping->module)->kind == MODULE_ANONYMOUS) {
		frame.address = address;
		if (sampler->config.jit != NULL)
			frame.epoch = jit_epoch_at(sampler->config.jit, address);
	}
	return profile_intern_frame(sampler->profile, &frame);
}

/*
 * How long the bytecode in the object is, by its header in the target's memory; 0: none is there.
 * Objects move, so it is asked once a tick. What runs may have moved it since it was
 * captured: another size is then read, and no name will fit.
 */
static uint32_t
bytecode_size(struct sampler *sampler, uint64_t address)
{
	uint8_t header[JIT_HEADER_SIZE];
	struct jit_bytecode bytecode;
	uint32_t *size;
	bool added;

	if (sampler->stacks.bytecode_tick != sampler->tick) {
		sampler->stacks.bytecode_tick = sampler->tick;
		table_clear(&sampler->stacks.bytecode_sizes);
	}
	size = table_place(&sampler->stacks.bytecode_sizes, address, 0, 0, &added);
	if (added && memory_read_process(sampler->process->pid, address, header,
					 sizeof(header)) == sizeof(header) &&
	    jit_bytecode_set(&bytecode, address, header))
		*size = bytecode.size;
	return *size;
}

/* The interpreter's frame `id`, with what it executes. */
static uint32_t
interpreted_frame(struct sampler *sampler, uint32_t id, uint64_t executes)
{
	struct profile_frame frame = *profile_frame(sampler->profile, id);
	struct jit_bytecode bytecode;

	if (frame.module == MODULE_NONE || !jit_bytecode_refer(executes, &bytecode.object))
		return id;
	bytecode.size = bytecode_size(sampler, bytecode.object);
	if (bytecode.size == 0)
		return id;
	frame.bytecode = bytecode.object;
	frame.bytecode_size = bytecode.size;
	frame.epoch = jit_epoch_of_bytecode(sampler->config.jit, &bytecode);
	return profile_intern_frame(sampler->profile, &frame);
}

uint32_t
stack_intern(struct sampler *sampler, const struct chain *chain)
{
	uint32_t stack = STACK_NONE;

	uint32_t epoch = sampler->config.jit != NULL ? jit_epoch(sampler->config.jit) : 0;

	if (sampler->stacks.generation != maps_generation(sampler->maps) ||
	    sampler->stacks.epoch != epoch) {
		sampler->stacks.generation = maps_generation(sampler->maps);
		sampler->stacks.epoch = epoch;
		table_clear(&sampler->stacks.frames);
	}
	if (!chain_end_is_whole(chain->end)) {
		uint32_t frame =
			profile_intern_named(sampler->profile, chain_end_text(chain->end));

		stack = profile_intern_stack(sampler->profile, frame, stack);
	}
	for (size_t i = chain->count; i-- > 0;) {
		const struct chain_frame *frame = &chain->frame[i];
		uint64_t address = chain_frame_lookup(frame);
		bool added;
		uint32_t *known =
			table_place(&sampler->stacks.frames, address, frame->origin, 0, &added);
		uint32_t id;

		if (added)
			*known = frame_at(sampler, address, frame->origin);
		id = *known;
		if (frame->executes != 0)
			id = interpreted_frame(sampler, id, frame->executes);
		stack = profile_intern_stack(sampler->profile, id, stack);
	}
	return stack;
}

uint32_t
stack_of_failure(struct sampler *sampler, enum sample_failure failure)
{
	uint32_t *stack = &sampler->failure_stack[failure];

	if (*stack == STACK_NONE)
		*stack = profile_intern_stack(
			sampler->profile,
			profile_intern_named(sampler->profile, sample_failure_text(failure)),
			STACK_NONE);
	return *stack;
}
