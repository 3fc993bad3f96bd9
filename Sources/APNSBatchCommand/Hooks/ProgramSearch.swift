import Foundation

/// Looks a program up as a start of it would (posix_spawnp): in the folders of PATH, unless its name has a slash.
enum ProgramSearch {
    /// Returns why a program cannot be started, in the words of a start that fails; nil if it is there. What a file holds that may be
    /// executed is known only when it is started.
    ///
    /// - Parameter path: The folders, separated by colons; nil for those of the C library.
    static func obstacle(
        to program: String, path: String? = ProcessInfo.processInfo.environment["PATH"]
    ) -> String? {
        guard let code = code(of: program, path) else { return nil }
        return "cannot be started: \(String(cString: strerror(code)))"
    }

    private static func code(of program: String, _ path: String?) -> Int32? {
        if program.contains("/") { return code(at: program) }
        guard !program.isEmpty else { return ENOENT }
        let folders = (path ?? "/bin:/usr/bin").split(separator: ":", omittingEmptySubsequences: false)
        // An empty folder is the current one.
        let codes = folders.map { code(at: ($0.isEmpty ? "." : String($0)) + "/" + program) }
        if codes.contains(nil) { return nil }
        return codes.contains(EACCES) ? EACCES : ENOENT
    }

    private static func code(at path: String) -> Int32? {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return errno }
        guard facts.st_mode & S_IFMT == S_IFREG else { return EACCES }
        return access(path, X_OK) == 0 ? nil : errno
    }
}
