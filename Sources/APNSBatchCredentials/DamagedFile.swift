/// What is wrong with the file of a key or a certificate that cannot be read, and how to mend it.
///
/// Keys come through secret stores, environment variables and chats, and each damages them in its own way, and OpenSSL reports "unsupported"
/// for all of them. Nothing of the file is copied or shown.
@safe struct DamagedFile {
    /// What the file should have.
    enum Content {
        /// A signing key of provider tokens.
        case signingKey
        /// A client certificate, with or without its key.
        case certificate
        /// The key of a client certificate, in a file of its own or with the certificate.
        case certificateKey
    }

    private let bytes: Bytes
    private let wanted: Content

    /// Returns the error with what is wrong with the file and its remedy, if that is known; else nil.
    static func explain(_ error: CredentialError, _ file: Span<UInt8>, wanted: Content) -> CredentialError? {
        switch error.cause {
        case .notPEM, .wrongBlock, .malformed: break
        default: return nil
        }
        let detail = unsafe file.withUnsafeBytes { bytes in
            unsafe DamagedFile(bytes: Bytes(bytes), wanted: wanted).diagnosis(error)
        }
        return detail.map { CredentialError(cause: error.cause, detail: $0) }
    }

    private func diagnosis(_ error: CredentialError) -> String? {
        if bytes.isEmpty { return nil }
        if isUTF16 { return "the file is UTF-16; convert it with iconv -f UTF-16 -t UTF-8" }
        if bytes[0] == 0x30, bytes.count > 8 { return binary }
        guard find("-----BEGIN ") != nil else { return withoutBegin }
        return ofLines ?? ofBlocks(error)
    }

    /// By the byte order mark, or because one byte of each of the first characters is 0.
    private var isUTF16: Bool {
        guard bytes.count >= 4 else { return false }
        if bytes[0] == 0xFF && bytes[1] == 0xFE || bytes[0] == 0xFE && bytes[1] == 0xFF { return true }
        return bytes[0] == 0 && bytes[1] != 0 && bytes[2] == 0 || bytes[0] != 0 && bytes[1] == 0 && bytes[3] == 0
    }
}

// MARK: Files that are not PEM

extension DamagedFile {
    /// What a file of DER is; nil if it is not DER.
    private var binary: String? {
        // Tag and length of the outer sequence; the next bytes determine its content.
        let start = bytes[1] < 0x80 ? 2 : 2 + Int(bytes[1] & 0x7F)
        guard start + 3 < bytes.count, start <= 6 else { return nil }
        switch (bytes[start], bytes[start + 2]) {
        case (0x02, 3):
            return wanted != .signingKey
                ? nil : "this is a PKCS#12 file, a client certificate with its key, and no .p8 file"
        case (0x02, 0), (0x02, 1):
            return "the key is DER; convert it with openssl pkey -inform DER -in FILE -out key.pem"
        case (0x30, 0x06): return "this is a public key; the private key is needed" + downloadHint
        case (0x30, _):
            return "this is a certificate (.cer) as Apple's site gives it, without its private key; "
                + (wanted != .signingKey
                    ? "export certificate and key together from the keychain as .p12, or convert it with "
                        + "openssl x509 -inform DER -in FILE -out cert.pem and give the key's file, too"
                    : "give the .p8 file of a signing key")
        default: return nil
        }
    }

    private var downloadHint: String {
        wanted != .signingKey ? "" : "; give the .p8 file, which Apple's site gives once"
    }

    private var withoutBegin: String? {
        let start = firstInk
        if begins("<", at: start) {
            return "this is a web page or a property list, and no key; download the file again"
        }
        if begins("ssh-", at: start) || begins("ecdsa-sha2-", at: start) {
            return "this is a key of SSH, which APNs does not accept"
        }
        if find("BEGIN ") != nil {
            return
                "the five dashes around BEGIN and END are other characters; write -----BEGIN and -----END with hyphens"
        }
        guard isBase64(from: start) else { return nil }
        if begins("LS0tLS1CRUdJTi", at: start) { return "this is base64 of the file; decode it with base64 -d" }
        guard begins("MI", at: start) || begins("MH", at: start) || begins("ME", at: start) else { return nil }
        return "the lines -----BEGIN PRIVATE KEY----- and -----END PRIVATE KEY----- are missing; "
            + "put them before and behind the base64"
    }

    /// The place of the first character, without a byte order mark.
    private var firstInk: Int {
        var index = begins([0xEF, 0xBB, 0xBF], at: 0) ? 3 : 0
        while index < bytes.count, isBlank(bytes[index]) || isLineEnd(bytes[index]) { index += 1 }
        return index
    }

