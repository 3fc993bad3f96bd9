import APNSBatchModel
import APNSBatchNotification
import APNSBatchSending

#if Tracing
    import Tracing

    extension InstrumentationSystem {
        /// The tracer of the current task, or else that of the process; nil without one. To find that there is none takes a lock and
        /// a comparison.
        static var bootstrappedTracer: (any Tracer)? {
            if instrument is NoOpInstrument { return nil }
            let tracer = tracer
            return tracer is NoOpTracer ? nil : tracer
        }
    }

    /// The client span of one notification, from its submission to its result. Nothing of it is sent to APNs.
    struct SendSpan: Sendable {
        private let span: any Span

        /// Begins a span as a child of that of the current task. Returns nil without a tracer.
        ///
        /// - Parameter operation: The name of the span.
        static func begin(_ operation: String, topic: String, _ pushType: Campaign.PushType?) -> SendSpan? {
            guard let tracer = InstrumentationSystem.bootstrappedTracer else { return nil }
            let span = tracer.startAnySpan(operation, ofKind: .client)
            if span.isRecording {
                span.attributes["messaging.system"] = "apns"
                span.attributes["apns.topic"] = topic
                if let pushType { span.attributes["apns.push_type"] = pushType.name }
            }
            return SendSpan(span: span)
        }

        func end(with end: Mailbox.End) {
            if span.isRecording {
                switch end {
                case .success(let result): note(result)
                case .failure(let error): note(error)
                }
            }
            span.end()
        }

        /// An answer is a result, also if it is a refusal, so it leaves the status of the span alone.
        private func note(_ result: SendResult) {
            span.attributes["apns.outcome"] = "\(result.outcome.name)"
            span.attributes["apns.attempts"] = result.attempts
            if let status = result.status { span.attributes["http.response.status_code"] = status }
            if let reason = result.reason { span.attributes["apns.reason"] = reason }
            if let id = result.messageID { span.attributes["messaging.message.id"] = id }
        }

        private func note(_ error: SendError) {
            span.attributes["error.type"] = error.code.name
            span.attributes["apns.arrival"] = "\(error.arrival)"
            span.recordError(error)
            span.setStatus(SpanStatus(code: .error, message: error.description))
        }
    }
#else
    /// Traces nothing, without the trait `Tracing`.
    struct SendSpan: Sendable {
        @inline(__always)
        static func begin(_ operation: StaticString, topic: String, _ pushType: Campaign.PushType?) -> SendSpan? { nil }
        @inline(__always)
        func end(with end: Mailbox.End) {}
    }
#endif
