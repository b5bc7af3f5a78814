// full: SQLite
/** What is protected, set in the console: stronger at once, weaker by a change set, and proposed by whoever may not do it. */

import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { axe } from '../../support/axe.ts';
import { SETS } from '../../support/change-sets.ts';
import { noHorizontalScroll, REFUSED_REQUEST, startConsole } from '../../support/console.ts';
import { button, refusal, said, visit } from '../../support/console-parts.ts';
import { ok } from '../../support/replies.ts';
import { started } from '../../support/started.ts';

const SHOP = '/ui/configurations/shop/settings';

describe('protections in the console', function () {
  this.timeout(240_000);
  const shown = started(() => startConsole({ nodes: 40 }));

  const read = async (path: string) => (await ok(200, shown.hawser.admin.get(`/api/v1${path}`))).protection;
  const form = (page: Page) => page.getByRole('form', { name: 'Protection' });
  const approvals = (within: Pick<Page, 'getByLabel'>) => within.getByLabel('Approvals', { exact: true });
  /** Adds what is typed to a change, and opens that. */
  const propose = async (page: Page, within: Locator): Promise<{ deeds: object[] }> => {
    await button(within, 'Add to a change').click();
    await page.getByRole('link', { name: /^Change \d+: 1 deed$/ }).click();
    await page.waitForURL('**/ui/change-sets/*');
    return ok(200, shown.hawser.admin.get(`${SETS}/${page.url().split('/').at(-1)}`));
  };

  it('of a configuration are saved; a weaker one is refused, and proposed from there', async () => {
    const { group } = shown.site;
    const { page, close } = await visit(shown, SHOP, { allows: REFUSED_REQUEST });
    await approvals(form(page)).selectOption('2');
    await form(page).getByLabel('Approved by').selectOption(group.name);
    await button(form(page), 'Save').click();
    await said(page, 'The protection is saved.');
    const strong = { approvals: 2, groupId: group.id, byChangeSetOnly: false };
    expect(await read('/configurations/shop/settings')).to.deep.equal(strong);
    await approvals(form(page)).selectOption('1');
    await button(form(page), 'Save').click();
    await refusal(form(page), 'change_set_required').waitFor();
    expect(await axe(page)).to.deep.equal([]);
    expect(await read('/configurations/shop/settings')).to.deep.equal(strong);
    const { deeds } = await propose(page, form(page));
    const on = { configurationName: 'shop', compositeName: null, scopeValueId: null };
    expect(deeds).to.deep.equal([{ kind: 'SetProtection', on, protection: { ...strong, approvals: 1 } }]);
    await page
      .getByRole('rowheader', { name: `Set the protection of shop: 1 approval of ${group.name}` })
      .waitFor();
    await page.goBack();
    await form(page).waitFor();
    expect(await approvals(form(page)).inputValue()).to.equal('2');
    await close();
  });

  it('stay when the checks of the same page are inherited again', async () => {
    const { page, close } = await visit(shown, SHOP);
    const before = await read('/configurations/shop/settings');
    const checks = page.getByRole('form', { name: 'Checks' });
    await checks.getByLabel('Check of documents').selectOption('Strict');
    await button(checks, 'Save').click();
    await button(checks, 'Inherit all').click();
    await button(checks, 'Inherit all').waitFor({ state: 'detached' });
    expect(before).to.deep.include({ approvals: 2 });
    expect(await read('/configurations/shop/settings')).to.deep.equal(before);
    await close();
  });

  it('are proposed by whoever may not save them, and only shown to whoever may not propose', async () => {
    const { page, close } = await visit(shown, SHOP, { user: 'operator' });
    await form(page).getByText('Only those with Manage on shop may change this.').waitFor();
    await form(page).getByLabel('Changes come by change sets alone').check();
    expect(await button(form(page), 'Save').isDisabled()).to.equal(true);
    await propose(page, form(page));
    await page.getByRole('rowheader', { name: /by change sets only$/ }).waitFor();
    await close();
    const { users } = shown.site;
    const reading = { principalType: 'User', principalId: users.nobody.id, level: 'Read' };
    await ok(204, shown.hawser.admin.put('/api/v1/configurations/shop/permissions', reading));
    const other = await visit(shown, SHOP, { user: 'nobody' });
    expect(await approvals(form(other.page)).isDisabled()).to.equal(true);
    expect(await form(other.page).getByRole('button').count()).to.equal(0);
    await other.close();
  });

  it('of a composite stand on a tab of their own', async () => {
    const { composite } = shown.site;
    const { page, close } = await visit(shown, `/ui/composites/${composite}`, { width: 320 });
    await page.getByRole('link', { name: 'Settings', exact: true }).last().click();
    await page.waitForURL('**/settings');
    await form(page).getByLabel('Changes come by change sets alone').check();
    await noHorizontalScroll(page);
    await button(form(page), 'Save').click();
    await said(page, 'The protection is saved.');
    expect(await read(`/composite-configurations/${composite}/settings`)).to.deep.equal({
      ...{ approvals: 0, groupId: null, byChangeSetOnly: true },
    });
    await close();
    const other = await visit(shown, `/ui/composites/${composite}/settings`, { user: 'operator' });
    await form(other.page).getByText(`Only those with Manage on ${composite} may save this.`).waitFor();
    await other.close();
  });

  it('of a scope value are set beside it, and its description stays', async () => {
    const { page, close } = await visit(shown, '/ui/scopes', { allows: REFUSED_REQUEST });
    await page.getByRole('link', { name: 'Environment', exact: true }).click();
    const row = page.getByRole('table', { name: 'Values', exact: true }).getByRole('row', { name: /prod/ });
    const dialog = page.getByRole('dialog');
    await row.getByText('none', { exact: true }).waitFor();
    const before = await row.getByRole('cell').first().innerText();
    await button(row, 'Protect').click();
    await approvals(dialog).selectOption('1');
    await button(dialog, 'Save').click();
    await row.getByText('1 approval', { exact: true }).waitFor();
    expect(await row.getByRole('cell').first().innerText()).to.equal(before);
    await button(row, 'Protect').click();
    await approvals(dialog).selectOption('0');
    await button(dialog, 'Save').click();
    await refusal(dialog, 'change_set_required').waitFor();
    expect(await axe(page)).to.deep.equal([]);
    await propose(page, dialog);
    await page.getByRole('rowheader', { name: 'Set the protection of Environment: prod: none' }).waitFor();
    await close();
  });
});
