/* Makes one system call of a program fail, to see what it makes of that. Built by `machine.rs` with `cc -shared -fPIC`, loaded by
 * LD_PRELOAD. What the environment says:
 *
 * FAULT_ROOT   only calls on files below this path count (the real path, no link in it)
 * FAULT_NAME   when set, only those whose path holds this text
 * FAULT_ERRNO  the error, a number
 * FAULT_AT     the first call that fails, counted from 1; 0 or nothing: none
 * FAULT_FOR    how many calls fail from there on; 0: all
 * FAULT_COUNT  a file that gets the number of calls when the program ends
 * FAULT_TRACE  each call that fails is named on standard error; with `a` every call that counts
 * FAULT_THREADS  when set, no thread can be started once so many were
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* Nothing here may call a function that is defined here. */
#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static const char *root, *named, *count_file, *trace;
static size_t root_length;
static long at, lasts = 1, error_number = EIO, threads = -1;
static atomic_long calls, started;

static long number(const char *name, long otherwise) {
    const char *value = getenv(name);
    return value && *value ? atol(value) : otherwise;
}

__attribute__((constructor)) static void begin(void) {
    root = getenv("FAULT_ROOT");
    named = getenv("FAULT_NAME");
    root_length = root ? strlen(root) : 0;
    count_file = getenv("FAULT_COUNT");
    trace = getenv("FAULT_TRACE");
    at = number("FAULT_AT", 0);
    lasts = number("FAULT_FOR", 1);
    error_number = number("FAULT_ERRNO", EIO);
    threads = number("FAULT_THREADS", -1);
}

__attribute__((destructor)) static void end(void) {
    if (!count_file) return;
    char text[32];
    int length = snprintf(text, sizeof text, "%ld\n", atomic_load(&calls));
    int file = (int)syscall(SYS_openat, AT_FDCWD, count_file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0) return;
    if (syscall(SYS_write, file, text, length) < 0) return;
    syscall(SYS_close, file);
}

static int below(const char *path) {
    return root_length && !strncmp(path, root, root_length) && (path[root_length] == '/' || !path[root_length])
        && (!named || strstr(path + root_length, named));
}

/* The path of an open file, empty where it has none. */
static void path_of(int file, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = 0;
}

static int fails(const char *call, const char *path) {
    long n = atomic_fetch_add(&calls, 1) + 1;
    int hit = at && n >= at && (!lasts || n < at + lasts);
    if (trace && (hit || *trace == 'a')) {
        char text[PATH_MAX + 64];
        int length = snprintf(text, sizeof text, "FAULT %ld %s %s%s\n", n, call, path, hit ? " FAILS" : "");
        if (syscall(SYS_write, 2, text, length) < 0) return hit;
    }
    if (hit) errno = (int)error_number;
    return hit;
}

static int name_fails(const char *call, int dir, const char *path) {
    if (!root_length || !path) return 0;
    char whole[2 * PATH_MAX];
    if (*path == '/') {
        snprintf(whole, sizeof whole, "%s", path);
    } else {
        if (dir == AT_FDCWD) {
            if (syscall(SYS_getcwd, whole, PATH_MAX) < 0) return 0;
        } else {
            path_of(dir, whole);
        }
        size_t length = strlen(whole);
        snprintf(whole + length, sizeof whole - length, "/%s", path);
    }
    return below(whole) && fails(call, whole);
}

static int file_fails(const char *call, int file) {
    if (!root_length || file < 0) return 0;
    char path[PATH_MAX];
    path_of(file, path);
    return below(path) && fails(call, path);
}

#define MODE(flags, mode) \
    mode_t mode = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { va_list more; va_start(more, flags); mode = va_arg(more, mode_t); va_end(more); }

int open(const char *path, int flags, ...) {
    MODE(flags, mode);
    return name_fails("open", AT_FDCWD, path) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    MODE(flags, mode);
    return name_fails("open", AT_FDCWD, path) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
int openat(int dir, const char *path, int flags, ...) {
    MODE(flags, mode);
    return name_fails("openat", dir, path) ? -1 : (int)syscall(SYS_openat, dir, path, flags, mode);
}
int openat64(int dir, const char *path, int flags, ...) {
    MODE(flags, mode);
    return name_fails("openat", dir, path) ? -1 : (int)syscall(SYS_openat, dir, path, flags, mode);
}
ssize_t read(int file, void *buffer, size_t size) {
    return file_fails("read", file) ? -1 : syscall(SYS_read, file, buffer, size);
}
ssize_t pread64(int file, void *buffer, size_t size, off64_t offset) {
    return file_fails("pread", file) ? -1 : syscall(SYS_pread64, file, buffer, size, offset);
}
ssize_t pread(int file, void *buffer, size_t size, off_t offset) {
    return file_fails("pread", file) ? -1 : syscall(SYS_pread64, file, buffer, size, offset);
}
void *mmap64(void *where, size_t length, int protection, int flags, int file, off64_t offset) {
    REAL(void *, "mmap64", void *, size_t, int, int, int, off64_t);
    return file_fails("mmap", file) ? MAP_FAILED : real(where, length, protection, flags, file, offset);
}
void *mmap(void *where, size_t length, int protection, int flags, int file, off_t offset) {
    REAL(void *, "mmap", void *, size_t, int, int, int, off_t);
    return file_fails("mmap", file) ? MAP_FAILED : real(where, length, protection, flags, file, offset);
}
int statx(int dir, const char *restrict path, int flags, unsigned mask, struct statx *restrict found) {
    REAL(int, "statx", int, const char *, int, unsigned, struct statx *);
    /* The standard library asks with nothing whether there is such a call. */
    const char *volatile name = path;
    int bad = name && *name ? name_fails("statx", dir, path) : file_fails("fstat", dir);
    return bad ? -1 : real(dir, path, flags, mask, found);
}
int fstat64(int file, struct stat64 *found) {
    REAL(int, "fstat64", int, struct stat64 *);
    return file_fails("fstat", file) ? -1 : real(file, found);
}
int stat64(const char *path, struct stat64 *found) {
    REAL(int, "stat64", const char *, struct stat64 *);
    return name_fails("stat", AT_FDCWD, path) ? -1 : real(path, found);
}
int lstat64(const char *path, struct stat64 *found) {
    REAL(int, "lstat64", const char *, struct stat64 *);
    return name_fails("lstat", AT_FDCWD, path) ? -1 : real(path, found);
}
char *realpath(const char *restrict path, char *restrict whole) {
    REAL(char *, "realpath", const char *, char *);
    return name_fails("realpath", AT_FDCWD, path) ? NULL : real(path, whole);
}
DIR *opendir(const char *path) {
    REAL(DIR *, "opendir", const char *);
    return name_fails("opendir", AT_FDCWD, path) ? NULL : real(path);
}
struct dirent64 *readdir64(DIR *dir) {
    REAL(struct dirent64 *, "readdir64", DIR *);
    return file_fails("readdir", dirfd(dir)) ? NULL : real(dir);
}
int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict how, void *(*body)(void *), void *restrict with) {
    REAL(int, "pthread_create", pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (threads >= 0 && atomic_fetch_add(&started, 1) >= threads) return EAGAIN;
    return real(thread, how, body, with);
}
