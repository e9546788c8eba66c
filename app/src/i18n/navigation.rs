//! What surrounds the pages of a person who is signed in.

pub(crate) struct Navigation {
    pub(crate) label: &'static str,
    /// The label of the sign, which leads to the memories.
    pub(crate) home: &'static str,
    pub(crate) memories: &'static str,
    pub(crate) sessions: &'static str,
    pub(crate) media: &'static str,
    pub(crate) trash: &'static str,
    pub(crate) namespaces: &'static str,
    pub(crate) apps: &'static str,
    pub(crate) tokens: &'static str,
    pub(crate) connect: &'static str,
    pub(crate) your_data: &'static str,
    pub(crate) settings: &'static str,
    pub(crate) sign_out: &'static str,
}

/// The pages on which a person brings in, takes out and erases what is theirs.
pub(crate) struct YourData {
    pub(crate) label: &'static str,
    pub(crate) import: &'static str,
    pub(crate) export: &'static str,
    pub(crate) erase: &'static str,
}

/// The list of the keys.
pub(crate) struct Keyboard {
    pub(crate) title: &'static str,
    /// Keys, with spaces between those of one line, and what they do.
    pub(crate) keys: [(&'static str, &'static str); 11],
    pub(crate) close: &'static str,
}

pub(super) const ENGLISH: Navigation = Navigation {
    label: "Main",
    home: "polymnemo, memories",
    memories: "Memories",
    sessions: "Sessions",
    media: "Media",
    trash: "Trash",
    namespaces: "Namespaces",
    apps: "Apps",
    tokens: "Tokens",
    connect: "Connect",
    your_data: "Your data",
    settings: "Settings",
    sign_out: "Sign out",
};

pub(super) const CHINESE: Navigation = Navigation {
    label: "主导航",
    home: "polymnemo 记忆",
    memories: "记忆",
    sessions: "会话",
    media: "媒体",
    trash: "回收站",
    namespaces: "命名空间",
    apps: "应用",
    tokens: "令牌",
    connect: "连接",
    your_data: "你的数据",
    settings: "设置",
    sign_out: "退出登录",
};

pub(super) const ENGLISH_YOUR_DATA: YourData =
    YourData { label: "Your data", import: "Import", export: "Export", erase: "Erase" };

pub(super) const CHINESE_YOUR_DATA: YourData =
    YourData { label: "你的数据", import: "导入", export: "导出", erase: "擦除" };

pub(super) const ENGLISH_KEYBOARD: Keyboard = Keyboard {
    title: "Keyboard",
    keys: [
        ("/", "Search"),
        ("j k", "Next or previous in a list"),
        ("Enter", "Open it"),
        ("Esc", "Back to the list"),
        ("n", "New memory, of what is selected in a session"),
        ("e", "Edit the memory"),
        ("x", "Select the memory"),
        ("#", "Forget what is selected, or else the memory"),
        ("u", "Undo what was done last"),
        ("Tab", "Next link, button or field"),
        ("?", "This help"),
    ],
    close: "Close",
};

pub(super) const CHINESE_KEYBOARD: Keyboard = Keyboard {
    title: "键盘",
    keys: [
        ("/", "搜索"),
        ("j k", "列表中的下一条、上一条"),
        ("Enter", "打开"),
        ("Esc", "回到列表"),
        ("n", "新建记忆；在会话中则记住选中的内容"),
        ("e", "编辑记忆"),
        ("x", "选择记忆"),
        ("#", "忘记选中的记忆，没有选中时忘记当前这条"),
        ("u", "撤销上一步"),
        ("Tab", "下一个链接、按钮或输入框"),
        ("?", "显示本说明"),
    ],
    close: "关闭",
};
