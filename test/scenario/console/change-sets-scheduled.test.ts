// full: SQLite
/** Change sets in the console that are applied at a time, and those that start rollouts. */

import { expect } from 'chai';
import { axe } from '../../support/axe.ts';
import { proposed, SETS } from '../../support/change-sets.ts';
import { REFUSED_REQUEST, startConsole } from '../../support/console.ts';
import { button, refusal, said, visit } from '../../support/console-parts.ts';
import { ok } from '../../support/replies.ts';
import { started } from '../../support/started.ts';

const DAY = 86_400_000;
/** As a field for a local time takes it. */
const local = (at: number) => {
  const date = new Date(at);
  return new Date(at - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};

describe('change sets that are applied at a time, in the console', function () {
  this.timeout(240_000);
  const shown = started(() => startConsole({ nodes: 40 }));

  it('are scheduled, say when, and are open again without the schedule', async () => {
    const withdrawing = { kind: 'Withdraw', configurationName: 'shop', version: '1.1.0', reason: 'old' };
    const { id } = await proposed(shown.hawser.admin, [withdrawing], { title: 'Tonight' });
    const { page, close } = await visit(shown, `/ui/change-sets/${id}`, { allows: REFUSED_REQUEST });
    await button(page, 'Apply').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('At a time').check();
    const at = dialog.getByLabel('Apply at');
    await at.fill(local(Date.now() + 40 * DAY));
    await button(dialog, 'Schedule').click();
    await refusal(dialog, 'validation_failed').waitFor();
    expect(await at.getAttribute('aria-invalid')).to.equal('true');
    expect(await axe(page)).to.deep.equal([]);
    await at.fill(local(Date.now() + DAY));
    await button(dialog, 'Schedule').click();
    await said(page, `Change ${id} is applied at `);
    await page.getByText('Scheduled', { exact: true }).first().waitFor();
    await page.getByRole('definition').getByText('What stops it then').waitFor();
    expect(await axe(page)).to.deep.equal([]);
    expect((await ok(200, shown.hawser.admin.get(`${SETS}/${id}`))).applyAt).to.be.a('string');
    expect(await button(page, 'Apply').count()).to.equal(0);
    await button(page, 'Cancel the schedule').click();
    await said(page, 'It is not scheduled any more.');
    await button(page, 'Apply').waitFor();
    await close();
  });

  it('start a rollout that was planned in its dialog', async () => {
    const rings = { rolloutScopeType: 'Environment' };
    await ok(200, shown.hawser.admin.put('/api/v1/settings/rollouts', rings));
    const { page, close } = await visit(shown, '/ui/configurations/shop/drafts/2.2.0/review');
    const dialog = page.getByRole('dialog');
    await button(page, 'Roll out 2.2.0').click();
    await dialog.getByLabel('If it halts').selectOption('Keep');
    await button(dialog, 'Add to a change').click();
    await page.getByRole('link', { name: /^Change \d+: 1 deed$/ }).click();
    await page.getByRole('rowheader', { name: 'Roll out shop 2.2.0 in 3 steps' }).waitFor();
    await button(page, 'Apply').click();
    await button(dialog, 'Apply').click();
    await said(page, 'is applied.');
    const rollout = await ok(200, shown.hawser.admin.get('/api/v1/configurations/shop/rollouts/2.2.0'));
    expect(rollout.state).to.equal('Running');
    await page.goto(`${shown.base}/ui/`);
    const activity = page.getByRole('table', { name: 'Activity' });
    await activity
      .getByRole('link', { name: /^Change \d+$/ })
      .first()
      .waitFor();
    await close();
  });
});
