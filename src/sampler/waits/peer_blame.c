/* SPDX-License-Identifier: MIT */
/* peer_blame.c - attributes the time of threads that wait for another sampled process to what that
 * process does meanwhile. */
#include <stdlib.h>
#include <string.h>

#include "sampler/threads_internal.h"
#include "wallsample/sampler/rings.h"
#include "wallsample/sampler/stack.h"

/* Most stacks below PROFILE_THROUGH that are kept; a table that is full is emptied. */
#define THROUGH_MOST 8192
/* Most texts of processes that are frames. */
#define NAMED_MOST 1024
/* Most threads that are examined in a tick to choose one of a process: some 10 ns each. */
#define SCANNED_MOST 20000
/* Number of waits between two calls of late_serve, which releases late threads. */
#define BLAMES_UNSERVED 32
/* Most waits for peers in a tick for their threads to be observed at every tick, as holders of
 * locks are (HOLDERS_MOST in lock_blame.c). */
#define WATCHED_MOST 32

#define STACK_OF_TRANSIT "[both ends wait to read]"
#define STACK_OF_MOVED "[ran after its sample]"

/* --- threads --------------------------------------------------------------------------------- */

static bool
is_working(const struct sampled_thread *thread)
{
	const enum wait_kind kind = thread->wait.what.kind;

	return thread->late != NULL || thread->woken || run_state_runnable(thread->state) ||
	       thread->state == RUN_UNINTERRUPTIBLE ||
	       (thread->wait.id != 0 && (wait_kind_is_lock(kind) || kind == WAIT_GIL));
}

/* True if the thread waits for an event that has nothing to do with what it did before, such as a
 * request on another connection. */
static bool
waits_elsewhere(const struct sampled_thread *thread)
{
	const enum wait_kind kind = thread->wait.what.kind;

	return !is_working(thread) && kind != WAIT_SLEEP && kind != WAIT_CHILD &&
	       kind != WAIT_VFORK && kind != WAIT_FILE && kind != WAIT_FAULT && kind != WAIT_JOIN;
}

/* True if the thread waits for this end. */
static bool
is_user(const struct sampled_thread *thread, uint64_t end)
{
	return end != 0 && thread->wait.id != 0 && thread->wait.what.end == end;
}

/* Returns the threads of the process that the list has; NULL: too many were examined in this
 * tick. The caller frees the array, which ends with NULL. */
static struct sampled_thread **
threads_of(struct run *run, const struct sampled_process *process)
{
	struct sampled_thread **threads;
	struct sampled_thread *first;
	size_t count = 0;

	if (process->listed == 1) {
		first = threads_find(&run->threads, process->process->pid);
		threads = xcalloc(2, sizeof(struct sampled_thread *));
		threads[0] = first != NULL && first->process == process ? first : NULL;
		return threads;
	}
	run->shared.peers.scanned += run->threads.count;
	if (run->shared.peers.scanned > SCANNED_MOST)
		return NULL;
	threads = xcalloc((size_t)process->listed + 1, sizeof(struct sampled_thread *));
	for (size_t i = 0; i < run->threads.count && count < process->listed; i++) {
		struct sampled_thread *thread = run->threads.thread[i];

		if (thread->process == process && !thread->gone)
			threads[count++] = thread;
	}
	return threads;
}

/* Returns the thread of the process that has the end `end` (0: any) of what another thread waits
 * for; NULL: it is not known. */
static struct sampled_thread *
thread_of_end(struct run *run, struct sampled_process *process, uint64_t end)
{
	struct sampled_thread **threads = threads_of(run, process), *chosen = NULL;
	struct peer_thread *is;
	uint32_t last = 0;
	size_t count = 0, at;

	if (threads == NULL)
		return NULL;
	if (end != 0)
		table_find(&run->shared.peers.users, end, 0, &last);
	is = xcalloc((size_t)process->listed + 1, sizeof(*is));
	for (; threads[count] != NULL; count++)
		is[count] = (struct peer_thread){
			.uses_end = is_user(threads[count], end),
			.last_user = last != 0 && threads[count]->watch.tid == (pid_t)last,
			.waits_elsewhere = waits_elsewhere(threads[count]),
			.works = is_working(threads[count]),
		};
	at = count > 0 ? peer_choose_thread(is, count) : PEER_NONE;
	if (at != PEER_NONE)
		chosen = threads[at];
	free(is);
	free(threads);
	return chosen;
}

