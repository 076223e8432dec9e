//! Functions of Rust's precompiled std that order strands and leave no other trace: they are found by their names in the
//! program's symbol table, and a call of ours is put at their entry.
//!
//! `std::thread::park` returns at once where its token is there already, `Once::wait` where the initialisation is over:
//! all that came before the `unpark`, or before the end of the initialisation, comes before that. The slow paths of its
//! locks may find the lock free after all. A scope waits for its strands by a count of theirs.
//!
//! A wait on a `Condvar` notes how often it was notified, gives the lock back and then waits for another notification: one that comes
//! between the caller's check and that note is lost. So there is a point at its entry, which an optimised program need not have anywhere else.
//!
//! libtest, as precompiled, calls each test through one function: where that begins, so does what a run is about (`scout.rs`).

use super::live::live;
use super::strand::Strand;
use super::{ObjectClass, ObjectId, frames, modules, sched, scout};
use crate::arch::entry::{self, Hook};
use crate::effect::{Effect, effect, in_free_run};
use crate::sys::{nr, syscall3, syscall6};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, Ordering};
use threadbare_abi::layout::flags;
use threadbare_abi::op::{Op, OpKind};

/// Module and function as both manglings have them; a hash may follow.
const NAMES: [(&[u8], &[u8], Hook); 10] = [
    (b"3std6thread", b"4park", parks),
    (b"3std6thread", b"12park_timeout", acquires),
    (b"3std6thread", b"29decrement_num_running_threads", leaves_scope),
    (b"3std4sync4once", b"4Once4wait", acquires),
    (b"3std4sync4once", b"4Once10wait_force", acquires),
    (b"3std3sys4sync6rwlock5futex", b"14read_contended", takes),
    (b"3std3sys4sync6rwlock5futex", b"15write_contended", takes),
    (b"3std3sys4sync5mutex5futex", b"14lock_contended", takes),
    (b"3std3sys4sync7condvar5futex", b"7Condvar4wait", waits),
    (b"3std3sys4sync7condvar5futex", b"7Condvar12wait_timeout", waits),
];

/// The function that libtest calls tests through, as the one mangling has it and the other: for each way to keep a test's function there is one.
const CALLS_TEST: [(&[u8], &[u8]); 2] = [
    (b"_ZN4test", b"28__rust_begin_short_backtrace17h"),
    (b"_RINvC", b"_4test28___rust_begin_short_backtrace"),
];
/// What it gives back, as the second one tells: `Result<(), String>`.
const OUTCOME: [&[u8]; 2] = [b"4core6result6ResultuNtNt", b"5alloc6string6StringE"];

/// Whether std gives each strand an alternate stack, for its own message about a stack that has come to its end: the end of the name, before the hash.
const NEED_ALTSTACK: &[u8] = b"14stack_overflow3imp13NEED_ALTSTACK";
static SPARE_STACKS: AtomicPtr<AtomicU8> = AtomicPtr::new(core::ptr::null_mut());

/// A stack that has come to its end is told by the engine, and std's handler is never asked: what std would do for it in every strand (mapped memory, a list of
/// strands) is most of what a short strand costs. Called before a strand begins.
pub fn no_spare_stacks() {
    // SAFETY: null, or a byte of std's that is only looked at where a strand begins.
    if let Some(needed) = unsafe { SPARE_STACKS.load(Ordering::Relaxed).as_ref() }
        && needed.load(Ordering::Relaxed) != 0
    {
        needed.store(0, Ordering::Relaxed);
    }
}

/// Functions that call tests were found.
static HAS_TESTS: AtomicBool = AtomicBool::new(false);

/// Whether the program has libtest in it.
pub fn has_tests() -> bool {
    HAS_TESTS.load(Ordering::Relaxed)
}

/// Puts the calls in. Once, in the fork server, before `main`.
pub fn init() {
    let Some(file) = File::open(c"/proc/self/exe") else { return };
    let Some(module) = modules::all().first() else { return };
    let _ = file.symbols(|name, kind, address| {
        let at = (module.base + address) as usize;
        if kind == VARIABLE {
            if is_named(name, NEED_ALTSTACK) {
                SPARE_STACKS.store(at as *mut AtomicU8, Ordering::Relaxed);
            }
            return;
        }
        // SAFETY: the entry of a function of std's or libtest's; no strand runs.
        unsafe {
            if let Some(whole) = calls_test(name) {
                let done = if whole { entry::call_around_test(at) } else { entry::call_at_entry(at, begins) };
                HAS_TESTS.fetch_or(done, Ordering::Relaxed);
            } else if let Some(hook) = hook_of(name) {
                entry::call_at_entry(at, hook);
            }
        }
    });
}

