import Credentials

/// What a process that holds keys should do for itself.
public enum ProcessSecrecy {
    /// Keeps the memory of this process out of core files, and away from debuggers of the same user, for good.
    ///
    /// The command does so before it reads a key. A library must not decide it: call it yourself when you hand in
    /// ``Campaign/Credentials``. On Linux it sets `RLIMIT_CORE` to 0 and clears `PR_SET_DUMPABLE`.
    /// - Returns: false where the system refuses.
    @discardableResult
    public static func forbidCoreDumps() -> Bool { CoreDumps.forbid() }
}
