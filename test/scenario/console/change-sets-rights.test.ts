// full: SQLite
/** Change sets in the console as several people see them: each deed is offered to those who may do it, and says to others why not. */

import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { Role } from '../../../scripts/console/site/people.ts';
import { axe } from '../../support/axe.ts';
import { proposed, setOf } from '../../support/change-sets.ts';
import { startConsole } from '../../support/console.ts';
import { button, said, visit } from '../../support/console-parts.ts';
import { ok } from '../../support/replies.ts';
import { started } from '../../support/started.ts';

const NOT_YOURS = 'Only its authors may do this, and who holds Manage on all that it names.';
const DEEDS = ['Apply', 'Edit', 'Discard', 'Approve'] as const;
const WITHDRAWING = { kind: 'Withdraw', configurationName: 'shop', version: '1.1.0', reason: 'old' };

describe('rights on change sets in the console', function () {
  this.timeout(240_000);
  const shown = started(() => startConsole({ nodes: 40 }));

  /** What each button says against itself; null where it can be pressed, and `absent` where there is none. */
  const reasonsOn = async (page: Page) => {
    const reasons: Record<string, string | null> = {};
    for (const deed of DEEDS) {
      const found = button(page, deed);
      if ((await found.count()) === 0) reasons[deed] = 'absent';
      else if (await found.isEnabled()) reasons[deed] = null;
      else
        reasons[deed] = await page
          .locator(`[id="${await found.getAttribute('aria-describedby')}"]`)
          .innerText();
    }
    return reasons;
  };
  const look = async (id: number, user: Role) => {
    const { page, close } = await visit(shown, `/ui/change-sets/${id}`, { user });
    const reasons = await reasonsOn(page);
    expect(await axe(page)).to.deep.equal([]);
    await close();
    return reasons;
  };

  it('let its author edit it, who holds Manage discard and apply it, and who holds Modify approve it', async () => {
    const { id } = await proposed(shown.hawser.admin, [WITHDRAWING], { title: 'Old' });
    const mine = 'You have made it, so somebody else must approve.';
    expect(await look(id, 'admin')).to.deep.equal({ Apply: null, Edit: null, Discard: null, Approve: mine });
    expect(await look(id, 'author')).to.deep.equal({ Apply: null, Edit: null, Discard: null, Approve: null });
    expect(await look(id, 'operator')).to.deep.equal({
      ...{ Apply: 'Deed 1 needs Manage on shop.', Edit: NOT_YOURS, Discard: NOT_YOURS, Approve: null },
    });
  });

  it('say which permission is missing, and that nobody counts who may change nothing', async () => {
    const nodeIds = [shown.site.nodes.behind.id];
    const [scopeValueId] = Object.values(shown.site.scopes.values);
    const deeds = [
      {
        kind: 'SetProtection',
        on: { scopeValueId },
        protection: { approvals: 0, groupId: null, byChangeSetOnly: true },
      },
      { kind: 'SetLcmConfig', nodeIds, configurationMode: 'Monitor' },
    ];
    const { id } = await proposed(shown.hawser.admin, deeds, { title: 'Watch only' });
    const reasons = await look(id, 'viewer');
    expect(reasons['Apply']).to.equal('Deed 1 needs the permission scopes.admin-override.');
    expect(reasons['Edit']).to.equal(NOT_YOURS);
    expect(reasons['Approve']).to.match(/^Your approval would not count\./);
  });

  it('know who has edited it, also where somebody else has made it, and are asked anew', async () => {
    const set = await proposed(shown.hawser.admin, [WITHDRAWING], { title: 'Ours' });
    const first = await visit(shown, `/ui/change-sets/${set.id}`, { user: 'author' });
    const dialog = first.page.getByRole('dialog');
    await button(first.page, 'Edit').click();
    await dialog.getByLabel('Title').fill('Ours together');
    await button(dialog, 'Save').click();
    await said(first.page, `Change ${set.id} was saved.`);
    await first.page.getByText('You have edited it, so somebody else must approve.').waitFor();
    expect(await button(first.page, 'Approve').isDisabled()).to.equal(true);
    await first.close();
    const { group } = shown.site;
    const level = (value: string) =>
      ok(
        204,
        shown.hawser.admin.put('/api/v1/configurations/shop/permissions', {
          ...{ principalType: 'Group', principalId: group.id, level: value },
        }),
      );
    await level('Read');
    const reasons = await look(set.id, 'operator');
    expect(reasons['Approve']).to.match(/^Your approval would not count\./);
    await level('Manage');
    expect(await look(set.id, 'operator')).to.deep.equal({
      Apply: null,
      Edit: null,
      Discard: null,
      Approve: null,
    });
    await level('Modify');
  });

  it('let a second person approve what is protected only where that counts', async () => {
    const { admin } = shown.hawser;
    const { group } = shown.site;
    const protection = { approvals: 1, groupId: group.id, byChangeSetOnly: false };
    await ok(200, admin.put('/api/v1/configurations/shop/settings', { protection }));
    const publishing = { kind: 'PublishConfiguration', configurationName: 'shop', version: '2.2.0' };
    const set = await proposed(admin, [publishing], { title: 'Protected' });
    const missing = 'Approvals are missing: see the protection.';
    // The author holds Manage, has made the draft, and is not in the group.
    const author = await look(set.id, 'author');
    expect(author['Apply']).to.equal(missing);
    expect(author['Approve']).to.match(/^Your approval would not count\./);
    const { page, close } = await visit(shown, `/ui/change-sets/${set.id}`, { user: 'operator' });
    await button(page, 'Approve').click();
    await said(page, 'You have approved it as it is shown here.');
    await button(page, 'Take back the approval').waitFor();
    await close();
    expect((await look(set.id, 'author'))['Apply']).to.equal(null);
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const { digest } = await ok(200, admin.get(setOf(set)));
    await ok(202, admin.post(`${setOf(set)}/apply`, { digest, applyAt: at }));
    const other = await visit(shown, `/ui/change-sets/${set.id}`, { user: 'operator' });
    expect(await button(other.page, 'Cancel the schedule').isDisabled()).to.equal(true);
    await other.page.getByText(NOT_YOURS).first().waitFor();
    await other.close();
  });
});
