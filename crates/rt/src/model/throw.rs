//! Where exceptions of C++ are thrown.
//!
//! One that nobody catches ends the program in an abort, deep in the library's code and often after the stack was unwound. The
//! place of the throw is kept, so that the driver can tell it.

use crate::engine;
use crate::sys::c_void;
use threadbare_abi::strand::StrandId;

/// What is kept of a strand.
#[derive(Default)]
pub struct PerStrand {
    last: u64,
}

/// Where a strand has thrown last, or 0.
pub fn last(strand: StrandId) -> u64 {
    engine::strand(strand).model.throw.last
}

type Destructor = *mut c_void;

/// `__cxa_throw(exception, type, destructor)`: notes the place, then the library unwinds through here.
unsafe extern "C" fn throw(
    exception: *mut c_void,
    kind: *mut c_void,
    destructor: Destructor,
    pc: u64,
) -> *mut c_void {
    if engine::controlled() {
        // The call does not return, so what comes behind it is not of its line.
        engine::strand(engine::me()).model.throw.last = pc - 1;
    }
    // SAFETY: the library's own function with the arguments the program gave.
    unsafe {
        crate::real!(__cxa_throw: fn(*mut c_void, *mut c_void, Destructor) -> *mut c_void)(
            exception, kind, destructor,
        )
    }
}

crate::interpose!(__cxa_throw, 3, throw);
