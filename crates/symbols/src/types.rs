//! Types with all their parts, taken out of the debug info: what is needed to write a value of a program as source.

use std::collections::HashMap;

use gimli::AttributeValue;

use crate::foreign::is_standard;
use crate::frame::{Origin, origin_of_file};
use crate::locals::Live;
use crate::symbols::Symbols;
use crate::units::{Die, Entry};
use crate::variable::{is_field, member_start, root_type, size_of};

/// Types that are taken at the most: those that one pointer leads to may be all of a program.
const MOST: usize = 4096;

/// A type among [`Types`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TypeId(u32);

impl TypeId {
    /// The type of nothing.
    pub const VOID: TypeId = TypeId(0);
}

/// Types of one program.
#[derive(Debug)]
pub struct Types {
    all: Vec<Type>,
    /// By module, unit and place in it.
    known: HashMap<(usize, usize, usize), TypeId>,
}

impl Default for Types {
    fn default() -> Types {
        Types { all: vec![Type::of(Shape::Void)], known: HashMap::new() }
    }
}

/// A type. Qualifiers are left out.
#[derive(Clone, PartialEq, Debug)]
pub struct Type {
    /// Its name, without `struct` and its kind.
    pub name: Option<String>,
    /// What it is.
    pub shape: Shape,
    /// Bytes of a value; 0 if that is not known.
    pub size: u64,
    /// It is declared in a header of the system's, or is of a standard library.
    pub system: bool,
    /// It is of another language than C.
    pub foreign: bool,
    /// Functions get its values by their addresses.
    pub(crate) by_reference: bool,
}

impl Type {
    /// A type without a name.
    pub(crate) fn of(shape: Shape) -> Type {
        Type { name: None, shape, size: 0, system: false, foreign: false, by_reference: false }
    }
}

/// What a type is.
#[derive(Clone, PartialEq, Debug)]
pub enum Shape {
    /// Nothing, or unknown.
    Void,
    /// A whole number, a character or a truth value.
    Integer {
        /// It can be negative.
        signed: bool,
    },
    /// A number with a fraction.
    Float,
    /// A pointer or reference.
    Pointer(TypeId),
    /// A structure or class. Of C++ and Rust it has the fields of bases as well, by their places, and none that takes no room.
    Structure(Vec<Part>),
    /// A Rust enum with fields.
    Variants {
        /// The number that tells which it is.
        tag: Option<Part>,
        /// Structures that lie in the same place, each with its number; one without stands for all other numbers.
        all: Vec<(Part, Option<u64>)>,
    },
    /// A union.
    Union(Vec<Part>),
    /// A structure or union that is only declared.
    Declared {
        /// It is a union.
        union: bool,
    },
    /// An array; one with an open end has no length.
    Array(TypeId, Option<u64>),
    /// An enumeration with its names.
    Enumeration(Vec<(String, i64)>),
    /// Another name of a type.
    Named(TypeId),
    /// A function.
    Function {
        /// What it gives.
        returns: TypeId,
        /// What it takes.
        parameters: Vec<TypeId>,
    },
}

/// A field.
#[derive(Clone, PartialEq, Debug)]
pub struct Part {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Where it begins.
    pub offset: u64,
    /// Its type.
    pub ty: TypeId,
    /// The first bit, from the beginning of the structure, and the number of bits of a bit field.
    pub bits: Option<(u64, u64)>,
}

/// A compiled function.
#[derive(Clone, PartialEq, Debug)]
pub struct Signature {
    /// Its name in the symbol table.
    pub symbol: String,
    /// Its first instruction, as loaded.
    pub entry: u64,
    /// The first byte behind it.
    pub end: u64,
    /// Its name in the source.
    pub name: String,
    /// What it takes, by name; of C++ and Rust as registers and the stack have it.
    pub parameters: Vec<(String, TypeId)>,
    /// What it gives.
    pub returns: TypeId,
    /// The first parameter is where the result goes.
    pub result: bool,
    /// It is written in C.
    pub in_c: bool,
    /// Its source file as the symbol table has it, if others have the same name there.
    pub file: Option<String>,
}

