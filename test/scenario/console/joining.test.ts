// full: SQLite
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
    const line = dialog.getByRole('region', { name: 'The line that joins a machine' });
    const shownFor = async (radio: string) => {
      await dialog.getByRole('radio', { name: radio }).check();
      return line.innerText();
    };
    const key = await dialog.locator('code').first().innerText();
    const [made] = await ok(200, shown.hawser.admin.get('/api/v1/admin/registration-keys'));
    const madeFor = async (shell: string, agent: string) => {
      const path = `/api/v1/admin/registration-keys/${made.id}/join-line`;
      return (await ok(200, shown.hawser.admin.post(path, { key, shell, agent }))).line;
    };
    expect(await shownFor('Windows')).to.equal(await madeFor('powershell', 'opendsc'));
    expect(await axe(page)).to.deep.equal([]);
    await noHorizontalScroll(page);
    const ofShell = await shownFor('Linux');
    expect(ofShell).to.equal(await madeFor('sh', 'hawser'));
    await dialog.getByRole('button', { name: 'Copy the line that joins a machine' }).waitFor();
    const script = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Save as a script' }).click();
    expect((await script).suggestedFilename()).to.equal('join-hawser.sh');
    const machine = makeMachine('joined.example.org');
    try {
      const { code, stdout, stderr } = await machine.run(ofShell);
      expect(code, stdout + stderr).to.equal(0);
    } finally {
      machine.remove();
    }
    expect(await ok(200, shown.hawser.admin.get('/api/v1/nodes?fqdn=joined'))).to.have.lengthOf(1);
    await close();
  });
});
