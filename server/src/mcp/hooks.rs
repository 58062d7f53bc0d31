//! Answers the hooks of clients on the socket of the store.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::local::{LONGEST_LINE, Listening, Stream};
use crate::ops::hooks;
use crate::serving::{Access, Dispatcher};
use crate::wire::{HOOK_VERSION, HookReply, HookRequest};

/// Hooks that are answered at once.
const AT_ONCE: usize = 8;
/// A hook has given up by then.
const TIMEOUT: Duration = Duration::from_secs(1);
/// How often it is tried to take over from another server, or from an error.
const RETRY: Duration = Duration::from_secs(1);

/// Answers until it is aborted, whenever no other server of the store does.
pub async fn answer(dispatcher: Dispatcher, store: PathBuf) {
    // The store has its folder then, and can be searched.
    if dispatcher.opened().await.is_none() {
        return;
    }
    let mut reported = false;
    loop {
        match Listening::start(&store) {
            Ok(Some(listening)) => {
                if let Err(error) = accept(&dispatcher, listening).await {
                    tracing::warn!("hooks are not answered for now: {error}");
                }
            }
            Ok(None) => {}
            Err(error) if !reported => {
                reported = true;
                tracing::info!("hooks of clients search by themselves: {error}");
            }
            Err(_) => {}
        }
        sleep(RETRY).await;
    }
}

async fn accept(dispatcher: &Dispatcher, mut listening: Listening) -> io::Result<()> {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return Ok(()) };
        let stream = listening.accept().await?;
        let dispatcher = dispatcher.clone();
        tokio::spawn(async move {
            if timeout(TIMEOUT, one(&dispatcher, stream)).await.is_err() {
                tracing::debug!("a hook was not answered in time");
            }
            drop(place);
        });
    }
}

/// Answers one hook. What its session was given is noted only if the answer was taken.
async fn one(dispatcher: &Dispatcher, stream: Stream) {
    let mut stream = BufReader::new(stream);
    let mut line = Vec::new();
    if (&mut stream).take(LONGEST_LINE).read_until(b'\n', &mut line).await.is_err() {
        return;
    }
    let request = serde_json::from_slice::<HookRequest>(&line);
    let Some(request) = request.ok().filter(|request| request.version == HOOK_VERSION) else { return };
    let request = Arc::new(request);
    let asked = request.clone();
    let answered = dispatcher.call(Access::Read, move |engine| hooks::answer(engine, &asked)).await;
    let answered = match answered {
        Ok(Ok(answered)) => answered,
        Ok(Err(error)) => {
            tracing::info!("a hook is not answered: {error}");
            return;
        }
        Err(_) => return,
    };
    let reply = HookReply { version: HOOK_VERSION, text: answered.text.clone() };
    let Ok(mut reply) = serde_json::to_vec(&reply) else { return };
    reply.push(b'\n');
    if stream.write_all(&reply).await.is_err() || stream.flush().await.is_err() {
        return;
    }
    let noted = dispatcher.call(Access::Read, move |engine| hooks::delivered(engine, &request, &answered)).await;
    if let Ok(Err(error)) = noted {
        tracing::info!("what a session was given could not be noted: {error}");
    }
}

#[cfg(test)]
mod tests {
    use memorist_clients::Client;
    use memorist_clients::hooks::{Call, Event};
    use memorist_engine::config::Config;
    use memorist_engine::types::{NewRecord, Viewer};

    use super::*;
    use crate::hooks::HookSettings;
    use crate::local::ask;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_hook_gets_its_answer_from_a_running_server() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().to_owned();
        let (dispatcher, _failed) = Dispatcher::open(store.clone(), Config::without_model());
        let add = |engine: &memorist_engine::Engine| {
            engine.add(&NewRecord::new("The password of the harbour database rotates every Tuesday")).unwrap()
        };
        dispatcher.call(Access::Write, add).await.ok().unwrap();
        let answering = tokio::spawn(answer(dispatcher.clone(), store.clone()));
        let call = Call {
            message: Some("when does the password of the harbour database rotate?".to_owned()),
            ..Call::default()
        };
        let mut request =
            HookRequest::new(Client::ClaudeCode, Event::Prompt, call, &[], &Viewer::OWNER, &HookSettings::default());
        request.words_only = true;
        let asking = tokio::task::spawn_blocking(move || {
            (0..100).find_map(|_| {
                // It may not listen yet.
                std::thread::sleep(Duration::from_millis(50));
                ask(&store, &request, Duration::from_secs(5))
            })
        });
        let text = asking.await.unwrap().and_then(|reply| reply.text);
        assert!(text.as_deref().is_some_and(|text| text.contains("Tuesday")), "{text:?}");
        answering.abort();
        let _ = answering.await;
        dispatcher.close().await;
    }
}
