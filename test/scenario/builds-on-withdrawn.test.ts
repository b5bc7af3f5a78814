// full: SQLite
import { expect } from 'chai';
import { addVersion, MAIN, publish, versionsOf } from '../support/configurations.ts';
import { gitClient } from '../support/git-client.ts';
import { createToken, startHawser } from '../support/hawser.ts';
import { preview, publishing } from '../support/previews.ts';
import { beginAuthor, DRAFT, type PushAuthor } from '../support/push-author.ts';
import { ok } from '../support/replies.ts';
import { publishVersions } from '../support/retention.ts';
import { started } from '../support/started.ts';
import { offerAgain, withdraw } from '../support/withdrawals.ts';

const REASON = 'It breaks\nprinting\u202e';
/** What is found of version 1.1.0. */
const FOUND = {
  severity: 'Warning',
  code: 'builds_on_withdrawn',
  message: 'Its history holds version 1.1.0, which is withdrawn: It breaks printing\\u{202e}',
  ...{ path: null, file: MAIN, line: null, column: null },
};
const LINE = `hawser: warning: ${MAIN}: ${FOUND.message} (builds_on_withdrawn)`;

describe('a version whose history holds a withdrawn one', () => {
  const hawser = started(startHawser);
  const client = started(async () => gitClient(hawser));
  let token: string;

  before(async () => {
    token = await createToken(hawser.client(), hawser.session, ['configurations.admin-override']);
  });

  const check = async (name: string, version: string) =>
    (await ok(200, hawser.admin.get(`${versionsOf(name)}/${version}/publish-check`))).findings;
  const findingsOf = async (name: string, version: string) =>
    (await ok(200, hawser.admin.get(`${versionsOf(name)}/${version}`))).findings;

  it('says so in its check, in a preview and as it is published, until that one is offered again', async () => {
    await publishVersions(hawser.admin, 'web', '1.0.0', '1.1.0');
    await ok(201, addVersion(hawser.admin, 'web', { version: '1.2.0' }));
    expect(await check('web', '1.2.0')).to.deep.equal([]);
    await ok(200, withdraw(hawser.admin, 'web', '1.1.0', REASON));
    expect(await check('web', '1.2.0')).to.deep.equal([FOUND]);
    expect(await findingsOf('web', '1.2.0')).to.deep.equal([]);
    const { findings } = await preview(hawser.admin, [publishing('web', '1.2.0')]);
    expect(findings.map((each: { findings: object[] }) => each.findings)).to.deep.equal([[FOUND]]);

    await ok(204, offerAgain(hawser.admin, 'web', '1.1.0'));
    expect(await check('web', '1.2.0')).to.deep.equal([]);
    await ok(200, withdraw(hawser.admin, 'web', '1.1.0', REASON));
    expect((await ok(200, publish(hawser.admin, 'web', '1.2.0'))).findings).to.deep.equal([FOUND]);
    expect(await findingsOf('web', '1.2.0')).to.deep.equal([]);
    expect(await check('web', '1.2.0')).to.deep.equal([]);
    // A draft that is made now stands on another one.
    await ok(201, addVersion(hawser.admin, 'web', { version: '1.3.0' }));
    expect(await check('web', '1.3.0')).to.deep.equal([]);
  });

  it('names the highest of many, the highest first', async () => {
    const versions = Array.from({ length: 22 }, (_, at) => `1.${at}.0`);
    await publishVersions(hawser.admin, 'many', ...versions);
    await ok(201, addVersion(hawser.admin, 'many', { version: '2.0.0' }));
    for (const version of versions) await ok(200, withdraw(hawser.admin, 'many', version, 'x'.repeat(1_000)));
    const messages = (await check('many', '2.0.0')).map(({ message }: { message: string }) => message);
    expect(messages.map((text: string) => text.split(/[ ,]/)[4])).to.deep.equal(
      versions.reverse().slice(0, 20),
    );
    expect(messages[0]).to.match(/: x{97}\.\.\.$/);
  });

  describe('of a push', () => {
    let author: PushAuthor;
    const linesOf = (output: string) =>
      output.match(/hawser: .*(?:withdrawn|is there|published).*?(?= *$)/gm) ?? [];
    const pushed = async (...args: string[]) => {
      const { code, output } = await author.push(...args);
      expect(code, output).to.equal(0);
      return linesOf(output);
    };

    beforeEach(async () => {
      author = await beginAuthor(hawser, client, token);
      await author.commit({ 'a.txt': '1.1.0\n' });
      await pushed('-o', 'publish', `HEAD:${DRAFT}/1.1.0`);
      await ok(200, withdraw(hawser.admin, author.name, '1.1.0', REASON));
    });

    it('the lines of a draft and of what publishes it say so', async () => {
      await author.commit({ 'a.txt': '1.2.0\n' });
      await author.commit({ 'a.txt': 'more\n' });
      expect(await pushed(`HEAD:${DRAFT}/1.2.0`)).to.include(LINE);
      expect(await check(author.name, '1.2.0')).to.deep.equal([FOUND]);
      await author.ok('tag', '-a', 'v1.2.0', '-m', 'x');
      expect(await pushed('v1.2.0')).to.include(LINE);
      await author.commit({ 'a.txt': '1.3.0\n' });
      expect(await pushed('-o', 'publish', `HEAD:${DRAFT}/1.3.0`)).to.include(LINE);
    });

    it('nothing says so of one that stands beside it', async () => {
      await author.ok('checkout', '-q', 'v1.0.0');
      await author.commit({ 'a.txt': 'beside\n' });
      const lines = await pushed(`HEAD:${DRAFT}/1.2.0`);
      expect(lines).to.have.length(1);
      expect(await check(author.name, '1.2.0')).to.deep.equal([]);
    });

    it('a merge brings it into the history, and publishing answers with it', async () => {
      await author.ok('tag', 'bad');
      await author.ok('checkout', '-q', 'v1.0.0');
      await author.commit({ 'b.txt': 'beside\n' });
      await author.ok('merge', '-q', '-m', 'both', 'bad');
      expect(await pushed(`HEAD:${DRAFT}/1.2.0`)).to.include(LINE);
      expect((await ok(200, publish(hawser.admin, author.name, '1.2.0'))).findings).to.deep.equal([FOUND]);
    });
  });
});
