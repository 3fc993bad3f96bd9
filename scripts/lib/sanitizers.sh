# shellcheck shell=bash
# Sourced: what each sanitizer needs. Sets flags (for swift build and swift test) and the sanitizer's environment. All traits are
# on, so that one build has everything; scripts/check-dependency builds the library without any.

# sanitizer_select MODE: address, undefined, thread, or empty for none.
# shellcheck disable=SC2034  # flags is for the script that sources this
sanitizer_select() {
    case "$1" in
    "")
        flags=(--enable-all-traits)
        ;;
    address)
        flags=(--enable-all-traits --sanitize=address --scratch-path .build-address)
        export ASAN_OPTIONS="detect_stack_use_after_return=1:strict_string_checks=1:detect_leaks=1"
        export LSAN_OPTIONS="suppressions=$root/scripts/lib/leaks.supp:print_suppressions=0"
        ;;
    undefined)
        # swiftc has no such sanitizer on Linux, so `swift build --sanitize=undefined` refuses: it is given to the C
        # compiler and to the linker's driver. Swift itself traps on what this sanitizer looks for.
        flags=(
            --enable-all-traits --scratch-path .build-undefined
            -Xcc -fsanitize=undefined -Xcc -fno-sanitize-recover=undefined
            -Xswiftc -Xclang-linker -Xswiftc -fsanitize=undefined
        )
        export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1"
        ;;
    thread)
        flags=(--enable-all-traits --sanitize=thread --scratch-path .build-thread)
        export TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1:suppressions=$root/scripts/lib/races.supp"
        ;;
    *) fail "unknown sanitizer '$1' (address, undefined, thread)" ;;
    esac
    export APNS_BATCH_SANITIZER="$1"
}
