//! Which entries of a recorded run are wanted.

use super::entry::{Entry, What};
use super::table::{ObjectRow, PlaceRow, Table};
use std::ops::RangeInclusive;

/// What is asked for; of several things of one sort any will do, and of several sorts each must.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filter {
    /// Strands, by place in the creation tree or by name.
    pub strands: Vec<String>,
    /// Variables, locks and other objects, by name or by an address in them.
    pub objects: Vec<String>,
    /// Words of [`What::kinds`].
    pub kinds: Vec<String>,
    /// Functions, files, or files with a line.
    pub places: Vec<String>,
    /// Numbers of entries, from 1.
    pub events: Option<RangeInclusive<u64>>,
}

/// Something that no entry can have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unknown {
    /// A strand.
    Strand(String),
    /// An object.
    Object(String),
    /// A kind.
    Kind(String),
    /// A place.
    Place(String),
}

/// A filter, for one recorded run.
#[derive(Clone, Debug)]
pub struct Wanted {
    strands: Option<Vec<bool>>,
    objects: Option<Vec<bool>>,
    places: Option<Vec<bool>>,
    kinds: Vec<String>,
    events: Option<RangeInclusive<u64>>,
}

impl Filter {
    /// The rows of the run's table that it means.
    pub fn of(&self, table: &Table) -> Result<Wanted, Unknown> {
        let strand =
            |text: &str, row: &super::StrandRow| row.path == text || !row.name.is_empty() && row.name == text;
        if let Some(kind) = self.kinds.iter().find(|kind| !What::all_kinds().any(|known| known == **kind)) {
            return Err(Unknown::Kind(kind.clone()));
        }
        Ok(Wanted {
            strands: rows(&self.strands, &table.strands, strand).map_err(Unknown::Strand)?,
            objects: rows(&self.objects, &table.objects, |text, row| is_object(text, row, table))
                .map_err(Unknown::Object)?,
            places: rows(&self.places, &table.places, |text, row| is_at(text, row, table))
                .map_err(Unknown::Place)?,
            kinds: self.kinds.clone(),
            events: self.events.clone(),
        })
    }
}

/// Which rows one of the texts means; none if nothing is asked for.
fn rows<T>(
    texts: &[String],
    rows: &[T],
    means: impl Fn(&str, &T) -> bool,
) -> Result<Option<Vec<bool>>, String> {
    if let Some(text) = texts.iter().find(|text| !rows.iter().any(|row| means(text, row))) {
        return Err(text.clone());
    }
    let any = |row: &T| texts.iter().any(|text| means(text, row));
    Ok((!texts.is_empty()).then(|| rows.iter().map(any).collect()))
}

/// Whether a text is the object's name, that of something it is a part of, or an address in it.
fn is_object(text: &str, object: &ObjectRow, table: &Table) -> bool {
    if let Some(addr) = text.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok()) {
        return addr.wrapping_sub(object.addr) < object.size.max(1);
    }
    let Some(name) = table.string(object.name) else { return false };
    name.strip_prefix(text).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[', ' ']))
}

/// Whether a place, or one that it was called from or inlined into, is in the function, the file, or the line of the file.
fn is_at(text: &str, place: &PlaceRow, table: &Table) -> bool {
    let (file, line) = match text.rsplit_once(':').map(|(file, line)| (file, line.parse::<u32>())) {
        Some((file, Ok(line))) => (file, Some(line)),
        _ => (text, None),
    };
    let ends_with = |whole: &str, part: &str, sign: &str| {
        whole.strip_suffix(part).is_some_and(|rest| rest.is_empty() || rest.ends_with(sign))
    };
    table.frames(place).any(|frame| {
        let in_file = table.string(frame.file).is_some_and(|path| ends_with(path, file, "/"));
        let in_function = table.string(frame.function).is_some_and(|name| ends_with(name, text, "::"));
        in_file && line.is_none_or(|line| line == frame.line) || in_function
    })
}

