"""The index that the compiler writes in a debug build: which symbols a module refers to, and where. And, from symbol graphs,
which symbols of a module are public."""

import ctypes
import glob
import json
import os
import shutil
import subprocess
import tempfile

from toolchain import import_flags, target

from .graph import ALLOWED, closure
from .rules import LIBRARY, NEUTRAL, PUBLIC_ONLY


class Text(ctypes.Structure):
    """A string of libIndexStore."""

    _fields_ = [("data", ctypes.POINTER(ctypes.c_char)), ("length", ctypes.c_size_t)]

    def __str__(self):
        return ctypes.string_at(self.data, self.length).decode()


VISIT = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p)
VISIT_NAME = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, Text)
# Function → the type that it returns, and those of its arguments.
POINTER = ctypes.c_void_p
FUNCTIONS = {
    "store_create": (POINTER, [ctypes.c_char_p, POINTER]),
    "store_units_apply_f": (ctypes.c_bool, [POINTER, ctypes.c_uint, POINTER, VISIT_NAME]),
    "unit_reader_create": (POINTER, [POINTER, ctypes.c_char_p, POINTER]),
    "unit_reader_get_module_name": (Text, [POINTER]),
    "unit_reader_get_main_file": (Text, [POINTER]),
    "unit_reader_dependencies_apply_f": (ctypes.c_bool, [POINTER, POINTER, VISIT]),
    "unit_reader_dispose": (None, [POINTER]),
    "unit_dependency_get_kind": (ctypes.c_int, [POINTER]),
    "unit_dependency_get_filepath": (Text, [POINTER]),
    "unit_dependency_get_name": (Text, [POINTER]),
    "record_reader_create": (POINTER, [POINTER, ctypes.c_char_p, POINTER]),
    "record_reader_occurrences_apply_f": (ctypes.c_bool, [POINTER, POINTER, VISIT]),
    "record_reader_dispose": (None, [POINTER]),
    "occurrence_get_symbol": (POINTER, [POINTER]),
    "occurrence_get_line_col": (None, [POINTER, ctypes.POINTER(ctypes.c_uint), ctypes.POINTER(ctypes.c_uint)]),
    "symbol_get_usr": (Text, [POINTER]),
    "symbol_get_name": (Text, [POINTER]),
}
RECORD = 2


class Index:
    """The index of a build folder."""

    def __init__(self, build):
        toolchain = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("swiftc"))))
        self.library = ctypes.CDLL(os.path.join(toolchain, "lib", "libIndexStore.so"))
        for name, (result, arguments) in FUNCTIONS.items():
            function = getattr(self.library, "indexstore_" + name)
            function.restype, function.argtypes = result, arguments
        self.store = self.call("store_create", os.path.join(build, "index", "store").encode(), None)
        if not self.store:
            raise SystemExit(f"{build}: has no index")

    def call(self, name, *arguments):
        return getattr(self.library, "indexstore_" + name)(*arguments)

    def visit(self, name, *arguments, kind=VISIT, take=None):
        """Calls take with each element."""
        self.call(name, *arguments, None, kind(lambda _, element: (take(element), True)[1]))

    def references(self, module):
        """(file, line, name, USR) of what the sources of a module refer to or define."""
        units, found = [], []
        self.visit("store_units_apply_f", self.store, 0, kind=VISIT_NAME, take=lambda name: units.append(str(name)))
        for unit in units:
            reader = self.call("unit_reader_create", self.store, unit.encode(), None)
            if reader and str(self.call("unit_reader_get_module_name", reader)) == module:
                file = str(self.call("unit_reader_get_main_file", reader))
                if os.path.exists(file):
                    self.visit(
                        "unit_reader_dependencies_apply_f", reader, take=lambda entry: self.read_record(entry, file, found))
            if reader:
                self.call("unit_reader_dispose", reader)
        return found

    def read_record(self, dependency, file, found):
        """Records of other files than the unit's own are those of headers."""
        if self.call("unit_dependency_get_kind", dependency) != RECORD or \
                str(self.call("unit_dependency_get_filepath", dependency)) != file:
            return
        record = self.call("record_reader_create", self.store, str(self.call("unit_dependency_get_name", dependency)).encode(), None)
        if not record:
            return

        def take(occurrence):
            line, column = ctypes.c_uint(), ctypes.c_uint()
            self.call("occurrence_get_line_col", occurrence, line, column)
            symbol = self.call("occurrence_get_symbol", occurrence)
            name, usr = (str(self.call(f"symbol_get_{what}", symbol)) for what in ("name", "usr"))
            found.append((file, line.value, name, usr))

        self.visit("record_reader_occurrences_apply_f", record, take=take)
        self.call("record_reader_dispose", record)


def symbols(root, build, module, access):
    """The USRs of a module's symbols of at least this access level: public or package."""
    with tempfile.TemporaryDirectory() as work:
        done = subprocess.run(
            ["swift", "symbolgraph-extract", "-module-name", module, "-minimum-access-level", access, "-output-dir", work,
             "-target", target(), *import_flags(root, build)],
            check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"no symbols of {module}: {done.stderr}")
        graphs = glob.glob(os.path.join(work, "*.json"))
        return {usr for path in graphs for usr in usrs(path)}


def usrs(path):
    with open(path, encoding="utf-8") as file:
        return {symbol["identifier"]["precise"] for symbol in json.load(file)["symbols"]}


def hidden_symbols(root, build, modules):
    """The USRs of what other packages cannot use."""
    public, everything = (
        {usr for module in modules for usr in symbols(root, build, module, access)} for access in ("public", "package"))
    return everything - public


def hidden_references(root, references, hidden):
    """What refers to a symbol that is not public, at its first place."""
    seen = set()
    for file, line, name, usr in sorted(references):
        if usr in hidden and usr not in seen:
            seen.add(usr)
            yield f"{os.path.relpath(file, root)}:{line}: uses {name} of the library, which is not public"


def public_breaches(root, build):
    """What targets that are written like other packages use of the library and is not public."""
    modules = {module for module in closure([LIBRARY], ALLOWED) if module.startswith("APNSBatch")} - NEUTRAL
    hidden, index = hidden_symbols(root, build, modules), Index(build)
    for name in sorted(PUBLIC_ONLY):
        references = index.references(name.replace("-", "_"))
        if not references:
            yield f"{name}: has no index in {os.path.relpath(build, root)}: build first"
        yield from hidden_references(root, references, hidden)
