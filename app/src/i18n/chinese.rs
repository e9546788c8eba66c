#[cfg(feature = "ssr")]
use super::on_server;
use super::{
    memories,
    messages::{Copy, Errors, Frame, Messages, NotFound, Status, Welcome},
    notices, trouble,
};

pub(super) static MESSAGES: Messages = Messages {
    frame: Frame { skip_to_content: "跳到正文", home: "polymnemo 首页", licence: "MIT 许可证" },
    status: Status {
        ready: "记忆已就绪。",
        model_loading: "语言模型正在加载，稍后即可存入和回忆。",
        model_failed: "语言模型加载失败。请在服务器上运行 `polymnemo doctor` 查看原因。",
        store_unavailable: "数据库没有响应。请在服务器上运行 `polymnemo doctor` 查看原因。",
        unreachable: "服务器没有响应，页面会继续重试。",
    },
    copy: Copy {
        copy: "复制",
        #[cfg(not(feature = "ssr"))]
        copied: "已复制",
        #[cfg(not(feature = "ssr"))]
        failed: "无法复制，请手动选择",
    },
    welcome: Welcome {
        title: "所有 AI 共用一份记忆",
        lead: "告诉其中一个，其他的也就知道了。polymnemo 保存你要它记住的内容，并提供给任何支持 MCP 的客户端。",
    },
    #[cfg(feature = "ssr")]
    on_server: on_server::CHINESE,
    search: memories::CHINESE_SEARCH,
    memories: memories::CHINESE,
    why: memories::CHINESE_WHY,
    bulk: memories::CHINESE_BULK,
    notices: notices::CHINESE,
    trouble: trouble::CHINESE,
    not_found: NotFound {
        title: "这里没有页面", text: "地址可能有误，或者它指向的内容已经不在了。", home: "回到首页"
    },
    errors: Errors {
        malformed: "表单无法读取：缺少字段或内容不正确。请重新加载页面后再试。",
        no_connection: "无法连接服务器。请检查网络后重试。",
        #[cfg(feature = "ssr")]
        not_signed_in: "登录已失效。请在 /sign-in 重新登录后再试。",
    },
};
