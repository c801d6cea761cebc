/* SPDX-License-Identifier: MIT */
/*
 * core_notes.c - reads threads, files and the end of the process from the notes of a core file.
 *
 * fs/binfmt_elf.c of Linux writes the notes; gdb writes the same notes in another order. Malformed
 * notes are ignored.
 */
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>

#include "core/core_internal.h"

/* Largest number of threads: Linux has no more (PID_MAX_LIMIT of threads.h). */
#define THREADS_MAX ((size_t)4 << 20)

/* Bound on the size of NT_FILE; the kernel's limit, core_file_note_size_limit, can be set to 16 MiB
 * at most. */
#define FILES_MAX_SIZE ((size_t)64 << 20)

/* Largest number of entries of the auxiliary vector; Linux has some twenty. */
#define AUXV_MAX 256

/*
 * Mask for rounding up to 4 bytes: names and descriptors of notes are padded to 4 bytes, even in
 * segments that are aligned to 8.
 */
#define NOTE_PAD UINT64_C(3)

struct note {
	uint32_t type;
	char owner[16]; /* "CORE", "LINUX" */
	uint64_t at;    /* offset of the descriptor in the file */
	uint64_t size;  /* bytes of the descriptor */
};

static bool
is_of(const struct note *note, const char *owner, uint32_t type, size_t least)
{
	return note->type == type && note->size >= least && strcmp(note->owner, owner) == 0;
}

/* --- the end ----------------------------------------------------------------------- */

/* Returns true when the default action of the signal is to end the process: signal(7). */
static bool
is_deadly(int signal)
{
	switch (signal) {
	case SIGCHLD:
	case SIGCONT:
	case SIGSTOP:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
	case SIGURG:
	case SIGWINCH:
		return false;
	default:
		return signal > 0 && signal <= SIGRTMAX;
	}
}

static bool
has_address(const siginfo_t *info)
{
	/* With SI_KERNEL si_addr is not valid, for example after a general protection fault. */
	if (info->si_code <= 0 || info->si_code >= SI_KERNEL)
		return false;
	return info->si_signo == SIGSEGV || info->si_signo == SIGBUS || info->si_signo == SIGILL ||
	       info->si_signo == SIGFPE;
}

/* Reads NT_SIGINFO of the first thread, the one that received the signal. This note follows
 * NT_PRSTATUS of the thread. */
static void
take_siginfo(struct core *core, const struct note *note)
{
	siginfo_t info;

	if (core->has_end || core->thread_count != 1 ||
	    !core_read_file(core, note->at, &info, sizeof(info)))
		return;
	core->has_end = true;
	if (core->end.signal == 0 || info.si_signo != core->end.signal)
		return;
	core->end.has_address = has_address(&info);
	if (core->end.has_address)
		core->end.address = (uint64_t)(uintptr_t)info.si_addr;
	else if (info.si_code <= 0 && info.si_pid > 0)
		core->end.sender = info.si_pid;
}

/* --- threads ----------------------------------------------------------------------- */

static void
take_status(struct core *core, const struct note *note)
{
	struct core_thread_place place = { .general = note->at +
						      offsetof(struct elf_prstatus, pr_reg) };
	struct elf_prstatus status;

	if (core->thread_count == THREADS_MAX ||
	    !core_read_file(core, note->at, &status, sizeof(status)))
		return;
	place.tid = status.pr_pid > 0 ? status.pr_pid : 0;
	if (core->thread_count == 0 && is_deadly(status.pr_cursig)) {
		core->end.signal = status.pr_cursig;
		core->end.tid = place.tid;
	}
	core->thread = xgrow(core->thread, &core->thread_capacity, core->thread_count + 1,
			     sizeof(*core->thread));
	core->thread[core->thread_count++] = place;
}

static void
take_tls(struct core *core, const struct note *note)
{
	if (core->thread_count > 0)
		core->thread[core->thread_count - 1].tls = note->at;
}

static void
take_process(struct core *core, const struct note *note)
{
	struct process *process = core->process;
	struct elf_prpsinfo info;
	size_t length;

	if (process->cmdline != NULL || !core_read_file(core, note->at, &info, sizeof(info)))
		return;
	process->pid = info.pr_pid > 0 ? info.pr_pid : 0;
	memcpy(process->comm, info.pr_fname, sizeof(info.pr_fname));
	process->comm[sizeof(info.pr_fname)] = '\0';
	process->cmdline = xstrndup(info.pr_psargs,
				    strnlen(info.pr_psargs, sizeof(info.pr_psargs)));
	/* The kernel puts a space after each argument: the spaces at the end are removed. */
	length = strlen(process->cmdline);
	while (length > 0 && process->cmdline[length - 1] == ' ')
		process->cmdline[--length] = '\0';
}

/* --- files ------------------------------------------------------------------------- */

/*
 * Reads NT_FILE, which has the number of mappings and the unit of offsets; then start, end and
 * offset of each mapping; then for each mapping the name of its file, terminated by a zero byte.
 */
