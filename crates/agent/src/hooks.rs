//! The file that an agent's hooks write to: an object a line, and a mark where each process begins.
//!
//! The file goes on over every start of a session, so that no place in it comes twice. What stands
//! before the mark of a process is about former ones, and about conversations that are over.

use serde_json::{Value, json};

/// The name of the file in a session's folder.
pub const FILE: &str = "hooks.jsonl";
/// The name of the mark, where hooks have that of their event. No agent calls one so.
const MARK: &str = "GlisStart";

/// What is written before a process of this generation begins. It stands on a line of its own, also
/// behind half a line of a hook that was killed.
pub fn mark(generation: u32) -> String {
    format!("\n{}\n", json!({"hook_event_name": MARK, "generation": generation}))
}

/// Where in the file the process of this generation begins; 0 for one that was started without a
/// mark, by a former version.
pub fn begun(file: &[u8], generation: u32) -> usize {
    let mut at = 0;
    let mut found = 0;
    for line in file.split_inclusive(|b| *b == b'\n') {
        at += line.len();
        if is_mark(line, generation) {
            found = at;
        }
    }
    found
}

fn is_mark(line: &[u8], generation: u32) -> bool {
    // Most lines are long, and none of them needs to be understood.
    let may = line.len() < 100 && line.windows(MARK.len()).any(|part| part == MARK.as_bytes());
    let words: Option<Value> = may.then(|| serde_json::from_slice(line).ok()).flatten();
    words.is_some_and(|w| w["hook_event_name"] == MARK && w["generation"] == generation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_begins_behind_its_own_mark() {
        let mut file = b"{\"hook_event_name\":\"Stop\"}\n{\"torn\":".to_vec();
        file.extend(mark(7).as_bytes());
        let seventh = file.len();
        file.extend(b"{\"hook_event_name\":\"SessionStart\",\"said\":\"GlisStart\"}\n");
        file.extend(mark(8).as_bytes());
        assert_eq!(begun(&file, 7), seventh);
        assert_eq!(begun(&file, 8), file.len());
        assert_eq!(begun(&file, 9), 0);
        assert_eq!(begun(b"", 1), 0);
    }
}
