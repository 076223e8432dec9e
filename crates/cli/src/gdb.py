# Strands for gdb: `strands` lists them, `strand NAME` shows one as if it were the running thread.
#
# All strands share one kernel thread, so gdb sees a single one. The runtime keeps a table of them
# (`threadbare_debug`) with the stack pointer of each; a strand that does not run has its registers on its stack:
# r15, r14, r13, r12, rbx, rbp, return address. Showing a strand puts these into the machine's registers; they are
# put back before the program goes on.

import os
import struct

import gdb

STATES = ["ready", "waiting", "ended", "running"]
REGISTERS = ["r15", "r14", "r13", "r12", "rbx", "rbp"]
ALL_REGISTERS = REGISTERS + ["rsp", "rip", "fs_base"]
# Operations on a strand, not on memory.
ON_STRANDS = ("create", "join", "detach", "cancel")
# Operations on nothing that has an address.
ON_NOTHING = ("start", "exit", "yield", "sleep", "clock", "fence")
# Where a reader's own code is not.
LIBRARY_FILES = ("/rustc/", "/usr/include/", "/usr/lib/", "/usr/src/")
LIBRARY_MODULES = (
    "libthreadbare_rt.so",
    "libc.so",
    "libc-",
    "libpthread",
    "ld-linux",
    "ld-musl",
    "libstdc++",
    "libc++",
    "libgcc_s",
    "libm.so",
    "linux-vdso",
)


class Strand:
    """One row of the runtime's table."""

    FORMAT = "<IIQQQQQQ"
    SIZE = struct.calcsize(FORMAT)

    def __init__(self, raw, machine_fs_base):
        (self.index, state, self.parent, self.sp, self.fs_base, path, op, self.addr) = struct.unpack(self.FORMAT, raw)
        self.state = STATES[state] if state < len(STATES) else "?"
        # Each strand has thread-locals of its own: their base tells whose registers the machine has. It may wait by
        # now, and then what it left on its stack at an earlier switch is no longer true.
        self.is_current = self.state != "ended" and self.fs_base == machine_fs_base
        self.path = text(path)
        self.op = text(op)


def memory(address, size):
    return bytes(gdb.selected_inferior().read_memory(address, size))


def text(address):
    if address == 0:
        return ""
    out = b""
    while b"\0" not in out and len(out) < 256:
        # Never beyond the page: the next one may not be there.
        out += memory(address + len(out), min(64, 4096 - (address + len(out)) % 4096))
    return out.split(b"\0")[0].decode("utf-8", "replace")


def in_c(action):
    """Calls `action` with C as the language: where the innermost frame is Rust, C's casts mean nothing."""
    language = gdb.parameter("language")
    gdb.execute("set language c", to_string=True)
    try:
        return action()
    finally:
        gdb.execute("set language %s" % language, to_string=True)


def table():
    try:
        address = in_c(lambda: int(gdb.parse_and_eval("(unsigned long)&threadbare_debug")))
    except gdb.error:
        raise gdb.GdbError("the program has no table of strands: it does not run under Threadbare")
    version, count, rows = struct.unpack("<IIQ", memory(address, 16))
    if version != 1:
        raise gdb.GdbError("the table of strands has version %d, this script reads 1" % version)
    raw = memory(rows, count * Strand.SIZE) if count else b""
    fs_base = machine_fs_base()
    return [Strand(raw[i * Strand.SIZE : (i + 1) * Strand.SIZE], fs_base) for i in range(count)]


def find(name):
    for strand in table():
        if strand.path == name:
            return strand
    raise gdb.GdbError("there is no strand %s; `strands` lists them" % name)


class View:
    """Which strand the registers show, and what they were before."""

    saved = None
    shown = None


def registers():
    gdb.newest_frame().select()
    return in_c(lambda: {name: int(gdb.parse_and_eval("(unsigned long)$%s" % name)) for name in ALL_REGISTERS})


def machine_fs_base():
    if View.saved is not None:
        return View.saved["fs_base"]
    return in_c(lambda: int(gdb.parse_and_eval("(unsigned long)$fs_base")))


def set_registers(values):
    # The innermost frame must be selected for registers to be the machine's.
    gdb.newest_frame().select()
    # The stack pointer first: gdb unwinds from it when it is asked for the others.
    for name in ["rsp", "rip"] + [n for n in values if n not in ("rsp", "rip")]:
        try:
            in_c(lambda: gdb.execute("set var $%s = %#x" % (name, values[name]), to_string=True))
        except gdb.error:
            # Not every kernel lets a debugger set it; thread-locals are then the running strand's.
            if name != "fs_base":
                raise


def restore():
    if View.saved is not None:
        set_registers(View.saved)
    forget()


def forget(event=None):
    View.saved = None
    View.shown = None


