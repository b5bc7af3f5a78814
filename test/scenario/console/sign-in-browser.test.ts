// full: SQLite
/** A person signs in by a certified provider, in a real browser, from a link to a page of the console. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { startBrowser } from '../../support/browser.ts';
import { type Hawser, startHawser } from '../../support/hawser.ts';
import { makeUser } from '../../support/people.ts';
import { steadyPort } from '../../support/ports.ts';
import { type RealProvider, startRealProvider } from '../../support/real-provider.ts';
import { ok } from '../../support/replies.ts';
import { PROVIDER, settingsWith, writeProviders } from '../../support/sign-in-server.ts';

const LINK = 'Sign in with Example Corp';

describe('signing in by a provider in a browser', function () {
  this.timeout(300_000);
  let folder: string;
  let base: string;
  let provider: RealProvider;
  let hawser: Hawser;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-oidc-'));
    const port = await steadyPort();
    base = `https://localhost:${port}`;
    provider = await startRealProvider({
      redirectUri: `${base}/login/oidc/${PROVIDER}/callback`,
      accounts: {
        ann: { preferred_username: 'ann', email: 'ann@example.org', groups: ['SG-Web'] },
        bob: { preferred_username: 'robert', email: 'bob@example.org', groups: [] },
      },
    });
    const file = writeProviders(folder, provider, { groupsClaim: '/groups' });
    hawser = await startHawser({
      ...settingsWith(file),
      ...{ HAWSER_PUBLIC_URL: base, HAWSER_PORT: String(port), HAWSER_HOST: '127.0.0.1' },
    });
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    await hawser?.close();
    await provider?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    context = await browser.newContext({ ignoreHTTPSErrors: true });
    // The provider's pages want a font from elsewhere.
    await context.route(/googleapis|gstatic/, (route) => route.abort());
    page = await context.newPage();
  });
  afterEach(() => context.close());

  const signInAt = async (name: string) => {
    await page.waitForURL((url) => url.origin === provider.issuer);
    await page.fill('input[name=login]', name);
    await page.fill('input[name=password]', 'any');
    await page.click('button[type=submit]');
    await page.waitForSelector('button[type=submit]:has-text("Continue")');
    await page.click('button[type=submit]');
  };
  const whoIsIn = async () =>
    ok(
      200,
      hawser
        .client()
        .with({ Cookie: await cookieHeader() })
        .get('/api/v1/auth/me'),
    );
  const cookieHeader = async () =>
    (await context.cookies(base)).map(({ name, value }) => `${name}=${value}`).join('; ');

  it('comes to the page that was wanted, with a session', async () => {
    await page.goto(`${base}/ui/me`);
    await page.click(`text=${LINK}`);
    await signInAt('ann');
    await page.waitForURL(`${base}/ui/me`);
    await page.waitForSelector('text=ann@example.org');
    expect(await whoIsIn()).to.include({ username: 'ann', authProvider: PROVIDER });
    const session = (await context.cookies(base)).find(({ name }) => name === 'hawser_session');
    expect(session).to.include({ httpOnly: true, secure: true, sameSite: 'Strict' });
    // A link from another site still finds the session, once the console asks by itself.
    await page.goto(`${provider.issuer}/.well-known/openid-configuration`);
    await page.goto(`${base}/ui/me`);
    await page.waitForSelector('text=ann@example.org');
  });

  it('links an account by its password', async () => {
    const bob = await makeUser(hawser, { username: 'bob' });
    await page.goto(`${base}/login`);
    await page.fill('input[name=username]', 'bob');
    await page.fill('input[name=password]', 'a-password-of-a-test-user');
    await page.click('button:has-text("Sign in")');
    await page.click('summary:has-text("Sign in with Example Corp from now on")');
    await page.fill('form[action$="/link"] input[name=currentPassword]', 'a-password-of-a-test-user');
    await page.click('button:has-text("Go to Example Corp")');
    await signInAt('bob');
    await page.waitForURL((url) => url.origin === base && !url.pathname.startsWith('/login/oidc'));
    expect(await whoIsIn()).to.include({ userId: bob.userId, authProvider: PROVIDER });
  });
});
