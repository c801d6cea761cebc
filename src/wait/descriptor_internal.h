/* SPDX-License-Identifier: MIT */
/* descriptor_internal.h - internal interfaces of the files that describe descriptors. */
#ifndef WALLSAMPLE_WAIT_DESCRIPTOR_INTERNAL_H
#define WALLSAMPLE_WAIT_DESCRIPTOR_INTERNAL_H

#include <limits.h>

#include "wallsample/base/table.h"
#include "wallsample/wait/descriptor.h"

/* --- fdinfo.c: /proc/PID/fdinfo/N of descriptors without a name, proc_pid_fdinfo(5) ------- */

/* Number of descriptors of an epoll that are kept. */
#define FDINFO_WATCHED 8

struct fdinfo {
	bool has_timer;
	uint64_t left_ns;     /* of a timerfd; 0: disarmed */
	uint64_t interval_ns; /* 0: the timer expires once */
	bool has_signals;
	uint64_t signals; /* of a signalfd: bit 0 is signal 1 */
	size_t watches;   /* of inotify */
	uint64_t pid;     /* of a pidfd; 0: no pidfd, or its process has ended */
	size_t watched;   /* number of descriptors of an epoll */
	struct {
		int fd; /* as it was added; the number may have been reused since */
		uint64_t inode;
	} first[FDINFO_WATCHED]; /* those with the lowest numbers, ascending */
};

void fdinfo_parse(const char *text, struct fdinfo *info);
/* Add "timerfd, in 3.2 s", and "signalfd of SIGINT, SIGTERM". */
void fdinfo_add_timer(const struct fdinfo *info, struct strbuf *out);
void fdinfo_add_signals(const struct fdinfo *info, struct strbuf *out);

/* --- holders.c: the processes that have a pipe, a socket or a fifo open -------------------- */

struct holders;

/*
 * Walks the descriptors of all processes that may be read, on behalf of process `own`. About 5 us
 * for each descriptor, mostly for the kernel to list it: 1 s for the 200,000 that are the bound.
 */
struct holders *holders_scan(pid_t own);
void holders_free(struct holders *holders);

enum holder_access {
	HOLDER_ANY,
	HOLDER_READS,
	HOLDER_WRITES,
};

/* Number of processes that are named; others are counted. */
#define HOLDERS_NAMED 2

struct holders_found {
	size_t count; /* processes, `own` included */
	bool own;     /* `own` is one of them; it is not in pid[] */
	pid_t pid[HOLDERS_NAMED];
	size_t named;
	bool sure; /* it is certain that there are no others */
};

/* The processes that have `link`, the text of /proc/PID/fd/N, open for this access. Each is checked
 * again, so that a descriptor that has been reused since the walk is not reported. */
void holders_find(const struct holders *holders, const char *link, enum holder_access access,
		  struct holders_found *found);
/* Adds "sort (1234)", "a (1), b (2) and 3 more", "itself", "a (1) and itself", "nobody". */
void holders_add_text(const struct holders_found *found, struct strbuf *out);
/* Adds "sort (1234)"; the bytes of the name are not escaped. */
void holders_add_process(pid_t pid, struct strbuf *out);

/* --- net_tables.c: sockets of the process's network namespace, proc_net(5) ------------------ */

enum net_protocol { NET_TCP, NET_UDP, NET_UNIX, NET_NETLINK, NET_PROTOCOL_COUNT };

enum net_file {
	NET_FILE_TCP,
	NET_FILE_TCP6,
	NET_FILE_UDP,
	NET_FILE_UDP6,
	NET_FILE_UNIX,
	NET_FILE_NETLINK,
	NET_FILE_COUNT
};

struct net_address {
	uint8_t ip[16]; /* IPv4 as ::ffff:a.b.c.d */
	uint16_t port;  /* 0: none */
};

struct net_socket {
	uint64_t inode;
	enum net_protocol protocol;
	bool listens;  /* TCP or UNIX that accepts; UDP that is bound and not connected */
	bool doubtful; /* UNIX: a second line contradicts the first */
	struct net_address local, remote;
	size_t path;     /* UNIX: offset of its name; 0: none */
	unsigned family; /* NETLINK */
};

struct net_tables;

