#!/usr/bin/python3
"""Makes a client certificate that is valid for DAYS more days; with a negative number it ended so long ago.

    make_client_certificate.py DIRECTORY PASSPHRASE DAYS

Writes client.pem (certificate and key), client.p12 (modern) and old.p12 (RC2 and 3DES), both under the passphrase.
"""

import datetime
import os
import pathlib
import subprocess
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import pkcs12

os.umask(0o077)  # there are keys in them
directory, passphrase, days = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
key = rsa.generate_private_key(65537, 2048)
name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Apple Push Services: com.example.app")])
now = datetime.datetime.utcnow()
end = now + datetime.timedelta(days=days, minutes=30)
certificate = (
    x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    .serial_number(x509.random_serial_number()).not_valid_before(min(now, end) - datetime.timedelta(days=1))
    .not_valid_after(end).sign(key, hashes.SHA256()))
encoding = serialization.Encoding.PEM
plain = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
(directory / "client.pem").write_bytes(certificate.public_bytes(encoding) + plain)
(directory / "client.p12").write_bytes(pkcs12.serialize_key_and_certificates(
    b"client", key, certificate, None, serialization.BestAvailableEncryption(passphrase.encode())))
subprocess.run(
    ["openssl", "pkcs12", "-export", "-legacy", "-in", directory / "client.pem", "-out", directory / "old.p12",
     "-passout", f"pass:{passphrase}"], check=True)
