#if Metrics
    import CoreMetrics
#endif

/// The receiver of metrics, which does nothing if the package is built without the trait `Metrics`.
package struct MetricsReceiver: Sendable {
    #if Metrics
        let factory: any MetricsFactory

        init(_ factory: any MetricsFactory) { self.factory = factory }

        /// The factory of the current task, or else that of the process.
        package static var current: MetricsReceiver { MetricsReceiver(MetricsSystem.factory) }
    #else
        package static var current: MetricsReceiver { MetricsReceiver() }
    #endif

    /// Calls `body` with this receiver as that of the current task.
    func whileCurrent<R>(_ body: () -> R) -> R {
        #if Metrics
            withMetricsFactory(factory, body)
        #else
            body()
        #endif
    }
}
