//! Values of a program, as expressions in C.

use super::ctypes::{Declarations, known, plain, same};
use super::state::{State, Target};
use std::cell::RefCell;
use std::fmt::Write;
use threadbare_symbols::{Part, Shape, TypeId};

/// Writes values of a state.
pub(super) struct Values<'a, 'm, 'h, 's> {
    pub(super) state: &'a State<'m, 'h, 's>,
    /// What is told as missing, and other things that are not as they were.
    pub(super) notes: RefCell<Vec<String>>,
}

impl Values<'_, '_, '_, '_> {
    /// The initialiser of a value; `None` if it is all zero. `path` is how a reader names it.
    pub(super) fn value(&self, ty: TypeId, bytes: &[u8], path: &str) -> Option<String> {
        let types = &self.state.types;
        let this = types.get(ty);
        if let Some(name) = known(this) {
            let four = |at: usize| bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
            let number = |at: usize| four(at).map_or(0, i32::from_le_bytes);
            match name {
                "pthread_mutex_t" => {
                    let kind = match number(16) & 3 {
                        1 => "PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP",
                        2 => "PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP",
                        _ => "PTHREAD_MUTEX_INITIALIZER",
                    };
                    return Some(kind.to_owned());
                }
                "pthread_cond_t" => return Some("PTHREAD_COND_INITIALIZER".to_owned()),
                "pthread_rwlock_t" => return Some("PTHREAD_RWLOCK_INITIALIZER".to_owned()),
                "pthread_spinlock_t" => return Some("1".to_owned()),
                "sem_t" => {
                    return (number(0) != 0).then(|| format!("{{ .__align = {} }}", number(0)));
                }
                "pthread_t" => {
                    if bytes.iter().any(|byte| *byte != 0) {
                        self.note(format!("{path} was a thread, and is 0"));
                    }
                    return None;
                }
                _ => {}
            }
        }
        if bytes.iter().all(|byte| *byte == 0) && !self.has_lock(ty) {
            return None;
        }
        if matches!(this.shape, Shape::Integer { .. })
            && let Some(pointer) = self.disguised(this.foreign, bytes, path)
        {
            return Some(pointer);
        }
        match &this.shape {
            Shape::Named(target) => self.value(*target, bytes, path),
            Shape::Declared { .. } if types.behind(ty) != ty => self.value(types.behind(ty), bytes, path),
            Shape::Integer { signed } => Some(integer(bytes, *signed)),
            Shape::Float => float(bytes),
            Shape::Enumeration(constants) => {
                let number = signed(bytes);
                let named = constants.iter().find(|(_, value)| *value == number && this.name.is_some());
                Some(match named {
                    Some((name, _)) if this.foreign => format!("{number} /* {name} */"),
                    Some((name, _)) => name.clone(),
                    None => number.to_string(),
                })
            }
            Shape::Pointer(target) => {
                let address = u64::from_le_bytes(*bytes.first_chunk::<8>()?);
                Some(self.pointer(address, *target, path))
            }
            Shape::Structure(parts) => Some(self.fields(parts, bytes, path)),
            Shape::Variants { .. } => {
                let (name, fields) = types.variant(&this.shape, bytes)?;
                Some(format!("{{ .{} = {} }}", plain(&name), self.fields(&fields, bytes, path)))
            }
            Shape::Union(parts) => {
                // Of parts as large as each other bytes say the least: there may be a pointer in them. A pointer that leads nowhere is a number.
                let rank = |part: &&Part| {
                    let size = types.get(types.behind(part.ty)).size;
                    (size, !self.is_bytes(part.ty), !self.leads_nowhere(part.ty, bytes))
                };
                let largest = parts.iter().max_by_key(rank)?;
                let size = types.get(types.behind(largest.ty)).size as usize;
                let value = self.value(largest.ty, bytes.get(..size)?, path)?;
                match &largest.name {
                    Some(name) => Some(format!("{{ .{name} = {value} }}")),
                    None => Some(value),
                }
            }
            Shape::Array(element, _) => self.array(*element, bytes, path),
            Shape::Void | Shape::Function { .. } | Shape::Declared { .. } => None,
        }
    }

