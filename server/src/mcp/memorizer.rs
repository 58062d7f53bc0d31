//! The variables of Memorizer's document, for its profile.

use std::env;

use memorist_engine::config::ModelSource;

use crate::embedding::{EmbeddingSection, Provider};
use crate::exit::Failure;
use crate::settings::{self, Settings};

/// Adds what embeds, by the variables, unless the settings name another model than the default.
pub fn configure(settings: &mut Settings) -> Result<(), Failure> {
    if settings.engine.model.source != ModelSource::Default {
        return Ok(());
    }
    match section(|name| env::var(name).ok()).map_err(Failure::input)? {
        Some(section) => settings::embed_with(&section, &mut settings.engine.model, &settings.store, settings.output),
        None => Ok(()),
    }
}

/// Embedding by the variables: `EMBEDDING_PROVIDER` is a provider, and `LMSTUDIO_HOST` the address of LM Studio.
fn section(variable: impl Fn(&str) -> Option<String>) -> Result<Option<EmbeddingSection>, String> {
    let set = |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    let Some(name) = set("EMBEDDING_PROVIDER") else { return Ok(None) };
    let provider = Provider::named(&name.to_lowercase()).filter(|provider| *provider != Provider::Onnx);
    let provider = provider.ok_or("EMBEDDING_PROVIDER: must be ollama, lmstudio, groq, local or none")?;
    let host = set("LMSTUDIO_HOST").filter(|_| provider == Provider::LmStudio);
    Ok(Some(EmbeddingSection { provider: Some(provider), url: host.map(address), ..EmbeddingSection::default() }))
}

/// The address below which LM Studio answers, from that of the machine.
fn address(host: String) -> String {
    let host = if host.contains("://") { host } else { format!("http://{host}") };
    let host = host.trim_end_matches('/');
    if host.ends_with("/v1") { host.to_owned() } else { format!("{host}/v1") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// E5.
    #[test]
    fn the_variables_of_the_document_say_what_embeds() {
        let of = |given: &[(&str, &str)]| {
            section(|name| given.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
        };
        let found = |given: &[(&str, &str)]| {
            let section = of(given).unwrap().unwrap();
            (section.provider.unwrap(), section.url)
        };
        assert_eq!(of(&[("LMSTUDIO_HOST", "http://box:1234")]), Ok(None));
        assert_eq!(of(&[("EMBEDDING_PROVIDER", " ")]), Ok(None));
        assert_eq!(found(&[("EMBEDDING_PROVIDER", "ollama"), ("LMSTUDIO_HOST", "x")]), (Provider::Ollama, None));
        assert_eq!(found(&[("EMBEDDING_PROVIDER", "None")]), (Provider::None, None));
        let lmstudio = |host| found(&[("EMBEDDING_PROVIDER", "lmstudio"), ("LMSTUDIO_HOST", host)]).1.unwrap();
        for host in ["http://box:1234", "http://box:1234/", "box:1234", "http://box:1234/v1"] {
            assert_eq!(lmstudio(host), "http://box:1234/v1", "{host}");
        }
        assert!(of(&[("EMBEDDING_PROVIDER", "acme")]).unwrap_err().contains("ollama"));
    }
}