/// A variable with a symbol.
#[derive(Clone, PartialEq, Debug)]
pub struct Global {
    /// Its name in the symbol table.
    pub symbol: String,
    /// Where it begins, as loaded.
    pub start: u64,
    /// Bytes of it.
    pub size: u64,
    /// Its type; nothing if the debug info does not tell.
    pub ty: TypeId,
    /// The module it is in.
    pub module: usize,
    /// Its source file as the symbol table has it, if others have the same name there.
    pub file: Option<String>,
}

impl Types {
    /// A type.
    pub fn get(&self, id: TypeId) -> &Type {
        &self.all[id.0 as usize]
    }

    /// The type behind other names of it.
    pub fn behind(&self, mut id: TypeId) -> TypeId {
        for _ in 0..64 {
            match self.get(id).shape {
                Shape::Named(next) => id = next,
                _ => break,
            }
        }
        // What is only declared here may be defined in another unit.
        let this = self.get(id);
        if let Shape::Declared { union } = this.shape
            && this.name.is_some()
        {
            let defines = |other: &Type| match other.shape {
                Shape::Structure(_) => !union,
                Shape::Union(_) => union,
                _ => false,
            };
            let found = self.all.iter().position(|other| other.name == this.name && defines(other));
            return found.map_or(id, |at| TypeId(at as u32));
        }
        id
    }

    pub(crate) fn push(&mut self, ty: Type) -> TypeId {
        self.all.push(ty);
        TypeId(self.all.len() as u32 - 1)
    }

    pub(crate) fn add(&mut self, module: usize, die: &Die<'_>) -> TypeId {
        let unit = die.unit.unit.header.debug_info_offset().map_or(usize::MAX, |offset| offset.0);
        let key = (module, unit, die.offset.0);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let Some(entry) = die.entry() else { return TypeId::VOID };
        let (die, entry) = die.clone().definition(entry);
        if self.all.len() >= MOST {
            return TypeId::VOID;
        }
        let target = |types: &mut Types| match die.reference(&entry, gimli::DW_AT_type) {
            Some(target) => types.add(module, &target),
            None => TypeId::VOID,
        };
        if matches!(
            entry.tag(),
            gimli::DW_TAG_const_type
                | gimli::DW_TAG_volatile_type
                | gimli::DW_TAG_restrict_type
                | gimli::DW_TAG_atomic_type
        ) {
            let id = target(self);
            self.known.insert(key, id);
            return id;
        }
        let name = die.name(&entry).map(|name| name.to_string_lossy().into_owned());
        let (foreign, is_rust) = (!die.is_c(), die.is_rust());
        // gcc calls what has no name in C++ `<unnamed union>`.
        let name = name.filter(|name| !(foreign && name.starts_with('<')));
        let system = if is_rust { is_standard(&die) } else { declared_in_system(&die, &entry) };
        let id = self.push(Type {
            name: name.clone(),
            shape: Shape::Void,
            size: size_of(&die).unwrap_or(0),
            system,
            foreign,
            by_reference: false,
        });
        // Before its parts: they may lead back to it.
        self.known.insert(key, id);
        let shape = match entry.tag() {
            gimli::DW_TAG_base_type => base(&entry),
            gimli::DW_TAG_pointer_type
            | gimli::DW_TAG_reference_type
            | gimli::DW_TAG_rvalue_reference_type => Shape::Pointer(target(self)),
            gimli::DW_TAG_typedef => Shape::Named(target(self)),
            tag @ (gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type) => {
                let union = tag == gimli::DW_TAG_union_type;
                if entry.has_attr(gimli::DW_AT_declaration) {
                    Shape::Declared { union }
                } else if let Some((die, part)) =
                    die.children().iter().find(|(_, child)| child.tag() == gimli::DW_TAG_variant_part)
                {
                    self.variants(module, die, part)
                } else {
                    let parts = self.parts(module, &die, foreign);
                    match union {
                        true => Shape::Union(parts),
                        false if !foreign => Shape::Structure(parts),
                        false => {
                            let shape = self.unwrapped(parts, self.get(id).size, system);
                            let element = name
                                .filter(|name| is_rust && name.starts_with("RawVec<"))
                                .and_then(|_| self.parameter(module, &die));
                            match element {
                                Some(element) => self.retarget(shape, element),
                                None => shape,
                            }
                        }
                    }
                }
            }
            gimli::DW_TAG_array_type => self.array(module, &die, &entry),
            gimli::DW_TAG_enumeration_type => Shape::Enumeration(
                die.children()
                    .iter()
                    .filter(|(_, child)| child.tag() == gimli::DW_TAG_enumerator)
                    .filter_map(|(die, child)| {
                        let name = die.string(child, gimli::DW_AT_name)?.to_string_lossy().into_owned();
                        let value = child.attr(gimli::DW_AT_const_value)?;
                        let number = value.sdata_value().or_else(|| Some(value.udata_value()?.cast_signed()));
                        Some((name, number?))
                    })
                    .collect(),
            ),
            gimli::DW_TAG_subroutine_type => {
                let parameters = die
                    .children()
                    .iter()
                    .filter(|(_, child)| child.tag() == gimli::DW_TAG_formal_parameter)
                    .map(|(die, child)| die.type_of(child).map_or(TypeId::VOID, |ty| self.add(module, &ty)))
                    .collect();
                Shape::Function { returns: target(self), parameters }
            }
            // A pointer to a member is one or two words.
            gimli::DW_TAG_ptr_to_member_type => {
                let target = target(self);
                let is_method = matches!(self.get(target).shape, Shape::Function { .. });
                let words = if is_method { 2 } else { 1 };
                self.all[id.0 as usize].size = words * 8;
                Shape::Array(self.word(), Some(words))
            }
            _ => Shape::Void,
        };
        self.all[id.0 as usize].shape = shape;
        let by_reference = self.is_by_reference(module, &die, &entry);
        self.all[id.0 as usize].by_reference = by_reference;
        id
    }

