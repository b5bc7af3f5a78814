import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { Ask } from '../../../src/cli/ask.ts';
import { Failure, UsageError } from '../../../src/cli/errors.ts';
import { failureOf } from '../../support/failures.ts';

function makeAsk({ isTTY = true, isYes = false } = {}) {
  const modes: { isRaw: boolean; shown: string }[] = [];
  const setRawMode = (isRaw: boolean) => modes.push({ isRaw, shown });
  const stdin = Object.assign(new PassThrough(), { isTTY, setRawMode });
  const stderr = Object.assign(new PassThrough(), { isTTY });
  let shown = '';
  stderr.on('data', (chunk: Buffer) => (shown += chunk.toString()));
  return {
    ask: new Ask({ stdin, stderr, isYes }),
    type: (text: string) => stdin.write(text),
    shown: () => shown,
    modes,
  };
}

describe('the questions of hawserctl', () => {
  it('do it on yes, and else not', async () => {
    for (const answer of ['y', 'YES']) {
      const { ask, type } = makeAsk();
      const confirmed = ask.confirm('Delete 3 nodes?');
      type(`${answer}\r`);
      await confirmed;
    }
    for (const answer of ['', 'n', 'maybe']) {
      const { ask, type } = makeAsk();
      const confirmed = ask.confirm('Delete 3 nodes?');
      type(`${answer}\r`);
      expect(await failureOf(confirmed))
        .to.be.instanceOf(Failure)
        .with.property('message', 'Nothing was done.');
    }
  });

  it('are answered by --yes, and are wrong usage without it and without a terminal', async () => {
    await makeAsk({ isTTY: false, isYes: true }).ask.confirm('Delete 3 nodes?');
    const { ask } = makeAsk({ isTTY: false });
    expect(await failureOf(ask.confirm('Delete 3 nodes?'))).to.be.instanceOf(UsageError);
    expect(() => ask.secret('Token', 'say --token-file')).to.throw(UsageError, 'say --token-file');
  });

  it('show what is typed, but for secrets', async () => {
    const { ask, type, shown } = makeAsk();
    const name = ask.text('User', '');
    type('alice\r');
    expect(await name).to.equal('alice');
    const secret = ask.secret('Password', '');
    type('swordfisx\u007fh\r');
    expect(await secret).to.equal('swordfish');
    expect(shown()).to.include('alice').and.not.include('swordfis');
  });

  it('let the terminal echo nothing by the time a secret is asked for', async () => {
    const { ask, type, modes } = makeAsk();
    const secret = ask.secret('Password', '');
    type('swordfish\r');
    await secret;
    expect(modes[0]).to.deep.equal({ isRaw: true, shown: '' });
  });

  it('end at Ctrl-C and at the end of the input', async () => {
    for (const key of ['\u0003', '\u0004']) {
      const { ask, type } = makeAsk();
      const secret = ask.secret('Password', '');
      type(key);
      expect(await failureOf(secret)).to.be.instanceOf(Failure);
    }
  });
});