impl Wanted {
    /// Whether an entry is wanted; `number` counts from 1.
    pub fn has(&self, number: u64, entry: &Entry) -> bool {
        let row = |rows: &Option<Vec<bool>>, row: Option<usize>| match rows {
            None => true,
            Some(rows) => row.and_then(|row| rows.get(row)).copied().unwrap_or(false),
        };
        let from_one = |row: u32| (row as usize).checked_sub(1);
        self.events.as_ref().is_none_or(|events| events.contains(&number))
            && row(&self.strands, Some(entry.strand.into()))
            && row(&self.objects, from_one(entry.object))
            && row(&self.places, from_one(entry.place))
            && (self.kinds.is_empty() || entry.what.kinds().iter().any(|kind| self.names(kind)))
    }

    /// Whether a kind is asked for by name.
    pub fn names(&self, kind: &str) -> bool {
        self.kinds.iter().any(|asked| asked == kind)
    }

    /// Whether there is nothing to come after this entry.
    pub fn is_over(&self, number: u64) -> bool {
        self.events.as_ref().is_some_and(|events| *events.end() < number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{FrameRow, StrandRow};
    use threadbare_abi::op::OpKind;

    fn table() -> Table {
        let strand = |path: &str, name: &str| StrandRow { path: path.into(), parent: 0, name: name.into() };
        Table {
            strands: vec![strand("0", ""), strand("0.1", "worker")],
            strings: ["bank::transfer", "src/bank.rs", "accounts[3].lock", "accounts"]
                .map(str::to_owned)
                .into(),
            frames: vec![FrameRow { function: 1, file: 2, line: 7, library: false }],
            places: vec![PlaceRow { frames: vec![0], ..PlaceRow::default() }, PlaceRow::default()],
            objects: vec![
                ObjectRow { class: 1, addr: 0x40, size: 0, name: 3 },
                ObjectRow { class: 19, addr: 0x80, size: 8, name: 4 },
            ],
            ..Table::default()
        }
    }

    fn found(filter: &Filter) -> Result<Vec<u64>, Unknown> {
        let entry = |strand, op, place, object| Entry { strand, what: What::Access { op }, place, object };
        let entries =
            [entry(0, OpKind::Read, 1, 1), entry(1, OpKind::Write, 2, 2), entry(1, OpKind::Write, 0, 0)];
        let wanted = filter.of(&table())?;
        let numbered = (1..).zip(&entries);
        Ok(numbered.filter(|(number, entry)| wanted.has(*number, entry)).map(|(number, _)| number).collect())
    }

    #[test]
    fn each_sort_narrows() {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        let of = |filter: Filter| found(&filter);
        assert_eq!(of(Filter::default()), Ok(vec![1, 2, 3]));
        assert_eq!(of(Filter { strands: texts(&["worker"]), ..Filter::default() }), Ok(vec![2, 3]));
        assert_eq!(of(Filter { strands: texts(&["0", "0.1"]), ..Filter::default() }), Ok(vec![1, 2, 3]));
        for (object, expected) in [
            ("accounts", vec![1, 2]),
            ("accounts[3]", vec![1]),
            ("accounts[3].lock", vec![1]),
            ("0x87", vec![2]),
        ] {
            assert_eq!(
                of(Filter { objects: texts(&[object]), ..Filter::default() }),
                Ok(expected),
                "{object}"
            );
        }
        for place in ["transfer", "bank::transfer", "bank.rs", "bank.rs:7", "src/bank.rs:7"] {
            assert_eq!(of(Filter { places: texts(&[place]), ..Filter::default() }), Ok(vec![1]), "{place}");
        }
        assert_eq!(of(Filter { kinds: texts(&["write"]), ..Filter::default() }), Ok(vec![2, 3]));
        assert_eq!(
            of(Filter { kinds: texts(&["access"]), events: Some(2..=2), ..Filter::default() }),
            Ok(vec![2])
        );
    }

    #[test]
    fn what_nothing_can_be_is_told() {
        let asks = |filter: Filter| found(&filter).unwrap_err();
        let one = |text: &str| vec![text.to_owned()];
        assert_eq!(asks(Filter { strands: one("0.7"), ..Filter::default() }), Unknown::Strand("0.7".into()));
        assert_eq!(
            asks(Filter { objects: one("account"), ..Filter::default() }),
            Unknown::Object("account".into())
        );
        assert_eq!(
            asks(Filter { places: one("bank.rs:8"), ..Filter::default() }),
            Unknown::Place("bank.rs:8".into())
        );
        assert_eq!(asks(Filter { kinds: one("wirte"), ..Filter::default() }), Unknown::Kind("wirte".into()));
    }
}
