/* SPDX-License-Identifier: MIT */
/*
 * descriptors.c - has a descriptor of each kind open, and says of each its number, the name of
 * its kind and what is behind it: lines "FD KIND TEXT" up to "end". A "*" in a text stands for
 * what cannot be known beforehand. Other processes, which it starts and which end with it, have
 * the other ends.
 */
#include <arpa/inet.h>
#include <limits.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>

#include "target.h"

#define CROWD 4
#define LINES 128

static struct line {
	int fd;
	char text[512];
} lines[LINES];
static size_t line_count;

/* The other process: its pid is put into the texts for "%P" when it is known. */
static int peers_own[64]; /* what it keeps of all that is open when it is forked */
static size_t peers_count;
static pid_t peer;
static char folder[64];

static int
must(int value, const char *what)
{
	if (value < 0)
		target_fail(what);
	return value;
}

__attribute__((format(printf, 2, 3))) static void
tell(int fd, const char *fmt, ...)
{
	struct line *line = &lines[line_count++];
	va_list args;

	if (line_count > LINES)
		target_fail("too many lines");
	line->fd = fd;
	va_start(args, fmt);
	vsnprintf(line->text, sizeof(line->text), fmt, args);
	va_end(args);
}

static int
for_peer(int fd)
{
	peers_own[peers_count++] = fd;
	return fd;
}

/* --- processes ----------------------------------------------------------------------- */

