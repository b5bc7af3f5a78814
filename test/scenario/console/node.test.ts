// full: SQLite
/** One node in the console: what it should get and runs, its parameters, differences and history, and deeds on it. */

import { expect } from 'chai';
import { HOSTILE } from '../../../scripts/console/site/parameters.ts';
import { ready, startConsole } from '../../support/console.ts';
import { visit } from '../../support/console-parts.ts';
import { ok } from '../../support/replies.ts';
import { started } from '../../support/started.ts';

describe("a node's page in the console", () => {
  const shown = started(() => startConsole({ nodes: 60 }));

  it('says what the node should get, what it runs and that they differ, and leads to the differences', async () => {
    const { id, fqdn } = shown.site.nodes.behind;
    const { page, close } = await visit(shown, `/ui/nodes/${fqdn}`);
    expect(await page.getByRole('heading', { level: 1 }).innerText()).to.equal(fqdn);
    await page.getByText('It runs something else than it should get.').waitFor();
    const { assignment, running } = await ok(200, shown.hawser.admin.get(`/api/v1/nodes/${id}`));
    expect(running.version).not.to.equal(assignment.resolvedVersion);
    await page.getByRole('link', { name: `shop ${assignment.resolvedVersion}`, exact: true }).waitFor();
    await page.getByRole('link', { name: `shop ${running.version}`, exact: true }).waitFor();
    await page.getByRole('link', { name: 'See the differences' }).click();
    await page.waitForURL(`**/ui/nodes/${id}/diff`);
    await ready(page);
    expect(await page.title()).to.equal(`${fqdn}, Diff - Hawser`);
    await page.getByRole('table', { name: 'main.dsc.yaml' }).locator('ins').first().waitFor();
    await page.getByRole('button', { name: 'Unified' }).click();
    await page.waitForURL('**/diff?view=unified');
    await close();
  });

  it('says why a node is not well, in the list too', async () => {
    const [{ id, statusReason }] = await ok(200, shown.hawser.admin.get('/api/v1/nodes?status=NonCompliant'));
    expect(statusReason).to.be.a('string');
    const { page, close } = await visit(shown, '/ui/nodes?status=NonCompliant');
    await page
      .getByRole('table', { name: 'Nodes' })
      .getByText(statusReason, { exact: true })
      .first()
      .waitFor();
    await page.goto(`${shown.base}/ui/nodes/${id}`);
    await page
      .getByText(/^NonCompliant .* since /)
      .filter({ hasText: statusReason })
      .waitFor();
    await close();
  });

  it('says that it runs exactly what it is offered where the checksums are equal', async () => {
    const nodes = await ok(200, shown.hawser.admin.get('/api/v1/nodes?evidence=Declared&version=2.1.0'));
    const { page, close } = await visit(shown, `/ui/nodes/${nodes[0].id}/diff`);
    await page.getByText('The checksums are equal').waitFor();
    await close();
  });

  it('says who set each parameter, shows overridden values, hides secrets and keeps markup as text', async () => {
    const { id } = shown.site.nodes.hostile;
    const { page, close } = await visit(shown, `/ui/nodes/${id}/parameters`);
    const table = page.getByRole('table', { name: 'Parameters', exact: true });
    const row = (path: string) =>
      table.getByRole('row').filter({ has: page.getByRole('rowheader', { name: path, exact: true }) });
    const motd = row('/parameters/motd');
    expect(await motd.innerText()).to.contain(JSON.stringify(HOSTILE));
    expect(await motd.innerText()).to.contain('Node: web-001.eu.example.org');
    expect(await motd.innerText()).to.contain('ada.author');
    await motd.getByText('1 overridden value').click();
    await motd.getByText('This machine is managed by Hawser.').waitFor();
    await row('/parameters/adminPassword').getByRole('img', { name: 'A secret' }).waitFor();
    expect(await page.locator('main img').count()).to.equal(0);
    await page.getByRole('search').getByLabel('Path').fill('tls');
    await page.waitForURL('**/parameters?path=tls');
    await row('/parameters/port').waitFor({ state: 'detached' });
    for (const path of await table.getByRole('rowheader').allInnerTexts()) expect(path).to.contain('tls');
    await close();
  });

  it('puts problems of parameters first', async () => {
    const { id } = shown.site.nodes.withProblems;
    const { page, close } = await visit(shown, `/ui/nodes/${id}/parameters`);
    const tables = await page.getByRole('table').all();
    expect(await tables[0]?.innerText()).to.contain('/parameters/certificate');
    await page.getByRole('table', { name: 'Order of merging' }).getByText('Default').waitFor();
    await close();
  });

  it('tells a reader without access to the parameters so, without asking for them', async () => {
    const nodes = await ok(200, shown.hawser.admin.get('/api/v1/nodes?configurationName=database'));
    for (const tab of ['', '/parameters', '/diff']) {
      const { page, close } = await shown.open(`/ui/nodes/${nodes[0].id}${tab}`, { user: 'viewer' });
      await ready(page, tab === '' ? 'ready' : 'empty');
      if (tab !== '') await page.getByText(/You may not read/).waitFor();
      await close();
    }
  });

  it('lists what happened', async () => {
    const { id } = shown.site.nodes.hostile;
    const { page, close } = await visit(shown, `/ui/nodes/${id}/history`);
    const events = await ok(200, shown.hawser.admin.get(`/api/v1/nodes/${id}/status-history`));
    const rows = page.getByRole('table', { name: 'Events' }).getByRole('row');
    expect(await rows.count()).to.equal(events.length + 1);
    expect(await rows.nth(1).innerText()).to.contain(events[0].status ?? events[0].lcmStatus);
    await close();
  });

  it('sets wishes, takes a tag away and deletes, and says each time what was done', async () => {
    const nodes = await ok(200, shown.hawser.admin.get('/api/v1/nodes?configurationName=inventory'));
    const { id, fqdn } = nodes[0];
    const node = () => ok(200, shown.hawser.admin.get(`/api/v1/nodes/${id}`));
    const { page, close } = await visit(shown, `/ui/nodes/${id}`);
    await page.getByRole('button', { name: 'Set wishes' }).click();
    const wishes = page.getByRole('dialog', { name: `Set wishes for ${fqdn}` });
    await wishes.getByLabel('Interval').fill('PT1H');
    await wishes.getByRole('button', { name: 'Set wishes' }).click();
    await page
      .getByRole('row', { name: /^Interval/ })
      .getByText('01:00:00')
      .first()
      .waitFor();
    expect((await node()).desiredConfigurationModeInterval).to.equal('01:00:00');
    const [tag] = (await node()).tags;
    const name = `${tag.scopeTypeName}: ${tag.scopeValue}`;
    await page.getByRole('button', { name: `Untag ${name}` }).click();
    await page.getByRole('status').getByText(`${fqdn} does not have the tag ${name} any more.`).waitFor();
    expect((await node()).tags).not.to.deep.include(tag);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: `Delete ${fqdn}` });
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.waitForURL('**/ui/nodes');
    await ready(page);
    await page.getByRole('status').getByText(`${fqdn} is deleted.`).waitFor();
    expect((await shown.hawser.admin.get(`/api/v1/nodes/${id}`)).status).to.equal(404);
    await close();
  });
});
