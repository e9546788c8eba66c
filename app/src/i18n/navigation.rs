//! What surrounds the pages of a person who is signed in.

pub(crate) struct Navigation {
    pub(crate) label: &'static str,
    /// The label of the sign, which leads to the memories.
    pub(crate) home: &'static str,
    pub(crate) memories: &'static str,
    pub(crate) trash: &'static str,
    pub(crate) namespaces: &'static str,
    pub(crate) apps: &'static str,
    pub(crate) tokens: &'static str,
    pub(crate) connect: &'static str,
    pub(crate) settings: &'static str,
    pub(crate) sign_out: &'static str,
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
    trash: "Trash",
    namespaces: "Namespaces",
    apps: "Apps",
    tokens: "Tokens",
    connect: "Connect",
    settings: "Settings",
    sign_out: "Sign out",
};

pub(super) const CHINESE: Navigation = Navigation {
    label: "主导航",
    home: "polymnemo 记忆",
    memories: "记忆",
    trash: "回收站",
    namespaces: "命名空间",
    apps: "应用",
    tokens: "令牌",
    connect: "连接",
    settings: "设置",
    sign_out: "退出登录",
};

pub(super) const ENGLISH_KEYBOARD: Keyboard = Keyboard {
    title: "Keyboard",
    keys: [
        ("/", "Search"),
        ("j k", "Next or previous memory"),
        ("Enter", "Open the memory"),
        ("Esc", "Back to the list"),
        ("n", "New memory"),
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
        ("j k", "下一条、上一条记忆"),
        ("Enter", "打开记忆"),
        ("Esc", "回到列表"),
        ("n", "新建记忆"),
        ("e", "编辑记忆"),
        ("x", "选择记忆"),
        ("#", "忘记选中的记忆，没有选中时忘记当前这条"),
        ("u", "撤销上一步"),
        ("Tab", "下一个链接、按钮或输入框"),
        ("?", "显示本说明"),
    ],
    close: "关闭",
};
