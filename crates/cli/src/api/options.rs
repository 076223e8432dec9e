//! What both commands take.

use super::{Judging, Language, Results, Wishes, campaign};
use crate::exit::{Exit, Trouble};
use crate::generate::Atomic;
use crate::options::CampaignOptions;
use crate::output::ReportFormat;
use crate::{conduct, hide, said, values};
use std::path::{Path, PathBuf};
use std::time::Duration;
use threadbare_api::{LeftOut, Recipes, Test};
use threadbare_explore::campaign::Config;
use threadbare_explore::interrupt;
use threadbare_explore::server::Target;
use threadbare_explore::store::Store;
use threadbare_report::Screen;

/// Tests unless told otherwise.
const TESTS: usize = 60;
/// Runs of each test unless told otherwise.
const RUNS: u64 = 200;
/// How long failing tests are made smaller.
const SMALLER: Duration = Duration::from_secs(90);
/// Recipes that are found by themselves.
pub(crate) const RECIPES: &str = "threadbare-recipes.toml";

/// Options of tests over an API.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct ApiOptions {
    #[command(flatten)]
    pub(crate) campaign: CampaignOptions,
    /// The most tests [default: 60; of an API with `--time` as many as there is time for].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::between::<usize>(1, u64::MAX))]
    pub(crate) max: Option<usize>,
    /// Only tests that call a function with this in its name; of a program, `*` stands for anything. May be given several times.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) function: Vec<String>,
    /// A file with recipes [default: threadbare-recipes.toml if there is one].
    #[arg(long, value_name = "FILE")]
    pub(crate) recipe: Option<PathBuf>,
    /// Calls that give or leave what they do in no order, one after the other: told (`note`), or a failure (`fail`).
    #[arg(long, value_enum, default_value = "note")]
    pub(crate) atomic: Atomic,
}

impl ApiOptions {
    /// The most tests that are drawn at a time.
    pub(crate) fn most(&self) -> usize {
        self.max.unwrap_or(TESTS)
    }

    /// The recipes.
    pub(crate) fn recipes(&self) -> Result<Recipes, Trouble> {
        let path = match &self.recipe {
            Some(path) => path.clone(),
            None if Path::new(RECIPES).exists() => PathBuf::from(RECIPES),
            None => return Ok(Recipes::default()),
        };
        let shown = path.display().to_string();
        let text = threadbare_explore::files::read_text(&path)
            .map_err(|error| conduct::cannot(&format!("read `{shown}`"), &error))?;
        Recipes::read(&text).map_err(|(line, why)| {
            Trouble::usage(
                format!("{shown}:{line}: {why}"),
                "a recipe is `[Type]` and `make = \"EXPRESSION\"`",
            )
        })
    }

    /// Refuses what does not go together.
    pub(crate) fn check(&self) -> Result<(), Trouble> {
        self.campaign.check()?;
        if self.campaign.mode == crate::options::Mode::Free {
            return Err(Trouble::usage(
                "generated tests are judged under control",
                "leave out `--mode free`",
            ));
        }
        if !self.campaign.format.tells_all() {
            return Err(Trouble::usage("`generate` writes text or JSON", "`--format json`"));
        }
        Ok(())
    }

    /// Judges tests, and tells what came of it.
    pub(crate) fn conduct(
        &self,
        language: &dyn Language,
        (tests, left_out): (Vec<Test>, Vec<LeftOut>),
        more: &mut dyn FnMut(u64) -> Vec<Test>,
    ) -> Result<Exit, Trouble> {
        interrupt::watch().map_err(|error| conduct::cannot("watch for signals", &error))?;
        let suppressions = hide::read(&self.campaign.suppressions)?;
        let store = Store::open(&self.campaign.out)?;
        let folder = self.campaign.out.join("generate");
        let scratch = Store::open(&folder)?;
        let runs = self.campaign.runs.unwrap_or(RUNS);
        let config = |target: Target| Config { runs: Some(runs), time: None, ..self.campaign.config(target) };
        let atomic_fails = self.atomic == Atomic::Fail;
        let mut judge = Judging {
            config: &config,
            store: &store,
            scratch: &scratch,
            suppressions: &suppressions,
            atomic_fails,
            runs: 0,
        };
        let shrink = self.campaign.shrink.0.map(|_| SMALLER);
        let wishes = Wishes {
            atomic_fails,
            time: self.campaign.time,
            goes_on: self.max.is_none(),
            keep_going: self.campaign.keep_going,
            shrink,
        };
        let results = campaign(language, (tests, left_out), more, &mut judge, &wishes)?;
        // What findings need is the file with the orders; all else there was for looking.
        tidy(&folder, &results);
        let results = Results { atomic_fails, seed: self.campaign.seed, ..results };
        match self.campaign.format {
            ReportFormat::Json => said::json(&results.to_json())?,
            _ => said::text(&results.to_text(Screen::for_stream(&std::io::stdout())))?,
        }
        Ok(Exit::of(results.has_failed(), results.rows.is_empty()))
    }
}

/// Removes what was only looked at.
fn tidy(folder: &Path, results: &Results) {
    if results.findings.is_empty() {
        // A folder of ours, with nothing but ours in it.
        let _ = std::fs::remove_dir_all(folder);
        return;
    }
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let program = results.program.as_deref().and_then(Path::file_name);
        let needed = name.starts_with("orders-") || name == "tests.c" || program == Some(&entry.file_name());
        if !needed {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
