/// Keys and certificates that are used only in these tests.
enum Fixtures {
    /// An RSA-2048 key as PKCS#8.
    static let rsa = pem(
        """
        -----BEGIN PRIVATE KEY-----
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCMQ5aj+n45SZKC
        3ROtYH2bTkOAB0f7m03mGJB86jwmB0N9XspFM5WoraR7G1OBdIEUHGmAHrAmZotl
        fn7c/UZk0aSx33U9kwL+yPASR7Nsqlvr3E3s3gG4hP2mXf3QaI5P5lu7k323ufeJ
        m4l7xOPIJOWq4z9A4jXfR8L5xStv0ufyDSN5zpazhJulSsTUiYk+lFZUvxrT3UKp
        OYM56ZBuEhx2yXpn4ayUFnuzohWXE78vxZ7kX3XbecVcqaHZ4nB2HKjgV5ETMkdR
        t24Gj0lJZYVu+5/xOtCeVsdU7CENrnvnjjhs/11Iy4KBwjee61XCMFCrrOTh9tnZ
        8ZnW47JLAgMBAAECggEAA6jIo/vgIAoK5HqtYvc7szoA0NFfz9SfpBfLhhpQ+hJX
        VGkbV5kQe16IzVZLZFBTkxlo4eAj+Tjw/Lqmx0/WCzNOv1N0qj0+vImXtj7SaNrn
        KiJT5+YWZktOXzhR3YaAVxYvb16veWeZ9+EWeurRaEX8YM+d0fP4a9UMyLZ/Qkaq
        NdvCKJXD7w27VjPmaDhuk+3yz6/ZJBqzm++4CPCxmAXjRCJRY82L2BI0H4XMoAPn
        V3xXfJb6bWEJH2j06c8Z9UEboICWDfSusbI7/vQwnacouV7FFEes8m2kRoW5Ct6m
        BOVAGLOneIH1u3haarlCne2jWRLyEG9wAqk4TCPxgQKBgQDE6ENcjY2YgzcvFoWZ
        Nes01OkLFMAVi2En/rXCyACPFtJuQyZHVloEhxin4KX3pW5vAzUyerfUvQpJPnEW
        cbfd6ExmLoSW5aepYYz2Q6E9vbQa44dAHAI1NLRsrfl+er2P2Mej2LFRgC6V3u2J
        t/lkih9EsOpNw/nsckcpxMx6mwKBgQC2W5xB6e+p0dMnsWvohhqd5Cq3m246IJTE
        06x7VreU9tXpyjEtwpEXmtNosZ+62jWL9Om/hYA/pJrUn4o2vxKEl7xMTWAR4wAJ
        6vgsHwA1ucawAWHXOXVhAOdKH9PjxCoVpnm0frcHXg8uGirFzArlS7nQey6W4Iqa
        LNrn2SiKEQKBgDF6e5LCLxZnwnIeoquBFP1NktGqASpov50hL+MmBp3uCiqSzQeX
        9z60A8oLdSjpdPqIP9HTbGYUqoUFH72YDa/BM5Fplv+j7aFuVdF75QRyqtMm4VGG
        uDdOaxf0D4Fsrj17J49QYB4uq4YVYnL8u7o7yuej3Px1hlOX07H3NbqJAoGAWJyv
        k3//y7+AIdufGgCAUpUbBNlseKZ4ZCSPvednkeVYESEFQL05EAVWEZuuiHecaYP7
        SeuvZD2yVvunh+7VKsUo5NL8ifSKgkdBjP8LdQ/vMnuZdaIgHaD4wxYwOo+J+7dH
        kKO6gMP+EGL6wd7itIVVp68T9pDqCP0e6malwmECgYEAr1K42saSgy9zJeEnV/Um
        IFLpa3qR/+OmOy+FNUeXfM45UG3dJl+Pla0G8YCyPQ5MLKaPF1X5e66CGECw724b
        atXmMomoEb+vFBXJWoSz51q2NOnxzOEf+RTwjo4ykLx+Ut6Y6J4hAEd6URNYYYz/
        Om0zivdVA9VhOYTBzFltx+A=
        -----END PRIVATE KEY-----
        """)

