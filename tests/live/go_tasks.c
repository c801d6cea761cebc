/* SPDX-License-Identifier: MIT */
/*
 * go_tasks.c PROGRAM MODE… - are goroutines what the program itself says of them?
 *
 * The program is go_tasks.go or go_foreign.go; see there. What is known by reading its memory is
 * compared with runtime.Stack and runtime.FuncForPC, which it answers over a pipe. What runs
 * is looked at while the whole process is stopped, again and again: then all that is known of
 * goroutines and of threads must be one.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wallsample/base/base.h"
#include "wallsample/process/process.h"
#include "wallsample/runtime/runtime.h"
#include "wallsample/runtime/green_task.h"
#include "wallsample/runtime/language.h"
#include "wallsample/tracer/process_memory.h"

#define TICKS_MOST 64
#define STOPS 50
#define FRAMES_MOST 64
#define SHOWN_MOST 20

struct target {
	pid_t pid;
	FILE *in, *out;
	char *line;
	size_t capacity;
	struct process *process;
	struct modules *modules;
	struct maps *maps;
	struct runtimes *runtimes;
	struct runtime_capture *capture;
	struct green_task *task;
	size_t count;
	uint64_t turns; /* where a number is that grows; 0: nowhere */
	unsigned failed, compared;
	bool no_signals; /* that make goroutines let others run */
};

static void
die(const char *what)
{
	fprintf(stderr, "go_tasks: %s: %s\n", what, strerror(errno));
	exit(99);
}

#define EXPECT(target, holds, ...)                                             \
	do {                                                                   \
		if (!(holds) && (target)->failed++ < SHOWN_MOST) {             \
			printf("%s:%d: ", __func__, __LINE__);                 \
			printf(__VA_ARGS__);                                   \
			printf("\n");                                          \
		}                                                              \
	} while (0)

/* --- the target ----------------------------------------------------------------- */

static const char *
read_line(struct target *target)
{
	ssize_t length = getline(&target->line, &target->capacity, target->out);

	if (length <= 0)
		die("the program says nothing more");
	target->line[length - 1] = '\0';
	return target->line;
}

