//! What machine code of x86-64 does, as far as the runtime has to know: it reads a few instructions at a place and decides by them. Whatever is
//! not known is told as such, never guessed.

pub mod copy;
pub mod entry;
pub mod merge;
