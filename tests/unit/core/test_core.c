/* SPDX-License-Identifier: MIT */
/*
 * test_core.c - core files: what is read from sound ones, and that no other does any harm.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "../scene/made_core.h"
#include "wallsample/core/core_sample.h"
#include "core/core_internal.h"
#include "wallsample/symbol/symbol.h"

#define PAGE UINT64_C(4096)

/* --- sound ones --------------------------------------------------------------------- */

static void
add_thread(struct made_core *made, pid_t tid, int signal, uint64_t sp)
{
	const struct user_regs_struct registers = {
		.rip = 0x401000 + (uint64_t)tid, .rsp = sp, .rbp = 7, .orig_rax = UINT64_MAX,
		.fs_base = 0x7000,
	};

	made_core_thread(made, tid, signal, &registers);
}

static void
test_threads(void **state)
{
	const struct user_regs_struct asleep = {
		.orig_rax = SYS_futex, .rax = (uint64_t)-512, .rdi = 1, .rsi = 2, .rdx = 3,
		.r10 = 4, .r8 = 5, .r9 = 6, .rsp = 0x2000, .rip = 0x3000,
	};
	const struct user_regs_struct leaving = { .orig_rax = SYS_write, .rax = 5 };
	struct core_thread thread;
	struct made_core made;
	struct core *core;
	uint64_t value;

	(void)state;
	made_core_init(&made);
	add_thread(&made, 12, SIGSEGV, 0x1000);
	made_core_process(&made, 11, "worker", "./worker --all  ");
	made_core_signal(&made, SIGSEGV, SEGV_MAPERR, 0x10);
	made_core_thread(&made, 11, SIGSEGV, &asleep);
	made_core_thread(&made, 13, SIGSEGV, &leaving);
	core = made_core_open(&made);
	assert_int_equal(core_thread_count(core), 3);
	assert_int_equal(core_process(core)->pid, 11);
	assert_string_equal(core_process(core)->comm, "worker");
	assert_string_equal(core_process(core)->cmdline, "./worker --all");
	assert_int_equal(core_end(core)->signal, SIGSEGV);
	assert_int_equal(core_end(core)->tid, 12);
	assert_true(core_end(core)->has_address);
	assert_int_equal(core_end(core)->address, 0x10);
	assert_int_equal(core_missing(core), 0);

	assert_true(core_thread_read(core, 0, &thread));
	assert_int_equal(thread.tid, 12);
	assert_int_equal(thread.regs.pc, 0x401000 + 12);
	assert_int_equal(thread.regs.sp, 0x1000);
	assert_true(regs_get(&thread.regs, regs_fp_number, &value));
	assert_int_equal(value, 7);
	assert_int_equal(thread.syscall, SYSCALL_NONE);
	assert_false(thread.asleep);
	assert_int_equal(thread.tls, 0x7000);

	assert_true(core_thread_read(core, 1, &thread));
	assert_int_equal(thread.syscall, SYS_futex);
	assert_true(thread.asleep);
	for (uint64_t i = 0; i < 6; i++)
		assert_int_equal(thread.args[i], i + 1);

	assert_true(core_thread_read(core, 2, &thread));
	assert_int_equal(thread.syscall, SYS_write);
	assert_false(thread.asleep);
	core_free(core);
	made_core_release(&made);
}

