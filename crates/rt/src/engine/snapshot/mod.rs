//! The next run begins in the same process: memory and kernel state are put back to where the first one began.
//!
//! The fork server forks a *worker*, which stands before `main` as every run does. Here it leaves its stack for one of the keeper's
//! own, copies what it needs to come back, and lets the run begin. When the run ends (libc's `_exit`, or a verdict), the
//! keeper goes on: it restores the pages that were written ([`pages`]) and what the kernel has of the process
//! ([`kernel`]), answers the driver in the server's place, waits for the next command, and goes back to before `main`. The runtime's
//! own memory is restored with the rest, so a run cannot tell whether it is the first.
//!
//! Of a batch (`engine/batch.rs`) the keeper takes the next run by itself. What the kernel has of the process is looked at after every few of its runs only,
//! since that costs more than a short run does: runs are taken to leave it as it was. Where one did not, those since the last
//! look may have found what others left: they are made again, with a look after each. So a run that is made for good has
//! found what the first one found, and which runs are made again is nobody's business.
//!
//! Whatever cannot be put back ends the worker instead, as the end of a run by fork: the server, which has waited for that,
//! tells the driver and makes a new one. So does a run that crashes, is killed, or starts processes.

mod kernel;
mod pages;

use super::{batch, carriers, live, server};
use crate::arch;
use crate::model::signal;
use crate::raw::Raw;
use crate::sys::{c_int, nr, syscall3, syscall6};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use kernel::Kernel;
use pages::Pages;
use threadbare_abi::batch::Head;
use threadbare_abi::protocol::Reply;

/// The keeper's stack, and all its memory; no more of it is used than there is to keep.
const STACK: usize = 256 << 10;
const ROOM: usize = (pages::SAVED + (4 << 10)) * pages::PAGE;
/// Workers in a row that made one run and could not go back: no more are tried.
const VAIN: u32 = 3;
/// Runs of a batch between two looks at what the kernel has, at the most.
const INTERVAL: u32 = 64;
/// Known instructions and records of coverage that a run loads again; with more a new worker is made, which has them.
const NEWS: u64 = 1024;

/// What server and worker share.
#[repr(C)]
struct Common {
    /// The run whose command the worker has taken, for the server to make; its number and one.
    handed_over: AtomicU64,
    /// Runs that the worker has ended by itself.
    ended: AtomicU64,
    /// Why it went: a [`Why`].
    why: AtomicU32,
    /// While a run that has ended is undone, its status and one: if the worker does not outlive that, the run has ended all the
    /// same.
    undone: AtomicU32,
    /// What the worker is at: its end is a run's only if it makes one.
    state: AtomicU32,
    /// The run whose command it is about to take; its number and one.
    taking: AtomicU64,
}

/// States of a worker: it makes a run; it has answered and waits for a command; it takes one.
const RUNS: u32 = 0;
const WAITS: u32 = 1;
const TAKES: u32 = 2;

/// What a worker that has ended leaves to the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Left {
    /// The answer to the driver.
    Answer,
    /// Nothing: all its runs are answered, and the next command is still to be read.
    Nothing,
    /// A run whose command it has taken.
    Command(u64),
}

/// Why a worker does not go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Why {
    /// It has not said: a crash, or it was killed.
    Unknown = 0,
    /// The kernel cannot tell which pages were written.
    Kernel = 1,
    /// The run started processes or threads that are not ours.
    Processes = 2,
    /// It changed descriptors that it had from the start.
    Descriptors = 3,
    /// It changed mappings that it had from the start.
    Mappings = 4,
    /// It wrote more memory than is worth restoring.
    Size = 5,
    /// There is much news for the next run, or it needs more carriers.
    News = 6,
}

