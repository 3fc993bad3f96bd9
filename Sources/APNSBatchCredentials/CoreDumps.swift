import CAPNSCrypto

/// Core files, which would hold the keys.
package enum CoreDumps {
    /// None of this process from now on (`RLIMIT_CORE`, `PR_SET_DUMPABLE`). False where the system refuses.
    @discardableResult
    package static func forbid() -> Bool { apns_crypto_core_dumps_forbid() == 0 }
}
