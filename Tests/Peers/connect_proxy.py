"""A small HTTP proxy for tests: CONNECT only, one thread for each connection.

    connect_proxy.py MODE [USER:PASSWORD]

Prints its port. MODE: "tunnel" serves (and asks for the password, where one is given), "refuse" answers 502, "babble"
never ends its answer, "noise" answers what is no HTTP, "close" closes without an answer, "eager" says more than its answer.
Ends when standard input does.
"""
import base64
import socket
import sys
import threading

mode = sys.argv[1]
wanted = "Basic " + base64.b64encode(sys.argv[2].encode()).decode() if len(sys.argv) > 2 else None


def pump(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    finally:
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def tunnel(client, head):
    lines = head.decode().split("\r\n")
    method, authority, version = lines[0].split(" ")
    fields = dict(line.split(": ", 1) for line in lines[1:] if line)
    if method != "CONNECT" or version != "HTTP/1.1" or fields["host"] != authority:
        client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    elif wanted and fields.get("proxy-authorization") != wanted:
        client.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\n\r\n")
    else:
        host, port = authority.rsplit(":", 1)
        server = socket.create_connection((host, int(port)))
        # The answer is sent in two pieces, as a network may deliver it.
        client.sendall(b"HTTP/1.1 200 Connection est")
        client.sendall(b"ablished\r\nvia: test\r\n\r\n")
        threading.Thread(target=pump, args=(server, client), daemon=True).start()
        pump(client, server)


def serve(client):
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        data = client.recv(4096)
        if not data:
            return
        head += data
    try:
        if mode == "tunnel":
            tunnel(client, head)
        elif mode == "refuse":
            client.sendall(b"HTTP/1.1 502 Bad Gateway\r\n\r\n")
        elif mode == "babble":
            client.sendall(b"HTTP/1.1 200 OK\r\n")
            while True:
                client.sendall(b"x-more: " + b"x" * 1000 + b"\r\n")
        elif mode == "noise":
            client.sendall(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
        elif mode == "eager":
            client.sendall(b"HTTP/1.1 200 OK\r\n\r\nhello")
    except OSError:
        pass
    client.close()


listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)


def accept():
    while True:
        client, _ = listener.accept()
        threading.Thread(target=serve, args=(client,), daemon=True).start()


threading.Thread(target=accept, daemon=True).start()
sys.stdin.read()
