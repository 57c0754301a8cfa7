//! Programs whose first argument says what they do.

/// Each with a command that nobody wants by accident.
const COMMANDED: &[(&str, &str)] = &[
    ("apk", "del"),
    ("apt", "purge"),
    ("apt-get", "purge"),
    ("aws", "s3"),
    ("az", "group"),
    ("brew", "uninstall"),
    ("bundle", "exec"),
    ("cargo", "publish"),
    ("composer", "exec"),
    ("conda", "remove"),
    ("dnf", "remove"),
    ("docker", "run"),
    ("docker-compose", "down"),
    ("dotnet", "nuget"),
    ("flatpak", "uninstall"),
    ("flyctl", "destroy"),
    ("gcloud", "projects"),
    ("gem", "push"),
    ("gh", "repo"),
    ("git", "push"),
    ("glab", "repo"),
    ("glis", "rm"),
    ("go", "install"),
    ("gradle", "publish"),
    ("gradlew", "publish"),
    ("heroku", "destroy"),
    ("helm", "uninstall"),
    ("hg", "push"),
    ("jj", "git"),
    ("just", "deploy"),
    ("kubectl", "delete"),
    ("make", "deploy"),
    ("mix", "hex.publish"),
    ("mvn", "deploy"),
    ("netlify", "deploy"),
    ("nix", "run"),
    ("npm", "publish"),
    ("pacman", "remove"),
    ("pip", "uninstall"),
    ("pipenv", "run"),
    ("pipx", "run"),
    ("pnpm", "publish"),
    ("podman", "run"),
    ("poetry", "publish"),
    ("rake", "release"),
    ("rclone", "purge"),
    ("rustup", "run"),
    ("service", "stop"),
    ("snap", "remove"),
    ("svn", "delete"),
    ("systemctl", "stop"),
    ("task", "deploy"),
    ("terraform", "destroy"),
    ("tofu", "destroy"),
    ("uv", "publish"),
    ("vagrant", "destroy"),
    ("vercel", "remove"),
    ("wrangler", "delete"),
    ("yarn", "publish"),
    ("yum", "remove"),
];

/// A command that nobody wants by accident, of a program that has commands.
pub(crate) fn worst_command(program: &str) -> Option<&'static str> {
    let name = without_version(program);
    COMMANDED.iter().find(|(program, _)| *program == name).map(|(_, worst)| *worst)
}

/// A number behind a name is its version: `pip3`.
pub(crate) fn without_version(program: &str) -> &str {
    program.trim_end_matches(|c: char| c.is_ascii_digit() || ".-".contains(c))
}
