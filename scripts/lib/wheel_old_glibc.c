/* Linked into the command of the wheel, with --wrap for each function: what newer versions of glibc have, for those
 * from 2.34 on. */

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- hypot and hypotf, which the Swift runtime calls: linkers bind them to their versions of glibc 2.35. The older
 * ones compute the same. */

#if defined(__x86_64__)
#define OLDEST "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define OLDEST "GLIBC_2.17"
#endif

double apns_old_hypot(double x, double y);
float apns_old_hypotf(float x, float y);
__asm__(".symver apns_old_hypot, hypot@" OLDEST);
__asm__(".symver apns_old_hypotf, hypotf@" OLDEST);

double __wrap_hypot(double x, double y);
float __wrap_hypotf(float x, float y);

double __wrap_hypot(double x, double y) {
    return apns_old_hypot(x, y);
}

float __wrap_hypotf(float x, float y) {
    return apns_old_hypotf(x, y);
}

/* ---- arc4random of glibc 2.36, which the archive of libstdc++ calls for std::random_device. */

uint32_t __wrap_arc4random(void);

uint32_t __wrap_arc4random(void) {
    uint32_t number;
    if (getentropy(&number, sizeof(number)) != 0) abort();
    return number;
}
