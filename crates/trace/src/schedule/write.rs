//! A schedule to text.

use super::text::{CHOICES, MARKS, OFFSET_BITS, TITLE, checksum, escape, is_strand, place_name};
use super::{Schedule, TELLS_FAILURE, Then};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fmt::Write;
use threadbare_abi::event::{ChoiceKind, Segment};
use threadbare_abi::fault::Faults;
use threadbare_abi::layout::{MEMORY, MemoryModel};
use threadbare_abi::op::OpKind;
use threadbare_strategy::Spec;

const WIDTH: usize = 100;
/// The longest stretch that is looked for again right behind itself.
const LONGEST_REPEAT: usize = 16;

pub(super) fn write(schedule: &Schedule) -> String {
    let mut out = format!("{TITLE} {}\n", schedule.version);
    header(&mut out, schedule);
    let places = Places::of(&schedule.segments);
    if !places.list.is_empty() {
        out.push_str("places:\n");
        let mut lines = Lines::new(&mut out);
        for (index, &(stop, op)) in places.list.iter().enumerate() {
            lines.word(&format!("{}={}", place_name(index), place(stop, op)));
        }
        lines.finish();
    }
    out.push_str("steps:\n");
    steps(&mut out, schedule, &places);
    let sum = checksum(&out);
    let _ = writeln!(out, "end {} {sum:016x}", schedule.segments.len());
    out
}

fn header(out: &mut String, schedule: &Schedule) {
    let mut line = |key: &str, value: &dyn std::fmt::Display| {
        let _ = writeln!(out, "{key}: {value}");
    };
    line("program", &escape(&schedule.program));
    line("program-id", &escape(OsStr::new(&schedule.program_id)));
    if let Some(arg0) = &schedule.arg0 {
        line("arg0", &escape(arg0));
    }
    for arg in &schedule.args {
        line("arg", &escape(arg));
    }
    for (name, value) in &schedule.env {
        let mut pair = name.clone();
        pair.push("=");
        pair.push(value);
        line("env", &escape(&pair));
    }
    for chunk in schedule.env_seen.chunks(8) {
        let words: Vec<String> = chunk.iter().map(|(name, sign)| format!("{name}={sign:04x}")).collect();
        line("env-seen", &words.join(" "));
    }
    line("cwd", &escape(&schedule.cwd));
    if let Some(stdin) = &schedule.stdin {
        line("stdin", &escape(stdin));
    }
    if let Some(names) = &schedule.given {
        line("given", &"input");
        for name in names {
            line("given", &format_args!("env {}", escape(name)));
        }
    }
    line("strategy", &words_of(&schedule.strategy));
    line("seed", &schedule.seed);
    line("run", &schedule.run);
    line("entropy", &schedule.entropy);
    line("points", &schedule.points.name());
    if schedule.max_points != 0 {
        line("max-points", &schedule.max_points);
    }
    if schedule.memory != MEMORY {
        line("memory", &schedule.memory);
    }
    if schedule.in_order {
        line("deadlines", &"in-order");
    }
    if schedule.faults != Faults::NONE {
        line("faults", &schedule.faults);
    }
    if !schedule.races {
        line("races", &"off");
    }
    if schedule.model != MemoryModel::Sc {
        line("memory-model", &schedule.model.name());
    }
    line("timeout-ms", &schedule.timeout_ms);
    line("verdict", &schedule.verdict.name());
    line("message", &escape(OsStr::new(&schedule.message)));
    let told = schedule.failure.as_ref().filter(|_| schedule.version >= TELLS_FAILURE);
    if let Some(failure) = told.filter(|failure| !failure.is_race()) {
        if failure.code != 0 {
            line("code", &failure.code);
        }
        if let Some(at) = failure.at {
            line("at", &stop(at));
        }
        if let Some(place) = &failure.place {
            line("place", &format_args!("{}:{}", escape(OsStr::new(&place.file)), place.line));
        }
        for chunk in failure.waits.iter().collect::<Vec<_>>().chunks(8) {
            let words: Vec<String> = chunk.iter().map(|&&(stop, op)| place(stop, op as u8)).collect();
            line("waits", &words.join(" "));
        }
    }
    if let Some(pair) = &schedule.race {
        let [one, other] = pair.places().map(|(stop, op)| place(stop, op as u8));
        line("race", &format_args!("{one} {other}"));
    }
    line("trace-hash", &format_args!("{:016x}", schedule.trace_hash));
    let guide = schedule.then.as_ref().map_or(&[][..], |then| &then.guide);
    if let Some(Then { strategy, seed, estimates, .. }) = &schedule.then {
        line("then", &format_args!("{} {seed}", words_of(strategy)));
        line("estimates", &format_args!("{} {}", estimates.0, estimates.1));
    }
    for (key, list) in [("guide", guide), ("known", &schedule.known)] {
        for chunk in list.chunks(8) {
            let words: Vec<String> = chunk.iter().map(|word| format!("{word:x}")).collect();
            line(key, &words.join(" "));
        }
    }
}

