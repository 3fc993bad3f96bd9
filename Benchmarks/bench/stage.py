"""Where a measurement takes place: rows, keys, and servers pinned to a core of their own."""

import base64
import contextlib
import hashlib
import json
import pathlib
import shutil
import subprocess
import time

import peers
from peers import ROOT

CLIENT_CPU, SERVER_CPU = "0", "1"
BOTH_CPUS = "0,1"
STREAMS = 1000  # of a connection, as APNs allows
TEMPLATE = ROOT / "Tests" / "Fixtures" / "campaign" / "plain.json"
FIRST_NAME = "name-00000"
HOST = "localhost"


class Stage:
    def __init__(self, directory, rows):
        self.directory = directory
        self.rows = rows
        peers.make_credentials(directory)
        self.input = self.rows_file(rows)
        self.body = directory / "body"
        self.body.write_bytes(payload_like_ours())

    def rows_file(self, count):
        path = self.directory / f"rows-{count}.csv"
        if not path.exists():
            peers.run(ROOT / "scripts" / "make-rows", count, "--plain", "-o", path)
        return path

    def tokens(self):
        with open(self.input, encoding="utf-8") as rows:
            next(rows)
            for line in rows:
                yield line.partition(",")[0]

    def urls(self, port):
        """The list of URLs that h2load reads: one for each row."""
        path = self.directory / f"urls-{port}"
        if not path.exists():
            with open(path, "w", encoding="utf-8") as urls:
                for token in self.tokens():
                    urls.write(f"https://{HOST}:{port}/3/device/{token}\n")
        return path

    def authorization(self):
        """A provider token that a server can verify, with the lengths that ours has."""
        header = {"alg": "ES256", "kid": peers.KEY_ID}
        claims = {"iss": peers.TEAM_ID, "iat": int(time.time())}
        text = ".".join(unpadded(json.dumps(part, separators=(",", ":")).encode()) for part in (header, claims))
        der = subprocess.run(
            ["openssl", "dgst", "-sha256", "-sign", str(self.directory / "AuthKey.p8")], input=text.encode(),
            capture_output=True, check=True).stdout
        return f"bearer {text}.{unpadded(raw_signature(der))}"

    def nginx(self):
        return peers.nginx(self.directory, streams=STREAMS, cpu=int(SERVER_CPU))

    @contextlib.contextmanager
    def simulator(self, **script):
        """Our simulator with a script; gives its port."""
        name = hashlib.sha256(json.dumps(script).encode()).hexdigest()[:8]
        path = self.directory / f"script-{name}.yaml"
        path.write_text(json.dumps(script or {"seed": 1}))
        with peers.reserved_port() as port, open(self.directory / "simulate.log", "ab") as log:
            command = ["taskset", "--cpu-list", SERVER_CPU, *peers.simulator_command(self.directory, port, path)]
            with peers.server(command, port, stdout=log, stderr=log):
                yield port


def compiled(directory, name, *flags):
    """A program or library of a C file beside this one, made once by Swift's clang."""
    path = directory / name
    if not path.exists():
        clang = pathlib.Path(shutil.which("swift")).resolve().with_name("clang")
        peers.run(clang, "-O2", pathlib.Path(__file__).with_name(f"{name}.c"), "-o", path, *flags)
    return path


def unpadded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def raw_signature(der):
    """The two numbers of an ECDSA signature, 32 bytes each (RFC 7518, section 3.4), out of their DER."""
    numbers, place = b"", 2
    for _ in range(2):
        length = der[place + 1]
        numbers += der[place + 2:place + 2 + length].lstrip(b"\0").rjust(32, b"\0")
        place += 2 + length
    return numbers


def payload_like_ours():
    text = json.dumps(json.loads(TEMPLATE.read_text()), ensure_ascii=False, separators=(",", ":"))
    return text.replace("{{name}}", FIRST_NAME).encode()
