#include "h2.h"

typedef int h2_placeholder;
