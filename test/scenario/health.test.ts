// everyday: SQLite; full: PostgreSQL
import { renameSync } from 'node:fs';
import { expect } from 'chai';
import { DAY } from '../../src/lib/clock.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { MAIN } from '../support/configurations.ts';
import { itOnSqlite } from '../support/engine.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { holdFlushes } from '../support/held-flushes.ts';
import { assign, poll } from '../support/parameter-files.ts';
import { ok } from '../support/replies.ts';
import { SCOPE_TYPES } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('health', () => {
  const hawser = started(startHawser);

  it('tells that the process answers and that it can do its work', async () => {
    for (const slash of ['', '/']) {
      const alive = await hawser.client().get(`/health${slash}`);
      expect(alive.status).to.equal(200);
      expect(alive.json).to.deep.equal({ status: 'Healthy', timestamp: alive.json.timestamp });
      expect(alive.json.timestamp).to.match(TIMESTAMP);
      const ready = await hawser.client().get(`/health/ready${slash}`);
      expect(ready.status).to.equal(200);
      expect(ready.json).to.deep.equal({
        status: 'Ready',
        timestamp: ready.json.timestamp,
        checks: { database: 'Ok', repositories: 'Ok' },
        frozenUntil: null,
      });
      expect(ready.json.timestamp).to.match(TIMESTAMP);
    }
  });

  it('tells the time of the server', async () => {
    hawser.clock.advance(3 * DAY);
    for (const path of ['/health/', '/health/ready']) {
      const before = hawser.clock.now();
      const told = Date.parse((await hawser.client().get(path)).json.timestamp);
      expect(told, path).to.be.within(before, hawser.clock.now());
    }
  });

  it('is never cached, and answers HEAD', async () => {
    for (const path of ['/health', '/health/ready']) {
      for (const method of ['GET', 'HEAD']) {
        const reply = await hawser.client().call(method, path, { headers: { 'If-None-Match': '*' } });
        expect(reply.status, path).to.equal(200);
        expect(reply.headers['cache-control']).to.equal('no-store');
        expect(reply.headers).to.not.have.property('etag');
        expect(reply.bytes.length > 0).to.equal(method === 'GET');
      }
    }
  });

  it('asks nobody who they are, not even with bad credentials', async () => {
    const stranger = hawser.client(await makeClientCertificate({ commonName: 'x' }));
    await ok(200, stranger.get('/health/ready'));
    const garbage = { Authorization: 'Bearer pat_x', Cookie: 'hawser_session=x' };
    await ok(200, hawser.client().get('/health', garbage));
  });

  itOnSqlite('is not ready while the repositories are away, and says which check failed', async () => {
    renameSync(hawser.reposDir, `${hawser.reposDir}-away`);
    try {
      const reply = await hawser.client().get('/health/ready');
      expect(reply.status).to.equal(503);
      expect(reply.json).to.deep.equal({
        status: 'Unready',
        timestamp: reply.json.timestamp,
        checks: { database: 'Ok', repositories: 'Failed' },
        frozenUntil: null,
      });
      expect(reply.json.timestamp).to.match(TIMESTAMP);
      expect(reply.headers['cache-control']).to.equal('no-store');
      expect(reply.text, 'no path, no cause').to.not.include('hawser-test');
      const head = await hawser.client().call('HEAD', '/health/ready');
      expect(head.status).to.equal(503);
      expect((await hawser.client().get('/health')).status, 'alive all the same').to.equal(200);
    } finally {
      renameSync(`${hawser.reposDir}-away`, hawser.reposDir);
    }
    expect((await hawser.client().get('/health/ready')).status, 'back again').to.equal(200);
  });

  itOnSqlite('answers, as polls do, while a change waits for a slow disk', async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    const node = await hawser.registerNode('web1.example.org');
    await assign(hawser, node, 'web');
    await ok(200, poll(node));
    const flushes = holdFlushes();
    try {
      let isAnswered = false;
      const changing = hawser.admin.post(SCOPE_TYPES, { name: 'Region' }).finally(() => (isAnswered = true));
      await flushes.isHeld;
      await ok(200, poll(node));
      for (const path of ['/health', '/health/ready']) await ok(200, hawser.client().get(path));
      expect(isAnswered, 'acknowledged before the disk has it').to.equal(false);
      flushes.letGo();
      await ok(201, changing);
    } finally {
      flushes.letGo();
    }
  });
});
