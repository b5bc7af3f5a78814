// everyday: SQLite
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { Reply } from '../support/client.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationPath } from '../support/parameter-files.ts';
import { started } from '../support/started.ts';
import { unzip, unzipTexts } from '../support/unzip.ts';

const FILES: Record<string, string | Buffer> = {
  'main.dsc.yaml': '$schema: x\nresources: []\n',
  'modules/Web/Web.psm1': Buffer.from([0, 1, 2, 0xff, 0x0d, 0x0a]),
  'modules/Web.psd1': '@{}',
  'modules-2/x.txt': 'sorts between',
  'ordner/straße – 木.txt': 'Unicode in the path',
  empty: '',
  __proto__x: 'plain data',
};

describe('a node downloads its bundle', () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;
  let path: string;

  before(async () => {
    node = await hawser.registerNode('web-01.example.org');
    path = `/api/v1/nodes/${node.nodeId}/configuration`;
    await publishConfiguration(hawser.admin, 'web', { '1.0.0+build.7': FILES });
    expect((await hawser.admin.put(path, { configurationName: 'web' })).status).to.equal(204);
  });

  const bundle = (headers: Record<string, string> = {}): Promise<Reply> =>
    node.client.get(`${path}/bundle`, headers);

  it('as a ZIP of exactly the files of the version', async () => {
    const reply = await bundle();
    expect(reply.status).to.equal(200);
    expect(reply.headers['content-type']).to.equal('application/zip');
    const entries = await unzip(reply.bytes);
    expect(entries.map((entry) => entry.path).sort()).to.deep.equal(Object.keys(FILES).sort());
    for (const { path: name, content, mode } of entries) {
      expect(content.equals(Buffer.from(FILES[name] ?? 'absent')), name).to.equal(true);
      expect(mode.toString(8)).to.equal('100644');
    }
  });

  it('under the name of configuration and version, with length, ETag of the checksum and digest', async () => {
    const reply = await bundle();
    expect(reply.headers['content-disposition']).to.equal('attachment; filename="web-v1.0.0+build.7.zip"');
    expect(reply.headers['content-length']).to.equal(String(reply.bytes.length));
    expect(reply.headers['etag']).to.equal((await node.client.get(`${path}/checksum`)).headers['etag']);
    const digest = createHash('sha256').update(reply.bytes).digest('base64');
    expect(reply.headers['repr-digest']).to.equal(`sha-256=:${digest}:`);
  });

  it('at once with 24 others of a version that was published just now, all alike', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [`f/${at}.txt`, `content ${at} `.repeat(500)]),
    );
    const form = { fields: { version: '2.0.0' }, files: { ...files, 'main.dsc.yaml': 'two' } };
    expect((await hawser.admin.upload('/api/v1/configurations/web/versions', form)).status).to.equal(201);
    const published = await hawser.admin.put('/api/v1/configurations/web/versions/2.0.0/publish');
    expect(published.status).to.equal(200);
    const others = await Promise.all(
      Array.from({ length: 24 }, (_, at) => hawser.registerNode(`n${at}.example.org`)),
    );
    for (const each of others) await assign(hawser, each, 'web');
    const replies = await Promise.all(
      [...others, node].map((each) => each.client.get(`${configurationPath(each)}/bundle`)),
    );
    expect(new Set(replies.map((reply) => reply.status))).to.deep.equal(new Set([200]));
    const [first, ...rest] = replies.map((reply) => reply.bytes);
    expect(await unzipTexts(first ?? Buffer.of())).to.deep.equal(form.files);
    for (const bytes of rest) expect(bytes.equals(first ?? Buffer.of())).to.equal(true);
  });
});
