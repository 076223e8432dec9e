//! Registers by number, as the calling convention of System V uses them.

use iced_x86::Register;

/// General registers, then the two halves of each vector register.
pub(crate) const REGISTERS: usize = 16 + 32;
/// The stack pointer.
pub(crate) const STACK: usize = 4;
/// What a call gives back.
pub(crate) const RESULT: usize = 0;
/// Its second half.
pub(crate) const SECOND_RESULT: usize = 2;
/// `rdi`, `rsi`, `rdx`, `rcx`, `r8`, `r9`.
pub(crate) const ARGUMENTS: [usize; 6] = [7, 6, 2, 1, 8, 9];
/// General registers that a call does not keep: `rax`, `rcx`, `rdx`, `rsi`, `rdi`, `r8` to `r11`.
pub(crate) const SCRATCH: [usize; 9] = [0, 1, 2, 6, 7, 8, 9, 10, 11];

/// The number of a general register, whatever part of it is named.
pub(crate) fn general(register: Register) -> Option<usize> {
    register.is_gpr().then(|| register.full_register().number())
}

/// The numbers of the lower and upper half of a vector register.
pub(crate) fn vector(register: Register) -> Option<(usize, usize)> {
    let number = register.is_vector_register().then(|| register.number())?;
    (number < 16).then(|| (16 + 2 * number, 17 + 2 * number))
}
