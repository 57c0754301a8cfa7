//! What agents have used, and which there are, as tables.

use crate::width::width;
use glis_core::plain::in_sight;
use glis_wire::view::{AgentView, ChoicesView, CostView, PersonaView};

/// What `cost` prints: a line each, and the sum.
pub(crate) fn costs(all: &[CostView]) -> String {
    if all.is_empty() {
        return "No agent has told what it used.".to_owned();
    }
    let sum = CostView::together(all);
    let several = (all.len() > 1).then_some(&sum);
    let name = |one: &CostView| in_sight(&one.key);
    let names: Vec<String> = all.iter().chain(several).map(name).collect();
    let wide = names.iter().map(|name| width(name)).max().unwrap_or(0);
    let line = |(one, name): (&CostView, &String)| {
        let usd = one.usd.map_or_else(|| "-".to_owned(), |usd| format!("${usd:.2}"));
        let gap = " ".repeat(wide - width(name));
        format!("{name}{gap}  {:>12}  {:>12}  {usd:>9}", one.tokens_in, one.tokens_out)
    };
    let head = format!("{:wide$}  {:>12}  {:>12}  {:>9}", "", "TOKENS IN", "TOKENS OUT", "COST");
    let lines = all.iter().chain(several).zip(&names).map(line);
    let naps = (sum.suspended > 0).then(|| {
        format!("\nSuspended when idle: {}; woken after that: {}.", sum.suspended, sum.woken)
    });
    std::iter::once(head).chain(lines).chain(naps).collect::<Vec<_>>().join("\n")
}

/// What `agents` prints: which can be started, which is taken where none is named, and the personas.
pub(crate) fn agents(choices: &ChoicesView) -> String {
    let agent = |one: &AgentView| {
        let place = match &one.path {
            Some(path) => path,
            None if one.installed => "built in",
            None => "not installed",
        };
        let usual = if one.usual { "  (usual)" } else { "" };
        format!("{:<10}  {place}{usual}", one.name)
    };
    let persona = |one: &PersonaView| {
        let of = [&one.agent, &one.model].into_iter().flatten().map(String::as_str);
        let words = ["persona", one.name.as_str()].into_iter().chain(of);
        in_sight(&words.collect::<Vec<_>>().join("  "))
    };
    let agents = choices.agents.iter().map(agent);
    agents.chain(choices.personas.iter().map(persona)).collect::<Vec<_>>().join("\n")
}
