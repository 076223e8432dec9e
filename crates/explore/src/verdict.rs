//! What a run was found to be: the runtime's own verdict, or what is seen from outside.
//!
//! The runtime knows of deadlocks, crashes and failed C assertions. A Rust panic it sees only as an exit code or an
//! abort; the panic's own words on the standard error tell the rest.

use crate::shm::LiveCopy;
use std::time::Duration;
use threadbare_abi::strand::{FIRST_TID, StrandId};
use threadbare_abi::verdict::VerdictKind;
use threadbare_trace::report::{RunReport, StrandReport};
use threadbare_trace::run::{End, Output, SourcePlace, Verdict};

const ABORT: i32 = 6;

/// Whether a run needs no closer look.
pub(crate) fn is_clean(end: End, live: &LiveCopy) -> bool {
    end == End::Exited(0) && live.verdict == VerdictKind::None as u32
}

/// The verdict of a run.
pub(crate) fn judge(
    end: End,
    timeout: Duration,
    live: &LiveCopy,
    report: &RunReport,
    stdout: &Output,
    stderr: &Output,
) -> Verdict {
    let given =
        u8::try_from(live.verdict).ok().and_then(VerdictKind::from_code).unwrap_or(VerdictKind::Internal);
    let (kind, code) = match (given, end) {
        (VerdictKind::None, End::Exited(0)) => return Verdict::clean(),
        (VerdictKind::None, End::Exited(code)) => (VerdictKind::Exit, code),
        (VerdictKind::None, End::Signalled(signal)) => (VerdictKind::Crash, signal),
        (VerdictKind::None, End::TimedOut) => (VerdictKind::Timeout, 0),
        // The runtime was asked where its strands are as it is when the time is over.
        (VerdictKind::None | VerdictKind::Timeout, End::OutOfMemory) => (VerdictKind::OutOfMemory, 0),
        (kind, _) => (kind, live.verdict_code),
    };
    let strand = match (given, kind) {
        // Who called `exit` runs last.
        (VerdictKind::None, VerdictKind::Exit) => live.counters.current,
        (VerdictKind::None, _) => u16::MAX,
        _ => u16::try_from(live.verdict_strand).unwrap_or(u16::MAX),
    };
    let mut verdict = Verdict {
        kind,
        message: report.message.trim().to_owned(),
        place: None,
        strand,
        pc: live.verdict_pc,
        addr: live.verdict_addr,
        code,
    };
    let may_be_panic = kind == VerdictKind::Exit || kind == VerdictKind::Crash && code == ABORT;
    let panic =
        if may_be_panic { find_panic(&stderr.text()).or_else(|| find_panic(&stdout.text())) } else { None };
    if let Some(panic) = panic {
        let assertion = panic.message.starts_with("assertion");
        verdict.kind = if assertion { VerdictKind::Assertion } else { VerdictKind::Panic };
        verdict.message = panic.message;
        verdict.place = Some(panic.place);
        verdict.strand = panic.thread.strand(report);
    } else if let Some(message) = exception(&verdict, stderr) {
        verdict.message = message;
        // Where it was thrown, which is where it can be mended.
        if verdict.addr != 0 {
            verdict.pc = verdict.addr;
        }
    } else if verdict.message.is_empty() {
        verdict.message = default_message(&verdict, timeout, stderr);
    }
    if verdict.kind == VerdictKind::Crash && code == ABORT {
        // What the runtime told there was the place of a throw.
        verdict.addr = 0;
    }
    verdict
}

/// The exception that nobody caught, by the words of the C++ library.
fn exception(verdict: &Verdict, stderr: &Output) -> Option<String> {
    const THROWN: &str = "terminate called after throwing an instance of '";
    const AGAIN: &str = "terminate called recursively";
    const WHAT: &str = "what():";
    if verdict.kind != VerdictKind::Crash || verdict.code != ABORT {
        return None;
    }
    let text = stderr.text();
    let mut lines = text.lines().skip_while(|line| !line.contains(THROWN));
    let (_, kind) = lines.next()?.split_once(THROWN)?;
    let kind = kind.trim_end().trim_end_matches('\'');
    let mut message = format!("uncaught exception {kind}");
    // Several threads may have come to their ends at once.
    let mut what = lines.filter(|line| !line.contains(AGAIN));
    if let Some((_, what)) = what.next().and_then(|line| line.split_once(WHAT)) {
        message.push_str(&format!(": {}", what.trim().chars().take(200).collect::<String>()));
    }
    Some(message)
}

fn default_message(verdict: &Verdict, timeout: Duration, stderr: &Output) -> String {
    let last_line = || {
        let text = stderr.text();
        let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
        line.map(|line| format!(": {}", line.chars().take(120).collect::<String>())).unwrap_or_default()
    };
    match verdict.kind {
        VerdictKind::Exit => format!("the program ended with code {}{}", verdict.code, last_line()),
        VerdictKind::Crash if verdict.code == ABORT => {
            format!("{}{}", signal_name(verdict.code), last_line())
        }
        VerdictKind::Crash => signal_name(verdict.code),
        VerdictKind::Timeout => format!("the run took longer than {}", show_duration(timeout)),
        VerdictKind::OutOfMemory => "the program's process has more memory than `--memory` allows".to_owned(),
        VerdictKind::Deadlock => "no strand can go on".to_owned(),
        VerdictKind::Livelock => "the strands go on and nothing changes".to_owned(),
        kind => kind.name().to_owned(),
    }
}

