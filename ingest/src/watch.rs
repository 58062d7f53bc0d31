//! Files are read whenever they change.
