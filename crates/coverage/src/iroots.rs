//! Iroots in the kept coverage: instances of interleaving idioms, by places, and what came of each.

use crate::kept::{CampaignCoverage, Spot};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use threadbare_idioms::{Does, IDIOMS, Iroot};

/// What is known of an iroot. What comes later counts more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It could be.
    Predicted,
    /// It was tried and did not come true.
    Infeasible,
    /// A run showed it.
    Shown,
}

/// Places of events, and what these do.
type Places<T> = Vec<(T, Does)>;

/// The iroots of a campaign: idiom, state, and its events by the number of the place and what they do.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct KeptIroots(Vec<(u8, State, Places<u32>)>);

/// How many iroots there are, by idiom.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct IrootCounts {
    /// That could be, those that were among them.
    pub predicted: [u64; IDIOMS],
    /// That runs showed.
    pub shown: [u64; IDIOMS],
    /// That were tried and did not come true.
    pub infeasible: [u64; IDIOMS],
}

impl IrootCounts {
    /// Of all idioms: predicted, shown, infeasible.
    pub fn all(&self) -> (u64, u64, u64) {
        (self.predicted.iter().sum(), self.shown.iter().sum(), self.infeasible.iter().sum())
    }
}

impl CampaignCoverage {
    /// The same with its iroots; `spot` tells of a place where it is.
    pub fn with_iroots(
        mut self,
        iroots: impl IntoIterator<Item = (Iroot, State)>,
        mut spot: impl FnMut(u64) -> Spot,
    ) -> CampaignCoverage {
        let mut numbers: HashMap<u64, u32> = HashMap::new();
        let mut kept = Vec::new();
        for (iroot, state) in iroots {
            let mut events = Vec::new();
            for event in iroot.events() {
                let number = *numbers.entry(event.place).or_insert_with(|| {
                    let spot = spot(event.place);
                    let known = self.spots.iter().position(|other| *other == spot);
                    known.unwrap_or_else(|| {
                        self.spots.push(spot);
                        self.spots.len() - 1
                    }) as u32
                });
                events.push((number, event.does));
            }
            kept.push((iroot.idiom, state, events));
        }
        self.iroots = Some(KeptIroots(kept));
        self
    }
}

/// The iroots of several campaigns.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MergedIroots<'a> {
    states: BTreeMap<(u8, Places<&'a str>), State>,
}

impl<'a> MergedIroots<'a> {
    /// Puts those of campaigns together; none if none has any.
    pub fn of(campaigns: &[&'a CampaignCoverage]) -> Option<MergedIroots<'a>> {
        let mut merged: Option<MergedIroots<'a>> = None;
        for campaign in campaigns {
            let Some(iroots) = &campaign.iroots else { continue };
            let states = &mut merged.get_or_insert_default().states;
            for (idiom, state, events) in &iroots.0 {
                let named = events.iter().map(|&(number, does)| {
                    (campaign.spots.get(number as usize).map_or("", |spot| spot.address.as_str()), does)
                });
                let kept = states.entry((*idiom, named.collect())).or_insert(*state);
                *kept = (*kept).max(*state);
            }
        }
        merged
    }

    /// How many there are.
    pub fn counts(&self) -> IrootCounts {
        let mut counts = IrootCounts::default();
        for ((idiom, _), state) in &self.states {
            let at = usize::from(*idiom).clamp(1, IDIOMS) - 1;
            counts.predicted[at] += 1;
            match state {
                State::Predicted => {}
                State::Shown => counts.shown[at] += 1,
                State::Infeasible => counts.infeasible[at] += 1,
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Books;
    use crate::kept::{Identity, Kept};
    use threadbare_idioms::PlaceEvent;

    fn campaign(seed: u64, iroots: &[(u8, u64, State)]) -> CampaignCoverage {
        let spot = |pc: u64| Spot { address: format!("bank+{pc:#x}"), ..Spot::default() };
        let identity = Identity { program: "bank".into(), seed, ..Identity::default() };
        let of = |&(idiom, place, state): &(u8, u64, State)| {
            let events = [place, 0x20, 0x30, 0x40].map(|place| PlaceEvent { place, does: Does::Write });
            (Iroot::new(idiom, &events), state)
        };
        CampaignCoverage::new(identity, &Books::default(), spot).with_iroots(iroots.iter().map(of), spot)
    }

    #[test]
    fn what_any_campaign_has_shown_is_shown() {
        let one = campaign(
            1,
            &[(1, 0x10, State::Infeasible), (1, 0x11, State::Shown), (4, 0x10, State::Predicted)],
        );
        let two = campaign(
            2,
            &[(1, 0x10, State::Shown), (1, 0x11, State::Predicted), (4, 0x10, State::Infeasible)],
        );
        let mut kept = Kept::default();
        kept.add(one);
        kept.add(two);
        let again = Kept::parse(&kept.to_text()).unwrap();
        assert_eq!(again, kept);
        let campaigns: Vec<&CampaignCoverage> = again.campaigns.iter().collect();
        let counts = MergedIroots::of(&campaigns).unwrap().counts();
        assert_eq!((counts.all(), counts.shown[0], counts.infeasible[3]), ((3, 2, 1), 2, 1));
        assert_eq!(MergedIroots::of(&[]), None);
    }
}