fn show_duration(time: Duration) -> String {
    if time.subsec_millis() == 0 {
        format!("{} s", time.as_secs())
    } else {
        format!("{} ms", time.as_millis())
    }
}

/// A panic as the standard hook writes it.
struct Panic {
    thread: Thread,
    message: String,
    place: SourcePlace,
}

/// Whom a panic's message names: `thread 'NAME' (ID) panicked at`; before Rust 1.91 without the id.
#[derive(Default)]
struct Thread {
    name: String,
    id: Option<i32>,
}

impl Thread {
    fn parse(before: &str) -> Thread {
        let line = before.rsplit('\n').next().unwrap_or_default();
        let Some((_, said)) = line.split_once("thread '") else { return Thread::default() };
        let Some((name, rest)) = said.rsplit_once('\'') else { return Thread::default() };
        let id = rest.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        Thread { name: name.to_owned(), id: id.and_then(|id| id.parse().ok()) }
    }

    /// The strand, or `u16::MAX`.
    fn strand(&self, report: &RunReport) -> u16 {
        const NAME: usize = 15;
        const UNNAMED: &str = "<unnamed>";
        if let Some(id) = self.id {
            // Main has the id of the process, which is no strand's.
            return u16::try_from(id - FIRST_TID).unwrap_or(StrandId::MAIN.0);
        }
        let cut = self.name.as_bytes();
        let cut = &cut[..cut.len().min(NAME)];
        let named = |strand: &&StrandReport| match self.name.as_str() {
            UNNAMED => strand.index != StrandId::MAIN.0 && strand.name.is_empty(),
            _ => strand.name.as_bytes() == cut,
        };
        let mut named = report.strands.iter().filter(named);
        match (named.next(), named.next()) {
            (Some(strand), None) => strand.index,
            (None, _) if self.name == "main" => StrandId::MAIN.0,
            _ => StrandId::NONE.0,
        }
    }
}

/// The first panic in a text: the later ones are its consequences (a poisoned lock, an `unwrap` of a join).
fn find_panic(text: &str) -> Option<Panic> {
    let mut rest = text;
    while let Some(at) = rest.find("panicked at ") {
        let thread = Thread::parse(&rest[..at]);
        rest = &rest[at + "panicked at ".len()..];
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        if let Some(place) = line.trim_end().strip_suffix(':').and_then(parse_place) {
            return Some(Panic { thread, message: panic_message(after), place });
        }
        // Before Rust 1.73: `panicked at 'message', file:line:column`.
        if let Some((message, place)) = line.rsplit_once("', ")
            && let (Some(message), Some(place)) = (message.strip_prefix('\''), parse_place(place))
        {
            return Some(Panic { thread, message: message.to_owned(), place });
        }
    }
    None
}

fn panic_message(after: &str) -> String {
    let lines = after
        .lines()
        .map(str::trim)
        .take_while(|line| {
            !line.is_empty() && !line.starts_with("note: ") && !line.starts_with("stack backtrace:")
        })
        .take(8);
    let mut message = String::new();
    for line in lines {
        if !message.is_empty() {
            message.push_str(", ");
        }
        message.push_str(line);
    }
    if message.is_empty() { "panic".to_owned() } else { message }
}

fn parse_place(text: &str) -> Option<SourcePlace> {
    let mut parts = text.trim().rsplitn(3, ':');
    let _column: u32 = parts.next()?.parse().ok()?;
    let line = parts.next()?.parse().ok()?;
    Some(SourcePlace { file: parts.next()?.to_owned(), line })
}

