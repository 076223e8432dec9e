//! Smaller inputs that may show the same.

use crate::template::{Input, Kind, Template, Value};

impl Template {
    /// Inputs that are smaller than this one in one value, the boldest steps first.
    pub fn smaller(&self, input: &Input) -> Vec<Input> {
        let mut all: Vec<(usize, Input)> = Vec::new();
        for (at, (hole, value)) in self.holes.iter().zip(&input.0).enumerate() {
            for (step, value) in smaller(&hole.kind, value).into_iter().enumerate() {
                let mut other = input.clone();
                other.0[at] = value;
                all.push((step, other));
            }
        }
        all.sort_by_key(|(step, _)| *step);
        all.into_iter().map(|(_, input)| input).filter(|other| self.takes(other)).collect()
    }
}

fn smaller(kind: &Kind, value: &Value) -> Vec<Value> {
    match (kind, value) {
        (Kind::Int { low, high, .. }, Value::Int(number)) => {
            let least = 0.clamp(*low, *high);
            let mut list = Vec::new();
            // Halfway to the least, and halfway of that.
            let mut way = (*number as i128) - (least as i128);
            while way != 0 {
                list.push(Value::Int((*number as i128 - way) as i64));
                way /= 2;
            }
            if *number < 0 && number.checked_neg().is_some_and(|other| other <= *high) {
                list.push(Value::Int(-number));
            }
            list
        }
        // The number itself says nothing but this.
        (Kind::Own, Value::Int(number)) => (*number > 1).then_some(Value::Int(1)).into_iter().collect(),
        (Kind::OneOf(_) | Kind::Flag(_), Value::Choice(index)) => (0..*index).map(Value::Choice).collect(),
        (_, Value::Bytes(bytes)) => {
            let mut list = Vec::new();
            let shortest = match kind {
                Kind::Text { shortest, .. } | Kind::Bytes { shortest, .. } => *shortest,
                _ => 0,
            };
            let mut part = bytes.len().saturating_sub(shortest);
            while part > 0 {
                for start in (0..bytes.len()).step_by(part) {
                    let mut left = bytes.clone();
                    left.drain(start..(start + part).min(left.len()));
                    list.push(Value::Bytes(left));
                }
                part /= 2;
            }
            // The simplest byte there may be, all over, then one by one.
            let plain = match kind {
                Kind::Text { alphabet, .. } => {
                    alphabet.iter().copied().find(|byte| byte.is_ascii_alphanumeric()).unwrap_or(alphabet[0])
                }
                _ => b'0',
            };
            if bytes.iter().any(|&byte| byte != plain) {
                list.push(Value::Bytes(vec![plain; bytes.len()]));
                for at in (0..bytes.len()).filter(|&at| bytes[at] != plain) {
                    let mut other = bytes.clone();
                    other[at] = plain;
                    list.push(Value::Bytes(other));
                }
            }
            list
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes the first smaller one that still fails, until there is none.
    fn shrunk(template: &Template, mut input: Input, fails: impl Fn(&Input) -> bool) -> Input {
        while let Some(next) = template.smaller(&input).into_iter().find(|input| fails(input)) {
            input = next;
        }
        input
    }

    #[test]
    fn the_smallest_that_fails_is_reached() {
        let mut template = Template::default();
        template.arg("{x:int(-1000..1000)}{s:string(0..20, abcx)}{m:one-of(a,b,c)}").unwrap();
        let input = Input(vec![Value::Int(-977), Value::Bytes(b"cabxcabbaxc".to_vec()), Value::Choice(2)]);
        let fails = |input: &Input| {
            let (Value::Int(x), Value::Bytes(s)) = (&input.0[0], &input.0[1]) else { return false };
            *x < -41 && s.contains(&b'x')
        };
        let least = Input(vec![Value::Int(-42), Value::Bytes(b"x".to_vec()), Value::Choice(0)]);
        assert_eq!(shrunk(&template, input, fails), least);
    }
}