/* Returns the process, whose first thread lives; NULL: there is none, or it is not sampled. */
static struct sampled_process *
process_of_pid(struct run *run, pid_t pid)
{
	const struct sampled_thread *first = threads_find(&run->threads, pid);

	return first != NULL && !first->gone && first->process->process->pid == pid ?
		       first->process :
		       NULL;
}

/* True if a thread of the process works, or waits for this end. */
static bool
is_active(struct run *run, const struct sampled_process *process, uint64_t end)
{
	struct sampled_thread **threads = threads_of(run, process);
	bool active = false;

	for (size_t i = 0; threads != NULL && threads[i] != NULL; i++)
		active |= is_working(threads[i]) || is_user(threads[i], end);
	free(threads);
	return active;
}

static struct sampled_process *
process_of_peer(struct run *run, const struct peer *peer)
{
	struct peer_candidate candidate[PEER_PIDS_MOST];
	struct sampled_process *process[PEER_PIDS_MOST];
	size_t chosen;

	for (size_t i = 0; i < peer->count; i++) {
		process[i] = process_of_pid(run, peer->pid[i]);
		candidate[i] = (struct peer_candidate){
			.sampled = process[i] != NULL,
			.active = process[i] != NULL && peer->count > 1 &&
				  is_active(run, process[i], peer->end),
		};
	}
	chosen = peer_choose_process(candidate, peer->count);
	return chosen != PEER_NONE ? process[chosen] : NULL;
}

/* --- chains ---------------------------------------------------------------------------------- */

/* The thread, or at least the process, for which a thread waits. */
struct hop {
	struct sampled_process *process; /* NULL: it is not known */
	struct sampled_thread *thread;   /* NULL: it is not known which one */
	/* The thread waits to read from the other end of the same connection: neither works. */
	bool transit;
};

static bool
only_reads(const struct wait *wait)
{
	return !wait->writes && wait->kind != WAIT_SOCKET_WRITE && wait->kind != WAIT_PIPE_WRITE;
}

/* Returns the thread that has a lock for which the thread waits. */
static struct hop
hop_to_holder(struct run *run, struct sampled_thread *thread)
{
	const struct wait_owner *owner = waits_owner(thread->process->waits, &thread->wait.what);
	struct hop hop = { .process = NULL };

	if (owner_is_thread(owner))
		hop.thread = threads_find(&run->threads, owner->tid);
	if (hop.thread != NULL)
		hop.process = hop.thread->process;
	return hop;
}

/* True if the last sample of the thread is valid: it is of this tick, or the thread has slept
 * since. */
static bool
is_current(const struct run *run, struct sampled_thread *thread)
{
	return thread->last_tick == run->tick.number || thread->late != NULL ||
	       (thread->asleep && thread_is_unmoved(thread));
}

/* Returns what the thread waits for. */
static struct hop
hop_from(struct run *run, struct sampled_thread *thread)
{
	const struct wait *wait = &thread->wait.what;
	const struct peer_end *end;
	struct hop hop = { .process = NULL };
	uint64_t other = 0;

	if (thread->wait.id == 0 || thread->woken || !is_current(run, thread))
		return hop;
	if (wait_kind_is_blamed(wait->kind))
		return hop_to_holder(run, thread);
	if (wait->child_pid > 0) {
		hop.process = process_of_pid(run, wait->child_pid);
	} else {
		end = peers_find_end(thread->process->waits, wait->end);
		if (end == NULL)
			return hop;
		hop.process = process_of_peer(run, &end->peer);
		other = end->peer.end;
	}
	if (hop.process == NULL)
		return hop;
	hop.thread = thread_of_end(run, hop.process, other);
	hop.transit = hop.thread != NULL && is_user(hop.thread, other) && only_reads(wait) &&
		      only_reads(&hop.thread->wait.what) && is_current(run, hop.thread);
	return hop;
}

/* The hop that a chain ends with, if its last thread is not in the path. */
struct following {
	struct run *run;
	struct hop end;
};