/* A process with this name and with no descriptors but these; "in place" when it is so. */
static pid_t
start_process(const char *name, const int *keep, size_t count)
{
	const pid_t parent = getpid();
	int ready[2];
	char c;
	pid_t pid;

	must(pipe(ready), "pipe");
	pid = must(fork(), "fork");
	if (pid != 0) {
		close(ready[1]);
		if (read(ready[0], &c, 1) != 1)
			target_fail(name);
		close(ready[0]);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	prctl(PR_SET_NAME, name);
	for (int fd = 0; fd < 256; fd++) {
		bool kept = fd == ready[1];

		for (size_t i = 0; i < count; i++)
			kept |= fd == keep[i];
		if (!kept)
			close(fd);
	}
	if (write(ready[1], "", 1) != 1)
		_exit(1);
	close(ready[1]);
	for (;;)
		pause();
}

/* --- pipes ----------------------------------------------------------------------------- */

static void
open_pipes(void)
{
	int ends[2];

	must(pipe(ends), "pipe");
	for_peer(ends[1]);
	tell(ends[0], "PIPE pipe from pe er) (%%P)");
	must(pipe(ends), "pipe");
	for_peer(ends[0]);
	tell(ends[1], "PIPE pipe to pe er) (%%P)");
	must(pipe(ends), "pipe");
	tell(ends[0], "PIPE pipe from itself");
	tell(ends[1], "PIPE pipe to itself");
	must(pipe(ends), "pipe");
	close(ends[1]);
	tell(ends[0], "PIPE pipe from nobody");
	/* What the other forgot to close keeps it waiting for ever. */
	must(pipe(ends), "pipe");
	for_peer(must(dup(ends[1]), "dup"));
	tell(ends[0], "PIPE pipe from pe er) (%%P) and itself");
}

/* Five have the end of one pipe. */
static void
open_crowded_pipe(void)
{
	pid_t pids[CROWD], last;
	int ends[2];

	must(pipe(ends), "pipe");
	for (int i = 0; i < CROWD; i++)
		pids[i] = start_process("crowd", &ends[1], 1);
	last = start_process("crowd", &ends[1], 1);
	close(ends[1]);
	/* numbers begin anew after the highest */
	if (pids[1] > pids[0] && pids[2] > pids[1] && pids[3] > pids[2] && last > pids[3])
		tell(ends[0], "PIPE pipe from crowd (%d), crowd (%d) and 3 more", (int)pids[0],
		     (int)pids[1]);
}

static void
open_fifos(void)
{
	char path[PATH_MAX];
	int ours;

	snprintf(path, sizeof(path), "%s/fifo", folder);
	must(mkfifo(path, 0600), "mkfifo");
	ours = must(open(path, O_RDONLY | O_NONBLOCK), "fifo");
	for_peer(must(open(path, O_WRONLY), "fifo"));
	tell(ours, "PIPE fifo %s from pe er) (%%P)", path);
	snprintf(path, sizeof(path), "%s/lonely", folder);
	must(mkfifo(path, 0600), "mkfifo");
	tell(must(open(path, O_RDONLY | O_NONBLOCK), "fifo"), "PIPE fifo %s", path);
}

/* --- the internet ------------------------------------------------------------------------ */

static socklen_t
fill_address(int family, const char *text, in_port_t port, struct sockaddr_storage *address)
{
	struct sockaddr_in *four = (void *)address;
	struct sockaddr_in6 *six = (void *)address;

	memset(address, 0, sizeof(*address));
	address->ss_family = (sa_family_t)family;
	if (family == AF_INET) {
		inet_pton(family, text, &four->sin_addr);
		four->sin_port = htons(port);
		return sizeof(*four);
	}
	inet_pton(family, text, &six->sin6_addr);
	six->sin6_port = htons(port);
	return sizeof(*six);
}

static in_port_t
port_of(int fd)
{
	struct sockaddr_storage address;
	socklen_t size = sizeof(address);

	must(getsockname(fd, (void *)&address, &size), "getsockname");
	return ntohs(address.ss_family == AF_INET ? ((struct sockaddr_in *)&address)->sin_port
						  : ((struct sockaddr_in6 *)&address)->sin6_port);
}

/* -1 where there is no such address. */
static int
bound(int family, int type, const char *text)
{
	struct sockaddr_storage address;
	socklen_t size = fill_address(family, text, 0, &address);
	int fd = socket(family, type, 0), no = 0;

	/* or "::" would not be for IPv4 on some machines */
	if (fd >= 0 && family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	if (fd >= 0 && bind(fd, (void *)&address, size) != 0) {
		close(fd);
		return -1;
	}
	if (fd >= 0 && type == SOCK_STREAM)
		must(listen(fd, 8), "listen");
	return fd;
}

/* A connection to the listening socket: both ends. */
static void
join(int family, const char *text, int listening, int ends[2])
{
	struct sockaddr_storage address;
	socklen_t size = fill_address(family, text, port_of(listening), &address);

	ends[0] = must(socket(family, SOCK_STREAM, 0), "socket");
	must(connect(ends[0], (void *)&address, size), "connect");
	ends[1] = must(accept(listening, NULL, NULL), "accept");
}

/* `from` is the family to connect with, `shown` how words of ours have the address. */
static void
open_tcp(int family, const char *on, int from, const char *to, const char *shown)
{
	int ends[2], listening = bound(family, SOCK_STREAM, on);
	in_port_t port;

	if (listening < 0)
		return;
	port = port_of(listening);
	if (strcmp(on, "0.0.0.0") == 0 || strcmp(on, "::") == 0)
		tell(listening, "SOCKET tcp port %u", port);
	else
		tell(listening, "SOCKET tcp port %u on %s", port, on);
	join(from, to, listening, ends);
	for_peer(ends[0]);
	tell(ends[1], "SOCKET tcp %s:%u from %s:%u, pe er) (%%P)", shown, port, shown,
	     port_of(ends[0]));
	join(from, to, listening, ends);
	for_peer(ends[1]);
	tell(ends[0], "SOCKET tcp to %s:%u, pe er) (%%P)", shown, port);
	join(from, to, listening, ends);
	tell(ends[0], "SOCKET tcp to %s:%u, itself", shown, port);
	tell(ends[1], "SOCKET tcp %s:%u from %s:%u, itself", shown, port, shown,
	     port_of(ends[0]));
}

static void
open_udp(int family, const char *any, const char *on, const char *shown)
{
	struct sockaddr_storage address;
	int wide = bound(family, SOCK_DGRAM, any), narrow = bound(family, SOCK_DGRAM, on), fd;

	if (wide < 0 || narrow < 0)
		return;
	tell(wide, "SOCKET udp port %u", port_of(wide));
	for_peer(narrow);
	fd = must(socket(family, SOCK_DGRAM, 0), "socket");
	must(connect(fd, (void *)&address, fill_address(family, on, port_of(narrow), &address)),
	     "connect");
	tell(fd, "SOCKET udp to %s:%u, pe er) (%%P)", shown, port_of(narrow));
	fd = must(socket(family, SOCK_DGRAM, 0), "socket");
	must(connect(fd, (void *)&address, fill_address(family, on, port_of(wide), &address)),
	     "connect");
	tell(fd, "SOCKET udp to %s:%u, itself", shown, port_of(wide));
	fd = bound(family, SOCK_DGRAM, on);
	tell(fd, "SOCKET udp port %u on %s", port_of(fd), on);
}

static void
open_internet(void)
{
	open_tcp(AF_INET, "127.0.0.1", AF_INET, "127.0.0.1", "127.0.0.1");
	open_tcp(AF_INET, "0.0.0.0", AF_INET, "127.0.0.1", "127.0.0.1");
	open_tcp(AF_INET6, "::1", AF_INET6, "::1", "[::1]");
	/* IPv4 to a socket of IPv6 */
	open_tcp(AF_INET6, "::", AF_INET, "127.0.0.1", "127.0.0.1");
	open_udp(AF_INET, "0.0.0.0", "127.0.0.1", "127.0.0.1");
	open_udp(AF_INET6, "::", "::1", "[::1]");
	tell(must(socket(AF_INET, SOCK_STREAM, 0), "socket"), "SOCKET tcp socket");
}

/* --- unix ---------------------------------------------------------------------------------- */

static void
open_unix_named(const char *name, bool abstract)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *shown = abstract ? "@" : "";
	const char *text = name;
	socklen_t size;
	int listening, client, ends[2];

	memcpy(address.sun_path + abstract, name, strlen(name));
	size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name) + 1);
	listening = must(socket(AF_UNIX, SOCK_STREAM, 0), "socket");
	must(bind(listening, (void *)&address, size), name);
	must(listen(listening, 8), "listen");
	tell(listening, "SOCKET unix %s%s", shown, text);
	for (int i = 0; i < 2; i++) {
		client = must(socket(AF_UNIX, SOCK_STREAM, 0), "socket");
		must(connect(client, (void *)&address, size), name);
		ends[i] = must(accept(listening, NULL, NULL), "accept");
		if (i == 0) {
			for_peer(client);
			tell(ends[i], "SOCKET unix %s%s from pe er) (%%P)", shown, text);
		} else {
			for_peer(ends[i]);
			tell(client, "SOCKET unix to %s%s, pe er) (%%P)", shown, text);
		}
	}
}

