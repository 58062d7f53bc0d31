//! Subscriptions of one client: memories and digests by their URIs. A round of notices compares each with what the client
//! could read of it before, so nothing else is reported, and nothing twice a round.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use memorist_engine::Engine;
use memorist_engine::types::{Millis, RecordId};
use rmcp::ErrorData;
use tokio::task::AbortHandle;

use super::errors::{internal, protocol_error};
use super::resources::{self, Print, ResourceTarget};
use crate::ops::Context;
use crate::serving::{Access, Changes, Dispatcher, Subscriber};

/// Most subscriptions of a client.
pub const MOST: usize = 256;

/// Most of them that are digests.
pub const MOST_DIGESTS: usize = 8;

/// A digest reads many memories, so it is looked at no more often than this. So long a failed round waits for the next, too.
const DIGESTS: Duration = Duration::from_secs(5);

/// Where subscriptions are looked up, and for whom.
#[derive(Clone)]
pub struct SubscriptionSource {
    /// The store.
    pub dispatcher: Dispatcher,
    /// The client's view of it.
    pub context: Arc<Context>,
    /// When to look.
    pub changes: Changes,
    /// The digests of all clients with the same view.
    pub digests: Arc<Digests>,
}

/// Fingerprints of digests in a round of notices. A digest reads many memories, so it is made once for all clients.
#[derive(Default)]
pub struct Digests(Mutex<Made>);

#[derive(Default)]
struct Made {
    round: u64,
    prints: Vec<(ResourceTarget, Option<Print>)>,
}

impl Digests {
    /// The fingerprint of a digest in this round. A caller waits while another makes it.
    fn of(
        &self,
        round: u64,
        named: &ResourceTarget,
        make: impl FnOnce() -> memorist_engine::Result<Option<Print>>,
    ) -> memorist_engine::Result<Option<Print>> {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if made.round != round {
            *made = Made { round, prints: Vec::new() };
        }
        if let Some((_, print)) = made.prints.iter().find(|(known, _)| known == named) {
            return Ok(print.clone());
        }
        let print = make()?;
        made.prints.push((named.clone(), print.clone()));
        Ok(print)
    }
}

/// The subscriptions of a session or of one stream.
#[derive(Default)]
pub struct Subscriptions {
    watched: Mutex<BTreeMap<String, Subscription>>,
    /// Sends the notices of a session; ends with it.
    sending: Mutex<Option<AbortHandle>>,
}

/// A resource that a client subscribes to.
#[derive(Clone)]
struct Subscription {
    named: ResourceTarget,
    /// The fingerprint when it was last looked at.
    print: Option<Print>,
    looked: Instant,
}

impl Drop for Subscriptions {
    fn drop(&mut self) {
        if let Some(sending) = self.sending.get_mut().unwrap_or_else(PoisonError::into_inner) {
            sending.abort();
        }
    }
}

impl Subscriptions {
    /// Adds some, as they are now.
    ///
    /// # Errors
    /// If there are too many, or the store cannot be read.
    pub async fn add(
        &self,
        source: &SubscriptionSource,
        added: Vec<(String, ResourceTarget)>,
    ) -> Result<(), ErrorData> {
        let found = source.look(added.iter().map(|(_, named)| named.clone()).collect(), None).await?;
        let mut watched = self.watched();
        for ((uri, named), print) in added.into_iter().zip(found) {
            let is_new = !watched.contains_key(&uri);
            let digests = || watched.values().filter(|watched| !watched.named.is_memory()).count();
            if is_new && (watched.len() >= MOST || !named.is_memory() && digests() >= MOST_DIGESTS) {
                let why =
                    format!("at most {MOST} subscriptions, {MOST_DIGESTS} of them to digests; unsubscribe from some");
                return Err(ErrorData::invalid_params(why, None));
            }
            watched.insert(uri, Subscription { named, print, looked: Instant::now() });
        }
        Ok(())
    }

