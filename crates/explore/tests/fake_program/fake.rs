//! A program with a runtime that does as its first argument says.

use rustix::mm::{MapFlags, ProtFlags, mmap};
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustix::process::{Pid, WaitOptions, waitpid};
use rustix::thread::futex;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::time::Duration;
use threadbare_abi::event::{Event, EventKind, Segment};
use threadbare_abi::layout::{
    self, Area, BATCH, EVENTS_CAPACITY, FILE_SIZE, HEADER, LEARNT, LIVE, Live, MAGIC, PLAN, Plan, REPORT,
    RING, TAKEN, VERSION, WATCHES,
};
use threadbare_abi::op::OpKind;
use threadbare_abi::protocol::{Command, Reply};
use threadbare_abi::report::{RecordHead, RecordTag};

/// How many events the mode `events` streams: more than the ring holds.
pub(crate) const EVENTS: u64 = EVENTS_CAPACITY as u64 * 2 + 77;

struct Shared {
    base: *mut u8,
}

impl Shared {
    fn at<T>(&self, offset: usize) -> *mut T {
        // SAFETY: the offsets are the layout's, inside the mapping.
        unsafe { self.base.add(offset).cast() }
    }

    fn area<T>(&self, area: Area<T>) -> *mut T {
        self.at(area.offset())
    }

    fn set_live(&self, change: impl FnOnce(&mut Live)) {
        // SAFETY: the page is in the mapping; the driver only reads it, after the run.
        change(unsafe { &mut *self.area(LIVE) });
    }

    /// The plan of the run. Of a batch only the first run is made, and answered like one of its own: the driver asks again for the others.
    fn plan(&self) -> Plan {
        // SAFETY: the driver wrote both before the command.
        let batch = unsafe { &*self.area(BATCH) };
        match batch.count {
            // SAFETY: as above.
            0 => unsafe { self.area(PLAN).read() },
            _ => batch.plans[0],
        }
    }

    fn write<T>(&self, offset: usize, index: usize, value: T) {
        // SAFETY: callers write a few values into tables that hold more.
        unsafe { self.at::<T>(offset).add(index).write(value) }
    }
}

/// Plays the program; never returns.
pub(crate) fn serve(fds: &str) -> ! {
    let fd = |key: &str| -> OwnedFd {
        let number = fds.split(',').find_map(|part| part.strip_prefix(key)).unwrap().parse().unwrap();
        // SAFETY: the driver opened these for us.
        unsafe { OwnedFd::from_raw_fd(number) }
    };
    let (shm, ctl) = (fd("shm="), fd("ctl="));
    let mode = std::env::args().nth(1).unwrap();
    match mode.as_str() {
        "early" => {
            eprintln!("no licence found");
            std::process::exit(5);
        }
        "deaf" => std::thread::sleep(Duration::from_secs(3600)),
        _ => {}
    }
    let prot = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping.
    let base = unsafe { mmap(std::ptr::null_mut(), FILE_SIZE, prot, MapFlags::SHARED, &shm, 0) }.unwrap();
    let shared = Shared { base: base.cast() };
    // SAFETY: the driver wrote the header before it started us.
    let header = unsafe { shared.area(HEADER).read() };
    assert_eq!((header.magic, header.version), (MAGIC, VERSION));
    let version = if mode == "version" { 999 } else { u64::from(VERSION) };
    reply(&ctl, Reply::HELLO, i32::from(mode != "bare"), version);
    let mut served = 0;
    loop {
        let mut bytes = [0u8; size_of::<Command>()];
        match recv(&ctl, &mut bytes[..], RecvFlags::empty()) {
            Ok((_, 16)) => {}
            _ => std::process::exit(0),
        }
        served += 1;
        if mode == "dying-server" && served == 2 {
            std::process::exit(9);
        }
        let run = shared.plan().run;
        // SAFETY: plain integers.
        unsafe { std::ptr::write_bytes(shared.area(LIVE), 0, 1) };
        shared.set_live(|live| live.run = run);
        // SAFETY: this process has one thread.
        match unsafe { libc::fork() } {
            0 => child(&mode, &shared, served),
            pid => {
                // SAFETY: our own child; it does the same, and one of the two comes first.
                unsafe { libc::setpgid(pid, pid) };
                // A program with a wild pointer may write anything there: the driver's own number, say.
                // SAFETY: asks for a number.
                let told = if mode == "wild" { unsafe { libc::getppid() } } else { pid };
                shared.set_live(|live| live.pid = told);
                let (_, status) = waitpid(Pid::from_raw(pid), WaitOptions::empty()).unwrap().unwrap();
                // SAFETY: the group of our own child, for what it has left behind.
                unsafe { libc::kill(-pid, libc::SIGKILL) };
                let again = mode == "events" && served == 1;
                reply(&ctl, if again { Reply::AGAIN } else { Reply::ENDED }, status.as_raw(), run);
            }
        }
    }
}

fn reply(ctl: &OwnedFd, code: u32, value: i32, arg: u64) {
    let mut bytes = [0u8; 16];
    bytes[..4].copy_from_slice(&code.to_ne_bytes());
    bytes[4..8].copy_from_slice(&value.to_ne_bytes());
    bytes[8..].copy_from_slice(&arg.to_ne_bytes());
    send(ctl, &bytes, SendFlags::NOSIGNAL).unwrap();
}

