//! The fork server: started just before `main`, or at the program's `check` or test (`scout.rs`), it forks one child for every run.
//!
//! **A run that needed more carriers than the pool had is made again** with a larger pool, so that stack addresses are
//! the same in every run (`engine/server.rs`).

use super::sched::{ATTENTION, Phase, attention, engine};
use super::{
    batch, carriers, due, follow, given, guidance, learn, lists, live, modules, orphans, race, reads, record,
    report, scout, shared, snapshot,
};
use crate::sys::{c_char, c_int, c_void, nr, syscall3, syscall6};
use core::ffi::CStr;
use core::sync::atomic::Ordering;
use threadbare_abi::event::EventKind;
use threadbare_abi::layout::{self, Plan, PointMode, Record};
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::protocol::{Command, Reply};
use threadbare_abi::report::RecordTag;
use threadbare_strategy::rng::Rng;
use threadbare_strategy::{Any, RunInfo, Strategy, StrategyId};

use super::snapshot::Left;
use super::strand::State;

type Main = unsafe extern "C" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;

const SIGKILL: i32 = 9;

static mut PROGRAM_MAIN: Option<Main> = None;
/// What runs instead of it.
static mut IN_PLACE: Option<Main> = None;
static mut CTL: i32 = -1;

/// The control socket's descriptor, told by the environment.
pub fn set_control(fd: i32) {
    // SAFETY: once, single kernel thread.
    unsafe { CTL = fd }
}

/// libc's start: keeps the program's `main` and puts ours in its place. Safe before init: it is the first call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __libc_start_main(
    main: Main,
    argc: c_int,
    argv: *mut *mut c_char,
    init: *mut c_void,
    fini: *mut c_void,
    rtld_fini: *mut c_void,
    stack_end: *mut c_void,
) -> c_int {
    let start = real!(
        __libc_start_main: fn(Main, c_int, *mut *mut c_char, *mut c_void, *mut c_void, *mut c_void, *mut c_void) -> c_int
    );
    // SAFETY: libc's own arguments, passed on; PROGRAM_MAIN is written before any other thread exists.
    unsafe {
        PROGRAM_MAIN = Some(main);
        start(wrapped_main, argc, argv, init, fini, rtld_fini, stack_end)
    }
}

/// This is called where the program's `main` would be: a test that is loaded into the program says so from a constructor. Safe before init: it
/// keeps an address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn threadbare_rt_in_place_of_main(main: Main) {
    // SAFETY: before any other thread exists.
    unsafe { IN_PLACE = Some(main) }
}

unsafe extern "C" fn wrapped_main(argc: c_int, argv: *mut *mut c_char, envp: *mut *mut c_char) -> c_int {
    // SAFETY: set above.
    let Some(main) = (unsafe { IN_PLACE.or(PROGRAM_MAIN) }) else { super::fatal("main is missing") };
    if !super::controlled() {
        if super::start::free() && !crate::free::on() {
            crate::free::server::serve();
        }
        // SAFETY: what libc would have called.
        return unsafe { main(argc, argv, envp) };
    }
    serve();
    // SAFETY: the child of the fork server runs the program's main on the main strand's stack.
    unsafe {
        ARGS = (argc, argv, envp);
        crate::arch::tb_base_call(
            main_body as *const () as usize,
            main as usize,
            0,
            main_over as *const () as usize,
        )
    }
}

static mut ARGS: (c_int, *mut *mut c_char, *mut *mut c_char) =
    (0, core::ptr::null_mut(), core::ptr::null_mut());

unsafe extern "C" fn main_body(main: Main, _unused: usize) -> usize {
    // SAFETY: the program's main with libc's arguments.
    unsafe { main(ARGS.0, ARGS.1, ARGS.2) as usize }
}

unsafe extern "C" fn main_over(code: usize, unwound: usize) -> ! {
    if unwound != 0 {
        crate::model::thread::strand_end(core::ptr::null_mut())
    }
    crate::model::thread::main_end(code as c_int)
}

