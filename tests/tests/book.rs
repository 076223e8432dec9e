//! The README and every page of the book are followed word for word: what they show is what the tool prints.
//!
//! `THREADBARE_BLESS=1` writes what was printed into the pages, except where a page leaves lines out.

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use threadbare_tests::tool;
use threadbare_tests::transcript::{self, Desk, Part};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // One at a time: a campaign uses all processors.
    arguments.test_threads = Some(1);
    let trials = pages().into_iter().map(|page| {
        let name = page.strip_prefix(tool::root()).unwrap_or(&page).display().to_string();
        Trial::test(name, move || follow(&page).map_err(Failed::from))
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

fn pages() -> Vec<PathBuf> {
    let mut pages = vec![tool::root().join("README.md")];
    let book = std::fs::read_dir(tool::root().join("docs")).expect("the book is there");
    pages.extend(book.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| is_page(path)));
    pages.sort();
    pages
}

fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

fn follow(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let mut parts = transcript::parts(&text);
    let mut desk = Desk::new(&text)?;
    let bless = std::env::var_os("THREADBARE_BLESS").is_some();
    let mut complaints = Vec::new();
    for part in &mut parts {
        let Part::Step(step) = part else { continue };
        let printed = desk.run(&step.command)?;
        if transcript::agree(&step.output, &printed) {
            continue;
        }
        let whole = !step.output.iter().any(|line| line == "…");
        if !(bless && whole) {
            complaints.push(format!("$ {}\n{}", step.command, printed.join("\n")));
        }
        if whole {
            step.output = printed;
        }
    }
    if bless && transcript::page(&parts) != text {
        std::fs::write(path, transcript::page(&parts)).map_err(|error| error.to_string())?;
    }
    if complaints.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{} shows something else than these commands print; THREADBARE_BLESS=1 writes it where no lines are left out\n\n{}",
        path.display(),
        complaints.join("\n\n")
    ))
}
