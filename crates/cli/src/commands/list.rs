//! `threadbare list`: the findings of a folder.

use crate::commands::run::print;
use crate::exit::{Exit, Trouble};
use crate::options::{FOLDER, Format};
use std::path::{Path, PathBuf};
use threadbare_explore::store;
use threadbare_findings::Finding;
use threadbare_report::table::Table;

/// List the findings that earlier campaigns have kept.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The folder with the findings.
    #[arg(long, value_name = "DIR", default_value = FOLDER)]
    out: PathBuf,
    /// How the list is written.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// Does it.
pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    if !args.out.exists() {
        if args.format == Format::Json {
            print("[]\n");
        } else {
            eprintln!("there is no folder `{}`: nothing was found yet", args.out.display());
        }
        return Ok(Exit::Clean);
    }
    let schedules = store::files(&args.out, store::SCHEDULE).map_err(|error| {
        Trouble::usage(
            format!("cannot read the folder `{}`: {error}", args.out.display()),
            "name the folder with `--out DIR`",
        )
    })?;
    let findings: Vec<Finding> = schedules.iter().filter_map(|schedule| read(schedule)).collect();
    if args.format == Format::Json {
        let json = serde_json::to_string_pretty(&findings).unwrap_or_default();
        print(&format!("{json}\n"));
        return Ok(Exit::Clean);
    }
    let mut table = Table::new(["finding", "runs", "place", "message"]);
    for finding in &findings {
        let place = finding.locations.first().and_then(|location| {
            let file = location.file.as_deref()?;
            Some(location.line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}")))
        });
        table.row([
            finding.id.clone(),
            finding.count.to_string(),
            place.unwrap_or_default(),
            finding.message.clone(),
        ]);
    }
    print(&table.to_text());
    Ok(Exit::Clean)
}

/// The finding of a schedule; one that cannot be read is told and left out.
fn read(schedule: &Path) -> Option<Finding> {
    let path = schedule.with_extension("json");
    let told = std::fs::read_to_string(&path)
        .map_err(|error| error.to_string())
        .and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()));
    match told {
        Ok(finding) => Some(finding),
        Err(error) => {
            eprintln!("warning: `{}` is left out: {error}", path.display());
            None
        }
    }
}
