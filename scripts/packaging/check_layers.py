#!/usr/bin/python3
"""Checks an OCI layout: what its image says of itself, and the files of its layers.

    check_layers.py LAYOUT TAG

It prints the revision of the image. Nothing may give rights: there is no file that is setuid or setgid, has capabilities or is a
device, all belong to root or to the user of the image, and only /var/lib/apns-batch to the latter.
"""

import datetime
import gzip
import hashlib
import json
import os
import re
import stat
import sys
import tarfile

USER, HOME = 65532, "var/lib/apns-batch"


def fail(text):
    sys.exit(f"check_layers: {text}")


def blob_path(layout, descriptor):
    """The path of a blob, whose digest and size are checked."""
    algorithm, digest = descriptor["digest"].split(":")
    path = os.path.join(layout, "blobs", algorithm, digest)
    with open(path, "rb") as file:
        if hashlib.file_digest(file, algorithm).hexdigest() != digest:
            fail(f"{path} has another digest")
    if os.path.getsize(path) != descriptor["size"]:
        fail(f"{path} has another size")
    return path


def blob(layout, descriptor):
    with open(blob_path(layout, descriptor), encoding="utf-8") as file:
        return json.load(file)


def check_config(image, tag):
    config, label = image["config"], "org.opencontainers.image."
    labels = config["Labels"]
    expected = {"User": f"{USER}:{USER}", "Entrypoint": ["/usr/bin/apns-batch"], "WorkingDir": "/" + HOME}
    for key, value in expected.items():
        if config.get(key) != value:
            fail(f"expected {key} {value}, found {config.get(key)}")
    if labels[label + "version"] != tag or labels[label + "licenses"] != "Apache-2.0":
        fail(f"the labels are wrong: {labels}")
    if labels[label + "created"] != image["created"] or any(entry["created"] != image["created"] for entry in image["history"]):
        fail("the times of the image differ")
    revision = labels[label + "revision"]
    return revision if re.fullmatch(r"[0-9a-f]{40}(-changed)?", revision) else fail(f"{revision} is no commit")


def check_entry(entry, time):
    name = entry.name.removeprefix("./")
    owner = USER if name == HOME else 0
    if (entry.uid, entry.gid) != (owner, owner):
        fail(f"/{name} belongs to {entry.uid}:{entry.gid}")
    if entry.mode & (stat.S_ISUID | stat.S_ISGID):
        fail(f"/{name} is setuid or setgid")
    if entry.isdev():
        fail(f"/{name} is a device")
    if any("xattr" in key.lower() for key in entry.pax_headers):
        fail(f"/{name} has attributes, which may be capabilities: {entry.pax_headers}")
    if not (entry.issym() or entry.mode & stat.S_ISVTX) and entry.mode & stat.S_IWOTH:
        fail(f"/{name} can be written by everybody")
    if entry.mtime != time:
        fail(f"/{name} has another time than the image")


def check_layer(path, digest, time):
    with gzip.open(path) as file:
        if "sha256:" + hashlib.file_digest(file, "sha256").hexdigest() != digest:
            fail(f"{path} has another content than the image says")
    count = 0
    with tarfile.open(path, "r:gz") as layer:
        for entry in layer:
            check_entry(entry, time)
            count += 1
    return count


def main():
    layout, tag = sys.argv[1:]
    with open(os.path.join(layout, "index.json"), encoding="utf-8") as file:
        manifests = json.load(file)["manifests"]
    if [manifest["annotations"]["org.opencontainers.image.ref.name"] for manifest in manifests] != [tag]:
        fail(f"expected one image with the tag {tag}")
    manifest = blob(layout, manifests[0])
    image = blob(layout, manifest["config"])
    revision = check_config(image, tag)
    time = int(datetime.datetime.fromisoformat(image["created"]).timestamp())
    count = sum(check_layer(blob_path(layout, layer), digest, time)
                for layer, digest in zip(manifest["layers"], image["rootfs"]["diff_ids"], strict=True))
    known = 2 + len(manifest["layers"])
    if len(os.listdir(os.path.join(layout, "blobs", "sha256"))) != known:
        fail("there are blobs that belong to no image")
    print(f"{count} files in {len(manifest['layers'])} layer, all of root but /{HOME}", file=sys.stderr)
    print(revision)


main()
