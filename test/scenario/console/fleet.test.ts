// full: SQLite
/** What an operator sees first, how a name is found from everywhere, and how the console stands a server that is away. */

import { expect } from 'chai';
import { ready, startConsole } from '../../support/console.ts';
import { visit } from '../../support/console-parts.ts';
import { started } from '../../support/started.ts';

describe('the start page of the console', () => {
  const shown = started(() => startConsole({ nodes: 60, hasHistory: true }));

  it('counts the fleet as the API does, and leads to the nodes that it counts', async () => {
    const { page, close } = await visit(shown, '/ui/');
    const counted = await page.evaluate<{ nodes: number; byStatus: Record<string, number> }>(
      `fetch('/api/v1/fleet/summary').then((answer) => answer.json())`,
    );
    expect(await page.getByRole('link', { name: /^Nodes \d+$/ }).innerText()).to.match(/\b60\b/);
    const failing = page.getByRole('link', { name: `Error ${counted.byStatus['Error']}`, exact: true });
    await failing.click();
    await page.waitForURL('**/ui/nodes?status=Error');
    await ready(page);
    expect(await page.getByRole('heading', { level: 1 }).innerText()).to.equal('Nodes');
    const count = page.getByRole('status').filter({ hasText: /^\d+ of \d+$/ });
    expect(await count.innerText()).to.equal(`${counted.byStatus['Error']} of ${counted.byStatus['Error']}`);
    expect(await page.title()).to.equal('Nodes - Hawser');
    await close();
  });

  it('draws the reports of 24 hours and has the same figures in a table', async () => {
    const { page, close } = await visit(shown, '/ui/');
    await page.getByRole('img', { name: 'Reports', exact: true }).waitFor();
    await page.getByText('Figures').click();
    const rows = page.getByRole('table', { name: 'Reports by hour' }).getByRole('row');
    expect(await rows.count()).to.equal(25);
    const hour = 3_600_000;
    const from = new Date(Math.floor(Date.now() / hour) * hour - 23 * hour).toISOString();
    const reported = await page.evaluate<number>(
      `fetch('/api/v1/reports?take=1&from=${from}').then((answer) => Number(answer.headers.get('X-Total-Count')))`,
    );
    const cells = await rows.getByRole('cell').allInnerTexts();
    expect(cells.reduce((sum, cell) => sum + Number(cell), 0)).to.equal(reported);
    await close();
  });

  it('says what is assigned to how many nodes, which versions they are offered, and what happened last', async () => {
    const { page, close } = await visit(shown, '/ui/');
    const shop = page.getByRole('table', { name: 'Configurations' }).getByRole('row', { name: /^shop \d/ });
    await shop.getByRole('link', { name: '2.1.0', exact: true }).waitFor();
    const first = page.getByRole('table', { name: 'Activity' }).getByRole('row').nth(1);
    expect(await first.getByRole('rowheader').getByRole('link').count()).to.equal(1);
    await close();
  });

  it('leaves out what somebody without any permission may not see', async () => {
    const { page, close } = await visit(shown, '/ui/', { user: 'nobody' });
    await page
      .getByRole('table', { name: 'Activity' })
      .or(page.getByText('Nothing has happened yet'))
      .first()
      .waitFor();
    expect(await page.getByRole('link', { name: /^Compliant/ }).count()).to.equal(0);
    expect(await page.getByRole('img', { name: 'Reports' }).count()).to.equal(0);
    expect(await page.getByRole('link', { name: 'Nodes', exact: true }).count()).to.equal(0);
    await close();
  });

  it('asks for nothing that somebody who only looks on may not read', async () => {
    const { page, close } = await visit(shown, '/ui/', { user: 'viewer' });
    const table = page.getByRole('table', { name: 'Configurations' });
    await table.getByRole('row', { name: /^shop \d/ }).waitFor();
    const readable = await page.evaluate<{ name: string }[][]>(
      `Promise.all(['configurations', 'composite-configurations'].map((kind) =>
        fetch('/api/v1/' + kind).then((answer) => answer.json())))`,
    );
    const linked = await table.getByRole('rowheader').getByRole('link').allInnerTexts();
    expect(linked).to.have.members(readable.flat().map(({ name }) => name));
    expect(await table.getByRole('rowheader').count()).to.be.above(linked.length);
    await close();
  });

  it('finds a node by a part of its name, from any page and by the keyboard alone', async () => {
    const { page, close } = await visit(shown, '/ui/audit');
    await page.keyboard.press('/');
    const search = page.getByRole('combobox', { name: 'Search' });
    await search.waitFor();
    const { fqdn } = shown.site.nodes.hostile;
    await page.keyboard.type(fqdn.slice(0, -4));
    await page
      .getByRole('listbox')
      .getByRole('option', { name: new RegExp(fqdn) })
      .waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/ui/nodes/${shown.site.nodes.hostile.id}`);
    await page.keyboard.press('Control+k');
    await search.fill('zz-no-such-thing');
    await page.getByText('Nothing has such a name.').waitFor();
    await page.keyboard.press('Escape');
    await search.waitFor({ state: 'detached' });
    await close();
  });

  it('shows the filters of a pasted link, and the way back shows those before', async () => {
    const { page, close } = await visit(shown, '/ui/reports?hadErrors=true&operation=Test');
    expect(await page.getByRole('search').getByLabel('Errors').inputValue()).to.equal('true');
    await page.getByRole('search').getByLabel('Operation').selectOption('Set');
    await page.waitForURL('**/ui/reports?hadErrors=true&operation=Set');
    await page.goBack();
    await page.waitForURL('**/ui/reports?hadErrors=true&operation=Test');
    expect(await page.getByRole('search').getByLabel('Operation').inputValue()).to.equal('Test');
    await close();
  });

  it('shows what is not as it should be first, and hostile text as text', async () => {
    const { page, close } = await visit(shown, `/ui/reports/${shown.site.reports.hostile}`);
    await page.getByRole('rowheader', { name: /<img src=x onerror=alert\(1\)>/ }).waitFor();
    expect(await page.locator('main img').count()).to.equal(0);
    await page.goto(`${shown.base}/ui/reports/${shown.site.reports.long}`);
    await ready(page);
    const states = await page
      .getByRole('table', { name: 'Resources' })
      .getByText(/^(Not in desired state|Not said|In desired state)$/)
      .allInnerTexts();
    const ranks = states.map((state) =>
      ['Not in desired state', 'Not said', 'In desired state'].indexOf(state),
    );
    expect(ranks).to.deep.equal(ranks.toSorted());
    expect(new Set(ranks).size).to.be.at.least(2);
    await close();
  });

  it('lists who was refused, with the details unfolded', async () => {
    const { page, close } = await visit(shown, '/ui/audit?action=session.refused');
    const row = page.getByRole('table', { name: 'Audit' }).getByRole('row').nth(1);
    await row
      .getByText(/wrong password/)
      .first()
      .click();
    await row.getByText('request id').waitFor();
    await close();
  });

  it('finds entries of the audit trail by the name of what they are about, in sentences', async () => {
    const { page, close } = await visit(shown, '/ui/audit');
    await page.getByRole('search').getByLabel('About, by name').fill('shop');
    await page.waitForURL('**/ui/audit?resource=shop');
    const rows = page.getByRole('table', { name: 'Audit' }).getByRole('row');
    await rows.getByRole('rowheader', { name: 'Version 2.1.0 of shop was published' }).waitFor();
    for (const what of await rows.getByRole('rowheader').allInnerTexts()) expect(what).to.contain('shop');
    await close();
  });
});
