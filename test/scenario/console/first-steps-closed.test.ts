// full: SQLite
/** The list of first steps besides its straight way: closed, by the keyboard, for those who may do less, and its examples. */

import { expect } from 'chai';
import { EXAMPLES, SYSTEMS } from '../../../src/ui/pages/first-steps/examples.ts';
import { axe } from '../../support/axe.ts';
import { noHorizontalScroll, ready, startConsole, WIDTHS } from '../../support/console.ts';
import { publishConfiguration } from '../../support/hawser.ts';
import { moveTo } from '../../support/keyboard.ts';
import { ok } from '../../support/replies.ts';
import { started } from '../../support/started.ts';

const SETTINGS = '/api/v1/settings/validation';

describe('the list of first steps', () => {
  const shown = started(() => startConsole({ nodes: null }));

  for (const width of WIDTHS)
    it(`has no barrier at ${width} px, and shows no line that cannot work`, async () => {
      const { page, close } = await shown.open('/ui/', { width });
      await ready(page, 'empty');
      await noHorizontalScroll(page);
      expect(await axe(page)).to.deep.equal([]);
      for (const path of ['/ui/', '/ui/nodes']) {
        await page.goto(shown.base + path);
        await ready(page, 'empty');
        expect(await page.locator('main').innerText()).to.not.match(/hawser-agent|HAWSER_AGENT/);
      }
      expect(await axe(page)).to.deep.equal([]);
      await noHorizontalScroll(page);
      await close();
    });

  it('is closed for this user by the keyboard, stays closed, and opens again', async () => {
    const { page, close } = await shown.open('/ui/');
    const list = page.getByRole('region', { name: 'First steps' });
    await moveTo(page, page.getByRole('button', { name: 'Close the first steps' }));
    await page.keyboard.press('Enter');
    await list.waitFor({ state: 'detached' });
    await page.reload();
    await ready(page, 'empty');
    expect(await list.count()).to.equal(0);
    await page.getByRole('link', { name: /^Nodes 0$/ }).waitFor();
    await moveTo(page, page.getByRole('button', { name: 'Show the first steps' }));
    await page.keyboard.press('Enter');
    await list.waitFor();
    await close();
  });

  it('is closed until the page is left in a browser that refuses storage', async () => {
    const { page, close } = await shown.open('/ui/');
    const list = page.getByRole('region', { name: 'First steps' });
    await list.waitFor();
    await page.evaluate(`
      const refuse = () => { throw new DOMException('refused', 'SecurityError'); };
      Object.assign(Storage.prototype, { getItem: refuse, setItem: refuse, removeItem: refuse });
    `);
    await page.getByRole('button', { name: 'Close the first steps' }).click();
    await list.waitFor({ state: 'detached' });
    await close();
  });

  it('leads to the review of files of my own that the server refuses to publish', async () => {
    await ok(200, shown.hawser.admin.put(SETTINGS, { defaultDocumentChecks: 'Strict' }));
    const { page, close } = await shown.open('/ui/', { allows: /^Failed to load resource/ });
    await page.getByRole('button', { name: 'Add a configuration' }).click();
    await page.getByRole('radio', { name: 'Upload my own' }).check();
    await page.getByLabel('Choose files').setInputFiles({
      name: 'main.dsc.yaml',
      mimeType: 'application/yaml',
      buffer: Buffer.from('$schema: x\nresorces: []\n'),
    });
    await page.getByLabel('Name', { exact: true }).fill('own');
    await page.getByRole('button', { name: 'Publish 1.0.0' }).click();
    await page.waitForURL('**/ui/configurations/own/drafts/1.0.0/review');
    await page.getByText('own 1.0.0 is a draft, and is not published yet').waitFor();
    await close();
  });

  it('offers examples that the strict checks let through', async () => {
    await ok(200, shown.hawser.admin.put(SETTINGS, { defaultDocumentChecks: 'Strict' }));
    for (const { name, documents } of EXAMPLES)
      for (const system of SYSTEMS)
        await publishConfiguration(shown.hawser.admin, `${name}-${system}`, {
          '1.0.0': { 'main.dsc.yaml': documents[system] },
        });
  });
});
