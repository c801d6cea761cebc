/* SPDX-License-Identifier: MIT */
/*
 * test_node.c - JavaScript functions are named in every way that V8 runs them: interpreted, by
 * what its interpreter's frames execute, or compiled. NODE is the node to test with.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folded.h"
#include "wallsample/base/base.h"

#define TRAMPOLINE "Builtins_InterpreterEntryTrampoline"

/* Ready only when all three are on the stack, where they stay. */
#define BLOCKED                                                                \
	"const a=new Int32Array(new SharedArrayBuffer(4));"                    \
	"function ws_inner(){require('fs').writeSync(1,'ready');Atomics.wait(a,0,0);return 1}" \
	"function ws_middle(){const r=ws_inner();return r+1}"                  \
	"function ws_outer(){const r=ws_middle();return r+1}ws_outer()"

#define BLOCKED_WORKER                                                         \
	"new(require('worker_threads').Worker)(`" BLOCKED "`,{eval:true})"

/* The innermost is at work; what it does most needs no call. */
#define BUSY                                                                   \
	"function ws_inner(n){let s=0;for(let i=0;i<n;i++)s=(s+i*7)%1000;return s}" \
	"function ws_middle(n){const r=ws_inner(n);return r+1}"                \
	"function ws_outer(n){const r=ws_middle(n);return r+1}"                \
	"for(let i=0;i<9;i++)ws_outer(1000);console.log('ready');for(;;)ws_outer(1000000)"

struct node {
	pid_t pid;
	int in;
};

/* False, and the case is skipped, when there is no node that takes the options. */
static bool
start_node(struct node *node, const char *source, const char *const options[])
{
	const char *program = getenv("NODE") != NULL ? getenv("NODE") : "node";
	const char *words[8] = { program };
	char line[6] = "";
	size_t count = 1;
	int fds[2];

	for (; *options != NULL && count < 5; options++)
		words[count++] = *options;
	words[count++] = "-e";
	words[count++] = source;
	if (pipe2(fds, O_CLOEXEC) != 0)
		harness_die("no pipe: %s", strerror(errno));
	node->pid = fork();
	if (node->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fds[1], STDOUT_FILENO);
		execvp(program, (char *const *)(uintptr_t)words);
		_exit(127);
	}
	close(fds[1]);
	node->in = fds[0];
	if (node->pid > 0 && read(fds[0], line, 5) == 5 && strcmp(line, "ready") == 0)
		return true;
	if (node->pid > 0)
		waitpid(node->pid, NULL, 0);
	close(fds[0]);
	harness_skip("no node that takes these options");
	return false;
}

static void
finish_node(struct node *node)
{
	char path[64];

	kill(node->pid, SIGKILL);
	waitpid(node->pid, NULL, 0);
	close(node->in);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)node->pid);
	unlink(path);
}

/* Is it the frame of this function, run in the way that the mark stands for? V8 writes
 * "JS:~ws_outer [eval]:1:2", "LazyCompile:~ws_outer" in older versions. */
static bool
is_frame(const char *frame, const char *mark, const char *function)
{
	const char *name = strstr(frame, function);
	const size_t marked = strlen(mark);

	return name != NULL && (size_t)(name - frame) > marked &&
	       strncmp(name - marked, mark, marked) == 0 && strchr(" ;", name[strlen(function)]);
}

/* Are the first `count` of the three there, one called by the other? */
static bool
has_all(const struct folded_line *line, const char *mark, size_t count)
{
	static const char *const function[] = { "ws_outer", "ws_middle", "ws_inner" };
	size_t found = 0, last = 0, named = 0;

	for (size_t i = 0; i < line->depth; i++) {
		named += strstr(line->frame[i], "ws_") != NULL;
		if (found < count && (found == 0 || i == last + 1) &&
		    is_frame(line->frame[i], mark, function[found])) {
			found++;
			last = i;
		}
	}
	return found == count && named >= count && named <= ARRAY_SIZE(function);
}

/* The thread other than the first that has stacks with all three; 0: none. */
static pid_t
find_worker(const struct folded *folded, pid_t pid, const char *mark)
{
	for (size_t i = 0; i < folded->count; i++)
		if (folded->line[i].tid != pid && has_all(&folded->line[i], mark, 3))
			return folded->line[i].tid;
	return 0;
}

/* Of the weight of the main thread's stacks (`worker`: of another's), at least `percent` have
 * the first `count`. */
