//! One pass over a unit's DIEs: which names enclose what, and which variables have a fixed address.
//!
//! DWARF has no way from a DIE to its parent, and a qualified name is made of parents, so the pass keeps the extent
//! of every scope. It is made for the units that are asked about only.

use gimli::{AttributeValue, DwTag, Operation, UnitOffset, UnitRef};

use crate::units::Slice;

/// A DIE whose name qualifies what is inside it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope<'a> {
    /// Its DIE.
    pub(crate) begin: UnitOffset,
    /// The first DIE after its children.
    end: UnitOffset,
    parent: Option<usize>,
    /// What it is.
    pub(crate) tag: DwTag,
    /// The attribute with its own name; the one of what it completes is not looked up.
    pub(crate) name: Option<AttributeValue<Slice<'a>>>,
    /// The bytes a value takes, for a type that has fields.
    pub(crate) size: Option<u64>,
}

/// A variable with a fixed address, or a piece of one: compilers take static arrays and structures apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FixedVariable {
    /// Its DIE.
    pub(crate) die: UnitOffset,
    /// Its address, as linked, or its offset in the module's thread-local storage.
    pub(crate) address: u64,
    /// How many bytes of the variable come before the piece.
    pub(crate) skipped: u64,
    /// The bytes of the piece; none if it is all there is.
    pub(crate) piece: Option<u64>,
}

impl FixedVariable {
    fn whole(die: UnitOffset, address: u64) -> Self {
        Self { die, address, skipped: 0, piece: None }
    }
}

/// What a pass over one unit found.
#[derive(Debug, Default)]
pub(crate) struct UnitScan<'a> {
    scopes: Vec<Scope<'a>>,
    /// Sorted by address.
    pub(crate) variables: Vec<FixedVariable>,
    /// Those that every strand has its own of, sorted by offset.
    pub(crate) thread_locals: Vec<FixedVariable>,
}

impl<'a> UnitScan<'a> {
    /// Reads all DIEs of a unit; damage ends the pass, what was read before is kept.
    pub(crate) fn of(unit: UnitRef<'_, Slice<'a>>) -> Self {
        let mut scan = UnitScan::default();
        // Damage ends the pass; what was found before it is true.
        let _ = scan.read(unit);
        let end = UnitOffset(usize::MAX);
        for scope in &mut scan.scopes {
            if scope.end == UnitOffset(0) {
                scope.end = end;
            }
        }
        scan.variables.sort_by_key(|variable| variable.address);
        scan.thread_locals.sort_by_key(|variable| variable.address);
        scan
    }

    fn read(&mut self, unit: UnitRef<'_, Slice<'a>>) -> gimli::Result<()> {
        let mut entries = unit.entries_raw(None)?;
        // Open scopes with their depths.
        let mut open: Vec<(usize, isize)> = Vec::new();
        while !entries.is_empty() {
            let offset = entries.next_offset();
            let depth = entries.next_depth();
            while let Some(&(scope, its_depth)) = open.last()
                && depth <= its_depth
            {
                self.scopes[scope].end = offset;
                open.pop();
            }
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            let tag = abbreviation.tag();
            let specs = abbreviation.attributes();
            if is_scope(tag) && abbreviation.has_children() {
                let (mut name, mut size) = (None, None);
                for spec in specs {
                    let attribute = entries.read_attribute(*spec)?;
                    match attribute.name() {
                        gimli::DW_AT_name => name = Some(attribute.value()),
                        gimli::DW_AT_byte_size if has_fields(tag) => size = attribute.udata_value(),
                        _ => {}
                    }
                }
                let parent = open.last().map(|(scope, _)| *scope);
                open.push((self.scopes.len(), depth));
                self.scopes.push(Scope { begin: offset, end: UnitOffset(0), parent, tag, name, size });
            } else if tag == gimli::DW_TAG_variable {
                for spec in specs {
                    let attribute = entries.read_attribute(*spec)?;
                    if attribute.name() != gimli::DW_AT_location {
                        continue;
                    }
                    if let Some(address) = fixed_address(unit, attribute.value()) {
                        self.variables.push(FixedVariable::whole(offset, address));
                    } else if let Some(address) = thread_local_offset(unit, attribute.value()) {
                        self.thread_locals.push(FixedVariable::whole(offset, address));
                    } else {
                        self.variables.extend(fixed_pieces(unit, attribute.value(), offset));
                    }
                }
            } else {
                entries.skip_attributes(specs)?;
            }
        }
        Ok(())
    }

