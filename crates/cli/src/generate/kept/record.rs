//! What a kept test is made of: two calls as a run of the live test had them, with their arguments, the memory they need and the locks their strands had.
//!
//! Three runs, all the same: one with every access, for what the calls touch (and another with the calls the other way round); and one that stands where both are about to begin, for
//! what is in memory there. What a call did before its first shared step is taken back.

use super::super::look::Candidate;
use super::arguments;
use super::source::{self, About, Agreed, Call, Lock, Source};
use super::state::{Image, Images, Memory, Refusal, State};
use super::ways::{self, Ways};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use threadbare_abi::layout::{Watch, WatchKind};
use threadbare_abi::op::OpKind;
use threadbare_explore::again::Taken;
use threadbare_explore::campaign::Config;
use threadbare_explore::pairs::{Close, closely};
use threadbare_explore::run::Request;
use threadbare_explore::server::{Server, Target};
use threadbare_explore::trap::{self, Held};
use threadbare_pairs::{Meeting, Span, Touch};
use threadbare_symbols::{Module, Pc, Shape, Signature, Symbols, Types};

/// Copies that a compiler makes of a function take other arguments.
const CLONES: [&str; 4] = [".constprop", ".isra", ".part", ".cold"];
/// What cannot be done in another process with the same outcome.
const THREADS: [OpKind; 8] = [
    OpKind::Create,
    OpKind::Join,
    OpKind::TryJoin,
    OpKind::TimedJoin,
    OpKind::Detach,
    OpKind::Cancel,
    OpKind::Exit,
    OpKind::BarrierWait,
];

/// What is known of a pair.
pub(super) struct Recording<'a> {
    pub(super) config: &'a Config,
    pub(super) modules: &'a [threadbare_trace::report::Module],
    pub(super) known: &'a [u64],
    pub(super) candidate: &'a Candidate,
    pub(super) meeting: &'a Meeting,
    /// Runs with the calls one after the other, by which of them begins.
    pub(super) runs: [Option<&'a Taken>; 2],
    /// Whether what both orders leave is to be expected.
    pub(super) expects: bool,
    /// Whether some order of the two calls fails.
    pub(super) fails: bool,
}

/// One call in a run that was looked at closely.
pub(super) struct Side {
    pub(super) signature: Signature,
    /// Its first step in conflict with the other call.
    pub(super) first: usize,
    /// All its steps.
    pub(super) events: Vec<usize>,
}

pub(super) fn failed(error: &dyn std::error::Error) -> Refusal {
    format!("it could not be recorded: {error}")
}

