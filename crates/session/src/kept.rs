//! Campaigns that are kept in the folder of findings: beginning one, and going on with one.
//!
//! A campaign's file is named after the program and everything that decides which runs are made, so the same command has
//! the same file, and another command another one: campaigns of several programs share a folder.

use crate::observer::Observer;
use crate::places::program_id;
use crate::runtime;
use crate::trouble::Trouble;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use threadbare_explore::Error;
use threadbare_explore::campaign::Config;
use threadbare_explore::journal::{self, CAMPAIGN, Journal, Overview, Session};
use threadbare_explore::server::Target;
use threadbare_explore::store::{self, Store};
use threadbare_findings::Suppressions;
use threadbare_report::text::counted;
use threadbare_toolchain::{Environment, check_program};
use threadbare_trace::hash::Fnv;

/// A campaign that goes on.
#[derive(Debug)]
pub struct Resumed {
    /// What it is to do.
    pub config: Config,
    /// What nobody wants to hear of.
    pub suppressions: Arc<Suppressions>,
    /// What it has done.
    pub journal: Journal,
}

/// Who knows what the words mean that a campaign was begun with: its options, first those it had, then those that are given now.
pub type Reader<'a> = dyn Fn(Vec<OsString>, Target) -> Result<(Config, Arc<Suppressions>), Trouble> + 'a;

/// The journal of a new campaign; none if the folder has no room for it.
pub fn begin(
    store: &Store,
    config: &Config,
    suppressions: &Suppressions,
    given: &[OsString],
    observer: &mut dyn Observer,
) -> Result<Option<Journal>, Trouble> {
    let session = session(config, suppressions, given)?;
    let path = store.folder().join(file_name(config, session.identity));
    let earlier = path.exists().then(|| journal::overview(&path).ok()).flatten();
    let journal = match Journal::create(&path, &session) {
        Ok(journal) => Some(journal),
        Err(Error::Journal { why, .. }) => {
            let path = path.display();
            observer.warning(&format!(
                "the campaign cannot be kept in `{path}` ({why}): it is made without `--resume`"
            ));
            None
        }
        Err(error) => return Err(error.into()),
    };
    if let Some(earlier) =
        earlier.filter(|earlier| earlier.close.is_none() && standing(earlier) == Standing::Open)
    {
        let runs = counted(earlier.runs, "run");
        observer.warning(&format!(
            "this campaign was ended after {runs} and is begun anew; `threadbare run --resume` would have gone on"
        ));
    }
    for other in others_under_way(store.folder(), &path) {
        let process = other.under_way.flatten().map(|id| format!(" (process {id})")).unwrap_or_default();
        observer.warning(&format!(
            "a campaign of `{}` is under way in this folder{process}; both keep their findings in it",
            other.first().program.display()
        ));
    }
    Ok(journal)
}

/// The journal of one test of many: without it, `--resume` begins the test anew. So it does where another process makes the same.
pub fn begin_quietly(
    store: &Store,
    config: &Config,
    suppressions: &Suppressions,
    given: &[OsString],
) -> Option<Journal> {
    let session = session(config, suppressions, given).ok()?;
    Journal::create(&store.folder().join(file_name(config, session.identity)), &session).ok()
}

/// The campaign of a test, if there is one that can go on.
pub fn resume_if_any(
    folder: &Path,
    command: &Target,
    given: &[OsString],
    reader: &Reader<'_>,
    observer: &mut dyn Observer,
) -> Option<Resumed> {
    resume(folder, "", Some(command), given, reader, observer).ok()
}

/// The journal of a campaign that goes on, and is known.
pub fn resume_same(
    store: &Store,
    config: &Config,
    suppressions: &Suppressions,
    observer: &mut dyn Observer,
) -> Result<Resumed, Trouble> {
    let id = file_name(config, identity(config, suppressions));
    let id = id.trim_end_matches(CAMPAIGN).trim_end_matches('.');
    let suppressions = Arc::new(suppressions.clone());
    let reader = |_: Vec<OsString>, _: Target| Ok((config.clone(), Arc::clone(&suppressions)));
    resume(store.folder(), id, None, &[], &reader, observer)
}

fn others_under_way(folder: &Path, own: &Path) -> Vec<Overview> {
    let files = store::files(folder, CAMPAIGN).unwrap_or_default();
    let others = files.iter().filter(|path| *path != own);
    others.filter_map(|path| journal::overview(path).ok()).filter(|it| it.under_way.is_some()).collect()
}

