//! The bounds of a body, and how a body refers to a record.

/// Longest body, in bytes of compact JSON (1 MiB).
pub const MAX_BODY_BYTES: usize = 1 << 20;
/// Maximum nesting of objects and lists in a body, including itself.
pub const MAX_DEPTH: usize = 32;
/// Most entries of a list that the table knows (tools, participants).
pub const MAX_ITEMS: usize = 64;
/// Longest text of one field, in bytes (64 KiB). Labels are limited to [`crate::types::MAX_LABEL_BYTES`].
pub const MAX_TEXT_BYTES: usize = 64 << 10;
/// Prefix of a reference to a record in an exported body, where ids mean nothing; its ULID follows.
pub const ULID_PREFIX: &str = "ulid:";
/// The field whose keys are free, and whose values can be searched for. Bodies of every kind have it but those of profiles, all of whose
/// keys are free.
pub const METADATA: &str = "metadata";
/// Most values of it, those in its lists included.
pub const MAX_METADATA: usize = 256;
/// Why a profile has none.
pub const NO_METADATA: &str = "is not for a profile; give it as a key of its body";
