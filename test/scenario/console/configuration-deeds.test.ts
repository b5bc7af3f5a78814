// full: SQLite
/** What authors do with configurations in the console: make, draft, withdraw, share and delete them, and what is refused. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { JSHandle, Page } from 'playwright-core';
import { versionsOf } from '../../support/configurations.ts';
import { REFUSED_REQUEST, ready, startConsole } from '../../support/console.ts';
import { findTable, get, headingOf } from '../../support/console-configurations.ts';
import { said, visit } from '../../support/console-parts.ts';
import { ok } from '../../support/replies.ts';
import { createScopeType, createScopeValue } from '../../support/scopes.ts';
import { started } from '../../support/started.ts';

interface Version {
  version: string;
  status: string;
  withdrawn: { reason: string } | null;
}

describe('deeds on configurations in the console', () => {
  const shown = started(() => startConsole({ nodes: 40 }));

  /** Some requests are refused on purpose. */
  const open = async (path: string, user: 'admin' | 'author' = 'author') => {
    const opened = await visit(shown, path, { user, allows: REFUSED_REQUEST });
    return opened;
  };

  it('makes a configuration by the keyboard alone, without any file at hand', async () => {
    const { page, close } = await open('/ui/configurations');
    await page.getByRole('button', { name: 'New configuration' }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'New configuration' });
    await dialog.waitFor();
    await page.keyboard.type('shop');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Begun in the browser');
    await dialog.getByLabel('Version').press('Enter');
    const refusal = dialog.getByRole('alert');
    await refusal.waitFor();
    expect(await refusal.getAttribute('data-code')).to.equal('name_taken');
    expect(await dialog.getByLabel('Description').inputValue()).to.equal('Begun in the browser');
    await dialog.getByLabel('Name').fill('begun');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/ui/configurations/begun/drafts/1.0.0');
    const made = await get<{ files: { path: string }[] }>(page, '/configurations/begun/versions/1.0.0');
    expect(made.files.map(({ path }) => path)).to.deep.equal(['main.dsc.yaml']);
    await close();
  });

  it('takes a folder that was chosen, with names that would break a page, and leaves out its .git', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hawser-chosen-'));
    for (const path of ['modules', '.git']) mkdirSync(join(folder, path));
    const files = ['main.dsc.yaml', "modules/&lt;b&gt;a 'quoted' one.yaml", '.git/config'];
    for (const path of files) writeFileSync(join(folder, path), '$schema: x\nresources: []\n');
    const { page, close } = await open('/ui/configurations');
    await page.getByRole('button', { name: 'New configuration' }).click();
    const dialog = page.getByRole('dialog', { name: 'New configuration' });
    await dialog.getByLabel('Name').fill('chosen');
    await dialog.getByLabel('Choose a folder').setInputFiles(folder);
    await dialog.getByText(/^2 files/).waitFor();
    await dialog
      .getByRole('group', { name: 'Files' })
      .dispatchEvent('drop', { dataTransfer: await aFile(page) });
    await dialog.getByText(/^3 files/).waitFor();
    await dialog.getByRole('button', { name: 'Take out dropped.txt' }).click();
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.waitForURL('**/ui/configurations/chosen/drafts/1.0.0');
    const made = await get<{ files: { path: string }[] }>(page, '/configurations/chosen/versions/1.0.0');
    expect(made.files.map(({ path }) => path)).to.deep.equal(files.slice(0, 2));
    rmSync(folder, { recursive: true });
    await close();
  });

  it('makes a draft from a version, with the next patch proposed, and deletes it again', async () => {
    const { page, close } = await open('/ui/configurations/database/versions/1.0.0');
    await page.getByRole('button', { name: 'Draft from this' }).click();
    const dialog = page.getByRole('dialog', { name: 'Draft from 1.0.0' });
    expect(await dialog.getByLabel('Version').inputValue()).to.equal('2.1.1');
    await dialog.getByLabel('Version').fill('2.1.0');
    await dialog.getByRole('button', { name: 'Create' }).click();
    const refusal = dialog.getByRole('alert');
    await refusal.waitFor();
    expect(await refusal.getAttribute('data-code')).to.equal('version_exists');
    await dialog.getByLabel('Version').fill('2.1.1');
    await dialog.getByLabel('Message').fill('Back to the first one');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.waitForURL('**/ui/configurations/database/drafts/2.1.1');
    await page.goto(`${shown.base}/ui/configurations/database`);
    await ready(page);
    const row = findTable(page, 'Drafts').getByRole('row', { name: /2\.1\.1/ });
    expect(await row.innerText()).to.contain('Back to the first one');
    expect(await row.getByRole('link', { name: 'Review' }).count()).to.equal(1);
    await row.getByRole('button', { name: /^Delete/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await row.waitFor({ state: 'detached' });
    await close();
  });

  it('names the nodes that keep a version after its withdrawal, and leads to where they are assigned anew', async () => {
    const { admin } = shown.hawser;
    const [node] = await ok(200, admin.get('/api/v1/nodes?unassigned=true&take=1'));
    const assigned = { configurationName: 'shop', version: '2.1.0' };
    await ok(204, admin.put(`/api/v1/nodes/${node.id}/configuration`, assigned));
    const { page, close } = await open('/ui/configurations/shop/versions/2.1.0', 'admin');
    await page.getByRole('button', { name: 'Withdraw' }).click();
    const dialog = page.getByRole('dialog', { name: 'Withdraw shop 2.1.0' });
    await dialog.getByText('1 node is pinned to it and keeps it.').waitFor();
    await dialog.getByRole('list', { name: 'Pinned nodes' }).getByRole('link', { name: node.fqdn }).waitFor();
    await dialog.getByRole('link', { name: 'Assign them anew' }).click();
    await page.waitForURL('**/ui/nodes?configurationName=shop&version=2.1.0');
    await close();
    await ok(204, admin.delete(`/api/v1/nodes/${node.id}/configuration`));
  });

  it('withdraws a version after saying what that would do, and offers it again', async () => {
    const { page, close } = await open('/ui/configurations/shop/versions/2.1.0');
    const asked = await shown.hawser.admin.put(`${versionsOf('shop')}/2.1.0/withdraw?dryRun=true`);
    const [next] = asked.json.wouldGet;
    await page.getByRole('button', { name: 'Withdraw' }).click();
    const dialog = page.getByRole('dialog', { name: 'Withdraw shop 2.1.0' });
    await dialog.getByText(`${next.nodes} would get ${next.version}`).waitFor();
    await dialog.getByLabel('Reason').fill('   ');
    await dialog.getByRole('button', { name: 'Withdraw' }).click();
    const refusal = dialog.getByRole('alert');
    await refusal.waitFor();
    expect(await refusal.getAttribute('data-code')).to.equal('validation_failed');
    expect(await versionOf(page, '2.1.0')).to.deep.include({ withdrawn: null });
    await dialog.getByLabel('Reason').fill('It fills <b>the disk</b>');
    await dialog.getByRole('button', { name: 'Withdraw' }).click();
    await said(page, '2.1.0 is withdrawn');
    await page.getByText('It fills <b>the disk</b>').waitFor();
    expect((await versionOf(page, '2.1.0'))?.withdrawn?.reason).to.equal('It fills <b>the disk</b>');
    await page.getByRole('button', { name: 'Offer again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Offer again' }).click();
    await page.getByRole('button', { name: 'Withdraw' }).waitFor();
    expect(await versionOf(page, '2.1.0')).to.deep.include({ withdrawn: null });
    await close();
  });

  it('lets somebody who may not list users share by names that are known, or by an id', async () => {
    const { viewer } = shown.site.users;
    const { page, close } = await open('/ui/configurations/inventory/permissions');
    await page.getByRole('button', { name: 'Grant' }).click();
    const dialog = page.getByRole('dialog', { name: /^Grant/ });
    await dialog.getByLabel('Kind').selectOption('User');
    await dialog.getByLabel('User', { exact: true }).fill(viewer.username);
    await dialog.getByRole('button', { name: 'Grant' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('User', { exact: true }).fill(viewer.id);
    await dialog.getByLabel('Level').selectOption('Modify');
    await dialog.getByRole('button', { name: 'Grant' }).click();
    const row = findTable(page, 'Permissions').getByRole('row', { name: new RegExp(viewer.username) });
    await row.waitFor();
    expect(await row.innerText()).to.contain('Modify');
    await row.getByRole('button', { name: `Revoke ${viewer.username}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await row.waitFor({ state: 'detached' });
    await close();
  });

  it('lets administrators find whom they share with by name', async () => {
    const { group } = shown.site;
    const { page, close } = await open('/ui/configurations/inventory/permissions', 'admin');
    await page.getByRole('button', { name: 'Grant' }).click();
    const dialog = page.getByRole('dialog', { name: /^Grant/ });
    await dialog.getByLabel('Group', { exact: true }).fill(group.name.toLowerCase());
    await dialog.getByRole('button', { name: 'Grant' }).click();
    await findTable(page, 'Permissions').getByRole('link', { name: group.name }).waitFor();
    await close();
  });

  it('shares the parameters of one scope, and restricts them to those with whom they are shared', async () => {
    const { viewer } = shown.site.users;
    const type = await createScopeType(shown.hawser, 'Stage');
    await createScopeValue(shown.hawser, type, 'live');
    const { page, close } = await open('/ui/configurations/inventory/permissions', 'admin');
    await page.getByRole('button', { name: 'Share parameters' }).click();
    const dialog = page.getByRole('dialog', { name: /^Grant/ });
    await dialog.getByLabel('Kind').selectOption('User');
    await dialog.getByLabel('User', { exact: true }).fill(viewer.username);
    expect(await dialog.getByLabel('Restricted').count()).to.equal(0);
    await dialog.getByLabel('Scope', { exact: true }).selectOption('Stage');
    await dialog.getByLabel('Scope value').fill('live');
    await dialog.getByLabel('Restricted').check();
    await dialog.getByRole('button', { name: 'Grant' }).click();
    const table = findTable(page, 'Permissions of parameters');
    const row = table.getByRole('row', { name: /Stage\/live/ });
    await row.waitFor();
    expect(await row.innerText()).to.contain('(restricted)');
    await row.getByRole('button', { name: 'Change level' }).click();
    const change = page.getByRole('dialog');
    await change.getByLabel('Restricted').uncheck();
    await change.getByRole('button', { name: 'Grant' }).click();
    await row.filter({ hasNotText: '(restricted)' }).waitFor();
    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await row.waitFor({ state: 'detached' });
    await close();
  });

  it('saves settings of its own, and inherits them again', async () => {
    const { page, close } = await open('/ui/configurations/inventory/settings');
    await page.getByLabel('Check of parameter files').selectOption('Warn');
    await page.getByLabel('Check of documents').selectOption('Strict');
    const checks = page.getByRole('form', { name: 'Checks' });
    await checks.getByRole('button', { name: 'Save' }).click();
    await checks.getByText('At least one of these is set here').waitFor();
    const settings = '/configurations/inventory/settings';
    expect(await get(page, settings)).to.deep.include({
      isOverridden: true,
      parameterValidationMode: 'Warn',
      documentChecks: 'Strict',
    });
    await checks.getByRole('button', { name: 'Inherit all' }).click();
    await checks.getByRole('button', { name: 'Inherit all' }).waitFor({ state: 'detached' });
    expect(await get(page, settings)).to.deep.include({ isOverridden: false });
    await page.getByLabel('Newest versions to keep').fill('7');
    const retention = page.getByRole('form', { name: 'Retention' });
    await retention.getByRole('button', { name: 'Save' }).click();
    await retention.getByRole('button', { name: 'Inherit all' }).waitFor();
    expect(await get(page, `${settings}/retention`)).to.deep.include({ keepVersions: 7, keepDays: null });
    await close();
  });

  it('changes the description, and shows why a configuration that nodes have cannot be deleted', async () => {
    const { page, close } = await open('/ui/configurations/database');
    await page.getByRole('button', { name: 'Edit description' }).click();
    await page.getByLabel('Description').fill('Databases of <i>all</i> shops');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('Databases of <i>all</i> shops').waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete database' });
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('alert').waitFor();
    expect(await dialog.getByRole('alert').getAttribute('data-code')).to.equal('in_use');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await headingOf(page)).to.equal('database');
    await close();
  });
});

/** What is dragged: a file that a program made, and not the disk. */
function aFile(page: Page): Promise<JSHandle> {
  return page.evaluateHandle(`(() => {
    const dragged = new DataTransfer();
    dragged.items.add(new File(['text'], 'dropped.txt'));
    return dragged;
  })()`);
}

async function versionOf(page: Page, wanted: string): Promise<Version | undefined> {
  const versions = await get<Version[]>(page, '/configurations/shop/versions');
  return versions.find(({ version }) => version === wanted);
}
