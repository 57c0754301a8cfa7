//! A persona counts whenever the agent is started: its model, its instructions, what it may do unasked
//! and its further arguments.

use super::Real;
use super::cast::{Instructions, NAME, Part, Play, text};
use crate::support::house::Outcome;
use glis_stub_model::prompt;
use serde_json::{Value, json};

/// What the persona adds to the agent's own instructions. The quotes have to survive every command
/// line and every request.
const INSTRUCTIONS: &str = "Say \"moin\" first.";

/// Paused and resumed, then paused and resumed by another daemon that finds no such persona in the
/// configuration: what the session was made with counts every time. That glis says all of it again, also
/// what some agents would remember, is shown where their command lines are made.
pub(super) fn its_persona_counts_after_every_resume(part: Part) -> Outcome {
    let Some(real) = Real::with(part.agent)? else { return Ok(()) };
    let manners = part.manners;
    let persona = |instructions: Option<&str>| {
        let (model, mode, args) = (json!(part.model), json!(manners.mode), json!(manners.args));
        let instructions = instructions.map(|words| format!("system_prompt = {}\n", json!(words)));
        format!(
            "[persona.careful]\nmodel = {model}\npermission_mode = {mode}\nargs = {args}\n{}",
            instructions.unwrap_or_default()
        )
    };
    let instructions = (manners.instructions == Instructions::Taken).then_some(INSTRUCTIONS);
    if instructions.is_none() {
        real.house.configure(&persona(Some(INSTRUCTIONS)))?;
        let words = ["new", "other", "--agent", part.agent.name, "--persona", "careful"];
        let (status, error) = real.house.fails(&words)?;
        assert_eq!((status, &error["kind"]), (2, &json!("usage")), "{error}");
    }
    real.house.configure(&persona(instructions))?;
    let play = Play::of(real, part.told(&[]), &["--persona", "careful"])?;

    play.send(&deeds(&play, 1)?)?;
    let made = counts(&play, 1, instructions)?;
    play.pause()?;
    play.house().json(&["resume", NAME, "--prompt", &deeds(&play, 2)?])?;
    assert_eq!(counts(&play, 2, instructions)?, made);
    play.pause()?;
    play.house().kill_daemon()?;
    play.house().configure("")?;
    play.house().json(&["resume", NAME, "--prompt", &deeds(&play, 3)?])?;
    assert_eq!(counts(&play, 3, instructions)?, made);
    Ok(())
}

/// A message that has the agent do what only its arguments and what only its mode lets it do unasked.
fn deeds(play: &Play, round: u32) -> Outcome<String> {
    let command = format!("{} > by-args-{round}.txt", play.part.manners.by_args);
    let steps = [play.run(&command), play.ask(&format!("by-mode-{round}.txt"))?, text("so it is")];
    Ok(prompt(&format!("round {round}"), &steps))
}

/// Waits for the end of the round and looks at what the agent has done, and what it has told the
/// model. Returns what is shown of the persona.
fn counts(play: &Play, round: u32, instructions: Option<&str>) -> Outcome<Value> {
    let request = play.asked(&format!("round {round}"))?;
    let done = play.until("idle,waiting")?;
    assert_eq!(done["status"], "idle", "round {round}: {done}");
    for (file, kept) in [("by-args", "there\n"), ("by-mode", "written\n")] {
        let path = play.house().file(NAME, &format!("{file}-{round}.txt"))?;
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(written, kept, "{file} in round {round}: {:#?}", play.house().talk(NAME)?);
    }
    assert_eq!(request.model(), "other-model", "round {round}");
    if let Some(words) = instructions {
        // As it stands inside a longer text.
        let quoted = words.replace('"', "\\\"");
        assert!(request.body.to_string().contains(&quoted), "round {round}: not instructed");
    }
    Ok(json!([done["persona"], done["model"], done["permission_mode"], done["argv"]]))
}
