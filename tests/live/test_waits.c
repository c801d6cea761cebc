/* SPDX-License-Identifier: MIT */
/*
 * test_waits.c - what threads of a real process wait for, and who keeps them waiting: each kind of
 * lock of the C libraries that are there, told while they sleep and without waking them.
 */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "wallsample/process/process.h"
#include "wallsample/thread/state.h"
#include "wallsample/tracer/process_memory.h"
#include "wallsample/wait/wait.h"

#define THREADS_MOST 256

/* One look at all threads of a process. */
struct scene {
	struct process *process;
	size_t count;
	pid_t *tids;         /* in the order of `calls`: of a look, none comes or goes between */
	size_t capacity;
	struct wait_call calls[THREADS_MOST];
	struct wait_source source;
};

struct claim {
	char name[32], kind[32], object[32], holder[32];
	int tid, timed, fd;
};

static bool
read_memory(void *context, uint64_t address, void *to, size_t size)
{
	const struct scene *scene = context;

	return memory_read_process(scene->process->pid, address, to, size) == size;
}

static pid_t
find_thread(void *context, pid_t inner)
{
	const struct scene *scene = context;

	for (size_t i = 0; i < scene->count; i++)
		if (scene->tids[i] == inner)
			return inner;
	return 0;
}

static size_t
count_blocked(void *context, uint64_t address)
{
	const struct scene *scene = context;
	size_t blocked = 0;

	for (size_t i = 0; i < scene->count; i++)
		blocked += wait_futex_word(&scene->calls[i]) == address;
	return blocked;
}

/* The number that restart_syscall hides: from the code, or (musl) as it was seen before. */
static long
restarted(pid_t tid, const struct syscall_info *info, const struct wait_call *before)
{
	unsigned char code[SYSCALL_CODE_SIZE];
	long number = SYSCALL_UNKNOWN;

	if (memory_read_process(tid, info->pc - sizeof(code), code, sizeof(code)) == sizeof(code))
		number = syscall_from_code(code);
	return number == SYSCALL_UNKNOWN && before->sp == info->sp ? before->number : number;
}

/* Replaces *call when the thread sleeps in a system call. */
static bool
read_call(const struct scene *scene, pid_t tid, struct wait_call *call)
{
	struct wait_call fresh = {0};
	struct syscall_info info;
	struct watch watch;
	enum watch_end look;

	watch_init(&watch, tid, SCHED_FROM_STATUS, false);
	look = watch_read_syscall(&watch, scene->process, &info);
	watch_release(&watch);
	if (look != WATCH_OK || info.running)
		return false;
	fresh.state = run_state_from_letter(inspect_state(scene->process->pid, tid));
	fresh.number = syscall_is_restart(info.number) ? restarted(tid, &info, call) : info.number;
	fresh.sp = info.sp;
	memcpy(fresh.args, info.args, sizeof(fresh.args));
	if (fresh.state != RUN_SLEEPING || fresh.number < 0)
		return false;
	*call = fresh;
	return true;
}

/* Waits until all of them sleep in a system call. */
static void
scene_look(struct scene *scene)
{
	scene->count = process_list_threads(scene->process, &scene->tids, &scene->capacity);
	if (scene->count == 0 || scene->count > THREADS_MOST)
		harness_die("%zu threads", scene->count);
	for (size_t i = 0; i < scene->count; i++)
		while (!read_call(scene, scene->tids[i], &scene->calls[i]))
			sched_yield();
}

static void
scene_open(struct scene *scene, pid_t pid)
{
	struct error err;

	memset(scene, 0, sizeof(*scene));
	if (process_open(pid, &scene->process, &err) != 0)
		harness_die("the target cannot be opened");
	scene->source.memory.read = read_memory;
	scene->source.memory.context = scene;
	scene->source.thread = find_thread;
	scene->source.blocked = count_blocked;
	scene->source.context = scene;
	scene_look(scene);
}

static void
scene_release(struct scene *scene)
{
	process_free(scene->process);
	free(scene->tids);
}

