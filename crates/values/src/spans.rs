//! Where functions touch variables: the lines that would have to be one step, if all that they do to these variables had to be.
//!
//! A block that failing runs break is a strand's side of a mistake, and may be a part of it: who writes a pair in two steps and who reads it in two
//! steps have to be atomic both, and what is checked in one function may be changed in another. So of some runs every access to a
//! variable is kept with the lines of the functions around it. What a strand does before it creates or joins others is apart from what it does after that.

use crate::places::Program;
use crate::recording::{Access, Recording};
use rustc_hash::FxHashMap as HashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Passing runs, and failing ones, that are looked at, and accesses of each.
const RUNS: usize = 24;
const MOST: usize = 2000;

/// Lines of a function.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The file, as it is shown.
    pub file: String,
    /// First and last line.
    pub lines: (u32, u32),
    /// The function.
    pub function: String,
}

/// Which of the functions around accesses is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The innermost ones with more than one access.
    Inner,
    /// The ones around these that have more accesses.
    Outer,
    /// The innermost ones with all accesses of the strand.
    Whole,
}

/// A function around an access: its activation, which it is of those that were put into each other, and its number.
type Node = (u32, usize, usize);

/// An access to a variable, seen from each function around it.
#[derive(Clone, Debug)]
struct Touch {
    strand: u16,
    /// How many strands its strand has created and joined.
    part: u32,
    /// None if it has no name.
    variable: Option<usize>,
    /// Outermost first: the function and the line.
    around: Vec<(Node, u32)>,
}

/// What runs showed.
#[derive(Debug, Default)]
pub struct Spans {
    runs: Vec<Vec<Touch>>,
    taken: [usize; 2],
    functions: Vec<(String, String)>,
    numbers: HashMap<(String, String), usize>,
    /// Of the variables that were touched.
    names: HashMap<usize, String>,
}

/// What a function has to do with some variables in one run.
struct Inside {
    function: usize,
    lines: (u32, u32),
    accesses: usize,
    depth: usize,
}

impl Spans {
    /// Takes a run, if not enough of its sort were taken.
    pub fn take(&mut self, program: &mut Program, run: &Recording, failed: bool) {
        let taken = &mut self.taken[usize::from(failed)];
        if *taken >= RUNS {
            return;
        }
        *taken += 1;
        let spots = program.spots(run);
        let mut touches = Vec::new();
        let parts = run.parts();
        for (number, (access, spot)) in run.accesses.iter().zip(spots).enumerate().take(MOST) {
            if access.goes_on {
                continue;
            }
            if let Ok(variable) = spot {
                self.names.entry(variable).or_insert_with(|| program.location(variable).name.clone());
            }
            let around = self.around(program, run, access);
            touches.push(Touch { strand: access.strand, part: parts[number], variable: spot.ok(), around });
        }
        self.runs.push(touches);
    }

    fn around(&mut self, program: &mut Program, run: &Recording, access: &Access) -> Vec<(Node, u32)> {
        let mut steps = Vec::new();
        let (mut activation, mut pc) = (access.activation, access.pc);
        loop {
            let it = run.activations[activation as usize];
            for (level, function) in program.chain(pc).iter().enumerate().rev().filter(|(_, level)| level.own)
            {
                let key = (function.file.clone(), function.function.clone());
                let next = self.functions.len();
                let number = *self.numbers.entry(key.clone()).or_insert(next);
                if number == next {
                    self.functions.push(key);
                }
                steps.push(((activation, level, number), function.line));
            }
            pc = it.call;
            let Some(parent) = it.parent else { break };
            activation = parent;
        }
        steps.reverse();
        steps
    }

    /// The lines of functions that touch variables with these names, and of what is in them.
    pub fn of(&self, names: &BTreeSet<String>, reach: Reach) -> Vec<Span> {
        let is_named = |touch: &Touch| {
            let Some(name) = touch.variable.and_then(|variable| self.names.get(&variable)) else {
                return false;
            };
            names.iter().any(|of| {
                name.strip_prefix(of.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
            })
        };
        self.those(is_named, reach)
    }

    /// The lines of all functions that touch what strands share, whether it has a name or not.
    pub fn all(&self, reach: Reach) -> Vec<Span> {
        self.those(|_| true, reach)
    }

    fn those(&self, counts: impl Fn(&Touch) -> bool, reach: Reach) -> Vec<Span> {
        let mut spans: BTreeMap<(usize, u32), (u32, u32)> = BTreeMap::new();
        for run in &self.runs {
            let mut strands: BTreeMap<(u16, u32), Vec<&Touch>> = BTreeMap::new();
            for touch in run.iter().filter(|touch| counts(touch)) {
                strands.entry((touch.strand, touch.part)).or_default().push(touch);
            }
            for ((_, part), touches) in strands {
                for inside in wanted(&touches, reach) {
                    let lines = spans.entry((inside.function, part)).or_insert(inside.lines);
                    *lines = (lines.0.min(inside.lines.0), lines.1.max(inside.lines.1));
                }
            }
        }
        let mut list: Vec<Span> = Vec::new();
        for ((function, _), lines) in spans {
            let (file, function) = self.functions[function].clone();
            list.push(Span { file, lines, function });
        }
        list.sort();
        list.dedup();
        list
    }
}

/// The functions of a strand's accesses that are meant.
fn wanted(touches: &[&Touch], reach: Reach) -> Vec<Inside> {
    let mut inside: BTreeMap<Node, Inside> = BTreeMap::new();
    for touch in touches {
        for (depth, &(node, line)) in touch.around.iter().enumerate() {
            let fresh = Inside { function: node.2, lines: (line, line), accesses: 0, depth };
            let it = inside.entry(node).or_insert(fresh);
            it.accesses += 1;
            it.lines = (it.lines.0.min(line), it.lines.1.max(line));
        }
    }
    let meant: BTreeSet<Node> = match reach {
        Reach::Whole => {
            let all = inside.iter().filter(|(_, it)| it.accesses == touches.len() && it.accesses > 1);
            all.max_by_key(|(_, it)| it.depth).map(|(node, _)| *node).into_iter().collect()
        }
        Reach::Inner | Reach::Outer => {
            let around = touches.iter().filter_map(|touch| {
                let wider = |than: usize| {
                    let found = touch.around.iter().rev().find(|(node, _)| inside[node].accesses > than);
                    found.map(|(node, _)| *node)
                };
                let inner = wider(1)?;
                if reach == Reach::Inner {
                    Some(inner)
                } else {
                    wider(inside[&inner].accesses).or(Some(inner))
                }
            });
            around.collect()
        }
    };
    inside.into_iter().filter(|(node, _)| meant.contains(node)).map(|(_, it)| it).collect()
}
