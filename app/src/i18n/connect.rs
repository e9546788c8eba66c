//! What the page on connecting clients says.

pub(crate) struct Connect {
    pub(crate) title: &'static str,
    pub(crate) lead: &'static str,
    pub(crate) address: &'static str,
    pub(crate) address_hint: &'static str,
    pub(crate) token: &'static str,
    pub(crate) token_hint: &'static str,
    pub(crate) token_link: &'static str,
    pub(crate) client: &'static str,
    pub(crate) client_hint: &'static str,
    pub(crate) instruction: &'static str,
    pub(crate) instruction_hint: &'static str,
    /// What a person tells each client, so that it uses the memory.
    pub(crate) instruction_text: &'static str,
    /// Before where in a client the instruction goes.
    pub(crate) instruction_place: &'static str,
    pub(crate) seen: &'static str,
    pub(crate) never_seen: &'static str,
    pub(crate) all_seen: &'static str,
    pub(crate) all_seen_none: &'static str,
    pub(crate) unnamed: &'static str,
    pub(crate) doors: Doors,
    pub(crate) clients: Clients,
    pub(crate) test: Test,
}

/// The test of the connection.
pub(crate) struct Test {
    pub(crate) title: &'static str,
    pub(crate) hint: &'static str,
    pub(crate) button: &'static str,
    pub(crate) works: &'static str,
    pub(crate) fails: &'static str,
    pub(crate) passed: &'static str,
    pub(crate) skipped: &'static str,
    pub(crate) failed: &'static str,
    pub(crate) fix: &'static str,
    pub(crate) seen: &'static str,
}

/// What a client came through.
pub(crate) struct Doors {
    pub(crate) browser: &'static str,
    pub(crate) api_token: &'static str,
    pub(crate) oauth_app: &'static str,
    pub(crate) static_key: &'static str,
    pub(crate) capability_path: &'static str,
    pub(crate) stdio: &'static str,
}

/// How each client is set up, and where in it the instruction goes.
pub(crate) struct Clients {
    pub(crate) claude_code: Steps,
    pub(crate) claude_desktop: Steps,
    pub(crate) claude_web: Steps,
    pub(crate) chatgpt: Steps,
    pub(crate) cursor: Steps,
    pub(crate) vs_code: Steps,
    pub(crate) gemini_cli: Steps,
    pub(crate) any: Steps,
    pub(crate) any_name: &'static str,
    pub(crate) curl: Steps,
    pub(crate) curl_name: &'static str,
}

/// What to do in one client. Text between backticks is code.
pub(crate) struct Steps {
    /// Before what is to be copied.
    pub(crate) first: &'static str,
    /// After it.
    pub(crate) then: &'static str,
    /// Where the instruction goes.
    pub(crate) instruction: &'static str,
}

