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

/** A page from which the browser continues to a path of ours at once. */
export function continuePage(next: string): string {
  const path = escapeHtml(next);
  return htmlPage(
    'Signed in',
    `<meta http-equiv="refresh" content="0;url=${path}"><p><a href="${path}">Continue</a></p>`,
  );
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
