//! Runs one test of many: in parallel, or its calls one at a time in every order.
#![allow(dead_code, reason = "not every test needs all of it")]

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

const PAYLOADS: usize = 32;
static MADE: [AtomicU32; PAYLOADS] = [const { AtomicU32::new(0) }; PAYLOADS];
static DROPPED: [AtomicU32; PAYLOADS] = [const { AtomicU32::new(0) }; PAYLOADS];

/// A value of the tests: it counts its drops, and its memory is its own.
pub struct Counted(Box<u32>);

impl Counted {
    pub fn new(id: u32) -> Counted {
        MADE[id as usize % PAYLOADS].fetch_add(1, Ordering::Relaxed);
        Counted(Box::new(id))
    }
    // The compiler must not see that nothing comes of it.
    pub fn read(&self) -> u32 {
        std::hint::black_box(*self.0)
    }
    pub fn write(&mut self) -> u32 {
        let id = std::hint::black_box(*self.0);
        *self.0 = id;
        id
    }
}
impl Clone for Counted {
    fn clone(&self) -> Counted {
        Counted::new(*self.0)
    }
}
impl Drop for Counted {
    fn drop(&mut self) {
        DROPPED[*self.0 as usize % PAYLOADS].fetch_add(1, Ordering::Relaxed);
    }
}
impl Default for Counted {
    fn default() -> Counted {
        Counted::new(0)
    }
}
impl Debug for Counted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{}", *self.0)
    }
}
impl PartialEq for Counted {
    fn eq(&self, other: &Counted) -> bool {
        *self.0 == *other.0
    }
}
impl Eq for Counted {}
impl PartialOrd for Counted {
    fn partial_cmp(&self, other: &Counted) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Counted {
    fn cmp(&self, other: &Counted) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}
impl std::hash::Hash for Counted {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state)
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Move {
    strand: usize,
    skip: bool,
}
#[derive(Default)]
struct State {
    order: Vec<Move>,
    at: usize,
    running: bool,
    gone: [bool; 4],
    outcome: Option<Outcome>,
    /// A call before the strands, or after them, panicked.
    failed: bool,
}
impl State {
    fn next(&mut self) -> Option<Move> {
        while self.order.get(self.at).is_some_and(|next| self.gone[next.strand]) {
            self.at += 1;
        }
        self.order.get(self.at).copied()
    }
}
pub struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}
#[derive(Clone, Copy)]
pub enum Gate {
    Free,
    Turns(&'static Turns),
}
impl Gate {
    /// Before a call. Whether it is left out.
    pub fn turn(self, strand: usize) -> bool {
        let Gate::Turns(turns) = self else { return false };
        let mut state = turns.state.lock().unwrap();
        loop {
            if !state.running && let Some(next) = state.next() && next.strand == strand {
                state.running = true;
                return next.skip;
            }
            state = turns.changed.wait(state).unwrap();
        }
    }
    pub fn done(self) {
        let Gate::Turns(turns) = self else { return };
        let mut state = turns.state.lock().unwrap();
        state.running = false;
        state.at += 1;
        turns.changed.notify_all();
    }
    fn gone(self, strand: usize, panicked: bool) {
        let Gate::Turns(turns) = self else { return };
        let mut state = turns.state.lock().unwrap();
        state.gone[strand] = true;
        if panicked {
            state.running = false;
        }
        turns.changed.notify_all();
    }
    pub fn strand(
        self,
        strand: usize,
        body: impl FnOnce(&mut Vec<String>) + Send + 'static,
    ) -> JoinHandle<Vec<String>> {
        std::thread::spawn(move || {
            let mut said = Vec::new();
            let end = catch_unwind(AssertUnwindSafe(|| body(&mut said)));
            if let Err(why) = &end {
                said.push(panic_text(why));
            }
            self.gone(strand, end.is_err());
            said
        })
    }
}
fn panic_text(why: &Box<dyn std::any::Any + Send>) -> String {
    let text = why.downcast_ref::<&str>().map(|text| text.to_string());
    let text = text.or_else(|| why.downcast_ref::<String>().cloned()).unwrap_or_default();
    format!("panic: {}", text.lines().next().unwrap_or_default())
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Outcome {
    said: Vec<Vec<String>>,
    leaked: Vec<u32>,
}
impl Outcome {
    pub fn begin() -> Outcome {
        for count in MADE.iter().chain(&DROPPED) {
            count.store(0, Ordering::Relaxed);
        }
        Outcome::default()
    }
    pub fn join(&mut self, handle: JoinHandle<Vec<String>>) {
        self.said.push(handle.join().unwrap());
    }
    pub fn end(&mut self, said: Vec<String>) {
        self.said.push(said);
    }
    pub fn finish(mut self) -> Outcome {
        for id in 0..PAYLOADS {
            let (made, dropped) = (MADE[id].load(Ordering::Relaxed), DROPPED[id].load(Ordering::Relaxed));
            if dropped > made {
                dropped_twice(id);
            }
            if dropped < made {
                self.leaked.push(id as u32);
            }
        }
        self
    }
    fn text(&self) -> String {
        let said: Vec<String> = self.said.iter().map(|said| said.join(", ")).collect();
        format!("{} leaked {:?}", said.join(" | "), self.leaked)
    }
    fn panics(&self) -> Vec<&String> {
        self.said.iter().flatten().filter(|said| said.starts_with("panic: ")).collect()
    }
}
#[inline(never)]
fn dropped_twice(id: usize) -> ! {
    panic!("payload {id} was dropped twice");
}
#[inline(never)]
fn leaked(ids: &[u32]) -> ! {
    panic!("payload {ids:?} was never dropped");
}
#[inline(never)]
fn panicked(text: &str) -> ! {
    panic!("{text}");
}
#[inline(never)]
fn not_atomic(text: &str) -> ! {
    panic!("not-atomic: {text}");
}

pub struct Case {
    pub run: fn(Gate) -> Outcome,
    /// For each strand its calls, and whether each may be left out.
    pub strands: &'static [&'static [bool]],
}
enum End {
    Outcome(Outcome),
    /// The call with this number in the order has not come back.
    Blocked(usize),
    /// It cannot be made, or be used, with these values.
    Failed,
}
fn sequential(case: &'static Case, order: &[Move]) -> End {
    let state = State { order: order.to_vec(), ..State::default() };
    let turns: &'static Turns = Box::leak(Box::new(Turns { state: Mutex::new(state), changed: Condvar::new() }));
    std::thread::spawn(move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| (case.run)(Gate::Turns(turns))));
        let mut state = turns.state.lock().unwrap();
        state.failed = outcome.is_err();
        state.outcome = outcome.ok();
        turns.changed.notify_all();
    });
    let mut state = turns.state.lock().unwrap();
    loop {
        if let Some(outcome) = state.outcome.take() {
            return End::Outcome(outcome);
        }
        if state.failed {
            return End::Failed;
        }
        let before = (state.at, state.running);
        let (again, waited) = turns.changed.wait_timeout(state, Duration::from_secs(100_000)).unwrap();
        state = again;
        if waited.timed_out() && state.outcome.is_none() && before == (state.at, state.running) {
            return End::Blocked(if state.running { state.at } else { usize::MAX });
        }
    }
}
fn all_orders(case: &'static Case) -> Vec<String> {
    let (mut lines, mut blocked) = (Vec::new(), Vec::<Vec<Move>>::new());
    let total: usize = case.strands.iter().map(|calls| calls.len()).sum();
    let mut open: Vec<Vec<Move>> = vec![Vec::new()];
    // Depth first: each prefix is completed in the first way that is not known to wait.
    let mut seen = std::collections::BTreeSet::new();
    while let Some(prefix) = open.pop() {
        if prefix.len() == total {
            match sequential(case, &prefix) {
                End::Outcome(outcome) => {
                    if seen.insert(outcome.clone()) {
                        lines.push(format!("outcome {}", outcome.text()));
                    }
                }
                End::Failed => {
                    lines.push("fails outside".to_owned());
                    return lines;
                }
                End::Blocked(usize::MAX) => lines.push("stuck outside".to_owned()),
                End::Blocked(at) => {
                    blocked.push(prefix[..=at].to_vec());
                    open.retain(|other| !other.starts_with(&prefix[..=at]));
                    // Whoever else could have come there is still open, or waits too.
                    let here = &prefix[..at];
                    let others = moves(case, here).into_iter().all(|step| {
                        let mut next = here.to_vec();
                        next.push(step);
                        blocked.contains(&next)
                    });
                    if others {
                        lines.push(format!("stuck {here:?}"));
                    }
                }
            }
            continue;
        }
        for step in moves(case, &prefix).into_iter().rev() {
            let mut next = prefix.clone();
            next.push(step);
            if !blocked.iter().any(|blocked| next.starts_with(blocked)) {
                open.push(next);
            }
        }
    }
    lines
}
fn moves(case: &Case, prefix: &[Move]) -> Vec<Move> {
    let mut moves = Vec::new();
    for (strand, calls) in case.strands.iter().enumerate() {
        let done = prefix.iter().filter(|step| step.strand == strand).count();
        if let Some(&may_fail) = calls.get(done) {
            moves.push(Move { strand, skip: false });
            if may_fail {
                moves.push(Move { strand, skip: true });
            }
        }
    }
    moves
}