/* The function `next` of peer_follow. */
static uint32_t
follow(void *context, uint32_t from)
{
	struct following *following = context;
	struct run *run = following->run;
	struct hop hop;

	hop = hop_from(run, run->threads.thread[from]);
	if (hop.process == NULL)
		return PEER_NO_HOP;
	if (hop.thread == NULL || hop.transit) {
		following->end = hop;
		return PEER_NO_HOP;
	}
	return threads_index(&run->threads, hop.thread->watch.tid);
}

/* --- stacks ---------------------------------------------------------------------------------- */

/* Returns a frame with this text; FRAME_NONE if there are NAMED_MOST such texts already. */
static uint32_t
named_frame(struct run *run, const char *text)
{
	struct table *named = &run->shared.peers.named;
	const uint64_t hash = hash_bytes(text, strlen(text));
	uint32_t value;

	if (named->count >= NAMED_MOST && !table_find(named, hash, 0, &value))
		return FRAME_NONE;
	table_insert(named, hash, 0, 0, NULL);
	return profile_intern_named(run->profile, text);
}

/* Returns the stack "[a thread of NAME (PID)]", or STACK_NONE. */
static uint32_t
stack_of_process(struct run *run, const struct sampled_process *process)
{
	char text[PROCESS_COMM_SIZE + 48];
	uint32_t frame;

	snprintf(text, sizeof(text), "[a thread of %s (%d)]", process->process->comm,
		 (int)process->process->pid);
	frame = named_frame(run, text);
	return frame != FRAME_NONE ? profile_intern_stack(run->profile, frame, STACK_NONE) :
				     STACK_NONE;
}

/* Sets stack, state and thread of the blame to those of the last thread of a chain. */
static void
blame_thread(struct run *run, struct sampled_thread *thread, struct profile_blame *to)
{
	uint32_t carrier;

	if (!thread->selected || !thread->seen) {
		const struct wait_owner owner = { .holder = HOLDER_THREAD,
						  .tid = thread->watch.tid };

		to->stack = stack_of_unknown_holder(run->profile, &owner);
		return;
	}
	to->thread = thread_record_of_sample(run, thread, &carrier);
	if (!is_current(run, thread)) {
		to->stack = stack_of_text(run->profile, STACK_OF_MOVED, STACK_NONE);
		return;
	}
	to->stack = thread->stack;
	to->state = thread->late != NULL || thread->woken ? RUN_QUEUED : thread->state;
}

/* Returns the stack with the frame as its outermost one. */
static uint32_t
stack_below(struct run *run, uint32_t stack, uint32_t frame)
{
	struct table *through = &run->shared.peers.through;
	uint32_t *frames = NULL, below;
	size_t count = 0, capacity = 0;

	if (through->count >= THROUGH_MOST)
		table_clear(through);
	if (table_find(through, stack, frame, &below))
		return below;
	for (uint32_t at = stack; at != STACK_NONE;) {
		const struct profile_stack *level = profile_stack(run->profile, at);

		frames = xgrow(frames, &capacity, count + 1, sizeof(*frames));
		frames[count++] = level->frame;
		at = level->caller;
	}
	below = profile_intern_stack(run->profile, frame, STACK_NONE);
	while (count > 0)
		below = profile_intern_stack(run->profile, frames[--count], below);
	free(frames);
	table_insert(through, stack, frame, below, NULL);
	return below;
}

/* Adds the processes between the waiter and the last one, `last`, as the outermost frame. */
static void
blame_through(struct run *run, const uint32_t *path, size_t hops,
	      const struct sampled_process *waiter, const struct sampled_process *last,
	      struct profile_blame *to)
{
	const struct sampled_process *before = waiter;
	struct strbuf text = STRBUF_INIT;
	uint32_t frame = FRAME_NONE;

	for (size_t i = 0; i < hops; i++) {
		const struct sampled_process *process = run->threads.thread[path[i]]->process;

		if (process == before || process == last)
			continue;
		strbuf_add_format(&text, "%s%s (%d)", text.length == 0 ? PROFILE_THROUGH : ", ",
				  process->process->comm, (int)process->process->pid);
		before = process;
	}
	if (text.length > 0) {
		strbuf_add_text(&text, "]");
		frame = named_frame(run, text.data);
	}
	if (frame != FRAME_NONE)
		to->stack = stack_below(run, to->stack, frame);
	strbuf_release(&text);
}