    private func isBase64(from start: Int) -> Bool {
        guard start < bytes.count else { return false }
        for index in start..<bytes.count {
            let byte = bytes[index]
            let isLetter = (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10
            guard
                isLetter || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "=")
                    || isBlank(byte) || isLineEnd(byte)
            else { return false }
        }
        return true
    }
}

// MARK: PEM

extension DamagedFile {
    /// What is wrong with the lines of a PEM text.
    private var ofLines: String? {
        let isQuoted = begins("\"", at: firstInk) || begins("'", at: firstInk) || begins("{", at: firstInk)
        if find("-----\\n") != nil || find("-----\\r") != nil {
            return "the line breaks are the two characters \\n; write line breaks, as printf '%b' does"
                + (isQuoted ? ", and the PEM without what is around it" : "")
        }
        if isQuoted { return "the PEM is in quotes or in JSON; write it alone" }
        if let block = firstBlock, find("\n", in: block) == nil {
            if find("\r", in: block) != nil { return "lines end in CR alone; convert them with tr '\\r' '\\n'" }
            return
                "the line breaks are missing or became blanks; there must be one behind the line -----BEGIN … and one "
                + "before the line -----END …"
        }
        if isIndented { return "lines are indented; remove the blanks at their beginnings" }
        return find("-----END ") == nil ? "the line -----END … is missing: the file is cut off; copy it again" : nil
    }

    /// What is between the first marks; nil if the second is missing.
    private var firstBlock: Range<Int>? {
        guard let start = find("-----BEGIN "), let end = find("-----END ", in: start..<bytes.count) else { return nil }
        return start..<end
    }

    /// Whether a line of a block begins with a blank. Other lines may.
    private var isIndented: Bool {
        var isInside = false
        var start = 0
        while start < bytes.count {
            var ink = start
            while ink < bytes.count, isBlank(bytes[ink]) { ink += 1 }
            if begins("-----BEGIN ", at: ink) { isInside = true }
            if isInside, ink > start, ink < bytes.count, !isLineEnd(bytes[ink]) { return true }
            if begins("-----END ", at: ink) { isInside = false }
            while start < bytes.count, bytes[start] != UInt8(ascii: "\n") { start += 1 }
            start += 1
        }
        return false
    }

    private func ofBlocks(_ error: CredentialError) -> String? {
        if find("-----BEGIN OPENSSH PRIVATE KEY") != nil {
            return "this is a key of SSH, which APNs does not accept" + downloadHint
        }
        switch error.cause {
        case .wrongBlock: return error.detail + cureOfWrongBlock
        case .malformed where wanted != .certificate:
            return
                "the text between -----BEGIN … and -----END … is damaged, or of another kind of key (\(error.detail)); "
                + "copy the file again from where it is kept"
        default: return nil
        }
    }

    private var cureOfWrongBlock: String {
        if find("-----BEGIN CERTIFICATE REQUEST") != nil || find("-----BEGIN NEW CERTIFICATE REQUEST") != nil {
            return "; this is a request for a certificate, not the certificate"
        }
        if wanted == .certificate { return "; this file has no certificate" }
        if find("-----BEGIN CERTIFICATE") != nil {
            return wanted == .signingKey
                ? downloadHint
                : "; the key is in a file of its own, or in the .p12 file from which the certificate was exported"
        }
        return find("PUBLIC KEY-----") != nil ? "; the private key is needed" + downloadHint : ""
    }
}

// MARK: Bytes

extension DamagedFile {
    private func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    private func isLineEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }

    private func begins(_ text: String, at index: Int) -> Bool { begins(Array(text.utf8), at: index) }

    private func begins(_ text: [UInt8], at index: Int) -> Bool {
        guard index + text.count <= bytes.count else { return false }
        for offset in text.indices where bytes[index + offset] != text[offset] { return false }
        return true
    }

    private func find(_ text: String) -> Int? { find(text, in: 0..<bytes.count) }

    private func find(_ text: String, in range: Range<Int>) -> Int? {
        let text = Array(text.utf8)
        return range.first { begins(text, at: $0) }
    }

    /// The bytes of the file, borrowed; 0 outside of them.
    @safe fileprivate struct Bytes {
        private let bytes: UnsafeRawBufferPointer

        init(_ bytes: UnsafeRawBufferPointer) {
            unsafe self.bytes = unsafe bytes
        }

        var count: Int { unsafe bytes.count }
        var isEmpty: Bool { count == 0 }
        subscript(index: Int) -> UInt8 { index >= 0 && index < count ? unsafe bytes[index] : 0 }
    }
}
