//! What the kernel has of a process, besides its memory: looked at before the first run, and put back after each.
//!
//! | state | put back |
//! |---|---|
//! | signal mask, alternate stack, working folder, `umask`, limits, interval timers | always |
//! | dispositions of signals | where the run has set one |
//! | of a batch: the offset of the input, what was written to the standard streams | always |
//! | descriptors opened in the run; mappings made in it | closed; unmapped |
//! | descriptors and mappings that it had from the start and that are others now; children; threads | not: the worker ends |
//!
//! Not looked at: file locks, offsets and flags of descriptors that all runs share (a fork shares them as well), the thread's name,
//! priorities, and what is left in the file system.

use super::pages::Range;
use super::{Room, Why};
use crate::model::signal;
use crate::sys::{nr, syscall3, syscall6};
use core::ffi::CStr;

const SIGNALS: usize = 64;
const LIMITS: usize = 16;
const DESCRIPTORS: usize = 256;
const MAPPINGS: usize = 4096;
/// Where descriptors of the keeper's are, out of the way of the program's own.
const HIGH: usize = 900;
/// Room for `/proc/self/maps`.
const MAPS: usize = 1 << 20;

const O_CLOEXEC: usize = 0o2_000_000;
const O_PATH: usize = 0o10_000_000;
const SIG_SETMASK: usize = 2;
const SIGXCPU: u32 = 24;
const S_IFMT: u32 = 0o170_000;
const S_IFREG: u32 = 0o100_000;
/// The standard streams.
const STREAMS: [usize; 2] = [1, 2];

#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
struct Action([usize; 4]);