static const struct wait_call *
call_of(const struct scene *scene, pid_t tid)
{
	for (size_t i = 0; i < scene->count; i++)
		if (scene->tids[i] == tid)
			return &scene->calls[i];
	harness_die("thread %d has gone", (int)tid);
}

static const char *
kind_name(enum wait_kind kind)
{
	static const char *const names[] = {
#define X(name, text) [WAIT_##name] = #name,
		WAIT_KINDS(X)
#undef X
	};

	return names[kind];
}

static void
holder_text(const struct wait_owner *owner, char *text, size_t size)
{
	snprintf(text, size, "none");
	if (owner->holder == HOLDER_THREAD)
		snprintf(text, size, "%d", (int)owner->tid);
	else if (owner->holder == HOLDER_GONE)
		snprintf(text, size, "gone");
	else if (owner->holder == HOLDER_READERS)
		snprintf(text, size, "readers:%u", owner->readers);
}

static void
check_claim(const struct scene *scene, const struct claim *claim)
{
	const struct wait_call *call = call_of(scene, claim->tid);
	struct wait_owner owner;
	char object[32], holder[32];
	struct wait wait;

	wait_classify(&scene->source, call, &wait);
	wait_owner(&scene->source, &wait, &owner);
	snprintf(object, sizeof(object), "%llx", (unsigned long long)wait.object);
	holder_text(&owner, holder, sizeof(holder));
	CHECK(strcmp(kind_name(wait.kind), claim->kind) == 0,
	      "%s is %s, not %s (call %ld, op 0x%llx, val 0x%llx)", claim->name,
	      kind_name(wait.kind), claim->kind, call->number, (unsigned long long)call->args[1],
	      (unsigned long long)call->args[2]);
	CHECK(claim->object[0] == '?' || strcmp(object, claim->object) == 0,
	      "%s: object %s, not %s", claim->name, object, claim->object);
	CHECK(strcmp(holder, claim->holder) == 0, "%s: held by %s, not %s", claim->name, holder,
	      claim->holder);
	CHECK(wait.timed == (claim->timed != 0), "%s: timed %d", claim->name, wait.timed);
	CHECK(wait.timed || wait.left_ns == UINT64_MAX, "%s: time left", claim->name);
	/* All times are a day and more ahead. */
	CHECK(!wait.timed || (wait.left_ns > 86400 * NS_PER_SEC &&
			      wait.left_ns <= 100000 * NS_PER_SEC),
	      "%s: %llu ns left", claim->name, (unsigned long long)wait.left_ns);
	CHECK(wait.fd == claim->fd, "%s: descriptor %d, not %d", claim->name, wait.fd, claim->fd);
}

/* Musl's readers and writers: what memory does not tell, names do. */
static void
check_by_name(const struct scene *scene, const struct claim *claim)
{
	const char *const names[] = {"__timedwait",
				     strstr(claim->name, "read") ? "__pthread_rwlock_rdlock"
								 : "pthread_rwlock_wrlock"};
	const enum wait_kind wanted =
		strstr(claim->name, "read") ? WAIT_RWLOCK_READ : WAIT_RWLOCK_WRITE;
	struct wait wait;

	if (strncmp(claim->name, "rw-", 3) != 0 || strcmp(claim->kind, "FUTEX") != 0)
		return;
	wait_classify(&scene->source, call_of(scene, claim->tid), &wait);
	CHECK(wait_kind_by_name(wait.kind, names, 2) == wanted, "%s by name", claim->name);
}

static size_t
check_claims(const struct scene *scene, struct target *target)
{
	struct claim claim;
	char line[256];
	size_t claims = 0;

	target_tell(target);
	while (target_read_line(target, line, sizeof(line)) && strcmp(line, "end") != 0) {
		if (sscanf(line, "%31s %d %31s %31s %31s %d %d", claim.name, &claim.tid,
			   claim.kind, claim.object, claim.holder, &claim.timed, &claim.fd) != 7)
			harness_die("the target says: %s", line);
		check_claim(scene, &claim);
		check_by_name(scene, &claim);
		claims++;
	}
	return claims;
}

