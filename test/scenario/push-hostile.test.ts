// full: SQLite
/** Pushes that no stock client sends, and callers who may not push. Nothing is changed, and nothing is left. */

import { readFileSync } from 'node:fs';
import type { ClientRequest } from 'node:http';
import { request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { Client, Reply } from '../support/client.ts';
import { createComposite } from '../support/composites.ts';
import { until } from '../support/git-client.ts';
import { packWith, zeros } from '../support/hand-made-pack.ts';
import {
  PUSH_TYPE,
  PushWorkshop,
  pushBody,
  quarantinesOf,
  readReport,
  ZERO,
} from '../support/hand-made-push.ts';
import { createToken, type Hawser, publishConfiguration, startHawser } from '../support/hawser.ts';
import { makeUser } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';

const PATH = '/git/configurations/web.git';
const RECEIVE = `${PATH}/git-receive-pack`;
const REFS = `${PATH}/info/refs?service=git-receive-pack`;
const NAME = 'refs/heads/draft/1.1.0';
const FILES = { 'main.dsc.yaml': '$schema: x\nresources: []\n# by hand\n' };
const SCOPES = ['configurations.admin-override'];

describe('a push by hand', () => {
  let hawser: Hawser;
  let token: string;
  let client: Client;
  let workshop: PushWorkshop;
  let commit: string;
  let pack: Buffer;

  before(async () => {
    hawser = await startHawser();
    workshop = new PushWorkshop();
    token = await createToken(hawser.client(), hawser.session, SCOPES);
    client = hawser.client().with({ Authorization: `Bearer ${token}` });
    await publishConfiguration(hawser.admin, 'web', {
      '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\n' },
    });
    commit = workshop.commit(FILES);
    pack = workshop.pack(commit);
  });
  after(async () => {
    workshop.remove();
    await hawser.close();
  });
  afterEach(async () => {
    expect(quarantinesOf(hawser), 'quarantines').to.deep.equal([]);
    const versions = (await hawser.admin.get('/api/v1/configurations/web/versions')).json;
    expect(versions.map(({ version }: { version: string }) => version)).to.deep.equal(['1.0.0']);
  });

  const post = (body: Buffer, caller = client, headers: Record<string, string> = {}): Promise<Reply> =>
    caller.call('POST', RECEIVE, { headers: { 'Content-Type': PUSH_TYPE, ...headers }, body });
  const whole = (more: Partial<Parameters<typeof pushBody>[0]> = {}) =>
    pushBody({ commands: [[ZERO, commit, NAME]], pack, ...more });
  const expectRefused = async (body: Buffer, code: string, name = NAME) => {
    const reply = await post(body);
    expect(reply.status, reply.text).to.equal(200);
    expect(readReport(reply.bytes).refs, reply.text).to.deep.equal({ [name]: code });
  };

  it('that only asks whether it may is answered with nothing', async () => {
    const reply = await post(Buffer.from('0000'));
    expect(reply.status).to.equal(200);
    expect(reply.bytes.length).to.equal(0);
    expect(reply.headers['content-type']).to.equal('application/x-git-receive-pack-result');
  });

  it('that breaks off anywhere changes nothing', async () => {
    const body = whole();
    for (let length = 0; length < body.length; length += 1 + Math.floor(body.length / 40)) {
      const reply = await post(body.subarray(0, length));
      const fault = reply.status === 200 ? Object.values(readReport(reply.bytes).refs)[0] : reply.status;
      expect(fault, `${length} of ${body.length}: ${reply.text}`).to.be.oneOf([
        400,
        'invalid_pack',
        'malformed_body',
      ]);
    }
  });

  it('that stops amid its first bytes leaves the server to others', async () => {
    const body = whole();
    const packAt = body.indexOf('PACK');
    for (const length of [3, packAt, packAt + 2, packAt + 20]) {
      const sending = openPush(hawser, token);
      sending.write(body.subarray(0, length));
      await sleep(100);
      expect((await client.get(REFS)).status, `after ${length} bytes`).to.equal(200);
      sending.destroy();
    }
    await until(() => quarantinesOf(hawser).length === 0, 'the end of the quarantines');
  });

  it('whose bytes are changed anywhere in the pack changes nothing', async () => {
    const head = whole({ pack: Buffer.alloc(0) }).length;
    const body = whole();
    for (let at = head; at < body.length; at += 1 + Math.floor((body.length - head) / 25)) {
      const changed = Buffer.from(body);
      changed[at] = (changed[at] as number) ^ 0x55;
      const reply = await post(changed);
      expect(reply.status).to.equal(200);
      expect(Object.values(readReport(reply.bytes).refs)[0], `at ${at}`).to.be.oneOf([
        'invalid_pack',
        'incomplete_push',
        'payload_too_large',
      ]);
    }
  });

  it('with a ref or an option of several lines is refused, line by line safe', async () => {
    const named = await post(whole({ commands: [[ZERO, commit, `${NAME}\nrefs/heads/main`]] }));
    expect(named.status).to.equal(400);
    await expectRefused(whole({ options: ['publish\nentry-point=x'] }), 'invalid_option');
    await expectRefused(whole({ options: ['\u001b[31mred'] }), 'invalid_option');
    const odd = 'refs/heads/draft/\u001b[2J..';
    const reply = await post(whole({ commands: [[ZERO, commit, odd]] }));
    expect(readReport(reply.bytes).lines.join()).to.include('unknown_ref').and.not.include('\u001b');
  });

  it('with the same ref twice, a signed certificate, or another hash is malformed', async () => {
    const twice = whole({
      commands: [
        [ZERO, commit, NAME],
        [ZERO, commit, NAME],
      ],
    });
    const sha256 = whole({ capabilities: 'report-status side-band-64k object-format=sha256' });
    for (const body of [twice, sha256, Buffer.from('zzzz'), Buffer.from('0003'), Buffer.from('fff5abc')]) {
      const reply = await post(body);
      expect(reply.status, reply.text).to.equal(400);
    }
  });

  it('of a stale view says that the draft has changed', async () => {
    await expectRefused(whole({ commands: [['a'.repeat(40), commit, NAME]] }), 'draft_changed');
  });

  it('of a commit that nobody has is incomplete', async () => {
    const none = workshop.commit({ 'main.dsc.yaml': 'never sent' });
    await expectRefused(
      pushBody({ commands: [[ZERO, none, NAME]], pack: workshop.pack(commit) }),
      'incomplete_push',
    );
    const thin = workshop.commit({ ...FILES, 'b.txt': 'b' }, 'below', [commit]);
    const lacking = workshop.git(['pack-objects', '--revs', '--stdout', '-q'], `${thin}\n^${commit}\n`);
    await expectRefused(pushBody({ commands: [[ZERO, thin, NAME]], pack: lacking }), 'incomplete_push');
  });

  it('of a pack that unpacks to gigabytes is refused, and takes little memory', async () => {
    const bombs = [3 * 1_024, 912].map((mebibytes) => packWith([zeros(mebibytes)]));
    const memory = watchMemory();
    for (const bomb of bombs) {
      const reply = await post(pushBody({ commands: [[ZERO, commit, NAME]], pack: bomb }));
      expect(reply.status).to.equal(200);
      expect(Object.values(readReport(reply.bytes).refs)[0]).to.be.oneOf([
        'payload_too_large',
        'invalid_pack',
      ]);
    }
    // Server and git may have 512 MiB together, of which the server has some 200 by itself.
    expect(memory.most()).to.be.below(312 * 2 ** 20);
  }).timeout(600_000);

  it('in gzip is read as it is', async () => {
    const reply = await post(gzipSync(whole({ commands: [[ZERO, commit, 'refs/heads/topic']] })), client, {
      'Content-Encoding': 'gzip',
    });
    expect(readReport(reply.bytes).refs).to.deep.equal({ 'refs/heads/topic': 'unknown_ref' });
  });

  it('needs a token, and Modify, and is nothing for nodes', async () => {
    const node = await hawser.registerNode('push-01.example.org');
    const grants = [{ on: 'configuration', name: 'web', level: 'Read' }] as const;
    const reader = await makeUser(hawser, { username: 'reader', grants });
    const stranger = await makeUser(hawser, { username: 'stranger' });
    const reading = await createToken(hawser.client(), reader.session, ['configurations.grants']);
    const strange = await createToken(hawser.client(), stranger.session, ['configurations.grants']);
    const bearer = (secret: string) => hawser.client().with({ Authorization: `Bearer ${secret}` });
    for (const [caller, status] of [
      [hawser.client(), 401],
      [node.client, 403],
      [hawser.client().with({ Cookie: hawser.session }), 403],
      [bearer(reading), 403],
      [bearer(strange), 404],
      [bearer(`${token}x`), 401],
    ] as const) {
      expect((await caller.get(REFS)).status).to.equal(status);
      expect((await post(whole(), caller)).status).to.equal(status);
    }
  });

  it('of a token that is revoked amid the upload is refused at its end', async () => {
    const secret = await createToken(hawser.client(), hawser.session, SCOPES);
    const own = hawser.client().with({ Cookie: hawser.session });
    const [listed] = (await own.get('/api/v1/auth/tokens')).json;
    const answer = await sendSlowly(hawser, secret, whole(), async () => {
      expect((await own.delete(`/api/v1/auth/tokens/${listed.id}`)).status).to.equal(204);
    });
    expect(answer.status).to.equal(200);
    const { refs, lines } = readReport(answer.body);
    expect(refs).to.deep.equal({ [NAME]: 'unauthenticated' });
    expect(lines.at(-1)).to.equal('hawser: Nothing was changed.');
  });

  it('of files of LFS is told that there is none', async () => {
    const headers = { 'Content-Type': 'application/vnd.git-lfs+json' };
    for (const path of ['objects/batch', 'locks/verify']) {
      const body = Buffer.from('{"operation":"upload"}');
      const reply = await client.call('POST', `${PATH}/info/lfs/${path}`, { headers, body });
      expect(reply.status).to.equal(501);
      expect(JSON.parse(reply.bytes.toString())).to.include({ code: 'lfs_not_supported' });
      expect(reply.headers['content-type']).to.match(/^application\/vnd\.git-lfs\+json/);
    }
  });

  it('goes to no composite', async () => {
    await ok(201, createComposite(hawser.admin, 'stack'));
    const token = await createToken(hawser.client(), hawser.session, [
      'composite-configurations.admin-override',
    ]);
    const caller = hawser.client().with({ Authorization: `Bearer ${token}` });
    const advertisement = caller.get('/git/composites/stack.git/info/refs?service=git-receive-pack');
    await expectProblem(advertisement, 403, 'push_not_supported');
    const body = { headers: { 'Content-Type': PUSH_TYPE }, body: whole() };
    const push = caller.call('POST', '/git/composites/stack.git/git-receive-pack', body);
    await expectProblem(push, 403, 'push_not_supported');
  });
});

