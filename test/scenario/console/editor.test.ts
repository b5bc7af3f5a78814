// full: SQLite
import { expect } from 'chai';
import type { Browser, Locator, Page } from 'playwright-core';
import { axe } from '../../support/axe.ts';
import { openPage, startBrowser, type WatchedPage } from '../../support/browser.ts';
import { type ComponentServer, startComponentServer } from '../../support/component-server.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    parameters: {
      type: 'object',
      required: ['port'],
      properties: {
        port: { type: 'integer', minimum: 1, maximum: 65535, description: 'Where <b>it</b> listens' },
        level: {
          type: 'string',
          enum: ['info', 'warning', 'yes'],
          default: 'info',
          description: 'What is logged',
        },
        enabled: { type: 'boolean' },
        secret: { type: 'string', writeOnly: true },
      },
    },
  },
};
const YAML = 'parameters:\n  port: 80\n  level: info\n';

describe('the editor in Chromium', function () {
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

  async function show(properties: object): Promise<Locator> {
    const settings = { path: 'web/parameters.yaml', text: YAML, language: 'yaml', ...properties };
    await page.evaluate((each) => Reflect.get(globalThis, 'show')('Editor', each), settings);
    const box = page.getByRole('textbox', { name: settings.path, exact: true });
    await box.waitFor();
    expect(await page.getByRole('textbox').count()).to.equal(1);
    return box;
  }
  const lastText = () =>
    page.evaluate((): string | undefined => Reflect.get(globalThis, 'told').texts.at(-1));
  const focusedName = () => page.evaluate('document.activeElement?.textContent');

  it('is a text box that is named by the path, and tells what is typed', async () => {
    const box = await show({});
    expect(await box.getAttribute('aria-multiline')).to.equal('true');
    await box.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('  enabled: true');
    expect(await lastText()).to.equal(`${YAML}  enabled: true`);
    await box.fill('parameters:\n  port: 81\n  level: info\n');
    expect(await lastText()).to.equal('parameters:\n  port: 81\n  level: info\n');
    await page.keyboard.press('Control+s');
    expect(await page.evaluate(() => Reflect.get(globalThis, 'told').saves)).to.equal(1);
  });

  it('indents with Tab, and is left by Escape and then Tab', async () => {
    const box = await show({});
    await box.focus();
    await page.keyboard.press('Tab');
    expect(await lastText()).to.equal(`  ${YAML}`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Shift+Tab');
    expect(await focusedName()).to.equal('Before');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    expect(await focusedName()).to.equal('After');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    expect(await focusedName(), 'Tab indents again').to.not.equal('Before');
    const line = await box.getAttribute('aria-describedby');
    expect(await page.locator(`#${line}`).innerText()).to.include(
      'Press Escape, then Tab, to leave the editor.',
    );
  });

  it('offers the values that are allowed, and the keys that are not there yet', async () => {
    const box = await show({ schema: SCHEMA, text: 'parameters:\n  port: 80\n  level: ' });
    await box.focus();
    await page.keyboard.press('Control+End');
    await page.keyboard.press('Control+Space');
    const options = page.getByRole('option');
    await options.first().waitFor();
    expect(await options.allInnerTexts()).to.deep.equal(['info default', 'warning', '"yes"'].map(asShown));
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    expect(await lastText()).to.equal('parameters:\n  port: 80\n  level: warning\n  ');
    await page.keyboard.press('Control+Space');
    await options.first().waitFor();
    expect(await options.allInnerTexts()).to.deep.equal(['enabled boolean', 'secret string'].map(asShown));
    expect(await axe(page)).to.deep.equal([]);
    await page.keyboard.type('enabled: tr');
    await page.getByRole('option', { name: 'true' }).waitFor();
    // Enter takes nothing that was not chosen.
    await page.keyboard.type('ue');
    await page.keyboard.press('Enter');
    expect(await lastText()).to.equal('parameters:\n  port: 80\n  level: warning\n  enabled: true\n  ');
  });

  it('shows what is known about the parameter at the cursor, as text', async () => {
    const box = await show({ schema: SCHEMA });
    await box.focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('F1');
    const help = page.getByRole('region', { name: 'Help' });
    const shown = await help.innerText();
    for (const text of ['port', 'Where <b>it</b> listens', 'integer', '1 to 65535', 'Required']) {
      expect(shown).to.include(text);
    }
    await page.keyboard.press('ArrowDown');
    for (const text of ['What is logged', '"info", "warning", "yes"']) {
      expect(await help.innerText()).to.include(text);
    }
    expect(await axe(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Help' }).click();
    expect(await help.count()).to.equal(0);
  });

  it('offers keys and values in JSON too', async () => {
    const text = '{\n  "parameters": {\n    "level": \n  }\n}\n';
    const box = await show({ schema: SCHEMA, language: 'json', text, path: 'parameters.json' });
    await box.focus();
    await page.keyboard.press('Control+Home');
    for (let line = 0; line < 2; line += 1) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('End');
    await page.keyboard.press('Control+Space');
    await page.getByRole('option', { name: '"warning"' }).click();
    await page.keyboard.type(',');
    await page.keyboard.press('Enter');
    await page.keyboard.type('"ena');
    await page.getByRole('option', { name: '"enabled"' }).click();
    expect(await lastText()).to.equal(
      '{\n  "parameters": {\n    "level": "warning",\n    "enabled": \n  }\n}\n',
    );
  });

  it('marks problems at their lines, by line or by JSON Pointer', async () => {
    const problems = [
      { path: '/parameters/port', message: 'Too small <i>', severity: 'error' },
      { line: 3, column: 10, message: 'Rather not', severity: 'warning' },
    ];
    await show({ problems });
    await page.getByText('There are 2 problems.').waitFor();
    expect(await problemLines()).to.deep.equal([2, 3]);
    const port = page.locator('.cm-lintRange-error');
    expect(await port.innerText()).to.equal('80');
    expect(await page.locator('.cm-lintRange-warning').innerText()).to.equal('info');
    await port.hover();
    await page.getByText('Too small <i>').waitFor();
    const list = '- name: a\n  ports: [1, {x: 2}]\n- "b c": |\n    text\n  d~/e: 3\n';
    const paths = ['/0/ports/1/x', '/1/b c', '/1/d~0~1e', '/7/none', '/1/none'];
    await show({ path: 'list.yaml', text: list, problems: paths.map((path) => ({ path, message: path })) });
    await page.getByText('There are 5 problems.').waitFor();
    // What is not there is marked at what would hold it: the list of all, and the item.
    expect(await problemLines()).to.deep.equal([1, 2, 3, 5]);
    expect(await axe(page)).to.deep.equal([]);
  });

  it('keeps the history when it is given the text that it told, and takes another text', async () => {
    const box = await show({});
    await box.focus();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('# one');
    await page.keyboard.press('Control+z');
    expect(await lastText()).to.equal(YAML);
    await page.evaluate(() => Reflect.get(globalThis, 'setText')('other: 1\n'));
    await page.getByText('other: 1').waitFor();
    await page.keyboard.press('Control+z');
    expect(await box.innerText()).to.include('other: 1');
  });

  it('takes texts of several lines from tools, as a whole and over lines that are out of sight', async () => {
    const long = Array.from({ length: 5_000 }, (_, index) => `key${index}: value`).join('\n');
    const box = await show({ text: long });
    await box.fill('a: 1\nb: 2\n');
    expect(await lastText()).to.equal('a: 1\nb: 2\n');
    await box.fill('');
    expect(await lastText()).to.equal('');
    await page.evaluate((text) => Reflect.get(globalThis, 'setText')(text), long);
    await box.focus();
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Control+Shift+End');
    await page.keyboard.insertText('a: 1\nb: 2');
    expect(await lastText()).to.equal('key0: value\na: 1\nb: 2');
  });

  it('keeps the line breaks of the file', async () => {
    for (const [text, after] of [
      ['a: 1\r\nb: 2\r\n', 'a: 1\r\nb: 2\r\nc: 3\r\n'],
      ['a: 1\r\nb: 2\n', 'a: 1\r\nb: 2\nc: 3\n'],
    ] as const) {
      const box = await show({ text, path: `${after.length}.yaml` });
      await box.focus();
      await page.keyboard.press('Control+End');
      await page.keyboard.type('c: 3\n');
      expect(await lastText()).to.equal(after);
      await page.evaluate(() => Reflect.get(globalThis, 'show')('None', {}));
    }
  });

  it('can be read but not changed, and Tab leaves it', async () => {
    const box = await show({ isReadOnly: true });
    expect(await box.getAttribute('aria-readonly')).to.equal('true');
    await box.focus();
    await page.keyboard.type('x');
    expect(await lastText()).to.equal(undefined);
    await page.keyboard.press('Tab');
    expect(await focusedName()).to.equal('After');
    expect(await axe(page)).to.deep.equal([]);
  });

  it('shows the text at once, and is no text box until it can be typed into', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/open-.*\.js$/, async (route) => {
      await held;
      await route.continue();
    });
    const shown = show({});
    const waiting = page.getByRole('region', { name: 'web/parameters.yaml, loading' });
    await waiting.waitFor();
    expect(await waiting.innerText()).to.include('port: 80');
    expect(await page.getByRole('textbox').count()).to.equal(0);
    expect(await axe(page)).to.deep.equal([]);
    release();
    await shown;
    expect(await waiting.count()).to.equal(0);
  });

  it('is a plain text box where its program cannot be loaded', async () => {
    await page.route(/open-.*\.js$/, (route) =>
      route.fulfill({ status: 200, contentType: 'text/html', body: '' }),
    );
    const box = await show({});
    await box.fill('a: 1\n');
    expect(await lastText()).to.equal('a: 1\n');
    // Chromium tells of the program that it did not get.
    expect(opened.faults.splice(0).join()).to.include('MIME type');
  });

  it('has no fault in light, dark and forced colours, and never makes a narrow page scroll sideways', async () => {
    const text = `${YAML}# ${'long '.repeat(50)}\n  secret: "${'x'.repeat(200)}"\n`;
    await page.setViewportSize({ width: 320, height: 640 });
    await show({ text, schema: SCHEMA, problems: [{ line: 2, message: 'Too small' }] });
    await page.getByText('There is 1 problem.').waitFor();
    for (const media of [
      { colorScheme: 'light' },
      { colorScheme: 'dark' },
      { forcedColors: 'active', reducedMotion: 'reduce' },
    ] as const) {
      await page.emulateMedia(media);
      expect(await axe(page)).to.deep.equal([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(320);
    }
  });

  async function problemLines(): Promise<number[]> {
    const tops = async (selector: string) =>
      Promise.all((await page.locator(selector).all()).map(async (each) => (await each.boundingBox())?.y));
    await page.locator('.cm-lint-marker').first().waitFor();
    const [markers, numbers] = await Promise.all([
      tops('.cm-lint-marker'),
      tops('.cm-lineNumbers .cm-gutterElement'),
    ]);
    const names = await page.locator('.cm-lineNumbers .cm-gutterElement').allInnerTexts();
    return markers.map((top = 0) => {
      const below = numbers.findLastIndex((y = 0) => y <= top + 1);
      return Number(names[below]);
    });
  }
});

/** Chromium shows a detail behind its label without a blank between the two. */
function asShown(option: string): string {
  return option.replace(' ', '');
}
