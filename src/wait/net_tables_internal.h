/* SPDX-License-Identifier: MIT */
/*
 * net_tables_internal.h - the sockets of the network namespace that a process is in: its
 * /proc/PID/net/tcp and the like (proc_net(5)).
 */
#ifndef WALLSAMPLE_WAIT_NET_TABLES_INTERNAL_H
#define WALLSAMPLE_WAIT_NET_TABLES_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/base.h"
#include "wallsample/process/process.h"

enum net_protocol { NET_TCP, NET_UDP, NET_UNIX, NET_NETLINK, NET_PROTOCOL_COUNT };

enum net_file { NET_FILE_TCP, NET_FILE_TCP6, NET_FILE_UDP, NET_FILE_UDP6, NET_FILE_UNIX,
		NET_FILE_NETLINK, NET_FILE_COUNT };

struct net_address {
	uint8_t ip[16]; /* of IPv4: ::ffff:a.b.c.d */
	uint16_t port;  /* 0: none */
};

struct net_socket {
	uint64_t inode;
	enum net_protocol protocol;
	/* TCP that accepts connections, UDP that is bound and not connected, UNIX that listens. */
	bool listens;
	bool doubtful; /* UNIX: a second line says something else of it */
	struct net_address local, remote;
	size_t path;   /* UNIX: where its name begins in the names; 0: it has none */
	unsigned family; /* NETLINK */
};

struct net_tables;

/* Nothing is in them yet. */
struct net_tables *net_tables_create(void);
void net_tables_free(struct net_tables *tables);

/*
 * One line, without its end, of a file; what is no socket's line is left out. A name of a UNIX
 * socket may hold the end of a line and forge the next: of a socket that two lines tell
 * differently, nothing is believed.
 */
void net_tables_add_line(struct net_tables *tables, enum net_file file, const char *line);

/* All files of the process, up to some 200,000 sockets. */
void net_tables_read(struct net_tables *tables, const struct process *process);

/* NULL: not there, or doubtful. */
const struct net_socket *net_tables_find(const struct net_tables *tables,
					 enum net_protocol protocol, uint64_t inode);
/* "" if it has none; an abstract one is "@name". */
const char *net_tables_path(const struct net_tables *tables, const struct net_socket *socket);
/* The other end of a TCP or UDP connection when it is in the same tables; else NULL. */
const struct net_socket *net_tables_peer(const struct net_tables *tables,
					 const struct net_socket *socket);
/* Is there another socket that listens on the port? */
bool net_tables_listens(const struct net_tables *tables, enum net_protocol protocol,
			uint16_t port);

bool net_address_is_any(const struct net_address *address);
/* "127.0.0.1" or "::1"; with the port "127.0.0.1:80" or "[::1]:80". */
void net_address_add(const struct net_address *address, bool port, struct strbuf *out);

#endif
