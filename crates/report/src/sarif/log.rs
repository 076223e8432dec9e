//! The part of SARIF 2.1.0 that findings need, typed.
//!
//! Names and meanings are the standard's (OASIS, section 3). What is not here is optional there.
//!
//! **SARIF is typed by hand** (`report::sarif::log`): the crates for it are made from the whole schema at build time
//! and need more than they declare; the part that findings use is a page.

use serde::Serialize;
use std::collections::BTreeMap;

/// A log file.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct Log {
    #[serde(rename = "$schema")]
    pub(super) schema: &'static str,
    pub(super) version: &'static str,
    pub(super) runs: Vec<Run>,
}

/// One call of a tool.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Run {
    pub(super) tool: Tool,
    pub(super) invocations: Vec<Invocation>,
    pub(super) original_uri_base_ids: BTreeMap<&'static str, ArtifactLocation>,
    pub(super) column_kind: &'static str,
    pub(super) results: Vec<ResultItem>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct Tool {
    pub(super) driver: Driver,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Driver {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    pub(super) information_uri: &'static str,
    pub(super) rules: Vec<Rule>,
}

/// A kind of finding.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Rule {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) short_description: Message,
    pub(super) default_configuration: Configuration,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct Configuration {
    pub(super) level: &'static str,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Invocation {
    pub(super) execution_successful: bool,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct Message {
    pub(super) text: String,
}

impl Message {
    pub(super) fn new(text: impl Into<String>) -> Message {
        Message { text: text.into() }
    }
}

/// A finding.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResultItem {
    pub(super) rule_id: String,
    pub(super) rule_index: usize,
    pub(super) level: &'static str,
    pub(super) message: Message,
    pub(super) locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) related_locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) stacks: Vec<Stack>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) code_flows: Vec<CodeFlow>,
    pub(super) fingerprints: BTreeMap<&'static str, String>,
    pub(super) partial_fingerprints: BTreeMap<&'static str, String>,
    pub(super) occurrence_count: u64,
    pub(super) properties: BTreeMap<&'static str, serde_json::Value>,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) physical_location: Option<PhysicalLocation>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) logical_locations: Vec<LogicalLocation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<Message>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PhysicalLocation {
    pub(super) artifact_location: ArtifactLocation,
    pub(super) region: Region,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactLocation {
    pub(super) uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) uri_base_id: Option<&'static str>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Region {
    pub(super) start_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) start_column: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) snippet: Option<Message>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LogicalLocation {
    pub(super) fully_qualified_name: String,
    pub(super) kind: &'static str,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct Stack {
    pub(super) message: Message,
    pub(super) frames: Vec<Frame>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct Frame {
    pub(super) location: Location,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) module: Option<String>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodeFlow {
    pub(super) message: Message,
    pub(super) thread_flows: Vec<ThreadFlow>,
}

/// The steps of one strand.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct ThreadFlow {
    pub(super) id: String,
    pub(super) message: Message,
    pub(super) locations: Vec<ThreadFlowLocation>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThreadFlowLocation {
    pub(super) location: Location,
    pub(super) kinds: Vec<&'static str>,
    pub(super) execution_order: usize,
    pub(super) importance: &'static str,
}
