//! What the trash says.

use super::grouped;

/// What was forgotten.
pub(crate) struct Trash {
    pub(crate) title: &'static str,
    pub(crate) lead: &'static str,
    pub(crate) count: fn(u64) -> String,
    /// When something is gone for good, such as "in 12 days".
    pub(crate) gone: fn(&str) -> String,
    pub(crate) restore: &'static str,
    pub(crate) erase: &'static str,
    pub(crate) erase_means: &'static str,
    pub(crate) erase_now: &'static str,
    pub(crate) empty: &'static str,
    pub(crate) empty_text: &'static str,
    pub(crate) refused: &'static str,
}

pub(super) const ENGLISH: Trash = Trash {
    title: "Trash",
    lead: "What was forgotten stays here for 30 days. No client finds it.",
    count: |count| if count == 1 { "1 memory".to_owned() } else { format!("{} memories", grouped(count)) },
    gone: |when| format!("Erased {when}"),
    restore: "Restore",
    erase: "Erase…",
    erase_means: "The text, its history and every trace of it in the search are deleted. Nobody can bring it back.",
    erase_now: "Erase now",
    empty: "The trash is empty",
    empty_text: "A memory that you or a client forgets comes here first, in case it was a mistake.",
    refused: "It is not in the trash any more. Look at the trash again.",
};

pub(super) const CHINESE: Trash = Trash {
    title: "回收站",
    lead: "忘记的内容在这里保留 30 天，任何客户端都找不到。",
    count: |count| format!("{} 条记忆", grouped(count)),
    gone: |when| format!("{when}彻底删除"),
    restore: "恢复",
    erase: "彻底删除…",
    erase_means: "文本、历史以及搜索中的所有痕迹都会被删除，无法恢复。",
    erase_now: "立即彻底删除",
    empty: "回收站是空的",
    empty_text: "你或客户端忘记的记忆会先来到这里，以防误删。",
    refused: "它已不在回收站中，或已有相同内容的记忆。请重新查看回收站。",
};
