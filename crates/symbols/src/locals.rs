//! The local variables that live at an address of code, and where each is kept there.

use std::fmt;

use gimli::{AttributeValue, EntriesTreeNode, Expression, Operation, Register, UnitOffset, UnitRef, X86_64};

use crate::image::{Arena, ImageData};
use crate::scan::fixed_address;
use crate::units::{Die, Entry, Slice};
use crate::variable::size_of;

/// How deep blocks may nest: damaged ones may be endless.
const MAX_DEPTH: usize = 200;

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
    pub place: Storage,
    /// Whether it is a parameter.
    pub parameter: bool,
    /// The line of its declaration.
    pub line: Option<u32>,
    /// Where its value can be asked for.
    pub(crate) handle: Handle,
}

/// A local variable at one address of code, to find it again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Handle {
    /// The index of the module.
    pub(crate) module: usize,
    /// The address, as loaded.
    pub(crate) loaded: u64,
    /// The variable's DIE, in the unit of the address.
    pub(crate) die: usize,
}

/// Where a local variable's value is at one instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Storage {
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

impl fmt::Display for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let register = |number: u16| X86_64::register_name(Register(number)).unwrap_or("register");
        match self {
            Storage::Register(number) => write!(f, "in {}", register(*number)),
            Storage::Memory { register: number, offset } => write!(f, "at {}{offset:+}", register(*number)),
            Storage::Stack(offset) => write!(f, "at frame{offset:+}"),
            Storage::Static(address) => write!(f, "at {address:#x}"),
            Storage::Constant(value) => write!(f, "is {value}"),
            Storage::Computed => f.write_str("computed"),
            Storage::Gone => f.write_str("optimised out"),
        }
    }
}

/// The locals at a linked address, those of inner blocks first, parameters before others; `bias` turns a linked
/// address into a loaded one.
pub(crate) fn find<'a>(
    image: &ImageData<'a>,
    arena: &'a Arena,
    address: u64,
    bias: u64,
    module: usize,
) -> Vec<Local> {
    let Some(live) = Live::at(image, arena, address) else { return Vec::new() };
    live.variables.iter().filter_map(|die| live.local(die, bias, module)).collect()
}

/// The function at an address and its variables that are in scope there.
pub(crate) struct Live<'a> {
    /// The function that was not inlined.
    pub(crate) function: Die<'a>,
    /// The address, as linked.
    pub(crate) address: u64,
    /// Those of inner blocks first, parameters before others.
    pub(crate) variables: Vec<Die<'a>>,
    /// Of each the function that it is of: 0 for the one that was not inlined, 1 for what was put into it, and so on.
    pub(crate) levels: Vec<usize>,
}

