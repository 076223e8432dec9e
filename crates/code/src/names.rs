//! Names for addresses and places, from debug info: `bank[_].balance`, `account->balance`.

use std::path::Path;

use threadbare_symbols::{Frame, Module, Pc, Start, Symbols};

use crate::address::{Address, Root};
use crate::code::Code;
use crate::hook::Size;

/// The names of one program, by linked address.
pub struct Names {
    symbols: Symbols,
}

impl Names {
    /// The names of the program at a path.
    pub fn of(path: &Path) -> Names {
        Names { symbols: Symbols::new([Module::new(path, 0, u64::MAX)]) }
    }

    /// The innermost function at a place, with file and line.
    pub fn place(&self, place: u64) -> Frame {
        self.symbols.frames(Pc::Return(place))[0].clone()
    }

    /// What the symbols know besides.
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// What an access of `function` to an address touches, by name; `None` where debug info does not say.
    pub fn address(&self, code: &Code, function: usize, address: &Address, size: Size) -> Option<String> {
        self.address_at(code, function, None, address, size)
    }

    /// The same at a place of the function, which has locals there.
    pub fn address_at(
        &self,
        code: &Code,
        function: usize,
        place: Option<u64>,
        address: &Address,
        size: Size,
    ) -> Option<String> {
        let size = match size {
            Size::Bytes(bytes) => bytes.max(1),
            Size::Unknown => 1,
        };
        let ways = address.ways();
        let ways: Vec<String> =
            ways.iter().filter_map(|way| self.way(code, function, place, way, size)).collect();
        let mut names: Vec<&String> = ways.iter().collect();
        names.dedup();
        // Of a list's head and its later elements the first says enough.
        names.into_iter().min_by_key(|name| name.len()).cloned()
    }

    fn way(
        &self,
        code: &Code,
        function: usize,
        place: Option<u64>,
        address: &Address,
        size: u64,
    ) -> Option<String> {
        let mut offsets = vec![address.offset];
        let mut stride = address.stride;
        let mut at = address;
        while let Root::Loaded { from, .. } = &at.root {
            offsets.push(from.offset);
            stride |= from.stride;
            at = from;
        }
        let name = match &at.root {
            Root::Global => {
                let start = offsets.pop()?.cast_unsigned();
                if offsets.is_empty() {
                    self.symbols.variable_access(start, size)?.to_string()
                } else {
                    offsets.reverse();
                    self.symbols.behind(Start::Variable(start), &offsets, size)?
                }
            }
            Root::ThreadLocal if offsets.len() == 1 => {
                self.symbols.thread_local(0, address.offset.cast_unsigned(), size)?.to_string()
            }
            Root::Argument(number) => {
                offsets.reverse();
                let pc = code.functions.get(function)?.start;
                self.symbols.behind(Start::Parameter { pc, number: (*number).into() }, &offsets, size)?
            }
            Root::Stack => {
                // The return address lies right below where DWARF's frames end.
                let offset = offsets.pop()?.checked_sub(8)?;
                offsets.reverse();
                self.symbols.behind(Start::Local { pc: place?, offset }, &offsets, size)?
            }
            _ => return None,
        };
        Some(if stride == 0 { name } else { any_element(&name) })
    }
}

/// An element of which it is not known which one: the first index of a name becomes `_`.
fn any_element(name: &str) -> String {
    match name.find('[').and_then(|from| Some((from, from + name[from..].find(']')?))) {
        Some((from, to)) => format!("{}[_{}", &name[..from], &name[to..]),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_that_varies_is_not_told() {
        assert_eq!(any_element("bank[0].balance"), "bank[_].balance");
        assert_eq!(any_element("total"), "total");
    }
}
