//! From bytes to a value, as the type says.

use std::cell::Cell;

use super::library;
use super::{Limits, Machine, NoValue, Source, Value};
use crate::units::{Die, Entry};
use crate::variable::{is_field, member_start, size_of, stripped};

/// Reads values of one frame.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'r> {
    /// Where bytes come from.
    pub(crate) machine: &'r Machine<'r>,
    /// How much is read.
    pub(crate) limits: Limits,
    /// Values that may still be read, all in all: damaged types may hold themselves many times.
    pub(crate) left: &'r Cell<usize>,
}

impl<'r> Reader<'r> {
    /// The value of a type at a source.
    pub(crate) fn read(&self, ty: &Die<'_>, source: &Source) -> Value {
        match self.left.get().checked_sub(1) {
            Some(left) => {
                self.left.set(left);
                self.value(ty, source).into()
            }
            None => Value::Unknown(NoValue::Deep),
        }
    }

    fn value(&self, ty: &Die<'_>, source: &Source) -> Result<Value, NoValue> {
        let (die, entry) = stripped(ty).ok_or(NoValue::Type)?;
        let size = || size_of(&die).ok_or(NoValue::Type);
        match entry.tag() {
            gimli::DW_TAG_base_type => self.base(&die, &entry, source, size()?),
            gimli::DW_TAG_pointer_type
            | gimli::DW_TAG_reference_type
            | gimli::DW_TAG_rvalue_reference_type => self.pointer(&die, &entry, source),
            gimli::DW_TAG_enumeration_type => self.enumeration(&die, source, size()?),
            gimli::DW_TAG_array_type => {
                let Some(inner) = self.deeper() else { return Err(NoValue::Deep) };
                let element = die.reference(&entry, gimli::DW_AT_type).ok_or(NoValue::Type)?;
                let length = die
                    .array_lengths()
                    .into_iter()
                    .try_fold(1u64, |all, length| all.checked_mul(length.unwrap_or(0)))
                    .ok_or(NoValue::Type)?;
                inner.list(&element, source, length)
            }
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                let Some(inner) = self.deeper() else { return Err(NoValue::Deep) };
                match library::read(&inner, &die, &entry, source) {
                    Some(value) => value,
                    None => inner.record(&die, &entry, source),
                }
            }
            gimli::DW_TAG_unspecified_type => Err(NoValue::Type),
            _ => Ok(Value::Integer(self.integer(&die, source, size()?)?)),
        }
    }

    fn deeper(&self) -> Option<Reader<'r>> {
        let depth = self.limits.depth.checked_sub(1)?;
        Some(Reader { limits: Limits { depth, ..self.limits }, ..*self })
    }

    fn base<'a>(
        &self,
        die: &Die<'a>,
        entry: &Entry<'a>,
        source: &Source,
        size: u64,
    ) -> Result<Value, NoValue> {
        let encoding = match entry.attr_value(gimli::DW_AT_encoding) {
            Some(gimli::AttributeValue::Encoding(encoding)) => encoding,
            _ => return Err(NoValue::Type),
        };
        let raw = source.unsigned(size, self.machine)?;
        Ok(match encoding {
            gimli::DW_ATE_boolean => Value::Bool(raw != 0),
            gimli::DW_ATE_float => Value::Float(match size {
                4 => f64::from(f32::from_bits(raw as u32)),
                8 => f64::from_bits(raw as u64),
                16 => extended(raw),
                _ => return Err(NoValue::Type),
            }),
            gimli::DW_ATE_UTF => match u32::try_from(raw).ok().and_then(char::from_u32) {
                Some(c) => Value::Char(c),
                None => Value::Integer(raw.cast_signed()),
            },
            gimli::DW_ATE_signed_char | gimli::DW_ATE_unsigned_char if is_char(die, entry) && raw < 128 => {
                Value::Char(char::from(raw as u8))
            }
            gimli::DW_ATE_signed | gimli::DW_ATE_signed_char => Value::Integer(signed(raw, size * 8)),
            _ => Value::Integer(raw.cast_signed()),
        })
    }

    fn pointer<'a>(&self, die: &Die<'a>, entry: &Entry<'a>, source: &Source) -> Result<Value, NoValue> {
        let address = self.address(source)?;
        let target = die.reference(entry, gimli::DW_AT_type).filter(|_| address != 0);
        let target = target.and_then(|target| self.target(&target, address)).map(Box::new);
        Ok(Value::Pointer { address, target })
    }

    /// What a pointer leads to, if it is followed.
    pub(super) fn target(&self, ty: &Die<'_>, address: u64) -> Option<Value> {
        let pointers = self.limits.pointers.checked_sub(1)?;
        let (die, entry) = stripped(ty)?;
        let inner = Reader { limits: Limits { pointers, ..self.limits }, ..*self };
        if is_char(&die, &entry) {
            return Some(inner.c_text(address));
        }
        let known = !matches!(entry.tag(), gimli::DW_TAG_subroutine_type | gimli::DW_TAG_unspecified_type)
            && size_of(&die).is_some_and(|size| size > 0);
        known.then(|| inner.read(ty, &Source::Memory(address)))
    }

    /// The address in a pointer.
    pub(super) fn address(&self, source: &Source) -> Result<u64, NoValue> {
        Ok(source.unsigned(8, self.machine)? as u64)
    }

    fn integer(&self, ty: &Die<'_>, source: &Source, size: u64) -> Result<i128, NoValue> {
        let raw = source.unsigned(size, self.machine)?;
        Ok(if is_signed(ty) { signed(raw, size * 8) } else { raw.cast_signed() })
    }

    fn enumeration(&self, die: &Die<'_>, source: &Source, size: u64) -> Result<Value, NoValue> {
        let raw = source.unsigned(size, self.machine)?;
        let mask = if size >= 16 { u128::MAX } else { (1 << (size * 8)) - 1 };
        for (constant, child) in die.children() {
            if let Some(number) = child.attr(gimli::DW_AT_const_value).and_then(constant_number)
                && number.cast_unsigned() & mask == raw
                && let Some(name) = constant.name(&child)
            {
                let name = name.to_string_lossy().into_owned();
                return Ok(Value::Constant { name, number });
            }
        }
        Ok(Value::Integer(signed(raw, size * 8)))
    }

    /// A run of elements.
    pub(super) fn list(&self, element: &Die<'_>, source: &Source, length: u64) -> Result<Value, NoValue> {
        let (die, entry) = stripped(element).ok_or(NoValue::Type)?;
        if is_char(&die, &entry) {
            return self.text(source, length, true);
        }
        let size = size_of(element).ok_or(NoValue::Type)?;
        let shown = length.min(self.limits.items as u64);
        let items =
            (0..shown).map(|index| self.read(element, &source.part(index.saturating_mul(size)))).collect();
        Ok(Value::List { items, length })
    }

    /// A text of a known number of bytes; C's ends with a zero before that.
    pub(super) fn text(&self, source: &Source, length: u64, ends_at_zero: bool) -> Result<Value, NoValue> {
        let shown = length.min(self.limits.text as u64);
        let mut bytes = source.bytes(shown as usize, self.machine)?;
        let mut cut = shown < length;
        if let Some(end) = bytes.iter().position(|byte| ends_at_zero && *byte == 0) {
            bytes.truncate(end);
            cut = false;
        }
        Ok(Value::Text { text: String::from_utf8_lossy(&bytes).into_owned(), cut })
    }

    fn c_text(&self, address: u64) -> Value {
        // Its length is not known, and the memory behind its end may not be there.
        let mut bytes = Vec::new();
        while bytes.len() < self.limits.text {
            let mut byte = [0];
            let at = address.wrapping_add(bytes.len() as u64);
            if !(self.machine.memory)(at, &mut byte) {
                return Value::Unknown(NoValue::Memory(at));
            }
            if byte[0] == 0 {
                return Value::Text { text: String::from_utf8_lossy(&bytes).into_owned(), cut: false };
            }
            bytes.push(byte[0]);
        }
        Value::Text { text: String::from_utf8_lossy(&bytes).into_owned(), cut: true }
    }

    /// A structure with its fields.
    pub(super) fn record<'a>(
        &self,
        die: &Die<'a>,
        entry: &Entry<'a>,
        source: &Source,
    ) -> Result<Value, NoValue> {
        let children = die.children();
        if let Some((variants, part)) =
            children.iter().find(|(_, child)| child.tag() == gimli::DW_TAG_variant_part)
        {
            return self.variant(variants, part, source);
        }
        let own = die.string(entry, gimli::DW_AT_name).map(|name| name.to_string_lossy().into_owned());
        let name = own.filter(|name| !name.starts_with('(')).unwrap_or_default();
        Ok(Value::Record { name, fields: self.fields(die, source) })
    }

    /// The fields of a structure, those of its bases first.
    pub(super) fn fields(&self, die: &Die<'_>, source: &Source) -> Vec<(String, Value)> {
        let mut fields = Vec::new();
        for (member, child) in die.children() {
            if !is_field(&child) {
                continue;
            }
            let Some(ty) = member.reference(&child, gimli::DW_AT_type) else { continue };
            let name =
                member.string(&child, gimli::DW_AT_name).map(|name| name.to_string_lossy().into_owned());
            if name.as_ref().is_some_and(|name| name.starts_with("_vptr")) {
                continue;
            }
            let value = match (bit_field(&child, &ty), member_start(&member, &child)) {
                (Some(bits), _) => self.bits(&ty, source, bits).into(),
                (None, Some((start, _))) => self.read(&ty, &source.part(start)),
                (None, None) => Value::Unknown(NoValue::Type),
            };
            match (name, value) {
                // A base, or a structure without a name: its fields are the outer one's.
                (None, Value::Record { fields: inner, .. }) => fields.extend(inner),
                (None, _) => {}
                (Some(name), value) => {
                    let number =
                        name.strip_prefix("__").filter(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
                    let plain = number.filter(|number| !number.is_empty()).map(str::to_owned);
                    fields.push((plain.unwrap_or(name), value));
                }
            }
        }
        fields
    }

    fn bits(&self, ty: &Die<'_>, source: &Source, (first, count): (u64, u64)) -> Result<Value, NoValue> {
        let start = first / 8;
        let bytes = first.checked_add(count).ok_or(NoValue::Type)?.div_ceil(8) - start;
        if count == 0 || bytes > 16 {
            return Err(NoValue::Type);
        }
        let raw = source.part(start).unsigned(bytes, self.machine)? >> (first % 8);
        let raw = if count >= 128 { raw } else { raw & ((1 << count) - 1) };
        let (die, entry) = stripped(ty).ok_or(NoValue::Type)?;
        let number = if is_signed(&die) { signed(raw, count) } else { raw.cast_signed() };
        // Enumerations and truth values have their own words.
        let whole = Source::of_bytes(&number.to_le_bytes());
        match entry.tag() {
            gimli::DW_TAG_enumeration_type => self.value(&die, &whole),
            _ if die.name(&entry).is_some_and(|name| matches!(name.slice(), b"bool" | b"_Bool")) => {
                Ok(Value::Bool(raw != 0))
            }
            _ => Ok(Value::Integer(number)),
        }
    }

    /// The variant that a Rust enum is.
    fn variant<'a>(&self, variants: &Die<'a>, part: &Entry<'a>, source: &Source) -> Result<Value, NoValue> {
        let tag = match variants.reference(part, gimli::DW_AT_discr) {
            Some(member) => {
                let entry = member.entry().ok_or(NoValue::Type)?;
                let ty = member.reference(&entry, gimli::DW_AT_type).ok_or(NoValue::Type)?;
                let (start, _) = member_start(&member, &entry).ok_or(NoValue::Type)?;
                let size = size_of(&ty).filter(|size| *size <= 16).ok_or(NoValue::Type)?;
                Some((source.part(start).unsigned(size, self.machine)?, size))
            }
            None => None,
        };
        let mut chosen = None;
        for (variant, entry) in variants.children() {
            if entry.tag() != gimli::DW_TAG_variant {
                continue;
            }
            let value = entry.attr(gimli::DW_AT_discr_value).and_then(constant_number);
            match (value, tag) {
                (Some(value), Some((tag, size))) => {
                    let mask = if size >= 16 { u128::MAX } else { (1 << (size * 8)) - 1 };
                    if value.cast_unsigned() & mask == tag {
                        chosen = Some(variant);
                        break;
                    }
                }
                // The variant that every other tag stands for, or the only one.
                (None, _) => chosen = Some(variant),
                (Some(_), None) => {}
            }
        }
        let (member, child) = chosen
            .ok_or(NoValue::Type)?
            .children()
            .into_iter()
            .find(|(_, child)| child.tag() == gimli::DW_TAG_member)
            .ok_or(NoValue::Type)?;
        let name = member.name(&child).ok_or(NoValue::Type)?.to_string_lossy().into_owned();
        let ty = member.reference(&child, gimli::DW_AT_type).ok_or(NoValue::Type)?;
        let (start, _) = member_start(&member, &child).ok_or(NoValue::Type)?;
        let (payload, _) = stripped(&ty).ok_or(NoValue::Type)?;
        Ok(Value::Record { name, fields: self.fields(&payload, &source.part(start)) })
    }
}

