/* reactor_platform: enables Linux-specific declarations in system headers under -std=c17. Must be included before
 * them. */
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
