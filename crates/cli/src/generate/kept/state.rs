//! The memory that two calls need, as things with types and names: variables of the program, blocks of the heap, and what lies on stacks.
//!
//! It begins with the variables that the two touch and with what they are given, and follows pointers by their types. What the calls touch is carried, and what that points to; what
//! lies behind is told as missing. Two pointers to the same thing are two pointers to the same thing in the test, whichever strand has them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use threadbare_explore::trap::Held;
use threadbare_symbols::{Part, Shape, Symbols, TypeId, Types};

/// Bytes that a test may carry.
const MOST_BYTES: u64 = 1 << 16;
/// Things that a test may carry.
const MOST_THINGS: usize = 200;

/// Times that something is followed: more often than things can come up, and types change.
const MOST_ROUNDS: usize = 10 * MOST_THINGS;
/// Bytes of an object without a type that nobody touches between those that calls do.
const GAP: u64 = 256;

/// Why a test cannot be kept.
pub(super) type Refusal = String;

/// Where a thing lies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// A variable of the program's, by its symbol, and its source file if others have the same.
    Variable(String, Option<String>),
    /// A block of the heap.
    Block,
    /// Memory of a stack, or other memory that no symbol names.
    Other,
    /// Memory that a call gives its result in: there is nothing in it yet.
    Result,
}

/// A thing that the test carries.
#[derive(Clone, Debug)]
pub(super) struct Thing {
    pub(super) name: String,
    pub(super) start: u64,
    pub(super) size: u64,
    /// Nothing if it is not known: then it is words.
    pub(super) ty: TypeId,
    /// How many of the type lie one after the other.
    pub(super) count: u64,
    /// Bytes of a block before the first of them: counts of an `Arc`, or what nobody has a pointer to.
    pub(super) lead: u64,
    pub(super) place: Place,
    /// The calls touch it.
    pub(super) touched: bool,
    /// Which calls come to it.
    pub(super) of: Images,
    followed: TypeId,
    was_followed: bool,
}

/// What a pointer leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Target {
    /// A thing, by number, and how far into it.
    Thing(usize, u64),
    /// A function or an untouched variable of the program, by its symbol, and how far into it.
    Symbol(String, u64),
    /// The same of a library.
    Library(String, u64),
    /// A text that is never written.
    Text(String),
    /// Something without a name in the program's file.
    Image(u64),
    /// A number that is no address.
    Number(u64),
    /// Memory that was not recorded.
    Missing(u64),
}

/// A run that is held where a call begins, or both do.
pub(super) struct Image<'h, 's> {
    pub(super) held: &'h Held<'s>,
    /// What was there before a call wrote it.
    pub(super) undone: BTreeMap<u64, u8>,
    /// Bytes that its calls touch, by 8.
    pub(super) touched: BTreeSet<u64>,
    /// Bytes of the program's variables among them.
    pub(super) own: BTreeSet<u64>,
}

/// Memory as it was when the two calls began: of one run, or of one for each of them.
pub(super) struct Memory<'h, 's> {
    pub(super) images: Vec<Image<'h, 's>>,
    pub(super) symbols: &'h Symbols,
    /// Blocks of the heap and their sizes.
    pub(super) blocks: BTreeMap<u64, u64>,
    /// Bytes that the calls touch, by 8.
    pub(super) touched: BTreeSet<u64>,
    pub(super) maps: Vec<(u64, u64, bool, String)>,
}

impl<'h, 's> Memory<'h, 's> {
    pub(super) fn new(
        images: Vec<Image<'h, 's>>,
        symbols: &'h Symbols,
        blocks: BTreeMap<u64, u64>,
    ) -> Memory<'h, 's> {
        let touched = images.iter().flat_map(|image| image.touched.iter().copied()).collect();
        let maps = images.iter().flat_map(|image| image.held.maps()).collect();
        Memory { images, symbols, blocks, touched, maps }
    }

    /// Bytes of what is in some of the images; none where nothing can be read.
    pub(super) fn read(&self, of: Images, start: u64, size: u64) -> Option<Vec<u8>> {
        let image = self.image(of)?;
        let mut bytes = vec![0; usize::try_from(size).ok()?];
        if !image.held.read(start, &mut bytes) {
            return None;
        }
        for (at, byte) in image.undone.range(start..start + size) {
            bytes[(at - start) as usize] = *byte;
        }
        Some(bytes)
    }

