//! Programs in which one input in fifty leads to the bug, made by chance: choosing inputs must not know its examples.
//!
//! A [`Needle`] draws what the input is and which fiftieth of it leads to the bug ([`Lead`]), how the program is given it ([`Carry`]), what goes wrong then
//! ([`Bug`]), and what other inputs do: so many sorts of work, each in places of its own and without a mistake, so often as the input says, with a strand more or
//! less. [`Needle::source`] is a program in C that fails in some orders with such an input and in none with any other.

mod c;

use threadbare_strategy::rng::Rng;

/// The seed of the programs that figures are told of, and how many there are.
pub const SEED: u64 = 16;
/// See [`SEED`].
pub const COUNT: usize = 24;

/// What leads to the bug.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lead {
    /// One of fifty numbers.
    Number,
    /// Twenty of a thousand numbers, one after another.
    Range,
    /// Every fiftieth number.
    Multiple,
    /// One of fifty lengths of a text.
    Length,
    /// The first and the last letter of a text, each one of seven.
    Ends,
    /// The sum of a text's letters, by fifty.
    Sum,
    /// A byte of a text or file below a bound.
    Byte,
    /// An option, and one of 25 numbers.
    OptionAndNumber,
    /// One of five words, and a text's first letter of ten.
    WordAndText,
    /// Two numbers of seven each.
    TwoNumbers,
}

/// All of them.
pub const LEADS: [Lead; 10] = [
    Lead::Number,
    Lead::Range,
    Lead::Multiple,
    Lead::Length,
    Lead::Ends,
    Lead::Sum,
    Lead::Byte,
    Lead::OptionAndNumber,
    Lead::WordAndText,
    Lead::TwoNumbers,
];

/// How the program gets the first part of its input; the second is an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Carry {
    /// As an argument.
    Argument,
    /// As a variable of the environment.
    Variable,
    /// As its standard input.
    Stdin,
    /// In a file that an argument names.
    File,
}

/// What goes wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bug {
    /// A number is read and written back.
    LostUpdate,
    /// The lock is the strand's own.
    WrongLock,
    /// Two locks in two orders.
    Deadlock,
    /// A look at memory that the other frees.
    UseAfterFree,
    /// Two numbers that belong together are changed one after the other, each under the lock.
    Torn,
    /// Whoever finds a place free takes it.
    CheckThenAct,
}

/// All of them.
pub const BUGS: [Bug; 6] =
    [Bug::LostUpdate, Bug::WrongLock, Bug::Deadlock, Bug::UseAfterFree, Bug::Torn, Bug::CheckThenAct];

/// A program.
#[derive(Clone, Debug)]
pub struct Needle {
    /// Its number.
    pub number: usize,
    /// What leads to the bug.
    pub lead: Lead,
    /// How it is given.
    pub carry: Carry,
    /// What goes wrong.
    pub bug: Bug,
    /// Which of the fifty it is.
    pub which: u32,
    /// Sorts of work that other inputs do, and this one as well.
    pub sorts: u32,
    /// How often such work is done at the most: the input says how often.
    pub times: u32,
    /// The work is atomic; otherwise it is done under a lock.
    pub atomic: bool,
    /// A third strand that works as the two others do.
    pub third: bool,
}

/// The programs of a seed.
pub fn needles(count: usize, seed: u64) -> Vec<Needle> {
    (0..count).map(|number| Needle::draw(number, seed)).collect()
}

impl Needle {
    fn draw(number: usize, seed: u64) -> Needle {
        let mut rng = Rng::new(seed.wrapping_mul(0x9E37_79B9).wrapping_add(number as u64));
        let lead = LEADS[number % LEADS.len()];
        let carries = [Carry::Argument, Carry::Variable, Carry::Stdin, Carry::File];
        let mut carry = carries[rng.below(4) as usize];
        if lead == Lead::Byte && carry != Carry::Stdin {
            // Neither an argument nor a variable has every byte.
            carry = Carry::File;
        }
        Needle {
            number,
            lead,
            carry,
            bug: BUGS[rng.below(BUGS.len() as u32) as usize],
            which: rng.below(1 << 16),
            sorts: 1 + rng.below(5),
            times: 1 + rng.below(3),
            atomic: rng.below(3) == 0,
            third: rng.below(3) == 0,
        }
    }