static void
start(struct target *target, char **words)
{
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
		die("pipe2");
	target->pid = fork();
	if (target->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		execv(words[0], words);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	target->in = fdopen(in[1], "w");
	target->out = fdopen(out[0], "r");
	if (strncmp(read_line(target), "ready ", 6) != 0)
		die("the program is not ready");
	target->turns = strtoull(target->line + 6, NULL, 16);
}

/* Is this the function there? Its name is in target->line then. */
static bool
is_named(struct target *target, uint64_t pc, const char *name)
{
	fprintf(target->in, "name %" PRIx64 "\n", pc);
	fflush(target->in);
	return strcmp(read_line(target), name) == 0;
}

static bool
read_memory(void *context, uint64_t address, void *to, size_t size)
{
	const struct target *target = context;

	return memory_read_process(target->pid, address, to, size) == size;
}

static size_t
read_pages(void *context, const uint64_t *page, size_t count, void *to)
{
	const struct target *target = context;

	return memory_read_pages(target->pid, page, count, to);
}

static size_t
read_pieces(void *context, const struct memory_piece *piece, size_t count, void *to)
{
	const struct target *target = context;

	return memory_read_pieces(target->pid, piece, count, to);
}

static pid_t
find_thread(void *context, pid_t inner)
{
	const struct target *target = context;
	struct task_stat stat;

	return process_read_task_stat(target->process, inner, &stat) ? inner : 0;
}

static void
open_runtimes(struct target *target)
{
	struct log log = { .level = LOG_NORMAL, .stream = stdout };
	struct error err;
	struct runtimes_config config = {
		.memory = { .read = read_memory, .context = target },
		.read_pages = read_pages,
		.read_pieces = read_pieces,
		.thread = find_thread,
		.context = target,
		.wanted = UINT32_C(1) << language_by_name("go"),
	};
	uint64_t took_ns = 0, longest_ns = 0;

	config.log = &log;
	if (process_open(target->pid, &target->process, &err) != 0)
		die("the process");
	target->modules = modules_create();
	target->maps = maps_create(target->process, target->modules);
	config.process = target->process;
	config.maps = target->maps;
	target->runtimes = runtimes_create(&config);
	target->capture = runtime_capture_create(target->runtimes);
	for (int i = 0; i < TICKS_MOST && !runtimes_any(target->runtimes); i++) {
		const uint64_t began_ns = clock_now_ns();
		uint64_t ns;

		runtimes_tick(target->runtimes, began_ns);
		ns = clock_now_ns() - began_ns;
		longest_ns = ns > longest_ns ? ns : longest_ns;
		took_ns += ns;
	}
	if (!runtimes_any(target->runtimes))
		die("no Go found in it");
	printf("%s, found in %.1f ms, at most %.1f ms at once\n",
	       runtimes_describe(target->runtimes, 0), (double)took_ns / 1e6,
	       (double)longest_ns / 1e6);
}

static void
finish(struct target *target)
{
	int status;

	runtime_capture_free(target->capture);
	runtimes_free(target->runtimes);
	maps_free(target->maps);
	modules_free(target->modules);
	process_free(target->process);
	fclose(target->in);
	fclose(target->out);
	if (waitpid(target->pid, &status, 0) != target->pid || status != 0)
		die("the program has not ended well");
	free(target->task);
	free(target->line);
}

static void
look(struct target *target)
{
	uint32_t *slot;

	target->count = runtimes_green_task_slots(target->runtimes);
	slot = xmalloc((target->count + 1) * sizeof(*slot));
	target->task = xrealloc(target->task, (target->count + 1) * sizeof(*target->task));
	for (size_t i = 0; i < target->count; i++)
		slot[i] = (uint32_t)i;
	runtimes_read_green_tasks(target->runtimes, slot, target->count, target->task);
	free(slot);
}

static const struct green_task *
find_task(const struct target *target, uint64_t id)
{
	for (size_t i = 0; i < target->count; i++)
		if (target->task[i].state != GREEN_TASK_NONE && target->task[i].id == id)
			return &target->task[i];
	return NULL;
}

/* --- stacks ----------------------------------------------------------------------- */

/*
 * By frame pointers, which all of Go's functions save: where the stack goes on, then return
 * addresses. Is its outermost function the one to which all return at their end?
 */
static size_t
walk(struct target *target, const struct green_task *task, uint64_t frame[FRAMES_MOST])
{
	uint64_t fp = task->fp, saved[2];
	size_t count = 0;

	frame[count++] = task->pc;
	while (count < FRAMES_MOST && fp != 0) {
		EXPECT(target, fp >= task->stack_low && fp <= task->stack_high - 16,
		       "goroutine %" PRIu64 ": fp %" PRIx64 " in [%" PRIx64 ", %" PRIx64 ")",
		       task->id, fp, task->stack_low, task->stack_high);
		if (memory_read_process(target->pid, fp, saved, sizeof(saved)) != sizeof(saved))
			break;
		frame[count++] = saved[1];
		if (saved[0] != 0 && saved[0] <= fp)
			break;
		fp = saved[0];
	}
	return count;
}

static void
check_end(struct target *target, const struct green_task *task, const uint64_t *frame, size_t count)
{
	const uint64_t last = frame[count - 1];

	/* One that has not begun is there itself. */
	EXPECT(target, is_named(target, last - 1, "runtime.goexit") || last == task->entry,
	       "goroutine %" PRIu64 " ends in %s after %zu frames", task->id, target->line,
	       count);
}

/* --- what waits ------------------------------------------------------------------- */

/* A goroutine as runtime.Stack has it. */
struct said {
	uint64_t id, creator;
	char state[64], first[128], entry[128], created_by[128];
};

/* "main.quiet.func1(0x1, ...)" without what it was called with. */
static void
take_function(const char *line, char to[128])
{
	const char *end = strrchr(line, '(');

	snprintf(to, 128, "%.*s", end != NULL ? (int)(end - line) : (int)strlen(line), line);
}

static void
take_line(struct said *said, const char *line)
{
	const char *in = strstr(line, " in goroutine ");

	if (strncmp(line, "created by ", 11) == 0) {
		snprintf(said->created_by, sizeof(said->created_by), "%.*s",
			 in != NULL ? (int)(in - line) - 11 : (int)strlen(line) - 11, line + 11);
		said->creator = in != NULL ? strtoull(in + 14, NULL, 10) : 0;
	} else if (line[0] != '\t') {
		take_function(line, said->entry);
		if (said->first[0] == '\0' && strncmp(line, "main.", 5) == 0)
			take_function(line, said->first);
	}
}

static bool
next_said(struct target *target, struct said *said)
{
	const char *line = read_line(target), *words;

	*said = (struct said){ 0 };
	if (strcmp(line, ".") == 0)
		return false;
	if (strncmp(line, "goroutine ", 10) != 0 || (words = strchr(line, '[')) == NULL)
		die("what the program says cannot be understood");
	said->id = strtoull(line + 10, NULL, 10);
	snprintf(said->state, sizeof(said->state), "%.*s", (int)strcspn(words + 1, ",]"),
		 words + 1);
	while ((line = read_line(target))[0] != '\0')
		take_line(said, line);
	return true;
}

static bool
is_creator_told(const struct target *target)
{
	/* "Go 1.21" and later. */
	return strtoul(strchr(runtimes_describe(target->runtimes, 0), '.') + 1, NULL, 10) >= 21;
}

static void
compare(struct target *target, const struct said *said)
{
	const struct green_task *task = find_task(target, said->id);
	uint64_t frame[FRAMES_MOST];
	bool found = false;
	size_t count;

	EXPECT(target, task != NULL, "goroutine %" PRIu64 " is not there", said->id);
	if (task == NULL)
		return;
	EXPECT(target, !task->system, "goroutine %" PRIu64 " is the runtime's", said->id);
	if (said->id == 1) {
		EXPECT(target, task->state == GREEN_TASK_CALLING, "goroutine 1: %s",
		       green_task_state_text(task->state));
		EXPECT(target, task->tid != 0, "goroutine 1 has no thread");
		return;
	}
	EXPECT(target,
	       task->state == GREEN_TASK_WAITING &&
		       strcmp(runtimes_green_task_reason(target->runtimes, task->reason),
			      said->state) == 0,
	       "goroutine %" PRIu64 ": %s [%s], not [%s]", said->id,
	       green_task_state_text(task->state),
	       runtimes_green_task_reason(target->runtimes, task->reason), said->state);
	EXPECT(target, task->creator == (is_creator_told(target) ? said->creator : 0),
	       "goroutine %" PRIu64 ": made by %" PRIu64 ", not %" PRIu64, said->id,
	       task->creator, said->creator);
	EXPECT(target, is_named(target, task->created_at - 1, said->created_by),
	       "goroutine %" PRIu64 ": made in %s, not %s", said->id, target->line,
	       said->created_by);
	EXPECT(target, is_named(target, task->entry, said->entry),
	       "goroutine %" PRIu64 ": began with %s, not %s", said->id, target->line,
	       said->entry);
	EXPECT(target, is_named(target, task->pc, "runtime.gopark"),
	       "goroutine %" PRIu64 " goes on in %s", said->id, target->line);
	count = walk(target, task, frame);
	for (size_t i = 0; i < count && !found; i++)
		found = is_named(target, frame[i] - 1, said->first);
	EXPECT(target, found, "goroutine %" PRIu64 ": no %s", said->id, said->first);
	check_end(target, task, frame, count);
	target->compared++;
}

/* The program's answer is over when its first goroutine waits for the next question. */
static void
look_when_asked(struct target *target)
{
	const struct green_task *first;

	do {
		runtimes_tick(target->runtimes, clock_now_ns());
		look(target);
		first = find_task(target, 1);
	} while (first == NULL || first->state != GREEN_TASK_CALLING);
}

static void
test_quiet(struct target *target)
{
	struct said said[256];
	size_t count = 0, own = 0, others = 0;

	fprintf(target->in, "stacks\n");
	fflush(target->in);
	while (count < ARRAY_SIZE(said) && next_said(target, &said[count]))
		count++;
	look_when_asked(target);
	for (size_t i = 0; i < target->count; i++) {
		own += target->task[i].state != GREEN_TASK_NONE && target->task[i].system;
		others += target->task[i].state != GREEN_TASK_NONE && !target->task[i].system;
	}
	for (size_t i = 0; i < count; i++)
		compare(target, &said[i]);
	EXPECT(target, others == count, "%zu goroutines, not %zu", others, count);
	EXPECT(target, own > 1, "%zu goroutines are the runtime's", own);
	printf("%u compared, %zu of the runtime's\n", target->compared, own);
}

/* --- what runs -------------------------------------------------------------------- */

/* What is asked when the program goes on. */
struct left {
	struct green_task task;
	uint64_t frame[FRAMES_MOST];
	size_t count;
};

struct stops {
	struct left *left;
	size_t count, capacity;
	unsigned on_own, on_other, in_signal, ready, none;
};

static uint64_t
stack_pointer(const struct target *target, pid_t tid)
{
	char path[64], *text, *sp;
	uint64_t value = 0;
	size_t length;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)target->pid, (int)tid);
	text = file_read_text(AT_FDCWD, path, 4096, &length);
	sp = text != NULL ? strrchr(text, ' ') : NULL;
	if (sp != NULL) {
		*sp = '\0';
		sp = strrchr(text, ' ');
	}
	if (sp != NULL)
		value = strtoull(sp, NULL, 16);
	free(text);
	return value;
}

