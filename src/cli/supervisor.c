/* SPDX-License-Identifier: MIT */
/* supervisor.c - the thread that starts the supervisor, and the supervisor's own loop. */
#include "wallsample/cli/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wallsample/base/capability.h"
#include "wallsample/base/sandbox.h"
#include "wallsample/base/thread.h"
#include "cli/supervisor_internal.h"
#include "wallsample/base/base.h"

/* The signal to which wallsample reacts. SIGRTMAX is the timer's (watchdog.c). */
#define SIGNAL_PING (SIGRTMAX - 1)

/* Nice value of the supervisor, if permitted: it must get a CPU on a busy machine, and needs some
 * microseconds five times a second. */
#define NICE (-15)

/* Stack, in bytes, of the thread that forks the supervisor and the keeper, which makes a report on
 * it. */
#define STACK_SIZE ((size_t)8 << 20)

/* Longest wait for the end of a killed wallsample, before the message that it cannot be killed. */
#define KILL_MS 1000
/* Interval at which the starter checks if the supervisor is stopped, and between two starts. */
#define STARTER_MS 1000

/* What wallsample and its supervisor share. */
struct shared {
	struct tracer_load load;
	_Atomic unsigned ping;     /* number of signals that the supervisor has sent */
	_Atomic unsigned reaction; /* the value of `ping` at wallsample's last reaction */
	_Atomic pid_t supervisor;  /* process id; 0: none */
	_Atomic bool over;         /* the starter ends, or has ended */
	char text[512];
};

static struct shared *shared;
/* In wallsample: the thread that starts the supervisor. */
static struct {
	pthread_t thread;
	pid_t watched; /* the process id of wallsample */
	int pidfd;     /* of wallsample */
	int stat;      /* /proc/PID/stat of wallsample */
	int end;       /* eventfd: the supervisor is to end */
	int wanted;    /* eventfd: `task` is to be executed */
	int done;      /* eventfd: that has been done */
	void (*task)(void);
	int command[2]; /* pipe from the supervisor to the keeper */
	pid_t keeper;   /* 0: none */
	/* what the keeper does if the supervisor has killed wallsample */
	int (*report)(void *context);
	void *context;
	int started[2]; /* pipe: the result of the first start, an errno */
} starter;

/* --- the supervisor ------------------------------------------------------------------------- */

/* The state of wallsample, as in proc_pid_stat(5); '?' if it is not readable. */
static char
read_state(void)
{
	char text[256];
	const ssize_t size = pread(starter.stat, text, sizeof(text) - 1, 0);
	const char *end;

	if (size <= 0)
		return '?';
	text[size] = '\0';
	/* "PID (NAME) STATE": the name may contain parentheses. */
	end = strrchr(text, ')');
	return end != NULL && end[1] == ' ' ? end[2] : '?';
}

static void
send_signal(int number)
{
	(void)syscall(SYS_pidfd_send_signal, starter.pidfd, number, NULL, 0);
}

/* Kills wallsample, says so, and ends; does not end while wallsample cannot be killed. */
static void __attribute__((noreturn)) kill_watched(void)
{
	struct pollfd ended = { .fd = starter.pidfd, .events = POLLIN };
	char line[sizeof(shared->text) + 256];
	bool killed;
	int size;

	send_signal(SIGKILL);
	killed = poll(&ended, 1, KILL_MS) > 0;
	if (killed) {
		(void)!write(starter.command[1], "R", 1);
		size = snprintf(line, sizeof(line),
				"wallsample: process %d was killed: it did not react for %d ms "
				"while threads of the program were stopped; they run again%s%s\n",
				(int)starter.watched, SUPERVISOR_LOOK_MS * SUPERVISOR_LOOKS,
				shared->text[0] != '\0' ? "; " : "", shared->text);
	} else {
		size = snprintf(line, sizeof(line),
				"wallsample: process %d did not react for %d ms, and has not ended "
				"within %d ms after SIGKILL (state %c); threads of the program may "
				"be stopped until process %d ends\n",
				(int)starter.watched, SUPERVISOR_LOOK_MS * SUPERVISOR_LOOKS,
				KILL_MS, read_state(), (int)starter.watched);
	}
	(void)!write(STDERR_FILENO, line, (size_t)size);
	if (!killed && poll(&ended, 1, -1) > 0)
		(void)!write(starter.command[1], "R", 1);
	_exit(0);
}

/* Checks once; `*unanswered` counts the checks since the last reaction of wallsample. */
static void
look(unsigned *unanswered)
{
	if (shared->load.stops + shared->load.counted == 0) {
		*unanswered = 0;
		return;
	}
	if (read_state() == 'T')
		send_signal(SIGCONT);
	if (shared->reaction == shared->ping) {
		*unanswered = 0;
		shared->ping++;
		/* Only the main thread does not block it. */
		send_signal(SIGNAL_PING);
	} else if (++*unanswered >= SUPERVISOR_LOOKS) {
		kill_watched();
	}
}