    fn image(&self, of: Images) -> Option<&Image<'h, 's>> {
        self.images.get(of.trailing_zeros() as usize).or_else(|| self.images.first())
    }

    /// The images whose calls touch some of these bytes.
    fn touched_by(&self, start: u64, end: u64) -> Images {
        let touches = |image: &Image<'_, '_>| image.touched.range(start & !7..end).next().is_some();
        self.images.iter().enumerate().fold(0, |of, (at, image)| of | u8::from(touches(image)) << at)
    }

    fn is_touched(&self, start: u64, end: u64) -> bool {
        self.touched_by(start, end) != 0
    }

    fn map(&self, address: u64) -> Option<&(u64, u64, bool, String)> {
        self.maps.iter().find(|(start, end, ..)| (*start..*end).contains(&address))
    }
}

/// Which of the images something is in, a bit for each.
pub(super) type Images = u8;

/// All that the test carries.
pub(super) struct State<'m, 'h, 's> {
    pub(super) memory: &'m Memory<'h, 's>,
    pub(super) types: Types,
    pub(super) things: Vec<Thing>,
    names: BTreeMap<String, usize>,
    /// The images in which something leads to what is found now.
    pub(super) within: Images,
    /// Memory of vectors that nobody need have touched, and its size: Rust's own code moves it when they grow.
    vectors: RefCell<BTreeMap<u64, u64>>,
}

impl<'m, 'h, 's> State<'m, 'h, 's> {
    pub(super) fn new(memory: &'m Memory<'h, 's>, types: Types) -> Self {
        State {
            memory,
            types,
            things: Vec::new(),
            names: BTreeMap::new(),
            within: 1,
            vectors: RefCell::default(),
        }
    }

    /// The number of the thing that holds an address.
    pub(super) fn thing_at(&self, address: u64) -> Option<usize> {
        self.things.iter().position(|thing| address >= thing.start && address - thing.start < thing.size)
    }

    /// Carries the variable that holds an address, if one does.
    pub(super) fn variable(&mut self, address: u64) {
        self.reached(address);
        let object = self.memory.symbols.object(address, &mut self.types);
        if let Some(object) = object.filter(|object| object.module == 0)
            && self.thing_at(address).is_none()
            && self.memory.map(address).is_some_and(|(.., writable, _)| *writable)
        {
            let known = self.types.get(object.ty).size;
            let ty = if known > 0 && known <= object.size { object.ty } else { TypeId::VOID };
            let named = self.memory.symbols.variable(object.start).map(|it| it.name.clone());
            let named = named.unwrap_or_else(|| object.symbol.clone());
            let last = named.rsplit("::").next().unwrap_or_default();
            let name = last.split('.').next().unwrap_or_default().to_owned();
            let place = Place::Variable(object.symbol, object.file);
            self.add(&name, object.start, object.size, ty, place);
        }
    }

    /// What is known already is in these images, too.
    fn reached(&mut self, address: u64) {
        if let Some(at) = self.thing_at(address) {
            self.things[at].of |= self.within;
        }
    }

    /// What a thing has in it.
    pub(super) fn bytes(&self, thing: &Thing) -> Option<Vec<u8>> {
        self.memory.read(thing.of, thing.start, thing.size)
    }

    /// What arrays are made of: of them the test has the elements.
    fn element(&self, mut ty: TypeId) -> TypeId {
        while let Shape::Array(element, _) = self.types.get(self.types.behind(ty)).shape {
            ty = element;
        }
        ty
    }

    fn add(&mut self, name: &str, start: u64, size: u64, mut ty: TypeId, place: Place) {
        ty = self.element(ty);
        let own = self.types.get(self.types.behind(ty)).size;
        let count = if own > 0 && size.is_multiple_of(own) { size / own } else { 1 };
        let touched_by = self.memory.touched_by(start, start + size);
        let inside = self.things.iter().filter(|old| old.start >= start && old.start < start + size);
        let of = inside.fold(self.within | touched_by, |of, old| of | old.of);
        let touched = touched_by != 0;
        self.things.retain(|old| old.start < start || old.start >= start + size);
        let (followed, was_followed, name) = (TypeId::VOID, false, name.to_owned());
        self.things.push(Thing {
            name,
            start,
            size,
            ty,
            count,
            lead: 0,
            place,
            touched,
            of,
            followed,
            was_followed,
        });
    }

