//! Drawing inputs.

use crate::mutate::mutate_bytes;
use crate::rng::Rng;
use crate::template::{Input, Kind, Template, Value};

impl Kind {
    /// A value.
    pub fn draw(&self, rng: &mut Rng) -> Value {
        match self {
            Kind::Int { low, high, ratio: None } => Value::Int(rng.within(*low, *high)),
            Kind::Int { low, high, ratio: Some((positive, others)) } => {
                match rng.weighed([*positive, *others].into_iter()) {
                    0 => Value::Int(rng.within((*low).max(1), *high)),
                    _ => Value::Int(rng.within(*low, (*high).min(0))),
                }
            }
            Kind::OneOf(words) => Value::Choice(rng.weighed(words.iter().map(|(_, weight)| *weight))),
            Kind::Flag(_) => Value::Choice(rng.below(2) as usize),
            Kind::Text { shortest, longest, alphabet } => {
                let length = rng.within(*shortest as i64, *longest as i64);
                Value::Bytes(
                    (0..length).map(|_| alphabet[rng.below(alphabet.len() as u64) as usize]).collect(),
                )
            }
            Kind::Bytes { shortest, longest } => {
                let length = rng.within(*shortest as i64, *longest as i64);
                Value::Bytes((0..length).map(|_| rng.word() as u8).collect())
            }
            Kind::Corpus(files) => {
                let chosen = &files[rng.below(files.len() as u64) as usize];
                let mut bytes = chosen.clone();
                // As they are in one of three.
                if !rng.one_in(3) {
                    let other = &files[rng.below(files.len() as u64) as usize];
                    mutate_bytes(&mut bytes, other, rng);
                }
                Value::Bytes(bytes)
            }
            Kind::Grammar(grammar) => Value::Bytes(grammar.draw(rng)),
            Kind::Own => Value::Int(rng.within(1, i64::from(u32::MAX))),
        }
    }
}

impl Template {
    /// An input.
    pub fn draw(&self, rng: &mut Rng) -> Input {
        Input(self.holes.iter().map(|hole| hole.kind.draw(rng)).collect())
    }

    /// The files of corpora as they are, each once; other holes are drawn.
    pub fn seeds(&self, rng: &mut Rng) -> Vec<Input> {
        let files = |kind: &Kind| if let Kind::Corpus(files) = kind { files.len() } else { 0 };
        let most = self.holes.iter().map(|hole| files(&hole.kind)).max().unwrap_or(0);
        let mut seed = |number: usize| {
            let mut input = self.draw(rng);
            for (hole, value) in self.holes.iter().zip(&mut input.0) {
                if let Kind::Corpus(files) = &hole.kind {
                    *value = Value::Bytes(files[number % files.len()].clone());
                }
            }
            input
        };
        (0..most).map(&mut seed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_and_weights_are_kept() {
        let mut template = Template::default();
        template.arg("{x:int(-100..100, 1:3)}").unwrap();
        template.arg("{m:one-of(a,b*4)}").unwrap();
        template.arg("{s:string(1..3, xy)}").unwrap();
        let mut rng = Rng::new(1);
        let (mut positive, mut second) = (0, 0);
        for _ in 0..4000 {
            let input = template.draw(&mut rng);
            assert!(template.takes(&input));
            positive += u32::from(matches!(input.0[0], Value::Int(1..)));
            second += u32::from(input.0[1] == Value::Choice(1));
        }
        assert!((900..1100).contains(&positive), "{positive}");
        assert!((3100..3300).contains(&second), "{second}");
    }

    #[test]
    fn a_corpus_comes_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            std::fs::write(folder.path().join(name), name).unwrap();
        }
        let mut template = Template::default();
        template.arg(&format!("{{f:file({})}}", folder.path().display())).unwrap();
        template.arg("{x:int(0..9)}").unwrap();
        let seeds = template.seeds(&mut Rng::new(1));
        let files: Vec<&Value> = seeds.iter().map(|input| &input.0[0]).collect();
        let bytes = |text: &str| Value::Bytes(text.as_bytes().to_vec());
        assert_eq!(files, [&bytes("a"), &bytes("b"), &bytes("c")]);
        assert!(seeds.iter().all(|input| template.takes(input)));
        template = Template::default();
        template.arg("{x:int(0..9)}").unwrap();
        assert!(template.seeds(&mut Rng::new(1)).is_empty());
    }

    #[test]
    fn a_seed_has_its_inputs() {
        let mut template = Template::default();
        template.arg("{x:int(-9223372036854775808..9223372036854775807)}").unwrap();
        let draw = |seed| template.draw(&mut Rng::new(seed));
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3), draw(4));
    }
}
