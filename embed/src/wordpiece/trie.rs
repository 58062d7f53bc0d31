//! The vocabulary: the longest token at a place in a word.
//!
//! A double array: the child of a node by a byte is at the node's base, xor the byte, if that slot names the node as its
//! parent.

use std::collections::HashMap;

/// No parent.
const NONE: u32 = u32::MAX;
/// The bit of a base that marks that a token ends at the node.
const TOKEN: u32 = 1 << 31;
/// Slots that are searched for a gap, from the end: more would make the array a little smaller, and slow to build.
const SEARCHED: usize = 16 << 8;
// Bytes that no word contains, before tokens that begin a word and before those that continue one.
const WORD: u8 = 0;
const PIECE: u8 = 1;

/// Tokens by their bytes.
#[derive(Debug, Clone)]
pub struct Trie {
    nodes: Vec<Node>,
    /// The token that ends at each node.
    ids: Vec<u32>,
    /// The node at which tokens begin that begin a word.
    pub words: u32,
    /// The node at which tokens begin that continue one.
    pub pieces: u32,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    base: u32,
    parent: u32,
}

const FREE: Node = Node { base: 0, parent: NONE };

impl Trie {
    /// Builds the trie of a vocabulary, where `##` marks tokens that continue a word. `None` if it has neither kind.
    pub fn new(vocabulary: &HashMap<String, u32>) -> Option<Self> {
        let mut keys: Vec<(Vec<u8>, u32)> = vocabulary
            .iter()
            .map(|(token, &id)| match token.strip_prefix("##") {
                Some(rest) => ([&[PIECE], rest.as_bytes()].concat(), id),
                None => ([&[WORD], token.as_bytes()].concat(), id),
            })
            .collect();
        keys.sort_unstable();
        let mut trie = Trie { nodes: vec![FREE; 256], ids: Vec::new(), words: 0, pieces: 0 };
        trie.fill(&keys)?;
        trie.words = trie.child(0, WORD)?;
        trie.pieces = trie.child(0, PIECE)?;
        Some(trie)
    }

    /// The length and the id of the longest token that `word` begins with, in capitals or not.
    pub fn longest(&self, start: u32, word: &[u8]) -> Option<(usize, u32)> {
        let mut node = start;
        let mut base = self.nodes.get(start as usize)?.base;
        let (mut length, mut last) = (0, 0);
        for (index, byte) in word.iter().enumerate() {
            let next = (base & !TOKEN) ^ u32::from(byte.to_ascii_lowercase());
            match self.nodes.get(next as usize) {
                Some(child) if child.parent == node => (node, base) = (next, child.base),
                _ => break,
            }
            if base & TOKEN != 0 {
                (length, last) = (index + 1, node);
            }
        }
        (length > 0).then(|| Some((length, *self.ids.get(last as usize)?)))?
    }

    fn child(&self, node: u32, byte: u8) -> Option<u32> {
        let child = (self.nodes.get(node as usize)?.base & !TOKEN) ^ u32::from(byte);
        (self.nodes.get(child as usize)?.parent == node).then_some(child)
    }

    /// Places sorted keys.
    fn fill(&mut self, keys: &[(Vec<u8>, u32)]) -> Option<()> {
        // The root is nobody's child, and its slot is taken.
        self.nodes[0].parent = NONE - 1;
        let mut ids = Vec::new();
        let mut free = 1;
        let mut open = vec![(0u32, keys, 0usize)];
        while let Some((node, mut keys, depth)) = open.pop() {
            if let Some((key, id)) = keys.first()
                && key.len() == depth
            {
                ids.push((node, *id));
                keys = &keys[1..];
            }
            let groups: Vec<_> = keys.chunk_by(|a, b| a.0[depth] == b.0[depth]).collect();
            let bytes: Vec<u8> = groups.iter().map(|group| group[0].0[depth]).collect();
            let Some(&first) = bytes.first() else { continue };
            let base = self.gap(&mut free, first, &bytes)?;
            self.nodes[node as usize].base = base;
            for (byte, group) in bytes.iter().zip(groups) {
                let child = base ^ u32::from(*byte);
                self.nodes[child as usize].parent = node;
                open.push((child, group, depth + 1));
            }
        }
        self.ids = vec![0; self.nodes.len()];
        for (node, id) in ids {
            self.nodes[node as usize].base |= TOKEN;
            self.ids[node as usize] = id;
        }
        Some(())
    }

    /// A base whose slots for all of `bytes` are free. `free` is before the first free slot that is searched.
    fn gap(&mut self, free: &mut usize, first: u8, bytes: &[u8]) -> Option<u32> {
        *free = (*free).max(self.nodes.len().saturating_sub(SEARCHED));
        while self.nodes.get(*free).is_some_and(|node| node.parent != NONE) {
            *free += 1;
        }
        for slot in *free.. {
            // The slots of a base are in one run of 256.
            if slot >= self.nodes.len() {
                self.nodes.resize((slot | 0xFF) + 1, FREE);
            }
            let base = slot as u32 ^ u32::from(first);
            if bytes.iter().all(|byte| self.nodes[(base ^ u32::from(*byte)) as usize].parent == NONE) {
                return Some(base);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_token_at_a_place_is_found() {
        let tokens = ["a", "ab", "abcd", "##c", "##cd", "\u{e9}", "##"];
        let trie = Trie::new(&tokens.iter().zip(0..).map(|(token, id)| ((*token).to_owned(), id)).collect()).unwrap();
        assert_eq!(trie.longest(trie.words, b"ABCX"), Some((2, 1)));
        assert_eq!(trie.longest(trie.words, b"abcdef"), Some((4, 2)));
        assert_eq!(trie.longest(trie.pieces, b"cde"), Some((2, 4)));
        assert_eq!(trie.longest(trie.words, "\u{e9}".as_bytes()), Some((2, 5)));
        assert_eq!(trie.longest(trie.words, b"c"), None);
        assert_eq!(trie.longest(trie.pieces, b"a"), None);
        assert!(Trie::new(&HashMap::new()).is_none());
    }
}
