//! What addresses of a run mean in the source, each looked up once.

use crate::array::Array;
use crate::location::{Home, Location};
use crate::objects::Names;
use crate::recording::{Access, Recording};
use crate::sequence::Sequence;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use threadbare_code::{Exit, Exits, Given};
use threadbare_symbols::{LocalScalar, NoScalar, Pc, ReturnScalar, Scalar, ScalarKind, StackFrame, Symbols};

/// A function at an instruction, the one that is compiled or one that was put into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// Its name without parameters.
    pub function: String,
    /// The source file, as it is shown.
    pub file: String,
    /// The line of the instruction, or of the call that leads to it.
    pub line: u32,
    /// The column, 0 if that is not known.
    pub column: u32,
    /// Whether the code is the program's own, and its place known.
    pub own: bool,
}

/// Larger arrays and blocks are not told beside an access.
const MOST_BESIDE: u64 = 256;

/// Callers that are looked at for the name of a field: enough to come out of a library.
const CALLERS: usize = 12;

/// The variable that an access touches, by number, or why there is none.
pub(crate) type Spot = Result<usize, NoScalar>;

/// The program of the runs: names and types.
pub struct Program {
    symbols: Symbols,
    chains: HashMap<u64, Rc<[Level]>>,
    globals: HashMap<(u64, u8), Spot>,
    /// By the calls that lead there, the instruction, bytes of the block, place in it and bytes touched.
    fields: HashMap<(u32, u64, u64, u64, u8), Spot>,
    /// Calls that lead somewhere, by those before the last one and the last one.
    contexts: HashMap<(u32, u64), u32>,
    /// By the frame, moved to the beginning of memory, place in it and bytes touched.
    locals: HashMap<(StackFrame, u64, u8), Spot>,
    numbers: HashMap<(String, u8), usize>,
    locations: Vec<Location>,
    arrays: BTreeMap<String, Array>,
    /// Sequences on the heap, by the names of what holds them.
    sequences: BTreeMap<String, Sequence>,
    /// By the number of a module, where its functions end; none where its code cannot be read.
    exits: HashMap<usize, Option<Exits>>,
    /// What pointers lead to.
    objects: Names,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("locations", &self.locations).finish_non_exhaustive()
    }
}

impl Program {
    /// The program with these symbols.
    pub fn new(symbols: Symbols) -> Self {
        Self {
            symbols,
            chains: HashMap::default(),
            globals: HashMap::default(),
            fields: HashMap::default(),
            contexts: HashMap::default(),
            locals: HashMap::default(),
            numbers: HashMap::default(),
            locations: Vec::new(),
            arrays: BTreeMap::new(),
            sequences: BTreeMap::new(),
            exits: HashMap::default(),
            objects: Names::default(),
        }
    }

    /// The functions at a return address, outermost first.
    pub fn chain(&mut self, pc: u64) -> Rc<[Level]> {
        let symbols = &self.symbols;
        let make = || {
            let frames = symbols.frames(Pc::Return(pc));
            let level = |frame: &threadbare_symbols::Frame| Level {
                function: frame.short_name().to_owned(),
                file: frame.file.as_deref().map(|file| symbols.shown_path(file)).unwrap_or_default(),
                line: frame.line.unwrap_or(0),
                column: frame.column.unwrap_or(0),
                own: !frame.is_library() && frame.file.is_some() && frame.line.is_some_and(|line| line > 0),
            };
            frames.iter().rev().map(level).collect()
        };
        Rc::clone(self.chains.entry(pc).or_insert_with(make))
    }

    /// The number of what is allocated with these instructions on the stack, innermost first: it is called by the program's own place.
    pub(crate) fn allocated_at(&mut self, stack: impl Iterator<Item = u64>) -> Option<u64> {
        for pc in stack {
            if let Some(level) = self.chain(pc).iter().rev().find(|level| level.own) {
                let file = level.file.rsplit('/').next().unwrap_or_default();
                let name = format!("{file}:{}", level.line);
                return Some(self.objects.number(name));
            }
        }
        None
    }

    /// The number of the global, the static or the function that lies at an address.
    pub(crate) fn object_name(&mut self, address: u64) -> Option<u64> {
        let symbols = &self.symbols;
        let of_variable = || {
            let variable = symbols.variable(address)?;
            // An element is an object of its own; a field is a part of one.
            let index = variable.path.strip_prefix('[').and_then(|rest| rest.split_once(']'));
            Some(index.map_or(variable.name.clone(), |(index, _)| format!("{}[{index}]", variable.name)))
        };
        let of_function = || {
            symbols.function_symbol(address)?;
            symbols.frames(Pc::At(address)).last().map(|frame| frame.short_name().to_owned())
        };
        self.objects.fixed(address, || of_variable().or_else(of_function))
    }

