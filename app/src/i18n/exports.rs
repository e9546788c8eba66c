//! What the page of exports says.

use polymnemo_types::ExportCounts;

use super::{grouped, size};

pub(crate) struct Exports {
    pub(crate) title: &'static str,
    pub(crate) lead: &'static str,
    pub(crate) contents: &'static str,
    pub(crate) holds: [&'static str; 4],
    pub(crate) back: &'static str,
    pub(crate) make: &'static str,
    pub(crate) make_hint: &'static str,
    pub(crate) list: &'static str,
    pub(crate) waiting: &'static str,
    pub(crate) running: &'static str,
    /// So many hundredths are done.
    pub(crate) done: fn(u32) -> String,
    pub(crate) reload: &'static str,
    pub(crate) ready: &'static str,
    pub(crate) failed: &'static str,
    pub(crate) failed_text: &'static str,
    pub(crate) expired: &'static str,
    pub(crate) download: &'static str,
    pub(crate) length: &'static str,
    pub(crate) holds_counted: &'static str,
    /// What is in one.
    pub(crate) counts: fn(&ExportCounts) -> String,
    /// Files whose bytes are not in it.
    pub(crate) missing: fn(u64) -> String,
    pub(crate) kept_until: &'static str,
    pub(crate) delete: &'static str,
    pub(crate) delete_means: &'static str,
    pub(crate) give_up: &'static str,
    pub(crate) none: &'static str,
}

fn counted(parts: [(u64, String); 4], and: &str) -> String {
    let there = parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text);
    there.collect::<Vec<_>>().join(and)
}

fn plural(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{} {many}", grouped(count)) }
}

pub(super) const ENGLISH: Exports = Exports {
    title: "Export",
    lead: "Everything that is kept here for you, in one file: to keep, to read, or to take to another server.",
    contents: "What is in it",
    holds: [
        "All memories with their history, also those in the trash",
        "All sessions word for word, and all files",
        "Your namespaces and settings, and what apps and tokens did; never their secrets",
        "The same once more as Markdown, to read without any program of ours",
    ],
    back: "The page Import takes it back in, exactly as it was.",
    make: "Make an export",
    make_hint: "It is made in the background, so you may leave this page. You can fetch it for 7 days; then it is deleted. \
                The last three are kept.",
    list: "Your exports",
    waiting: "Waiting",
    running: "Being made",
    done: |hundredths| format!("{hundredths} %"),
    reload: "Reload the page to see how far it is",
    ready: "Ready",
    failed: "Failed",
    failed_text: "It could not be made, and nothing of yours was changed. Ask for a new one; if that fails too, the log of the \
                  server says why.",
    expired: "Deleted",
    download: "Download",
    length: "Size",
    holds_counted: "Holds",
    counts: |counts| {
        let text = counted(
            [
                (counts.memories, plural(counts.memories, "memory", "memories")),
                (counts.sessions, plural(counts.sessions, "session", "sessions")),
                (counts.messages, plural(counts.messages, "message", "messages")),
                (counts.media, format!("{} ({})", plural(counts.media, "file", "files"), size(counts.media_bytes))),
            ],
            ", ",
        );
        if text.is_empty() { "settings only".to_owned() } else { text }
    },
    missing: |count| match count {
        1 => "The bytes of 1 file were missing from the storage; manifest.json names it.".to_owned(),
        count => {
            format!("The bytes of {} files were missing from the storage; manifest.json names them.", grouped(count))
        }
    },
    kept_until: "Deleted",
    delete: "Delete now",
    delete_means: "Only the export is deleted, not what is in it.",
    give_up: "Give up",
    none: "There are no exports yet.",
};

pub(super) const CHINESE: Exports = Exports {
    title: "导出",
    lead: "把这里为你保存的全部内容放进一个文件：可以留存、阅读，或者带到另一台服务器。",
    contents: "包含的内容",
    holds: [
        "全部记忆及其历史，包括回收站里的",
        "全部会话的逐字记录，以及全部文件",
        "命名空间和设置，以及应用和令牌的使用记录；绝不包含密钥",
        "同样的内容另存为 Markdown，不需要我们的程序也能阅读",
    ],
    back: "“导入”页面可以把它原样恢复。",
    make: "生成导出",
    make_hint: "导出在后台生成，你可以离开这个页面。文件可在 7 天内下载，之后会被删除；最多保留最近三份。",
    list: "你的导出",
    waiting: "等待中",
    running: "正在生成",
    done: |hundredths| format!("{hundredths}%"),
    reload: "重新加载页面可查看进度",
    ready: "可以下载",
    failed: "失败",
    failed_text: "无法生成导出，你的内容没有任何改动。请重新生成；如果仍然失败，请查看服务器日志。",
    expired: "已删除",
    download: "下载",
    length: "大小",
    holds_counted: "内容",
    counts: |counts| {
        let text = counted(
            [
                (counts.memories, format!("{} 条记忆", grouped(counts.memories))),
                (counts.sessions, format!("{} 个会话", grouped(counts.sessions))),
                (counts.messages, format!("{} 条消息", grouped(counts.messages))),
                (counts.media, format!("{} 个文件（{}）", grouped(counts.media), size(counts.media_bytes))),
            ],
            "，",
        );
        if text.is_empty() { "仅有设置".to_owned() } else { text }
    },
    missing: |count| format!("有 {} 个文件的内容已不在存储中；manifest.json 列出了它们。", grouped(count)),
    kept_until: "删除时间",
    delete: "立即删除",
    delete_means: "只删除导出文件，不影响其中的内容。",
    give_up: "取消",
    none: "还没有导出。",
};
