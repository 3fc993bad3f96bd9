#!/usr/bin/python3
"""An HTTP/2 server over TLS on loopback that writes down how its connections end.

    goodbye_server.py --cert cert.pem --key key.pem --record FILE --tls 1.2|1.3 [--stays] [--answers N]

Prints "listening PORT" when it is ready and ends when standard input closes. Answers 200 with the request's apns-id; with
--answers N only the first N requests, so that the others stay in flight. With --stays it closes no connection before the
client has closed its own. FILE gets a JSON object for each connection that has ended:

    {"connection": n, "requests": n, "goaway": code or null, "end": "close_notify" or an error}

Shares no code with the sender.
"""

import argparse
import json
import socket
import ssl
import sys
import threading

import h2.config
import h2.connection
import h2.events


class Server:
    def __init__(self, options):
        self.options = options
        self.lock = threading.Lock()
        self.answered = 0
        self.record = open(options.record, "w")
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(options.cert, options.key)
        self.context.set_alpn_protocols(["h2"])
        # Python takes an end without close_notify for one with it, unless it is told not to.
        self.context.options &= ~ssl.OP_IGNORE_UNEXPECTED_EOF
        version = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}[options.tls]
        self.context.minimum_version = self.context.maximum_version = version

    def may_answer(self):
        with self.lock:
            self.answered += 1
            return self.options.answers is None or self.answered <= self.options.answers

    def serve(self, plain, number):
        facts = {"connection": number, "requests": 0, "goaway": None, "end": "open"}
        try:
            with self.context.wrap_socket(plain, server_side=True, suppress_ragged_eofs=False) as client:
                self.talk(client, facts)
                if self.options.stays:
                    client.unwrap().recv(1)
        except OSError as error:
            if facts["end"] == "open":
                facts["end"] = str(error)
        with self.lock:
            self.record.write(json.dumps(facts) + "\n")
            self.record.flush()

    def talk(self, client, facts):
        connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        connection.initiate_connection()
        client.sendall(connection.data_to_send())
        ids = {}
        while True:
            data = client.recv(65536)
            if not data:
                # OpenSSL says an end without close_notify as an error.
                facts["end"] = "close_notify"
                return
            for event in connection.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    facts["requests"] += 1
                    ids[event.stream_id] = dict(event.headers).get("apns-id")
                elif isinstance(event, h2.events.DataReceived):
                    connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, h2.events.StreamEnded) and self.may_answer():
                    fields = [(":status", "200")] + ([("apns-id", ids[event.stream_id])] if ids[event.stream_id] else [])
                    connection.send_headers(event.stream_id, fields, end_stream=True)
                elif isinstance(event, h2.events.ConnectionTerminated):
                    facts["goaway"] = int(event.error_code)
            output = connection.data_to_send()
            if output and facts["goaway"] is None:
                client.sendall(output)


def main():
    parser = argparse.ArgumentParser()
    for name in ["cert", "key", "record", "tls"]:
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--stays", action="store_true")
    parser.add_argument("--answers", type=int)
    server = Server(parser.parse_args())
    listener = socket.create_server(("127.0.0.1", 0))

    def accept():
        number = 0
        while True:
            plain, _ = listener.accept()
            number += 1
            threading.Thread(target=server.serve, args=(plain, number), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    print("listening", listener.getsockname()[1], flush=True)
    sys.stdin.read()


main()
