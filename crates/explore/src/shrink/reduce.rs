//! Delta debugging over the stretches of a schedule.
//!
//! Each candidate is the best plan so far with something left out: preemptions (the strand goes on instead), stretches
//! (the strand comes later by itself), or with two neighbours in the other order. Large pieces are tried first. What the
//! run that comes of it really did is the next plan, so that a plan always fits.

use super::plan::{Plan, Stretch};
use super::trial::{Halt, Made, Trials};
use threadbare_abi::strand::{StrandId, StrandPath};

/// Makes the best run smaller until nothing that is tried makes it smaller. On an error the best run stays what it is.
pub(crate) fn reduce(trials: &mut Trials<'_>, best: &mut Made) -> Result<(), Halt> {
    attempt(trials, best, &Plan::default())?;
    cycles(trials, best)?;
    loop {
        let before = best.shape;
        pieces(
            trials,
            best,
            |plan| plan.stale().len(),
            |plan, from, to| plan.without_stale(&plan.stale()[from..to]),
        )?;
        pieces(trials, best, |plan| plan.faults().len(), |plan, from, to| plan.without_faults(from..to))?;
        cut_off(trials, best)?;
        pieces(
            trials,
            best,
            |plan| plan.preemptions().len(),
            |plan, from, to| plan.without_preemptions(&plan.preemptions()[from..to]),
        )?;
        pieces(
            trials,
            best,
            |plan| plan.stretches.len(),
            |plan, from, to| plan.without(|at, _| (from..to).contains(&at)),
        )?;
        pieces(trials, best, Plan::values, |plan, from, to| plan.with_first_options(from..to))?;
        strands(trials, best)?;
        neighbours(trials, best)?;
        if best.shape == before {
            moves(trials, best)?;
        }
        if best.shape == before {
            return Ok(());
        }
    }
}

/// Tries a plan; true if it made the best run smaller.
fn attempt(trials: &mut Trials<'_>, best: &mut Made, plan: &Plan) -> Result<bool, Halt> {
    let Some(made) = trials.make_new(plan)? else { return Ok(false) };
    let better = made.facts.is_some() && made.shape < best.shape;
    if better {
        *best = made;
    }
    Ok(better)
}

/// Leaves out the end: what fails, fails by then, or comes by itself. By halves.
fn cut_off(trials: &mut Trials<'_>, best: &mut Made) -> Result<(), Halt> {
    let plan = Plan::of(&best.segments);
    let (mut fails, mut passes) = (plan.stretches.len(), 0);
    while fails > passes + 1 {
        let middle = (fails + passes) / 2;
        let part = plan.without(|at, _| at >= middle);
        let Some(made) = trials.make_new(&part)? else { return Ok(()) };
        if made.facts.is_some() {
            fails = middle;
            if made.shape < best.shape {
                *best = made;
            }
        } else {
            passes = middle;
        }
    }
    Ok(())
}

/// Leaves out pieces of a list, the large ones first.
fn pieces(
    trials: &mut Trials<'_>,
    best: &mut Made,
    count: impl Fn(&Plan) -> usize,
    without: impl Fn(&Plan, usize, usize) -> Plan,
) -> Result<(), Halt> {
    let mut size = count(&Plan::of(&best.segments));
    while size > 0 {
        let mut from = 0;
        loop {
            let plan = Plan::of(&best.segments);
            let all = count(&plan);
            if from >= all {
                break;
            }
            let to = (from + size).min(all);
            // After a success the next piece has moved to this place.
            if !attempt(trials, best, &without(&plan, from, to))? {
                from = to;
            }
        }
        size /= 2;
    }
    Ok(())
}

/// Leaves out all that a strand does.
fn strands(trials: &mut Trials<'_>, best: &mut Made) -> Result<(), Halt> {
    let plan = Plan::of(&best.segments);
    let mut paths: Vec<u64> = plan.stretches.iter().map(|stretch| stretch.path).collect();
    paths.sort_unstable();
    paths.dedup();
    for path in paths {
        let plan = Plan::of(&best.segments);
        attempt(trials, best, &plan.without(|_, stretch| stretch.path == path))?;
    }
    Ok(())
}

/// Puts neighbours in the other order: two stretches of a strand become one.
fn neighbours(trials: &mut Trials<'_>, best: &mut Made) -> Result<(), Halt> {
    let mut at = 0;
    loop {
        let plan = Plan::of(&best.segments);
        if at + 1 >= plan.stretches.len() {
            return Ok(());
        }
        if !attempt(trials, best, &plan.swapped(at))? {
            at += 1;
        }
    }
}

/// Stretches of a plan at the most for all of them to be tried at other places.
const MOVED: usize = 24;

/// Puts one stretch to another place, and lets its strand go on there: one that is stopped before a lock need not be when
/// somebody else has taken it by then.
fn moves(trials: &mut Trials<'_>, best: &mut Made) -> Result<(), Halt> {
    let plan = Plan::of(&best.segments);
    let count = plan.stretches.len();
    if count > MOVED || best.shape.preemptions == 0 {
        return Ok(());
    }
    for open in [true, false] {
        for from in 0..count {
            for to in (0..count).filter(|to| *to != from) {
                if attempt(trials, best, &plan.moved(from, to, open))? {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

/// Places before which a strand of a cycle is stopped, at the most.
const STOPS: usize = 6;

/// Of strands that wait for each other: one of them is stopped before it takes what it waits for, and the others come in
/// the order in which each finds what it wants taken, so that nobody else need be stopped.
fn cycles(trials: &mut Trials<'_>, best: &mut Made) -> Result<(), Halt> {
    let Some(facts) = &best.facts else { return Ok(()) };
    let path = |strand: u16| best.paths.get(&StrandId(strand)).copied();
    // Who, what it waits for, and who has it.
    let stuck: Vec<(u64, u64, u64)> = facts
        .report
        .strands
        .iter()
        .filter(|strand| strand.stuck)
        .filter_map(|strand| Some((path(strand.index)?, strand.pending?.addr, path(strand.holder?)?)))
        .collect();
    for &(first, wants, _) in &stuck {
        // Each waits for the one before it, the first one for the last.
        let mut chain = vec![first];
        while let Some(&(waiter, ..)) = stuck.iter().find(|(.., holder)| chain.last() == Some(holder))
            && !chain.contains(&waiter)
        {
            chain.push(waiter);
        }
        // The others may have to come to where all begin together.
        let together: Vec<u64> = chain[1..].iter().copied().chain([first]).collect();
        for before in [vec![first], together] {
            let mut plan = Plan::default();
            plan.stretches.push(Stretch::open(StrandPath::MAIN.0));
            plan.stretches.extend(before.into_iter().map(Stretch::open));
            let probe = trials.make(&plan)?;
            let mut stops: Vec<u64> = probe
                .decisions
                .iter()
                .filter(|it| probe.paths.get(&it.strand) == Some(&first) && it.addr == wants)
                .map(|it| it.own)
                .collect();
            stops.dedup();
            for target in stops.into_iter().take(STOPS) {
                let mut plan = plan.clone();
                if let Some(last) = plan.stretches.last_mut() {
                    *last = Stretch { target, stops: true, ..*last };
                }
                plan.stretches.extend(chain[1..].iter().copied().map(Stretch::open));
                if attempt(trials, best, &plan)? {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}
