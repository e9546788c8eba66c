//! Conversations are trees: an edited question or an answer made again goes on from the same message as the one before.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::{Branch, Message};

/// A message in its place, or a place without one.
#[derive(Debug)]
pub(crate) struct Node {
    /// What the product calls it.
    pub(crate) id: String,
    /// What it goes on from. `None` is a beginning.
    pub(crate) parent: Option<String>,
    /// When it was said.
    pub(crate) at: Option<Timestamp>,
    /// What is said; nothing where the product only needed a place.
    pub(crate) message: Option<Message>,
}

/// The branches of a conversation.
#[derive(Debug, Default)]
pub(crate) struct Branches {
    /// The current one.
    pub(crate) current: Vec<Message>,
    /// What the others have beyond it.
    pub(crate) others: Vec<Branch>,
    /// The ids of all places on the current one.
    pub(crate) path: Vec<String>,
}

/// How many messages without a parent are looked up one by one; a file with more is taken as it stands.
const LOST: usize = 64;

/// Takes a tree apart. The current branch is the one that ends at `leaf`; where that is not in the tree, the one that was
/// continued last. Every message is on one branch exactly, whatever the tree looks like: parents that are missing, rings, several
/// messages of one id.
pub(crate) fn branches(nodes: Vec<Node>, leaf: Option<&str>) -> Branches {
    let parents = parents(&nodes);
    let mut has_child = vec![false; nodes.len()];
    for parent in parents.iter().flatten() {
        if let Some(has_child) = has_child.get_mut(*parent) {
            *has_child = true;
        }
    }
    let is_leaf = |place: &usize| !has_child.get(*place).copied().unwrap_or_default();
    let at = times(&nodes, &parents);
    let newest = || (0..nodes.len()).filter(is_leaf).max_by_key(|&place| (at.get(place).copied().flatten(), place));
    let current = leaf
        .and_then(|leaf| nodes.iter().rposition(|node| node.id == leaf))
        .or_else(newest)
        // Nothing but a ring: any of it will do.
        .or_else(|| nodes.len().checked_sub(1));

    let mut taken = vec![false; nodes.len()];
    let mut paths: Vec<(Option<usize>, Vec<usize>)> = Vec::new();
    let leaves = (0..nodes.len()).filter(is_leaf);
    // Rings have no leaf, so in the end every place is tried.
    for place in current.into_iter().chain(leaves).chain((0..nodes.len()).rev()) {
        if !taken.get(place).copied().unwrap_or(true) {
            paths.push(path(place, &parents, &mut taken));
        }
    }

    let ids: Vec<String> = nodes.iter().map(|node| node.id.clone()).collect();
    let has_message: Vec<bool> = nodes.iter().map(|node| node.message.is_some()).collect();
    let anchors = anchors(&has_message, &parents);
    let off = |place: Option<usize>| ids.get(anchors.get(place?).copied().flatten()?).cloned();
    let mut messages: Vec<Option<Message>> = nodes.into_iter().map(|node| node.message).collect();
    let mut branches = Branches::default();
    for (number, (from, places)) in paths.into_iter().enumerate() {
        if number == 0 {
            branches.path = places.iter().filter_map(|&place| ids.get(place).cloned()).collect();
        }
        let messages: Vec<Message> =
            places.iter().filter_map(|&place| messages.get_mut(place).and_then(Option::take)).collect();
        if number == 0 {
            branches.current = messages;
        } else if !messages.is_empty() {
            branches.others.push(Branch { off: off(from), is_sidechain: false, messages });
        }
    }
    branches
}

/// The places from the beginning to this one, as far as they are not taken, and the one they go on from.
fn path(leaf: usize, parents: &[Option<usize>], taken: &mut [bool]) -> (Option<usize>, Vec<usize>) {
    let mut places = Vec::new();
    let mut next = Some(leaf);
    while let Some(place) = next {
        match taken.get_mut(place) {
            Some(taken) if !*taken => *taken = true,
            _ => break,
        }
        places.push(place);
        next = parents.get(place).copied().flatten();
    }
    places.reverse();
    // In a ring it comes back to itself, which is no place to go on from.
    let from = next.filter(|from| !places.contains(from));
    (from, places)
}

