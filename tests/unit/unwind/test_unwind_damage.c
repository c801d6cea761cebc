/* SPDX-License-Identifier: MIT */
/*
 * test_unwind_damage.c - walks stacks, registers and unwind tables that make no sense: a walk
 * always ends, within its bounds, and harms no later one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../scene/unwind_scene.h"
#include "wallsample/base/base.h"

static void
walk_all_ways(struct scene *scene, const struct snapshot *snapshot, bool may_stop,
	      struct chain *chain)
{
	for (size_t i = 0; i < CHOICES; i++) {
		unwinder_walk(scene->unwinder[i], snapshot, may_stop, chain);
		check_sane(chain, snapshot);
	}
}

/* Nothing that was walked meanwhile is remembered wrongly. */
static void
check_unharmed(struct scene *scene, struct chain *chain)
{
	for (int thread = 0; thread < THREADS; thread++)
		for (size_t i = 0; i < CHOICES; i++) {
			unwinder_walk(scene->unwinder[i], &scene->snapshot[thread], false, chain);
			assert_int_equal(chain->end, CHAIN_OUTERMOST);
			check_prefix(chain, &scene->whole[thread]);
		}
}

/* A value as a wild program might leave it: near the stack, near code, small, or any. */
static uint64_t
wild_value(const struct scene *scene, const struct snapshot *snapshot, struct rng *rng)
{
	const struct mapping *mapping =
		maps_at(scene->maps, rng_next(rng) % maps_count(scene->maps));

	switch (rng_next(rng) % 6) {
	case 0:
		return snapshot->stack_address + rng_next(rng) % (snapshot->stack_size + 64);
	case 1:
		return (snapshot->stack_address + rng_next(rng) % snapshot->stack_size) & ~7ULL;
	case 2:
		return mapping->start + rng_next(rng) % (mapping->end - mapping->start);
	case 3:
		return rng_next(rng) % 64;
	case 4:
		return UINT64_MAX - rng_next(rng) % 64;
	default:
		return rng_next(rng);
	}
}

static void
test_damaged_stack(void **state)
{
	struct scene *scene = scene_of(state);
	struct snapshot part;
	struct chain chain;
	struct rng rng;

	rng_seed(&rng, 60);
	snapshot_init(&part);
	chain_init(&chain);
	for (int variant = 0; variant < 3000; variant++) {
		int thread = variant % THREADS;
		const struct snapshot *snapshot = &scene->snapshot[thread];
		size_t used = scene->whole[thread].stack_used;
		size_t changes = 1 + rng_next(&rng) % 40;

		copy_part(snapshot, used, &part);
		for (size_t i = 0; i < changes; i++) {
			if (rng_next(&rng) % 2 != 0) {
				part.stack[rng_next(&rng) % used] = (uint8_t)rng_next(&rng);
			} else {
				uint64_t value = wild_value(scene, snapshot, &rng);

				memcpy(part.stack + rng_next(&rng) % (used / 8) * 8, &value, 8);
			}
		}
		part.stack_wanted += rng_next(&rng) % 2;
		part.live_limit = rng_next(&rng) % 4 == 0 ? STACK_WANT : 0;
		walk_all_ways(scene, &part, rng_next(&rng) % 2 != 0, &chain);
	}
	check_unharmed(scene, &chain);
	snapshot_release(&part);
	chain_release(&chain);
}

static void
test_damaged_registers(void **state)
{
	struct scene *scene = scene_of(state);
	struct snapshot part;
	struct chain chain;
	struct rng rng;

	rng_seed(&rng, 70);
	snapshot_init(&part);
	chain_init(&chain);
	for (int variant = 0; variant < 3000; variant++) {
		const struct snapshot *snapshot = &scene->snapshot[variant % THREADS];
		uint64_t sp = wild_value(scene, snapshot, &rng);

		copy_part(snapshot, snapshot->stack_size, &part);
		/* What is copied begins at the stack pointer, whatever that is. */
		if (rng_next(&rng) % 2 != 0)
			part.stack_address = sp;
		regs_set_sp_pc(&part.regs, sp, wild_value(scene, snapshot, &rng));
		for (unsigned i = 0; i < regs_count; i++)
			if (i != regs_sp_number && rng_next(&rng) % 2 != 0)
				regs_set(&part.regs, i, wild_value(scene, snapshot, &rng));
		part.live_limit = rng_next(&rng) % 4 == 0 ? STACK_WANT : 0;
		walk_all_ways(scene, &part, rng_next(&rng) % 2 != 0, &chain);
	}
	check_unharmed(scene, &chain);
	snapshot_release(&part);
	chain_release(&chain);
}

/* --- damaged tables ---------------------------------------------------------------- */

struct program { /* the bytes of this program's file */
	uint8_t *bytes;
	size_t size;
	size_t code, code_size; /* its executable segment */
	size_t hdr, hdr_size;   /* .eh_frame_hdr; .eh_frame follows it */
	char path[256];         /* of the damaged copy */
};

