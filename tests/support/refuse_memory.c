// Loaded before all other libraries, this refuses memory and threads when told to: requests number
// `nth` to `nth + many - 1` since refuse_start, in whatever thread. The dynamic loader is spared: it
// ends the process where it has no memory for a thread's variables, whatever the program does.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define refused() refused_to(__builtin_return_address(0))

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

static atomic_int on;
static atomic_long asked, first, last;

void refuse_start(long nth, long many) {
  asked = 0;
  first = nth;
  last = nth + many - 1;
  on = 1;
}
long refuse_stop(void) {
  on = 0;
  return asked;
}

static int is_loader(const void* caller) {
  Dl_info info;
  return dladdr(caller, &info) != 0 && info.dli_fname != NULL &&
         strstr(info.dli_fname, "/ld-") != NULL;
}

static int refused_to(const void* caller) {
  if (!on || is_loader(caller)) return 0;
  const long number = atomic_fetch_add(&asked, 1) + 1;
  if (number < first || number > last) return 0;
  errno = ENOMEM;
  return 1;
}

void* malloc(size_t bytes) { return refused() ? NULL : __libc_malloc(bytes); }
void* calloc(size_t n, size_t bytes) { return refused() ? NULL : __libc_calloc(n, bytes); }
void* realloc(void* block, size_t bytes) {
  return bytes > 0 && refused() ? NULL : __libc_realloc(block, bytes);
}
void* memalign(size_t alignment, size_t bytes) {
  return refused() ? NULL : __libc_memalign(alignment, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** block, size_t alignment, size_t bytes) {
  void* const made = memalign(alignment, bytes);
  if (made == NULL) return ENOMEM;
  *block = made;
  return 0;
}

void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
  static void* (*map)(void*, size_t, int, int, int, off_t);
  if (refused()) return MAP_FAILED;
  if (map == NULL) map = (void* (*)(void*, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
  return map(address, bytes, protection, flags, file, offset);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) {
  static int (*create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  if (refused()) return EAGAIN;
  if (create == NULL)
    create = (int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*))dlsym(
        RTLD_NEXT, "pthread_create");
  return create(thread, attributes, run, argument);
}