/* --- blame ----------------------------------------------------------------------------------- */

static void
begin_tick(struct run *run)
{
	struct peers *peers = &run->shared.peers;

	if (peers->tick != run->tick.number) {
		peers->waited_before = peers->waited;
		peers->waited = peers->scanned = 0;
		peers->tick = run->tick.number;
	}
	peers->waited++;
}

/* The next ticks observe the threads of the chain, as long as there are few waits for peers. */
static void
watch_chain(struct run *run, const uint32_t *path, size_t hops)
{
	if (run->shared.peers.waited_before > WATCHED_MOST)
		return;
	for (size_t i = 0; i < hops; i++)
		run->threads.thread[path[i]]->holder_tick = run->tick.number;
}

/*
 * Attributes the time of a waiter at this tick to the thread that it waits for. If that thread
 * itself waits for a lock of another thread, or for another process, the chain is followed.
 */
static void
blame_peer(struct waits *waits, const struct blamed *blamed)
{
	struct run *run = waits->run;
	struct sampled_thread *waiter = threads_find(&run->threads, blamed->tid);
	struct following following = { .run = run };
	struct profile_blame to = { .wait = blamed->wait,
				    .state = RUN_UNKNOWN,
				    .samples = blamed->samples,
				    .ns = blamed->ns };
	const struct sampled_process *last;
	uint32_t path[PEER_HOPS_MOST];
	struct peer_end *end;
	size_t hops;

	if (waiter == NULL || waiter->wait.id != blamed->wait)
		return;
	begin_tick(run);
	end = peers_find_end(waits, blamed->what.end);
	if (end != NULL)
		end->tick = run->tick.number;
	hops = peer_follow(threads_index(&run->threads, blamed->tid), follow, &following, path);
	if (hops == 0 && following.end.process == NULL)
		return;
	to.thread = profile_no_thread(run->profile);
	last = following.end.process;
	if (last == NULL) {
		last = run->threads.thread[path[hops - 1]]->process;
		blame_thread(run, run->threads.thread[path[hops - 1]], &to);
	} else if (following.end.transit) {
		to.stack = stack_of_text(run->profile, STACK_OF_TRANSIT, STACK_NONE);
	} else {
		to.stack = stack_of_process(run, last);
	}
	if (to.stack == STACK_NONE)
		return;
	blame_through(run, path, hops, waiter->process, last, &to);
	watch_chain(run, path, hops);
	profile_add_blame(run->profile, &to);
	waiter->wait.blamed = to;
	waiter->wait.holder_read = true;
}

void
peers_blame(struct waits *waits)
{
	size_t kept = 0;

	for (size_t i = 0; i < waits->blamed_count; i++) {
		const struct blamed blamed = waits->blamed[i];

		if (i % BLAMES_UNSERVED == 0)
			late_serve(waits->run);
		if (wait_kind_is_blamed(blamed.what.kind))
			waits->blamed[kept++] = blamed;
		else
			blame_peer(waits, &blamed);
	}
	waits->blamed_count = kept;
}

/* --- deadlocks ------------------------------------------------------------------------------- */

struct sampled_thread *
peers_find_sole(struct waits *waits, const struct sampled_thread *thread)
{
	const struct wait *wait = &thread->wait.what;
	struct sampled_process *process = NULL;
	struct sampled_thread *sole;
	const struct peer_end *end;

	if (thread->wait.id == 0 || wait->timed || thread->process->listed != 1)
		return NULL;
	if (wait->kind == WAIT_CHILD && wait->child_pid > 0)
		process = process_of_pid(waits->run, wait->child_pid);
	if (wait->kind == WAIT_PIPE_READ || wait->kind == WAIT_PIPE_WRITE) {
		end = peers_find_end(waits, wait->end);
		if (end != NULL && end->peer.whole && !end->peer.own && end->peer.count == 1)
			process = process_of_pid(waits->run, end->peer.pid[0]);
	}
	if (process == NULL || process->listed != 1)
		return NULL;
	sole = threads_find(&waits->run->threads, process->process->pid);
	return sole != NULL && sole->process == process ? sole : NULL;
}
