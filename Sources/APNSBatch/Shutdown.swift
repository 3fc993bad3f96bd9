#if ServiceLifecycle
    import ServiceLifecycle
#endif

/// The graceful shutdown of a service group, if the package is built with the trait `ServiceLifecycle`.
enum Shutdown {
    /// Runs `body`, and calls `inOrder` when the group of the current service begins to shut down.
    static func handled<Value: Sendable>(
        _ body: () async -> Value, inOrder: @escaping @Sendable () -> Void
    ) async -> Value {
        #if ServiceLifecycle
            await withGracefulShutdownHandler {
                await body()
            } onGracefulShutdown: {
                inOrder()
            }
        #else
            await body()
        #endif
    }
}
