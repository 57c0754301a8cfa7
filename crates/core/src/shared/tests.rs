//! The shared map beside the map of the standard library, and what a change of a copy costs.

use super::{Link, SharedMap, height};
use std::collections::BTreeMap;

/// Checks the heights below a place, and gives it.
fn checked<K, V>(link: &Link<K, V>) -> u8 {
    let Some(node) = link else { return 0 };
    let (left, right) = (checked(&node.left), checked(&node.right));
    assert!(left.abs_diff(right) <= 1, "out of balance: {left} and {right}");
    assert_eq!(node.height, 1 + left.max(right));
    height(link)
}

#[test]
fn it_is_a_map_whatever_is_put_in_and_taken_out() {
    let (mut shared, mut known) = (SharedMap::default(), BTreeMap::new());
    let mut copies = Vec::new();
    let mut seed = 1_u64;
    for step in 0..4000_u64 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let key = (seed >> 33) % 300;
        match (seed >> 20) % 4 {
            0 => assert_eq!(shared.remove(&key), known.remove(&key).is_some()),
            1 => {
                let (ours, theirs) = (shared.get_mut(&key), known.get_mut(&key));
                assert_eq!(ours.is_some(), theirs.is_some());
                if let (Some(ours), Some(theirs)) = (ours, theirs) {
                    (*ours, *theirs) = (step, step);
                }
            }
            _ => assert_eq!(shared.insert(key, step), known.insert(key, step).is_none()),
        }
        checked(&shared.root);
        if step % 500 == 0 {
            copies.push((shared.clone(), known.clone()));
        }
    }
    copies.push((shared, known));
    // A copy stays as it was, whatever became of the other.
    for (shared, known) in copies {
        assert!(shared.iter().eq(known.iter()));
        assert_eq!(shared.len(), known.len());
        let text = serde_json::to_string(&shared).unwrap();
        assert_eq!(text, serde_json::to_string(&known).unwrap());
        assert_eq!(serde_json::from_str::<SharedMap<u64, u64>>(&text).unwrap(), shared);
    }
}
