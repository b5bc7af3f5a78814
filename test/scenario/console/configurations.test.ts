// full: SQLite
/** Reading configurations in the console: from the list to a line of a file, differences, and who runs a version. */

import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { REFUSED_REQUEST, ready, startConsole } from '../../support/console.ts';
import {
  findTable,
  get,
  headingOf,
  hostileSite,
  signedVersion,
} from '../../support/console-configurations.ts';
import { visit } from '../../support/console-parts.ts';
import { started } from '../../support/started.ts';

describe('configurations in the console', () => {
  const shown = started(() => startConsole({ nodes: 60 }));

  it('leads from the list to who wrote which line of a file, and the way back leads back', async () => {
    const { page, close } = await visit(shown, '/ui/configurations');
    await findTable(page, 'Configurations').getByRole('link', { name: 'shop', exact: true }).click();
    await page.waitForURL('**/ui/configurations/shop');
    await ready(page);
    expect(await page.title()).to.equal('shop, Versions - Hawser');
    await findTable(page, 'Versions').getByRole('link', { name: '2.1.0', exact: true }).click();
    await ready(page);
    expect(await headingOf(page)).to.equal('shop 2.1.0');
    await findTable(page, 'Files').getByRole('link', { name: 'main.dsc.yaml' }).click();
    const lines = findTable(page, 'main.dsc.yaml').getByRole('row');
    expect(await lines.filter({ hasText: 'defaultValue: 443' }).first().innerText()).to.match(/^8\s/);
    await page.getByRole('button', { name: 'Blame' }).click();
    await findTable(page, 'main.dsc.yaml').getByRole('link', { name: '2.0.0' }).first().waitFor();
    await page.reload();
    const oldest = findTable(page, 'main.dsc.yaml').getByRole('row').filter({ hasText: '$schema' });
    expect(await oldest.innerText()).to.match(/^1\.0\.0 ada\.author/);
    for (const heading of ['shop 2.1.0', 'shop 2.1.0', 'shop', 'Configurations']) {
      await page.goBack();
      await ready(page);
      expect(await headingOf(page)).to.equal(heading);
    }
    await close();
  });

  it('groups versions by their major, says why one was withdrawn, and counts nodes as the API does', async () => {
    const { page, close } = await visit(shown, '/ui/configurations/shop');
    const rows = await findTable(page, 'Versions').getByRole('rowheader').allInnerTexts();
    const published = ['2.2.0-beta.1', '2.1.0', '2.0.0', 'Version 1', '1.2.0', '1.1.0', '1.0.0'];
    expect(rows).to.deep.equal(['Version 2', ...published]);
    const withdrawn = await findTable(page, 'Versions')
      .getByRole('row', { name: /1\.2\.0/ })
      .innerText();
    expect(withdrawn).to.contain('Withdrawn').and.contain('ada.author').and.contain('need more memory');
    const use = await get<{ version: string; offered: number }[]>(
      page,
      '/fleet/configurations/shop/versions',
    );
    const newest = use.find(({ version }) => version === '2.1.0');
    expect(newest?.offered).to.be.greaterThan(0);
    await page.getByRole('link', { name: `${newest?.offered} nodes are offered 2.1.0`, exact: true }).click();
    await page.waitForURL('**/ui/configurations/shop/versions/2.1.0?nodes=all');
    await close();
  });

  it('proves how many nodes run a version, and lists those that do not by their reason', async () => {
    const { page, close } = await visit(shown, '/ui/configurations/shop/versions/2.1.0');
    const proof = await get<{
      nodes: { offered: number; applied: number };
      reasons: { reason: string; nodes: number }[];
    }>(page, '/configurations/shop/versions/2.1.0/proof');
    const { offered, applied } = proof.nodes;
    const counts = page.getByRole('status').filter({ hasText: /^\d+ of \d+$/ });
    expect(await counts.allInnerTexts()).to.deep.equal([`${applied} of ${offered}`]);
    const [first] = proof.reasons;
    await page.getByRole('link', { name: first?.reason ?? 'none', exact: true }).click();
    await page.waitForURL(`**?reason=${first?.reason}`);
    await findTable(page, 'Nodes').waitFor();
    expect(await counts.last().innerText()).to.equal(`${first?.nodes} of ${first?.nodes}`);
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export CSV' }).click();
    expect((await saved).suggestedFilename()).to.equal('shop-2.1.0-nodes.csv');
    await close();
  });

  it('shows differences side by side or below each other, as the pasted link says', async () => {
    const path = '/ui/configurations/shop/compare/1.1.0...2.1.0';
    const { page, close } = await visit(shown, `${path}?view=unified`);
    expect(await headingOf(page)).to.equal('shop 1.1.0...2.1.0');
    const main = findTable(page, 'main.dsc.yaml');
    expect(await main.locator('del').first().innerText()).to.contain('80');
    expect(await main.locator('ins').first().innerText()).to.contain('443');
    expect(await isPressed(page, 'Unified')).to.equal('true');
    const columns = await main.getByRole('columnheader').count();
    await page.getByRole('button', { name: 'Split' }).click();
    await page.waitForURL(`**${path}`);
    expect(await isPressed(page, 'Split')).to.equal('true');
    await main.getByRole('columnheader').nth(columns).waitFor();
    await page.goBack();
    await page.waitForURL('**?view=unified');
    expect(await isPressed(page, 'Unified')).to.equal('true');
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download patch' }).click();
    expect((await saved).suggestedFilename()).to.match(/\.patch$/);
    await close();
  });

  it('compares two versions that are chosen', async () => {
    const { page, close } = await visit(shown, '/ui/configurations/shop');
    await page.getByLabel('From').selectOption('1.0.0');
    await page.getByLabel('To', { exact: true }).selectOption('1.1.0');
    await page.getByRole('button', { name: 'Compare' }).click();
    await ready(page);
    expect(await headingOf(page)).to.equal('shop 1.0.0...1.1.0');
    await page.getByRole('link', { name: 'main.dsc.yaml', exact: true }).click();
    expect(new URL(page.url()).hash).to.equal('#file-main.dsc.yaml');
    await close();
  });

  it('shows hostile names and texts as text, and says of what it cannot show why', async () => {
    const name = await hostileSite(shown);
    const { page, close } = await visit(shown, `/ui/configurations/${name}/versions/1.0.0`);
    expect(await page.locator('main').innerText()).to.contain('<img src=x onerror=alert(1)>');
    await findTable(page, 'Files')
      .getByRole('link', { name: /&lt;b&gt;/ })
      .click();
    const file = page.getByRole('heading', { level: 2, name: /^a\/&lt;b&gt;/ });
    await file.waitFor();
    await page.getByRole('cell', { name: '<script>alert(1)</script>' }).waitFor();
    for (const [path, words] of [
      ['tool.exe', /binary file/],
      ['huge.txt', /too large/],
      ['empty.txt', /file is empty/],
    ] as const) {
      await findTable(page, 'Files').getByRole('link', { name: path }).click();
      await page.getByText(words).waitFor();
    }
    const saved = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download file' }).click();
    expect((await saved).suggestedFilename()).to.equal('empty.txt');
    await findTable(page, 'Files').getByRole('link', { name: 'long.txt' }).click();
    await page.getByRole('button', { name: 'Show the next 500 lines' }).click();
    await page.getByRole('cell', { name: 'line 2500', exact: true }).waitFor();
    const comparison = `/ui/configurations/${name}/compare/1.0.0...1.1.0`;
    await page.goto(shown.base + comparison);
    await ready(page);
    await page.getByText(/^git diff v1\.0\.0 v1\.1\.0 -- huge\.txt$/).waitFor();
    expect(await page.locator('main script, main img').count()).to.equal(0);
    await close();
  });

  it('says whom git names as the author, and that a signature is not verified', async () => {
    const path = await signedVersion(shown);
    const { page, close } = await visit(shown, path);
    const facts = page.locator('dl.facts').first();
    expect(await facts.innerText()).to.match(/Author\s+Dan <dan@example\.org>/);
    await facts.getByText(', signed (Ssh), not verified').waitFor();
    await page.goto(`${shown.base}/ui/configurations/shop/versions/2.1.0`);
    await ready(page);
    expect(await facts.innerText())
      .to.contain('by ada.author')
      .and.not.match(/Author\s|signed/);
    await close();
  });

  it('offers a reader no deeds, and shows settings with the reason why they stay', async () => {
    const refused = { user: 'viewer', allows: REFUSED_REQUEST } as const;
    const { page, close } = await visit(shown, '/ui/configurations/os-baseline', refused);
    expect(await buttonsOf(page)).to.deep.equal(['Compare', 'Copy the clone line']);
    await page.getByRole('link', { name: '1.0.0', exact: true }).click();
    await ready(page);
    expect(await headingOf(page)).to.equal('os-baseline 1.0.0');
    for (const deed of ['Withdraw', 'Draft from this'])
      expect(await page.getByRole('button', { name: deed }).count(), deed).to.equal(0);
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download', exact: true }).click();
    expect((await saved).suggestedFilename()).to.match(/\.zip$/);
    await page.goto(`${shown.base}/ui/configurations/os-baseline/settings`);
    await ready(page);
    expect(await page.getByLabel('Check of parameter files').isDisabled()).to.equal(true);
    const retention = page.getByRole('group', { name: 'Retention' });
    expect(await retention.getAttribute('aria-describedby')).to.be.a('string');
    await page.getByText('Only those with Manage on os-baseline may change this.').first().waitFor();
    await page.goto(`${shown.base}/ui/configurations/os-baseline/permissions`);
    await ready(page, 'forbidden');
    await close();
  });

  it('says what to do next to somebody for whom there is nothing', async () => {
    const { page, close } = await shown.open('/ui/configurations', { user: 'nobody' });
    await ready(page, 'empty');
    await page.getByText(/can grant you Read/).waitFor();
    expect(await page.getByRole('button', { name: 'New configuration' }).count()).to.equal(0);
    await close();
  });
});

function isPressed(page: Page, name: string): Promise<string | null> {
  return page.getByRole('button', { name }).getAttribute('aria-pressed');
}

/** The names of the buttons of the page itself. */
function buttonsOf(page: Page): Promise<string[]> {
  return page
    .locator('main')
    .getByRole('button')
    .evaluateAll((all) => all.map((each) => each.textContent ?? ''));
}
