use super::*;
use proptest::prelude::*;
use std::vec::Vec;

fn at(slot: usize, epoch: u32, bytes: u8, writes: bool, atomic: bool) -> u64 {
    cell(stamp(slot, epoch, 0), bytes, writes, atomic, 0x1234)
}

fn nobody(_: usize) -> u32 {
    0
}

#[test]
fn a_cell_has_all_of_an_access() {
    let made = cell(stamp(200, LAST_EPOCH, 1), 0xF0, true, false, 0x5555_5555_9876);
    assert_eq!((bytes(made), writes(made), is_atomic(made)), (0xF0, true, false));
    assert_eq!((slot(made), epoch(made)), (200, LAST_EPOCH));
    assert_eq!(low_pc(made), 0x5555_5555_9876 & ((1 << PC_BITS) - 1));
}

#[test]
fn the_next_epoch_is_one_addition() {
    let next = stamp(7, 41, 1) + (1 << EPOCH_SHIFT);
    assert_eq!(next, stamp(7, 42, 1));
}

#[test]
fn a_write_races_with_what_it_does_not_know() {
    let (write, read) = (at(1, 5, 0xFF, true, false), at(2, 9, 0x0F, false, false));
    assert_eq!(fate(write, read, nobody), Fate::Races);
    assert_eq!(fate(read, write, nobody), Fate::Races);
    assert_eq!(fate(write, read, |_| 4), Fate::Races);
    assert_eq!(fate(write, read, |_| 5), Fate::Stays);
}

#[test]
fn reads_do_not_race_and_neither_do_atomics() {
    let (read, other) = (at(1, 5, 0xFF, false, false), at(2, 9, 0xFF, false, false));
    assert_eq!(fate(read, other, nobody), Fate::Stays);
    let (store, load) = (at(1, 5, 0xFF, true, true), at(2, 9, 0xFF, false, true));
    assert_eq!(fate(store, load, nobody), Fate::Stays);
    assert_eq!(fate(store, other, nobody), Fate::Races);
}

#[test]
fn other_bytes_are_another_matter() {
    assert_eq!(fate(at(1, 5, 0x0F, true, false), at(2, 9, 0xF0, true, false), nobody), Fate::Stays);
}

#[test]
fn the_same_again_is_enough() {
    let write = at(1, 5, 0xFF, true, false);
    assert_eq!(fate(write, at(1, 5, 0x0F, false, false), nobody), Fate::Enough);
    assert_eq!(fate(write, at(1, 5, 0xFF, true, false), nobody), Fate::Enough);
    // Others may have heard of the first by then.
    assert_eq!(fate(write, at(1, 6, 0xFF, true, false), nobody), Fate::Goes);
    assert_eq!(fate(write, at(1, 6, 0xFF, false, false), nobody), Fate::Stays);
}

#[test]
fn another_generation_is_nothing() {
    let old = cell(stamp(1, 5, 1), 0xFF, true, false, 0);
    assert_eq!(fate(old, at(2, 9, 0xFF, true, false), nobody), Fate::Free);
}

#[test]
fn addresses_of_programs_have_cells_of_their_own() {
    for addr in [0x40_0000, 0x5555_5555_4000, 0x7fff_f7fc_0000, 0x7fff_ffff_e000] {
        assert!(has_cells(addr), "{addr:x}");
    }
    for addr in [0x5a_0000_0000, 0x1000_0000_0000, 0x6000_0000_0000, 0x7e00_0000_0000, 0x7f00_0000_0000] {
        assert!(!has_cells(addr), "{addr:x}");
    }
}

proptest! {
    /// No two addresses with cells share them.
    #[test]
    fn cells_are_not_shared(one in 0u64..1 << 47, other in 0u64..1 << 47) {
        let folded = |addr: u64| addr & ((1 << FOLDED_BITS) - 1);
        for high in [0u64, 0x55, 0x7f] {
            let other = high << FOLDED_BITS | folded(other);
            let one = if has_cells(one) { one } else { high << FOLDED_BITS | folded(one) };
            let twin = (0..128).map(|high| high << FOLDED_BITS | folded(other)).filter(|addr| has_cells(*addr));
            prop_assert!(twin.count() <= 1);
            prop_assert!(!(has_cells(one) && has_cells(other) && one != other && folded(one) == folded(other)));
        }
    }

    /// With room for everything, an access races exactly if an earlier one of another slot that it does not know shares a byte with it, one of
    /// the two writes and not both are atomic: what goes is never missed.
    #[test]
    fn nothing_that_goes_is_missed(steps in prop::collection::vec((0usize..3, 1u8..16, any::<bool>(), any::<bool>(), any::<bool>()), 1..40)) {
        let mut clocks = [[0u32; 3]; 3];
        let mut epochs = [1u32; 3];
        let mut cells: Vec<u64> = Vec::new();
        let mut all: Vec<u64> = Vec::new();
        for (who, bytes, writes, atomic, hears) in steps {
            if hears {
                // The next strand hears of all that this one knows.
                clocks[who][who] = epochs[who];
                epochs[who] += 1;
                let told = clocks[who];
                let next = &mut clocks[(who + 1) % 3];
                next.iter_mut().zip(told).for_each(|(mine, theirs)| *mine = (*mine).max(theirs));
                continue;
            }
            let new = at(who, epochs[who], bytes, writes, atomic);
            let knows = |slot: usize| clocks[who][slot];
            let races = |cells: &[u64]| cells.iter().any(|&old| fate(old, new, knows) == Fate::Races);
            let brute = all.iter().any(|&old| {
                slot(old) != who
                    && super::bytes(old) & bytes != 0
                    && (super::writes(old) || writes)
                    && !(is_atomic(old) && atomic)
                    && clocks[who][slot(old)] < epoch(old)
            });
            // What went may have raced, but then whoever took its place races too, or is the strand itself; without races all agree.
            if !brute {
                prop_assert!(!races(&cells));
            } else if !races(&cells) {
                prop_assert!(false, "a race with a cell that went");
            }
            if brute {
                break;
            }
            all.push(new);
            if cells.iter().any(|&old| fate(old, new, knows) == Fate::Enough) {
                continue;
            }
            cells.retain(|&old| fate(old, new, knows) != Fate::Goes);
            cells.push(new);
        }
    }
}
