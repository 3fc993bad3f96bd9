/*
 * apns_check: traps for programming errors. They must not check anything that a peer, a user or a file can cause.
 */
#pragma once

/* Always enabled, for cheap checks whose failure would have worse consequences than a trap. */
#define APNS_REQUIRE(condition) ((condition) ? (void)0 : __builtin_trap())

/* Enabled if APNS_CHECKS is defined, as it is in debug builds. */
#ifdef APNS_CHECKS
#define APNS_ASSERT(condition) APNS_REQUIRE(condition)
#else
#define APNS_ASSERT(condition) ((void)sizeof(condition))
#endif