/* What gdb writes of a process that lives on, and what the kernel does of one that was killed. */
static void
test_ends(void **state)
{
	static const struct {
		int status, signal, code;
		uint64_t address;
		int expected;
		bool has_address;
		pid_t sender;
	} ends[] = {
		{ 0, SIGSTOP, SI_KERNEL, 0, 0, false, 0 },
		{ SIGSTOP, SIGSTOP, SI_USER, 77, 0, false, 0 },
		{ -1, -1, 1, 1, 0, false, 0 },
		{ 9999, 9999, 1, 1, 0, false, 0 },
		{ SIGSEGV, SIGSEGV, SI_KERNEL, 0, SIGSEGV, false, 0 },
		{ SIGSEGV, SIGBUS, SEGV_MAPERR, 5, SIGSEGV, false, 0 },
		{ SIGBUS, SIGBUS, BUS_ADRERR, 5, SIGBUS, true, 0 },
		{ SIGABRT, SIGABRT, SI_TKILL, 11, SIGABRT, false, 0 },
		{ SIGQUIT, SIGQUIT, SI_USER, 77, SIGQUIT, false, 77 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		struct made_core made;
		struct core *core;

		made_core_init(&made);
		made_core_process(&made, 11, "x", "");
		add_thread(&made, 11, ends[i].status, 0);
		made_core_signal(&made, ends[i].signal, ends[i].code, ends[i].address);
		add_thread(&made, 12, SIGSEGV, 0);
		made_core_signal(&made, SIGSEGV, SEGV_MAPERR, 0x666);
		core = made_core_open(&made);
		assert_int_equal(core_end(core)->signal, ends[i].expected);
		assert_int_equal(core_end(core)->has_address, ends[i].has_address);
		assert_int_equal(core_end(core)->sender, ends[i].sender);
		assert_string_equal(core_process(core)->cmdline, "[x]");
		core_free(core);
		made_core_release(&made);
	}
}

static void
test_memory(void **state)
{
	uint8_t bytes[3 * PAGE], got[3 * PAGE];
	struct made_core made;
	struct core *core;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7 / 5);
	made_core_init(&made);
	add_thread(&made, 1, 0, 0);
	/* out of order; the middle one overlaps the first; the last wraps round */
	made_core_memory(&made, 0x12000, PAGE, PF_R, bytes + 2 * PAGE, PAGE);
	made_core_memory(&made, 0x11800, PAGE, PF_R, bytes, PAGE);
	made_core_memory(&made, 0x10000, 2 * PAGE, PF_R, bytes, 2 * PAGE);
	made_core_memory(&made, 0x20000, 2 * PAGE, PF_R, bytes, PAGE);
	made_core_memory(&made, UINT64_MAX - 100, PAGE, PF_R, bytes, PAGE);
	core = made_core_open(&made);
	assert_true(core_read(core, 0x10000, got, sizeof(got)));
	assert_memory_equal(got, bytes, sizeof(got));
	assert_true(core_read(core, 0x10fff, got, 2));
	assert_memory_equal(got, bytes + 0xfff, 2);
	assert_false(core_read(core, 0xffff, got, 2));
	assert_false(core_read(core, 0x10000, got, sizeof(got) + 1));
	assert_int_equal(core_read_piece(core, 0x11ff0, got, 100), 16);
	/* of these there is a page in the core, and one that is not */
	assert_int_equal(core_read_piece(core, 0x20000, got, sizeof(got)), PAGE);
	assert_false(core_read(core, 0x20000 + PAGE, got, 1));
	assert_false(core_read(core, UINT64_MAX - 50, got, 8));
	assert_int_equal(core_read_piece(core, 0x5000, got, 1), 0);
	core_free(core);
	made_core_release(&made);
}

static void
test_truncated(void **state)
{
	static const uint8_t bytes[4 * PAGE];
	struct made_core made;
	struct core *core;
	uint8_t byte;

	(void)state;
	made_core_init(&made);
	add_thread(&made, 1, SIGABRT, 0);
	made_core_memory(&made, 0x10000, sizeof(bytes), PF_R, bytes, sizeof(bytes));
	made_core_memory(&made, 0x20000, PAGE, PF_R, bytes, PAGE);
	made.cut = 2 * PAGE + 10;
	core = made_core_open(&made);
	assert_int_equal(core_missing(core), made.cut);
	assert_true(core_read(core, 0x10000 + 3 * PAGE - 11, &byte, 1));
	assert_false(core_read(core, 0x10000 + 3 * PAGE - 10, &byte, 1));
	assert_false(core_read(core, 0x20000, &byte, 1));
	core_free(core);
	made_core_release(&made);
}

