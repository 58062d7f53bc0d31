//! Questions that no generated text answers.

use crate::draws::{Draws, Purpose};
use crate::phrases::{About, Phrases};

/// The first `count` questions of `seed` that nothing answers; 385 are all. They are asked as those about
/// [`conversations`](crate::conversations()) and [`changes`](crate::changes()) are, about people, things and clubs that
/// occur in no text. One in four is about a matter that does not occur, either; the others ask what is known of others.
pub fn unanswerable(seed: u64, count: usize) -> impl Iterator<Item = String> {
    let phrases = Phrases::get();
    let lists = [phrases.asked, phrases.stated, phrases.elsewhere, phrases.changed];
    (0..count).map_while(move |index| {
        let mut draws = Draws::of(seed, Purpose::Unanswerable, index as u64);
        let list = lists[index % lists.len()];
        phrases.instance(seed, list, About::Unknown, index / lists.len(), &mut draws)?.pop()
    })
}
