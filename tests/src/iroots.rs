//! The iroots that campaigns left in the coverage file of a folder.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The iroots of the last campaign, each with what is known of it: `shown`, `predicted`, `infeasible`. The name begins with the idiom.
///
/// # Errors
/// Why there are none, in words.
pub fn last_of(folder: &Path) -> Result<BTreeMap<String, String>, String> {
    let path = folder.join("coverage.json");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let kept: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let campaign = kept["campaigns"].as_array().and_then(|all| all.last()).ok_or("there is no campaign")?;
    let place = |event: &Value| {
        let spot = &campaign["spots"][event[0].as_u64().unwrap_or(u64::MAX) as usize];
        format!("{} {}", event[1], spot["address"])
    };
    let iroots = campaign["iroots"].as_array().ok_or("the campaign has no iroots")?;
    let name = |iroot: &Value| {
        let events = iroot[2].as_array().map(|events| events.iter().map(place).collect::<Vec<_>>());
        (
            format!("{}: {}", iroot[0], events.unwrap_or_default().join(" ")),
            iroot[1].as_str().unwrap_or_default().to_owned(),
        )
    };
    Ok(iroots.iter().map(name).collect())
}
