//! A future in a file: terms that a run is to have together, and what such a run comes to.
//!
//! A file names a read and a write by file, function and the line's text, and the read by its variable, too: it survives edits that move lines. Where a function
//! has the same line several times, it tells which. Strand and how-manieth time are there where the future needs them.

use super::table::{Row, Site, Table, Term, Whose};
use super::{all, name};
use std::fmt::Write;
use std::path::Path;
use threadbare_abi::strand::StrandPath;
use threadbare_explore::futures::{Source, Wish, WishedStep};

/// The first line of a file: of one pair, and of a set that may tell strands.
const HEAD: &str = "threadbare future 1";
const HEAD_OF_SET: &str = "threadbare future 2";

/// What a run with it comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Expect {
    Passes,
    Fails,
    Either,
}

impl Expect {
    const ALL: [(Expect, &str); 3] =
        [(Expect::Passes, "passes"), (Expect::Fails, "fails"), (Expect::Either, "either")];

    pub(super) fn name(self) -> &'static str {
        Expect::ALL.iter().find(|(expect, _)| *expect == self).map_or("", |(_, name)| name)
    }
}

/// A step: where, and as far as it is told, whose and the how-manieth time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Spot {
    /// File, function, the line's text.
    place: [String; 3],
    /// Which of the lines that read the same, from 1.
    nth: usize,
    strand: Option<u64>,
    time: Option<u64>,
}

/// A term.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct KeptTerm {
    read: Spot,
    variable: String,
    whose: Whose,
    write: Option<Spot>,
}

/// A future.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Kept {
    pub(super) terms: Vec<KeptTerm>,
    pub(super) expect: Expect,
    /// The finding that it was made of.
    pub(super) of: Option<String>,
}

/// A term of the table, with the strands and times that are told: of the read, and of the write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Pair {
    pub(crate) row: usize,
    pub(crate) term: usize,
    pub(crate) read: (Option<u64>, Option<u64>),
    pub(crate) write: (Option<u64>, Option<u64>),
}

fn place_of(site: &Site) -> [String; 3] {
    let file = Path::new(&site.file).file_name().unwrap_or_default().to_string_lossy().into_owned();
    [file, site.function.clone(), site.text.clone()]
}

/// Reads of the table that look the same.
fn alike<'a>(
    table: &'a Table,
    place: &'a [String; 3],
    variable: &'a str,
) -> impl Iterator<Item = usize> + 'a {
    let same = move |row: &Row| {
        place_of(&row.read) == *place && row.variable.as_deref().unwrap_or_default() == variable
    };
    (0..table.reads.len()).filter(move |&at| same(&table.reads[at]))
}

/// Terms of a read that look the same.
fn alike_terms<'a>(
    row: &'a Row,
    whose: Whose,
    place: Option<&'a [String; 3]>,
) -> impl Iterator<Item = usize> + 'a {
    let same = move |term: &Term| term.whose == whose && term.write.as_ref().map(place_of).as_ref() == place;
    (0..row.terms.len()).filter(move |&at| same(&row.terms[at]))
}

impl KeptTerm {
    pub(super) fn of(table: &Table, pair: &Pair) -> KeptTerm {
        let row = &table.reads[pair.row];
        let term = &row.terms[pair.term];
        let variable = row.variable.clone().unwrap_or_default();
        let which = |mut all: Box<dyn Iterator<Item = usize> + '_>, this: usize| {
            all.position(|at| at == this).unwrap_or(0) + 1
        };
        let place = place_of(&row.read);
        let nth = which(Box::new(alike(table, &place, &variable)), pair.row);
        let write = term.write.as_ref().map(|site| {
            let place = place_of(site);
            let nth = which(Box::new(alike_terms(row, term.whose, Some(&place))), pair.term);
            Spot { place, nth, strand: pair.write.0, time: pair.write.1 }
        });
        let read = Spot { place, nth, strand: pair.read.0, time: pair.read.1 };
        KeptTerm { read, variable, whose: term.whose, write }
    }

    /// The term of a table that it means.
    pub(super) fn finds(&self, table: &Table) -> Option<Pair> {
        let write = self.write.as_ref();
        let terms = |row: usize| -> Vec<usize> {
            alike_terms(&table.reads[row], self.whose, write.map(|write| &write.place)).collect()
        };
        let rows: Vec<usize> = alike(table, &self.read.place, &self.variable).collect();
        // A line that was one of several may have become the only one.
        let row = rows.get(self.read.nth - 1).or(rows.first()).copied();
        let row = row
            .filter(|&row| !terms(row).is_empty())
            .or_else(|| rows.iter().copied().find(|&row| !terms(row).is_empty()))?;
        let terms = terms(row);
        let term = write.and_then(|write| terms.get(write.nth - 1)).or(terms.first()).copied()?;
        let told = |spot: Option<&Spot>| spot.map_or((None, None), |spot| (spot.strand, spot.time));
        Some(Pair { row, term, read: told(Some(&self.read)), write: told(write) })
    }
}