static void
program_read(struct program *program)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const char *folder = getenv("BUILD");
	const Elf64_Ehdr *header;
	const Elf64_Phdr *part;
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	memset(program, 0, sizeof(*program));
	program->size = (size_t)st.st_size;
	program->bytes = xmalloc(program->size);
	assert_int_equal(read(fd, program->bytes, program->size), program->size);
	close(fd);
	header = (const void *)program->bytes;
	part = (const void *)(program->bytes + header->e_phoff);
	for (size_t i = 0; i < header->e_phnum; i++) {
		if (part[i].p_type == PT_LOAD && (part[i].p_flags & PF_X) != 0) {
			program->code = part[i].p_offset;
			program->code_size = part[i].p_filesz;
		} else if (part[i].p_type == PT_GNU_EH_FRAME) {
			program->hdr = part[i].p_offset;
			program->hdr_size = part[i].p_filesz;
		}
	}
	assert_true(program->code_size > 0 && program->hdr_size > 0);
	snprintf(program->path, sizeof(program->path), "%s/test_unwind_damage.%d",
		 folder != NULL ? folder : ".", (int)getpid());
}

/* Writes the copy as a new file, with up to 16 bytes of [offset, offset + size) changed. */
static void
write_damaged(const struct program *program, size_t offset, size_t size, struct rng *rng)
{
	size_t changes = rng_next(rng) % 17;
	int fd;

	unlink(program->path);
	fd = open(program->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, program->bytes, program->size), program->size);
	for (size_t i = 0; i < changes; i++) {
		uint8_t byte = (uint8_t)rng_next(rng);

		assert_int_equal(pwrite(fd, &byte, 1, (off_t)(offset + rng_next(rng) % size)), 1);
	}
	close(fd);
}

/* A stack on which each other word leads into the code of the copy. */
static void
fill_stack(struct snapshot *snapshot, uint64_t code, size_t code_size, struct rng *rng)
{
	const size_t size = 4096;

	snapshot_reserve(snapshot, size);
	snapshot->tid = getpid();
	snapshot->stack_address = UINT64_C(0x7f0000000000);
	snapshot->stack_size = snapshot->stack_wanted = size;
	snapshot->live_limit = 0;
	for (size_t i = 0; i < size; i += 8) {
		uint64_t value = rng_next(rng) % 2 != 0 ?
					 code + rng_next(rng) % code_size :
					 snapshot->stack_address + rng_next(rng) % size / 8 * 8;

		memcpy(snapshot->stack + i, &value, 8);
	}
	regs_set_sp_pc(&snapshot->regs, snapshot->stack_address,
		       code + rng_next(rng) % code_size);
	for (unsigned i = 0; i < regs_count; i++)
		if (i != regs_sp_number)
			regs_set(&snapshot->regs, i,
				 snapshot->stack_address + rng_next(rng) % size / 8 * 8);
}

/* Walks through code of the damaged copy, which is mapped into this very process. Returns how
 * many frames were found by tables. */
static size_t
walk_damaged(const struct program *program, const struct process *process, struct rng *rng)
{
	static const enum unwind_choice choices[] = { UNWIND_AUTO, UNWIND_LIBUNWIND,
						      UNWIND_LIBDW };
	int fd = open(program->path, O_RDONLY | O_CLOEXEC);
	void *code = mmap(NULL, program->code_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
			  (off_t)program->code);
	struct modules *modules = modules_create();
	struct maps *maps = maps_create(process, modules);
	struct snapshot snapshot;
	struct chain chain;
	size_t frames = 0;

	assert_true(code != MAP_FAILED);
	close(fd);
	snapshot_init(&snapshot);
	chain_init(&chain);
	for (size_t i = 0; i < ARRAY_SIZE(choices); i++) {
		struct unwinder *unwinder = unwinder_create(maps, choices[i]);

		for (int walks = 0; walks < 8; walks++) {
			fill_stack(&snapshot, (uintptr_t)code, program->code_size, rng);
			unwinder_walk(unwinder, &snapshot, walks % 2 != 0, &chain);
			check_sane(&chain, &snapshot);
			for (size_t j = 0; j < chain.count; j++)
				frames += chain.frame[j].origin == FRAME_CFI;
		}
		unwinder_free(unwinder);
	}
	chain_release(&chain);
	snapshot_release(&snapshot);
	maps_free(maps);
	modules_free(modules);
	munmap(code, program->code_size);
	return frames;
}

static void
test_damaged_tables(void **state)
{
	struct process *process;
	struct program program;
	struct rng rng;
	size_t frames = 0;
	struct error err;

	(void)state;
	rng_seed(&rng, 80);
	program_read(&program);
	assert_int_equal(process_open(getpid(), &process, &err), 0);
	for (int variant = 0; variant < 300; variant++) {
		/* the header of the table, the table, what it leads to */
		size_t size = variant % 3 == 0 ? 12 :
			      variant % 3 == 1 ? program.hdr_size : program.hdr_size * 4;

		write_damaged(&program, program.hdr, size, &rng);
		frames += walk_damaged(&program, process, &rng);
	}
	/* or nothing of the tables was read at all */
	assert_true(frames > 300);
	unlink(program.path);
	process_free(process);
	free(program.bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_damaged_stack),
		cmocka_unit_test(test_damaged_registers),
		cmocka_unit_test(test_damaged_tables),
	};

	alarm(120);
	return cmocka_run_group_tests(tests, scene_start, scene_end);
}
