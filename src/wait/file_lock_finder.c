/* SPDX-License-Identifier: MIT */
/* file_lock_finder.c - the thread that reads /proc/locks. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "wallsample/base/base.h"
#include "wallsample/base/thread.h"
#include "wallsample/process/process.h"
#include "wallsample/wait/file_lock.h"

/* Shortest time from one reading to the next. A reading, and a step of a search among all
 * processes, takes at most 1/SHARE of the time; a step ends after STEP_NS. */
#define READING_NS (250 * NS_PER_MS)
#define SHARE 200
#define STEP_NS (10 * NS_PER_MS)
/* Most bytes of /proc/locks that are read: some 20,000 locks. */
#define TEXT_MOST ((size_t)1 << 20)
/* Size of the thread's stack: its largest buffers are those of one read. */
#define STACK_SIZE ((size_t)256 << 10)

/* What is asked, and what is answered. */
struct asked {
	struct file_lock_query query[FILE_LOCK_QUERIES];
	size_t count;
	pid_t process[FILE_LOCK_PROCESSES];
	size_t processes;
};

struct answered {
	struct file_lock_answer answer[FILE_LOCK_QUERIES];
	size_t count;
};

struct file_lock_finder {
	pthread_t thread;
	bool started, failed; /* the thread runs; it could not be started */
	pthread_mutex_t mutex;
	pthread_cond_t asks, answers;
	/* Protected by the mutex. */
	struct asked asked;
	struct answered answered;
	bool is_new; /* answered[] has not been taken */
	bool ends;
	/* Of the thread alone. */
	struct asked now;      /* the queries of this reading */
	struct answered last;  /* the answers of the last reading, then of this one */
	uint64_t next_ns;      /* no reading before */
	uint64_t next_step_ns; /* no step of a search before */
	pid_t searched;        /* last process of the last step; 0: the search begins */
};

/* --- answers --------------------------------------------------------------------------------- */

static void
add_lock_holder(struct file_lock_answer *answer, pid_t pid, int fd)
{
	for (uint32_t i = 0; i < answer->known; i++)
		if (answer->holder[i].pid == pid)
			return;
	if (answer->known < FILE_LOCK_HOLDERS)
		answer->holder[answer->known++] = (struct file_lock_holder){ pid, fd };
}

/* Calls use(lock, context) for each lock in the text that is of the file with this inode. */
static void
each_lock(const char *text, uint64_t inode,
	  void (*use)(const struct file_lock *lock, struct file_lock_answer *answer),
	  struct file_lock_answer *answer)
{
	struct file_lock lock;

	while (*text != '\0') {
		if (file_lock_parse(text, &lock) && lock.inode == inode)
			use(&lock, answer);
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
}

/* On btrfs and overlayfs the device of stat(2) is not that in /proc/locks. The waiter's own line
 * has the latter. */
static void
use_waiter(const struct file_lock *lock, struct file_lock_answer *answer)
{
	struct file_lock *wanted = &answer->query.wanted;

	if (lock->waits && lock->type == wanted->type && lock->exclusive == wanted->exclusive &&
	    lock->pid == (lock->type == FILE_LOCK_OFD ? 0 : wanted->pid))
		wanted->dev = lock->dev;
}

static void
use_held(const struct file_lock *lock, struct file_lock_answer *answer)
{
	if (lock->waits || lock->dev != answer->query.wanted.dev ||
	    !file_locks_conflict(lock, &answer->query.wanted))
		return;
	answer->count++;
	answer->shared = !lock->exclusive;
	if (lock->pid > 0)
		add_lock_holder(answer, lock->pid, -1);
}

void
file_lock_answer_from(const char *text, const struct file_lock_query *query,
		      struct file_lock_answer *answer)
{
	memset(answer, 0, sizeof(*answer));
	answer->query = *query;
	each_lock(text, query->wanted.inode, use_waiter, answer);
	each_lock(text, query->wanted.inode, use_held, answer);
}

/* Finds the descriptors of the holders that /proc/locks names, and removes processes that do not
 * hold the lock: one that has called flock(2) may have closed its descriptor, while another process
 * has inherited it. */
static void
check_named(struct file_lock_answer *answer)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < answer->known; i++) {
		struct file_lock_holder *holder = &answer->holder[i];

		holder->fd = file_lock_descriptor(&answer->query, holder->pid);
		if (holder->fd == -1 && answer->query.wanted.type == FILE_LOCK_FLOCK)
			continue;
		holder->fd = holder->fd >= 0 ? holder->fd : -1;
		answer->holder[kept++] = *holder;
	}
	answer->known = kept;
}

