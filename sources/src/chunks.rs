//! Blocks packed into chunks of a number of tokens.
