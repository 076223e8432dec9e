//! Inputs as files: what the program reads, and the corpus that later campaigns start from.

use super::results::Outcome;
use crate::exit::Trouble;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use threadbare_explore::server::Target;
use threadbare_explore::store::Store;
use threadbare_inputs::template::Rendered;
use threadbare_inputs::{Input, Template};

/// The folder of inputs within a campaign's, and its files.
const FOLDER: &str = "inputs";
const FILE: &str = "corpus.json";
const FORMAT_VERSION: u32 = 1;
/// Inputs of a corpus that are kept, the latest.
const MOST: usize = 500;

fn cannot(what: &str, error: &std::io::Error) -> Trouble {
    Trouble::usage(format!("cannot {what}: {error}"), "check the folder of `--out` and its permissions")
}

/// The folder of files that inputs are made of.
fn folder(store: &Store) -> PathBuf {
    let folder = store.folder().join(FOLDER).join("files");
    std::path::absolute(&folder).unwrap_or(folder)
}

/// The program with an input.
pub(super) fn target(
    base: &Target,
    template: &Template,
    input: &Input,
    store: &Store,
) -> Result<Target, Trouble> {
    let folder = folder(store);
    let Rendered { args, stdin, env, mut files } = template.render(input, &folder.to_string_lossy());
    let mut target = base.clone();
    target.choices = template.own(input).unwrap_or(0);
    if let Some(content) = stdin {
        let name = Rendered::name_of(&content);
        target.stdin = Some(folder.join(&name));
        files.push((name, content));
    }
    if !files.is_empty() {
        std::fs::create_dir_all(&folder).map_err(|error| cannot("make the folder for inputs", &error))?;
    }
    for (name, content) in files {
        let path = folder.join(name);
        if !path.exists() {
            std::fs::write(&path, content).map_err(|error| cannot("write an input", &error))?;
        }
    }
    // Neither an argument nor a variable can have a zero byte.
    let text = |bytes: Vec<u8>| OsString::from_vec(bytes.into_iter().filter(|&byte| byte != 0).collect());
    target.args = args.into_iter().map(text).collect();
    for (name, value) in env {
        target.env.retain(|(other, _)| *other != *name);
        target.env.push((name.into(), text(value)));
    }
    Ok(target)
}

/// The file.
#[derive(Serialize, Deserialize)]
struct Kept {
    format_version: u32,
    entries: Vec<Entry>,
}

/// An input that had something new.
#[derive(Clone, Serialize, Deserialize)]
struct Entry {
    /// The texts of its template.
    template: Vec<String>,
    /// In words.
    words: String,
    values: Input,
    /// Iroots that no earlier test had shown.
    new: usize,
    /// What it found.
    findings: Vec<String>,
}

/// The inputs that earlier campaigns of a folder had use for.
pub(crate) struct Corpus {
    entries: Vec<Entry>,
}

impl Corpus {
    /// Reads the corpus of a folder; one that cannot be read is begun anew.
    pub(crate) fn open(store: &Store) -> Result<Corpus, Trouble> {
        let path = store.folder().join(FOLDER).join(FILE);
        let entries = match threadbare_explore::files::read_text(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(cannot(&format!("read `{}`", path.display()), &error)),
            Ok(text) => match serde_json::from_str::<Kept>(&text) {
                Ok(kept) if kept.format_version == FORMAT_VERSION => kept.entries,
                _ => {
                    return Err(Trouble::usage(
                        format!("`{}` is no corpus of this Threadbare", path.display()),
                        "move it away, and the next campaign begins a new one",
                    ));
                }
            },
        };
        Ok(Corpus { entries })
    }

    /// The inputs of a template, the last first.
    pub(crate) fn of(&self, template: &Template) -> Vec<Input> {
        let mine = |entry: &&Entry| entry.template == template.texts && template.takes(&entry.values);
        self.entries.iter().rev().filter(mine).map(|entry| entry.values.clone()).collect()
    }

    /// Adds the inputs that had something new.
    pub(super) fn keep(
        mut self,
        outcome: &Outcome,
        store: &Store,
        template: &Template,
    ) -> Result<(), Trouble> {
        let known = outcome.by_id();
        let mut add = |values: &Input, words: &str, new: usize, findings: Vec<String>| {
            let same = |entry: &Entry| entry.values == *values && entry.template == template.texts;
            self.entries.retain(|entry| !same(entry));
            let (template, words) = (template.texts.clone(), words.to_owned());
            self.entries.push(Entry { template, words, values: values.clone(), new, findings });
        };
        for test in outcome.tests.iter().filter(|test| test.new > 0 || !test.findings.is_empty()) {
            add(&test.input, &test.words, test.new, test.findings.clone());
        }
        for shown in known.values().filter(|shown| shown.shrunk_from.is_some()) {
            add(&shown.input, &shown.words, 0, vec![shown.finding.id.clone()]);
        }
        if self.entries.is_empty() {
            return Ok(());
        }
        let old = self.entries.len().saturating_sub(MOST);
        self.entries.drain(..old);
        let kept = Kept { format_version: FORMAT_VERSION, entries: self.entries };
        let text = serde_json::to_vec_pretty(&kept).unwrap_or_default();
        Store::open(store.folder().join(FOLDER))?.write(FILE, &text)?;
        Ok(())
    }
}
