/* fd_message.h - messages that carry a descriptor from one process to another. */
#ifndef PD_TOOLS_FD_MESSAGE_H
#define PD_TOOLS_FD_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

/* Sends bytes, and a copy of `fd` unless that is -1. `flags` are those of sendmsg(2). Returns
 * whether all bytes were sent. */
bool fd_message_send(int socket, const void *bytes, size_t size, int fd, int flags);
/* Receives as many bytes, and sets *fd to the descriptor that came with them, or to -1. Returns
 * false at the end, or if there are fewer. */
bool fd_message_receive(int socket, void *bytes, size_t size, int *fd);

#endif
