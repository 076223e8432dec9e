//! From the steps of a run to calls of functions, inlined ones included.
//!
//! A function that the compiler put into another one has no entry that the run tells of: its calls are stretches of steps at its instructions. Where its first instruction comes again, another
//! call begins: that is so where the call is in a loop, and wrong where a loop inside has the first step in it; such a call counts as several.

use crate::run::{Does, RunSteps};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// Who knows in which functions an instruction is.
pub trait Functions {
    /// The functions at a return address, the one that is compiled first, those put into it behind it; none for one that does not count.
    fn chain(&mut self, pc: u64) -> Rc<[Option<u32>]>;
    /// One instruction that stands for all that the compiler made of the same place in the source: copies of a function are the same.
    fn place(&mut self, pc: u64, does: Option<Does>) -> u64;
}

/// A call of a function.
#[derive(Clone, Debug)]
pub struct Call {
    /// The function.
    pub function: u32,
    /// The strand.
    pub strand: u32,
    /// Its steps, by number, those of functions that it calls included.
    pub events: Vec<u32>,
    /// Stands for the places at which it touches what strands share.
    pub path: u64,
    /// Locks that the strand has for itself alone all the time.
    pub guards: Vec<u64>,
}

impl Call {
    /// The first of its steps.
    pub fn first(&self) -> usize {
        self.events[0] as usize
    }

    /// The last of its steps.
    pub fn last(&self) -> usize {
        self.events[self.events.len() - 1] as usize
    }
}

/// The calls of a run.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    /// All of them.
    pub calls: Vec<Call>,
    /// Those that each event is in, the innermost first.
    pub around: Vec<Vec<u32>>,
    /// The place of each event.
    pub places: Vec<u64>,
}

/// A function that was put into another one, under way.
struct Open {
    function: Option<u32>,
    call: Option<u32>,
    /// Its first instruction, and the call it was, if it was one.
    first: (u64, Option<u32>),
}

/// The calls of a run's steps.
pub fn calls(run: &RunSteps, functions: &mut dyn Functions) -> Calls {
    let mut made = Calls::default();
    let mut physical: HashMap<u32, u32> = HashMap::new();
    let mut open: HashMap<u32, Vec<Open>> = HashMap::new();
    for (at, event) in run.events.iter().enumerate() {
        let mut around = Vec::new();
        made.places.push(functions.place(event.pc, event.touches.first().map(|touch| touch.does)));
        let (mut pc, mut inner, mut next) = (event.pc, None, Some(event.activation));
        while let Some(number) = next {
            let activation = run.activations[number as usize];
            let chain = functions.chain(pc);
            let mut here = Vec::new();
            if let Some((first, inlined)) = chain.split_first() {
                if let Some(function) = *first {
                    let call = *physical.entry(number).or_insert_with(|| made.begin(function, event.strand));
                    here.push(call);
                }
                let stack = open.entry(number).or_default();
                for (level, &function) in inlined.iter().enumerate() {
                    // A call that goes on is not another one.
                    let goes_on = stack.get(level).is_some_and(|open: &Open| {
                        let again = open.first.0 == pc && (inner.is_none() || open.first.1 != inner);
                        open.function == function && !again
                    });
                    if !goes_on {
                        stack.truncate(level);
                        let call = function.map(|function| made.begin(function, event.strand));
                        stack.push(Open { function, call, first: (pc, inner) });
                    }
                    here.extend(stack[level].call);
                }
                stack.truncate(inlined.len());
            }
            around.extend(here.into_iter().rev());
            (pc, inner, next) = (activation.call, Some(number), activation.parent);
            if pc == 0 {
                break;
            }
        }
        for &call in &around {
            made.calls[call as usize].events.push(at as u32);
        }
        made.around.push(around);
    }
    for call in &mut made.calls {
        let places = call.events.iter().map(|&at| made.places[at as usize]);
        let first = call.events.first().map(|&at| run.events[at as usize].held.to_vec()).unwrap_or_default();
        let all = |lock: &u64| call.events.iter().all(|&at| run.events[at as usize].held.contains(lock));
        call.guards = first.into_iter().filter(all).collect();
        call.path = places.collect::<BTreeSet<u64>>().into_iter().fold(0xcbf2_9ce4_8422_2325, mix);
    }
    made
}

impl Calls {
    fn begin(&mut self, function: u32, strand: u32) -> u32 {
        self.calls.push(Call { function, strand, events: Vec::new(), path: 0, guards: Vec::new() });
        self.calls.len() as u32 - 1
    }
}

/// One word more into a hash.
fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(7) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
