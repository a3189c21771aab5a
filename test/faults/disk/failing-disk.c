/*
 * Preloaded into the runtime (LD_PRELOAD), it lets the disk fail below one directory: while the file FAILING_DISK_SWITCH is
 * there, writes to files whose path contains FAILING_DISK_PATH end with EIO. With a switch that holds "r", reads do, too.
 * With one that holds "p", only reads of databases past their first page do: a database opens, and its tables fail.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* Where a database's second page begins at the earliest, in bytes. */
#define PAGE 4096

/* `read_at`: the offset of a read, -1 for a write. */
static int fails(int fd, off64_t read_at) {
  const char *name = getenv("FAILING_DISK_SWITCH"), *part = getenv("FAILING_DISK_PATH");
  char link[64], path[4096], mode = 0;
  int saved = errno, result = 0;
  if (name == NULL || part == NULL || access(name, F_OK) != 0) goto end;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) goto end;
  path[length] = 0;
  if (strstr(path, part) == NULL) goto end;
  FILE *file = fopen(name, "r");
  if (file == NULL) goto end;
  mode = (char)fgetc(file);
  fclose(file);
  if (mode == 'p') {
    size_t end_of_name = strlen(".sqlite");
    result = read_at >= PAGE && (size_t)length > end_of_name && strcmp(path + length - end_of_name, ".sqlite") == 0;
  } else {
    result = read_at < 0 || mode == 'r';
  }
end:
  errno = result ? EIO : saved;
  return result;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *data, size_t size) { return fails(fd, -1) ? -1 : REAL(write)(fd, data, size); }
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) { return fails(fd, -1) ? -1 : REAL(pwrite)(fd, data, size, at); }
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) { return fails(fd, -1) ? -1 : REAL(pwrite64)(fd, data, size, at); }
int fsync(int fd) { return fails(fd, -1) ? -1 : REAL(fsync)(fd); }
int fdatasync(int fd) { return fails(fd, -1) ? -1 : REAL(fdatasync)(fd); }
int ftruncate(int fd, off_t size) { return fails(fd, -1) ? -1 : REAL(ftruncate)(fd, size); }
int ftruncate64(int fd, off64_t size) { return fails(fd, -1) ? -1 : REAL(ftruncate64)(fd, size); }
ssize_t pread(int fd, void *data, size_t size, off_t at) { return fails(fd, at) ? -1 : REAL(pread)(fd, data, size, at); }
ssize_t pread64(int fd, void *data, size_t size, off64_t at) { return fails(fd, at) ? -1 : REAL(pread64)(fd, data, size, at); }