impl Why {
    fn text(code: u32) -> Option<&'static str> {
        Some(match code {
            1 => "runs are forks: this kernel does not tell which pages a run has written (Linux 6.7 does)",
            2 => "runs are forks: the program starts processes, or threads out of sight",
            3 => "runs are forks: the program closes or replaces descriptors that it was started with",
            4 => "runs are forks: the program changes mappings that are older than the run",
            5 => "runs are forks: the program writes more memory than is worth restoring",
            _ => return None,
        })
    }
}

/// Where the keeper's memory is, far from where the kernel puts the program's: a run by fork finds the same addresses.
pub const FAR: usize = 0x1000_0000_0000;
const MAP_SHARED: usize = 1;
const MAP_PRIVATE: usize = 2;
const MAP_NORESERVE: usize = 0x4000;

/// New memory at, or near, this address.
fn map(at: usize, size: usize, flags: usize) -> Option<usize> {
    const MAP_ANONYMOUS: usize = 0x20;
    // SAFETY: a new mapping replaces none.
    let at = unsafe { syscall6(nr::MMAP, at, size, 3, flags | MAP_ANONYMOUS, usize::MAX, 0) };
    (at > 0).then_some(at as usize)
}

/// Memory that is not restored: one mapping that has no neighbour to be joined with.
struct Room {
    next: usize,
    start: usize,
    end: usize,
}

impl Room {
    fn new(size: usize) -> Room {
        let size = size.next_multiple_of(pages::PAGE);
        let Some(at) = map(FAR, size + 2 * pages::PAGE, MAP_PRIVATE | MAP_NORESERVE) else {
            super::fatal("no address space left for the keeper")
        };
        let (start, end) = (at + pages::PAGE, at + pages::PAGE + size);
        // SAFETY: the borders of a mapping of our own.
        unsafe {
            syscall3(nr::MPROTECT, at, pages::PAGE, 0);
            syscall3(nr::MPROTECT, end, pages::PAGE, 0);
        }
        Room { next: start, start, end }
    }

    /// Zeroed room for so many.
    fn take<T>(&mut self, count: usize) -> *mut T {
        let at = self.next.next_multiple_of(64);
        self.next = at + count * size_of::<T>();
        if self.next > self.end {
            super::fatal("the keeper has too little room");
        }
        at as *mut T
    }

    fn bounds(&self) -> (usize, usize) {
        (self.start, self.end)
    }
}

static mut COMMON: *const Common = core::ptr::null();
static mut KEEPER: *mut Keeper = core::ptr::null_mut();

/// The worker's side: it lies apart from all that is restored.
struct Keeper {
    /// Where the keeper and the program's main strand stand while the other runs.
    own_sp: usize,
    main_sp: usize,
    fs: usize,
    control_word: u16,
    pid: isize,
    pages: Pages,
    kernel: Kernel,
    room: Room,
    /// How the run ended, as `wait` tells it.
    status: i32,
    /// Runs since the kernel's state was looked at last, and how many there may be until it is looked at next.
    unseen: u32,
    interval: u32,
    /// Runs write to the standard streams: they are emptied after each.
    writes: bool,
    /// Carriers that a run finds, and whether there may be more.
    carriers: usize,
    more_carriers: bool,
    /// News that the worker had when it was made.
    known: u64,
    told: u64,
    modules_len: u64,
}

/// The server's: what became of its workers.
#[derive(Debug, Default)]
pub struct Workers {
    on: bool,
    vain: u32,
    said: Option<&'static str>,
}

fn common() -> Option<&'static Common> {
    // SAFETY: null, or a page that is never unmapped and has atomic fields only.
    unsafe { COMMON.as_ref() }
}

impl Workers {
    /// In the server, before the first run.
    pub fn new(wanted: bool) -> Workers {
        let Some(at) = wanted.then(|| map(FAR - (1 << 30), pages::PAGE, MAP_SHARED)).flatten() else {
            return Workers::default();
        };
        // SAFETY: once, single kernel thread; the page is zero at first.
        unsafe { COMMON = at as *const Common };
        Workers { on: true, ..Workers::default() }
    }

