/*
 * The measurement behind 0001-read-not-map.md: one pass over a file, counting line feeds and quotes, by one of
 *
 *   read      read(2) into 8 recycled buffers of 256 KiB
 *   map       mmap, MADV_SEQUENTIAL, MADV_DONTNEED on each 256 KiB behind the scan
 *   map-1m    the same by 1 MiB
 *   populate  mmap, MADV_POPULATE_READ on each 256 KiB before the scan, MADV_DONTNEED behind it
 *   map-keep  mmap, nothing given back
 *
 *   clang -O2 -o /tmp/readmap 0001-read-not-map.c
 *   /tmp/readmap read FILE
 */
#define _GNU_SOURCE
#include <emmintrin.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CHUNK ((size_t)256 << 10)
#define BUFFERS 8

static uint64_t count(const uint8_t *bytes, size_t length) {
    const __m128i lf = _mm_set1_epi8('\n'), quote = _mm_set1_epi8('"');
    uint64_t sum = 0;
    size_t i = 0;
    for (; i + 16 <= length; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(bytes + i));
        __m128i hit = _mm_or_si128(_mm_cmpeq_epi8(v, lf), _mm_cmpeq_epi8(v, quote));
        sum += (uint64_t)__builtin_popcount((unsigned)_mm_movemask_epi8(hit));
    }
    for (; i < length; i++)
        sum += bytes[i] == '\n' || bytes[i] == '"';
    return sum;
}

static uint64_t by_read(int fd) {
    uint8_t *pool = aligned_alloc(4096, CHUNK * BUFFERS);
    uint64_t sum = 0;
    ssize_t n;
    for (size_t turn = 0; (n = read(fd, pool + turn % BUFFERS * CHUNK, CHUNK)) > 0; turn++)
        sum += count(pool + turn % BUFFERS * CHUNK, (size_t)n);
    free(pool);
    return sum;
}

static uint64_t by_map(int fd, size_t size, size_t step, int populate, int give_back) {
    uint8_t *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    uint64_t sum = 0;
    if (map == MAP_FAILED) exit(1);
    madvise(map, size, MADV_SEQUENTIAL);
    for (size_t at = 0; at < size; at += step) {
        size_t length = size - at < step ? size - at : step;
        if (populate) madvise(map + at, length, MADV_POPULATE_READ);
        sum += count(map + at, length);
        if (give_back) madvise(map + at, length, MADV_DONTNEED);
    }
    munmap(map, size);
    return sum;
}

static double seconds(struct timeval t) {
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv) {
    if (argc != 3) return 64;
    int fd = open(argv[2], O_RDONLY);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) return 66;
    size_t size = (size_t)st.st_size;
    uint64_t sum = 0;
    if (strcmp(argv[1], "read") == 0) sum = by_read(fd);
    if (strcmp(argv[1], "map") == 0) sum = by_map(fd, size, CHUNK, 0, 1);
    if (strcmp(argv[1], "map-1m") == 0) sum = by_map(fd, size, 4 * CHUNK, 0, 1);
    if (strcmp(argv[1], "populate") == 0) sum = by_map(fd, size, CHUNK, 1, 1);
    if (strcmp(argv[1], "map-keep") == 0) sum = by_map(fd, size, CHUNK, 0, 0);
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    double cpu = seconds(use.ru_utime) + seconds(use.ru_stime);
    printf("%-9s cpu %.3f s (user %.3f, system %.3f), %.2f GB/s, peak RSS %ld KiB, page faults %ld, sum %llu\n",
           argv[1], cpu, seconds(use.ru_utime), seconds(use.ru_stime), (double)size / cpu / 1e9, use.ru_maxrss,
           use.ru_minflt, (unsigned long long)sum);
    return 0;
}
