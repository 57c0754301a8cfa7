//! What an agent is told when it is started. Some agents keep a model or instructions with the
//! conversation, so what they ask their model does not show whether glis said it again.

use glis_agent::{Approach, LaunchPlan, Places, find};
use glis_core::event::{Event, Recorded};
use glis_core::house::House;
use glis_core::session::Session;
use glis_core::spec::{Mode, Spec};
use glis_core::{OpId, SessionId};

/// A session with a persona of every kind of word.
fn session(agent: &str, mode: Mode) -> Option<Session> {
    let argv = vec!["--further=one".to_owned()];
    let traits = find(agent)?.traits(mode, &argv);
    let some = |word: &str| Some(word.to_owned());
    let spec = Spec {
        in_place: true,
        argv,
        model: some("a-model"),
        persona: some("careful"),
        system_prompt: some("Be careful."),
        permission_mode: some("a-mode"),
        ..Spec::plain(agent, mode, traits, "/repo")
    };
    let id = SessionId("id".to_owned());
    let (op, name, agent_ref) = (OpId(1), "blue".to_owned(), some("a-ref"));
    let event = Event::SessionCreated { op, name, spec: Box::new(spec), agent_ref };
    let mut house = House::default();
    house.apply(&Recorded::new(1, 0, id.clone().into(), event));
    house.session(&id).cloned()
}

/// All that reaches the program.
fn told(plan: &LaunchPlan) -> String {
    let later = plan.relay.iter().flat_map(|relay| &relay.later);
    let variables = plan.env.iter().map(|(_, value)| value);
    let words = plan.argv.iter().chain(later).chain(variables).chain([&plan.first_words]);
    words.map(String::as_str).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_persona_is_told_again_at_every_resume() {
    for (name, mode) in [
        ("claude", Mode::Headless),
        ("claude", Mode::Terminal),
        ("codex", Mode::Headless),
        ("codex", Mode::Terminal),
        ("opencode", Mode::Headless),
        ("gemini", Mode::Headless),
    ] {
        let (agent, session) = (find(name).unwrap(), session(name, mode).unwrap());
        let mut words = vec!["a-model", "a-mode", "--further=one"];
        words.extend(agent.takes_instructions().then_some("Be careful."));
        for how in [Approach::Fresh, Approach::Resume] {
            let told = told(&agent.launch(&session, how, &Places::default()));
            for word in &words {
                assert!(told.contains(word), "{name}, {mode:?}, {how:?}, {word}:\n{told}");
            }
        }
        let resumed = told(&agent.launch(&session, Approach::Resume, &Places::default()));
        assert!(resumed.contains("a-ref"), "{name}, {mode:?}:\n{resumed}");
    }
}
