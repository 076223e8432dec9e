//! What one instruction does to what is known.
//!
//! Moves, additions and the stack are followed exactly; everything else makes its results unknown, by the decoder's own table of what an
//! instruction writes. Calls are not done here.

use iced_x86::{
    ConditionCode, Instruction, InstructionInfoFactory, MemorySize, Mnemonic, OpAccess, OpKind, Register,
};

use rustc_hash::FxHashSet;

use super::registers::{general, vector};
use super::{REGISTERS, STACK};
use crate::address::Reason;
use crate::image::{Image, Slot};
use crate::state::{Compared, State, Taken};
use crate::value::{Base, Pool, V};

/// How far down a stack goes on when its pointer is aligned: what lies there has no part of what was there before.
const ALIGNED: i64 = 1 << 24;

/// Follows instructions.
pub(crate) struct Stepper<'a> {
    pub(crate) image: &'a Image,
    pub(crate) pool: Pool,
    /// Parts of the frame whose address is taken; `None` while that is being found out.
    pub(crate) taken: Option<Taken>,
    /// Addresses of variables that were stored anywhere.
    pub(crate) stored: FxHashSet<u64>,
    /// What arithmetic was done to since this was last looked at.
    pub(crate) bent: Vec<V>,
    factory: InstructionInfoFactory,
}

