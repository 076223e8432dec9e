//! Where C would put the fields of a structure, and what has to be said for them to lie where the program has them.

use threadbare_symbols::{Part, Shape, TypeId, Types};

/// What has to be said.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Layout {
    /// Bytes that no field has: before which field, from where on, how many.
    pub(super) gaps: Vec<(usize, u64, u64)>,
    /// Fields lie where C would not put them.
    pub(super) packed: bool,
}

/// The largest power of two that the addresses of values are multiples of.
fn alignment(types: &Types, ty: TypeId) -> u64 {
    let this = types.get(types.behind(ty));
    match &this.shape {
        Shape::Structure(parts) => whole(types, parts, this.size),
        Shape::Union(parts) => parts.iter().map(|part| alignment(types, part.ty)).max().unwrap_or(1),
        Shape::Variants { tag, all } => {
            let fields = all.iter().map(|(part, _)| types.variant_fields(tag.as_ref(), part));
            fields.map(|fields| whole(types, &fields, 0)).max().unwrap_or(1)
        }
        Shape::Array(element, _) => alignment(types, *element),
        _ => this.size.clamp(1, 16),
    }
}

/// The same of a structure.
fn whole(types: &Types, parts: &[Part], size: u64) -> u64 {
    if layout(types, parts, size).packed {
        return 1;
    }
    parts.iter().map(|part| alignment(types, part.ty)).max().unwrap_or(1)
}

/// What has to be said of a structure of this size; 0 if its end does not matter.
pub(super) fn layout(types: &Types, parts: &[Part], size: u64) -> Layout {
    if parts.iter().any(|part| part.bits.is_some()) {
        return Layout::default();
    }
    let alignments: Vec<u64> = parts.iter().map(|part| alignment(types, part.ty)).collect();
    let widest = alignments.iter().copied().max().unwrap_or(1);
    let end = parts.iter().map(|part| part.offset + types.get(types.behind(part.ty)).size).max().unwrap_or(0);
    let is_crooked = |(part, own): (&Part, &u64)| !part.offset.is_multiple_of(*own);
    let packed =
        parts.iter().zip(&alignments).any(is_crooked) || size > 0 && end.next_multiple_of(widest) > size;
    let (mut gaps, mut at) = (Vec::new(), 0u64);
    for (number, (part, own)) in parts.iter().zip(&alignments).enumerate() {
        let next = if packed { at } else { at.next_multiple_of(*own) };
        if part.offset > next {
            gaps.push((number, at, part.offset - at));
        }
        at = part.offset + types.get(types.behind(part.ty)).size;
    }
    let next = if packed { at } else { at.next_multiple_of(widest) };
    if size > next && !parts.is_empty() {
        gaps.push((parts.len(), at, size - at));
    }
    Layout { gaps, packed }
}
