//! Futures as a suite: chosen terms in readable files, made again like tests.
//!
//! A file names its read and its write by file, function and the line's text, and the read by its variable, too: it survives edits that move lines.

use super::all::wish;
use super::table::{Row, Site, State, Table, Term, Whose};
use super::{Look, choosing, look, outcome};
use crate::conduct::{self, cannot};
use crate::exit::{Exit, Trouble};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use threadbare_explore::campaign::Config;
use threadbare_explore::store::Store;
use threadbare_findings::{Suppressions, SymbolPlaces};
use threadbare_report::choices::Came;
use threadbare_report::progress::ProgressLine;

/// How the files' names end.
const EXTENSION: &str = "future";
const HEAD: &str = "threadbare future 1";

/// What a run with it comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Expect {
    Passes,
    Fails,
    Either,
}

impl Expect {
    const ALL: [(Expect, &str); 3] =
        [(Expect::Passes, "passes"), (Expect::Fails, "fails"), (Expect::Either, "either")];

    fn name(self) -> &'static str {
        Expect::ALL.iter().find(|(expect, _)| *expect == self).map_or("", |(_, name)| name)
    }

    /// What came of a term; `None` if no run has it.
    fn of(term: &Term) -> Option<Expect> {
        match (&term.tried, &term.state) {
            (Some(tried), _) if matches!(tried.came, Came::Made { .. }) => {
                Some(if tried.finding.is_some() { Expect::Fails } else { Expect::Passes })
            }
            (None, State::Seen { runs, failed }) => Some(match failed.len() {
                0 => Expect::Passes,
                all if all == runs.len() => Expect::Fails,
                _ => Expect::Either,
            }),
            _ => None,
        }
    }
}

/// A future in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Kept {
    /// File, function, text of the read; its variable.
    read: [String; 3],
    variable: String,
    whose: Whose,
    /// The same of the write.
    write: Option<[String; 3]>,
    expect: Expect,
}

fn spot(site: &Site) -> [String; 3] {
    let file = Path::new(&site.file).file_name().unwrap_or_default().to_string_lossy().into_owned();
    [file, site.function.clone(), site.text.clone()]
}

impl Kept {
    fn to_text(&self) -> String {
        let mut text = format!("{HEAD}\n");
        let place = |text: &mut String, what: &str, [file, function, line]: &[String; 3]| {
            let _ = writeln!(text, "{what}-file: {file}\n{what}-function: {function}\n{what}-line: {line}");
        };
        place(&mut text, "read", &self.read);
        let _ = writeln!(text, "variable: {}", self.variable);
        let whose = match self.whose {
            Whose::Own => "own",
            Whose::Other => "other",
            Whose::Initial | Whose::Unseen => "initial",
        };
        let _ = writeln!(text, "whose: {whose}");
        if let Some(write) = &self.write {
            place(&mut text, "write", write);
        }
        let _ = writeln!(text, "expect: {}", self.expect.name());
        text
    }

    fn parse(text: &str) -> Result<Kept, String> {
        let mut lines = text.lines();
        if lines.next() != Some(HEAD) {
            return Err(format!("its first line is not `{HEAD}`"));
        }
        let fields: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once(": ")).collect();
        let field = |name: &str| {
            let found = fields.iter().find(|(other, _)| *other == name);
            found.map(|(_, value)| (*value).to_owned()).ok_or_else(|| format!("there is no `{name}` in it"))
        };
        let place = |what: &str| -> Result<[String; 3], String> {
            let part = |name: &str| field(&format!("{what}-{name}"));
            Ok([part("file")?, part("function")?, part("line")?])
        };
        let whose = match field("whose")?.as_str() {
            "own" => Whose::Own,
            "other" => Whose::Other,
            "initial" => Whose::Initial,
            other => return Err(format!("`whose` is `{other}`")),
        };
        let expect = field("expect")?;
        let expect = Expect::ALL.iter().find(|(_, name)| *name == expect);
        Ok(Kept {
            read: place("read")?,
            variable: field("variable").unwrap_or_default(),
            whose,
            write: if whose == Whose::Initial { None } else { Some(place("write")?) },
            expect: expect.map(|(expect, _)| *expect).ok_or("`expect` is none of passes, fails, either")?,
        })
    }

    fn finds(&self, table: &Table) -> Option<(usize, usize)> {
        let is_read = |row: &Row| {
            spot(&row.read) == self.read && row.variable.as_deref().unwrap_or_default() == self.variable
        };
        let is_write = |term: &Term| term.whose == self.whose && term.write.as_ref().map(spot) == self.write;
        let rows = table.reads.iter().enumerate().filter(|(_, row)| is_read(row));
        let mut found = rows.filter_map(|(at, row)| Some((at, row.terms.iter().position(is_write)?)));
        found.next()
    }
}

/// Writes a file for each term that a run has.
pub(crate) fn keep(table: &Table, folder: &Path) -> Result<usize, Trouble> {
    let refused = |error: &std::io::Error| cannot(&format!("write to `{}`", folder.display()), error);
    fs::create_dir_all(folder).map_err(|error| refused(&error))?;
    let mut count = 0;
    for row in &table.reads {
        for term in &row.terms {
            let Some(expect) = Expect::of(term).filter(|_| term.whose != Whose::Unseen) else { continue };
            let variable = row.variable.clone().unwrap_or_default();
            let write = term.write.as_ref().map(spot);
            let kept = Kept { read: spot(&row.read), variable, whose: term.whose, write, expect };
            count += 1;
            let plain = |text: &str| text.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
            let name =
                format!("{count:03}-{}-{}.{EXTENSION}", plain(&row.read.function), plain(&kept.variable));
            fs::write(folder.join(name), kept.to_text()).map_err(|error| refused(&error))?;
        }
    }
    Ok(count)
}

