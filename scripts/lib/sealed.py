"""Rows of an encrypted campaign, with the payload of examples/sealed, and recipients' keys for them."""

import base64
import csv
import hashlib
import importlib.machinery
import importlib.util
import multiprocessing
import random
import sys

from peers import ROOT

EXAMPLE = ROOT / "examples" / "sealed"
KEYS = "oid,uid,nid,type,sid,rid,cid,notifType,alertTitle,alertBody"
COLUMNS = "token,summary,badge,oid,uid,nid,type,sid,cid,notif_type,title,body,public_key".split(",")


def make_rows_script():
    """scripts/make-rows as a module: its names and notes are what real lists hold."""
    loader = importlib.machinery.SourceFileLoader("make_rows", str(ROOT / "scripts" / "make-rows"))
    sys.dont_write_bytecode = True
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("make_rows", loader))
    loader.exec_module(module)
    return module


def make_key(_):
    """A private key as PEM, and its public half in the forms that a row may bring."""
    from cryptography.hazmat.primitives import serialization as s
    from cryptography.hazmat.primitives.asymmetric import rsa
    key = rsa.generate_private_key(65537, 2048)
    private = key.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption())

    def public(encoding, form):
        return key.public_key().public_bytes(encoding, form)
    der = [public(s.Encoding.DER, form) for form in (s.PublicFormat.SubjectPublicKeyInfo, s.PublicFormat.PKCS1)]
    pem = [public(s.Encoding.PEM, form) for form in (s.PublicFormat.SubjectPublicKeyInfo, s.PublicFormat.PKCS1)]
    return private, [*(base64.b64encode(text).decode() for text in der), *(text.decode() for text in pem)]


def make_keys(count):
    with multiprocessing.Pool(2) as pool:
        return pool.map(make_key, range(count), chunksize=1)


def write_rows(path, count, seed, keys):
    words = make_rows_script()
    random_ = random.Random(seed)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for number in range(count):
            token = hashlib.sha256(f"{seed} {number}".encode()).hexdigest()
            name, note = random_.choice(words.FIRST_NAMES), random_.choice(words.NOTES)
            forms = random_.choice(keys)[1]
            # Most lists bring the base64 of SubjectPublicKeyInfo.
            form = forms[0] if random_.random() < 0.7 else random_.choice(forms)
            writer.writerow([
                token, "You have a new message.", random_.randrange(100), "00D000000000001EAA", f"005{number:015}",
                f"{number:08x}", random_.choice([-1, 0, 1, 2]), f"500{number:015}",
                random_.choice(["", f"0F9{number:015}"]), "0ML000000000001AAA", f"{note} {name}", name * 2 + note, form])
