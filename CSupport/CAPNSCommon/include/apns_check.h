/*
 * apns_check: traps for programmer errors. What a peer, a user or a file can cause is never checked with these.
 */
#ifndef APNS_BATCH_CHECK_H
#define APNS_BATCH_CHECK_H

/* Always on: cheap, and what comes after would be worse than the trap. */
#define APNS_REQUIRE(condition) ((condition) ? (void)0 : __builtin_trap())

/* In debug builds, and wherever APNS_CHECKS is defined. */
#ifdef APNS_CHECKS
#define APNS_ASSERT(condition) APNS_REQUIRE(condition)
#else
#define APNS_ASSERT(condition) ((void)sizeof(condition))
#endif

#endif
