/// The faults that several steps have found, so that all of them are reported at once.
struct FaultList {
    private var errors: [any Error] = []

    mutating func collect(_ body: () throws -> Void) {
        do { try body() } catch { errors.append(error) }
    }

    var isEmpty: Bool { errors.isEmpty }

    /// Throws the only error, or one with the faults of all.
    func throwAny() throws {
        guard let first = errors.first else { return }
        guard errors.count > 1 else { throw first }
        // What a person must change does not pass with the rest.
        let worst = errors.first { ExitStatus.of($0) == ExitStatus.usage } ?? first
        throw UsageError(faults: errors.flatMap { ExitStatus.faults(of: $0) ?? ["\($0)"] }, cause: worst)
    }
}
