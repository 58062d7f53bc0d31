//! What is on this machine.