/// Where the parent of each is. One that is named and not there was lost: then it is the message that was said last before.
fn parents(nodes: &[Node]) -> Vec<Option<usize>> {
    let places: HashMap<&str, usize> =
        nodes.iter().enumerate().map(|(place, node)| (node.id.as_str(), place)).collect();
    let mut lost = Vec::new();
    let mut parents: Vec<Option<usize>> = nodes
        .iter()
        .enumerate()
        .map(|(place, node)| {
            let parent = node.parent.as_deref().and_then(|parent| places.get(parent)).copied();
            if parent.is_none() && node.parent.is_some() {
                lost.push(place);
            }
            parent.filter(|&parent| parent != place)
        })
        .collect();
    if lost.len() > LOST {
        for place in lost {
            if let Some(parent) = parents.get_mut(place) {
                *parent = place.checked_sub(1);
            }
        }
        return parents;
    }
    for place in lost {
        let found = before(place, nodes, &parents);
        if let Some(parent) = parents.get_mut(place) {
            *parent = found;
        }
    }
    parents
}

/// The message that was said last before this one, and not in answer to it.
fn before(place: usize, nodes: &[Node], parents: &[Option<usize>]) -> Option<usize> {
    let at = nodes.get(place)?.at;
    let mut is_below: Vec<Option<bool>> = vec![None; nodes.len()];
    (0..nodes.len())
        .filter(|&other| !is_within(other, place, parents, &mut is_below))
        .filter_map(|other| {
            let said = nodes.get(other).filter(|node| node.message.is_some())?.at;
            let is_before = match (said, at) {
                (Some(said), Some(at)) if said != at => said < at,
                _ => other < place,
            };
            is_before.then_some((said, other))
        })
        .max()
        .map(|(_, other)| other)
}

/// Whether `place` is `top` or goes on from it. What is found out on the way is noted, so that all together take one walk.
fn is_within(place: usize, top: usize, parents: &[Option<usize>], known: &mut [Option<bool>]) -> bool {
    let mut way = Vec::new();
    let mut next = Some(place);
    let answer = loop {
        match next {
            None => break false,
            Some(place) if place == top => break true,
            Some(place) => {
                if let Some(answer) = known.get(place).copied().flatten() {
                    break answer;
                }
                // A ring that does not hold `top` is met again at a place that was noted as not within.
                if let Some(known) = known.get_mut(place) {
                    *known = Some(false);
                }
                way.push(place);
                next = parents.get(place).copied().flatten();
            }
        }
    };
    for place in way {
        if let Some(known) = known.get_mut(place) {
            *known = Some(answer);
        }
    }
    answer
}

/// For each place the next one up that has a message, itself among them. What is found is noted on the way, so that long ways
/// that many go are gone once.
fn anchors(has_message: &[bool], parents: &[Option<usize>]) -> Vec<Option<usize>> {
    let mut anchors: Vec<Option<Option<usize>>> =
        has_message.iter().enumerate().map(|(place, &has_message)| has_message.then_some(Some(place))).collect();
    for place in 0..anchors.len() {
        let mut way = Vec::new();
        let mut next = Some(place);
        let mut anchor = None;
        while let Some(at) = next {
            match anchors.get_mut(at) {
                Some(Some(known)) => {
                    anchor = *known;
                    break;
                }
                // Noted as none at once: in a ring without a message it is met again.
                Some(unknown) => *unknown = Some(None),
                None => break,
            }
            way.push(at);
            next = parents.get(at).copied().flatten();
        }
        for at in way {
            if let Some(known) = anchors.get_mut(at) {
                *known = Some(anchor);
            }
        }
    }
    anchors.into_iter().map(Option::flatten).collect()
}

