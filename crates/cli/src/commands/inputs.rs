//! `threadbare inputs`: which input is tested next, by the interleavings that it makes possible.

use crate::commands::run;
use crate::exit::{Exit, Trouble, chain};
use crate::inputs::files::Corpus;
use crate::inputs::results::{Outcome, Repeated, Shown};
use crate::inputs::{self, Plan, Stop, plot};
use crate::options::CampaignOptions;
use crate::output::ReportFormat;
use crate::{conduct, coverage, hide, said, values};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use threadbare_explore::campaign::Config;
use threadbare_explore::server::Target;
use threadbare_explore::store::Store;
use threadbare_explore::{files, interrupt};
use threadbare_findings::Finding;
use threadbare_idioms::{IDIOMS, Limits};
use threadbare_inputs::{Input, Policy, Rng, Template, regressions};
use threadbare_report::{CampaignReport, Screen, campaign};

const EXAMPLES: &str = "\
Examples:
  threadbare inputs -- ./prog '{x:int(-100..100)}' '{mode:one-of(fast,slow)}'
  threadbare inputs --stdin '{s:string(0..20)}' --time 1m -- ./prog
  threadbare inputs -- ./prog '{f:file(fuzz/corpus/parse)}' '{v:flag(--verbose)}'
  threadbare inputs --policy art2 --stop distance --format json -- ./prog '{x:int(0..9)}'

A hole is {NAME:KIND(WHAT)}: int(LOW..HIGH), one-of(A,B), flag(TEXT), string(0..20),
bytes(0..20), corpus(DIR), grammar(FILE), file(DIR), file(0..20), file(grammar(FILE))
or file(TEMPLATE). Without a hole the program's own choices are its input.";

/// How the next input is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Choose {
    /// The one with the most interleavings that no test has shown.
    Art1,
    /// The same, within the fewest inputs that have all of them.
    Art2,
    /// Any.
    Random,
}

/// Choose a program's inputs by the interleavings they make possible, and test each.
///
/// Candidates are drawn and run once to see which interleavings (iroots) each could show; the one
/// with the most that no test has shown is tested by runs that force them. What fails is kept with
/// its input and its schedule together, the input as small as it gets.
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES, override_usage = "threadbare inputs [OPTIONS] -- PROG ARGS...")]
pub(crate) struct Args {
    #[command(flatten)]
    campaign: CampaignOptions,
    /// How the next input is chosen.
    #[arg(long, value_enum, default_value = "art1")]
    policy: Choose,
    /// Candidates at a time.
    #[arg(long, value_name = "N", default_value_t = 7, allow_negative_numbers = true, value_parser = values::between::<u16>(1, 200))]
    candidates: u16,
    /// When it ends by itself.
    #[arg(long, value_enum, default_value = "limit")]
    stop: Stop,
    /// The most tests.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::between::<u64>(1, u64::MAX))]
    tests: Option<u64>,
    /// Force all iroots of an input, not only those that no test has shown.
    #[arg(long)]
    retest: bool,
    /// The highest idiom that is looked at.
    #[arg(long, value_name = "1-6", default_value_t = IDIOMS as u8, allow_negative_numbers = true, value_parser = values::between::<u8>(1, 6))]
    idioms: u8,
    /// A template of what the program reads as its standard input.
    #[arg(long, value_name = "TEMPLATE")]
    stdin: Option<String>,
    /// A template of a variable of the environment. May be given several times.
    #[arg(long, value_name = "NAME=TEMPLATE")]
    env: Vec<String>,
    /// What the program itself asks for (`choose`, `any`) belongs to the input; so it does where nothing has a hole.
    #[arg(long)]
    choices: bool,
    /// Begin with the values of a file of proptest's regressions, by the names of the holes.
    #[arg(long, value_name = "FILE")]
    regressions: Vec<PathBuf>,
    /// Findings keep the input they were found with.
    #[arg(long)]
    keep_input: bool,
    /// Draw the iroots shown against tests into this file, as SVG; with `--compare` for each policy.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Make the campaign with each policy.
    #[arg(long, conflicts_with = "repeat")]
    compare: bool,
    /// Make so many complete campaigns, with seeds one after another, and tell their means.
    #[arg(long, value_name = "N", hide = true, value_parser = values::between::<u64>(1, u64::MAX))]
    repeat: Option<u64>,
    /// The program and its arguments, each a template.
    #[arg(value_name = "PROG ARGS", required = true, trailing_var_arg = true)]
    command: Vec<OsString>,
}

/// Runs, profiles included, unless told otherwise.
const RUNS: u64 = 5000;

