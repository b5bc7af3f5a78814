// full: SQLite
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { openPage, startBrowser, type WatchedPage } from '../support/browser.ts';
import { ADMIN_PASSWORD, createToken, type Hawser, startHawser } from '../support/hawser.ts';
import { started } from '../support/started.ts';

const FILES = [
  'swagger-ui-bundle.js',
  'swagger-ui.css',
  'favicon-32x32.png',
  'reference.js',
  'reference.css',
];

describe('the interactive reference', () => {
  const hawser = started(() => startHawser({ HAWSER_ENV: 'development' }));

  it('is one page under both spellings of its address, and all that it loads comes from the server', async () => {
    const [plain, slashed] = await Promise.all(
      ['/reference', '/reference/'].map((path) => hawser.client().get(path)),
    );
    expect(plain?.status).to.equal(200);
    expect(slashed?.text).to.equal(plain?.text);
    const loaded = [...String(plain?.text).matchAll(/(?:src|href)="([^"]+)"/g)].map(
      (match) => match[1] ?? '',
    );
    expect(loaded).to.have.members([...FILES.map((file) => `/reference/${file}`), '/openapi/v1.json']);
    for (const path of loaded) expect((await hawser.client().get(path)).status, path).to.equal(200);
    expect(plain?.text).to.not.match(/<script(?![^>]* src=)|<style|\son\w+=/);
  });

  it('hands its files out with their types and a validator', async () => {
    const types = ['text/javascript; charset=utf-8', 'text/css; charset=utf-8', 'image/png'];
    for (const file of FILES) {
      const { headers } = await hawser.client().get(`/reference/${file}`);
      expect(types, file).to.include(headers['content-type']);
      const again = await hawser
        .client()
        .get(`/reference/${file}`, { 'If-None-Match': String(headers['etag']) });
      expect(again.status, file).to.equal(304);
      expect(again.bytes.length, file).to.equal(0);
    }
  });

  it('hands out no other file of the package, nor any beside it', async () => {
    const others = [
      ...['package.json', 'index.html', 'swagger-ui.js', 'swagger-initializer.js'],
      ...[
        '..%2fpackage.json',
        '%2e%2e/package.json',
        '../src/main.ts',
        'swagger-ui.css%00',
        'SWAGGER-UI.CSS',
      ],
    ];
    for (const file of others) {
      expect((await hawser.client().get(`/reference/${file}`)).status, file).to.equal(404);
    }
  });

  it('is not there in production, and neither is any of its files', async () => {
    const production = await startHawser();
    try {
      for (const path of ['', '/', ...FILES.map((file) => `/${file}`)]) {
        expect((await production.client().get(`/reference${path}`)).status, path).to.equal(404);
      }
    } finally {
      await production.close();
    }
  });
});

describe('pages in Chromium', function () {
  this.timeout(240_000);
  let hawser: Hawser;
  let browser: Browser;
  let opened: WatchedPage;
  let base: string;

  before(async () => {
    hawser = await startHawser({ HAWSER_ENV: 'development' });
    base = `https://localhost:${hawser.server.port}`;
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    await hawser?.close();
  });
  beforeEach(async () => {
    opened = await openPage(browser, new URL(base).host);
    opened.page.setDefaultTimeout(60_000);
  });
  afterEach(() => opened?.close());

  it('the reference finds an operation, sends it with a token and shows the answer', async () => {
    const { page, faults } = opened;
    await hawser.registerNode('web-01.example.org');
    const token = await createToken(hawser.client(), hawser.session, ['nodes.read']);
    await page.goto(`${base}/reference`);
    await page.locator('.auth-wrapper .authorize').click();
    // The one way to authorize that a page can use.
    expect(await page.locator('.auth-container form').count()).to.equal(1);
    await page.locator('.auth-container input').fill(token);
    await page.locator('.auth-container button[type=submit]').click();
    await page.locator('.auth-container .btn-done').click();
    await page.locator('.operation-filter-input').fill('nodes');
    await page.locator('#operations-tag-Authentication').waitFor({ state: 'detached' });
    await page.locator('#operations-tag-Nodes').click();
    const operation = page.locator('#operations-Nodes-listNodes');
    await operation.locator('.opblock-summary-control').click();
    await operation.locator('button.execute').click();
    const answer = operation.locator('.live-responses-table .response');
    await answer.waitFor();
    expect(await answer.locator('.response-col_status').innerText()).to.match(/^200/);
    expect(await answer.innerText()).to.include('"fqdn": "web-01.example.org"');
    expect(faults).to.deep.equal([]);
    // In memory only: the page loaded anew knows it no more.
    const kept = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])';
    expect(await page.evaluate(kept)).to.equal('[{},{},""]');
  });

  it('the sign-in page signs in and out, and its session works in the reference', async () => {
    const { page, faults } = opened;
    await page.goto(`${base}/login`);
    await page.locator('[name=username]').fill('admin');
    await page.locator('[name=password]').fill(ADMIN_PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('You are signed in as admin').waitFor();
    expect(page.url()).to.equal(`${base}/login`);
    await page.goto(`${base}/reference/#/Authentication/getCurrentUser`);
    const operation = page.locator('#operations-Authentication-getCurrentUser');
    await operation.locator('button.execute').click();
    const answer = operation.locator('.live-responses-table .response');
    await answer.waitFor();
    expect(await answer.innerText()).to.include('"authMethod": "Session"');
    await page.goto(`${base}/login`);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(faults).to.deep.equal([]);
  });

  it('the sign-in page takes a form of another site for what it is', async () => {
    const { page } = opened;
    await page.goto(`${base}/login`);
    await page.locator('[name=username]').fill('admin');
    await page.locator('[name=password]').fill(ADMIN_PASSWORD);
    // Of an opaque origin, as a form in a sandboxed frame or in a page of another site is.
    await page.route(`${base}/elsewhere`, (route) =>
      route.fulfill({
        contentType: 'text/html',
        headers: { 'Content-Security-Policy': 'sandbox allow-forms' },
        body: `<form method="post" action="${base}/login"><input name="username" value="admin">
<input name="password" value="${ADMIN_PASSWORD}"><button>Go</button></form>`,
      }),
    );
    await page.goto(`${base}/elsewhere`);
    await page.getByRole('button', { name: 'Go' }).click();
    await page.getByText('by a page of another site').waitFor();
    await page.goto(`${base}/login`);
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await page.context().cookies(), 'no session').to.deep.equal([]);
  });
});
