use super::*;
use serde_json::Value;
use threadbare_abi::event::EventKind;
use threadbare_findings::NoPlaces;

fn event(kind: EventKind, strand: u16, op: OpKind, addr: u64, value: u64) -> Event {
    Event { strand, kind: kind as u8, op: op as u8, addr, value, pc: 7, ..Event::default() }
}

/// Two strands that pass a lock to and fro.
fn run(rounds: u64) -> impl Iterator<Item = Event> {
    use EventKind::{Blocked, Created, Ended, Point, Switch, Time};
    let begin = [
        event(Point, 0, OpKind::Create, 0, 1),
        event(Created, 1, OpKind::Start, 0, 1),
        event(Point, 0, OpKind::MutexLock, 64, 2),
        event(Switch, 1, OpKind::Start, 0, 2),
        event(Time, 1, OpKind::Clock, 0, 5_000),
    ];
    let rounds = (0..rounds).flat_map(|round| {
        let at = 10 + round * 10;
        [
            event(Point, 1, OpKind::MutexLock, 64, at),
            event(Blocked, 0, OpKind::MutexLock, 64, 0),
            event(Point, 1, OpKind::MutexUnlock, 64, at + 2),
            event(Switch, 0, OpKind::Start, 0, at + 3),
            event(Point, 0, OpKind::MutexUnlock, 64, at + 4),
            event(Point, 0, OpKind::MutexLock, 64, at + 5),
            event(Switch, 1, OpKind::Start, 0, at + 5),
        ]
    });
    let end = [
        event(Point, 1, OpKind::Exit, 0, u64::MAX >> 20),
        event(Ended, 1, OpKind::Exit, 0, 0),
        event(Switch, 0, OpKind::Start, 0, u64::MAX >> 20),
        event(Point, 0, OpKind::Join, 1, 1 + (u64::MAX >> 20)),
    ];
    begin.into_iter().chain(rounds).chain(end)
}

fn trace(rounds: u64) -> Value {
    let mut trace = Perfetto::new(&NoPlaces, Vec::new());
    run(rounds).for_each(|event| trace.event(&event));
    let names = HashMap::from([(1, "wor\"ker".to_owned())]);
    let bytes = trace.finish("bank", &names, Some((StrandId(0), "deadlock"))).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

#[test]
fn tracks_are_in_order_and_slices_are_balanced() {
    let trace = trace(3);
    let events = trace["traceEvents"].as_array().unwrap();
    let mut times: HashMap<u64, f64> = HashMap::new();
    let mut open: HashMap<u64, i32> = HashMap::new();
    for event in events {
        let phase = event["ph"].as_str().unwrap();
        if !matches!(phase, "B" | "E" | "i") {
            continue;
        }
        let (tid, ts) = (event["tid"].as_u64().unwrap(), event["ts"].as_f64().unwrap());
        assert!(*times.get(&tid).unwrap_or(&0.0) <= ts, "{event}");
        times.insert(tid, ts);
        let depth = open.entry(tid).or_default();
        *depth += match phase {
            "B" => 1,
            "E" => -1,
            _ => 0,
        };
        assert!((0..=1).contains(depth), "slices of a strand do not overlap: {event}");
    }
    assert!(open.values().all(|depth| *depth == 0), "{open:?}");
    let named = |name: &str| events.iter().filter(|event| event["name"] == name).count();
    assert_eq!(named("waits: lock 0x40"), 3);
    let names: Vec<&str> = events
        .iter()
        .filter(|event| event["name"] == "thread_name")
        .filter_map(|event| event["args"]["name"].as_str())
        .collect();
    assert_eq!(names, ["strand 0", "strand 0.1 (wor\"ker)"]);
}

#[test]
fn arrows_have_both_ends_inside_of_running() {
    let trace = trace(3);
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |phase: &str| -> HashMap<u64, (&str, f64, u64)> {
        let flows = events.iter().filter(|event| event["ph"] == phase);
        let part = |event: &'_ Value| (event["ts"].as_f64().unwrap(), event["tid"].as_u64().unwrap());
        flows
            .map(|event| {
                let (ts, tid) = part(event);
                (event["id"].as_u64().unwrap(), (event["name"].as_str().unwrap(), ts, tid))
            })
            .collect()
    };
    let (starts, ends) = (of("s"), of("f"));
    assert_eq!(starts.len(), ends.len());
    for (id, (name, ts, tid)) in &ends {
        let start = starts[id];
        assert!(start.0 == *name && start.1 <= *ts && start.2 != *tid, "{name}: {start:?} {ts} {tid}");
    }
    let count = |name: &str| ends.values().filter(|flow| flow.0 == name).count();
    assert_eq!((count("create"), count("end")), (1, 1));
    assert_eq!(count("order"), 3, "{ends:?}");
}

#[test]
fn time_is_the_runs() {
    let trace = trace(1);
    let events = trace["traceEvents"].as_array().unwrap();
    let lock = events.iter().find(|event| event["cat"] == "point" && event["tid"] == 2).unwrap();
    // 5 microseconds by the jump, then 8 events.
    assert_eq!(lock["ts"].as_f64().unwrap(), 5.0 + 0.16);
    assert_eq!(lock["args"]["object"], "0x40");
}

/// Counts bytes and keeps none.
struct Count(u64);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_long_run_is_written_as_it_comes() {
    let mut trace = Perfetto::new(&NoPlaces, Count(0));
    run(20_000).for_each(|event| trace.event(&event));
    let kept = trace.tracks.len() + trace.releases.len() + trace.names.len() + trace.place_texts.len();
    assert!(kept < 20, "{kept}");
    assert!(trace.out.0 > 1_000_000);
    assert!(trace.finish("bank", &HashMap::new(), None).is_ok());
}

#[test]
fn a_full_disk_is_told() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut trace = Perfetto::new(&NoPlaces, Full);
    run(1).for_each(|event| trace.event(&event));
    let error = trace.finish("bank", &HashMap::new(), None).map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}