/// When each was said; where that is not known, when what it goes on from was.
fn times(nodes: &[Node], parents: &[Option<usize>]) -> Vec<Option<Timestamp>> {
    const STEPS: usize = 32;
    let time = |mut place: usize| {
        for _ in 0..STEPS {
            if let Some(at) = nodes.get(place)?.at {
                return Some(at);
            }
            place = parents.get(place).copied().flatten()?;
        }
        None
    };
    (0..nodes.len()).map(time).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::MessageContent;

    fn node(id: &str, parent: &str, second: i64) -> Node {
        let at = Timestamp::from_second(second).ok().filter(|_| second > 0);
        let message =
            Message { id: Some(id.into()), role: "user".into(), at, content: MessageContent::Text(id.into()) };
        let parent = Some(parent.to_owned()).filter(|parent| !parent.is_empty());
        Node { id: id.into(), parent, at, message: Some(message).filter(|_| !id.starts_with('-')) }
    }

    fn told(nodes: &[(&str, &str, i64)], leaf: Option<&str>) -> String {
        let nodes = nodes.iter().map(|&(id, parent, second)| node(id, parent, second)).collect();
        let branches = branches(nodes, leaf);
        let ids = |messages: &[Message]| {
            messages.iter().filter_map(|message| message.id.clone()).collect::<Vec<_>>().join(" ")
        };
        branches.others.iter().fold(ids(&branches.current), |told, branch| {
            format!("{told} | {}: {}", branch.off.as_deref().unwrap_or("nothing"), ids(&branch.messages))
        })
    }

    #[test]
    fn the_current_branch_is_told_from_the_others() {
        let tree = [("a", "", 1), ("b", "a", 2), ("c", "b", 3), ("d", "a", 4), ("e", "d", 5), ("f", "d", 9)];
        assert_eq!(told(&tree, Some("c")), "a b c | a: d e | d: f");
        assert_eq!(told(&tree, None), "a d f | a: b c | d: e");
        assert_eq!(told(&tree, Some("gone")), "a d f | a: b c | d: e");
        assert_eq!(told(&tree, Some("d")), "a d | a: b c | d: e | d: f");
        let edited = [("a", "", 1), ("b", "a", 2), ("c", "", 3)];
        assert_eq!(told(&edited, None), "c | nothing: a b");
        assert_eq!(told(&[], None), "");
    }

    #[test]
    fn what_is_wrong_with_a_tree_loses_no_message() {
        assert_eq!(told(&[("a", "b", 1), ("b", "a", 2)], None), "a b");
        assert_eq!(told(&[("a", "a", 1)], None), "a");
        assert_eq!(told(&[("a", "b", 1), ("b", "a", 2), ("c", "b", 3)], None), "a b c");
        assert_eq!(told(&[("x", "y", 1), ("y", "x", 1), ("a", "", 2), ("b", "a", 3)], None), "a b | nothing: x y");
        // A parent that is not there is the message before.
        assert_eq!(told(&[("a", "", 1), ("b", "a", 2), ("c", "gone", 3), ("d", "c", 4)], None), "a b c d");
        assert_eq!(told(&[("c", "gone", 3), ("d", "c", 4), ("a", "", 1), ("b", "a", 2)], Some("d")), "a b c d");
        assert_eq!(told(&[("a", "gone", 0), ("b", "gone too", 0)], None), "a b");
        // Places without a message are passed over.
        assert_eq!(
            told(&[("-r", "", 0), ("a", "-r", 1), ("-e", "a", 0), ("b", "-e", 2), ("c", "-e", 3)], None),
            "a c | a: b"
        );
        // Two of one id.
        assert_eq!(told(&[("a", "", 1), ("a", "", 2), ("b", "a", 3)], None), "a b | nothing: a");
    }

    #[test]
    fn of_equal_times_the_later_place_is_newer_and_none_is_older() {
        assert_eq!(told(&[("a", "", 1), ("b", "a", 2), ("c", "a", 2)], None), "a c | a: b");
        assert_eq!(told(&[("a", "", 1), ("b", "a", 2), ("c", "a", 0)], None), "a b | a: c");
    }

    proptest! {
        #[test]
        fn every_message_is_on_one_branch(links in proptest::collection::vec((0usize..24, 0i64..5), 1..24), leaf in 0usize..30) {
            let nodes: Vec<Node> = links
                .iter()
                .enumerate()
                .map(|(place, (parent, second))| {
                    node(&place.to_string(), &if *parent == 0 { String::new() } else { parent.to_string() }, *second)
                })
                .collect();
            let branches = branches(nodes, Some(&leaf.to_string()));
            let others = branches.others.iter().flat_map(|branch| &branch.messages);
            let mut ids: Vec<usize> =
                branches.current.iter().chain(others).filter_map(|message| message.id.as_ref()?.parse().ok()).collect();
            ids.sort_unstable();
            prop_assert_eq!(ids, (0..links.len()).collect::<Vec<_>>());
            prop_assert!(branches.path.len() >= branches.current.len());
        }
    }
}
