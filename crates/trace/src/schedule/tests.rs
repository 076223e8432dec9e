use super::*;
use crate::run::SourcePlace;
use proptest::prelude::*;
use std::os::unix::ffi::OsStringExt;
use threadbare_abi::event::{ChoiceKind, StopKind};
use threadbare_abi::fault::Faults;
use threadbare_abi::layout::{MEMORY, MemoryModel};
use threadbare_abi::op::OpKind;
use threadbare_abi::strand::StrandPath;
use threadbare_strategy::StrategyId;

const PATHS: [&str; 5] = ["0", "0.1", "0.2", "0.1.1", "0.12.3"];

fn os_string() -> impl Strategy<Value = OsString> {
    prop_oneof![
        "[ -~]{0,12}".prop_map(OsString::from),
        "\\PC{0,8}".prop_map(OsString::from),
        proptest::collection::vec(any::<u8>(), 0..8).prop_map(OsString::from_vec),
    ]
}

fn strategy() -> impl Strategy<Value = Spec> {
    (prop::sample::select(StrategyId::offered().collect::<Vec<_>>()), any::<bool>(), any::<u64>()).prop_map(
        |(id, set, value)| {
            let mut spec = Spec::of(id);
            if let Some(parameter) = id.parameter().filter(|_| set) {
                spec.params[0] = parameter.least + value % (parameter.most - parameter.least + 1);
            }
            spec
        },
    )
}

fn segment() -> impl Strategy<Value = Segment> {
    let place = (0u64..4, 0u64..6, prop_oneof![0u8..60, any::<u8>()])
        .prop_map(|(module, offset, op)| ((module << 48) | (offset * 0x1f3), op));
    let how = prop::sample::select(StopKind::ALL);
    let strand = (0..PATHS.len() + 1, any::<bool>(), prop_oneof![0u64..4, any::<u64>()]);
    let choice = (1u8..5, 0u64..9, 0u64..9);
    (place, how, any::<bool>(), strand, choice).prop_map(|((stop, op), how, is_strand, strand, choice)| {
        let base = Segment { stop, op, how: how as u8, strand: StrandId::NONE.0, ..Segment::default() };
        if is_strand {
            let (index, timeout, events) = strand;
            let path = PATHS.get(index).map_or(0xdead_beef, |name| StrandPath::parse(name).unwrap().0);
            let kind = if timeout { ChoiceKind::Timeout } else { ChoiceKind::Strand };
            Segment { path, events, kind: kind as u8, ..base }
        } else {
            let kind = [ChoiceKind::Wake, ChoiceKind::Spurious, ChoiceKind::ReadsFrom, ChoiceKind::Fault]
                [choice.0 as usize % 4];
            Segment { path: choice.1, events: choice.2, kind: kind as u8, ..base }
        }
    })
}

fn steps() -> impl Strategy<Value = Vec<Segment>> {
    // Stretches that repeat, so that repeats are written.
    let stretch =
        (proptest::collection::vec(segment(), 1..5), 1usize..8).prop_map(|(part, times)| part.repeat(times));
    proptest::collection::vec(stretch, 0..6).prop_map(|parts| parts.concat())
}

prop_compose! {
    fn failure()(
        code in any::<i32>(),
        at in proptest::option::of((0u64..0xffff, 0u64..1 << 40)),
        place in proptest::option::of(("\\PC{0,12}", any::<u32>())),
        waits in proptest::collection::btree_set((0u64..1 << 50, prop::sample::select(OpKind::ALL)), 0..20),
    ) -> Identity {
        let at = at.map(|(module, offset)| (module << 48) | offset);
        let place = place.map(|(file, line)| SourcePlace { file, line });
        Identity { code, at, place, waits, ..Identity::clean() }
    }
}

