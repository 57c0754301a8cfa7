//! Whether an agent can work: who is logged in, as its own program or its files tell it.

use serde_json::Value;

/// What tells whether somebody is logged in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Login {
    /// Nothing that is cheap: it is learned by a turn.
    Untold,
    /// Its program, called with these words.
    Call(&'static [&'static str]),
    /// Files of these names: in the folder that it works in or above that, and beside its home.
    Files(&'static [&'static str]),
}

/// What is known when that was looked at.
pub struct LoginFacts<'a> {
    /// What the program printed, or the text of all files that there are.
    pub told: &'a str,
    /// The user's own settings for it.
    pub settings: &'a str,
    /// What the session gives it besides.
    pub arguments: &'a [String],
    /// The variables that it is started with.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

impl LoginFacts<'_> {
    /// Whether one of these variables is set.
    pub(crate) fn has_one_of(&self, names: &[&str]) -> bool {
        names.iter().any(|name| (self.variable)(name).is_some_and(|value| !value.is_empty()))
    }
}

/// Whether an agent can work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ability {
    /// Somebody is logged in, or a key is set. Whether the vendor takes it shows the first turn.
    Able,
    /// Nobody is, and every turn would fail; what to do about it.
    NotLoggedIn { words: String, next: &'static str },
    /// It cannot be told without asking the model.
    Unknown,
}

/// What `claude auth status --json` prints.
pub(crate) fn claude(facts: &LoginFacts<'_>) -> Ability {
    let status: Value = serde_json::from_str(facts.told).unwrap_or_default();
    match status["loggedIn"].as_bool() {
        Some(true) => Ability::Able,
        Some(false) => Ability::NotLoggedIn {
            words: "not logged in".to_owned(),
            next: "`claude auth login` logs in; ANTHROPIC_API_KEY in the environment does, too",
        },
        None => Ability::Unknown,
    }
}

/// What `codex login status` prints. It is about `OpenAI` alone: another provider has a key of its own, or
/// needs none.
pub(crate) fn codex(facts: &LoginFacts<'_>) -> Ability {
    let said = facts.told.lines().find(|line| line.starts_with("Not logged in"));
    let elsewhere = |words: &str| ["provider", "profile", "oss"].iter().any(|w| words.contains(w));
    match said {
        None if facts.told.contains("Logged in using") || facts.told.contains("key configured") => {
            Ability::Able
        }
        Some(said)
            if !elsewhere(facts.settings)
                && !facts.arguments.iter().any(|argument| elsewhere(argument))
                && !facts.has_one_of(&["OPENAI_API_KEY", "CODEX_API_KEY"]) =>
        {
            Ability::NotLoggedIn { words: said.to_owned(), next: "`codex login` logs in" }
        }
        None | Some(_) => Ability::Unknown,
    }
}

/// Variables that say how Gemini CLI logs in. Of these one has to be set if no settings choose a way.
const GEMINI_VARIABLES: [&str; 5] = [
    "GEMINI_API_KEY",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_GENAI_USE_GCA",
    "GEMINI_CLI_USE_COMPUTE_ADC",
    "CLOUD_SHELL",
];

/// Its program tells nothing without a message; its settings and the environment decide. A way that is
/// chosen may need a browser, or have its key in a store of the system: what becomes of it is not told.
pub(crate) fn gemini(facts: &LoginFacts<'_>) -> Ability {
    let chosen = || facts.told.contains("selectedType");
    let written = || GEMINI_VARIABLES.iter().any(|name| facts.told.contains(name));
    if facts.has_one_of(&GEMINI_VARIABLES[..1]) {
        Ability::Able
    } else if facts.has_one_of(&GEMINI_VARIABLES) || chosen() || written() {
        Ability::Unknown
    } else {
        Ability::NotLoggedIn {
            words: "no way to log in is chosen".to_owned(),
            next: "`gemini` asks for one when it is started in a terminal; GEMINI_API_KEY in the \
                   environment is one",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts<'a>(
        told: &'a str,
        settings: &'a str,
        variable: &'a dyn Fn(&str) -> Option<String>,
    ) -> LoginFacts<'a> {
        LoginFacts { told, settings, arguments: &[], variable }
    }

    fn none(_: &str) -> Option<String> {
        None
    }

    #[test]
    fn claude_tells_it_in_json() {
        let ability = |told: &str| claude(&facts(told, "", &none));
        assert_eq!(ability(r#"{"loggedIn": true, "authMethod": "third_party"}"#), Ability::Able);
        let nobody = ability(r#"{"loggedIn": false, "authMethod": "none"}"#);
        assert!(matches!(nobody, Ability::NotLoggedIn { .. }), "{nobody:?}");
        // A version that does not know the call.
        assert_eq!(ability("error: unknown option '--json'"), Ability::Unknown);
    }

    #[test]
    fn codex_that_has_another_provider_needs_no_login() {
        let nobody = "WARNING: proceeding\nNot logged in\n";
        let told = |settings: &str| codex(&facts(nobody, settings, &none));
        assert!(matches!(told(""), Ability::NotLoggedIn { words, .. } if words == "Not logged in"));
        assert_eq!(told("model_provider = \"here\"\n"), Ability::Unknown);
        let key = |name: &str| (name == "OPENAI_API_KEY").then(|| "sk".to_owned());
        assert_eq!(codex(&facts(nobody, "", &key)), Ability::Unknown);
        let arguments = ["--oss".to_owned()];
        let local = LoginFacts { arguments: &arguments, ..facts(nobody, "", &none) };
        assert_eq!(codex(&local), Ability::Unknown);
        for said in ["Logged in using ChatGPT\n", "API key configured - ***\n"] {
            assert_eq!(codex(&facts(said, "", &none)), Ability::Able);
        }
        assert_eq!(codex(&facts("Error checking login status", "", &none)), Ability::Unknown);
    }

    #[test]
    fn gemini_needs_a_way_to_log_in() {
        let ability = |told: &str| gemini(&facts(told, "", &none));
        assert!(matches!(ability("{}"), Ability::NotLoggedIn { .. }));
        for told in
            [r#"{"security":{"auth":{"selectedType":"oauth-personal"}}}"#, "GEMINI_API_KEY=x"]
        {
            assert_eq!(ability(told), Ability::Unknown, "{told}");
        }
        let key = |name: &str| (name == "GEMINI_API_KEY").then(|| "k".to_owned());
        assert_eq!(gemini(&facts("", "", &key)), Ability::Able);
    }
}
