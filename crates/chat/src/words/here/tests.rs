//! Commands of the machine, as they are typed in a chat.

use super::*;

#[test]
fn what_can_be_typed_here_is_told_as_it_is_typed_here() {
    for (said, told) in [
        ("`glis ls` lists them", "/sessions lists them"),
        ("paused; `glis resume --all` goes on", "paused; /resumeall goes on"),
        ("`glis resume --all --from-log` does", "`glis resume --all --from-log` does"),
        ("`glis pause --all --mode force` does", "`glis pause --all --mode force` does"),
        ("`glis resume blue` or `glis attach blue`", "/resume or `glis attach blue`"),
        ("`glis pause red` first", "/switch red, then /pause first"),
        ("`glis stop NAME` frees a place", "/switch NAME, then /stop frees a place"),
        ("for example: `glis new fix-login`", "for example: /new fix-login"),
        ("`glis pause blue --mode force` stops it", "/pause force stops it"),
        ("`glis rm blue --stop` or `glis send blue TEXT`", "/archive blue or a message"),
        ("no session `glis`", "no session `glis`"),
        ("`glis lsof` and an open ` end", "`glis lsof` and an open ` end"),
        ("", ""),
    ] {
        assert_eq!(in_chat(said, About::Session(Some("blue"))), told);
    }
    for (said, told) in [
        ("`glis restart dust` begins another run", "/plan restart dust begins another run"),
        ("`glis plan show` and `glis ls`", "/plan and /sessions"),
        // The gate is shut for plans as for all else.
        ("`glis resume --all` resumes what was running", "/resumeall resumes what was running"),
    ] {
        assert_eq!(in_chat(said, About::Plan), told);
    }
}
