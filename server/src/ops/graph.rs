//! Links, chains and digests.

use memorist_engine::types::{ChainQuery, DigestQuery, Link, OutdatedQuery, Viewer};
use memorist_engine::{Engine, Error, Result};

use super::Context;
use crate::wire::{
    self, ChainParams, ChainResult, DigestParams, DigestResult, Int, LinkParams, LinkResult, OutdatedParams,
    OutdatedResult, UnlinkResult,
};

/// Default number of memories of a chain, or of a list of outdated ones.
const SHOWN: usize = 50;
/// Default number of tokens of a digest.
const DIGEST_TOKENS: usize = 1_000;

pub fn link(engine: &Engine, context: &Context, params: LinkParams) -> Result<LinkResult> {
    let viewer = context.defaults.viewer(&params.project, &params.agent)?;
    Ok(LinkResult { created: engine.viewed_by(&viewer).link(named(&params))? })
}

pub fn unlink(engine: &Engine, context: &Context, params: LinkParams) -> Result<UnlinkResult> {
    let viewer = context.defaults.viewer(&params.project, &params.agent)?;
    Ok(UnlinkResult { removed: engine.viewed_by(&viewer).unlink(named(&params))? })
}

fn named(params: &LinkParams) -> Link {
    Link { from: params.from_id.0.into(), to: params.to_id.0.into(), kind: params.link_type }
}

/// `memory_chain`. An unknown id is an answer, not an error.
pub fn chain(engine: &Engine, context: &Context, params: ChainParams) -> Result<ChainResult> {
    let viewer = context.defaults.viewer(&params.project, &params.agent)?;
    let query = chain_query(&params, &viewer, SHOWN)?;
    let chain = engine.chain(&query)?;
    if chain.hops.is_empty() {
        return Ok(ChainResult { error: Some(Error::NotFound(query.start).to_string()), ..ChainResult::default() });
    }
    wire::chain_result(chain, &params)
}

/// The query of a chain; `limit` memories, if the call has no limit.
pub fn chain_query(params: &ChainParams, viewer: &Viewer, limit: usize) -> Result<ChainQuery> {
    let defaults = ChainQuery::new(params.id.0.into(), viewer.clone());
    Ok(ChainQuery {
        direction: params.direction.unwrap_or_default(),
        max_depth: wire::size("maxDepth", params.max_depth, defaults.max_depth)?,
        limit: wire::size("limit", params.limit, limit)?,
        ..defaults
    })
}

pub fn outdated(engine: &Engine, context: &Context, params: OutdatedParams) -> Result<OutdatedResult> {
    let viewer = context.defaults.viewer(&params.project, &params.agent)?;
    let limit = wire::size("limit", params.limit, SHOWN)?;
    let before = params.before.map(|Int(id)| id.into());
    let outdated = engine.outdated(&OutdatedQuery { project: own_project(&viewer), before, limit, viewer })?;
    let next = outdated.last().map(|one| one.record.id.get()).filter(|_| outdated.len() == limit);
    let detail = params.detail.unwrap_or_default();
    Ok(OutdatedResult { results: outdated.into_iter().map(|one| wire::outdated(one, detail)).collect(), next })
}

pub fn digest(engine: &Engine, context: &Context, params: DigestParams) -> Result<DigestResult> {
    let most = wire::size("maxTokens", params.max_tokens, DIGEST_TOKENS)?;
    Ok(wire::digest(engine.digest(&digest_query(context, params)?)?, most))
}

/// The digest as Markdown, from the local replica: without contacting the server of a team's store.
pub fn digest_local(engine: &Engine, context: &Context, params: DigestParams) -> Result<String> {
    let digest = engine.digest_local(&digest_query(context, params)?)?;
    Ok(wire::markdown(&wire::digest(digest, DIGEST_TOKENS)))
}

/// The query of `memory_digest`.
///
/// # Errors
/// [`Error::Invalid`] for names that are invalid, or that the client may not use.
pub fn digest_query(context: &Context, params: DigestParams) -> Result<DigestQuery> {
    let viewer = context.defaults.viewer(&params.project, &params.agent)?;
    let query = DigestQuery { project: own_project(&viewer), feature: params.feature, viewer, with_superseded: false };
    query.validate()?;
    Ok(query)
}

/// A query about a project concerns its own memories, without the global ones.
fn own_project(viewer: &Viewer) -> Option<String> {
    viewer.project.name().map(str::to_owned)
}
