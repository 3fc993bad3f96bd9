import CAPNSAllocationScenarios
import Foundation

/// A PKCS#12 file with the passphrase "secret" and an RSA key, which are used only in this test.
struct TestFiles {
    func withRecord(_ body: (UnsafePointer<scenario_crypto_input>) -> Void) throws {
        let pkcs12 = [UInt8](Data(base64Encoded: Self.pkcs12, options: .ignoreUnknownCharacters)!)
        let recipient = Array(Self.recipient.filter { $0 != "\n" }.utf8)
        pkcs12.withUnsafeBufferPointer { pkcs12 in
            recipient.withUnsafeBufferPointer { recipient in
                var record = scenario_crypto_input(
                    pkcs12: pkcs12.baseAddress, recipient: recipient.baseAddress, pkcs12_length: pkcs12.count,
                    recipient_length: recipient.count)
                body(&record)
            }
        }
    }

    private static let pkcs12 = """
        MIID/AIBAzCCA7IGCSqGSIb3DQEHAaCCA6MEggOfMIIDmzCCAlIGCSqGSIb3DQEHBqCCAkMwggI/AgEAMIICOAYJKoZIhvcNAQcB
        MFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgJukzt6Mr5ZwICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEGza
        FYl3w6APYdtZvD4lnhCAggHQ7n49sHzDDFuR2dIEfLSEG4K48NYGx8E6oPl1SGUTlPNRXnq31RIQ2dhoXJBPk1CMmgnX+t8L9Hnh
        8RIxQp9C891tDg9VK3b8LMmrpq7jHhLef0Qg2A8L1s1gRF2LkegjsfCQBrrusRCesmcZtJcwC8glYcCdwEGM61KJv9u5QAcDclhv
        RxlByOn7LPthOeBgrMpz5RoOrs4XU+6wRXRn/wVorJdC/DM/7z8EId5r3061d7Pfy6LlnS5CBft1g6XUL8PDnr1E9E1JiFx+4VHx
        IuQqQnFqvfbQBXfX2ixkhyp9BL9OUyqSuRCFPBLCHAz92ZYQypwmwLCFv8mrrpTSdyIcEgdn71/90waMe0o75Y6xKrDI+Hjwv7Ei
        n1LuDdVTvyeNTHuoNkHkfWPVJyZ95gqin+ORrZeZDzapIgaHpILndIaAQU01BrpaVIGw7x1i1OaeBs+KZfxdAlt2Nz8eL4MQXOCP
        fjYY03ZnrKP1PiZ0W6O5ed0AtoYQZH4FU0TVQxE1FxfQmR1jmJwpIqorNQhfoqmy470p7M+/ayYS0O4133w1io+QKU1kmIVPlI2v
        p0GbBq5ZiSUfJTm4fuVOQqDYDMooBEh9dFVyOstdnRQwggFBBgkqhkiG9w0BBwGgggEyBIIBLjCCASowggEmBgsqhkiG9w0BDAoB
        AqCB7zCB7DBXBgkqhkiG9w0BBQ0wSjApBgkqhkiG9w0BBQwwHAQI15u+RjOHhZQCAggAMAwGCCqGSIb3DQIJBQAwHQYJYIZIAWUD
        BAEqBBD6gZrmpHnsiAC4xGH/rFa0BIGQ13vNE/2SVppaRr2zYf13G6qyoK0H7rFSXAMzCnYGOrdd0IIBtl3Z7cuM9vfIGc/Dj0fr
        P4E0fDyURfxxAyZYtk0rawfqE8RW5y1GSS6upAl2MPd3N6iWxChlaWipaWpVrt8ofp+rZA/7vwh7As3PgWc/lUmimzL73XbVq90w
        uVxMxD3lXuegTNSHAALg6iLIMSUwIwYJKoZIhvcNAQkVMRYEFJiZZZHnrZmy9iXDpjrjbH9/hXy+MEEwMTANBglghkgBZQMEAgEF
        AAQg/fepMcTOtQxQkhVIwQgMIXfT11iaE7LUi3HZ961sxCkECMD9crDvRCF2AgIIAA==
        """

    /// A SubjectPublicKeyInfo in base64.
    private static let recipient = """
        MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA3thYJ8VRczHe8zjAERZDoczAn/T9ZI0BAUGdAO+3GpVgH/IJ9Aas2XnM
        o6U/OUfazGFsu2DklikcR6CYoytDNqWEHSJor4UMyx/IrNHoWw+OFHwKUJPHDSUCB2Qa20hEyl3ElxMi5oZghxK4YBw6l3MKBLTR
        RZWTne9mClLyuegsUQuTveD5ih5hwsP1rdAZjILSHMwcStIb24E19pGZeOWzHhVIuPzE/e+pBnP3q6cMJMGuutHULiqECfZD0k4g
        mZxRi561/Lkl4ghdFjWFipaYnlWNGsWPJTLN6S20SO8qwS23x3kBx88nWjE3YCpoyluRkj4WBmPLK+HmjwKXxQIDAQAB
        """
}
