//! What the page says on which a person decides about an app.

pub(crate) struct Consent {
    /// Before and after the app's name.
    pub(crate) title: [&'static str; 2],
    pub(crate) lead: &'static str,
    pub(crate) signed_in_as: &'static str,
    pub(crate) someone_else: &'static str,
    pub(crate) domain: &'static str,
    pub(crate) verified: &'static str,
    pub(crate) unverified: &'static str,
    pub(crate) unverified_means: &'static str,
    pub(crate) led_back_to: &'static str,
    pub(crate) loopback: &'static str,
    /// Before and after the time when it was let in before.
    pub(crate) before: [&'static str; 2],
    pub(crate) reads_only: &'static str,
    pub(crate) lifetime: &'static str,
    /// Days, as the form sends them and as they are read.
    pub(crate) lifetimes: [(&'static str, &'static str); 4],
    pub(crate) lifetime_hint: &'static str,
    pub(crate) deny: &'static str,
    pub(crate) allow: &'static str,
    pub(crate) unavailable: &'static str,
}

pub(super) const ENGLISH: Consent = Consent {
    title: ["Let ", " in?"],
    lead: "An app that calls itself so asks for your memories. You decide how far it gets.",
    signed_in_as: "Signed in as",
    someone_else: "Sign in as someone else",
    domain: "Domain",
    verified: "Verified: a document there describes this app. The name is the app’s own.",
    unverified: "unverified",
    unverified_means: "Nobody vouches for it: any app can call itself by this name.",
    led_back_to: "Led back to",
    loopback: "It runs on this computer, where any program could call itself by this name. Continue only if you started this \
               just now.",
    before: ["You let it in ", ". What you decided then is filled in."],
    reads_only: "read, which is all it asks for",
    lifetime: "For",
    lifetimes: [("1", "1 day"), ("7", "7 days"), ("30", "30 days"), ("90", "90 days")],
    lifetime_hint: "On the page Apps you can narrow, pause or end this at any time, and see all that it saw.",
    deny: "Don’t let in",
    allow: "Let in",
    unavailable: "The server could not keep your answer. Nothing was let in. Try again in a moment.",
};

pub(super) const CHINESE: Consent = Consent {
    title: ["允许 ", " 访问？"],
    lead: "一个自称此名的应用请求访问你的记忆。由你决定它能做到哪一步。",
    signed_in_as: "当前登录",
    someone_else: "换一个人登录",
    domain: "域名",
    verified: "已验证：该域名上的文档介绍了这个应用。名称由应用自己填写。",
    unverified: "未验证",
    unverified_means: "没有谁为它担保：任何应用都可以使用这个名称。",
    led_back_to: "返回地址",
    loopback: "它运行在这台电脑上，而这里的任何程序都可以使用这个名称。只有在你刚刚主动发起连接时，才继续。",
    before: ["上次允许：", "。下面是你当时的决定。"],
    reads_only: "只读，它只请求这一项",
    lifetime: "有效期",
    lifetimes: [("1", "1 天"), ("7", "7 天"), ("30", "30 天"), ("90", "90 天")],
    lifetime_hint: "你可以随时在“应用”页面缩小权限、暂停或终止，并查看它看到的一切。",
    deny: "不允许",
    allow: "允许",
    unavailable: "服务器无法保存你的答复，没有允许任何访问。请稍后再试。",
};