    /// A pointer of this type to something: the thing there is carried.
    pub(super) fn pointer(&mut self, address: u64, pointee: TypeId) {
        let behind = self.types.behind(pointee);
        let size = self.types.get(behind).size;
        if matches!(self.types.get(behind).shape, Shape::Function { .. }) || address == 0 {
            return;
        }
        if self.memory.symbols.locate(address).is_some() {
            self.variable(address);
            return;
        }
        self.reached(address);
        let before = |blocks: &BTreeMap<u64, u64>| {
            let (&start, &size) = blocks.range(..=address).next_back()?;
            (address - start < size).then_some((start, size))
        };
        let block = before(&self.memory.blocks).or_else(|| before(&self.vectors.borrow()));
        if let Some((start, whole)) = block.filter(|(start, size)| address - start < *size) {
            let lead = address - start;
            let pointee = self.element(pointee);
            let behind = self.types.behind(pointee);
            let size = self.types.get(behind).size;
            let is_record = matches!(
                self.types.get(behind).shape,
                Shape::Structure(_) | Shape::Union(_) | Shape::Variants { .. }
            );
            let fits = size > 0 && lead + size <= whole && (lead == 0 || is_record);
            if !fits {
                if self.thing_at(start).is_none() {
                    self.add("", start, whole, TypeId::VOID, Place::Block);
                }
                return;
            }
            let known = self.thing_at(start).filter(|&at| self.things[at].start == start);
            let at = known.unwrap_or_else(|| {
                self.add("", start, whole, pointee, Place::Block);
                self.things.len() - 1
            });
            let rest = whole - lead;
            let (old, thing) =
                (self.types.get(self.types.behind(self.things[at].ty)).size, &mut self.things[at]);
            // Of two types the larger one says more, of one type the pointer to the first of several.
            if known.is_none() || size > old || size == old && lead < thing.lead {
                (thing.ty, thing.lead) = (pointee, lead);
                thing.count = if rest.is_multiple_of(size) { rest / size } else { 1 };
            }
            return;
        }
        let writable = self.memory.map(address).is_some_and(|(.., writable, _)| *writable);
        if !writable {
            return;
        }
        // As many as the calls touch.
        let one = if size > 0 { size } else { 8 };
        let mut whole = one;
        while whole < MOST_BYTES
            && self.memory.is_touched(address + whole, address + whole + one)
            && !self.lies_across(address, address + whole, one)
        {
            whole += one;
        }
        self.cut(address, one);
        // Of an object without a type a call need not touch every byte.
        let next = |end: u64| self.memory.touched.range(end..end + GAP).next().copied();
        while size == 0
            && whole < MOST_BYTES
            && let Some(cell) = next(address + whole)
        {
            whole = cell + 8 - address;
        }
        // How far goes what nobody touches is not known, unless it is a text.
        if !self.memory.is_touched(address, address + one) {
            match self.memory.image(self.within).and_then(|image| image.held.text(address)) {
                Some(text) if size == 1 && !text.is_empty() && text.len() < 255 => {
                    whole = text.len() as u64 + 1
                }
                _ => return,
            }
        }
        // A pointer without a type says nothing new of memory that is carried.
        let inside = self.things.iter().any(|thing| {
            let holds = address >= thing.start && address < thing.start + thing.size;
            holds && (size == 0 || address + whole <= thing.start + thing.size)
        });
        if !inside {
            let ty = if size > 0 { pointee } else { TypeId::VOID };
            self.add("", address, whole, ty, Place::Other);
        }
    }

    /// Whether something begins in the element that would come next of several, and does not end in it: they are no array then.
    fn lies_across(&self, start: u64, next: u64, one: u64) -> bool {
        let inside =
            self.things.iter().filter(|it| it.start > start && (next..next + one).contains(&it.start));
        inside.into_iter().any(|it| it.start > next && it.start + it.size > next + one)
    }

    /// What was taken for several of a type, as the memory behind the first is touched too, is fewer if something else lies across the end of one.
    fn cut(&mut self, address: u64, size: u64) {
        for at in 0..self.things.len() {
            let thing = &self.things[at];
            let own = self.types.get(self.types.behind(thing.ty)).size;
            let guessed = thing.place == Place::Other && thing.count > 1 && own > 0;
            let inside = address > thing.start && address < thing.start + thing.size;
            if !guessed || !inside || (address - thing.start) % own + size <= own {
                continue;
            }
            let count = (address - thing.start) / own;
            let thing = &mut self.things[at];
            (thing.count, thing.size) = (count.max(1), count.max(1) * own);
        }
    }