static void
test_many(void **state)
{
	enum { THREADS = 20000, SEGMENTS = 70000 };
	struct core_thread thread;
	struct made_core made;
	struct core *core;
	uint32_t value;

	(void)state;
	made_core_init(&made);
	for (int i = 0; i < THREADS; i++)
		add_thread(&made, i + 1, 0, 0);
	for (uint32_t i = 0; i < SEGMENTS; i++)
		made_core_memory(&made, i * 2 * PAGE, PAGE, PF_R, &i, sizeof(i));
	core = made_core_open(&made);
	assert_int_equal(made.header.e_phnum, PN_XNUM);
	assert_int_equal(core_thread_count(core), THREADS);
	for (int i = 0; i < THREADS; i += 999) {
		assert_true(core_thread_read(core, (size_t)i, &thread));
		assert_int_equal(thread.regs.pc, 0x401000 + i + 1);
	}
	assert_true(core_read(core, (SEGMENTS - 1) * 2 * PAGE, &value, sizeof(value)));
	assert_int_equal(value, SEGMENTS - 1);
	core_free(core);
	made_core_release(&made);
}

/* --- others ------------------------------------------------------------------------- */

static void
expect_refusal(const char *path, enum error_kind kind, const char *text)
{
	struct error err = { 0 };
	struct core *core;

	assert_int_equal(core_open(path, &core, &err), -(int)kind);
	assert_null(core);
	if (strstr(err.text, text) == NULL)
		fail_msg("'%s' is not in: %s", text, err.text);
}

static void
test_no_cores(void **state)
{
	struct made_core made;

	(void)state;
	expect_refusal("/nonexistent", ERROR_SYSTEM, "No such file");
	expect_refusal("/dev/null", ERROR_SYSTEM, "no regular file");
	expect_refusal("/", ERROR_SYSTEM, "no regular file");
	expect_refusal("/proc/self/exe", ERROR_FORMAT, "a program or a library");
	expect_refusal(made_bytes_write("", 0), ERROR_FORMAT, "no ELF file");
	expect_refusal(made_bytes_write("\177ELF", 4), ERROR_FORMAT, "64 bits");
	expect_refusal(made_bytes_write("text and more text", 18), ERROR_FORMAT, "no ELF file");
	expect_refusal(made_bytes_write("\x28\xb5\x2f\xfd more", 9), ERROR_FORMAT, "zstd -d");
	expect_refusal(made_bytes_write("\x04\x22\x4d\x18 more", 9), ERROR_FORMAT, "lz4 -d");
	expect_refusal(made_bytes_write("\x1f\x8b more", 7), ERROR_FORMAT, "gunzip -k");

	made_core_init(&made);
	expect_refusal(made_core_write(&made), ERROR_FORMAT, "has no threads");
	add_thread(&made, 1, 0, 0);
	made.header.e_machine = EM_AARCH64;
	expect_refusal(made_core_write(&made), ERROR_FORMAT, "aarch64, 64 bits");
	made.header.e_machine = EM_386;
	made.header.e_ident[EI_CLASS] = ELFCLASS32;
	expect_refusal(made_core_write(&made), ERROR_FORMAT, "i386, 32 bits");
	made.header.e_ident[EI_DATA] = ELFDATA2MSB;
	expect_refusal(made_core_write(&made), ERROR_FORMAT, "another architecture");
	made_core_release(&made);

	made_core_init(&made);
	add_thread(&made, 1, 0, 0);
	made.cut = 8;
	expect_refusal(made_core_write(&made), ERROR_FORMAT, "has no threads");
	made.cut = 0;
	made.header.e_phentsize = 1;
	expect_refusal(made_core_write(&made), ERROR_FORMAT, "damaged");
	made.header.e_phentsize = sizeof(Elf64_Phdr);
	made.header.e_phoff = UINT64_MAX - 20;
	expect_refusal(made_core_write(&made), ERROR_FORMAT, "has no threads");
	made.header.e_phoff = sizeof(Elf64_Ehdr);
	made.header.e_phnum = PN_XNUM;
	made.header.e_shoff = UINT64_MAX - 8;
	expect_refusal(made_core_write(&made), ERROR_FORMAT, "has no threads");
	made.header.e_phnum = 0;
	made_core_note(&made, "VMCOREINFO", 0, "x", 2);
	expect_refusal(made_core_write(&made), ERROR_FORMAT, "a dump of a kernel");
	made_core_release(&made);
}

