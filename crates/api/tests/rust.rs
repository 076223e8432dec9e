//! What is read from Rust source, and the tests that are made of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use threadbare_api::rust::{self, Api, Limits, Receiver, Ty};
use threadbare_api::{Drawn, Recipes, Test};

fn read(files: &[(&str, &str)]) -> Api {
    let files: BTreeMap<PathBuf, String> =
        files.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect();
    rust::read("krate", &files, Path::new("src/lib.rs"))
}

fn generate(api: &Api, types: &[&str]) -> Vec<Test> {
    let types = types.iter().map(|&ty| ty.to_owned()).collect();
    rust::generate(
        api,
        &Recipes::default(),
        &Limits { max: 40, types, ..Limits::default() },
        &mut Drawn::default(),
    )
    .0
}

const CHANNEL: &str = "
mod flavour;
pub mod sync { pub use crate::flavour::Sender; pub use crate::flavour::channel as pair; }
pub use flavour::*;
#[cfg(test)] mod tests { pub struct Hidden; }
";
const FLAVOUR: &str = "
pub struct Sender<T> { x: T }
pub struct Receiver<T>(T);
struct Inner;
#[derive(Debug)] pub enum RecvError { Closed }
pub fn channel<T>() -> (Sender<T>, Receiver<T>) { todo!() }
impl<T> Clone for Sender<T> { fn clone(&self) -> Self { todo!() } }
impl<T> Sender<T> {
    pub fn send(&self, value: T) -> Result<(), T> { todo!() }
    fn private(&self) {}
    pub unsafe fn raw(&self) {}
}
impl<T: Send> Receiver<T> {
    pub fn recv(&mut self) -> Result<T, RecvError> { todo!() }
    pub async fn recv_async(&self) -> Option<T> { todo!() }
    pub fn into_inner(self) -> Option<T> { todo!() }
    pub fn with<F>(&self, call: F) -> bool where F: FnOnce(&T) -> bool { todo!() }
    pub fn odd(&self, odd: std::net::TcpStream) {}
}
";

#[test]
fn public_paths_receivers_and_types_are_read() {
    let api = read(&[("src/lib.rs", CHANNEL), ("src/flavour.rs", FLAVOUR)]);
    let sender = &api.types["flavour::Sender"];
    assert_eq!(sender.path.as_deref(), Some("krate::Sender"));
    assert!(sender.traits.contains("Clone"));
    assert_eq!(sender.arguments, ["Counted"]);
    assert!(api.types["flavour::Inner"].path.is_none());
    assert!(!api.types.contains_key("tests::Hidden"));
    let names: Vec<String> = api.functions.iter().map(|function| api.title(function)).collect();
    assert!(!names.iter().any(|name| name.ends_with("private") || name.ends_with("raw")), "{names:?}");
    let find = |name: &str| api.functions.iter().find(|function| api.title(function) == name).expect(name);
    assert_eq!(find("Receiver::recv").receiver, Receiver::Mut);
    assert_eq!(find("Receiver::into_inner").receiver, Receiver::Own);
    assert!(find("Receiver::recv_async").is_async);
    assert_eq!(find("Receiver::with").args, [Ty::Closure(1, Box::new(Ty::Bool))]);
    assert_eq!(find("Sender::send").args, [Ty::Param]);
}

#[test]
fn only_one_strand_calls_by_mut_and_self() {
    let api = read(&[("src/lib.rs", CHANNEL), ("src/flavour.rs", FLAVOUR)]);
    let tests = generate(&api, &["Receiver"]);
    assert!(tests.len() > 20, "{}", tests.len());
    for test in &tests {
        // The receiver is no `Clone`: whoever calls it by `&mut self` has it alone.
        let alone = |steps: &Vec<threadbare_api::ApiCall>| {
            steps.iter().any(|step| step.call.contains("receiver.recv()") || step.call.contains("into_inner"))
        };
        assert!(test.strands.iter().filter(|steps| alone(steps)).count() <= 1, "{}", test.calls());
        assert!((2..=3).contains(&test.strands.len()));
        assert!(test.orders() <= 300);
    }
    let text = |tests: &[Test]| tests.iter().map(Test::calls).collect::<Vec<_>>();
    assert_eq!(text(&tests), text(&generate(&api, &["Receiver"])), "the same seed");
}

