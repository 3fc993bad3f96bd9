// Nothing is linked: CAPNSPostgres loads the library when it is first needed.
#include <postgresql/libpq-fe.h>
