//! The places of a finding, for those who want to know no more than what is kept and broken around it.

use crate::exit::Trouble;
use std::collections::BTreeSet;
use std::path::Path;
use threadbare_explore::files;
use threadbare_findings::Finding;
use threadbare_invariants::Region;
use threadbare_values::SourceLine;

/// Lines and functions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Around {
    lines: BTreeSet<(String, u32)>,
    functions: BTreeSet<String>,
}

impl Around {
    /// The places of the finding with this id, or in this file.
    pub(crate) fn read(name: &Path, folder: &Path) -> Result<Self, Trouble> {
        let is_id = !name.exists() && name.components().count() == 1;
        let path = if is_id { folder.join(name).with_extension("json") } else { name.with_extension("json") };
        let bytes = files::read(&path).map_err(|error| {
            Trouble::usage(
                format!("cannot read the finding `{}`: {error}", path.display()),
                "`threadbare list` shows the findings of this folder",
            )
        })?;
        let finding: Finding = serde_json::from_slice(&bytes).map_err(|error| {
            Trouble::usage(
                format!("`{}` is no finding: {error}", path.display()),
                "name one of `threadbare list`",
            )
        })?;
        Ok(Self::of(&finding))
    }

    pub(crate) fn of(finding: &Finding) -> Self {
        let mut around = Self::default();
        for place in &finding.locations {
            around.add(place.file.as_deref(), place.line, place.function.as_deref());
        }
        let pairs = finding.explanation.iter().flat_map(|it| it.pair.iter().chain(&it.others));
        for place in pairs {
            around.add(place.file.as_deref(), place.line, place.function.as_deref());
        }
        for access in &finding.accesses {
            if let Some(place) = access.stack.iter().find(|place| !place.library && place.file.is_some()) {
                around.add(place.file.as_deref(), place.line, place.function.as_deref());
            }
        }
        around
    }

    /// The same of a statement's function, or of its lines.
    pub(crate) fn is_at(&self, function: &str, place: &str, lines: Option<(u32, u32)>) -> bool {
        let Some((first, last)) = lines else { return self.functions.contains(function) };
        let file = place.rsplit_once(':').map_or(place, |(file, _)| file);
        self.lines.iter().any(|(of, line)| of == file && (first..=last).contains(line))
    }

    fn add(&mut self, file: Option<&str>, line: Option<u32>, function: Option<&str>) {
        self.lines.extend(file.zip(line).map(|(file, line)| (file.to_owned(), line)));
        self.functions.extend(function.map(|name| name.trim_end_matches("()").to_owned()));
    }

    /// Whether a region is one of the finding's functions, or has one of its lines.
    pub(crate) fn has(&self, region: &Region, place: Option<&SourceLine>) -> bool {
        match (region, place) {
            (Region::Block { file, first, last }, _) => {
                self.lines.iter().any(|(of, line)| of == file && (first..=last).contains(&line))
            }
            (_, Some(place)) => self.functions.contains(&place.function),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_around_its_lines() {
        let mut around = Around::default();
        around.add(Some("bank.c"), Some(10), Some("deposit"));
        let block = |file: &str, first, last| Region::Block { file: file.to_owned(), first, last };
        assert!(around.has(&block("bank.c", 9, 10), None) && around.has(&block("bank.c", 10, 10), None));
        assert!(!around.has(&block("bank.c", 11, 12), None) && !around.has(&block("other.c", 9, 10), None));
        let place =
            |function: &str| SourceLine { file: "bank.c".to_owned(), line: 1, function: function.to_owned() };
        let region = Region::Function("deposit".to_owned());
        assert!(around.has(&region, Some(&place("deposit"))) && !around.has(&region, Some(&place("main"))));
    }
}
