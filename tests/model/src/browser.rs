//! What tests use of others: a browser for the page with what drives it, a Bot API, and what makes a client of the
//! description of the API.

use std::path::PathBuf;

/// The packages, in the versions that the tests are made for.
pub const PACKAGES: [(&str, &str); 6] = [
    ("playwright-core", "1.65.0"),
    ("axe-core", "4.14.0"),
    ("telegram-test-api", "4.2.1"),
    ("openapi-typescript", "7.13.0"),
    ("openapi-fetch", "0.17.0"),
    // The latest that the generator runs with.
    ("typescript", "5.9.3"),
];

/// Programs that are such a browser, the one without any windows first.
pub const PROGRAMS: [&str; 2] = ["chromium-headless-shell", "chromium"];

/// Where the packages are installed, in a folder that all clones share and that names their versions.
pub fn folder() -> Option<PathBuf> {
    let versions = PACKAGES.map(|(_, version)| version).join("-");
    Some(crate::installed::folder()?.with_file_name("browser").join(versions))
}

/// The folder with the modules; `None` if one of them is not there.
pub fn modules() -> Option<PathBuf> {
    let modules = folder()?.join("node_modules");
    let whole = PACKAGES.iter().all(|(name, _)| modules.join(name).join("package.json").is_file());
    whole.then_some(modules)
}

/// The browser, on the path.
pub fn program() -> Option<PathBuf> {
    PROGRAMS.into_iter().find_map(find)
}

/// What runs the stories, on the path.
pub fn node() -> Option<PathBuf> {
    find("node")
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}
