//! States recorded apart: each call in a run of its own, where it begins, and what the two need as one state.
//!
//! They are combined only if they are compatible: no object is in both, or all fields of those that are in both are equal. Memory lies at the same addresses in every run, so an object is
//! in both if both calls come to the same bytes; but what lies there must be the same object. A variable is; a block is if the same strand allocated it at the same place; anything else is if the same
//! step of the same strand touched it first in both runs.

use super::arguments;
use super::record::{
    Part, Recording, Side, called_so, failed, gathered, is_program, strands, touched, undone, variables,
    watches,
};
use super::source::{self, Source};
use super::state::{Image, Memory, Refusal, State};
use super::values::Values;
use super::ways::{self, Ways};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use threadbare_explore::pairs::{Close, allocations, closely};
use threadbare_explore::run::Request;
use threadbare_explore::server::Server;
use threadbare_explore::trap::{self, Held};
use threadbare_pairs::{Toucher, first_touchers};
use threadbare_symbols::{Part as Field, Shape, Symbols, TypeId, Types};

/// What both images have.
const BOTH: u8 = 3;

/// A call in its run, which is held where it begins.
struct Recorded<'s> {
    close: Close,
    side: Side,
    held: Held<'s>,
    given: Vec<Vec<u8>>,
    touched: BTreeSet<u64>,
}

impl<'s> Recorded<'s> {
    fn image(&self, symbols: &Symbols) -> Image<'_, 's> {
        let own = std::slice::from_ref(&self.side);
        Image {
            held: &self.held,
            undone: undone(&self.close, own, self.side.first),
            touched: self.touched.clone(),
            own: variables(&self.close, own, symbols),
        }
    }
}

impl Recording<'_> {
    /// The source of a test of states recorded apart, and the ways that its calls took.
    pub(super) fn combined(&self, name: &str) -> Result<(Source, Ways), Refusal> {
        let (symbols, mut types) = (self.symbols(), Types::default());
        let (mut one, mut two) = (self.server()?, self.server()?);
        let first = self.alone(&mut one, &symbols, &mut types, 0)?;
        let second = self.alone(&mut two, &symbols, &mut types, 1)?;
        let blocks = blocks(&first, &second)?;
        self.same_objects(&first, &second, &symbols)?;
        let images = vec![first.image(&symbols), second.image(&symbols)];
        let memory = Memory::new(images, &symbols, blocks);
        let parts: [Part<'_>; 2] = [
            (&first.close, &first.side, first.given.clone(), 1),
            (&second.close, &second.side, second.given.clone(), 2),
        ];
        let state = gathered(&memory, types, &parts)?;
        let shared = shared(&state)?;
        let about = self.about(name, [&first.side, &second.side], Some(shared));
        let source = source::write(&state, &called_so(parts), &about, &Vec::new())?;
        let taken = self.runs[0].ok_or("its run is not there any more")?;
        let of = |it: &Recorded<'_>| {
            Some(ways::places(&it.close, it.side.events.iter().copied(), &self.program()))
        };
        let orders = vec![(0, [of(&first), None]), (1, [None, of(&second)])];
        Ok((source, self.ways_of(taken, orders)))
    }

    /// Refuses what lies at one address, and is not one object.
    fn same_objects(&self, one: &Recorded<'_>, two: &Recorded<'_>, symbols: &Symbols) -> Result<(), Refusal> {
        let (first, second) = (first_touchers(&one.close.run), first_touchers(&two.close.run));
        let step = |of: &HashMap<u64, (usize, Toucher)>, cell: u64| of.get(&(cell / 8)).map(|it| it.1);
        let both = one.touched.intersection(&two.touched).filter(|cell| !is_program(symbols, **cell));
        let mut needed: BTreeSet<u64> = BTreeSet::new();
        for &cell in both {
            match one.close.blocks.range(..=cell).next_back().filter(|(start, size)| cell - **start < **size)
            {
                Some((&start, _)) => {
                    needed.insert(start);
                }
                None if step(&first, cell) != step(&second, cell) => return Err(STRANGERS.to_owned()),
                None => {}
            }
        }
        let needed: Vec<u64> = needed.into_iter().collect();
        if needed.is_empty() {
            return Ok(());
        }
        let mut server = self.server()?;
        let [Some(a), Some(b)] = self.runs else { return Err("its run is not there any more".to_owned()) };
        let mut of = |taken| allocations(&mut server, taken, &needed).map_err(|error| failed(&error));
        match of(a)? == of(b)? {
            true => Ok(()),
            false => Err(STRANGERS.to_owned()),
        }
    }

    fn alone<'s>(
        &self,
        server: &'s mut Server,
        symbols: &Symbols,
        types: &mut Types,
        at: usize,
    ) -> Result<Recorded<'s>, Refusal> {
        let taken = self.runs[at].ok_or("its run is not there any more")?;
        let close = closely(server, taken).map_err(|error| failed(&error))?;
        let close = close.ok_or("its run could not be made again with every access")?;
        let side = self.side(symbols, types, &close, at)?;
        self.refuse(&close, &side, at)?;
        let own = std::slice::from_ref(&side);
        let request = Request { watches: watches(&close, own), races: false, ..taken.request.clone() };
        let segments = taken.segments.as_deref().unwrap_or_default();
        let held = trap::hold(server, &request, segments, &[side.signature.entry]);
        let held = held.map_err(|error| failed(&error))?.ok_or("the call could not be held a second time")?;
        let threads = strands(&held, symbols);
        let thread = threads.get(&close.run.events[side.first].strand);
        let call = held.called.iter().find(|call| Some(&call.thread) == thread);
        let call = call.ok_or_else(|| format!("the entry of `{}` was not seen", side.signature.name))?;
        let given = arguments::of(types, &side.signature, call)?;
        let touched = touched(&close, own);
        let is_local = |thread: &u64| {
            let base = symbols.thread_local_base(*thread).unwrap_or(*thread);
            touched.range(base..*thread).next().is_some()
        };
        if threads.values().any(is_local) {
            return Err("the two touch thread-local storage".to_owned());
        }
        Ok(Recorded { close, side, held, given, touched })
    }
}

