import APNSBatchModel
import APNSBatchSending

#if Tracing
    import Tracing

    /// The span of a campaign, from the call of ``CampaignRun/send()`` to its summary, with events for what rarely happens: changes
    /// by operators, outages and waiting. Rows have no spans.
    struct RunSpan: Sendable {
        private let span: any Span

        /// Begins a span as a child of that of the current task. Returns nil without a tracer.
        static func begin(name: String, id: CampaignID) -> RunSpan? {
            guard let tracer = InstrumentationSystem.bootstrappedTracer else { return nil }
            let span = tracer.startAnySpan("apns.campaign")
            span.attributes["messaging.system"] = "apns"
            span.attributes["apns.campaign.name"] = name
            span.attributes["apns.campaign.id"] = id.description
            return RunSpan(span: span)
        }

        /// Runs `body` with this span as that of the current task, so that spans of a program's rows are children of it.
        func whileCurrent<R: Sendable>(_ body: () async -> R) async -> R {
            await ServiceContext.withValue(span.context, operation: body)
        }

        /// - Parameter detail: What the event is about; it holds no secret and no device token.
        func note(_ event: String, _ detail: String) {
            span.addEvent(SpanEvent(name: event, attributes: ["apns.detail": .string(detail)]))
        }

        func end(with summary: CampaignSummary, _ progress: CampaignProgress, _ failure: CampaignError?) {
            for outcome in Outcome.allCases {
                span.attributes["apns.rows.\(outcome.name)"] = Int(clamping: progress[outcome])
            }
            span.attributes["apns.requests"] = Int(clamping: progress.requests)
            span.attributes["apns.connections_opened"] = progress.connectionsOpened
            span.attributes["apns.ending"] = "\(summary.ending)"
            if let failure {
                span.attributes["error.type"] = "\(failure.code)"
                span.recordError(failure)
                span.setStatus(SpanStatus(code: .error, message: failure.description))
            }
            span.end()
        }
    }
#else
    /// Traces nothing, without the trait `Tracing`.
    struct RunSpan: Sendable {
        static func begin(name: String, id: CampaignID) -> RunSpan? { nil }
        func whileCurrent<R: Sendable>(_ body: () async -> R) async -> R { await body() }
        func note(_ event: String, _ detail: String) {}
        func end(with summary: CampaignSummary, _ progress: CampaignProgress, _ failure: CampaignError?) {}
    }
#endif
