"""The rules of scripts/check-layering, as tables: change these when modules, folders or kernel calls change.

What modules import is not here: that is Package.swift, which graph.py reads."""

import re

# What uses of the library what is public, as other packages do. The neutral mechanics of this target are not the library's.
PUBLIC_ONLY = {"APNSBatchCommand"}
NEUTRAL = {"APNSBatchBasics"}

# The folders of each Swift module, lowest first. A folder refers to types of its own and of folders before it. A set is
# a group whose members may refer to each other. "Name.swift" is a file beside the folders, "." all others of these.
FOLDERS = {
    "APNSBatchBasics": ["Numbers", "Text", "Memory", "Threads", "Files", "Processes"],
    "APNSBatchRows": ["Blocks", "Packing", "Format", "Rows", "Encoding", "Source", {"Chunks", "CSV", "NDJSON", "."}],
    "APNSBatchNotification": [
        "Text", "JSON", "Fields", "Answers", "ProviderToken", "Template", "Sealed", "Rules", "Localisation"],
    "APNSBatchModel": ["Outcomes", {"Campaign", "Expectations"}, "Notifications", "Reports"],
    "APNSBatchRecords": ["Files", "Results", "Ledger", "Record", "History", "Timeline"],
    "APNSBatchPlanning": ["Digests", "File", "Pass"],
    "APNSBatchSending": ["Memory", "Control", "Policy", "Pool", "Plan", "Providers", "Mailbox", "Rows", "Preparing", "Lane"],
    "APNSBatch": [".", "Observing", {"Run", "Book"}, "Channels", "Sender", "Configuration", "Check", "Doctor", "Reference"],
    "APNSBatchPostgres": ["Rows", "Database", "Query", "Export"],
    "APNSBatchMetrics": ["Clients", "Exposition", "HTTP", "Run"],
    "APNSBatchWebhooks": ["Signing", "Events", "Outbox"],
    "APNSBatchReport": ["Facts", "Parts", "Text", "Plots", "Page", "Feedback", "."],
    "APNSBatchSimulator": [
        "Bytes.swift", "JSON", "Counts", {"Faults", "Script"},
        {"SimulatorConfiguration.swift", "SimulatorProbe.swift", "SimulatorReport.swift"},
        {"Channels", "Request", "Server", "Token", "."}],
    "APNSBatchCommand": [
        {".", "Arguments", "Commands", "Control", "Export", "Hooks", "Metrics", "Parts", "Preflight", "Process", "Progress", "Sending",
         "Service", "Settings", "Sockets", "Webhooks"}],
}

# Targets whose internal headers a target includes: what fills in their tables of functions.
INSIDE = {
    "CAPNSTransportServer": {"CAPNSTransport", "CAPNSReactor", "CAPNSTLS", "CAPNSHTTP2"}, "CAPNSIdentities": {"CAPNSCrypto"},
    "CAPNSStart": {"CAPNSProcess"}}

# The product that other packages link, and what must never be in it: servers, faults, simulator, the command.
LIBRARY = "APNSBatch"
OUTSIDE_LIBRARY = {
    "CAPNSTransportServer", "CAPNSIdentities", "CAPNSPostgres", "CAPNSProcess", "CAPNSSimulatedNetwork", "CAPNSStart", "APNSBatchCommand", "APNSBatchIdentities",
    "APNSBatchMetrics", "APNSBatchPlanning", "APNSBatchPostgres", "APNSBatchReport", "APNSBatchSimulator", "APNSBatchSimulation", "APNSBatchWebhooks", "APNSSimulator",
    "apns-batch"}
# The other libraries among the products, and what they have in them of the above: exactly this.
OTHER_LIBRARIES = {
    "APNSBatchPostgres": {"APNSBatchPostgres", "CAPNSPostgres"},
    # For tests of other packages.
    "APNSSimulator": {
        "APNSSimulator", "APNSBatchSimulator", "APNSBatchIdentities", "CAPNSIdentities", "CAPNSTransportServer"}}
# Words in names of C functions that belong there, wherever they are defined. The event loop itself can listen and accept.
OUTSIDE_NAMES = re.compile(
    r"apns_(\w+_)?(servers?|faults?|sim|simulator|world)(_|$)|apns_(?!reactor_|uring_|epoll_)(\w+_)?(listen|accept|accepted)(_|$)")

# Modules of the toolchain that every Swift module may import, and those that may import Foundation or a part of it.
TOOLCHAIN = {"Glibc", "Synchronization", "_Builtin_intrinsics"}
FOUNDATION = {
    "APNSBatchRecords": {"FoundationEssentials"}, "APNSBatch": {"FoundationEssentials"},
    "APNSBatchReport": {"FoundationEssentials"}, "APNSBatchWebhooks": {"FoundationEssentials"},
    "APNSBatchCommand": {"Foundation"}}

# What snippets may import: they are programs of another package, as far as their readers are concerned.
SNIPPET_IMPORTS = {"APNSBatch", "APNSSimulator", "ServiceLifecycle", "Logging", "Foundation"}