/// Opens the campaign that is meant and reads its options; what is given now counts besides.
pub fn resume(
    folder: &Path,
    id: &str,
    command: Option<&Target>,
    given: &[OsString],
    reader: &Reader<'_>,
    observer: &mut dyn Observer,
) -> Result<Resumed, Trouble> {
    let path = find(folder, id, command)?;
    let (mut journal, overview) = Journal::resume(&path)?;
    if overview.damaged > 0 {
        observer.warning(&format!(
            "the last {} of `{}` are damaged and left out: the campaign goes on after {}",
            counted(overview.damaged, "byte"),
            path.display(),
            counted(overview.runs, "run"),
        ));
    }
    let first = overview.first();
    let target = target(first)?;
    let saved = overview.sessions.iter().flat_map(|session| session.options.iter().cloned());
    let (mut config, suppressions) = reader(saved.chain(given.iter().cloned()).collect(), target)?;
    // Runs that were made are not taken back.
    config.runs = config.runs.map(|runs| runs.max(overview.runs));
    let session = session(&config, &suppressions, given)?;
    check(first, &session)?;
    observer.target("resuming", &config.target);
    tell_what_is_left(&overview, &config, observer);
    journal.add_session(&session);
    Ok(Resumed { config, suppressions, journal })
}

/// Sees that the runs will be the ones that an uninterrupted campaign would have made.
fn check(first: &Session, now: &Session) -> Result<(), Trouble> {
    let anew =
        "begin it anew with `threadbare run -- PROG ARGS`; `--regress` replays the kept findings first";
    if first.program_id != now.program_id {
        return Err(Trouble::usage(
            format!(
                "the campaign is of another build of `{}`: it has {}, the program is {}",
                now.program.display(),
                first.program_id,
                now.program_id
            ),
            anew,
        ));
    }
    if first.tool != now.tool {
        return Err(Trouble::usage(
            format!("the campaign was made by {}, this is {}: its runs may be others", first.tool, now.tool),
            anew,
        ));
    }
    if first.identity != now.identity {
        return Err(Trouble::usage(
            "with these options it would be another campaign, with other runs",
            "`--runs`, `--time`, `--until`, `--until-coverage`, `--jobs`, `--keep-going` and `--format` may be given with `--resume`; for the others \
             begin a new one",
        ));
    }
    Ok(())
}

fn tell_what_is_left(overview: &Overview, config: &Config, observer: &mut dyn Observer) {
    let Some(close) = &overview.close else { return };
    let more = match close.ended_by.as_str() {
        "failure" if !config.keep_going => "--keep-going",
        "runs" if config.runs.is_some_and(|runs| runs <= overview.runs) => "--runs N",
        "until" if config.until.is_some() => "--until CHANCE",
        "coverage" if config.goal.is_some() => "--until-coverage SHARE",
        "time" if config.time.is_some_and(|time| time <= overview.elapsed) => "--time TIME",
        _ => return,
    };
    let runs = counted(overview.runs, "run");
    observer.warning(&format!("the campaign is complete after {runs}; `--resume {more}` makes it go on"));
}

/// Whether a campaign can go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// It was ended before its time.
    Open,
    /// It can, with this option.
    Complete(&'static str),
    /// There is no other run to make.
    Exhausted,
    /// Somebody is making it.
    UnderWay,
    /// The program is another one now.
    OtherBuild,
    /// The program is gone.
    NoProgram,
    /// Another version of the tool made it.
    OtherTool,
}

impl Standing {
    /// Whether `--resume` does something, with an option more if need be.
    pub fn can_resume(self) -> bool {
        matches!(self, Standing::Open | Standing::Complete(_))
    }

    /// The same in words.
    pub fn words(self) -> String {
        match self {
            Standing::Open => "yes".to_owned(),
            Standing::Complete(option) => format!("with {option}"),
            Standing::Exhausted => "no: all made".to_owned(),
            Standing::UnderWay => "under way".to_owned(),
            Standing::OtherBuild => "no: other build".to_owned(),
            Standing::NoProgram => "no: program gone".to_owned(),
            Standing::OtherTool => "no: other version".to_owned(),
        }
    }
}

