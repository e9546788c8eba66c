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
    /// An app sent a person here, and can't be told what is wrong.
    pub(crate) app_request: DeadEnd,
    pub(crate) app_client: DeadEnd,
    pub(crate) app_document: DeadEnd,
    pub(crate) app_redirect: DeadEnd,
    pub(crate) app_over: DeadEnd,
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
    app_request: DeadEnd {
        title: "The app’s request can’t be read",
        text: "It is incomplete, too long, or says something twice. Nothing was allowed. Connect again in the app; if that \
               does not help, the fault is the app’s.",
    },
    app_client: DeadEnd {
        title: "This app is not known here",
        text: "It did not register here, or so long ago that the registration is gone. Nothing was allowed. Remove the \
               connection in the app and add it anew.",
    },
    app_document: DeadEnd {
        title: "The app does not say who it is",
        text: "The document in which the app describes itself can’t be read, or describes another one. Nothing was allowed. \
               Try again in a few minutes.",
    },
    app_redirect: DeadEnd {
        title: "The app wants to lead you elsewhere",
        text: "The address to which you would be sent back is none of those that the app named before, so you stay here. \
               Nothing was allowed. If you did not start this yourself, someone may have sent you a bad link.",
    },
    app_over: DeadEnd {
        title: "This request is over",
        text: "It was answered already, took too long, or began in another browser. Go back to the app and connect again.",
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
    app_request: DeadEnd {
        title: "无法读取应用的请求",
        text: "请求不完整、太长，或者有重复的内容。没有授予任何权限。请在应用里重新连接；如果仍然不行，问题出在应用。",
    },
    app_client: DeadEnd {
        title: "这里不认识这个应用",
        text: "它没有在这里注册，或者注册已经过期。没有授予任何权限。请在应用里删除这个连接，再重新添加。",
    },
    app_document: DeadEnd {
        title: "应用没有说明自己的身份",
        text: "应用用来介绍自己的文档无法读取，或者说的是另一个应用。没有授予任何权限。请过几分钟再试。",
    },
    app_redirect: DeadEnd {
        title: "应用想把你带到别处",
        text: "返回地址不在应用事先登记的地址之中，所以你留在了这里。没有授予任何权限。如果这不是你自己发起的，可能有人给了你恶意链接。",
    },
    app_over: DeadEnd {
        title: "这个请求已经结束",
        text: "它已经处理过、超时了，或者是在另一个浏览器里开始的。请回到应用重新连接。",
    },
    home: "回到首页",
    try_again: "重试",
};
