//! A small grammar: lines `rule = alternative | alternative`, in which `<rule>` stands for a sentence of another rule. The first rule is where sentences begin.
//! `\n`, `\t`, `\<`, `\|` and `\\` stand for these characters. An empty line or one that begins with `#` says nothing.

use crate::rng::Rng;
use std::collections::{BTreeSet, HashMap};

/// A part of an alternative.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Word {
    Plain(Vec<u8>),
    Rule(usize),
}

/// The rules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grammar {
    rules: Vec<Vec<Vec<Word>>>,
    /// For each rule the alternative by which a sentence ends soonest.
    shortest: Vec<usize>,
}

/// Steps after which a text counts as no sentence.
const LOOKS: u32 = 1 << 20;
/// Rules within rules before the shortest way is taken.
const DEPTH: u32 = 12;

impl Grammar {
    /// Reads the rules.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn parse(text: &str) -> Result<Grammar, String> {
        let lines = text
            .lines()
            .map(str::trim)
            .enumerate()
            .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let mut named: Vec<(&str, &str, usize)> = Vec::new();
        for (number, line) in lines {
            let (name, right) = line
                .split_once('=')
                .ok_or_else(|| format!("line {} of the grammar has no `=`", number + 1))?;
            named.push((name.trim().trim_start_matches('<').trim_end_matches('>'), right.trim(), number + 1));
        }
        if named.is_empty() {
            return Err("the grammar has no rule".to_owned());
        }
        let find = |name: &str| named.iter().position(|(other, ..)| *other == name);
        let mut rules = Vec::new();
        for (_, right, number) in &named {
            rules.push(
                alternatives(right, &find).map_err(|why| format!("line {number} of the grammar: {why}"))?,
            );
        }
        let shortest = shortest(&rules);
        match shortest.iter().position(Option::is_none) {
            Some(endless) => Err(format!("no sentence of `{}` ever ends", named[endless].0)),
            None => Ok(Grammar { shortest: shortest.into_iter().flatten().collect(), rules }),
        }
    }

    /// A sentence.
    pub fn draw(&self, rng: &mut Rng) -> Vec<u8> {
        let mut sentence = Vec::new();
        self.expand(0, 0, rng, &mut sentence);
        sentence
    }

    /// Whether it is a sentence of the grammar.
    pub fn accepts(&self, sentence: &[u8]) -> bool {
        Reader { grammar: self, sentence, known: HashMap::new(), looks: LOOKS }
            .ends(0, 0)
            .contains(&sentence.len())
    }

    fn expand(&self, rule: usize, depth: u32, rng: &mut Rng, sentence: &mut Vec<u8>) {
        let list = &self.rules[rule];
        let chosen = match depth < DEPTH {
            true => rng.below(list.len() as u64) as usize,
            false => self.shortest[rule],
        };
        for word in &list[chosen] {
            match word {
                Word::Plain(bytes) => sentence.extend_from_slice(bytes),
                Word::Rule(next) => self.expand(*next, depth + 1, rng, sentence),
            }
        }
    }
}

/// Reads a sentence.
struct Reader<'a> {
    grammar: &'a Grammar,
    sentence: &'a [u8],
    /// Where a sentence of a rule that begins at a place may end.
    known: HashMap<(usize, usize), BTreeSet<usize>>,
    looks: u32,
}

impl Reader<'_> {
    /// Where a sentence of the rule that begins there may end. A rule that begins with itself is gone through until nothing is added.
    fn ends(&mut self, rule: usize, start: usize) -> BTreeSet<usize> {
        if let Some(known) = self.known.get(&(rule, start)) {
            return known.clone();
        }
        self.known.insert((rule, start), BTreeSet::new());
        loop {
            let mut found = BTreeSet::new();
            for alternative in &self.grammar.rules[rule] {
                let mut places = BTreeSet::from([start]);
                for word in alternative {
                    places = places.into_iter().flat_map(|at| self.after(word, at)).collect();
                }
                found.extend(places);
            }
            let known = self.known.entry((rule, start)).or_default();
            let before = known.len();
            known.extend(found);
            if known.len() == before || self.looks == 0 {
                return known.clone();
            }
        }
    }

    fn after(&mut self, word: &Word, at: usize) -> BTreeSet<usize> {
        self.looks = self.looks.saturating_sub(1);
        match word {
            _ if self.looks == 0 => BTreeSet::new(),
            Word::Plain(bytes) if self.sentence[at..].starts_with(bytes) => {
                BTreeSet::from([at + bytes.len()])
            }
            Word::Plain(_) => BTreeSet::new(),
            Word::Rule(rule) => self.ends(*rule, at),
        }
    }
}