    /// The memories that were changed at this moment or later: a stream is acknowledged before [`Subscriptions::add`] looks, and
    /// the store may have to be opened in between.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn changed_since(&self, source: &SubscriptionSource, at: Millis) -> Result<Vec<String>, ErrorData> {
        let named = |(uri, watched): (&String, &Subscription)| match watched.named {
            ResourceTarget::Memory(id) => Some((uri.clone(), RecordId::from(id))),
            ResourceTarget::Digest(_) => None,
        };
        let memories: Vec<_> = self.watched().iter().filter_map(named).collect();
        if memories.is_empty() {
            return Ok(Vec::new());
        }
        let context = source.context.clone();
        let look = move |engine: &Engine| {
            let mut changed = Vec::new();
            for (uri, id) in memories {
                if resources::is_changed_since(engine, &context, id, at)? {
                    changed.push(uri);
                }
            }
            Ok(changed)
        };
        source.read(look).await
    }

    /// Removes one, if it is there.
    pub fn remove(&self, uri: &str) {
        self.watched().remove(uri);
    }

    /// Sends notices as long as the session lives, and only once however often it is called.
    pub fn start<S: Sink>(self: &Arc<Self>, source: &SubscriptionSource, sink: S) {
        let mut sending = self.sending.lock().unwrap_or_else(PoisonError::into_inner);
        if sending.as_ref().is_none_or(AbortHandle::is_finished) {
            let notices = notify(Arc::downgrade(self), source.clone(), source.changes.subscribe(), sink);
            *sending = Some(tokio::spawn(notices).abort_handle());
        }
    }

    fn watched(&self) -> MutexGuard<'_, BTreeMap<String, Subscription>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The resources that have changed since the last round, and whether some were not looked at yet.
    async fn round(&self, source: &SubscriptionSource) -> Result<(Vec<String>, bool), ErrorData> {
        let all: Vec<_> = self.watched().iter().map(|(uri, watched)| (uri.clone(), watched.clone())).collect();
        let is_due = |watched: &Subscription| watched.named.is_memory() || watched.looked.elapsed() >= DIGESTS;
        let count = all.len();
        let due: Vec<_> = all.into_iter().filter(|(_, watched)| is_due(watched)).collect();
        let waits = due.len() < count;
        let wanted = due.iter().map(|(_, watched)| watched.named.clone()).collect();
        let found = source.look(wanted, Some(source.changes.round())).await?;
        let mut watched = self.watched();
        let mut changed = Vec::new();
        for ((uri, before), print) in due.into_iter().zip(found) {
            // Unless the client has unsubscribed meanwhile.
            let Some(now) = watched.get_mut(&uri) else { continue };
            now.looked = Instant::now();
            if before.print != print {
                now.print = print;
                changed.push(uri);
            }
        }
        Ok((changed, waits))
    }
}

impl SubscriptionSource {
    /// The fingerprint of each of these: now, or of digests at least as of the beginning of this round.
    async fn look(&self, wanted: Vec<ResourceTarget>, round: Option<u64>) -> Result<Vec<Option<Print>>, ErrorData> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let (context, digests) = (self.context.clone(), self.digests.clone());
        let print = move |engine: &Engine, named: &ResourceTarget| {
            let make = || resources::print(engine, &context, named);
            match round {
                Some(round) if !named.is_memory() => digests.of(round, named, make),
                _ => make(),
            }
        };
        let look = move |engine: &Engine| wanted.iter().map(|named| print(engine, named)).collect();
        self.read(look).await
    }

    async fn read<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Engine) -> memorist_engine::Result<T> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let found = self.dispatcher.call(Access::Read, look).await;
        found.map_err(|unavailable| internal(unavailable.message()))?.map_err(|error| protocol_error(&error))
    }
}

/// Where notices go.
pub trait Sink: Send + Sync + 'static {
    /// Says that a resource was updated; `false` if the client is gone.
    fn updated(&self, uri: String) -> impl Future<Output = bool> + Send;
}

