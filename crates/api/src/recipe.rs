//! Recipes: a few lines of text for what the source does not tell.
//!
//! ```toml
//! [Config]
//! make = "Config::new(2)"          # an expression of the type
//!
//! [Pool]
//! make = ["Pool::with(1)", "Pool::with(2)"]
//! skip = ["shutdown"]              # functions that no test calls
//! single = ["drain"]               # functions that one strand calls
//! destroy = "pool_close"           # C: what unmakes it
//! ```
//!
//! It is the part of TOML that is needed: tables, strings, lists of strings, comments.

use std::collections::BTreeMap;

/// What is said of each type.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Recipes(BTreeMap<String, BTreeMap<String, Vec<String>>>);

impl Recipes {
    /// Reads recipes.
    ///
    /// # Errors
    /// The number of the line that is none, and what is wrong with it.
    pub fn read(text: &str) -> Result<Recipes, (usize, String)> {
        let mut recipes = Recipes::default();
        let mut table: Option<String> = None;
        for (number, line) in (1..).zip(text.lines()) {
            let line = without_comment(line).trim();
            if line.is_empty() {
                continue;
            }
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                let name = name.trim().trim_matches('"').to_owned();
                recipes.0.entry(name.clone()).or_default();
                table = Some(name);
                continue;
            }
            let (key, value) =
                line.split_once('=').ok_or((number, "expected `key = \"value\"`".to_owned()))?;
            let key = key.trim();
            if !["make", "skip", "single", "destroy"].contains(&key) {
                return Err((number, format!("`{key}` is none of make, skip, single, destroy")));
            }
            let name = table.clone().ok_or((number, "no `[Type]` stands before it".to_owned()))?;
            let values = strings(value.trim()).ok_or((number, "expected a string or a list".to_owned()))?;
            recipes.0.entry(name).or_default().insert(key.to_owned(), values);
        }
        Ok(recipes)
    }

    /// The values of a key of a type.
    pub fn of(&self, name: &str, key: &str) -> &[String] {
        self.0.get(name).and_then(|table| table.get(key)).map_or(&[], Vec::as_slice)
    }

    /// Whether a function is named under a key, of any type or of this one.
    pub fn names(&self, key: &str, function: &str) -> bool {
        self.0.values().filter_map(|table| table.get(key)).flatten().any(|name| name == function)
    }
}

/// A line up to its comment.
fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '#' if !quoted => return &line[..at],
            _ => {}
        }
    }
    line
}

/// A string, or a list of them.
fn strings(text: &str) -> Option<Vec<String>> {
    let (mut rest, list) = match text.strip_prefix('[') {
        Some(inner) => (inner.strip_suffix(']')?.trim(), true),
        None => (text, false),
    };
    let mut values = Vec::new();
    while !rest.is_empty() {
        let mut chars = rest.strip_prefix('"')?.char_indices();
        let mut value = String::new();
        let end = loop {
            match chars.next()? {
                (_, '\\') => value.push(chars.next()?.1),
                (at, '"') => break at + 2,
                (_, c) => value.push(c),
            }
        };
        values.push(value);
        rest = rest[end..].trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        if !list && !rest.is_empty() {
            return None;
        }
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_are_read_and_mistakes_named() {
        let text =
            "# x\n[Pool]\nmake = \"Pool::new(\\\"#\\\")\" # two\nskip = [\"a\", \"b\"]\n[\"Other<T>\"]\n";
        let recipes = Recipes::read(text).expect("recipes");
        assert_eq!(recipes.of("Pool", "make"), ["Pool::new(\"#\")"]);
        assert_eq!(recipes.of("Pool", "skip"), ["a", "b"]);
        assert!(recipes.names("skip", "b") && !recipes.names("single", "b"));
        assert_eq!(Recipes::read("make = \"x\"").unwrap_err().0, 1);
        assert_eq!(Recipes::read("[A]\nmade = \"x\"").unwrap_err().0, 2);
        assert_eq!(Recipes::read("[A]\nmake = x").unwrap_err().0, 2);
    }
}