    /// A certificate that is self-signed with ``rsa``; its UID is com.example.app, and it is valid from 2024-01-02
    /// 03:04:05 to 2051-02-03 04:05:06 UTC.
    static let rsaCertificate = pem(
        """
        -----BEGIN CERTIFICATE-----
        MIIDGzCCAgOgAwIBAgIBTTANBgkqhkiG9w0BAQsFADBQMR8wHQYKCZImiZPyLGQB
        AQwPY29tLmV4YW1wbGUuYXBwMS0wKwYDVQQDDCRBcHBsZSBQdXNoIFNlcnZpY2Vz
        OiBjb20uZXhhbXBsZS5hcHAwIBcNMjQwMTAyMDMwNDA1WhgPMjA1MTAyMDMwNDA1
        MDZaMFAxHzAdBgoJkiaJk/IsZAEBDA9jb20uZXhhbXBsZS5hcHAxLTArBgNVBAMM
        JEFwcGxlIFB1c2ggU2VydmljZXM6IGNvbS5leGFtcGxlLmFwcDCCASIwDQYJKoZI
        hvcNAQEBBQADggEPADCCAQoCggEBAIxDlqP6fjlJkoLdE61gfZtOQ4AHR/ubTeYY
        kHzqPCYHQ31eykUzlaitpHsbU4F0gRQcaYAesCZmi2V+ftz9RmTRpLHfdT2TAv7I
        8BJHs2yqW+vcTezeAbiE/aZd/dBojk/mW7uTfbe594mbiXvE48gk5arjP0DiNd9H
        wvnFK2/S5/INI3nOlrOEm6VKxNSJiT6UVlS/GtPdQqk5gznpkG4SHHbJemfhrJQW
        e7OiFZcTvy/FnuRfddt5xVypodnicHYcqOBXkRMyR1G3bgaPSUllhW77n/E60J5W
        x1TsIQ2ue+eOOGz/XUjLgoHCN57rVcIwUKus5OH22dnxmdbjsksCAwEAATANBgkq
        hkiG9w0BAQsFAAOCAQEAijSweII8s3inIfwPLViYkLr/ynW18nR3Mt3+YEaNaynO
        IQIxQxh/JhBK1kz5g8a0Ejg5YpbwN9e8q+fDZ6UN5DLkDRDqhLh/jGEt/WmtA8n4
        hihu8ev5tVXVR8vMsjyh9Wg9syjM0eie3n07vKMaCMiLOo/47uTLS++BKsnayBdc
        CLIiAyKlrZ9GFDpNEE+QzYiI+SxRkVr14s9sXeOKalLCMYYLmfokJQoF/t83kOvZ
        gca0nD0KcLOC1AoM7GLWVs+bOMHnwMu3SNvMXnI96C+PyuYl0MGo9MYQQYsoDmRY
        MKQGMHLzwQLgueYUObV9BPPili0ASzhV1rMjQr6cwg==
        -----END CERTIFICATE-----
        """)

    /// A key on the curve P-384, as PKCS#8.
    static let p384 = pem(
        """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDC5QfJPJQI7McHosxiF
        26XsyOZ5wfBjWSkAmXSs+vuekhP/R722U0BCBqwwHtwMXJOhZANiAAS4kG/ynWuK
        XzkK/JNhKpiwniBUPKE8EEGtYcOfGsvF5jqWFRILzCwe1kHvTvZnbNT61O89uUWi
        kMdpPDu7GjCyYVBNq7ISFSyc2eUZfRmquZKmA4C77kl/ZgqubG230aM=
        -----END PRIVATE KEY-----
        """)

    /// A key on the curve secp256k1, as PKCS#8. It has the right size, but is on the wrong curve.
    static let secp256k1 = pem(
        """
        -----BEGIN PRIVATE KEY-----
        MIGEAgEAMBAGByqGSM49AgEGBSuBBAAKBG0wawIBAQQgQUADolGoBCJOpznAIuF1
        qFGaTDSUwhxlr6ExlsZIR36hRANCAASBkDuFkTsd/9ZlhYQwSsazIJIIihthXz78
        BmPqGm00i13RTLE8R679fQCByoGiGem60tWMr16rUI46DWTHrTGB
        -----END PRIVATE KEY-----
        """)

    /// An Ed25519 key as PKCS#8.
    static let ed25519 = pem(
        """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIFCSC/0hWJrQDOheWmNAV7w8Mk1g6D/6nYqLHhKS3cPs
        -----END PRIVATE KEY-----
        """)

