/* SPDX-License-Identifier: MIT */
/* descriptor_internal.h - internal interfaces of the files that describe a descriptor. */
#ifndef WALLSAMPLE_WAIT_DESCRIPTOR_INTERNAL_H
#define WALLSAMPLE_WAIT_DESCRIPTOR_INTERNAL_H

#include <limits.h>

#include "wait/servers_internal.h"
#include "wait/unix_diag_internal.h"
#include "wallsample/base/table.h"
#include "wallsample/wait/descriptor.h"

/* --- fdinfo.c: /proc/PID/fdinfo/N of descriptors without a name, proc_pid_fdinfo(5) ------- */

/* Most descriptors of an epoll that struct fdinfo lists. */
#define FDINFO_WATCHED 32

struct fdinfo {
	bool has_timer;       /* the descriptor is a timerfd: left_ns and interval_ns are set */
	uint64_t left_ns;     /* time until the timer expires; 0: it has expired or is disarmed */
	uint64_t interval_ns; /* 0: the timer expires once */
	bool has_signals;     /* the descriptor is a signalfd: `signals` is set */
	uint64_t signals;     /* bit n: signal n + 1 */
	size_t watches;       /* number of watches of an inotify descriptor */
	uint64_t pid;   /* process of a pidfd; 0: no pidfd, or it has ended or is not visible */
	size_t watched; /* number of descriptors that an epoll watches */
	struct {
		int fd; /* number at the time of epoll_ctl; it may belong to another file now */
		uint64_t inode;  /* 0: not known */
	} first[FDINFO_WATCHED]; /* the watched descriptors with the lowest numbers, ascending */
};

/* Fills *info from the text of a file /proc/PID/fdinfo/N; ignores lines that it does not know. */
void fdinfo_parse(const char *text, struct fdinfo *info);
/* Add "timerfd, in 3.2 s" and "signalfd of SIGINT"; without values "timerfd" and "signalfd". */
void fdinfo_add_timer(const struct fdinfo *info, struct strbuf *out);
void fdinfo_add_signals(const struct fdinfo *info, struct strbuf *out);

/* --- holders.c: the processes that have a pipe, a socket or a fifo open -------------------- */

struct holders;

/* Lists the open pipes, sockets and files of all processes whose descriptors wallsample may read.
 * Takes about 5 us per descriptor, mostly in the kernel. With 200,000 descriptors or more, after
 * 1 s, the list is empty. The caller frees it. */
struct holders *holders_scan(void);
void holders_free(struct holders *holders);

enum holder_access { HOLDER_ANY, HOLDER_READS, HOLDER_WRITES };

#define HOLDERS_NAMED 2 /* most processes that a text names; further ones are only counted */
#define HOLDERS_KEPT 8  /* most processes of struct holders_found */

struct holders_found {
	size_t count; /* number of processes that have the link open, `own` included */
	bool own;     /* `own` of holders_find has the link open; pid[] does not contain it */
	pid_t pid[HOLDERS_KEPT];
	size_t kept;  /* number of elements of pid[] */
	size_t named; /* number of the first elements of pid[] that a text names */
	bool sure;    /* all processes were read while `own` had the link open: no others have it */
};

/*
 * Finds the processes that have `link`, the text of a link /proc/PID/fd/N, open with this access.
 * `own`: the process that has the other end.
 * Descriptors that were closed or reused since holders_scan are not reported. A path is found only
 * if `own` has it open: in another mount namespace it may name another file.
 */
void holders_find(const struct holders *holders, pid_t own, const char *link,
		  enum holder_access access, struct holders_found *found);
/* Adds "sort (1234)", "a (1), b (2) and 3 more", "itself", "a (1) and itself", "no process". */
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
	uint8_t ip[16]; /* an IPv4 address as ::ffff:a.b.c.d */
	uint16_t port;  /* 0: no port */
};

struct net_socket {
	uint64_t inode;
	enum net_protocol protocol;
	bool listens; /* TCP, UNIX: the socket accepts connections; UDP: it has no remote address */
	bool doubtful; /* UNIX: a second line of the table contradicts the first */
	struct net_address local, remote; /* set for TCP and UDP */
	size_t path;     /* UNIX: place of the socket's name, for net_tables_path; 0: no name */
	unsigned family; /* NETLINK: protocol family, a NETLINK_* number of netlink(7) */
};

struct net_tables;

/* Returns empty tables. The caller frees them. */
struct net_tables *net_tables_create(void);
void net_tables_free(struct net_tables *tables);

