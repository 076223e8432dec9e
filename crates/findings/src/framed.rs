//! Places of one run, which know the variables of functions that strands handed to each other by address.
//!
//! A variable on a stack has its plain name (`account.balance`), as the source has it. Where several frames of a function are known, as of a function that
//! strands run, the strand whose stack it is on goes with it (`done@0.1`). An address that was in several frames in turn has a name only if it is the same in all.

use crate::places::{Place, Places};
use threadbare_abi::strand::StrandId;
use threadbare_trace::report::{Holder, RunReport};
use threadbare_trace::strands::Strands;

/// Places, and what is known of a run's stacks.
pub struct Framed<'a> {
    places: &'a dyn Places,
    strands: Strands,
    holders: &'a [Holder],
}

impl<'a> Framed<'a> {
    /// Of the run that told this.
    pub fn new(places: &'a dyn Places, report: &'a RunReport) -> Framed<'a> {
        Framed { places, strands: Strands::from_report(report), holders: &report.details.holders }
    }

    fn on_stack(&self, addr: u64, size: u64) -> Option<String> {
        let mut names =
            self.holders.iter().filter(|holder| (holder.pointer..holder.address).contains(&addr)).map(
                |holder| {
                    let (name, function) = self.places.local(holder, addr, size)?;
                    let elsewhere = |other: &&Holder| {
                        other.address != holder.address
                            && self.places.at(other.pc).last().and_then(|place| place.function.as_deref())
                                == Some(function.as_str())
                    };
                    match self.holders.iter().any(|other| elsewhere(&other)) {
                        true => Some(format!("{name}@{}", self.strands.name(StrandId(holder.strand)))),
                        false => Some(name),
                    }
                },
            );
        let first = names.next()??;
        names.all(|other| other.as_ref() == Some(&first)).then_some(first)
    }
}

impl Places for Framed<'_> {
    fn at(&self, pc: u64) -> Vec<Place> {
        self.places.at(pc)
    }

    fn own_code(&self, pc: u64) -> Option<Place> {
        self.places.own_code(pc)
    }

    fn has_debug_info(&self, pc: u64) -> bool {
        self.places.has_debug_info(pc)
    }

    fn variable(&self, addr: u64, size: u64) -> Option<String> {
        self.places.variable(addr, size).or_else(|| self.on_stack(addr, size))
    }

    fn local(&self, frame: &Holder, addr: u64, size: u64) -> Option<(String, String)> {
        self.places.local(frame, addr, size)
    }

    fn field(&self, stack: &[u64], block: u64, offset: u64, size: u64) -> Option<String> {
        self.places.field(stack, block, offset, size)
    }

    fn function_at(&self, file: &str, line: u32) -> Option<Place> {
        self.places.function_at(file, line)
    }

    fn source(&self, file: &str, line: u32) -> Option<String> {
        self.places.source(file, line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadbare_trace::report::StrandReport;

    /// `main` goes on at 1, `work` at 2; each has `gate` at the upper end of its frame.
    struct Known;

    impl Places for Known {
        fn at(&self, pc: u64) -> Vec<Place> {
            let function = if pc == 1 { "main" } else { "work" };
            vec![Place { function: Some(function.into()), ..Place::default() }]
        }

        fn variable(&self, _addr: u64, _size: u64) -> Option<String> {
            None
        }

        fn local(&self, frame: &Holder, addr: u64, _size: u64) -> Option<(String, String)> {
            let function = if frame.pc == 1 { "main" } else { "work" };
            (addr >= frame.address - 16).then(|| ("gate".to_owned(), function.to_owned()))
        }

        fn source(&self, _file: &str, _line: u32) -> Option<String> {
            None
        }
    }

    fn holder(strand: u16, pc: u64, address: u64) -> Holder {
        Holder { strand, pc, address, pointer: address - 64 }
    }

    fn names<const N: usize>(holders: Vec<Holder>, addresses: [u64; N]) -> [Option<String>; N] {
        let strand =
            |index: u16| StrandReport { index, ordinal: u32::from(index), ..StrandReport::default() };
        let mut report = RunReport { strands: (0..3).map(strand).collect(), ..RunReport::default() };
        report.details.holders = holders;
        let framed = Framed::new(&Known, &report);
        addresses.map(|addr| framed.variable(addr, 1))
    }

    #[test]
    fn a_variable_of_a_frame_has_its_name() {
        let found = names(vec![holder(0, 1, 1000), holder(1, 2, 5000)], [990, 950, 4999, 5000]);
        assert_eq!(found.each_ref().map(Option::as_deref), [Some("gate"), None, Some("gate"), None]);
    }

    #[test]
    fn of_a_function_that_several_strands_run_the_strand_is_told() {
        let found = names(vec![holder(1, 2, 5000), holder(2, 2, 9000)], [4990, 8990]);
        assert_eq!(found.each_ref().map(Option::as_deref), [Some("gate@0.1"), Some("gate@0.2")]);
    }

    #[test]
    fn memory_that_was_in_different_frames_has_no_name() {
        let found = names(vec![holder(0, 1, 1000), holder(0, 2, 1040)], [990]);
        assert_eq!(found, [None], "of one it is the variable, of the other something else");
    }
}
