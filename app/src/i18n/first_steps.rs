//! What the first page says below its title: what to know, and how to begin.

pub(crate) struct FirstSteps {
    /// Three things to know, each a few words and a sentence or two.
    pub(crate) facts: [Fact; 3],
    pub(crate) connect: &'static str,
    pub(crate) step_settings: &'static str,
    pub(crate) step_key: &'static str,
    pub(crate) step_try: &'static str,
    pub(crate) try_first: &'static str,
    pub(crate) try_then: &'static str,
    pub(crate) try_second: &'static str,
    /// Where set-up for other clients is.
    pub(crate) more: &'static str,
}

/// A short heading and what it means.
pub(crate) struct Fact {
    pub(crate) title: &'static str,
    pub(crate) text: &'static str,
}

pub(super) const ENGLISH: FirstSteps = FirstSteps {
    facts: [
        Fact {
            title: "Yours",
            text: "Everything lies in your own database, and its meaning is computed on your own machine. \
                   Nothing is sent anywhere else.",
        },
        Fact {
            title: "Found again",
            text: "By meaning and by exact word, in English, 中文 and many other languages. \
                   When nothing fits, it says so.",
        },
        Fact {
            title: "Never lost by accident",
            text: "A change keeps the old text. What is forgotten stays in the trash for 30 days.",
        },
    ],
    connect: "Connect a client",
    step_settings: "Add this to the client’s MCP settings.",
    step_key: "Put your key in place of `YOUR_TOKEN`. It was printed in the terminal when polymnemo started; \
               if you set `POLYMNEMO_API_KEYS` yourself, it is the part before the colon.",
    step_try: "Try it.",
    try_first: "Remember that I take my coffee black.",
    try_then: "Then, in another client:",
    try_second: "How do I take my coffee?",
    more: "Once you are signed in, the page Connect has the set-up for each client, and the page Tokens a token \
           for each.",
};

pub(super) const CHINESE: FirstSteps = FirstSteps {
    facts: [
        Fact {
            title: "属于你",
            text: "所有内容都在你自己的数据库里，语义也在你自己的机器上计算，不会发送到任何其他地方。",
        },
        Fact {
            title: "找得回",
            text: "既按含义也按原词查找，支持中文、English 等多种语言。没有合适的内容时会直接说明。",
        },
        Fact { title: "不会误删", text: "修改会保留旧文本，忘记的内容在回收站保留 30 天。" },
    ],
    connect: "连接客户端",
    step_settings: "把下面的内容加入客户端的 MCP 设置。",
    step_key: "把 `YOUR_TOKEN` 换成你的密钥。polymnemo 启动时已在终端中打印；\
               如果你自己设置了 `POLYMNEMO_API_KEYS`，密钥就是冒号前面的部分。",
    step_try: "试一试。",
    try_first: "请记住：我喝咖啡不加糖也不加奶。",
    try_then: "然后在另一个客户端里问：",
    try_second: "我喝咖啡有什么习惯？",
    more: "登录之后，“连接”页面有各个客户端的设置方法，“令牌”页面可以为每个客户端创建令牌。",
};