    /// A key on P-256, as PKCS#8, as in Apple's .p8 files.
    static let p256 = pem(
        """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgOd2HPN6BZHcWd4ZZ
        D5oqNXonHMX1uwPTyx0sfqFe/V6hRANCAASVrYqpezFeslDKiNoWsdjqr9sbMoAj
        qTY34amj5XSvCcCC8SI/1Ax8GqPNTBdBaq6RkjJsDyUMLxuHCrBUJK1r
        -----END PRIVATE KEY-----
        """)

    /// The key of ``p256`` as SEC 1.
    static let p256SEC1 = pem(
        """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIDndhzzegWR3FneGWQ+aKjV6JxzF9bsD08sdLH6hXv1eoAoGCCqGSM49
        AwEHoUQDQgAEla2KqXsxXrJQyojaFrHY6q/bGzKAI6k2N+Gpo+V0rwnAgvEiP9QM
        fBqjzUwXQWqukZIybA8lDC8bhwqwVCStaw==
        -----END EC PRIVATE KEY-----
        """)

    /// The key of ``p256`` as encrypted PKCS#8; its passphrase is `open sesame`.
    static let p256Encrypted = pem(
        """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIH0MF8GCSqGSIb3DQEFDTBSMDEGCSqGSIb3DQEFDDAkBBCfPLWaKwTbo3RfxZ4d
        5hEyAgIIADAMBggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBKgQQuPwHysBFPFcZKMYX
        ayjQJASBkFft0xGLfMQG7UoL02SQ7pzQAcwmF2tzmqbI7qa7Hzq30tNVEfMlZ4eP
        7X4kW8bvh7q9YYVGnS5mwRHpno6b7yc6U/H3H4E2jiHYJLjwyZcXdsWLTjp4vJv9
        /HhLYy4kC1ATrbS24oNkiBuBgYLn1HVzgbTg4sp4oHuFQDchi+q/D6XeLCRDED7v
        trbqDQvDFw==
        -----END ENCRYPTED PRIVATE KEY-----
        """)

    /// The key of ``p256`` as SEC 1 with the old `Proc-Type` encryption; its passphrase is `open sesame`.
    static let p256EncryptedSEC1 = pem(
        """
        -----BEGIN EC PRIVATE KEY-----
        Proc-Type: 4,ENCRYPTED
        DEK-Info: AES-256-CBC,2DC9448BD79D45AE785DB69A8EB97E6B

        XXIvm003TBJ0MYeUSkmVNWbLUN/4rF0JM126o0pzS68ZMp6bd0SN/mOySzM6rFd4
        ou6U9Oxqdu0nZ7y/S8jCysKOY2owSrw7ldP3WXkVbfX8S1p7C5py3pR9WegqbNpe
        wKnCqWMZ7MNWxwxuGQeZS28lYaJ5zSzus4sfwBF/yRg=
        -----END EC PRIVATE KEY-----
        """)

    /// The public part of ``p256``.
    static let p256Public = pem(
        """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEla2KqXsxXrJQyojaFrHY6q/bGzKA
        I6k2N+Gpo+V0rwnAgvEiP9QMfBqjzUwXQWqukZIybA8lDC8bhwqwVCStaw==
        -----END PUBLIC KEY-----
        """)

    /// The public part of ``rsa``.
    static let rsaPublic = pem(
        """
        -----BEGIN PUBLIC KEY-----
        MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAjEOWo/p+OUmSgt0TrWB9
        m05DgAdH+5tN5hiQfOo8JgdDfV7KRTOVqK2kextTgXSBFBxpgB6wJmaLZX5+3P1G
        ZNGksd91PZMC/sjwEkezbKpb69xN7N4BuIT9pl390GiOT+Zbu5N9t7n3iZuJe8Tj
        yCTlquM/QOI130fC+cUrb9Ln8g0jec6Ws4SbpUrE1ImJPpRWVL8a091CqTmDOemQ
        bhIcdsl6Z+GslBZ7s6IVlxO/L8We5F9123nFXKmh2eJwdhyo4FeREzJHUbduBo9J
        SWWFbvuf8TrQnlbHVOwhDa575444bP9dSMuCgcI3nutVwjBQq6zk4fbZ2fGZ1uOy
        SwIDAQAB
        -----END PUBLIC KEY-----
        """)

    private static func pem(_ text: String) -> [UInt8] { Array((text + "\n").utf8) }
}
