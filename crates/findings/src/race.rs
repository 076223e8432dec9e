//! A data race in terms of the source: the two accesses, what they touch, and what would keep them apart.

use crate::explain::location;
use crate::finding::{AccessDetail, Finding};
use crate::memory::{function_and_place, object, object_text};
use crate::places::shown;
use crate::stacks::Teller;
use std::collections::BTreeSet;
use threadbare_abi::op::OpKind;
use threadbare_trace::report::{Access, Race};

/// Makes a finding that of the race its facts tell of.
pub(crate) fn explain(finding: &mut Finding, teller: &Teller<'_>) {
    let Some(race) = teller.facts.report.races.first() else { return };
    finding.accesses = race.accesses.iter().map(|access| detail(access, teller)).collect();
    finding.locations = finding
        .accesses
        .iter()
        .filter_map(|access| {
            Some(location(shown(&access.stack)?, Some(access.strand.clone()), teller.places))
        })
        .collect();
    let moments: Vec<_> = race.accesses.iter().map(|access| &access.moment).collect();
    let memory = object(race.addr, race.size, race.block, &moments, teller);
    let accesses: Vec<String> = race
        .accesses
        .iter()
        .zip(&finding.accesses)
        .map(|(access, detail)| in_words(access, detail))
        .collect();
    finding.message =
        format!("data race on {}: {}", object_text(race.addr, &memory, race.block), accesses.join(" and "));
    finding.notes = notes(race, finding, teller);
    finding.object = Some(memory);
}

fn detail(access: &Access, teller: &Teller<'_>) -> AccessDetail {
    AccessDetail {
        strand: teller.name(access.moment.strand),
        operation: access.op.name().to_owned(),
        size: access.size.into(),
        stack: teller.stack(&access.moment),
        holds: teller.locks(&access.moment),
    }
}

/// `write in deposit (bank.c:14)`.
fn in_words(access: &Access, detail: &AccessDetail) -> String {
    let operation = match access.op {
        OpKind::ReadWrite => "read and write",
        OpKind::ReadRange => "read",
        OpKind::WriteRange => "write",
        OpKind::AtomicLoad => "atomic load",
        OpKind::AtomicStore => "atomic store",
        OpKind::AtomicRmw => "atomic read-modify-write",
        OpKind::AtomicCas => "atomic compare-and-exchange",
        op => op.name(),
    };
    match shown(&detail.stack) {
        Some(place) => format!("{operation} in {}", function_and_place(place)),
        None => format!("{operation} by strand {}", detail.strand),
    }
}

/// What helps to mend it.
fn notes(race: &Race, finding: &Finding, teller: &Teller<'_>) -> Vec<String> {
    let ([later, earlier], [one, other]) = (&race.accesses[..], &finding.accesses[..]) else {
        return Vec::new();
    };
    let mut notes = Vec::new();
    let atomic = |access: &Access| access.op.is_atomic_access();
    if atomic(later) != atomic(earlier) {
        let (atomic, plain) = if atomic(later) { (one, other) } else { (other, one) };
        notes.push(format!(
            "the access of strand {} is atomic, that of strand {} is not: both must be",
            atomic.strand, plain.strand
        ));
    }
    if let Some((freed, used)) = match (later.op, earlier.op) {
        (OpKind::Free, _) => Some((one, other)),
        (_, OpKind::Free) => Some((other, one)),
        _ => None,
    } {
        notes.push(format!(
            "strand {} frees the memory, and nothing orders that with its use by strand {}",
            freed.strand, used.strand
        ));
    }
    // Without a second run the locks of the earlier access are not known.
    if teller.facts.report.details.events.contains_key(&(earlier.moment.strand, earlier.moment.event)) {
        notes.extend(locks(later, earlier, one, other));
    }
    notes
}

/// Which locks were held, where that says something.
fn locks(later: &Access, earlier: &Access, one: &AccessDetail, other: &AccessDetail) -> Option<String> {
    let addresses =
        |access: &Access| access.moment.held.iter().map(|(addr, _)| *addr).collect::<BTreeSet<u64>>();
    let (first, second) = (addresses(later), addresses(earlier));
    let names = |detail: &AccessDetail| {
        let names: BTreeSet<String> = detail.holds.iter().map(|lock| format!("`{}`", lock.object)).collect();
        names.into_iter().collect::<Vec<_>>().join(", ")
    };
    let (strand, another) = (&one.strand, &other.strand);
    // What std's locks and a program's own are is not known to the runtime, so that "no lock" may not be the truth.
    let holds = |strand: &str, names: &str, another: &str, locks: usize| {
        let not = if locks == 1 { "does not hold it" } else { "holds none of them" };
        format!("strand {strand} holds {names}, strand {another} {not}")
    };
    match (first.is_empty(), second.is_empty()) {
        (true, true) => None,
        (false, true) => Some(holds(strand, &names(one), another, first.len())),
        (true, false) => Some(holds(another, &names(other), strand, second.len())),
        (false, false) if first.is_disjoint(&second) => Some(format!(
            "the strands hold different locks: strand {strand} {}, strand {another} {}",
            names(one),
            names(other)
        )),
        (false, false) => Some(format!(
            "both strands hold {}, and it does not keep them apart: a lock for reading lets other readers in",
            names(one)
        )),
    }
}

#[cfg(test)]
mod tests {
    use crate::explain::explain;
    use crate::places::{Place, Places};
    use threadbare_abi::op::OpKind;
    use threadbare_abi::report::StrandState;
    use threadbare_abi::verdict::VerdictKind;
    use threadbare_trace::report::{Access, Block, Details, Moment, Race, RunReport, StrandReport};
    use threadbare_trace::run::{Counters, End, Output, RunFacts, Verdict};

    struct Bank;

