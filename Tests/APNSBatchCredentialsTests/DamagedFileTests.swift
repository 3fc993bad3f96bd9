import APNSBatchBasics
import Foundation
import Testing

@testable import APNSBatchCredentials

/// Files of keys and certificates as secret stores, editors and people have left them.
@Suite("Damaged files of keys") struct DamagedFileTests {
    struct Damage: Sendable, CustomTestStringConvertible {
        var name: String
        var change: @Sendable (String) -> [UInt8]
        var cure: String
        var testDescription: String { name }

        init(_ name: String, _ cure: String, _ change: @escaping @Sendable (String) -> String) {
            (self.name, self.cure, self.change) = (name, cure, { Array(change($0).utf8) })
        }

        init(_ name: String, _ cure: String, bytes change: @escaping @Sendable (String) -> [UInt8]) {
            (self.name, self.cure, self.change) = (name, cure, change)
        }
    }

    static func body(_ pem: String) -> String {
        pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined(separator: "\n")
    }

    static func der(_ pem: String) -> [UInt8] {
        [UInt8](Data(base64Encoded: body(pem).replacing("\n", with: "")) ?? Data())
    }

    static let damages: [Damage] = [
        Damage(#"the two characters \n"#, #"the line breaks are the two characters \n"#) {
            $0.replacing("\n", with: #"\n"#)
        },
        Damage(#"the characters \r\n"#, #"the two characters \n"#) { $0.replacing("\n", with: #"\r\n"#) },
        Damage(#"\n in quotes"#, "and the PEM without what is around it") {
            "\"" + $0.replacing("\n", with: #"\n"#) + "\"\n"
        },
        Damage("JSON", "and the PEM without what is around it") {
            #"{"key":""# + $0.replacing("\n", with: #"\n"#) + "\"}"
        },
        Damage("quotes", "the PEM is in quotes or in JSON") { "'\($0)'" },
        Damage("blanks for line breaks", "the line breaks are missing or became blanks") {
            $0.replacing("\n", with: " ")
        },
        Damage("blanks, and a line break at the end", "the line breaks are missing or became blanks") {
            $0.replacing("\n", with: " ") + "\n"
        },
        Damage("no line breaks", "the line breaks are missing or became blanks") { $0.replacing("\n", with: "") },
        Damage("indented", "lines are indented") { $0.split(separator: "\n").map { "    \($0)\n" }.joined() },
        Damage("indented by tabs", "lines are indented") { $0.split(separator: "\n").map { "\t\($0)\n" }.joined() },
        Damage("CR alone", "lines end in CR alone") { $0.replacing("\n", with: "\r") },
        Damage("UTF-16", "the file is UTF-16", bytes: { text in [0xFF, 0xFE] + text.utf8.flatMap { [$0, 0] } }),
        Damage(
            "UTF-16 of the other order", "the file is UTF-16",
            bytes: { text in [0xFE, 0xFF] + text.utf8.flatMap { [0, $0] } }),
        Damage("UTF-16 without a mark", "the file is UTF-16", bytes: { text in text.utf8.flatMap { [$0, 0] } }),
        Damage("DER", "the key is DER; convert it", bytes: { der($0) }),
        Damage("base64 of the file", "this is base64 of the file") { Data($0.utf8).base64EncodedString() },
        Damage("base64 of the file, in lines", "this is base64 of the file") {
            Data($0.utf8).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed]) + "\n"
        },
        Damage("the base64 alone", "the lines -----BEGIN PRIVATE KEY-----") { body($0) },
        Damage("the base64 alone, in one line", "the lines -----BEGIN PRIVATE KEY-----") {
            body($0).replacing("\n", with: "") + "\n"
        },
        Damage("no END", "the line -----END … is missing") { String($0.prefix($0.count - 27)) },
        Damage("dashes", "the five dashes around BEGIN") { $0.replacing("-----", with: "—–—") },
        Damage("a web page", "this is a web page") { _ in "\n<!DOCTYPE html>\n<html></html>\n" },
        Damage("a public key of SSH", "this is a key of SSH") { _ in "ssh-ed25519 AAAAC3Nz x@y\n" },
        Damage("a private key of SSH", "this is a key of SSH") { $0.replacing("PRIVATE", with: "OPENSSH PRIVATE") },
        Damage("damaged base64", "is damaged, or of another kind") { $0.replacing("MI", with: "Mé") },
    ]

    @Test("A damaged signing key is named for its damage, with the cure, and not shown", arguments: damages)
    func signingKeys(damage: Damage) {
        let pem = String(decoding: Fixtures.p256, as: UTF8.self)
        let error = #expect(throws: CredentialError.self) { try SigningKey(pem: damage.change(pem)) }
        #expect(error?.detail.contains(damage.cure) == true, "\(error?.detail ?? "")")
        expectSecrecy(error, pem)
    }

    @Test("A damaged key of a client certificate is named likewise", arguments: damages)
    func certificateKeys(damage: Damage) {
        let pem = String(decoding: Fixtures.rsa, as: UTF8.self)
        let error = #expect(throws: CredentialError.self) {
            try ClientCertificate(file: Fixtures.rsaCertificate, keyPEM: damage.change(pem))
        }
        #expect(error?.detail.contains(damage.cure) == true, "\(error?.detail ?? "")")
        #expect(error?.detail.contains(".p8") == false)
        expectSecrecy(error, pem)
    }

