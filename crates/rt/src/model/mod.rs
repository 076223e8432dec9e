//! Models of the calls a strand can block in or synchronise by.
//!
//! A model is what libc's function does, done with the engine's points and waits instead of the kernel's. State lives
//! in the C object in glibc's layout, so an object made by a static initialiser or before the run is understood.
//! When nothing is controlled every hook is libc's own function. What a model does to an object it says once
//! (`crate::effect`); it names nobody who looks on.

#[macro_use]
pub mod stub;

pub mod barrier;
pub mod before;
pub mod c11;
pub mod calendar;
pub mod cancel;
pub mod cond;
pub mod dynamic;
pub mod entropy;
pub mod exit;
pub mod futex;
pub mod guard;
pub mod identity;
pub mod io;
pub mod kernel;
pub mod keys;
pub mod mapping;
pub mod mutex;
pub mod once;
pub mod own;
pub mod poll;
pub mod process;
pub mod rwlock;
pub mod sched;
pub mod sem;
pub mod signal;
pub mod single;
pub mod spin;
pub mod state;
pub mod stdio;
pub mod syscall;
pub mod taken;
pub mod thread;
pub mod throw;
pub mod time;
pub mod timeout;
pub mod tls;
pub mod waitv;
pub mod word;

use crate::effect::{Effect, effect};
use crate::engine::ObjectId;
use threadbare_abi::op::{Op, OpKind};

/// What the models keep for each strand.
#[derive(Default)]
pub struct PerStrand {
    /// Join and detach.
    pub thread: thread::PerStrand,
    /// Cancellation.
    pub cancel: cancel::PerStrand,
    /// Mutexes it holds.
    pub mutex: mutex::PerStrand,
    /// Initialisations it is in.
    pub once: once::PerStrand,
    /// Thread-local destructors, where libc's list cannot be used.
    pub tls: tls::PerStrand,
    /// Scheduling parameters it asked for.
    pub sched: sched::PerStrand,
    /// Clocks it reads.
    pub time: time::PerStrand,
    /// Its signals.
    pub signal: signal::PerStrand,
    /// Its name and numbers.
    pub identity: identity::PerStrand,
    /// Exceptions it throws.
    pub throw: throw::PerStrand,
}

/// The program has forked, and this is the child: only this strand exists.
pub fn after_fork_child() {
    exit::after_fork_child();
    waitv::after_fork_child();
    signal::after_fork_child();
}

/// An object of synchronisation is made.
pub fn makes(object: ObjectId, pc: u64) {
    crate::engine::point(Op::new(OpKind::Init, object.addr, pc));
    effect(Effect::Make, object, pc);
}

/// An object of synchronisation is destroyed.
pub fn destroys(object: ObjectId, pc: u64) {
    crate::engine::point(Op::new(OpKind::Destroy, object.addr, pc));
    effect(Effect::Destroy, object, pc);
}

/// `hook! { name / arguments => function(arg: type, ...; pc) -> ret { body } }` exports `name`: the body when the run
/// is controlled, libc's own function when it is not. `name @ "VERSION"` names the version of libc's function. `is MutexLock`
/// behind the number of arguments says which operation the call is, and with `timed` that it has a deadline: a free run makes
/// noise around it. `around f` says that a free run that looks for races makes it inside of `f`, which gets the arguments and the pc.
macro_rules! hook {
    (@sort) => { None };
    (@sort $op:ident) => {
        Some($crate::free::calls::Sort { op: threadbare_abi::op::OpKind::$op, timed: false })
    };
    (@sort $op:ident timed) => {
        Some($crate::free::calls::Sort { op: threadbare_abi::op::OpKind::$op, timed: true })
    };
    ($(#[$meta:meta])* $name:ident $(@ $version:literal)? / $n:tt $(is $op:ident $($timed:ident)?)? $(around $around:path)? => $func:ident($($arg:ident: $ty:ty),*; $pc:ident) -> $ret:ty
     $body:block) => {
        $(#[$meta])*
        pub unsafe extern "C" fn $func($($arg: $ty,)* $pc: u64) -> $ret {
            if !$crate::engine::controlled() {
                // SAFETY: libc's own function with the arguments the program gave.
                let call = || unsafe { $crate::real!($name $(@ $version)?: fn($($ty),*) -> $ret)($($arg),*) };
                let words: &[usize] = &[$($crate::free::word(&$arg)),*];
                $(if $crate::free::race::on() {
                    return $around(words, $pc, call);
                })?
                const SORT: Option<$crate::free::calls::Sort> = $crate::model::hook!(@sort $($op $($timed)?)?);
                return match SORT {
                    Some(sort) if $crate::free::on() => {
                        $crate::free::calls::pass(sort, words, $pc, call)
                    }
                    _ => call(),
                };
            }
            $body
        }
        $crate::interpose!($name, $n, $func);
    };
}
pub(crate) use hook;
