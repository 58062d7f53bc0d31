//! Damage done on purpose: what is saved is what was there, and all of it that the damage left.

mod doubts;
mod in_place;
mod models;
mod older;
mod pages;
mod testing;
