//! Inputs that belong to a run's request: a server that has none yet stands before `main`, and is forked for each.
//!
//! The driver starts the program with an empty text for every argument and for the variables that an input has. Before anybody looks, each of these texts is
//! given room of its own: the program's lists of arguments and variables name those rooms, which nobody has touched. The server that is forked for an input writes
//! the texts there, so whoever has kept a list, or a pointer to a text, has the right one (Rust's std does, before `main`). How many arguments there are cannot
//! change any more: an input with another number of them gets another such server.
//!
//! **A constructor that reads a text** finds it empty, and by that the kernel maps a page that was not there: so it is noticed, whoever reads, and the driver
//! gives each input a server of its own. Of standard input it is noticed by the descriptor's offset. A constructor of a shared library that is not instrumented
//! may come before the rooms are there, and is not noticed.

use super::{orphans, server, shared, start};
use crate::sys::{c_char, nr, syscall3, syscall6};
use core::ffi::CStr;
use core::sync::atomic::{AtomicUsize, Ordering};
use threadbare_abi::layout;
use threadbare_abi::protocol::{Command, Reply};

const PAGE: usize = 4096;
/// The first room: among what is hidden from whoever asks for the list of mappings.
const FAR: usize = 0x1800_0000_0000;
/// Bytes of a room: a page that ends with a variable's name, and what the kernel lets a text have.
const ROOM: usize = 64 * PAGE;

/// Rooms of arguments, and of variables.
static ARGS: AtomicUsize = AtomicUsize::new(0);
static VARIABLES: AtomicUsize = AtomicUsize::new(0);
/// No input is there yet; whether rooms could be made.
static STATE: AtomicUsize = AtomicUsize::new(NONE);

const NONE: usize = 0;
const EMPTY: usize = 1;
const UNFIT: usize = 2;

/// Where a text begins.
fn text(room: usize) -> usize {
    FAR + room * ROOM + PAGE
}

/// Makes room for the arguments, of which there are `argc` with the program's name, and for the variables with these names.
///
/// # Safety
/// `list` is libc's list of variables, before any other thread exists.
pub unsafe fn make_room(list: *mut *mut c_char, argc: usize, names: &[u8]) {
    STATE.store(UNFIT, Ordering::Relaxed);
    let names = || names.split(|&byte| byte == b':').filter(|name| !name.is_empty());
    let (args, variables) = (argc.saturating_sub(1), names().count());
    let size = ((args + variables) * ROOM).max(PAGE);
    const FLAGS: usize = 0x02 | 0x20 | 0x4000 | 0x10_0000;
    const MADV_NOHUGEPAGE: usize = 15;
    // SAFETY: a new mapping that replaces none. The kernel puts the number of arguments, their list and that of variables one behind the other; where
    // somebody has moved the last one, the number is not found, and nothing is touched.
    unsafe {
        let argv = list.sub(argc + 1);
        if *argv.sub(1) as usize != argc || !(*argv.add(argc)).is_null() {
            return;
        }
        if syscall6(nr::MMAP, FAR, size, 3, FLAGS, usize::MAX, 0) != FAR as isize {
            return;
        }
        syscall3(nr::MADVISE, FAR, size, MADV_NOHUGEPAGE);
        for room in 0..args {
            *argv.add(1 + room) = text(room) as *mut c_char;
        }
        for (at, name) in names().enumerate() {
            let Some(value) = start::find(list, name) else { return };
            let from = value.sub(name.len() + 1);
            let to = (text(args + at) - name.len() - 1) as *mut c_char;
            core::ptr::copy_nonoverlapping(from, to, name.len() + 1);
            let mut entry = list;
            while *entry != from {
                entry = entry.add(1);
            }
            *entry = to;
        }
    }
    ARGS.store(args, Ordering::Relaxed);
    VARIABLES.store(variables, Ordering::Relaxed);
    STATE.store(EMPTY, Ordering::Relaxed);
}

/// Whether somebody has touched the text.
fn was_read(room: usize) -> bool {
    let mut pages = [0u8; ROOM / PAGE - 1];
    // SAFETY: the room's pages, and a byte for each of them.
    let got = unsafe { syscall3(nr::MINCORE, text(room), pages.len() * PAGE, pages.as_mut_ptr() as usize) };
    got != 0 || pages.iter().any(|page| page & 1 != 0)
}

/// What constructors have read, as the driver is told.
fn read_early() -> i32 {
    const SEEK_CUR: usize = 1;
    if STATE.load(Ordering::Relaxed) == UNFIT {
        return Reply::UNFIT;
    }
    let args = ARGS.load(Ordering::Relaxed);
    let mut read = 0;
    if (0..args).any(was_read) {
        read |= Reply::READ_ARGS;
    }
    if (args..args + VARIABLES.load(Ordering::Relaxed)).any(was_read) {
        read |= Reply::READ_ENV;
    }
    // SAFETY: asks where a descriptor stands.
    if unsafe { syscall3(nr::LSEEK, 0, 0, SEEK_CUR) } > 0 {
        read |= Reply::READ_STDIN;
    }
    read
}

