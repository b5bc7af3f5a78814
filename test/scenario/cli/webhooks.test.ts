// everyday: SQLite
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { DAY } from '../../../src/lib/clock.ts';
import { type Cli, expectFailed, makeCli } from '../../support/cli.ts';
import { eventually } from '../../support/eventually.ts';
import { ALL_SCOPES, createToken, type Hawser, startHawser } from '../../support/hawser.ts';
import { ok } from '../../support/replies.ts';
import { isSigned, Receiver, ReceiverAuthority, SECRET, WEBHOOKS } from '../../support/webhooks.ts';

const COMPOSITES = '/api/v1/composite-configurations';

describe('webhooks and events by hawserctl', () => {
  let authority: ReceiverAuthority;
  let receiver: Receiver;
  let hawser: Hawser;
  let cli: Cli;

  before(async () => {
    authority = await ReceiverAuthority.make();
  });
  after(() => authority.remove());
  beforeEach(async () => {
    receiver = await Receiver.start(authority);
    const receiverAuthorities = [authority.pem];
    hawser = await startHawser({ HAWSER_WEBHOOK_ALLOW: '127.0.0.1,::1' }, { receiverAuthorities });
    cli = await makeCli();
    cli.signIn(hawser.target(), await createToken(hawser.client(), hawser.session, ALL_SCOPES));
  });
  afterEach(async () => {
    cli.close();
    await hawser.close();
    await receiver.close();
  });

  const webhooks = () => ok(200, hawser.admin.get(WEBHOOKS));
  const make = (name: string) => ok(201, hawser.admin.post(COMPOSITES, { name }));
  const run = async (...words: string[]) => {
    const ended = await cli.run(words);
    expect(ended.code, ended.stderr).to.equal(0);
    return ended;
  };

  it('makes one with a secret of its own, which is shown alone and once', async () => {
    const { stdout, stderr } = await run('webhook', 'create', receiver.url(), '--event', 'composite.*');
    expect(stdout).to.match(/^whsec_[A-Za-z0-9+/]{43}=\n$/);
    expect(stderr).to.equal(
      `Events to ${receiver.url()} are signed with this secret, which is shown this once:\n`,
    );
    const [webhook] = await webhooks();
    expect(webhook).to.include({ url: receiver.url(), isActive: true });
    expect(webhook.events).to.deep.equal(['composite.*']);
    for (const words of [['list'], ['show', receiver.url()], ['show', webhook.id, '--json']])
      expect((await run('webhook', ...words)).stdout)
        .to.include(receiver.url())
        .and.not.include(stdout.trim());
    await make('a');
    await eventually(async () => expect(receiver.received).to.have.length(1));
    expect(receiver.received[0]?.event).to.include({ type: 'composite.created' });
    expect(receiver.received.map((sent) => isSigned(sent, stdout.trim()))).to.deep.equal([true]);
  });

  it('takes a secret from a file, and shows none then', async () => {
    const file = cli.write('secret.txt', `${SECRET}\n`);
    const words = ['webhook', 'create', receiver.url(), '--event', '*', '--secret-file', file];
    const { stdout, stderr } = await run(...words);
    expect(stdout).to.include(receiver.url()).and.not.include('whsec_');
    expect(stderr).to.equal('');
    const made = JSON.parse(
      (await run('webhook', 'create', `${receiver.url()}?b`, '--event', '*', '--json')).stdout,
    );
    expect(made.secret).to.match(/^whsec_/);
    const wrong = await cli.run(words.with(-1, cli.write('wrong.txt', 'whsec_short')));
    expect({ code: wrong.code, stdout: wrong.stdout }).to.deep.equal({ code: 1, stdout: '' });
    expect(wrong.stderr).to.include('validation_failed').and.not.include('whsec_short');
    expect(await webhooks()).to.have.length(2);
  });

  it('wants to be told which events', async () => {
    expectFailed(
      await cli.run(['webhook', 'create', receiver.url()]),
      2,
      "Say which events, such as --event 'rollout.*'",
    );
    expect(await webhooks()).to.deep.equal([]);
  });

  it('changes what is said and nothing else, gives it another secret, and deletes it', async () => {
    await run('webhook', 'create', receiver.url(), '--event', 'node.*', '--event', 'rollout.*');
    await run('webhook', 'update', receiver.url(), '--active', 'no');
    expect((await webhooks())[0]).to.deep.include({ isActive: false, events: ['node.*', 'rollout.*'] });
    await run('webhook', 'update', receiver.url(), '--event', '*', '--active', 'yes');
    expect((await webhooks())[0]).to.deep.include({ isActive: true, events: ['*'], url: receiver.url() });
    const { stdout } = await run('webhook', 'secret', receiver.url());
    expect(stdout).to.match(/^whsec_[A-Za-z0-9+/]{43}=\n$/);
    expect((await webhooks())[0]).to.deep.include({ isActive: true, events: ['*'] });
    await make('a');
    await eventually(async () => expect(receiver.received).to.have.length(1));
    expect(receiver.received.map((sent) => isSigned(sent, stdout.trim()))).to.deep.equal([true]);
    await run('webhook', 'delete', receiver.url());
    expect(await webhooks()).to.deep.equal([]);
  });

  it('lists what became of each event, and has one sent again', async () => {
    await run('webhook', 'create', receiver.url(), '--event', '*');
    await make('a');
    const [delivery] = await eventually(async () => {
      const found = JSON.parse((await run('webhook', 'deliveries', receiver.url(), '--json')).stdout);
      expect(found).to.have.length(1);
      expect(found[0]).to.include({ state: 'Delivered', attempts: 1 });
      return found;
    });
    const table = (await run('webhook', 'deliveries', receiver.url())).stdout;
    expect(table).to.match(/composite\.created +composite-configurations\/a +Delivered +1 /);
    const none = await run('webhook', 'deliveries', receiver.url(), '--state', 'Failed');
    expect(none.stderr).to.equal('There are no such deliveries.\n');
    expect((await run('webhook', 'redeliver', receiver.url(), '--failed')).stderr).to.equal(
      'None has failed.\n',
    );
    expect((await cli.run(['webhook', 'redeliver', receiver.url()])).code).to.equal(2);
    await run('webhook', 'redeliver', receiver.url(), delivery.id);
    await eventually(async () => expect(receiver.received).to.have.length(2));
    expect(receiver.received[1]?.event.id).to.equal(receiver.received[0]?.event.id);
  });

  it('has all sent again that failed', async () => {
    receiver.answering = () => 500;
    await run('webhook', 'create', receiver.url(), '--event', '*');
    for (const name of ['a', 'b']) await make(name);
    const list = async (...words: string[]): Promise<{ state: string; attempts: number }[]> =>
      JSON.parse((await run('webhook', 'deliveries', receiver.url(), '--json', ...words)).stdout);
    await eventually(async () =>
      expect((await list()).map(({ attempts }) => attempts)).to.deep.equal([1, 1]),
    );
    // What is refused is tried for a day.
    hawser.clock.advance(DAY);
    await eventually(async () => expect(await list('--state', 'Failed')).to.have.length(2));
    receiver.answering = () => 204;
    const { stdout } = await run('webhook', 'redeliver', receiver.url(), '--failed');
    expect(stdout).to.match(/^(Sent again [0-9a-f-]{36}\.\n){2}$/);
    await eventually(async () =>
      expect((await list()).map(({ state }) => state)).to.deep.equal(['Delivered', 'Delivered']),
    );
  });

  it('prints the events that are kept, those behind one, and each that happens', async () => {
    expect((await run('events')).stderr).to.equal('There are no such events.\n');
    await make('a');
    await make('b');
    const all = await eventually(async () => {
      const found = JSON.parse((await run('events', '--json')).stdout);
      expect(found).to.have.length(2);
      return found;
    });
    expect((await run('events')).stdout).to.match(/composite\.created +composite-configurations\/a /);
    const behind = JSON.parse((await run('events', '--json', '--after', all[0].id)).stdout);
    expect(behind).to.deep.equal([all[1]]);
    expectFailed(await cli.run(['events', '--after', randomUUID()]), 1, 'events_gone');
    const following = cli.begin(['events', '--follow', '--json', '--after', all[0].id]);
    await eventually(async () => expect(following.lines()).to.have.length(1));
    await make('c');
    await eventually(async () => expect(following.lines()).to.have.length(2));
    expect(following.lines().map((line) => JSON.parse(line).subject)).to.deep.equal([
      'composite-configurations/b',
      'composite-configurations/c',
    ]);
    expect((await following.stop()).stderr).to.equal('');
  });
});