impl Recording<'_> {
    pub(super) fn server(&self) -> Result<Server, Refusal> {
        // A run that is looked at from outside has a process of its own.
        let target = Target { reset: false, ..(*self.config.target).clone() };
        let mut server = Server::start(&target).map_err(|error| failed(&error))?;
        server.set_known(self.known);
        Ok(server)
    }

    /// The source of the test, and the ways that its calls took.
    pub(super) fn test(&self, name: &str) -> Result<(Source, Ways), Refusal> {
        let symbols = self.symbols();
        let mut types = Types::default();
        let mut close: Vec<(Close, [Side; 2], usize)> = Vec::new();
        let mut server = self.server()?;
        for (begins, taken) in self.runs.iter().enumerate() {
            let Some(taken) = taken else { continue };
            let Some(seen) = closely(&mut server, taken).map_err(|error| failed(&error))? else { continue };
            let sides = [0, 1].map(|at| self.side(&symbols, &mut types, &seen, at));
            let [one, two] = sides;
            close.push((seen, [one?, two?], begins));
        }
        let (seen, sides, begins) =
            close.first().ok_or("its runs could not be made again with every access")?;
        let taken = self.runs[*begins].ok_or("its run is not there any more")?;
        for (at, side) in sides.iter().enumerate() {
            self.refuse(seen, side, at)?;
        }
        if !close.iter().any(|(seen, sides, _)| self.meet(&symbols, seen, sides)) {
            return Err("one call after the other does not come to where the two meet".to_owned());
        }
        let entries: BTreeSet<u64> = sides.iter().map(|side| side.signature.entry).collect();
        let entries: Vec<u64> = entries.into_iter().collect();
        let request = Request { watches: watches(seen, sides), races: false, ..taken.request.clone() };
        let segments = taken.segments.as_deref().unwrap_or_default();
        let held = trap::hold(&mut server, &request, segments, &entries).map_err(|error| failed(&error))?;
        let held = held.ok_or("the two calls could not be held a second time")?;
        let strands = strands(&held, &symbols);
        let called = |at: usize| {
            let side = &sides[at];
            let strand = seen.run.events[side.first].strand;
            let thread = strands.get(&strand)?;
            let entry = entries.iter().position(|&entry| entry == side.signature.entry)?;
            held.called.iter().find(|call| call.function == entry && call.thread == *thread)
        };
        let lacks = |at: usize| format!("the entry of `{}` was not seen", sides[at].signature.name);
        let calls = [called(0).ok_or_else(|| lacks(0))?, called(1).ok_or_else(|| lacks(1))?];
        let given = [
            arguments::of(&types, &sides[0].signature, calls[0])?,
            arguments::of(&types, &sides[1].signature, calls[1])?,
        ];
        let touched: BTreeSet<u64> = close.iter().flat_map(|(seen, sides, _)| touched(seen, sides)).collect();
        for thread in strands.values() {
            let base = symbols.thread_local_base(*thread).unwrap_or(*thread);
            if touched.range(base..*thread).next().is_some() {
                return Err("the two touch thread-local storage".to_owned());
            }
        }
        let blocks: BTreeMap<u64, u64> =
            close.iter().rev().flat_map(|(seen, ..)| seen.blocks.clone()).collect();
        let until = sides[*begins].first;
        let own = close.iter().flat_map(|(seen, sides, _)| variables(seen, sides, &symbols)).collect();
        let image = Image { held: &held, undone: undone(seen, sides, until), touched, own };
        let memory = Memory::new(vec![image], &symbols, blocks);
        let [one, two] = given;
        let parts = [(seen, &sides[0], one, 1), (seen, &sides[1], two, 1)];
        let state = gathered(&memory, types, &parts)?;
        let calls = called_so(parts);
        let agreed = match &close[..] {
            [one, two] if self.expects && is_serial(one) && is_serial(two) => agreed(one, two),
            _ => Vec::new(),
        };
        let about = self.about(name, [&sides[0], &sides[1]], None);
        let source = source::write(&state, &calls, &about, &agreed)?;
        Ok((source, self.ways(&close, taken)))
    }

    fn ways(&self, close: &[(Close, [Side; 2], usize)], taken: &Taken) -> Ways {
        let program = self.program();
        let order = |(seen, sides, begins): &(Close, [Side; 2], usize)| {
            let of = |side: &Side| Some(ways::places(seen, side.events.iter().copied(), &program));
            (*begins, [of(&sides[0]), of(&sides[1])])
        };
        self.ways_of(taken, close.iter().map(order).collect())
    }

    pub(super) fn ways_of(&self, taken: &Taken, orders: Vec<ways::Order>) -> Ways {
        Ways {
            request: taken.request.clone(),
            known: self.known.to_vec(),
            orders,
            functions: [0, 1].map(|at: usize| self.candidate.functions[at].name.clone()),
            program: self.program(),
            fails: self.fails,
        }
    }

    /// Where the program's code lies.
    pub(super) fn program(&self) -> Range<u64> {
        self.modules.first().map_or(0..0, |module| module.base..module.base + module.size)
    }

    pub(super) fn about(&self, name: &str, sides: [&Side; 2], shared: Option<Vec<String>>) -> About {
        let words = |at: usize| {
            let (asked, called) = (&self.candidate.functions[at].name, &sides[at].signature.name);
            let is_lambda = called == "operator()" && asked.ends_with("{lambda}");
            let same = is_lambda || asked == called || asked.ends_with(&format!("::{called}"));
            if same { asked.clone() } else { format!("{called} (which has {asked} in it)") }
        };
        let target = &self.config.target;
        let folder = std::env::current_dir().unwrap_or_default();
        let program = match target.program.strip_prefix(&folder) {
            Ok(inside) => format!("./{}", inside.display()),
            Err(_) => target.program.display().to_string(),
        };
        About {
            name: name.to_owned(),
            object: self.candidate.object.clone(),
            program,
            functions: [words(0), words(1)],
            shared,
        }
    }

    pub(super) fn symbols(&self) -> Symbols {
        let program = &self.config.target.program;
        Symbols::new(self.modules.iter().enumerate().map(|(index, module)| {
            let path = if index == 0 && module.path.is_empty() { program } else { Path::new(&module.path) };
            Module::new(path, module.base, module.size)
        }))
    }

    /// One of the two calls: the nearest function around its first step that can be called as it is.
    pub(super) fn side(
        &self,
        symbols: &Symbols,
        types: &mut Types,
        close: &Close,
        at: usize,
    ) -> Result<Side, Refusal> {
        let span: &Span = &self.meeting.spans[at];
        let asked = &self.candidate.functions[at].name;
        let run = &close.run;
        let first = run
            .events
            .iter()
            .position(|event| event.path == span.path && (event.pc, event.number) == span.first)
            .ok_or_else(|| format!("the beginning of `{asked}` was not found with every access"))?;
        let (mut pc, mut activation) = (run.events[first].pc, Some(run.events[first].activation));
        let mut found = false;
        while let Some(number) = activation {
            let frames = symbols.frames(Pc::Return(pc));
            found |= frames.iter().any(|frame| frame.short_name() == asked);
            let signature = symbols.signature(pc.wrapping_sub(1), types);
            let is_whole = |signature: &Signature| !CLONES.iter().any(|part| signature.symbol.contains(part));
            if found && let Some(signature) = signature.filter(is_whole) {
                let events = inside(close, span.path, number);
                return Ok(Side { signature, first, events });
            }
            let this = run.activations[number as usize];
            (pc, activation) = (this.call, this.parent);
            if pc == 0 {
                break;
            }
        }
        Err(format!(
            "`{asked}` has no entry of its own: `-fno-inline -fno-ipa-cp -fno-ipa-sra` would give it one"
        ))
    }

    /// Whether the two calls of a run touch the same where the test is to have them meet.
    fn meet(&self, symbols: &Symbols, close: &Close, sides: &[Side; 2]) -> bool {
        let touches = |at: usize| {
            let mut known: BTreeMap<u64, bool> = BTreeMap::new();
            let mut is_there = |pc: u64| {
                let places = &self.candidate.places[at];
                *known.entry(pc).or_insert_with(|| {
                    symbols.frames(Pc::Return(pc)).iter().any(|frame| {
                        let file = frame.file.as_deref().and_then(Path::file_name);
                        let file = file.unwrap_or_default().to_string_lossy();
                        frame.line.is_some_and(|line| places.contains(&format!("{file}:{line}")))
                    })
                })
            };
            let events = sides[at].events.iter().map(|&event| &close.run.events[event]);
            let there: Vec<_> = events.filter(|event| is_there(event.pc)).collect();
            there.into_iter().flat_map(|event| event.touches.clone()).collect::<Vec<_>>()
        };
        let (one, two) = (touches(0), touches(1));
        let writes = |touch: &Touch| touch.does.writes() || !self.candidate.strong;
        one.iter().any(|a| two.iter().any(|b| a.start < b.end && b.start < a.end && (writes(a) || writes(b))))
    }

    /// Refuses a call that cannot be made by itself.
    pub(super) fn refuse(&self, close: &Close, side: &Side, at: usize) -> Result<(), Refusal> {
        let name = &side.signature.name;
        let mut before = side.events.iter().take_while(|&&event| event < side.first);
        let begun = |event: usize| {
            let touches = &close.run.events[event].touches;
            touches.iter().any(|touch| !touch.does.is_data()) && close.kinds[event] != OpKind::Start
        };
        if before.any(|&event| begun(event)) {
            let asked = &self.candidate.functions[at].name;
            return Err(match asked == name {
                true => format!("`{name}` had begun before the two could meet"),
                false => format!(
                    "`{asked}` is a part of `{name}`, which had begun: `-fno-inline` would make it a function"
                ),
            });
        }
        if let Some(&event) = side.events.iter().find(|&&event| THREADS.contains(&close.kinds[event])) {
            return Err(format!("`{name}` has to do with other strands: {}", close.kinds[event].name()));
        }
        Ok(())
    }
}