/// Makes the kernel hand mapped code on to the children: it copies the page tables of a mapping only if some page of it
/// is private, so one page of each is made private here. Where that is forbidden, every run maps its code again.
fn warm_text() {
    const PROT_READ: usize = 1;
    const PROT_WRITE: usize = 2;
    const PROT_EXEC: usize = 4;
    for &(start, size) in modules::texts() {
        // SAFETY: writes back the byte that is there; nobody else runs meanwhile.
        unsafe {
            // The whole mapping at once, so that it stays one.
            let size = size.next_multiple_of(4096);
            if syscall3(nr::MPROTECT, start, size, PROT_READ | PROT_WRITE | PROT_EXEC) == 0 {
                let byte = start as *mut u8;
                byte.write_volatile(byte.read_volatile());
                syscall3(nr::MPROTECT, start, size, PROT_READ | PROT_EXEC);
            }
        }
    }
}

/// The control socket.
pub(crate) fn control() -> usize {
    // SAFETY: written before any other thread exists.
    unsafe { CTL as usize }
}

/// Tells the driver.
pub(crate) fn send(code: u32, value: i32, arg: u64) {
    let reply = Reply { code, value, arg };
    // SAFETY: writes our own struct to the control socket.
    let sent = unsafe { syscall3(nr::WRITE, CTL as usize, &raw const reply as usize, size_of::<Reply>()) };
    if sent < 0 {
        quit();
    }
}

pub(crate) fn quit() -> ! {
    quit_with(0)
}

pub(crate) fn quit_with(code: usize) -> ! {
    // SAFETY: ends the process.
    unsafe { syscall3(nr::EXIT_GROUP, code, 0, 0) };
    unreachable!()
}

/// Serves until the driver is gone; returns only in a child, which then runs the program.
fn serve() {
    set_up();
    given::serve();
    if !scout::goes_ahead() {
        serve_here(|| hello(0));
    }
}

/// The same in a scout, from where it stands on.
pub(crate) fn serve_from_here(options: &CStr) {
    modules::refresh();
    race::look_again();
    due::begin_anew();
    orphans::adopt();
    carriers::grow(2);
    serve_here(|| {
        // SAFETY: no memory is involved.
        let pid = unsafe { syscall3(nr::GETPID, 0, 0, 0) };
        report::add(RecordTag::Check, u16::MAX, [0; 3], format_args!("{}", options.to_str().unwrap_or("")));
        hello((pid as i32) << Reply::SERVER_SHIFT);
    });
}

fn set_up() {
    crate::sys::real::look_up_all();
    crate::model::exit::watch();
    modules::refresh();
    warm_text();
    super::shadow::init();
    learn::init();
    guidance::init();
    super::coverage::init();
    race::init();
    super::lineage::init();
    super::unseen::init();
    crate::heap::open();
    crate::tsan::strings::init();
    carriers::grow(2);
    orphans::adopt();
    crate::model::signal::init();
    crate::model::process::init();
}

/// Runs begin where this is called.
fn serve_here(greet: impl FnOnce()) {
    live::live().report_len = 0;
    modules::tell_again();
    report::modules();
    let modules_len = live::live().report_len;
    let mut workers = snapshot::Workers::new(super::start::may_reset());
    greet();
    let mut taken = None;
    while let Some(run) = taken.take().or_else(next_command) {
        let Some(plan) = prepare(modules_len) else { quit() };
        learn::load_known(plan.known);
        super::coverage::load_told(plan.told);
        match as_main(fork) {
            0 => {
                lead();
                let is_worker = workers.become_one(plan.known, plan.told, modules_len);
                let Some(plan) = plan_of_run() else { quit() };
                if is_worker {
                    learn::load_known(plan.known);
                    super::coverage::load_told(plan.told);
                } else {
                    close();
                }
                begin(plan);
                if let Some(why) = workers.refused() {
                    super::warn_once(why, 0);
                }
                return;
            }
            pid if pid > 0 => {
                live::live().pid = pid as i32;
                let status = workers.status(wait_and_clear(pid));
                let left = orphans::end();
                match workers.ended() {
                    Left::Answer => {}
                    Left::Nothing => continue,
                    Left::Command(run) => {
                        taken = Some(run);
                        continue;
                    }
                }
                let used = live::live().carriers as usize;
                let again = used > carriers::pooled() && carriers::can_grow() && status & 0x7F != SIGKILL;
                if again {
                    // Carriers made inside a run lie elsewhere than pooled ones: the run is made again with enough
                    // of them, so that addresses are the same in every run.
                    carriers::grow(used);
                }
                match batch::gone() {
                    batch::Left::Answer => {
                        send(if again { Reply::AGAIN } else { Reply::ENDED }, status, left);
                    }
                    batch::Left::Nothing => send(Reply::BATCH, 0, 0),
                    batch::Left::Runs(run) => taken = Some(run),
                }
            }
            error => send(Reply::FAILED, -error as i32, run),
        }
    }
}

