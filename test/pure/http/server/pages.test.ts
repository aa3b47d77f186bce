import assert from 'node:assert/strict';
import { test } from 'node:test';
import { escapeHtml, htmlPage, loginPage } from '../../../../src/http/server/pages.ts';

const HOSTILE = `"><script>alert('1')</script>&`;

test('text on a page is escaped, so that it is never markup', () => {
  assert.equal(escapeHtml(HOSTILE), '&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;');
  for (const page of [loginPage({ next: HOSTILE, message: HOSTILE }), htmlPage(HOSTILE, '')]) {
    assert.ok(!page.includes('<script>'));
    assert.match(page, /^<!doctype html>/);
  }
});

test('the sign-in form posts the token and the next page', () => {
  const page = loginPage({ next: '/docs' });
  assert.match(page, /<form method="post" action="\/login">/);
  assert.match(page, /name="next" value="\/docs"/);
  assert.ok(!page.includes('role="alert"'));
});