static void
take_files(struct core *core, const struct note *note)
{
	const size_t head = 2 * sizeof(uint64_t), each = 3 * sizeof(uint64_t);
	uint64_t count, unit, entry[3];
	size_t at;
	char *bytes;

	if (core->has_files || note->size > FILES_MAX_SIZE)
		return;
	bytes = xmalloc(note->size);
	if (!core_read_file(core, note->at, bytes, note->size)) {
		free(bytes);
		return;
	}
	core->has_files = true;
	memcpy(&count, bytes, sizeof(count));
	memcpy(&unit, bytes + sizeof(count), sizeof(unit));
	if (count > (note->size - head) / each)
		count = (note->size - head) / each;
	/* The unit is the page size if the kernel wrote the note; gdb writes the unit 1, and
	 * offsets in bytes. */
	if (unit >= 4096 && unit <= 65536 && (unit & (unit - 1)) == 0)
		core->page_size = unit;
	at = head + (size_t)count * each;
	for (size_t i = 0; i < count; i++) {
		const char *path = bytes + at;
		const size_t length = strnlen(path, note->size - at);

		if (at + length == note->size)
			break;
		at += length + 1;
		memcpy(entry, bytes + head + i * each, each);
		if (length >= PATH_MAX || entry[0] >= entry[1] ||
		    (unit > 0 && entry[2] > INT64_MAX / unit))
			continue;
		entry[2] *= unit;
		core_spans_add(&core->ranges,
			       (struct core_span){ .start = entry[0],
						   .end = entry[1],
						   .offset = entry[2],
						   .path = strings_intern(core->paths, path) });
	}
	free(bytes);
}

static void
take_auxv(struct core *core, const struct note *note)
{
	const uint64_t count = note->size / sizeof(Elf64_auxv_t);

	if (core->has_auxv)
		return;
	core->has_auxv = true;
	for (uint64_t i = 0; i < count && i < AUXV_MAX; i++) {
		Elf64_auxv_t entry;

		if (!core_read_file(core, note->at + i * sizeof(entry), &entry, sizeof(entry)))
			return;
		if (entry.a_type == AT_SYSINFO_EHDR)
			core->vdso = entry.a_un.a_val;
		else if (entry.a_type == AT_ENTRY)
			core->entry = entry.a_un.a_val;
	}
}

/* --- all notes --------------------------------------------------------------------- */

static void
take_note(struct core *core, const struct note *note)
{
	if (is_of(note, "CORE", NT_PRSTATUS, sizeof(struct elf_prstatus)))
		take_status(core, note);
	else if (is_of(note, "CORE", NT_PRPSINFO, sizeof(struct elf_prpsinfo)))
		take_process(core, note);
	else if (is_of(note, "CORE", NT_SIGINFO, sizeof(siginfo_t)))
		take_siginfo(core, note);
	else if (is_of(note, "CORE", NT_FILE, 2 * sizeof(uint64_t)))
		take_files(core, note);
	else if (is_of(note, "CORE", NT_AUXV, sizeof(Elf64_auxv_t)))
		take_auxv(core, note);
	else if (is_of(note, "LINUX", NT_ARM_TLS, sizeof(uint64_t)))
		take_tls(core, note);
	else if (strcmp(note->owner, "VMCOREINFO") == 0)
		core->is_kernel = true;
}

void
core_take_notes(struct core *core, const Elf64_Phdr *header)
{
	uint64_t at = header->p_offset, left = header->p_filesz;

	core->is_cut |= at > core->size || left > core->size - at;
	while (left > sizeof(Elf64_Nhdr) && core->notes_left > 0) {
		struct note note = { .size = 0 };
		uint64_t name_size, size, next;
		Elf64_Nhdr head;

		core->notes_left--;
		if (!core_read_file(core, at, &head, sizeof(head)))
			return;
		name_size = ((uint64_t)head.n_namesz + NOTE_PAD) & ~NOTE_PAD;
		size = ((uint64_t)head.n_descsz + NOTE_PAD) & ~NOTE_PAD;
		next = sizeof(head) + name_size + size;
		note.type = head.n_type;
		note.size = head.n_descsz;
		note.at = at + sizeof(head) + name_size;
		if (head.n_namesz < sizeof(note.owner) &&
		    !core_read_file(core, at + sizeof(head), note.owner, head.n_namesz))
			return;
		take_note(core, &note);
		if (next >= left)
			return;
		at += next;
		left -= next;
	}
}

void
core_finish_notes(struct core *core)
{
	/*
	 * With raise(3) and abort(3) the process has sent the signal to itself: there is no other
	 * sender.
	 */
	if (core->end.sender == core->process->pid)
		core->end.sender = 0;
	if (core->process->cmdline == NULL || core->process->cmdline[0] == '\0') {
		struct strbuf name = STRBUF_INIT;

		strbuf_add_format(&name, "[%s]", core->process->comm);
		free(core->process->cmdline);
		core->process->cmdline = name.data;
	}
}
