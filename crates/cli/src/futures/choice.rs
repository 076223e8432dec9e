//! Choices as users write them: `bank.c:9 <- bank.c:10`, `bank.c:9 <- initial`.
//!
//! A place is `FILE:LINE` or `FILE:LINE:COLUMN`; behind it, in any order, the variable where a line has several reads, `@0.2` for the strand
//! and `#3` for the third time that the strand comes there.

use super::table::{Row, State, Table, Term, Whose};
use super::text;
use crate::exit::Trouble;
use std::path::Path;
use threadbare_abi::strand::StrandPath;
use threadbare_explore::futures::{Source, Wish, WishedStep};
use threadbare_report::branches::Branch;

/// A place as it was written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Spot {
    pub(crate) file: String,
    pub(crate) line: u32,
    column: Option<u32>,
    pub(crate) variable: Option<String>,
    strand: Option<u64>,
    number: Option<u64>,
}

/// A choice as it was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Choice {
    pub(crate) text: String,
    pub(crate) read: Spot,
    /// `None` for the initial value.
    write: Option<Spot>,
}

/// A choice with what it means.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub(crate) text: String,
    pub(crate) wish: Wish,
    /// Why no run can have it, by the code.
    pub(crate) struck: Option<String>,
    /// What must be so for the read and for the write to be made, if no run made them.
    pub(crate) to_read: Vec<Branch>,
    pub(crate) to_write: Vec<Branch>,
}

const HELP: &str = "a choice is `FILE:LINE <- FILE:LINE` or `FILE:LINE <- initial`; behind a place may stand a variable, `@0.2` for \
                    the strand and `#3` for the third time";

fn wrong(text: &str, why: &str) -> Trouble {
    Trouble::usage(format!("`{text}` is no choice: {why}"), HELP)
}

impl Spot {
    pub(crate) fn parse(text: &str) -> Result<Spot, String> {
        let mut words = text.split_whitespace();
        let place = words.next().ok_or("a place is missing")?;
        let mut parts: Vec<&str> = place.rsplitn(3, ':').collect();
        parts.reverse();
        let number = |text: &str| text.parse::<u32>().ok().filter(|&number| number > 0);
        let (file, line, column) = match parts[..] {
            [file, line, column] if number(line).is_some() && number(column).is_some() => {
                (file.to_owned(), number(line), number(column))
            }
            [a, b, line] if number(line).is_some() => (format!("{a}:{b}"), number(line), None),
            [file, line] => (file.to_owned(), number(line), None),
            _ => (String::new(), None, None),
        };
        let line = line.filter(|_| !file.is_empty()).ok_or_else(|| format!("`{place}` is no `FILE:LINE`"))?;
        let mut spot = Spot { file, line, column, ..Spot::default() };
        for word in words {
            if let Some(name) = word.strip_prefix('@') {
                let path =
                    StrandPath::parse(name).ok_or_else(|| format!("`{name}` is no strand, such as 0.2"))?;
                spot.strand = Some(path.0);
            } else if let Some(number) = word.strip_prefix('#') {
                let number: Option<u64> = number.parse().ok().filter(|&number| number > 0);
                spot.number = Some(number.ok_or_else(|| format!("`{word}` is no number from 1"))?);
            } else if spot.variable.replace(word.to_owned()).is_some() {
                return Err(format!("`{word}`: there is a variable already"));
            }
        }
        Ok(spot)
    }

    fn step(&self, sites: &[u64]) -> WishedStep {
        WishedStep { sites: sites.to_vec(), strand: self.strand, number: self.number }
    }

    pub(crate) fn is_in(&self, file: &str, line: u32) -> bool {
        let end = Path::new(file).ends_with(&self.file);
        line == self.line && end
    }

    pub(crate) fn means(&self, row: &Row) -> bool {
        self.is_in(&row.read.file, row.read.line)
            && self.column.is_none_or(|column| row.columns.is_empty() || row.columns.contains(&column))
            && self.variable.as_ref().is_none_or(|name| is_named(row, name))
    }
}

