//! Invariants as text: what is broken first, then what holds, by point.

use super::regions::Tried;
use super::results::{Checked, FirstBroken, Invariant, LeftOut, Results};
use std::collections::BTreeMap;
use std::fmt::Write;
use threadbare_report::Style;
use threadbare_report::text::words::point;

/// Broken statements that are shown in full.
const BROKEN: usize = 6;
/// Other places of a broken statement that are named.
const ALSO: usize = 4;
/// Points that are shown.
const POINTS: usize = 24;

/// The text.
pub(crate) fn text(results: &Results) -> String {
    let mut page = Page { out: String::new(), style: Style::for_stream(&std::io::stdout()) };
    if results.runs > 0 {
        page.line(format_args!(
            "{} by {}: {} passed, {} failed; {}",
            counted(results.runs, "run"),
            results.strategy,
            results.runs_passing,
            results.runs_failing,
            counted(results.variables as u64, "shared variable"),
        ));
    }
    if let Some(grown) = &results.grown {
        page.line(format_args!(
            "with {} of earlier campaigns in {}: {} passed, {} failed",
            counted(grown.runs_passing + grown.runs_failing, "run"),
            grown.file,
            grown.runs_passing,
            grown.runs_failing,
        ));
        if grown.changed > 0 {
            page.line(format_args!(
                "{} with other variables than the file has: left as they are there",
                counted(grown.changed, "point"),
            ));
        }
    }
    if results.runs > 0 && results.variables == 0 {
        let named = "no shared variable has a name and a type: build with `-g`; what containers keep on the heap has none";
        let any = if results.left_out.unnamed > 0 { named } else { "strands share no variable" };
        page.line(format_args!("\n{any}"));
    }
    if results.checked.is_empty() {
        page.broken(results);
        page.regions(&results.regions);
        page.holding(results);
    } else {
        page.checked(&results.checked);
    }
    page.left_out(&results.left_out);
    if let Some(finding) = results.findings.first() {
        page.line(format_args!("\nfailing runs show: {} ({})", finding.message, finding.schedule));
    }
    page.out
}

struct Page {
    out: String,
    style: Style,
}