impl<'a> Live<'a> {
    /// What is in scope at a linked address.
    pub(crate) fn at(image: &ImageData<'a>, arena: &'a Arena, address: u64) -> Option<Live<'a>> {
        Self::of_blocks(image, arena, address, false)
    }

    /// All that the function at a linked address has, in scope there or not.
    pub(crate) fn anywhere(image: &ImageData<'a>, arena: &'a Arena, address: u64) -> Option<Live<'a>> {
        Self::of_blocks(image, arena, address, true)
    }

    fn of_blocks(image: &ImageData<'a>, arena: &'a Arena, address: u64, all: bool) -> Option<Live<'a>> {
        let mut function = None;
        image.for_each_frame(arena, address, |frame| function = frame.dw_die_offset.or(function));
        let function = image.unit_of_code(arena, address)?.at(function?);
        let entry = function.entry()?;
        let mut walk = Walk { die: &function, address, all, found: Vec::new() };
        walk.function(function.offset);
        // A function of which there are several instances has its statics once, in what they are instances of.
        if let Some(AttributeValue::UnitRef(origin)) = entry.attr_value(gimli::DW_AT_abstract_origin) {
            let own = walk.found.len();
            walk.function(origin);
            let statics = walk.found.split_off(own).into_iter().filter(|found| {
                let entry = function.at(found.die).entry();
                let location = entry.and_then(|entry| entry.attr_value(gimli::DW_AT_location));
                location.is_some_and(|location| fixed_address(function.unit_ref(), location).is_some())
            });
            let statics: Vec<_> = statics.collect();
            walk.found.extend(statics);
        }
        let mut found = walk.found;
        found.sort_by_key(|found| (std::cmp::Reverse(found.depth), !found.parameter));
        let levels = found.iter().map(|found| found.level).collect();
        let variables = found.into_iter().map(|found| function.at(found.die)).collect();
        Some(Live { function, address, variables, levels })
    }

    /// The expression for what `DW_OP_fbreg` counts from.
    pub(crate) fn frame_base(&self) -> Option<Expression<Slice<'a>>> {
        let value = self.function.entry()?.attr_value(gimli::DW_AT_frame_base)?;
        expression_at(self.function.unit_ref(), value, self.address)
    }

    fn local(&self, die: &Die<'a>, bias: u64, module: usize) -> Option<Local> {
        let entry = &die.entry()?;
        let name = die.name(entry)?.to_string_lossy().into_owned();
        let ty = die.type_of(entry);
        let line = die
            .with_attribute(entry, gimli::DW_AT_decl_line)
            .and_then(|(_, entry)| u32::try_from(entry.attr(gimli::DW_AT_decl_line)?.udata_value()?).ok());
        Some(Local {
            name,
            type_name: ty.as_ref().map(Die::type_name),
            size: ty.as_ref().and_then(size_of),
            place: self.place(die, entry, bias),
            parameter: entry.tag() == gimli::DW_TAG_formal_parameter,
            line,
            handle: Handle { module, loaded: self.address.wrapping_add(bias), die: die.offset.0 },
        })
    }

    pub(crate) fn place(&self, die: &Die<'a>, entry: &Entry<'a>, bias: u64) -> Storage {
        let constant =
            |entry: &Entry<'a>| entry.attr(gimli::DW_AT_const_value)?.sdata_value().map(Storage::Constant);
        let Some(location) = entry.attr_value(gimli::DW_AT_location) else {
            let declared = || die.with_attribute(entry, gimli::DW_AT_const_value);
            return constant(entry).or_else(|| constant(&declared()?.1)).unwrap_or(Storage::Gone);
        };
        let unit = self.function.unit_ref();
        let Some(expression) = expression_at(unit, location, self.address) else {
            return Storage::Gone;
        };
        let mut operations = expression.operations(unit.encoding());
        let Ok(Some(first)) = operations.next() else { return Storage::Gone };
        let frame_base = || only_operation(unit, self.frame_base()?);
        match (first, operations.next()) {
            (Operation::Register { register }, Ok(None)) => Storage::Register(register.0),
            (Operation::RegisterOffset { register, offset, .. }, Ok(None)) => {
                Storage::Memory { register: register.0, offset }
            }
            (Operation::FrameOffset { offset }, Ok(None)) => match frame_base() {
                Some(Operation::Register { register }) => Storage::Memory { register: register.0, offset },
                Some(Operation::CallFrameCFA) => Storage::Stack(offset),
                _ => Storage::Computed,
            },
            (Operation::Address { address }, Ok(None)) => Storage::Static(address.wrapping_add(bias)),
            (Operation::AddressIndex { index }, Ok(None)) => match unit.address(index) {
                Ok(address) => Storage::Static(address.wrapping_add(bias)),
                Err(_) => Storage::Computed,
            },
            (Operation::UnsignedConstant { value }, Ok(Some(Operation::StackValue))) => {
                Storage::Constant(value.cast_signed())
            }
            (Operation::SignedConstant { value }, Ok(Some(Operation::StackValue))) => {
                Storage::Constant(value)
            }
            _ => Storage::Computed,
        }
    }
}

/// A piece of a variable that is in memory.
pub(crate) struct Kept {
    /// Where, by a register or by the frame.
    pub(crate) place: Storage,
    /// How many bytes of the variable come before it.
    pub(crate) skipped: u64,
    /// Its bytes.
    pub(crate) size: u64,
}

