//! The races a campaign tells, as pairs of lines of the program.

use crate::campaign::Campaign;
use crate::corpus::{Lines, Program, in_order};
use serde_json::Value;
use std::collections::BTreeSet;

/// The pairs of lines of all races of a campaign. Of each access it is the line of the program's own file that the
/// stack meets first, so that library code in between does not matter.
///
/// # Errors
/// In words, when a race has no such line.
pub fn told(program: &Program, campaign: &Campaign) -> Result<BTreeSet<Lines>, String> {
    let races = campaign.findings().iter().filter(|finding| finding["kind"] == "race");
    races.map(|race| lines(program, race).map_err(|what| campaign.complain(&what))).collect()
}

/// The same without races of which an access has no line of the program: a free run does not always know who called the earlier one.
pub fn told_with_lines(program: &Program, campaign: &Campaign) -> BTreeSet<Lines> {
    let races = campaign.findings().iter().filter(|finding| finding["kind"] == "race");
    races.filter_map(|race| lines(program, race).ok()).collect()
}

fn lines(program: &Program, race: &Value) -> Result<Lines, String> {
    let accesses = race["accesses"].as_array().map_or(&[][..], Vec::as_slice);
    let own: Vec<u64> = accesses.iter().filter_map(|access| own_line(program, access)).collect();
    match own[..] {
        [one, other] if accesses.len() == 2 => Ok(in_order(one, other)),
        _ => Err(format!("not two accesses with a line of {} each: {race:#}", program.file_name())),
    }
}

fn own_line(program: &Program, access: &Value) -> Option<u64> {
    let own = |frame: &&Value| {
        let file = frame["file"].as_str();
        file.is_some_and(|file| file.rsplit('/').next() == Some(program.file_name()))
    };
    access["stack"].as_array()?.iter().find(own)?["line"].as_u64()
}

/// Compares what a campaign told with what the program says of itself.
///
/// # Errors
/// In words, when a race is missing or there is one too many.
pub fn compare(program: &Program, campaign: &Campaign) -> Result<(), String> {
    let told = told(program, campaign)?;
    let missing: Vec<&Lines> = program.races.iter().filter(|race| !told.contains(race)).collect();
    let known = |race: &Lines| program.races.contains(race) || program.may_race.contains(race);
    let extra: Vec<&Lines> = told.iter().filter(|race| !known(race)).collect();
    if missing.is_empty() && extra.is_empty() {
        return Ok(());
    }
    Err(campaign.complain(&format!(
        "the races of {} are not those it names: missing {missing:?}, too many {extra:?}",
        program.name
    )))
}
