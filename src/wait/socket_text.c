/* SPDX-License-Identifier: MIT */
/* socket_text.c - a socket as text: its protocol, addresses and the process at the other end. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "wait/descriptor_internal.h"

/*
 * First ephemeral port, which the kernel assigns to sockets that connect: the default of
 * /proc/sys/net/ipv4/ip_local_port_range, see ip(7). The setting may be lower.
 */
#define FIRST_OWN_PORT 32768

#define PROTOCOL_SIZE 32

/*
 * Reads the protocol, such as "TCP" or "UNIX-STREAM", which is an extended attribute of every
 * socket (sockfs_xattr_get in Linux's net/socket.c). The descriptor is opened with O_PATH and its
 * inode checked first: its number may have been reused for a file, and a file system may never
 * answer a request for attributes. Returns false when the descriptor is not this socket any more or
 * its protocol cannot be read.
 */
static bool
read_protocol(const struct descriptors *descriptors, int fd, uint64_t inode, char *protocol)
{
	ssize_t length = 0;
	struct statx st;
	char path[32];
	int named;

	snprintf(path, sizeof(path), "%d", fd);
	named = openat(descriptors->fd_dir, path, O_PATH | O_CLOEXEC);
	if (named < 0)
		return false;
	if (statx(named, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, &st) ==
		    0 &&
	    S_ISSOCK(st.stx_mode) && st.stx_ino == inode) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", named);
		length = getxattr(path, "system.sockprotoname", protocol, PROTOCOL_SIZE - 1);
	}
	close(named);
	protocol[length > 0 ? length : 0] = '\0';
	return length > 0;
}