impl Pair {
    /// The wish for it.
    pub(super) fn wish(&self, table: &Table) -> Wish {
        let mut wish = all::wish(&table.reads[self.row], self.term);
        let add = |step: &mut WishedStep, told: (Option<u64>, Option<u64>)| (step.strand, step.number) = told;
        add(&mut wish.read, self.read);
        if let Source::Write(step, _) = &mut wish.source {
            add(step, self.write);
        }
        wish
    }
}

impl Kept {
    pub(super) fn to_text(&self) -> String {
        let told = |spot: &Spot| spot.nth > 1 || spot.strand.is_some() || spot.time.is_some();
        let any = |term: &KeptTerm| told(&term.read) || term.write.as_ref().is_some_and(told);
        let plain = self.terms.len() == 1 && !self.terms.iter().any(any) && self.of.is_none();
        let mut text = format!("{}\n", if plain { HEAD } else { HEAD_OF_SET });
        if let Some(of) = &self.of {
            let _ = writeln!(text, "of: {of}");
        }
        for (at, term) in self.terms.iter().enumerate() {
            if at > 0 {
                text.push('\n');
            }
            spot_text(&mut text, "read", &term.read);
            let _ = writeln!(text, "variable: {}", term.variable);
            let whose = match term.whose {
                Whose::Own => "own",
                Whose::Other => "other",
                Whose::Initial | Whose::Unseen => "initial",
            };
            let _ = writeln!(text, "whose: {whose}");
            if let Some(write) = &term.write {
                spot_text(&mut text, "write", write);
            }
        }
        if self.terms.len() > 1 {
            text.push('\n');
        }
        let _ = writeln!(text, "expect: {}", self.expect.name());
        text
    }

    pub(super) fn parse(text: &str) -> Result<Kept, String> {
        let mut lines = text.lines();
        if !lines.next().is_some_and(|line| [HEAD, HEAD_OF_SET].contains(&line)) {
            return Err(format!("its first line is neither `{HEAD}` nor `{HEAD_OF_SET}`"));
        }
        let fields: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once(": ")).collect();
        let find = |name: &str| fields.iter().find(|(other, _)| *other == name).map(|(_, value)| *value);
        let begins: Vec<usize> = (0..fields.len()).filter(|&at| fields[at].0 == "read-file").collect();
        let ends = begins.iter().skip(1).copied().chain([fields.len()]);
        let terms: Vec<KeptTerm> = begins
            .iter()
            .zip(ends)
            .map(|(&begin, end)| Fields(&fields[begin..end]).term())
            .collect::<Result<_, String>>()?;
        if terms.is_empty() {
            return Err("there is no `read-file` in it".to_owned());
        }
        let expect = find("expect").ok_or("there is no `expect` in it")?;
        let expect = Expect::ALL.iter().find(|(_, name)| *name == expect);
        let expect = expect.map(|(expect, _)| *expect).ok_or("`expect` is none of passes, fails, either")?;
        Ok(Kept { terms, expect, of: find("of").map(str::to_owned) })
    }
}

fn spot_text(text: &mut String, what: &str, spot: &Spot) {
    let [file, function, line] = &spot.place;
    let _ = writeln!(text, "{what}-file: {file}\n{what}-function: {function}\n{what}-line: {line}");
    if spot.nth > 1 {
        let _ = writeln!(text, "{what}-nth: {}", spot.nth);
    }
    if let Some(strand) = spot.strand {
        let _ = writeln!(text, "{what}-strand: {}", name::strand(strand));
    }
    if let Some(time) = spot.time {
        let _ = writeln!(text, "{what}-time: {time}");
    }
}

/// The lines of one term.
struct Fields<'a>(&'a [(&'a str, &'a str)]);

