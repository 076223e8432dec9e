//! Landing pads: where control goes when a call throws or panics.
//!
//! No jump leads there, so without the exception tables (the format of the Itanium C++ ABI, which rustc uses, too) handlers and
//! the code that drops guards would not be seen.

use gimli::{EndianSlice, LittleEndian, Reader};

use crate::image::{Cover, Image};

/// The calls that have landing pads, by the table of the function from `start` to `end`.
pub(crate) fn read(image: &Image, table: u64, start: u64, end: u64) -> Vec<Cover> {
    let mut covers = Vec::new();
    // Damage ends the list; what came before is true.
    let _ = read_into(image, table, start, end, &mut covers);
    covers
}

const OMITTED: u8 = 0xff;

fn read_into(image: &Image, table: u64, start: u64, end: u64, covers: &mut Vec<Cover>) -> gimli::Result<()> {
    let mut bytes = EndianSlice::new(image.bytes_at(table), LittleEndian);
    let landing_base = match bytes.read_u8()? {
        OMITTED => start,
        // Nobody writes another base than the function's start.
        _ => return Ok(()),
    };
    if bytes.read_u8()? != OMITTED {
        bytes.read_uleb128()?;
    }
    let encoding = bytes.read_u8()?;
    let length = usize::try_from(bytes.read_uleb128()?).unwrap_or(usize::MAX);
    let length = length.min(bytes.len());
    let mut rows = bytes.split(length)?;
    while !rows.is_empty() {
        let from = number(&mut rows, encoding)?;
        let size = number(&mut rows, encoding)?;
        let landing = number(&mut rows, encoding)?;
        rows.read_uleb128()?;
        let (from, landing_at) = (start.wrapping_add(from), landing_base.wrapping_add(landing));
        let to = from.wrapping_add(size);
        if landing != 0 && from >= start && to <= end && from < to && image.is_code(landing_at) {
            covers.push(Cover { start: from, end: to, landing: landing_at });
        }
    }
    Ok(())
}

fn number(bytes: &mut EndianSlice<'_, LittleEndian>, encoding: u8) -> gimli::Result<u64> {
    Ok(match encoding & 0x0f {
        0x01 => bytes.read_uleb128()?,
        0x02 => bytes.read_u16()?.into(),
        0x03 | 0x0b => bytes.read_u32()?.into(),
        0x00 | 0x04 | 0x0c => bytes.read_u64()?,
        _ => return Err(gimli::Error::UnknownPointerEncoding(gimli::DwEhPe(encoding))),
    })
}
