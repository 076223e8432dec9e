//! From a frame to its caller: the tables that exceptions are thrown by say where registers were saved.

use gimli::{BaseAddresses, CfaRule, CieOrFde, DebugFrame, EhFrame, EhFrameOffset, RegisterRule};
use gimli::{UnwindContext, UnwindExpression, UnwindSection, UnwindTableRow};

use super::machine::{RETURN_ADDRESS, STACK_POINTER};
use super::{Machine, Registers};
use crate::image::{Arena, ImageData};
use crate::units::Slice;

/// What is known of a frame's caller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    /// The stack pointer before the call.
    pub(crate) frame_address: u64,
    /// The caller's registers.
    pub(crate) registers: Registers,
    /// Where the frame returns to; `None` in the outermost one.
    pub(crate) return_address: Option<u64>,
}

/// One step out of the frame whose code is at a linked address.
pub(crate) fn step<'a>(
    image: &ImageData<'a>,
    arena: &'a Arena,
    address: u64,
    machine: &Machine<'_>,
) -> Option<Caller> {
    let mut context = UnwindContext::new();
    if let Some((section, at)) = image.section_at(".eh_frame", arena) {
        let frames = EhFrame::from(section);
        let bases = BaseAddresses::default().set_eh_frame(at);
        let index = image.frame_index.get_or_init(|| entries(&frames, &bases));
        let after = index.partition_point(|entry| entry.start <= address);
        if let Some(entry) = after.checked_sub(1).map(|last| &index[last]).filter(|entry| address < entry.end)
            && let Ok(fde) =
                frames.fde_from_offset(&bases, EhFrameOffset(entry.offset), UnwindSection::cie_from_offset)
            && let Ok(row) = fde.unwind_info_for_address(&frames, &bases, &mut context, address)
        {
            return apply(&frames, row, machine);
        }
    }
    let (debug_frame, _) = image.section_at(".debug_frame", arena)?;
    let mut frames = DebugFrame::from(debug_frame);
    frames.set_address_size(8);
    let row = frames
        .unwind_info_for_address(
            &BaseAddresses::default(),
            &mut context,
            address,
            UnwindSection::cie_from_offset,
        )
        .ok()?;
    apply(&frames, row, machine)
}

/// The code that an entry of the unwind table is for.
pub(crate) struct FrameEntry {
    start: u64,
    end: u64,
    offset: usize,
}

/// All entries, by address; damage ends the list.
fn entries<'a>(frames: &EhFrame<Slice<'a>>, bases: &BaseAddresses) -> Vec<FrameEntry> {
    let mut found = Vec::new();
    let mut entries = frames.entries(bases);
    while let Ok(Some(entry)) = entries.next() {
        if let CieOrFde::Fde(partial) = entry
            && let Ok(fde) = partial.parse(UnwindSection::cie_from_offset)
            && let Some(end) = fde.initial_address().checked_add(fde.len())
        {
            found.push(FrameEntry { start: fde.initial_address(), end, offset: fde.offset() });
        }
    }
    found.sort_by_key(|entry| entry.start);
    found
}

fn apply<'a, S: UnwindSection<Slice<'a>>>(
    section: &S,
    row: &UnwindTableRow<usize>,
    machine: &Machine<'_>,
) -> Option<Caller> {
    let frame_address = match row.cfa() {
        CfaRule::RegisterAndOffset { register, offset } => {
            machine.registers.get(register.0)?.checked_add_signed(*offset)?
        }
        CfaRule::Expression(expression) => evaluate(section, expression, None, machine)?,
    };
    let mut registers = Registers::default();
    // What a callee must keep is the caller's own unless a rule says otherwise.
    for kept in [3, 6, 12, 13, 14, 15] {
        registers.set(kept, machine.registers.get(kept));
    }
    let mut return_address = None;
    for (register, rule) in row.registers() {
        let value = match rule {
            RegisterRule::Undefined => None,
            RegisterRule::SameValue => machine.registers.get(register.0),
            RegisterRule::Offset(offset) => machine.word(frame_address.wrapping_add_signed(*offset)),
            RegisterRule::ValOffset(offset) => Some(frame_address.wrapping_add_signed(*offset)),
            RegisterRule::Register(other) => machine.registers.get(other.0),
            RegisterRule::Expression(expression) => {
                evaluate(section, expression, Some(frame_address), machine).and_then(|at| machine.word(at))
            }
            RegisterRule::ValExpression(expression) => {
                evaluate(section, expression, Some(frame_address), machine)
            }
            RegisterRule::Constant(value) => Some(*value),
            _ => None,
        };
        registers.set(register.0, value);
        if register.0 == RETURN_ADDRESS {
            return_address = value.filter(|value| *value != 0);
        }
    }
    registers.set(STACK_POINTER, Some(frame_address));
    Some(Caller { frame_address, registers, return_address })
}

fn evaluate<'a, S: UnwindSection<Slice<'a>>>(
    section: &S,
    expression: &UnwindExpression<usize>,
    initial: Option<u64>,
    machine: &Machine<'_>,
) -> Option<u64> {
    const ENCODING: gimli::Encoding =
        gimli::Encoding { address_size: 8, format: gimli::Format::Dwarf32, version: 4 };
    let expression = expression.get(section).ok()?;
    let mut evaluation = expression.evaluation(ENCODING);
    evaluation.set_max_iterations(super::evaluate::MAX_STEPS);
    if let Some(initial) = initial {
        evaluation.set_initial_value(initial);
    }
    let mut state = evaluation.evaluate().ok()?;
    loop {
        state = match state {
            gimli::EvaluationResult::Complete => break,
            gimli::EvaluationResult::RequiresRegister { register, .. } => {
                let value = machine.registers.get(register.0)?;
                evaluation.resume_with_register(gimli::Value::Generic(value)).ok()?
            }
            gimli::EvaluationResult::RequiresMemory { address, size, .. } => {
                let mut bytes = [0; 8];
                let wanted = bytes.get_mut(..usize::from(size))?;
                if !(machine.memory)(address, wanted) {
                    return None;
                }
                evaluation.resume_with_memory(gimli::Value::Generic(u64::from_le_bytes(bytes))).ok()?
            }
            _ => return None,
        }
    }
    match evaluation.as_result() {
        [gimli::Piece { location: gimli::Location::Address { address }, .. }] => Some(*address),
        _ => None,
    }
}
