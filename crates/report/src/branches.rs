//! How control would come to a write, or a read, that no run came to: what must be so, in words.

use serde::{Deserialize, Serialize};

/// What must be so, one thing of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Branch {
    /// What it is.
    pub kind: Kind,
    /// Where: `file:line`, the file as the compiler was given it. A function's name where nothing more is known.
    pub place: String,
    /// The line's text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Where a branch must lead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<String>,
    /// Where it must not lead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not: Vec<String>,
    /// Whether a run took it so.
    pub taken: bool,
    /// The things that must be so are counted from 0.
    pub need: usize,
    /// Which of several ways to it this is a part of; 0 if there is one.
    pub way: usize,
}

/// What must be so.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A branch goes a certain way.
    Branch,
    /// A call throws or panics.
    Throws,
    /// A call is made: `to` is the function.
    Call,
    /// A strand is made that begins in the function `to`.
    Creation,
    /// The function `to` is called by the one that it is handed to here.
    Handed,
    /// Nothing that was followed calls the function `place`.
    NoCaller,
    /// Only calls by pointer may lead to the function `place`.
    ByPointer,
    /// There are jumps in the function `place` that were not followed.
    NotFollowed,
    /// There are too many ways within the function `place`.
    ManyWays,
}

/// The place with the last part of its file.
fn short(place: &str) -> &str {
    place.rsplit('/').next().unwrap_or(place)
}

fn list(places: &[String], word: &str) -> String {
    let short: Vec<&str> = places.iter().map(|place| short(place)).collect();
    short.join(word)
}

impl Branch {
    fn words(&self) -> String {
        let place = short(&self.place);
        let name = || list(&self.to, ", ");
        match self.kind {
            Kind::Branch => {
                let text = if self.text.is_empty() { String::new() } else { format!(" `{}`", self.text) };
                let not = if self.not.is_empty() {
                    String::new()
                } else {
                    format!(", not {}", list(&self.not, " or "))
                };
                let did = if self.taken { ", as in runs" } else { "" };
                match self.to.is_empty() {
                    true => format!("the branch {place}{text} to leave the function{not}{did}"),
                    false => {
                        format!("the branch {place}{text} to go to {}{not}{did}", list(&self.to, " or "))
                    }
                }
            }
            Kind::Throws => format!("the call at {place} to throw or panic"),
            Kind::Call => format!("the call of `{}` at {place}", name()),
            Kind::Creation => format!("the strand of `{}` that is made at {place}", name()),
            Kind::Handed => format!("a call of `{}`, which is handed over at {place}", name()),
            Kind::NoCaller => format!("a call of `{}`, and nothing that was followed calls it", self.place),
            Kind::ByPointer => format!("a call of `{}` by a pointer, which was not followed", self.place),
            Kind::NotFollowed => format!("a way through `{}` that was not followed", self.place),
            Kind::ManyWays => format!("one of many ways through `{}`", self.place),
        }
    }
}

/// Of more things that must be so, those in the middle are counted.
const MOST: usize = 6;
/// Of more ways to one thing, those after the first few are counted.
const MOST_WAYS: usize = 2;

/// What must be so, in words: "that takes …"; empty if nothing is known.
pub fn words(branches: &[Branch]) -> String {
    let mut needs = Vec::new();
    for need in branches.chunk_by(|a, b| a.need == b.need) {
        let mut ways: Vec<String> = Vec::new();
        for way in need.chunk_by(|a, b| a.way == b.way) {
            let mut parts: Vec<String> = way.iter().map(Branch::words).collect();
            parts.dedup();
            let told = parts.join(" and ");
            // Several jumps of one line read the same.
            if !ways.contains(&told) {
                ways.push(told);
            }
        }
        if ways.len() > MOST_WAYS {
            let left = ways.len() - MOST_WAYS;
            let left = if left == 1 { "another way".to_owned() } else { format!("{left} other ways") };
            ways.splice(MOST_WAYS.., [format!("in {left}")]);
        }
        needs.push(ways.join(", or "));
    }
    if needs.len() > MOST {
        let left = needs.len() - MOST;
        needs.splice(MOST / 2..MOST / 2 + left, [format!("{left} more")]);
    }
    if needs.is_empty() { String::new() } else { format!("that takes {}", needs.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn branch(line: u32, need: usize, way: usize) -> Branch {
        Branch {
            kind: Kind::Branch,
            place: format!("src/a.c:{line}"),
            text: String::new(),
            to: vec![format!("src/a.c:{}", line + 1)],
            not: Vec::new(),
            taken: false,
            need,
            way,
        }
    }

    #[test]
    fn alternatives_are_told_as_such() {
        assert_eq!(words(&[]), "");
        let all = [branch(1, 0, 0), branch(3, 1, 0), branch(5, 1, 1)];
        assert_eq!(
            words(&all),
            "that takes the branch a.c:1 to go to a.c:2; the branch a.c:3 to go to a.c:4, or the branch a.c:5 to go to a.c:6"
        );
    }

    #[test]
    fn of_many_ways_the_first_are_told_each_once() {
        let same = Branch { way: 2, ..branch(3, 0, 0) };
        let all = [branch(1, 0, 0), branch(3, 0, 1), same.clone(), Branch { way: 3, ..same }];
        assert!(words(&all).ends_with("a.c:2, or the branch a.c:3 to go to a.c:4"), "{}", words(&all));
        let all: Vec<Branch> = (0..9).map(|at| branch(10 * at, 0, at as usize)).collect();
        assert!(words(&all).ends_with("a.c:11, or in 7 other ways"), "{}", words(&all));
    }

    #[test]
    fn of_many_the_middle_is_counted() {
        let many: Vec<Branch> = (0..20).map(|at| branch(10 * at, at as usize, 0)).collect();
        let told = words(&many);
        assert!(told.contains("; 14 more; "), "{told}");
        assert!(told.contains("a.c:0 ") && told.contains("a.c:190 "), "{told}");
    }
}
