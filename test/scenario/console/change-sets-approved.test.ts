// full: SQLite
/** What is protected, in the console: proposed by one person, approved by another, and applied; an emergency passes approvals. */

import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { axe } from '../../support/axe.ts';
import { proposed, SETS } from '../../support/change-sets.ts';
import { versionsOf } from '../../support/configurations.ts';
import { startConsole } from '../../support/console.ts';
import { button, refusal, said, visit } from '../../support/console-parts.ts';
import { moveTo } from '../../support/keyboard.ts';
import { ok } from '../../support/replies.ts';
import { started } from '../../support/started.ts';

const REVIEW = '/ui/configurations/shop/drafts/2.2.0/review';
const PROTECTION = { approvals: 1, groupId: null, byChangeSetOnly: false };

describe('approvals in the console', function () {
  this.timeout(240_000);
  const shown = started(() => startConsole({ nodes: 40 }));

  before(async () => {
    await ok(200, shown.hawser.admin.put('/api/v1/configurations/shop/settings', { protection: PROTECTION }));
  });

  const press = async (page: Page, target: Locator) => {
    await moveTo(page, target);
    await page.keyboard.press('Enter');
  };
  const missing = (page: Page, text: string) =>
    page.getByRole('table', { name: 'Protection' }).getByRole('row', { name: /^shop/ }).getByText(text);

  it('are asked for by whoever proposes, given by another person, and then it is applied', async () => {
    const { page, close } = await visit(shown, REVIEW);
    await refusal(page, 'change_set_required').waitFor();
    expect(await button(page, 'Publish 2.2.0').isDisabled()).to.equal(true);
    await press(page, button(page, 'Add to a change'));
    await press(page, page.getByRole('link', { name: 'Change 1: 1 deed' }));
    await missing(page, '1').last().waitFor();
    await button(page, 'Approve').waitFor();
    await page.getByText('You have made it, so somebody else must approve.').waitFor();
    expect(await axe(page)).to.deep.equal([]);

    const other = await visit(shown, '/ui/', { user: 'operator' });
    await press(other.page, other.page.getByRole('link', { name: '1 to approve' }));
    await press(other.page, other.page.getByRole('link', { name: 'Publish shop 2.2.0' }));
    await other.page.locator('#apply-reason').getByText('Approvals are missing').waitFor();
    await press(other.page, button(other.page, 'Approve'));
    await said(other.page, 'You have approved it as it is shown here.');
    await missing(other.page, 'None').waitFor();
    await other.page.getByRole('link', { name: 'to approve' }).waitFor({ state: 'detached' });
    await press(other.page, button(other.page, 'Take back the approval'));
    await said(other.page, 'Your approval was taken back.');
    await press(other.page, button(other.page, 'Approve'));
    await other.page.getByText('What it is now').waitFor();
    expect(await axe(other.page)).to.deep.equal([]);
    await other.close();

    await page.reload();
    await missing(page, 'None').waitFor();
    await press(page, button(page, 'Apply'));
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByLabel('Reason').count()).to.equal(0);
    await press(page, button(dialog, 'Apply'));
    await said(page, 'Change 1 is applied.');
    const version = await ok(200, shown.hawser.admin.get(`${versionsOf('shop')}/2.2.0`));
    expect(version.status).to.equal('Published');
    await close();
  });

  it('are passed in an emergency with a reason, which everybody sees for good', async () => {
    const assigning = { kind: 'Assign', nodeIds: [shown.site.nodes.hostile.id], configurationName: 'shop' };
    const { id } = await proposed(shown.hawser.admin, [assigning], { title: 'Emergency' });
    const { page, close } = await visit(shown, `/ui/change-sets/${id}`);
    await button(page, 'Apply').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Approvals are missing.').waitFor();
    expect(await axe(page)).to.deep.equal([]);
    await dialog.getByLabel('Reason').fill('The shop is <b>down</b>.');
    await button(dialog, 'Apply').click();
    await said(page, `Change ${id} is applied.`);
    await page.getByText('admin has passed the missing approvals').waitFor();
    const { override } = await ok(200, shown.hawser.admin.get(`${SETS}/${id}`));
    expect(override).to.include({ by: 'admin', reason: 'The shop is <b>down</b>.' });
    await close();
  });
});
