//! A stopped run, looked at from outside: what it has in memory, and what functions were called with on the way there.
//!
//! A run stops itself at a watched moment. From its first step on it is traced, with a breakpoint at the entry of each function that is of interest; whoever comes to
//! one has its registers noted. All of it ends with the run: what is looked at is the copy of one process.

use crate::error::Error;
use crate::run::{Follow, Request, Stopped};
use crate::server::Server;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};
use threadbare_abi::event::Segment;
use threadbare_abi::layout::flags;

/// Stops that a run may have on its way: a function that is called so often is not worth it.
const MOST_STOPS: usize = 200_000;
const BREAKPOINT: u8 = 0xcc;
/// How long it may take from one stop to the next.
const PATIENCE: Duration = Duration::from_secs(20);
/// Words of the stack that are kept of each call.
const STACK_WORDS: usize = 64;

/// A function was called.
#[derive(Clone, PartialEq, Debug)]
pub struct Called {
    /// Which of the functions.
    pub function: usize,
    /// The thread pointer, which says whose call it is.
    pub thread: u64,
    /// The registers of whole numbers, in the order of arguments.
    pub whole: [u64; 6],
    /// Those of numbers with fractions, 16 bytes each.
    pub fractions: [[u8; 16]; 8],
    /// The stack from the return address on.
    pub stack: Vec<u64>,
    /// The stack pointer.
    pub sp: u64,
}

/// A run that stands at its moment; it ends when this is dropped.
#[derive(Debug)]
pub struct Held<'a> {
    server: &'a mut Server,
    pid: libc::pid_t,
    memory: File,
    traced: bool,
    /// The last call of each function by each strand.
    pub called: Vec<Called>,
}

fn lost(what: &str) -> Error {
    Error::system(what.to_owned())(io::Error::last_os_error())
}

/// Makes a run again, up to the second of two watched moments; from the first one on, calls of the functions are noted. `None` if it did not come there.
pub fn hold<'a>(
    server: &'a mut Server,
    request: &Request,
    segments: &[Segment],
    entries: &[u64],
) -> Result<Option<Held<'a>>, Error> {
    let request =
        Request { flags: request.flags | flags::STRICT | flags::STOP_ON_FAILURE, ..request.clone() };
    let Stopped::At(pid, _) = server.run_until_stopped(&request, Follow::Segments(segments))? else {
        return Ok(None);
    };
    let memory = File::options().read(true).write(true).open(format!("/proc/{pid}/mem"));
    let memory = match memory {
        Ok(memory) => memory,
        Err(error) => {
            server.end_stopped(pid);
            return Err(Error::system("read the memory of a run")(error));
        }
    };
    let mut held = Held { server, pid, memory, traced: false, called: Vec::new() };
    Ok(held.goes_on(entries)?.then_some(held))
}