/* Notes that reach beyond the end, or are too short, take nothing from those before them. */
static void
test_bad_notes(void **state)
{
	static const Elf64_Nhdr bad[] = {
		{ .n_namesz = 5, .n_descsz = UINT32_MAX, .n_type = NT_PRSTATUS },
		{ .n_namesz = UINT32_MAX, .n_descsz = 4, .n_type = NT_FILE },
		{ .n_namesz = UINT32_MAX, .n_descsz = UINT32_MAX, .n_type = NT_AUXV },
		{ .n_namesz = 0, .n_descsz = 0, .n_type = NT_PRSTATUS },
	};
	static const uint8_t zeros[600];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct made_core made;
		struct core *core;

		made_core_init(&made);
		add_thread(&made, 5, 0, 0);
		made_core_note(&made, "CORE", NT_PRSTATUS, zeros, 20);
		made_core_note(&made, "CORE", NT_PRPSINFO, zeros, 20);
		made_core_note(&made, "CORE", NT_SIGINFO, zeros, 20);
		made_core_note(&made, "CORE", NT_FILE, zeros, 15);
		made_core_note(&made, "CORE", NT_AUXV, zeros, 15);
		made_core_note(&made, "LINUX", NT_PRSTATUS, zeros, sizeof(zeros));
		made_core_note(&made, "LINUX", NT_ARM_TLS, zeros, 4);
		made_core_note(&made, "", 0, &bad[i], sizeof(bad[i]));
		memcpy(made.notes + made.notes_size - sizeof(bad[i]), &bad[i], sizeof(bad[i]));
		core = made_core_open(&made);
		assert_int_equal(core_thread_count(core), 1);
		assert_int_equal(core_thread_id(core, 0), 5);
		core_free(core);
		made_core_release(&made);
	}
}

static void
test_bad_files(void **state)
{
	const uint64_t lies[][5] = {
		{ 1000000, 1, 1, 2, 3 },                /* more than there are */
		{ 1, 1, 0x1000, 0x2000, 0 },            /* a name without an end */
		{ 1, UINT64_MAX, 0x1000, 0x2000, 3 },   /* an offset that wraps round */
		{ UINT64_MAX, 0, 0x1000, 0x2000, 0 },
	};
	const struct core_files files = { .exe = NULL };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		struct modules *modules = modules_create();
		uint8_t bytes[sizeof(lies[i]) + 4];
		struct made_core made;
		struct core *core;
		struct maps *maps;

		memcpy(bytes, lies[i], sizeof(lies[i]));
		memcpy(bytes + sizeof(lies[i]), "/abc", 4);
		made_core_init(&made);
		add_thread(&made, 1, 0, 0);
		made_core_note(&made, "CORE", NT_FILE, bytes, sizeof(bytes));
		core = made_core_open(&made);
		maps = core_maps(core, modules, &files, NULL);
		assert_int_equal(maps_count(maps), 0);
		maps_free(maps);
		modules_free(modules);
		core_free(core);
		made_core_release(&made);
	}
}

/* --- modules ------------------------------------------------------------------------ */

/* This program's first page and code, wherever they lie: as a core would have them. */
struct own {
	char path[4096];
	uint8_t head[4096];
	struct image *image;
	const struct image_segment *code;
};

