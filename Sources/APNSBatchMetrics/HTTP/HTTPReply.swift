/// The answer to a request, after which the connection is closed.
package struct HTTPReply: Sendable, Equatable {
    package var status: UInt16
    /// The media type of the body.
    package var type: String
    package var body: String

    package init(_ status: UInt16 = 200, _ type: String = "text/plain; charset=utf-8", _ body: String) {
        (self.status, self.type, self.body) = (status, type, body)
    }

    package init(_ fault: HTTPQuestion.Fault) {
        self.init(fault.rawValue, fault == .malformed ? "malformed request\n" : "only GET and HEAD are answered\n")
    }

    package init(_ status: UInt16, _ body: String) { self.init(status, "text/plain; charset=utf-8", body) }

    /// The bytes that are sent.
    ///
    /// - Parameter isHead: Whether the body is left out, as in the answer to HEAD.
    package func bytes(isHead: Bool) -> [UInt8] {
        let allow = status == 405 ? "Allow: GET, HEAD\r\n" : ""
        let head =
            "HTTP/1.1 \(status) \(phrase)\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\(allow)"
            + "Cache-Control: no-store\r\nConnection: close\r\n\r\n"
        return Array(head.utf8) + (isHead ? [] : Array(body.utf8))
    }

    private var phrase: String {
        switch status {
        case 200: "OK"
        case 400: "Bad Request"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 503: "Service Unavailable"
        default: ""
        }
    }
}