    /// Carries the memory that a call gives its result in.
    pub(super) fn result(&mut self, address: u64, ty: TypeId) {
        let size = self.types.get(self.types.behind(ty)).size;
        if size > 0 && self.thing_at(address).is_none() {
            self.add("result", address, size, ty, Place::Result);
        }
    }

    /// What a call is given leads to.
    pub(super) fn argument(&mut self, ty: TypeId, bytes: &[u8]) {
        let mut found = Vec::new();
        self.pointers(ty, bytes, &mut found);
        for (address, pointee) in found {
            self.pointer(address, pointee);
        }
    }

    /// Follows the pointers of what the calls touch, until nothing new comes up.
    pub(super) fn follow(&mut self) -> Result<(), Refusal> {
        let mut rounds = 0;
        while let Some(at) = self.things.iter().position(|it| {
            it.touched && it.place != Place::Result && (!it.was_followed || it.followed != it.ty)
        }) {
            rounds += 1;
            if rounds > MOST_ROUNDS {
                return Err("its state has things that lie over each other".to_owned());
            }
            let thing = &mut self.things[at];
            (thing.followed, thing.was_followed) = (thing.ty, true);
            let Thing { start, size, ty, count, lead, of, .. } = *thing;
            self.within = of;
            if self.things.len() > MOST_THINGS
                || self.things.iter().map(|it| it.size).sum::<u64>() > MOST_BYTES
            {
                return Err(format!(
                    "the two need more than {MOST_THINGS} things or {} KiB of state",
                    MOST_BYTES >> 10
                ));
            }
            let bytes = self.memory.read(of, start, size).ok_or("a part of the state cannot be read")?;
            let mut pointers = Vec::new();
            let own = self.types.get(self.types.behind(ty)).size;
            let typed = if own > 0 { (own * count) as usize } else { 0 };
            let (before, bytes) = bytes.split_at(lead as usize);
            for part in bytes[..typed].chunks_exact(own.max(1) as usize) {
                self.pointers(ty, part, &mut pointers);
            }
            for word in before.chunks_exact(8).chain(bytes[typed..].chunks_exact(8)) {
                pointers.push((u64::from_le_bytes(word.try_into().unwrap_or_default()), TypeId::VOID));
            }
            for (address, pointee) in pointers {
                // A word that may be anything is a pointer only to what is a thing for sure.
                let sure =
                    pointee != TypeId::VOID || self.memory.is_touched(address, address.saturating_add(8));
                if sure {
                    self.pointer(address, pointee);
                }
            }
        }
        self.name();
        Ok(())
    }

    /// The pointers in a value.
    fn pointers(&self, ty: TypeId, bytes: &[u8], found: &mut Vec<(u64, TypeId)>) {
        let this = self.types.get(self.types.behind(ty));
        match &this.shape {
            Shape::Pointer(target) => {
                if let Some(word) = bytes.first_chunk::<8>() {
                    found.push((u64::from_le_bytes(*word), *target));
                }
            }
            Shape::Structure(parts) | Shape::Union(parts) => {
                if this.name.as_deref().is_some_and(|name| name.starts_with("RawVec<")) {
                    self.vector(parts, bytes);
                }
                self.pointers_of(parts, bytes, found);
            }
            shape @ Shape::Variants { .. } => {
                if let Some((_, parts)) = self.types.variant(shape, bytes) {
                    self.pointers_of(&parts, bytes, found);
                }
            }
            Shape::Array(element, length) => {
                let size = self.types.get(self.types.behind(*element)).size.max(1) as usize;
                for item in bytes.chunks_exact(size).take(length.unwrap_or(0) as usize) {
                    self.pointers(*element, item, found);
                }
            }
            _ => {}
        }
    }

