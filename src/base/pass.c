/* SPDX-License-Identifier: MIT */
/* pass.c - bytes with a descriptor. */
#include "wallsample/base/pass.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

/* Room for one descriptor; the kernel closes further ones. */
union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

ssize_t
pass_send(int socket, const void *bytes, size_t size, int fd)
{
	struct iovec part = { (void *)(uintptr_t)bytes, size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	union control control = { .bytes = { 0 } };
	struct cmsghdr *head;
	ssize_t sent;

	if (fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	}
	do
		sent = sendmsg(socket, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent;
}

ssize_t
pass_receive(int socket, void *bytes, size_t size, int *fd)
{
	struct iovec part = { bytes, size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	union control control;
	const struct cmsghdr *head;
	ssize_t got;

	if (fd != NULL) {
		*fd = -1;
		message.msg_control = control.bytes;
		/* CMSG_SPACE() is rounded up: it may have room for a second descriptor. */
		message.msg_controllen = CMSG_LEN(sizeof(*fd));
	}
	got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	head = fd != NULL && got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (head != NULL && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
	    head->cmsg_len == CMSG_LEN(sizeof(*fd)))
		memcpy(fd, CMSG_DATA(head), sizeof(*fd));
	return got;
}