/// Whether the function calls a test, and then whether it is known what it gives back.
fn calls_test(name: &[u8]) -> Option<bool> {
    let calls = |&(start, part): &(&[u8], &[u8])| name.starts_with(start) && find(name, part).is_some();
    CALLS_TEST.iter().any(calls).then(|| OUTCOME.iter().all(|part| find(name, part).is_some()))
}

/// Whether the program itself wants this symbol from a library; with a zero on both sides.
pub fn program_wants(name: &[u8]) -> bool {
    let Some(file) = File::open(c"/proc/self/exe") else { return false };
    file.table(DYNSYM).is_some_and(|(_, names)| find(names, name).is_some())
}

fn is_hash(rest: &[u8]) -> bool {
    rest.is_empty() || rest.starts_with(b"17h")
}

/// Whether a name of std's ends like this, but for a hash, or for the number of a part that the compiler has left of a variable.
fn is_named(name: &[u8], end: &[u8]) -> bool {
    let ends = |rest: &[u8]| is_hash(rest) || rest.starts_with(b".");
    find(name, end).is_some_and(|at| ends(&name[at + end.len()..])) && find(name, b"3std3sys").is_some()
}

fn hook_of(name: &[u8]) -> Option<Hook> {
    NAMES.iter().find_map(|&(module, function, hook)| {
        let rest = &name[find(name, module)? + module.len()..];
        let at = find(rest, function)? + function.len();
        is_hash(&rest[at..]).then_some(hook)
    })
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

/// libtest is about to call a test.
extern "C" fn begins(_: u64, _: u64) {
    scout::test_begins(None);
}

/// The function takes the lock that is its first argument, and may do so without a call of ours.
extern "C" fn takes(lock: u64, pc: u64) {
    if super::controlled() {
        sched::this().inside = Inside::enters(Caller::Lock, lock, pc);
        effect(Effect::TakeUnseen, ObjectId::new(ObjectClass::Futex, lock), 0);
    } else {
        in_free_run(Effect::TakeUnseen, ObjectId::new(ObjectClass::Futex, lock), 0);
    }
}

/// As below; the strand waits for its token.
extern "C" fn parks(_: u64, pc: u64) {
    acquires(0, 0);
    if super::controlled() {
        sched::this().inside = Inside::enters(Caller::Park, 0, pc);
    }
}

/// The function looks at the word that is its first argument, and waits until it is another.
extern "C" fn waits(word: u64, pc: u64) {
    if super::controlled() && super::plan_flags() & flags::NO_ENTRY_POINTS == 0 {
        sched::point(Op { size: 4, ..Op::new(OpKind::AtomicLoad, word, pc) });
        sched::this().inside = Inside::enters(Caller::Condvar, word, pc);
    }
    if !super::controlled() {
        // It gives back a lock, which one is not told.
        in_free_run(Effect::Lose, ObjectId::NEVER, pc);
    }
}

/// Whose futex wait it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Caller {
    /// The slow path of a lock of std's: it looks again when it wakes, whatever woke it.
    Lock,
    /// `std::thread::park`.
    Park,
    /// A `Condvar` of std's.
    Condvar,
    /// Somebody else's.
    Other,
}

/// The function of std's that a strand entered last.
#[derive(Clone, Copy, Debug)]
pub struct Inside {
    function: Caller,
    /// The lock.
    object: u64,
    /// The run's events when it did.
    event: u64,
    /// Who called it.
    pc: u64,
    /// The strand waits in it now.
    waits: bool,
}

impl Inside {
    /// It entered none.
    pub const NOTHING: Inside = Inside { function: Caller::Other, object: 0, event: 0, pc: 0, waits: false };

    /// The running strand enters this one.
    fn enters(function: Caller, object: u64, pc: u64) -> Inside {
        Inside { function, object, event: live().events, pc, waits: false }
    }
}

/// Whose wait the running strand begins on this word, and where that was called, if it is known.
pub fn caller(addr: u64) -> (Caller, Option<u64>) {
    const LOCK_BYTES: u64 = 8;
    let Inside { function, object, event, pc, .. } = sched::this().inside;
    let here = match function {
        // It may have come back to its lock several times.
        Caller::Lock => (object..object + LOCK_BYTES).contains(&addr),
        // Nothing comes between the entry and the wait.
        _ => live().events == event,
    };
    if here { (function, Some(pc)) } else { (Caller::Other, None) }
}

