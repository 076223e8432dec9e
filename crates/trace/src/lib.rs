//! Schedules and event streams of Threadbare.
//!
//! Pure data: what a run did ([`run`], [`report`], [`events`], [`race`], [`locks`]), who took part ([`strands`]), and how to make it again
//! ([`schedule`]). A run can be kept with all that it did ([`recording`]), and asked what came before what ([`order`]). Nothing here starts or
//! reads a process.

pub mod conflicts;
pub mod events;
pub mod hash;
pub mod identity;
pub mod locks;
pub mod order;
pub mod pair;
pub mod race;
pub mod recording;
pub mod report;
pub mod run;
pub mod schedule;
pub mod shape;
pub mod strands;