/* Adds the holders of the last answer that still hold the lock. */
static void
keep_last(const struct answered *last, struct file_lock_answer *answer)
{
	for (size_t i = 0; i < last->count; i++) {
		const struct file_lock_answer *before = &last->answer[i];

		if (before->query.id != answer->query.id)
			continue;
		for (uint32_t h = 0; h < before->known; h++)
			if (file_lock_check(&answer->query, &before->holder[h]) == FILE_LOCK_HELD)
				add_lock_holder(answer, before->holder[h].pid,
						before->holder[h].fd);
	}
}

/* Returns true if more processes hold the lock than are known. */
static bool
lacks_holders(const struct file_lock_answer *answer)
{
	return answer->known < FILE_LOCK_HOLDERS && answer->known < answer->count;
}

static void
search_process(struct answered *answers, pid_t pid)
{
	for (size_t i = 0; i < answers->count; i++) {
		struct file_lock_answer *answer = &answers->answer[i];
		int fd;

		if (!lacks_holders(answer))
			continue;
		fd = file_lock_descriptor(&answer->query, pid);
		if (fd >= 0)
			add_lock_holder(answer, pid, fd);
	}
}

static bool
any_lacks_holders(const struct answered *answers)
{
	bool any = false;

	for (size_t i = 0; i < answers->count; i++)
		any |= lacks_holders(&answers->answer[i]);
	return any;
}

/* Searches among all processes, in ascending order of their ids as /proc lists them, from the one
 * where the last step ended, for STEP_NS. */
static void
search_all(struct file_lock_finder *finder)
{
	const uint64_t began = clock_thread_cpu_ns();
	DIR *dir = opendir("/proc");
	const struct dirent *entry = NULL;
	uint64_t pid;

	while (dir != NULL && any_lacks_holders(&finder->last) &&
	       clock_thread_cpu_ns() - began < STEP_NS && (entry = readdir(dir)) != NULL) {
		if (!parse_whole_u64(entry->d_name, 1, PROCESS_ID_LIMIT - 1, &pid) ||
		    (pid_t)pid <= finder->searched)
			continue;
		search_process(&finder->last, (pid_t)pid);
		finder->searched = (pid_t)pid;
	}
	if (entry == NULL)
		finder->searched = 0;
	if (dir != NULL)
		closedir(dir);
	finder->next_step_ns = clock_now_ns() + (clock_thread_cpu_ns() - began) * SHARE;
}

static void
read_locks(struct file_lock_finder *finder)
{
	const uint64_t began_ns = clock_now_ns(), began = clock_thread_cpu_ns();
	char *text = file_read_text(AT_FDCWD, "/proc/locks", TEXT_MOST, NULL);
	struct answered answers = { .count = finder->now.count };
	uint64_t pause;

	for (size_t i = 0; i < finder->now.count; i++) {
		struct file_lock_answer *answer = &answers.answer[i];

		file_lock_answer_from(text != NULL ? text : "", &finder->now.query[i], answer);
		check_named(answer);
		keep_last(&finder->last, answer);
	}
	free(text);
	finder->last = answers;
	for (size_t i = 0; i < finder->now.processes && any_lacks_holders(&finder->last); i++)
		search_process(&finder->last, finder->now.process[i]);
	pause = (clock_thread_cpu_ns() - began) * SHARE;
	finder->next_ns = began_ns + (pause > READING_NS ? pause : READING_NS);
	if (any_lacks_holders(&finder->last) && clock_now_ns() >= finder->next_step_ns)
		search_all(finder);
}

/* --- the thread ------------------------------------------------------------------------------- */

/* Waits until there are queries and it is time for a reading. Returns false if the thread is to
 * end. The mutex is locked. */
static bool
await_queries(struct file_lock_finder *finder)
{
	struct timespec until;

	while (!finder->ends && (finder->asked.count == 0 || clock_now_ns() < finder->next_ns)) {
		if (finder->asked.count == 0) {
			pthread_cond_wait(&finder->asks, &finder->mutex);
			continue;
		}
		until.tv_sec = (time_t)(finder->next_ns / NS_PER_SEC);
		until.tv_nsec = (long)(finder->next_ns % NS_PER_SEC);
		pthread_cond_timedwait(&finder->asks, &finder->mutex, &until);
	}
	return !finder->ends;
}

