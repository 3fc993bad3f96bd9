import CAPNSCrypto

/// Core dumps, which would contain keys.
package enum CoreDumps {
    /// Disables core dumps of this process (`RLIMIT_CORE`, `PR_SET_DUMPABLE`). Returns false if the system refuses.
    @discardableResult
    package static func forbid() -> Bool { apns_crypto_core_dumps_forbid() == 0 }
}
