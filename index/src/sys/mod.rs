//! Services of the operating system: locks, mappings, and files published so that a crash leaves the old or the new.

pub(crate) mod lock;
pub(crate) mod map;
pub(crate) mod publish;
pub(crate) mod steps;
