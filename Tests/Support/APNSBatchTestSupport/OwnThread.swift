import Dispatch
import Foundation
import Testing

/// Runs the tests of a suite on a thread of the suite, one at a time.
///
/// All other tests share as many threads as there are processors. Tests that keep a thread busy, or wait for a process,
/// would delay all of them. Campaigns would then miss deadlines, and tests would check their state too late.
///
/// The suite is also `.serialized`: only so many tests run at a time, and one that waits for the thread would be one of them.
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

/// Runs each test of a suite on threads of its own, because the tests wait for processes.
public struct OwnThreads: TestTrait, SuiteTrait, TestScoping {
    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(ManyThreads.shared) { try await function() }
    }
}

extension Trait where Self == OwnThreads {
    public static var ownThreads: Self { OwnThreads() }
}

private final class ManyThreads: TaskExecutor {
    static let shared = ManyThreads()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { job.runSynchronously(on: Self.shared.asUnownedTaskExecutor()) }
    }
}