fn child(mode: &str, shared: &Shared, served: u64) -> ! {
    // SAFETY: only moves this process into a group of its own, and lets it die with the server.
    unsafe {
        libc::setpgid(0, 0);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
    let plan = shared.plan();
    shared.set_live(|live| (live.entered, live.points, live.trace_hash) = (1, 30, plan.seed));
    match mode {
        "clean" => {
            for index in 0..3 {
                shared.write(TAKEN.offset(), index, Segment { events: index as u64, ..Segment::default() });
            }
            shared.set_live(|live| live.segments = 3);
        }
        "stuck" | "wild" => forever(),
        "escape" => {
            // SAFETY: a new session, so a new group.
            unsafe { libc::setpgid(0, libc::getppid()) };
            forever();
        }
        "stop" => {
            // SAFETY: stops this process.
            unsafe { libc::raise(libc::SIGSTOP) };
            forever();
        }
        "crash" => {
            // SAFETY: ends this process by the signal.
            unsafe {
                libc::signal(libc::SIGSEGV, libc::SIG_DFL);
                libc::raise(libc::SIGSEGV);
            }
        }
        "panic" => {
            let caught = std::panic::catch_unwind(|| assert_eq!(1, served + 1, "sums differ"));
            std::process::exit(if caught.is_err() { 101 } else { 0 });
        }
        "output" => loop {
            let _ = std::io::stdout().write_all(&[b'x'; 1 << 16]);
        },
        "echo" => {
            println!("out {}", plan.run);
            eprintln!("err {}", plan.run);
            exit(7);
        }
        "cat" => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).unwrap();
            print!("{text}");
        }
        "events" => stream(shared),
        "leftover" => {
            // SAFETY: the grandchild only sleeps.
            match unsafe { libc::fork() } {
                0 => forever(),
                pid => println!("{pid}"),
            }
        }
        "learn" => {
            shared.write(LEARNT.offset(), 0, plan.run);
            shared.set_live(|live| (live.learnt, live.trace_hash) = (1, plan.known << 32 | plan.run));
        }
        "fail-at-37" if plan.run == 37 => exit(1),
        "race" => races(shared, &plan),
        "fickle-race" if served.is_multiple_of(2) => races(shared, &plan),
        "fickle" => shared.set_live(|live| live.trace_hash = served),
        _ => {}
    }
    exit(0)
}

/// Two strands at two places, in either order; the second making tells what is asked for, in run 5 another end.
fn races(shared: &Shared, plan: &Plan) {
    shared.write(TAKEN.offset(), 0, Segment { events: 9, ..Segment::default() });
    shared.set_live(|live| (live.segments, live.races) = (1, 1));
    let mut report = Report { shared, len: 0 };
    let places = [(1, 0x40_0010, OpKind::Write), (2, 0x40_0020, OpKind::Read)];
    let turn = (plan.run % 2) as usize;
    report.add(RecordTag::Module, u16::MAX, [0x40_0000, 0x1000, 0]);
    report.add(RecordTag::Race, 0, [0x9010, 4, 0]);
    for (order, &(strand, pc, op)) in [&places[turn], &places[1 - turn]].into_iter().enumerate() {
        report.add(RecordTag::Access, strand, [pc, 8 - order as u64, op as u64 | 4 << 8]);
        if order == 0 {
            report.add(RecordTag::AccessFrame, strand, [0x40_0100, 0, 0]);
        }
    }
    report.add(RecordTag::Block, u16::MAX, [0x9000, 64, 0]);
    report.add(RecordTag::Strand, 1, [0, 1, 2]);
    report.add(RecordTag::Strand, 2, [1, 1, 2]);
    for index in 0..plan.watches {
        // SAFETY: the driver wrote them before the command.
        let watch = unsafe { shared.area(WATCHES).add(index as usize).read() };
        report.add(RecordTag::Watched, watch.strand as u16, [index.into(), 1, 0x40_0200]);
        report.add(RecordTag::AccessFrame, watch.strand as u16, [0x40_0300 + u64::from(watch.kind), 0, 0]);
    }
    if plan.record != 0 {
        stream_points(shared, 7);
    }
    if plan.watches > 0 && plan.run == 5 {
        exit(3);
    }
}

/// Writes records.
struct Report<'a> {
    shared: &'a Shared,
    len: usize,
}

impl Report<'_> {
    fn add(&mut self, tag: RecordTag, strand: u16, [a, b, c]: [u64; 3]) {
        let head = RecordHead { tag: tag as u16, strand, len: 0, a, b, c };
        self.shared.write(REPORT.offset() + self.len, 0, head);
        self.len += size_of::<RecordHead>();
        self.shared.set_live(|live| live.report_len = self.len as u64);
    }
}

fn forever() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

fn exit(code: i32) -> ! {
    let _ = std::io::stdout().flush();
    std::process::exit(code)
}

/// A few points, each an event.
fn stream_points(shared: &Shared, count: u64) {
    // SAFETY: the ring is atomics, in the mapping.
    let ring = unsafe { &*shared.area(RING) };
    for index in 0..count {
        let event = Event { value: index + 1, kind: EventKind::Point as u8, ..Event::default() };
        shared.write(layout::EVENTS.offset(), index as usize, event);
    }
    ring.head.store(count, Ordering::Release);
}

fn stream(shared: &Shared) {
    // SAFETY: the ring is atomics, in the mapping.
    let ring = unsafe { &*shared.area(RING) };
    for value in 0..EVENTS {
        loop {
            let seen = ring.space.load(Ordering::Acquire);
            if value - ring.tail.load(Ordering::Acquire) < EVENTS_CAPACITY as u64 {
                break;
            }
            let _ = futex::wait(&ring.space, futex::Flags::empty(), seen, None);
        }
        shared.write(
            layout::EVENTS.offset(),
            value as usize % EVENTS_CAPACITY,
            Event { value, ..Event::default() },
        );
        ring.head.store(value + 1, Ordering::Release);
    }
}
