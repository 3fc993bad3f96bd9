"""What a row of an encrypted campaign costs beside the same row in the clear, in processor time of our client alone.

Each row has another recipient than the one before it, out of 200 with RSA keys of 2,048 bits.
"""

import statistics
import sys

import peers
import sealed
from bench import figures
from bench.figures import Figure
from bench.stage import CLIENT_CPU, SERVER_CPU, STREAMS, compiled

OPERATIONS = 20_000


class SealedBench:
    """The rows of an encrypted campaign, sent in the clear and encrypted, round by round."""

    CHOICES = [("plain", None), *((f"{cipher} {padding}", (cipher, padding)) for cipher, padding in (
        ("aes-256-gcm", "oaep-sha256"), ("aes-256-cbc", "pkcs1")))]

    def __init__(self, options, directory):
        self.options = options
        self.directory = directory

    def campaign(self, choice):
        text = f"input: {self.directory}/rows.csv\ntemplate: {sealed.EXAMPLE}/payload.json\nlanes: 1\n"
        if choice:
            text += f"encryption: {{ keys: [{sealed.KEYS}], cipher: {choice[0]}, padding: {choice[1]} }}\n"
        path = self.directory / "campaign.yaml"
        path.write_text(text)
        return path

    def micro(self, choice, port, number):
        run_directory = self.directory / f"run-{number}"
        _, usage = peers.measured([
            peers.BINARY, "send", self.campaign(choice), "--to", f"localhost:{port}", "--run-dir", run_directory,
            *peers.provider_flags(self.directory),
        ], cpu=CLIENT_CPU)
        if peers.summary(run_directory)["accepted"] != self.options.rows:
            sys.exit("not all rows were accepted")
        return usage.cpu * 1e6 / self.options.rows

    def run(self):
        peers.make_credentials(self.directory)
        sealed.write_rows(self.directory / "rows.csv", self.options.rows, 1, sealed.make_keys(200))
        micros, operations = {name: [] for name, _ in self.CHOICES}, []
        oaep = compiled(self.directory, "oaep", "-lcrypto")
        with peers.nginx(self.directory, streams=STREAMS, cpu=int(SERVER_CPU)) as port:
            for round_number in range(self.options.rounds):
                for place, (name, choice) in enumerate(self.CHOICES):
                    micros[name].append(self.micro(choice, port, f"{round_number}-{place}"))
                operations.append(float(peers.measured([oaep, OPERATIONS], cpu=CLIENT_CPU)[0]) / 1000)
        plain, operation = statistics.median(micros["plain"]), statistics.median(operations)
        print(f"{self.options.rows} rows, median of {self.options.rounds}, {peers.version('openssl', 'version')}, "
              f"commit {peers.git_commit()}")
        for name, _ in self.CHOICES:
            median = statistics.median(micros[name])
            print(f"{name:<26}{median:>8.2f} CPU µs per row{median - plain:>+9.2f}")
        row = statistics.median(micros["aes-256-gcm oaep-sha256"])
        found = [Figure("an encrypted row against OpenSSL's RSA-OAEP operation alone", row / operation, form="{:.2f}", at_most=1.8,
                        note=f"{row:.1f} and {operation:.1f} µs")]
        figures.show(found)
        return found