#[derive(Clone, Copy, PartialEq, Eq)]
struct Descriptor {
    fd: usize,
    /// Device and inode.
    file: (u64, u64),
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Mapping {
    start: usize,
    end: usize,
    /// `rwxp` as the kernel tells it.
    access: [u8; 4],
    of_file: bool,
    grows: bool,
}

pub(super) struct Kernel {
    /// Blocked signals.
    pub(super) mask: u64,
    stack: [usize; 3],
    actions: [Action; SIGNALS],
    limits: [[u64; 2]; LIMITS],
    umask: usize,
    cwd: usize,
    /// Device and inode of the working folder.
    cwd_file: (u64, u64),
    /// The standard input is a file, which every run reads from its beginning.
    rewinds: bool,
    /// The folders of descriptors and threads, and the size of memory.
    fd_folder: usize,
    task_folder: usize,
    statm: usize,
    descriptors: [Descriptor; DESCRIPTORS],
    descriptors_len: usize,
    count: u64,
    pages: (u64, u64),
    mappings: *mut Mapping,
    mappings_len: usize,
    now: *mut Mapping,
    text: *mut u8,
}

/// A descriptor moved out of the way.
pub(super) fn high(fd: isize) -> Option<usize> {
    const F_DUPFD_CLOEXEC: usize = 1030;
    let fd = usize::try_from(fd).ok()?;
    // SAFETY: our own descriptor.
    unsafe {
        let moved = syscall3(nr::FCNTL, fd, F_DUPFD_CLOEXEC, HIGH);
        syscall3(nr::CLOSE, fd, 0, 0);
        usize::try_from(moved).ok()
    }
}

fn open(path: &CStr, flags: usize) -> usize {
    // SAFETY: a C string.
    high(unsafe { syscall3(nr::OPEN, path.as_ptr() as usize, flags | O_CLOEXEC, 0) }).unwrap_or(usize::MAX)
}

/// Blocks these signals and no others.
pub(super) fn set_mask(mask: u64) {
    // SAFETY: 8 bytes.
    unsafe { syscall6(nr::RT_SIGPROCMASK, SIG_SETMASK, &raw const mask as usize, 0, 8, 0, 0) };
}

/// The driver's word that a run's time is over may come when it has ended: it is not meant for the next one.
pub(super) fn drop_late_signal() {
    let (set, at_once) = (1u64 << (SIGXCPU - 1), [0u64; 2]);
    // SAFETY: 8 bytes, and a time.
    unsafe {
        syscall6(nr::RT_SIGTIMEDWAIT, &raw const set as usize, 0, &raw const at_once as usize, 8, 0, 0)
    };
}

/// Processor time of this process so far.
pub(super) fn used_ns() -> u64 {
    const CLOCK_PROCESS_CPUTIME_ID: usize = 2;
    let mut time = [0u64; 2];
    // SAFETY: 16 bytes are written.
    unsafe { syscall3(nr::CLOCK_GETTIME, CLOCK_PROCESS_CPUTIME_ID, &raw mut time as usize, 0) };
    time[0] * 1_000_000_000 + time[1]
}

/// Page faults of this thread so far: the process has no other.
pub(super) fn faults() -> u64 {
    const RUSAGE_THREAD: usize = 1;
    const MINOR: usize = 8;
    let mut usage = [0u64; 18];
    // SAFETY: 144 bytes are written.
    unsafe { syscall3(nr::GETRUSAGE, RUSAGE_THREAD, &raw mut usage as usize, 0) };
    usage[MINOR] + usage[MINOR + 1]
}

fn file_of(fd: usize) -> Option<[u64; 18]> {
    let mut stat = [0u64; 18];
    // SAFETY: the kernel writes 144 bytes.
    (unsafe { syscall3(nr::FSTAT, fd, &raw mut stat as usize, 0) } == 0).then_some(stat)
}

/// Device and inode of the working folder.
fn working_folder() -> Option<(u64, u64)> {
    let mut stat = [0u64; 18];
    // SAFETY: a C string; the kernel writes 144 bytes.
    let told = unsafe { syscall3(nr::STAT, c".".as_ptr() as usize, &raw mut stat as usize, 0) };
    (told == 0).then_some((stat[0], stat[1]))
}

fn action_of(signal: usize) -> Action {
    let mut action = Action([0; 4]);
    // SAFETY: 32 bytes are written.
    unsafe { syscall6(nr::RT_SIGACTION, signal, 0, &raw mut action as usize, 8, 0, 0) };
    action
}

fn limit_of(which: usize) -> [u64; 2] {
    let mut limit = [0; 2];
    // SAFETY: 16 bytes are written.
    unsafe { syscall6(nr::PRLIMIT64, 0, which, 0, &raw mut limit as usize, 0, 0) };
    limit
}

/// The mappings there are; `None` if there are too many.
///
/// # Safety
/// `text` has room for [`MAPS`] bytes, `list` for [`MAPPINGS`].
unsafe fn read_mappings(text: *mut u8, list: *mut Mapping) -> Option<usize> {
    // SAFETY: the path is a C string; no more is read than there is room for.
    let bytes = unsafe {
        let fd = syscall3(nr::OPEN, c"/proc/self/maps".as_ptr() as usize, O_CLOEXEC, 0);
        if fd < 0 {
            return None;
        }
        let mut filled = 0;
        loop {
            let got = syscall3(nr::READ, fd as usize, text as usize + filled, MAPS - filled);
            if got <= 0 {
                break;
            }
            filled += got as usize;
        }
        syscall3(nr::CLOSE, fd as usize, 0, 0);
        if filled == MAPS {
            return None;
        }
        core::slice::from_raw_parts(text, filled)
    };
    let mut count = 0;
    for line in bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        if count == MAPPINGS {
            return None;
        }
        // SAFETY: there is room for one more.
        unsafe { list.add(count).write(mapping(line)?) };
        count += 1;
    }
    Some(count)
}