/// What the driver wants of the run, which it wrote before it sent the command.
fn plan_of_run() -> Option<Plan> {
    let base = shared::area(layout::PLAN)?;
    // SAFETY: a plan is integers, and lies there.
    Some(unsafe { base.read() })
}

/// The counters begin anew.
pub(crate) fn prepare(modules_len: u64) -> Option<Plan> {
    batch::load_plan();
    let plan = plan_of_run()?;
    // SAFETY: the counters are integers.
    unsafe { core::ptr::write_bytes(&raw mut live::LIVE.live, 0, 1) };
    live::live().run = plan.run;
    live::live().report_len = modules_len;
    Some(plan)
}

/// Tells the driver that runs, or inputs, can come, and what it is to know besides: who serves them, if that is not the process it has started, or what was
/// read of an input.
pub(crate) fn hello(besides: i32) {
    send(Reply::HELLO, super::is_instrumented() as i32 | besides, layout::VERSION as u64);
}

/// Waits for the next run's number; ends the server when there is none.
pub(crate) fn next_command() -> Option<u64> {
    loop {
        let mut command = Command::default();
        // SAFETY: reads into our own struct.
        let got =
            unsafe { syscall3(nr::READ, CTL as usize, &raw mut command as usize, size_of::<Command>()) };
        if got == -(crate::sys::errno::EINTR as isize) {
            continue;
        }
        if got != size_of::<Command>() as isize || command.code != Command::RUN {
            quit();
        }
        return Some(command.arg);
    }
}

const MSG_PEEK: usize = 2;

/// Looks at the next command, and leaves it where it is: how many bytes there are, and the command.
fn peek(flags: usize) -> (isize, Command) {
    let mut command = Command::default();
    let (at, size) = (&raw mut command as usize, size_of::<Command>());
    // SAFETY: reads into our own struct.
    let got = unsafe { syscall6(nr::RECVFROM, CTL as usize, at, size, MSG_PEEK | flags, 0, 0) };
    (got, command)
}

/// Waits for the next command, and leaves it where it is: the run's number.
pub(crate) fn look_at_command() -> u64 {
    loop {
        match peek(0) {
            (got, _) if got == -(crate::sys::errno::EINTR as isize) => {}
            (_, command) => return command.arg,
        }
    }
}

/// Whether a command is there.
pub(crate) fn has_command() -> bool {
    const MSG_DONTWAIT: usize = 0x40;
    peek(MSG_DONTWAIT).0 > 0
}

/// Closes a run's copy of the control socket.
pub(crate) fn close() {
    // SAFETY: our own descriptor.
    unsafe { syscall3(nr::CLOSE, CTL as usize, 0, 0) };
}

/// Does it with the main strand's thread pointer: whoever forks, libc finds that strand to be the child's only thread.
pub(crate) fn as_main<T>(work: impl FnOnce() -> T) -> T {
    let own = crate::arch::thread_pointer();
    // SAFETY: both belong to strands, and nobody else runs meanwhile.
    unsafe {
        crate::arch::set_thread_pointer(super::strand(super::StrandId::MAIN).fs);
        let done = work();
        crate::arch::set_thread_pointer(own);
        done
    }
}

/// A fork that keeps libc's idea of the thread, runs no atfork handlers and reclaims no stacks: the carriers' stacks
/// stay theirs.
pub(crate) fn fork() -> isize {
    // SAFETY: `_Fork` (glibc 2.34) is an async-signal-safe fork.
    unsafe {
        let pid = real!(_Fork: fn() -> c_int)();
        if pid < 0 { -(crate::sys::get_errno() as isize) } else { pid as isize }
    }
}

/// Waits for a run's end; processes it has left behind belong to its group and go with it.
pub(crate) fn wait_and_clear(pid: isize) -> i32 {
    let status = wait(pid);
    // SAFETY: our own child's group.
    unsafe { syscall3(nr::KILL, -pid as usize, SIGKILL as usize, 0) };
    status
}

fn wait(pid: isize) -> i32 {
    let mut status: i32 = 0;
    loop {
        // SAFETY: waits for our own child.
        let got = unsafe { syscall6(nr::WAIT4, pid as usize, &raw mut status as usize, 0, 0, 0, 0) };
        if got == pid {
            return status;
        }
        if got != -(crate::sys::errno::EINTR as isize) {
            return 0x7F00;
        }
    }
}

