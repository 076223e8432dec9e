//! From a location expression to the bytes it stands for.

use gimli::{AttributeValue, DieReference, EvaluationResult, Expression, LittleEndian, Location, Operation};
use gimli::{EntriesTreeNode, Piece, UnitOffset, ValueType};

use super::unwind::{Caller, step};
use super::{Machine, NoValue, Source};
use crate::image::{Arena, ImageData};
use crate::locals::{Live, expression_at};
use crate::units::{Die, Entry, Slice};
use crate::variable::size_of;

/// A damaged expression may go round forever.
pub(super) const MAX_STEPS: u32 = 10_000;
/// Callers that entry values lead out to.
const MAX_CALLERS: usize = 3;
/// Bytes that are put together of pieces.
const MAX_PIECES: u64 = 1 << 16;
/// How deep call sites are looked for in blocks.
const MAX_DEPTH: usize = 100;

type Evaluated<'a> = Vec<Piece<Slice<'a>>>;

/// Evaluates the expressions of one frame.
#[derive(Clone, Copy)]
pub(crate) struct Evaluator<'e, 'a> {
    /// The frame's file.
    pub(crate) image: &'e ImageData<'a>,
    /// What it is in.
    pub(crate) arena: &'a Arena,
    /// The frame's function.
    pub(crate) live: &'e Live<'a>,
    /// What is added to linked addresses.
    pub(crate) bias: u64,
    /// The index of the module.
    pub(crate) module: usize,
    /// The frame's registers and memory.
    pub(crate) machine: &'e Machine<'e>,
    /// How many callers out of the frame that was asked for.
    pub(crate) callers: usize,
}

