/* Under the address sanitizer every block is one of malloc's, so that each misuse of one is seen; else blocks are cut
 * from pages. */
#ifndef APNS_BATCH_H2_MEMORY_KIND_H
#define APNS_BATCH_H2_MEMORY_KIND_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define H2_MEMORY_BLOCKS_ALONE 1
#endif
#endif
#ifndef H2_MEMORY_BLOCKS_ALONE
#define H2_MEMORY_BLOCKS_ALONE 0
#endif

#endif