impl Fields<'_> {
    fn find(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(other, _)| *other == name).map(|(_, value)| *value)
    }

    fn field(&self, name: &str) -> Result<String, String> {
        self.find(name).map(str::to_owned).ok_or_else(|| format!("there is no `{name}` in it"))
    }

    fn number(&self, name: &str) -> Result<Option<u64>, String> {
        let Some(text) = self.find(name) else { return Ok(None) };
        let number = text.parse().ok().filter(|&number| number > 0);
        number.map(Some).ok_or_else(|| format!("`{name}` is no number from 1"))
    }

    fn spot(&self, what: &str) -> Result<Spot, String> {
        let part = |name: &str| self.field(&format!("{what}-{name}"));
        let strand = match self.find(&format!("{what}-strand")) {
            None => None,
            Some(name) => Some(StrandPath::parse(name).ok_or_else(|| format!("`{name}` is no strand"))?.0),
        };
        Ok(Spot {
            place: [part("file")?, part("function")?, part("line")?],
            nth: self.number(&format!("{what}-nth"))?.map_or(1, |nth| usize::try_from(nth).unwrap_or(1)),
            strand,
            time: self.number(&format!("{what}-time"))?,
        })
    }

    fn term(&self) -> Result<KeptTerm, String> {
        let whose = match self.field("whose")?.as_str() {
            "own" => Whose::Own,
            "other" => Whose::Other,
            "initial" => Whose::Initial,
            other => return Err(format!("`whose` is `{other}`")),
        };
        Ok(KeptTerm {
            read: self.spot("read")?,
            variable: self.field("variable").unwrap_or_default(),
            whose,
            write: if whose == Whose::Initial { None } else { Some(self.spot("write")?) },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spot(name: &str) -> Spot {
        let place = [name.to_owned(), "run".to_owned(), "x = y: 3;".to_owned()];
        Spot { place, nth: 1, ..Spot::default() }
    }

    #[test]
    fn what_is_kept_is_read_again() {
        for (whose, write) in
            [(Whose::Own, Some(spot("a.c"))), (Whose::Other, Some(spot("b.c"))), (Whose::Initial, None)]
        {
            for (expect, _) in Expect::ALL {
                let term =
                    KeptTerm { read: spot("a.c"), variable: "x".to_owned(), whose, write: write.clone() };
                let kept = Kept { terms: vec![term], expect, of: None };
                assert!(kept.to_text().starts_with(HEAD));
                assert_eq!(Kept::parse(&kept.to_text()).as_ref(), Ok(&kept));
            }
        }
        assert!(Kept::parse("nothing").is_err());
        assert!(Kept::parse(&format!("{HEAD}\nwhose: own\n")).is_err());
    }

    #[test]
    fn a_set_is_read_again() {
        let strand = StrandPath::parse("0.2").map(|path| path.0);
        let read = Spot { strand, time: Some(3), nth: 2, ..spot("a.c") };
        let write = Spot { strand: StrandPath::parse("0").map(|path| path.0), ..spot("b.c") };
        let one = KeptTerm {
            read: read.clone(),
            variable: "x".to_owned(),
            whose: Whose::Other,
            write: Some(write),
        };
        let two = KeptTerm { read, variable: "y".to_owned(), whose: Whose::Initial, write: None };
        let kept = Kept { terms: vec![one, two], expect: Expect::Fails, of: Some("race-1".to_owned()) };
        assert!(kept.to_text().starts_with(HEAD_OF_SET));
        assert_eq!(Kept::parse(&kept.to_text()).as_ref(), Ok(&kept));
    }

    #[test]
    fn a_damaged_file_is_refused_or_read() {
        let term =
            |write| KeptTerm { read: spot("a.c"), variable: "x".to_owned(), whose: Whose::Other, write };
        let one = Kept { terms: vec![term(Some(spot("b.c")))], expect: Expect::Fails, of: None };
        let set = Kept {
            terms: vec![term(None), term(Some(spot("b.c")))],
            of: Some("race-1".to_owned()),
            ..one.clone()
        };
        let samples = [one, set].map(|kept| kept.to_text().into_bytes());
        let words =
            ["read-file: ", "read-nth: ", "read-strand: 0.", "read-time: ", "whose: ", "expect: ", "\n"];
        for number in 0..10_000 {
            let bytes = threadbare_tests::readers::mutate::input(&samples, &words, 1, number);
            if let Ok(kept) = Kept::parse(&String::from_utf8_lossy(&bytes)) {
                let _ = kept.to_text();
            }
        }
    }
}
