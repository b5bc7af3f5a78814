// full: SQLite
/** The walk of `docs/change-sets.md`, by the keyboard alone: proposed, approved by a second person, applied at its time, taken back. */

import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { HOUR } from '../../../src/lib/clock.ts';
import { versionsOf } from '../../support/configurations.ts';
import { startConsole } from '../../support/console.ts';
import { button, said, visit } from '../../support/console-parts.ts';
import { type CountedKeys, countedKeys } from '../../support/keyboard.ts';
import { ok } from '../../support/replies.ts';
import { started } from '../../support/started.ts';

/** Both people together press no more: keys that move the focus, all others, and letters and digits. */
const MOST = { moves: 150, others: 18, typed: 18 };

describe('the walk of a change set by the keyboard alone', function () {
  this.timeout(300_000);
  const shown = started(() => startConsole({ nodes: 40 }));

  const version = () => ok(200, shown.hawser.admin.get(`${versionsOf('shop')}/2.2.0`));
  const dialogOf = (page: Page) => page.getByRole('dialog');
  const link = (page: Page, name: string | RegExp) => page.getByRole('link', { name }).first();
  const isState = (page: Page, state: string) =>
    page.getByRole('main').getByText(state, { exact: true }).first().waitFor();

  before(async () => {
    const protection = { approvals: 1, groupId: shown.site.group.id, byChangeSetOnly: false };
    await ok(200, shown.hawser.admin.put('/api/v1/configurations/shop/settings', { protection }));
  });

  it('leads from a draft to what nodes get, and back', async () => {
    const author = await visit(shown, '/ui/', { user: 'author' });
    const approver = await visit(shown, '/ui/', { user: 'operator' });
    const [ann, ben] = [countedKeys(author.page), countedKeys(approver.page)];
    await propose(author.page, ann);
    await approve(approver.page, ben);
    await applyAtItsTime(author.page, ann);
    await takeBack(author.page, ann);
    for (const name of ['moves', 'others', 'typed'] as const)
      expect(ann.counts[name] + ben.counts[name], name).to.be.at.most(MOST[name]);
    await approver.close();
    await author.close();
  });

  async function propose(page: Page, keys: CountedKeys): Promise<void> {
    await keys.key('Control+K');
    await keys.type(page.getByRole('combobox', { name: 'Search' }), 'shop');
    await page.getByRole('option', { name: /^shop/ }).first().waitFor();
    await keys.key('Enter');
    await keys.press(link(page, '2.2.0'));
    await keys.press(link(page, 'Review'));
    await keys.press(button(page, 'Add to a change'));
    await said(page, 'Change 1 is made of it. It changes nothing until it is applied.');
    await keys.press(link(page, 'Change 1: 1 deed'));
    await page.getByText('You have made it, so somebody else must approve.').waitFor();
    expect(await button(page, 'Apply').isDisabled()).to.equal(true);
  }

  async function approve(page: Page, keys: CountedKeys): Promise<void> {
    await page.reload();
    await keys.press(link(page, '1 to approve'));
    await keys.press(link(page, 'Publish shop 2.2.0'));
    await keys.press(button(page, 'Approve'));
    await said(page, 'You have approved it as it is shown here.');
  }

  async function applyAtItsTime(page: Page, keys: CountedKeys): Promise<void> {
    await button(page, 'Apply').and(page.locator(':enabled')).waitFor();
    await keys.press(button(page, 'Apply'));
    await keys.type(dialogOf(page).getByLabel('Now'), '');
    await keys.key('ArrowDown');
    const at = new Date(shown.hawser.clock.now() + HOUR);
    const two = (value: number) => String(value).padStart(2, '0');
    const field = dialogOf(page).getByLabel('Apply at');
    await keys.type(field, `${two(at.getMonth() + 1)}${two(at.getDate())}${at.getFullYear()}`);
    await keys.key('ArrowRight');
    const hours = at.getHours();
    const time = `${two(hours % 12 || 12)}${two(at.getMinutes())}${hours < 12 ? 'AM' : 'PM'}`;
    await keys.type(field, time);
    await keys.press(button(dialogOf(page), 'Schedule'));
    await said(page, 'Change 1 is applied at ');
    await isState(page, 'Scheduled');
    expect((await version()).status).to.equal('Draft');
    shown.hawser.clock.advance(HOUR);
    await isState(page, 'Applied');
    expect((await version()).status).to.equal('Published');
  }

  async function takeBack(page: Page, keys: CountedKeys): Promise<void> {
    await keys.press(button(page, 'Take back'));
    await keys.press(button(dialogOf(page), 'Take back'));
    await said(page, 'Change 2 takes change 1 back, once it is applied.');
    await keys.press(button(page, 'Apply'));
    await keys.press(button(dialogOf(page), 'Apply'));
    await said(page, 'Change 2 is applied.');
    expect((await version()).withdrawn).to.not.equal(null);
    await keys.press(link(page, 'Change 1'));
    await page.getByRole('definition').getByRole('link', { name: 'Change 2' }).waitFor();
  }
});
