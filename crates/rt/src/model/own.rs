//! Choices of the program's own: what `threadbare.h` and the crate `threadbare` ask for.
//!
//! The functions are found by their names, and a program that runs without a driver is answered as one without this library: the
//! first option, no value but 0. Safe before init and after fork; not in a signal handler.

use crate::engine::{self, own};
use crate::sys::{c_char, c_int};
use threadbare_abi::op::{Op, OpKind};

/// The first 16 bits and fewer are chosen, others drawn: no planner can try them all.
const CHOSEN_BITS: u32 = 16;

unsafe extern "C" fn choose(options: u64, pc: u64) -> u64 {
    if options < 2 || !engine::controlled() {
        return 0;
    }
    match u32::try_from(options) {
        Ok(options) => own::choose(options, pc).into(),
        Err(_) => own::draw(pc) % options,
    }
}

unsafe extern "C" fn any(bits: u32, pc: u64) -> u64 {
    match bits {
        0 => 0,
        _ if !engine::controlled() => 0,
        1..=CHOSEN_BITS => own::choose(1 << bits, pc).into(),
        _ => own::draw(pc) & u64::MAX >> (64 - bits.min(64)),
    }
}

/// The run is of no use to the program's author: it ends here, and passes.
unsafe extern "C" fn abandon(_pc: u64) {
    if engine::controlled() {
        engine::verdict::abandon();
    }
}

unsafe extern "C" fn reached(label: *const c_char, pc: u64) {
    if engine::controlled() && !label.is_null() {
        // SAFETY: the program passes a C string.
        own::reached(unsafe { core::ffi::CStr::from_ptr(label) }, pc);
    }
}

/// Nobody else goes on until the same is said with 0, unless the strand has to wait.
unsafe extern "C" fn atomic(begins: c_int, pc: u64) {
    if !engine::controlled() {
        return;
    }
    if begins != 0 {
        engine::point(Op::new(OpKind::Region, 0, pc));
        engine::pin();
    } else {
        engine::unpin();
    }
}

/// The program has a check somewhere. Called before `main`.
unsafe extern "C" fn has_check(_pc: u64) {
    engine::scout::announce();
}

/// The program comes to a check, with options for its campaign: lines of name and value. 1 if the run begins here.
unsafe extern "C" fn check(options: *const c_char, _pc: u64) -> c_int {
    if options.is_null() || !engine::controlled() {
        return 0;
    }
    // SAFETY: the program passes a C string.
    engine::scout::comes(unsafe { core::ffi::CStr::from_ptr(options) }).into()
}

/// What the run is about is done: it ends here, as the process would.
unsafe extern "C" fn check_over(pc: u64) {
    if engine::controlled() {
        super::exit::request(0, pc);
    }
}

interpose!(threadbare_rt_has_check, 0, has_check);
interpose!(threadbare_rt_check, 1, check);
interpose!(threadbare_rt_check_over, 0, check_over);
interpose!(threadbare_rt_choose, 1, choose);
interpose!(threadbare_rt_any, 1, any);
interpose!(threadbare_rt_abandon, 0, abandon);
interpose!(threadbare_rt_reached, 1, reached);
interpose!(threadbare_rt_atomic, 1, atomic);
