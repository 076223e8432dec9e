//! Chooses tests among those that are drawn: of several, the one that has the most pairs of calls in different strands that
//! no test before it has.

use crate::{ApiCall, Test};
use std::collections::BTreeSet;

/// The most orders of the calls of a test.
const ORDERS: u64 = 300;
/// Tests drawn for each that is taken.
const DRAWN: usize = 8;
/// Draws in vain before there is taken to be no other test.
const IN_VAIN: usize = 60;

/// How a language tells its tests apart.
pub(crate) trait Tells {
    /// Stands for a test, whatever its payloads are called and whichever strand is the first.
    fn text(&self, test: &Test) -> String;
    /// What a call does, for pairs.
    fn call(&self, step: &ApiCall) -> String;
    /// Of two tests that show as much, the one with less is the better one.
    fn cost(&self, test: &Test) -> usize;
}

/// What was drawn so far: later tests are other ones.
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    covered: BTreeSet<(String, String)>,
    texts: BTreeSet<String>,
}

/// At most `max` tests of those that `draw` gives, each of which calls a function whose name has one of the parts, if there are any.
pub(crate) fn choose(
    max: usize,
    parts: &[String],
    tells: &dyn Tells,
    Drawn { covered, texts }: &mut Drawn,
    draw: &mut dyn FnMut() -> Option<Test>,
) -> Vec<Test> {
    let (mut tests, mut in_vain) = (Vec::new(), 0);
    let before = texts.len();
    while tests.len() < max && in_vain < IN_VAIN {
        let mut best: Option<(usize, Test)> = None;
        for _ in 0..DRAWN {
            let Some(test) = draw() else { continue };
            let is_asked = |name: &str| parts.iter().any(|part| name.contains(part.as_str()));
            let asked = parts.is_empty() || test.functions().iter().any(|name| is_asked(name));
            if !asked || test.orders() > ORDERS || texts.contains(&tells.text(&test)) {
                continue;
            }
            let new = pairs(&test, tells).iter().filter(|pair| !covered.contains(*pair)).count();
            let worth = new * 8 + 16usize.saturating_sub(tells.cost(&test));
            if best.as_ref().is_none_or(|(other, _)| worth > *other) {
                best = Some((worth, test));
            }
        }
        let Some((_, mut test)) = best else {
            in_vain += 1;
            continue;
        };
        in_vain = 0;
        covered.extend(pairs(&test, tells));
        texts.insert(tells.text(&test));
        test.number = u32::try_from(before + tests.len()).unwrap_or(u32::MAX);
        tests.push(test);
    }
    tests
}

/// What different strands do: pairs of calls, and what all strands do together.
fn pairs(test: &Test, tells: &dyn Tells) -> BTreeSet<(String, String)> {
    let strands: Vec<Vec<String>> =
        test.strands.iter().map(|steps| steps.iter().map(|step| tells.call(step)).collect()).collect();
    let mut all: Vec<String> = strands.iter().map(|calls| calls.join(";")).collect();
    all.sort();
    let mut pairs = BTreeSet::from([(all.join("|"), String::new())]);
    for (at, first) in strands.iter().enumerate() {
        for second in &strands[at + 1..] {
            for a in first {
                pairs.extend(second.iter().map(|b| (a.min(b).clone(), a.max(b).clone())));
            }
        }
    }
    pairs
}
