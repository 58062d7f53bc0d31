//! A look at all memories takes a while, and a page asks for it again with each change of the store. The same is not looked at
//! again all the time: a caller waits a little, and gets the newest result.

use std::collections::HashMap;
use std::sync::{Arc, Mutex as Locked, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio::task::JoinError;
use tokio::time::{Instant, sleep_until};

/// The rest between two looks, as a multiple of the time that the first took.
const REST: u32 = 10;
/// The longest rest.
const LONGEST: Duration = Duration::from_secs(2);
/// Questions that are remembered; beyond that, those whose rest is over are forgotten.
const MANY: usize = 64;

/// Limits how often functions look at all memories.
#[derive(Default)]
pub struct Pace(Locked<HashMap<Asked, NextRun>>);

/// A function and its parameters.
type Asked = (&'static str, Map<String, Value>);

/// The time of the next look at the same. Locked while it is looked at.
type NextRun = Arc<Mutex<Option<Instant>>>;

impl Pace {
    /// Looks, alone and after a rest if the same was asked before. A look that has begun goes on to its end, and the next waits
    /// for it, also when nobody waits for its answer any longer.
    ///
    /// # Errors
    /// If the look panicked.
    pub async fn keep<T: Send + 'static>(
        &self,
        name: &'static str,
        asked: Map<String, Value>,
        look: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, JoinError> {
        let mut turn = self.turn((name, asked)).lock_owned().await;
        if let Some(next) = *turn {
            sleep_until(next).await;
        }
        let looking = tokio::spawn(async move {
            let started = Instant::now();
            let answer = look.await;
            let ended = Instant::now();
            *turn = Some(ended + rest(ended - started));
            answer
        });
        looking.await
    }

    fn turn(&self, asked: Asked) -> NextRun {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if turns.len() >= MANY {
            let now = Instant::now();
            // Nobody has it, and its rest is over.
            let rests = |turn: &mut NextRun| {
                Arc::get_mut(turn).is_none_or(|turn| turn.get_mut().is_some_and(|next| next > now))
            };
            turns.retain(|_, turn| rests(turn));
        }
        turns.entry(asked).or_default().clone()
    }
}

/// How long the next look waits after one that took so long.
fn rest(took: Duration) -> Duration {
    (took * REST).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use serde_json::json;
    use tokio::time::{sleep, timeout};

    use super::*;

    fn of(kind: &str) -> Map<String, Value> {
        json!({ "kind": kind }).as_object().unwrap().clone()
    }

    /// A look, and when it begins and ends.
    async fn look() -> [Instant; 2] {
        let began = Instant::now();
        sleep(Duration::from_millis(20)).await;
        [began, Instant::now()]
    }

    #[test]
    fn a_rest_grows_with_the_work() {
        let rest = |took| rest(Duration::from_millis(took)).as_millis();
        assert_eq!([0, 40, 900].map(rest), [0, 400, 2_000]);
    }

    #[tokio::test]
    async fn the_same_is_looked_at_after_a_rest_and_another_at_once() {
        let pace = Pace::default();
        let [_, ended] = pace.keep("map", of("a"), look()).await.unwrap();
        // Two pages wait together; who asks something else after them does not.
        let (one, two, kind, name) = tokio::join!(
            pace.keep("map", of("a"), look()),
            pace.keep("map", of("a"), look()),
            pace.keep("map", of("b"), look()),
            pace.keep("timeline", of("a"), look()),
        );
        let [mut first, mut second] = [one.unwrap(), two.unwrap()];
        if second < first {
            (first, second) = (second, first);
        }
        for [began, _] in [kind.unwrap(), name.unwrap()] {
            assert!(began < first[0]);
        }
        let rest = Duration::from_millis(200);
        assert!(first[0] >= ended + rest && second[0] >= first[1] + rest);
    }

    /// As of a page that asks again with each change, and no longer waits for the answer before.
    #[tokio::test]
    async fn a_look_that_nobody_waits_for_is_the_only_one_until_it_ends() {
        let pace = Pace::default();
        let looks = Arc::new(AtomicUsize::new(0));
        let slow = || {
            let looks = looks.clone();
            async move {
                looks.fetch_add(1, Ordering::Relaxed);
                sleep(Duration::from_millis(120)).await;
                Instant::now()
            }
        };
        let began = Instant::now();
        for _ in 0..8 {
            let asked = pace.keep("timeline", of("a"), slow());
            assert!(timeout(Duration::from_millis(30), asked).await.is_err());
        }
        assert_eq!(looks.load(Ordering::Relaxed), 1);
        let answered = pace.keep("timeline", of("a"), slow()).await.unwrap();
        assert!(answered >= began + Duration::from_millis(120 + 1_200 + 120));
        assert_eq!(looks.load(Ordering::Relaxed), 2);
    }

    #[tokio::test]
    async fn a_question_is_forgotten_after_its_rest() {
        let pace = Pace::default();
        pace.keep("map", Map::new(), look()).await.unwrap();
        for at in 0..200 {
            pace.keep("timeline", of(&at.to_string()), async {}).await.unwrap();
        }
        assert!(pace.0.lock().unwrap().len() <= MANY);
        assert!(pace.0.lock().unwrap().contains_key(&("map", Map::new())), "it rests");
    }
}