/// `start-end rwxp offset dev inode name`.
fn mapping(line: &[u8]) -> Option<Mapping> {
    let hex = |digits: &[u8]| {
        digits
            .iter()
            .try_fold(0usize, |value, &digit| Some(value << 4 | (digit as char).to_digit(16)? as usize))
    };
    let mut words = line.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
    let range = words.next()?;
    let dash = range.iter().position(|&byte| byte == b'-')?;
    let access = words.next()?.first_chunk::<4>().copied()?;
    let inode = words.nth(2)?;
    let grows = words.next() == Some(b"[stack]");
    let (start, end) = (hex(&range[..dash])?, hex(&range[dash + 1..])?);
    Some(Mapping { start, end, access, of_file: inode != b"0", grows })
}

impl Kernel {
    /// What there is now, but for what [`Kernel::keep`] looks at.
    pub(super) fn look(room: &mut Room) -> Kernel {
        let mut stack = [0usize; 3];
        let mask = 0u64;
        let (mut old, mut actions, mut limits) = (0u64, [Action([0; 4]); SIGNALS], [[0; 2]; LIMITS]);
        // SAFETY: the kernel writes what the arrays have room for; the mask stays as it is.
        let umask = unsafe {
            const SIG_BLOCK: usize = 0;
            syscall6(nr::RT_SIGPROCMASK, SIG_BLOCK, &raw const mask as usize, &raw mut old as usize, 8, 0, 0);
            syscall3(nr::SIGALTSTACK, 0, &raw mut stack as usize, 0);
            let umask = syscall3(nr::UMASK, 0o77, 0, 0) as usize;
            syscall3(nr::UMASK, umask, 0, 0);
            umask
        };
        (0..SIGNALS).for_each(|index| actions[index] = action_of(index + 1));
        (0..LIMITS).for_each(|index| limits[index] = limit_of(index));
        let cwd = open(c".", O_PATH);
        let is_file = |stat: [u64; 18]| stat[3] as u32 & S_IFMT == S_IFREG;
        Kernel {
            mask: old,
            stack,
            actions,
            limits,
            umask,
            cwd,
            cwd_file: file_of(cwd).map_or((0, 0), |stat| (stat[0], stat[1])),
            rewinds: file_of(0).is_some_and(is_file),
            fd_folder: open(c"/proc/self/fd", 0),
            task_folder: open(c"/proc/self/task", O_PATH),
            statm: open(c"/proc/self/statm", 0),
            descriptors: [Descriptor { fd: 0, file: (0, 0) }; DESCRIPTORS],
            descriptors_len: 0,
            count: 0,
            pages: (0, 0),
            mappings: room.take(MAPPINGS),
            mappings_len: 0,
            now: room.take(MAPPINGS),
            text: room.take(MAPS),
        }
    }

    /// The last look before the first run, when the keeper has all that it needs. False if it cannot be kept.
    pub(super) fn keep(&mut self) -> bool {
        // SAFETY: the rooms were made for this.
        let Some(count) = (unsafe { read_mappings(self.text, self.mappings) }) else { return false };
        self.mappings_len = count;
        let (mut list, mut found) = (self.descriptors, 0);
        let whole = self.each_descriptor(|fd| {
            if let (Some(stat), Some(entry)) = (file_of(fd), list.get_mut(found)) {
                *entry = Descriptor { fd, file: (stat[0], stat[1]) };
            }
            found += 1;
        });
        self.descriptors = list;
        self.descriptors_len = found.min(DESCRIPTORS);
        let (Some(count), Some(pages)) = (self.descriptor_count(), self.size()) else { return false };
        (self.count, self.pages) = (count, pages);
        whole && found <= DESCRIPTORS && self.threads() == Some(1) && count > 0
    }

    /// The private mappings that can be written, but for the keeper's, as [`Kernel::keep`] found them.
    pub(super) fn writable(&self, keepers: &Room) -> impl Iterator<Item = Range> {
        // SAFETY: so many were read.
        let mappings = unsafe { core::slice::from_raw_parts(self.mappings, self.mappings_len) };
        let keepers = keepers.bounds();
        let wanted = move |it: &&Mapping| {
            it.access[..2] == *b"rw"
                && it.access[3] == b'p'
                && !(keepers.0 <= it.start && it.end <= keepers.1)
        };
        mappings.iter().filter(wanted).map(|it| Range { start: it.start, end: it.end, of_file: it.of_file })
    }

