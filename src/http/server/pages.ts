const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:4rem auto;padding:0 1rem;color:#1c2430}
input,button{font:inherit;padding:.5rem .75rem;border:1px solid #8a94a3;border-radius:.25rem}
input{width:100%;box-sizing:border-box;margin:.25rem 0 1rem}button{background:#1c4f8c;color:#fff;border-color:#1c4f8c}
code{background:#eef1f5;padding:.1rem .3rem}p.message{color:#a11}`;

/**
 * Browsers move the focus to an `autofocus` field when they first draw the page, which may be after it has loaded: until
 * then keys are lost. The sign-in page therefore ends with this script; without it, the form works as well.
 */
export const LOGIN_SCRIPT =
  "if (document.activeElement === document.body) document.getElementById('token').focus();\n";

/** The sign-in page. `next` is a path of ours, `message` what went wrong the last time. */
export function loginPage({
  next,
  message,
  oidc = false,
}: {
  next: string;
  message?: string;
  /** People can sign in by a provider. */
  oidc?: boolean;
}): string {
  return htmlPage(
    'Sign in',
    `<h1>Echelon</h1>
${message === undefined ? '' : `<p class="message" role="alert">${escapeHtml(message)}</p>`}
${oidc ? `<p><a href="/login/oidc?next=${escapeHtml(encodeURIComponent(next))}">Sign in with your organisation</a></p>` : ''}
<form method="post" action="/login">
<label for="token">API key or token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<input type="hidden" name="next" value="${escapeHtml(next)}">
<button>Sign in</button>
</form>
<script src="/login.js"></script>`,
  );
}

/** A page from which the browser continues to a path of ours, or to the provider, at once. */
export function continuePage(next: string, title = 'Signed in'): string {
  const path = escapeHtml(next);
  return htmlPage(
    title,
    `<meta http-equiv="refresh" content="0;url=${path}"><p><a href="${path}">Continue</a></p>`,
  );
}

/**
 * Asks whether a program on the person's machine may have a token. A link from elsewhere must not be enough: the provider may
 * sign the person in without a question, and the program may be that of another user of the machine.
 */
export function confirmPage({ port, challenge }: { port: number; challenge: string }): string {
  return htmlPage(
    'Sign in a program',
    `<h1>Sign in a program?</h1>
<p>A program on this computer (port ${port}) asks to act as you for 12 hours. Continue only if you started <code>echelon login</code> now and it
shows the code <code>${escapeHtml(codeOf(challenge))}</code>.</p>
<form method="post" action="/login/oidc">
<input type="hidden" name="port" value="${port}">
<input type="hidden" name="challenge" value="${escapeHtml(challenge)}">
<button>Continue</button>
</form>`,
  );
}

/** What `echelon login` and the page show, to be compared by the person. */
export function codeOf(challenge: string): string {
  return challenge.slice(0, 8);
}

/** A page of ours around `body`, which must be escaped already. */
export function htmlPage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)} · Echelon</title><style>${STYLE}</style></head>
<body>
${body}
</body></html>
`;
}

/** Text as it can stand in HTML, in quoted attributes too. */
export function escapeHtml(text: string): string {
  const entities: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replace(/[&<>"']/g, (character) => entities[character]!);
}