fn read(folder: &Path) -> Result<Vec<(String, Kept)>, Trouble> {
    let refused = |path: &Path, error: &std::io::Error| cannot(&format!("read `{}`", path.display()), error);
    let entries = fs::read_dir(folder).map_err(|error| refused(folder, &error))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == EXTENSION));
    paths.sort();
    let one = |path: PathBuf| {
        let text = fs::read_to_string(&path).map_err(|error| refused(&path, &error))?;
        let kept = Kept::parse(&text).map_err(|why| {
            let message = format!("`{}` is no future: {why}", path.display());
            Trouble::usage(message, "`threadbare futures --all --keep DIR -- PROG` writes them")
        })?;
        Ok((path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), kept))
    };
    let all: Vec<_> = paths.into_iter().map(one).collect::<Result<_, Trouble>>()?;
    if all.is_empty() {
        let message = format!("there are no futures in `{}`", folder.display());
        return Err(Trouble::usage(message, "`threadbare futures --all --keep DIR -- PROG` writes them"));
    }
    Ok(all)
}

/// Makes the futures of a folder again: a table in words, and how it ends.
pub(crate) fn check(
    config: &Config,
    looks: u64,
    folder: &Path,
    store: &Store,
    suppressions: &Arc<Suppressions>,
) -> Result<(String, Exit), Trouble> {
    let all = read(folder)?;
    let Look { table, known } = look(config, looks)?;
    let found: Vec<Option<(usize, usize)>> = all.iter().map(|(_, kept)| kept.finds(&table)).collect();
    let term = |&(at, number): &(usize, usize)| &table.reads[at].terms[number];
    let open: Vec<(usize, usize)> = found
        .iter()
        .flatten()
        .filter(|place| !matches!(term(place).state, State::StruckOut { .. }))
        .copied()
        .collect();
    let goals = open.iter().map(|&(at, number)| vec![wish(&table.reads[at], number)]).collect();
    let free = Config { runs: None, keep_going: true, ..config.clone() };
    let config = choosing(&free, goals, &known, 0);
    let made = match open.is_empty() {
        true => None,
        false => {
            let line = ProgressLine::on_stderr();
            conduct::campaign(&config, store, line, None, suppressions, None)?.futures
        }
    };
    let places = made.as_ref().map(|saw| SymbolPlaces::new(&saw.modules, &config.target.program));
    let (mut text, mut failed) = (String::new(), 0);
    for ((name, kept), place) in all.iter().zip(&found) {
        let struck = place.as_ref().and_then(|place| match &term(place).state {
            State::StruckOut { reason } => Some(reason.clone()),
            _ => None,
        });
        let goal = place.and_then(|place| open.iter().position(|other| *other == place));
        let progress = goal.and_then(|goal| made.as_ref()?.found.goals.get(goal));
        let told = match (progress, struck) {
            (_, Some(reason)) => format!("gone: struck out: {reason}"),
            (None, _) => "gone: there is no such read and write any more".to_owned(),
            (Some(progress), _) => match (&progress.made, &made, &places) {
                (Some(it), Some(_), _) if it.shown.is_empty() && kept.expect == Expect::Fails => {
                    "passes now".to_owned()
                }
                (Some(it), ..) if it.shown.is_empty() => "passes".to_owned(),
                (Some(it), Some(saw), _) => {
                    failed += usize::from(kept.expect != Expect::Either);
                    let id = it.shown.first().and_then(|key| saw.findings.get(key));
                    format!("fails: {}", id.map_or("hidden", String::as_str))
                }
                (None, Some(saw), Some(places)) => {
                    let came = outcome::of(progress, &saw.found, None, places);
                    let gone = matches!(came, Came::CannotBe { .. });
                    if gone { format!("gone: {}", came.words()) } else { came.words() }
                }
                _ => String::new(),
            },
        };
        let _ = writeln!(text, "{name}: {told}");
    }
    let _ = writeln!(text, "{} of {} failed", failed, super::text::futures(all.len()));
    Ok((text, if failed > 0 { Exit::Failure } else { Exit::Clean }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_again() {
        let place = |name: &str| [name.to_owned(), "run".to_owned(), "x = y: 3;".to_owned()];
        for (whose, write) in
            [(Whose::Own, Some(place("a.c"))), (Whose::Other, Some(place("b.c"))), (Whose::Initial, None)]
        {
            for (expect, _) in Expect::ALL {
                let kept = Kept {
                    read: place("a.c"),
                    variable: "x".to_owned(),
                    whose,
                    write: write.clone(),
                    expect,
                };
                assert_eq!(Kept::parse(&kept.to_text()).as_ref(), Ok(&kept));
            }
        }
        assert!(Kept::parse("nothing").is_err());
        assert!(Kept::parse(&format!("{HEAD}\nwhose: own\n")).is_err());
    }
}
