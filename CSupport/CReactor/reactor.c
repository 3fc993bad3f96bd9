#include "reactor.h"
