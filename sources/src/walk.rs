//! The files below a folder that are notes.