pub(super) const ENGLISH: Connect = Connect {
    title: "Connect",
    lead: "Every client that you connect shares this one memory. It needs the address, and you: you sign in, and decide what it may \
           read and write.",
    address: "The address",
    address_hint: "The same for all clients. They speak MCP over streamable HTTP.",
    token: "Without a browser",
    token_hint: "Scripts, CI and clients that can’t open a browser take a token instead. Make one for each; it is shown once, and goes in \
                 place of `YOUR_TOKEN`.",
    token_link: "Make a token",
    client: "Your client",
    client_hint: "Open the one that you use and copy what is in it. The browser then opens this site, where you let the client in; the page \
                  Apps shows what it may do and what it did.",
    instruction: "A word about when to use it",
    instruction_hint: "Clients see the memory, but use it more readily when you tell them to. Paste this where the client \
                       keeps your own instructions; each one above says where that is.",
    instruction_text: "You have a long-term memory of mine, polymnemo, which all my AI apps share. Before you answer \
                       anything that may depend on what I said earlier (who I am, what I like, people, projects, plans, \
                       decisions), look it up with recall. When I say “remember this”, “note that” or “from now on”, or tell \
                       you a lasting fact or decision, keep it with remember: one fact to a memory, understandable on its \
                       own, with names and dates written out. When something has changed, remember the new fact and name \
                       the old memory in supersedes. When nothing is found, say so and do not guess. Never store passwords \
                       or keys.",
    instruction_place: "The instruction goes to:",
    seen: "seen",
    never_seen: "not seen yet",
    all_seen: "Seen so far",
    all_seen_none: "No client has connected yet. As soon as one does, it appears here.",
    unnamed: "A client without a name",
    doors: Doors {
        browser: "in the browser",
        api_token: "by a token",
        oauth_app: "by sign-in",
        static_key: "by a key from the settings",
        capability_path: "by a secret address",
        stdio: "on the server’s machine",
    },
    clients: Clients {
        claude_code: Steps {
            first: "Run this in a terminal:",
            then: "Then `/mcp` in Claude Code, polymnemo, Authenticate.",
            instruction: "`~/.claude/CLAUDE.md`",
        },
        claude_desktop: Steps {
            first: "Where your server has an address on the internet, take the steps of Claude below. Else open Settings → Developer → Edit \
                    Config and add this to `claude_desktop_config.json`. It needs Node.js, whose `npx` fetches the bridge \
                    `mcp-remote`.",
            then: "Quit the app and start it again.",
            instruction: "Settings → Profile → Personal preferences",
        },
        claude_web: Steps {
            first: "Settings → Connectors → Add custom connector. Claude connects from the internet, so the address must be reachable \
                    from there:",
            then: "Then Connect. It holds for the apps on the desktop and on phones, too.",
            instruction: "Settings → Profile → Personal preferences",
        },
        chatgpt: Steps {
            first: "Settings → Apps → Advanced settings → Developer mode, then Create. ChatGPT connects from the internet, so the \
                    address must be reachable from there:",
            then: "For Codex, which shares your ChatGPT account, add this to `~/.codex/config.toml` and run \
                   `codex mcp login polymnemo`.",
            instruction: "Settings → Personalization → Custom instructions; for Codex, `~/.codex/AGENTS.md`",
        },
        cursor: Steps {
            first: "Add this to `~/.cursor/mcp.json`:",
            then: "Settings → MCP then offers to log in, and shows a green dot after.",
            instruction: "Settings → Rules → User Rules",
        },
        vs_code: Steps {
            first: "Run the command “MCP: Open User Configuration” and add this:",
            then: "Start it with the link that appears above the entry; VS Code asks whether it may sign in.",
            instruction: "`.github/copilot-instructions.md` in a project, or a user file made with “Chat: New Instructions \
                          File”",
        },
        gemini_cli: Steps {
            first: "Add this to `~/.gemini/settings.json`:",
            then: "Then `/mcp auth polymnemo` in Gemini CLI.",
            instruction: "`~/.gemini/GEMINI.md`",
        },
        any: Steps {
            first: "Give a client that can sign in the address alone. Others read a file with `mcpServers` in it, and take a token:",
            then: "Where a client wants a kind of transport, it is streamable HTTP. For one that takes nothing but a URL, make a \
                   token that is usable in a URL.",
            instruction: "wherever the client keeps your own instructions or system prompt",
        },
        any_name: "Any other client",
        curl: Steps {
            first: "A script needs no library. This recalls:",
            then: "`tools/list` in place of `tools/call` tells what else there is.",
            instruction: "A script needs none.",
        },
        curl_name: "curl and scripts",
    },
    test: Test {
        title: "Test the connection",
        hint: "Takes the steps that Claude, ChatGPT, Cursor and VS Code take, from outside, through the address above. It lets \
               itself in on your behalf, reads nothing but one search, and leaves nothing behind.",
        button: "Test this connection",
        works: "Everything works as apps need it.",
        fails: "Apps can’t connect yet. The first step that fails is the one to mend.",
        passed: "works",
        skipped: "not tried",
        failed: "fails",
        fix: "What to do:",
        seen: "Seen:",
    },
};