static long long
count_switches(const struct scene *scene)
{
	long long all = 0;

	for (size_t i = 0; i < scene->count; i++)
		if (scene->tids[i] != scene->process->pid) /* it has answered us */
			all += inspect_switches(scene->process->pid, scene->tids[i]);
	return all;
}

/* Nobody may have noticed. */
static void
check_all(struct scene *scene, struct target *target)
{
	const long long before = count_switches(scene);
	const size_t claims = check_claims(scene, target);

	CHECK(claims >= 60, "%zu threads only", claims);
	CHECK(count_switches(scene) == before, "threads have run meanwhile");
	CHECK(inspect_is_free(target->pid), "the target is not left alone");
}

static void
each_kind(const char *program)
{
	struct target target;
	struct scene scene;
	int status = 0;

	harness_case("%s", program);
	if (!target_exists(program)) {
		harness_skip("it is not built");
		return;
	}
	target_start(&target, program, NULL);
	scene_open(&scene, target.pid);
	check_all(&scene, &target);

	harness_case("%s, stopped and continued", program);
	kill(target.pid, SIGSTOP);
	if (waitpid(target.pid, &status, WUNTRACED) != target.pid || !WIFSTOPPED(status))
		harness_die("the target does not stop");
	kill(target.pid, SIGCONT);
	if (waitpid(target.pid, &status, WCONTINUED) != target.pid || !WIFCONTINUED(status))
		harness_die("the target does not go on");
	scene_look(&scene);
	check_all(&scene, &target);
	scene_release(&scene);
	target_finish(&target, NULL);
}

/* --- Python's locks are semaphores ------------------------------------------------------------ */

#define PYTHON_THREADS 4

static const char python_text[] =
	"import sys, threading\n"
	"lock = threading.Lock()\n"
	"lock.acquire()\n"
	"for i in range(3):\n"
	"    threading.Thread(target=lock.acquire, daemon=True).start()\n"
	"threading.Thread(target=lock.acquire, args=(True, 90000), daemon=True).start()\n"
	"sys.stdout.write('r')\n"
	"sys.stdout.flush()\n"
	"sys.stdin.read()\n";

/* Returns its pid; 0 when there is none. *in is what it reads until the end from. */
static pid_t
start_python(int *in)
{
	int to[2], from[2];
	char c;

	if (pipe(to) != 0 || pipe(from) != 0)
		harness_die("no pipes");
	const pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		close(to[0]), close(to[1]), close(from[0]), close(from[1]);
		execlp("python3", "python3", "-I", "-S", "-c", python_text, (char *)NULL);
		_exit(77);
	}
	close(to[0]), close(from[1]);
	const bool ready = pid > 0 && read(from[0], &c, 1) == 1;
	close(from[0]);
	*in = to[1];
	if (!ready && pid > 0)
		waitpid(pid, NULL, 0);
	return ready ? pid : 0;
}

static void
python(void)
{
	struct scene scene;
	struct wait wait;
	uint64_t lock = 0;
	int in;

	harness_case("python3");
	const pid_t pid = start_python(&in);
	if (pid == 0) {
		harness_skip("it is not there");
		close(in);
		return;
	}
	scene_open(&scene, pid);
	CHECK(scene.count == PYTHON_THREADS + 1, "%zu threads", scene.count);
	for (size_t i = 1; i < scene.count; i++) {
		const bool last = i == PYTHON_THREADS;

		/* A thread that has started may not have come to its lock yet. */
		do {
			scene_look(&scene);
			wait_classify(&scene.source, &scene.calls[i], &wait);
		} while (wait.kind == WAIT_CONDITION); /* the interpreter's own lock */
		CHECK(wait.kind == WAIT_SEMAPHORE, "thread %zu is %s", i, kind_name(wait.kind));
		CHECK(lock == 0 || wait.object == lock, "another lock");
		CHECK(wait.timed == last, "thread %zu: timed %d", i, wait.timed);
		lock = wait.object;
	}
	scene_release(&scene);
	close(in);
	waitpid(pid, NULL, 0);
}

int
main(void)
{
	harness_begin(60);
	each_kind("waits");
	each_kind("waits_static");
	each_kind("waits_musl");
	python();
	return harness_end();
}
