use super::*;
use proptest::prelude::*;
use std::io::Cursor;
use threadbare_abi::event::{ChoiceKind, Event, EventKind};
use threadbare_abi::op::{OpKind, Order};

fn ops() -> impl Strategy<Value = OpKind> {
    proptest::sample::select(OpKind::ALL)
}

fn orders() -> impl Strategy<Value = Order> {
    proptest::sample::select(Order::ALL)
}

fn whats() -> impl Strategy<Value = What> {
    prop_oneof![
        (ops(), proptest::option::of(orders())).prop_map(|(op, order)| What::Operation { op, order }),
        ops().prop_map(|op| What::Access { op }),
        (ops(), orders(), any::<u8>(), any::<u8>(), any::<u64>(), any::<u64>()).prop_map(
            |(op, order, flags, back, found, left)| What::Atomic { op, order, flags, back, found, left }
        ),
        orders().prop_map(What::Fence),
        Just(What::Acquire),
        Just(What::Release),
        any::<bool>().prop_map(|unseen| What::AcquireWord { unseen }),
        Just(What::AcquireAll),
        Just(What::Join),
        (0u16..3, any::<u32>()).prop_map(|(parent, ordinal)| What::Created { parent, ordinal }),
        Just(What::Ended),
        ops().prop_map(|op| What::Waits { op }),
        any::<bool>().prop_map(|by_deadline| What::Switch { by_deadline }),
        (proptest::sample::select(ChoiceKind::ALL), any::<u64>(), any::<u64>())
            .prop_map(|(kind, taken, options)| What::Choice { kind, taken, options }),
        any::<u64>().prop_map(What::Time),
        Just(What::Forget),
    ]
}

fn table() -> Table {
    Table {
        tool: "0.1.0".into(),
        program: "/home/me/bank".into(),
        arg0: "./bank".into(),
        args: vec![b"3".to_vec(), vec![0xff, 0]],
        message: "no strand can go on".into(),
        strands: vec![StrandRow { path: "0".into(), ..StrandRow::default() }; 3],
        modules: vec![Module { path: "bank".into(), base: 0x1000 }],
        strings: vec!["transfer".into(), "bank.c".into(), "balance".into()],
        frames: vec![FrameRow { function: 1, file: 2, line: 7, library: false }],
        places: vec![PlaceRow { module: 1, offset: 0x10, frames: vec![0] }; 4],
        objects: vec![ObjectRow { class: 19, addr: 0x40, size: 4, name: 3 }; 4],
        ..Table::default()
    }
}

fn written(entries: &[Entry]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new()).unwrap();
    entries.iter().for_each(|entry| writer.push(entry).unwrap());
    let (bytes, size, count) = writer.finish(table()).unwrap();
    assert_eq!((size, count), (bytes.len() as u64, entries.len() as u64));
    bytes
}

fn read(bytes: &[u8]) -> Result<(Table, Vec<Entry>), Refused> {
    Recording::open(Cursor::new(bytes))?.read_all(u64::MAX)
}

fn some(count: usize) -> Vec<Entry> {
    let what = |at: usize| match at % 3 {
        0 => What::Access { op: OpKind::Write },
        1 => What::Atomic {
            op: OpKind::AtomicRmw,
            order: Order::SeqCst,
            flags: 0,
            back: 0,
            found: at as u64,
            left: at as u64 + 1,
        },
        _ => What::Release,
    };
    let entry = |at: usize| Entry {
        strand: (at / 7 % 3) as u16,
        what: what(at),
        place: 1 + at as u32 % 4,
        object: 2,
    };
    (0..count).map(entry).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn what_is_written_is_read(
        entries in proptest::collection::vec((0u16..3, whats(), 0u32..5, 0u32..5), 0..400)
    ) {
        let entries: Vec<Entry> = entries
            .into_iter()
            .map(|(strand, what, place, object)| Entry { strand, what, place, object })
            .collect();
        let (read_table, read_entries) = read(&written(&entries)).unwrap();
        prop_assert_eq!(read_entries, entries.clone());
        prop_assert_eq!(read_table, Table { entries: entries.len() as u64, ..table() });
    }

    #[test]
    fn a_damaged_byte_is_seen_or_changes_nothing(at in any::<proptest::sample::Index>(), bit in 0u8..8) {
        let entries = some(200);
        let mut bytes = written(&entries);
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        if let Ok((_, found)) = read(&bytes) {
            prop_assert_eq!(found, entries);
        }
    }
}