    /// A worker has ended with this status: that of its run.
    pub fn status(&self, status: i32) -> i32 {
        let undone = common().map_or(0, |common| common.undone.swap(0, Ordering::Relaxed));
        undone.checked_sub(1).map_or(status, |undone| undone as i32)
    }

    /// A worker has ended.
    pub fn ended(&mut self) -> Left {
        let Some(common) = common().filter(|_| self.on) else { return Left::Answer };
        let why = common.why.swap(0, Ordering::Relaxed);
        let runs = common.ended.swap(0, Ordering::Relaxed);
        let reason = Why::text(why);
        self.vain = if reason.is_some() && runs == 0 { self.vain + 1 } else { 0 };
        if self.vain >= VAIN || why == Why::Kernel as u32 {
            self.on = false;
            // That processes are started is told by itself, with the place.
            self.said = reason.filter(|_| why != Why::Processes as u32);
        }
        let state = common.state.swap(RUNS, Ordering::Relaxed);
        let command = match state {
            TAKES => common.taking.load(Ordering::Relaxed),
            _ => common.handed_over.swap(0, Ordering::Relaxed),
        };
        match (state, command.checked_sub(1)) {
            (TAKES, _) if server::has_command() => Left::Nothing,
            (WAITS, _) => Left::Nothing,
            (_, Some(run)) => Left::Command(run),
            _ => Left::Answer,
        }
    }

    /// In the child: it becomes a worker, if it may. Returns at the beginning of every run, in the same process.
    pub fn become_one(&self, known: u64, told: u64, modules_len: u64) -> bool {
        if self.on { keep(known, told, modules_len) } else { false }
    }

    /// Why there are no more workers; said once a run from then on.
    pub fn refused(&self) -> Option<&'static str> {
        self.said
    }
}

/// Whether this process is a worker and not a child that the program has forked.
fn keeper() -> Option<Raw<Keeper>> {
    // SAFETY: null, or the keeper's own memory; one kernel thread.
    let keeper = unsafe { Raw::at(KEEPER) }?;
    // SAFETY: no memory is involved.
    (unsafe { syscall3(nr::GETPID, 0, 0, 0) } == keeper.pid).then_some(keeper)
}

/// Takes the snapshot.
fn keep(known: u64, told: u64, modules_len: u64) -> bool {
    let mut room = Room::new(ROOM);
    let (keeper, stack) = (room.take::<Keeper>(1), room.take::<[u8; STACK]>(1) as usize);
    let Some(pages) = Pages::new(&mut room) else { return refuse(Why::Kernel) };
    let kernel = Kernel::look(&mut room);
    // SAFETY: fresh memory; written once, before any strand but main exists.
    unsafe {
        keeper.write(Keeper {
            own_sp: 0,
            main_sp: 0,
            fs: arch::thread_pointer(),
            control_word: arch::control_word(),
            pid: syscall3(nr::GETPID, 0, 0, 0),
            pages,
            kernel,
            room,
            status: 0,
            unseen: 0,
            interval: 1,
            writes: false,
            carriers: carriers::pooled(),
            more_carriers: carriers::can_grow(),
            known,
            told,
            modules_len,
        });
        if !arch::redirect(real!(_exit: fn(c_int) -> !) as usize, exits as *const () as usize) {
            return refuse(Why::Kernel);
        }
        KEEPER = keeper;
        let (body, end) = (keeps as *const () as usize, never as *const () as usize);
        let sp = arch::first_frame(stack + STACK, body, keeper as usize, 0, end);
        arch::tb_switch(&raw mut (*keeper).main_sp, sp, (*keeper).fs);
    }
    // SAFETY: as in `keeper`; the keeper gave it up where no snapshot could be taken.
    unsafe { !KEEPER.is_null() }
}