    fn fields(&self, parts: &[Part], bytes: &[u8], path: &str) -> String {
        let types = &self.state.types;
        let mut fields = Vec::new();
        for part in parts {
            let size = types.get(types.behind(part.ty)).size as usize;
            let name = part.name.as_deref().map(plain);
            let inner = format!("{path}.{}", name.as_deref().unwrap_or_default());
            let value = match part.bits {
                Some((first, count)) => bit_field(bytes, first, count, self.is_signed(part.ty)),
                None => bytes
                    .get(part.offset as usize..part.offset as usize + size)
                    .and_then(|bytes| self.value(part.ty, bytes, &inner)),
            };
            let Some(value) = value else { continue };
            match name {
                Some(name) => fields.push(format!(".{name} = {value}")),
                // A field of an unnamed structure is set by its own name.
                None => fields.push(strip_braces(&value)),
            }
        }
        braces(&fields)
    }

    fn leads_nowhere(&self, ty: TypeId, bytes: &[u8]) -> bool {
        let types = &self.state.types;
        let is_pointer = matches!(types.get(types.behind(ty)).shape, Shape::Pointer(_));
        let word = bytes.first_chunk::<8>().map(|word| u64::from_le_bytes(*word));
        is_pointer && word.is_some_and(|word| self.state.target(word) == Target::Number(word))
    }

    fn is_bytes(&self, ty: TypeId) -> bool {
        let types = &self.state.types;
        match types.get(types.behind(ty)).shape {
            Shape::Array(element, _) => types.get(types.behind(element)).size == 1,
            _ => false,
        }
    }

    /// A pointer that C++ or Rust keeps as a number: what a `std::function` has, or a tagged word.
    fn disguised(&self, foreign: bool, bytes: &[u8], path: &str) -> Option<String> {
        let address = u64::from_le_bytes(bytes.try_into().ok().filter(|_| foreign)?);
        match self.state.target(address) {
            Target::Thing(..) | Target::Symbol(..) if address >> 32 != 0 => {
                Some(format!("(uint64_t){}", self.pointer(address, TypeId::VOID, path)))
            }
            _ => None,
        }
    }

    fn is_signed(&self, ty: TypeId) -> bool {
        matches!(self.state.types.get(self.state.types.behind(ty)).shape, Shape::Integer { signed: true })
    }

    /// Whether a value of zeros is written all the same, because a reader wants to see it.
    fn has_lock(&self, ty: TypeId) -> bool {
        let this = self.state.types.get(ty);
        match &this.shape {
            _ if known(this).is_some_and(|name| name.starts_with("pthread_mutex_t")) => true,
            Shape::Named(target) => self.has_lock(*target),
            Shape::Structure(parts) => parts.iter().any(|part| self.has_lock(part.ty)),
            _ => false,
        }
    }

    pub(super) fn array(&self, element: TypeId, bytes: &[u8], path: &str) -> Option<String> {
        let size = self.state.types.get(self.state.types.behind(element)).size.max(1) as usize;
        if size == 1
            && let Some(text) = text(bytes)
        {
            return Some(text);
        }
        let mut items = Vec::new();
        let mut next = 0;
        for (at, item) in bytes.chunks_exact(size).enumerate() {
            if let Some(value) = self.value(element, item, &format!("{path}[{at}]")) {
                items.push(if at == next { value } else { format!("[{at}] = {value}") });
                next = at + 1;
            }
        }
        (!items.is_empty()).then(|| braces(&items))
    }

    fn note(&self, text: String) {
        let mut notes = self.notes.borrow_mut();
        if !notes.contains(&text) {
            notes.push(text);
        }
    }

    /// An expression for a pointer.
    pub(super) fn pointer(&self, address: u64, pointee: TypeId, path: &str) -> String {
        let behind = |start: String, offset: u64| match offset {
            0 => start,
            _ => format!("(void *)((char *){start} + {offset})"),
        };
        match self.state.target(address) {
            Target::Number(0) => "0".to_owned(),
            Target::Thing(at, offset) => self.inside(at, offset, pointee),
            Target::Symbol(name, offset) => behind(format!("kept_symbol({name:?}, 0)"), offset),
            Target::Library(name, offset) => behind(format!("kept_library({name:?})"), offset),
            Target::Text(text) => format!("{text:?}"),
            Target::Image(offset) => format!("kept_image({offset:#x})"),
            Target::Number(number) => format!("(void *){number:#x}"),
            Target::Missing(_) => {
                // Of memory without a type nobody knows whether it is a pointer at all.
                if pointee != TypeId::VOID {
                    self.note(format!("{path} leads to memory that was not recorded"));
                }
                format!("kept_missing({path:?})")
            }
        }
    }

