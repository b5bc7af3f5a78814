// everyday: SQLite
import { expect } from 'chai';
import { axe } from '../../support/axe.ts';
import { type ConsoleUnderTest, noHorizontalScroll, ready, startConsole } from '../../support/console.ts';
import { makeMachine } from '../../support/join-line.ts';
import { steadyPort } from '../../support/ports.ts';
import { ok } from '../../support/replies.ts';

describe('a new registration key of a server that knows its address', () => {
  let shown: ConsoleUnderTest;

  before(async () => {
    const port = String(await steadyPort());
    const settings = { HAWSER_PORT: port, HAWSER_PUBLIC_URL: `https://localhost:${port}` };
    shown = await startConsole({ nodes: null, settings });
  });
  after(() => shown?.close());

  it('is shown with the line that joins a machine, to copy', async () => {
    const { page, close } = await shown.open('/ui/registration-keys', { width: 320 });
    await ready(page, 'empty');
    await page.getByRole('button', { name: 'New registration key' }).click();
    await page.getByRole('button', { name: 'Create' }).click();
    const dialog = page.getByRole('dialog', { name: 'New registration key' });
    await dialog.getByRole('button', { name: 'Copy the line that joins a machine' }).waitFor();
    await dialog.getByText('Show the line').click();
    expect(await axe(page)).to.deep.equal([]);
    await noHorizontalScroll(page);
    const line = await dialog.locator('details code').first().innerText();
    const machine = makeMachine('joined.example.org');
    try {
      const { code, stdout, stderr } = await machine.run(line);
      expect(code, stdout + stderr).to.equal(0);
    } finally {
      machine.remove();
    }
    expect(await ok(200, shown.hawser.admin.get('/api/v1/nodes?fqdn=joined'))).to.have.lengthOf(1);
    await close();
  });
});
