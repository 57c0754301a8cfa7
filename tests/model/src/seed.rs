//! What each real agent needs to find before it starts: its configuration, in folders of the test's
//! own, and the way to the stub model.

use crate::installed::RealAgent;
use serde_json::{Value, json};
use std::io;
use std::path::{Path, PathBuf};

/// Variables of the caller's that would lead an agent to the caller's own things, or tell it that
/// it runs inside another agent.
pub const FOREIGN: &[&str] = &[
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_MODEL",
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CODEX_HOME",
    "GEMINI_CLI",
    "GOOGLE_API_KEY",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENCODE_CONFIG",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "http_proxy",
    "https_proxy",
];

/// A key that no vendor gave to anybody.
const KEY: &str = "sk-stub-0123456789abcdefghijklmnop";
/// Claude Code remembers an approved key by so many of its last characters.
const KEY_END: usize = 20;

/// Where the agent keeps its configuration below a home.
pub fn config(agent: &RealAgent, home: &Path) -> PathBuf {
    home.join(match agent.name {
        "claude" => ".claude",
        "codex" => ".codex",
        "opencode" => ".config/opencode",
        _ => ".gemini",
    })
}

/// Writes the agent's configuration and returns the variables that it needs.
pub fn plant(
    agent: &RealAgent,
    home: &Path,
    repo: &Path,
    url: &str,
) -> io::Result<Vec<(&'static str, String)>> {
    let config = config(agent, home);
    std::fs::create_dir_all(&config)?;
    let write = |file: &str, text: &str| std::fs::write(config.join(file), text);
    Ok(match agent.name {
        "claude" => {
            write(".claude.json", &claude(repo).to_string())?;
            write("settings.json", "{\"cleanupPeriodDays\": 99}\n")?;
            let mut variables = vec![
                ("ANTHROPIC_BASE_URL", url.to_owned()),
                ("ANTHROPIC_API_KEY", KEY.to_owned()),
                ("CLAUDE_CONFIG_DIR", config.display().to_string()),
            ];
            // Nothing in a test reaches beyond loopback.
            for quiet in [
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
                "DISABLE_AUTOUPDATER",
                "DISABLE_TELEMETRY",
                "DISABLE_ERROR_REPORTING",
            ] {
                variables.push((quiet, "1".to_owned()));
            }
            variables
        }
        "codex" => {
            write("config.toml", &codex(url))?;
            vec![("CODEX_HOME", config.display().to_string()), ("STUB_KEY", KEY.to_owned())]
        }
        "opencode" => {
            write("opencode.json", &opencode(url).to_string())?;
            let off = [
                "OPENCODE_DISABLE_AUTOUPDATE",
                "OPENCODE_DISABLE_MODELS_FETCH",
                "OPENCODE_DISABLE_LSP_DOWNLOAD",
                "OPENCODE_DISABLE_DEFAULT_PLUGINS",
            ];
            let off = off.into_iter().map(|name| (name, "1".to_owned()));
            // It lives for seconds, and to optimize it takes a quarter of them.
            off.chain([("BUN_JSC_useDFGJIT", "0".to_owned())]).collect()
        }
        _ => {
            write("settings.json", &gemini().to_string())?;
            vec![
                ("GEMINI_API_KEY", KEY.to_owned()),
                ("GOOGLE_GEMINI_BASE_URL", url.to_owned()),
                ("GEMINI_CLI_NO_RELAUNCH", "true".to_owned()),
            ]
        }
    })
}

/// Without this, the terminal asks about theme, key and trust before it takes a word.
fn claude(repo: &Path) -> Value {
    let end = KEY.get(KEY.len() - KEY_END..).unwrap_or_default();
    json!({
        "hasCompletedOnboarding": true,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [end], "rejected": []},
        "projects": {repo.display().to_string(): {"hasTrustDialogAccepted": true}},
    })
}

fn codex(url: &str) -> String {
    format!(
        "# a comment that must survive\nmodel = \"stub-model\"\nmodel_provider = \"stub\"\n\
         check_for_update_on_startup = false\n\n[model_providers.stub]\nname = \"stub\"\n\
         base_url = \"{url}/v1\"\nenv_key = \"STUB_KEY\"\nwire_api = \"responses\"\n"
    )
}

fn opencode(url: &str) -> Value {
    json!({
        // It would write this down itself.
        "$schema": "https://opencode.ai/config.json",
        "model": "stub/stub-model",
        "small_model": "stub/stub-model",
        "autoupdate": false,
        "share": "disabled",
        // So that there is something to ask for, and something to do without asking.
        "permission": {"edit": "ask"},
        "provider": {"stub": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "stub",
            "options": {"baseURL": format!("{url}/v1"), "apiKey": KEY},
            "models": {
                "stub-model": {"name": "stub", "limit": {"context": 200_000, "output": 8_000}},
                "other-model": {"name": "other", "limit": {"context": 200_000, "output": 8_000}},
            },
        }},
    })
}

fn gemini() -> Value {
    json!({
        "security": {
            "auth": {"selectedType": "gemini-api-key"},
            "folderTrust": {"enabled": false},
        },
        "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
    })
}