fn alternatives(text: &str, find: &dyn Fn(&str) -> Option<usize>) -> Result<Vec<Vec<Word>>, String> {
    let mut list = vec![Vec::new()];
    let mut plain = Vec::new();
    let mut chars = text.chars();
    let flush = |plain: &mut Vec<u8>, list: &mut Vec<Vec<Word>>| {
        if let Some(last) = list.last_mut().filter(|_| !plain.is_empty()) {
            last.push(Word::Plain(std::mem::take(plain)));
        }
    };
    while let Some(c) = chars.next() {
        match c {
            '\\' => plain.push(match chars.next() {
                Some('n') => b'\n',
                Some('t') => b'\t',
                Some(other) if other.is_ascii() => other as u8,
                _ => return Err("a `\\` stands before nothing it could mean".to_owned()),
            }),
            '|' => {
                // Blanks around the sign are not the sentence's.
                while plain.last() == Some(&b' ') {
                    plain.pop();
                }
                flush(&mut plain, &mut list);
                list.push(Vec::new());
                let rest = chars.as_str().trim_start();
                chars = rest.chars();
            }
            '<' => {
                let (name, rest) = chars.as_str().split_once('>').ok_or("a `<` has no `>`")?;
                let rule = find(name).ok_or_else(|| format!("there is no rule `{name}`"))?;
                flush(&mut plain, &mut list);
                if let Some(last) = list.last_mut() {
                    last.push(Word::Rule(rule));
                }
                chars = rest.chars();
            }
            other => plain.extend_from_slice(other.to_string().as_bytes()),
        }
    }
    flush(&mut plain, &mut list);
    Ok(list)
}

/// By which alternative each rule ends soonest; none if it never does.
fn shortest(rules: &[Vec<Vec<Word>>]) -> Vec<Option<usize>> {
    let mut ends: Vec<Option<usize>> = vec![None; rules.len()];
    for _ in 0..=rules.len() {
        let before = ends.clone();
        for (rule, list) in rules.iter().enumerate().filter(|(rule, _)| before[*rule].is_none()) {
            let done = |word: &Word| !matches!(word, Word::Rule(next) if before[*next].is_none());
            ends[rule] = list.iter().position(|words| words.iter().all(done));
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_follow_the_rules() {
        let grammar =
            Grammar::parse("sum = <term> | <term>+<sum>\n# digits\nterm = 1 | 2 | (<sum>)\n").unwrap();
        let mut rng = Rng::new(7);
        for _ in 0..500 {
            let sentence = String::from_utf8(grammar.draw(&mut rng)).unwrap();
            assert!(sentence.chars().all(|c| "12()+".contains(c)), "{sentence}");
            assert_eq!(sentence.matches('(').count(), sentence.matches(')').count());
            assert!(grammar.accepts(sentence.as_bytes()), "{sentence}");
        }
        for wrong in ["", "1+", "(1", "12", "1+2)", "3"] {
            assert!(!grammar.accepts(wrong.as_bytes()), "{wrong}");
        }
        // A rule that begins with itself.
        let grammar = Grammar::parse("sum = <sum>+<term> | <term>\nterm = 1 | \n").unwrap();
        assert!(["1", "", "1+1+1", "+1", "1+"].iter().all(|text| grammar.accepts(text.as_bytes())));
        assert!(!grammar.accepts(b"11"));
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (text, why) in [
            ("", "no rule"),
            ("a b", "line 1 of the grammar has no `=`"),
            ("a = <b>", "there is no rule `b`"),
            ("a = x<a", "a `<` has no `>`"),
            ("a = x<a>", "no sentence of `a` ever ends"),
        ] {
            assert!(Grammar::parse(text).unwrap_err().contains(why), "{text}");
        }
    }
}