# A library's headers and symbols, and the one system module through which SwiftPM finds them.
LIBRARY_HEADERS = {
    re.compile(r"nghttp2/|nghttp3/|ngtcp2/"): "CAPNSNGHTTP2",
    re.compile(r"openssl/|crypto/|ssl\.h"): "CAPNSOpenSSL",
    re.compile(r"liburing"): "CAPNSURing",
    re.compile(r"(postgresql/)?(libpq|postgres_ext)"): "CAPNSLibPQ",
    re.compile(r"zlib\.h|zconf\.h"): "CAPNSZlib",
    re.compile(r"zstd"): "CAPNSZstd",
}
# The one file of a module that includes a library's headers; no entry: any file of it.
LIBRARY_FILES = {("CAPNSHTTP2", "CAPNSNGHTTP2"): "h2_library.c"}
LIBRARY_SYMBOLS = {
    re.compile(r"nghttp2_"): "CAPNSNGHTTP2",
    re.compile(
        r"(ASN1|BIO|BN|CRYPTO|EC|ECDSA|ERR|EVP|GENERAL_NAMES?|OBJ|OPENSSL|OSSL|PEM|PKCS\d+|RAND|SHA256|SSL|TLS|X509|X509V3|d2i|i2d)_"):
        "CAPNSOpenSSL",
    re.compile(r"io_uring_"): "CAPNSURing",
    re.compile(r"PQ[a-z]|pq[a-z]+_|lo_"): "CAPNSLibPQ",
    re.compile(r"(inflate|deflate|crc32|adler32|gz\w+|zlib\w+)(_|$)|(inflate|deflate)[A-Z]"): "CAPNSZlib",
    re.compile(r"ZSTD_"): "CAPNSZstd",
}

# The kernel's network and readiness calls are made in one place. <sys/socket.h> is in this list for no module: the type
# struct sockaddr travels through the transport's header.
KERNEL_HEADERS = re.compile(
    r"sys/(epoll|eventfd|timerfd|signalfd|select|poll|uio|syscall|ioctl)\.h|linux/|netinet/tcp\.h|poll\.h|netdb\.h")
KERNEL_TARGET = "CAPNSReactor"

# Tries before main whether these can be had, and uses none.
TRIED = {"CAPNSProcess": {"sys/epoll.h", "sys/eventfd.h"}}

