// full: SQLite
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { Reply } from '../support/client.ts';
import { create, fileOf, MAIN, publish, versionsOf } from '../support/configurations.ts';
import { startHawser } from '../support/hawser.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const BINARY = Buffer.concat([Buffer.from([0, 255, 13, 10, 26, 0]), randomBytes(300_000)]);
const PLAIN = 'text/plain; charset=utf-8';
const UNKNOWN = 'application/octet-stream';

/** Path as uploaded, content, and the media type that it must come back with. */
const FILES: [path: string, content: string | Buffer, type: string][] = [
  [MAIN, '$schema: x\nresources: []\n', 'application/yaml'],
  ['readme.md', '# Ä\r\n', 'text/markdown; charset=utf-8'],
  ['data.json', '{}', 'application/json'],
  ['a/b/c/run.PS1', 'Write-Output 1', PLAIN],
  ['page.html', '<script>alert(1)</script>', 'text/html; charset=utf-8'],
  ['image.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/svg+xml'],
  ['empty.txt', '', PLAIN],
  ['blob.bin', BINARY, UNKNOWN],
  ['no extension', 'x', UNKNOWN],
  ['json', 'x', UNKNOWN],
  ['with space/two  spaces.yaml', 'spaces', 'application/yaml'],
  ['ünïcödé/日本語🚀.yaml', 'unicode', 'application/yaml'],
  ['#hash&amp+plus%41.yaml', 'signs', 'application/yaml'],
  ['100%.txt', 'percent', PLAIN],
  ["semi;colon=,$@!'()[]{}~^`.txt", 'more signs', PLAIN],
  ['.hidden', 'hidden', UNKNOWN],
  ['.gitattributes', '* text=auto\n', UNKNOWN],
  ['.gitignore', '*\n', UNKNOWN],
  ['.github/workflows/x.yml', 'x', 'application/yaml'],
  ['draft/1.0.0', 'not a ref', UNKNOWN],
];

const encodePath = (path: string) => path.split('/').map(encodeURIComponent).join('/');

describe('a file of a version comes back', () => {
  const hawser = started(startHawser);

  before(async () => {
    const files = Object.fromEntries(FILES.map(([path, content]) => [path, content]));
    await ok(201, create(hawser.admin, 'files', {}, { files }));
  });

  const get = (path: string, headers: Record<string, string> = {}): Promise<Reply> =>
    hawser.admin.get(fileOf('files', '1.0.0', path), headers);

  for (const status of ['a draft', 'published']) {
    it(`byte for byte, with its media type, while the version is ${status}`, async () => {
      if (status === 'published') await ok(200, publish(hawser.admin, 'files', '1.0.0'));
      for (const [path, content, type] of FILES) {
        const reply = await get(encodePath(path));
        expect(reply.status, path).to.equal(200);
        expect(reply.bytes.equals(Buffer.from(content as string)), path).to.equal(true);
        expect(reply.headers['content-type'], path).to.equal(type);
        expect(reply.headers['content-length'], path).to.equal(String(Buffer.byteLength(content)));
      }
      const [version] = await ok(200, hawser.admin.get(versionsOf('files')));
      expect(version.fileCount).to.equal(FILES.length);
    });
  }

  it('in a way that no browser runs it', async () => {
    for (const path of ['page.html', 'image.svg', MAIN]) {
      const { headers } = await get(path);
      expect(headers['x-content-type-options']).to.equal('nosniff');
      expect(headers['content-disposition']).to.match(/^attachment\b/);
      expect(headers['content-security-policy']).to.include("default-src 'none'").and.include('sandbox');
    }
  });

  it('under its path as sent, with a trailing slash, a backslash, or its slashes escaped', async () => {
    const plain = await get('a/b/c/run.PS1');
    for (const path of ['a/b/c/run.PS1/', 'a%2Fb%2Fc%2Frun.PS1', 'a%5Cb%5Cc%5Crun.PS1']) {
      expect((await get(path)).text, path).to.equal(plain.text);
    }
  });

  it('in the one Unicode form, whichever it was sent or asked for in', async () => {
    const nfc = 'Käse/Größe.yaml';
    const nfd = nfc.normalize('NFD');
    expect(nfd).to.not.equal(nfc);
    const made = create(hawser.admin, 'forms', { entryPoint: nfd }, { files: { [nfd]: 'x' } });
    await ok(201, made);
    const [version] = await ok(200, hawser.admin.get(versionsOf('forms')));
    expect(version.entryPoint).to.equal(nfc);
    for (const path of [nfc, nfd]) {
      expect((await hawser.admin.get(fileOf('forms', '1.0.0', encodePath(path)))).text).to.equal('x');
    }
  });

  it('but no folder, no other case, no other version, and nothing outside', async () => {
    const outside = [
      ...[
        '../../../../../../etc/passwd',
        '%2e%2e/%2e%2e/main.dsc.yaml',
        '..%2f..%2f..%2fHEAD',
        '..%5c..%5cHEAD',
      ],
      ...[
        'main.dsc.yaml%00',
        'a%252fb%252fc%252frun.PS1',
        '/etc/passwd',
        'C:/Windows/win.ini',
        '.git/config',
      ],
      ...['HEAD', 'objects', '%c0%ae%c0%ae/HEAD', 'main.dsc.yaml::$DATA', 'x'.repeat(5_000)],
    ];
    outside.push('%2e%2e%2f%2e%2e%2fconfig', '%252e%252e%252fHEAD', './main.dsc.yaml', 'a/../main.dsc.yaml');
    outside.push(
      'a//b/c/run.PS1',
      '//etc/passwd',
      '%2fetc%2fpasswd',
      '%00',
      '%ff',
      '%zz',
      '%',
      'main.dsc.yaml.',
    );
    const absent = ['a', 'a/', 'a/b', 'MAIN.dsc.yaml', 'missing.yaml', 'main.dsc.yaml/x', '/', '%20'];
    for (const path of [...outside, ...absent]) {
      const reply = await expectProblem(get(path), 404, 'not_found', path);
      expect(reply.text).to.not.match(/ref: |\[core\]|root:/);
    }
    await expectProblem(hawser.admin.get(`${versionsOf('files')}/1.0.0/files`), 404, 'not_found');
    for (const version of ['2.0.0', '1.0.0+x', 'v1.0.0', 'main', '%2e%2e', '%2e%2e%2f1.0.0']) {
      await expectProblem(hawser.admin.get(fileOf('files', version, MAIN)), 404, 'not_found', version);
    }
    for (const name of ['Files', '%2e%2e', 'files.git', 'files%2f..%2ffiles', '__proto__']) {
      await expectProblem(hawser.admin.get(fileOf(name, '1.0.0', MAIN)), 404, 'not_found', name);
    }
  });

  it('unless the caller takes another media type only', async () => {
    await ok(200, get(MAIN, { Accept: 'application/yaml' }));
    await ok(200, get(MAIN, { Accept: 'application/*' }));
    await expectProblem(get(MAIN, { Accept: 'image/png' }), 406, 'not_acceptable');
  });
});