impl<'a> Evaluator<'_, 'a> {
    /// Where the bytes of a variable of the frame are.
    pub(crate) fn source_of(&self, die: &Die<'a>) -> Result<Source, NoValue> {
        let entry = die.entry().ok_or(NoValue::Type)?;
        let size = die.type_of(&entry).and_then(|ty| size_of(&ty));
        let Some(location) = entry.attr_value(gimli::DW_AT_location) else {
            let (_, entry) = die.with_attribute(&entry, gimli::DW_AT_const_value).ok_or(NoValue::Gone)?;
            return constant(&entry, size).ok_or(NoValue::Location);
        };
        let expression = expression_at(die.unit_ref(), location, self.live.address).ok_or(NoValue::Gone)?;
        if expression.0.is_empty() {
            return Err(NoValue::Gone);
        }
        self.assemble(&self.run(expression)?, size)
    }

    fn run(&self, expression: Expression<Slice<'a>>) -> Result<Evaluated<'a>, NoValue> {
        let unit = self.live.function.unit_ref();
        let wrong = |_| NoValue::Location;
        let mut evaluation = expression.evaluation(unit.encoding());
        evaluation.set_max_iterations(MAX_STEPS);
        let mut state = evaluation.evaluate().map_err(wrong)?;
        loop {
            state = match state {
                EvaluationResult::Complete => return Ok(evaluation.result()),
                EvaluationResult::RequiresMemory { address, size, base_type, space: None } => {
                    let bytes = Source::Memory(address).bytes(usize::from(size), self.machine)?;
                    evaluation.resume_with_memory(self.typed(&bytes, base_type)?)
                }
                EvaluationResult::RequiresRegister { register, base_type } => {
                    let value = self.register(register.0)?;
                    evaluation.resume_with_register(self.typed(&value.to_le_bytes(), base_type)?)
                }
                EvaluationResult::RequiresFrameBase => evaluation.resume_with_frame_base(self.frame_base()?),
                EvaluationResult::RequiresCallFrameCfa => {
                    evaluation.resume_with_call_frame_cfa(self.frame_address()?)
                }
                EvaluationResult::RequiresTls(offset) => {
                    let locals = self.machine.thread_locals.ok_or(NoValue::Frame)?;
                    let offset = self.image.thread_local_offset(offset);
                    evaluation.resume_with_tls(locals(self.module, offset).ok_or(NoValue::Frame)?)
                }
                EvaluationResult::RequiresRelocatedAddress(address) => {
                    evaluation.resume_with_relocated_address(address.wrapping_add(self.bias))
                }
                EvaluationResult::RequiresIndexedAddress { index, relocate } => {
                    let address = unit.address(index).map_err(wrong)?;
                    let bias = if relocate { self.bias } else { 0 };
                    evaluation.resume_with_indexed_address(address.wrapping_add(bias))
                }
                EvaluationResult::RequiresBaseType(offset) => {
                    evaluation.resume_with_base_type(self.value_type(offset)?)
                }
                EvaluationResult::RequiresAtLocation(DieReference::UnitRef(offset)) => {
                    let other = self.live.function.at(offset).entry().ok_or(NoValue::Location)?;
                    let location = other.attr_value(gimli::DW_AT_location).ok_or(NoValue::Location)?;
                    let expression =
                        expression_at(unit, location, self.live.address).ok_or(NoValue::Location)?;
                    evaluation.resume_with_at_location(expression.0)
                }
                EvaluationResult::RequiresEntryValue(expression) => {
                    let value = self.entry_value(expression)?;
                    evaluation.resume_with_entry_value(gimli::Value::Generic(value))
                }
                _ => return Err(NoValue::Location),
            }
            .map_err(wrong)?;
        }
    }

    fn register(&self, number: u16) -> Result<u64, NoValue> {
        self.machine.registers.get(number).ok_or(NoValue::Register(number))
    }

    fn value_type(&self, offset: UnitOffset) -> Result<ValueType, NoValue> {
        if offset.0 == 0 {
            return Ok(ValueType::Generic);
        }
        let entry = self.live.function.at(offset).entry().ok_or(NoValue::Type)?;
        ValueType::from_entry(&entry).ok().flatten().ok_or(NoValue::Type)
    }

    fn typed(&self, bytes: &[u8], base_type: UnitOffset) -> Result<gimli::Value, NoValue> {
        match self.value_type(base_type)? {
            ValueType::Generic => {
                let mut whole = [0; 8];
                whole.get_mut(..bytes.len()).ok_or(NoValue::Location)?.copy_from_slice(bytes);
                Ok(gimli::Value::Generic(u64::from_le_bytes(whole)))
            }
            value_type => gimli::Value::parse(value_type, Slice::new(bytes, LittleEndian))
                .map_err(|_| NoValue::Location),
        }
    }

    fn caller(&self) -> Result<Caller, NoValue> {
        step(self.image, self.arena, self.live.address, self.machine).ok_or(NoValue::Frame)
    }

    fn frame_address(&self) -> Result<u64, NoValue> {
        match self.machine.frame_address {
            Some(address) => Ok(address),
            None => Ok(self.caller()?.frame_address),
        }
    }

    fn frame_base(&self) -> Result<u64, NoValue> {
        let expression = self.live.frame_base().ok_or(NoValue::Frame)?;
        // A frame base that counts from itself is damaged.
        let mut operations = expression.operations(self.live.function.unit.unit.encoding());
        while let Some(operation) = operations.next().map_err(|_| NoValue::Location)? {
            if matches!(operation, Operation::FrameOffset { .. } | Operation::Call { .. }) {
                return Err(NoValue::Location);
            }
        }
        match self.run(expression)?.as_slice() {
            [piece] => self.number(piece.location),
            _ => Err(NoValue::Location),
        }
    }

    /// What an expression that computes a number gives.
    fn number(&self, location: Location<Slice<'a>>) -> Result<u64, NoValue> {
        match location {
            Location::Address { address } => Ok(address),
            Location::Register { register } => self.register(register.0),
            Location::Value { value } => value.to_u64(u64::MAX).map_err(|_| NoValue::Location),
            _ => Err(NoValue::Location),
        }
    }

    /// What a register held when the function was entered: the caller's debug info may say what it passed.
    fn entry_value(&self, expression: Expression<Slice<'a>>) -> Result<u64, NoValue> {
        let mut operations = expression.operations(self.live.function.unit.unit.encoding());
        let Ok(Some(Operation::Register { register })) = operations.next() else {
            return Err(NoValue::Location);
        };
        if self.callers >= MAX_CALLERS {
            return Err(NoValue::Gone);
        }
        let caller = self.caller()?;
        let returns_to = caller.return_address.ok_or(NoValue::Gone)?.wrapping_sub(self.bias);
        let inside = returns_to.checked_sub(1).ok_or(NoValue::Gone)?;
        let live = Live::at(self.image, self.arena, inside).ok_or(NoValue::Gone)?;
        let site = call_site(&live.function, returns_to).ok_or(NoValue::Gone)?;
        // Between the two frames there may have been others, left by tail calls.
        if !self.is_called_by(&site) {
            return Err(NoValue::Gone);
        }
        let value = site.children().into_iter().find_map(|(_, child)| {
            let location = child.attr_value(gimli::DW_AT_location)?.exprloc_value()?;
            let mut operations = location.operations(live.function.unit.unit.encoding());
            match operations.next() {
                Ok(Some(Operation::Register { register: passed })) if passed == register => child
                    .attr_value(gimli::DW_AT_call_value)
                    .or_else(|| child.attr_value(gimli::DW_AT_GNU_call_site_value))?
                    .exprloc_value(),
                _ => None,
            }
        });
        let machine = Machine { registers: caller.registers, frame_address: None, ..*self.machine };
        let outer = Evaluator { live: &live, machine: &machine, callers: self.callers + 1, ..*self };
        match outer.run(value.ok_or(NoValue::Gone)?)?.as_slice() {
            [piece] => outer.number(piece.location),
            _ => Err(NoValue::Location),
        }
    }

    fn is_called_by(&self, site: &Die<'a>) -> bool {
        let Some(entry) = site.entry() else { return false };
        let called = site
            .reference(&entry, gimli::DW_AT_call_origin)
            .or_else(|| site.reference(&entry, gimli::DW_AT_abstract_origin));
        let Some(called) = called else { return false };
        let name = |die: &Die<'a>| {
            let entry = die.entry()?;
            let linked = die.with_attribute(&entry, gimli::DW_AT_linkage_name);
            linked
                .and_then(|(die, entry)| die.string(&entry, gimli::DW_AT_linkage_name))
                .or_else(|| die.name(&entry))
        };
        name(&called).is_some_and(|called| name(&self.live.function) == Some(called))
    }

    fn assemble(&self, pieces: &[Piece<Slice<'a>>], size: Option<u64>) -> Result<Source, NoValue> {
        if let [Piece { size_in_bits: None, location, .. }] = pieces {
            return match location {
                Location::Empty => Err(NoValue::Gone),
                Location::Address { address } => Ok(Source::Memory(*address)),
                Location::ImplicitPointer { .. } => Err(NoValue::Location),
                location => Ok(Source::Held(self.held(*location, size.unwrap_or(8)))),
            };
        }
        let mut bytes: Vec<Option<u8>> = Vec::new();
        for piece in pieces {
            let bits = piece.size_in_bits.ok_or(NoValue::Location)?;
            let skipped = piece.bit_offset.unwrap_or(0);
            let fits = bits.is_multiple_of(8) && skipped.is_multiple_of(8);
            if !fits || bits / 8 + skipped / 8 + bytes.len() as u64 > MAX_PIECES {
                return Err(NoValue::Location);
            }
            let (count, skipped) = ((bits / 8) as usize, (skipped / 8) as usize);
            let mut held = self.held(piece.location, (count + skipped) as u64);
            held.resize(count + skipped, None);
            bytes.extend_from_slice(&held[skipped..]);
        }
        if bytes.iter().all(Option::is_none) { Err(NoValue::Gone) } else { Ok(Source::Held(bytes)) }
    }

    /// The bytes of a piece as far as they are known.
    fn held(&self, location: Location<Slice<'a>>, size: u64) -> Vec<Option<u8>> {
        let size = size.min(MAX_PIECES) as usize;
        let known = |bytes: &[u8]| bytes.iter().copied().map(Some).take(size).collect();
        match location {
            Location::Register { register } => {
                self.machine.registers.get(register.0).map_or(Vec::new(), |value| known(&value.to_le_bytes()))
            }
            Location::Address { address } => {
                Source::Memory(address).bytes(size, self.machine).map_or(Vec::new(), |bytes| known(&bytes))
            }
            Location::Value { value } => known(&value_bytes(value)),
            Location::Bytes { value } => known(value.slice()),
            Location::Empty | Location::ImplicitPointer { .. } => Vec::new(),
        }
    }
}