    fn inside(&self, at: usize, offset: u64, pointee: TypeId) -> String {
        let (thing, types) = (&self.state.things[at], &self.state.types);
        let name = &thing.name;
        let own = types.get(types.behind(thing.ty)).size;
        if own == 0 {
            return if offset == 0 {
                format!("(void *){name}")
            } else {
                format!("(void *)((char *){name} + {offset})")
            };
        }
        let Some(offset) = offset.checked_sub(thing.lead) else {
            return format!("(void *)((char *){name} - {})", thing.lead - offset);
        };
        let (index, within) = (offset / own, offset % own);
        let is_void = pointee == TypeId::VOID;
        match self.path(thing.ty, within, pointee) {
            _ if within == 0 && is_void && index == 0 => name.clone(),
            Some(path) if path.is_empty() && index == 0 => name.clone(),
            Some(path) if path.is_empty() => format!("&{name}[{index}]"),
            Some(path) if index == 0 => format!("&{name}->{}", path.trim_start_matches('.')),
            Some(path) => format!("&{name}[{index}]{path}"),
            None if offset == 0 => format!("(void *){name}"),
            None => format!("(void *)((char *){name} + {offset})"),
        }
    }

    /// The part at an offset of a type that has another type, as it is reached.
    fn path(&self, ty: TypeId, offset: u64, want: TypeId) -> Option<String> {
        let types = &self.state.types;
        if offset == 0 && same(types, ty, want) {
            return Some(String::new());
        }
        match &types.get(types.behind(ty)).shape {
            Shape::Structure(parts) | Shape::Union(parts) => parts.iter().find_map(|part| {
                let size = types.get(types.behind(part.ty)).size;
                let within = offset.checked_sub(part.offset).filter(|within| *within < size)?;
                let rest = self.path(part.ty, within, want)?;
                let name = part.name.as_ref().map(|name| format!(".{}", plain(name))).unwrap_or_default();
                Some(format!("{name}{rest}"))
            }),
            Shape::Array(element, _) => {
                let size = types.get(types.behind(*element)).size.max(1);
                Some(format!("[{}]{}", offset / size, self.path(*element, offset % size, want)?))
            }
            _ => None,
        }
    }

    /// How a reader reaches the scalar at an address, and its type.
    pub(super) fn scalar(&self, address: u64, size: u64) -> Option<(String, TypeId)> {
        let (at, types) = (self.state.thing_at(address)?, &self.state.types);
        let thing = &self.state.things[at];
        let own = types.get(types.behind(thing.ty)).size;
        if own == 0 {
            return None;
        }
        let offset = (address - thing.start).checked_sub(thing.lead)?;
        let (index, within) = (offset / own, offset % own);
        let (path, ty) = self.part(thing.ty, within, &|ty| {
            let this = types.get(types.behind(ty));
            this.size == size
                && !matches!(
                    this.shape,
                    Shape::Structure(_) | Shape::Union(_) | Shape::Variants { .. } | Shape::Array(..)
                )
        })?;
        Some((self.reached(&thing.name, index, thing.count, &path), ty))
    }

    /// How a reader reaches the lock at an address, and what it is.
    pub(super) fn lock(&self, address: u64) -> Option<(String, &str)> {
        let (at, types) = (self.state.thing_at(address)?, &self.state.types);
        let thing = &self.state.things[at];
        let own = types.get(types.behind(thing.ty)).size;
        if own == 0 {
            return None;
        }
        let offset = (address - thing.start).checked_sub(thing.lead)?;
        let (index, within) = (offset / own, offset % own);
        let is_lock = |ty: TypeId| {
            matches!(
                known(types.get(ty)),
                Some("pthread_mutex_t" | "pthread_rwlock_t" | "pthread_spinlock_t")
            )
        };
        let (path, ty) = self.part(thing.ty, within, &is_lock)?;
        let reached = self.reached(&thing.name, index, thing.count, &path);
        let reached = reached.strip_prefix('*').map_or_else(|| format!("&{reached}"), str::to_owned);
        Some((reached, known(types.get(ty))?))
    }

    fn reached(&self, name: &str, index: u64, count: u64, path: &str) -> String {
        match (count > 1, path.is_empty()) {
            (true, _) => format!("{name}[{index}]{path}"),
            (false, true) => format!("*{name}"),
            (false, false) => format!("{name}->{}", path.trim_start_matches('.')),
        }
    }

