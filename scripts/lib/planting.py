"""Patches that plant a known fault in a copy of the project, for scripts/mutants and scripts/bench --prove."""

import contextlib
import re
import shutil
import subprocess
import sys

from peers import ROOT


class Copy:
    """A copy of the project's files. One that is the same as in the project keeps its time, so that nothing is built again."""

    def __init__(self, path):
        self.path = path

    def refresh(self, file):
        """Makes a file of the copy what it is in the project."""
        source, target = ROOT / file, self.path / file
        if not source.is_symlink() and target.exists() and source.read_bytes() == target.read_bytes():
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        shutil.copy(source, target, follow_symlinks=False)

    def update(self):
        """Makes the copy what the project is now, committed or not."""
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
            check=True).stdout.splitlines()
        files = {file for file in listed if (ROOT / file).exists()}
        for file in files:
            self.refresh(file)
        for path in list(self.path.rglob("*")):
            relative = path.relative_to(self.path)
            if relative.parts[0] != ".build" and path.is_file() and str(relative) not in files:
                path.unlink()

    def build(self, *options):
        """The first error of `swift build`, empty when it went well."""
        done = subprocess.run(
            ["swift", "build", *options], cwd=self.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode == 0:
            return ""
        errors = [line for line in done.stdout.splitlines() if "error:" in line]
        return errors[0] if errors else f"the build ended with {done.returncode}"


class Patch:
    """A file with lines `Key: value`, of which `What:` says what is broken, and then a unified diff with a/ and b/."""

    def __init__(self, path):
        self.path = path
        self.name = path.stem
        text = path.read_text(encoding="utf-8")
        self.lines = re.findall(r"^(\w+): (.+)$", text.split("\n--- ", 1)[0], re.M)
        self.files = re.findall(r"^\+\+\+ b/(\S+)", text, re.M)
        self.what = self.value("What")
        if not self.what or not self.files:
            sys.exit(f"{path}: expected 'What:', and a diff with a/ and b/")

    def values(self, key):
        return [value for name, value in self.lines if name == key]

    def value(self, key):
        return next(iter(self.values(key)), "")

    def plant(self, copy):
        """False when the code has moved on and the change does not fit it any more."""
        done = subprocess.run(
            ["patch", "--strip=1", "--forward", "--fuzz=2", "--no-backup-if-mismatch", "--reject-file=-",
             f"--input={self.path}"], cwd=copy.path, capture_output=True, text=True, check=False)
        return done.returncode == 0

    def remove(self, copy):
        for file in self.files:
            copy.refresh(file)

    @contextlib.contextmanager
    def planted(self, copy, build):
        """Plants the fault and builds the copy until the end of the block; gives what went wrong with that, or an empty text."""
        try:
            if not self.plant(copy):
                yield "NOT PLANTED: the change does not fit the code"
            else:
                error = build()
                yield f"NOT BUILT: {error}" if error else ""
        finally:
            self.remove(copy)


def chosen(folder, kind, names):
    """The patches of a folder, all of them or those that are named; `kind` is the class."""
    patches = [kind(path) for path in sorted(folder.glob("*.patch"))]
    if unknown := set(names or ()) - {patch.name for patch in patches}:
        sys.exit(f"no patch {', '.join(sorted(unknown))} in {folder.relative_to(ROOT)}")
    return [patch for patch in patches if not names or patch.name in names]
