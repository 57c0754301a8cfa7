//! Saves or restores by hand, and says how long it took.
#![expect(clippy::print_stdout, reason = "it is a tool for people")]

use glis_snapshot::{Limits, RestoreRequest, SaveRequest, Stand, restore, save};
use std::path::Path;
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [_, "save", worktree, session] => {
            let limits = Limits { file_bytes_max: 4 << 30, ..Limits::default() };
            let begun = Instant::now();
            let saved = save(&SaveRequest {
                worktree: Path::new(worktree),
                session,
                why: "by hand",
                limits,
            });
            println!("{:?} {saved:#?}", begun.elapsed());
        }
        [_, "restore", repo, reference, to] => {
            let (repo_root, to) = (Path::new(repo), Path::new(to));
            let begun = Instant::now();
            let stand = Stand::AsItWas;
            let lock_owner = "hand";
            let back =
                restore(&RestoreRequest { repo_root, reference, to, lock_owner, stand, own: None });
            println!("{:?} {back:#?}", begun.elapsed());
        }
        _ => println!("save WORKTREE SESSION"),
    }
}
