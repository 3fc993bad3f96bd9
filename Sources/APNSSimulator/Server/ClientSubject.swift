import CTransport

/// Whom a client certificate is made out to, as the transport tells it with a connection.
enum ClientSubject {
    /// The UID of the subject: the app that the certificate is for. Nil without a verified certificate, or one without
    /// a UID.
    static func uid(_ event: apns_transport_event) -> String? {
        let detail = Bytes(event.detail, length: event.detail_length)
        for line in detail.split(separator: UInt8(ascii: "\n")) where line.starts(with: "UID=".utf8) {
            return String(decoding: line.dropFirst(4), as: UTF8.self)
        }
        return nil
    }
}