static void
own_open(struct own *own)
{
	const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const ssize_t length = readlink("/proc/self/exe", own->path, sizeof(own->path) - 1);

	assert_true(fd >= 0 && length > 0);
	own->path[length] = '\0';
	assert_int_equal(pread(fd, own->head, sizeof(own->head), 0), sizeof(own->head));
	own->image = image_open_fd(fd, NULL);
	assert_non_null(own->image);
	for (size_t i = 0; i < own->image->segment_count; i++)
		if (own->image->segment[i].executable)
			own->code = &own->image->segment[i];
	assert_non_null(own->code);
}

/*
 * A core of this program at 0x10000000, its code one mapping behind the first page, in the way of
 * the kernel or of gdb; the code's module is looked at.
 */
static void
look_at_own(const struct own *own, const char *path, bool by_gdb, const struct core_files *files,
	    void (*look)(const struct mapping *mapping, const struct module *module))
{
	const uint64_t base = 0x10000000, offset = own->code->offset & ~(PAGE - 1);
	const uint64_t start = base + (own->code->vaddr & ~(PAGE - 1));
	const uint64_t size = (own->code->offset + own->code->file_size - offset + PAGE - 1) &
			      ~(PAGE - 1);
	const struct made_file file[] = {
		{ base, base + PAGE, 0, path }, { start, start + size, offset, path },
	};
	struct modules *modules = modules_create();
	struct made_core made;
	struct core *core;
	struct maps *maps;

	made_core_init(&made);
	add_thread(&made, 1, 0, 0);
	made_core_files(&made, file, ARRAY_SIZE(file));
	made_core_memory(&made, base, PAGE, PF_R, own->head, PAGE);
	if (!by_gdb)
		made_core_memory(&made, start, size, PF_R | PF_X, NULL, 0);
	made_core_memory(&made, 0x20000000, PAGE, PF_R | PF_W | PF_X, NULL, 0);
	core = made_core_open(&made);
	maps = core_maps(core, modules, files, NULL);
	assert_int_equal(maps_count(maps), 2);
	assert_ptr_equal(maps_find(maps, start), maps_at(maps, 0));
	assert_ptr_equal(maps_find(maps, start + size - 1), maps_at(maps, 0));
	assert_null(maps_find(maps, start + size));
	assert_null(maps_find(maps, base));
	assert_int_equal(modules_get(modules, maps_at(maps, 1)->module)->kind, MODULE_ANONYMOUS);
	look(maps_at(maps, 0), modules_get(modules, maps_at(maps, 0)->module));
	maps_free(maps);
	modules_free(modules);
	core_free(core);
	made_core_release(&made);
}

static void
is_found(const struct mapping *mapping, const struct module *module)
{
	assert_int_equal(module->kind, MODULE_FILE);
	assert_non_null(mapping->image);
	assert_int_equal(mapping->bias, 0x10000000);
}

static void
is_other_build(const struct mapping *mapping, const struct module *module)
{
	assert_int_equal(module->kind, MODULE_OTHER);
	assert_null(mapping->image);
	assert_string_equal(module->why, "another build of it stands there");
}

static void
is_not_there(const struct mapping *mapping, const struct module *module)
{
	assert_int_equal(module->kind, MODULE_OTHER);
	assert_null(mapping->image);
	assert_non_null(module->why);
}