static void
open_unix(void)
{
	char name[PATH_MAX];
	int ends[2];

	snprintf(name, sizeof(name), "%s/socket", folder);
	open_unix_named(name, false);
	snprintf(name, sizeof(name), "wallsample-test-%d", (int)getpid());
	open_unix_named(name, true);
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
	for_peer(ends[1]);
	tell(ends[0], "SOCKET unix to pe er) (%%P)");
	must(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), "socketpair");
	tell(ends[0], "SOCKET unix to itself");
	tell(must(socket(AF_UNIX, SOCK_DGRAM, 0), "socket"), "SOCKET unix socket");
}

static void
open_other_sockets(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	struct sockaddr_nl address = { .nl_family = AF_NETLINK };

	if (fd >= 0 && bind(fd, (void *)&address, sizeof(address)) == 0)
		tell(fd, "SOCKET netlink route");
	fd = socket(AF_PACKET, SOCK_RAW, 0); /* needs CAP_NET_RAW */
	if (fd >= 0)
		tell(fd, "SOCKET packet socket");
	fd = socket(AF_VSOCK, SOCK_STREAM, 0);
	if (fd >= 0)
		tell(fd, "SOCKET vsock socket");
}

/* --- files ----------------------------------------------------------------------------------- */

static void
open_files(void)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/file with spaces", folder);
	tell(must(open(path, O_RDWR | O_CREAT, 0600), path), "FILE %s", path);
	snprintf(path, sizeof(path), "%s/gone", folder);
	tell(must(open(path, O_RDWR | O_CREAT, 0600), path), "FILE %s (deleted)", path);
	unlink(path);
	/* A file may be called like a pipe. */
	snprintf(path, sizeof(path), "%s/pipe:[1]", folder);
	tell(must(open(path, O_RDWR | O_CREAT, 0600), path), "FILE %s", path);
	tell(must(open(folder, O_RDONLY | O_DIRECTORY), folder), "DIRECTORY %s", folder);
	tell(must(open("/dev/null", O_RDWR), "/dev/null"), "DEVICE /dev/null");
	fd = posix_openpt(O_RDWR | O_NOCTTY);
	if (fd >= 0 && grantpt(fd) == 0 && unlockpt(fd) == 0) {
		const char *name = ptsname(fd);
		int terminal = open(name, O_RDWR | O_NOCTTY);

		if (terminal >= 0)
			tell(terminal, "TERMINAL %s", name);
		tell(fd, "TERMINAL /dev/*ptmx");
	}
	fd = memfd_create("some memory", 0);
	if (fd >= 0)
		tell(fd, "FILE memfd some memory (deleted)");
}

/* --- what has no name --------------------------------------------------------------------- */

