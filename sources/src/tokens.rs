//! How tokens are counted.

/// Counts the tokens that a model makes of a text.
pub trait TokenCount: Send + Sync {
    /// How many there are, without those that mark the beginning and the end.
    fn count(&self, text: &str) -> usize;
}

/// Counts without a model: four characters are a token, and each CJK character is one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Estimate;

impl TokenCount for Estimate {
    fn count(&self, text: &str) -> usize {
        let (mut wide, mut others) = (0, 0);
        for char in text.chars() {
            match u32::from(char) {
                0x2E80..=0xA4CF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0xFF00..=0xFFEF | 0x2_0000..=0x3_FFFF => {
                    wide += 1
                }
                _ => others += 1,
            }
        }
        wide + usize::div_ceil(others, 4)
    }
}
