//! Types and calls of C++ and Rust, as they lie in memory: what is needed to write their values with the fields of structures.
//!
//! A class has the fields of its bases, nothing is kept of what takes no room, and a type of a standard library that wraps one other thing is that thing: a `std::mutex` is the
//! mutex of the system, a `std::unique_ptr` and an `Arc` are pointers, an `AtomicI64` is a number. A call is told as its registers have it.

use crate::types::{Part, Shape, Type, TypeId, Types};
use crate::units::{Die, Entry};
use crate::value::constant_number;
use crate::variable::member_start;

/// The crates that are Rust's standard library.
const STANDARD: [&str; 4] = ["core", "alloc", "std", "hashbrown"];
/// The largest value that a call gets or gives in registers.
const IN_REGISTERS: u64 = 16;

/// Whether a type is one of Rust's standard library.
pub(crate) fn is_standard(die: &Die<'_>) -> bool {
    die.scope_names().first().is_some_and(|name| STANDARD.contains(&name.as_str()))
}

/// Whether a class has a destructor of its own, or a constructor that copies or moves.
fn is_copied_by_code<'a>(die: &Die<'a>, entry: &Entry<'a>) -> bool {
    let class = die.name(entry).map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let class = class.split('<').next().unwrap_or_default();
    die.children().iter().any(|(function, child)| {
        let is_given = child.tag() == gimli::DW_TAG_subprogram
            && !child.has_attr(gimli::DW_AT_defaulted)
            && !child.has_attr(gimli::DW_AT_deleted)
            && !child.has_attr(gimli::DW_AT_artificial);
        let Some(name) = function.name(child).filter(|_| is_given) else { return false };
        let name = name.to_string_lossy();
        let takes_itself = || {
            let parameters = function.children();
            let mut given = parameters.iter().filter(|(_, it)| {
                it.tag() == gimli::DW_TAG_formal_parameter && !it.has_attr(gimli::DW_AT_artificial)
            });
            let (Some((first, it)), None) = (given.next(), given.next()) else { return false };
            let Some(reference) = first.reference(it, gimli::DW_AT_type) else { return false };
            let Some(kind) = reference.entry() else { return false };
            let is_reference =
                matches!(kind.tag(), gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type);
            let mut to = reference.reference(&kind, gimli::DW_AT_type);
            while let Some((inner, it)) = to.clone().and_then(|to| Some((to.clone(), to.entry()?)))
                && it.tag() == gimli::DW_TAG_const_type
            {
                to = inner.reference(&it, gimli::DW_AT_type);
            }
            is_reference && to.is_some_and(|to| to.offset == die.offset)
        };
        name.starts_with('~') || name.split('<').next() == Some(class) && takes_itself()
    })
}

impl Types {
    /// Whether values of a class are given to functions by their address: if copying or ending one is code of somebody's. Not every compiler says so.
    pub(crate) fn is_by_reference<'a>(&mut self, module: usize, die: &Die<'a>, entry: &Entry<'a>) -> bool {
        let convention = entry.attr_value(gimli::DW_AT_calling_convention);
        if let Some(gimli::AttributeValue::CallingConvention(said)) = convention {
            return said == gimli::DW_CC_pass_by_reference;
        }
        let is_class = matches!(
            entry.tag(),
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type
        );
        if !is_class || die.is_c() || die.is_rust() || entry.has_attr(gimli::DW_AT_declaration) {
            return false;
        }
        // What has virtual functions is copied by code, too.
        entry.has_attr(gimli::DW_AT_containing_type)
            || is_copied_by_code(die, entry)
            || die.children().iter().any(|(part, child)| {
                let is_part = matches!(child.tag(), gimli::DW_TAG_member | gimli::DW_TAG_inheritance)
                    && !child.has_attr(gimli::DW_AT_external);
                let ty = part.reference(child, gimli::DW_AT_type).filter(|_| is_part);
                ty.is_some_and(|ty| {
                    let ty = self.add(module, &ty);
                    self.is_given_by_address(ty)
                })
            })
    }
}

impl Types {
    /// Whether a value of a type takes no room.
    fn is_empty(&self, ty: TypeId) -> bool {
        let this = self.get(self.behind(ty));
        this.size == 0 || matches!(&this.shape, Shape::Structure(parts) if parts.is_empty())
    }

