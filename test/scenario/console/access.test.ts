// full: SQLite
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { DAY } from '../../../src/lib/clock.ts';
import { axe } from '../../support/axe.ts';
import { REFUSED_REQUEST, ready, startConsole } from '../../support/console.ts';
import { button, refusal, said, visit } from '../../support/console-parts.ts';
import { makeMachine } from '../../support/join-line.ts';
import { ok } from '../../support/replies.ts';
import { started } from '../../support/started.ts';

const WITH_REFUSALS = { allows: REFUSED_REQUEST };

describe('the pages of access, keys, retention and settings', () => {
  const shown = started(() => startConsole({ nodes: 40 }));

  /** What a dialog shows once, in its line to copy. */
  const shownOnce = async (page: Page, begins: RegExp) => {
    const dialog = page.getByRole('dialog').filter({ has: button(page, 'Done') });
    return (await dialog.locator('code').filter({ hasText: begins }).first().innerText()).trim();
  };

  it('makes a user with a role, who can sign in with the password that was shown once', async () => {
    const { page, close } = await visit(shown, '/ui/access/users');
    await button(page, 'New user').click();
    const dialog = page.getByRole('dialog', { name: 'New user' });
    await dialog.getByLabel('User name').fill('new.user');
    await dialog.getByLabel('E-mail').fill('new.user@example.org');
    expect(await axe(page)).to.deep.equal([]);
    await dialog.getByLabel('Generate it').check();
    await dialog.getByLabel('The user must choose another one').uncheck();
    await dialog.getByLabel('Viewer', { exact: true }).check();
    await button(dialog, 'Create').click();
    const password = await shownOnce(page, /^[A-Za-z2-9]{24}$/);
    await button(page, 'Done').click();
    await page.getByRole('table', { name: 'Users' }).getByRole('link', { name: 'new.user' }).click();
    await page.getByRole('heading', { level: 1, name: 'new.user' }).waitFor();
    const effective = page.getByRole('table', { name: 'Effective permissions' });
    await effective.getByRole('row', { name: 'nodes.read' }).getByText('role Viewer').waitFor();
    expect(await page.content()).not.to.include(password);
    await close();

    const other = await shown.open('/login?next=/ui/access/users', { user: null });
    await other.page.getByLabel('User name').fill('new.user');
    await other.page.getByLabel('Password').fill(password);
    await button(other.page, 'Sign in').click();
    await ready(other.page, 'forbidden');
    await refusal(other.page, 'forbidden').waitFor();
    expect(await other.page.getByRole('link', { name: 'Nodes' }).count()).to.equal(1);
    expect(await other.page.getByRole('link', { name: 'Users' }).count()).to.equal(0);
    await other.close();
  });

  it('shows a new token once; it works, and only where its scopes reach', async () => {
    const { page, close } = await visit(shown, '/ui/me');
    await button(page, 'New token').click();
    const dialog = page.getByRole('dialog', { name: 'New token' });
    await dialog.getByLabel('Name').fill('made in the console');
    await dialog.getByLabel('Filter scopes').fill('nodes.');
    await dialog.getByLabel('nodes.read').check();
    await button(dialog, 'Create').click();
    const token = await shownOnce(page, /^pat_/);
    expect(await axe(page)).to.deep.equal([]);
    // Whoever presses Escape by habit must not lose it.
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Escape');
    expect(await button(page, 'Done').isVisible()).to.equal(true);
    const client = shown.hawser.client().with({ Authorization: `Bearer ${token}` });
    expect((await client.get('/api/v1/nodes')).status).to.equal(200);
    expect((await client.get('/api/v1/users')).status).to.equal(403);

    await button(page, 'Done').click();
    const row = page.getByRole('table', { name: 'Tokens' }).getByRole('row', { name: 'made in the console' });
    await row.getByText('Active').waitFor();
    expect(await page.content()).not.to.include(token);
    await button(row, 'Revoke').click();
    await button(page.getByRole('dialog'), 'Revoke').click();
    await row.getByText('Revoked').waitFor();
    expect((await client.get('/api/v1/nodes')).status).to.equal(401);
    await close();
  });

  it('makes and changes roles; those of the system can only be looked at', async () => {
    const { page, close } = await visit(shown, '/ui/access/roles', WITH_REFUSALS);
    await button(page, 'New role').click();
    const dialog = page.getByRole('dialog', { name: 'New role' });
    await dialog.getByLabel('Name').fill('Administrator');
    await dialog.getByLabel('nodes.read').check();
    await button(dialog, 'Create').click();
    await refusal(page, 'name_taken').waitFor();
    await dialog.getByLabel('Name').fill('Deployer');
    await button(dialog, 'Create').click();
    await dialog.waitFor({ state: 'detached' });

    const roles = page.getByRole('table', { name: 'Roles' });
    await roles.getByRole('link', { name: 'Deployer' }).click();
    await page.getByRole('heading', { level: 1, name: 'Deployer' }).waitFor();
    expect(await page.getByLabel('nodes.read').isChecked()).to.equal(true);
    await page.getByLabel('nodes.assign-configuration').check();
    await button(page, 'Save').click();
    await said(page, 'The role Deployer was saved.');
    const all: { name: string; permissions: string[] }[] = await ok(
      200,
      shown.hawser.admin.get('/api/v1/roles'),
    );
    expect(all.find(({ name }) => name === 'Deployer')?.permissions).to.deep.equal([
      'nodes.read',
      'nodes.assign-configuration',
    ]);

    await page.getByRole('link', { name: 'Roles' }).first().click();
    await roles.getByRole('link', { name: 'Administrator' }).click();
    await page.getByText('This is a system role.').first().waitFor();
    expect(await page.getByLabel('nodes.read').isDisabled()).to.equal(true);
    expect(await button(page, 'Delete').isDisabled()).to.equal(true);
    expect(await button(page, 'Save').count()).to.equal(0);
    await close();
  });

  it('shows a registration key once, with a line that joins a node', async () => {
    const { page, close } = await visit(shown, '/ui/registration-keys');
    await button(page, 'New registration key').click();
    await page.getByLabel('Description').fill('from the console');
    await page.getByLabel('Max uses').fill('1');
    await button(page, 'Create').click();
    const line = await page.getByRole('region', { name: 'The line that joins a machine' }).innerText();
    const key = await shownOnce(page, /^reg_/);
    expect(line, 'without HAWSER_PUBLIC_URL').to.include('HAWSER_PUBLIC_URL').and.include(key);
    expect(await axe(page)).to.deep.equal([]);
    const machine = makeMachine('by-the-console.example.org');
    try {
      const { code, stdout, stderr } = await machine.run(line);
      expect(code, stdout + stderr).to.equal(0);
    } finally {
      machine.remove();
    }
    expect(await ok(200, shown.hawser.admin.get('/api/v1/nodes?fqdn=by-the-console'))).to.have.lengthOf(1);
    await button(page, 'Done').click();
    await page.reload();
    const row = page.getByRole('row', { name: 'from the console' });
    await row.getByText('Used up').waitFor();
    expect(await page.content()).not.to.include(key);
    await close();
  });

  it('lists in a dry run what would be deleted, and deletes it afterwards', async () => {
    const { page, close } = await visit(shown, '/ui/retention');
    await page.getByLabel('Versions to keep', { exact: true }).fill('0');
    await page.getByLabel('Days to keep versions').fill('0');
    await page.getByLabel('Keep all releases').uncheck();
    for (const other of ['Versions of composite', 'Parameter files', 'Reports', 'Status events'])
      await page.getByRole('checkbox', { name: other }).uncheck();
    expect(await button(page, 'Clean up').isDisabled()).to.equal(true);
    await button(page, 'Dry run').click();
    const list = page.getByRole('table', { name: 'Versions that would be deleted' });
    const first = list.getByRole('row').nth(1);
    await first.waitFor();
    const [name, version] = await first.locator('th, td').allInnerTexts();
    const count = (await list.getByRole('row').count()) - 1;
    const path = `/api/v1/configurations/${name}/versions/${version}`;
    await ok(200, shown.hawser.admin.get(path));

    await button(page, 'Clean up').click();
    const dialog = page.getByRole('dialog', { name: new RegExp(`^Clean up ${count} entr`) });
    await button(dialog, 'Clean up').click();
    await said(page, `${count} were deleted.`);
    expect((await shown.hawser.admin.get(path)).status).to.equal(404);
    const runs = page.getByRole('table', { name: 'Runs' });
    await runs.getByRole('row').nth(1).getByText('cleanup').waitFor();
    // Rules that were only tried are not saved.
    const saved = await ok(200, shown.hawser.admin.get('/api/v1/settings/retention'));
    expect(saved.keepVersions).to.be.above(0);
    await close();
  });

  it('refuses to take the role from the last administrator, and keeps what was chosen', async () => {
    const { admin } = shown.site.users;
    const { page, close } = await visit(shown, `/ui/access/users/${admin.id}`, WITH_REFUSALS);
    expect(await button(page, 'Reset password').isDisabled()).to.equal(true);
    await page.getByLabel('Administrator', { exact: true }).uncheck();
    await button(page, 'Save roles').click();
    await refusal(page, 'last_administrator').waitFor();
    expect(await page.getByLabel('Administrator', { exact: true }).isChecked()).to.equal(false);
    const held = await ok(200, shown.hawser.admin.get(`/api/v1/users/${admin.id}/roles`));
    expect(held.map(({ name }: { name: string }) => name)).to.deep.equal(['Administrator']);
    await close();
  });

  it('adds members by name and keeps what was typed when somebody else was quicker', async () => {
    const { group, users } = shown.site;
    const { page, close } = await visit(shown, `/ui/access/groups/${group.id}`, WITH_REFUSALS);
    await page.getByLabel('User name').fill(users.author.username);
    await button(page, 'Add member').click();
    const members = page.getByRole('table', { name: 'Members' });
    await members.getByRole('link', { name: users.author.username }).waitFor();

    await page.getByLabel('Name', { exact: true }).fill('Web people');
    const body = { name: group.name, description: 'changed by somebody else' };
    await ok(200, shown.hawser.admin.put(`/api/v1/groups/${group.id}`, body));
    await button(page, 'Save').click();
    await refusal(page, 'precondition_failed').waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).to.equal('Web people');
    await button(page, 'Keep my changes and read the rest anew').click();
    await button(page, 'Save').click();
    await page.getByRole('heading', { level: 1, name: 'Web people' }).waitFor();
    const saved = await ok(200, shown.hawser.admin.get(`/api/v1/groups/${group.id}`));
    expect(saved.description).to.equal('changed by somebody else');
    await close();
  });

  it('changes the theme at once and keeps it', async () => {
    const { page, close } = await visit(shown, '/ui/me');
    const ground = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    const light = await ground();
    const themes = page.getByRole('radiogroup', { name: 'Theme' });
    await themes.getByRole('radio', { name: 'Dark' }).check();
    const dark = await ground();
    expect(dark).not.to.equal(light);
    await page.reload();
    await ready(page);
    expect(await ground()).to.equal(dark);
    expect(await themes.getByRole('radio', { name: 'Dark' }).isChecked()).to.equal(true);
    await themes.getByRole('radio', { name: 'System' }).check();
    expect(await ground()).to.equal(light);
    await close();
  });

  it('saves whom a push may name, and what is done with documents that dsc cannot read', async () => {
    const { page, close } = await visit(shown, '/ui/settings');
    await page.getByLabel('Committers of pushed commits').selectOption('Committer');
    await page.getByLabel('Document checks').selectOption('Warn');
    const validation = page.getByRole('form', { name: 'Validation' });
    await validation.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The rules of validation were saved.').waitFor();
    const saved = await ok(200, shown.hawser.admin.get('/api/v1/settings/validation'));
    expect(saved).to.include({
      pushIdentity: 'Committer',
      requireSemVer: true,
      defaultDocumentChecks: 'Warn',
      defaultParameterValidationMode: 'Strict',
    });
    await close();
  });

  it('freezes what nodes get, says so to everybody, and ends it', async () => {
    const { page, close } = await visit(shown, '/ui/settings', WITH_REFUSALS);
    await button(page, 'Freeze').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Until').fill('2000-01-01T00:00');
    await dialog.getByLabel('Reason').fill('The year ends');
    await button(dialog, 'Freeze').click();
    await dialog.getByText('The end must lie in the future').first().waitFor();
    // The field is in the time zone of the browser, whichever that is.
    const later = new Date(shown.hawser.clock.now() + 2 * DAY).toISOString();
    await dialog.getByLabel('Until').fill(later.slice(0, 16));
    await button(dialog, 'Freeze').click();
    await page.getByText('What nodes get is frozen.').waitFor();
    const viewer = await shown.open('/ui/nodes', { user: 'viewer' });
    await viewer.page.getByText(/What nodes get is frozen until .*The year ends/).waitFor();
    await viewer.close();
    await button(page, 'End the freeze').click();
    await button(dialog, 'End the freeze').click();
    await page.getByText('The freeze has ended.').waitFor();
    expect(await ok(200, shown.hawser.admin.get('/api/v1/settings/freeze'))).to.include({ isFrozen: false });
    await close();
  });

  it('shows a viewer neither users nor keys, and settings without a way to change them', async () => {
    const user = 'viewer';
    const { page, close } = await shown.open('/ui/access/users', { user });
    for (const path of ['access/users', 'access/groups', 'access/roles', 'registration-keys']) {
      await page.goto(`${shown.base}/ui/${path}`);
      await ready(page, 'forbidden');
      await refusal(page, 'forbidden').waitFor();
    }
    await page.goto(`${shown.base}/ui/settings`);
    await ready(page);
    expect(await page.getByLabel('Staleness multiplier').isDisabled()).to.equal(true);
    await page.getByText('takes the permission server.settings.write').first().waitFor();
    expect(await button(page, 'Save').count()).to.equal(0);
    // Without any console message: nothing was asked for that the server would refuse.
    await close();
  });
});
