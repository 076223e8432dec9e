//! The tasks of free runs in a job's shared memory: what the campaign has covered goes in before a run, and comes back with
//! what the run has added.

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

/// Which functions are a library's, found out when there are new ones.
#[derive(Debug, Default)]
pub(crate) struct Libraries {
    /// Functions and events at the last look.
    looked: (usize, usize),
    marks: HashMap<u64, u32>,
}

impl Libraries {
    /// Marks the functions that are not asked for: what a library does counts for its caller. One that the compiler has put
    /// the program's own code into, as it does with what a strand is started with, is asked for by that; `events` are
    /// instructions, and `wants` knows of one, as `covers` of a function, whether it is the program's own.
    pub(crate) fn mark(
        &mut self,
        seen: &mut Seen,
        events: &[u64],
        modules: &[Module],
        covers: impl Fn(u64) -> bool,
        mut wants: impl FnMut(u64) -> bool,
    ) {
        let now = (seen.functions.len(), events.len());
        if self.looked != now {
            self.looked = now;
            let functions = || seen.functions.iter().map(|function| function.pc);
            for pc in functions() {
                self.marks.entry(pc).or_insert_with(|| if covers(pc) { 0 } else { marks::LIBRARY });
            }
            let around = Around::new(functions(), modules);
            for &event in events {
                let library = around.function(event).and_then(|function| self.marks.get_mut(&function));
                if let Some(has) = library.filter(|has| **has == marks::LIBRARY)
                    && wants(event)
                {
                    *has |= marks::HOST;
                }
            }
        }
        for function in &mut seen.functions {
            function.marks |= self.marks.get(&function.pc).copied().unwrap_or(0);
        }
    }
}

/// Leads from instructions to the functions they are in.
#[derive(Debug)]
pub struct Around<'a> {
    functions: Vec<u64>,
    modules: &'a [Module],
}

impl Around<'_> {
    /// Of these functions, by a pc near the beginning of each.
    pub fn new(functions: impl Iterator<Item = u64>, modules: &[Module]) -> Around<'_> {
        let mut functions: Vec<u64> = functions.collect();
        functions.sort_unstable();
        Around { functions, modules }
    }

    /// The function an instruction is in: the last one that begins before it, in the same module.
    pub fn function(&self, pc: u64) -> Option<u64> {
        let before = self.functions.partition_point(|&function| function <= pc).checked_sub(1)?;
        let found = self.functions[before];
        let module = self.modules.iter().find(|module| pc.wrapping_sub(module.base) < module.size)?;
        (found.wrapping_sub(module.base) < module.size).then_some(found)
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

    #[test]
    fn a_library_that_has_own_code_in_it_is_asked_for() {
        let module = |base, size| Module { base, size, path: String::new() };
        let modules = [module(0x1000, 0x1000), module(0x8000, 0x1000)];
        let mut seen =
            Seen { functions: [0x1100, 0x1200, 0x1300].map(|pc| function(pc, 0)).into(), ..Seen::default() };
        let mut libraries = Libraries::default();
        // The second and the third are a library's; the second has own code in it. Code of another module is in none.
        let own = |pc: u64| pc == 0x1100 || pc == 0x1240 || pc == 0x8010;
        libraries.mark(&mut seen, &[0x1110, 0x1210, 0x1240, 0x1310, 0x8010, 0x10], &modules, own, own);
        let marks = |seen: &Seen| seen.functions.iter().map(|it| it.marks).collect::<Vec<_>>();
        assert_eq!(marks(&seen), [0, marks::LIBRARY | marks::HOST, marks::LIBRARY]);
        assert_eq!(seen.functions.iter().filter(|it| it.is_asked_for()).count(), 2);
        // Nothing is asked where nothing is new.
        let before = marks(&seen);
        let never = |_| panic!("asked again");
        libraries.mark(&mut seen, &[0; 6], &modules, never, never);
        assert_eq!(marks(&seen), before);
    }
}
