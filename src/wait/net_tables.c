/* SPDX-License-Identifier: MIT */
/* net_tables.c - reads the tables of sockets in /proc/PID/net. */
#include "wait/descriptor_internal.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* The state of a listening socket (Linux's include/net/tcp_states.h), and the flag of a UNIX socket
 * that accepts connections (include/linux/net.h). */
#define STATE_LISTEN 0x0a
#define FLAG_ACCEPTS 0x10000

#define SOCKETS_MOST 200000
/* Size of the buffer for a line: longer lines are ignored. None of these files needs longer ones;
 * the name of a UNIX socket has up to 108 bytes. */
#define LINE_SIZE 512
/*
 * Size of the buffer: the kernel returns one page per read; the default buffer of stdio is smaller.
 */
#define READ_SIZE 4096

struct net_tables {
	struct net_socket *list;
	size_t count, capacity;
	struct strbuf names;    /* names of UNIX sockets, each ended by a zero */
	struct table inodes;    /* (inode, protocol) -> index in the list */
	struct table ends;      /* (hash of both addresses, protocol) -> index in the list */
	struct table listening; /* (port, protocol) -> index in the list */
};

static const struct {
	const char *name; /* path of the file below /proc/PID */
	enum net_protocol protocol;
	bool six; /* the addresses are those of IPv6 */
} files[NET_FILE_COUNT] = {
	[NET_FILE_TCP] = { "net/tcp", NET_TCP, false },
	[NET_FILE_TCP6] = { "net/tcp6", NET_TCP, true },
	[NET_FILE_UDP] = { "net/udp", NET_UDP, false },
	[NET_FILE_UDP6] = { "net/udp6", NET_UDP, true },
	[NET_FILE_UNIX] = { "net/unix", NET_UNIX, false },
	[NET_FILE_NETLINK] = { "net/netlink", NET_NETLINK, false },
};

/* First 12 bytes of an IPv6 address that contains an IPv4 address (::ffff:a.b.c.d). */
static const uint8_t mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

struct net_tables *
net_tables_create(void)
{
	struct net_tables *tables = xcalloc(1, sizeof(*tables));

	strbuf_init(&tables->names);
	strbuf_add(&tables->names, "", 1);
	table_init(&tables->inodes);
	table_init(&tables->ends);
	table_init(&tables->listening);
	return tables;
}

void
net_tables_free(struct net_tables *tables)
{
	if (tables == NULL)
		return;
	free(tables->list);
	strbuf_release(&tables->names);
	table_release(&tables->inodes);
	table_release(&tables->ends);
	table_release(&tables->listening);
	free(tables);
}

/* --- addresses ------------------------------------------------------------------ */

/* Parses `words` groups of eight hexadecimal digits, each a 32-bit number in the machine's byte
 * order. */
static bool
parse_ip(const char **cursor, size_t words, uint8_t *ip)
{
	const char *at = *cursor;

	for (size_t i = 0; i < words; i++) {
		char digits[9] = "";
		const char *digit = digits;
		uint64_t value;
		uint32_t word;

		for (size_t j = 0; j < 8; j++, at++) {
			if (!isxdigit((unsigned char)*at))
				return false;
			digits[j] = *at;
		}
		if (!parse_u64(&digit, 16, &value))
			return false;
		word = (uint32_t)value;
		memcpy(ip + 4 * i, &word, sizeof(word));
	}
	*cursor = at;
	return true;
}

/* Parses "0100007F:1538". */
static bool
parse_address(const char **cursor, bool six, struct net_address *address)
{
	const char *at = *cursor + strspn(*cursor, " ");
	uint64_t port;

	memcpy(address->ip, mapped, sizeof(mapped));
	if (!parse_ip(&at, six ? 4 : 1, address->ip + (six ? 0 : sizeof(mapped))) || *at++ != ':' ||
	    !isxdigit((unsigned char)*at) || !parse_u64(&at, 16, &port) || port > UINT16_MAX)
		return false;
	address->port = (uint16_t)port;
	*cursor = at;
	return true;
}

static bool
is_four(const struct net_address *address)
{
	return memcmp(address->ip, mapped, sizeof(mapped)) == 0;
}

bool
net_address_is_any(const struct net_address *address)
{
	static const uint8_t any[16];

	if (is_four(address))
		return memcmp(address->ip + 12, any, 4) == 0;
	return memcmp(address->ip, any, 16) == 0;
}

