//! A schedule from text.
//!
//! The reader takes any bytes: a file may be cut, edited, or something else altogether. What is wrong is told with
//! its line and what belongs there.

use super::text::{CHOICES, MARKS, OFFSET_BITS, TITLE, checksum, place_name, unescape};
use super::{Names, OLDEST, Schedule, TELLS_FAILURE, Then, VERSION};
use crate::identity::Identity;
use crate::race::{RacePair, RacePlace};
use crate::run::SourcePlace;
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use threadbare_abi::event::{ChoiceKind, Segment, StopKind};
use threadbare_abi::fault::Faults;
use threadbare_abi::layout::{
    FACTS_CAPACITY, MEMORY, MemoryModel, PointMode, SEGMENTS_CAPACITY, WORDS_CAPACITY,
};
use threadbare_abi::op::OpKind;
use threadbare_abi::strand::{StrandId, StrandPath};
use threadbare_abi::verdict::VerdictKind;
use threadbare_strategy::Spec;

/// Why a text is no schedule.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong with a schedule.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Problem {
    /// The first line is another.
    #[error("this is no schedule: the first line is to be `{TITLE} {VERSION}`")]
    NotASchedule,
    /// Another version of the format.
    #[error(
        "this is a schedule of format version {0}, and this threadbare reads versions {OLDEST} to {VERSION}"
    )]
    Version(String),
    /// Something else was expected.
    #[error("expected {expected}, found `{found}`")]
    Expected {
        /// What belongs there.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// A line that must be there is not.
    #[error("the line `{0}: …` is missing")]
    Missing(&'static str),
    /// A line is there twice.
    #[error("the line `{0}: …` is there twice")]
    Twice(String),
    /// The file ends too early.
    #[error("the file is cut off: its last line is to be `end …`")]
    CutOff,
    /// Steps are missing.
    #[error("the file is damaged: {found} steps instead of {told}")]
    Count {
        /// How many are there.
        found: usize,
        /// How many the end line tells.
        told: u64,
    },
    /// The checksum does not fit.
    #[error("the file is damaged or was edited: its checksum is {found:016x}, and {told:016x} was written")]
    Checksum {
        /// The checksum of what is there.
        found: u64,
        /// What the end line tells.
        told: u64,
    },
    /// More steps than a run can have.
    #[error("more than {SEGMENTS_CAPACITY} steps")]
    TooLong,
    /// There is something behind the end.
    #[error("nothing may follow the `end` line")]
    Trailing,
}

type Result<T> = std::result::Result<T, ParseError>;

fn fail<T>(line: usize, problem: Problem) -> Result<T> {
    Err(ParseError { line, problem })
}

fn expected<T>(line: usize, expected: &'static str, found: &str) -> Result<T> {
    let found = found.chars().take(60).collect();
    fail(line, Problem::Expected { expected, found })
}

#[derive(Clone, Copy, PartialEq)]
enum Section {
    Header,
    Places,
    Steps,
}

pub(super) fn parse(text: &str) -> Result<Schedule> {
    let mut lines = text.lines().map(str::trim).enumerate().map(|(index, line)| (index + 1, line));
    let (first, title) = lines.by_ref().find(|(_, line)| !line.is_empty()).unwrap_or((1, ""));
    let title: Vec<&str> = title.split_whitespace().collect();
    let title = title.join(" ");
    let version = match title.strip_prefix(TITLE).map(str::trim) {
        Some(text) => match text.parse::<u32>() {
            Ok(version) if (OLDEST..=VERSION).contains(&version) => version,
            Ok(_) => return fail(first, Problem::Version(text.to_owned())),
            Err(_) => return fail(first, Problem::NotASchedule),
        },
        None => return fail(first, Problem::NotASchedule),
    };
    // A cut file is told as such, not by the word it was cut in.
    let is_end = |line: &str| line.trim() == "end" || line.trim_start().starts_with("end ");
    if !text.lines().any(is_end) {
        return fail(text.lines().count(), Problem::CutOff);
    }
    let mut header = Header::default();
    let mut steps = Steps::default();
    let mut section = Section::Header;
    let mut last = first;
    for (number, line) in lines.by_ref().filter(|(_, line)| !line.is_empty()) {
        last = number;
        match (section, line) {
            (Section::Header, "places:") => section = Section::Places,
            (Section::Header | Section::Places, "steps:") => section = Section::Steps,
            (Section::Header, _) => header.line(number, line)?,
            (Section::Places, _) => {
                for word in line.split_whitespace() {
                    steps.place(number, word)?;
                }
            }
            (Section::Steps, _) if is_end(line) => {
                let told = read_end(number, line, &steps)?;
                if let Some((number, _)) = lines.find(|(_, line)| !line.is_empty()) {
                    return fail(number, Problem::Trailing);
                }
                let schedule = header.finish(version, number, steps)?;
                let length: usize = text.split_inclusive('\n').take(number - 1).map(str::len).sum();
                let found = checksum(&text[..length]);
                if found != told {
                    return fail(number, Problem::Checksum { found, told });
                }
                return Ok(schedule);
            }
            (Section::Steps, _) => {
                for word in line.split_whitespace() {
                    steps.word(number, word)?;
                }
            }
        }
    }
    fail(last, Problem::CutOff)
}

/// The checksum in the end line; its count must fit.
fn read_end(number: usize, line: &str, steps: &Steps) -> Result<u64> {
    const FORM: &str = "`end COUNT CHECKSUM`";
    let mut words = line.split_whitespace().skip(1);
    let (Some(count), Some(sum), None) = (words.next(), words.next(), words.next()) else {
        return fail(number, Problem::CutOff);
    };
    let Some(told) = decimal(count) else { return expected(number, FORM, line) };
    // A shorter one was cut.
    let Some(sum) = hex(sum).filter(|_| sum.len() == 16) else { return expected(number, FORM, line) };
    if steps.open.is_some() {
        return expected(number, "`)*TIMES`", "end");
    }
    let found = steps.segments.len();
    if told != found as u64 {
        return fail(number, Problem::Count { found, told });
    }
    Ok(sum)
}

fn decimal(text: &str) -> Option<u64> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// A place as module and offset.
fn stop_of(text: &str) -> Option<u64> {
    let (module, offset) = text.split_once(':').unwrap_or(("0", text));
    let (module, offset) = (hex(module)?, hex(offset)?);
    (module <= 0xffff && offset >> OFFSET_BITS == 0).then_some(module << OFFSET_BITS | offset)
}

/// An instruction and what it does.
fn place_of(word: &str) -> Option<RacePlace> {
    let (stop, op) = word.split_once('.')?;
    Some((stop_of(stop)?, OpKind::from_name(op)?))
}

/// The two places of a race.
fn race_pair(text: &str) -> Option<RacePair> {
    let mut places = text.split_whitespace().map(place_of);
    let pair = RacePair::new(places.next()??, places.next()??);
    places.next().is_none().then_some(pair)
}

const PLACE: &str = "a place as `OFFSET.OPERATION` or `MODULE:OFFSET.OPERATION`";
/// More waits than strands can have.
const MOST_WAITS: usize = 1 << 16;
/// More variables than any environment has.
const MOST_VARIABLES: usize = 1 << 16;

#[derive(Default)]
struct Header {
    single: HashMap<&'static str, (usize, String)>,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    env_seen: Vec<(String, u16)>,
    given: Option<Vec<OsString>>,
    known: Vec<u64>,
    guide: Vec<u64>,
    waits: BTreeSet<RacePlace>,
}

const KEYS: [&str; 26] = [
    "program",
    "program-id",
    "arg0",
    "cwd",
    "stdin",
    "strategy",
    "seed",
    "run",
    "entropy",
    "points",
    "max-points",
    "memory",
    "deadlines",
    "faults",
    "races",
    "memory-model",
    "race",
    "timeout-ms",
    "verdict",
    "message",
    "code",
    "at",
    "place",
    "trace-hash",
    "then",
    "estimates",
];

impl Header {
    fn line(&mut self, number: usize, line: &str) -> Result<()> {
        let Some((key, value)) = line.split_once(':') else {
            return expected(number, "`key: value`, `places:` or `steps:`", line);
        };
        let value = value.trim();
        match key {
            "arg" => self.args.push(value_of(number, value)?),
            "env" => {
                let pair = value_of(number, value)?;
                let Some(at) = pair.as_bytes().iter().position(|&byte| byte == b'=') else {
                    return expected(number, "`env: NAME=VALUE`", line);
                };
                let (name, rest) = pair.as_bytes().split_at(at);
                self.env.push((OsString::from_vec(name.to_vec()), OsString::from_vec(rest[1..].to_vec())));
            }
            "env-seen" => {
                for word in value.split_whitespace() {
                    let sign = word
                        .split_once('=')
                        .and_then(|(name, sign)| Some((name.to_owned(), u16::try_from(hex(sign)?).ok()?)));
                    match sign {
                        Some(sign) if self.env_seen.len() < MOST_VARIABLES => self.env_seen.push(sign),
                        _ => return expected(number, "`env-seen: NAME=SIGN …`", word),
                    }
                }
            }
            "given" => {
                let names = self.given.get_or_insert_default();
                match value.split_once(' ').unwrap_or((value, "")) {
                    ("input", "") => {}
                    ("env", name) if names.len() < MOST_VARIABLES => {
                        names.push(value_of(number, name.trim())?);
                    }
                    _ => return expected(number, "`given: input` or `given: env NAME`", line),
                }
            }
            "known" => {
                for word in value.split_whitespace() {
                    match hex(word) {
                        Some(pc) if self.known.len() < FACTS_CAPACITY => self.known.push(pc),
                        _ => return expected(number, "an address in hexadecimal", word),
                    }
                }
            }
            "waits" => {
                for word in value.split_whitespace() {
                    match place_of(word) {
                        Some(place) if self.waits.len() < MOST_WAITS => _ = self.waits.insert(place),
                        _ => return expected(number, PLACE, word),
                    }
                }
            }
            "guide" => {
                for word in value.split_whitespace() {
                    match hex(word) {
                        Some(word) if self.guide.len() < WORDS_CAPACITY => self.guide.push(word),
                        _ => return expected(number, "a word in hexadecimal", word),
                    }
                }
            }
            _ => {
                let Some(&key) = KEYS.iter().find(|&&known| known == key) else {
                    return expected(number, "a key of this format version", key);
                };
                if self.single.insert(key, (number, value.to_owned())).is_some() {
                    return fail(number, Problem::Twice(key.to_owned()));
                }
            }
        }
        Ok(())
    }

    fn get(&self, end: usize, key: &'static str) -> Result<(usize, &str)> {
        match self.single.get(key) {
            Some((number, value)) => Ok((*number, value)),
            None => fail(end, Problem::Missing(key)),
        }
    }

    fn text(&self, end: usize, key: &'static str) -> Result<OsString> {
        let (number, value) = self.get(end, key)?;
        value_of(number, value)
    }

    fn optional_text(&self, end: usize, key: &'static str) -> Result<Option<OsString>> {
        if self.single.contains_key(key) { self.text(end, key).map(Some) } else { Ok(None) }
    }

    fn number(&self, end: usize, key: &'static str) -> Result<u64> {
        let (number, value) = self.get(end, key)?;
        decimal(value).map_or_else(|| expected(number, "a number", value), Ok)
    }

    fn optional(&self, end: usize, key: &'static str) -> Result<Option<u64>> {
        if self.single.contains_key(key) { self.number(end, key).map(Some) } else { Ok(None) }
    }

    fn words(&self, end: usize, key: &'static str) -> Result<String> {
        let (number, _) = self.get(end, key)?;
        let text = self.text(end, key)?;
        text.into_string().map_or_else(|text| expected(number, "text", &text.to_string_lossy()), Ok)
    }

    /// What the verdict is.
    fn failure(&self, end: usize, kind: VerdictKind) -> Result<Identity> {
        let mut failure = Identity { kind, waits: self.waits.clone(), ..Identity::clean() };
        if let Some((number, value)) = self.single.get("code") {
            let Ok(code) = value.parse() else { return expected(*number, "a number", value) };
            failure.code = code;
        }
        if let Some((number, value)) = self.single.get("at") {
            let Some(at) = stop_of(value) else {
                return expected(*number, "`OFFSET` or `MODULE:OFFSET`", value);
            };
            failure.at = Some(at);
        }
        if self.single.contains_key("place") {
            let (number, value) = self.get(end, "place")?;
            let place = value.rsplit_once(':').and_then(|(file, line)| {
                let file = unescape(file)?.into_string().ok()?;
                Some(SourcePlace { file, line: u32::try_from(decimal(line)?).ok()? })
            });
            let Some(place) = place else { return expected(number, "`FILE:LINE`", value) };
            failure.place = Some(place);
        }
        Ok(failure)
    }

    fn finish(self, version: u32, end: usize, steps: Steps) -> Result<Schedule> {
        let named = |key, expected_words: &'static str| {
            let (number, value) = self.get(end, key)?;
            Ok((number, value, expected_words))
        };
        let strategy = |number, text: &str| {
            let mut words = text.split_whitespace();
            Spec::from_words(words.next().unwrap_or_default(), words)
                .or_else(|_| expected(number, "the name of a strategy and its parameters", text))
        };
        let (number, text, _) = named("strategy", "")?;
        let campaign_strategy = strategy(number, text)?;
        let (number, value, words) = named("points", "`shared`, `sync` or `all`")?;
        let Some(points) = PointMode::from_name(value) else { return expected(number, words, value) };
        let (number, value, words) = named("verdict", "the name of a verdict")?;
        let Some(verdict) = VerdictKind::from_name(value) else { return expected(number, words, value) };
        let (number, value, words) = named("trace-hash", "a hash in hexadecimal")?;
        let Some(trace_hash) = hex(value) else { return expected(number, words, value) };
        // One that says nothing is of a time when there was no other.
        let model = match self.single.get("memory-model") {
            None => MemoryModel::Sc,
            Some((number, value)) => match MemoryModel::from_name(value) {
                Some(model) => model,
                None => return expected(*number, "`sc`, `tso` or `c11`", value),
            },
        };
        let race = match self.single.get("race") {
            None => None,
            Some((number, value)) => match race_pair(value) {
                Some(pair) => Some(pair),
                None => {
                    return expected(
                        *number,
                        "two places as `OFFSET.OPERATION` or `MODULE:OFFSET.OPERATION`",
                        value,
                    );
                }
            },
        };
        let failure = match race {
            Some(pair) => Some(Identity::of_race(pair)),
            None if version >= TELLS_FAILURE => Some(self.failure(end, verdict)?),
            None => None,
        };
        let then = match self.single.get("then") {
            None => None,
            Some((number, value)) => {
                let pair =
                    value.rsplit_once(' ').and_then(|(name, seed)| Some((name, decimal(seed.trim())?)));
                let Some((name, seed)) = pair else {
                    return expected(*number, "`then: STRATEGY SEED`", value);
                };
                let strategy = strategy(*number, name)?;
                let (number, value, words) = named("estimates", "`estimates: CHOICES STRANDS`")?;
                let pair = value.split_once(' ').and_then(|(a, b)| Some((decimal(a)?, decimal(b.trim())?)));
                let Some(estimates) = pair else { return expected(number, words, value) };
                Some(Then { strategy, seed, estimates, guide: self.guide.clone() })
            }
        };
        Ok(Schedule {
            version,
            program: self.text(end, "program")?,
            program_id: self.words(end, "program-id")?,
            cwd: self.text(end, "cwd")?,
            arg0: self.optional_text(end, "arg0")?,
            stdin: self.optional_text(end, "stdin")?,
            given: self.given.clone(),
            strategy: campaign_strategy,
            seed: self.number(end, "seed")?,
            run: self.number(end, "run")?,
            entropy: self.number(end, "entropy")?,
            points,
            max_points: self.optional(end, "max-points")?.unwrap_or(0),
            memory: self.optional(end, "memory")?.unwrap_or(MEMORY),
            in_order: self.optional_text(end, "deadlines")?.is_some_and(|word| word == "in-order"),
            model,
            faults: self
                .optional_text(end, "faults")?
                .and_then(|text| Faults::parse(text.to_str()?))
                .unwrap_or(Faults::NONE),
            races: self.optional_text(end, "races")?.is_none_or(|word| word != "off"),
            race,
            timeout_ms: self.number(end, "timeout-ms")?,
            verdict,
            failure,
            message: self.words(end, "message")?,
            trace_hash,
            segments: steps.segments,
            names: steps.names,
            then,
            known: self.known,
            args: self.args,
            env: self.env,
            env_seen: self.env_seen,
        })
    }
}

