"""Plants one breach of each kind in a copy of the project, or in an object compiled for this, and asks whether it is found."""

import os
import re
import shutil
import subprocess
import tempfile

from . import document, folders, index, manifest, objects, sources
from .graph import ALLOWED, dump, edges
from .rules import FOLDERS, OUTSIDE_LIBRARY


class Plants:
    """A copy of the project in which files are changed and put back."""

    def __init__(self, root, copy):
        self.copy = copy
        for name in ("Sources", "CSupport", "Package.swift", document.DOCUMENT):
            source, target = os.path.join(root, name), os.path.join(copy, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            (shutil.copytree if os.path.isdir(source) else shutil.copy)(source, target)
        self.failed = False

    def path(self, name):
        return os.path.join(self.copy, name)

    def expect(self, what, pattern, before, after):
        """The breaches after planting must have one that was not there before."""
        new = [breach for breach in after if re.search(pattern, breach) and breach not in before]
        print(f"{'found' if new else 'NOT FOUND'}: {what}{': ' + new[0] if new else ''}")
        self.failed = self.failed or not new

    def add(self, name, text, check, expected):
        """Adds text to a file, or makes one, for the time of one check of the copy. expected: what → pattern."""
        path = self.path(name)
        original = sources.read(path) if os.path.exists(path) else None
        before = list(check(self.copy))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a", encoding="utf-8") as file:
            file.write(text + "\n")
        after = list(check(self.copy))
        if original is None:
            os.remove(path)
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(original)
        for what, pattern in expected.items():
            self.expect(what, pattern, before, after)

    def compiled(self, name, text):
        """The object of a C or Swift file, read as those of a build are."""
        source, target = self.path(name), self.path(name + ".o")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        compiler = ["clang", "-c"] if name.endswith(".c") else ["swiftc", "-parse-as-library", "-c"]
        subprocess.run([*compiler, source, "-o", target], check=True)
        return objects.read_objects([target])

    def linked(self, name, text):
        """A program, and the build folder that it would have been made of."""
        build = self.path("build")
        target = os.path.join(build, "CAPNSCommon.build")
        os.makedirs(target, exist_ok=True)
        self.compiled("planted_library.c", "void apns_thread_name(void) {}\n")
        library = os.path.join(target, "system.c.o")
        shutil.move(self.path("planted_library.c.o"), library)
        self.compiled(name, text)
        program = self.path("program")
        subprocess.run(["clang", self.path(name + ".o"), library, "-o", program], check=True)
        return program, build


def plant_in_sources(plants):
    numbers, tls = "Sources/APNSBatchBasics/Numbers/Planted.swift", "CSupport/CAPNSTLS/planted.c"
    owners = sources.header_owners(plants.copy)
    header = next(name for name, owner in owners.items() if owner == "CAPNSTransport")

    def swift(copy):
        return sources.target_breaches(copy, "APNSBatchBasics", owners)

    def c(copy):
        return sources.target_breaches(copy, "CAPNSTLS", owners)

    plants.add(numbers, "import APNSBatchRows", swift, {"an import upwards": "Basics must not import APNSBatchRows"})
    plants.add(numbers, "import Foundation", swift, {"an import of Foundation": "must not import Foundation"})
    plants.add(
        numbers, "let planted = Guarded<(@Sendable (Int) -> Void)?>(nil)", swift,
        {"a function behind a lock": "a function must not be the value of a lock"})
    plants.add(tls, f'#include "{header}"', c, {"an include upwards": "CAPNSTLS must not include .*CAPNSTransport"})
    plants.add(tls, "#include <sys/epoll.h>", c, {"a header of the kernel": "must not include sys/epoll.h"})
    plants.add(
        "CSupport/CAPNSHTTP2/planted.c", "#include <nghttp2/nghttp2.h>",
        lambda copy: sources.target_breaches(copy, "CAPNSHTTP2", owners),
        {"a library beside the one file that has it": "includes nghttp2/nghttp2.h in h2_library.c only"})
    plants.add(
        "Snippets/Planted.swift", "import APNSBatchModel", sources.snippet_breaches,
        {"a module below the library in a snippet": "a snippet must not import APNSBatchModel"})
    before = list(c(plants.copy))
    ALLOWED["CAPNSTLS"].add("CAPNSIdentities")
    plants.expect("a module allowed and not imported", "has CAPNSIdentities, which no file", before, c(plants.copy))
    ALLOWED["CAPNSTLS"].remove("CAPNSIdentities")


def plant_in_folders(plants):
    module = "APNSBatchNotification"
    low, new = (f"Sources/{module}/{folder}/Planted.swift" for folder in ("Text", "Planted"))
    pattern = "'Text' must not refer to DeviceToken"

    def check(copy):
        return folders.module_breaches(copy, module)

    plants.add(low, "struct Planted { let token: DeviceToken }", check, {"a type upwards": pattern})
    plants.add(low, 'let planted = "a \\(DeviceToken.self)"', check, {"a type upwards in an interpolation": pattern})
    plants.add(low, "extension DeviceToken { func planted() {} }", check, {"an extension upwards": pattern})
    plants.add(new, "struct Planted {}", check, {"a folder without a place": "'Planted' is not in the row"})
    row = FOLDERS.pop(module)
    plants.expect("a module with folders and no row", "has folders and no row", [], check(plants.copy))
    FOLDERS[module] = row


def checked_manifest(copy):
    """Breaches with the edges of the copy, for two of its targets."""
    kept = dict(ALLOWED)
    ALLOWED.clear()
    ALLOWED.update(edges(dump(copy)))
    owners = sources.header_owners(copy)
    found = list(manifest.manifest_breaches(copy))
    for target in ("APNSBatchRows", "CAPNSTLS"):
        found += sources.target_breaches(copy, target, owners)
    found += document.document_breaches(copy)
    ALLOWED.clear()
    ALLOWED.update(kept)
    return found


def plant_in_manifest(plants):
    text = """
    let planted = { (name: String) in package.targets.first { $0.name == name }! }
    planted("APNSBatchRows").dependencies.append("CAPNSCommon")
    planted("CAPNSTLS").dependencies.removeAll()
    planted("CAPNSReactor").dependencies.append("CAPNSIdentities")
    planted("APNSSimulator").dependencies.append("CAPNSProcess")
    planted("CAPNSCommon").cSettings = [.headerSearchPath("../CAPNSCrypto"), .unsafeFlags(["-O3"])]
    """
    plants.add("Package.swift", text, checked_manifest, {
        "a dependency too many": "APNSBatchRows: .* has CAPNSCommon, which no file imports",
        "a dependency too few": "CAPNSTLS must not include .*CAPNSCommon",
        "a dependency that the document does not name": "CAPNSReactor imports something else",
        "a server's target in the library": "the library APNSBatch has CAPNSIdentities",
        "a part of the command in the library for tests": "the library APNSSimulator has CAPNSProcess",
        "the internal headers of another target": "search paths of CAPNSCommon .* differ in CAPNSCrypto",
        "unsafe flags": "CAPNSCommon has unsafeFlags",
    })
    targets = set(ALLOWED) | OUTSIDE_LIBRARY
    before = list(manifest.table_breaches(targets))
    FOLDERS["Planted"] = []
    ALLOWED["PlantedSimulator"] = set()
    after = list(manifest.table_breaches(targets - {"CAPNSSimulatedNetwork"}))
    del FOLDERS["Planted"], ALLOWED["PlantedSimulator"]
    plants.expect("a row for a module that does not exist", "FOLDERS has Planted,", before, after)
    plants.expect("a module neither in the library nor outside", "PlantedSimulator is neither", before, after)
    plants.expect("a module outside that does not exist", "OUTSIDE_LIBRARY has CAPNSSimulatedNetwork", before, after)


def plant_in_object_folders(plants):
    """A member of an extension that stands in a folder above: the name of no type shows it."""
    module = "APNSBatchNotification"
    for name, text in (
            ("Low", "func planted(_ text: String) { text.planted() }"), ("High", "extension String { func planted() {} }")):
        with open(plants.path(f"{name}.swift"), "w", encoding="utf-8") as file:
            file.write(text + "\n")
    subprocess.run(
        ["swiftc", "-parse-as-library", "-module-name", module, "-c", "Low.swift", "High.swift"], cwd=plants.copy, check=True)
    found = objects.read_objects([plants.path("Low.o"), plants.path("High.o")])
    places = {"Low.o": "Text", "High.o": "Rules"}
    plants.expect(
        "a member of an extension upwards", "Low.o of 'Text' must not refer to", [],
        folders.object_breaches(module, found, places))


def plant_in_objects(plants):
    call = plants.compiled("planted_call.c", "int fsync(int); int apns_planted(void) { return fsync(1); }\n")
    plants.expect("a kernel call of C", "planted_call.c.o calls fsync", [], objects.kernel_breaches("CAPNSTLS", call))
    unused = objects.unused_calls("CAPNSReactor", call)
    plants.expect("a row of kernel calls that is not needed", "allows epoll_wait", [], unused)
    name = plants.compiled("planted_name.c", "int planted_name(void) { return 1; }\n")
    plants.expect("a name without the prefix", "defines planted_name", [], objects.name_breaches("CAPNSTLS", name))
    fault = plants.compiled("planted_fault.c", "int apns_planted_fault(void) { return 1; }\n")
    plants.expect(
        "a fault in the library's objects", "defines apns_planted_fault, which by its name belongs outside", [],
        objects.name_breaches("CAPNSTLS", fault))
    swift = plants.compiled("planted_call.swift", 'import Glibc\nfunc planted() -> Int32 { open("/", O_RDONLY) + fsync(1) }\n')
    for called in ("open", "fsync"):
        plants.expect(
            f"a kernel call of Swift ({called})", f"planted_call.swift.o calls {called},", [],
            objects.kernel_breaches("APNSBatchNotification", swift))
    files = plants.compiled(
        "planted_files.swift", 'import Foundation\nfunc planted() { try? FileManager.default.removeItem(atPath: "a") }\n')
    plants.expect(
        "a kernel call of Foundation", "calls Foundation.FileManager", [], objects.kernel_breaches("APNSBatch", files))
    above = plants.compiled("planted_above.c", "void apns_above(void); void apns_planted(void) { apns_above(); }\n")
    plants.expect(
        "a function upwards, without include", "refers to apns_above, which belongs to CAPNSTransport", [],
        objects.reference_breaches("CAPNSTLS", above, {"apns_above": {"CAPNSTransport"}}, {}))
    library = plants.compiled("planted_library.c", "void SSL_new(void); void apns_planted(void) { SSL_new(); }\n")
    plants.expect(
        "a function of a library, without include", "refers to SSL_new", [], objects.reference_breaches("CAPNSReactor", library, {}, {}))


def plant_in_index(plants):
    """A property of the library that other packages do not see."""
    build = plants.path("indexed")
    modules = os.path.join(build, "Modules")
    os.makedirs(modules)
    compiler = ["swiftc", "-parse-as-library", "-package-name", "planted", "-I", modules]
    library = "public struct Planted { package var hidden = 1; public var seen = 2; public init() {} }\n"
    user = "import PlantedLibrary\nfunc planted() -> Int { Planted().seen + Planted().hidden }\n"
    for module, text in (("PlantedLibrary", library), ("PlantedUser", user)):
        with open(plants.path(module + ".swift"), "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run(
            [*compiler, "-module-name", module, "-emit-module", "-emit-module-path", f"{modules}/{module}.swiftmodule", "-c",
             plants.path(module + ".swift"), "-o", plants.path(module + ".o"), "-index-store-path", f"{build}/index/store"],
            check=True)
    hidden = index.hidden_symbols(plants.copy, build, ["PlantedLibrary"])
    found = list(index.hidden_references(plants.copy, index.Index(build).references("PlantedUser"), hidden))
    plants.expect("a property that is not public", "PlantedUser.swift:2: uses hidden of the library", [], found)
    plants.expect("that a public property is allowed", "allowed", [], ["allowed"] if len(found) == 1 else [])


def plant_in_program(plants):
    clean = "void apns_thread_name(void); int main(void) { apns_thread_name(); }\n"
    before = list(objects.program_breaches(*plants.linked("planted_program.c", clean)))
    plants.expect("that a program of the library alone is clean", "clean", [], [] if before else ["clean"])
    for what, name in (
            ("a server's function in a program", "apns_planted_server_new"),
            ("a function of a simulated network in a program", "apns_reactor_world_planted"),
            ("a fault in a program", "apns_planted_fault"),
            ("a function of no target of the library in a program", "apns_planted"),
            ("a function of the simulator in a program", "$s18APNSBatchSimulator7planted")):
        text = f'void planted(void) __asm__("{name}"); void planted(void) {{}}\n' + clean
        after = objects.program_breaches(*plants.linked("planted_program.c", text))
        plants.expect(what, "program: has .*" + re.escape(name), before, after)


def prove(root):
    """Whether every planted breach was found."""
    with tempfile.TemporaryDirectory() as copy:
        plants = Plants(root, copy)
        for plant in (plant_in_sources, plant_in_folders, plant_in_manifest, plant_in_object_folders, plant_in_objects, plant_in_index,
                plant_in_program):
            plant(plants)
    return not plants.failed
