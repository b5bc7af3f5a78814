// full: SQLite
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { Reply } from '../support/client.ts';
import { addVersion, create, MAIN, publish, release, versionsOf } from '../support/configurations.ts';
import { eventually } from '../support/eventually.ts';
import { startHawser } from '../support/hawser.ts';
import { Outside } from '../support/outside.ts';
import { saveParameters } from '../support/parameter-files.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';
import { askWithoutReading } from '../support/unread-answer.ts';
import { unzip } from '../support/unzip.ts';
import { makeZip, unixMode } from '../support/zip.ts';

const CONTENT: Record<string, string | Buffer> = {
  [MAIN]: '$schema: x\nparameters:\n  port: {type: int, defaultValue: 80}\nresources: []\n',
  'empty.txt': '',
  'modules/Web/Web.psm1': Buffer.from([0, 1, 2, 0xff, 0x0d, 0x0a]),
  'ordner/straße – 木.txt': 'Unicode in the path',
  'run.sh': '#!/bin/sh\n',
};
const archiveOf = (name: string, version: string) =>
  `${versionsOf(name)}/${encodeURIComponent(version)}/archive`;

describe('the archive of a version', () => {
  const hawser = started(startHawser);
  let outside: Outside;

  const zipOf = (content: Record<string, string | Buffer>) =>
    makeZip(
      Object.entries(content).map(([name, bytes]) => ({
        name,
        content: bytes,
        attributes: unixMode(name.endsWith('.sh') ? 0o100755 : 0o100644),
      })),
    );
  const get = async (version: string, headers: Record<string, string> = {}): Promise<Reply> =>
    hawser.admin.get(archiveOf('web', version), headers);
  const treeOf = (ref: string) => outside.git('rev-parse', `${ref}^{tree}`);

  before(async () => {
    outside = new Outside(hawser, 'web');
    await ok(201, create(hawser.admin, 'web', { version: '1.0.0+b.7' }, { archive: zipOf(CONTENT) }));
    await saveParameters(hawser, { configuration: 'web', content: 'parameters: {port: 81}' });
  });

  it('holds the files as they were uploaded, of a draft and of the published version', async () => {
    const draft = await get('1.0.0+b.7');
    await ok(200, publish(hawser.admin, 'web', '1.0.0+b.7'));
    const published = await get('1.0.0+b.7');
    expect(published.bytes.equals(draft.bytes)).to.equal(true);
    expect(published.headers['etag']).to.equal(draft.headers['etag']);
    const entries = await unzip(published.bytes);
    expect(entries.map(({ path }) => path)).to.deep.equal(Object.keys(CONTENT).sort());
    for (const { path, content, mode } of entries) {
      expect(content.equals(Buffer.from(CONTENT[path] ?? 'absent')), path).to.equal(true);
      expect(mode.toString(8), path).to.equal(path === 'run.sh' ? '100755' : '100644');
    }
  });

  it('comes under its name with length, digest and ETag, and not again to who has it', async () => {
    const reply = await get('1.0.0+b.7');
    expect(reply.headers).to.include({
      'content-type': 'application/zip',
      'content-disposition': 'attachment; filename="web-v1.0.0+b.7.zip"',
      'content-length': String(reply.bytes.length),
      'repr-digest': `sha-256=:${createHash('sha256').update(reply.bytes).digest('base64')}:`,
    });
    const etag = String(reply.headers['etag']);
    expect(etag).to.match(/^"[^"]+"$/);
    const again = await get('1.0.0+b.7', { 'If-None-Match': `"x", ${etag}` });
    expect(again.status).to.equal(304);
    expect(again.headers['etag']).to.equal(etag);
    await ok(200, get('1.0.0+b.7', { 'If-None-Match': '"x"' }));
  });

  it('makes the same tree when it is uploaded as a new version, and the same archive again', async () => {
    const first = await get('1.0.0+b.7');
    await release(hawser.admin, 'web', '2.0.0', { archive: first.bytes });
    expect(treeOf('v2.0.0')).to.equal(treeOf('v1.0.0+b.7'));
    const second = await get('2.0.0');
    expect(second.bytes.equals(first.bytes)).to.equal(true);
    expect(second.headers['etag']).to.equal(first.headers['etag']);
    expect(second.headers['content-disposition']).to.include('web-v2.0.0.zip');
  });

  it('is another one, with another ETag, where a path, a content or an executable bit differs', async () => {
    const { 'run.sh': script = '', ...rest } = CONTENT;
    const others = [
      zipOf({ ...CONTENT, 'empty.txt': 'x' }),
      zipOf({ ...rest, 'run.cmd': script }),
      makeZip(Object.entries(CONTENT).map(([name, content]) => ({ name, content }))),
    ];
    const etags = new Set([(await get('1.0.0+b.7')).headers['etag']]);
    for (const [at, archive] of others.entries()) {
      await ok(201, addVersion(hawser.admin, 'web', { version: `3.0.${at}` }, { archive }));
      etags.add((await get(`3.0.${at}`)).headers['etag']);
    }
    expect(etags.size).to.equal(4);
  });

  it('is streamed where it is large, byte for byte, and two at a time for one user', async () => {
    const large = Buffer.alloc(32 * 1024 * 1024, 'some bytes of a large file ');
    const files = { [MAIN]: '$schema: x\nresources: []\n', 'large.bin': large };
    await ok(201, addVersion(hawser.admin, 'web', { version: '4.0.0' }, { files }));
    const replies = await Promise.all([get('4.0.0'), get('4.0.0')]);
    for (const reply of replies) {
      const digest = createHash('sha256').update(reply.bytes).digest('base64');
      expect(reply.headers['repr-digest']).to.equal(`sha-256=:${digest}:`);
      const [, entry] = (await unzip(reply.bytes)).sort((a, b) => a.content.length - b.content.length);
      expect(entry?.content.equals(large)).to.equal(true);
    }
    const ask = () =>
      askWithoutReading(hawser.target(), {}, archiveOf('web', '4.0.0'), { Cookie: hawser.session });
    const unread = [await ask(), await ask()];
    const refused = await expectProblem(get('4.0.0'), 503, 'overloaded');
    expect(refused.headers).to.have.property('retry-after');
    for (const answer of unread) answer.breakOff();
    await eventually(async () => expect((await get('4.0.0')).status).to.equal(200));
  });

  it('of what is not there is 404', async () => {
    await expectProblem(get('9.9.9'), 404, 'not_found');
    await expectProblem(hawser.admin.get(archiveOf('gone', '1.0.0')), 404, 'not_found');
  });
});
