#!/usr/bin/python3
"""Decrypts what `apns-batch render --json` printed of an encrypted campaign, and compares it with the rows.

    check_sealed.py ROWS.csv RENDERED.jsonl TEMPLATE.json KEYS.pem KEY,KEY,... [--key-column NAME]
        [--cipher aes-256-gcm|aes-256-cbc] [--padding oaep-sha256|oaep-sha1|pkcs1] [--processes N]

KEYS.pem holds the recipients' private keys one behind the other. For every row: the payload is the template's without the
encrypted keys, with mutable-content in aps, encrypted, content and secret; the secret opens with the key that belongs to
the row's public key; the content opens with what is in it and is, without a needless byte, the object of the encrypted
keys. No AES key and no IV comes twice. Prints how many rows were compared; exits non-zero at the first difference.
"""

import argparse
import base64
import csv
import itertools
import json
import multiprocessing
import re
import sys

from check_rendered import Number, compact, fill, read, same
from cryptography.hazmat.primitives import hashes, padding, serialization
from cryptography.hazmat.primitives.asymmetric import padding as rsa_padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

BATCH = 500
PADDINGS = {
    "oaep-sha256": rsa_padding.OAEP(rsa_padding.MGF1(hashes.SHA256()), hashes.SHA256(), None),
    "oaep-sha1": rsa_padding.OAEP(rsa_padding.MGF1(hashes.SHA1()), hashes.SHA1(), None),
    "pkcs1": rsa_padding.PKCS1v15(),
}


def private_keys(path):
    """The private keys by the DER of their public part, in both forms that a row may give."""
    with open(path, "rb") as file:
        blocks = re.findall(rb"-----BEGIN [^-]+-----.*?-----END [^-]+-----\n", file.read(), re.DOTALL)
    formats = (serialization.PublicFormat.SubjectPublicKeyInfo, serialization.PublicFormat.PKCS1)
    keys = {}
    for block in blocks:
        key = serialization.load_pem_private_key(block, None)
        for form in formats:
            keys[key.public_key().public_bytes(serialization.Encoding.DER, form)] = key
    return keys


def der_of(field):
    return base64.b64decode(re.sub(r"-----[^-]*-----|\s", "", field))


def decrypt_cbc(key, iv, content):
    decryptor = Cipher(algorithms.AES(key), modes.CBC(iv)).decryptor()
    unpadder = padding.PKCS7(128).unpadder()
    return unpadder.update(decryptor.update(content) + decryptor.finalize()) + unpadder.finalize()


class Checker:
    def __init__(self, options):
        self.options = options
        self.private = private_keys(options.private_keys)
        with open(options.template, encoding="utf-8") as file:
            template = read(file.read())
        sealed = options.keys.split(",")
        self.inner = {key: value for key, value in template.items() if key in sealed}
        self.outer = {key: value for key, value in template.items() if key not in sealed}
        self.outer["aps"].setdefault("mutable-content", Number("1"))

    def open(self, row, payload):
        """The inner payload as text, and the AES key and IV."""
        options = self.options
        key = self.private[der_of(row[options.key_column])]
        secret = key.decrypt(base64.b64decode(payload["secret"], validate=True), PADDINGS[options.padding])
        key, iv = secret[:32], secret[32:]
        content = base64.b64decode(payload["content"], validate=True)
        if options.cipher == "aes-256-gcm":
            assert len(iv) == 12
            message = AESGCM(key).decrypt(iv, content, None)
        else:
            assert len(iv) == 16
            message = decrypt_cbc(key, iv, content)
        return message.decode(), key, iv

    def check(self, number, row, line):
        """Checks one row; gives its AES key and IV."""
        got = json.loads(line)
        if got["row"] != number or "invalid" in got:
            raise SystemExit(f"row {number}: got {line}")
        payload = read(got["payload"])
        expected = dict(fill(self.outer, row), encrypted=True, content=payload["content"], secret=payload["secret"])
        if not same(payload, expected):
            raise SystemExit(f"row {number}: got {got['payload']}\nexpected {json.dumps(expected)}")
        message, key, iv = self.open(row, payload)
        expected = fill(self.inner, row)
        if not same(read(message), expected):
            raise SystemExit(f"row {number}: inside is {message}\nexpected {json.dumps(expected)}")
        for text in (got["payload"], message):
            waste = compact(text)
            if waste:
                raise SystemExit(f"row {number}: {waste} in {text}")
        return key, iv


checker = None


def check_batch(batch):
    try:
        return [checker.check(*item) for item in batch], None
    except SystemExit as failure:
        return [], str(failure)
    except Exception as failure:  # noqa: BLE001
        return [], f"rows {batch[0][0]} to {batch[-1][0]}: {failure!r}"


def batches(options):
    csv.field_size_limit(1 << 20)
    with open(options.rows, newline="", encoding="utf-8") as rows, open(options.rendered, encoding="utf-8") as rendered:
        pairs = itertools.zip_longest(csv.DictReader(rows), rendered)
        numbered = ((number, row, line) for number, (row, line) in enumerate(pairs, 1))
        while batch := list(itertools.islice(numbered, BATCH)):
            if batch[-1][1] is None or batch[-1][2] is None:
                sys.exit("there are not as many rows as rendered lines")
            yield batch


def main():
    global checker
    parser = argparse.ArgumentParser()
    for name in ("rows", "rendered", "template", "private_keys", "keys"):
        parser.add_argument(name)
    parser.add_argument("--key-column", default="public_key")
    parser.add_argument("--cipher", default="aes-256-gcm", choices=["aes-256-gcm", "aes-256-cbc"])
    parser.add_argument("--padding", default="oaep-sha256", choices=list(PADDINGS))
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    checker = Checker(options)
    keys, ivs, count = set(), set(), 0
    with multiprocessing.get_context("fork").Pool(options.processes) as pool:
        for checked, failure in pool.imap(check_batch, batches(options)):
            if failure:
                sys.exit(failure)
            count += len(checked)
            keys.update(key for key, _ in checked)
            ivs.update(iv for _, iv in checked)
    if len(keys) != count or len(ivs) != count:
        sys.exit(f"{count} rows have {len(keys)} AES keys and {len(ivs)} IVs")
    print(count)


if __name__ == "__main__":
    main()