    /// The hole of the first part, and the second part's argument.
    fn holes(&self) -> (String, Option<&'static str>) {
        let letters = "abcdefghijklmnopqrstuvwxyz";
        match self.lead {
            Lead::Number => ("{a:int(0..49)}".to_owned(), None),
            Lead::Range => ("{a:int(0..999)}".to_owned(), None),
            Lead::Multiple => ("{a:int(0..9999)}".to_owned(), None),
            Lead::Length => (format!("{{a:string(0..49, {letters})}}"), None),
            Lead::Ends => (format!("{{a:string(2..9, {})}}", &letters[..7]), None),
            Lead::Sum => (format!("{{a:string(4..12, {letters})}}"), None),
            Lead::Byte => ("{a:bytes(4..9)}".to_owned(), None),
            Lead::OptionAndNumber => ("{a:int(0..24)}".to_owned(), Some("{b:flag(--all)}")),
            Lead::WordAndText => (
                format!("{{a:string(1..9, {})}}", &letters[..10]),
                Some("{b:one-of(red,green,blue,black,white)}"),
            ),
            Lead::TwoNumbers => ("{a:int(0..6)}".to_owned(), Some("{b:int(0..6)}")),
        }
    }

    /// The options of `threadbare inputs` that describe its input, and the arguments of the program.
    pub fn words(&self) -> (Vec<String>, Vec<String>) {
        let (hole, second) = self.holes();
        let (mut options, mut arguments) = (Vec::new(), Vec::new());
        match self.carry {
            Carry::Argument => arguments.push(hole),
            Carry::Variable => options.extend(["--env".to_owned(), format!("GIVEN={hole}")]),
            Carry::Stdin => options.extend(["--stdin".to_owned(), hole]),
            Carry::File => arguments.push(format!("{{f:file({hole})}}")),
        }
        arguments.extend(second.map(str::to_owned));
        (options, arguments)
    }

    /// Whether an input leads to the bug; as the program has it in C.
    pub fn leads(&self, first: &[u8], second: Option<&str>) -> bool {
        let number = || String::from_utf8_lossy(first).parse::<u32>().unwrap_or(0);
        let letter = |at: usize| u32::from(first.get(at).copied().unwrap_or(0)).wrapping_sub(u32::from(b'a'));
        let which = self.which;
        match self.lead {
            Lead::Number => number() == which % 50,
            Lead::Range => (0..20).contains(&(number().wrapping_sub(which % 980))),
            Lead::Multiple => number() % 50 == which % 50,
            Lead::Length => first.len() as u32 == which % 50,
            Lead::Ends => letter(0) == which % 7 && letter(first.len() - 1) == which / 7 % 7,
            Lead::Sum => first.iter().map(|&byte| u32::from(byte)).sum::<u32>() % 50 == which % 50,
            Lead::Byte => first[which as usize % 4] < 5,
            Lead::OptionAndNumber => number() == which % 25 && second == Some("--all"),
            Lead::WordAndText => letter(0) == which % 10 && second == Some("blue"),
            Lead::TwoNumbers => number() == which % 7 && second == Some(&(which / 7 % 7).to_string()),
        }
    }

    /// In a few words.
    pub fn describe(&self) -> String {
        let Needle { lead, carry, bug, sorts, times, .. } = self;
        let (kind, third) =
            (if self.atomic { "atomic" } else { "locked" }, if self.third { ", a third strand" } else { "" });
        format!("{lead:?} by {carry:?}: {bug:?}; {sorts} sorts of {kind} work, up to {times} times{third}")
    }

    /// The program.
    pub fn source(&self) -> String {
        c::source(self)
    }
}
