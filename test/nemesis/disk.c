/*
 * Faults of a disk: preloaded into a Redis, and controlled by the file ECHELON_DISK, which disk.ts writes. Its first byte is the
 * fault: f(ull), b(roken) or s(low), then the milliseconds of a sync. At byte 32: 1 if this library is loaded. At byte 40: how often
 * an append-only file was synced. From byte 64:
 * inodes of append-only files, each followed by its synced length, at 16 times the inode modulo 100.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char *control;
static pid_t server;

__attribute__((constructor)) static void start(void) {
  int file = open(getenv("ECHELON_DISK"), O_RDWR);
  control = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (control == MAP_FAILED) abort();
  close(file);
  control[32] = 1;
  server = getpid();
}

ssize_t write(int fd, const void *bytes, size_t count) {
  static ssize_t (*real)(int, const void *, size_t);
  if (!real) real = dlsym(RTLD_NEXT, "write");
  struct stat file;
  if (control[0] != 'f' || fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) return real(fd, bytes, count);
  errno = ENOSPC;
  return -1;
}

/* A child of the server syncs files that the server does not use yet. */
static int isLog(int fd, struct stat *file) {
  char link[64], path[4096] = "";
  if (getpid() != server || fstat(fd, file) != 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  return readlink(link, path, sizeof path - 1) > 0 && strstr(path, ".incr.aof") != NULL;
}

static void note(const struct stat *synced) {
  volatile uint64_t *slot = (volatile uint64_t *)(control + 64) + 2 * (synced->st_ino % 100);
  slot[0] = 0; /* a kill between these steps leaves nothing to cut */
  slot[1] = synced->st_size;
  slot[0] = synced->st_ino;
  *(volatile uint64_t *)(control + 40) += 1;
}

int fdatasync(int fd) {
  static int (*real)(int);
  if (!real) real = dlsym(RTLD_NEXT, "fdatasync");
  if (control[0] == 's') usleep(1000 * atoi(control + 1));
  if (control[0] == 'b') {
    errno = EIO;
    return -1;
  }
  struct stat before;
  int log = isLog(fd, &before), result = real(fd);
  if (log && result == 0) note(&before);
  return result;
}
