//! Orders of locks in words: what was predicted from them.

use crate::explain::{place_text, variable};
use crate::places::{Places, shown};
use threadbare_abi::op::OpKind;
use threadbare_trace::locks::LockOrder;

/// What to say of a finding that was predicted from a run that passed.
pub fn predicted(run: u64) -> String {
    format!(
        "predicted from run {run}, which passed: strands took these locks in opposite orders; the schedule is that of a run directed to it"
    )
}

/// A cycle of locks that was tried so many times and did not deadlock. `None` where a lock was only tried for, so that
/// nobody would have waited: a lock that is a word of the program's own looks the same then.
pub fn unproved(cycle: &[LockOrder], tries: u64, places: &dyn Places) -> Option<String> {
    if cycle.iter().any(|order| only_tries(order, places)) {
        return None;
    }
    let mut locks: Vec<String> = Vec::new();
    let mut taken: Vec<String> = Vec::new();
    for order in cycle {
        locks.push(lock_name(order, places));
        if let Some(place) = place_of(order.pc, &order.callers, places)
            && !taken.contains(&place)
        {
            taken.push(place);
        }
    }
    let how = if cycle.len() == 2 { "are taken in both orders" } else { "are taken in a circle" };
    let tried = if tries == 1 { "1 try".to_owned() } else { format!("{tries} tries") };
    Some(format!("locks {} {how} ({}); {tried} did not deadlock", listed(&locks), taken.join(", ")))
}

fn only_tries(order: &LockOrder, places: &dyn Places) -> bool {
    let mut frames = std::iter::once(&order.pc).chain(&order.callers).flat_map(|&pc| places.at(pc));
    let is_try = |function: &str| function.rsplit("::").next().is_some_and(|name| name.starts_with("try_"));
    frames.any(|place| place.library && place.function.as_deref().is_some_and(is_try))
}

fn lock_name(order: &LockOrder, places: &dyn Places) -> String {
    let name = variable(OpKind::MutexLock, order.held, places);
    if !name.starts_with("0x") {
        return format!("`{name}`");
    }
    match place_of(order.held_pc, &order.held_callers, places).filter(|_| order.held_pc != 0) {
        Some(place) => format!("the one of {place}"),
        None => format!("at {name}"),
    }
}

/// The program's own place that an address was come to from.
fn place_of(pc: u64, callers: &[u64], places: &dyn Places) -> Option<String> {
    let frames: Vec<_> = std::iter::once(&pc).chain(callers).flat_map(|&pc| places.at(pc)).collect();
    shown(&frames).map(place_text)
}

fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::NoPlaces;

    #[test]
    fn a_cycle_is_told_in_one_line() {
        let order = |held, taken, pc| LockOrder { held, taken, pc, ..LockOrder::default() };
        let two = [order(0x10, 0x20, 1), order(0x20, 0x10, 2)];
        assert_eq!(
            unproved(&two, 20, &NoPlaces).unwrap(),
            "locks at 0x10 and at 0x20 are taken in both orders (0x1, 0x2); 20 tries did not deadlock"
        );
        let three = [order(0x10, 0x20, 1), order(0x20, 0x30, 1), order(0x30, 0x10, 1)];
        assert_eq!(
            unproved(&three, 1, &NoPlaces).unwrap(),
            "locks at 0x10, at 0x20 and at 0x30 are taken in a circle (0x1); 1 try did not deadlock"
        );
    }
}
