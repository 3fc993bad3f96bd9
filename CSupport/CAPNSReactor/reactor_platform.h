/* reactor_platform: makes the system's headers show Linux' own calls under -std=c17 too. Included before any of them.
 */
#ifndef APNS_BATCH_REACTOR_PLATFORM_H
#define APNS_BATCH_REACTOR_PLATFORM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#endif