static void
test_modules(void **state)
{
	const struct core_files none = { .exe = NULL }, symfs = { .symfs = "/proc/self/root" };
	const struct core_files exe = { .exe = "/proc/self/exe" }, wrong = { .exe = "/dev/null" };
	char folder[] = "/tmp/test_core.XXXXXX", fifo[64], link[64];
	struct own own;

	(void)state;
	own_open(&own);
	assert_non_null(mkdtemp(folder));
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	snprintf(link, sizeof(link), "%s/link", folder);
	assert_true(mkfifo(fifo, 0600) == 0 && symlink(own.path, link) == 0);
	for (int by_gdb = 0; by_gdb < 2; by_gdb++) {
		look_at_own(&own, own.path, by_gdb, &none, is_found);
		look_at_own(&own, own.path, by_gdb, &symfs, is_found);
		look_at_own(&own, "/nonexistent", by_gdb, &none, is_not_there);
		look_at_own(&own, "/nonexistent", by_gdb, &exe, is_found);
		look_at_own(&own, own.path, by_gdb, &wrong, is_not_there);
		/* what is no regular file is not opened: this would wait for a writer */
		look_at_own(&own, fifo, by_gdb, &none, is_not_there);
		look_at_own(&own, "/dev/zero", by_gdb, &none, is_not_there);
		look_at_own(&own, link, by_gdb, &none, is_not_there);
		look_at_own(&own, "relative", by_gdb, &none, is_not_there);
	}
	unlink(fifo);
	unlink(link);
	rmdir(folder);
	image_free(own.image);
}

/* A file is told from another build of it by its build-id, and else by its first page. */
static void
test_other_build(void **state)
{
	const struct core_files none = { .exe = NULL };
	struct own own;
	size_t at = 16;

	(void)state;
	own_open(&own);
	while (at + own.image->build_id_size < sizeof(own.head) &&
	       memcmp(own.head + at, own.image->build_id, own.image->build_id_size) != 0)
		at++;
	if (own.image->build_id_size == 0 || at + own.image->build_id_size >= sizeof(own.head)) {
		image_free(own.image);
		skip();
	}
	own.head[at + 3] ^= 1;
	look_at_own(&own, own.path, false, &none, is_other_build);
	look_at_own(&own, own.path, true, &none, is_other_build);
	/* no note is this one any more: the page as a whole differs */
	own.head[at - 16] ^= 1;
	look_at_own(&own, own.path, false, &none, is_other_build);
	own.head[at - 16] ^= 1;
	own.head[at + 3] ^= 1;
	look_at_own(&own, own.path, false, &none, is_found);
	image_free(own.image);
}

/* --- stacks ------------------------------------------------------------------------- */

/*
 * Threads of this program, each caught in a signal handler, which has their registers. The last
 * has called a null pointer.
 */
enum { CAUGHT = 4, NOWHERE = CAUGHT - 1 };

static struct caught {
	struct user_regs_struct registers;
	volatile int ready;
	pid_t tid;
} caught[CAUGHT];
static volatile int release;
static __thread struct caught *own_caught;
static sigjmp_buf way_out;

static void
on_signal(int signo, siginfo_t *info, void *context)
{
	const greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)info;
	own_caught->registers = (struct user_regs_struct){
		.rip = (uint64_t)g[REG_RIP], .rsp = (uint64_t)g[REG_RSP],
		.rbp = (uint64_t)g[REG_RBP], .rbx = (uint64_t)g[REG_RBX],
		.r12 = (uint64_t)g[REG_R12], .r13 = (uint64_t)g[REG_R13],
		.r14 = (uint64_t)g[REG_R14], .r15 = (uint64_t)g[REG_R15],
		.orig_rax = UINT64_MAX,
	};
	__atomic_store_n(&own_caught->ready, 2, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&release, __ATOMIC_SEQ_CST))
		usleep(1000);
	if (signo == SIGSEGV)
		siglongjmp(way_out, 1);
}

static volatile long depth_reached;
static void (*volatile nothing)(void);

__attribute__((noinline, noclone)) static void
call_nothing(void)
{
	nothing();
	depth_reached++;
}

__attribute__((noinline, noclone)) static void
spin_innermost(void)
{
	__atomic_store_n(&own_caught->ready, 1, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&release, __ATOMIC_SEQ_CST))
		depth_reached++;
}

__attribute__((noinline, noclone)) static void
go_down(int depth)
{
	if (depth == 0)
		spin_innermost();
	else
		go_down(depth - 1);
	depth_reached++;
}