static void
check_all(const struct node *node, bool worker, const char *mark, size_t count, unsigned percent)
{
	uint64_t good = 0, all = 0;
	struct folded folded;

	folded_sample(&folded, node->pid, "-r", "200", "-d", "1s", NULL);
	const pid_t tid = worker ? find_worker(&folded, node->pid, mark) : node->pid;
	for (size_t i = 0; i < folded.count; i++) {
		const struct folded_line *line = &folded.line[i];

		if (line->tid != tid || folded_line_is_late(line) ||
		    folded_is_short_sleep(&folded, line))
			continue;
		all += line->weight_us;
		if (has_all(line, mark, count))
			good += line->weight_us;
	}
	if (all == 0 && folded_all_late(&folded, tid))
		printf("  the thread got no CPU in time: nothing is known of it\n");
	else if (!CHECK(all > 0 && good * 100 >= all * percent,
			"%llu of %llu us have the %zu functions", (unsigned long long)good,
			(unsigned long long)all, count))
		folded_print(&folded, tid, 8);
	folded_release(&folded);
}

/* How many lines of the map are whole and name one of the functions, interpreted. */
static unsigned
count_told(const struct node *node)
{
	static const char hex[] = "0123456789abcdef";
	unsigned count = 0;
	char path[64], line[512];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)node->pid);
	FILE *file = fopen(path, "re");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		const char *size = line + strspn(line, hex);
		const char *name =
			strchr(*size == ' ' ? size + 1 + strspn(size + 1, hex) : "", ':');

		count += name != NULL && strncmp(name, ":~ws_", 5) == 0;
	}
	if (file != NULL)
		fclose(file);
	return count;
}

/* As a server is started: what is called seldom stays interpreted. From Node 22 on each worker
 * has an interpreter of its own, which the map tells of late. */
static void
blocked(bool worker)
{
	static const char *const options[] = { "--perf-basic-prof", NULL };
	struct node node;

	harness_case("blocked below three interpreted functions%s", worker ? ", a worker" : "");
	if (!start_node(&node, worker ? BLOCKED_WORKER : BLOCKED, options))
		return;
	/* In Node 12 the threads of a process overwrite each other's lines. */
	if (worker && count_told(&node) < 3)
		harness_skip("this node has not written a whole map");
	else
		check_all(&node, worker, "~", 3, 100);
	finish_node(&node);
}

/*
 * Most stacks are taken in the code of single bytecodes, much of which has no frame: the
 * frame pointer alone leads past the function at work. The rest are calls.
 */
static void
interpreted(void)
{
	static const char *const options[] = { "--perf-basic-prof", "--jitless", NULL };
	struct node node;

	harness_case("at work in an interpreted function");
	if (!start_node(&node, BUSY, options))
		return;
	check_all(&node, false, "~", 3, 80);
	finish_node(&node);
}

/*
 * The first compiler's code keeps frames like the interpreter's, and has names of its own. Where
 * it calls code without a frame the function at work is missing.
 */
static void
baseline(void)
{
	static const char *const options[] = { "--perf-basic-prof", "--always-sparkplug",
					       "--no-opt", NULL };
	struct node node;

	harness_case("at work in a function of the baseline compiler's");
	if (!start_node(&node, BUSY, options))
		return;
	check_all(&node, false, "^", 2, 80);
	finish_node(&node);
}

/* Nobody says what is interpreted: the interpreter is what is seen. */
static void
unnamed(void)
{
	static const char *const options[] = { NULL };
	unsigned named = 0, made_up = 0;
	struct folded folded;
	struct node node;

	harness_case("no perf map");
	if (!start_node(&node, BLOCKED, options))
		return;
	folded_sample(&folded, node.pid, "-r", "200", "-d", "300ms", NULL);
	for (size_t i = 0; i < folded.count; i++) {
		const struct folded_line *line = &folded.line[i];
		unsigned in_row = 0;
		bool entered = false;

		for (size_t f = 0; line->tid == node.pid && f < line->depth; f++) {
			made_up += strstr(line->frame[f], "ws_") != NULL;
			entered |= strcmp(line->frame[f], "Builtins_JSEntryTrampoline") == 0;
			in_row += strcmp(line->frame[f], TRAMPOLINE) == 0;
		}
		/* A node without symbols does not say so much. */
		named += !entered || in_row >= 3;
		made_up += line->depth == 0;
	}
	CHECK(folded.count > 0 && named == folded.count, "%u of %zu stacks have the interpreter",
	      named, folded.count);
	if (!CHECK(made_up == 0, "%u frames have names that nobody told", made_up))
		folded_print(&folded, node.pid, 8);
	folded_release(&folded);
	finish_node(&node);
}

int
main(void)
{
	harness_begin(120);
	blocked(false);
	blocked(true);
	interpreted();
	baseline();
	unnamed();
	return harness_end();
}
