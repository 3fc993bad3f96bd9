#!/usr/bin/python3
"""A monitor of jobs, an HTTP server on loopback that writes down the requests it gets.

    monitor.py --record FILE [--answers WORD,...] [--secrets FILE]

Prints "listening PORT" when it is ready and ends when standard input closes. FILE gets one JSON object a line:

    {"method": …, "path": …, "body": …, "type": …}

With --secrets, a file with a secret of Standard Webhooks in each line, it also has "id", the header field webhook-id, and "verified": the
numbers of the secrets whose signature is among those of the request and whose timestamp is not older than five minutes.

Each request is answered by the next WORD, and 200 after the last one:

    NUMBER      this status
    NUMBER+N    this status, and Retry-After: N
    redirect    302 to /elsewhere of this server
    hang        no answer until the client closes the connection
    drip        a status line of which a byte comes every tenth of a second
"""

import argparse
import base64
import hashlib
import hmac
import http.server
import json
import os
import pathlib
import sys
import threading
import time


def verified(secret, headers, body):
    """Whether a signature of the request was made with the secret. This is how a receiver does it."""
    message_id, timestamp = headers["webhook-id"], headers["webhook-timestamp"]
    if abs(time.time() - int(timestamp)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    code = hmac.new(key, f"{message_id}.{timestamp}.{body}".encode(), hashlib.sha256).digest()
    expected = "v1," + base64.b64encode(code).decode()
    return any(hmac.compare_digest(expected, given) for given in headers["webhook-signature"].split(" "))


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        with self.server.lock:
            word = self.server.answers.pop(0) if self.server.answers else "200"
            entry = {"method": self.command, "path": self.path, "body": body, "type": self.headers.get("Content-Type")}
            if self.server.secrets:
                secrets = pathlib.Path(self.server.secrets).read_text(encoding="utf-8").split()
                numbers = [str(n) for n, secret in enumerate(secrets, 1) if verified(secret, self.headers, body)]
                entry |= {"id": self.headers["webhook-id"], "verified": ",".join(numbers)}
            with open(self.server.record, "a") as file:
                file.write(json.dumps(entry) + "\n")
        if word == "hang":
            self.rfile.read(1)
        elif word == "drip":
            self.drip()
        elif word == "redirect":
            self.answer(302, Location="/elsewhere")
        elif "+" in word:
            status, seconds = word.split("+")
            self.answer(int(status), **{"Retry-After": seconds})
        else:
            self.answer(int(word))

    do_GET = do_POST

    def answer(self, status, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def drip(self):
        try:
            for byte in b"HTTP/1.1 200 " + b"x" * 100_000:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                time.sleep(0.1)
        except OSError:
            pass
        self.close_connection = True

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--record", required=True)
    parser.add_argument("--answers", default="")
    parser.add_argument("--secrets")
    options = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.lock = threading.Lock()
    server.record = options.record
    server.secrets = options.secrets
    server.answers = [word for word in options.answers.split(",") if word]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"listening {server.server_port}", flush=True)
    sys.stdin.buffer.read()
    os._exit(0)


main()