/// What is said of two objects at one address.
const STRANGERS: &str =
    "the two have no object in common: what they touch at the same place is another one in each run";

/// The blocks of both runs: where they differ, those that the calls touch.
fn blocks(one: &Recorded<'_>, two: &Recorded<'_>) -> Result<BTreeMap<u64, u64>, Refusal> {
    let touched = |of: &Recorded<'_>, start: u64, size: u64| {
        of.touched.range(start & !7..start + size).next().is_some()
    };
    let mut all: BTreeMap<u64, u64> = BTreeMap::new();
    for needed in [true, false] {
        for of in [one, two] {
            for (&start, &size) in of.close.blocks.iter().filter(|it| touched(of, *it.0, *it.1) == needed) {
                let before = all.range(..start + size).next_back();
                let other = before.filter(|(other, length)| **other + **length > start);
                match other {
                    None => {
                        all.insert(start, size);
                    }
                    Some(other) if other == (&start, &size) => {}
                    Some(_) if needed => {
                        return Err(STRANGERS.to_owned());
                    }
                    Some(_) => {}
                }
            }
        }
    }
    Ok(all)
}

/// The names of what both calls have; why the two states are not compatible.
fn shared(state: &State<'_, '_, '_>) -> Result<Vec<String>, Refusal> {
    let values = Values { state, notes: RefCell::default() };
    let mut names = Vec::new();
    for thing in state.things.iter().filter(|thing| thing.of == BOTH) {
        let read =
            |of| state.memory.read(of, thing.start, thing.size).ok_or("a part of the state cannot be read");
        let (one, two) = (read(1)?, read(2)?);
        let own = state.types.get(state.types.behind(thing.ty)).size;
        let typed = (thing.lead as usize, (thing.lead + own * thing.count) as usize);
        let differs = |path: String| format!("recorded apart, the two find another value in `{path}`");
        for (at, (a, b)) in one[typed.0..typed.1]
            .chunks_exact(own.max(1) as usize)
            .zip(two[typed.0..typed.1].chunks_exact(own.max(1) as usize))
            .enumerate()
        {
            let name = if thing.count > 1 { format!("{}[{at}]", thing.name) } else { thing.name.clone() };
            if let Some(path) = other_field(&values, thing.ty, [a, b], &name) {
                return Err(differs(path));
            }
        }
        if one[..typed.0] != two[..typed.0] || one[typed.1..] != two[typed.1..] {
            return Err(differs(thing.name.clone()));
        }
        names.push(format!("`{}`", thing.name));
    }
    Ok(names)
}

/// The first field of a value that is another one in the other image.
fn other_field(
    values: &Values<'_, '_, '_, '_>,
    ty: TypeId,
    [one, two]: [&[u8]; 2],
    path: &str,
) -> Option<String> {
    if one == two || values.value(ty, one, path) == values.value(ty, two, path) {
        return None;
    }
    let types = &values.state.types;
    let of_field = |field: &Field| {
        let (start, size) = (field.offset as usize, types.get(types.behind(field.ty)).size as usize);
        let part = |bytes: &'_ [u8]| bytes.get(start..start + size).map(<[u8]>::to_vec);
        let (a, b) = (part(one)?, part(two)?);
        let name = field.name.as_ref().map(|name| format!(".{name}")).unwrap_or_default();
        other_field(values, field.ty, [&a, &b], &format!("{path}{name}"))
    };
    let inner = match &types.get(types.behind(ty)).shape {
        Shape::Structure(fields) if fields.iter().all(|field| field.bits.is_none()) => {
            fields.iter().find_map(of_field)
        }
        _ => None,
    };
    Some(inner.unwrap_or_else(|| path.to_owned()))
}