/// A call in a run, what it was given, and the image that it is recorded in.
pub(super) type Part<'a> = (&'a Close, &'a Side, Vec<Vec<u8>>, Images);

/// The state that calls need.
pub(super) fn gathered<'m, 'h, 's>(
    memory: &'m Memory<'h, 's>,
    types: Types,
    parts: &[Part<'_>; 2],
) -> Result<State<'m, 'h, 's>, Refusal> {
    let mut state = State::new(memory, types);
    for (at, image) in memory.images.iter().enumerate() {
        state.within = 1 << at;
        image.own.iter().for_each(|&address| state.variable(address));
    }
    // The calls need not touch what their strands hold.
    for (close, side, _, within) in parts {
        state.within = *within;
        held_locks(close, side).iter().for_each(|lock| state.variable(lock.at));
    }
    for (_, side, given, within) in parts {
        state.within = *within;
        for (at, ((_, ty), bytes)) in side.signature.parameters.iter().zip(given).enumerate() {
            let pointer = bytes.first_chunk().map(|word| u64::from_le_bytes(*word));
            match (pointer, &state.types.get(*ty).shape) {
                (Some(pointer), &Shape::Pointer(target)) if at == 0 && side.signature.result => {
                    state.result(pointer, target);
                }
                _ => state.argument(*ty, bytes),
            }
        }
    }
    state.follow()?;
    Ok(state)
}