    /// The first type that a type is made with.
    fn parameter(&mut self, module: usize, die: &Die<'_>) -> Option<TypeId> {
        let children = die.children();
        let (die, child) =
            children.iter().find(|(_, child)| child.tag() == gimli::DW_TAG_template_type_parameter)?;
        Some(self.add(module, &die.reference(child, gimli::DW_AT_type)?))
    }

    fn parts(&mut self, module: usize, die: &Die<'_>, foreign: bool) -> Vec<Part> {
        let mut parts = Vec::new();
        for (die, child) in die.children().iter().filter(|(_, child)| is_field(child)) {
            let Some(ty) = die.reference(child, gimli::DW_AT_type) else { continue };
            let number = |name| child.attr(name).and_then(|value| value.udata_value());
            let Some((offset, _)) = member_start(die, child) else { continue };
            let bits = number(gimli::DW_AT_bit_size).map(|size| {
                let first = number(gimli::DW_AT_data_bit_offset).unwrap_or(offset * 8);
                (first, size)
            });
            let name = match child.tag() {
                gimli::DW_TAG_member => {
                    die.string(child, gimli::DW_AT_name).map(|name| name.to_string_lossy().into_owned())
                }
                _ => None,
            };
            let part = Part { name, offset, ty: self.add(module, &ty), bits };
            match foreign {
                true => self.take_part(&mut parts, part, child.tag() == gimli::DW_TAG_inheritance),
                false => parts.push(part),
            }
        }
        parts
    }

    fn array<'a>(&mut self, module: usize, die: &Die<'a>, entry: &Entry<'a>) -> Shape {
        let Some(element) = die.reference(entry, gimli::DW_AT_type) else { return Shape::Void };
        let mut ty = self.add(module, &element);
        let lengths = die.array_lengths();
        // Of several dimensions each is an array of the next.
        for length in lengths.iter().skip(1).rev() {
            let size = self.get(ty).size * length.unwrap_or(0);
            ty = self.push(Type { size, ..Type::of(Shape::Array(ty, *length)) });
        }
        Shape::Array(ty, lengths.first().copied().flatten())
    }
}

fn base(entry: &Entry<'_>) -> Shape {
    match entry.attr_value(gimli::DW_AT_encoding) {
        Some(AttributeValue::Encoding(gimli::DW_ATE_float)) => Shape::Float,
        Some(AttributeValue::Encoding(encoding)) => {
            let signed = [gimli::DW_ATE_signed, gimli::DW_ATE_signed_char].contains(&encoding);
            Shape::Integer { signed }
        }
        _ => Shape::Void,
    }
}