    fn part(&self, ty: TypeId, offset: u64, wanted: &dyn Fn(TypeId) -> bool) -> Option<(String, TypeId)> {
        let types = &self.state.types;
        if offset == 0 && wanted(ty) {
            return Some((String::new(), ty));
        }
        let this = types.get(ty);
        match &this.shape {
            Shape::Named(target) => self.part(*target, offset, wanted),
            Shape::Structure(parts) | Shape::Union(parts) => parts.iter().find_map(|part| {
                let size = types.get(types.behind(part.ty)).size;
                let within = offset.checked_sub(part.offset).filter(|within| *within < size)?;
                let (rest, ty) = self.part(part.ty, within, wanted)?;
                let name = part.name.as_ref().map(|name| format!(".{}", plain(name))).unwrap_or_default();
                Some((format!("{name}{rest}"), ty))
            }),
            Shape::Array(element, _) => {
                let size = types.get(types.behind(*element)).size.max(1);
                let (rest, ty) = self.part(*element, offset % size, wanted)?;
                Some((format!("[{}]{rest}", offset / size), ty))
            }
            _ => None,
        }
    }

    /// A value as an argument, or to be assigned.
    pub(super) fn expression(
        &self,
        ty: TypeId,
        bytes: &[u8],
        path: &str,
        types: &Declarations<'_>,
    ) -> String {
        let all = &self.state.types;
        let value = self.value(ty, bytes, path);
        let is_record = matches!(
            all.get(all.behind(ty)).shape,
            Shape::Structure(_) | Shape::Union(_) | Shape::Variants { .. }
        );
        match (is_record, value) {
            (true, value) => {
                let value = value.unwrap_or_else(|| "{ 0 }".to_owned());
                format!("({}){value}", types.declare(ty, ""))
            }
            (false, value) => value.unwrap_or_else(|| "0".to_owned()),
        }
    }
}

fn signed(bytes: &[u8]) -> i64 {
    let mut word = [if bytes.last().is_some_and(|byte| byte & 0x80 != 0) { 0xff } else { 0 }; 8];
    word[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
    i64::from_le_bytes(word)
}

fn integer(bytes: &[u8], is_signed: bool) -> String {
    let number = signed(bytes);
    let mut word = [0; 8];
    word[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
    let plain = u64::from_le_bytes(word);
    match is_signed {
        true if number == i64::MIN => "(-9223372036854775807 - 1)".to_owned(),
        true => number.to_string(),
        false if plain > u64::from(u32::MAX) => format!("{plain:#x}u"),
        false => plain.to_string(),
    }
}

fn float(bytes: &[u8]) -> Option<String> {
    let number = match bytes.len() {
        4 => f64::from(f32::from_le_bytes(bytes.try_into().ok()?)),
        8 => f64::from_le_bytes(bytes.try_into().ok()?),
        _ => return None,
    };
    Some(match number {
        _ if number.is_nan() => "__builtin_nan(\"\")".to_owned(),
        _ if number.is_infinite() && number < 0.0 => "-__builtin_inf()".to_owned(),
        _ if number.is_infinite() => "__builtin_inf()".to_owned(),
        _ => format!("{number:?}"),
    })
}

fn bit_field(bytes: &[u8], first: u64, count: u64, is_signed: bool) -> Option<String> {
    let bit = |at: u64| bytes.get((at / 8) as usize).is_some_and(|byte| byte >> (at % 8) & 1 == 1);
    let mut number = (0..count.min(64)).fold(0u64, |number, at| number | u64::from(bit(first + at)) << at);
    if is_signed && count < 64 && number >> (count - 1) & 1 == 1 {
        number |= u64::MAX << count;
    }
    let text = if is_signed { number.cast_signed().to_string() } else { number.to_string() };
    (number != 0).then_some(text)
}

/// The text in an array of characters, if it is one.
fn text(bytes: &[u8]) -> Option<String> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    let rest = bytes[end..].iter().all(|byte| *byte == 0);
    let printable = bytes[..end].iter().all(|byte| (b' '..=b'~').contains(byte));
    let text = std::str::from_utf8(&bytes[..end]).ok()?;
    (rest && printable && end > 1).then(|| format!("{text:?}"))
}

fn braces(items: &[String]) -> String {
    let line = items.join(", ");
    if line.len() <= 90 && !line.contains('\n') {
        return format!("{{ {line} }}");
    }
    let mut text = "{\n".to_owned();
    for item in items {
        let _ = writeln!(text, "    {},", item.replace('\n', "\n    "));
    }
    text.push('}');
    text
}

fn strip_braces(value: &str) -> String {
    let inner = value.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    inner.unwrap_or(value).trim().trim_end_matches(',').to_owned()
}