#[test]
fn what_has_no_value_is_told_and_a_recipe_gives_one() {
    let api = read(&[("src/lib.rs", CHANNEL), ("src/flavour.rs", FLAVOUR)]);
    let limits = Limits { max: 60, ..Limits::default() };
    let (tests, left_out) = rust::generate(&api, &Recipes::default(), &limits, &mut Drawn::default());
    assert!(
        left_out.iter().any(|left| left.what == "Receiver::odd" && left.why.contains("TcpStream")),
        "{left_out:?}"
    );
    assert!(!tests.iter().any(|test| test.calls().contains("odd")));
    let recipes = Recipes::read("[TcpStream]\nmake = \"connect()\"\n").expect("a recipe");
    let (tests, left_out) = rust::generate(&api, &recipes, &limits, &mut Drawn::default());
    assert!(!left_out.iter().any(|left| left.what == "Receiver::odd"));
    assert!(tests.iter().any(|test| test.calls().contains("odd")));
}

#[test]
fn smaller_tests_have_one_call_less_and_no_use_of_what_is_gone() {
    let source = "
pub struct Lock<T>(T);
pub struct Guard<'a, T>(&'a T);
impl<T> Lock<T> {
    pub fn new(value: T) -> Lock<T> { todo!() }
    pub fn lock(&self) -> Guard<'_, T> { todo!() }
}
impl<T> std::ops::Deref for Guard<'_, T> { type Target = T; }
impl<T> Guard<'_, T> { pub fn look(&self) -> u32 { 1 } }
";
    let api = read(&[("src/lib.rs", source)]);
    let tests = generate(&api, &[]);
    assert!(tests.iter().any(|test| test.calls().contains("lock, look")), "guards are used further");
    for test in &tests {
        for smaller in test.smaller() {
            assert!(smaller.size() < test.size() || smaller.strands.len() < test.strands.len());
            for strand in &smaller.strands {
                for (at, step) in strand.iter().enumerate().filter(|(_, step)| step.call.contains("look")) {
                    let made = |other: &threadbare_api::ApiCall| {
                        other.keeps.as_ref().is_some_and(|kept| step.uses.contains(&kept.name))
                    };
                    assert!(strand[..at].iter().any(made), "{}", smaller.calls());
                }
            }
        }
    }
}

#[test]
fn what_a_method_gives_is_in_another_strand() {
    let source = "
cfg_if::cfg_if! { if #[cfg(feature = \"std\")] { mod deque; pub use deque::{Stealer, Worker}; } else { compile_error!(\"no\"); } }
";
    let deque = "
pub struct Worker<T>(T);
pub struct Stealer<T>(T);
impl<T> Worker<T> {
    pub fn new() -> Worker<T> { todo!() }
    pub fn push(&mut self, item: T) {}
    pub fn stealer(&self) -> Stealer<T> { todo!() }
}
impl<T> Stealer<T> { pub fn steal(&mut self) -> Option<T> { todo!() } }
";
    let api = read(&[("src/lib.rs", source), ("src/deque.rs", deque)]);
    let tests = generate(&api, &["Stealer"]);
    let calls = |strand: &Vec<threadbare_api::ApiCall>, name: &str| {
        strand.iter().any(|step| step.call.contains(name))
    };
    let against = |test: &&Test| {
        let all = || test.strands.iter().enumerate();
        all().any(|(one, pushes)| {
            let other = |(at, steals): (usize, &Vec<_>)| at != one && calls(steals, ".steal(");
            calls(pushes, ".push(") && all().any(other)
        })
    };
    let texts: Vec<String> = tests.iter().map(Test::calls).collect();
    assert!(tests.iter().filter(against).count() > 3, "{texts:?}");
}

#[test]
fn closures_fail_now_and_then_and_defaults_stay() {
    let source = "
pub struct Spin;
pub struct Once<T = (), R = Spin>(T, R);
impl<T, R> Once<T, R> {
    pub fn new() -> Once<T, R> { todo!() }
    pub fn try_call<F: FnOnce() -> Result<T, E>, E>(&self, make: F) -> Result<&T, E> { todo!() }
}
";
    let api = read(&[("src/lib.rs", source)]);
    let once = &api.types["Once"];
    assert_eq!((once.arguments.as_slice(), once.defaults), (&["Counted".to_owned()][..], true));
    assert_eq!(api.written(once, true), "<Once<Counted>>");
    let tests = generate(&api, &[]);
    let steps: Vec<String> =
        tests.iter().flat_map(|test| test.strands.iter().flatten()).map(|step| step.call.clone()).collect();
    assert!(steps.iter().any(|call| call.contains("Err(0)")), "{steps:?}");
    assert!(steps.iter().any(|call| call.contains("Ok::<_, u32>(") && !call.contains("Err(")), "{steps:?}");
}

#[test]
fn nobody_waits_for_a_guard_who_has_one() {
    let source = "
pub struct Lock<T>(T);
pub struct Guard<'a, T>(&'a T);
impl<T> Lock<T> {
    pub fn new(value: T) -> Lock<T> { todo!() }
    pub fn read(&self) -> Guard<'_, T> { todo!() }
    pub fn try_read(&self) -> Option<Guard<'_, T>> { todo!() }
}
impl<T> std::ops::Deref for Guard<'_, T> { type Target = T; }
";
    let api = read(&[("src/lib.rs", source)]);
    for test in generate(&api, &[]) {
        for strand in &test.strands {
            let mut held = Vec::new();
            for step in strand {
                assert!(held.is_empty() || !step.call.ends_with(".read()"), "{}", test.calls());
                held.extend(step.keeps.as_ref().map(|kept| kept.name.clone()));
                held.retain(|name| step.ends.as_ref() != Some(name));
            }
        }
    }
}