static void *
finder_run(void *context)
{
	struct file_lock_finder *finder = context;

	/* The sampler's priority is not for work that takes time. */
	if (getpriority(PRIO_PROCESS, 0) < 0)
		setpriority(PRIO_PROCESS, 0, 0);
	pthread_mutex_lock(&finder->mutex);
	while (await_queries(finder)) {
		finder->now = finder->asked;
		pthread_mutex_unlock(&finder->mutex);
		read_locks(finder);
		pthread_mutex_lock(&finder->mutex);
		finder->answered = finder->last;
		finder->is_new = true;
		pthread_cond_signal(&finder->answers);
	}
	pthread_mutex_unlock(&finder->mutex);
	return NULL;
}

struct file_lock_finder *
file_lock_finder_create(void)
{
	struct file_lock_finder *finder = xcalloc(1, sizeof(*finder));

	pthread_mutex_init(&finder->mutex, NULL);
	thread_condition_init(&finder->asks);
	thread_condition_init(&finder->answers);
	return finder;
}

void
file_lock_finder_free(struct file_lock_finder *finder)
{
	if (finder == NULL)
		return;
	if (finder->started) {
		pthread_mutex_lock(&finder->mutex);
		finder->ends = true;
		pthread_cond_signal(&finder->asks);
		pthread_mutex_unlock(&finder->mutex);
		pthread_join(finder->thread, NULL);
	}
	pthread_cond_destroy(&finder->asks);
	pthread_cond_destroy(&finder->answers);
	pthread_mutex_destroy(&finder->mutex);
	free(finder);
}

/* Starts the thread unless it runs. Returns false if it cannot be started. */
static bool
finder_start(struct file_lock_finder *finder)
{
	if (!finder->started && !finder->failed)
		finder->started = thread_start(&finder->thread, STACK_SIZE, true, finder_run,
					       finder) == 0;
	finder->failed = !finder->started;
	return finder->started;
}

bool
file_lock_finder_ask(struct file_lock_finder *finder, bool waits,
		     const struct file_lock_query *query, size_t count, const pid_t *process,
		     size_t processes)
{
	struct asked *asked = &finder->asked;

	if (waits)
		pthread_mutex_lock(&finder->mutex);
	else if (pthread_mutex_trylock(&finder->mutex) != 0)
		return true;
	asked->count = count < FILE_LOCK_QUERIES ? count : FILE_LOCK_QUERIES;
	asked->processes = processes < FILE_LOCK_PROCESSES ? processes : FILE_LOCK_PROCESSES;
	if (asked->count > 0)
		memcpy(asked->query, query, asked->count * sizeof(*query));
	if (asked->processes > 0)
		memcpy(asked->process, process, asked->processes * sizeof(*process));
	pthread_cond_signal(&finder->asks);
	pthread_mutex_unlock(&finder->mutex);
	return count == 0 || finder_start(finder);
}

/* Waits for answers until `until_ns`. The mutex is locked. */
static void
await_answers(struct file_lock_finder *finder, uint64_t until_ns)
{
	const struct timespec until = {
		.tv_sec = (time_t)(until_ns / NS_PER_SEC),
		.tv_nsec = (long)(until_ns % NS_PER_SEC),
	};

	while (!finder->is_new && clock_now_ns() < until_ns)
		pthread_cond_timedwait(&finder->answers, &finder->mutex, &until);
}

bool
file_lock_finder_take(struct file_lock_finder *finder, uint64_t wait_ns,
		      struct file_lock_answer *answer, size_t *count)
{
	bool taken;

	if (!finder->started)
		return false;
	if (wait_ns > 0)
		pthread_mutex_lock(&finder->mutex);
	else if (pthread_mutex_trylock(&finder->mutex) != 0)
		return false;
	if (wait_ns > 0)
		await_answers(finder, clock_now_ns() + wait_ns);
	taken = finder->is_new;
	finder->is_new = false;
	if (taken) {
		memcpy(answer, finder->answered.answer, finder->answered.count * sizeof(*answer));
		*count = finder->answered.count;
	}
	pthread_mutex_unlock(&finder->mutex);
	return taken;
}
