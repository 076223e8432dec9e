//! The report area: what the driver reads after a run.

use super::live::live;
use super::sched::engine;
use super::strand::State;
use super::wait::ObjectClass;
use super::{crowds, deadlock, ending, frames, locks, modules, shared, strand, unseen, words};
use crate::sys::Text;
use core::fmt::{self, Write};
use threadbare_abi::layout;
use threadbare_abi::op::OpKind;
use threadbare_abi::report::{RecordHead, RecordTag, StrandState};
use threadbare_abi::strand::StrandId;

/// Bytes of a record's text.
const TEXT: usize = 4096;
/// Frames of a strand that are told.
const FRAMES: usize = 64;
/// Strands that keep one waiting that are told.
const HOLDERS: usize = 64;
/// Strands that are told with their stacks.
const DETAILED: usize = 256;

/// Appends a record; what does not fit any more is left out.
pub fn add(tag: RecordTag, strand: u16, values: [u64; 3], text: fmt::Arguments) {
    let Some(base) = shared::area(layout::REPORT).map(|at| at as usize) else { return };
    let used = live().report_len as usize;
    let head_size = size_of::<RecordHead>();
    if used + head_size + 8 > layout::REPORT_SIZE {
        return;
    }
    let room = (layout::REPORT_SIZE - used - head_size - 8).min(TEXT);
    // SAFETY: `room` bytes behind the head are in the report area, and nobody else's.
    let mut out =
        Text::new(unsafe { core::slice::from_raw_parts_mut((base + used + head_size) as *mut u8, room) });
    let _ = out.write_fmt(text);
    let len = out.used();
    let head =
        RecordHead { tag: tag as u16, strand, len: len as u32, a: values[0], b: values[1], c: values[2] };
    // SAFETY: the room was checked above; records are 8-byte aligned.
    unsafe { ((base + used) as *mut RecordHead).write(head) }
    live().report_len += (head_size + len.next_multiple_of(8)) as u64;
}

/// A divergence, with the place the schedule expected.
pub fn divergence(segment: u64, expected: u64, pc: u64, reason: &str) {
    add(RecordTag::Divergence, u16::MAX, [segment, expected, pc], format_args!("{reason}"));
}

/// All strands; with `details`, what each waits for and its stack.
pub fn strands(details: bool) {
    let e = engine();
    for index in 0..e.strands.len() {
        let id = StrandId(index as u16);
        let this = strand(id);
        let state = match this.state() {
            State::Ended => StrandState::Ended,
            State::Blocked if ending::is_held(id) => StrandState::Ready,
            State::Blocked => StrandState::Blocked,
            State::Ready if id == e.current => StrandState::Running,
            State::Ready => StrandState::Ready,
        };
        let values = [this.parent.0 as u64, this.ordinal as u64, state as u64];
        crate::model::identity::with_name(id, |name| {
            add(RecordTag::Strand, id.0, values, format_args!("{name}"))
        });
        if !details || index >= DETAILED || this.state() == State::Ended {
            continue;
        }
        let spins = this.state() == State::Blocked && this.wait.key.class == ObjectClass::Memory;
        let kind = if spins { OpKind::SpinWait } else { this.op.kind };
        let pending = [kind as u64 | (this.op.size as u64) << 8, this.op.addr, this.op.pc];
        match this.wait.key.class {
            ObjectClass::Barrier if this.state() == State::Blocked => {
                let (arrived, size) = crate::model::barrier::arrivals(this.op.addr as usize);
                add(RecordTag::Pending, id.0, pending, format_args!("{arrived} of {size}"));
            }
            _ => add(RecordTag::Pending, id.0, pending, format_args!("")),
        }
        if this.state() == State::Blocked {
            let told = deadlock::is_told(id) as u64;
            let mut holders = 0;
            deadlock::blockers(&this, |holder| {
                if holders < HOLDERS {
                    add(RecordTag::Holder, id.0, [holder.0 as u64, told, 0], format_args!(""));
                    holders += 1;
                }
            });
            if holders == 0 && crowds::holder(&this) != StrandId::NONE {
                add(RecordTag::Holder, id.0, [crowds::holder(&this).0 as u64, 0, 0], format_args!(""));
            }
        }
        for held in this.held.iter().copied().chain(words::contended(id)) {
            let values = [held.object.addr, held.pc, 0];
            add(RecordTag::Held, id.0, values, format_args!("{:x}{}", held.pc, locks::Pcs(&held.callers)));
        }
        // A wait inside precompiled code: where the strand went there from.
        let from = || words::tried(id).or_else(|| unseen::called_at(&this, id == e.current));
        if let Some(pc) = from().filter(|_| this.state() == State::Blocked) {
            add(RecordTag::Frame, id.0, [pc, 0, 0], format_args!(""));
        }
        let mut told = 0;
        frames::walk(&this, id == e.current, |pc| {
            if told < FRAMES {
                add(RecordTag::Frame, id.0, [pc, 0, 0], format_args!(""));
                told += 1;
            }
        });
    }
}

struct CName(*const core::ffi::c_char);

impl fmt::Display for CName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_null() {
            return Ok(());
        }
        // SAFETY: the loader's name, a C string.
        let name = unsafe { core::ffi::CStr::from_ptr(self.0) };
        for chunk in name.to_bytes().utf8_chunks() {
            f.write_str(chunk.valid())?;
        }
        Ok(())
    }
}

/// The loaded modules that have not been told yet: the server tells those that are there before `main` once for all.
pub fn modules() {
    for module in modules::untold() {
        add(
            RecordTag::Module,
            u16::MAX,
            [module.base, module.end - module.base, 0],
            format_args!("{}", CName(module.name)),
        );
    }
}
