//! The fork server of free runs, and their beginning.

use super::{ON, access, cover, crash, functions, guide, heat, noise, race, record, sharing, thread, turns};
use crate::engine::{
    self, addressable, learn, live, modules, orphans, report, server as control, shared, start, unseen,
};
use crate::sys::{c_int, nr, syscall3};
use crate::tsan::strings;
use core::sync::atomic::Ordering;
use threadbare_abi::layout::{self, Plan};
use threadbare_abi::noise::{Noise, NoiseKind, flags};
use threadbare_abi::protocol::Reply;
use threadbare_abi::report::RecordTag;

/// A thread is about to be created. If that is in a constructor, runs begin here and not at `main`: a fork takes only the thread along
/// that forks, and the program would wait for the others in vain. What constructors do from here on is made in every run.
pub fn before_create() {
    if start::free() && !super::on() {
        // A library's constructors come before those by which the program's own code says so.
        engine::mark_instrumented();
        serve();
    }
}

/// Serves until the driver is gone; returns only in a child, which then runs the program.
pub fn serve() {
    crate::sys::real::look_up_all();
    modules::refresh();
    report::modules();
    // Whoever forks has the handler first.
    crate::sys::in_children(super::in_child);
    let modules_len = live::live().report_len;
    orphans::adopt();
    heat::begin();
    control::hello(0);
    let mut ready_for_races = false;
    while let Some(run) = control::next_command() {
        let Some(base) = shared::area(layout::PLAN) else { return };
        // SAFETY: the driver wrote the plan before it sent the command; the counters are integers.
        let plan = unsafe {
            core::ptr::write_bytes(&raw mut live::LIVE.live, 0, 1);
            base.read()
        };
        live::live().run = plan.run;
        live::live().report_len = modules_len;
        sharing::load_known(plan.known);
        record::clear();
        let noise = Noise::from_params(plan.params);
        if noise.flags & flags::RACES != 0 && !core::mem::replace(&mut ready_for_races, true) {
            // What the check of races needs, and no other run.
            strings::init();
            engine::race::pristine::keep();
            unseen::init();
        }
        if noise.flags & flags::COVER != 0 {
            functions::load();
            guide::begin(noise.guidance, plan.estimate_choices);
        }
        match control::fork() {
            0 => {
                begin(&plan);
                return;
            }
            pid if pid > 0 => {
                live::live().pid = pid as i32;
                let status = control::wait_and_clear(pid);
                control::send(Reply::ENDED, status, orphans::end());
            }
            error => control::send(Reply::FAILED, -error as i32, run),
        }
    }
}

/// The child's run begins.
fn begin(plan: &Plan) {
    const PR_SET_PDEATHSIG: usize = 1;
    const SIGKILL: usize = 9;
    // SAFETY: the child's own process group and descriptors.
    unsafe {
        syscall3(nr::SETPGID, 0, 0, 0);
        syscall3(nr::PRCTL, PR_SET_PDEATHSIG, SIGKILL, 0);
    }
    control::close();
    let wanted = Noise::from_params(plan.params);
    noise::begin(wanted, plan.seed);
    turns::begin(plan.run);
    record::begin(wanted.flags & flags::RECORD != 0);
    cover::begin(wanted.flags & flags::COVER != 0);
    let races = wanted.flags & flags::RACES != 0 && race::begin();
    thread::begin_main();
    crash::begin(wanted.signal as c_int);
    let mut counters = live::live();
    counters.entered = 1;
    counters.strands = 1;
    let noisy =
        wanted.kind != NoiseKind::None || wanted.flags & (flags::RECORD | flags::COVER | flags::LEARN) != 0;
    // SAFETY: one kernel thread so far.
    unsafe {
        learn::GATE = match (noisy, races) {
            (true, true) => access::BOTH,
            (true, false) => access::OPEN,
            (false, true) => access::RACES,
            (false, false) => 0,
        };
        // Memory and string functions are accesses, too.
        addressable::CHECKING = races as u8;
    }
    if wanted.flags & flags::RACES != 0 && !races {
        let text = "no room in the address space for the check of races: none are looked for";
        report::add(RecordTag::Warning, u16::MAX, [0; 3], format_args!("{text}"));
    }
    ON.store(true, Ordering::Relaxed);
}