static void *
thread_main(void *argument)
{
	own_caught = argument;
	own_caught->tid = (pid_t)syscall(SYS_gettid);
	if (own_caught != &caught[NOWHERE])
		go_down(5 + (int)(own_caught - caught));
	else if (sigsetjmp(way_out, 1) == 0)
		call_nothing();
	return NULL;
}

#define MAPPING_MOST ((size_t)64 << 20)

/* This process as the kernel would write it, but for what nobody asks for. */
static void
add_own_memory(struct made_core *made)
{
	FILE *list = fopen("/proc/self/maps", "re"), *memory = fopen("/proc/self/mem", "re");
	struct made_file file[512];
	size_t count = 0;
	char line[4400];

	assert_true(list != NULL && memory != NULL);
	while (fgets(line, sizeof(line), list) != NULL) {
		unsigned long start, end, offset;
		uint8_t *bytes;
		char flags[5];
		size_t there;
		int at = 0;

		if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %n", &start, &end, flags, &offset, &at) <
		    4 || at == 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		if (line[at] == '/' && count < ARRAY_SIZE(file))
			file[count++] = (struct made_file){ start, end, offset, strdup(line + at) };
		/* code from files is not written, but for the first page */
		there = line[at] == '/' && flags[1] != 'w' ? PAGE : end - start;
		/* nor is the shadow memory of the sanitizers */
		if ((line[at] == '/' && flags[1] != 'w' && offset != 0) || there > MAPPING_MOST)
			there = 0;
		bytes = malloc(there + 1);
		if (there > 0 && (flags[0] != 'r' || pread(fileno(memory), bytes, there,
							   (off_t)start) != (ssize_t)there))
			there = 0;
		made_core_memory(made, start, end - start,
				 (flags[0] == 'r' ? PF_R : 0) | (flags[1] == 'w' ? PF_W : 0) |
				 (flags[2] == 'x' ? PF_X : 0), bytes, there);
		free(bytes);
	}
	made_core_files(made, file, count);
	for (size_t i = 0; i < count; i++)
		free((char *)(uintptr_t)file[i].path);
	fclose(list);
	fclose(memory);
}

/* Calls of go_down in the stack, innermost first, must stand between the two others. */
static void
check_stack(struct symbols *symbols, const struct profile *profile, uint32_t stack, int depth)
{
	static const char *const ends[] = { "spin_innermost", "thread_main" };
	int downs = 0, seen = 0;

	for (; stack != STACK_NONE; stack = profile_stack(profile, stack)->caller) {
		const uint32_t id = profile_stack(profile, stack)->frame;
		const struct profile_frame *frame = profile_frame(profile, id);
		struct symbol_place place = { .module = frame->module, .vaddr = frame->address };
		struct symbol symbol;

		assert_int_not_equal(frame->module, MODULE_NONE);
		symbols_find(symbols, &place, &symbol, 1);
		if (seen < 2 && strcmp(symbol.function, ends[seen]) == 0)
			seen++;
		else if (strcmp(symbol.function, "go_down") == 0)
			downs += seen == 1 ? 1 : 100;
	}
	assert_int_equal(seen, 2);
	assert_int_equal(downs, depth + 1);
}

/* What cannot be executed has a frame, and so has who called it. */
static void
check_nowhere(struct symbols *symbols, const struct profile *profile, uint32_t stack)
{
	const struct profile_stack *innermost = profile_stack(profile, stack);
	const struct profile_frame *frame = profile_frame(profile, innermost->frame);
	struct symbol_place place;
	struct symbol symbol;

	assert_int_equal(frame->module, MODULE_NONE);
	assert_string_equal(profile_text(profile, (uint32_t)frame->address), "[unmapped 0x0]");
	stack = innermost->caller;
	assert_int_not_equal(stack, STACK_NONE);
	frame = profile_frame(profile, profile_stack(profile, stack)->frame);
	place = (struct symbol_place){ .module = frame->module, .vaddr = frame->address };
	symbols_find(symbols, &place, &symbol, 1);
	assert_string_equal(symbol.function, "call_nothing");
}

