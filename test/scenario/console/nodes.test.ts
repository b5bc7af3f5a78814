// full: SQLite
/** Nodes in the console: found by filters, changed many at once, exported; by the keyboard alone too. */

import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { REFUSED_REQUEST, ready, startConsole } from '../../support/console.ts';
import { button, refusal, visit } from '../../support/console-parts.ts';
import { moveTo } from '../../support/keyboard.ts';
import { ok } from '../../support/replies.ts';
import { started } from '../../support/started.ts';

const counted = (page: Page) => page.getByRole('status').filter({ hasText: /^\d+ of \d+$/ });

describe('the list of nodes in the console', () => {
  const shown = started(() => startConsole({ nodes: 130 }));

  const list = (query: string): Promise<Record<string, unknown>[]> =>
    ok(200, shown.hawser.admin.get(`/api/v1/nodes?take=1000&${query}`));

  it('assigns a configuration to chosen nodes by the keyboard alone, and says what was done', async () => {
    const { page, close } = await visit(shown, '/ui/nodes?unassigned=true&fqdn=spare');
    const spares = (await list('unassigned=true&fqdn=spare')).slice(0, 2).map(({ fqdn }) => String(fqdn));
    for (const fqdn of spares) {
      await moveTo(page, page.getByRole('checkbox', { name: `Select ${fqdn}`, exact: true }));
      await page.keyboard.press('Space');
    }
    await moveTo(page, button(page, 'Assign'), 'Shift+Tab');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: /^Assign/ });
    await dialog.getByText(`2 nodes: ${spares.join(', ')}.`).waitFor();
    await moveTo(page, dialog.getByLabel('Configuration', { exact: true }));
    await page.keyboard.type('inventory');
    await moveTo(page, dialog.getByRole('button', { name: 'Assign', exact: true }));
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('Assigned 2 nodes; 0 unchanged, 0 failed.').waitFor();
    await dialog.waitFor({ state: 'detached' });
    const assigned = (await list('configurationName=inventory')).map(({ fqdn }) => fqdn);
    expect(assigned).to.include.members(spares);
    await close();
  });

  it('keeps filters and order in the address: reload and the way back show the same', async () => {
    const { page, close } = await visit(shown, '/ui/nodes');
    expect(await counted(page).innerText()).to.equal('100 of 130');
    await page.getByRole('search').getByLabel('Status').selectOption('Compliant');
    await page.waitForURL('**/ui/nodes?status=Compliant');
    await ready(page);
    const met = (await list('status=Compliant')).length;
    const figures = `${Math.min(100, met)} of ${met}`;
    await counted(page).getByText(figures).waitFor();
    await page.getByRole('columnheader').getByRole('link', { name: 'Last check-in' }).click();
    await page.waitForURL('**/ui/nodes?status=Compliant&sort=lastCheckIn');
    await ready(page);
    const order = () => page.getByRole('rowheader').allInnerTexts();
    const before = await order();
    await page.reload();
    await ready(page);
    expect(await order()).to.deep.equal(before);
    expect(await page.getByRole('search').getByLabel('Status').inputValue()).to.equal('Compliant');
    await page.goBack();
    await page.goBack();
    await ready(page);
    await counted(page).getByText('100 of 130').waitFor();
    await page.getByRole('link', { name: 'Next' }).click();
    await page.waitForURL('**/ui/nodes?page=2');
    await counted(page).getByText('30 of 130').waitFor();
    await close();
  });

  it('deletes all that a filter meets and nothing else', async () => {
    const doomed = await list('fqdn=pc-');
    const { page, close } = await visit(shown, '/ui/nodes?fqdn=pc-');
    await button(page, `Select all ${doomed.length}`).click();
    await button(page, 'Delete').click();
    const dialog = page.getByRole('dialog', { name: `Delete ${doomed.length} nodes` });
    await dialog.getByText('all that the filter meets').waitFor();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page
      .getByRole('status')
      .getByText(`Deleted ${doomed.length} nodes; 0 unchanged, 0 failed.`)
      .waitFor();
    await ready(page, 'empty');
    expect(await list('')).to.have.length(130 - doomed.length);
    await close();
  });

  it('does nothing where the filter meets other nodes by now, says so, and goes on with the new number', async () => {
    const name = 'late-1.example.org';
    await shown.hawser.registerNode(name);
    const { page, close } = await visit(shown, '/ui/nodes?fqdn=late-', { allows: REFUSED_REQUEST });
    await button(page, 'Select all 1').click();
    await button(page, 'Tag').click();
    const dialog = page.getByRole('dialog', { name: /^Tag/ });
    await dialog.getByLabel('Scope value').selectOption('Environment: prod');
    await shown.hawser.registerNode('late-2.example.org');
    await dialog.getByRole('button', { name: 'Tag', exact: true }).click();
    await refusal(dialog, 'count_changed').waitFor();
    await dialog.getByText('Now it meets 2 nodes.').waitFor();
    expect((await list('fqdn=late-')).length).to.equal(2);
    expect(await ok(200, shown.hawser.admin.get(`/api/v1/nodes/${name}/tags`))).to.deep.equal([]);
    expect(await dialog.getByLabel('Scope value').locator('option:checked').innerText()).to.equal(
      'Environment: prod',
    );
    await dialog.getByRole('button', { name: 'Tag', exact: true }).click();
    await page.getByRole('status').getByText('Tagged 2 nodes; 0 unchanged, 0 failed.').waitFor();
    await close();
  });

  it('lists the nodes to which a deed was not done, with code and reason, until somebody dismisses it', async () => {
    const { page, close } = await visit(shown, '/ui/nodes?fqdn=web-00');
    await page.getByRole('checkbox', { name: 'Select page' }).check();
    await button(page, 'Tag').click();
    const dialog = page.getByRole('dialog', { name: /^Tag \d+ nodes$/ });
    await dialog.getByLabel('Scope value').selectOption('Environment: prod');
    await dialog.getByRole('button', { name: 'Tag', exact: true }).click();
    const failed = page.getByRole('table', { name: 'Failed nodes' });
    await failed.getByText('scope_type_already_tagged').first().waitFor();
    const rows = (await failed.getByRole('row').count()) - 1;
    await page
      .getByRole('status')
      .getByText(new RegExp(`^Tagged \\d+ nodes?; \\d+ unchanged, ${rows} failed\\.$`))
      .waitFor();
    await page.getByRole('link', { name: 'Nodes', exact: true }).first().click();
    await failed.waitFor();
    await page
      .getByRole('region', { name: /failed$/ })
      .getByRole('button', { name: 'Dismiss' })
      .click();
    await failed.waitFor({ state: 'detached' });
    await close();
  });

  it('exports all that the filter meets, not the page alone', async () => {
    const met = await list('status=Compliant');
    const { page, close } = await visit(shown, '/ui/nodes?status=Compliant');
    const download = page.waitForEvent('download');
    await button(page, 'Export CSV').click();
    const saved = await download;
    expect(saved.suggestedFilename()).to.equal('nodes.csv');
    const lines = (await readFile(await saved.path(), 'utf8')).trimEnd().split('\r\n');
    expect(lines).to.have.length(met.length + 1);
    expect(lines[0]).to.match(/^id,fqdn,/);
    await close();
  });

  it('offers no deed to somebody who may only read', async () => {
    const { page, close } = await visit(shown, '/ui/nodes', { user: 'viewer' });
    for (const name of ['Assign', 'Unassign', 'Tag', 'Untag', 'Delete'])
      expect(await button(page, name).count(), name).to.equal(0);
    expect(await page.getByRole('checkbox', { name: /^Select / }).count()).to.equal(0);
    await page.getByRole('rowheader').getByRole('link').first().click();
    await page.waitForURL('**/ui/nodes/*');
    await ready(page);
    for (const name of ['Assign', 'Tag', 'Untag', 'Delete', 'Set wishes'])
      expect(await button(page, name).count(), name).to.equal(0);
    await close();
  });

  it('offers those deeds alone that somebody has the permission for', async () => {
    const { page, close } = await visit(shown, '/ui/nodes', { user: 'operator' });
    for (const name of ['Assign', 'Unassign', 'Tag', 'Untag'])
      expect(await button(page, name).count(), name).to.equal(1);
    expect(await button(page, 'Delete').count()).to.equal(0);
    await close();
  });

  it('says how to narrow the filter where it meets more nodes than one deed takes', async () => {
    const { page, close } = await visit(shown, '/ui/me');
    await page.route('**/api/v1/nodes?*', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, headers: { ...response.headers(), 'x-total-count': '10001' } });
    });
    await page.getByRole('link', { name: 'Nodes', exact: true }).click();
    await button(page, 'Select all 10001').click();
    await button(page, 'Delete').click();
    const dialog = page.getByRole('dialog', { name: 'Delete 10001 nodes' });
    await dialog.getByText('One deed takes at most 10000 nodes. Narrow the filter').waitFor();
    expect(await dialog.getByRole('button', { name: 'Delete', exact: true }).isDisabled()).to.equal(true);
    await close();
  });

  it('shows a name that looks like markup as text', async () => {
    const name = '<img src=x onerror=alert(1)>';
    const { page, close } = await visit(shown, '/ui/me');
    await page.route('**/api/v1/nodes?*', async (route) => {
      const response = await route.fetch();
      const nodes = (await response.json()) as Record<string, unknown>[];
      await route.fulfill({ response, json: nodes.map((node) => ({ ...node, fqdn: name })) });
    });
    await page.getByRole('link', { name: 'Nodes', exact: true }).click();
    await ready(page);
    expect((await page.getByRole('rowheader').allInnerTexts())[0]).to.equal(name);
    expect(await page.locator('img').count()).to.equal(0);
    await close();
  });
});
