/* Intercepts a process's calls of the C library's file functions (LD_PRELOAD), for everything below MEMORIST_DISK_ROOT:
 *
 * - MEMORIST_DISK_TRACE=FILE writes down each change and each sync, in order, and what the process says on stdout. The
 *   record is: six u32 (operation, length of the path, length of the rest, three zeros), two u64 (inode, offset), the path, the
 *   rest (data that was written, or the second path of a rename), little-endian. trace.rs reads it.
 * - MEMORIST_DISK_FAIL=KIND:N:ERRNO makes the N-th operation of a kind fail, counted from 1: `sync` or `change`. With `full`,
 *   the N-th operation that takes up space and all after it fail with ERRNO until the file MEMORIST_DISK_ROOM appears.
 *
 * Linux with glibc. SQLite, tantivy and the standard library all come through here. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { CREATE = 1, WRITE, TRUNCATE, SYNC, SYNC_FOLDER, RENAME, UNLINK, MAKE_FOLDER, REMOVE_FOLDER, LINK, SAY };
enum { TAKES_SPACE = 1, CHANGES = 2, SYNCS = 4 };

static const char *root, *room;
static size_t root_length;
static int trace = -1;
static int fail_kinds, fail_errno, fail_on;
static long fail_at, counted;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void start(void) {
    root = getenv("MEMORIST_DISK_ROOT");
    room = getenv("MEMORIST_DISK_ROOM");
    root_length = root ? strlen(root) : 0;
    const char *file = getenv("MEMORIST_DISK_TRACE");
    if (file) trace = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const char *fail = getenv("MEMORIST_DISK_FAIL");
    char kind[16];
    if (fail && sscanf(fail, "%15[a-z]:%ld:%d", kind, &fail_at, &fail_errno) == 3) {
        fail_on = strcmp(kind, "full") == 0;
        fail_kinds = fail_on ? TAKES_SPACE : strcmp(kind, "sync") == 0 ? SYNCS : CHANGES;
    }
}

static int below_root(const char *path) { return root && path && strncmp(path, root, root_length) == 0; }

/* The path of an open file, if it is one of ours. */
static int path_of(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return below_root(path);
}

static uint64_t inode_of(int fd) {
    struct stat found;
    return fstat(fd, &found) == 0 ? found.st_ino : 0;
}

static void note(uint32_t op, const char *path, const void *rest, size_t length, uint64_t inode, uint64_t offset) {
    if (trace < 0) return;
    uint32_t head[6] = {op, (uint32_t)strlen(path), (uint32_t)length, 0, 0, 0};
    uint64_t place[2] = {inode, offset};
    struct iovec parts[4] = {
        {head, sizeof head}, {place, sizeof place}, {(void *)path, strlen(path)}, {(void *)rest, length}};
    if (syscall(SYS_writev, trace, parts, 4) < 0) abort();
}

/* Whether this operation should fail; errno says how. */
static int fails(int kinds) {
    if (!(kinds & fail_kinds)) return 0;
    counted++;
    int now = fail_on ? counted >= fail_at && syscall(SYS_faccessat, AT_FDCWD, room, F_OK) != 0 : counted == fail_at;
    if (now) errno = fail_errno;
    return now;
}

#define LOCKED(type, body) \
    pthread_mutex_lock(&one_at_a_time); \
    type result = body; \
    int said = errno; \
    pthread_mutex_unlock(&one_at_a_time); \
    errno = said; \
    return result

static int opened(const char *path, int flags, mode_t mode) {
    int ours = below_root(path);
    int creates = ours && (flags & O_CREAT) && syscall(SYS_faccessat, AT_FDCWD, path, F_OK) != 0;
    if (creates && fails(TAKES_SPACE | CHANGES)) return -1;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (fd >= 0 && creates) note(CREATE, path, "", 0, inode_of(fd), 0);
    if (fd >= 0 && ours && !creates && (flags & O_TRUNC)) note(TRUNCATE, path, "", 0, inode_of(fd), 0);
    return fd;
}

