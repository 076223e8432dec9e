//! Which iroots a run showed.

use crate::iroot::{Does, Iroot};
use crate::local::{Local, grains};
use crate::predict::Limits;
use crate::run::{Access, RunAccesses};
use std::collections::{BTreeSet, HashMap, HashSet};

/// A dependency: two accesses by their place in the run.
type Dependency = (usize, usize);

/// The latest access of a strand to bytes of a grain since the last write to them, that write among them.
#[derive(Clone, Copy, Debug)]
struct Latest {
    strand: u32,
    at: usize,
    mask: u8,
}

/// The bytes of an access within a grain.
fn mask(access: &Access, grain: u64) -> u8 {
    let base = grain * crate::local::GRAIN;
    let from = access.start.max(base) - base;
    let to = access.end.min(base + crate::local::GRAIN) - base;
    (from..to).fold(0, |mask, bit| mask | 1 << bit)
}

/// The dependencies of a run, in the order of their second accesses.
pub fn dependencies(run: &RunAccesses) -> Vec<Dependency> {
    let mut found = Vec::new();
    let mut memory: HashMap<u64, Vec<Latest>> = HashMap::new();
    let mut unlocked: HashMap<u64, usize> = HashMap::new();
    for (at, access) in run.accesses.iter().enumerate() {
        match access.does {
            Does::Unlock => {
                unlocked.insert(access.start, at);
                continue;
            }
            Does::Lock => {
                if let Some(&before) = unlocked.get(&access.start)
                    && run.accesses[before].strand != access.strand
                {
                    found.push((before, at));
                }
                continue;
            }
            _ => {}
        }
        let mut sources: Vec<usize> = Vec::new();
        for (_, grain) in grains(access) {
            let bytes = mask(access, grain);
            let list = memory.entry(grain).or_default();
            for latest in list.iter().filter(|latest| latest.strand != access.strand) {
                // What the strand itself has touched since then does not depend on it.
                let own = list.iter().filter(|own| own.strand == access.strand && own.at > latest.at);
                let touched = own.fold(0, |mask, own| mask | own.mask);
                let depends = run.accesses[latest.at].does.then(access.does);
                if depends && latest.mask & bytes & !touched != 0 && !sources.contains(&latest.at) {
                    sources.push(latest.at);
                }
            }
            let writes = access.does.writes();
            for latest in list.iter_mut().filter(|latest| writes || latest.strand == access.strand) {
                latest.mask &= !bytes;
            }
            list.retain(|latest| latest.mask != 0);
            list.push(Latest { strand: access.strand, at, mask: bytes });
        }
        found.extend(sources.into_iter().map(|source| (source, at)));
    }
    found
}

/// The iroots that a run showed.
pub fn shown(run: &RunAccesses, limits: &Limits) -> BTreeSet<Iroot> {
    let dependencies = dependencies(run);
    let local = Local::of(run, limits.window);
    let mut iroots = BTreeSet::new();
    let event = |at: usize| run.accesses[at].event();
    let sync = |at: usize| run.accesses[at].does.is_sync();
    for &(first, second) in &dependencies {
        iroots.insert(Iroot::new(1, &[event(first), event(second)]));
    }
    let mut into: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut out: HashMap<usize, Vec<usize>> = HashMap::new();
    for &(first, second) in dependencies.iter().filter(|(first, _)| !sync(*first)) {
        into.entry(second).or_default().push(first);
        out.entry(first).or_default().push(second);
    }
    let none = Vec::new();
    let outs = |at: usize| out.get(&at).unwrap_or(&none);
    let ins = |at: usize| into.get(&at).unwrap_or(&none);
    let strand = |at: usize| run.accesses[at].strand;
    for pair in &local.same {
        for &e1 in outs(pair.first) {
            for &last in ins(pair.second).iter().filter(|&&last| strand(last) == strand(e1)) {
                let events = [event(pair.first), event(e1), event(last), event(pair.second)];
                if last == e1 {
                    iroots.insert(Iroot::new(2, &[events[0], events[1], events[3]]));
                } else if local.prev[last] == Some(e1) {
                    iroots.insert(Iroot::new(3, &events));
                }
            }
        }
    }
    let pairs: HashSet<(usize, usize)> = local.other.iter().map(|pair| (pair.first, pair.second)).collect();
    for pair in &local.other {
        if iroots.len() >= limits.most {
            break;
        }
        for &e1 in outs(pair.first) {
            for &e2 in ins(pair.second).iter().filter(|&&e2| strand(e2) == strand(e1)) {
                let events = [event(pair.first), event(e1), event(e2), event(pair.second)];
                if pairs.contains(&(e1, e2)) {
                    iroots.insert(Iroot::new(4, &events));
                } else if pairs.contains(&(e2, e1)) {
                    iroots.insert(Iroot::new(5, &events));
                }
            }
        }
    }
    iroots.extend(deadlocked(run));
    iroots
}

/// Instances of idiom 6: two strands that have what the other wants.
fn deadlocked(run: &RunAccesses) -> Vec<Iroot> {
    // Where each lock was last taken, while it is.
    let mut taken: HashMap<u64, &Access> = HashMap::new();
    for access in run.accesses.iter().filter(|access| access.does.is_sync()) {
        match access.does {
            Does::Lock => taken.insert(access.start, access),
            _ => taken.remove(&access.start),
        };
    }
    let mut found = Vec::new();
    for one in &run.wants {
        for other in run.wants.iter().filter(|other| other.strand > one.strand) {
            if let (Some(theirs), Some(ours)) = (taken.get(&one.lock), taken.get(&other.lock))
                && theirs.strand == other.strand
                && ours.strand == one.strand
            {
                let wants = |place| crate::PlaceEvent { place, does: Does::Lock };
                let events = [ours.event(), wants(other.place), theirs.event(), wants(one.place)];
                found.push(Iroot::new(6, &events));
            }
        }
    }
    found
}
