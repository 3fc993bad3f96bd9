import Dispatch
import Testing

/// Has the tests of a suite run on a thread of the suite's own, one at a time.
///
/// All other tests share as many threads as there are processors. Tests that keep a thread busy, or wait for a process,
/// would hold all of them up: campaigns would miss deadlines, and tests that look at them would look too late.
public struct OwnThread: TestTrait, SuiteTrait, TestScoping {
    private let executor = OneThread()

    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(executor) { try await function() }
    }
}

extension Trait where Self == OwnThread {
    public static var ownThread: Self { OwnThread() }
}

private final class OneThread: TaskExecutor {
    private let queue = DispatchQueue(label: "tests on a thread of their own")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
