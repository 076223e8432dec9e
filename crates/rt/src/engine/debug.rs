//! What a debugger needs to show the strands: `threadbare replay --gdb` reads this table.

use super::sched::engine;
use super::strand;
use super::strand::State;
use alloc::ffi::CString;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use threadbare_abi::strand::StrandId;

/// One strand.
#[repr(C)]
pub struct DebugStrand {
    index: u32,
    /// 0 ready, 1 waiting, 2 ended, 3 running.
    state: u32,
    parent: u64,
    rsp: u64,
    fs_base: u64,
    path: *const u8,
    wait_op: *const u8,
    wait_addr: u64,
}

/// The table.
#[repr(C)]
pub struct DebugTable {
    version: u32,
    count: u32,
    strands: *const DebugStrand,
}

// SAFETY: written once, at the end of a run, on the single kernel thread.
unsafe impl Sync for DebugTable {}

/// Found by name by the debugger's script.
#[unsafe(no_mangle)]
pub static mut threadbare_debug: DebugTable = DebugTable { version: 1, count: 0, strands: core::ptr::null() };

fn path_of(id: StrandId) -> String {
    if id == StrandId::MAIN {
        return String::from("0");
    }
    let this = strand(id);
    format!("{}.{}", path_of(this.parent), this.ordinal)
}

/// Fills the table.
pub fn publish() {
    let e = engine();
    let list: Vec<DebugStrand> = (0..e.strands.len() as u16)
        .map(|index| {
            let this = strand(StrandId(index));
            let state = match this.state() {
                _ if this.id == e.current => 3,
                State::Ready => 0,
                State::Blocked => 1,
                State::Ended => 2,
            };
            DebugStrand {
                index: index as u32,
                state,
                parent: this.parent.0 as u64,
                rsp: this.sp as u64,
                fs_base: this.fs as u64,
                path: text(path_of(this.id)),
                wait_op: text(String::from(this.op.kind.name())),
                wait_addr: this.op.addr,
            }
        })
        .collect();
    // SAFETY: single kernel thread; the list is leaked, it lives until the process ends.
    unsafe {
        threadbare_debug.count = list.len() as u32;
        threadbare_debug.strands = list.leak().as_ptr();
    }
}

fn text(value: String) -> *const u8 {
    CString::new(value).map_or(core::ptr::null(), |text| text.into_raw().cast_const().cast())
}