struct net_tables *net_tables_create(void); /* empty */
void net_tables_free(struct net_tables *tables);

/*
 * Adds one line of a file, without its end; ignores lines that do not describe a socket. The name
 * of a UNIX socket may contain a newline and forge the next line: a socket with two contradicting
 * lines is doubtful.
 */
void net_tables_add_line(struct net_tables *tables, enum net_file file, const char *line);
/* Adds all files of the process, up to some 200,000 sockets. */
void net_tables_read(struct net_tables *tables, const struct process *process);
/* NULL: no such socket, or it is doubtful. */
const struct net_socket *net_tables_find(const struct net_tables *tables,
					 enum net_protocol protocol, uint64_t inode);
/* "" if the socket has no name; "@name" for an abstract one. */
const char *net_tables_path(const struct net_tables *tables, const struct net_socket *socket);
/* The other end of a TCP or UDP connection, if it is in the same tables; else NULL. */
const struct net_socket *net_tables_peer(const struct net_tables *tables,
					 const struct net_socket *socket);
/* True when another socket listens on the port. */
bool net_tables_listens(const struct net_tables *tables, enum net_protocol protocol, uint16_t port);
bool net_address_is_any(const struct net_address *address);
/* Adds "127.0.0.1" or "::1"; with the port "127.0.0.1:80" or "[::1]:80". */
void net_address_add(const struct net_address *address, bool port, struct strbuf *out);

/* --- unix_diag.c: sock_diag(7), the only source of the peer of a UNIX socket ----------------- */

struct unix_socket {
	bool listens;
	uint32_t peer;  /* inode of the other end; 0: not known */
	char name[128]; /* "/run/x", "@abstract", or "" */
};

/* A descriptor for unix_diag_ask, or -1. */
int unix_diag_open(void);
/* Looks up a socket of wallsample's own network namespace. False: not found, or no answer. */
bool unix_diag_ask(int fd, uint64_t inode, struct unix_socket *socket);
/* Parses an answer; false when it does not describe the socket. */
bool unix_diag_parse(const void *answer, size_t size, uint64_t inode, struct unix_socket *socket);

/* --- descriptor_set.c: one target, and what was read for it within the last second ---------- */

/* The text of a link in /proc/PID/fd, and its terminating zero. */
#define LINK_SIZE PATH_MAX

/* Texts of one id: a pipe has one id, and a text for each end. */
struct described {
	struct {
		char *text; /* NULL: none yet */
		uint64_t at_ns;
		int fd;
	} end[2];
};

/* When something was read, and how long that took. */
struct reading {
	uint64_t at_ns, took_ns;
};

struct descriptors {
	const struct process *process;
	int fd_dir, info_dir;      /* /proc/PID/fd and fdinfo; -1: not permitted */
	int diag;                  /* of unix_diag_open; -1: not open */
	bool same_network;         /* the target is in wallsample's network namespace */
	char id[LINK_SIZE];        /* of the last descriptor_look */
	struct holders *holders;   /* NULL: not read */
	struct net_tables *tables; /* the same */
	struct reading holders_read, tables_read;
	struct strings *ids; /* indices of known[] */
	struct described *known;
	size_t known_capacity;
};

/* Read on first use, and kept for a second; descriptors_expire drops what is older. */
const struct holders *descriptors_holders(struct descriptors *descriptors);
const struct net_tables *descriptors_tables(struct descriptors *descriptors);
void descriptors_expire(struct descriptors *descriptors);
/* Drop them early, after a search without result. False: kept, because reading them again would
 * take more than a twentieth of the time. */
bool descriptors_forget_holders(struct descriptors *descriptors);
bool descriptors_forget_tables(struct descriptors *descriptors);
void descriptors_forget_known(struct descriptors *descriptors);
/* Reads the link into an array of LINK_SIZE; "" and DESCRIPTOR_GONE when it is not open. */
enum descriptor_kind descriptor_read(struct descriptors *descriptors, int fd, char *link);
bool text_begins(const char *text, const char *beginning);

/* socket_text.c: adds a socket's text; `id` is its link. False: nothing is known. */
bool socket_describe(struct descriptors *descriptors, int fd, const char *id, struct strbuf *out);

#endif
