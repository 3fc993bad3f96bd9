/// What a text is that stands where a device token belongs, and what to do about it: one case for each form in which exports have tokens.
///
/// No message shows any of the token.
enum ForeignToken: CaseIterable {
    case expo, fcm, description, cutDescription, bytea, prefixed, separated, quoted, pythonBytes, uuid, base64, url,
        jwt, exponent, nullWord, footer

    /// Returns what a text is; nil if it is nothing that is known.
    static func find(in text: UnsafeRawBufferPointer) -> ForeignToken? {
        let text = unsafe Text(bytes: Array(text).trimmed)
        return allCases.first { $0.isForm(of: text) }
    }

    /// What the text is, and what to do.
    var message: String {
        switch self {
        case .expo:
            "a token of Expo, which only Expo's service can use; export the token that getDevicePushTokenAsync() gives"
        case .fcm:
            "a registration token of FCM, which only FCM can use; export the APNs token of the device (apnsToken)"
        case .description:
            "the description of a token, with brackets and blanks; write its hex digits only, without < and > and blanks"
        case .cutDescription:
            "the description of a token that iOS 13 and later print, which lacks bytes in the middle; "
                + "have the app send all bytes as hex digits"
        case .bytea: "the hex digits of a bytea of PostgreSQL; leave out the \\x, as encode(token, 'hex') does"
        case .prefixed: "hex digits behind 0x; leave out the 0x"
        case .separated: "hex digits with other characters between them; write the digits only"
        case .quoted: "a token in quotes of its own; write the hex digits only"
        case .pythonBytes: "bytes as Python prints them; write token.hex()"
        case .uuid: "a UUID, which names a device or a user elsewhere; export the token that APNs gave to the app"
        case .base64: "base64 of 32 bytes; write the same bytes as 64 hex digits"
        case .url: "a URL, as Web Push has; export the token that APNs gave to the app"
        case .jwt: "a JSON Web Token; export the token that APNs gave to the app"
        case .exponent: "a number that a spreadsheet has rounded; export the column as text"
        case .nullWord: "a word for no value; leave such rows out of the export"
        case .footer:
            "the line that a database client or an old program writes behind the last row; remove it, or export as CSV"
        }
    }

    private func isForm(of text: Text) -> Bool {
        switch self {
        case .expo: text.begins("ExponentPushToken[") || text.begins("ExpoPushToken[")
        case .fcm: text.has(":APA91b") || text.begins("APA91b")
        case .description: text.begins("<") && text.ends(">") && text.isHex(except: "<> ")
        case .cutDescription: text.begins("{length") || text.has("bytes = 0x") || text.has("bytes=0x")
        case .bytea: text.begins("\\x") && text.dropping(2).isHex()
        case .prefixed: (text.begins("0x") || text.begins("0X")) && text.dropping(2).isHex(except: " ")
        case .separated: text.isHex(except: " :-,.") && !text.isHex() && text.digits >= 32 && !text.isUUID
        case .quoted: (text.begins("\"") || text.begins("'")) && text.isHex(except: "\"'") && text.digits >= 2
        case .pythonBytes: text.begins("b'") || text.begins("b\"") || text.begins("bytearray(")
        case .uuid: text.isUUID
        case .base64: text.isBase64OfTokenSize
        case .url: text.begins("https://") || text.begins("http://")
        case .jwt: text.begins("eyJ") && text.has(".")
        case .exponent: text.isExponent
        case .nullWord: Self.nullWords.contains { text.bytes.elementsEqual($0.utf8) }
        case .footer: text.isFooter
        }
    }

    private static let nullWords = [
        "NULL", "null", "None", "nil", "\\N", "undefined", "(null)", "<null>", "NaN", "nan", "N/A", "#N/A",
    ]
}

extension ForeignToken {
    /// A text that is no token.
    fileprivate struct Text {
        let bytes: [UInt8]

        func begins(_ text: String) -> Bool { bytes.starts(with: text.utf8) }
        func ends(_ text: String) -> Bool { bytes.reversed().starts(with: text.utf8.reversed()) }
        func dropping(_ count: Int) -> Text { Text(bytes: Array(bytes.dropFirst(count))) }
        func has(_ text: String) -> Bool { bytes.indices.contains { bytes[$0...].starts(with: text.utf8) } }

        /// The number of hex digits.
        var digits: Int { bytes.count(where: DeviceToken.isHexDigit) }

        func isHex(except others: String = "") -> Bool {
            !bytes.isEmpty && bytes.allSatisfy { DeviceToken.isHexDigit($0) || others.utf8.contains($0) }
        }

        /// `(12 rows)` of psql, `12 rows in set (0.00 sec)` of mysql, `\.` of COPY, and Ctrl-Z.
        var isFooter: Bool {
            if bytes == [0x1A] || bytes.elementsEqual("\\.".utf8) { return true }
            let text = begins("(") ? bytes.dropFirst() : bytes[...]
            let digits = text.prefix(while: \.isDigit)
            let rest = text.dropFirst(digits.count)
            return !digits.isEmpty && rest.starts(with: " row".utf8)
        }

        /// 8-4-4-4-12 hex digits, with or without braces.
        var isUUID: Bool {
            let text = begins("{") && ends("}") ? bytes.dropFirst().dropLast() : bytes[...]
            let groups = text.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
            return groups.map(\.count) == [8, 4, 4, 4, 12]
                && groups.allSatisfy { $0.allSatisfy(DeviceToken.isHexDigit) }
        }

        /// The base64 of 32 bytes has 43 characters and a sign that fills the last group, which may be missing. URLs have `-` and `_`.
        var isBase64OfTokenSize: Bool {
            let text = bytes.last == UInt8(ascii: "=") ? bytes.dropLast() : bytes[...]
            return text.count == 43 && !isHex() && text.allSatisfy { $0.isLetterOrDigit || "+/-_".utf8.contains($0) }
        }

        /// A number such as 1.23457E+76.
        var isExponent: Bool {
            let parts = bytes.split { $0 | 0x20 == UInt8(ascii: "e") }
            guard parts.count == 2, parts[1].first == UInt8(ascii: "+") else { return false }
            return parts[0].allSatisfy { $0.isDigit || ".,".utf8.contains($0) }
                && parts[1].dropFirst().allSatisfy(\.isDigit)
        }
    }
}

extension [UInt8] {
    /// Without blanks at both ends.
    fileprivate var trimmed: [UInt8] {
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        return Array(drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
}