/// Forks a server for every input, until the driver is gone. Returns in such a server, and at once where the input is there from the beginning.
pub fn serve() {
    if STATE.load(Ordering::Relaxed) == NONE {
        return;
    }
    server::hello(read_early());
    while let Some((command, fds)) = receive() {
        let pid = server::as_main(server::fork);
        if pid == 0 {
            become_one(command, fds);
            return;
        }
        for fd in fds {
            // SAFETY: a descriptor that was sent to us.
            unsafe { syscall3(nr::CLOSE, fd as usize, 0, 0) };
        }
        if pid < 0 {
            server::send(Reply::FAILED, -pid as i32, 0);
            continue;
        }
        const WNOHANG: usize = 1;
        // SAFETY: a child of ours, and those that have ended.
        unsafe {
            syscall3(nr::SETPGID, pid as usize, pid as usize, 0);
            server::send(Reply::STARTED, pid as i32, 0);
            while syscall6(nr::WAIT4, usize::MAX, 0, WNOHANG, 0, 0, 0) > 0 {}
        }
    }
    server::quit();
}

/// The descriptors that come with a command: shared memory, control socket, and the standard streams.
const FDS: usize = 5;

#[repr(C)]
struct Control {
    len: usize,
    level: i32,
    kind: i32,
    fds: [i32; FDS],
    pad: i32,
}

#[repr(C)]
struct Message {
    name: [usize; 2],
    parts: *mut [usize; 2],
    count: usize,
    control: *mut Control,
    control_len: usize,
    flags: i32,
}

fn receive() -> Option<(Command, [i32; FDS])> {
    const CLOEXEC: usize = 0x4000_0000;
    let mut command = Command::default();
    loop {
        let mut parts = [&raw mut command as usize, size_of::<Command>()];
        let mut control = Control { len: 0, level: 0, kind: 0, fds: [-1; FDS], pad: 0 };
        let mut message = Message {
            name: [0; 2],
            parts: &raw mut parts,
            count: 1,
            control: &raw mut control,
            control_len: size_of::<Control>(),
            flags: 0,
        };
        // SAFETY: the message names room of ours.
        let got = unsafe { syscall3(nr::RECVMSG, server::control(), &raw mut message as usize, CLOEXEC) };
        if got == -(crate::sys::errno::EINTR as isize) {
            continue;
        }
        let whole = got == size_of::<Command>() as isize && command.code == Command::START;
        return (whole && control.fds.iter().all(|&fd| fd >= 0)).then_some((command, control.fds));
    }
}

/// This process is the server of an input.
fn become_one(command: Command, [memory, control, streams @ ..]: [i32; FDS]) {
    const CLOEXEC: usize = 0o2000000;
    server::goes_with_parent();
    // SAFETY: this process's own group, processor and descriptors; the control socket has the number that the other one had.
    unsafe {
        syscall3(nr::SETPGID, 0, 0, 0);
        if let Some(processor) = command.reserved.checked_sub(1).map(|it| it as usize).filter(|&it| it < 1024)
        {
            let mut set = [0u64; 16];
            set[processor / 64] = 1 << (processor % 64);
            syscall3(nr::SCHED_SETAFFINITY, 0, size_of_val(&set), set.as_ptr() as usize);
        }
        syscall3(nr::DUP3, control as usize, server::control(), CLOEXEC);
        syscall3(nr::CLOSE, control as usize, 0, 0);
        for (number, stream) in streams.into_iter().enumerate() {
            if stream as usize != number {
                syscall3(nr::DUP3, stream as usize, number, 0);
                syscall3(nr::CLOSE, stream as usize, 0, 0);
            }
        }
    }
    if !shared::attach_another(memory, &raw const super::live::LIVE as usize) {
        super::fatal("the shared memory of an input cannot be mapped");
    }
    orphans::adopt();
    start::set_reset(command.arg & Command::RESET != 0);
    fill();
    STATE.store(NONE, Ordering::Relaxed);
}

/// Writes the texts, which the driver has put where reports will be.
fn fill() {
    let Some(at) = shared::area(layout::REPORT).map(|at| at as usize) else { return };
    let rooms = ARGS.load(Ordering::Relaxed) + VARIABLES.load(Ordering::Relaxed);
    let end = at + layout::REPORT_SIZE;
    let mut next = at;
    for room in 0..rooms {
        // SAFETY: the driver has written so many texts there, each shorter than a room.
        unsafe {
            let bytes = CStr::from_ptr(next as *const c_char).to_bytes_with_nul();
            if next + bytes.len() > end || bytes.len() > ROOM - PAGE {
                super::fatal("the input is too long");
            }
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), text(room) as *mut u8, bytes.len());
            next += bytes.len();
        }
    }
}