    /// What an object is called, by its number.
    pub(crate) fn object(&self, number: u64) -> Option<&str> {
        self.objects.get(number)
    }

    /// The parameters and locals of one value at a place in the code.
    pub(crate) fn local_scalars(&self, pc: Pc) -> Vec<LocalScalar> {
        self.symbols.local_scalars(pc)
    }

    /// What the function that was compiled at a place gives back.
    pub(crate) fn return_scalar(&self, pc: Pc) -> Result<Option<ReturnScalar>, NoScalar> {
        self.symbols.return_scalar(pc)
    }

    /// Where a module's functions end, the address in it, and what was added to that.
    fn code(&mut self, address: u64) -> Option<(&Exits, u64, u64)> {
        let (module, linked) = self.symbols.locate(address)?;
        let path = &self.symbols.modules().nth(module)?.path;
        let exits = self.exits.entry(module).or_insert_with(|| Exits::read(path).ok());
        Some((exits.as_ref()?, linked, address - linked))
    }

    /// Where the function begins that was compiled at a return address.
    pub(crate) fn function_start(&mut self, pc: u64) -> Option<u64> {
        let (exits, linked, base) = self.code(pc.wrapping_sub(1))?;
        Some(exits.function_start(linked)?.wrapping_add(base))
    }

    /// The exits of the function that begins there, as they are loaded; none unless all of them show what it gives back.
    pub(crate) fn exits(&mut self, start: u64, given: Given, size: u8) -> Vec<Exit> {
        let Some((exits, linked, base)) = self.code(start) else { return Vec::new() };
        let mut found = exits.of(linked, given, size).unwrap_or_default();
        found.iter_mut().for_each(|exit| exit.after = exit.after.wrapping_add(base));
        found
    }

    /// The variable of every access of a run.
    ///
    /// A field of the heap is named by the code that touches it, and not all code leaves no doubt. What one access makes certain is true
    /// for all others to the same bytes of the same block; where two say different things, none is believed.
    pub(crate) fn spots(&mut self, run: &Recording) -> Vec<Spot> {
        let contexts = self.contexts(run);
        let mut agreed: HashMap<(u64, u64, u64, u8), Spot> = HashMap::default();
        let mut spots = Vec::with_capacity(run.accesses.len());
        for access in &run.accesses {
            let spot = match (access.block, access.frame) {
                (None, None) => self.global(access.addr, access.size),
                (None, Some(frame)) => self.local(frame, access),
                (Some((start, size)), _) => {
                    let context = contexts[access.activation as usize];
                    let spot = self.field(run, access, (start, size), context);
                    let key = (start, size, access.addr, access.size);
                    let known = agreed.entry(key).or_insert(spot);
                    if *known != spot && spot != Err(NoScalar::NoVariable) {
                        let first = *known == Err(NoScalar::NoVariable);
                        *known = if first { spot } else { Err(NoScalar::Doubtful) };
                    }
                    spot
                }
            };
            spots.push(spot);
        }
        for (access, spot) in run.accesses.iter().zip(&mut spots) {
            if let Some((start, size)) = access.block
                && let Some(known) = agreed.get(&(start, size, access.addr, access.size))
            {
                *spot = *known;
            }
        }
        spots
    }

    /// Parts accesses to several variables into accesses to each of them, where types leave no doubt which they are.
    pub fn part(&mut self, run: &mut Recording) {
        let contexts = self.contexts(run);
        let mut parted = Vec::with_capacity(run.accesses.len());
        let mut begins = Vec::with_capacity(run.accesses.len());
        for access in &run.accesses {
            begins.push(parted.len());
            let context = contexts[access.activation as usize];
            match self.spot(run, access, context) {
                Err(NoScalar::Doubtful) if access.size > 1 => {
                    let pieces = self.pieces(run, access, context).filter(|pieces| !pieces.is_empty());
                    match pieces {
                        Some(mut pieces) => {
                            pieces[0].goes_on = access.goes_on;
                            parted.extend(pieces);
                        }
                        None => parted.push(*access),
                    }
                }
                _ => parted.push(*access),
            }
        }
        run.replace(parted, &begins);
    }

