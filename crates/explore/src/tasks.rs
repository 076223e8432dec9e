//! The tasks of free runs in a job's shared memory: what the campaign has covered goes in before a run, and comes back with
//! what the run has added.

use crate::mode::free::Quiet;
use crate::shm::{SharedMemory, TaskRow};
use std::collections::HashMap;
use threadbare_abi::tasks::{FUNCTIONS, marks};
use threadbare_coverage::tasks::{Function, Seen};
use threadbare_trace::report::Module;

const BITS: usize = u64::BITS as usize;

/// Sets what is covered so far. What an earlier run left behind is gone.
pub(crate) fn write(memory: &SharedMemory, seen: &Seen) {
    let fit = seen.functions.len().min(FUNCTIONS);
    let used = memory.functions().0.max(fit);
    let mut rows = vec![TaskRow { pairs: vec![0; used.div_ceil(BITS)], ..TaskRow::default() }; used];
    for (row, function) in rows.iter_mut().zip(&seen.functions) {
        (row.pc, row.strand, row.marks) = (function.pc, function.strand, function.marks);
    }
    for (first, second) in seen.pairs.iter().map(|&(first, second)| (usize::from(first), usize::from(second)))
    {
        if first < fit && second < fit {
            rows[first].pairs[second / BITS] |= 1 << (second % BITS);
        }
    }
    for (function, row) in rows.iter().enumerate() {
        memory.set_task_row(function, row);
    }
    memory.set_functions(fit);
}

/// What is covered now. A function that is there twice counts once.
pub(crate) fn read(memory: &SharedMemory) -> Seen {
    let (count, all) = memory.functions();
    let mut seen = Seen { lost: all - count as u64, ..Seen::default() };
    let mut places: HashMap<u64, u16> = HashMap::new();
    let rows: Vec<TaskRow> =
        (0..count).map(|function| memory.task_row(function, count.div_ceil(BITS))).collect();
    // A strand that was killed may have taken a number and left its place empty.
    let numbers: Vec<Option<u16>> = rows
        .iter()
        .map(|row| {
            (row.pc != 0).then(|| {
                *places.entry(row.pc).or_insert_with(|| {
                    seen.functions.push(Function { pc: row.pc, marks: 0, strand: row.strand });
                    (seen.functions.len() - 1) as u16
                })
            })
        })
        .collect();
    for (row, number) in rows.iter().zip(&numbers) {
        let Some(first) = *number else { continue };
        seen.functions[usize::from(first)].marks |= row.marks;
        for (word, &bits) in row.pairs.iter().enumerate() {
            let mut left = bits;
            while left != 0 {
                let second = word * BITS + left.trailing_zeros() as usize;
                left &= left - 1;
                seen.pairs.extend(numbers.get(second).copied().flatten().map(|second| (first, second)));
            }
        }
    }
    if places.len() < count {
        seen.pairs.sort_unstable();
        seen.pairs.dedup();
    }
    seen
}

/// Marks the functions that are not asked for, each new one once: what a library does counts for its caller.
pub(crate) fn mark_libraries(
    seen: &mut Seen,
    modules: &[Module],
    quiet: Option<&dyn Quiet>,
    owned: &mut HashMap<u64, bool>,
) {
    let (Some(quiet), false) = (quiet, modules.is_empty()) else { return };
    for function in &mut seen.functions {
        if !*owned.entry(function.pc).or_insert_with(|| quiet.owns(modules, function.pc)) {
            function.marks |= marks::LIBRARY;
        }
    }
}

/// What stays of a run that is none of the campaign's: which functions there are, not what happened to them.
pub(crate) fn known_alone(mut seen: Seen) -> Seen {
    for function in &mut seen.functions {
        function.marks &= !(marks::INTERRUPTED | marks::THROUGH);
    }
    seen.pairs.clear();
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(pc: u64, marks: u32) -> Function {
        Function { pc, marks, strand: pc + 1 }
    }

    #[test]
    fn what_is_written_is_read() {
        let memory = SharedMemory::create().unwrap();
        let many = Seen {
            functions: (1..=200).map(|pc| function(pc, pc as u32)).collect(),
            pairs: vec![(0, 0), (0, 63), (0, 64), (7, 199), (199, 7)],
            lost: 0,
        };
        write(&memory, &many);
        assert_eq!(read(&memory), many);
        // Fewer leave nothing of the others behind.
        let few = Seen { functions: vec![function(9, 1), function(8, 2)], pairs: vec![(1, 0)], lost: 0 };
        write(&memory, &few);
        assert_eq!(read(&memory), few);
        assert_eq!(memory.task_row(199, 4).pairs, [0; 4]);
    }

    #[test]
    fn the_other_side_is_not_trusted() {
        let memory = SharedMemory::create().unwrap();
        memory.set_functions(FUNCTIONS + 3);
        let row = TaskRow { pc: 5, strand: 6, marks: 1, pairs: vec![0b1000_0101] };
        memory.set_task_row(0, &row);
        memory.set_task_row(2, &TaskRow { marks: 2, pairs: vec![1], ..row });
        let seen = read(&memory);
        // The function is there twice, the other places are empty.
        assert_eq!(seen.functions, [Function { pc: 5, marks: 3, strand: 6 }]);
        assert_eq!((seen.pairs, seen.lost), (vec![(0, 0)], 3));
    }
}
