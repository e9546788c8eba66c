//! The page for someone who sent a form after their session had ended.

pub(crate) struct KeptForm {
    pub(crate) title: &'static str,
    pub(crate) text: &'static str,
    pub(crate) sign_in: &'static str,
    pub(crate) send: &'static str,
    /// Before what was typed.
    pub(crate) typed: &'static str,
}

pub(super) const ENGLISH: KeptForm = KeptForm {
    title: "You are no longer signed in",
    text: "Nothing is lost: what you typed is kept on this page. Sign in in another tab, come back to this one and \
                send it again.",
    sign_in: "Sign in, in another tab",
    send: "Send it again",
    typed: "What you typed",
};

pub(super) const CHINESE: KeptForm = KeptForm {
    title: "登录已失效",
    text: "你输入的内容没有丢失，都保留在此页面上。请在另一个标签页登录，然后回到这里重新提交。",
    sign_in: "在另一个标签页登录",
    send: "重新提交",
    typed: "你输入的内容",
};
