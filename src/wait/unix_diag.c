/* SPDX-License-Identifier: MIT */
/* unix_diag.c - asks the kernel for UNIX sockets by sock_diag(7). */
#include "wait/descriptor_internal.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/socket.h>

/*
 * The state of a listening socket (Linux's include/net/tcp_states.h), which UNIX sockets use, too.
 */
#define STATE_LISTEN 10

int
unix_diag_open(void)
{
	return socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
}

/* Copies the name as /proc/net/unix shows it: '@' stands for the zero byte of an abstract name. */
static void
copy_unix_name(const char *bytes, size_t length, struct unix_socket *socket)
{
	if (length > sizeof(socket->name) - 1)
		length = sizeof(socket->name) - 1;
	memcpy(socket->name, bytes, length);
	socket->name[length] = '\0';
	for (size_t i = 0; length > 0 && bytes[0] == '\0' && i < length; i++)
		if (socket->name[i] == '\0')
			socket->name[i] = '@';
}

bool
unix_diag_parse(const void *answer, size_t size, uint64_t inode, struct unix_socket *socket)
{
	const size_t fixed = NLMSG_LENGTH(sizeof(struct unix_diag_msg));
	struct unix_diag_msg message;
	struct nlmsghdr header;
	size_t at;

	memset(socket, 0, sizeof(*socket));
	if (size < fixed)
		return false;
	memcpy(&header, answer, sizeof(header));
	if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY || header.nlmsg_len > size)
		return false;
	memcpy(&message, (const char *)answer + NLMSG_HDRLEN, sizeof(message));
	if (message.udiag_ino != inode)
		return false;
	socket->listens = message.udiag_state == STATE_LISTEN;
	for (at = fixed; at + sizeof(struct rtattr) <= header.nlmsg_len;) {
		const char *bytes = (const char *)answer + at + RTA_LENGTH(0);
		struct rtattr attribute;
		size_t length;

		memcpy(&attribute, (const char *)answer + at, sizeof(attribute));
		if (attribute.rta_len < RTA_LENGTH(0) || attribute.rta_len > header.nlmsg_len - at)
			break;
		length = attribute.rta_len - RTA_LENGTH(0);
		if (attribute.rta_type == UNIX_DIAG_PEER && length >= sizeof(socket->peer))
			memcpy(&socket->peer, bytes, sizeof(socket->peer));
		else if (attribute.rta_type == UNIX_DIAG_NAME)
			copy_unix_name(bytes, length, socket);
		at += RTA_ALIGN(attribute.rta_len);
	}
	return true;
}

bool
unix_diag_ask(int fd, uint64_t inode, struct unix_socket *socket)
{
	struct {
		struct nlmsghdr header;
		struct unix_diag_req ask;
	} question = {
		.header = {
			.nlmsg_len = sizeof(question),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST,
		},
		.ask = {
			.sdiag_family = AF_UNIX,
			.udiag_states = UINT32_MAX,
			.udiag_ino = (uint32_t)inode,
			.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER,
			.udiag_cookie = { UINT32_MAX, UINT32_MAX },
		},
	};
	char answer[1024];
	ssize_t got;

	memset(socket, 0, sizeof(*socket));
	if (inode == 0 || inode > UINT32_MAX ||
	    send(fd, &question, sizeof(question), MSG_DONTWAIT) != sizeof(question))
		return false;
	/* The answer is available when send returns. */
	got = recv(fd, answer, sizeof(answer), MSG_DONTWAIT);
	return got > 0 && unix_diag_parse(answer, (size_t)got, inode, socket);
}