def show(strand):
    restore()
    if strand.state == "running" or strand.is_current:
        gdb.newest_frame().select()
        return
    if strand.state == "ended":
        raise gdb.GdbError("strand %s has ended: it has no stack" % strand.path)
    View.saved = registers()
    words = struct.unpack("<7Q", memory(strand.sp, 56))
    values = dict(zip(REGISTERS, words))
    values.update({"rsp": strand.sp + 56, "rip": words[6], "fs_base": strand.fs_base})
    set_registers(values)
    View.shown = strand.path


def keeping_view(action):
    """Calls `action`, which may show other strands, and shows again what was shown, the same frame selected."""
    before, level = View.shown, gdb.selected_frame().level()
    try:
        action()
    finally:
        restore()
        if before is not None:
            show(find(before))
        frame = gdb.newest_frame()
        while frame.level() < level and frame.older() is not None:
            frame = frame.older()
        frame.select()


def is_library(frame):
    module = os.path.basename(gdb.solib_name(frame.pc()) or "")
    if module.startswith(LIBRARY_MODULES):
        return True
    table = frame.find_sal().symtab
    # The compiler's name of the file, not where gdb found it.
    return table is not None and (table.filename.startswith(LIBRARY_FILES) or "/registry/src/" in table.filename)


def user_frame():
    """The innermost frame of the program's own code, or else the innermost frame."""
    frame, steps = gdb.newest_frame(), 0
    while frame is not None and frame.is_valid() and steps < 200:
        if frame.name() is not None and not is_library(frame):
            return frame
        try:
            frame, steps = frame.older(), steps + 1
        except gdb.error:
            break
    return gdb.newest_frame()


def place():
    """The function and line where the strand that is shown stands in the program's own code."""
    frame = user_frame()
    line = frame.find_sal()
    where = frame.name() or "%#x" % frame.pc()
    if line.symtab is not None:
        where += " at %s:%d" % (os.path.basename(line.symtab.filename), line.line)
    return where


def operation(strand, strands):
    """What the strand is about to do or waits for."""
    if strand.op in ON_NOTHING:
        return strand.op
    if strand.op in ON_STRANDS:
        names = [other.path for other in strands if other.index == strand.addr]
        return "%s strand %s" % (strand.op, names[0] if names else strand.addr)
    what = "%s %#x" % (strand.op, strand.addr)
    symbol = gdb.execute("info symbol %#x" % strand.addr, to_string=True).strip()
    return what if symbol.startswith("No symbol") else "%s <%s>" % (what, symbol.split(" in section")[0])


class StrandsCommand(gdb.Command):
    """List the strands: `strands`. `strands bt` shows the stack of each."""

    def __init__(self):
        super().__init__("strands", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        command = argument.strip()
        shown = View.shown
        strands = table()
        if not strands:
            print("no strands yet: the run has not failed")
            return

        def each():
            for strand in strands:
                mark = "*" if shown == strand.path or shown is None and strand.is_current else " "
                waits = operation(strand, strands) if strand.state != "ended" else ""
                where = ""
                if strand.state != "ended":
                    show(strand)
                    where = "  in " + place()
                print(("%s strand %-10s %-8s %s%s" % (mark, strand.path, strand.state, waits, where)).rstrip())
                if command and strand.state != "ended":
                    print(gdb.execute("backtrace 30" if command == "bt" else command, to_string=True))

        keeping_view(each)


class StrandCommand(gdb.Command):
    """Show a strand: `strand NAME`, then `bt`, `frame`, `info locals` as usual.
    strand NAME COMMAND        shows it for one command, as in `strand 0.1 bt`
    strand apply all COMMAND   does the command for each strand that has a stack
    strand back                goes back to the strand that runs; so does `strand` alone"""

    def __init__(self):
        super().__init__("strand", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        name, _, command = argument.strip().partition(" ")
        if name == "apply":
            which, _, command = command.strip().partition(" ")
            if which != "all" or not command:
                raise gdb.GdbError("write `strand apply all COMMAND`, as in `strand apply all bt`")
            keeping_view(lambda: self.apply(table(), command))
        elif command:
            keeping_view(lambda: self.apply([find(name)], command))
        else:
            if name in ("", "back"):
                restore()
            else:
                show(find(name))
            # The runtime's own frames come first: the reader's is what they look for.
            user_frame().select()
            gdb.execute("frame")

    def apply(self, strands, command):
        for strand in strands:
            if len(strands) > 1:
                print("\nstrand %s (%s)" % (strand.path, strand.state))
            if strand.state != "ended" or len(strands) == 1:
                show(strand)
                gdb.execute(command)

    def complete(self, text, word):
        return [name for name in ["apply", "back"] + [s.path for s in table()] if name.startswith(text)]


StrandsCommand()
StrandCommand()
# A run that goes on needs the registers of the strand that really runs.
for command in ["continue", "step", "next", "stepi", "nexti", "finish", "until", "advance", "jump", "detach"]:
    gdb.execute("define hook-%s\npython restore()\nend" % command)
gdb.events.exited.connect(forget)
print("`strands` lists the strands, `strands bt` their stacks, `strand NAME` shows one, `strand back` goes back.")
gdb.execute("strands")
gdb.execute("strand back")