static void
open_timers(void)
{
	const struct itimerspec once = { .it_value = { 1000000, 0 } };
	const struct itimerspec often = { { 2, 500000000 }, { 1000000, 0 } };
	int fd = must(timerfd_create(CLOCK_MONOTONIC, 0), "timerfd");

	tell(fd, "TIMERFD timerfd, not set");
	fd = must(timerfd_create(CLOCK_MONOTONIC, 0), "timerfd");
	timerfd_settime(fd, 0, &once, NULL);
	tell(fd, "TIMERFD timerfd, in 99* s");
	fd = must(timerfd_create(CLOCK_REALTIME, 0), "timerfd");
	timerfd_settime(fd, 0, &often, NULL);
	tell(fd, "TIMERFD timerfd, in 99* s, every 2.5 s");
}

static int
watching(const int *fds, size_t count)
{
	int epoll = must(epoll_create1(0), "epoll");

	for (size_t i = 0; i < count; i++) {
		struct epoll_event event = { .events = EPOLLIN, .data.u64 = UINT64_MAX };

		must(epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &event), "epoll_ctl");
	}
	return epoll;
}

static void
open_epolls(void)
{
	int fds[4], ends[2], inner;

	tell(watching(NULL, 0), "EPOLL epoll");
	fds[0] = must(bound(AF_INET, SOCK_STREAM, "0.0.0.0"), "bind");
	fds[1] = must(eventfd(0, 0), "eventfd");
	tell(fds[1], "EVENTFD eventfd");
	inner = watching(fds, 2);
	tell(inner, "EPOLL epoll of 2: tcp port %u, eventfd", port_of(fds[0]));
	/* The socket is first, whatever was added first. */
	must(pipe(ends), "pipe");
	fds[2] = ends[0];
	fds[3] = must(bound(AF_INET, SOCK_STREAM, "0.0.0.0"), "bind");
	tell(watching(fds + 2, 2), "EPOLL epoll of 2: tcp port %u, pipe from itself",
	     port_of(fds[3]));
	fds[2] = inner;
	fds[3] = ends[0];
	tell(watching(fds, 4), "EPOLL epoll of 4: tcp port %u, eventfd, epoll, …",
	     port_of(fds[0]));
	for (int i = 1; i < 4; i++)
		fds[i] = must(eventfd(0, 0), "eventfd");
	tell(watching(fds, 4), "EPOLL epoll of 4: tcp port %u, eventfd, …", port_of(fds[0]));
	/* One that it still watches has left its number to another. */
	fds[0] = must(dup(ends[0]), "dup");
	tell(watching(fds, 1), "EPOLL epoll of 1");
	must(dup2(fds[1], fds[0]), "dup2");
}

static void
open_unnamed(void)
{
	sigset_t signals;
	int fd;

	open_timers();
	open_epolls();
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGTERM);
	tell(must(signalfd(-1, &signals, 0), "signalfd"), "SIGNALFD signalfd of SIGUSR1, SIGTERM");
	fd = must(inotify_init1(0), "inotify");
	must(inotify_add_watch(fd, folder, IN_CREATE), "inotify");
	tell(fd, "INOTIFY inotify of 1");
}

static void
open_pidfd(void)
{
	int fd = (int)syscall(SYS_pidfd_open, peer, 0);

	if (fd >= 0)
		tell(fd, "OTHER pidfd of pe er) (%%P)");
}

/* --- all ---------------------------------------------------------------------------------- */

static void
say_lines(void)
{
	char number[16], text[1024];

	snprintf(number, sizeof(number), "%d", (int)peer);
	for (size_t i = 0; i < line_count; i++) {
		const char *at = strstr(lines[i].text, "%P");
		size_t before = at != NULL ? (size_t)(at - lines[i].text) : strlen(lines[i].text);

		snprintf(text, sizeof(text), "%d %.*s%s%s\n", lines[i].fd, (int)before,
			 lines[i].text, at != NULL ? number : "", at != NULL ? at + 2 : "");
		target_say(text);
	}
	target_say("end\n");
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		return 64;
	snprintf(folder, sizeof(folder), "%s", argv[1]);
	open_pipes();
	open_fifos();
	open_internet();
	open_unix();
	open_other_sockets();
	open_files();
	open_unnamed();
	/* A name like this must not be taken for the end of a name. */
	peer = start_process("pe er)", peers_own, peers_count);
	for (size_t i = 0; i < peers_count; i++)
		close(peers_own[i]);
	open_crowded_pipe();
	open_pidfd();
	target_ready();
	say_lines();
	while (target_told())
		;
	return 0;
}