/// The name of a signal, for people.
pub fn signal_name(signal: i32) -> String {
    let (name, what) = match signal {
        1 => ("SIGHUP", "hang-up"),
        2 => ("SIGINT", "interrupt"),
        3 => ("SIGQUIT", "quit"),
        4 => ("SIGILL", "illegal instruction"),
        5 => ("SIGTRAP", "trap"),
        6 => ("SIGABRT", "abort"),
        7 => ("SIGBUS", "bus error"),
        8 => ("SIGFPE", "arithmetic error"),
        9 => ("SIGKILL", "killed from outside; out of memory?"),
        11 => ("SIGSEGV", "bad memory access"),
        10 => ("SIGUSR1", "the program's own"),
        12 => ("SIGUSR2", "the program's own"),
        13 => ("SIGPIPE", "broken pipe"),
        14 => ("SIGALRM", "alarm"),
        15 => ("SIGTERM", "asked to end"),
        16 => ("SIGSTKFLT", "stack fault"),
        17 => ("SIGCHLD", "a child has ended"),
        18 => ("SIGCONT", "continued"),
        19 => ("SIGSTOP", "stopped"),
        20 => ("SIGTSTP", "stopped by the terminal"),
        21 => ("SIGTTIN", "read from the terminal in the background"),
        22 => ("SIGTTOU", "write to the terminal in the background"),
        23 => ("SIGURG", "urgent data"),
        24 => ("SIGXCPU", "processor time used up"),
        25 => ("SIGXFSZ", "a file became larger than `--file-size` allows"),
        26 => ("SIGVTALRM", "timer of processor time"),
        27 => ("SIGPROF", "profiling timer"),
        28 => ("SIGWINCH", "the window has another size"),
        29 => ("SIGIO", "input or output is possible"),
        30 => ("SIGPWR", "power failure"),
        31 => ("SIGSYS", "bad system call"),
        // The first two are libc's own.
        real_time @ 34..=64 => return format!("SIGRTMIN+{} (real-time signal)", real_time - 34),
        other => return format!("signal {other}"),
    };
    format!("{name} ({what})")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(end: End, stderr: &str) -> Verdict {
        let stderr = Output { bytes: stderr.as_bytes().to_vec(), dropped: 0 };
        let timeout = Duration::from_millis(1500);
        judge(end, timeout, &LiveCopy::default(), &RunReport::default(), &Output::default(), &stderr)
    }

    #[test]
    fn panics_are_read_from_the_text() {
        let text = "hello\n\nthread 'main' (77) panicked at src/bank.rs:41:9:\nassertion `left == right` failed: sum\n  \
                    left: 1\n right: 2\nnote: run with `RUST_BACKTRACE=1`\n\nthread 'x' panicked at b.rs:1:1:\nlater\n";
        let verdict = judged(End::Exited(101), text);
        assert_eq!(verdict.kind, VerdictKind::Assertion);
        assert_eq!(verdict.message, "assertion `left == right` failed: sum, left: 1, right: 2");
        assert_eq!(verdict.place, Some(SourcePlace { file: "src/bank.rs".into(), line: 41 }));

        let verdict = judged(End::Signalled(6), "thread 'main' panicked at /a b/c.rs:7:3:\nboom\n");
        assert_eq!((verdict.kind, verdict.message.as_str()), (VerdictKind::Panic, "boom"));
        let old = judged(End::Exited(101), "thread 'main' panicked at 'old, style', src/x.rs:2:5\n");
        assert_eq!((old.message.as_str(), old.place.unwrap().line), ("old, style", 2));
    }

    #[test]
    fn a_panic_tells_its_strand() {
        let named = |index, name: &str| StrandReport { index, name: name.into(), ..StrandReport::default() };
        let strands =
            vec![named(0, ""), named(1, ""), named(2, "a-very-long-nam"), named(3, "twin"), named(4, "twin")];
        let report = RunReport { strands, ..RunReport::default() };
        let strand = |before: &str| Thread::parse(before).strand(&report);
        assert_eq!(strand("x\nthread 'main' (4711) "), 0);
        assert_eq!(strand("thread '<unnamed>' (4194306) "), 2);
        assert_eq!(strand("thread 'main' "), 0);
        assert_eq!(strand("thread '<unnamed>' "), 1);
        assert_eq!(strand("thread 'a-very-long-name' "), 2);
        for unknown in ["thread 'twin' ", "thread 'who' ", "nobody ", ""] {
            assert_eq!(strand(unknown), u16::MAX, "{unknown}");
        }
    }

    #[test]
    fn exceptions_are_read_from_the_text() {
        let text = "hello\nterminate called after throwing an instance of 'std::runtime_error'\n  what():  no money\n";
        let verdict = judged(End::Signalled(6), text);
        assert_eq!(verdict.kind, VerdictKind::Crash);
        assert_eq!(verdict.message, "uncaught exception std::runtime_error: no money");
        let bare = judged(End::Signalled(6), "terminate called after throwing an instance of 'int'\n");
        assert_eq!(bare.message, "uncaught exception int");
        let none = judged(End::Signalled(6), "terminate called without an active exception\n");
        assert!(none.message.starts_with("SIGABRT"), "{}", none.message);
    }

    #[test]
    fn every_signal_has_its_name() {
        for signal in (1..=31).chain(34..=64) {
            assert!(signal_name(signal).starts_with("SIG"), "{signal}");
        }
        assert_eq!(signal_name(12), "SIGUSR2 (the program's own)");
        assert_eq!(signal_name(36), "SIGRTMIN+2 (real-time signal)");
    }

    #[test]
    fn ends_without_words_still_have_a_kind() {
        assert_eq!(judged(End::Exited(0), "").kind, VerdictKind::None);
        assert_eq!(judged(End::Exited(3), "bad input\n").message, "the program ended with code 3: bad input");
        assert_eq!(judged(End::Signalled(11), "").message, "SIGSEGV (bad memory access)");
        assert_eq!(judged(End::TimedOut, "").message, "the run took longer than 1500 ms");
        // A text that only looks like a panic is none.
        assert_eq!(judged(End::Exited(1), "nobody panicked at all\n").kind, VerdictKind::Exit);
    }
}
