/* Preloaded into a program: the k-th call that writes something fails, or a signal arrives there.

   Counted are write, open for writing, fsync, close of what was opened for writing, rename, chmod
   and mkdir; of devices none but standard output and standard error. Every call is told as a line
   on a descriptor of the test's: its number, what it is, and to what. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FDS = 4096 };
static int armed, count, strike_at, fault, signal_number, sticky, half, log_fd = -1;
static char stuck[16];            /* what fails from now on */
static unsigned char ours[FDS];   /* descriptors of files opened for writing */
static unsigned char replaced[3]; /* standard output and error that now go elsewhere */

/* half: the write itself does half of its work first. */
void faults_arm(int at, int error, int number, int stays, int halfway, int told_to) {
  strike_at = at, fault = error, signal_number = number, sticky = stays, half = halfway;
  log_fd = told_to, count = 0, stuck[0] = 0, armed = 1;
}

/* True: the call is to fail; errno is set. */
static int struck(const char* what, const char* to) {
  if (!armed) return 0;
  ++count;
  char line[64];
  const int length = snprintf(line, sizeof line, "%d %s %s\n", count, what, to);
  if (log_fd >= 0) syscall(SYS_write, log_fd, line, length);
  int hit = stuck[0] && strcmp(stuck, to) == 0;
  if (count == strike_at) {
    if (signal_number) pthread_kill(pthread_self(), signal_number);
    hit = fault != 0;
    if (hit && sticky) strncpy(stuck, to, sizeof stuck - 1);
  }
  if (hit) errno = fault;
  return hit;
}

static const char* to_name(int fd) {
  if (fd == 1 && !replaced[1]) return "stdout";
  if (fd == 2 && !replaced[2]) return "stderr";
  return fd >= 0 && fd < FDS && ours[fd] ? "file" : NULL;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void* bytes, size_t n) {
  const char* to = to_name(fd);
  if (to && struck("write", to)) {
    const int error = errno;
    if (half && count == strike_at && n > 1) return REAL(write)(fd, bytes, n / 2);
    errno = error;
    return -1;
  }
  return REAL(write)(fd, bytes, n);
}

ssize_t writev(int fd, const struct iovec* parts, int n) {
  const char* to = to_name(fd);
  return to && struck("write", to) ? -1 : REAL(writev)(fd, parts, n);
}

static int opened(int fd, int flags, const char* path) {
  if (armed && fd >= 0 && fd < FDS) {
    ours[fd] = (flags & (O_WRONLY | O_RDWR)) && strncmp(path, "/dev/", 5) != 0;
  }
  return fd;
}

static int refused(int flags, const char* path) {
  return (flags & (O_WRONLY | O_RDWR | O_CREAT)) && strncmp(path, "/dev/", 5) != 0 &&
         struck("open", "file");
}

#define MODE                           \
  mode_t mode = 0;                     \
  if (flags & (O_CREAT | O_TMPFILE)) { \
    va_list rest;                      \
    va_start(rest, flags);             \
    mode = va_arg(rest, mode_t);       \
    va_end(rest);                      \
  }

int open(const char* path, int flags, ...) {
  MODE return refused(flags, path) ? -1 : opened(REAL(open)(path, flags, mode), flags, path);
}
int open64(const char* path, int flags, ...) {
  MODE return refused(flags, path) ? -1 : opened(REAL(open64)(path, flags, mode), flags, path);
}
int openat(int folder, const char* path, int flags, ...) {
  MODE return refused(flags, path) ? -1
                                   : opened(REAL(openat)(folder, path, flags, mode), flags, path);
}
int openat64(int folder, const char* path, int flags, ...) {
  MODE return refused(flags, path) ? -1
                                   : opened(REAL(openat64)(folder, path, flags, mode), flags, path);
}

int close(int fd) {
  const int mine = fd >= 0 && fd < FDS && ours[fd];
  if (mine) ours[fd] = 0;
  const int fails = mine && struck("close", "file");
  const int error = errno;
  const int closed = REAL(close)(fd); /* as Linux does: closed, whatever it says */
  if (fails) errno = error;
  return fails ? -1 : closed;
}

int dup2(int from, int to) {
  if (armed && (to == 1 || to == 2)) replaced[to] = 1;
  return REAL(dup2)(from, to);
}
int dup3(int from, int to, int flags) {
  if (armed && (to == 1 || to == 2)) replaced[to] = 1;
  return REAL(dup3)(from, to, flags);
}
int fsync(int fd) { return struck("fsync", "file") ? -1 : REAL(fsync)(fd); }
int rename(const char* from, const char* to) {
  return struck("rename", "file") ? -1 : REAL(rename)(from, to);
}
int renameat(int a, const char* from, int b, const char* to) {
  return struck("rename", "file") ? -1 : REAL(renameat)(a, from, b, to);
}
int chmod(const char* path, mode_t mode) {
  return struck("chmod", "file") ? -1 : REAL(chmod)(path, mode);
}
int fchmodat(int folder, const char* path, mode_t mode, int flags) {
  return struck("chmod", "file") ? -1 : REAL(fchmodat)(folder, path, mode, flags);
}
int mkdir(const char* path, mode_t mode) {
  return struck("mkdir", "file") ? -1 : REAL(mkdir)(path, mode);
}