pub(crate) fn constant_number(attribute: &gimli::Attribute<crate::units::Slice<'_>>) -> Option<i128> {
    let value = attribute.value();
    if let Some(number) = attribute.sdata_value() {
        return Some(i128::from(number));
    }
    match value {
        gimli::AttributeValue::Udata(number) => Some(i128::from(number)),
        gimli::AttributeValue::Block(bytes) if bytes.len() <= 16 => {
            let mut whole = [0; 16];
            whole[..bytes.len()].copy_from_slice(bytes.slice());
            Some(i128::from_le_bytes(whole))
        }
        _ => None,
    }
}

/// The first bit and the number of bits of a bit field.
fn bit_field<'a>(child: &Entry<'a>, ty: &Die<'a>) -> Option<(u64, u64)> {
    let number = |name| child.attr(name).and_then(|attribute| attribute.udata_value());
    let count = number(gimli::DW_AT_bit_size)?;
    if let Some(first) = number(gimli::DW_AT_data_bit_offset) {
        return Some((first, count));
    }
    // Before DWARF 5 the offset was counted from the most significant bit of the unit the field is in.
    let storage = number(gimli::DW_AT_byte_size).or_else(|| size_of(ty))?.checked_mul(8)?;
    let from_top = number(gimli::DW_AT_bit_offset).unwrap_or(0);
    let start = number(gimli::DW_AT_data_member_location).unwrap_or(0).checked_mul(8)?;
    let first = start.checked_add(storage)?.checked_sub(from_top)?.checked_sub(count)?;
    Some((first, count))
}