fn value_of(number: usize, value: &str) -> Result<OsString> {
    unescape(value)
        .map_or_else(|| expected(number, "a value with `\\\\`, `\\n` or `\\xHH` as escapes", value), Ok)
}

#[derive(Default)]
struct Steps {
    places: HashMap<String, (u64, u8)>,
    segments: Vec<Segment>,
    names: Names,
    /// Where the open parenthesis began.
    open: Option<usize>,
}

impl Steps {
    fn place(&mut self, number: usize, word: &str) -> Result<()> {
        const FORM: &str =
            "a place as `NAME=OFFSET.OPERATION` or `NAME=MODULE:OFFSET.OPERATION`, named in order";
        let parse = || {
            let (name, rest) = word.split_once('=')?;
            let (stop, op) = rest.split_once('.')?;
            let op = OpKind::from_name(op).map(|op| op as u8).or_else(|| op.parse().ok())?;
            let stop = stop_of(stop)?;
            (name == place_name(self.places.len())).then(|| (name.to_owned(), (stop, op)))
        };
        let Some((name, place)) = parse() else { return expected(number, FORM, word) };
        self.places.insert(name, place);
        Ok(())
    }

    fn word(&mut self, number: usize, word: &str) -> Result<()> {
        if word == "(" {
            if self.open.is_some() {
                return expected(number, "a step or `)*TIMES`: repeats do not nest", word);
            }
            self.open = Some(self.segments.len());
            return Ok(());
        }
        if let Some(times) = word.strip_prefix(")*") {
            let (Some(start), Some(times)) = (self.open.take(), decimal(times).filter(|&times| times > 0))
            else {
                return expected(number, "a step", word);
            };
            let stretch = self.segments.len() - start;
            let more = usize::try_from(times - 1).ok().and_then(|times| times.checked_mul(stretch));
            if more.is_none_or(|more| more > SEGMENTS_CAPACITY - self.segments.len()) {
                return fail(number, Problem::TooLong);
            }
            for _ in 1..times {
                self.segments.extend_from_within(start..start + stretch);
                if stretch == 0 {
                    break;
                }
            }
            return Ok(());
        }
        if self.segments.len() >= SEGMENTS_CAPACITY {
            return fail(number, Problem::TooLong);
        }
        match self.step(word) {
            Some(segment) => self.segments.push(segment),
            None => return expected(number, "a step such as `0.1+57@a`, `0.1!+4@b#` or `w1/3`", word),
        }
        Ok(())
    }

