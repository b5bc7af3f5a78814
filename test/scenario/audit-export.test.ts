// full: SQLite, PostgreSQL
/** The audit trail is read by those who remember the last entry that they have seen. */

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { auditEntries, type Entry } from '../support/audit.ts';
import { withDatabase } from '../support/database.ts';
import { ENGINE } from '../support/engine.ts';
import { createToken, startHawser } from '../support/hawser.ts';
import { expectProblem } from '../support/replies.ts';
import { started } from '../support/started.ts';

const AUDIT = '/api/v1/audit';
const KEYS = '/api/v1/admin/registration-keys';
const LINES = { Accept: 'application/x-ndjson' };
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

const idsOf = (entries: readonly Entry[]) => entries.map(({ id }) => id);
const fromLines = (text: string): Entry[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

describe('the export of the audit trail', () => {
  const hawser = started(startHawser);

  before(async () => {
    for (const description of ['a', 'b', 'c']) await hawser.admin.post(KEYS, { description });
  });

  it('begins with the oldest entry, and goes on behind any, by every filter', async () => {
    const rising = (await auditEntries(hawser)).reverse();
    const all = await hawser.admin.get(`${AUDIT}?after=0`);
    expect(all.json).to.deep.equal(rising);
    expect(all.headers['x-total-count']).to.equal(String(rising.length));
    expect(all.headers['link']).to.equal(undefined);
    const [first, second] = rising;
    expect(await auditEntries(hawser, `after=${first?.id}`)).to.deep.equal(rising.slice(1));
    expect(await auditEntries(hawser, `after=${rising.at(-1)?.id}`)).to.deep.equal([]);
    const page = await hawser.admin.get(`${AUDIT}?after=${first?.id}&take=1`);
    expect(idsOf(page.json)).to.deep.equal([second?.id]);
    expect(page.headers['link']).to.equal(`<${AUDIT}?after=${second?.id}&take=1>; rel="next"`);
    const keys = await auditEntries(
      hawser,
      `after=${first?.id}&action=registration_key.created&to=2099-01-01T00:00:00Z`,
    );
    expect(keys).to.deep.equal(rising.filter(({ action }) => action === 'registration_key.created'));
    const csv = await hawser.admin.get(`${AUDIT}?after=${first?.id}`, { Accept: 'text/csv' });
    const lines = csv.text.trim().split('\r\n').slice(1);
    expect(lines.map((line) => line.slice(0, 36))).to.deep.equal(idsOf(rising.slice(1)));
  });

  it('has one entry in each line where lines are asked for, a page at a time', async () => {
    const rising = await auditEntries(hawser, 'after=0');
    const reply = await hawser.admin.get(`${AUDIT}?after=0&take=2`, LINES);
    expect(reply.headers['content-type']).to.equal('application/x-ndjson');
    expect(reply.text).to.equal(
      rising
        .slice(0, 2)
        .map((entry) => `${JSON.stringify(entry)}\n`)
        .join(''),
    );
    const none = await hawser.admin.get(`${AUDIT}?after=${rising.at(-1)?.id}`, LINES);
    expect([none.status, none.text]).to.deep.equal([200, '']);
    // Without a place to begin at, it is the page of the list.
    const newest = await hawser.admin.get(`${AUDIT}?take=1`, LINES);
    expect(fromLines(newest.text)).to.deep.equal(rising.slice(-1));
    expect(newest.headers['etag']).to.be.a('string');
  });

  it('refuses what names no entry, and says how to begin anew', async () => {
    for (const after of ['', '1', 'newest', 'x'.repeat(36)])
      await expectProblem(hawser.admin.get(`${AUDIT}?after=${after}`), 400, 'validation_failed');
    for (const accept of [{}, LINES, { Accept: 'text/csv' }]) {
      const gone = await hawser.admin.get(`${AUDIT}?after=${UNKNOWN}`, accept);
      await expectProblem(gone, 410, 'audit_gone');
      expect(gone.json.detail).to.include('after=0');
    }
    await expectProblem(hawser.admin.get(AUDIT, { Accept: 'image/png' }), 406, 'not_acceptable');
  });

  it('reaches a SIEM by the loop of the documents, which goes on where it was', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hawser-siem-'));
    try {
      const [, script = ''] =
        /### The audit trail for a SIEM[\s\S]*?```sh\n(#!\/bin\/sh\n[\s\S]*?)```/.exec(
          readFileSync('docs/operating.md', 'utf8'),
        ) ?? [];
      const token = await createToken(hawser.client(), hawser.session, ['audit.read']);
      const { port, ca } = hawser.target();
      writeFileSync(join(folder, 'ca.crt'), ca);
      writeFileSync(join(folder, 'audit.curlrc'), `header = "Authorization: Bearer ${token}"\n`);
      const env = { PATH: process.env['PATH'], HAWSER_URL: `https://localhost:${port}` };
      const run = () => promisify(execFile)('sh', ['-c', script], { cwd: folder, env });
      const sent = () => fromLines(readFileSync(join(folder, 'audit.ndjson'), 'utf8'));
      await run();
      await hawser.admin.post(KEYS, { description: 'later' });
      await run();
      await run();
      expect(sent()).to.deep.equal((await auditEntries(hawser, 'take=1000')).reverse());
      writeFileSync(join(folder, 'after'), `${UNKNOWN}\n`);
      const count = sent().length;
      const { stderr } = await run().then(
        () => expect.fail('it went on'),
        (error: { stderr: string }) => error,
      );
      expect(stderr).to.include('audit_gone');
      expect(sent()).to.have.length(count);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('misses nothing that others write meanwhile', async () => {
    const servers = [hawser];
    if (ENGINE === 'postgres')
      servers.push(await startHawser({ HAWSER_DATABASE_URL: hawser.databaseUrl ?? '' }));
    try {
      let isOver = false;
      const writing = Promise.all(
        servers.flatMap(({ admin }) =>
          Array.from({ length: 6 }, async () => {
            for (let at = 0; at < 12; at += 1) await admin.post(KEYS, { description: 'meanwhile' });
          }),
        ),
      ).finally(() => {
        isOver = true;
      });
      const seen: string[] = [];
      let after = '0';
      for (let wasOver = false; ; wasOver = isOver) {
        const reply = await hawser.admin.get(`${AUDIT}?after=${after}&take=7`, LINES);
        const entries = fromLines(reply.text);
        seen.push(...idsOf(entries));
        after = entries.at(-1)?.id ?? after;
        if (wasOver && entries.length === 0) break;
      }
      await writing;
      const rows = await withDatabase(hawser, ({ read }) =>
        read.selectFrom('audit_entries').select('id').orderBy('seq').execute(),
      );
      expect(seen).to.deep.equal(rows.map(({ id }) => id));
    } finally {
      await servers[1]?.close();
    }
  });
});
