import { expect } from 'chai';
import type { Browser, Locator, Page } from 'playwright-core';
import { axe } from '../../support/axe.ts';
import { openPage, startBrowser, type WatchedPage } from '../../support/browser.ts';
import { type ComponentServer, startComponentServer } from '../../support/component-server.ts';

const HOSTILE = '<img src=x onerror=alert(1)>';

describe('differences in Chromium', function () {
  this.timeout(240_000);
  let server: ComponentServer;
  let browser: Browser;
  let opened: WatchedPage;
  let page: Page;

  before(async () => {
    [server, browser] = await Promise.all([startComponentServer(), startBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });
  beforeEach(async () => {
    opened = await openPage(browser, new URL(server.base).host);
    ({ page } = opened);
    page.on('console', (message) => opened.faults.push(`console: ${message.text()}`));
    await page.goto(server.base);
  });
  afterEach(async () => {
    expect(opened.faults).to.deep.equal([]);
    await opened.close();
  });

  const show = (name: string, properties: object) =>
    page.evaluate(([each, settings]) => Reflect.get(globalThis, 'show')(each, settings), [
      name,
      properties,
    ] as const);
  /** The difference of two texts, as the browser finds it. */
  const diffOf = (before: string, after: string) =>
    page.evaluate((texts) => Reflect.get(globalThis, 'diffOfTexts')('a.yaml', ...texts), [
      before,
      after,
    ] as const);
  async function showTexts(before: string, after: string, mode: string, more: object = {}): Promise<Locator> {
    const diff = await diffOf(before, after);
    await show('DiffTable', { path: 'a.yaml', diff, mode, ...more });
    return page.getByRole('table', { name: 'a.yaml', exact: true });
  }

  const BEFORE = `one: 1\ntwo: 2\nthree: 3\nfour: ${HOSTILE}\n`;
  const AFTER = `one: 1\ntwo: 22\nthree: 3\nfour: ${HOSTILE}\nfive: ${HOSTILE}\n`;

  for (const mode of ['unified', 'split']) {
    it(`shows what is gone in del and what is new in ins, ${mode}`, async () => {
      const table = await showTexts(BEFORE, AFTER, mode);
      expect(await table.locator('del').allInnerTexts()).to.deep.equal(['two: 2']);
      expect(await table.locator('ins').allInnerTexts()).to.deep.equal(['two: 22', `five: ${HOSTILE}`]);
      // The part that differs is marked.
      expect(await table.locator('mark').allInnerTexts()).to.deep.equal(['2']);
      expect(await table.locator('.diff-sign').allInnerTexts()).to.include.members(['+', '-']);
      expect(await page.locator('img').count()).to.equal(0);
      expect(await table.locator('.diff-hunk').allInnerTexts()).to.deep.equal(['@@ -1,4 +1,5 @@']);
      expect(await axe(page)).to.deep.equal([]);
    });
  }

  it('puts removed lines beside added ones, and numbers both sides', async () => {
    const table = await showTexts(BEFORE, AFTER, 'split');
    const rows = await table.locator('tbody tr:not(.diff-hunk)').all();
    const texts = await Promise.all(rows.map((row) => row.locator('td').allInnerTexts()));
    expect(texts.map((cells) => cells.join('|'))).to.deep.equal([
      '1||one: 1|1||one: 1',
      '2|-|two: 2|2|+|two: 22',
      '3||three: 3|3||three: 3',
      `4||four: ${HOSTILE}|4||four: ${HOSTILE}`,
      `|||5|+|five: ${HOSTILE}`,
    ]);
  });

  it('copies lines without their numbers and signs', async () => {
    const table = await showTexts(BEFORE, AFTER, 'unified');
    await table.waitFor();
    await page.evaluate('getSelection().selectAllChildren(document.querySelector("tbody"))');
    const copied = String(await page.evaluate('getSelection().toString()'));
    const lines = copied.split('\n').map((line) => line.trim());
    expect(lines).to.include.members(['one: 1', 'two: 2', 'two: 22']);
  });

  it('shows one line below the other where the page is narrow, and never makes it scroll sideways', async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    const table = await showTexts(`a: ${'x'.repeat(300)}\n`, `a: ${'y'.repeat(300)}\n`, 'split');
    expect(await table.getByRole('columnheader').allInnerTexts()).to.deep.equal([
      'Old',
      'New',
      'Change',
      'Text',
    ]);
    for (const media of [
      { colorScheme: 'light' },
      { colorScheme: 'dark' },
      { forcedColors: 'active' },
    ] as const) {
      await page.emulateMedia(media);
      expect(await axe(page)).to.deep.equal([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(320);
    }
    await page.setViewportSize({ width: 1440, height: 640 });
    await table.getByRole('columnheader', { name: 'Before' }).waitFor();
  });

  it('shows what cannot be seen: carriage returns, characters that turn the order, the missing newline', async () => {
    const table = await showTexts('a: 1\r\nb: 2', 'a: 1\nb: \u202e2\n', 'unified');
    expect(await table.locator('del').allInnerTexts()).to.deep.equal(['a: 1CR', 'b: 2']);
    expect(await table.locator('ins').allInnerTexts()).to.deep.equal(['a: 1', 'b: U+202E2']);
    await table.getByRole('img', { name: 'carriage return' }).waitFor();
    await page.getByText('No newline at the end before.').waitFor();
    expect(await axe(page)).to.deep.equal([]);
  });

  it('says why the content of a file is not shown', async () => {
    const none = { ...(await diffOf('', '')), change: 'Modified' };
    const sizes = { sizeBefore: 1, sizeAfter: 2_000_000 };
    const sentences = {
      'This is a binary file. Its content is not shown. It had 1 byte, and has 2000000 bytes now.': {
        isBinary: true,
      },
      'This file is too large to show: more than 1 MiB or 20,000 lines. It had 1 byte, and has 2000000 bytes now.':
        { isTooLarge: true },
      'The content is the same on both sides.': {},
      'The file is new and empty.': { change: 'Added' },
    };
    for (const [sentence, members] of Object.entries(sentences)) {
      await show('DiffTable', { path: 'a.bin', diff: { ...none, ...members }, mode: 'split', sizes });
      await page.getByText(sentence, { exact: true }).waitFor();
    }
  });

  it('shows a long difference in blocks', async () => {
    const lines = (word: string) =>
      Array.from({ length: 5_000 }, (_, index) => `${word} ${index}\n`).join('');
    const table = await showTexts('', lines('line'), 'unified');
    expect(await table.locator('ins').count()).to.equal(1_999);
    await page.getByText('2000 of 5001 lines are shown.').waitFor();
    await page.getByRole('button', { name: 'Show the next 2000 lines' }).click();
    await page.getByRole('button', { name: 'Show the next 1001 lines' }).click();
    expect(await table.locator('ins').last().innerText()).to.equal('line 4999');
    expect(await table.locator('ins').count()).to.equal(5_000);
  });

  it('reads a file of a comparison when it comes into view, and more lines when asked', async () => {
    const path = 'checks/a b#<i>.yaml';
    const url = `/compare/files/${encodeURIComponent(path)}?to=1.1.0`;
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).search));
    const diff = { ...(await diffOf(BEFORE, AFTER)), path };
    for (const context of [3, 20, 100]) server.answers.set(`${url}&context=${context}`, diff);
    const sides = { sizeBefore: 1, sizeAfter: 2, executableBefore: false, executableAfter: true };
    const change = {
      path,
      previousPath: 'old.yaml',
      change: 'Modified',
      additions: 2,
      deletions: 1,
      ...sides,
    };
    await page.setViewportSize({ width: 1000, height: 300 });
    await page.evaluate("document.querySelector('h1').style.marginBottom = '3000px'");
    await show('DiffFile', { change, url, mode: 'unified' });
    const section = page.getByRole('region', { name: path, exact: true });
    await section.waitFor();
    expect(await section.locator('summary').innerText()).to.match(
      /^Modified\s+\+2\s+-1\s+was old\.yaml\s+became executable$/,
    );
    expect(asked.filter((query) => query.includes('context'))).to.deep.equal([]);
    const table = section.getByRole('table', { name: path, exact: true });
    await page.evaluate(
      (anchor) => {
        Reflect.get(globalThis, 'location').hash = anchor;
      },
      `file-${encodeURIComponent(path)}`,
    );
    await table.waitFor();
    const more = section.getByRole('button', { name: 'Show more lines around the changes' });
    for (const context of [20, 100]) {
      await Promise.all([page.waitForRequest(new RegExp(`context=${context}$`)), more.click()]);
    }
    await more.waitFor({ state: 'detached' });
    expect(asked.filter((query) => query.includes('context'))).to.deep.equal(
      [3, 20, 100].map((context) => `?to=1.1.0&context=${context}`),
    );
    expect(await axe(page)).to.deep.equal([]);
    await section.locator('summary').click();
    await table.waitFor({ state: 'detached' });
  });
});