pub fn main(cases: &'static [(u32, Case)]) {
    let args: Vec<String> = std::env::args().collect();
    let (Some(number), Some(mode), Some(file)) = (args.get(1), args.get(2), args.get(3)) else {
        eprintln!("usage: NUMBER orders|parallel FILE");
        std::process::exit(2);
    };
    let number: u32 = number.parse().unwrap();
    let case = &cases.iter().find(|(at, _)| *at == number).expect("a test").1;
    if mode == "orders" {
        std::panic::set_hook(Box::new(|_| ()));
        let lines = all_orders(case).join("\n");
        std::fs::write(file, lines).unwrap();
        std::process::exit(0);
    }
    let allowed = std::fs::read_to_string(file).unwrap();
    let outcome = (case.run)(Gate::Free);
    let text = outcome.text();
    if allowed.lines().any(|line| line.strip_prefix("outcome ") == Some(&text)) {
        return;
    }
    let leaks = format!(" leaked {:?}", outcome.leaked);
    if !outcome.leaked.is_empty() && !allowed.lines().any(|line| line.ends_with(&leaks)) {
        leaked(&outcome.leaked);
    }
    if let Some(text) = outcome.panics().iter().find(|text| !allowed.contains(text.as_str())) {
        panicked(text);
    }
    not_atomic(&text);
}
/// How a value is told.
pub struct Show<'a, T>(pub &'a T);
pub trait ByDebug { fn show(&self) -> String; }
impl<T: Debug> ByDebug for &Show<'_, T> { fn show(&self) -> String { format!("{:?}", self.0) } }
pub trait ByNothing { fn show(&self) -> String; }
impl<T> ByNothing for Show<'_, T> { fn show(&self) -> String { "_".to_owned() } }

/// A result of a call that may fail for no reason: a failure says nothing.
pub fn relaxed(text: String) -> String {
    let failed = ["None", "Err", "false", "Pending", "Ready(None", "Ready(Err"];
    if failed.iter().any(|start| text.starts_with(start)) { "~".to_owned() } else { text }
}

struct Unpark(std::thread::Thread);
impl std::task::Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
/// Waits for a future.
pub fn block_on<F: std::future::Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    let waker = std::task::Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = std::task::Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            std::task::Poll::Ready(value) => return value,
            std::task::Poll::Pending => std::thread::park(),
        }
    }
}
/// Waits for a future that was polled once with another waker before.
pub fn block_on_again<F: std::future::Future>(future: F) -> F::Output {
    let mut future = Box::pin(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => block_on(future),
    }
}
/// Polls a future once, and drops it.
pub fn poll_once<F: std::future::Future>(future: F) -> std::task::Poll<F::Output> {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    future.as_mut().poll(&mut context)
}
