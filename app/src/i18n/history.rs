//! What the history of a memory says.

use super::grouped;

/// The states that a memory has had.
pub(crate) struct History {
    pub(crate) title: &'static str,
    pub(crate) revision: fn(u32) -> String,
    pub(crate) current: &'static str,
    pub(crate) to_memory: &'static str,
    pub(crate) show_text: &'static str,
    pub(crate) hide_text: &'static str,
    pub(crate) restore: &'static str,
    /// The first state, and its length in bytes.
    pub(crate) first: fn(u64) -> String,
    pub(crate) added_tags: &'static str,
    pub(crate) removed_tags: &'static str,
    pub(crate) namespace: &'static str,
    pub(crate) source: &'static str,
    pub(crate) no_source: &'static str,
    pub(crate) occurred: &'static str,
    /// A part that did not change and is left out, with its length in characters.
    pub(crate) skipped: fn(u64) -> String,
    pub(crate) truncated: &'static str,
    pub(crate) pager: &'static str,
    pub(crate) older: &'static str,
    pub(crate) refused: &'static str,
}

pub(super) const ENGLISH: History = History {
    title: "History",
    revision: |revision| format!("Revision {revision}"),
    current: "now",
    to_memory: "Back to the memory",
    show_text: "Show text",
    hide_text: "Hide text",
    restore: "Restore",
    first: |bytes| format!("The first text, {} bytes", grouped(bytes)),
    added_tags: "Tags added",
    removed_tags: "Tags removed",
    namespace: "Namespace",
    source: "Source",
    no_source: "none",
    occurred: "Speaks of",
    skipped: |length| format!("… {} characters …", grouped(length)),
    truncated: "The difference is longer than this. Show the texts to see all of it.",
    pager: "Pages of the history",
    older: "Older",
    refused: "The memory was changed in the meantime. Look at its history again.",
};

pub(super) const CHINESE: History = History {
    title: "历史",
    revision: |revision| format!("第 {revision} 版"),
    current: "当前",
    to_memory: "回到记忆",
    show_text: "显示文本",
    hide_text: "隐藏文本",
    restore: "恢复",
    first: |bytes| format!("最初的文本，{} 字节", grouped(bytes)),
    added_tags: "添加的标签",
    removed_tags: "移除的标签",
    namespace: "命名空间",
    source: "来源",
    no_source: "无",
    occurred: "所述时间",
    skipped: |length| format!("…… {} 个字符 ……", grouped(length)),
    truncated: "差异太长，只显示了一部分。显示文本即可查看全部。",
    pager: "历史分页",
    older: "更早",
    refused: "这条记忆在此期间被修改过，请重新查看历史。",
};