/* Closes all descriptors but those that the supervisor uses. */
static void
close_others(void)
{
	int kept[] = { STDERR_FILENO, starter.pidfd, starter.stat, starter.command[1] };

	sandbox_keep_only(kept, ARRAY_SIZE(kept));
}

/* To be called in a new process: a session of its own, and the usual effects of signals. `name`
 * must not contain "wallsample": "pkill -STOP wallsample" must not stop this process, too. */
static void
become_own(const char *name)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t none;

	setsid();
	prctl(PR_SET_NAME, name);
	for (int number = 1; number < NSIG; number++)
		(void)sigaction(number, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void __attribute__((noreturn)) supervise(void)
{
	struct pollfd ended = { .fd = starter.pidfd, .events = POLLIN };
	unsigned unanswered = 0;

	become_own("ws-supervisor");
	(void)setpriority(PRIO_PROCESS, 0, NICE);
	close_others();
	supervisor_leave_group();
	capability_drop_all();
	shared->supervisor = getpid();
	while (poll(&ended, 1, SUPERVISOR_LOOK_MS) == 0)
		look(&unanswered);
	_exit(0);
}

/* --- in wallsample -------------------------------------------------------------------------- */

static void
on_ping(int number)
{
	(void)number;
	if (shared != NULL)
		shared->reaction = shared->ping;
}

static void
end_child(pid_t child)
{
	kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

/* In the keeper: waits until wallsample has been killed by the supervisor, or has ended. */
static void __attribute__((noreturn)) keep(void)
{
	char command;

	become_own("ws-keeper");
	close(starter.command[1]);
	if (read(starter.command[0], &command, 1) != 1)
		_exit(0);
	shared = NULL; /* this process has no supervisor */
	_exit(starter.report(starter.context));
}

/* Ends the keeper. Its id is forgotten first: supervisor_abandon() must not kill a later process
 * with this id. */
static void
end_keeper(void)
{
	const pid_t keeper = starter.keeper;

	starter.keeper = 0;
	if (keeper > 0)
		end_child(keeper);
}

/* Replaces the keeper by a new one. The thread that wants it waits meanwhile, so that the keeper's
 * copy of the memory is consistent. */
static void
fork_keeper(void)
{
	end_keeper();
	starter.keeper = fork();
	if (starter.keeper == 0)
		keep();
}

static void
execute_task(void)
{
	uint64_t count;

	if (read(starter.wanted, &count, sizeof(count)) != sizeof(count))
		return;
	starter.task();
	count = 1;
	(void)!write(starter.done, &count, sizeof(count));
}

static bool
is_stopped(pid_t child)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOHANG) == 0 && info.si_pid == child;
}

/* Waits for up to `ms` (-1: without a limit) until the run ends, or something is to be done for the
 * child with this pidfd; a negative one is ignored. Returns true if the run ends; *ended: the child
 * has ended. */
static bool
wait_for_work(int pidfd, int ms, bool *ended)
{
	struct pollfd wait[] = { { .fd = starter.end, .events = POLLIN },
				 { .fd = starter.wanted, .events = POLLIN },
				 { .fd = pidfd, .events = POLLIN } };

	if (poll(wait, ARRAY_SIZE(wait), ms) > 0 && wait[1].revents != 0)
		execute_task();
	*ended = wait[2].revents != 0;
	return wait[0].revents != 0;
}

/* Waits until the supervisor ends, or is stopped, which ends it, or the run ends. Returns true if
 * the run ends. */
static bool
watch_supervisor(pid_t child)
{
	const int pidfd = (int)syscall(SYS_pidfd_open, child, 0);
	bool over = false, ended = false;

	while (!over && !ended && !is_stopped(child))
		over = wait_for_work(pidfd, STARTER_MS, &ended);
	shared->supervisor = 0;
	end_child(child);
	if (pidfd >= 0)
		close(pidfd);
	return over;
}

/* The starter: forks the supervisor, and again when it has ended, until the run ends. Writes 0, or
 * the error number of the first fork, which ends it, to starter.started. */
static void *
starter_run(void *context)
{
	bool first = true, over = false, ended;

	(void)context;
	while (!over && !shared->over) {
		const pid_t child = fork();
		const int result = child < 0 ? errno : 0;

		if (child == 0)
			supervise();
		if (child > 0)
			shared->supervisor = child;
		if (first)
			(void)!write(starter.started[1], &result, sizeof(result));
		over = (first && child < 0) || (child > 0 && watch_supervisor(child)) ||
		       wait_for_work(-1, first ? 0 : STARTER_MS, &ended);
		first = false;
	}
	/* A caller of supervisor_call does not wait from now on. */
	shared->over = true;
	end_keeper();
	(void)!write(starter.done, &(uint64_t){ 1 }, sizeof(uint64_t));
	return NULL;
}