    /// Notes how much memory a vector of Rust's has.
    fn vector(&self, parts: &[Part], bytes: &[u8]) {
        let word = |part: &Part| {
            let word = bytes.get(part.offset as usize..)?.first_chunk::<8>()?;
            Some((u64::from_le_bytes(*word), &self.types.get(self.types.behind(part.ty)).shape))
        };
        let words: Vec<_> = parts.iter().filter_map(word).collect();
        if let [(a, one), (b, two)] = words[..] {
            let (start, room, element) = match (one, two) {
                (Shape::Pointer(element), _) => (a, b, *element),
                (_, Shape::Pointer(element)) => (b, a, *element),
                _ => return,
            };
            let whole = room.saturating_mul(self.types.get(self.types.behind(element)).size);
            if whole > 0 && whole <= MOST_BYTES && self.memory.read(self.within, start, whole).is_some() {
                self.vectors.borrow_mut().insert(start, whole);
            }
        }
    }

    fn pointers_of(&self, parts: &[Part], bytes: &[u8], found: &mut Vec<(u64, TypeId)>) {
        for part in parts {
            if let Some(bytes) = bytes.get(part.offset as usize..) {
                self.pointers(part.ty, bytes, found);
            }
        }
    }

    /// Gives names to things that have none, after their types.
    fn name(&mut self) {
        self.things.sort_by_key(|thing| (matches!(thing.place, Place::Variable(..)), thing.start));
        for at in 0..self.things.len() {
            let thing = &self.things[at];
            let base = match &thing.place {
                Place::Variable(..) | Place::Result => thing.name.clone(),
                _ if thing.ty == TypeId::VOID => "memory".to_owned(),
                _ => self.plain_name(thing.ty),
            };
            let number = self.names.entry(base.clone()).or_default();
            *number += 1;
            let variable = matches!(thing.place, Place::Variable(..));
            let name = if variable && *number == 1 { base } else { format!("{base}_{number}") };
            self.things[at].name = crate::generate::kept::source::safe(&name);
        }
    }

    fn plain_name(&self, ty: TypeId) -> String {
        let this = self.types.get(ty);
        let name = this.name.clone().or_else(|| self.types.get(self.types.behind(ty)).name.clone());
        let name = name.unwrap_or_else(|| "memory".to_owned());
        let name = name.split(['<', '{']).next().unwrap_or_default();
        let name = name.rsplit("::").next().unwrap_or_default().trim_start_matches('_');
        let plain: String =
            name.chars().take(40).map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let plain = plain.trim_end_matches("_t").to_lowercase();
        if plain.is_empty() {
            return "memory".to_owned();
        }
        if this.size == 1 {
            return "text".to_owned();
        }
        if matches!(this.shape, Shape::Integer { .. } | Shape::Float) { "number".to_owned() } else { plain }
    }

    /// What a pointer leads to.
    pub(super) fn target(&self, address: u64) -> Target {
        if let Some(at) = self.thing_at(address) {
            return Target::Thing(at, address - self.things[at].start);
        }
        let symbols = self.memory.symbols;
        if let Some((module, offset)) = symbols.locate(address) {
            let named = |name: String, offset: u64| match module {
                0 => Target::Symbol(name, offset),
                // What lay on a stack before may lead into the runtime.
                _ if name.contains("threadbare") => Target::Missing(address),
                _ => Target::Library(name, offset),
            };
            if let Some((name, _)) = symbols.function_symbol(address) {
                return named(name, 0);
            }
            if let Some(object) = symbols.object(address, &mut Types::default()) {
                return named(object.symbol, address - object.start);
            }
            return match (module, self.text(address)) {
                (_, Some(text)) => Target::Text(text),
                (0, None) => Target::Image(offset),
                _ => Target::Missing(address),
            };
        }
        match self.memory.map(address) {
            // What ends where nothing begins is one behind the last.
            None => match self.things.iter().position(|thing| address == thing.start + thing.size) {
                Some(at) => Target::Thing(at, self.things[at].size),
                None => Target::Number(address),
            },
            Some(_) => match self.things.iter().position(|thing| address == thing.start + thing.size) {
                Some(at) => Target::Thing(at, self.things[at].size),
                None => Target::Missing(address),
            },
        }
    }

    /// The text at an address that is never written.
    fn text(&self, address: u64) -> Option<String> {
        let (.., writable, _) = self.memory.map(address)?;
        let text = self.memory.image(1)?.held.text(address).filter(|_| !writable)?;
        let printable = |c: char| c == '\n' || c == '\t' || (' '..='~').contains(&c);
        (text.len() < 200 && text.chars().all(printable)).then_some(text)
    }
}