static void
keep(struct target *target, struct stops *stops, const struct green_task *task)
{
	struct left *left;

	stops->left = xgrow(stops->left, &stops->capacity, stops->count + 1,
			    sizeof(*stops->left));
	left = &stops->left[stops->count++];
	left->task = *task;
	left->count = walk(target, task, left->frame);
}

static void
check_thread(struct target *target, struct stops *stops, pid_t tid)
{
	const uint64_t sp = stack_pointer(target, tid);
	const struct green_task_words *words;
	const struct green_task *seen;
	const uint8_t *stack;
	uint8_t copy[64];
	struct green_task task;
	size_t size;

	runtime_capture_take(target->capture, tid, sp, true);
	if (!runtime_capture_green_task(target->capture, &task, &words, &stack, &size))
		return;
	if (task.state == GREEN_TASK_NONE) {
		stops->none++;
		return;
	}
	seen = find_task(target, task.id);
	EXPECT(target, strcmp(words->noun, "goroutine") == 0, "%s", words->noun);
	EXPECT(target, seen != NULL && seen->tid == tid && seen->address == task.address,
	       "thread %d runs %" PRIu64 ", and so does %d", (int)tid, task.id,
	       seen != NULL ? (int)seen->tid : 0);
	if (sp >= task.stack_low && sp < task.stack_high) {
		EXPECT(target, task.pc == 0 && task.sp == 0 && size == 0,
		       "goroutine %" PRIu64 " is on its own stack", task.id);
		stops->on_own++;
		return;
	}
	/* A signal that makes it let others run came while it was on its own stack. */
	if (task.sp == 0 && !target->no_signals) {
		stops->in_signal++;
		return;
	}
	stops->on_other++;
	EXPECT(target, task.sp >= task.stack_low && task.sp < task.stack_high && size > 0 &&
		       size <= task.stack_high - task.sp,
	       "goroutine %" PRIu64 ": sp %" PRIx64 " in [%" PRIx64 ", %" PRIx64 "), %zu bytes",
	       task.id, task.sp, task.stack_low, task.stack_high, size);
	if (size >= sizeof(copy) && read_memory(target, task.sp, copy, sizeof(copy)))
		EXPECT(target, memcmp(copy, stack, sizeof(copy)) == 0, "its stack is another");
	if (task.fp != 0)
		keep(target, stops, &task);
}

