//! The real agents in the versions that the tests are made for, and where they are installed.

use std::path::{Path, PathBuf};

/// One real agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RealAgent {
    /// Its name for glis.
    pub name: &'static str,
    /// Its package.
    pub package: &'static str,
    /// The version that the tests are made for.
    pub version: &'static str,
    /// The program inside `node_modules`, as a path for each platform we know.
    programs: &'static [(&'static str, &'static str)],
}

/// Claude Code.
pub const CLAUDE: RealAgent = RealAgent {
    name: "claude",
    package: "@anthropic-ai/claude-code",
    version: "2.1.327",
    programs: &[
        ("linux-x86_64", "@anthropic-ai/claude-code-linux-x64/claude"),
        ("linux-aarch64", "@anthropic-ai/claude-code-linux-arm64/claude"),
    ],
};

/// Codex: the native program, since killing its wrapper leaves the real one behind.
pub const CODEX: RealAgent = RealAgent {
    name: "codex",
    package: "@openai/codex",
    version: "0.169.0",
    programs: &[
        ("linux-x86_64", "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"),
        ("linux-aarch64", "@openai/codex-linux-arm64/vendor/aarch64-unknown-linux-musl/bin/codex"),
    ],
};

/// `OpenCode`.
pub const OPENCODE: RealAgent = RealAgent {
    name: "opencode",
    package: "opencode-ai",
    version: "1.18.33",
    programs: &[
        ("linux-x86_64", "opencode-linux-x64/bin/opencode"),
        ("linux-aarch64", "opencode-linux-arm64/bin/opencode"),
    ],
};

/// Gemini CLI: a script that needs node.
pub const GEMINI: RealAgent = RealAgent {
    name: "gemini",
    package: "@google/gemini-cli",
    version: "0.61.0",
    programs: &[("", "@google/gemini-cli/bundle/gemini.js")],
};

/// An older Claude Code: not everybody has the newest, and what is new in it must not be needed.
pub const FORMER_CLAUDE: RealAgent = RealAgent { version: "2.1.325", ..CLAUDE };

/// An older Codex, of before its conversations were written in several files.
pub const FORMER_CODEX: RealAgent = RealAgent { version: "0.166.0", ..CODEX };

/// All of them.
pub const ALL: &[RealAgent] = &[CLAUDE, CODEX, OPENCODE, GEMINI, FORMER_CLAUDE, FORMER_CODEX];

impl RealAgent {
    /// The program inside a folder that the package was installed into; `None` on a platform that
    /// we know no program for.
    pub fn program_in(&self, folder: &Path) -> Option<PathBuf> {
        let here = format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH);
        let fits = |platform: &str| platform.is_empty() || platform == here;
        let program = self.programs.iter().find(|(platform, _)| fits(platform));
        program.map(|(_, program)| folder.join("node_modules").join(program))
    }

    /// Where it is installed, in a folder that all clones share.
    pub fn folder(&self) -> Option<PathBuf> {
        Some(folder()?.join(format!("{}-{}", self.name, self.version)))
    }

    /// The installed program; `None` if it is not there.
    pub fn program(&self) -> Option<PathBuf> {
        self.program_in(&self.folder()?).filter(|program| program.is_file())
    }
}

/// The folder of all installed agents, in the user's cache.
pub fn folder() -> Option<PathBuf> {
    let variable =
        |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = variable("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let cache = cache.or_else(|| variable("HOME").map(|home| home.join(".cache")))?;
    Some(cache.join("glis/agents"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_lies_in_a_folder_that_names_its_version() {
        let folder = CODEX.folder().unwrap();
        assert!(folder.ends_with("glis/agents/codex-0.169.0"), "{}", folder.display());
        assert!(GEMINI.program_in(&folder).unwrap().starts_with(folder.join("node_modules")));
    }
}
