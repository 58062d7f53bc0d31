//! Lists that a test changes.

use std::sync::LazyLock;

use rmcp::service::SubscriptionSink;
use tokio::sync::broadcast;

/// Lists that were changed, for the streams that are open.
static CHANGED: LazyLock<broadcast::Sender<CapabilityList>> = LazyLock::new(|| broadcast::channel(16).0);

/// A list that a test changes.
#[derive(Debug, Clone, Copy)]
pub enum CapabilityList {
    Tools,
    Prompts,
}

/// Says that a list was changed.
pub fn changed(list: CapabilityList) {
    // Nobody may listen.
    let _ = CHANGED.send(list);
}

/// Notifies a stream of changed lists, as far as it subscribes to them.
pub async fn pass_on(sink: SubscriptionSink) {
    let mut changed = CHANGED.subscribe();
    while let Ok(list) = changed.recv().await {
        let _ = match list {
            CapabilityList::Tools => sink.notify_tool_list_changed().await,
            CapabilityList::Prompts => sink.notify_prompt_list_changed().await,
        };
    }
    // The product's own subscriptions go on.
    std::future::pending().await
}