/// The running strand begins a wait of this caller's, or has come out of it.
pub fn waits_for(caller: Caller, whether: bool) {
    sched::this().inside.waits = whether && caller != Caller::Other;
}

/// Where the program's own code has called the function of std's that a strand waits in, or that gives memory back for it.
pub fn called_at(strand: &Strand, running: bool) -> Option<u64> {
    let asked = strand.inside.waits || strand.op.kind == OpKind::Free;
    let site = if asked { frames::call_site_of(strand, running) } else { None };
    site.filter(|&site| site != strand.op.pc)
}

/// The function may return at once because of what another strand did.
extern "C" fn acquires(_: u64, _: u64) {
    if super::controlled() {
        effect(Effect::AfterAll, ObjectId::NEVER, 0);
    } else {
        in_free_run(Effect::AfterAll, ObjectId::NEVER, 0);
    }
}

/// A strand of a scope says that it is done; the scope's end waits for that, not for the strand's own.
extern "C" fn leaves_scope(scope: u64, _: u64) {
    if super::controlled() {
        super::race::uses_unseen(scope);
        crate::model::thread::leaves_scope();
    } else {
        in_free_run(Effect::Unseen, ObjectId::memory(scope), 0);
    }
}

/// A mapped file.
struct File {
    at: usize,
    size: usize,
}

const SYMTAB: u32 = 2;
const DYNSYM: u32 = 11;
const VARIABLE: u8 = 1;
const FUNCTION: u8 = 2;
const SECTION: usize = 64;
const SYMBOL: usize = 24;

impl File {
    fn open(path: &core::ffi::CStr) -> Option<File> {
        const O_CLOEXEC: usize = 0o2_000_000;
        const SEEK_END: usize = 2;
        const PROT_READ: usize = 1;
        const MAP_PRIVATE: usize = 2;
        // SAFETY: opens, measures, maps and closes a file of the program's own.
        unsafe {
            let fd = syscall3(nr::OPEN, path.as_ptr() as usize, O_CLOEXEC, 0);
            if fd < 0 {
                return None;
            }
            let size = syscall3(nr::LSEEK, fd as usize, 0, SEEK_END);
            let at = syscall6(nr::MMAP, 0, size.max(0) as usize, PROT_READ, MAP_PRIVATE, fd as usize, 0);
            syscall3(nr::CLOSE, fd as usize, 0, 0);
            (size > 0 && at > 0).then_some(File { at: at as usize, size: size as usize })
        }
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping is that long.
        unsafe { core::slice::from_raw_parts(self.at as *const u8, self.size) }
    }

    fn part(&self, at: u64, size: u64) -> Option<&[u8]> {
        self.bytes().get(at as usize..(at as usize).checked_add(size as usize)?)
    }

    /// The first section of a kind, and its names.
    fn table(&self, kind: u32) -> Option<(&[u8], &[u8])> {
        let sections = word(self.bytes(), 0x28)?;
        let count = half(self.bytes(), 0x3c)? as u64;
        let section = |index: u64| self.part(sections + index * SECTION as u64, SECTION as u64);
        let table = (0..count).filter_map(section).find(|head| small(head, 4) == Some(kind))?;
        let names = section(small(table, 0x28)? as u64)?;
        Some((table, self.part(word(names, 0x18)?, word(names, 0x20)?)?))
    }

    /// Calls `visit` with name, kind and address of each function and variable in the symbol table.
    fn symbols(&self, mut visit: impl FnMut(&[u8], u8, u64)) -> Option<()> {
        let (table, names) = self.table(SYMTAB)?;
        // Most programs have no such name at all.
        find(names, b"3std6thread")?;
        for symbol in self.part(word(table, 0x18)?, word(table, 0x20)?)?.chunks_exact(SYMBOL) {
            let address = word(symbol, 8)?;
            let kind = symbol[4] & 15;
            if matches!(kind, FUNCTION | VARIABLE) && address != 0 {
                let name = names.get(small(symbol, 0)? as usize..).unwrap_or(&[]);
                let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
                visit(&name[..end], kind, address);
            }
        }
        Some(())
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: our own mapping.
        unsafe { syscall3(nr::MUNMAP, self.at, self.size, 0) };
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

fn small(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}
