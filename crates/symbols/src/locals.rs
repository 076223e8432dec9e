//! The local variables that live at an address of code, and where each is kept there.

use std::fmt;

use gimli::{AttributeValue, EntriesTreeNode, Expression, Operation, Register, UnitOffset, UnitRef, X86_64};

use crate::image::{Arena, ImageData};
use crate::units::{Die, Entry, Slice};
use crate::variable::size_of;

/// A parameter or local variable of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Local {
    /// Its name in the source.
    pub name: String,
    /// Its type, if the debug info tells it.
    pub type_name: Option<String>,
    /// Bytes it takes.
    pub size: Option<u64>,
    /// Where its value is.
    pub place: Place,
    /// Whether it is a parameter.
    pub parameter: bool,
    /// The line of its declaration.
    pub line: Option<u32>,
}

/// Where a local variable's value is at one instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// In a register, by its DWARF number.
    Register(u16),
    /// In memory at a register's value plus an offset.
    Memory {
        /// The DWARF number of the register.
        register: u16,
        /// What is added to it.
        offset: i64,
    },
    /// In memory at an offset from the stack pointer's value before the call.
    Stack(i64),
    /// At a fixed address, as loaded.
    Static(u64),
    /// The compiler knows the value.
    Constant(i64),
    /// Computed, or spread over several places.
    Computed,
    /// The compiler did not keep it.
    Gone,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let register = |number: u16| X86_64::register_name(Register(number)).unwrap_or("register");
        match self {
            Place::Register(number) => write!(f, "in {}", register(*number)),
            Place::Memory { register: number, offset } => write!(f, "at {}{offset:+}", register(*number)),
            Place::Stack(offset) => write!(f, "at frame{offset:+}"),
            Place::Static(address) => write!(f, "at {address:#x}"),
            Place::Constant(value) => write!(f, "is {value}"),
            Place::Computed => f.write_str("computed"),
            Place::Gone => f.write_str("optimised out"),
        }
    }
}

/// The locals at a linked address, those of inner blocks first, parameters before others; `bias` turns a linked
/// address into a loaded one.
pub(crate) fn find<'a>(image: &ImageData<'a>, arena: &'a Arena, address: u64, bias: u64) -> Vec<Local> {
    let mut function = None;
    image.for_each_frame(arena, address, |frame| function = frame.dw_die_offset.or(function));
    let Some(function) = function else { return Vec::new() };
    let Some(root) = image.unit_of_code(arena, address) else { return Vec::new() };
    let die = root.at(function);
    let Some(entry) = die.entry() else { return Vec::new() };
    let frame_base = entry
        .attr_value(gimli::DW_AT_frame_base)
        .and_then(|value| expression_at(die.unit_ref(), value, address))
        .and_then(|expression| only_operation(die.unit_ref(), expression));
    let mut walk = Walk { die: &die, address, bias, frame_base, found: Vec::new() };
    walk.function(function);
    // A function of which there are several instances has its statics once, in what they are instances of.
    if let Some(AttributeValue::UnitRef(abstract_function)) = entry.attr_value(gimli::DW_AT_abstract_origin) {
        let own = walk.found.len();
        walk.function(abstract_function);
        let (_, others) = walk.found.split_at(own);
        let statics: Vec<_> =
            others.iter().filter(|(_, local)| matches!(local.place, Place::Static(_))).cloned().collect();
        walk.found.truncate(own);
        walk.found.extend(statics);
    }
    walk.found.sort_by_key(|(depth, local)| (std::cmp::Reverse(*depth), !local.parameter));
    walk.found.into_iter().map(|(_, local)| local).collect()
}

struct Walk<'w, 'a> {
    die: &'w Die<'a>,
    address: u64,
    bias: u64,
    frame_base: Option<Operation<Slice<'a>>>,
    found: Vec<(usize, Local)>,
}

