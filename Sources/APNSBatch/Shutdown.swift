#if ServiceLifecycle
    import ServiceLifecycle
#endif

/// The ways in which a service is asked to end.
enum Shutdown {
    /// Runs `body`. Calls `atOnce` when the task is cancelled, and `inOrder` when the group of the current service begins to shut
    /// down, if the package is built with the trait `ServiceLifecycle`.
    static func handled<Value: Sendable>(
        _ body: () async -> Value, atOnce: @escaping @Sendable () -> Void, inOrder: @escaping @Sendable () -> Void
    ) async -> Value {
        #if ServiceLifecycle
            await withGracefulShutdownHandler {
                await withTaskCancellationHandler(operation: body, onCancel: atOnce)
            } onGracefulShutdown: {
                inOrder()
            }
        #else
            await withTaskCancellationHandler(operation: body, onCancel: atOnce)
        #endif
    }
}
