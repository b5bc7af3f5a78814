import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Database } from '../../../src/db/database.ts';
import { type KnownNode, POLL_EVIDENCE } from '../../../src/db/node-lookup.ts';
import { insertNode } from '../../../src/db/nodes.ts';
import { openSqlite } from '../../../src/db/sqlite/open.ts';
import type { AnsweredCall } from '../../../src/http/route.ts';
import { newId } from '../../../src/lib/ids.ts';
import { createLog } from '../../../src/lib/log.ts';
import { EvidenceNotes } from '../../../src/pull/evidence.ts';
import type { Manifest } from '../../../src/resolve/manifest.ts';
import { GitStore, type VersionRef } from '../../../src/versions/store.ts';
import { TestClock } from '../../support/hawser.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const LARGE = 16 * 1024 * 1024;
const CHECKSUM = 'cd'.repeat(32);

/** A bundle that is handed to the connection at once, so that its response finishes although nobody takes it. */
describe('a bundle that is broken off', () => {
  const folder = temporaryFolder('all tests');
  let database: Database;
  let store: GitStore;
  let evidence: EvidenceNotes;
  let server: Server;
  let node: KnownNode;
  let finished: Promise<void>;
  let end: () => void;

  const tag = { oid: 'ef'.repeat(20), series: '', version: '1.0.0', status: 'Published' } as VersionRef;
  const manifest: Manifest = {
    ...{ configurationName: 'gone', version: '1.0.0', tag, entryPoint: 'main.dsc.yaml' },
    ...{ parametersFile: null, checksum: CHECKSUM, parts: [], document: null },
  };

  before(async () => {
    database = await openSqlite(folder('data'));
    const log = createLog('silent');
    const onRefsMoved = async () => undefined;
    store = new GitStore({ root: folder('repos'), log, cacheBytes: 1024, onRefsMoved });
    evidence = new EvidenceNotes({ database, store, clock: new TestClock(), log });
    const nodeId = newId();
    await insertNode(database.write, { id: nodeId, fqdn: 'web.example.org', now: 1, settings: {} });
    const none = {
      assignment: null,
      generation: 0,
      epoch: 0,
      scopes: null,
      notedEtag: null,
      notedServed: null,
      notedProblem: null,
    };
    node = { nodeId, certificateNotAfter: 0, pendingNotAfter: 0, ...none, notedAs: POLL_EVIDENCE.none };
    server = createServer(serve).listen(0);
    await once(server, 'listening');
  });
  after(async () => {
    server.close();
    await evidence.close();
    await store.close();
    await database.close();
  });

  function serve(req: IncomingMessage, res: ServerResponse): void {
    finished = once(res, 'finish').then(() => undefined);
    const state = { requestId: '', at: 1, principal: { kind: 'node', node } };
    end = () => res.end();
    if (req.url === '/open') res.writeHead(200, { 'Content-Length': 10 }).write(Buffer.alloc(10));
    else res.end(Buffer.alloc(req.url === '/large' ? LARGE : 10));
    const call = { req, res, state, method: 'GET', headers: req.headers };
    evidence.sending(call as unknown as AnsweredCall, manifest, 'digest');
  }
  const address = (path: string) => `http://localhost:${(server.address() as AddressInfo).port}${path}`;
  async function runningNow() {
    await evidence.settle(node.nodeId);
    return database.read
      .selectFrom('node_running')
      .select(['checksum', 'evidence', 'served_checksum'])
      .where('node_id', '=', node.nodeId)
      .executeTakeFirst();
  }

  it('is not served, although its response finishes', async () => {
    const request = get(address('/large'));
    request.on('error', () => undefined);
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    answer.on('error', () => undefined);
    request.destroy();
    await finished;
    expect(evidence.servedTo(node.nodeId)).to.equal(undefined);
    expect(await runningNow()).to.equal(undefined);
  });

  it('is served when it is taken, also where its manifest cannot be made', async () => {
    const [answer] = (await once(get(address('/small')), 'response')) as [IncomingMessage];
    answer.resume();
    await finished;
    expect(await runningNow()).to.deep.equal({
      ...{ checksum: CHECKSUM, evidence: 'Served', served_checksum: CHECKSUM },
    });
    expect(await database.read.selectFrom('manifests').selectAll().execute()).to.deep.equal([]);
  });

  it('is waited for by a report of whoever has read it to its end before the server knows', async () => {
    node.notedServed = null;
    const [answer] = (await once(get(address('/open')), 'response')) as [IncomingMessage];
    answer.resume();
    await once(answer, 'end');
    const arrived = evidence.arrived(node.nodeId);
    expect(evidence.servedTo(node.nodeId)).to.equal(undefined);
    end();
    await arrived;
    expect(evidence.servedTo(node.nodeId)).to.equal(CHECKSUM);
    await evidence.settle(node.nodeId);
  });
});