fn value_bytes(value: gimli::Value) -> [u8; 8] {
    match value {
        gimli::Value::F32(value) => u64::from(value.to_bits()).to_le_bytes(),
        gimli::Value::F64(value) => value.to_bits().to_le_bytes(),
        value => value.to_u64(u64::MAX).unwrap_or(0).to_le_bytes(),
    }
}

/// The bytes of a value that the compiler wrote into the debug info.
fn constant(entry: &Entry<'_>, size: Option<u64>) -> Option<Source> {
    match entry.attr_value(gimli::DW_AT_const_value)? {
        AttributeValue::Block(bytes) => Some(Source::of_bytes(bytes.slice())),
        AttributeValue::String(text) => Some(Source::of_bytes(text.slice())),
        value => {
            let number = value.sdata_value().or_else(|| value.udata_value().map(u64::cast_signed))?;
            let bytes = i128::from(number).to_le_bytes();
            let size = usize::try_from(size?).ok().filter(|size| *size <= bytes.len())?;
            Some(Source::of_bytes(&bytes[..size]))
        }
    }
}

/// The call in a function that returns to a linked address.
fn call_site<'a>(function: &Die<'a>, returns_to: u64) -> Option<Die<'a>> {
    let mut tree = function.unit.unit.entries_tree(Some(function.offset)).ok()?;
    let offset = call_site_in(function, tree.root().ok()?, returns_to, 0).ok()??;
    Some(function.at(offset))
}

fn call_site_in<'a>(
    function: &Die<'a>,
    node: EntriesTreeNode<'_, '_, Slice<'a>>,
    returns_to: u64,
    depth: usize,
) -> gimli::Result<Option<UnitOffset>> {
    let mut children = node.children();
    while let Some(child) = children.next()? {
        let entry = child.entry();
        let at = match entry.tag() {
            gimli::DW_TAG_call_site => gimli::DW_AT_call_return_pc,
            gimli::DW_TAG_GNU_call_site => gimli::DW_AT_low_pc,
            gimli::DW_TAG_lexical_block | gimli::DW_TAG_inlined_subroutine if depth < MAX_DEPTH => {
                if let Some(found) = call_site_in(function, child, returns_to, depth + 1)? {
                    return Ok(Some(found));
                }
                continue;
            }
            _ => continue,
        };
        if let Some(value) = entry.attr_value(at)
            && function.unit_ref().attr_address(value)? == Some(returns_to)
        {
            return Ok(Some(entry.offset()));
        }
    }
    Ok(None)
}