static void
handle_ping(void)
{
	struct sigaction action = { .sa_handler = on_ping, .sa_flags = SA_RESTART };
	sigset_t signals;

	sigemptyset(&action.sa_mask);
	sigaction(SIGNAL_PING, &action, NULL);
	sigemptyset(&signals);
	sigaddset(&signals, SIGNAL_PING);
	sigprocmask(SIG_UNBLOCK, &signals, NULL);
}

/* Opens what the supervisor needs. Returns 0 or an errno. */
static int
open_all(void)
{
	starter.watched = getpid();
	starter.pidfd = (int)syscall(SYS_pidfd_open, starter.watched, 0);
	if (starter.pidfd < 0)
		return errno;
	starter.stat = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	starter.end = eventfd(0, EFD_CLOEXEC);
	starter.wanted = eventfd(0, EFD_CLOEXEC);
	starter.done = eventfd(0, EFD_CLOEXEC);
	if (starter.stat < 0 || starter.end < 0 || starter.wanted < 0 || starter.done < 0 ||
	    pipe2(starter.started, O_CLOEXEC) != 0 || pipe2(starter.command, O_CLOEXEC) != 0)
		return errno;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared != MAP_FAILED)
		return 0;
	shared = NULL;
	return errno;
}

static void
close_all(void)
{
	struct shared *memory = shared;
	const int opened[] = { starter.pidfd,      starter.stat,       starter.end,
			       starter.wanted,     starter.done,       starter.started[0],
			       starter.started[1], starter.command[0], starter.command[1] };

	for (size_t i = 0; i < ARRAY_SIZE(opened); i++)
		if (opened[i] >= 0)
			close(opened[i]);
	shared = NULL;
	if (memory != NULL)
		munmap(memory, sizeof(*memory));
}

/* Ends the starter, and with it the supervisor and the keeper. */
static void
end_starter(void)
{
	const uint64_t one = 1;

	while (write(starter.end, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(starter.thread, NULL);
}

int
supervisor_start(struct error *err)
{
	int error, result = 0;
	ssize_t size = 0;

	starter.pidfd = starter.stat = starter.end = starter.wanted = starter.done = -1;
	starter.started[0] = starter.started[1] = starter.command[0] = starter.command[1] = -1;
	starter.keeper = 0;
	error = open_all();
	if (error == 0) {
		handle_ping();
		error = thread_start(&starter.thread, STACK_SIZE, false, starter_run, NULL);
	}
	/* A handler may interrupt the read. */
	while (error == 0 && (size = read(starter.started[0], &result, sizeof(result))) < 0 &&
	       errno == EINTR)
		;
	if (error == 0 && size != sizeof(result))
		result = EIO;
	if (error == 0 && result == 0)
		return 0;
	if (error == 0) {
		end_starter();
		error = result;
	}
	close_all();
	return error_set(err, ERROR_SYSTEM, "cannot start a supervisor: %s", strerror(error));
}

void
supervisor_end(void)
{
	if (shared == NULL)
		return;
	end_starter();
	close_all();
}

void
supervisor_abandon(void)
{
	pid_t child[2] = { 0, starter.keeper };

	if (shared != NULL) {
		shared->over = true; /* the starter forks no other */
		child[0] = shared->supervisor;
	}
	for (size_t i = 0; i < ARRAY_SIZE(child); i++)
		if (child[i] > 0 && kill(child[i], SIGKILL) == 0)
			(void)waitpid(child[i], NULL, 0);
}

void
supervisor_call(void (*task)(void))
{
	uint64_t count = 1;

	if (shared == NULL || shared->over)
		return;
	starter.task = task;
	if (write(starter.wanted, &count, sizeof(count)) == sizeof(count))
		while (read(starter.done, &count, sizeof(count)) < 0 && errno == EINTR)
			;
}

void
supervisor_keep(int (*report)(void *context), void *context)
{
	starter.report = report;
	starter.context = context;
	supervisor_call(fork_keeper);
}

struct tracer_load *
supervisor_load(void)
{
	return shared != NULL ? &shared->load : NULL;
}

void
supervisor_say(const char *text)
{
	if (shared != NULL)
		snprintf(shared->text, sizeof(shared->text), "%s", text);
}

bool
supervisor_sent(pid_t sender)
{
	/* 0: the kernel, or a process outside of the pid namespace */
	return sender != 0 && shared != NULL && shared->supervisor == sender;
}