/* Adds the socket that one line of the file describes; `line` has no newline. Ignores lines of
 * another form, and sockets with the inode 0, which no process has open. The name of a UNIX socket
 * may contain a newline and forge the next line: a socket with contradicting lines is doubtful. */
void net_tables_add_line(struct net_tables *tables, enum net_file file, const char *line);
/* Adds the sockets in all files (enum net_file) of the process, up to some 200,000 sockets. */
void net_tables_read(struct net_tables *tables, const struct process *process);
/* Returns the socket, or NULL when it is unknown or doubtful. */
const struct net_socket *net_tables_find(const struct net_tables *tables,
					 enum net_protocol protocol, uint64_t inode);
/* Returns the name of a UNIX socket: "@name" for an abstract one, "" without a name. */
const char *net_tables_path(const struct net_tables *tables, const struct net_socket *socket);
/* Returns the other end of a TCP or UDP socket; NULL: not connected, or not in the tables. */
const struct net_socket *net_tables_peer(const struct net_tables *tables,
					 const struct net_socket *socket);
/* Returns a socket of the protocol that listens on the port; NULL: none does. */
const struct net_socket *net_tables_listener(const struct net_tables *tables,
					     enum net_protocol protocol, uint16_t port);
/* Returns true for 0.0.0.0 and ::, which stand for all addresses of the machine. */
bool net_address_is_any(const struct net_address *address);
/* Adds "127.0.0.1" or "::1"; with the port "127.0.0.1:80" or "[::1]:80". */
void net_address_add(const struct net_address *address, bool port, struct strbuf *out);

/* --- endpoints.c: what is read once for all processes ----------------------------------------- */

/*
 * Read the holders, or the socket tables of the process's network namespace, on first use. The
 * first two functions read them again if the link or inode (then NULL is returned) is not found,
 * unless found->sure, and the last reading began at least 20 times its duration ago.
 */
void endpoints_find_holders(struct endpoints *endpoints, pid_t own, const char *link,
			    enum holder_access access, struct holders_found *found);
const struct net_socket *endpoints_find_socket(struct endpoints *endpoints,
					       const struct process *process,
					       enum net_protocol protocol, uint64_t inode);
const struct net_tables *endpoints_tables(struct endpoints *endpoints,
					  const struct process *process);
/* Frees holders and socket tables that are older than a second. */
void endpoints_expire(struct endpoints *endpoints);

/* --- descriptor_set.c: the descriptors of one target ----------------------------------------- */

/* Size of the text of a link in /proc/PID/fd, with its terminating zero. */
#define LINK_SIZE PATH_MAX

/* The last texts of the descriptors with one id; both ends of a pipe have the same id. */
struct described {
	struct {
		char *text;     /* owned; NULL: no text yet */
		uint64_t at_ns; /* time when the text was made */
		int fd;         /* the descriptor whose text it is */
	} end[2]; /* [1]: text of a descriptor open only for writing; [0]: of any other */
};

struct descriptors {
	const struct process *process; /* borrowed, as `endpoints` */
	struct endpoints *endpoints;
	int fd_dir, info_dir; /* directories /proc/PID/fd and fdinfo; -1: not readable */
	int diag;             /* descriptor of unix_diag_open; -1: not open */
	bool same_network;    /* the target is in wallsample's network namespace */
	char id[LINK_SIZE];   /* the id that the last descriptor_look returned */
	struct servers servers;
	/* ids whose texts were requested; the number of an id is its index in known[] */
	struct strings *ids;
	struct described *known; /* known_capacity elements */
	size_t known_capacity;
};

void descriptors_forget_known(struct descriptors *descriptors); /* ids, texts; `ids` is then NULL */
/* Stores the text of the link /proc/PID/fd/FD in `link`, an array of LINK_SIZE bytes, and returns
 * the descriptor's kind; "" and DESCRIPTOR_GONE if it is not open or the link not readable. */
enum descriptor_kind descriptor_read(struct descriptors *descriptors, int fd, char *link);
/* Stores whether the descriptor is open for reading and for writing. False: neither, or its link is
 * not readable. */
bool descriptor_access(const struct descriptors *descriptors, int fd, bool *reads, bool *writes);
bool text_begins(const char *text, const char *beginning);
/* socket_text.c: adds the text of the socket `fd`, whose link is `id`. False: not readable. */
bool socket_describe(struct descriptors *descriptors, int fd, const char *id, struct strbuf *out);
/* Returns the inode of the other end of the UNIX or TCP socket `fd`, whose link is `id`; 0: it is
 * not connected, or not known. The other end is on this machine. */
uint64_t socket_find_peer(struct descriptors *descriptors, int fd, const char *id);

#endif
