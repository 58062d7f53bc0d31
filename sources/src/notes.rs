//! A note's blocks: headings, paragraphs, lists, fences.
