#!/usr/bin/python3
"""An HTTP/2 server over TLS on loopback, made of the Python package h2, that writes down what it got.

    h2_echo_server.py --cert cert.pem --key key.pem --record FILE [--port N] [--max-streams N] [--goaway TEXT ...]

Prints "listening PORT" when it is ready and ends when standard input closes. FILE gets one JSON object a line:

    {"connection": n}                                           a client has connected
    {"connection": n, "stream": n, "path": …, "headers": [[name, value], …], "body": base64}
    {"connection": n, "violation": …}                           the client broke a rule of HTTP/2

Every request is answered 200 with its apns-id. With --goaway the first connection gets a GOAWAY frame for each TEXT, which
is its debug data, when the fifth request has come; that one is the last that is answered there. With --goaway-zero the
frames say that none was. With --calm N:CODE answers take 5 ms, and a request that comes while N others wait for theirs
on its connection has its stream reset with CODE. With --max-streams 0 no limit is announced. With --hold TOPIC:N requests for TOPIC are
answered when N others have been. With --client-ca clients must have a certificate, and FILE gets for each connection:

    {"connection": n, "certificate": common name}

Shares no code with the sender.
"""

import argparse
import asyncio
import base64
import json
import ssl
import sys

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings
import hyperframe.frame


class Client:
    """One connection: feeds bytes to h2, records whole requests, answers them."""

    others = 0  # requests answered for other topics than the held one, over all connections
    held = []

    def __init__(self, number, options, record):
        self.hold_topic, _, count = options.hold.partition(":")
        self.hold_until = int(count or 0)
        self.number = number
        self.record = record
        self.requests = {}
        self.calm_at, self.calm_code = options.calm
        self.open = 0
        self.goaway = options.goaway if number == 1 else []
        self.goaway_zero = options.goaway_zero
        self.last_stream = None
        self.answered = 0
        config = h2.config.H2Configuration(client_side=False, header_encoding="utf-8")
        self.h2 = h2.connection.H2Connection(config=config)
        codes = h2.settings.SettingCodes
        values = {codes.MAX_CONCURRENT_STREAMS: options.max_streams, codes.MAX_HEADER_LIST_SIZE: 8000}
        if options.max_streams == 0:
            del values[codes.MAX_CONCURRENT_STREAMS]
        self.h2.local_settings = h2.settings.Settings(client=False, initial_values=values)
        self.h2.initiate_connection()

    async def serve(self, reader, writer):
        self.writer = writer
        self.write(connection=self.number)
        certificate = writer.get_extra_info("peercert")
        if certificate:
            subject = dict(field[0] for field in certificate["subject"])
            self.write(connection=self.number, certificate=subject["commonName"])
        try:
            while True:
                writer.write(self.h2.data_to_send())
                if self.goaway and self.last_stream is not None:
                    self.say_goaway(writer)
                await writer.drain()
                data = await reader.read(65536)
                if not data:
                    break
                for event in self.h2.receive_data(data):
                    self.handle(event)
        except h2.exceptions.ProtocolError as error:
            self.write(connection=self.number, violation=f"{type(error).__name__}: {error}")
            writer.write(self.h2.data_to_send())
        except (ConnectionError, ssl.SSLError):
            pass
        finally:
            writer.close()

    def say_goaway(self, writer):
        for text in self.goaway:
            frame = hyperframe.frame.GoAwayFrame(0, last_stream_id=self.last_stream, additional_data=text.encode())
            writer.write(frame.serialize())
        self.goaway = []

    def handle(self, event):
        if isinstance(event, h2.events.RequestReceived):
            self.requests[event.stream_id] = ([list(field) for field in event.headers], bytearray())
        elif isinstance(event, h2.events.DataReceived):
            self.requests[event.stream_id][1].extend(event.data)
            if event.flow_controlled_length:
                self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            if self.calm_at:
                self.answer_calmly(event.stream_id)
            else:
                self.answer(event.stream_id)
        elif isinstance(event, h2.events.StreamReset):
            self.requests.pop(event.stream_id, None)

    def answer_calmly(self, stream):
        if self.open >= self.calm_at:
            self.requests.pop(stream)
            self.h2.reset_stream(stream, self.calm_code)
            return
        self.open += 1
        asyncio.get_running_loop().call_later(0.005, self.answer_late, stream)

    def answer_late(self, stream):
        self.open -= 1
        if stream not in self.requests or self.writer.is_closing():
            return
        self.answer(stream)
        self.writer.write(self.h2.data_to_send())

    def answer(self, stream):
        headers, body = self.requests.pop(stream)
        if self.last_stream is not None and stream > self.last_stream:
            return
        self.answered += 1
        if self.goaway and self.answered == 5:
            self.last_stream = 0 if self.goaway_zero else stream
            if self.goaway_zero:
                return
        fields = dict(headers)
        self.write(
            connection=self.number, stream=stream, path=fields.get(":path"), headers=headers,
            body=base64.b64encode(bytes(body)).decode())
        response = [(":status", "200")]
        if "apns-id" in fields:
            response.append(("apns-id", fields["apns-id"]))
        if self.hold_topic and fields["apns-topic"] == self.hold_topic:
            Client.held.append((self, stream, response))
        else:
            Client.others += 1
            self.h2.send_headers(stream, response, end_stream=True)
        if self.hold_topic and Client.others >= self.hold_until:
            self.release()

    @staticmethod
    def release():
        for client, stream, response in Client.held:
            client.h2.send_headers(stream, response, end_stream=True)
            client.writer.write(client.h2.data_to_send())
        Client.held = []

    def write(self, **entry):
        self.record.write(json.dumps(entry) + "\n")
        self.record.flush()


async def end_of_input():
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while await reader.read(4096):
        pass


def calm(text):
    at, code = text.split(":")
    return int(at), int(code)


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cert", required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--record", required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--max-streams", type=int, default=100)
    parser.add_argument("--client-ca")
    parser.add_argument("--hold", default="")
    parser.add_argument("--goaway", action="append", default=[])
    parser.add_argument("--goaway-zero", action="store_true")
    parser.add_argument("--calm", type=calm, default=(0, 0))
    options = parser.parse_args()

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(options.cert, options.key)
    context.set_alpn_protocols(["h2"])
    if options.client_ca:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(options.client_ca)

    record = open(options.record, "a", encoding="utf-8")
    count = 0

    async def accept(reader, writer):
        nonlocal count
        count += 1
        await Client(count, options, record).serve(reader, writer)

    server = await asyncio.start_server(accept, "127.0.0.1", options.port, ssl=context)
    print("listening", server.sockets[0].getsockname()[1], flush=True)
    await end_of_input()
    server.close()


asyncio.run(main())