pub(super) const CHINESE: Connect = Connect {
    title: "连接",
    lead: "你连接的每个客户端都共用这一份记忆。它只需要地址，还有你：由你登录，并决定它可以读写什么。",
    address: "地址",
    address_hint: "所有客户端都使用同一个地址，通过 streamable HTTP 使用 MCP。",
    token: "没有浏览器的情况",
    token_hint: "脚本、CI 以及无法打开浏览器的客户端改用令牌。请为每个客户端各建一个；令牌只显示一次，填到 `YOUR_TOKEN` 的位置。",
    token_link: "创建令牌",
    client: "你的客户端",
    client_hint: "打开你使用的客户端，复制其中的内容。随后浏览器会打开本站，由你允许它连接；“应用”页面显示它可以做什么、做过什么。",
    instruction: "说明什么时候使用记忆",
    instruction_hint: "客户端能看到记忆，但有了你的说明会用得更主动。请把下面的文字粘贴到客户端保存个人指令的位置，\
                       上面每个客户端里都写明了在哪里。",
    instruction_text: "你可以使用我的长期记忆 polymnemo，我的所有 AI 应用共用它。凡是回答可能取决于我以前说过的内容（我是谁、\
                       我的喜好、人物、项目、计划、决定），请先用 recall 查找。当我说“记住”“记一下”“以后都这样”，或者告诉你一个\
                       长期有效的事实或决定时，请用 remember 存下来：一条记忆只写一件事，脱离上下文也能看懂，写明人名和日期。\
                       情况有变时，存入新的事实，并在 supersedes 里注明旧的那条。查不到时请直说，不要猜测。\
                       不要存入密码或密钥。",
    instruction_place: "说明文字放在：",
    seen: "最近使用：",
    never_seen: "尚未连接",
    all_seen: "已连接过的客户端",
    all_seen_none: "还没有客户端连接过。一旦有客户端连接，就会显示在这里。",
    unnamed: "未说明名称的客户端",
    doors: Doors {
        browser: "在浏览器中",
        api_token: "使用令牌",
        oauth_app: "使用登录授权",
        static_key: "使用服务器设置中的密钥",
        capability_path: "使用私密地址",
        stdio: "在服务器本机上",
    },
    clients: Clients {
        claude_code: Steps {
            first: "在终端运行：",
            then: "之后在 Claude Code 中输入 `/mcp`，选择 polymnemo，再选择 Authenticate。",
            instruction: "`~/.claude/CLAUDE.md`",
        },
        claude_desktop: Steps {
            first: "如果服务器有互联网地址，请按下面 Claude 的步骤操作。否则打开 Settings → Developer → Edit Config，\
                    把下面的内容加入 `claude_desktop_config.json`。需要 Node.js，由其中的 `npx` 获取桥接工具 `mcp-remote`。",
            then: "退出应用后重新打开。",
            instruction: "Settings → Profile → Personal preferences",
        },
        claude_web: Steps {
            first: "Settings → Connectors → Add custom connector。Claude 从互联网连接，因此地址必须能从互联网访问：",
            then: "然后点 Connect。桌面版和手机版也随之可用。",
            instruction: "Settings → Profile → Personal preferences",
        },
        chatgpt: Steps {
            first: "Settings → Apps → Advanced settings → Developer mode，然后 Create。ChatGPT 从互联网连接，因此地址必须能从互联网访问：",
            then: "与 ChatGPT 使用同一账户的 Codex：把下面的内容加入 `~/.codex/config.toml`，再运行 `codex mcp login polymnemo`。",
            instruction: "Settings → Personalization → Custom instructions；Codex 则是 `~/.codex/AGENTS.md`",
        },
        cursor: Steps {
            first: "加入 `~/.cursor/mcp.json`：",
            then: "之后 Settings → MCP 会提示登录，完成后显示绿点。",
            instruction: "Settings → Rules → User Rules",
        },
        vs_code: Steps {
            first: "运行命令“MCP: Open User Configuration”，加入下面的内容：",
            then: "点击这一项上方出现的链接来启动；VS Code 会询问是否可以登录。",
            instruction: "项目中的 `.github/copilot-instructions.md`，或用“Chat: New Instructions File”创建的用户文件",
        },
        gemini_cli: Steps {
            first: "加入 `~/.gemini/settings.json`：",
            then: "之后在 Gemini CLI 中输入 `/mcp auth polymnemo`。",
            instruction: "`~/.gemini/GEMINI.md`",
        },
        any: Steps {
            first: "能够登录的客户端只需要地址。其他客户端大多读取一个带有 `mcpServers` 的文件，并使用令牌：",
            then: "如果客户端要求选择传输方式，请选 streamable HTTP。如果只能填写网址，请创建可在网址中使用的令牌。",
            instruction: "客户端保存个人指令或系统提示的位置",
        },
        any_name: "其他客户端",
        curl: Steps {
            first: "脚本不需要任何库。下面的命令会查找记忆：",
            then: "把 `tools/call` 换成 `tools/list`，可以看到其他工具。",
            instruction: "脚本不需要。",
        },
        curl_name: "curl 与脚本",
    },
    test: Test {
        title: "测试连接",
        hint: "从外部通过上面的地址，走一遍 Claude、ChatGPT、Cursor 和 VS Code 连接时的步骤。它以你的名义授权自己，只做一次搜索，不留下任何东西。",
        button: "测试这个连接",
        works: "一切正常，应用可以连接。",
        fails: "应用还不能连接。请先修好第一个失败的步骤。",
        passed: "正常",
        skipped: "未测试",
        failed: "失败",
        fix: "怎么办：",
        seen: "看到的：",
    },
};