/// The name of the source file that a DIE's unit was made from, without its folders.
fn unit_file(die: &Die<'_>) -> Option<String> {
    let root = die.at(die.unit.unit.header.root_offset());
    let name = root.string(&root.entry()?, gimli::DW_AT_name)?.to_string_lossy().into_owned();
    Some(name.rsplit('/').next()?.to_owned())
}

fn declared_in_system<'a>(die: &Die<'a>, entry: &Entry<'a>) -> bool {
    let index = entry.attr(gimli::DW_AT_decl_file).and_then(|index| index.udata_value());
    let file = index.and_then(|index| die.decl_file(index));
    file.is_some_and(|file| !matches!(origin_of_file(&file), Origin::User | Origin::Dependency))
}

impl Symbols {
    /// The compiled function that holds an address.
    pub fn signature(&self, address: u64, types: &mut Types) -> Option<Signature> {
        let (index, _) = self.locate(address)?;
        self.with_linked(index, address, |image, arena, linked| {
            let symbol = image.symbols().function(linked)?;
            let function = Live::at(image, arena, linked)?.function;
            let entry = function.entry()?;
            let mut parameters = Vec::new();
            for (die, child) in function.children() {
                if child.tag() == gimli::DW_TAG_formal_parameter {
                    let name = die.name(&child).map(|name| name.to_string_lossy().into_owned());
                    let ty = types.add(index, &die.type_of(&child)?);
                    parameters
                        .push((name.unwrap_or_else(|| format!("argument{}", parameters.len() + 1)), ty));
                }
            }
            let returns = function.type_of(&entry).map_or(TypeId::VOID, |ty| types.add(index, &ty));
            let (parameters, returns, result) = match function.is_c() {
                true => (parameters, returns, false),
                false => types.passed(parameters, returns, function.is_rust()),
            };
            let bias = address.wrapping_sub(linked);
            Some(Signature {
                symbol: symbol.name.to_owned(),
                entry: symbol.start.wrapping_add(bias),
                end: symbol.end.wrapping_add(bias),
                name: function.name(&entry)?.to_string_lossy().into_owned(),
                parameters,
                returns,
                result,
                in_c: function.is_c(),
                file: unit_file(&function).filter(|_| image.symbols().is_ambiguous(symbol.name)),
            })
        })?
    }

    /// The variable with a symbol that holds an address.
    pub fn object(&self, address: u64, types: &mut Types) -> Option<Global> {
        let (module, _) = self.locate(address)?;
        self.with_linked(module, address, |image, arena, linked| {
            let symbol = image.symbols().object(linked)?;
            let root = root_type(image, arena, linked);
            let ambiguous = image.symbols().is_ambiguous(symbol.name);
            let file = root.as_ref().and_then(|(ty, _)| unit_file(ty)).filter(|_| ambiguous);
            let ty = root.map_or(TypeId::VOID, |(ty, _)| types.add(module, &ty));
            let (start, size) =
                (symbol.start.wrapping_add(address.wrapping_sub(linked)), symbol.end - symbol.start);
            Some(Global { symbol: symbol.name.to_owned(), start, size, ty, module, file })
        })?
    }

    /// The name in the symbol table of the function that begins at an address, and its module.
    pub fn function_symbol(&self, address: u64) -> Option<(String, usize)> {
        let (module, _) = self.locate(address)?;
        self.with_linked(module, address, |image, _, linked| {
            let symbol = image.symbols().function(linked).filter(|symbol| symbol.start == linked)?;
            Some((symbol.name.to_owned(), module))
        })?
    }

    /// Where the variable with this name in a symbol table lies, as loaded.
    pub fn address_of(&self, symbol: &str) -> Option<u64> {
        let bases: Vec<u64> = self.modules().map(|module| module.base).collect();
        bases.into_iter().enumerate().find_map(|(index, base)| {
            let found = self.with_linked(index, base, |image, _, linked| {
                Some(image.symbols().object_named(symbol)?.wrapping_add(base.wrapping_sub(linked)))
            });
            found.flatten()
        })
    }
}
