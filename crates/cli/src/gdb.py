# Strands for gdb: `strands` lists them, `strand NAME` shows one as if it were the running thread.
#
# All strands share one kernel thread, so gdb sees a single one. The runtime keeps a table of them
# (`threadbare_debug`) with the stack pointer of each; a strand that does not run has its registers on its stack:
# r15, r14, r13, r12, rbx, rbp, return address.

import struct

import gdb

STATES = ["ready", "waiting", "ended", "running"]
REGISTERS = ["r15", "r14", "r13", "r12", "rbx", "rbp"]
ALL_REGISTERS = REGISTERS + ["rsp", "rip", "fs_base"]


class Strand:
    """One row of the runtime's table."""

    FORMAT = "<IIQQQQQQ"
    SIZE = struct.calcsize(FORMAT)

    def __init__(self, raw):
        (self.index, self.state, self.parent, self.sp, self.fs_base, path, op, self.addr) = struct.unpack(
            self.FORMAT, raw
        )
        self.path = text(path)
        self.op = text(op)


def memory(address, size):
    return bytes(gdb.selected_inferior().read_memory(address, size))


def text(address):
    if address == 0:
        return ""
    out = b""
    while b"\0" not in out and len(out) < 256:
        out += memory(address + len(out), 1)
    return out.split(b"\0")[0].decode("utf-8", "replace")


def evaluate(expression):
    # The innermost frame is Rust, where C's casts mean nothing.
    language = gdb.parameter("language")
    gdb.execute("set language c", to_string=True)
    try:
        return int(gdb.parse_and_eval(expression))
    finally:
        gdb.execute("set language %s" % language, to_string=True)


def table():
    address = evaluate("(unsigned long)&threadbare_debug")
    version, count, rows = struct.unpack("<IIQ", memory(address, 16))
    if version != 1:
        raise gdb.GdbError("the table of strands has version %d, this script reads 1" % version)
    return [Strand(memory(rows + i * Strand.SIZE, Strand.SIZE)) for i in range(count)]


class View:
    """Which strand the registers show, and what they were before."""

    saved = None
    shown = None


def register(name):
    return evaluate("(unsigned long)$%s" % name)


def to_own_code():
    """Selects the innermost frame that is not the runtime's."""
    frame = gdb.newest_frame()
    while frame is not None:
        library = gdb.solib_name(frame.pc()) or ""
        if "libthreadbare_rt" not in library:
            frame.select()
            return
        frame = frame.older()


def set_registers(values):
    # The innermost frame must be selected for registers to be the machine's.
    gdb.newest_frame().select()
    # The stack pointer first: gdb unwinds from it when it is asked for the others.
    for name in ["rsp", "rip"] + [n for n in values if n not in ("rsp", "rip")]:
        try:
            gdb.execute("set var $%s = %#x" % (name, values[name]), to_string=True)
        except gdb.error:
            # Not every kernel lets a debugger set it; thread-locals are then the running strand's.
            if name != "fs_base":
                raise


def restore():
    if View.saved is not None:
        set_registers(View.saved)
        View.saved = None
        View.shown = None


def show(strand):
    restore()
    if STATES[strand.state] == "running":
        return
    if STATES[strand.state] == "ended":
        raise gdb.GdbError("strand %s has ended: it has no stack" % strand.path)
    gdb.newest_frame().select()
    View.saved = {name: register(name) for name in ALL_REGISTERS}
    words = struct.unpack("<7Q", memory(strand.sp, 56))
    values = dict(zip(REGISTERS, words))
    values.update({"rsp": strand.sp + 56, "rip": words[6], "fs_base": strand.fs_base})
    set_registers(values)
    View.shown = strand.path


class StrandsCommand(gdb.Command):
    """List the strands: `strands`. `strands bt` shows the stack of each."""

    def __init__(self):
        super().__init__("strands", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        before = View.shown
        for strand in table():
            state = STATES[strand.state] if strand.state < len(STATES) else "?"
            waits = "%s %#x" % (strand.op, strand.addr) if state != "ended" else ""
            mark = "*" if View.shown == strand.path or View.shown is None and state == "running" else " "
            print("%s strand %-10s %-8s %s" % (mark, strand.path, state, waits))
            if argument.strip() in ("bt", "backtrace") and state != "ended":
                show(strand)
                print(gdb.execute("backtrace 30", to_string=True))
        restore()
        if before is not None:
            show(find(before))


class StrandCommand(gdb.Command):
    """Show a strand's stack: `strand NAME`, then `bt`, `frame`, `info locals` as usual. `strand` alone goes back."""

    def __init__(self):
        super().__init__("strand", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        name = argument.strip()
        if not name:
            restore()
        else:
            show(find(name))
        to_own_code()
        gdb.execute("frame")

    def complete(self, text, word):
        return [strand.path for strand in table() if strand.path.startswith(text)]


def find(name):
    for strand in table():
        if strand.path == name:
            return strand
    raise gdb.GdbError("there is no strand %s; `strands` lists them" % name)


StrandsCommand()
StrandCommand()
# A run that goes on needs the registers of the strand that really runs.
gdb.events.exited.connect(lambda event: setattr(View, "saved", None))
print("`strands` lists the strands, `strands bt` their stacks, `strand NAME` shows one, `strand` goes back.")
gdb.execute("strands")
to_own_code()
gdb.execute("frame")