/// The calls as the test makes them.
pub(super) fn called_so(parts: [Part<'_>; 2]) -> [Call; 2] {
    // Two functions may have one name in the source.
    let [first, second] = [0, 1].map(|at: usize| &parts[at].1.signature);
    let differ = first.entry != second.entry && first.name == second.name;
    let mut number = 0;
    parts.map(|(close, side, arguments, _)| {
        number += 1;
        let signature = side.signature.clone();
        let name = source::safe(&signature.name);
        let name = if differ { format!("{name}_{number}") } else { name };
        Call { name, signature, arguments, held: held_locks(close, side) }
    })
}

pub(super) fn is_program(symbols: &Symbols, address: u64) -> bool {
    symbols.locate(address).is_some_and(|(module, _)| module == 0)
}

/// The steps of a function and of all that it calls.
fn inside(close: &Close, path: u64, activation: u32) -> Vec<usize> {
    let run = &close.run;
    let within = |mut number: u32| loop {
        if number == activation {
            break true;
        }
        match run.activations[number as usize].parent {
            Some(parent) => number = parent,
            None => break false,
        }
    };
    let events = run.events.iter().enumerate();
    events.filter(|(_, event)| event.path == path && within(event.activation)).map(|(at, _)| at).collect()
}

/// The run's beginning, from which on it is traced, and the first steps of the calls.
pub(super) fn watches(close: &Close, sides: &[Side]) -> Vec<Watch> {
    let begins = Watch { kind: WatchKind::Step as u32, ..Watch::default() };
    let watch = |side: &Side| {
        let event = &close.run.events[side.first];
        Watch { strand: event.strand, event: event.number, pc: event.pc, ..begins }
    };
    std::iter::once(begins).chain(sides.iter().map(watch)).collect()
}

/// The thread pointers of strands.
pub(super) fn strands(held: &Held<'_>, symbols: &Symbols) -> BTreeMap<u32, u64> {
    const STRAND: u64 = 56;
    let mut found = BTreeMap::new();
    let Some(table) = symbols.address_of("threadbare_debug") else { return found };
    let (Some(head), Some(list)) = (held.word(table), held.word(table + 8)) else { return found };
    for at in 0..head >> 32 {
        if let (Some(index), Some(thread)) =
            (held.word(list + at * STRAND), held.word(list + at * STRAND + 24))
        {
            found.insert(index as u32, thread);
        }
    }
    found
}

/// The cells of 8 bytes that the calls touch.
pub(super) fn touched(close: &Close, sides: &[Side]) -> BTreeSet<u64> {
    let events = sides.iter().flat_map(|side| &side.events);
    let touches = events.flat_map(|&event| &close.run.events[event].touches);
    touches.flat_map(|touch| (touch.start & !7..touch.end.min(touch.start + (1 << 16))).step_by(8)).collect()
}

/// Addresses of the program's variables that the calls touch.
pub(super) fn variables(close: &Close, sides: &[Side], symbols: &Symbols) -> BTreeSet<u64> {
    let events = sides.iter().flat_map(|side| &side.events);
    let touches = events.flat_map(|&event| &close.run.events[event].touches);
    let own = touches.filter(|touch| is_program(symbols, touch.start));
    // Of a large access, which may be of several variables, a byte of each.
    let bytes = |touch: &Touch| {
        let all = touch.start..touch.end.min(touch.start + (1 << 16));
        all.clone().take(8).chain(all.step_by(4))
    };
    own.flat_map(bytes).collect()
}

/// What was in memory when the calls began, where they have written until a step.
pub(super) fn undone(close: &Close, sides: &[Side], until: usize) -> BTreeMap<u64, u8> {
    let mut undone = BTreeMap::new();
    let mut events: Vec<usize> = sides.iter().flat_map(|side| side.events.iter().copied()).collect();
    events.sort_unstable();
    for event in events.into_iter().take_while(|event| *event < until) {
        let touches =
            close.run.events[event].touches.iter().filter(|it| it.does.is_data() && it.does.writes());
        for touch in touches.filter(|touch| touch.end - touch.start <= 8) {
            let before = close.values[event].0.to_le_bytes();
            for (at, byte) in (touch.start..touch.end).zip(before) {
                undone.entry(at).or_insert(byte);
            }
        }
    }
    undone
}

/// The locks of a strand when its call begins.
fn held_locks(close: &Close, side: &Side) -> Vec<Lock> {
    let held = |at: usize| &close.run.events[at].held;
    let last = side.events.last().copied().unwrap_or(side.first);
    let alone = held(side.first).iter();
    let alone = alone.map(|&at| Lock { at, still: held(last).contains(&at), shared: false });
    let shared = close.shared[side.first].iter();
    let shared = shared.map(|&at| Lock { at, still: close.shared[last].contains(&at), shared: true });
    alone.chain(shared).collect()
}

/// Whether one call of a run came after the other from beginning to end: functions around those that were held against each other may have had turns.
fn is_serial((_, sides, begins): &(Close, [Side; 2], usize)) -> bool {
    sides[*begins].events.last() < Some(&sides[1 - *begins].first)
}

/// What both orders leave in memory.
fn agreed(one: &(Close, [Side; 2], usize), two: &(Close, [Side; 2], usize)) -> Agreed {
    let left = |(close, sides, _): &(Close, [Side; 2], usize)| {
        let mut events: Vec<usize> = sides.iter().flat_map(|side| side.events.iter().copied()).collect();
        events.sort_unstable();
        let mut left: BTreeMap<(u64, u32), u64> = BTreeMap::new();
        for event in events {
            let touch = close.run.events[event].touches.first().filter(|touch| touch.does.is_data());
            if close.kinds[event] == OpKind::Free {
                // Nobody looks at what is gone.
                let start = touch.map_or(0, |touch| touch.start);
                let end = start + close.blocks.get(&start).copied().unwrap_or(0);
                left.retain(|(at, _), _| !(start..end).contains(at));
                continue;
            }
            if let Some(touch) = touch.filter(|touch| touch.does.writes() && touch.end - touch.start <= 8) {
                left.insert((touch.start, (touch.end - touch.start) as u32), close.values[event].1);
            }
        }
        left
    };
    let (one, two) = (left(one), left(two));
    let same = one.iter().filter(|(place, value)| two.get(place) == Some(value));
    same.map(|(&(start, size), &value)| (start, size, value)).collect()
}