/* Does the thread of a goroutine that runs say so, too? */
static void
check_running(struct target *target, const struct green_task *seen)
{
	const struct green_task_words *words;
	struct green_task task = { .id = 0 };
	const uint8_t *stack;
	bool known = false;
	size_t size;

	if (seen->tid != 0) {
		runtime_capture_take(target->capture, seen->tid, 0, true);
		known = runtime_capture_green_task(target->capture, &task, &words, &stack, &size);
	}
	EXPECT(target, known && task.id == seen->id,
	       "goroutine %" PRIu64 " is %s on thread %d, which is %s and runs %" PRIu64, seen->id,
	       green_task_state_text(seen->state), (int)seen->tid, known ? "known" : "not known",
	       task.id);
}

static void
check_threads(struct target *target, struct stops *stops)
{
	char path[64];
	const struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)target->pid);
	folder = opendir(path);
	while (folder != NULL && (entry = readdir(folder)) != NULL)
		if (entry->d_name[0] != '.')
			check_thread(target, stops, (pid_t)strtol(entry->d_name, NULL, 10));
	closedir(folder);
	for (size_t i = 0; i < target->count; i++) {
		const struct green_task *task = &target->task[i];

		if (task->state == GREEN_TASK_RUNNING || task->state == GREEN_TASK_CALLING)
			check_running(target, task);
		if (task->state == GREEN_TASK_READY && task->fp != 0) {
			stops->ready++;
			keep(target, stops, task);
		}
	}
}