/* No first function is in a file that could not be had: there is no saying so. */
static void
check_outermost(const struct modules *modules, const struct profile *profile, uint32_t stack)
{
	const struct profile_frame *frame;

	while (profile_stack(profile, stack)->caller != STACK_NONE)
		stack = profile_stack(profile, stack)->caller;
	frame = profile_frame(profile, profile_stack(profile, stack)->frame);
	assert_true(frame->module == MODULE_NONE ||
		    modules_get(modules, frame->module)->kind == MODULE_FILE);
}

enum expected { WHOLE, NO_PROGRAM, NO_MEMORY };

static void
check_core(const struct core *core, const char *exe, enum expected expected)
{
	static const struct symbols_config names = { .demangle = true };
	const struct core_sample_config config = {
		.unwinder = UNWIND_AUTO, .runtimes = RUNTIMES_ALL,
	};
	const struct core_files files = { .exe = exe };
	struct modules *modules = modules_create();
	struct maps *maps = core_maps(core, modules, &files, NULL);
	struct symbols *symbols = symbols_create(modules, &names);
	struct profile *profile = profile_create();
	struct run_stats stats;

	core_sample(core, maps, &config, profile, &stats);
	assert_int_equal(stats.thread_samples, CAUGHT);
	if (expected != NO_PROGRAM)
		assert_int_equal(stats.chains[CHAIN_OUTERMOST], expected == WHOLE ? CAUGHT : 0);
	assert_int_equal(profile_entry_count(profile), CAUGHT);
	for (size_t i = 0; i < CAUGHT; i++)
		check_outermost(modules, profile, profile_entry(profile, i)->stack);
	for (size_t i = 0; expected == WHOLE && i < CAUGHT; i++) {
		const struct profile_entry *entry = profile_entry(profile, i);

		assert_int_equal(profile_thread(profile, entry->thread)->tid, caught[i].tid);
		assert_int_equal(entry->state, RUN_RUNNING);
		if (i == NOWHERE)
			check_nowhere(symbols, profile, entry->stack);
		else
			check_stack(symbols, profile, entry->stack, 5 + (int)i);
	}
	profile_free(profile);
	symbols_free(symbols);
	maps_free(maps);
	modules_free(modules);
}

static void
test_stacks(void **state)
{
	const struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	struct made_core made;
	pthread_t thread[CAUGHT];
	struct core *core;

	(void)state;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	for (int i = 0; i < CAUGHT; i++) {
		assert_int_equal(pthread_create(&thread[i], NULL, thread_main, &caught[i]), 0);
		while (__atomic_load_n(&caught[i].ready, __ATOMIC_SEQ_CST) == 0)
			sched_yield();
		if (i != NOWHERE)
			pthread_kill(thread[i], SIGUSR1);
		while (__atomic_load_n(&caught[i].ready, __ATOMIC_SEQ_CST) == 1)
			sched_yield();
	}
	made_core_init(&made);
	for (int i = 0; i < CAUGHT; i++)
		made_core_thread(&made, caught[i].tid, 0, &caught[i].registers);
	add_own_memory(&made);
	core = made_core_open(&made);
	__atomic_store_n(&release, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < CAUGHT; i++)
		pthread_join(thread[i], NULL);
	check_core(core, NULL, WHOLE);
	check_core(core, "/dev/null", NO_PROGRAM);
	core_free(core);
	/* the file is cut short before the first byte of memory */
	for (size_t i = 0; i < made.segment_count; i++)
		made.cut += made.segment[i].p_filesz;
	core = made_core_open(&made);
	check_core(core, NULL, NO_MEMORY);
	core_free(core);
	made_core_release(&made);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_no_cores),
		cmocka_unit_test(test_bad_notes),
		cmocka_unit_test(test_bad_files),
		cmocka_unit_test(test_modules),
		cmocka_unit_test(test_other_build),
		cmocka_unit_test(test_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