    impl Places for Bank {
        fn at(&self, pc: u64) -> Vec<Place> {
            let place = |function: &str, line, inlined| Place {
                function: Some(function.into()),
                file: Some("bank.c".into()),
                line: Some(line),
                inlined,
                ..Place::default()
            };
            match pc {
                1..100 => vec![place("add", pc as u32, true), place("deposit", pc as u32 + 1, false)],
                999 => vec![Place { address: "libthreadbare_rt.so+0x1".into(), ..Place::default() }],
                _ => vec![place("main", pc as u32, false)],
            }
        }

        fn variable(&self, addr: u64, _size: u64) -> Option<String> {
            match addr {
                0x1000 => Some("balance".into()),
                0x2000 | 0x3000 => Some(format!("lock{}", addr >> 12)),
                _ => None,
            }
        }

        fn source(&self, _file: &str, line: u32) -> Option<String> {
            Some(format!("source of {line}"))
        }
    }

    fn access(strand: u16, pc: u64, op: OpKind, held: &[u64]) -> Access {
        let held = held.iter().map(|&addr| (addr, 300)).collect();
        let moment = Moment { strand, pc, event: pc, frames: vec![200, 999], held };
        Access { op, size: 4, moment }
    }

    fn facts(accesses: [Access; 2], addr: u64, block: Option<Block>, details: Details) -> RunFacts {
        let strand = |index| StrandReport {
            index,
            ordinal: index.into(),
            state: Some(StrandState::Ready),
            ..StrandReport::default()
        };
        let race = Race { addr, size: 4, accesses: accesses.into(), block };
        let report = RunReport {
            strands: vec![strand(1), strand(2)],
            races: vec![race],
            details,
            ..RunReport::default()
        };
        RunFacts {
            run: 3,
            seed: 0,
            end: End::Exited(0),
            verdict: Verdict { kind: VerdictKind::Race, ..Verdict::clean() },
            counters: Counters::default(),
            report,
            segments: Vec::new(),
            stdout: Output::default(),
            stderr: Output::default(),
            events: Vec::new(),
        }
    }

    /// Details that say that the earlier access was met.
    fn met(strand: u16, event: u64) -> Details {
        Details { events: [((strand, event), Moment::default())].into(), ..Details::default() }
    }

    #[test]
    fn both_accesses_are_told_with_their_stacks() {
        let both = [access(2, 14, OpKind::Write, &[]), access(1, 22, OpKind::ReadRange, &[0x2000])];
        let mut details = met(1, 22);
        details.creations.insert(2, Moment { pc: 400, ..Moment::default() });
        let finding = explain(&facts(both, 0x1000, None, details), "bank", &Bank);
        assert_eq!(finding.kind, "race");
        assert_eq!(
            finding.message,
            "data race on `balance`: write in add (bank.c:14) and read in add (bank.c:22)"
        );
        let places: Vec<_> = finding.locations.iter().map(|at| (at.line, at.strand.as_deref())).collect();
        assert_eq!(places, [(Some(14), Some("0.2")), (Some(22), Some("0.1"))]);
        let functions: Vec<_> =
            finding.accesses[0].stack.iter().map(|place| place.function.as_deref()).collect();
        assert_eq!(functions, [Some("add"), Some("deposit"), Some("main")], "inlined too, the runtime not");
        assert_eq!(finding.notes, ["strand 0.1 holds `lock2`, strand 0.2 does not hold it"]);
        assert_eq!((finding.created[0].strand.as_str(), finding.created[0].by.as_str()), ("0.2", "0"));
        assert!(finding.strands.is_empty(), "where strands stood at the end says nothing of a race");
    }

    #[test]
    fn a_heap_block_is_told_with_its_allocation() {
        let both = [access(2, 14, OpKind::Free, &[]), access(1, 22, OpKind::AtomicStore, &[])];
        let block = Some(Block { addr: 0x8ff0, size: 64, freed: true });
        let mut details = met(1, 22);
        details.allocations.insert(0x8ff0, Moment { strand: 1, pc: 50, ..Moment::default() });
        let finding = explain(&facts(both, 0x9000, block, details), "bank", &Bank);
        assert_eq!(
            finding.message,
            "data race on 4 bytes at offset 16 of a block of 64 bytes: free in add (bank.c:14) and atomic store in add \
             (bank.c:22)"
        );
        assert_eq!(
            finding.notes,
            [
                "the access of strand 0.1 is atomic, that of strand 0.2 is not: both must be",
                "strand 0.2 frees the memory, and nothing orders that with its use by strand 0.1",
            ]
        );
        let block = finding.object.unwrap().block.unwrap();
        assert_eq!((block.allocated.unwrap().strand.as_str(), block.freed), ("0.1", None));
    }

    #[test]
    fn locks_are_told_where_they_say_something() {
        let note = |later: &[u64], earlier: &[u64], details: Details| {
            let both = [access(2, 14, OpKind::Write, later), access(1, 22, OpKind::Write, earlier)];
            explain(&facts(both, 0x1000, None, details), "bank", &Bank).notes.join("; ")
        };
        assert_eq!(note(&[], &[], met(1, 22)), "");
        assert_eq!(
            note(&[0x2000], &[0x3000], met(1, 22)),
            "the strands hold different locks: strand 0.2 `lock2`, strand 0.1 `lock3`"
        );
        assert_eq!(
            note(&[0x3000, 0x2000], &[], met(1, 22)),
            "strand 0.2 holds `lock2`, `lock3`, strand 0.1 holds none of them"
        );
        assert!(note(&[0x2000], &[0x2000], met(1, 22)).starts_with("both strands hold `lock2`"));
        // Without the second making it is not known what the other held.
        assert_eq!(note(&[0x2000], &[], Details::default()), "");
    }
}