prop_compose! {
    fn schedule()(
        program in os_string(),
        args in proptest::collection::vec(os_string(), 0..4),
        env in proptest::collection::vec(("[A-Z]{1,4}", os_string()), 0..3),
        arg0 in proptest::option::of(os_string()),
        stdin in proptest::option::of(os_string()),
        given in proptest::option::of(proptest::collection::vec(os_string(), 0..3)),
        message in "\\PC{0,20}",
        numbers in any::<[u64; 6]>(),
        segments in steps(),
        then in proptest::option::of((any::<u64>(), any::<(u64, u64)>(), proptest::collection::vec(any::<u64>(), 0..12))),
        strategies in (strategy(), strategy()),
        known in proptest::collection::vec(any::<u64>(), 0..20),
        points in prop::sample::select(PointMode::ALL),
        verdict in prop::sample::select(VerdictKind::ALL),
        races in any::<bool>(),
        race in proptest::option::of((0u64..1 << 40, 0u64..4)),
        failure in failure(),
    ) -> Schedule {
        let race = race.map(|(offset, module): (u64, u64)| {
            RacePair::new((offset, OpKind::Read), ((module << 48) | (offset / 2), OpKind::AtomicStore))
        });
        let mut schedule = Schedule {
            version: super::VERSION,
            program: program.clone(),
            program_id: "build-id:00ff".to_owned(),
            arg0,
            args,
            env: env.into_iter().map(|(name, value)| (OsString::from(name), value)).collect(),
            env_seen: (0..numbers[0] % 19).map(|sign| (format!("VARIABLE_{sign}"), sign as u16 * 3001)).collect(),
            cwd: program,
            stdin,
            given,
            strategy: strategies.0,
            seed: numbers[0],
            run: numbers[1],
            entropy: numbers[2],
            points,
            max_points: numbers[3],
            memory: numbers[2],
            in_order: numbers[3] % 2 == 1,
            faults: Faults(numbers[4] as u32 % 32),
            races,
            model: [MemoryModel::Sc, MemoryModel::Tso, MemoryModel::C11][numbers[3] as usize % 3],
            race,
            timeout_ms: numbers[4],
            verdict,
            failure: Some(race.map_or(Identity { kind: verdict, ..failure }, Identity::of_race)),
            message,
            trace_hash: numbers[5],
            segments: Vec::new(),
            names: Names::new(),
            known,
            then: then.map(|(seed, estimates, guide)| {
                Then { strategy: strategies.1, seed, estimates, guide }
            }),
        };
        let mut strands = Strands::new();
        strands.created(StrandId(1), StrandId(0), 1);
        strands.created(StrandId(2), StrandId(0), 2);
        strands.created(StrandId(3), StrandId(1), 1);
        strands.created(StrandId(4), StrandId(0), 12);
        strands.created(StrandId(5), StrandId(4), 3);
        schedule.set_segments(segments, &strands);
        schedule
    }
}

fn small() -> Schedule {
    let strand = |path: &str, events, stop, op: OpKind, how: StopKind| Segment {
        path: StrandPath::parse(path).unwrap().0,
        events,
        stop,
        op: op as u8,
        how: how as u8,
        ..Segment::default()
    };
    let mut segments = vec![strand("0", 57, 0x3f2a, OpKind::MutexLock, StopKind::Blocked)];
    for _ in 0..12 {
        segments.push(strand("0.1", 1, 1 << 48 | 0x40b1, OpKind::Write, StopKind::Preempted));
        segments.push(strand("0", 1, 0x3f2a, OpKind::MutexLock, StopKind::Preempted));
    }
    segments.push(Segment { path: 1, events: 3, kind: ChoiceKind::Wake as u8, ..Segment::default() });
    segments.push(Segment { kind: ChoiceKind::Timeout as u8, ..segments[1] });
    segments.push(strand("0", 9, 0, OpKind::Start, StopKind::Final));
    let mut strands = Strands::new();
    strands.created(StrandId(1), StrandId(0), 1);
    let mut schedule = Schedule {
        version: super::VERSION,
        program: "/home/me/bank".into(),
        program_id: "build-id:5f3a".into(),
        arg0: Some("./bank".into()),
        args: vec!["3".into(), " a\tb ".into()],
        env: Vec::new(),
        env_seen: Vec::new(),
        cwd: "/home/me".into(),
        stdin: None,
        given: None,
        strategy: Spec::of(StrategyId::Random),
        seed: 7,
        run: 37,
        entropy: 9131,
        points: PointMode::Shared,
        max_points: 0,
        memory: MEMORY,
        in_order: false,
        faults: Faults::NONE,
        races: true,
        model: MemoryModel::C11,
        race: None,
        timeout_ms: 10_000,
        verdict: VerdictKind::Deadlock,
        failure: Some(Identity {
            kind: VerdictKind::Deadlock,
            waits: [(0x3f2a, OpKind::MutexLock), (1 << 48 | 0x40b1, OpKind::Join)].into(),
            ..Identity::clean()
        }),
        message: "no strand can go on".into(),
        trace_hash: 0xabc,
        segments: Vec::new(),
        names: Names::new(),
        then: None,
        known: Vec::new(),
    };
    schedule.set_segments(segments, &strands);
    schedule
}