impl Page {
    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = writeln!(self.out, "{text}");
    }

    fn broken(&mut self, results: &Results) {
        let broken: Vec<&Invariant> = results.invariants.iter().filter(|it| it.broken).collect();
        if broken.is_empty() {
            if results.runs_failing > 0 && results.runs_passing == 0 {
                self.line(format_args!(
                    "\nno run passed, so there is nothing to hold the failing ones against"
                ));
            } else if results.runs_failing > 0 && results.variables > 0 {
                self.line(format_args!("\nfailing runs keep all that the passing ones do"));
            }
            return;
        }
        let head = self.style.strong("kept by passing runs, broken by failing ones");
        self.line(format_args!("\n{head}"));
        let mut shown: Vec<&str> = Vec::new();
        for it in &broken {
            if shown.contains(&it.text.as_str()) {
                continue;
            }
            shown.push(&it.text);
            if shown.len() > BROKEN {
                continue;
            }
            let text = self.style.bad(&it.text);
            self.line(format_args!("\n{}. {text}", shown.len()));
            self.line(format_args!("   at {}", words(it)));
            if let Some(first) = &it.first_broken {
                self.first(first);
            }
            if !it.instead.is_empty() {
                self.line(format_args!("   failing runs keep instead: {}", it.instead.join(", ")));
            }
            let others = broken.iter().filter(|other| other.text == it.text && other.rank != it.rank);
            let others: Vec<String> = others.map(|other| words(other)).collect();
            if !others.is_empty() {
                let more = if others.len() > ALSO { ", …" } else { "" };
                self.line(format_args!("   also at {}{more}", others[..others.len().min(ALSO)].join(", ")));
            }
        }
        if shown.len() > BROKEN {
            self.line(format_args!("\n… and {} more, with `--format json`", shown.len() - BROKEN));
        }
    }

    fn first(&mut self, first: &FirstBroken) {
        let FirstBroken { strand, place, .. } = first;
        let values = pairs(&first.values);
        self.line(format_args!("   strand {strand} at {place}: {values}"));
        if first.came_between {
            self.line(format_args!(
                "   another strand wrote since it began: orig() is what its own write replaced"
            ));
        }
    }

    fn regions(&mut self, regions: &[Tried]) {
        for (kind, head) in
            [("atomic", "made atomic, and run again"), ("order", "put in order, and run again")]
        {
            let all: Vec<&Tried> = regions.iter().filter(|it| it.kind == kind).collect();
            let Some(any) = all.first() else { continue };
            let head = self.style.strong(head);
            self.line(format_args!("\n{head}"));
            for it in &all {
                self.tried(it);
            }
            let without = counted(any.runs_without, "run");
            self.line(format_args!("   without: {} in {without}", any.runs_failed_without));
            if let Some(diff) = all.iter().find_map(|it| it.diff.as_ref()) {
                let head = self
                    .style
                    .strong("the lock that is there, made wider (proposed, not tried and not applied)");
                self.line(format_args!("\n{head}\n{}", diff.trim_end()));
            }
        }
    }

    fn tried(&mut self, it: &Tried) {
        let (first, last) = (it.first_line, it.last_line);
        let what = match &it.before {
            Some((first, second)) => format!("{first} before {second}"),
            None => {
                let rest =
                    it.together.iter().map(|with| (with.file.as_str(), with.first_line, with.last_line));
                let all = std::iter::once((it.file.as_str(), first, last)).chain(rest);
                all.map(lines).collect::<Vec<_>>().join(" and ")
            }
        };
        let failures = if it.runs_failed == 1 { "failure" } else { "failures" };
        let came = match it.outcome {
            "removes" if it.complete => ": every order that makes a difference was run",
            "removes" => "",
            "deadlocks" => ": strands wait for each other then",
            _ => ": it does not help",
        };
        let runs = counted(it.runs, "run");
        self.line(format_args!("   {what}: {} {failures} in {runs}{came}", it.runs_failed));
    }

    fn holding(&mut self, results: &Results) {
        let mut last = None;
        let (mut points, mut more) = (0, 0);
        for it in results.invariants.iter().filter(|it| !it.broken) {
            if last != Some(&it.name) {
                last = Some(&it.name);
                points += 1;
                if points == 1 {
                    let head = self.style.strong("kept by all passing runs");
                    self.line(format_args!("\n{head}"));
                }
                if points <= POINTS {
                    self.line(format_args!("\n{}", it.name));
                }
            }
            if points <= POINTS {
                self.line(format_args!("    {}", it.text));
            } else {
                more += 1;
            }
        }
        if more > 0 {
            self.line(format_args!(
                "\n… and {more} more of {} points, with `--format json`",
                points - POINTS
            ));
        }
    }

    fn checked(&mut self, lines: &[Checked]) {
        self.line(format_args!(""));
        for it in lines.iter().filter(|it| it.fate != "holds") {
            let fate = self.style.bad(it.fate);
            self.line(format_args!("{fate}, line {}: {}  {}", it.line, it.point, it.text));
            let mut more = vec![it.why.clone(), pairs(&it.values), it.schedule.clone()];
            more.retain(|part| !part.is_empty());
            if !more.is_empty() {
                self.line(format_args!("    {}", more.join("; ")));
            }
        }
        let holds = lines.iter().filter(|it| it.fate == "holds").count();
        self.line(format_args!("{holds} of {} kept statements hold", lines.len()));
    }

    fn left_out(&mut self, left: &LeftOut) {
        let counts = [
            (left.unnamed, "shared places of heap and stacks that have no name"),
            (left.doubtful, "shared places whose type is in doubt"),
            (left.parameters, "parameters that are optimised away"),
            (left.returns, "return values that come in several parts"),
            (left.beyond, "shared variables beyond the bound"),
            (left.runs, "runs that could not be made again"),
            (left.accesses, "accesses of long runs"),
        ];
        let said: Vec<String> = counts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        if !said.is_empty() {
            self.line(format_args!("\nleft out: {}", said.join(", ")));
        }
    }
}

/// Where a statement stands.
fn words(it: &Invariant) -> String {
    match it.lines {
        None if it.function.is_empty() => it.name.clone(),
        lines => point(it.side, lines, &it.place, &it.function),
    }
}

fn pairs(values: &BTreeMap<String, String>) -> String {
    let all: Vec<String> = values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    all.join(", ")
}

fn lines((file, first, last): (&str, u32, u32)) -> String {
    if first == last { format!("{file} line {first}") } else { format!("{file} lines {first}-{last}") }
}

fn counted(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
