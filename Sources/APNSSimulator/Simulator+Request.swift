import APNSBatchSimulator

extension Simulator {
    /// A request that arrived at the simulator, and the answer that it got.
    public struct Request: Sendable {
        /// A header field, with its name in lower case.
        public struct Header: Sendable, Hashable {
            /// The name, in lower case.
            public let name: String
            /// The value; bytes that are not UTF-8 are replaced.
            public let value: String
        }

        /// The number of the request among all that arrived, from 1.
        public internal(set) var number = 0
        /// The `:method`.
        public let method: String
        /// The `:path`.
        public let path: String
        /// The device token in the path, in lower case; nil if there is no well-formed one.
        public let deviceToken: String?
        /// The header fields in their order, without pseudo-header fields, and without `authorization`: a provider token is a
        /// secret, and results of tests are often stored.
        public let headers: [Header]
        /// The payload, of which at least the first 5,120 bytes are kept.
        public let payload: [UInt8]
        /// The number of bytes of the whole payload.
        public let payloadLength: Int
        /// The status of the answer. A fault may have ended the stream before it was sent.
        public let status: Int
        /// The reason of the answer; nil if it has none.
        public let reason: String?

        /// The value of the first header field of this name; nil if there is none.
        ///
        /// ```swift
        /// request["apns-topic"]
        /// ```
        public subscript(name: String) -> String? {
            let name = name.lowercased()
            return headers.first { $0.name == name }?.value
        }
    }
}

extension Simulator.Request {
    /// Copies a request.
    init(_ request: JudgedRequest) {
        var (method, path) = ("", "")
        var headers: [Header] = []
        unsafe request.forEachField { name, value in
            let field = unsafe Header(
                name: String(decoding: name, as: UTF8.self), value: String(decoding: value, as: UTF8.self))
            switch field.name {
            case ":method": method = field.value
            case ":path": path = field.value
            case "authorization": break
            default: if !field.name.hasPrefix(":") { headers.append(field) }
            }
        }
        (self.method, self.path, self.headers) = (method, path, headers)
        deviceToken = unsafe request.deviceToken.map { unsafe String(decoding: $0, as: UTF8.self) }
        (payload, payloadLength) = unsafe (Array(request.body), request.bodyTotal)
        (status, reason) = (Int(request.status), request.reason.isEmpty ? nil : request.reason)
    }
}