/* It goes on with what it does, for a while of its own that differs. */
static void
let_run(struct target *target, int nth)
{
	uint64_t first = 0, now = 0;

	if (target->turns == 0)
		return;
	read_memory(target, target->turns, &first, sizeof(first));
	do {
		if (!read_memory(target, target->turns, &now, sizeof(now)))
			die("the program has gone");
	} while (now - first < 50 + (uint64_t)nth * 37 % 400);
}

static void
stop(struct target *target, struct stops *stops)
{
	int status;

	kill(target->pid, SIGSTOP);
	if (waitpid(target->pid, &status, WUNTRACED) != target->pid || !WIFSTOPPED(status))
		die("the program has not stopped");
	/* All threads are listed again once a second. */
	for (int i = 0; i < 2; i++)
		runtimes_tick(target->runtimes, clock_now_ns() + (uint64_t)i * NS_PER_SEC);
	look(target);
	check_threads(target, stops);
	kill(target->pid, SIGCONT);
	if (waitpid(target->pid, &status, WCONTINUED) != target->pid || !WIFCONTINUED(status))
		die("the program does not go on");
}

static void
test_stops(struct target *target, int count)
{
	struct stops stops = { 0 };

	for (int i = 0; i < count; i++) {
		let_run(target, i);
		stop(target, &stops);
	}
	for (size_t i = 0; i < stops.count; i++)
		check_end(target, &stops.left[i].task, stops.left[i].frame, stops.left[i].count);
	EXPECT(target, stops.on_own > 0 && stops.on_other > 0, "they run on one kind of stack");
	printf("on their own stacks %u, on others %u, in signals %u, runnable %u, threads without "
	       "any %u; %zu walked\n",
	       stops.on_own, stops.on_other, stops.in_signal, stops.ready, stops.none,
	       stops.count);
	free(stops.left);
}

/* --- how long it takes -------------------------------------------------------------- */

static void
measure(struct target *target)
{
	uint64_t best_ns = UINT64_MAX;

	look_when_asked(target);
	for (int i = 0; i < 10; i++) {
		const uint64_t began_ns = clock_now_ns();
		uint64_t ns;

		look(target);
		ns = clock_now_ns() - began_ns;
		best_ns = ns < best_ns ? ns : best_ns;
	}
	printf("%zu slots: %.2f us each\n", target->count,
	       (double)best_ns / 1e3 / (double)target->count);
}

int
main(int argc, char **argv)
{
	const char *debug = getenv("GODEBUG");
	struct target target = {
		.no_signals = debug != NULL && strstr(debug, "asyncpreemptoff=1") != NULL,
	};

	if (argc < 3)
		return 64;
	alarm(300);
	start(&target, argv + 1);
	open_runtimes(&target);
	if (strcmp(argv[2], "quiet") == 0)
		test_quiet(&target);
	else if (strcmp(argv[2], "many") == 0)
		measure(&target);
	else
		test_stops(&target, strcmp(argv[2], "busy") == 0 ? STOPS : 1);
	finish(&target);
	return target.failed > 0 ? 1 : 0;
}