/// Does it.
pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    args.campaign.check()?;
    let template = template(args)?;
    let target = run::target(&args.command[..1])?;
    interrupt::watch().map_err(|error| conduct::cannot("watch for signals", &error))?;
    let config = args.campaign.config(target);
    if !config.target.mode.makes_choices() {
        return Err(Trouble::usage("free runs do not tell what they do", "leave out `--mode free`"));
    }
    if !args.campaign.format.tells_all() {
        return Err(Trouble::usage(
            "`inputs` writes text or JSON",
            "`threadbare report --format sarif` writes its findings in other forms",
        ));
    }
    let suppressions = hide::read(&args.campaign.suppressions)?;
    let store = Store::open(&args.campaign.out)?;
    let mut plan = plan(args, template)?;
    // Whether it can be written is to be known before the campaign.
    draw(args.plot.as_deref(), &[])?;
    if let Some(count) = args.repeat {
        return repeat(&plan, &config, &store, &suppressions, count);
    }
    // Each policy begins with the same ones.
    plan.earlier = Corpus::open(&store)?.of(&plan.template);
    let policies = if args.compare { Policy::ALL.to_vec() } else { vec![plan.policy] };
    let mut outcomes: Vec<Outcome> = Vec::new();
    for policy in policies {
        let plan = Plan { policy, ..plan.clone() };
        outcomes.push(inputs::campaign(&plan, &config, &store, &suppressions)?);
    }
    for outcome in &mut outcomes {
        finish(outcome, &plan.template.texts, &config, &store);
    }
    say(&outcomes, &plan.template, args.campaign.format)?;
    let lines: Vec<(&str, &[u64])> =
        outcomes.iter().map(|outcome| (outcome.policy, &outcome.curve[..])).collect();
    draw(args.plot.as_deref(), &lines)?;
    let failed = outcomes.iter().any(Outcome::has_failed);
    Ok(Exit::of(failed, outcomes.iter().any(|outcome| outcome.ignores || outcome.tests.is_empty())))
}

/// Draws the picture, if there is to be one.
fn draw(path: Option<&Path>, lines: &[(&str, &[u64])]) -> Result<(), Trouble> {
    let Some(path) = path else { return Ok(()) };
    std::fs::write(path, plot::svg(lines))
        .map_err(|error| conduct::cannot(&format!("write `{}`", path.display()), &error))
}

/// Reads the templates.
fn template(args: &Args) -> Result<Template, Trouble> {
    let mut template = Template::default();
    let wrong = |error: threadbare_inputs::TemplateError| {
        Trouble::usage(
            format!("the template {error}"),
            "a hole is `{NAME:KIND(WHAT)}`, such as `{x:int(-100..100)}`; `threadbare inputs --help` has the kinds",
        )
    };
    for arg in &args.command[1..] {
        let text = arg.to_str().ok_or_else(|| {
            Trouble::usage(
                format!("the template `{}` is not UTF-8", arg.to_string_lossy()),
                "use a file for such bytes",
            )
        })?;
        template.arg(text).map_err(wrong)?;
    }
    if let Some(text) = &args.stdin {
        template.set_stdin(text).map_err(wrong)?;
    }
    for text in &args.env {
        template.variable(text).map_err(wrong)?;
    }
    if template.is_fixed() || args.choices {
        template.choose_own();
    }
    Ok(template)
}

fn plan(args: &Args, template: Template) -> Result<Plan, Trouble> {
    let options = &args.campaign;
    let policy = match args.policy {
        Choose::Art1 => Policy::Art1,
        Choose::Art2 => Policy::Art2,
        Choose::Random => Policy::Random,
    };
    let mut first: Vec<Input> = Vec::new();
    let otherwise = template.draw(&mut Rng::new(options.seed));
    for path in &args.regressions {
        let unfit = |why| {
            Trouble::usage(
                why,
                "such a file has lines `cc SEED # shrinks to x = 5`, in a folder `proptest-regressions`",
            )
        };
        if !path.is_dir() {
            files::read(path).map_err(|why| unfit(format!("cannot read `{}`: {why}", path.display())))?;
        }
        let cases = regressions::read(path).map_err(unfit)?;
        let inputs: Vec<Input> = cases.iter().filter_map(|case| template.of_case(case, &otherwise)).collect();
        if inputs.is_empty() {
            let (mut names, path) = (regressions::names(&cases), path.display());
            names.truncate(8);
            conduct::warn(&format!(
                "no hole takes a value of `{path}`, which has values for: {}",
                names.join(", ")
            ));
        }
        first.extend(inputs);
    }
    Ok(Plan {
        template,
        policy,
        candidates: usize::from(args.candidates),
        stop: args.stop,
        runs: options.runs.unwrap_or(if options.time.is_some() { u64::MAX } else { RUNS }),
        tests: args.tests.unwrap_or(u64::MAX),
        time: options.time,
        retest: args.retest,
        limits: Limits { idioms: args.idioms, ..Limits::default() },
        first,
        earlier: Vec::new(),
        seed: options.seed,
        keep_going: options.keep_going,
        shrink: !args.keep_input,
    })
}

