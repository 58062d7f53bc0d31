//! A look at all memories takes a while, and a page asks for it again with each change of the store. The same is not looked at
//! again all the time: whoever asks waits a little, and gets what is there then.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tokio::time::sleep;

/// Between two looks is this many times as long as the first took.
const REST: u32 = 10;
/// And no longer.
const LONGEST: Duration = Duration::from_secs(2);

/// When the functions that look at all memories may do so again.
#[derive(Default)]
pub struct Pace(Mutex<HashMap<&'static str, Look>>);

/// The last look of a function.
struct Look {
    asked: Map<String, Value>,
    ended: Instant,
    took: Duration,
}

impl Pace {
    /// Looks, after a rest if the same was asked last.
    pub async fn keep<T>(&self, name: &'static str, asked: Map<String, Value>, look: impl Future<Output = T>) -> T {
        let rest = self.rest(name, &asked, Instant::now());
        if !rest.is_zero() {
            sleep(rest).await;
        }
        let started = Instant::now();
        let answer = look.await;
        let ended = Instant::now();
        self.looks().insert(name, Look { asked, ended, took: ended - started });
        answer
    }

    fn rest(&self, name: &str, asked: &Map<String, Value>, now: Instant) -> Duration {
        let looks = self.looks();
        let last = looks.get(name).filter(|last| last.asked == *asked);
        last.map_or(Duration::ZERO, |last| {
            (last.ended + (last.took * REST).min(LONGEST)).saturating_duration_since(now)
        })
    }

    fn looks(&self) -> MutexGuard<'_, HashMap<&'static str, Look>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_same_is_looked_at_after_a_rest_that_grows_with_the_work_and_another_at_once() {
        let (pace, now) = (Pace::default(), Instant::now());
        let of = |kind: &str| json!({ "kind": kind }).as_object().unwrap().clone();
        assert_eq!(pace.rest("map", &of("a"), now), Duration::ZERO);
        for (took, rest) in [(40, 400), (900, 2_000)] {
            let took = Duration::from_millis(took);
            pace.looks().insert("map", Look { asked: of("a"), ended: now, took });
            assert_eq!(pace.rest("map", &of("a"), now), Duration::from_millis(rest));
            assert_eq!(pace.rest("map", &of("a"), now + LONGEST), Duration::ZERO);
            assert_eq!(pace.rest("map", &of("b"), now), Duration::ZERO);
            assert_eq!(pace.rest("timeline", &of("a"), now), Duration::ZERO);
        }
    }

    #[tokio::test]
    async fn what_is_asked_for_during_a_rest_is_answered_with_what_is_after_it() {
        let pace = Pace::default();
        let look = async {
            sleep(Duration::from_millis(20)).await;
            Instant::now()
        };
        let first = pace.keep("map", Map::new(), look).await;
        let second = pace.keep("map", Map::new(), async { Instant::now() }).await;
        assert!(second - first >= Duration::from_millis(200));
    }
}