    fn descriptor_count(&self) -> Option<u64> {
        // Since Linux 6.2 the folder's size is the number of open descriptors.
        file_of(self.fd_folder).map(|stat| stat[6])
    }

    fn threads(&self) -> Option<u64> {
        // Two links more than there are threads.
        file_of(self.task_folder).map(|stat| stat[2].saturating_sub(2))
    }

    /// Pages of address space, and of those that can be written and are not shared.
    fn size(&self) -> Option<(u64, u64)> {
        let mut text = [0u8; 128];
        // SAFETY: our own descriptor and room.
        let got = unsafe { syscall6(nr::PREAD64, self.statm, &raw mut text as usize, text.len(), 0, 0, 0) };
        let mut words = text[..usize::try_from(got).ok()?].split(|&byte| byte == b' ').map(|digits| {
            digits
                .iter()
                .try_fold(0u64, |value, &digit| Some(value * 10 + u64::from((digit as char).to_digit(10)?)))
        });
        Some((words.next()??, words.nth(4)??))
    }

    /// Puts everything back, or tells what cannot be. Whether anything was other than at the beginning.
    pub(super) fn put_back(&mut self) -> Result<bool, Why> {
        const WNOHANG: usize = 1;
        const ECHILD: isize = -10;
        let none = [0u64; 4];
        let mut others = 0;
        // SAFETY: system calls with our own data; the kernel writes as much as there is room for.
        unsafe {
            if syscall6(nr::WAIT4, usize::MAX, 0, WNOHANG, 0, 0, 0) != ECHILD {
                return Err(Why::Processes);
            }
            if self.threads() != Some(1) {
                return Err(Why::Processes);
            }
            let mut stack = [0usize; 3];
            syscall3(nr::SIGALTSTACK, &raw const self.stack as usize, &raw mut stack as usize, 0);
            others += u32::from(stack != self.stack);
            if working_folder() != Some(self.cwd_file) {
                syscall3(nr::FCHDIR, self.cwd, 0, 0);
                others += 1;
            }
            others += u32::from(syscall3(nr::UMASK, self.umask, 0, 0) as usize != self.umask);
            for which in 0..3 {
                let mut timer = [0u64; 4];
                syscall3(nr::SETITIMER, which, &raw const none as usize, &raw mut timer as usize);
                others += u32::from(timer != none);
            }
        }
        for (index, limit) in self.limits.iter().enumerate() {
            if limit_of(index) != *limit {
                others += 1;
                // SAFETY: 16 bytes.
                let set = unsafe { syscall6(nr::PRLIMIT64, 0, index, &raw const *limit as usize, 0, 0, 0) };
                if set != 0 {
                    return Err(Why::Mappings);
                }
            }
        }
        others += u32::from(self.put_back_descriptors()?);
        others += u32::from(self.put_back_mappings()?);
        Ok(others > 0)
    }

    /// Puts back the dispositions that the run has set. Which these are is the run's memory, which is put back later.
    pub(super) fn put_back_signals(&self) {
        let mut changed = signal::changed();
        while changed != 0 {
            let index = changed.trailing_zeros() as usize;
            changed &= changed - 1;
            let action = &raw const self.actions[index];
            // SAFETY: 32 bytes that the kernel wrote before.
            unsafe { syscall6(nr::RT_SIGACTION, index + 1, action as usize, 0, 8, 0, 0) };
        }
    }

    /// The input is read from its beginning again.
    pub(super) fn rewind(&self) {
        if self.rewinds {
            // SAFETY: no memory is involved.
            unsafe { syscall3(nr::LSEEK, 0, 0, 0) };
        }
    }

    /// Bytes that were written to the standard streams.
    pub(super) fn written(&self) -> [u64; 2] {
        STREAMS.map(|stream| file_of(stream).map_or(0, |stat| stat[6]))
    }

