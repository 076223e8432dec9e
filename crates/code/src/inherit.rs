//! Locks that whoever calls a function surely holds.
//!
//! A function that is only ever called directly inherits what all its calls have in common, in its own terms: a lock of the caller's
//! is a global, or lies at a fixed distance from an argument. Where strands begin, where pointers or other modules may call, nothing is held.

use crate::address::{Address, Root};
use crate::code::Code;
use crate::function::{Callee, Held};
use crate::order;

/// Adds inherited locks to all accesses and calls.
pub(crate) fn locks(code: &mut Code) {
    let count = code.functions.len();
    let mut calls = vec![Vec::new(); count];
    let mut callers: Vec<Vec<(usize, usize)>> = vec![Vec::new(); count];
    for (at, function) in code.functions.iter().enumerate() {
        for (number, call) in function.calls.iter().enumerate() {
            if let Callee::Function(callee) = call.callee {
                calls[at].push(callee);
                callers[callee].push((at, number));
            }
        }
    }
    let mut open = vec![false; count];
    for (at, function) in code.functions.iter().enumerate() {
        open[at] = function.taken || callers[at].is_empty();
    }
    for &entry in &code.entries {
        open[entry] = true;
    }
    let mut inherited: Vec<Vec<Held>> = vec![Vec::new(); count];
    for members in order::components(&calls).into_iter().rev() {
        // A function that calls itself would have to hold them at its own calls, too.
        let alone = members.len() == 1 && !calls[members[0]].contains(&members[0]);
        let at = members[0];
        if !alone || open[at] {
            continue;
        }
        let mut common: Option<Vec<Held>> = None;
        for &(caller, number) in &callers[at] {
            let call = &code.functions[caller].calls[number];
            let held =
                call.locks.iter().filter_map(|held| in_callee(held, &call.arguments)).collect::<Vec<_>>();
            common = Some(match common {
                None => held,
                Some(common) => common
                    .into_iter()
                    .filter_map(|known| {
                        let other = held.iter().find(|held| held.lock == known.lock)?;
                        Some(Held { shared: known.shared || other.shared, ..known })
                    })
                    .collect(),
            });
        }
        let common = common.unwrap_or_default();
        if common.is_empty() {
            continue;
        }
        let function = &mut code.functions[at];
        for access in &mut function.accesses {
            add(&mut access.locks, &common, Some(&access.address));
        }
        for call in &mut function.calls {
            add(&mut call.locks, &common, None);
        }
        inherited[at] = common;
    }
}

fn add(locks: &mut Vec<Held>, inherited: &[Held], access: Option<&Address>) {
    for held in inherited {
        if locks.iter().any(|known| known.lock == held.lock) {
            continue;
        }
        let distance = access.filter(|access| access.root == held.lock.root && access.stride == 0);
        let distance = distance.map(|access| held.lock.offset.wrapping_sub(access.offset));
        locks.push(Held { distance, ..held.clone() });
    }
}

/// A lock of the caller's in terms of the callee.
fn in_callee(held: &Held, arguments: &[Address]) -> Option<Held> {
    if held.lock.stride != 0 {
        return None;
    }
    let lock = match &held.lock.root {
        Root::Global | Root::Import(_) => held.lock.clone(),
        root if is_one(root) => {
            let (number, argument) = arguments
                .iter()
                .enumerate()
                .find(|(_, argument)| argument.root == *root && argument.stride == 0)?;
            let offset = held.lock.offset.wrapping_sub(argument.offset);
            Address { root: Root::Argument(u8::try_from(number).ok()?), offset, stride: 0 }
        }
        _ => return None,
    };
    Some(Held { lock, shared: held.shared, since: 0, distance: None, own: false, hidden: false })
}

/// Whether an expression stands for one value only, so that two of the same text are the same address.
fn is_one(root: &Root) -> bool {
    match root {
        Root::Argument(_) | Root::Stack | Root::Allocated { .. } | Root::Returned { .. } => true,
        Root::Loaded { from, .. } => from.stride == 0 && is_one_or_global(&from.root),
        _ => false,
    }
}

fn is_one_or_global(root: &Root) -> bool {
    matches!(root, Root::Global | Root::Import(_) | Root::ThreadLocal) || is_one(root)
}