fn is_signed(ty: &Die<'_>) -> bool {
    let encoding = ty.entry().and_then(|entry| entry.attr_value(gimli::DW_AT_encoding));
    matches!(
        encoding,
        Some(gimli::AttributeValue::Encoding(gimli::DW_ATE_signed | gimli::DW_ATE_signed_char))
    )
}

/// Whether a type is C's `char`, which text is made of.
pub(crate) fn is_char<'a>(die: &Die<'a>, entry: &Entry<'a>) -> bool {
    entry.tag() == gimli::DW_TAG_base_type
        && !die.is_rust()
        && die.name(entry).is_some_and(|name| name.slice() == b"char")
}

fn signed(raw: u128, bits: u64) -> i128 {
    match u32::try_from(128u64.saturating_sub(bits)) {
        Ok(unused) if unused < 128 => raw.cast_signed() << unused >> unused,
        _ => raw.cast_signed(),
    }
}

/// The 80-bit number that `long double` is on x86-64.
fn extended(raw: u128) -> f64 {
    let mantissa = raw as u64;
    let exponent = i32::from((raw >> 64) as u16 & 0x7fff);
    let sign = if (raw >> 79) & 1 == 1 { -1.0 } else { 1.0 };
    match (exponent, mantissa) {
        (0x7fff, m) if m << 1 == 0 => sign * f64::INFINITY,
        (0x7fff, _) => f64::NAN,
        (_, 0) => sign * 0.0,
        _ => sign * (mantissa as f64) * (f64::from(exponent - 16383 - 63)).exp2(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_odd_sizes() {
        assert_eq!(signed(0xff, 8), -1);
        assert_eq!(signed(0x7f, 8), 127);
        assert_eq!(signed(0b101, 3), -3);
        assert_eq!(signed(u128::MAX, 128), -1);
        assert_eq!(signed(5, 0), 5);
        assert_eq!(extended(0x3fff_8000_0000_0000_0000), 1.0);
        assert_eq!(extended(0xc000_c000_0000_0000_0000), -3.0);
        assert_eq!(extended(0), 0.0);
    }
}