/// Whether a read is of this variable, or of a part of it.
pub(crate) fn is_named(row: &Row, name: &str) -> bool {
    let Some(variable) = &row.variable else { return false };
    let rest = variable.strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[', '-']))
        || variable.ends_with(&format!(".{name}"))
        || variable.ends_with(&format!(">{name}"))
}

impl Choice {
    pub(crate) fn parse(text: &str) -> Result<Choice, Trouble> {
        let (read, write) = text.split_once("<-").ok_or_else(|| wrong(text, "there is no `<-` in it"))?;
        let read = Spot::parse(read).map_err(|why| wrong(text, &why))?;
        let write = match write.trim() {
            "initial" => None,
            write => Some(Spot::parse(write).map_err(|why| wrong(text, &why))?),
        };
        Ok(Choice { text: text.trim().to_owned(), read, write })
    }

    /// The choices of an option: one, or with `@FILE` those of a file, one a line.
    pub(crate) fn all(option: &str) -> Result<Vec<Choice>, Trouble> {
        let Some(file) = option.strip_prefix('@') else { return Ok(vec![Choice::parse(option)?]) };
        let text = threadbare_explore::files::read_text(Path::new(file))
            .map_err(|error| crate::conduct::cannot(&format!("read the choices in `{file}`"), &error))?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.map(Choice::parse).collect()
    }

    /// What it means in a program.
    pub(crate) fn resolve(&self, table: &Table) -> Result<Chosen, Trouble> {
        let mut rows: Vec<&Row> = table.reads.iter().filter(|row| self.read.means(row)).collect();
        if rows.iter().any(|row| row.reached) {
            rows.retain(|row| row.reached);
        }
        // Whoever names columns is told columns.
        let head = if self.read.column.is_some() { text::head_with_columns } else { text::head };
        let list = |rows: &[&Row]| rows.iter().map(|row| format!("\n  {}", head(row))).collect::<String>();
        let row = match rows[..] {
            [row] => row,
            [] => {
                if table.reads.is_empty() && table.library_reads > 0 {
                    return Err(Trouble::usage(
                        format!("`{}`: no place in the source is known of this program", self.text),
                        "compile it with `-g`, and do not strip it",
                    ));
                }
                let near = |row: &&Row| Path::new(&row.read.file).ends_with(&self.read.file);
                let near: Vec<&Row> = table.reads.iter().filter(near).collect();
                let near = if near.is_empty() { table.reads.iter().collect() } else { near };
                return Err(Trouble::usage(
                    format!(
                        "`{}`: there is no such read of shared data; there are{}",
                        self.text,
                        list(&near)
                    ),
                    "`threadbare futures -- PROG` shows all of them with what they may see",
                ));
            }
            _ => {
                let list: String =
                    rows.iter().map(|row| format!("\n  {}", text::head_with_columns(row))).collect();
                return Err(Trouble::usage(
                    format!("`{}`: which read is meant?{list}", self.text),
                    "name the variable, or the column: `bank.c:9 balance <- …`, `bank.c:9:12 <- …`",
                ));
            }
        };
        let terms: Vec<&Term> = row.terms.iter().filter(|term| self.is_source(term)).collect();
        let struck = |term: &&Term| match &term.state {
            State::StruckOut { reason, certain: true } => Some(reason.clone()),
            _ => None,
        };
        let source = match &self.write {
            None => Source::Initial,
            Some(spot) => {
                let mut sites: Vec<u64> = terms.iter().flat_map(|term| term.sites.iter().copied()).collect();
                sites.sort_unstable();
                sites.dedup();
                if sites.is_empty() {
                    let known = row.terms.iter().map(|term| format!("\n  {}", text::place(term)));
                    return Err(Trouble::usage(
                        format!(
                            "`{}`: no write there may reach the read; it may see{}",
                            self.text,
                            known.collect::<String>()
                        ),
                        "`threadbare futures -- PROG` shows every read with what it may see",
                    ));
                }
                Source::Write(spot.step(&sites), None)
            }
        };
        let reasons: Vec<Option<String>> = terms.iter().map(struck).collect();
        let struck =
            reasons.iter().all(Option::is_some).then(|| reasons.into_iter().flatten().next()).flatten();
        Ok(Chosen {
            text: self.text.clone(),
            wish: Wish { read: self.read.step(&row.sites), source },
            struck,
            to_read: row.branches.clone(),
            to_write: terms
                .iter()
                .map(|term| term.branches.clone())
                .find(|it| !it.is_empty())
                .unwrap_or_default(),
        })
    }

    fn is_source(&self, term: &Term) -> bool {
        match (&self.write, &term.write) {
            (None, None) => term.whose == Whose::Initial,
            (Some(spot), Some(site)) => spot.is_in(&site.file, site.line),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read() {
        let choice = Choice::parse("src/bank.c:9 balance @0.2 #3 <- bank.c:10:7").ok().unwrap();
        assert_eq!((choice.read.file.as_str(), choice.read.line), ("src/bank.c", 9));
        assert_eq!(choice.read.variable.as_deref(), Some("balance"));
        assert_eq!(choice.read.number, Some(3));
        assert_eq!(choice.read.strand, StrandPath::parse("0.2").map(|path| path.0));
        assert_eq!(choice.write.unwrap().column, Some(7));
        assert_eq!(Choice::parse("bank.c:9<-initial").ok().unwrap().write, None);
    }

    #[test]
    fn what_is_wrong_is_told() {
        for text in [
            "bank.c:9",
            "bank.c <- initial",
            "bank.c:9 <- ",
            "bank.c:0 <- initial",
            "a.c:1 @7 <- initial",
            "a.c:1 #0 <- a.c:2",
            "",
        ] {
            assert!(Choice::parse(text).is_err(), "{text}");
        }
    }
}