    /// Nobody wants to read them.
    pub(super) fn empty(&self, written: [u64; 2]) {
        for (stream, _) in STREAMS.into_iter().zip(written).filter(|&(_, bytes)| bytes > 0) {
            // SAFETY: no memory is involved; the driver's own files.
            unsafe { syscall3(nr::FTRUNCATE, stream, 0, 0) };
        }
    }

    fn put_back_descriptors(&self) -> Result<bool, Why> {
        let old = &self.descriptors[..self.descriptors_len];
        let same = |it: &Descriptor| file_of(it.fd).is_some_and(|stat| (stat[0], stat[1]) == it.file);
        if !old.iter().all(same) {
            return Err(Why::Descriptors);
        }
        if self.descriptor_count() == Some(self.count) {
            return Ok(false);
        }
        let whole = self.each_descriptor(|fd| {
            if !old.iter().any(|it| it.fd == fd) {
                // SAFETY: a descriptor of the run that has ended.
                unsafe { syscall3(nr::CLOSE, fd, 0, 0) };
            }
        });
        if whole && self.descriptor_count() == Some(self.count) { Ok(true) } else { Err(Why::Descriptors) }
    }

    /// Calls `visit` with each open descriptor; false if they cannot be told.
    fn each_descriptor(&self, mut visit: impl FnMut(usize)) -> bool {
        let mut room = [0u64; 512];
        // SAFETY: our own descriptor and room; the kernel's records are as long as they say.
        unsafe {
            if syscall3(nr::LSEEK, self.fd_folder, 0, 0) < 0 {
                return false;
            }
            loop {
                let got =
                    syscall3(nr::GETDENTS64, self.fd_folder, &raw mut room as usize, size_of_val(&room));
                if got <= 0 {
                    return got == 0;
                }
                let (base, mut at) = ((&raw const room).cast::<u8>(), 0);
                while at < got as usize {
                    let record = base.add(at);
                    let length = record.add(16).cast::<u16>().read_unaligned();
                    let name = CStr::from_ptr(record.add(19).cast()).to_bytes();
                    let number = name.iter().try_fold(0usize, |number, &digit| {
                        Some(number * 10 + (digit as char).to_digit(10)? as usize)
                    });
                    if let Some(fd) = number {
                        visit(fd);
                    }
                    at += usize::from(length);
                }
            }
        }
    }

    fn put_back_mappings(&mut self) -> Result<bool, Why> {
        if self.size() == Some(self.pages) {
            return Ok(false);
        }
        // SAFETY: the rooms were made for this, and are read before anything changes.
        let (old, new) = unsafe {
            let count = read_mappings(self.text, self.now).ok_or(Why::Mappings)?;
            (
                core::slice::from_raw_parts(self.mappings, self.mappings_len),
                core::slice::from_raw_parts(self.now, count),
            )
        };
        // What is in no old mapping goes. A mapping may have been joined with its neighbour.
        for mapping in new {
            let mut from = mapping.start;
            for known in old.iter().filter(|known| known.start < mapping.end && known.end > mapping.start) {
                let start = if known.grows { known.start.min(mapping.start) } else { known.start };
                unmap(from, start);
                from = known.end.max(from);
            }
            unmap(from, mapping.end);
        }
        // What was there must be there; both lists are in the order of addresses.
        for known in old {
            let mut from = known.start;
            for mapping in new {
                if mapping.start <= from && from < mapping.end && mapping.access == known.access {
                    from = mapping.end;
                }
            }
            if from < known.end {
                return Err(Why::Mappings);
            }
        }
        // The stack may have grown, and stays so.
        self.pages = self.size().ok_or(Why::Mappings)?;
        Ok(true)
    }
}

fn unmap(start: usize, end: usize) {
    if start < end {
        // SAFETY: a mapping that the run has made, of which nothing is left that refers to it.
        unsafe { syscall3(nr::MUNMAP, start, end - start, 0) };
    }
}