/// Sends notices until the subscriptions or the client are gone, or the server stops.
pub async fn notify<S: Sink>(of: Weak<Subscriptions>, source: SubscriptionSource, mut changes: Subscriber, sink: S) {
    let mut waits = false;
    while changes.changed(waits.then_some(DIGESTS)).await {
        let Some(subscriptions) = of.upgrade() else { return };
        let round = subscriptions.round(&source).await;
        drop(subscriptions);
        let changed = match round {
            Ok((changed, more)) => {
                waits = more;
                changed
            }
            Err(error) => {
                tracing::debug!("subscriptions could not be checked: {}", error.message);
                // Perhaps nothing is written for long.
                waits = true;
                continue;
            }
        };
        for uri in changed {
            if !sink.updated(uri).await {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use memorist_engine::config::Config;
    use memorist_engine::types::{NewRecord, RecordUpdate, Scope, Viewer};
    use tokio::sync::mpsc;
    use tokio::time::timeout;

    use super::*;
    use crate::serving::INTERVAL;
    use crate::wire::{Defaults, Patch};

    const NEVER: Duration = Duration::from_millis(2_500);
    const SOON: Duration = Duration::from_secs(30);

    impl Sink for mpsc::UnboundedSender<String> {
        async fn updated(&self, uri: String) -> bool {
            self.send(uri).is_ok()
        }
    }

    /// A store, and a client that keeps to the project "apollo".
    struct SubscriptionFixture {
        source: SubscriptionSource,
        subscriptions: Arc<Subscriptions>,
        notices: mpsc::UnboundedReceiver<String>,
        _folder: tempfile::TempDir,
    }

    impl SubscriptionFixture {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let (dispatcher, _failed) = Dispatcher::open(folder.path().to_path_buf(), Config::without_model());
            let defaults = Defaults::named(Some("apollo".into()), None).unwrap().only().unwrap();
            let context = Arc::new(Context { defaults, ..Context::default() });
            let source = SubscriptionSource {
                changes: Changes::of(dispatcher.clone(), INTERVAL),
                dispatcher,
                context,
                digests: Arc::default(),
            };
            let (sink, notices) = mpsc::unbounded_channel();
            let subscriptions = Arc::new(Subscriptions::default());
            subscriptions.start(&source, sink);
            SubscriptionFixture { source, subscriptions, notices, _folder: folder }
        }

        async fn write<T: Send + 'static>(
            &self,
            write: impl FnOnce(&Engine) -> memorist_engine::Result<T> + Send + 'static,
        ) -> T {
            self.source.dispatcher.call(Access::Write, write).await.unwrap().unwrap()
        }

        async fn add(&self, text: &'static str, project: &'static str) -> RecordId {
            let scope = Scope { project: Some(project.into()), agent: None };
            self.write(move |engine| engine.add(&NewRecord { scope, ..NewRecord::new(text) })).await.id
        }

        async fn update(&self, id: RecordId, text: &'static str) {
            let update = RecordUpdate { content: Some(text.into()), ..RecordUpdate::default() };
            self.write(move |engine| engine.viewed_by(&Viewer::OWNER).update(id, &update)).await;
        }

        async fn subscribe(&self, id: i64) -> Result<(), ErrorData> {
            let uri = format!("memory://{id}");
            let named = ResourceTarget::by(&uri).unwrap();
            self.subscriptions.add(&self.source, vec![(uri, named)]).await
        }

        async fn next(&mut self, within: Duration) -> Option<String> {
            timeout(within, self.notices.recv()).await.ok().flatten()
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn changes_before_the_first_look_are_known() {
        let fixture = SubscriptionFixture::new();
        let [changed, deleted, other] = [
            fixture.add("One", "apollo").await,
            fixture.add("Two", "apollo").await,
            fixture.add("Of Gemini", "gemini").await,
        ];
        let kept = fixture.add("Three", "apollo").await;
        tokio::time::sleep(Duration::from_millis(2)).await;
        let acknowledged = jiff::Timestamp::now().as_millisecond();
        fixture.update(changed, "One, and changed").await;
        fixture.update(other, "Of Gemini, and changed").await;
        fixture.write(move |engine| engine.viewed_by(&Viewer::OWNER).delete(deleted)).await;
        for id in [changed, deleted, other, kept] {
            fixture.subscribe(id.get()).await.unwrap();
        }
        let known = fixture.subscriptions.changed_since(&fixture.source, acknowledged).await.unwrap();
        assert_eq!(known, [changed, deleted].map(|id| format!("memory://{id}")));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_stream_without_memories_needs_no_store() {
        // Of a store that does not open, no call returns.
        let broken = tempfile::NamedTempFile::new().unwrap();
        let (dispatcher, _failed) = Dispatcher::open(broken.path().to_path_buf(), Config::without_model());
        let changes = Changes::of(dispatcher.clone(), INTERVAL);
        let source = SubscriptionSource { changes, dispatcher, context: Arc::default(), digests: Arc::default() };
        let none = Subscriptions::default();
        assert_eq!(timeout(SOON, none.changed_since(&source, 0)).await.unwrap().unwrap(), [""; 0]);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn only_what_the_client_can_read_is_reported() {
        let mut fixture = SubscriptionFixture::new();
        let own = fixture.add("Of Apollo", "apollo").await;
        let other = fixture.add("Of Gemini", "gemini").await;
        // The last one is of another project as soon as it is there.
        for id in [own.get(), other.get(), other.get() + 1] {
            fixture.subscribe(id).await.unwrap();
        }
        fixture.update(other, "Of Gemini, and changed").await;
        fixture.add("Of Gemini, and new", "gemini").await;
        assert_eq!(fixture.next(NEVER).await, None);
        fixture.update(own, "Of Apollo, and changed").await;
        assert_eq!(fixture.next(SOON).await, Some(format!("memory://{own}")));
        fixture.write(move |engine| engine.viewed_by(&Viewer::OWNER).access(own)).await;
        assert_eq!(fixture.next(NEVER).await, None, "a read changes nothing");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn nothing_is_reported_after_the_end() {
        let mut fixture = SubscriptionFixture::new();
        let id = fixture.add("Of Apollo", "apollo").await;
        fixture.subscribe(id.get()).await.unwrap();
        fixture.subscriptions.remove(&format!("memory://{id}"));
        fixture.update(id, "Of Apollo, and changed").await;
        assert_eq!(fixture.next(NEVER).await, None);
        fixture.source.changes.close().await;
        assert!(timeout(SOON, fixture.notices.recv()).await.unwrap().is_none(), "the sender has gone");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_client_has_a_limited_number() {
        let fixture = SubscriptionFixture::new();
        for id in 0..MOST as i64 {
            fixture.subscribe(id).await.unwrap();
        }
        fixture.subscribe(0).await.unwrap();
        let refused = fixture.subscribe(MOST as i64).await.unwrap_err();
        assert!(refused.message.contains("unsubscribe"), "{refused:?}");
    }

    #[test]
    fn a_digest_is_made_once_a_round() {
        let digests = Digests::default();
        let of = |round, named, print: &str| digests.of(round, named, || Ok(Some(print.to_owned()))).unwrap().unwrap();
        let (all, own) = (ResourceTarget::Digest(Patch::Absent), ResourceTarget::Digest(Patch::Value("apollo".into())));
        assert_eq!(of(1, &all, "as it was"), "as it was");
        assert_eq!(of(1, &all, "made again"), "as it was");
        assert_eq!(of(1, &own, "another"), "another");
        assert_eq!(of(2, &all, "changed"), "changed");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_client_has_few_digests() {
        let fixture = SubscriptionFixture::new();
        let digest = ResourceTarget::Digest(Patch::Absent);
        for number in 0..MOST_DIGESTS {
            let added = vec![(format!("digest {number}"), digest.clone())];
            fixture.subscriptions.add(&fixture.source, added).await.unwrap();
        }
        let refused = fixture.subscriptions.add(&fixture.source, vec![("one more".into(), digest)]).await.unwrap_err();
        assert!(refused.message.contains("digests"), "{refused:?}");
        fixture.subscribe(1).await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_failed_round_is_repeated_without_another_commit() {
        let mut fixture = SubscriptionFixture::new();
        let id = fixture.add("Of Apollo", "apollo").await;
        fixture.subscribe(id.get()).await.unwrap();
        // It may not be read, so a round with it fails.
        let named = ResourceTarget::Digest(Patch::Value("gemini".into()));
        assert!(!named.is_open_to(&fixture.source.context));
        let looked = Instant::now().checked_sub(DIGESTS).unwrap();
        fixture.subscriptions.watched().insert("bad".into(), Subscription { named, print: None, looked });
        fixture.update(id, "Of Apollo, and changed").await;
        assert_eq!(fixture.next(NEVER).await, None, "the round fails");
        fixture.subscriptions.remove("bad");
        assert_eq!(fixture.next(SOON).await, Some(format!("memory://{id}")));
    }
}