    fn step(&mut self, word: &str) -> Option<Segment> {
        let mut segment =
            Segment { strand: StrandId::NONE.0, how: StopKind::Preempted as u8, ..Segment::default() };
        let mut rest = word;
        for (mark, how) in MARKS {
            if let Some(before) = rest.strip_suffix(mark) {
                segment.how = how as u8;
                rest = before;
                break;
            }
        }
        if let Some((before, name)) = rest.split_once('@') {
            (segment.stop, segment.op) = *self.places.get(name)?;
            rest = before;
        }
        if let Some((_, kind)) = CHOICES.iter().find(|(letter, _)| rest.starts_with(*letter)) {
            let (option, options) = rest[1..].split_once('/')?;
            segment.kind = *kind as u8;
            segment.path = decimal(option)?;
            segment.events = decimal(options)?;
            return Some(segment);
        }
        let (strand, events) = rest.split_once('+')?;
        segment.events = decimal(events)?;
        let (strand, kind) = match strand.strip_suffix('!') {
            Some(strand) => (strand, ChoiceKind::Timeout),
            None => (strand, ChoiceKind::Strand),
        };
        segment.kind = kind as u8;
        segment.path = match strand.strip_prefix('~') {
            Some(path) => hex(path)?,
            None => {
                let path = StrandPath::parse(strand)?.0;
                if strand.split('.').skip(1).any(|ordinal| ordinal.starts_with('0')) {
                    return None;
                }
                self.names.entry(path).or_insert_with(|| strand.to_owned());
                path
            }
        };
        Some(segment)
    }
}