/// What is kept and told besides.
fn finish(outcome: &mut Outcome, texts: &[String], config: &Config, store: &Store) {
    if let Ok(id) = conduct::program_id(&config.target.program) {
        let all = &outcome.all;
        let target = Target { args: texts.iter().map(OsString::from).collect(), ..(*config.target).clone() };
        let config = &Config { target: Arc::new(target), ..config.clone() };
        let warning = coverage::keep_iroots(config, &id, &all.found, &all.modules, outcome.runs, store);
        outcome.warnings.extend(warning);
    }
    if let Err(error) = keep_report(outcome, config, store) {
        outcome.warnings.push(chain(&error));
    }
    if outcome.ignores {
        outcome.warnings.push(format!(
            "{} different inputs made no difference to what the program does: it does not seem to look at them",
            outcome.profiled
        ));
    } else if outcome.all.found.predicted.is_empty() && outcome.profiled > 0 && outcome.findings.is_empty() {
        outcome.warnings.push(
            "no input makes strands share anything: there are no interleavings to choose inputs by"
                .to_owned(),
        );
    }
}

/// Writes the findings with their counts, and the summary that `threadbare report` reads: of all tests, not of the last one.
fn keep_report(outcome: &Outcome, config: &Config, store: &Store) -> Result<(), threadbare_explore::Error> {
    if outcome.findings.is_empty() {
        return Ok(());
    }
    let findings: Vec<Finding> = outcome.findings.iter().map(Shown::told).collect();
    for finding in &findings {
        let json = serde_json::to_vec_pretty(finding).unwrap_or_default();
        store.write(&format!("{}.json", finding.id), &json)?;
    }
    let target = &config.target;
    let mut report = CampaignReport {
        format_version: campaign::FORMAT_VERSION,
        runs: outcome.runs,
        elapsed_s: outcome.elapsed.as_secs_f64(),
        strategy: "idioms".to_owned(),
        seed: outcome.seed,
        ended_by: outcome.ended_by.clone(),
        program: target.program.display().to_string(),
        args: target.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect(),
        findings,
        ..CampaignReport::default()
    };
    report.verdict = report.word().to_owned();
    store.write("campaign.json", report.to_json().as_bytes())?;
    Ok(())
}

fn say(outcomes: &[Outcome], template: &Template, format: ReportFormat) -> Result<(), Trouble> {
    for outcome in outcomes {
        outcome.warnings.iter().for_each(|warning| conduct::warn(warning));
    }
    if format == ReportFormat::Json {
        let all: Vec<_> = outcomes.iter().map(|outcome| outcome.json(template)).collect();
        let json = match &all[..] {
            [one] => serde_json::to_string_pretty(one),
            all => serde_json::to_string_pretty(&serde_json::json!({ "format_version": 1, "policies": all })),
        };
        return said::json(&(json.unwrap_or_default() + "\n"));
    }
    let screen = Screen::for_stream(&std::io::stdout());
    let texts: Vec<String> = outcomes.iter().map(|outcome| outcome.text(screen)).collect();
    said::text(&texts.join("\n"))
}

/// Many complete campaigns.
fn repeat(
    plan: &Plan,
    config: &Config,
    store: &Store,
    suppressions: &Arc<threadbare_findings::Suppressions>,
    count: u64,
) -> Result<Exit, Trouble> {
    let mut outcomes = Vec::new();
    for number in 0..count {
        let seed = plan.seed.wrapping_add(number.wrapping_mul(0x9E37_79B9));
        let plan = Plan { seed, shrink: false, ..plan.clone() };
        // Each begins without what the others left.
        let _ = std::fs::remove_dir_all(store.folder().join("inputs"));
        outcomes.push(inputs::campaign(&plan, config, store, suppressions)?);
        if interrupt::requested() {
            break;
        }
    }
    said::json(&(serde_json::to_string_pretty(&Repeated::of(&outcomes)).unwrap_or_default() + "\n"))?;
    Ok(Exit::Clean)
}