impl<'a> Stepper<'a> {
    pub(crate) fn new(image: &'a Image) -> Stepper<'a> {
        Stepper {
            image,
            pool: Pool::new(),
            taken: None,
            stored: FxHashSet::default(),
            bent: Vec::new(),
            factory: InstructionInfoFactory::new(),
        }
    }

    fn register(&mut self, state: &State, register: Register) -> V {
        match general(register) {
            Some(number) if register.size() == 8 => state.registers[number],
            Some(number) => self.narrow(state.registers[number], register.size()),
            None => self.pool.unknown(Reason::Arithmetic),
        }
    }

    /// The lower part of a value: a number stays what it is, half a pointer is nothing.
    fn narrow(&mut self, value: V, size: usize) -> V {
        let node = self.pool.node(value);
        match node.base {
            Base::Number => {
                let kept = match size {
                    4 => i64::from(node.offset as u32),
                    2 => i64::from(node.offset as u16),
                    _ => i64::from(node.offset as u8),
                };
                self.pool.number(kept)
            }
            Base::Scaled { .. } => value,
            // A truth or a small number that a call gave back is compared in its lower part.
            Base::Result { .. } if node.offset == 0 => value,
            Base::Load { size: loaded, .. } if usize::from(loaded) <= size && node.offset == 0 => value,
            Base::Global if size == 4 && self.image.fixed => value,
            _ => self.pool.unknown(Reason::Arithmetic),
        }
    }

    fn set(&mut self, state: &mut State, register: Register, value: V) {
        if let Some(number) = general(register) {
            state.registers[number] = match register.size() {
                8 => value,
                4 => self.narrow(value, 4),
                _ => self.pool.unknown(Reason::Arithmetic),
            };
        } else if let Some((low, high)) = vector(register) {
            let unknown = self.pool.unknown(Reason::Arithmetic);
            (state.registers[low], state.registers[high]) = (unknown, unknown);
        }
    }

    fn immediate(&mut self, instruction: &Instruction, operand: u32) -> V {
        let number = instruction.immediate(operand).cast_signed();
        if self.image.fixed && self.image.is_loaded(number.cast_unsigned()) {
            return self.pool.make(Base::Global, number);
        }
        self.pool.number(number)
    }

    /// The address of the memory operand.
    pub(crate) fn address(&mut self, state: &State, instruction: &Instruction) -> V {
        let at = instruction.ip();
        if instruction.memory_base() == Register::RIP {
            return self.pool.make(Base::Global, instruction.memory_displacement64().cast_signed());
        }
        let displacement = instruction.memory_displacement64().cast_signed();
        let mut sum = if self.image.fixed && self.image.is_loaded(displacement.cast_unsigned()) {
            self.pool.make(Base::Global, displacement)
        } else {
            self.pool.number(displacement)
        };
        if matches!(instruction.segment_prefix(), Register::FS) {
            sum = self.pool.make(Base::Thread, displacement);
        }
        if instruction.memory_base() != Register::None {
            let base = self.register(state, instruction.memory_base());
            sum = self.pool.sum(base, sum, at);
        }
        if instruction.memory_index() != Register::None {
            let index = self.register(state, instruction.memory_index());
            let index = match instruction.memory_index_scale() {
                1 => index,
                scale => self.scaled(index, scale.into(), at),
            };
            sum = self.pool.sum(sum, index, at);
        }
        sum
    }

    fn scaled(&mut self, value: V, by: i64, at: u64) -> V {
        let node = self.pool.node(value);
        match node.base {
            Base::Number => self.pool.number(node.offset.wrapping_mul(by)),
            Base::Scaled { stride, .. } => {
                let stride = by.unsigned_abs().saturating_mul(stride.into());
                self.pool.make(Base::Scaled { stride: u32::try_from(stride).unwrap_or(1).max(1), at }, 0)
            }
            _ => {
                let stride = u32::try_from(by.unsigned_abs()).unwrap_or(1).max(1);
                self.pool.make(Base::Scaled { stride, at }, 0)
            }
        }
    }

    /// What is in memory.
    pub(crate) fn load(&mut self, state: &State, address: V, size: u8, at: u64) -> V {
        let node = self.pool.node(address);
        match node.base {
            Base::Thread if node.offset == 0 => return self.pool.make(Base::Thread, 0),
            Base::Global if size == 8 => {
                let where_ = node.offset.cast_unsigned();
                if self.image.is_constant(where_) {
                    match self.image.slots.get(&where_) {
                        Some(Slot::Import(name, addend)) => {
                            let number = self.pool.import(name);
                            return self.pool.make(Base::Import(number), *addend);
                        }
                        Some(Slot::Address(address)) => {
                            return self.pool.make(Base::Global, address.cast_signed());
                        }
                        Some(Slot::ThreadOffset(offset)) => return self.pool.number(*offset),
                        _ => {}
                    }
                    if let Some(word) = self.image.u64_at(where_).filter(|word| self.image.is_loaded(*word)) {
                        return self.pool.make(Base::Global, word.cast_signed());
                    }
                }
            }
            _ => {}
        }
        state.load(&self.pool, address, size).unwrap_or_else(|| {
            if matches!(node.base, Base::Unknown(_) | Base::Scaled { .. }) {
                self.pool.unknown(Reason::Arithmetic)
            } else {
                self.pool.make(Base::Load { from: address, at, size }, 0)
            }
        })
    }

    pub(crate) fn store(&mut self, state: &mut State, address: V, size: u32, value: V) {
        self.expose(value);
        state.store(&self.pool, address, size, value, self.taken.as_ref());
    }

    /// Others may come to a variable by its address from now on.
    pub(crate) fn expose(&mut self, value: V) {
        for leaf in self.pool.leaves(value) {
            if leaf.base == Base::Global {
                self.stored.insert(leaf.offset.cast_unsigned());
            }
        }
    }

    fn operand(&mut self, state: &State, instruction: &Instruction, operand: u32) -> V {
        match instruction.op_kind(operand) {
            OpKind::Register => self.register(state, instruction.op_register(operand)),
            OpKind::Memory => {
                let address = self.address(state, instruction);
                self.load(state, address, size(instruction), instruction.ip())
            }
            OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64 => {
                self.pool.unknown(Reason::Arithmetic)
            }
            _ => self.immediate(instruction, operand),
        }
    }

    fn assign(&mut self, state: &mut State, instruction: &Instruction, value: V) {
        match instruction.op0_kind() {
            OpKind::Register => self.set(state, instruction.op0_register(), value),
            OpKind::Memory => {
                let address = self.address(state, instruction);
                self.store(state, address, size(instruction).into(), value);
            }
            _ => {}
        }
    }

    /// Moves the stack pointer; what lies below it is gone.
    pub(crate) fn push(&mut self, state: &mut State, value: V) {
        let top = self.pool.shifted(state.registers[STACK], -8);
        state.registers[STACK] = top;
        self.store(state, top, 8, value);
    }

    /// Follows one instruction that is no call.
    pub(crate) fn step(&mut self, state: &mut State, instruction: &Instruction) {
        let at = instruction.ip();
        let registers_only =
            instruction.op0_kind() == OpKind::Register && instruction.op1_kind() == OpKind::Register;
        match instruction.mnemonic() {
            Mnemonic::Mov => {
                let value = self.operand(state, instruction, 1);
                self.assign(state, instruction, value);
            }
            Mnemonic::Movzx => {
                let value = self.operand(state, instruction, 1);
                let from = if instruction.op1_kind() == OpKind::Memory { size(instruction) } else { 1 };
                let value = self.narrow(value, from.into());
                self.set_whole(state, instruction.op0_register(), value);
            }
            Mnemonic::Movsx | Mnemonic::Movsxd => {
                let value = self.operand(state, instruction, 1);
                let value = match self.pool.as_number(value) {
                    Some(number)
                        if instruction.op1_kind() == OpKind::Register
                            && instruction.op1_register().size() == 4 =>
                    {
                        self.pool.number(i64::from(number as i32))
                    }
                    _ => self.number_of(value, at),
                };
                self.set_whole(state, instruction.op0_register(), value);
            }
            Mnemonic::Cdqe => {
                let value = match self.pool.as_number(state.registers[0]) {
                    Some(number) => self.pool.number(i64::from(number as i32)),
                    None => self.number_of(state.registers[0], at),
                };
                state.registers[0] = value;
            }
            Mnemonic::Lea => {
                let value = self.address(state, instruction);
                self.set_number(state, instruction.op0_register(), value, at);
            }
            Mnemonic::Add | Mnemonic::Sub => self.add(state, instruction),
            Mnemonic::Inc | Mnemonic::Dec => {
                let by = if instruction.mnemonic() == Mnemonic::Inc { 1 } else { -1 };
                let value = self.operand(state, instruction, 0);
                let value = self.pool.shifted(value, by);
                self.assign(state, instruction, value);
            }
            Mnemonic::Xor if registers_only && instruction.op0_register() == instruction.op1_register() => {
                let zero = self.pool.number(0);
                self.set_whole(state, instruction.op0_register(), zero);
            }
            Mnemonic::Shl | Mnemonic::Sal
                if instruction.op1_kind() == OpKind::Immediate8
                    && instruction.op0_kind() == OpKind::Register =>
            {
                let value = self.operand(state, instruction, 0);
                let by = 1i64.checked_shl(instruction.immediate8().into()).unwrap_or(1);
                let value = self.scaled(value, by.max(1), at);
                self.set_whole(state, instruction.op0_register(), value);
            }
            Mnemonic::Imul if instruction.op_count() == 3 && instruction.op0_kind() == OpKind::Register => {
                let value = self.operand(state, instruction, 1);
                let value = self.scaled(value, instruction.immediate(2).cast_signed(), at);
                self.set_whole(state, instruction.op0_register(), value);
            }
            Mnemonic::And
                if instruction.op0_kind() == OpKind::Register
                    && general(instruction.op0_register()) == Some(STACK) =>
            {
                state.registers[STACK] = self.pool.shifted(state.registers[STACK], -ALIGNED);
            }
            Mnemonic::And | Mnemonic::Or
                if registers_only && instruction.op0_register() == instruction.op1_register() => {}
            Mnemonic::Push => {
                let value = self.operand(state, instruction, 0);
                self.push(state, value);
            }
            Mnemonic::Pop => {
                let top = state.registers[STACK];
                let value = self.load(state, top, 8, at);
                state.registers[STACK] = self.pool.shifted(top, 8);
                self.assign(state, instruction, value);
            }
            Mnemonic::Leave => {
                let frame = state.registers[5];
                state.registers[5] = self.load(state, frame, 8, at);
                state.registers[STACK] = self.pool.shifted(frame, 8);
            }
            Mnemonic::Cmp | Mnemonic::Test => self.compare(state, instruction),
            Mnemonic::Xchg if registers_only => {
                let (a, b) = (self.operand(state, instruction, 0), self.operand(state, instruction, 1));
                self.set(state, instruction.op0_register(), b);
                self.set(state, instruction.op1_register(), a);
            }
            Mnemonic::Movups
            | Mnemonic::Movaps
            | Mnemonic::Movdqu
            | Mnemonic::Movdqa
            | Mnemonic::Movapd
            | Mnemonic::Movupd
            | Mnemonic::Vmovups
            | Mnemonic::Vmovaps
            | Mnemonic::Vmovdqu
            | Mnemonic::Vmovdqa => {
                self.move_wide(state, instruction);
            }
            Mnemonic::Movq | Mnemonic::Movd | Mnemonic::Movlps | Mnemonic::Movsd | Mnemonic::Vmovq => {
                self.move_low(state, instruction);
            }
            Mnemonic::Movhps | Mnemonic::Movhpd => self.move_high(state, instruction),
            Mnemonic::Punpcklqdq | Mnemonic::Movlhps if registers_only => {
                if let (Some((_, high)), Some((low, _))) =
                    (vector(instruction.op0_register()), vector(instruction.op1_register()))
                {
                    state.registers[high] = state.registers[low];
                }
            }
            Mnemonic::Nop | Mnemonic::Endbr64 => {}
            _ if is_conditional_move(instruction) => {
                let (a, b) = (self.operand(state, instruction, 0), self.operand(state, instruction, 1));
                let value = self.pool.either(a, b, at);
                self.set(state, instruction.op0_register(), value);
            }
            _ if instruction.op_count() == 1 && condition(instruction).is_some() => {
                let known = state.compared.and_then(|compared| {
                    let equal = self.pool.as_number(compared.value)? == compared.with;
                    Some(i64::from(condition(instruction) == Some(equal)))
                });
                let compared = state.compared;
                self.spoil(state, instruction);
                if let (Some(known), Some(number)) = (known, general(instruction.op0_register())) {
                    state.registers[number] = self.pool.number(known);
                }
                state.compared = compared;
            }
            _ => self.spoil(state, instruction),
        }
    }

    /// A value that is surely a number: the product or extension of one.
    fn number_of(&mut self, value: V, at: u64) -> V {
        match self.pool.node(value).base {
            Base::Number | Base::Scaled { .. } => value,
            _ => self.pool.make(Base::Scaled { stride: 1, at }, 0),
        }
    }

    /// Sets all of a register; writing 32 bits clears the upper half.
    fn set_whole(&mut self, state: &mut State, register: Register, value: V) {
        match general(register) {
            Some(number) if register.size() >= 4 => state.registers[number] = value,
            _ => self.set(state, register, value),
        }
    }

    fn set_number(&mut self, state: &mut State, register: Register, value: V, at: u64) {
        let value = if register.size() < 8 && !self.image.fixed { self.number_of(value, at) } else { value };
        self.set_whole(state, register, value);
    }

    fn add(&mut self, state: &mut State, instruction: &Instruction) {
        let at = instruction.ip();
        let (a, b) = (self.operand(state, instruction, 0), self.operand(state, instruction, 1));
        let same = instruction.op1_kind() == OpKind::Register
            && instruction.op0_kind() == OpKind::Register
            && instruction.op0_register() == instruction.op1_register();
        let value = if instruction.mnemonic() == Mnemonic::Add {
            if same { self.scaled(a, 2, at) } else { self.pool.sum(a, b, at) }
        } else if same {
            self.pool.number(0)
        } else {
            match self.pool.as_number(b) {
                Some(number) => self.pool.shifted(a, number.wrapping_neg()),
                None => {
                    let (one, other) = (self.pool.node(a), self.pool.node(b));
                    match (one.base, other.base) {
                        (Base::Stack, _)
                            if instruction.op0_kind() == OpKind::Register
                                && general(instruction.op0_register()) == Some(STACK) =>
                        {
                            // A frame of a size that is computed: a part of its own.
                            self.pool.make(Base::Stack, one.offset.wrapping_sub(ALIGNED))
                        }
                        (one, other) if one == other => self.pool.make(Base::Scaled { stride: 1, at }, 0),
                        (_, Base::Scaled { stride, .. }) => self.pool.indexed(a, stride, at),
                        (Base::Number, _) => self.pool.make(Base::Scaled { stride: 1, at }, 0),
                        _ => self.pool.indexed(a, 1, at),
                    }
                }
            }
        };
        self.assign(state, instruction, value);
        state.compared = None;
    }

    fn compare(&mut self, state: &mut State, instruction: &Instruction) {
        let test = instruction.mnemonic() == Mnemonic::Test;
        let itself = test
            && instruction.op1_kind() == OpKind::Register
            && instruction.op0_kind() == OpKind::Register
            && instruction.op0_register() == instruction.op1_register();
        let (a, b) = (self.operand(state, instruction, 0), self.operand(state, instruction, 1));
        state.compared = if itself {
            Some(Compared { value: a, with: 0 })
        } else if test {
            None
        } else {
            match (self.pool.as_number(a), self.pool.as_number(b)) {
                (_, Some(with)) => Some(Compared { value: a, with }),
                (Some(with), None) => Some(Compared { value: b, with }),
                _ => None,
            }
        };
    }

    fn halves(&mut self, state: &State, address: V, at: u64) -> (V, V) {
        let upper = self.pool.shifted(address, 8);
        (self.load(state, address, 8, at), self.load(state, upper, 8, at))
    }

    fn move_wide(&mut self, state: &mut State, instruction: &Instruction) {
        let wide = instruction.op0_kind() == OpKind::Memory && size(instruction) > 16;
        if wide
            || (0..2).any(|op| {
                instruction.op_kind(op) == OpKind::Register && instruction.op_register(op).size() > 16
            })
        {
            return self.spoil(state, instruction);
        }
        let value = match instruction.op1_kind() {
            OpKind::Memory => {
                let address = self.address(state, instruction);
                self.halves(state, address, instruction.ip())
            }
            _ => match vector(instruction.op1_register()) {
                Some((low, high)) => (state.registers[low], state.registers[high]),
                None => return self.spoil(state, instruction),
            },
        };
        match instruction.op0_kind() {
            OpKind::Memory => {
                let address = self.address(state, instruction);
                let upper = self.pool.shifted(address, 8);
                self.store(state, address, 8, value.0);
                self.store(state, upper, 8, value.1);
            }
            _ => {
                if let Some((low, high)) = vector(instruction.op0_register()) {
                    (state.registers[low], state.registers[high]) = value;
                }
            }
        }
    }

    fn move_low(&mut self, state: &mut State, instruction: &Instruction) {
        let value = match instruction.op1_kind() {
            OpKind::Register => match vector(instruction.op1_register()) {
                Some((low, _)) => state.registers[low],
                None => self.register(state, instruction.op1_register()),
            },
            OpKind::Memory => {
                let address = self.address(state, instruction);
                self.load(state, address, size(instruction), instruction.ip())
            }
            _ => return self.spoil(state, instruction),
        };
        match instruction.op0_kind() {
            OpKind::Register if general(instruction.op0_register()).is_some() => {
                self.set(state, instruction.op0_register(), value);
            }
            OpKind::Register => {
                if let Some((low, high)) = vector(instruction.op0_register()) {
                    state.registers[low] = value;
                    state.registers[high] = self.pool.unknown(Reason::Arithmetic);
                }
            }
            _ => {
                let address = self.address(state, instruction);
                self.store(state, address, size(instruction).into(), value);
            }
        }
    }

    fn move_high(&mut self, state: &mut State, instruction: &Instruction) {
        if instruction.op0_kind() == OpKind::Memory {
            let value = vector(instruction.op1_register()).map(|(_, high)| state.registers[high]);
            let value = value.unwrap_or_else(|| self.pool.unknown(Reason::Arithmetic));
            let address = self.address(state, instruction);
            self.store(state, address, 8, value);
        } else if let Some((_, high)) = vector(instruction.op0_register()) {
            let address = self.address(state, instruction);
            state.registers[high] = self.load(state, address, 8, instruction.ip());
        }
    }

    /// How many bytes an instruction writes through its memory operand.
    pub(crate) fn written_bytes(&mut self, instruction: &Instruction) -> Option<i64> {
        if instruction.op0_kind() != OpKind::Memory
            || matches!(instruction.mnemonic(), Mnemonic::Cmp | Mnemonic::Test)
        {
            return instruction.is_string_instruction().then_some(1 << 16);
        }
        Some(i64::from(size(instruction)).max(1))
    }

    /// The register that an instruction stores, as a value.
    pub(crate) fn stored_value(&mut self, state: &State, instruction: &Instruction) -> Option<V> {
        (instruction.mnemonic() == Mnemonic::Mov && instruction.op1_kind() == OpKind::Register)
            .then(|| self.register(state, instruction.op1_register()))
    }

    /// Makes everything unknown that an instruction writes.
    fn spoil(&mut self, state: &mut State, instruction: &Instruction) {
        let info = self.factory.info(instruction);
        let writes = |access: OpAccess| {
            matches!(
                access,
                OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
            )
        };
        let registers: Vec<Register> = info
            .used_registers()
            .iter()
            .filter(|used| writes(used.access()))
            .map(|used| used.register())
            .collect();
        let used: Vec<Register> = info.used_registers().iter().map(|used| used.register()).collect();
        let memory =
            info.used_memory().iter().filter(|used| writes(used.access())).map(|used| used.memory_size());
        let memory: Vec<MemorySize> = memory.collect();
        // What a pointer becomes by arithmetic is still a way to the variable.
        for register in used {
            if let Some(number) = general(register) {
                self.expose(state.registers[number]);
                self.bent.push(state.registers[number]);
            }
        }
        for register in registers {
            if let Some(number) = general(register) {
                let number_only = matches!(
                    self.pool.node(state.registers[number]).base,
                    Base::Number | Base::Scaled { .. }
                );
                state.registers[number] = if number_only || is_arithmetic(instruction) {
                    self.pool.make(Base::Scaled { stride: 1, at: instruction.ip() }, 0)
                } else {
                    self.pool.unknown(Reason::Arithmetic)
                };
            } else {
                self.set(state, register, V::default());
            }
        }
        for size in memory {
            let unknown = self.pool.unknown(Reason::Arithmetic);
            let string = instruction.is_string_instruction();
            let address = if string { state.registers[7] } else { self.address(state, instruction) };
            let size = if string && instruction.has_rep_prefix() { 1 << 16 } else { size.size() };
            self.store(state, address, u32::try_from(size.max(1)).unwrap_or(1 << 16), unknown);
        }
        state.compared = None;
        debug_assert_eq!(state.registers.len(), REGISTERS);
    }
}

/// Instructions whose result is a number, whatever they are given.
fn is_arithmetic(instruction: &Instruction) -> bool {
    matches!(
        instruction.mnemonic(),
        Mnemonic::Imul
            | Mnemonic::Mul
            | Mnemonic::Shr
            | Mnemonic::Sar
            | Mnemonic::Shl
            | Mnemonic::Div
            | Mnemonic::Idiv
            | Mnemonic::Neg
            | Mnemonic::Not
            | Mnemonic::Cdq
            | Mnemonic::Cqo
            | Mnemonic::Adc
            | Mnemonic::Sbb
    ) || (instruction.condition_code() != ConditionCode::None && instruction.op_count() == 1)
}

fn is_conditional_move(instruction: &Instruction) -> bool {
    instruction.condition_code() != ConditionCode::None
        && instruction.op_count() == 2
        && instruction.op0_kind() == OpKind::Register
        && !instruction.is_jcc_short_or_near()
}

fn size(instruction: &Instruction) -> u8 {
    u8::try_from(instruction.memory_size().size()).unwrap_or(u8::MAX)
}

/// What the taken way of a conditional jump says of the comparison before it: `Some(true)` that both are equal,
/// `Some(false)` that they are not.
pub(crate) fn condition(instruction: &Instruction) -> Option<bool> {
    match instruction.condition_code() {
        ConditionCode::e => Some(true),
        ConditionCode::ne => Some(false),
        _ => None,
    }
}
