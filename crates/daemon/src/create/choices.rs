//! What a new session can be made of, for those who are to choose.

use super::{Creator, USUAL_AGENTS, first_installed};
use crate::environments::Env;
use crate::program;
use glis_wire::view::{AgentView, PersonaView};
use std::path::Path;

impl Creator {
    /// All agents, as of a folder and an environment, and all personas.
    pub(crate) fn choices(
        &self,
        repo: Option<&str>,
        env: &Env,
    ) -> (Vec<AgentView>, Vec<PersonaView>) {
        let config = self.common.settings.now();
        let place = Path::new(repo.unwrap_or("/"));
        let usual = config.default_agent.as_deref().or_else(|| first_installed(Some(env), place));
        let agents = glis_agent::table().iter().map(|(name, _)| {
            let path = program::find(name, env, place).ok().filter(|_| USUAL_AGENTS.contains(name));
            AgentView {
                name: (*name).to_owned(),
                // Of the others one is built in, and one is any program.
                installed: path.is_some() || !USUAL_AGENTS.contains(name),
                path: path.map(|path| path.to_string_lossy().into_owned()),
                usual: usual == Some(*name),
            }
        });
        let personas = config.persona.iter().map(|(name, persona)| PersonaView {
            name: name.clone(),
            agent: persona.agent.clone(),
            model: persona.model.clone(),
        });
        (agents.collect(), personas.collect())
    }
}
