/* SPDX-License-Identifier: MIT */
/* endpoints.c - what is read once for all processes of the target: the processes that have pipes
 * and sockets open, and the tables of sockets of network namespaces. */
#include <stdlib.h>
#include <sys/stat.h>

#include "wait/descriptor_internal.h"

/* Most network namespaces whose tables are kept; a new one replaces the oldest. */
#define NETWORKS_MOST 16

/* When the holders or the socket tables were last read, and how long that took. */
struct reading {
	uint64_t at_ns, took_ns;
};

struct network {
	uint64_t dev, inode;       /* of the namespace; if it is not known, 0 and a process id */
	struct net_tables *tables; /* NULL: not read */
	struct reading read;
};

struct endpoints {
	struct holders *holders; /* NULL: not read */
	struct reading holders_read;
	struct network network[NETWORKS_MOST];
	size_t next; /* index of the oldest network */
};

struct endpoints *
endpoints_create(void)
{
	return xcalloc(1, sizeof(struct endpoints));
}

static void
forget_holders(struct endpoints *endpoints)
{
	holders_free(endpoints->holders);
	endpoints->holders = NULL;
}

static void
forget_tables(struct network *network)
{
	net_tables_free(network->tables);
	network->tables = NULL;
}

void
endpoints_free(struct endpoints *endpoints)
{
	if (endpoints == NULL)
		return;
	forget_holders(endpoints);
	for (size_t i = 0; i < NETWORKS_MOST; i++)
		forget_tables(&endpoints->network[i]);
	free(endpoints);
}

/* Returns true when the last reading was at least 20 times its duration ago, so that readings
 * take at most a twentieth of the time. */
static bool
may_read_again(const struct reading *reading)
{
	return clock_now_ns() - reading->at_ns >= 20 * reading->took_ns;
}

void
endpoints_find_holders(struct endpoints *endpoints, pid_t own, const char *link,
		       enum holder_access access, struct holders_found *found)
{
	struct reading *reading = &endpoints->holders_read;

	for (int attempt = 0; attempt < 2; attempt++) {
		if (endpoints->holders == NULL) {
			reading->at_ns = clock_now_ns();
			endpoints->holders = holders_scan();
			reading->took_ns = clock_now_ns() - reading->at_ns;
		}
		holders_find(endpoints->holders, own, link, access, found);
		if (found->count > 0 || found->sure || attempt > 0 || !may_read_again(reading))
			return;
		forget_holders(endpoints);
	}
}

/* Returns the network of the process. */
static struct network *
network_of(struct endpoints *endpoints, const struct process *process)
{
	struct network *network;
	struct stat st = { .st_ino = 0 };

	if (fstatat(process->dirfd, "ns/net", &st, 0) != 0)
		st = (struct stat){ .st_ino = (ino_t)process->pid };
	for (size_t i = 0; i < NETWORKS_MOST; i++) {
		network = &endpoints->network[i];
		if (network->inode == st.st_ino && network->dev == st.st_dev)
			return network;
	}
	network = &endpoints->network[endpoints->next];
	endpoints->next = (endpoints->next + 1) % NETWORKS_MOST;
	forget_tables(network);
	*network = (struct network){ .dev = st.st_dev, .inode = st.st_ino };
	return network;
}

static const struct net_tables *
tables_of(struct network *network, const struct process *process)
{
	struct reading *reading = &network->read;

	if (network->tables == NULL) {
		reading->at_ns = clock_now_ns();
		network->tables = net_tables_create();
		net_tables_read(network->tables, process);
		reading->took_ns = clock_now_ns() - reading->at_ns;
	}
	return network->tables;
}

const struct net_tables *
endpoints_tables(struct endpoints *endpoints, const struct process *process)
{
	return tables_of(network_of(endpoints, process), process);
}

const struct net_socket *
endpoints_find_socket(struct endpoints *endpoints, const struct process *process,
		      enum net_protocol protocol, uint64_t inode)
{
	struct network *network = network_of(endpoints, process);
	const struct net_socket *socket;

	socket = net_tables_find(tables_of(network, process), protocol, inode);
	if (socket != NULL || !may_read_again(&network->read))
		return socket;
	forget_tables(network);
	return net_tables_find(tables_of(network, process), protocol, inode);
}

void
endpoints_expire(struct endpoints *endpoints)
{
	const uint64_t now_ns = clock_now_ns();

	if (now_ns - endpoints->holders_read.at_ns >= NS_PER_SEC)
		forget_holders(endpoints);
	for (size_t i = 0; i < NETWORKS_MOST; i++)
		if (now_ns - endpoints->network[i].read.at_ns >= NS_PER_SEC)
			forget_tables(&endpoints->network[i]);
}
