use super::messages::{Copy, Errors, Fact, Frame, Messages, NotFound, Status, Welcome};

pub(super) static MESSAGES: Messages = Messages {
    frame: Frame { skip_to_content: "跳到正文", home: "polymnemo 首页", licence: "MIT 许可证" },
    status: Status {
        ready: "记忆已就绪。",
        model_loading: "语言模型正在加载，稍后即可存入和回忆。",
        model_failed: "语言模型加载失败。请在服务器上运行 `polymnemo doctor` 查看原因。",
        store_unavailable: "数据库没有响应。请在服务器上运行 `polymnemo doctor` 查看原因。",
        unreachable: "服务器没有响应，页面会继续重试。",
    },
    copy: Copy { copy: "复制", copied: "已复制", failed: "无法复制，请手动选择" },
    welcome: Welcome {
        title: "所有 AI 共用一份记忆",
        lead: "告诉其中一个，其他的也就知道了。polymnemo 保存你要它记住的内容，并提供给任何支持 MCP 的客户端。",
        facts: [
            Fact {
                title: "属于你",
                text: "所有内容都在你自己的数据库里，语义也在你自己的机器上计算，不会发送到任何其他地方。",
            },
            Fact {
                title: "找得回",
                text: "既按含义也按原词查找，支持中文、English 等多种语言。没有合适的内容时会直接说明。",
            },
            Fact {
                title: "不会误删", text: "修改会保留旧文本，忘记的内容在回收站保留 30 天。"
            },
        ],
        connect: "连接客户端",
        step_settings: "把下面的内容加入客户端的 MCP 设置。",
        step_key: "把 `YOUR_KEY` 换成你的密钥。polymnemo 启动时已在终端中打印；\
                   如果你自己设置了 `POLYMNEMO_API_KEYS`，密钥就是冒号前面的部分。",
        step_try: "试一试。",
        try_first: "请记住：我喝咖啡不加糖也不加奶。",
        try_then: "然后在另一个客户端里问：",
        try_second: "我喝咖啡有什么习惯？",
    },
    not_found: NotFound {
        title: "这里没有页面", text: "地址可能有误，或者它指向的内容已经不在了。", home: "回到首页"
    },
    errors: Errors { no_connection: "无法连接服务器。请检查网络后重试。" },
};
