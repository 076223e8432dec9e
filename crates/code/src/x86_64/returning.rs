//! The instructions from the hook of a function's exit to its `ret`, gone through by hand.
//!
//! Each value is known in two ways: as the place that it is (a register as it was at the hook, plus a number), and as bits, once what it comes from is
//! there. The first is enough to see what it comes from. Whatever is not known leaves a value that is not known, never a wrong one.

use iced_x86::{
    ConditionCode, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic,
    OpAccess, OpKind, Register,
};
use rustc_hash::FxHashMap;

use super::registers::general;
use crate::exits::{Given, Source};
use crate::image::{Extent, Image};

/// Instructions from the hook to the end at the most.
const MOST: usize = 64;
/// Ways that are gone.
const WAYS: usize = 16;
/// What a value comes from at the most.
const SOURCES: usize = 6;

/// DWARF numbers of the general registers, by the machine's.
const DWARF: [u8; 16] = [0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15];
/// The machine's numbers of the registers that a call keeps, the stack pointer among them.
const KEPT: [usize; 7] = [3, 4, 5, 12, 13, 14, 15];
const STACK: usize = 4;
const FRAME: usize = 5;

/// The address behind each call that leads to what is wanted: to a stub, or through a slot.
pub(crate) fn calls_to(image: &Image, stub: impl Fn(u64) -> bool, slot: impl Fn(u64) -> bool) -> Vec<u64> {
    let mut found = Vec::new();
    for extent in &image.functions {
        let bytes = image.bytes_at(extent.start);
        let length = usize::try_from(extent.end.saturating_sub(extent.start)).unwrap_or(0).min(bytes.len());
        let bytes = &bytes[..length];
        let distance = |at: usize| Some(i32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        for at in 0..length {
            // What only looks like a call is told by the instructions behind it.
            let (skip, leads): (usize, &dyn Fn(u64) -> bool) = match bytes[at..] {
                [0xe8, ..] => (1, &stub),
                [0xff, 0x15, ..] => (2, &slot),
                _ => continue,
            };
            let Some(distance) = distance(at + skip) else { continue };
            let after = extent.start + (at + skip + 4) as u64;
            if leads(after.wrapping_add_signed(distance.into())) {
                found.push(after);
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The instructions behind a hook.
#[derive(Clone, Debug)]
pub(crate) struct Returning {
    instructions: FxHashMap<u64, Instruction>,
    after: u64,
}

impl Returning {
    /// Those behind the hook that goes on at `after`; none if no way leads to a `ret`.
    pub(crate) fn at(image: &Image, after: u64, extent: &Extent) -> Option<Returning> {
        let mut instructions = FxHashMap::default();
        let mut open = vec![after];
        let mut returns = false;
        while let Some(start) = open.pop() {
            let mut decoder = Decoder::with_ip(64, image.bytes_at(start), start, DecoderOptions::NONE);
            while decoder.can_decode() && (extent.start..extent.end).contains(&decoder.ip()) {
                if instructions.len() >= MOST || instructions.contains_key(&decoder.ip()) {
                    break;
                }
                let instruction = decoder.decode();
                instructions.insert(instruction.ip(), instruction);
                match instruction.flow_control() {
                    FlowControl::Next => {}
                    FlowControl::ConditionalBranch => open.push(instruction.near_branch_target()),
                    FlowControl::UnconditionalBranch => {
                        open.push(instruction.near_branch_target());
                        break;
                    }
                    flow => {
                        returns |= flow == FlowControl::Return;
                        break;
                    }
                }
            }
        }
        returns.then_some(Returning { instructions, after })
    }

    /// What the value comes from, whichever way is gone; none if that is not known.
    pub(crate) fn sources(&self, given: Given, size: u8) -> Option<Vec<Source>> {
        let mut all: Vec<Source> = Vec::new();
        let mut returns = false;
        let mut open = vec![(self.after, State::new(None))];
        let mut ways = 0;
        while let Some((at, mut state)) = open.pop() {
            ways += 1;
            match self.go(at, &mut state, given) {
                End::Returns(value) => {
                    returns = true;
                    let value = value.filter(|value| value.comes && value.bytes >= size)?;
                    for source in state.sources.iter().enumerate().filter(|(at, _)| value.from >> at & 1 == 1)
                    {
                        if !all.contains(source.1) {
                            all.push(*source.1);
                        }
                    }
                }
                End::Parts { to, or, on } if !on.comes => {
                    open.push((self.living(to, or, &state, given)?, state))
                }
                End::Parts { to, or, on } => {
                    if ways + open.len() >= WAYS {
                        return None;
                    }
                    let tested = state.sources.iter().enumerate().filter(|(at, _)| on.from >> at & 1 == 1);
                    for (_, source) in tested {
                        if !all.contains(source) {
                            all.push(*source);
                        }
                    }
                    open.push((to, state.clone()));
                    open.push((or, state));
                }
                End::Leaves => {}
            }
        }
        (returns && all.len() <= SOURCES).then_some(all)
    }

    /// The value, where its sources have these.
    pub(crate) fn value(&self, given: Given, size: u8, sources: &[(Source, u64)]) -> Option<u64> {
        let mut state = State::new(Some(sources));
        let mut at = self.after;
        for _ in 0..WAYS {
            match self.go(at, &mut state, given) {
                End::Returns(value) => {
                    let bits = value.filter(|value| value.bytes >= size)?.bits?;
                    return Some(bits & (u64::MAX >> (64 - 8 * u32::from(size))));
                }
                End::Parts { to, or, on } if !on.comes => at = self.living(to, or, &state, given)?,
                End::Parts { to, or, on } => at = if on.bits? & 1 == 1 { to } else { or },
                End::Leaves => return None,
            }
        }
        None
    }

    /// The one of two ways that may come to a `ret`, if the other one does not: a damaged stack is looked for, whose check reads what is not known.
    fn living(&self, to: u64, or: u64, state: &State<'_>, given: Given) -> Option<u64> {
        let is_dead = |at: u64| matches!(self.go(at, &mut state.clone(), given), End::Leaves);
        match (is_dead(to), is_dead(or)) {
            (true, false) => Some(or),
            (false, true) => Some(to),
            _ => None,
        }
    }

    /// Goes on until the function returns, leaves, or the way parts.
    fn go(&self, mut at: u64, state: &mut State<'_>, given: Given) -> End {
        let mut factory = InstructionInfoFactory::new();
        for _ in 0..MOST {
            let Some(instruction) = self.instructions.get(&at) else { return End::Leaves };
            at = instruction.next_ip();
            match instruction.flow_control() {
                FlowControl::Next => state.step(instruction, &mut factory),
                FlowControl::UnconditionalBranch => at = instruction.near_branch_target(),
                FlowControl::ConditionalBranch => {
                    let on = state.condition(instruction.condition_code());
                    return End::Parts { to: instruction.near_branch_target(), or: at, on };
                }
                FlowControl::Return => {
                    return End::Returns(match given {
                        Given::General => Some(state.general[0]),
                        Given::Vector => Some(state.vector[0]),
                    });
                }
                // A call or a trap there does not come back: the hook says that the function is over.
                _ => return End::Leaves,
            }
        }
        End::Leaves
    }
}

enum End {
    Returns(Option<Value>),
    Parts { to: u64, or: u64, on: Value },
    Leaves,
}

/// A value as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Value {
    /// The register at the hook, by the machine's number, that it is so far from.
    place: Option<(u8, i64)>,
    /// The bits, once the sources have some.
    bits: Option<u64>,
    /// Whether all that it comes from is known.
    comes: bool,
    /// What it comes from: a bit each.
    from: u64,
    /// How many of its bytes mean something, from the lowest on.
    bytes: u8,
}

impl Value {
    const NOTHING: Value = Value { place: None, bits: None, comes: false, from: 0, bytes: 0 };

    fn number(number: u64) -> Value {
        Value { place: None, bits: Some(number), comes: true, from: 0, bytes: 8 }
    }
}

/// What a comparison compared, or what an operation left.
#[derive(Clone, Copy, Debug)]
struct Flags {
    left: Value,
    right: Value,
    size: u8,
    /// Whether the two are subtracted; else they are put together bit by bit.
    less: bool,
}

#[derive(Clone, Debug)]
struct State<'a> {
    general: [Value; 16],
    vector: [Value; 16],
    flags: Option<Flags>,
    /// What was stored since, by place.
    stored: Vec<((u8, i64), u8, Value)>,
    /// Something was stored at a place that is not known.
    spoiled: bool,
    sources: Vec<Source>,
    known: Option<&'a [(Source, u64)]>,
}

fn mask(size: u8) -> u64 {
    u64::MAX >> (64 - 8 * u32::from(size.clamp(1, 8)))
}

fn extended(bits: u64, size: u8) -> u64 {
    let unused = 64 - 8 * u32::from(size.clamp(1, 8));
    (bits.cast_signed() << unused >> unused).cast_unsigned()
}

impl<'a> State<'a> {
    fn new(known: Option<&'a [(Source, u64)]>) -> Self {
        let mut state = State {
            general: [Value::NOTHING; 16],
            vector: [Value::NOTHING; 16],
            flags: None,
            stored: Vec::new(),
            spoiled: false,
            sources: Vec::new(),
            known,
        };
        for number in KEPT {
            state.general[number] = state.source(number as u8, None, 8);
            state.general[number].place = Some((number as u8, 0));
        }
        state
    }

    /// What a register or a place in the frame has at the hook.
    fn source(&mut self, register: u8, offset: Option<i32>, size: u8) -> Value {
        let source = Source { register: DWARF[usize::from(register)], offset, size };
        let at = self.sources.iter().position(|it| *it == source).unwrap_or_else(|| {
            self.sources.push(source);
            self.sources.len() - 1
        });
        if at >= 64 {
            return Value::NOTHING;
        }
        let known = self.known.and_then(|known| known.iter().find(|(it, _)| *it == source));
        Value { place: None, bits: known.map(|(_, bits)| *bits), comes: true, from: 1 << at, bytes: size }
    }

    /// Where the memory operand is.
    fn address(&self, instruction: &Instruction) -> Option<(u8, i64)> {
        let plain =
            instruction.memory_index() == Register::None && instruction.segment_prefix() == Register::None;
        let base =
            general(instruction.memory_base()).filter(|_| plain && instruction.memory_base().size() == 8)?;
        let (register, offset) = self.general[base].place?;
        Some((register, offset.wrapping_add(instruction.memory_displacement64().cast_signed())))
    }

    fn load(&mut self, at: Option<(u8, i64)>, size: u8) -> Value {
        let Some((register, offset)) = at.filter(|_| !self.spoiled && matches!(size, 1 | 2 | 4 | 8)) else {
            return Value::NOTHING;
        };
        // What was stored counts from the stack pointer or from the frame pointer: of another one it is not known whether it is here.
        if self.stored.iter().any(|((other, _), _, _)| *other != register) {
            return Value::NOTHING;
        }
        for ((_, begin), stored, value) in self.stored.iter().rev() {
            let apart = offset + i64::from(size) <= *begin || begin + i64::from(*stored) <= offset;
            if !apart {
                let whole = *begin == offset && *stored >= size && value.bytes >= size;
                return if whole { *value } else { Value::NOTHING };
            }
        }
        match i32::try_from(offset) {
            Ok(offset) => self.source(register, Some(offset), size),
            Err(_) => Value::NOTHING,
        }
    }

    fn store(&mut self, at: Option<(u8, i64)>, size: u8, value: Value) {
        match at {
            Some(place) => self.stored.push((place, size, value)),
            None => self.spoiled = true,
        }
    }

    /// An operand as it is read.
    fn read(&mut self, instruction: &Instruction, operand: u32) -> (Value, u8) {
        match instruction.op_kind(operand) {
            OpKind::Register => {
                let register = instruction.op_register(operand);
                let size = register.size().min(8) as u8;
                let high = matches!(register, Register::AH | Register::BH | Register::CH | Register::DH);
                let value = match general(register) {
                    Some(number) if !high => self.general[number],
                    _ if register.is_xmm() && register.number() < 16 => self.vector[register.number()],
                    _ => Value::NOTHING,
                };
                (value, size)
            }
            OpKind::Memory => {
                let size = instruction.memory_size().size().min(8) as u8;
                let at = self.address(instruction);
                (self.load(at, size), size)
            }
            OpKind::NearBranch16
            | OpKind::NearBranch32
            | OpKind::NearBranch64
            | OpKind::FarBranch16
            | OpKind::FarBranch32 => (Value::NOTHING, 8),
            kind => match instruction.try_immediate(operand) {
                Ok(number) => (Value::number(number), 8),
                Err(_) => {
                    debug_assert!(kind != OpKind::Memory);
                    (Value::NOTHING, 8)
                }
            },
        }
    }

    /// An operand is written: a register by its size, as the machine does it.
    fn write(&mut self, instruction: &Instruction, operand: u32, value: Value) {
        match instruction.op_kind(operand) {
            OpKind::Memory => {
                let size = instruction.memory_size().size().min(64) as u8;
                let at = self.address(instruction);
                self.store(at, size, value);
            }
            OpKind::Register => {
                let register = instruction.op_register(operand);
                let size = register.size().min(8) as u8;
                if let Some(number) = general(register) {
                    let high = matches!(register, Register::AH | Register::BH | Register::CH | Register::DH);
                    self.general[number] = match size {
                        _ if high => Value::NOTHING,
                        8 => value,
                        // The upper half becomes zero.
                        4 if value.bytes >= 4 => Value {
                            place: None,
                            bits: value.bits.map(|bits| bits & mask(4)),
                            bytes: 8,
                            ..value
                        },
                        _ if value.bytes >= size => Value { place: None, bytes: size, ..value },
                        _ => Value::NOTHING,
                    };
                } else if register.is_vector_register() && register.number() < 16 {
                    self.vector[register.number()] = Value { place: None, ..value };
                }
            }
            _ => {}
        }
    }

    /// What comes of two values, bit by bit as `of` says.
    fn both(a: Value, b: Value, size: u8, of: impl FnOnce(u64, u64) -> u64) -> Value {
        if a.bytes < size || b.bytes < size {
            return Value::NOTHING;
        }
        let bits = a.bits.zip(b.bits).map(|(a, b)| of(a & mask(size), b & mask(size)) & mask(size));
        Value { place: None, bits, comes: a.comes && b.comes, from: a.from | b.from, bytes: size }
    }

    /// The first operand becomes what `of` makes of it and the second.
    fn operate(&mut self, instruction: &Instruction, of: impl FnOnce(u64, u64, u8) -> u64) {
        let (a, size) = self.read(instruction, 0);
        let (b, _) =
            if instruction.op_count() > 1 { self.read(instruction, 1) } else { (Value::number(1), 8) };
        let zeroed = matches!(instruction.mnemonic(), Mnemonic::Xor | Mnemonic::Sub)
            && instruction.op1_kind() == OpKind::Register
            && instruction.op0_kind() == OpKind::Register
            && instruction.op0_register() == instruction.op1_register();
        let mut result =
            if zeroed { Value::number(0) } else { Self::both(a, b, size, |a, b| of(a, b, size)) };
        if size == 8
            && let (Some((register, offset)), Some(number)) = (a.place, b.bits.filter(|_| b.from == 0))
        {
            result.place = match instruction.mnemonic() {
                Mnemonic::Add => Some((register, offset.wrapping_add_unsigned(number))),
                Mnemonic::Sub => Some((register, offset.wrapping_sub_unsigned(number))),
                _ => None,
            };
        }
        self.flags = match instruction.mnemonic() {
            Mnemonic::And | Mnemonic::Or | Mnemonic::Xor => {
                Some(Flags { left: result, right: result, size, less: false })
            }
            _ => None,
        };
        self.write(instruction, 0, result);
    }

    fn step(&mut self, instruction: &Instruction, factory: &mut InstructionInfoFactory) {
        let moved = |state: &mut Self, value: Value| state.write(instruction, 0, value);
        match instruction.mnemonic() {
            Mnemonic::Nop | Mnemonic::Endbr64 => {}
            Mnemonic::Mov => {
                let (value, _) = self.read(instruction, 1);
                moved(self, value);
            }
            Mnemonic::Movzx | Mnemonic::Movsx | Mnemonic::Movsxd => {
                let (value, size) = self.read(instruction, 1);
                let signed = instruction.mnemonic() != Mnemonic::Movzx;
                let extend = |bits: u64| if signed { extended(bits, size) } else { bits & mask(size) };
                let bits = value.bits.map(extend);
                let fits = value.bytes >= size;
                moved(
                    self,
                    if fits { Value { place: None, bits, bytes: 8, ..value } } else { Value::NOTHING },
                );
            }
            Mnemonic::Cdqe | Mnemonic::Cwde => {
                let size = if instruction.mnemonic() == Mnemonic::Cdqe { 4 } else { 2 };
                let value = self.general[0];
                let bits = value.bits.map(|bits| extended(bits, size) & mask(2 * size));
                let known = Value { place: None, bits, bytes: 8, ..value };
                self.general[0] = if value.bytes >= size { known } else { Value::NOTHING };
            }
            Mnemonic::Lea => {
                let value = self.sum(instruction);
                moved(self, value);
            }
            Mnemonic::Add => self.operate(instruction, |a, b, _| a.wrapping_add(b)),
            Mnemonic::Sub => {
                let flags = self.compared(instruction, true);
                self.operate(instruction, |a, b, _| a.wrapping_sub(b));
                self.flags = flags;
            }
            Mnemonic::Inc => self.operate(instruction, |a, b, _| a.wrapping_add(b)),
            Mnemonic::Dec => self.operate(instruction, |a, b, _| a.wrapping_sub(b)),
            Mnemonic::And => self.operate(instruction, |a, b, _| a & b),
            Mnemonic::Or => self.operate(instruction, |a, b, _| a | b),
            Mnemonic::Xor => self.operate(instruction, |a, b, _| a ^ b),
            Mnemonic::Not => {
                let flags = self.flags;
                self.operate(instruction, |a, _, _| !a);
                self.flags = flags;
            }
            Mnemonic::Neg => self.operate(instruction, |a, _, _| a.wrapping_neg()),
            Mnemonic::Shl => self.operate(instruction, |a, b, size| a << shift(b, size)),
            Mnemonic::Shr => self.operate(instruction, |a, b, size| a >> shift(b, size)),
            Mnemonic::Sar => self.operate(instruction, |a, b, size| {
                (extended(a, size).cast_signed() >> shift(b, size)).cast_unsigned()
            }),
            Mnemonic::Imul if instruction.op_count() == 2 => {
                self.operate(instruction, |a, b, _| a.wrapping_mul(b));
            }
            Mnemonic::Imul if instruction.op_count() == 3 => {
                let (a, size) = self.read(instruction, 1);
                let (b, _) = self.read(instruction, 2);
                self.flags = None;
                moved(self, Self::both(a, b, size, u64::wrapping_mul));
            }
            Mnemonic::Cmp => self.flags = self.compared(instruction, true),
            Mnemonic::Test => self.flags = self.compared(instruction, false),
            Mnemonic::Push => {
                let (value, _) = self.read(instruction, 0);
                self.move_stack(-8);
                let at = self.general[STACK].place;
                self.store(at, 8, value);
            }
            Mnemonic::Pop => {
                let value = self.load(self.general[STACK].place, 8);
                self.move_stack(8);
                moved(self, value);
            }
            Mnemonic::Leave => {
                self.general[STACK] = self.general[FRAME];
                let value = self.load(self.general[STACK].place, 8);
                self.move_stack(8);
                self.general[FRAME] = value;
            }
            // The moves of strings have the same names.
            _ if instruction.is_string_instruction() => self.forget(instruction, factory),
            Mnemonic::Movss
            | Mnemonic::Movsd
            | Mnemonic::Movd
            | Mnemonic::Movq
            | Mnemonic::Movaps
            | Mnemonic::Movapd
            | Mnemonic::Movups
            | Mnemonic::Movdqa
            | Mnemonic::Movdqu => {
                self.move_vector(instruction);
            }
            Mnemonic::Addsd => self.float(instruction, |a, b| a + b),
            Mnemonic::Subsd => self.float(instruction, |a, b| a - b),
            Mnemonic::Mulsd => self.float(instruction, |a, b| a * b),
            Mnemonic::Pxor | Mnemonic::Xorps | Mnemonic::Xorpd
                if instruction.op1_kind() == OpKind::Register
                    && instruction.op0_register() == instruction.op1_register() =>
            {
                self.write(instruction, 0, Value::number(0));
            }
            _ if instruction.condition_code() != ConditionCode::None => self.conditional(instruction),
            _ => self.forget(instruction, factory),
        }
    }

    /// `setcc` and `cmovcc`.
    fn conditional(&mut self, instruction: &Instruction) {
        let on = self.condition(instruction.condition_code());
        if instruction.op_count() == 1 {
            return self.write(instruction, 0, on);
        }
        let (old, size) = self.read(instruction, 0);
        let (new, _) = self.read(instruction, 1);
        let known = old.comes && new.comes && on.comes && old.bytes >= size && new.bytes >= size;
        let bits = on.bits.and_then(|on| if on & 1 == 1 { new.bits } else { old.bits });
        let from = old.from | new.from | on.from;
        let value = Value { place: None, bits, comes: true, from, bytes: size };
        self.write(instruction, 0, if known { value } else { Value::NOTHING });
    }

    /// Whatever an instruction that is not known writes is not known then.
    fn forget(&mut self, instruction: &Instruction, factory: &mut InstructionInfoFactory) {
        self.flags = None;
        let info = factory.info(instruction);
        let writes = |access: OpAccess| {
            !matches!(access, OpAccess::None | OpAccess::Read | OpAccess::CondRead | OpAccess::NoMemAccess)
        };
        for used in info.used_registers().iter().filter(|used| writes(used.access())) {
            let register = used.register();
            if let Some(number) = general(register) {
                self.general[number] = Value::NOTHING;
            } else if register.is_vector_register() && register.number() < 16 {
                self.vector[register.number()] = Value::NOTHING;
            }
        }
        self.spoiled |= info.used_memory().iter().any(|used| writes(used.access()));
    }

    fn move_stack(&mut self, by: i64) {
        let stack = &mut self.general[STACK];
        stack.place = stack.place.map(|(register, offset)| (register, offset + by));
        stack.bits = stack.bits.map(|bits| bits.wrapping_add_signed(by));
    }

    /// What `lea` makes.
    fn sum(&mut self, instruction: &Instruction) -> Value {
        let size = instruction.op0_register().size().min(8) as u8;
        let part = |state: &Self, register: Register| match general(register) {
            Some(number) => state.general[number],
            None if register == Register::None => Value::number(0),
            None => Value::NOTHING,
        };
        let base = part(self, instruction.memory_base());
        let index = part(self, instruction.memory_index());
        let (scale, more) =
            (u64::from(instruction.memory_index_scale()), instruction.memory_displacement64());
        let sum = |base: u64, index: u64| base.wrapping_add(index.wrapping_mul(scale)).wrapping_add(more);
        let mut value = Self::both(base, index, size, sum);
        value.place = self.address(instruction).filter(|_| size == 8);
        value
    }

    fn compared(&mut self, instruction: &Instruction, less: bool) -> Option<Flags> {
        let (left, size) = self.read(instruction, 0);
        let (right, _) = self.read(instruction, 1);
        Some(Flags { left, right, size, less })
    }

    fn move_vector(&mut self, instruction: &Instruction) {
        let (value, size) = self.read(instruction, 1);
        let narrow = match instruction.mnemonic() {
            Mnemonic::Movss | Mnemonic::Movd => 4,
            _ => 8,
        };
        let to_vector =
            instruction.op0_kind() == OpKind::Register && instruction.op0_register().is_vector_register();
        if !to_vector {
            return self.write(instruction, 0, value);
        }
        let wide = instruction.op1_kind() == OpKind::Memory && size < narrow;
        let known = !wide && value.bytes >= narrow;
        self.write(instruction, 0, if known { Value { bytes: narrow, ..value } } else { Value::NOTHING });
    }

    fn float(&mut self, instruction: &Instruction, of: impl FnOnce(f64, f64) -> f64) {
        let (a, _) = self.read(instruction, 0);
        let (b, _) = self.read(instruction, 1);
        let value = Self::both(a, b, 8, |a, b| of(f64::from_bits(a), f64::from_bits(b)).to_bits());
        self.write(instruction, 0, value);
    }

    /// Whether a condition holds: the lowest bit.
    fn condition(&self, code: ConditionCode) -> Value {
        let Some(Flags { left, right, size, less }) = self.flags else { return Value::NOTHING };
        let holds = |left: u64, right: u64| {
            let (signed_left, signed_right) =
                (extended(left, size).cast_signed(), extended(right, size).cast_signed());
            let bits = if less { left.wrapping_sub(right) } else { left & right } & mask(size);
            let negative = extended(bits, size).cast_signed() < 0;
            let (below, smaller) = match less {
                true => (left < right, signed_left < signed_right),
                false => (false, negative),
            };
            let overflow = less && smaller != negative;
            match code {
                ConditionCode::e => Some(bits == 0),
                ConditionCode::ne => Some(bits != 0),
                ConditionCode::b => Some(below),
                ConditionCode::ae => Some(!below),
                ConditionCode::be => Some(below || bits == 0),
                ConditionCode::a => Some(!below && bits != 0),
                ConditionCode::l => Some(smaller),
                ConditionCode::ge => Some(!smaller),
                ConditionCode::le => Some(smaller || bits == 0),
                ConditionCode::g => Some(!smaller && bits != 0),
                ConditionCode::s => Some(negative),
                ConditionCode::ns => Some(!negative),
                ConditionCode::o => Some(overflow),
                ConditionCode::no => Some(!overflow),
                _ => None,
            }
        };
        if matches!(code, ConditionCode::p | ConditionCode::np | ConditionCode::None) {
            return Value::NOTHING;
        }
        let mut value = Self::both(left, right, size, |_, _| 0);
        let bits = left.bits.zip(right.bits);
        value.bits =
            bits.and_then(|(left, right)| holds(left & mask(size), right & mask(size)).map(u64::from));
        Value { bytes: if value.comes { 1 } else { 0 }, ..value }
    }
}

fn shift(by: u64, size: u8) -> u32 {
    (by & if size == 8 { 63 } else { 31 }) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What code behind a hook gives back where registers and the words above the stack pointer have these.
    fn given(code: &[u8], given: Given, size: u8, have: &dyn Fn(Source) -> u64) -> Option<u64> {
        let mut instructions = FxHashMap::default();
        for instruction in Decoder::with_ip(64, code, 0x1000, DecoderOptions::NONE) {
            instructions.insert(instruction.ip(), instruction);
        }
        let returning = Returning { instructions, after: 0x1000 };
        let sources = returning.sources(given, size)?;
        let known: Vec<(Source, u64)> = sources.into_iter().map(|source| (source, have(source))).collect();
        returning.value(given, size, &known)
    }

    fn rbx(to: u64) -> impl Fn(Source) -> u64 {
        move |source| {
            assert_eq!((source.register, source.offset), (3, None));
            to
        }
    }

    #[test]
    fn what_is_computed_behind_the_hook_is_known() {
        // lea eax, [rbx+rbx]; pop rbx; ret
        let twice = [0x8d, 0x04, 0x1b, 0x5b, 0xc3];
        assert_eq!(given(&twice, Given::General, 4, &rbx(3)), Some(6));
        assert_eq!(given(&twice, Given::General, 4, &rbx(0xffff_ffff)), Some(0xffff_fffe));
        // xor eax, eax; cmp ebx, 3; sete al; pop rbx; ret
        let equal = [0x31, 0xc0, 0x83, 0xfb, 0x03, 0x0f, 0x94, 0xc0, 0x5b, 0xc3];
        assert_eq!(given(&equal, Given::General, 1, &rbx(3)), Some(1));
        assert_eq!(given(&equal, Given::General, 1, &rbx(1 << 32 | 4)), Some(0));
        // test ebx, ebx; je +6; mov eax, 1; ret; mov eax, 7; ret
        let ways = [0x85, 0xdb, 0x74, 6, 0xb8, 1, 0, 0, 0, 0xc3, 0xb8, 7, 0, 0, 0, 0xc3];
        assert_eq!(given(&ways, Given::General, 4, &rbx(9)), Some(1));
        assert_eq!(given(&ways, Given::General, 4, &rbx(0)), Some(7));
    }

    #[test]
    fn the_frame_is_read_and_other_memory_is_not() {
        // mov eax, [rsp+4]; add rsp, 24; ret
        let frame = [0x8b, 0x44, 0x24, 0x04, 0x48, 0x83, 0xc4, 0x18, 0xc3];
        let have = |source: Source| {
            assert_eq!((source.register, source.offset, source.size), (7, Some(4), 4));
            11
        };
        assert_eq!(given(&frame, Given::General, 4, &have), Some(11));
        assert_eq!(given(&frame, Given::General, 8, &have), Some(11), "the upper half is zero");
        // movsd xmm0, [rsp+8]; addsd xmm0, [rsp+8]; add rsp, 24; ret
        let sum = [
            0xf2, 0x0f, 0x10, 0x44, 0x24, 0x08, 0xf2, 0x0f, 0x58, 0x44, 0x24, 0x08, 0x48, 0x83, 0xc4, 0x18,
            0xc3,
        ];
        assert_eq!(given(&sum, Given::Vector, 8, &|_| 1.5f64.to_bits()), Some(3.0f64.to_bits()));
        // mov eax, [rip]; ret
        assert_eq!(given(&[0x8b, 0x05, 0, 0, 0, 0, 0xc3], Given::General, 4, &|_| 0), None);
        // mov eax, ebx; sub rdx, fs:[40]; jne +1; ret; call: what is compared there has no part in what is given back.
        let guarded =
            [0x89, 0xd8, 0x64, 0x48, 0x2b, 0x14, 0x25, 40, 0, 0, 0, 0x75, 1, 0xc3, 0xe8, 0, 0, 0, 0];
        assert_eq!(given(&guarded, Given::General, 4, &rbx(5)), Some(5));
        // div ebx; ret: not followed.
        assert_eq!(given(&[0xf7, 0xf3, 0xc3], Given::General, 4, &|_| 0), None);
    }
}