/// Whether a campaign can go on, as it stands in its folder.
pub fn standing(overview: &Overview) -> Standing {
    let first = overview.first();
    if overview.under_way.is_some() {
        return Standing::UnderWay;
    }
    if first.tool != runtime::tool() {
        return Standing::OtherTool;
    }
    match program_id(&first.program) {
        Err(_) => return Standing::NoProgram,
        Ok(id) if id != first.program_id => return Standing::OtherBuild,
        Ok(_) => {}
    }
    match overview.close.as_ref().map(|close| close.ended_by.as_str()) {
        Some("runs") => Standing::Complete("--runs"),
        Some("time") => Standing::Complete("--time"),
        Some("until") => Standing::Complete("--until"),
        Some("coverage") => Standing::Complete("--until-coverage"),
        Some("complete") => Standing::Exhausted,
        Some("failure") => Standing::Complete("--keep-going"),
        _ => Standing::Open,
    }
}

/// The journal that is meant.
fn find(folder: &Path, id: &str, command: Option<&Target>) -> Result<PathBuf, Trouble> {
    let shown = folder.display();
    let list = "`threadbare list` shows the campaigns of a folder; `--out DIR` names another one";
    if !id.is_empty() {
        let path = folder.join(id).with_extension(CAMPAIGN);
        return match path.is_file() && Path::new(id).components().count() == 1 {
            true => Ok(path),
            false => Err(Trouble::usage(format!("there is no campaign `{id}` in `{shown}`"), list)),
        };
    }
    let mut files = store::files(folder, CAMPAIGN).unwrap_or_default();
    files.sort_by_key(|path| std::fs::metadata(path).and_then(|it| it.modified()).unwrap_or(UNIX_EPOCH));
    let Some(command) = command else {
        return files
            .pop()
            .ok_or_else(|| Trouble::usage(format!("there is no campaign to go on with in `{shown}`"), list));
    };
    let same = |overview: &Overview| {
        let first = overview.first();
        (&first.program, &first.args, &first.cwd) == (&command.program, &command.args, &command.cwd)
    };
    let mut newest_first = files.iter().rev().filter_map(|path| journal::overview(path).ok());
    newest_first.find(same).map(|overview| overview.path).ok_or_else(|| {
        let program = command.program.display();
        Trouble::usage(format!("there is no campaign of `{program}` with these arguments in `{shown}`"), list)
    })
}

fn target(session: &Session) -> Result<Target, Trouble> {
    let env = Environment::of_process();
    check_program(&session.program, &env)?;
    let mut target = Target::new(session.program.clone(), session.args.clone());
    target.arg0.clone_from(&session.arg0);
    target.env.clone_from(&session.env);
    target.cwd.clone_from(&session.cwd);
    target.stdin.clone_from(&session.stdin);
    target.runtime = Some(runtime::library(&env)?);
    if !target.cwd.is_dir() {
        return Err(Trouble::usage(
            format!("the folder of the campaign's runs is gone: `{}`", target.cwd.display()),
            "make it again, or begin a new campaign",
        ));
    }
    Ok(target)
}

fn session(config: &Config, suppressions: &Suppressions, given: &[OsString]) -> Result<Session, Trouble> {
    let target = &config.target;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(Session {
        tool: runtime::tool(),
        identity: identity(config, suppressions),
        program: target.program.clone(),
        program_id: program_id(&target.program)?,
        arg0: target.arg0.clone(),
        args: target.args.clone(),
        env: target.env.clone(),
        cwd: target.cwd.clone(),
        stdin: target.stdin.clone(),
        options: given.to_vec(),
        began: now.as_secs(),
    })
}

/// A hash of all that decides which runs are made. How many, for how long and by how many jobs does not.
fn identity(config: &Config, suppressions: &Suppressions) -> u64 {
    let mut target = Target::clone(&config.target);
    target.runtime = None;
    let same = Config {
        target: Arc::new(target),
        runs: None,
        time: None,
        jobs: 0,
        keep_going: false,
        ends_complete: false,
        until: None,
        goal: None,
        earlier: None,
        taker: None,
        shrink: None,
        filter: None,
        ..config.clone()
    };
    let mut hash = Fnv::new();
    hash.write(format!("{same:?} {suppressions:?}").as_bytes());
    hash.finish()
}

fn file_name(config: &Config, identity: u64) -> String {
    let name = config.target.program.file_name().unwrap_or_default().to_string_lossy();
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
    let name: String = name.chars().map(plain).take(40).collect();
    format!("{name}-{:08x}.{CAMPAIGN}", (identity ^ (identity >> 32)) as u32)
}
