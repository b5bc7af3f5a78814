// full: SQLite
/** Change sets in the console: collected, looked at, applied as one step and taken back; by the keyboard alone too. */

import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { axe } from '../../support/axe.ts';
import { proposed, SETS, setOf } from '../../support/change-sets.ts';
import { create, publish, versionsOf } from '../../support/configurations.ts';
import { REFUSED_REQUEST, ready, startConsole } from '../../support/console.ts';
import { button, refusal, said, visit } from '../../support/console-parts.ts';
import { eventually } from '../../support/eventually.ts';
import { moveTo } from '../../support/keyboard.ts';
import { ok } from '../../support/replies.ts';
import { started } from '../../support/started.ts';

const PUBLISHING = { kind: 'PublishConfiguration', configurationName: 'database', version: '2.1.0' };

describe('change sets in the console', function () {
  this.timeout(240_000);
  const shown = started(() => startConsole({ nodes: 40 }));

  const press = async (page: Page, target: Locator) => {
    await moveTo(page, target);
    await page.keyboard.press('Enter');
  };
  const header = (page: Page) => page.getByRole('list', { name: 'Changes' });
  const rows = (page: Page, table: string) => page.getByRole('table', { name: table }).getByRole('rowheader');
  const setNamed = async (title: string) => {
    const sets: { id: number; title: string; state: string; deeds: object[]; revertedBy: number | null }[] =
      await ok(200, shown.hawser.admin.get(SETS));
    return sets.find((set) => set.title === title) ?? expect.fail(`no set ${title}`);
  };
  const nodeOf = (id: string) => ok(200, shown.hawser.admin.get(`/api/v1/nodes/${id}`));
  const statusOf = async (version: string) =>
    (await ok(200, shown.hawser.admin.get(`${versionsOf('database')}/${version}`))).status;

  it('are collected, previewed, applied and taken back by the keyboard alone', async () => {
    const { id } = shown.site.nodes.behind;
    const { assignment: before } = await nodeOf(id);
    const { page, close } = await visit(shown, '/ui/configurations/database/drafts/2.1.0/review');
    await press(page, button(page, 'Add to a change'));
    await said(page, 'Change 1 is made of it. It changes nothing until it is applied.');
    await header(page).getByRole('link', { name: 'Change 1: 1 deed' }).waitFor();
    await button(page, 'Add to change 1').waitFor();
    await page.goto(`${shown.base}/ui/nodes/${id}`);
    await ready(page);
    await press(page, button(page, 'Assign'));
    const dialog = page.getByRole('dialog');
    await moveTo(page, dialog.getByLabel('Configuration', { exact: true }));
    await page.keyboard.press('Control+A');
    await page.keyboard.type('database');
    await press(page, button(dialog, 'Add to change 1'));
    await said(page, 'It was added to change 1.');
    await press(page, header(page).getByRole('link', { name: 'Change 1: 2 deeds' }));
    await page.getByRole('heading', { level: 1, name: 'Publish database 2.1.0' }).waitFor();
    await page.getByText('Can be applied').waitFor();
    expect(await rows(page, 'Deeds').allInnerTexts()).to.deep.equal([
      'Publish database 2.1.0',
      'Assign database',
    ]);
    expect(await statusOf('2.1.0')).to.equal('Draft');
    await press(page, button(page, 'Preview impact'));
    await said(page, 'would change');
    const { changed } = (
      await ok(200, shown.hawser.admin.get(`/api/v1/previews/${page.url().split('=').at(-1)}`))
    ).counts;
    expect(await axe(page)).to.deep.equal([]);
    await press(page, button(page, 'Apply'));
    await dialog.getByText(`only if it still changes ${changed} nodes`).waitFor();
    expect(await axe(page)).to.deep.equal([]);
    await press(page, button(dialog, 'Apply'));
    await said(page, 'Change 1 is applied.');
    await page.getByRole('main').getByText('Applied', { exact: true }).first().waitFor();
    expect(await statusOf('2.1.0')).to.equal('Published');
    expect((await nodeOf(id)).assignment).to.include({
      configurationName: 'database',
      resolvedVersion: '2.1.0',
    });
    await header(page).waitFor({ state: 'detached' });
    await press(page, button(page, 'Take back'));
    await press(page, button(dialog, 'Take back'));
    await said(page, 'Change 2 takes change 1 back, once it is applied.');
    await page.getByRole('definition').getByRole('link', { name: 'Change 1' }).waitFor();
    await press(page, button(page, 'Apply'));
    await press(page, button(dialog, 'Apply'));
    await said(page, 'Change 2 is applied.');
    expect((await nodeOf(id)).assignment).to.deep.equal(before);
    await press(page, page.getByRole('definition').getByRole('link', { name: 'Change 1' }));
    await page.getByRole('definition').getByRole('link', { name: 'Change 2' }).waitFor();
    await close();
  });

  it('are named where something was done by them, and are found', async () => {
    const { page, close } = await visit(shown, '/ui/');
    const activity = page.getByRole('table', { name: 'Activity' });
    await activity.getByRole('link', { name: 'by change set 1' }).first().waitFor();
    await page.goto(`${shown.base}/ui/audit?action=change_set.applied`);
    await ready(page);
    const applied = page.getByRole('row', {
      name: /The change set 1, Publish database 2\.1\.0, was applied/,
    });
    await applied.getByRole('link', { name: 'Change 1' }).waitFor();
    await page.keyboard.press('Control+K');
    await page.keyboard.type('change-sets/2');
    await page.getByRole('option', { name: 'Change 2' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/ui/change-sets/2');
    await close();
  });

  it('take tags and assignments of all nodes that a filter meets, once each', async () => {
    const met = await ok(200, shown.hawser.admin.get('/api/v1/nodes?take=1000&configurationName=shop'));
    const { page, close } = await visit(shown, '/ui/nodes?configurationName=shop');
    const dialog = page.getByRole('dialog');
    for (const said of [/^Change \d+ is made of it\./, /^It is in change \d+ already\./]) {
      await button(page, `Select all ${met.length}`).click();
      await button(page, 'Unassign').click();
      await dialog.getByRole('button', { name: /^Add to/ }).click();
      await page.getByRole('status').filter({ hasText: said }).waitFor();
      await dialog.waitFor({ state: 'detached' });
      await button(page, 'Clear selection').click();
    }
    const { deeds, id } = await setNamed(`Unassign ${met.length} nodes`);
    expect(deeds).to.have.length(1);
    expect(deeds[0]).to.have.property('nodeIds').of.length(met.length);
    await header(page)
      .getByRole('link', { name: `Change ${id}: 1 deed` })
      .click();
    await ready(page);
    const nodes = page.getByRole('table', { name: 'Deeds' }).getByText(`${met.length} nodes`);
    await nodes.click();
    await page.getByRole('link', { name: met[0].fqdn }).waitFor();
    await button(page, 'Add nothing more').click();
    await header(page).waitFor({ state: 'detached' });
    await close();
  });

  it('are edited, lose a deed, and are discarded; what the state does not allow is not offered', async () => {
    const { id } = await proposed(
      shown.hawser.admin,
      [
        { kind: 'Withdraw', configurationName: 'shop', version: '1.0.0' },
        { kind: 'Withdraw', configurationName: 'shop', version: '1.1.0', reason: 'It <b>leaks</b>' },
      ],
      { title: 'First' },
    );
    const { page, close } = await visit(shown, `/ui/change-sets/${id}`);
    const dialog = page.getByRole('dialog');
    await button(page, 'Edit').click();
    await dialog.getByLabel('Title').fill('<i>Second</i>');
    await dialog.getByLabel('Description').fill('It says why.');
    await button(dialog, 'Save').click();
    await page.getByRole('heading', { level: 1, name: '<i>Second</i>' }).waitFor();
    await page.getByText('It says why.').waitFor();
    await page.getByText('because: It <b>leaks</b>').waitFor();
    await button(page, 'Remove deed 1').click();
    await said(page, 'Deed 1 was removed.');
    await eventually(async () => expect(await rows(page, 'Deeds').allInnerTexts()).to.have.length(1));
    expect(await page.getByText('has changed since you opened this page').count()).to.equal(0);
    expect(await button(page, 'Remove deed 1').count()).to.equal(0);
    await button(page, 'Discard').click();
    await button(dialog, 'Discard').click();
    await said(page, `Change ${id} was discarded.`);
    await page.getByText('Discarded', { exact: true }).waitFor();
    for (const deed of ['Apply', 'Edit', 'Discard', 'Approve', 'Preview impact'])
      expect(await button(page, deed).count(), deed).to.equal(0);
    await close();
  });

  it('are not applied unseen where somebody else has changed them, and say what to do', async () => {
    const { admin } = shown.hawser;
    const withdrawing = { kind: 'Withdraw', configurationName: 'shop', version: '1.1.0', reason: 'old' };
    const set = await proposed(admin, [withdrawing], { title: 'Contested' });
    const { page, close } = await visit(shown, `/ui/change-sets/${set.id}`, { allows: REFUSED_REQUEST });
    const dialog = page.getByRole('dialog');
    const edit = (reason: string) =>
      ok(200, admin.put(setOf(set), { title: 'Contested', deeds: [{ ...withdrawing, reason }] }));
    await button(page, 'Apply').click();
    await edit('other');
    await button(dialog, 'Apply').click();
    await refusal(dialog, 'precondition_failed').waitFor();
    await dialog.getByText('Nothing was done. Close this dialog').waitFor();
    expect(await button(dialog, 'Apply').isDisabled()).to.equal(true);
    await button(dialog, 'Cancel').click();
    await page.getByText('because: other').waitFor();
    await page.getByText('has changed since you opened this page').first().waitFor();
    expect(await button(page, 'Apply').isDisabled()).to.equal(true);
    await button(page, 'Go on with it as it is now').click();
    await button(page, 'Edit').click();
    await dialog.getByLabel('Title').fill('Mine');
    await edit('third');
    await button(dialog, 'Save').click();
    await refusal(dialog, 'precondition_failed').waitFor();
    await button(dialog, 'Cancel').click();
    await page.getByRole('heading', { level: 1, name: 'Contested' }).waitFor();
    await button(page, 'Go on with it as it is now').click();
    await button(page, 'Apply').click();
    await button(dialog, 'Apply').click();
    await said(page, `Change ${set.id} is applied.`);
    await close();
  });

  it('say which deed stands in the way, and cannot be applied then', async () => {
    const { admin } = shown.hawser;
    await ok(
      201,
      create(admin, 'lost', { version: '1.0.0' }, { files: { 'main.dsc.yaml': 'resources: []\n' } }),
    );
    const deeds = [
      { kind: 'Withdraw', configurationName: 'shop', version: '2.0.0', reason: 'old' },
      { ...PUBLISHING, configurationName: 'lost', version: '1.0.0' },
    ];
    const { id } = await proposed(admin, deeds, { title: 'In the way' });
    await ok(200, publish(admin, 'lost', '1.0.0'));
    const { page, close } = await visit(shown, `/ui/change-sets/${id}`);
    await refusal(page, 'already_published')
      .getByText(/^Deed 2: /)
      .waitFor();
    await page.getByText('One thing stands in the way: see the check.').waitFor();
    expect(await button(page, 'Apply').isDisabled()).to.equal(true);
    expect(await axe(page)).to.deep.equal([]);
    await close();
  });

  it('hide from others what these may not see, count it, and cannot be edited by them', async () => {
    const deeds = [
      { kind: 'SetServerManaged', configurationName: 'shop', useServerManagedParameters: true },
      { kind: 'SetServerManaged', configurationName: 'database', useServerManagedParameters: true },
    ];
    const { id } = await proposed(shown.hawser.admin, deeds, { title: 'Half hidden' });
    const { page, close } = await visit(shown, '/ui/change-sets?state=Open&author=admin', { user: 'viewer' });
    const row = page.getByRole('table', { name: 'Change sets' }).getByRole('row', { name: /Half hidden/ });
    await row.getByRole('cell', { name: '2', exact: true }).waitFor();
    await row.getByRole('link', { name: 'Half hidden' }).click();
    await page.waitForURL(`**/ui/change-sets/${id}`);
    await page.getByText('1 more deed is about things that you may not see.').waitFor();
    expect(await page.getByRole('main').innerText()).to.not.include('database');
    for (const deed of ['Apply', 'Edit']) expect(await button(page, deed).isDisabled(), deed).to.equal(true);
    await close();
  });
});