static bool
is_loopback(const struct net_address *address)
{
	static const uint8_t one[16] = { [15] = 1 };

	return is_four(address) ? address->ip[12] == 127 : memcmp(address->ip, one, 16) == 0;
}

void
net_address_add(const struct net_address *address, bool port, struct strbuf *out)
{
	char text[INET6_ADDRSTRLEN] = "?";
	bool four = is_four(address);

	inet_ntop(four ? AF_INET : AF_INET6, address->ip + (four ? sizeof(mapped) : 0), text,
		  sizeof(text));
	if (!port)
		strbuf_add_text(out, text);
	else
		strbuf_add_format(out, four ? "%s:%u" : "[%s]:%u", text, address->port);
}

/* --- lines ------------------------------------------------------------------------ */

static const char *
skip_words(const char *at, size_t count)
{
	at += strspn(at, " ");
	for (size_t i = 0; i < count; i++) {
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	return at;
}

/* Parses "  1: 0100007F:1538 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 151 …". */
static bool
parse_inet(const char *line, bool six, struct net_socket *socket)
{
	const char *at = strchr(line, ':');
	uint64_t state;

	if (at == NULL)
		return false;
	at++;
	if (!parse_address(&at, six, &socket->local) || !parse_address(&at, six, &socket->remote) ||
	    !parse_u64(&at, 16, &state))
		return false;
	socket->listens = socket->protocol == NET_TCP ? state == STATE_LISTEN :
							socket->remote.port == 0;
	at = skip_words(at, 5);
	return parse_u64(&at, 10, &socket->inode);
}

/* Parses "000000004dcef1aa: 00000002 00000000 00010000 0001 01 1542 /run/x". */
static bool
parse_unix(const char *line, struct net_socket *socket, const char **path)
{
	const char *at = skip_words(line, 3);
	uint64_t flags;

	if (line[strspn(line, "0123456789abcdefABCDEF")] != ':' || !parse_u64(&at, 16, &flags))
		return false;
	socket->listens = (flags & FLAG_ACCEPTS) != 0;
	at = skip_words(at, 2);
	if (!parse_u64(&at, 10, &socket->inode))
		return false;
	*path = *at == ' ' ? at + 1 : "";
	return true;
}

/* Parses "0000000032686d96 4 0 00000000 0 0 0 2 0 1504"; the second word is the family. */
static bool
parse_netlink(const char *line, struct net_socket *socket)
{
	const char *at = skip_words(line, 1);
	uint64_t family;

	if (!isxdigit((unsigned char)line[0]) || !parse_u64(&at, 10, &family) ||
	    family > UINT16_MAX)
		return false;
	socket->family = (unsigned)family;
	at = skip_words(at, 7);
	return parse_u64(&at, 10, &socket->inode);
}

static bool
parse_socket(enum net_file file, const char *line, struct net_socket *socket, const char **path)
{
	memset(socket, 0, sizeof(*socket));
	socket->protocol = files[file].protocol;
	*path = "";
	if (socket->protocol == NET_UNIX)
		return parse_unix(line, socket, path);
	if (socket->protocol == NET_NETLINK)
		return parse_netlink(line, socket);
	return parse_inet(line, files[file].six, socket);
}

/* --- the tables --------------------------------------------------------------------- */

static uint64_t
hash_of_ends(const struct net_address *local, const struct net_address *remote)
{
	uint64_t words[5] = { 0 };
	uint64_t hash = 0;

	memcpy(words, local->ip, 16);
	memcpy(words + 2, remote->ip, 16);
	words[4] = (uint64_t)local->port << 16 | remote->port;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		hash = hash_u64(hash ^ words[i]);
	return hash;
}

static bool
is_same_address(const struct net_address *a, const struct net_address *b)
{
	return a->port == b->port && memcmp(a->ip, b->ip, sizeof(a->ip)) == 0;
}

/* Handles a further line for a socket that is already in the list. The kernel repeats lines when
 * the table changes during the reading; but if the line of a UNIX socket differs from the first,
 * one of them may be forged, and the socket is marked as doubtful. */
static void
add_second_line(struct net_tables *tables, uint32_t at, const struct net_socket *socket,
		const char *path)
{
	struct net_socket *known = &tables->list[at];

	if (known->protocol == NET_UNIX && (known->listens != socket->listens ||
					    strcmp(net_tables_path(tables, known), path) != 0))
		known->doubtful = true;
}

void
net_tables_add_line(struct net_tables *tables, enum net_file file, const char *line)
{
	struct net_socket socket;
	const char *path;
	uint32_t *place;
	uint32_t at = (uint32_t)tables->count;
	bool added;

	/* Connections that no process has open, or that are not accepted yet, have the inode 0. */
	if (!parse_socket(file, line, &socket, &path) || socket.inode == 0)
		return;
	place = table_insert(&tables->inodes, socket.inode, socket.protocol, at, &added);
	if (!added) {
		add_second_line(tables, *place, &socket, path);
		return;
	}
	if (*path != '\0') {
		socket.path = tables->names.length;
		strbuf_add(&tables->names, path, strlen(path) + 1);
	}
	tables->list = xgrow(tables->list, &tables->capacity, tables->count + 1,
			     sizeof(*tables->list));
	tables->list[tables->count++] = socket;
	if (socket.protocol != NET_TCP && socket.protocol != NET_UDP)
		return;
	table_insert(&tables->ends, hash_of_ends(&socket.local, &socket.remote), socket.protocol,
		     at, NULL);
	if (socket.listens)
		table_insert(&tables->listening, socket.local.port, socket.protocol, at, NULL);
}

/* Adds the sockets of one file until the tables have SOCKETS_MOST; ignores lines that do not fit
 * into LINE_SIZE bytes. */
static void
read_table(struct net_tables *tables, enum net_file file, FILE *stream)
{
	char line[LINE_SIZE];
	bool inside = false;

	while (tables->count < SOCKETS_MOST && fgets(line, sizeof(line), stream) != NULL) {
		size_t length = strlen(line);
		bool ended = length > 0 && line[length - 1] == '\n';

		if (ended)
			line[length - 1] = '\0';
		if (ended && !inside)
			net_tables_add_line(tables, file, line);
		inside = !ended;
	}
}

void
net_tables_read(struct net_tables *tables, const struct process *process)
{
	for (size_t i = 0; i < NET_FILE_COUNT; i++) {
		int fd = process_open_file(process, files[i].name, O_RDONLY | O_CLOEXEC);
		FILE *stream = fd >= 0 ? fdopen(fd, "r") : NULL;
		char buffer[READ_SIZE];

		if (stream != NULL) {
			setvbuf(stream, buffer, _IOFBF, sizeof(buffer));
			read_table(tables, (enum net_file)i, stream);
			fclose(stream);
		} else if (fd >= 0) {
			close(fd);
		}
	}
}

const struct net_socket *
net_tables_find(const struct net_tables *tables, enum net_protocol protocol, uint64_t inode)
{
	uint32_t at;

	if (!table_find(&tables->inodes, inode, protocol, &at) || tables->list[at].doubtful)
		return NULL;
	return &tables->list[at];
}

const char *
net_tables_path(const struct net_tables *tables, const struct net_socket *socket)
{
	return tables->names.data + socket->path;
}

static const struct net_socket *
find_ends(const struct net_tables *tables, enum net_protocol protocol,
	  const struct net_address *local, const struct net_address *remote)
{
	const struct net_socket *socket;
	uint32_t at;

	if (!table_find(&tables->ends, hash_of_ends(local, remote), protocol, &at))
		return NULL;
	socket = &tables->list[at];
	return is_same_address(&socket->local, local) && is_same_address(&socket->remote, remote) ?
		       socket :
		       NULL;
}

const struct net_socket *
net_tables_peer(const struct net_tables *tables, const struct net_socket *socket)
{
	const struct net_socket *peer;
	struct net_address any = { .port = 0 };
	uint32_t at;

	if (socket->remote.port == 0)
		return NULL;
	peer = find_ends(tables, socket->protocol, &socket->remote, &socket->local);
	if (peer != NULL || socket->protocol != NET_UDP)
		return peer;
	/*
	 * A UDP peer need not be connected: then its entry has no remote address, and its local
	 * address may stand for all addresses of the machine.
	 */
	if (is_four(&socket->remote))
		memcpy(any.ip, mapped, sizeof(mapped));
	peer = find_ends(tables, NET_UDP, &socket->remote, &any);
	if (peer == NULL && is_loopback(&socket->remote) &&
	    table_find(&tables->listening, socket->remote.port, NET_UDP, &at) &&
	    net_address_is_any(&tables->list[at].local))
		peer = &tables->list[at];
	return peer;
}

const struct net_socket *
net_tables_listener(const struct net_tables *tables, enum net_protocol protocol, uint16_t port)
{
	uint32_t at;

	return table_find(&tables->listening, port, protocol, &at) ? &tables->list[at] : NULL;
}
