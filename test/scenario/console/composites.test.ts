// full: SQLite
/** Composites in the console: from a new one to a published version, its order, refusals, and what readers are offered. */

import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import {
  addChild,
  addCompositeDraft,
  compositeOf,
  compositeVersionOf,
  createComposite,
  publishWithChildren,
} from '../../support/composites.ts';
import { create, publish } from '../../support/configurations.ts';
import { noHorizontalScroll, REFUSED_REQUEST, ready, startConsole } from '../../support/console.ts';
import { button, refusal, said, visit } from '../../support/console-parts.ts';
import { moveTo } from '../../support/keyboard.ts';
import { ok } from '../../support/replies.ts';
import { started } from '../../support/started.ts';

interface Item {
  childConfigurationName: string;
  activeVersion: string | null;
  order: number;
}

describe('composites in the console', function () {
  this.timeout(240_000);
  const shown = started(() => startConsole({ nodes: 40 }));

  const children = (page: Page) => page.getByRole('table', { name: 'Children', exact: true });
  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

  /** What the API says, as `name order version`. */
  async function itemsOf(name: string, version: string): Promise<string[]> {
    const { items } = await ok(200, shown.hawser.admin.get(compositeVersionOf(name, version)));
    return (items as Item[]).map(
      (item) => `${item.childConfigurationName} ${item.order} ${item.activeVersion ?? 'follows'}`,
    );
  }

  async function makeDraft(name: string, orders: Record<string, number>): Promise<void> {
    const { admin } = shown.hawser;
    await ok(201, createComposite(admin, name));
    await ok(201, addCompositeDraft(admin, name, '1.0.0'));
    for (const [child, order] of Object.entries(orders))
      await ok(201, addChild(admin, name, '1.0.0', child, { order }));
  }

  it('leads from a new composite to a published version by the keyboard alone', async () => {
    const { page, close } = await visit(shown, '/ui/composites');
    const press = async (target: Locator) => {
      await moveTo(page, target);
      await page.keyboard.press('Enter');
    };
    const open = async (target: Locator) => {
      await press(target);
      await page.getByRole('dialog').waitFor();
    };
    await open(button(page, 'New composite'));
    await page.keyboard.type('farm');
    await page.keyboard.press('Enter');
    await heading(page, 'farm');
    await ready(page, 'empty');
    await open(button(page, 'New draft'));
    await page.keyboard.press('Enter');
    await heading(page, 'farm 1.0.0');
    await ready(page, 'empty');
    await moveTo(page, page.getByLabel('Configuration'));
    await page.keyboard.type('shop');
    await page.keyboard.press('Enter');
    await said(page, 'shop is added.');
    await page.keyboard.type('inventory');
    await page.keyboard.press('Tab');
    await page.keyboard.type('2.0.0');
    await page.keyboard.press('Enter');
    await said(page, 'inventory is added.');
    await moveTo(page, button(children(page), 'Move up inventory'), 'Shift+Tab');
    await page.keyboard.press('Enter');
    await said(page, 'inventory stands above shop now.');
    await open(button(children(page), 'Change version shop'));
    await page.keyboard.type('2.1.0');
    await page.keyboard.press('Enter');
    await said(page, 'shop stays at 2.1.0 now.');
    expect(await itemsOf('farm', '1.0.0')).to.deep.equal(['inventory 0 2.0.0', 'shop 1 2.1.0']);
    await open(button(children(page), 'Change version inventory'));
    await page.keyboard.press('Control+A');
    await page.keyboard.type('2.x');
    await page.keyboard.press('Enter');
    await said(page, 'inventory follows the highest published version of major 2 now.');
    await children(page).getByText('follows 2.x').waitFor();
    await moveTo(page, page.getByRole('link', { name: 'Review', exact: true }), 'Shift+Tab');
    await page.keyboard.press('Enter');
    await heading(page, 'Review farm 1.0.0');
    await children(page).locator('ins').filter({ hasText: '2.1.0' }).waitFor();
    await press(button(page, 'Preview impact'));
    await said(page, '0 nodes would change');
    await moveTo(page, page.getByLabel('Message'));
    await page.keyboard.type('What the farm gets.');
    await press(button(page, 'Publish 1.0.0'));
    await page.waitForURL('**/ui/composites/farm/versions/1.0.0');
    await ready(page);
    await page.getByText('What the farm gets.').waitFor();
    await children(page).getByRole('link', { name: '2.1.0', exact: true }).waitFor();
    await close();
  });

  it('keeps a child that cannot be added, with the reason', async () => {
    const { admin } = shown.hawser;
    await makeDraft('refused', { shop: 0 });
    await ok(
      201,
      create(admin, 'Main.dsc.yaml', {}, { files: { 'main.dsc.yaml': '$schema: x\nresources: []\n' } }),
    );
    const { page, close } = await visit(shown, '/ui/composites/refused/drafts/1.0.0', {
      allows: REFUSED_REQUEST,
    });
    for (const [child, version, code] of [
      ['shop', '', 'child_exists'],
      ['shop-server', '', 'nested_composite'],
      ['Main.dsc.yaml', '', 'reserved_path'],
      ['inventory', '99.0.0', 'validation_failed'],
      ['<img src=x onerror=alert(1)>', '', 'not_found'],
    ] as const) {
      await page.getByLabel('Configuration').fill(child);
      await page.getByLabel('Version').fill(version);
      await button(page, 'Add').click();
      await refusal(page, code).waitFor();
      expect(await page.getByLabel('Configuration').inputValue()).to.equal(child);
    }
    expect(await itemsOf('refused', '1.0.0')).to.deep.equal(['shop 0 follows']);
    await close();
  });

  it('orders children of equal order too, and keeps the focus on the child that moves', async () => {
    await makeDraft('equal', { database: 3, inventory: 3, shop: 3 });
    const { page, close } = await visit(shown, '/ui/composites/equal/drafts/1.0.0');
    await button(children(page), 'Move up shop').click();
    await said(page, 'shop stands above inventory now.');
    expect(await itemsOf('equal', '1.0.0')).to.deep.equal([
      'database 0 follows',
      'shop 1 follows',
      'inventory 2 follows',
    ]);
    await page.keyboard.press('Enter');
    await said(page, 'shop stands above database now.');
    expect(await button(children(page), 'Move up shop').isDisabled()).to.equal(true);
    const moveDown = button(children(page), 'Move down shop');
    await page.waitForFunction(`document.activeElement?.textContent === 'Move down shop'`);
    await page.keyboard.press('Enter');
    await said(page, 'shop stands below database now.');
    await button(children(page), 'Remove inventory').click();
    await said(page, 'inventory is removed.');
    expect(await itemsOf('equal', '1.0.0')).to.deep.equal(['database 0 follows', 'shop 1 follows']);
    expect(await moveDown.isDisabled()).to.equal(true);
    await close();
  });

  it('moves nothing in a draft that somebody else has changed, and shows it as it is now', async () => {
    await makeDraft('moving', { database: 0, shop: 1 });
    const { page, close } = await visit(shown, '/ui/composites/moving/drafts/1.0.0', {
      allows: REFUSED_REQUEST,
    });
    await ok(201, addChild(shown.hawser.admin, 'moving', '1.0.0', 'inventory'));
    await button(children(page), 'Move up shop').click();
    await refusal(page, 'precondition_failed').waitFor();
    await children(page).getByRole('link', { name: 'inventory', exact: true }).waitFor();
    await button(children(page), 'Move up shop').click();
    await said(page, 'shop stands above database now.');
    await refusal(page, 'precondition_failed').waitFor({ state: 'detached' });
    await close();
  });

  it('says what stands in the way of publishing, and what differs from the version below', async () => {
    const { admin } = shown.hawser;
    await ok(
      201,
      create(admin, 'unpublished', {}, { files: { 'main.dsc.yaml': '$schema: x\nresources: []\n' } }),
    );
    await publishWithChildren(admin, 'grown', '1.0.0', [
      { name: 'shop', activeVersion: '2.0.0' },
      'database',
    ]);
    await ok(201, addCompositeDraft(admin, 'grown', '1.1.0'));
    await ok(201, addChild(admin, 'grown', '1.1.0', 'shop', { activeVersion: '2.1.0' }));
    await ok(201, addChild(admin, 'grown', '1.1.0', 'unpublished'));
    const { page, close } = await visit(shown, '/ui/composites/grown/drafts/1.1.0/review');
    await refusal(page, 'unpublished_child').waitFor();
    expect(await button(page, 'Publish 1.1.0').isDisabled()).to.equal(true);
    await page.goto(`${shown.base}/ui/composites/grown/compare/1.0.0...1.1.0`);
    await ready(page);
    const row = (name: string) => children(page).getByRole('row').filter({ hasText: name });
    await row('Modified').locator('del').filter({ hasText: '2.0.0' }).waitFor();
    await row('Modified').locator('ins').filter({ hasText: '2.1.0' }).waitFor();
    expect(await row('Removed').getByRole('rowheader').innerText()).to.equal('database');
    expect(await row('Added').getByRole('rowheader').innerText()).to.equal('unpublished');
    await close();
  });

  it('names what dsc will not find in a child, and does not call that publishable', async () => {
    const { admin } = shown.hawser;
    const include = 'type: Microsoft.DSC/Include, properties: {configurationFile: more.dsc.yaml}';
    const files = {
      'main.dsc.yaml': `$schema: x\nresources:\n  - {name: more, ${include}}\n`,
      'more.dsc.yaml': '$schema: x\nresources: []\n',
    };
    await ok(201, create(admin, 'including', { version: '1.0.0' }, { files }));
    await ok(200, publish(admin, 'including', '1.0.0'));
    await makeDraft('around', { including: 0 });
    const settings = '/api/v1/settings/validation';
    await ok(200, admin.put(settings, { defaultDocumentChecks: 'Strict' }));
    const { page, close } = await visit(shown, '/ui/composites/around/drafts/1.0.0/review');
    const blocker = refusal(page, 'document_unreadable');
    await blocker.getByRole('list', { name: 'Errors' }).getByText('including/main.dsc.yaml:3:').waitFor();
    expect(await page.getByText('Can be published').count()).to.equal(0);
    expect(await button(page, 'Publish 1.0.0').isDisabled()).to.equal(true);
    await ok(200, admin.put(settings, { defaultDocumentChecks: 'None' }));
    await page.reload();
    await page.getByText('It will be published although dsc cannot read it').waitFor();
    await button(page, 'Publish 1.0.0').click();
    await page.waitForURL('**/ui/composites/around/versions/1.0.0');
    await page.locator('dl.facts').getByText('including/main.dsc.yaml:3:').waitFor();
    await close();
  });

  it('says which versions are withdrawn: the own ones, and those that children are pinned to', async () => {
    const { admin } = shown.hawser;
    const files = { 'main.dsc.yaml': '$schema: x\nresources: []\n' };
    await ok(201, create(admin, 'short-lived', { version: '1.0.0' }, { files }));
    await ok(200, publish(admin, 'short-lived', '1.0.0'));
    await publishWithChildren(admin, 'pinned', '1.0.0', [{ name: 'short-lived', activeVersion: '1.0.0' }]);
    const path = '/api/v1/configurations/short-lived/versions/1.0.0/withdraw';
    await ok(200, admin.put(path, { reason: 'It was wrong.' }));
    const { page, close } = await visit(shown, '/ui/composites/pinned/versions/1.0.0');
    await children(page).getByText('Pinned to a withdrawn version').waitFor();
    await button(page, 'Withdraw').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('Its child is.');
    await button(dialog, 'Withdraw').click();
    await said(page, '1.0.0 is withdrawn.');
    await page.getByText('Its child is.').waitFor();
    await button(page, 'Offer again').waitFor();
    await close();
  });

  it('deletes a draft and a composite, and refuses to delete what nodes get', async () => {
    await makeDraft('short', { shop: 0 });
    const { page, close } = await visit(shown, '/ui/composites/short/drafts/1.0.0', {
      allows: REFUSED_REQUEST,
    });
    await button(page, 'Delete draft').click();
    await button(page.getByRole('dialog'), 'Delete').click();
    await page.waitForURL('**/ui/composites/short');
    await said(page, 'The draft 1.0.0 is deleted.');
    await button(page, 'Delete').click();
    await button(page.getByRole('dialog'), 'Delete').click();
    await page.waitForURL('**/ui/composites');
    await said(page, 'short is deleted.');
    expect((await shown.hawser.admin.get(compositeOf('short'))).status).to.equal(404);
    await page.getByRole('link', { name: shown.site.composite, exact: true }).click();
    await button(page, 'Delete').click();
    await button(page.getByRole('dialog'), 'Delete').click();
    await refusal(page, 'in_use').waitFor();
    await close();
  });

  it('offers readers no deeds, and says why', async () => {
    await makeDraft('seen', { shop: 0, database: 1 });
    const { id: principalId } = shown.site.users.viewer;
    for (const path of [compositeOf('seen'), '/api/v1/configurations/shop'])
      await ok(
        204,
        shown.hawser.admin.put(`${path}/permissions`, { principalType: 'User', principalId, level: 'Read' }),
      );
    const { page, close } = await visit(shown, '/ui/composites', { user: 'viewer' });
    expect(await button(page, 'New composite').count()).to.equal(0);
    await page.getByRole('link', { name: 'seen', exact: true }).click();
    await heading(page, 'seen');
    await ready(page);
    for (const name of ['New draft', 'Delete']) expect(await button(page, name).count()).to.equal(0);
    expect(await page.getByRole('link', { name: 'Permissions' }).count()).to.equal(0);
    await page.goto(`${shown.base}/ui/composites/seen/drafts/1.0.0`);
    await ready(page);
    await page.getByText('That needs Modify on it; you have Read.').waitFor();
    expect(await children(page).getByRole('button').count()).to.equal(0);
    for (const name of ['Add', 'Delete draft']) expect(await button(page, name).count()).to.equal(0);
    await page.getByRole('link', { name: 'Review', exact: true }).click();
    await heading(page, 'Review seen 1.0.0');
    expect(await button(page, 'Publish 1.0.0').isDisabled()).to.equal(true);
    await close();
  });

  it('stays within a narrow window with names as long as they may be', async () => {
    const { admin } = shown.hawser;
    const long = 'c'.repeat(128);
    await ok(201, create(admin, long, {}, { files: { 'main.dsc.yaml': '$schema: x\nresources: []\n' } }));
    const description = '<script>alert(1)</script> '.repeat(20);
    await ok(201, createComposite(admin, long, { description }));
    await ok(201, addCompositeDraft(admin, long, '1.0.0', { message: description }));
    await ok(201, addChild(admin, long, '1.0.0', long));
    const base = `/ui/composites/${long}`;
    for (const path of ['/ui/composites', base, `${base}/drafts/1.0.0`, `${base}/drafts/1.0.0/review`]) {
      const { page, close } = await visit(shown, path, { width: 320, theme: 'dark' });
      await noHorizontalScroll(page);
      await close();
    }
  });
});