    /// The accesses to single variables that an access is made of; nothing if one piece of it is in doubt. Bytes between fields are none.
    fn pieces(&mut self, run: &Recording, access: &Access, context: u32) -> Option<Vec<Access>> {
        match self.spot(run, access, context) {
            Err(NoScalar::Doubtful) if access.size > 1 => {}
            Err(NoScalar::Doubtful) => return None,
            Err(NoScalar::Padding) => return Some(Vec::new()),
            _ => return Some(vec![*access]),
        }
        let size = access.size / 2;
        let bits = u32::from(size) * 8;
        let low = |raw: u64| raw & ((1 << bits) - 1);
        let first = Access { size, before: low(access.before), after: access.after.map(low), ..*access };
        let second = Access {
            size,
            addr: access.addr + u64::from(size),
            goes_on: true,
            before: access.before >> bits,
            after: access.after.map(|after| after >> bits),
            ..*access
        };
        let mut pieces = self.pieces(run, &first, context)?;
        pieces.extend(self.pieces(run, &second, context)?);
        Some(pieces)
    }

    fn spot(&mut self, run: &Recording, access: &Access, context: u32) -> Spot {
        match (access.block, access.frame) {
            (None, None) => self.global(access.addr, access.size),
            (None, Some(frame)) => self.local(frame, access),
            (Some(block), _) => self.field(run, access, block, context),
        }
    }

    /// Of each activation of a run a number for the calls that lead to it, the same in all runs.
    fn contexts(&mut self, run: &Recording) -> Vec<u32> {
        let mut contexts: Vec<u32> = Vec::with_capacity(run.activations.len());
        for activation in &run.activations {
            let outer = activation.parent.map_or(0, |parent| contexts[parent as usize]);
            let next = self.contexts.len() as u32 + 1;
            contexts.push(*self.contexts.entry((outer, activation.call)).or_insert(next));
        }
        contexts
    }

    fn global(&mut self, addr: u64, size: u8) -> Spot {
        if let Some(&known) = self.globals.get(&(addr, size)) {
            return known;
        }
        let found = self.symbols.scalar(addr, size.into());
        let named = |scalar: Scalar| Scalar { name: format!("::{}", scalar.name), ..scalar };
        let found = found.map(|scalar| self.scalar(named(scalar), Home::Fixed));
        self.globals.insert((addr, size), found);
        found
    }

    fn local(&mut self, frame: StackFrame, access: &Access) -> Spot {
        let below = access.addr.wrapping_sub(frame.address);
        let key = (frame.moved_to(0), below, access.size);
        if let Some(&known) = self.locals.get(&key) {
            return known;
        }
        let found = self.symbols.local_scalar(frame, access.addr, access.size.into());
        let found = found.map(|scalar| self.scalar(scalar, Home::Stack));
        self.locals.insert(key, found);
        found
    }

    fn field(&mut self, run: &Recording, access: &Access, (start, bytes): (u64, u64), context: u32) -> Spot {
        let offset = access.addr - start;
        let key = (context, access.pc, bytes, offset, access.size);
        if let Some(&known) = self.fields.get(&key) {
            return known;
        }
        let stack: Vec<Pc> = run.stack(access).into_iter().take(CALLERS).map(Pc::Return).collect();
        let field = self.symbols.field_access(&stack, bytes, offset, access.size.into());
        let found = match field {
            Some(field) => match (field.class, field.scalar) {
                (Ok(_), Some(scalar)) => Ok(self.scalar(scalar, Home::Heap)),
                (Ok(_), None) => Err(NoScalar::Doubtful),
                (Err(why), _) => Err(why),
            },
            None => Err(NoScalar::NoVariable),
        };
        self.fields.insert(key, found);
        found
    }

    fn scalar(&mut self, scalar: Scalar, home: Home) -> usize {
        let in_variant = scalar.content.is_some();
        let array = scalar.element.and_then(|of| Some((Array::new(&scalar.name, of)?, of.index as usize)));
        let number = self.number(scalar.name.clone(), scalar.class, scalar.size as u8, home);
        self.locations[number].content = scalar.content;
        if let Some(of) = &scalar.sequence {
            let (name, part) = match &of.within {
                Some(variant) => (format!("{}.{variant}", scalar.name), "tag"),
                None => {
                    let (name, part) = scalar.name.rsplit_once('.').unwrap_or((&scalar.name, ""));
                    (name.to_owned(), part)
                }
            };
            let sequence = self.sequences.entry(name);
            sequence.or_insert_with_key(|name| Sequence::new(name, of, home)).put(part, number);
        }
        if let Some((array, index)) = array {
            let name = array.name.clone();
            let array = self.arrays.entry(name.clone()).or_insert(array);
            let fresh = array.elements.iter().all(Option::is_none);
            if let Some(element) = array.elements.get_mut(index) {
                *element = Some(number);
            }
            if fresh && !in_variant {
                self.add_elements(&name, number);
            }
        }
        number
    }

