//! Cousins of ConTest's six experiments, made by chance: the noise of free runs must not know its test programs.
//!
//! Each [`Variant`] keeps an experiment's mistake and draws the rest: how much is done before, after and inside of it (up to 3,000 accesses
//! to memory that the strands share, or work of a strand's own), in which form and in which function; what the state is (plain, atomic, each access under a
//! lock of some kind), where it lies, through what it is reached, and how many strands there are. All variants of a language are one
//! source file, and the program's argument says which one it is to be.

mod c;
mod rust;

use crate::corpus::Language;
use threadbare_strategy::rng::Rng;

/// The seed of the variants that figures are told of, and how many of each experiment there are.
pub const SEED: u64 = 13;
/// See [`SEED`].
pub const OF_EACH: usize = 11;

/// The six experiments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Experiment {
    /// Who sees the flag claims it, and takes it away afterwards.
    Flag,
    /// Money is in no account while it is moved.
    Money,
    /// Those that wait are told before what they are told of is there.
    Notify,
    /// A strand's parameter is set after the strand was started.
    Parameter,
    /// All take the left fork first.
    Philosophers,
    /// A connection is used after the look whether it is there.
    Worker,
}

/// All experiments, in the paper's order.
pub const EXPERIMENTS: [Experiment; 6] = [
    Experiment::Flag,
    Experiment::Money,
    Experiment::Notify,
    Experiment::Parameter,
    Experiment::Philosophers,
    Experiment::Worker,
];

impl Experiment {
    /// As in names of variants.
    pub fn name(self) -> &'static str {
        match self {
            Experiment::Flag => "flag",
            Experiment::Money => "money",
            Experiment::Notify => "notify",
            Experiment::Parameter => "parameter",
            Experiment::Philosophers => "philosophers",
            Experiment::Worker => "worker",
        }
    }
}

/// What the state's cells are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cell {
    /// Plain memory.
    Plain,
    /// Atomic, sequentially consistent.
    Atomic,
    /// Atomic, relaxed.
    Relaxed,
    /// Each access takes a mutex.
    Mutex,
    /// Each access takes a lock for readers or writers.
    ReadWrite,
    /// Each access takes a spin lock; in Rust the program's own.
    Spin,
}

/// How cells are reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Through {
    /// A macro.
    Macro,
    /// A function that the compiler puts in place.
    Inline,
    /// A call.
    Call,
}

/// What busy work does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// Plain memory that all strands change.
    Shared,
    /// Counters that all strands change, atomically.
    Counters,
    /// Under a lock that all strands take.
    Locked,
    /// Memory of the strand's own.
    Private,
}

/// Busy work at one of the places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Busy {
    /// Accesses.
    pub accesses: u32,
    /// What is accessed.
    pub work: Work,
    /// In a function of its own.
    pub apart: bool,
}

/// A cousin of an experiment.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Its number, which is the program's argument.
    pub number: usize,
    /// Whose mistake it has.
    pub experiment: Experiment,
    /// Its language.
    pub language: Language,
    /// The state's cells; of the philosophers, the forks.
    pub cell: Cell,
    /// How they are reached.
    pub through: Through,
    /// They are on the heap.
    pub heap: bool,
    /// Strands beside the main one.
    pub strands: u32,
    /// Work before the mistake, in the middle, and after it.
    pub busy: [Busy; 3],
}

impl Variant {
    /// What was drawn, in a line.
    pub fn describe(&self) -> String {
        let busy = self.busy.map(|busy| match busy.accesses {
            0 => "-".to_owned(),
            accesses => format!("{accesses} {:?}{}", busy.work, if busy.apart { " apart" } else { "" }),
        });
        let text = format!(
            "{} {:?} {:?} {:?} {} strands {}, busy {}",
            self.experiment.name(),
            self.language,
            self.cell,
            self.through,
            self.strands,
            if self.heap { "heap" } else { "global" },
            busy.join(" / "),
        );
        text.to_lowercase()
    }
}

/// So many variants of each experiment, three fifths of them C, the others C++ and Rust in turn.
pub fn variants(of_each: usize, seed: u64) -> Vec<Variant> {
    let mut rng = Rng::new(seed);
    let languages = [Language::C, Language::Cxx, Language::C, Language::Rust, Language::C];
    let mut all = Vec::new();
    for experiment in EXPERIMENTS {
        for at in 0..of_each {
            let language = languages[at % languages.len()];
            all.push(drawn(&mut rng, all.len(), experiment, language));
        }
    }
    all
}

fn one_of<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[(rng.next() % of.len() as u64) as usize]
}

fn drawn(rng: &mut Rng, number: usize, experiment: Experiment, language: Language) -> Variant {
    let is_fork = experiment == Experiment::Philosophers;
    let cell = match is_fork {
        // Nobody knows who has a spin lock of the program's own: such a deadlock ends by a timeout.
        true if language == Language::Rust => one_of(rng, &[Cell::Mutex, Cell::ReadWrite]),
        true => one_of(rng, &[Cell::Mutex, Cell::ReadWrite, Cell::Spin]),
        false => one_of(
            rng,
            &[
                Cell::Plain,
                Cell::Plain,
                Cell::Atomic,
                Cell::Relaxed,
                Cell::Mutex,
                Cell::ReadWrite,
                Cell::Spin,
            ],
        ),
    };
    let strands = match experiment {
        Experiment::Notify => one_of(rng, &[1, 2, 4, 7]),
        _ => one_of(rng, &[2, 3, 5, 8]),
    };
    let mut busy = || Busy {
        accesses: one_of(rng, &[0, 0, 20, 200, 2000, 3000]),
        work: one_of(rng, &[Work::Shared, Work::Shared, Work::Counters, Work::Locked, Work::Private]),
        apart: rng.next() & 1 == 0,
    };
    let busy = [busy(), busy(), busy()];
    let through = one_of(rng, &[Through::Macro, Through::Inline, Through::Call]);
    Variant { number, experiment, language, cell, through, heap: rng.next() & 1 == 0, strands, busy }
}

/// The source of all variants of a language.
pub fn source(variants: &[Variant], language: Language) -> String {
    let of_it: Vec<&Variant> = variants.iter().filter(|variant| variant.language == language).collect();
    match language {
        Language::Rust => rust::source(&of_it),
        _ => c::source(&of_it, language),
    }
}

/// The options of the compiler, beside those of every program.
pub fn flags(language: Language) -> &'static [&'static str] {
    match language {
        Language::C => &["-O1", "-pthread"],
        Language::Cxx => &["-O1", "-std=c++20", "-pthread"],
        Language::Rust => &["-O", "--edition", "2024"],
    }
}

/// Puts words in the place of `$names`.
fn filled(text: &str, words: &[(&str, String)]) -> String {
    words.iter().fold(text.to_owned(), |text, (name, word)| text.replace(&format!("${name}"), word))
}
