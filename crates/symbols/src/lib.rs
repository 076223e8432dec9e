//! From addresses to source for Threadbare: ELF, DWARF, names.
//!
//! The runtime tells of a run in addresses only. [`Symbols`] turns them into what a reader knows: the functions at an
//! address of code with the inlined ones ([`Frame`]), the variable at an address of data down to its field
//! ([`Variable`]), the field of a heap block that code touches ([`HeapField`]), the local variables in scope ([`Local`])
//! with their values ([`Value`], read through a [`Machine`]), callers by the unwind tables, and the source text. Files
//! are mapped and read as far as a question needs it, so the first answer about a big debug binary comes at once.
//!
//! Understood: ELF on little-endian machines, DWARF 4 and 5 as gcc, clang and rustc write it, also compressed, in a
//! file of its own (build id, `.gnu_debuglink`, `dwz`) or split (`.dwo`, `.dwp`).
//!
//! ```no_run
//! use threadbare_symbols::{Module, Pc, Symbols};
//!
//! let symbols = Symbols::new([Module::new("./bank", 0x5555_5555_4000, 0x5000)]);
//! for frame in symbols.frames(Pc::Return(0x5555_5555_51c3)).iter() {
//!     println!("{frame}");
//! }
//! if let Some(variable) = symbols.variable(0x5555_5555_8040) {
//!     println!("{variable}");
//! }
//! ```

mod behind;
pub mod compilers;
mod debug_file;
mod demangle;
mod elf_symbols;
mod foreign;
mod frame;
mod heap;
mod image;
mod lines;
mod locals;
mod map;
mod naming;
mod own_code;
mod program_id;
mod scalar;
mod scan;
mod source;
mod stack;
mod symbols;
mod types;
mod units;
mod value;
mod values;
mod variable;

pub use behind::Start;
pub use demangle::Name;
pub use frame::{Frame, Origin, Pc, first_user_frame};
pub use heap::HeapField;
pub use locals::{Local, Storage};
pub use program_id::{NotAProgramId, ProgramId, build_id};
pub use scalar::{
    Content, Element, LocalPlace, LocalScalar, NoScalar, ReturnScalar, Scalar, ScalarKind, Sequence,
};
pub use source::Sources;
pub use stack::StackFrame;
pub use symbols::{Module, Symbols};
pub use types::{Global, Part, Shape, Signature, Type, TypeId, Types};
pub use value::{Limits, Machine, NoValue, ReadMemory, Registers, ThreadLocals, Value};
pub use variable::Variable;