fn refuse(why: Why) -> bool {
    if let Some(common) = common() {
        common.why.store(why as u32, Ordering::Relaxed);
    }
    false
}

unsafe extern "C" fn never(_result: usize, _unwound: usize) -> ! {
    super::fatal("the keeper has ended")
}

/// The keeper's life, on its own stack: memory is as it is to be at the beginning of a run.
unsafe extern "C" fn keeps(keeper: *mut Keeper, _unused: usize) -> usize {
    // SAFETY: the keeper's memory lies apart, is used by nobody else while it runs, and holds no reference while it does not.
    unsafe {
        kernel::set_mask(u64::MAX);
        if !(*keeper).take() {
            KEEPER = core::ptr::null_mut();
            refuse(Why::Kernel);
        }
        loop {
            kernel::set_mask((*keeper).kernel.mask);
            arch::tb_switch(&raw mut (*keeper).own_sp, (*keeper).main_sp, (*keeper).fs);
            kernel::set_mask(u64::MAX);
            (*keeper).next_run();
        }
    }
}

impl Keeper {
    fn take(&mut self) -> bool {
        signal::forget_changes();
        let Keeper { kernel, pages, room, .. } = self;
        kernel.keep() && pages.take(|| kernel.writable(room))
    }

    /// A run has ended: everything is made ready for the next one.
    fn next_run(&mut self) {
        let status = self.status;
        let Some(common) = common() else { gone(Why::Unknown, status) };
        common.undone.store(status as u32 + 1, Ordering::Relaxed);
        // A page may not be writable any more.
        common.why.store(Why::Mappings as u32, Ordering::Relaxed);
        let then = self.put_back().unwrap_or_else(|why| gone(why, status));
        common.why.store(Why::Unknown as u32, Ordering::Relaxed);
        common.undone.store(0, Ordering::Relaxed);
        common.ended.fetch_add(1, Ordering::Relaxed);
        let is_next = match then {
            Then::Answer => false,
            Then::Again => true,
            Then::GoOn => batch::go_on(),
        };
        if is_next && self.begins_next() {
            return;
        }
        if self.unseen > 0 {
            self.kernel.put_back().unwrap_or_else(|why| gone(why, 0));
            self.unseen = 0;
        }
        // Whenever the worker is killed, it is known whether the run is answered and whether the next command is taken.
        common.state.store(WAITS, Ordering::Relaxed);
        match then {
            Then::Answer => server::send(Reply::ENDED, status, 0),
            _ => server::send(Reply::BATCH, 0, 0),
        }
        common.taking.store(server::look_at_command() + 1, Ordering::Relaxed);
        common.state.store(TAKES, Ordering::Relaxed);
        let Some(run) = server::next_command() else { gone(Why::Unknown, 0) };
        common.state.store(RUNS, Ordering::Relaxed);
        if !self.may_make_another() {
            self.hand_over(run);
        }
        kernel::drop_late_signal();
        self.begins();
        live::live().used_before_ns = kernel::used_ns();
    }

    /// The next run of the batch begins here; false if the driver wants no more of them.
    fn begins_next(&mut self) -> bool {
        if !self.may_make_another() {
            self.hand_over(live::live().run);
        }
        self.begins();
        // The driver first says that it wants no more, then looks which run is under way, and only then sends a signal. Runs that were not looked behind are
        // not made for good.
        fence(Ordering::SeqCst);
        !batch::is_stopped()
    }

    fn begins(&self) {
        live::live().pid = self.pid as i32;
        arch::set_control_word(self.control_word);
    }

    /// The server makes this run, and all that come after it, in another worker.
    fn hand_over(&self, run: u64) -> ! {
        if let Some(common) = common() {
            common.handed_over.store(run + 1, Ordering::Relaxed);
        }
        gone(Why::News, 0)
    }