    /// Takes a field of a class, or those of a base.
    pub(crate) fn take_part(&self, parts: &mut Vec<Part>, part: Part, is_base: bool) {
        if self.is_empty(part.ty) {
            return;
        }
        let all = match &self.get(self.behind(part.ty)).shape {
            Shape::Structure(inner) if is_base => inner.iter().map(|it| it.moved(part.offset)).collect(),
            _ if is_base => vec![Part { name: Some("base".to_owned()), ..part }],
            _ => vec![part],
        };
        for mut part in all {
            let taken = |name: &Option<String>| parts.iter().any(|it| it.name.is_some() && it.name == *name);
            while taken(&part.name) {
                part.name = part.name.map(|name| format!("{name}_"));
            }
            parts.push(part);
        }
    }

    /// The shape of a class: of one that wraps another type, what is in it.
    pub(crate) fn unwrapped(&self, mut parts: Vec<Part>, size: u64, standard: bool) -> Shape {
        parts.sort_by_key(|part| part.offset);
        if let [only] = &parts[..]
            && standard
            && (only.offset, only.bits) == (0, None)
            && self.get(self.behind(only.ty)).size == size
        {
            return match &self.get(self.behind(only.ty)).shape {
                Shape::Structure(inner) => Shape::Structure(inner.clone()),
                _ => Shape::Named(only.ty),
            };
        }
        Shape::Structure(parts)
    }

    /// Memory of a vector of Rust's: its pointer is declared to bytes, and leads to this.
    pub(crate) fn retarget(&mut self, shape: Shape, element: TypeId) -> Shape {
        let Shape::Structure(mut parts) = shape else { return shape };
        for part in &mut parts {
            if matches!(self.get(self.behind(part.ty)).shape, Shape::Pointer(_)) {
                part.ty = self.pointer_to(element);
            }
        }
        Shape::Structure(parts)
    }