impl<'a> Walk<'_, 'a> {
    fn function(&mut self, function: UnitOffset) {
        if let Ok(mut tree) = self.die.unit.unit.entries_tree(Some(function))
            && let Ok(node) = tree.root()
        {
            // Damage ends the walk; what was found before it is true.
            let _ = self.children(node, 0);
        }
    }

    fn children(&mut self, node: EntriesTreeNode<'_, '_, Slice<'a>>, depth: usize) -> gimli::Result<()> {
        let mut children = node.children();
        while let Some(child) = children.next()? {
            let entry = child.entry();
            match entry.tag() {
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                    if let Some(local) = self.local(entry) {
                        self.found.push((depth, local));
                    }
                }
                gimli::DW_TAG_lexical_block | gimli::DW_TAG_inlined_subroutine
                    if self.holds_address(entry) =>
                {
                    self.children(child, depth + 1)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn holds_address(&self, entry: &Entry<'a>) -> bool {
        let Ok(mut ranges) = self.die.unit_ref().die_ranges(entry) else { return false };
        while let Ok(Some(range)) = ranges.next() {
            if (range.begin..range.end).contains(&self.address) {
                return true;
            }
        }
        false
    }

    fn local(&self, entry: &Entry<'a>) -> Option<Local> {
        let die = self.die.at(entry.offset());
        let name = die.name(entry)?.to_string_lossy().into_owned();
        let ty = die
            .with_attribute(entry, gimli::DW_AT_type)
            .and_then(|(home, entry)| home.reference(&entry, gimli::DW_AT_type));
        let line = die
            .with_attribute(entry, gimli::DW_AT_decl_line)
            .and_then(|(_, entry)| u32::try_from(entry.attr(gimli::DW_AT_decl_line)?.udata_value()?).ok());
        Some(Local {
            name,
            type_name: ty.as_ref().map(Die::type_name),
            size: ty.as_ref().and_then(size_of),
            place: self.place(&die, entry),
            parameter: entry.tag() == gimli::DW_TAG_formal_parameter,
            line,
        })
    }

    fn place(&self, die: &Die<'a>, entry: &Entry<'a>) -> Place {
        let constant =
            |entry: &Entry<'a>| entry.attr(gimli::DW_AT_const_value)?.sdata_value().map(Place::Constant);
        let Some(location) = entry.attr_value(gimli::DW_AT_location) else {
            let declared = || die.with_attribute(entry, gimli::DW_AT_const_value);
            return constant(entry).or_else(|| constant(&declared()?.1)).unwrap_or(Place::Gone);
        };
        let unit = self.die.unit_ref();
        let Some(expression) = expression_at(unit, location, self.address) else {
            return Place::Gone;
        };
        let mut operations = expression.operations(unit.encoding());
        let Ok(Some(first)) = operations.next() else { return Place::Gone };
        match (first, operations.next()) {
            (Operation::Register { register }, Ok(None)) => Place::Register(register.0),
            (Operation::RegisterOffset { register, offset, .. }, Ok(None)) => {
                Place::Memory { register: register.0, offset }
            }
            (Operation::FrameOffset { offset }, Ok(None)) => match self.frame_base {
                Some(Operation::Register { register }) => Place::Memory { register: register.0, offset },
                Some(Operation::CallFrameCFA) => Place::Stack(offset),
                _ => Place::Computed,
            },
            (Operation::Address { address }, Ok(None)) => Place::Static(address.wrapping_add(self.bias)),
            (Operation::AddressIndex { index }, Ok(None)) => match unit.address(index) {
                Ok(address) => Place::Static(address.wrapping_add(self.bias)),
                Err(_) => Place::Computed,
            },
            (Operation::UnsignedConstant { value }, Ok(Some(Operation::StackValue))) => {
                Place::Constant(value.cast_signed())
            }
            (Operation::SignedConstant { value }, Ok(Some(Operation::StackValue))) => Place::Constant(value),
            _ => Place::Computed,
        }
    }
}

fn only_operation<'a>(
    unit: UnitRef<'_, Slice<'a>>,
    expression: Expression<Slice<'a>>,
) -> Option<Operation<Slice<'a>>> {
    let mut operations = expression.operations(unit.encoding());
    let first = operations.next().ok()??;
    matches!(operations.next(), Ok(None)).then_some(first)
}

/// The expression that holds at an address: the attribute's own, or the one its list has for the address.
fn expression_at<'a>(
    unit: UnitRef<'_, Slice<'a>>,
    value: AttributeValue<Slice<'a>>,
    address: u64,
) -> Option<Expression<Slice<'a>>> {
    if let Some(expression) = value.exprloc_value() {
        return Some(expression);
    }
    let mut list = unit.attr_locations(value).ok()??;
    while let Ok(Some(entry)) = list.next() {
        if (entry.range.begin..entry.range.end).contains(&address) {
            return Some(entry.data);
        }
    }
    None
}