    /// The types with fields whose values take just this many bytes.
    pub(crate) fn types_of_size(&self, size: u64) -> impl Iterator<Item = UnitOffset> {
        self.scopes.iter().filter(move |scope| scope.size == Some(size)).map(|scope| scope.begin)
    }

    /// The scopes around a DIE, innermost first.
    pub(crate) fn around(&self, die: UnitOffset) -> impl Iterator<Item = &Scope<'a>> {
        let begun = self.scopes.partition_point(|scope| scope.begin < die);
        // The last scope begun before the DIE may have ended before it; one of its parents has not.
        std::iter::successors(begun.checked_sub(1).map(|last| &self.scopes[last]), |scope| {
            Some(&self.scopes[scope.parent?])
        })
        .filter(move |scope| die < scope.end)
    }
}

fn has_fields(tag: DwTag) -> bool {
    matches!(tag, gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type)
}

fn is_scope(tag: DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_namespace
            | gimli::DW_TAG_module
            | gimli::DW_TAG_structure_type
            | gimli::DW_TAG_class_type
            | gimli::DW_TAG_union_type
            | gimli::DW_TAG_interface_type
            | gimli::DW_TAG_enumeration_type
            | gimli::DW_TAG_subprogram
    )
}

/// The address of a location that is one, whatever strand asks: no register, no thread-local, no piece.
pub(crate) fn fixed_address(
    unit: UnitRef<'_, Slice<'_>>,
    location: AttributeValue<Slice<'_>>,
) -> Option<u64> {
    let mut operations = location.exprloc_value()?.operations(unit.encoding());
    let mut address = match operations.next().ok()?? {
        Operation::Address { address } => address,
        Operation::AddressIndex { index } => unit.address(index).ok()?,
        _ => return None,
    };
    while let Some(operation) = operations.next().ok()? {
        match operation {
            Operation::PlusConstant { value } => address = address.checked_add(value)?,
            _ => return None,
        }
    }
    // The linker leaves a small number where it dropped the variable.
    (address > 1 && !unit.header.is_tombstone_address(address)).then_some(address)
}

/// The pieces of a variable that have fixed addresses; what cannot be read ends the list.
fn fixed_pieces(
    unit: UnitRef<'_, Slice<'_>>,
    location: AttributeValue<Slice<'_>>,
    die: UnitOffset,
) -> Vec<FixedVariable> {
    let Some(expression) = location.exprloc_value() else { return Vec::new() };
    let mut operations = expression.operations(unit.encoding());
    let (mut pieces, mut skipped, mut address) = (Vec::new(), 0_u64, None);
    while let Ok(Some(operation)) = operations.next() {
        address = match operation {
            Operation::Address { address } => Some(address),
            Operation::AddressIndex { index } => unit.address(index).ok(),
            Operation::PlusConstant { value } => address.and_then(|address: u64| address.checked_add(value)),
            Operation::Piece { size_in_bits, bit_offset: None | Some(0) } if size_in_bits % 8 == 0 => {
                let piece = size_in_bits / 8;
                let kept = address.filter(|it| *it > 1 && !unit.header.is_tombstone_address(*it));
                pieces.extend(kept.map(|address| FixedVariable {
                    die,
                    address,
                    skipped,
                    piece: Some(piece),
                }));
                let Some(more) = skipped.checked_add(piece) else { break };
                skipped = more;
                None
            }
            // A number, a register: that piece is at no address.
            _ => None,
        };
    }
    pieces
}

/// The offset of a location that is one in the module's thread-local storage.
fn thread_local_offset(unit: UnitRef<'_, Slice<'_>>, location: AttributeValue<Slice<'_>>) -> Option<u64> {
    let mut operations = location.exprloc_value()?.operations(unit.encoding());
    let offset = match operations.next().ok()?? {
        Operation::UnsignedConstant { value } => value,
        Operation::SignedConstant { value } => u64::try_from(value).ok()?,
        Operation::ConstantIndex { index } => unit.address(index).ok()?,
        _ => return None,
    };
    match (operations.next().ok()??, operations.next().ok()?) {
        (Operation::TLS, None) => Some(offset),
        _ => None,
    }
}
