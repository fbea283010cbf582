// Linux calls that `import Glibc` lacks, and what Swift cannot import from macros. Declarations only, no logic.
//
// _GNU_SOURCE is not defined: the Glibc module is built without it, and the same structs would differ between the two
// modules. The GNU calls we need are declared at the end instead. Use it beside `import Glibc`, which has errno and
// open.
#ifndef PARLEY_CSYSTEM_H
#define PARLEY_CSYSTEM_H
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int pipe2(int ends[2], int flags);
int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);
int pthread_setname_np(pthread_t thread, const char *name);
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

// Swift imports no variadic functions.
static inline int shim_prctl(int option, unsigned long a, const void *b) {
  return prctl(option, a, (unsigned long)b, 0UL, 0UL);
}
#endif