    /// Gives all elements of an array a number: what is beside one that is touched is told, too.
    fn add_elements(&mut self, array: &str, like: usize) {
        let count = self.arrays[array].elements.len();
        for index in 0..count {
            if self.arrays[array].elements[index].is_none() {
                let name = format!("{array}[{index}]");
                let mut like = self.locations[like].clone();
                like.name.clone_from(&name);
                let next = self.locations.len();
                let number = *self.numbers.entry((name, like.size)).or_insert(next);
                if number == next {
                    self.locations.push(like);
                }
                if let Some(array) = self.arrays.get_mut(array) {
                    array.elements[index] = Some(number);
                }
            }
        }
    }

    /// How much there is to tell beside the accesses of a run, by their instructions: all of an array, and of a block that is a sequence's.
    pub(crate) fn besides(&mut self, run: &Recording) -> HashMap<u64, u16> {
        let spots = self.spots(run);
        let begins: HashSet<usize> = self.sequences.values().filter_map(Sequence::begin).collect();
        let mut starts: HashSet<u64> = HashSet::default();
        let mut widths: HashMap<usize, u64> = HashMap::default();
        for array in self.arrays.values() {
            for &element in array.elements.iter().flatten() {
                let bytes = array.elements.len() as u64 * u64::from(self.locations[element].size);
                widths.insert(element, bytes);
            }
        }
        for (access, spot) in run.accesses.iter().zip(&spots) {
            if spot.is_ok_and(|variable| begins.contains(&variable)) {
                starts.insert(access.before);
                starts.extend(access.after);
            }
        }
        let mut besides: HashMap<u64, u16> = HashMap::default();
        for (access, spot) in run.accesses.iter().zip(&spots) {
            let array = spot.ok().and_then(|variable| widths.get(&variable).copied());
            let block = access.block.filter(|(start, _)| starts.contains(start)).map(|(_, bytes)| bytes);
            let bytes = array.or(block).filter(|bytes| *bytes <= MOST_BESIDE);
            if let Some(bytes) = bytes {
                let known = besides.entry(access.pc).or_insert(0);
                *known = (*known).max(bytes as u16);
            }
        }
        besides
    }

    /// The instructions of a run that touch what says where sequences are: what is there has to be known, whether strands change it or not.
    pub fn borders(&mut self, run: &Recording) -> HashSet<u64> {
        let spots = self.spots(run);
        let borders: HashSet<usize> = self.sequences.values().flat_map(Sequence::parts).collect();
        let touching = run.accesses.iter().zip(spots);
        let touching = touching.filter(|(_, spot)| spot.is_ok_and(|variable| borders.contains(&variable)));
        touching.map(|(access, _)| access.pc).collect()
    }

    pub(crate) fn number(&mut self, name: String, class: ScalarKind, size: u8, home: Home) -> usize {
        let locations = &mut self.locations;
        *self.numbers.entry((name.clone(), size)).or_insert_with(|| {
            locations.push(Location::new(name, class, size, home));
            locations.len() - 1
        })
    }

    /// The arrays that variables are elements of, by name.
    pub(crate) fn arrays(&self) -> impl Iterator<Item = &Array> {
        self.arrays.values()
    }

    /// The sequences that variables are of, by name.
    pub(crate) fn sequences(&self) -> impl Iterator<Item = &Sequence> {
        self.sequences.values()
    }

    /// A variable by its number.
    pub(crate) fn location(&self, number: usize) -> &Location {
        &self.locations[number]
    }
}

/// How many functions, from the outermost on, two instructions of one compiled function have in common: both are in the same
/// activation of each.
pub(crate) fn shared_levels(a: &[Level], b: &[Level]) -> usize {
    let mut common = 0;
    while let (Some(of_a), Some(of_b)) = (a.get(common), b.get(common)) {
        if of_a.function != of_b.function {
            break;
        }
        common += 1;
        if (of_a.line, of_a.column) != (of_b.line, of_b.column) {
            break;
        }
    }
    common
}