#define MODE(flags) \
    mode_t mode = 0; \
    if (flags & (O_CREAT | __O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }

int open(const char *path, int flags, ...) { MODE(flags) LOCKED(int, opened(path, flags, mode)); }
int open64(const char *path, int flags, ...) { MODE(flags) LOCKED(int, opened(path, flags | O_LARGEFILE, mode)); }
int openat(int folder, const char *path, int flags, ...) {
    MODE(flags)
    if (path[0] != '/') return (int)syscall(SYS_openat, folder, path, flags, mode);
    LOCKED(int, opened(path, flags, mode));
}
int openat64(int folder, const char *path, int flags, ...) {
    MODE(flags)
    if (path[0] != '/') return (int)syscall(SYS_openat, folder, path, flags | O_LARGEFILE, mode);
    LOCKED(int, opened(path, flags | O_LARGEFILE, mode));
}

static ssize_t written(int fd, const void *data, size_t length, off64_t offset) {
    char path[PATH_MAX];
    if (fd == STDOUT_FILENO) {
        note(SAY, "", data, length, 0, 0);
        return syscall(SYS_write, fd, data, length);
    }
    int ours = path_of(fd, path);
    if (ours && fails(TAKES_SPACE | CHANGES)) return -1;
    off64_t at = offset;
    if (ours && offset < 0) {
        struct stat found;
        int appends = fcntl(fd, F_GETFL) & O_APPEND;
        at = appends && fstat(fd, &found) == 0 ? found.st_size : lseek(fd, 0, SEEK_CUR);
    }
    ssize_t done = offset < 0 ? syscall(SYS_write, fd, data, length) : syscall(SYS_pwrite64, fd, data, length, offset);
    if (ours && done > 0) note(WRITE, path, data, (size_t)done, inode_of(fd), (uint64_t)at);
    return done;
}

ssize_t write(int fd, const void *data, size_t length) { LOCKED(ssize_t, written(fd, data, length, -1)); }
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) { LOCKED(ssize_t, written(fd, data, length, offset)); }
ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) {
    LOCKED(ssize_t, written(fd, data, length, offset));
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
    char path[PATH_MAX];
    if (fd != STDOUT_FILENO && !path_of(fd, path)) return syscall(SYS_writev, fd, parts, count);
    /* Writing less than requested is allowed; empty parts would look like the end. */
    for (int part = 0; part < count; part++)
        if (parts[part].iov_len > 0) return write(fd, parts[part].iov_base, parts[part].iov_len);
    return 0;
}

static int truncated(int fd, off64_t length) {
    char path[PATH_MAX];
    int ours = path_of(fd, path);
    struct stat found;
    int grows = ours && fstat(fd, &found) == 0 && found.st_size < length;
    if (ours && fails(CHANGES | (grows ? TAKES_SPACE : 0))) return -1;
    int done = (int)syscall(SYS_ftruncate, fd, length);
    if (ours && done == 0) note(TRUNCATE, path, "", 0, inode_of(fd), (uint64_t)length);
    return done;
}

int ftruncate(int fd, off_t length) { LOCKED(int, truncated(fd, length)); }
int ftruncate64(int fd, off64_t length) { LOCKED(int, truncated(fd, length)); }

static int synced(int fd) {
    char path[PATH_MAX];
    struct stat found;
    if (!path_of(fd, path) || fstat(fd, &found) != 0) return (int)syscall(SYS_fsync, fd);
    if (fails(SYNCS)) return -1;
    /* The real disk is not synced: this test is about what it would keep. */
    note(S_ISDIR(found.st_mode) ? SYNC_FOLDER : SYNC, path, "", 0, found.st_ino, 0);
    return 0;
}

int fsync(int fd) { LOCKED(int, synced(fd)); }
int fdatasync(int fd) { LOCKED(int, synced(fd)); }

static int renamed(const char *from, const char *to) {
    int ours = below_root(from) || below_root(to);
    if (ours && fails(CHANGES)) return -1;
    int done = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (ours && done == 0) note(RENAME, from, to, strlen(to), 0, 0);
    return done;
}

int rename(const char *from, const char *to) { LOCKED(int, renamed(from, to)); }

static int linked(const char *from, const char *to) {
    int ours = below_root(to);
    if (ours && fails(CHANGES | TAKES_SPACE)) return -1;
    int done = (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (ours && done == 0) note(LINK, from, to, strlen(to), 0, 0);
    return done;
}

int link(const char *from, const char *to) { LOCKED(int, linked(from, to)); }

static int unlinked(int folder, const char *name, int flags) {
    char path[2 * PATH_MAX];
    if (name[0] == '/') {
        snprintf(path, sizeof path, "%s", name);
    } else if (folder == AT_FDCWD || !path_of(folder, path)) {
        return (int)syscall(SYS_unlinkat, folder, name, flags);
    } else {
        strncat(path, "/", sizeof path - strlen(path) - 1);
        strncat(path, name, sizeof path - strlen(path) - 1);
    }
    int ours = below_root(path);
    if (ours && fails(CHANGES)) return -1;
    int done = (int)syscall(SYS_unlinkat, folder, name, flags);
    if (ours && done == 0) note(flags & AT_REMOVEDIR ? REMOVE_FOLDER : UNLINK, path, "", 0, 0, 0);
    return done;
}

int unlink(const char *path) { LOCKED(int, unlinked(AT_FDCWD, path, 0)); }
int rmdir(const char *path) { LOCKED(int, unlinked(AT_FDCWD, path, AT_REMOVEDIR)); }
int unlinkat(int folder, const char *name, int flags) { LOCKED(int, unlinked(folder, name, flags)); }

static int made(const char *path, mode_t mode) {
    int ours = below_root(path);
    if (ours && fails(CHANGES | TAKES_SPACE)) return -1;
    int done = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    if (ours && done == 0) note(MAKE_FOLDER, path, "", 0, 0, 0);
    return done;
}

int mkdir(const char *path, mode_t mode) { LOCKED(int, made(path, mode)); }
