/* SPDX-License-Identifier: MIT */
/*
 * sqlite_orders.c - a program with SQLite and zlib that has two well-known ways to become faster,
 * for `make bench-causal-sqlite`.
 *
 * The clerk finds the customer of each order, and files it in a database in memory; the archiver
 * compresses orders, a batch at a time. Lines of input:
 *   index=1    the clerk's search has an index from now on; 0: it looks at all customers
 *   level=N    of compression
 *   ?          answers "orders N at NS finds N find NS packs N pack NS": how many went into the
 *              archive and when the last one did; calls of find_customer() and pack_orders() that
 *              are over, and their CPU time
 */
#include <sqlite3.h>
#include <zlib.h>

#include "target.h"

#define CUSTOMERS 20000
#define FILED_MOST 5000
#define BATCH 100
#define ORDER_SIZE 2600
#define QUEUE_MOST 4
#define BATCHES (QUEUE_MOST + 2)

/* For who measures from outside: batches. */
_Atomic uint64_t archived;

static _Atomic uint64_t finds, find_ns, packs, pack_ns, last_ns;
static _Atomic int level = 6, index_wanted;

struct batch {
	char text[BATCH * ORDER_SIZE];
	size_t length;
};

/* Those between clerk and archiver, one that is filled and one that is packed. */
static struct batch batches[BATCHES];
static size_t filled, packed; /* so many batches, ever */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;

/* --- the clerk ------------------------------------------------------------------------ */

static sqlite3 *db;
static sqlite3_stmt *search, *file, *forget;

static void
must(int result)
{
	if (result == SQLITE_OK || result == SQLITE_DONE || result == SQLITE_ROW)
		return;
	fprintf(stderr, "sqlite_orders: %s\n", sqlite3_errmsg(db));
	_exit(99);
}

static void
prepare(const char *sql, sqlite3_stmt **to)
{
	must(sqlite3_prepare_v2(db, sql, -1, to, NULL));
}