/// A strategy and its parameters, with blanks between.
fn words_of(strategy: &Spec) -> String {
    strategy.to_string().replace(':', " ")
}

/// The table of places: each stop and operation once, in the order of their first use.
struct Places {
    list: Vec<(u64, u8)>,
    index: HashMap<(u64, u8), usize>,
}

impl Places {
    fn of(segments: &[Segment]) -> Places {
        let mut places = Places { list: Vec::new(), index: HashMap::new() };
        for segment in segments {
            let key = (segment.stop, segment.op);
            if key != (0, 0) && !places.index.contains_key(&key) {
                places.index.insert(key, places.list.len());
                places.list.push(key);
            }
        }
        places
    }
}

fn place(stop: u64, op: u8) -> String {
    let op = OpKind::from_code(op).map_or_else(|| op.to_string(), |op| op.name().to_owned());
    format!("{}.{op}", self::stop(stop))
}

fn stop(stop: u64) -> String {
    match (stop >> OFFSET_BITS, stop & ((1 << OFFSET_BITS) - 1)) {
        (0, offset) => format!("{offset:x}"),
        (module, offset) => format!("{module:x}:{offset:x}"),
    }
}

fn steps(out: &mut String, schedule: &Schedule, places: &Places) {
    let mut lines = Lines::new(out);
    let segments = &schedule.segments;
    let mut at = 0;
    while at < segments.len() {
        let (period, times) = repeat(&segments[at..]);
        if times > 1 {
            lines.word("(");
        }
        for segment in &segments[at..at + period] {
            lines.word(&step(segment, schedule, places));
        }
        if times > 1 {
            lines.word(&format!(")*{times}"));
        }
        at += period * times;
    }
    lines.finish();
}

/// How long the stretch is that the steps begin with, and how often it comes, where that is worth writing.
fn repeat(segments: &[Segment]) -> (usize, usize) {
    let mut best = (1, 1);
    for period in 1..=LONGEST_REPEAT.min(segments.len() / 2) {
        let stretch = &segments[..period];
        let times = segments.chunks_exact(period).take_while(|&chunk| chunk == stretch).count();
        // The parentheses cost two words.
        let saved = |(period, times): (usize, usize)| (period * (times - 1)).saturating_sub(2);
        if saved((period, times)) > saved(best) {
            best = (period, times);
        }
    }
    best
}

fn step(segment: &Segment, schedule: &Schedule, places: &Places) -> String {
    let mut out = String::new();
    if is_strand(segment) {
        match schedule.names.get(&segment.path) {
            Some(name) => out.push_str(name),
            None => {
                let _ = write!(out, "~{:x}", segment.path);
            }
        }
        if segment.kind == ChoiceKind::Timeout as u8 {
            out.push('!');
        }
        let _ = write!(out, "+{}", segment.events);
    } else {
        let letter =
            CHOICES.iter().find(|(_, kind)| *kind as u8 == segment.kind).map_or('v', |(letter, _)| *letter);
        let _ = write!(out, "{letter}{}/{}", segment.path, segment.events);
    }
    if let Some(&index) = places.index.get(&(segment.stop, segment.op)) {
        out.push('@');
        out.push_str(&place_name(index));
    }
    if let Some((mark, _)) = MARKS.iter().find(|(_, how)| *how as u8 == segment.how) {
        out.push(*mark);
    }
    out
}

/// Words in lines of bounded width.
struct Lines<'a> {
    out: &'a mut String,
    column: usize,
}

impl<'a> Lines<'a> {
    fn new(out: &'a mut String) -> Lines<'a> {
        Lines { out, column: 0 }
    }

    fn word(&mut self, word: &str) {
        if self.column > 0 {
            let fits = self.column + 1 + word.len() <= WIDTH;
            self.out.push(if fits { ' ' } else { '\n' });
            self.column = if fits { self.column + 1 } else { 0 };
        }
        self.out.push_str(word);
        self.column += word.len();
    }

    fn finish(self) {
        if self.column > 0 {
            self.out.push('\n');
        }
    }
}
