import Glibc

/// Patterns of paths, as shells have them (`man 7 glob`).
enum InputPattern {
    /// Whether a text is a pattern. A file that has such a name is a file.
    static func isOne(_ path: String) -> Bool { path.contains { "*?[".contains($0) } && access(path, F_OK) != 0 }

    /// Returns the paths that a pattern stands for, in the order of their bytes; a path stands for itself.
    static func files(_ pattern: String) throws -> [String] {
        guard isOne(pattern) else { return [pattern] }
        var found = glob_t()
        defer { globfree(&found) }
        let code = glob(pattern, GLOB_NOSORT, nil, &found)
        guard code == 0 else {
            if code == GLOB_NOMATCH { throw StartRefusal(absent: "input: \(pattern): no file has such a name") }
            throw UsageError("input: \(pattern): cannot be read")
        }
        let paths = (0..<Int(found.gl_pathc)).compactMap { found.gl_pathv[$0].map { String(cString: $0) } }
        return paths.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
    }
}