    private func expectSecrecy(_ error: CredentialError?, _ pem: String) {
        let secret = Array(Self.body(pem).replacing("\n", with: ""))
        for start in stride(from: 0, to: secret.count - 8, by: 4) {
            #expect(error?.detail.contains(String(secret[start..<(start + 8)])) == false)
        }
    }

    @Test("Files that are only unusual are read")
    func unusual() throws {
        let pem = String(decoding: Fixtures.p256, as: UTF8.self)
        let lines = pem.split(separator: "\n")
        for text in [
            pem.replacing("\n", with: "\r\n"), "\u{FEFF}" + pem, pem + "\n\n", "\n\n" + pem, String(pem.dropLast()),
            "Bag Attributes\n    friendlyName: push\n" + pem, lines.map { $0 + "  \n" }.joined(),
            [lines[0], lines[1...(lines.count - 2)].joined()[...], lines[lines.count - 1]].joined(separator: "\n"),
        ] { _ = try SigningKey(pem: Array(text.utf8)) }
    }

    @Test("A certificate, a PKCS#12 file or a public key in place of a signing key is named")
    func others() throws {
        let certificate = String(decoding: Fixtures.rsaCertificate, as: UTF8.self)
        let publicKey = String(decoding: Fixtures.p256Public, as: UTF8.self)
        let request = certificate.replacing("CERTIFICATE", with: "CERTIFICATE REQUEST")
        for (file, cure) in [
            (Array(certificate.utf8), "CERTIFICATE, expected a PRIVATE KEY; give the .p8 file"),
            (
                Self.der(certificate),
                "this is a certificate (.cer) as Apple's site gives it, without its private key; give the .p8 file"
            ),
            (Array(publicKey.utf8), "PUBLIC KEY, expected a PRIVATE KEY; the private key is needed; give the .p8 file"),
            (Self.der(publicKey), "this is a public key; the private key is needed; give the .p8 file"),
            (Array(request.utf8), "this is a request for a certificate, not the certificate"),
            ([0x30, 0x82, 0x0A, 0x00, 0x02, 0x01, 0x03, 0x30, 0x82, 0x09], "this is a PKCS#12 file"),
        ] {
            let error = #expect(throws: CredentialError.self) { try SigningKey(pem: file) }
            #expect(error?.detail.contains(cure) == true, "\(error?.detail ?? "") – \(cure)")
        }
    }

    @Test("A certificate without its key is named, whatever its form")
    func certificates() throws {
        let certificate = String(decoding: Fixtures.rsaCertificate, as: UTF8.self)
        for (file, cure) in [
            (
                Self.der(certificate),
                "this is a certificate (.cer) as Apple's site gives it, without its private key; export"
            ),
            (Array(certificate.utf8), "the key is in a file of its own, or in the .p12 file"),
            (Array(certificate.replacing("\n", with: " ").utf8), "the line breaks are missing or became blanks"),
            (Array(certificate.replacing("\n", with: #"\n"#).utf8), #"the two characters \n"#),
            (Fixtures.rsa, "expected a CERTIFICATE; this file has no certificate"),
        ] {
            let error = #expect(throws: CredentialError.self) { try ClientCertificate(file: file, keyPEM: file) }
            #expect(error?.detail.contains(cure) == true, "\(error?.detail ?? "") – \(cure)")
        }
    }

    @Test("A file with a changed byte or cut anywhere causes no crash")
    func changed() {
        for file in [Fixtures.p256, Self.der(String(decoding: Fixtures.p256, as: UTF8.self))] {
            for index in file.indices {
                var changed = file
                changed[index] ^= 0x20
                _ = try? SigningKey(pem: changed)
                _ = try? SigningKey(pem: Array(file.prefix(index)))
                _ = try? SigningKey(pem: Array(file.dropFirst(index)))
            }
        }
    }
}