const INTERNER: &str = "
static ALL: Mutex<Vec<usize>> = Mutex::new(Vec::new());
pub struct Name<T> { at: usize, of: T }
impl<T> Name<T> {
    pub fn new(word: T) -> Name<T> { todo!() }
    pub fn users(&self) -> usize { todo!() }
}
";

#[test]
fn strands_make_objects_where_a_static_may_bring_them_together() {
    let makes = |test: &Test| test.strands.iter().flatten().any(|step| step.name == "Name::new");
    let tests = generate(&read(&[("src/lib.rs", INTERNER)]), &["Name"]);
    let made: Vec<&Test> = tests.iter().filter(|test| makes(test)).collect();
    assert!(made.len() >= 5, "{}", made.len());
    // The same values find each other.
    for test in &made {
        let step = test.strands.iter().flatten().find(|step| step.name == "Name::new").expect("a step");
        assert!(test.make[0].contains(&step.call), "{} {:?}", step.call, test.make);
    }
    let alone = INTERNER.replace("static ALL", "const NONE");
    assert!(!generate(&read(&[("src/lib.rs", &alone)]), &["Name"]).iter().any(makes));
}

const BAG: &str = "
pub struct Bag<T>(Vec<T>);
impl<T> Bag<T> {
    pub fn new() -> Bag<T> { todo!() }
    pub fn put(&self, item: T) { todo!() }
    pub fn take(&self) -> Option<T> { todo!() }
    pub fn clear(&self) { todo!() }
}
";

#[test]
fn further_tests_are_other_ones_and_do_more() {
    let api = read(&[("src/lib.rs", BAG)]);
    let mut drawn = Drawn::default();
    let mut round = |round: u64| {
        let limits = Limits { max: 40, round, ..Limits::default() };
        rust::generate(&api, &Recipes::default(), &limits, &mut drawn).0
    };
    let (first, second) = (round(0), round(1));
    assert!(first.len() >= 30 && second.len() >= 30, "{} {}", first.len(), second.len());
    let numbers: Vec<u32> = first.iter().chain(&second).map(|test| test.number).collect();
    assert!(numbers.is_sorted() && numbers.windows(2).all(|two| two[0] != two[1]), "{numbers:?}");
    // Much is given, and most of it taken, while others are under way.
    let tides = |tests: &[Test]| {
        let taken =
            |test: &&Test| test.strands.iter().flatten().any(|step| step.name.contains("Bag::take ("));
        tests.iter().filter(taken).count()
    };
    assert_eq!(tides(&first), 0);
    assert!(tides(&second) >= 3, "{}", tides(&second));
}
