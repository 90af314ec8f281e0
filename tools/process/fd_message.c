/* fd_message.c - SCM_RIGHTS: unix(7). */
#include "process/fd_message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

bool fd_message_send(int socket, const void *bytes, size_t size, int fd, int flags)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec part = { (void *)bytes, size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (fd >= 0) {
		struct cmsghdr *c;

		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&message);
		*c = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
				       .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL | flags) == (ssize_t)size;
}

bool fd_message_receive(int socket, void *bytes, size_t size, int *fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct iovec part = { bytes, size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *c;
	ssize_t n;

	*fd = -1;
	while ((n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0)
		if (errno != EINTR)
			return false;
	c = CMSG_FIRSTHDR(&message);
	if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return n == (ssize_t)size;
}
