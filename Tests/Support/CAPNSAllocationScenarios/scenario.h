/* Shared by the scenarios. */
#pragma once

#include "allocation_scenarios.h"
#include "failing_allocator.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SCENARIO_SECONDS_MAX = 20 };

static inline uint64_t scenario_now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec;
}

static inline int scenario_end(scenario_result *result, int32_t end, uint32_t step, const char *text) {
    result->end = end;
    result->step = step;
    snprintf(result->text, sizeof(result->text), "%s", text);
    return end;
}

/* A call failed: its record must say something. */
static inline int scenario_refused(scenario_result *result, uint32_t step, const char *text) {
    return scenario_end(result, text[0] != '\0' ? SCENARIO_REFUSED : SCENARIO_UNTOLD, step, text);
}

static inline void scenario_begin(scenario_result *result, uint64_t failing) {
    memset(result, 0, sizeof(*result));
    failing_allocator_begin(failing);
}

static inline void scenario_finish(scenario_result *result) {
    failing_allocator_result counts = failing_allocator_end();
    result->asked = counts.asked;
    result->live = counts.live;
    result->failed = counts.failed;
}