static uint64_t
next_random(void)
{
	static uint64_t x = 88172645463325252u; /* G. Marsaglia, Xorshift RNGs, 2003 */

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

static void
name_customer(char *name, size_t size, unsigned number)
{
	snprintf(name, size, "%06u-%u", number * 7919u % 1000003u, number);
}

static void
open_database(void)
{
	sqlite3_stmt *insert;
	char name[32];

	must(sqlite3_open(":memory:", &db));
	must(sqlite3_exec(db,
			  "CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, city TEXT);"
			  "CREATE TABLE filed (id INTEGER PRIMARY KEY, customer INTEGER, "
			  "amount INTEGER);", NULL, NULL, NULL));
	prepare("INSERT INTO customer VALUES (?1, ?2, 'Springfield')", &insert);
	for (unsigned i = 0; i < CUSTOMERS; i++) {
		name_customer(name, sizeof(name), i);
		must(sqlite3_bind_int(insert, 1, (int)i));
		must(sqlite3_bind_text(insert, 2, name, -1, SQLITE_TRANSIENT));
		must(sqlite3_step(insert));
		must(sqlite3_reset(insert));
	}
	must(sqlite3_finalize(insert));
	prepare("SELECT max(id) FROM customer WHERE name = ?1", &search);
	prepare("INSERT INTO filed VALUES (?1, ?2, ?3)", &file);
	prepare("DELETE FROM filed WHERE id = ?1", &forget);
}

FRAME static int
find_customer(const char *name)
{
	const uint64_t began = target_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	int id;

	must(sqlite3_bind_text(search, 1, name, -1, SQLITE_STATIC));
	must(sqlite3_step(search));
	id = sqlite3_column_int(search, 0);
	must(sqlite3_reset(search));
	find_ns += target_clock_ns(CLOCK_THREAD_CPUTIME_ID) - began;
	finds++;
	KEEP_FRAME();
	return id;
}

FRAME static void
file_order(uint64_t number, int customer, unsigned amount)
{
	must(sqlite3_bind_int64(file, 1, (sqlite3_int64)number));
	must(sqlite3_bind_int(file, 2, customer));
	must(sqlite3_bind_int(file, 3, (int)amount));
	must(sqlite3_step(file));
	must(sqlite3_reset(file));
	if (number < FILED_MOST)
		return;
	must(sqlite3_bind_int64(forget, 1, (sqlite3_int64)(number - FILED_MOST)));
	must(sqlite3_step(forget));
	must(sqlite3_reset(forget));
	KEEP_FRAME();
}

/* As text, of which about half is worth its room. */
FRAME static void
write_order(struct batch *to, uint64_t number, int customer, unsigned amount)
{
	const size_t end = to->length + ORDER_SIZE;

	to->length += (size_t)snprintf(to->text + to->length, ORDER_SIZE,
				       "order %llu customer %d amount %u items",
				       (unsigned long long)number, customer, amount);
	while (to->length + 24 < end) {
		const uint64_t item = next_random();

		to->length += (size_t)snprintf(to->text + to->length, 24, " %u:%llx,",
					       (unsigned)(item % 97),
					       (unsigned long long)(item >> 40 & 0xfff));
	}
	KEEP_FRAME();
}

static void
set_index(void)
{
	static int is_there;
	const int wanted = index_wanted;

	if (wanted != is_there)
		must(sqlite3_exec(db, wanted ? "CREATE INDEX by_name ON customer (name)"
					     : "DROP INDEX by_name", NULL, NULL, NULL));
	is_there = wanted;
}

static void
fill(struct batch *to)
{
	static uint64_t number;
	char name[32];

	to->length = 0;
	for (int i = 0; i < BATCH; i++) {
		const uint64_t x = next_random();
		int customer;

		name_customer(name, sizeof(name), (unsigned)(x % CUSTOMERS));
		customer = find_customer(name);
		file_order(++number, customer, (unsigned)(x >> 48));
		write_order(to, number, customer, (unsigned)(x >> 48));
	}
}

static void
run_clerk(void)
{
	open_database();
	target_here();
	for (;;) {
		set_index();
		fill(&batches[filled % BATCHES]);
		pthread_mutex_lock(&lock);
		filled++;
		pthread_cond_signal(&moved);
		while (filled - packed > QUEUE_MOST)
			pthread_cond_wait(&moved, &lock);
		pthread_mutex_unlock(&lock);
	}
}

/* --- the archiver --------------------------------------------------------------------- */

FRAME static void
pack_orders(const struct batch *from)
{
	static Bytef archive[BATCH * ORDER_SIZE * 2];
	const uint64_t began = target_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uLongf length = sizeof(archive);

	if (compress2(archive, &length, (const Bytef *)from->text, from->length, level) != Z_OK)
		target_fail("compress2");
	pack_ns += target_clock_ns(CLOCK_THREAD_CPUTIME_ID) - began;
	packs++;
	KEEP_FRAME();
}

static void
run_archiver(void)
{
	target_here();
	for (;;) {
		pthread_mutex_lock(&lock);
		while (filled == packed)
			pthread_cond_wait(&moved, &lock);
		pthread_mutex_unlock(&lock);
		pack_orders(&batches[packed % BATCHES]);
		pthread_mutex_lock(&lock);
		packed++;
		pthread_cond_signal(&moved);
		pthread_mutex_unlock(&lock);
		archived++;
		last_ns = target_clock_ns(CLOCK_MONOTONIC);
	}
}

/* --- lines ---------------------------------------------------------------------------- */

static void
answer(void)
{
	char line[256];

	snprintf(line, sizeof(line),
		 "orders %llu at %llu finds %llu find %llu packs %llu pack %llu\n",
		 (unsigned long long)archived * BATCH, (unsigned long long)last_ns,
		 (unsigned long long)finds, (unsigned long long)find_ns,
		 (unsigned long long)packs, (unsigned long long)pack_ns);
	target_say(line);
}

int
main(void)
{
	static struct target_thread threads[] = {
		{ .name = "clerk", .run = run_clerk },
		{ .name = "archiver", .run = run_archiver },
	};
	char line[64];

	target_start(threads, 2, 0);
	target_wait(threads, 2);
	target_ready();
	while (fgets(line, sizeof(line), stdin) != NULL) {
		if (line[0] == '?')
			answer();
		else if (strncmp(line, "index=", 6) == 0)
			index_wanted = (int)strtol(line + 6, NULL, 10);
		else if (strncmp(line, "level=", 6) == 0)
			level = (int)strtol(line + 6, NULL, 10);
	}
	exit(0);
}