# Which module calls what that reaches the kernel, and for what: exactly this. Every function of the C library is a kernel
# call, unless it is in HARMLESS. Some names are of Swift: print, Task, clocks, and with "Foundation." those of Foundation.
KERNEL_CALLS = {
    "CAPNSCommon": {
        "fallocate": "room on the disk for the ledger",
        "statfs fstatfs": "whether a pipe has a name",
        "prctl": "the name of a thread",
    },
    "CAPNSCrypto": {
        "prctl setrlimit": "no core dump that holds a key",
    },
    "CAPNSHTTP2": {
        "pthread_once": "the table of Huffman codes is made once for all threads",
    },
    "CAPNSTLS": {
        "pthread_mutex_lock pthread_mutex_unlock": "the system's roots are read once for all threads",
        "X509_STORE_set_default_paths SSL_CTX_set_default_verify_dir": "OpenSSL reads the system's roots",
    },
    "CAPNSReactor": {
        "socket bind listen accept4 connect shutdown close getsockname getsockopt setsockopt": "sockets",
        "send recv": "bytes of sockets",
        "epoll_create1 epoll_ctl epoll_wait ppoll": "readiness",
        "syscall": "epoll_pwait2, which the C library has from glibc 2.35 on",
        "io_uring_enter2 io_uring_queue_exit io_uring_queue_init_params io_uring_register_buf_ring io_uring_register_ring_fd "
        "io_uring_unregister_buf_ring": "completions",
        "mmap munmap": "the ring of receive buffers",
        "eventfd read write": "waking a loop from another thread",
        "clock_gettime": "timers",
    },
    "CAPNSProcess": {
        "open close fcntl": "standard descriptors that are closed",
        "ferror stdout": "whether all output could be written",
        "access": "whether /proc is there",
        "epoll_create1 eventfd mmap munmap getrlimit mallopt": "whether limits leave enough to start",
        "pthread_create pthread_join pthread_attr_init pthread_attr_setstacksize pthread_attr_destroy pthread_barrier_init "
        "pthread_barrier_wait pthread_barrier_destroy": "whether limits leave enough threads",
        "sigaction sigaltstack signal raise": "fatal signals",
        "prctl getppid getpid kill": "the end of the parent",
        "memfd_create": "input and output of a program",
        "write _exit": "the complaint, and the end",
    },
    "CAPNSPostgres": {
        "dlopen dlsym dlerror": "libpq, when it is first needed",
        "pthread_mutex_lock pthread_mutex_unlock": "libpq is loaded once for all threads",
    },
    "APNSBatchBasics": {
        "pthread_create pthread_detach pthread_join pthread_sigmask": "threads with a name (Threads)",
        "pthread_mutex_init pthread_mutex_lock pthread_mutex_trylock pthread_mutex_unlock pthread_mutex_destroy "
        "pthread_cond_init pthread_cond_wait pthread_cond_timedwait pthread_cond_broadcast pthread_cond_destroy "
        "pthread_condattr_init pthread_condattr_setclock pthread_condattr_destroy": "locks (Threads)",
        "clock_gettime": "clocks (Numbers)",
        "open fcntl": "all files that a path names: no other module opens one (Files)",
        "read write close fchmod fsync link lstat stat realpath rename unlink getpid": "files written whole (Files)",
        "fstat pread ftruncate fdatasync flock usleep": "files that grow (Files)",
        "posix_spawnp posix_spawn_file_actions_adddup2 posix_spawn_file_actions_init "
        "posix_spawn_file_actions_destroy posix_spawnattr_init posix_spawnattr_destroy posix_spawnattr_setflags "
        "posix_spawnattr_setsigdefault posix_spawnattr_setsigmask waitpid kill environ": "programs (Processes)",
    },
    "APNSBatchRows": {
        "read pread lseek fstat stat close posix_fadvise": "the input",
        "fcntl poll pipe write": "an input that must be waited for, and the end of waiting",
    },
    "APNSBatchTransport": {
        "getaddrinfo getnameinfo freeaddrinfo": "names and addresses of hosts",
    },
    "APNSBatchRecords": {
        "access close mkdir lstat rename realpath unlink": "the run directory and the files in it",
        "opendir readdir closedir": "the corrections beside a run directory",
        "rmdir statvfs": "what is tried without leaving anything, and the room on the disk",
        "pwrite ftruncate": "the hand-over file",
        "pread pwrite flock usleep geteuid": "the file of a shared rate, which is not mapped",
        "time": "the name of a run directory",
        "kill": "whether the process of a session exists",
        "stat getpid": "the history: the files of an input, and the process that adds a line",
    },
    "APNSBatch": {
        "getpid getrusage sysconf": "the usage of the process",
        "Task": "a program that makes rows while they are sent, and tasks that await answers",
    },
    "APNSBatchPostgres": {
        "ContinuousClock": "waiting for the end of an export",
        "shutdown": "the end of waiting for a query",
    },
    "APNSBatchWebhooks": {
        "mkdir rmdir unlink lstat opendir readdir closedir geteuid": "the outbox of a run",
    },
    "APNSBatchSimulator": {
        "access mkdir": "certificates and keys for the occasion",
        "getrusage": "whether a poll waited (ArrivalLog)",
        "syscall": "Mutex of Synchronization",
    },
    "apns-batch": {
        "Task exit": "the main function, which waits",
    },
    "APNSBatchCommand": {
        "access read write close fcntl stat glob globfree": "files and descriptors that arguments name",
        "ioctl isatty tcgetattr tcsetattr": "the terminal",
        "fflush print Foundation.FileHandle": "output",
        "sigaction signal pipe Task ContinuousClock": "signals, and what goes on until one comes",
        "fstat poll sleep pause kill getpid": "the end of the supervisor",
        "_exit": "the end",
        "socket bind listen getsockname setsockopt": "the address of metrics_listen (Metrics)",
        "accept poll send recv shutdown": "the clients of both sockets (Sockets)",
        "socket setsockopt sendto getenv unsetenv getpid": "messages to systemd (Service)",
        "fstatat unlinkat socket bind listen connect fchmod getsockopt setsockopt geteuid send recv":
            "the socket of a run (Control)",
        "pread pwrite usleep": "what programs read and write, and their end (Hooks)",
        "gethostname": "the machine that an event is of (Webhooks)",
        "syscall": "Mutex of Synchronization",
        "Foundation.FileManager Foundation.fileURLWithPath Foundation.resolvingSymlinks": "paths of campaign files, and copies of them",
        "Foundation.ProcessInfo Foundation.now": "the environment, and dates",
    },
}

# What a program may call without reaching the kernel; memory counts as this, clocks and locks do not.
HARMLESS = set(
    # Memory.
    "malloc calloc realloc aligned_alloc free malloc_usable_size memchr memcmp memcpy memmove memset explicit_bzero "
    # Text, and what stays in the process.
    "snprintf vsnprintf strchr strcmp strcpy strdup strerror strlen strncmp strnlen strstr strftime gmtime_r timegm "
    "sigemptyset sigfillset sigaddset sigdelset htons htonl ntohs ntohl inet_pton inet_ntop gai_strerror "
    # Numbers.
    "ceil cos exp floor log pow rint round sin sqrt trunc "
    # What compilers insert.
    "abort __assert_fail __cpu_model __errno_location __stack_chk_fail __tls_get_addr _swiftEmptyArrayStorage".split())

# What of OpenSSL opens files and sockets by itself; the rest works on memory.
OPENSSL_KERNEL = re.compile(
    r"BIO_(new|s)_(file|fp|fd|socket|connect|accept|dgram)|\w+_(file|fp|dir|paths?|locations)$|SSL_set_[rw]?fd$"
    r"|X509_LOOKUP_|OSSL_STORE_|CONF_|NCONF_")
