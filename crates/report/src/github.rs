//! Findings as annotations of GitHub's workflow runs: a line for each place, which the site shows beside the source.

use crate::columns::is_unsafe;
use crate::marks;
use crate::sarif::Shown;
use crate::text::{replay_command, sentence};
use crate::uri::relative;
use std::fmt::Write;
use std::path::Path;
use threadbare_findings::Severity;

/// The findings as workflow commands; files below `folder` are named relative to it.
pub fn github(findings: &[Shown<'_>], folder: &Path) -> String {
    let mut out = String::new();
    for shown in findings {
        let finding = shown.finding;
        let test = shown.test.map(|test| format!(" in {test}")).unwrap_or_default();
        let command = if finding.severity == Severity::Note { "notice" } else { "error" };
        let title = property(&format!("{}{test}", finding.kind));
        let notes: String = finding.notes.iter().map(|note| format!("\n{note}")).collect();
        let whole = format!("{}{notes}\nreplay: {}", sentence(finding), replay_command(&finding.schedule));
        let marks = marks::all(finding);
        if marks.is_empty() {
            let _ = writeln!(out, "::{command} title={title}::{}", data(&whole));
        }
        for (index, mark) in marks.iter().enumerate() {
            let file = relative(&mark.file, folder).unwrap_or_else(|| mark.file.clone());
            let column = mark.column.map(|column| format!(",col={column}")).unwrap_or_default();
            let text = if index == 0 { format!("{}\n{whole}", mark.label) } else { mark.label.clone() };
            let _ = writeln!(
                out,
                "::{command} file={},line={}{column},title={title}::{}",
                property(&file),
                mark.line,
                data(&text)
            );
        }
    }
    out
}

/// The text of a command, in one line.
fn data(text: &str) -> String {
    let kept = |c: char| if is_unsafe(c) && !"\r\n\t".contains(c) { '\u{fffd}' } else { c };
    let text: String = text.chars().map(kept).collect();
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn each_place_is_an_annotation() {
        let findings = [samples::race(), samples::crash(), samples::deadlock()];
        let shown: Vec<Shown<'_>> = findings.iter().map(|finding| Shown { finding, test: None }).collect();
        insta::assert_snapshot!(github(&shown, Path::new("/home/me/bank")));
    }

    #[test]
    fn nothing_ends_a_command_early() {
        let mut finding = samples::assertion();
        finding.message = "100%\r\n::error::no \u{1b}[2J".into();
        finding.locations[0].file = Some("/home/me/a,b:c.c".into());
        let text = github(&[Shown { finding: &finding, test: Some("a,b") }], Path::new("/home/me"));
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.starts_with("::error file=a%2Cb%3Ac.c,line=31,title=assertion in a%2Cb::"), "{text}");
        assert!(text.contains("100%25%0D%0A::error::no"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
}
