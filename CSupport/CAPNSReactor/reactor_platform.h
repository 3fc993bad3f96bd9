/* reactor_platform: enables Linux-specific declarations in system headers under -std=c17. Must be included before
 * them. */
#ifndef APNS_BATCH_REACTOR_PLATFORM_H
#define APNS_BATCH_REACTOR_PLATFORM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#endif
