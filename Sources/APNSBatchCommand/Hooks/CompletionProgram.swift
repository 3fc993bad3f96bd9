import Foundation

/// The program of `on_complete`, which gets the end of a run by its environment.
struct CompletionProgram: Sendable {
    /// The program and its arguments.
    let arguments: [String]
    /// The time after which the program and what it started are killed.
    let patience: Duration
    /// The variables of this process that the program does not get, because they hold secrets.
    let hidden: Set<String>

    /// Runs the program to its end. The lines that it writes go to standard error. A failure is a warning.
    func run(_ variables: [String: String]) async {
        let environment = ProcessInfo.processInfo.environment.filter { !hidden.contains($0.key) }
            .merging(variables) { $1 }
        let program = ChildProgram(arguments: arguments, environment: environment, patience: patience)
        do {
            switch try await program.run({ complain("on_complete: \($0)") }) {
            case .exited(0): return
            case .exited(let code): warn("ended with exit code \(code)")
            case .signaled(let signal): warn("was ended by signal \(signal)")
            case .killedAfterPatience: warn("was killed after \(patience.components.seconds) s")
            }
        } catch {
            warn("\(error)")
        }
    }

    private func warn(_ text: String) { complain("warning: on_complete: \(arguments[0]): \(text)") }
}