    /// A Rust enum with fields.
    pub(crate) fn variants<'a>(&mut self, module: usize, part: &Die<'a>, entry: &Entry<'a>) -> Shape {
        let field = |types: &mut Types, die: &Die<'a>, entry: &Entry<'a>| {
            let ty = die.reference(entry, gimli::DW_AT_type)?;
            let (offset, _) = member_start(die, entry)?;
            let name = die.name(entry).map(|name| name.to_string_lossy().into_owned());
            Some(Part { name, offset, ty: types.add(module, &ty), bits: None })
        };
        let tag = part.reference(entry, gimli::DW_AT_discr).and_then(|member| {
            let entry = member.entry()?;
            field(self, &member, &entry)
        });
        let mut all = Vec::new();
        for (variant, entry) in part.children() {
            let children = variant.children();
            let member = children.iter().find(|(_, child)| child.tag() == gimli::DW_TAG_member);
            if entry.tag() == gimli::DW_TAG_variant
                && let Some((die, child)) = member
                && let Some(part) = field(self, die, child)
            {
                let number = entry.attr(gimli::DW_AT_discr_value).and_then(constant_number);
                all.push((part, number.map(|number| number as u64)));
            }
        }
        Shape::Variants { tag, all }
    }

    /// The variant that a value is, with its fields: those of its own, and the number that tells it from others where none of them lies there.
    pub fn variant(&self, shape: &Shape, bytes: &[u8]) -> Option<(String, Vec<Part>)> {
        let Shape::Variants { tag, all } = shape else { return None };
        let number = tag.as_ref().map(|tag| {
            let size = self.get(self.behind(tag.ty)).size.min(8) as usize;
            let mut word = [0; 8];
            let own = bytes.get(tag.offset as usize..tag.offset as usize + size).unwrap_or_default();
            word[..own.len()].copy_from_slice(own);
            (u64::from_le_bytes(word), if size >= 8 { u64::MAX } else { (1 << (size * 8)) - 1 })
        });
        let is = |wanted: &Option<u64>| match (wanted, number) {
            (Some(wanted), Some((number, mask))) => wanted & mask == number,
            _ => false,
        };
        let found =
            all.iter().find(|(_, wanted)| is(wanted)).or_else(|| all.iter().find(|it| it.1.is_none()));
        let (part, _) = found?;
        Some((part.name.clone()?, self.variant_fields(tag.as_ref(), part)))
    }

    /// The fields of a variant.
    pub fn variant_fields(&self, tag: Option<&Part>, variant: &Part) -> Vec<Part> {
        let mut fields: Vec<Part> = match &self.get(self.behind(variant.ty)).shape {
            Shape::Structure(parts) => parts.iter().map(|it| it.moved(variant.offset)).collect(),
            _ => vec![Part { name: Some("__0".to_owned()), ..variant.clone() }],
        };
        if let Some(tag) = tag {
            let end = |part: &Part| part.offset + self.get(self.behind(part.ty)).size;
            let covers = |it: &Part| it.offset < end(tag) && tag.offset < end(it);
            if !fields.iter().any(covers) {
                fields.push(Part { name: Some("variant".to_owned()), ..tag.clone() });
            }
        }
        fields.sort_by_key(|part| part.offset);
        fields
    }

    /// The type of eight bytes of which no more is known.
    pub(crate) fn word(&mut self) -> TypeId {
        self.push(Type { size: 8, foreign: true, ..Type::of(Shape::Integer { signed: false }) })
    }

    fn pointer_to(&mut self, target: TypeId) -> TypeId {
        self.push(Type { size: 8, foreign: true, ..Type::of(Shape::Pointer(target)) })
    }

    fn is_given_by_address(&self, mut ty: TypeId) -> bool {
        loop {
            let this = self.get(ty);
            match this.shape {
                _ if this.by_reference => return true,
                Shape::Named(next) | Shape::Array(next, _) => ty = next,
                _ => return false,
            }
        }
    }

    /// What a function of C++ or Rust takes, as registers have it, and what it gives; whether the first is where its result goes.
    pub(crate) fn passed(
        &mut self,
        parameters: Vec<(String, TypeId)>,
        returns: TypeId,
        rust: bool,
    ) -> (Vec<(String, TypeId)>, TypeId, bool) {
        let mut all = Vec::new();
        let size_of = |types: &Types, ty: TypeId| types.get(types.behind(ty)).size;
        let in_memory = self.is_given_by_address(returns) || size_of(self, returns) > IN_REGISTERS;
        if in_memory {
            all.push(("result".to_owned(), self.pointer_to(returns)));
        }
        for (name, ty) in parameters {
            let size = size_of(self, ty);
            let is_record = matches!(
                self.get(self.behind(ty)).shape,
                Shape::Structure(_) | Shape::Union(_) | Shape::Variants { .. } | Shape::Array(..)
            );
            if self.is_given_by_address(ty) || rust && is_record && size > IN_REGISTERS {
                all.push((name, self.pointer_to(ty)));
            } else if rust && is_record && size > 0 {
                match self.scalars(ty, 0) {
                    Some(scalars) if scalars.len() == 1 => all.push((name, scalars[0].1)),
                    Some(scalars) if scalars.len() == 2 => {
                        let numbered = scalars.iter().enumerate();
                        all.extend(numbered.map(|(at, (_, ty))| (format!("{name}_{at}"), *ty)));
                    }
                    _ => {
                        let word = self.word();
                        all.extend((0..size.div_ceil(8)).map(|at| (format!("{name}_{at}"), word)));
                    }
                }
            } else if !(rust && size == 0) {
                all.push((name, ty));
            }
        }
        // What a call gives back in registers is looked at by nobody.
        (all, TypeId::VOID, in_memory)
    }

    /// The numbers and pointers of a value, by their offsets; none if it is not made of such alone.
    fn scalars(&self, ty: TypeId, start: u64) -> Option<Vec<(u64, TypeId)>> {
        let own = |types: &Types, part: &Part| types.scalars(part.ty, start + part.offset);
        match &self.get(self.behind(ty)).shape {
            Shape::Structure(parts) => {
                let lists: Option<Vec<_>> = parts.iter().map(|part| own(self, part)).collect();
                Some(lists?.concat())
            }
            Shape::Variants { tag, all } => {
                let mut found: Vec<(u64, TypeId)> = Vec::new();
                let fields = all.iter().flat_map(|(part, _)| self.variant_fields(tag.as_ref(), part));
                for (offset, ty) in fields.map(|part| own(self, &part)).collect::<Option<Vec<_>>>()?.concat()
                {
                    let size = |ty: TypeId| self.get(self.behind(ty)).size;
                    match found.iter().find(|(other, _)| *other == offset) {
                        Some((_, other)) if size(*other) != size(ty) => return None,
                        Some(_) => {}
                        None => found.push((offset, ty)),
                    }
                }
                found.sort_by_key(|(offset, _)| *offset);
                Some(found)
            }
            Shape::Union(_) | Shape::Array(..) => None,
            _ => Some(vec![(start, ty)]),
        }
    }
}

impl Part {
    /// The same part of something that begins earlier.
    fn moved(&self, by: u64) -> Part {
        let bits = self.bits.map(|(first, count)| (first + by * 8, count));
        Part { offset: self.offset + by, bits, ..self.clone() }
    }
}
