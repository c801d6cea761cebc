/* SPDX-License-Identifier: MIT */
/* made_core.c - makes core files; see the header. */
#include "made_core.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "wallsample/base/base.h"

void
made_core_init(struct made_core *made)
{
	*made = (struct made_core){
		.header = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				     EV_CURRENT },
			.e_type = ET_CORE,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_phoff = sizeof(Elf64_Ehdr),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
		},
	};
}

void
made_core_release(struct made_core *made)
{
	for (size_t i = 0; i < made->segment_count; i++)
		free(made->bytes[i]);
	free(made->bytes);
	free(made->segment);
	free(made->notes);
}

static void
add_notes(struct made_core *made, const void *bytes, size_t size)
{
	static const uint8_t padding[4];
	const size_t rest = -size % 4;

	made->notes = xgrow(made->notes, &made->notes_capacity, made->notes_size + size + rest, 1);
	if (size > 0)
		memcpy(made->notes + made->notes_size, bytes, size);
	memcpy(made->notes + made->notes_size + size, padding, rest);
	made->notes_size += size + rest;
}

void
made_core_note(struct made_core *made, const char *owner, uint32_t type, const void *bytes,
	       size_t size)
{
	const Elf64_Nhdr head = {
		.n_namesz = (uint32_t)strlen(owner) + 1, .n_descsz = (uint32_t)size, .n_type = type,
	};

	add_notes(made, &head, sizeof(head));
	add_notes(made, owner, head.n_namesz);
	add_notes(made, bytes, size);
}

void
made_core_thread(struct made_core *made, pid_t tid, int signal,
		 const struct user_regs_struct *registers)
{
	struct elf_prstatus status;

	memset(&status, 0, sizeof(status));
	status.pr_pid = tid;
	status.pr_cursig = (short)signal;
	if (registers != NULL)
		memcpy(&status.pr_reg, registers, sizeof(*registers));
	made_core_note(made, "CORE", NT_PRSTATUS, &status, sizeof(status));
}

void
made_core_process(struct made_core *made, pid_t pid, const char *name, const char *words)
{
	struct elf_prpsinfo info;

	memset(&info, 0, sizeof(info));
	info.pr_pid = pid;
	strncpy(info.pr_fname, name, sizeof(info.pr_fname) - 1);
	strncpy(info.pr_psargs, words, sizeof(info.pr_psargs) - 1);
	made_core_note(made, "CORE", NT_PRPSINFO, &info, sizeof(info));
}

void
made_core_files(struct made_core *made, const struct made_file *file, size_t count)
{
	uint64_t words[2] = { count, 1 };
	size_t size = sizeof(words) + count * 3 * sizeof(uint64_t), at;
	uint8_t *bytes;

	for (size_t i = 0; i < count; i++)
		size += strlen(file[i].path) + 1;
	bytes = xmalloc(size);
	memcpy(bytes, words, sizeof(words));
	at = sizeof(words) + count * 3 * sizeof(uint64_t);
	for (size_t i = 0; i < count; i++) {
		memcpy(bytes + sizeof(words) + i * 24, &file[i].start, 8);
		memcpy(bytes + sizeof(words) + i * 24 + 8, &file[i].end, 8);
		memcpy(bytes + sizeof(words) + i * 24 + 16, &file[i].offset, 8);
		memcpy(bytes + at, file[i].path, strlen(file[i].path) + 1);
		at += strlen(file[i].path) + 1;
	}
	made_core_note(made, "CORE", NT_FILE, bytes, size);
	free(bytes);
}

void
made_core_signal(struct made_core *made, int signal, int code, uint64_t address)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = signal;
	info.si_code = code;
	info.si_addr = (void *)(uintptr_t)address;
	made_core_note(made, "CORE", NT_SIGINFO, &info, sizeof(info));
}

void
made_core_memory(struct made_core *made, uint64_t address, uint64_t size, uint32_t flags,
		 const void *bytes, size_t there)
{
	made->segment = xgrow(made->segment, &made->segment_capacity, made->segment_count + 1,
			      sizeof(*made->segment));
	made->bytes = xgrow(made->bytes, &made->bytes_capacity, made->segment_count + 1,
			    sizeof(*made->bytes));
	made->segment[made->segment_count] = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_flags = flags, .p_vaddr = address, .p_memsz = size,
		.p_filesz = there,
	};
	made->bytes[made->segment_count] = xmalloc(there + 1);
	if (there > 0)
		memcpy(made->bytes[made->segment_count], bytes, there);
	made->segment_count++;
}

static const char *
path_of(int fd)
{
	static char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

static void
put(FILE *file, const void *bytes, size_t size)
{
	assert_true(size == 0 || fwrite(bytes, size, 1, file) == 1);
}

const char *
made_bytes_write(const void *bytes, size_t size)
{
	const int fd = memfd_create("made", 0);
	FILE *file = fdopen(dup(fd), "w+");

	assert_non_null(file);
	put(file, bytes, size);
	assert_int_equal(fclose(file), 0);
	/* The descriptor is closed when the test program ends. */
	return path_of(fd);
}

/* Writes the program headers. The notes come first, as in core files of the kernel. */
static size_t
put_headers(struct made_core *made, FILE *file)
{
	const bool many = made->segment_count + 1 >= PN_XNUM;
	const size_t count = made->segment_count + 1;
	Elf64_Shdr section = { .sh_info = (uint32_t)count };
	Elf64_Phdr notes = { .p_type = PT_NOTE, .p_filesz = made->notes_size };
	size_t at = sizeof(made->header) + count * sizeof(notes) + (many ? sizeof(section) : 0);

	if (made->header.e_phnum == 0)
		made->header.e_phnum = many ? PN_XNUM : (uint16_t)count;
	if (many) {
		made->header.e_shoff = at - sizeof(section);
		made->header.e_shentsize = sizeof(section);
		made->header.e_shnum = 1;
	}
	put(file, &made->header, sizeof(made->header));
	notes.p_offset = at;
	put(file, &notes, sizeof(notes));
	at += made->notes_size;
	for (size_t i = 0; i < made->segment_count; i++) {
		made->segment[i].p_offset = at;
		put(file, &made->segment[i], sizeof(made->segment[i]));
		at += made->segment[i].p_filesz;
	}
	if (many)
		put(file, &section, sizeof(section));
	return at;
}

const char *
made_core_write(struct made_core *made)
{
	const int fd = memfd_create("core", 0);
	FILE *file = fdopen(dup(fd), "w+");
	size_t size;

	assert_non_null(file);
	size = put_headers(made, file);
	put(file, made->notes, made->notes_size);
	for (size_t i = 0; i < made->segment_count; i++)
		put(file, made->bytes[i], made->segment[i].p_filesz);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(ftruncate(fd, (off_t)(size - made->cut)), 0);
	return path_of(fd);
}

struct core *
made_core_open(struct made_core *made)
{
	struct core *core;
	struct error err;

	if (core_open(made_core_write(made), &core, &err) != 0)
		fail_msg("%s", err.text);
	return core;
}