/* Adds "vsock socket" for "AF_VSOCK", "raw socket" for "RAW". */
static void
add_protocol(const char *protocol, struct strbuf *out)
{
	if (strncmp(protocol, "AF_", 3) == 0)
		protocol += 3;
	for (size_t i = 0; protocol[i] != '\0' && protocol[i] != '-'; i++) {
		char c = protocol[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		strbuf_add(out, &c, 1);
	}
	strbuf_add_text(out, " socket");
}

/*
 * Finds the processes that have the socket with this inode open. Returns false when none is found.
 */
static bool
find_peer(struct descriptors *descriptors, uint64_t inode, struct holders_found *found)
{
	char link[48];

	snprintf(link, sizeof(link), "socket:[%llu]", (unsigned long long)inode);
	endpoints_find_holders(descriptors->endpoints, descriptors->process->pid, link, HOLDER_ANY,
			       found);
	return found->count > 0;
}

static const struct net_tables *
tables_of(const struct descriptors *descriptors)
{
	return endpoints_tables(descriptors->endpoints, descriptors->process);
}

/* --- internet ------------------------------------------------------------------------ */

static void
add_listening(const struct net_socket *socket, const char *name, struct strbuf *out)
{
	strbuf_add_format(out, "%s port %u", name, socket->local.port);
	if (!net_address_is_any(&socket->local)) {
		strbuf_add_text(out, " on ");
		net_address_add(&socket->local, false, out);
	}
}

/* Returns true when the connection was made by the other end and accepted by `socket`. The kernel
 * does not record the direction: it is inferred from the ports. */
static bool
is_accepted(const struct net_tables *tables, const struct net_socket *socket,
	    const struct net_socket *peer)
{
	if (net_tables_listener(tables, socket->protocol, socket->local.port) != NULL)
		return true;
	if (peer != NULL &&
	    net_tables_listener(tables, socket->protocol, socket->remote.port) != NULL)
		return false;
	return socket->local.port < FIRST_OWN_PORT && socket->remote.port >= FIRST_OWN_PORT;
}

/* True if the process that has the connection is also the only one that listens at its address:
 * then it has further connections to that address, too. Servers of several processes, and those
 * with a process for each connection, have not. */
static bool
is_only_server(struct descriptors *descriptors, const struct net_socket *socket,
	       const struct holders_found *found)
{
	const struct net_socket *listener = net_tables_listener(tables_of(descriptors),
								socket->protocol,
								socket->remote.port);
	struct holders_found listening;

	return found->count == 1 && listener != NULL &&
	       find_peer(descriptors, listener->inode, &listening) && listening.count == 1 &&
	       listening.own == found->own && listening.named == found->named &&
	       (found->named == 0 || listening.pid[0] == found->pid[0]);
}

/* Adds the process that has the other end of a connection that the target has made. */
static void
add_server(struct descriptors *descriptors, const struct net_socket *socket,
	   const struct net_socket *peer, struct strbuf *out)
{
	uint64_t ip[2], key = hash_u64((uint64_t)socket->protocol << 16 | socket->remote.port);
	const uint64_t now_ns = clock_now_ns();
	struct holders_found found;
	const char *known;
	size_t before;

	memcpy(ip, socket->remote.ip, sizeof(ip));
	key ^= hash_u64(ip[0] ^ hash_u64(ip[1]));
	known = servers_find(&descriptors->servers, key, now_ns);
	if (known != NULL) {
		strbuf_add_format(out, ", %s", known);
		return;
	}
	if (!find_peer(descriptors, peer->inode, &found))
		return;
	strbuf_add_text(out, ", ");
	before = out->length;
	holders_add_text(&found, out);
	if (is_only_server(descriptors, socket, &found))
		servers_keep(&descriptors->servers, key, out->data + before, now_ns);
}

static void
describe_internet(struct descriptors *descriptors, const struct net_socket *socket,
		  struct strbuf *out)
{
	const struct net_tables *tables = tables_of(descriptors);
	const char *name = socket->protocol == NET_TCP ? "tcp" : "udp";
	struct holders_found found;
	const struct net_socket *peer;
	bool accepted;

	if (socket->remote.port == 0) {
		add_listening(socket, name, out);
		return;
	}
	peer = net_tables_peer(tables, socket);
	strbuf_add_text(out, name);
	accepted = is_accepted(tables, socket, peer);
	if (accepted) {
		strbuf_add_text(out, " ");
		net_address_add(&socket->local, true, out);
		strbuf_add_text(out, " from ");
	} else {
		strbuf_add_text(out, " to ");
	}
	net_address_add(&socket->remote, true, out);
	if (peer != NULL && !accepted)
		add_server(descriptors, socket, peer, out);
	else if (peer != NULL && find_peer(descriptors, peer->inode, &found)) {
		strbuf_add_text(out, ", ");
		holders_add_text(&found, out);
	}
}

/* --- unix ------------------------------------------------------------------------------ */

/*
 * Reads a UNIX socket: by sock_diag(7) if the target is in wallsample's network namespace and the
 * kernel answers, otherwise from /proc/PID/net/unix, which does not contain the peer. Returns false
 * when neither has the socket.
 */
static bool
read_unix_socket(struct descriptors *descriptors, uint64_t inode, struct unix_socket *socket)
{
	const struct net_tables *tables;
	const struct net_socket *listed;

	if (descriptors->same_network) {
		if (descriptors->diag < 0)
			descriptors->diag = unix_diag_open();
		if (descriptors->diag >= 0 && unix_diag_ask(descriptors->diag, inode, socket))
			return true;
	}
	tables = tables_of(descriptors);
	listed = net_tables_find(tables, NET_UNIX, inode);
	if (listed == NULL)
		return false;
	memset(socket, 0, sizeof(*socket));
	socket->listens = listed->listens;
	snprintf(socket->name, sizeof(socket->name), "%s", net_tables_path(tables, listed));
	return true;
}

static bool
describe_unix(struct descriptors *descriptors, uint64_t inode, struct strbuf *out)
{
	struct unix_socket socket, peer;
	struct holders_found found;
	const char *link = "";

	if (!read_unix_socket(descriptors, inode, &socket))
		return false;
	strbuf_add_text(out, "unix");
	if (socket.name[0] != '\0')
		strbuf_add_format(out, " %s", socket.name);
	if (socket.peer == 0) {
		if (socket.name[0] == '\0')
			strbuf_add_text(out, " socket");
		return true;
	}
	/* An accepted socket has the name of the listening socket; a connecting one rarely has a
	 * name. */
	if (!read_unix_socket(descriptors, socket.peer, &peer))
		peer.name[0] = '\0';
	if (peer.name[0] != '\0') {
		strbuf_add_format(out, " %s %s", socket.name[0] != '\0' ? "with" : "to", peer.name);
		link = ", ";
	} else {
		link = socket.name[0] != '\0' ? " from " : " to ";
	}
	if (find_peer(descriptors, socket.peer, &found)) {
		strbuf_add_text(out, link);
		holders_add_text(&found, out);
	} else if (socket.name[0] == '\0' && peer.name[0] == '\0') {
		strbuf_add_text(out, " socket");
	}
	return true;
}

/* --- any socket ------------------------------------------------------------------------ */

static void
describe_netlink(const struct net_socket *socket, struct strbuf *out)
{
	/*
	 * Names of the netlink families, by their numbers in Linux's include/uapi/linux/netlink.h.
	 */
	static const char *const families[] = {
		[0] = "route",      [4] = "sock_diag", [5] = "nflog",    [6] = "xfrm",
		[7] = "selinux",    [8] = "iscsi",     [9] = "audit",    [11] = "connector",
		[12] = "netfilter", [15] = "uevent",   [16] = "generic", [21] = "crypto",
	};

	if (socket->family < ARRAY_SIZE(families) && families[socket->family] != NULL)
		strbuf_add_format(out, "netlink %s", families[socket->family]);
	else
		strbuf_add_format(out, "netlink %u", socket->family);
}

/* Describes a socket of a protocol whose sockets /proc/PID/net lists. */
static bool
describe_listed(struct descriptors *descriptors, enum net_protocol protocol, uint64_t inode,
		struct strbuf *out)
{
	const struct net_socket *socket;

	if (protocol == NET_UNIX)
		return describe_unix(descriptors, inode, out);
	socket = endpoints_find_socket(descriptors->endpoints, descriptors->process, protocol,
				       inode);
	if (socket == NULL)
		return false;
	if (protocol == NET_NETLINK)
		describe_netlink(socket, out);
	else
		describe_internet(descriptors, socket, out);
	return true;
}

/* Protocols whose sockets the tables list, by the names that read_protocol returns. */
static const struct {
	const char *name;
	enum net_protocol protocol;
} listed[] = {
	{ "TCP", NET_TCP },         { "TCPv6", NET_TCP }, { "UDP", NET_UDP },
	{ "UDPv6", NET_UDP },       { "UNIX", NET_UNIX }, { "UNIX-STREAM", NET_UNIX },
	{ "NETLINK", NET_NETLINK }, { "MPTCP", NET_TCP }, { "MPTCPv6", NET_TCP },
};

uint64_t
socket_find_peer(struct descriptors *descriptors, int fd, const char *id)
{
	const char *number = id + strlen("socket:[");
	const struct net_socket *socket = NULL, *peer;
	struct unix_socket local;
	char name[PROTOCOL_SIZE];
	uint64_t inode;

	if (!parse_u64(&number, 10, &inode) || !read_protocol(descriptors, fd, inode, name))
		return 0;
	if (text_begins(name, "UNIX"))
		return read_unix_socket(descriptors, inode, &local) ? local.peer : 0;
	if (strcmp(name, "TCP") == 0 || strcmp(name, "TCPv6") == 0)
		socket = endpoints_find_socket(descriptors->endpoints, descriptors->process,
					       NET_TCP, inode);
	if (socket == NULL)
		return 0;
	peer = net_tables_peer(endpoints_tables(descriptors->endpoints, descriptors->process),
			       socket);
	return peer != NULL ? peer->inode : 0;
}

bool
socket_describe(struct descriptors *descriptors, int fd, const char *id, struct strbuf *out)
{
	const char *number = id + strlen("socket:[");
	char name[PROTOCOL_SIZE];
	uint64_t inode;

	if (!parse_u64(&number, 10, &inode) || !read_protocol(descriptors, fd, inode, name))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(listed); i++)
		if (strcmp(listed[i].name, name) == 0 &&
		    describe_listed(descriptors, listed[i].protocol, inode, out))
			return true;
	/* The tables do not list TCP, UDP and netlink sockets that are not bound, and no socket of
	 * another network namespace. */
	add_protocol(name, out);
	return true;
}