#[test]
fn the_text_is_short_and_readable() {
    let text = small().to_text();
    let body = text.split_once("places:\n").unwrap().1;
    let (body, end) = body.rsplit_once("end ").unwrap();
    assert_eq!(body, "a=3f2a.lock b=1:40b1.write\nsteps:\n0+57@a# ( 0.1+1@b 0+1@a )*12 w1/3 0.1!+1@b 0+9.\n");
    assert!(end.starts_with("28 "), "{end}");
    assert!(text.contains("arg: \\x20a\\x09b\\x20\n"), "{text}");
    assert_eq!(Schedule::parse(&text), Ok(small()));
}

#[test]
fn a_schedule_without_a_name_of_the_program_is_read() {
    let schedule = Schedule { arg0: None, ..small() };
    let text = schedule.to_text();
    assert!(!text.contains("arg0"), "{text}");
    assert_eq!(Schedule::parse(&text), Ok(schedule));
}

#[test]
fn a_strategy_keeps_its_parameters() {
    let strategy = Spec::parse("pct:3").unwrap();
    let then = Then { strategy, seed: 5, estimates: (40, 3), guide: vec![1, 0xff] };
    let schedule = Schedule { strategy, then: Some(then), ..small() };
    let text = schedule.to_text();
    assert!(text.contains("strategy: pct 3\n") && text.contains("then: pct 3 5\n"), "{text}");
    assert!(text.contains("guide: 1 ff\n"), "{text}");
    assert_eq!(Schedule::parse(&text), Ok(schedule));
    let said = |to: &str| Schedule::parse(&text.replace("strategy: pct 3", to)).unwrap_err().to_string();
    for wrong in ["strategy: pct x", "strategy: pos 3", "strategy: pct 3 4"] {
        assert!(said(wrong).contains("the name of a strategy and its parameters"), "{}", said(wrong));
    }
}

#[test]
fn a_race_is_named_by_its_places() {
    let race = Some(RacePair::new((1 << 48 | 0x40b1, OpKind::Read), (0x3f2a, OpKind::Write)));
    let text = Schedule { race, races: false, ..small() }.to_text();
    assert!(text.contains("\nrace: 3f2a.write 1:40b1.read\n") && text.contains("\nraces: off\n"), "{text}");
    let parsed = Schedule::parse(&text).unwrap();
    assert_eq!((parsed.race, parsed.races), (race, false));
    // What earlier versions wrote has neither.
    let plain = small().to_text();
    assert!(!plain.contains("\nrace"), "{plain}");
    assert!(Schedule::parse(&plain).unwrap().races);
    for bad in ["", "3f2a.write", "3f2a.write 40b1", "3f2a.write 1:40b1.read 5.read", "3f2a.write 40b1.99"] {
        let said = Schedule::parse(&text.replace("3f2a.write 1:40b1.read", bad)).unwrap_err().to_string();
        assert!(said.contains("expected two places as"), "{bad}: {said}");
    }
}

