//! What the list of memories says: the search, the rows, and what can be done with several of them.

use super::grouped;

/// The search.
pub(crate) struct Search {
    pub(crate) placeholder: &'static str,
    pub(crate) search: &'static str,
    pub(crate) new_memory: &'static str,
}

/// What narrows the list.
#[cfg(feature = "ssr")]
pub(crate) struct Filters {
    pub(crate) namespace: &'static str,
    pub(crate) any_namespace: &'static str,
    pub(crate) tag: &'static str,
    pub(crate) any_tag: &'static str,
    pub(crate) time: &'static str,
    pub(crate) any_time: &'static str,
    /// Today, 7, 30 and 365 days.
    pub(crate) periods: [&'static str; 4],
    pub(crate) more: &'static str,
    pub(crate) client: &'static str,
    pub(crate) any_client: &'static str,
    pub(crate) source: &'static str,
    pub(crate) any_source: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) any_kind: &'static str,
    /// Memories, sessions and files.
    pub(crate) kinds: [&'static str; 3],
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
    /// Also those that others correct.
    pub(crate) corrected: &'static str,
    pub(crate) clear: &'static str,
}

/// The list.
pub(crate) struct Memories {
    pub(crate) title: &'static str,
    pub(crate) list: &'static str,
    pub(crate) select: &'static str,
    /// Whose a memory is that someone else shared.
    pub(crate) by: fn(&str) -> String,
    pub(crate) corrected: &'static str,
    pub(crate) count: fn(u64) -> String,
    /// The hits of a search, and how many others lay below the floor.
    pub(crate) hits: fn(u64, u64) -> String,
    /// The hits on a page of a search that has more pages.
    pub(crate) best_hits: fn(u64) -> String,
    /// Passages that are searched by word only as yet.
    pub(crate) pending: fn(u64) -> String,
    pub(crate) no_hits: &'static str,
    /// How many were looked at and lay below the floor.
    pub(crate) no_hits_text: fn(u64) -> String,
    pub(crate) none_selected: &'static str,
    pub(crate) none_selected_text: &'static str,
    pub(crate) show_all: &'static str,
    pub(crate) empty: &'static str,
    pub(crate) empty_text: &'static str,
    pub(crate) empty_example: &'static str,
    pub(crate) empty_connect: &'static str,
    pub(crate) empty_write: &'static str,
    pub(crate) pager: &'static str,
    /// The first page of the list and the next one.
    pub(crate) pages: (&'static str, &'static str),
    /// The first page of a search and the next one.
    pub(crate) pages_of_hits: (&'static str, &'static str),
}

/// Why a search found a memory.
pub(crate) struct Why {
    pub(crate) title: &'static str,
    pub(crate) meaning: &'static str,
    pub(crate) not_embedded: &'static str,
    pub(crate) words: &'static str,
    pub(crate) no_words: &'static str,
    pub(crate) score: &'static str,
    pub(crate) below: &'static str,
    pub(crate) below_count: fn(u64) -> String,
}

/// What can be done with several memories.
pub(crate) struct Bulk {
    /// Around the number of those selected.
    pub(crate) selected: (&'static str, &'static str),
    pub(crate) change: &'static str,
    pub(crate) add_tags: &'static str,
    pub(crate) remove_tags: &'static str,
    pub(crate) move_to: &'static str,
    pub(crate) commas: &'static str,
    pub(crate) apply: &'static str,
    pub(crate) forget: &'static str,
    pub(crate) erase: &'static str,
    pub(crate) clear: &'static str,
    /// What is wrong where the request was at fault, in languages that the service does not speak.
    pub(crate) refused: Option<&'static str>,
}

/// "1 memory", "2 memories".
fn english(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{} {many}", grouped(count)) }
}

pub(super) const ENGLISH_SEARCH: Search =
    Search { placeholder: "Search memories", search: "Search", new_memory: "New" };

#[cfg(feature = "ssr")]
pub(super) const ENGLISH_FILTERS: Filters = Filters {
    namespace: "Namespace",
    any_namespace: "Any namespace",
    tag: "Tag",
    any_tag: "Any tag",
    time: "Time",
    any_time: "Any time",
    periods: ["Today", "Last 7 days", "Last 30 days", "Last year"],
    more: "More",
    client: "Client",
    any_client: "Any client",
    source: "Source",
    any_source: "Any source",
    kind: "Kind",
    any_kind: "Any kind",
    kinds: ["Memories", "Sessions", "Files"],
    from: "From",
    to: "To",
    corrected: "Also corrected ones",
    clear: "Clear",
};

pub(super) const CHINESE_SEARCH: Search =
    Search { placeholder: "搜索记忆", search: "搜索", new_memory: "新建" };

#[cfg(feature = "ssr")]
pub(super) const CHINESE_FILTERS: Filters = Filters {
    namespace: "命名空间",
    any_namespace: "所有命名空间",
    tag: "标签",
    any_tag: "所有标签",
    time: "时间",
    any_time: "不限时间",
    periods: ["今天", "最近 7 天", "最近 30 天", "最近一年"],
    more: "更多",
    client: "客户端",
    any_client: "所有客户端",
    source: "来源",
    any_source: "所有来源",
    kind: "类型",
    any_kind: "所有类型",
    kinds: ["记忆", "会话", "文件"],
    from: "从",
    to: "到",
    corrected: "包括已被更正的",
    clear: "清除",
};

pub(super) const ENGLISH: Memories = Memories {
    title: "Memories",
    list: "List of memories",
    select: "Select:",
    by: |author| format!("by {author}"),
    corrected: "corrected",
    count: |count| english(count, "memory", "memories"),
    hits: |hits, below| match below {
        0 => format!("{} found", grouped(hits)),
        below => format!("{} found, {} more too far from it", grouped(hits), grouped(below)),
    },
    best_hits: |hits| format!("{} of the hits, the best first", grouped(hits)),
    pending: |count| format!("{} found by word only for the moment", english(count, "passage is", "passages are")),
    no_hits: "Nothing fits",
    no_hits_text: |below| match below {
        0 => "No memory has these words or means something close. Try other words, or fewer filters.".to_owned(),
        below => format!(
            "{} too far from what you search for to be worth showing. Try other words.",
            english(below, "memory was", "memories were")
        ),
    },
    none_selected: "No memories here",
    none_selected_text: "There are memories, but none that fit all the filters.",
    show_all: "Show all memories",
    empty: "Nothing remembered yet",
    empty_text: "Connect an AI client, then tell it something worth keeping. It appears here at once, and every other \
                 client you connect knows it too.",
    empty_example: "Remember that I take my coffee black.",
    empty_connect: "Connect a client",
    empty_write: "Write one yourself",
    pager: "Pages of the list",
    pages: ("Newest", "Older"),
    pages_of_hits: ("Best hits", "Further hits"),
};

pub(super) const CHINESE: Memories = Memories {
    title: "记忆",
    list: "记忆列表",
    select: "选择：",
    by: |author| format!("来自 {author}"),
    corrected: "已被更正",
    count: |count| format!("{} 条记忆", grouped(count)),
    hits: |hits, below| match below {
        0 => format!("找到 {} 条", grouped(hits)),
        below => format!("找到 {} 条，另有 {} 条相差太远", grouped(hits), grouped(below)),
    },
    best_hits: |hits| format!("{} 条结果，按相关程度排列", grouped(hits)),
    pending: |count| format!("{} 个段落暂时只能按词查找", grouped(count)),
    no_hits: "没有合适的内容",
    no_hits_text: |below| match below {
        0 => "没有记忆包含这些词，也没有含义相近的。换些词或减少筛选条件试试。".to_owned(),
        below => format!("查看过的 {} 条记忆都与搜索内容相差太远，没有显示。换些词试试。", grouped(below)),
    },
    none_selected: "这里没有记忆",
    none_selected_text: "有记忆，但没有一条符合所有筛选条件。",
    show_all: "显示所有记忆",
    empty: "还没有记忆",
    empty_text: "连接一个 AI 客户端，告诉它值得记住的事。内容会立刻出现在这里，你连接的其他客户端也会知道。",
    empty_example: "请记住：我喝咖啡不加糖也不加奶。",
    empty_connect: "连接客户端",
    empty_write: "自己写一条",
    pager: "列表分页",
    pages: ("最新", "更早"),
    pages_of_hits: ("最佳结果", "更多结果"),
};

pub(super) const ENGLISH_WHY: Why = Why {
    title: "Why?",
    meaning: "By meaning",
    not_embedded: "not yet compared",
    words: "By word",
    no_words: "no word in common",
    score: "Together",
    below: "Left out",
    below_count: |count| match count {
        0 => "nothing lay below the floor".to_owned(),
        count => format!("{} below the floor", english(count, "memory", "memories")),
    },
};

pub(super) const CHINESE_WHY: Why = Why {
    title: "为什么？",
    meaning: "按含义",
    not_embedded: "尚未比较",
    words: "按词",
    no_words: "没有相同的词",
    score: "综合",
    below: "未显示",
    below_count: |count| match count {
        0 => "没有低于门槛的记忆".to_owned(),
        count => format!("{} 条记忆低于门槛", grouped(count)),
    },
};

pub(super) const ENGLISH_BULK: Bulk = Bulk {
    selected: ("", "selected"),
    change: "Tag or move",
    add_tags: "Add tags",
    remove_tags: "Remove tags",
    move_to: "Move to namespace",
    commas: "Several tags: put commas between them.",
    apply: "Apply",
    forget: "Forget",
    erase: "Erase for good…",
    clear: "Select none",
    refused: Some(
        "Nothing was changed. Select a memory first, and give a tag or a namespace; a tag has at most 64 characters.",
    ),
};

pub(super) const CHINESE_BULK: Bulk = Bulk {
    selected: ("已选", "条"),
    change: "标签与移动",
    add_tags: "添加标签",
    remove_tags: "移除标签",
    move_to: "移动到命名空间",
    commas: "多个标签用逗号分隔。",
    apply: "应用",
    forget: "忘记",
    erase: "永久擦除…",
    clear: "取消选择",
    refused: Some("没有任何改动。请至少选择一条记忆，并填写标签或命名空间；标签最多 64 个字符。"),
};
