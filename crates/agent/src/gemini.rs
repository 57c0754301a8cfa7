//! Gemini CLI: its id is ours to choose, and a relay starts it anew for each message.
//!
//! Its own lasting mode cannot be resumed: loading a conversation there overwrites it, and the next
//! start deletes what is left. One process a message, resumed by the id, keeps everything.

mod stream;

use crate::agent::{Agent, Versions};
use crate::dialect::Dialect;
use crate::hearing::text;
use crate::launch::{Approach, LaunchPlan, Places, Relay};
use crate::login::{self, Ability, Login, LoginFacts};
use crate::reserved::{Letters, Reserved};
use crate::storage::FileLocation;
use glis_core::session::Session;
use glis_core::spec::{Mode, RefOrigin, SignSource, Takes, Traits};
use serde_json::Value;

/// Arguments that would give the process another conversation, or other streams, than ours.
const OURS: Reserved = Reserved {
    long: &[
        "resume",
        "session-id",
        "session-file",
        "delete-session",
        "list-sessions",
        "prompt",
        "prompt-interactive",
        "output-format",
        "acp",
        "experimental-acp",
        "worktree",
    ],
    short: &['r', 'p', 'i', 'o', 'w'],
    words: &[],
    letters: Letters::Options,
};

/// The name of a conversation's file ends with so much of its id.
const SHORT_ID_CHARS: usize = 8;

/// How a line begins in which it writes down anew everything that it goes on with.
const ANEW: &[u8] = br#"{"$set":{"messages":"#;

/// How a message begins that it gives itself in the user's place, before the first of a conversation.
const CONTEXT: &str = "<session_context>";

pub(crate) struct Gemini;

impl Agent for Gemini {
    fn traits(&self, _mode: Mode, _argv: &[String]) -> Traits {
        Traits { refs: RefOrigin::Chosen, signs: SignSource::Structured, takes: Takes::WhenIdle }
    }

    fn usual_mode(&self) -> Mode {
        Mode::Headless
    }

    /// A message whose turn has failed is taken out again: the whole list is written anew without it.
    fn standing<'t>(&self, transcript: &'t [u8]) -> &'t [u8] {
        let begins = |at: &usize| {
            let line = transcript.get(*at..).is_some_and(|rest| rest.starts_with(ANEW));
            line && (*at == 0 || transcript.get(at - 1) == Some(&b'\n'))
        };
        let last = (0..transcript.len()).rev().find(begins).unwrap_or_default();
        transcript.get(last..).unwrap_or_default()
    }

    /// One whose first turn has failed holds no message any more: it can neither be resumed nor begun
    /// again under the same id while the file is there.
    fn holds_messages(&self, transcript: &[u8]) -> bool {
        let lines = self.standing(transcript).split(|byte| *byte == b'\n');
        let lines = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
        let messages = lines.flat_map(|line| match line.pointer("/$set/messages") {
            Some(Value::Array(messages)) => messages.clone(),
            Some(_) | None => vec![line],
        });
        let mut said =
            messages.filter(|message| ["user", "gemini"].contains(&text(message, "/type")));
        said.any(|message| !stream::content(&message["content"]).starts_with(CONTEXT))
    }

    fn check(&self, mode: Mode, argv: &[String]) -> Result<(), String> {
        if mode == Mode::Terminal {
            return Err("gemini runs with --headless only".to_owned());
        }
        OURS.check(argv)
    }

    fn launch(&self, session: &Session, how: Approach, places: &Places) -> LaunchPlan {
        let spec = &session.spec;
        let mut usual = vec!["gemini", "--output-format", "stream-json"];
        if let Some(mode) = &spec.permission_mode {
            usual.extend(["--approval-mode", mode]);
        }
        if let Some(model) = &spec.model {
            usual.extend(["--model", model]);
        }
        usual.extend(spec.argv.iter().map(String::as_str));
        let id = session.agent.agent_ref.clone().unwrap_or_default();
        let with = |option: &str| -> Vec<String> {
            usual.iter().copied().chain([option, &id]).map(ToOwned::to_owned).collect()
        };
        let argv = match how {
            Approach::Fresh => with("--session-id"),
            Approach::Resume => Vec::new(),
        };
        let later = with("--resume");
        let relay = Relay { agent: "gemini", kept: kept(&id, &places.home), id, later };
        // Else it starts itself once more, and a signal to the first one does nothing.
        let env = vec![("GEMINI_CLI_NO_RELAUNCH".to_owned(), "true".to_owned())];
        LaunchPlan { argv, env, relay: Some(relay), ..LaunchPlan::default() }
    }

    fn home(&self, variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let own = variable("GEMINI_CLI_HOME").filter(|dir| !dir.is_empty());
        Some(format!("{}/.gemini", own.or_else(|| variable("HOME"))?))
    }

    fn transcript(&self, agent_ref: &str, places: &Places) -> Option<FileLocation> {
        (!places.home.is_empty()).then(|| kept(agent_ref, &places.home))
    }

    fn packages(&self) -> &'static [&'static str] {
        &["@google/gemini-cli"]
    }

    fn versions(&self) -> Option<Versions> {
        Some(Versions { oldest: (0, 61, 0), tried: (0, 61, 0), bad: &[] })
    }

    fn login(&self) -> Login {
        Login::Files(&[".gemini/settings.json", ".gemini/.env", ".env"])
    }

    fn ability(&self, facts: &LoginFacts<'_>) -> Ability {
        login::gemini(facts)
    }

    fn dialect(&self, _mode: Mode) -> Box<dyn Dialect> {
        Box::new(stream::Stream::default())
    }
}