impl<'a> Live<'a> {
    /// The pieces of a variable that are in memory, where the compiler has taken it apart.
    pub(crate) fn pieces(&self, entry: &Entry<'a>) -> Vec<Kept> {
        let unit = self.function.unit_ref();
        let location = entry.attr_value(gimli::DW_AT_location);
        let Some(expression) = location.and_then(|it| expression_at(unit, it, self.address)) else {
            return Vec::new();
        };
        let frame_base = self.frame_base().and_then(|base| only_operation(unit, base));
        let mut operations = expression.operations(unit.encoding());
        let (mut pieces, mut skipped) = (Vec::new(), 0_u64);
        // What is known of the next piece: nothing yet, a place, or that it is at none.
        let mut next: Option<Option<Storage>> = None;
        while let Ok(Some(operation)) = operations.next() {
            next = match (operation, next) {
                (Operation::RegisterOffset { register, offset, .. }, None) => {
                    Some(Some(Storage::Memory { register: register.0, offset }))
                }
                (Operation::FrameOffset { offset }, None) => Some(match frame_base {
                    Some(Operation::Register { register }) => {
                        Some(Storage::Memory { register: register.0, offset })
                    }
                    Some(Operation::CallFrameCFA) => Some(Storage::Stack(offset)),
                    _ => None,
                }),
                (Operation::PlusConstant { value }, Some(place)) => {
                    let value = i64::try_from(value).ok();
                    Some(place.and_then(|place| match place {
                        Storage::Memory { register, offset } => {
                            Some(Storage::Memory { register, offset: offset.checked_add(value?)? })
                        }
                        Storage::Stack(offset) => Some(Storage::Stack(offset.checked_add(value?)?)),
                        _ => None,
                    }))
                }
                (Operation::Piece { size_in_bits, bit_offset }, place) => {
                    let whole = size_in_bits % 8 == 0 && bit_offset.unwrap_or(0) == 0;
                    let Some(more) = skipped.checked_add(size_in_bits / 8).filter(|_| whole) else { break };
                    let kept = place.flatten().map(|place| Kept { place, skipped, size: size_in_bits / 8 });
                    pieces.extend(kept);
                    skipped = more;
                    None
                }
                _ => Some(None),
            };
        }
        pieces
    }
}

/// A variable found by the walk.
struct Found {
    die: UnitOffset,
    depth: usize,
    level: usize,
    parameter: bool,
}

struct Walk<'w, 'a> {
    die: &'w Die<'a>,
    address: u64,
    /// Whether blocks that do not hold the address are looked into.
    all: bool,
    found: Vec<Found>,
}

impl<'a> Walk<'_, 'a> {
    fn function(&mut self, function: UnitOffset) {
        if let Ok(mut tree) = self.die.unit.unit.entries_tree(Some(function))
            && let Ok(node) = tree.root()
        {
            // Damage ends the walk; what was found before it is true.
            let _ = self.children(node, 0, 0);
        }
    }

    fn children(
        &mut self,
        node: EntriesTreeNode<'_, '_, Slice<'a>>,
        depth: usize,
        level: usize,
    ) -> gimli::Result<()> {
        let mut children = node.children();
        while let Some(child) = children.next()? {
            let entry = child.entry();
            match entry.tag() {
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                    let parameter = entry.tag() == gimli::DW_TAG_formal_parameter;
                    self.found.push(Found { die: entry.offset(), depth, level, parameter });
                }
                gimli::DW_TAG_lexical_block | gimli::DW_TAG_inlined_subroutine
                    if depth < MAX_DEPTH && (self.all || self.holds_address(entry)) =>
                {
                    let inlined = entry.tag() == gimli::DW_TAG_inlined_subroutine;
                    self.children(child, depth + 1, level + usize::from(inlined))?;
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
pub(crate) fn expression_at<'a>(
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