#[test]
fn a_long_run_has_many_frames_and_a_short_file() {
    let entries = some(100_000);
    let bytes = written(&entries);
    assert_eq!(read(&bytes).unwrap().1, entries);
    assert!(bytes.len() < entries.len() * 4, "{}", bytes.len());
}

#[test]
fn every_cut_is_seen() {
    let bytes = written(&some(50));
    for length in 0..bytes.len() {
        let refused = read(&bytes[..length]).unwrap_err();
        let fair = matches!(refused, Refused::Foreign | Refused::CutOff);
        assert!(fair, "{length} of {}: {refused}", bytes.len());
    }
}

#[test]
fn another_version_is_named() {
    let newer = b"threadbare trace 27\nwhatever comes here";
    assert_eq!(read(newer).unwrap_err().to_string(), "it has version 27, and this tool reads version 1");
    assert!(matches!(read(b"threadbare schedule 3\n").unwrap_err(), Refused::Foreign));
    assert!(matches!(read(b"\x7fELF").unwrap_err(), Refused::Foreign));
    assert!(matches!(read(b"").unwrap_err(), Refused::Foreign));
}

#[test]
fn the_inside_of_a_file_makes_it_anew() {
    let bytes = written(&some(50));
    let parts = inside(&bytes).unwrap();
    let (parts, border) = parts.split_last_chunk::<4>().unwrap();
    let (entries, table) = parts.split_at(u32::from_le_bytes(*border) as usize);
    assert_eq!(around(entries, table).unwrap(), bytes);
}

#[test]
fn numbers_without_a_row_are_damage() {
    for (place, object, strand) in [(5, 0, 0), (0, 5, 0), (0, 0, 3)] {
        let entry = Entry { strand, what: What::Ended, place, object };
        assert!(matches!(read(&written(&[entry])).unwrap_err(), Refused::Damaged(_)));
    }
    let unsound = Table { frames: vec![FrameRow { function: 9, ..FrameRow::default() }], ..table() };
    let writer = Writer::new(Vec::new()).unwrap();
    let (bytes, ..) = writer.finish(unsound).unwrap();
    assert!(matches!(read(&bytes).unwrap_err(), Refused::Damaged(_)));
}

#[test]
fn an_access_is_told_where_it_is_made() {
    let event = |kind: EventKind, strand, op: OpKind, pc| Event {
        pc,
        addr: 0x40,
        value: 4,
        strand,
        kind: kind as u8,
        op: op as u8,
        size_order: 4,
    };
    let (mut taker, mut out) = (Taker::default(), Vec::new());
    let created = Event { addr: 0, value: 1, ..event(EventKind::Created, 1, OpKind::Create, 0) };
    for event in [
        event(EventKind::Point, 0, OpKind::Write, 1),
        created,
        event(EventKind::Caller, 0, OpKind::Start, 9),
        event(EventKind::Point, 0, OpKind::Write, 2),
        event(EventKind::Switch, 1, OpKind::Start, 0),
        event(EventKind::Point, 1, OpKind::Read, 3),
        event(EventKind::Accessed, 1, OpKind::Read, 3),
        // No point: nobody else touches it.
        event(EventKind::Accessed, 1, OpKind::Read, 4),
        event(EventKind::Accessed, 0, OpKind::Write, 2),
        event(EventKind::Point, 1, OpKind::AtomicLoad, 5),
        event(EventKind::Atomic, 1, OpKind::AtomicLoad, 5),
        Event { value: 77, ..event(EventKind::Left, 1, OpKind::AtomicLoad, 5) },
        event(EventKind::Point, 0, OpKind::Write, 6),
    ] {
        taker.event(&event, &mut out);
    }
    taker.finish(&mut out);
    let told: Vec<(u16, &str, u32)> =
        out.iter().map(|entry| (entry.strand, entry.what.kinds()[1], entry.place)).collect();
    assert_eq!(
        told,
        [
            (0, "operation", 1),
            (1, "strand", 0),
            (1, "strand", 0),
            (1, "access", 3),
            (0, "access", 2),
            (1, "atomic", 4),
            (0, "operation", 5),
        ]
    );
    assert_eq!(taker.places()[1], [2, 9]);
    assert!(matches!(out[5].what, What::Atomic { found: 4, left: 77, .. }));
}