/// The file of a conversation: `tmp/PROJECT/chats/session-TIME-SHORTID.jsonl`.
fn kept(id: &str, home: &str) -> FileLocation {
    let short: String = id.chars().take(SHORT_ID_CHARS).collect();
    let folder = format!("{home}/tmp");
    FileLocation::Below { folder, levels: 2, ending: format!("-{short}.jsonl") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_conversation_cannot_be_asked_for() {
        for arg in ["--resume=latest", "-r", "-r5", "-yr5", "--sessionId=x", "-p", "--acp", "-dw"] {
            assert!(Gemini.check(Mode::Headless, &[arg.to_owned()]).is_err(), "{arg}");
        }
        for arg in ["--skip-trust", "-y", "-m=pro", "--include-directories=../docs"] {
            assert!(Gemini.check(Mode::Headless, &[arg.to_owned()]).is_ok(), "{arg}");
        }
        assert!(Gemini.check(Mode::Terminal, &[]).is_err());
    }

    #[test]
    fn a_conversation_whose_first_turn_failed_holds_no_message() {
        let meta = r#"{"sessionId":"47f5","projectHash":"2a15","kind":"main"}"#;
        let context = r#"{"id":"a","type":"user","content":[{"text":"<session_context>\nToday"}]}"#;
        let anew = format!(r#"{{"$set":{{"messages":[{context}]}}}}"#);
        let hello = r#"{"id":"b","type":"user","content":[{"text":"hello"}]}"#;
        let holds = |lines: &[&str]| Gemini.holds_messages(lines.join("\n").as_bytes());
        assert!(holds(&[meta, &anew, hello]));
        assert!(!holds(&[meta, &anew, hello, &anew]));
        assert!(holds(&[
            meta,
            &anew,
            hello,
            &format!(r#"{{"$set":{{"messages":[{context},{hello}]}}}}"#)
        ]));
        assert!(!holds(&[meta]));
    }

    #[test]
    fn its_conversations_lie_below_its_home() {
        let home = |name: &str| (name == "HOME").then(|| "/h".to_owned());
        assert_eq!(Gemini.home(&home).as_deref(), Some("/h/.gemini"));
        let wanted = FileLocation::Below {
            folder: "/h/.gemini/tmp".to_owned(),
            levels: 2,
            ending: "-313468e7.jsonl".to_owned(),
        };
        assert_eq!(kept("313468e7-7bb0-43c5-ae45-93ef26c5b8a0", "/h/.gemini"), wanted);
    }
}