    /// Undoes the run that has ended.
    fn put_back(&mut self) -> Result<Then, Why> {
        if live::live().carriers as usize > self.carriers && self.more_carriers {
            return Err(Why::News);
        }
        self.kernel.put_back_signals();
        if batch::current().is_none() {
            self.kernel.put_back()?;
            self.pages.put_back()?;
            return Ok(Then::Answer);
        }
        let head = if self.status == 0 { batch::head(self.modules_len) } else { None };
        let kept = head.and_then(|head| Some((head, batch::room_for(&head)?)));
        let looks = kept.is_none()
            || self.unseen + 1 >= self.interval
            || batch::is_last()
            || batch::is_stopped()
            || self.news(live::live().told) > NEWS;
        let mut surprise = looks && self.kernel.put_back()?;
        self.pages.put_back()?;
        let written = if looks || self.writes { self.kernel.written() } else { [0; 2] };
        if written != [0; 2] && !self.writes {
            self.writes = true;
            surprise = true;
        }
        if surprise && self.unseen > 0 {
            self.kernel.empty(written);
            self.kernel.rewind();
            (self.unseen, self.interval) = (0, 1);
            batch::go_back();
            return Ok(Then::Again);
        }
        if let Some((head, at)) = kept {
            batch::write(&Head { written, ..head }, at, self.modules_len);
            self.kernel.empty(written);
            self.kernel.rewind();
        }
        if looks {
            batch::settle(kept.is_some());
            (self.unseen, self.interval) = (0, if surprise { 1 } else { INTERVAL.min(2 * self.interval) });
        } else {
            self.unseen += 1;
        }
        Ok(if kept.is_some() { Then::GoOn } else { Then::Answer })
    }

    /// Reads what the next run is to be, and whether this worker is still a good place for it.
    fn may_make_another(&self) -> bool {
        let Some(plan) = server::prepare(self.modules_len) else { return false };
        plan.known.saturating_sub(self.known) + self.news(plan.told) <= NEWS
    }

    /// Records of coverage that a run has to load which finds so many.
    fn news(&self, told: u64) -> u64 {
        told.saturating_sub(self.told)
    }
}

/// What the keeper does when a run is undone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    /// The driver has its answer.
    Answer,
    /// The next run of the batch.
    GoOn,
    /// The first one of those that are not made for good.
    Again,
}

/// Ends the worker, whose run ended like this; the server takes that from what they share.
fn gone(why: Why, status: i32) -> ! {
    if let Some(common) = common() {
        common.why.store(why as u32, Ordering::Relaxed);
    }
    loop {
        // SAFETY: ends the process.
        unsafe { syscall3(nr::EXIT_GROUP, (status >> 8) as usize & 0xFF, 0, 0) };
    }
}

/// A run has come to its end with this code. Returns where only the end of the process is an end.
pub fn run_ended(code: i32) {
    ended((code & 0xFF) << 8);
}

/// A run has come to its end by this signal, which was sent and is about no memory. As above.
pub fn run_killed(signal: i32) {
    ended(signal);
}

fn ended(status: i32) {
    let Some(mut keeper) = keeper() else { return };
    if live::live().ended != 1 || crate::model::process::any_started() {
        refuse(Why::Processes);
        return;
    }
    keeper.status = status;
    let mut nowhere = 0;
    // SAFETY: the keeper waits for this; nobody comes back here.
    unsafe { arch::tb_switch(&raw mut nowhere, keeper.own_sp, keeper.fs) };
}

/// In place of libc's `_exit`.
unsafe extern "C" fn exits(status: c_int) -> ! {
    run_ended(status);
    loop {
        // SAFETY: what was asked for.
        unsafe { syscall3(nr::EXIT_GROUP, status as usize, 0, 0) };
    }
}

/// Whole pages are given back to the kernel: what was in them at the beginning has to be restored.
pub fn dropped(start: usize, length: usize) {
    if let Some(mut keeper) = keeper() {
        keeper.pages.dropped(start, length);
    }
}
