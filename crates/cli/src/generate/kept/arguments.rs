//! What a function was called with, from the registers and the stack at its entry: the System V calling convention.

use super::state::Refusal;
use threadbare_explore::trap::Called;
use threadbare_symbols::{Shape, Signature, TypeId, Types};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Class {
    Whole,
    Fraction,
}

/// The bytes of each argument.
pub(super) fn of(types: &Types, signature: &Signature, called: &Called) -> Result<Vec<Vec<u8>>, Refusal> {
    // Where a large result of C goes comes first, and is the compiler's business in the test.
    let mut whole = usize::from(types.get(types.behind(signature.returns)).size > 16);
    let mut fractions = 0;
    // The return address lies below what is given on the stack.
    let mut stack = 1;
    let mut all = Vec::new();
    for (name, ty) in &signature.parameters {
        let size = types.get(types.behind(*ty)).size as usize;
        let lacks = || format!("the argument `{name}` of `{}` is not known", signature.name);
        if size == 0 {
            return Err(lacks());
        }
        let words = size.div_ceil(8);
        let mut classes = vec![None; words];
        let fits = words <= 2 && classify(types, *ty, 0, &mut classes);
        let count = |class| classes.iter().filter(|it| it.unwrap_or(Class::Whole) == class).count();
        let in_registers =
            fits && whole + count(Class::Whole) <= 6 && fractions + count(Class::Fraction) <= 8;
        let mut bytes = Vec::new();
        for class in classes {
            let word = match class.unwrap_or(Class::Whole) {
                _ if !in_registers => {
                    let word = *called.stack.get(stack).ok_or_else(lacks)?;
                    stack += 1;
                    word
                }
                Class::Whole => {
                    whole += 1;
                    called.whole[whole - 1]
                }
                Class::Fraction => {
                    fractions += 1;
                    u64::from_le_bytes(*called.fractions[fractions - 1].first_chunk().ok_or_else(lacks)?)
                }
            };
            bytes.extend(word.to_le_bytes());
        }
        bytes.truncate(size);
        all.push(bytes);
    }
    Ok(all)
}

/// Sorts the words of a value; false if it is given in memory.
fn classify(types: &Types, ty: TypeId, start: u64, classes: &mut [Option<Class>]) -> bool {
    let this = types.get(types.behind(ty));
    let Some(class) = classes.get_mut((start / 8) as usize) else { return false };
    match &this.shape {
        Shape::Float if this.size > 8 => return false,
        Shape::Float => {
            class.get_or_insert(Class::Fraction);
        }
        Shape::Structure(parts) | Shape::Union(parts) => {
            return parts.iter().all(|part| classify(types, part.ty, start + part.offset, classes));
        }
        Shape::Array(element, Some(length)) => {
            let size = types.get(types.behind(*element)).size;
            return (0..*length).all(|at| classify(types, *element, start + at * size, classes));
        }
        Shape::Integer { .. } | Shape::Pointer(_) | Shape::Enumeration(_) => *class = Some(Class::Whole),
        _ => return false,
    }
    true
}