impl Held<'_> {
    /// Reads memory of the run; false if it is not there.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        self.memory.read_exact_at(bytes, address).is_ok()
    }

    /// A word.
    pub fn word(&self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes).then(|| u64::from_le_bytes(bytes))
    }

    /// The text at an address, up to its zero.
    pub fn text(&self, address: u64) -> Option<String> {
        let mut text = Vec::new();
        let mut byte = [0];
        while text.len() < 256 && self.read(address + text.len() as u64, &mut byte) && byte[0] != 0 {
            text.push(byte[0]);
        }
        String::from_utf8(text).ok()
    }

    /// Mapped memory: first byte, first byte behind it, whether it can be written, and the file.
    pub fn maps(&self) -> Vec<(u64, u64, bool, String)> {
        let text = std::fs::read_to_string(format!("/proc/{}/maps", self.pid)).unwrap_or_default();
        let line = |line: &str| {
            let mut words = line.split_whitespace();
            let (from, to) = words.next()?.split_once('-')?;
            let writable = words.next()?.contains('w');
            let number = |text| u64::from_str_radix(text, 16).ok();
            Some((number(from)?, number(to)?, writable, words.nth(3).unwrap_or_default().to_owned()))
        };
        text.lines().filter_map(line).collect()
    }

    fn ask(&self, what: libc::c_uint, data: usize) -> Result<(), Error> {
        // SAFETY: the process is our own and stands; requests with memory get pointers of the caller's that are large enough.
        match unsafe { libc::ptrace(what, self.pid, 0usize, data) } {
            -1 => Err(lost("trace a run")),
            _ => Ok(()),
        }
    }

    fn wait(&self) -> Result<libc::c_int, Error> {
        let mut status = 0;
        let until = Instant::now() + PATIENCE;
        let mut pause = Duration::from_micros(20);
        loop {
            // SAFETY: one word of ours; the process is traced by this thread.
            match unsafe { libc::waitpid(self.pid, &mut status, libc::__WALL | libc::WNOHANG) } {
                -1 => return Err(lost("wait for a run")),
                0 if Instant::now() > until => {
                    return Err(Error::system("wait for a run")(io::ErrorKind::TimedOut.into()));
                }
                0 => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(2));
                }
                _ => return Ok(status),
            }
        }
    }

    fn registers(&self) -> Result<libc::user_regs_struct, Error> {
        let mut registers = MaybeUninit::uninit();
        self.ask(libc::PTRACE_GETREGS, registers.as_mut_ptr() as usize)?;
        // SAFETY: the kernel has filled it.
        Ok(unsafe { registers.assume_init() })
    }

    fn fractions(&self) -> Result<[[u8; 16]; 8], Error> {
        let mut registers = MaybeUninit::<libc::user_fpregs_struct>::uninit();
        self.ask(libc::PTRACE_GETFPREGS, registers.as_mut_ptr() as usize)?;
        // SAFETY: the kernel has filled it.
        let registers = unsafe { registers.assume_init() };
        let mut all = [[0; 16]; 8];
        for (register, words) in all.iter_mut().zip(registers.xmm_space.chunks_exact(4)) {
            for (bytes, word) in register.chunks_exact_mut(4).zip(words) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
        }
        Ok(all)
    }

    fn put(&self, address: u64, byte: u8) -> Result<(), Error> {
        self.memory.write_all_at(&[byte], address).map_err(Error::system("put a breakpoint into a run"))
    }

    /// Lets the run go on to its next watched moment. False if it ended before.
    fn goes_on(&mut self, entries: &[u64]) -> Result<bool, Error> {
        self.ask(libc::PTRACE_SEIZE, 0)?;
        self.traced = true;
        self.ask(libc::PTRACE_INTERRUPT, 0)?;
        self.wait()?;
        let mut first = Vec::new();
        for &entry in entries {
            let mut byte = [0];
            if !self.read(entry, &mut byte) {
                return Ok(false);
            }
            first.push(byte[0]);
        }
        for &entry in entries {
            self.put(entry, BREAKPOINT)?;
        }
        // SAFETY: a signal to a process of our own.
        unsafe { libc::kill(self.pid, libc::SIGCONT) };
        let mut signal = 0;
        for _ in 0..MOST_STOPS {
            self.ask(libc::PTRACE_CONT, signal as usize)?;
            signal = 0;
            let status = self.wait()?;
            if !libc::WIFSTOPPED(status) {
                self.traced = false;
                return Ok(false);
            }
            if status >> 16 != 0 {
                continue;
            }
            match libc::WSTOPSIG(status) {
                libc::SIGSTOP => {
                    for (&entry, &byte) in entries.iter().zip(&first) {
                        self.put(entry, byte)?;
                    }
                    return Ok(true);
                }
                libc::SIGTRAP => {
                    let mut registers = self.registers()?;
                    let at = registers.rip.wrapping_sub(1);
                    let Some(function) = entries.iter().position(|&entry| entry == at) else { continue };
                    self.note(function, &registers)?;
                    registers.rip = at;
                    self.ask(libc::PTRACE_SETREGS, &raw const registers as usize)?;
                    self.put(at, first[function])?;
                    self.ask(libc::PTRACE_SINGLESTEP, 0)?;
                    if !libc::WIFSTOPPED(self.wait()?) {
                        self.traced = false;
                        return Ok(false);
                    }
                    self.put(at, BREAKPOINT)?;
                }
                libc::SIGCONT => {}
                other => signal = other,
            }
        }
        Ok(false)
    }

    fn note(&mut self, function: usize, registers: &libc::user_regs_struct) -> Result<(), Error> {
        let libc::user_regs_struct { rdi, rsi, rdx, rcx, r8, r9, rsp, fs_base, .. } = *registers;
        let stack = (0..STACK_WORDS as u64).map_while(|at| self.word(rsp + 8 * at)).collect();
        let whole = [rdi, rsi, rdx, rcx, r8, r9];
        let fractions = self.fractions()?;
        self.called.retain(|other| (other.function, other.thread) != (function, fs_base));
        self.called.push(Called { function, thread: fs_base, whole, fractions, stack, sp: rsp });
        Ok(())
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.server.end_stopped(self.pid);
        if self.traced {
            let mut status = 0;
            // SAFETY: one word of ours; it was killed, and this thread has to hear of it.
            unsafe { libc::waitpid(self.pid, &mut status, libc::__WALL) };
        }
    }
}