/** What this process and the git processes that it has started hold at most, looked at every few milliseconds. */
function watchMemory(): { most(): number } {
  const before = residentBytes();
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, residentBytes() - before);
  }, 20);
  return {
    most() {
      clearInterval(timer);
      return most;
    },
  };
}

function residentBytes(): number {
  const processes = [String(process.pid), ...childrenOf(process.pid)];
  return processes.reduce((sum, pid) => {
    try {
      return sum + 4_096 * Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
    } catch {
      return sum;
    }
  }, 0);
}

function childrenOf(pid: number): string[] {
  try {
    const own = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
    return own.flatMap((child) => [child, ...childrenOf(Number(child))]);
  } catch {
    return [];
  }
}

/** Sends the first half, waits for `amid`, and sends the rest. */
async function sendSlowly(
  hawser: Hawser,
  token: string,
  body: Buffer,
  amid: () => Promise<void>,
): Promise<{ status: number; body: Buffer }> {
  const sending = openPush(hawser, token);
  const answer = new Promise<{ status: number; body: Buffer }>((resolve, reject) => {
    sending.on('response', (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('end', () => resolve({ status: res.statusCode ?? 0, body: Buffer.concat(chunks) }));
    });
    sending.on('error', reject);
  });
  const half = Math.floor(body.length / 2);
  sending.write(body.subarray(0, half));
  await sleep(300);
  await amid();
  sending.end(body.subarray(half));
  return answer;
}

function openPush(hawser: Hawser, token: string): ClientRequest {
  const { port, ca } = hawser.target();
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': PUSH_TYPE };
  const sending = request({ host: 'localhost', port, ca, method: 'POST', path: RECEIVE, headers });
  sending.on('error', () => undefined);
  return sending;
}