/// The child has a process group of its own, and goes with the server.
fn lead() {
    // SAFETY: the child's own process group.
    unsafe { syscall3(nr::SETPGID, 0, 0, 0) };
    goes_with_parent();
}

/// This process ends when its parent does.
pub(crate) fn goes_with_parent() {
    const PR_SET_PDEATHSIG: usize = 1;
    // SAFETY: no memory is involved.
    unsafe { syscall3(nr::PRCTL, PR_SET_PDEATHSIG, SIGKILL as usize, 0) };
}

/// The run begins.
fn begin(plan: Plan) {
    let mut e = engine();
    e.plan = plan;
    for index in 0..e.strands.len() {
        let mut other = super::strand(super::StrandId(index as u16));
        let path = if index == 0 { 0 } else { other.path.0 };
        other.entropy = Rng::new(plan.entropy ^ path);
    }
    let id = StrategyId::from_code(plan.strategy).unwrap_or(StrategyId::Random);
    e.recorded = id == StrategyId::Recorded;
    e.strategy = Any::new(id);
    e.strategy.furnish(guidance::room());
    e.strategy.begin(&RunInfo {
        seed: plan.seed,
        estimate_choices: plan.estimate_choices,
        estimate_strands: plan.estimate_strands,
        params: plan.params,
        guide: guidance::guide(),
    });
    guidance::clear();
    let mut bits = 0;
    let tells_reads = e.strategy.wants_reads() || plan.flags & layout::flags::READS != 0;
    if tells_reads {
        reads::begin();
        ATTENTION.fetch_or(attention::READS, Ordering::Relaxed);
    }
    for index in 0..e.strands.len() {
        lists::tell_created(super::StrandId(index as u16));
    }
    e.tells_alone = tells_reads || e.strategy.wants_alone();
    if plan.flags & layout::flags::STEPS != 0 {
        bits |= attention::STEPS;
    }
    crate::arch::local::want(bits & attention::STEPS != 0);
    e.in_order = plan.params[threadbare_strategy::IN_ORDER] != 0;
    e.hasty = !e.recorded && super::loops::is_hasty(&plan);
    if e.hasty {
        bits |= attention::SPIN;
    }
    if plan.record != Record::Nothing as u32 {
        bits |= attention::RECORD;
        if plan.record == Record::Values as u32 {
            bits |= attention::VALUES;
        }
        if plan.record == Record::Effects as u32 {
            bits |= attention::EFFECTS;
        }
    }
    if plan.max_points != 0 {
        bits |= attention::LIMIT;
    }
    ATTENTION.fetch_or(bits, Ordering::Relaxed);
    e.phase = Phase::Running;
    let mut counters = live::live();
    counters.entered = 1;
    counters.strands = e.strands.len() as u64;
    counters.current = e.current.0 as u32;
    e.segment_start = counters.events;
    learn::begin(PointMode::from_code(plan.points as u8).unwrap_or(PointMode::Shared));
    race::begin(plan.races != 0);
    super::coverage::begin(plan.flags & layout::flags::COVERAGE != 0);
    lists::set_gate();
    super::watch::begin();
    let shared = learn::stacks_shared();
    for index in 0..e.strands.len() {
        super::strand(super::StrandId(index as u16)).stack_shared = shared;
    }
    super::addressable::begin();
    crate::heap::set_limit(plan.memory);
    super::stops::begin();
    super::faults::begin(&plan);
    super::own::begin(&plan);
    super::leaks::begin(&plan);
    follow::begin();
    if plan.record != Record::Nothing as u32 {
        record_strands();
    }
}

/// The strands that are older than the run, what they wait for, and the one that goes on if it is not main.
fn record_strands() {
    let e = engine();
    for index in 1..e.strands.len() {
        let other = super::strand(super::StrandId(index as u16));
        let op = Op::new(OpKind::Create, other.parent.0 as u64, 0);
        record::push(EventKind::Created, other.id, op, other.ordinal as u64);
    }
    for index in 0..e.strands.len() {
        let other = super::strand(super::StrandId(index as u16));
        if other.state() == State::Blocked {
            record::push(EventKind::Blocked, other.id, other.op, 0);
        }
    }
    if e.current != super::StrandId::MAIN {
        record::push(EventKind::Switch, e.current, Op { addr: 0, ..super::strand(e.current).op }, 0);
    }
}
