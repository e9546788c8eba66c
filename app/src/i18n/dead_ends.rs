//! Pages that stand where another one was to be. They are made on the server alone, without
//! anything that could fail.

use super::Language;

/// What they say, in a language.
pub(crate) fn messages(language: Language) -> &'static DeadEnds {
    match language {
        Language::English => &ENGLISH,
        Language::Chinese => &CHINESE,
    }
}

pub(crate) struct DeadEnds {
    pub(crate) forbidden: DeadEnd,
    pub(crate) too_large: DeadEnd,
    pub(crate) too_many: DeadEnd,
    pub(crate) failed: DeadEnd,
    pub(crate) unavailable: DeadEnd,
    /// Everything else.
    pub(crate) refused: DeadEnd,
    pub(crate) offline: DeadEnd,
    pub(crate) home: &'static str,
    pub(crate) try_again: &'static str,
}

pub(crate) struct DeadEnd {
    pub(crate) title: &'static str,
    pub(crate) text: &'static str,
}

static ENGLISH: DeadEnds = DeadEnds {
    forbidden: DeadEnd {
        title: "This is not allowed",
        text: "The request came from another site, or asks for something that you may not do. Open the page from here and \
               try again.",
    },
    too_large: DeadEnd {
        title: "This is too much at once",
        text: "What you sent is longer than the server takes. Go back, where your text still is, and send it in parts.",
    },
    too_many: DeadEnd {
        title: "Too many requests",
        text: "There were more requests than the server takes in so short a time. Wait a minute, then try again.",
    },
    failed: DeadEnd {
        title: "Something went wrong",
        text: "The fault is the server’s, and its log tells more. What was stored before is safe.",
    },
    unavailable: DeadEnd {
        title: "Not available at the moment",
        text: "The server is up, but a part that it needs does not answer. What was stored before is safe. Try again in a \
               minute.",
    },
    refused: DeadEnd {
        title: "The server did not understand this",
        text: "The request was incomplete or out of date. Open the page from here and try again.",
    },
    offline: DeadEnd {
        title: "No connection",
        text: "The server can’t be reached from here right now. Your memories are safe where they are.",
    },
    home: "Go to the first page",
    try_again: "Try again",
};

static CHINESE: DeadEnds = DeadEnds {
    forbidden: DeadEnd {
        title: "不允许这样做", text: "请求来自另一个网站，或者你没有权限。请从这里打开页面后再试。"
    },
    too_large: DeadEnd {
        title: "一次提交的内容太多",
        text: "提交的内容超过了服务器的上限。请返回上一页（文字还在），分几次提交。",
    },
    too_many: DeadEnd {
        title: "请求过多", text: "短时间内的请求超过了上限。请等一分钟再试。"
    },
    failed: DeadEnd {
        title: "出错了", text: "问题出在服务器，详情见服务器日志。之前存入的内容是安全的。"
    },
    unavailable: DeadEnd {
        title: "暂时不可用",
        text: "服务器在运行，但它依赖的某个部分没有响应。之前存入的内容是安全的，请稍后再试。",
    },
    refused: DeadEnd {
        title: "服务器无法理解这个请求", text: "请求不完整或已过期。请从这里打开页面后再试。"
    },
    offline: DeadEnd {
        title: "没有连接", text: "现在无法连接到服务器。你的记忆仍安全地保存在那里。"
    },
    home: "回到首页",
    try_again: "重试",
};