#[test]
fn a_pasted_text_is_read() {
    let text = small().to_text();
    let pasted: String = text.lines().map(|line| format!("    {}  \r\n", line.replace(' ', "  "))).collect();
    let wrapped = pasted.replace("( ", "(\n      ");
    let mut expected = small();
    expected.message = expected.message.replace(' ', "  ");
    assert_eq!(Schedule::parse(&wrapped), Ok(expected));
}

#[test]
fn schedules_of_an_older_version_are_read() {
    let older = Schedule { version: 1, ..small() };
    assert!(older.to_text().starts_with("threadbare schedule 1\n"));
    // Only the kind of the verdict is known of them.
    let read = Schedule::parse(&older.to_text()).unwrap();
    assert_eq!(read, Schedule { failure: None, ..older });
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let text = small().to_text();
    let said = |text: &str| Schedule::parse(text).unwrap_err().to_string();
    assert!(said("").contains("no schedule"));
    assert!(said("hello\n").starts_with("line 1: this is no schedule"));
    assert_eq!(
        said(&text.replace("schedule 4", "schedule 5")),
        "line 1: this is a schedule of format version 5, and this threadbare reads versions 1 to 4"
    );
    assert_eq!(said(&text.replace("seed: 7", "seed: x")), "line 9: expected a number, found `x`");
    assert_eq!(
        said(&text.replace("seed: 7", "sede: 7")),
        "line 9: expected a key of this format version, found `sede`"
    );
    assert!(said(&text.replace("seed: 7\n", "")).contains("the line `seed: …` is missing"));
    assert!(said(&text.replace("0+9.", "0+8.")).contains("checksum"));
    assert!(said(&text.replace("w1/3 ", "")).contains("27 steps instead of 28"));
    assert!(said(&text.replace("w1/3", "x1/3")).contains("expected a step such as"));
    assert!(said(&text.replace("*12", "*99999999999")).contains("more than"));
    assert!(said(&format!("{text}\nmore")).contains("nothing may follow"));
}

#[test]
fn a_cut_file_is_never_taken_for_a_whole_one() {
    let text = small().to_text();
    let whole = text.trim_end().len();
    for cut in 0..whole {
        assert!(Schedule::parse(&text[..cut]).is_err(), "cut at {cut}");
    }
    assert!(Schedule::parse(&text[..whole]).is_ok());
}

#[test]
fn place_names_count_on() {
    let names: Vec<String> = [0, 25, 26, 27, 701, 702].map(text::place_name).into();
    assert_eq!(names, ["a", "z", "aa", "ab", "zz", "aaa"]);
}

proptest! {
    #[test]
    fn what_is_written_is_read(schedule in schedule()) {
        let text = schedule.to_text();
        prop_assert_eq!(Schedule::parse(&text), Ok(schedule));
    }

    #[test]
    fn any_text_is_read_without_panic(text in "\\PC{0,200}") {
        prop_assert!(Schedule::parse(&text).is_err());
    }

    #[test]
    fn a_changed_text_is_refused_or_the_same(schedule in schedule(), at in any::<prop::sample::Index>(), byte in 32u8..127) {
        let text = schedule.to_text();
        let mut bytes = text.clone().into_bytes();
        let at = at.index(bytes.len());
        if bytes[at].is_ascii() {
            bytes[at] = byte;
        }
        if let Ok(changed) = String::from_utf8(bytes) && let Ok(parsed) = Schedule::parse(&changed) {
            // Only a change of blanks goes unnoticed.
            prop_assert_eq!(parsed.segments, schedule.segments);
        }
    }

    #[test]
    fn schedule_like_text_is_read_without_panic(body in "([(]|[)][*][0-9]{1,20}|[0-9.!+@a#;wpv/~ \n]{1,30}| ){0,20}") {
        let text = format!("threadbare schedule 1\nplaces:\na=1.lock\nsteps:\n{body}\nend 1 0000000000000000");
        prop_assert!(Schedule::parse(&text).is_err());
    }
}
