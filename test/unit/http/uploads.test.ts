import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { ZipFile } from 'yazl';
import {
  fileNamed,
  makeBody,
  named,
  type Outcome,
  postBody,
  url,
  useUploadServer,
} from '../../support/upload-server.ts';

const run = promisify(execFile);

async function pathOf(disposition: string): Promise<string | undefined> {
  const outcome = await postBody(makeBody([[disposition, 'x']]));
  return outcome.status === 200 ? Object.keys(outcome.files ?? {})[0] : (outcome.fault ?? outcome.code);
}

describe('readUpload: forms of real clients', () => {
  useUploadServer();

  it('reads what FormData sends', async () => {
    const form = new FormData();
    form.set('name', 'wéb');
    form.append('files', new Blob(['$schema: x\nresources: []\n']), 'main.dsc.yaml');
    form.append('files', new Blob(['iis']), 'modules/iis.dsc.yaml');
    form.append('files', new Blob(['back']), 'win\\dir\\x.yaml');
    form.append('files', new Blob([]), 'ünï/日本.yaml');
    expect(await postBody(form, null)).to.deep.equal({
      status: 200,
      fields: { name: 'wéb' },
      files: {
        'main.dsc.yaml': '$schema: x\nresources: []\n',
        'modules/iis.dsc.yaml': 'iis',
        'win/dir/x.yaml': 'back',
        'ünï/日本.yaml': '',
      },
    });
  });

  it('reads what curl sends', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hawser-upload-'));
    try {
      const file = join(folder, 'x');
      await writeFile(file, 'content\r\n--B\r\n');
      const names = ['modules/iis.yaml', '"a\\b%2fc.yaml"'];
      const parts = [...names.map((name) => `files=@${file};filename=${name}`), 'version=1.0.0'];
      const flags = parts.flatMap((part) => ['-F', part]);
      for (const style of [[], ['--form-escape']]) {
        const { stdout } = await run('curl', ['-sS', ...style, ...flags, url()]);
        const outcome = JSON.parse(stdout) as Outcome;
        expect(Object.keys(outcome.files ?? {}), stdout).to.have.length(2);
        expect(outcome.files?.['modules/iis.yaml']).to.equal('content\r\n--B\r\n');
        expect(outcome.fields).to.deep.equal({ version: '1.0.0' });
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('reads what .NET sends: unquoted names, both kinds of filename', async () => {
    const header = 'Content-Type: text/plain\r\nContent-Disposition: form-data; name=files; ';
    const both = `filename="=?utf-8?B?bcO8LnlhbWw=?="; filename*=utf-8''m%C3%BC.yaml`;
    expect(await pathOf(header + both)).to.equal('mü.yaml');
    expect(await pathOf(`${header}filename=main.dsc.yaml; filename*=utf-8''main.dsc.yaml`)).to.equal(
      'main.dsc.yaml',
    );
  });

  it('leaves out what macOS and Windows leave in folders, and names it', async () => {
    const litter = [
      '.DS_Store',
      '__MACOSX/._a',
      'sub/Thumbs.db',
      'sub/desktop.ini',
      '../.DS_Store',
      'x/.ds_store',
    ];
    const form = new FormData();
    for (const path of [...litter, 'a.txt', 'sub\\DESKTOP.INI']) form.append('files', new Blob(['x']), path);
    expect(await postBody(form, null)).to.deep.equal({
      status: 200,
      fields: {},
      files: { 'a.txt': 'x' },
      ignoredFiles: [...litter, 'sub/DESKTOP.INI'],
    });
  });

  it('counts the bytes of what is left out', async () => {
    const body = makeBody([[fileNamed('.DS_Store'), Buffer.alloc(100_001)]]);
    expect(await postBody(body)).to.include({ status: 413, code: 'payload_too_large' });
  });

  it('unpacks an archive', async () => {
    const zip = new ZipFile();
    zip.addBuffer(Buffer.from('one'), 'dir/one.yaml');
    zip.addBuffer(Buffer.from(''), 'empty');
    zip.end();
    const chunks: Buffer[] = [];
    for await (const chunk of zip.outputStream) chunks.push(Buffer.from(chunk));
    const form = new FormData();
    form.append('archive', new Blob(chunks), 'bundle.zip');
    form.append('name', 'web');
    const files = { 'dir/one.yaml': 'one', empty: '' };
    expect(await postBody(form, null)).to.deep.equal({ status: 200, fields: { name: 'web' }, files });
  });

  it('takes an empty form, preamble and epilogue, a quoted boundary, and header case of any kind', async () => {
    const nothing = { status: 200, fields: {}, files: {} };
    expect(await postBody('--B--\r\n')).to.deep.equal(nothing);
    expect(await postBody('--B--')).to.deep.equal(nothing);
    const wrapped = `preamble\r\n--B\r\ncontent-DISPOSITION: Form-Data; NAME="version"\r\n\r\n1\r\n--B--\r\nepilogue\r\n--B\r\n`;
    const quoted = 'Multipart/Form-Data; charset=utf-8; Boundary="B"';
    expect(await postBody(wrapped, quoted)).to.deep.equal({ ...nothing, fields: { version: '1' } });
  });

  it('keeps the bytes of a file as they are', async () => {
    // The last three look like a boundary for longer than formidable looks at once.
    const lookalikes = ['\r\n--A\r\n--', '\r'.repeat(40_000), '\r\n--A\r'.repeat(5_000)];
    const contents = ['\r\n', 'x--B', '\r\n--', '\r\n-', 'a\r\n--C\r\n', '\r\n\r\n', '-', '', ...lookalikes];
    for (const content of contents) {
      const { files } = await postBody(makeBody([[fileNamed('x'), content]]));
      expect(files?.['x'] === content, JSON.stringify(content.slice(0, 20))).to.equal(true);
    }
  });
});

describe('readUpload: names', () => {
  useUploadServer();

  const names: [string, string][] = [
    [fileNamed('modules\\iis.yaml'), 'modules/iis.yaml'],
    [fileNamed('modules\\new.yaml'), 'modules/new.yaml'],
    [fileNamed('modules\\\\iis.yaml'), 'modules/iis.yaml'],
    [fileNamed('say \\"hi\\".yaml'), 'invalid_path'],
    [fileNamed('a%2fb.yaml'), 'a%2fb.yaml'],
    [fileNamed('a%22b%25.yaml'), 'a%22b%25.yaml'],
    [fileNamed('%2e%2e'), '%2e%2e'],
    [fileNamed("a;b=c+d'e, f.yaml"), "a;b=c+d'e, f.yaml"],
    [fileNamed('./a/b.yaml'), 'a/b.yaml'],
    [fileNamed('m\xc3\xbc.yaml'), 'mü.yaml'],
    [fileNamed('mu\xcc\x88.yaml'), 'mü.yaml'],
    [named('filename="x y.yaml" ; name="files"'), 'x y.yaml'],
    [named('name=files; filename=x y.yaml'), 'x y.yaml'],
    [named('name="files"; filename*=UTF-8\'de\'a%2Fm%C3%BC%252f.yaml'), 'a/mü%2f.yaml'],
    [named('filename*=utf-8\'\'new; filename="old"; name="files"'), 'new'],
    [named('name="files"; filename="x"; other=y;'), 'x'],
    [fileNamed('../evil'), 'invalid_path'],
    [fileNamed('..\\evil'), 'invalid_path'],
    [fileNamed('/etc/passwd'), 'invalid_path'],
    [fileNamed('C:\\x'), 'invalid_path'],
    [fileNamed(''), 'invalid_path'],
    [fileNamed('m\xff.yaml'), 'invalid_path'],
    [fileNamed('a\x00b'), 'invalid_path'],
    [named('name="files"; filename*=utf-8\'\'%2e%2e%2fevil'), 'invalid_path'],
    [named('name="files"; filename*=utf-8\'\'a%00b'), 'invalid_path'],
    [named('name="files"; filename*=utf-8\'\'a%ff'), 'invalid_path'],
    [named('name="files"; filename*=utf-8\'\'a%0ab'), 'invalid_path'],
    [named('name="files"; filename*=utf-16\'\'a'), 'malformed_multipart'],
    [named('name="files"; filename*=utf-8\'\'a%zz'), 'malformed_multipart'],
    [named('name="files"; filename*=a'), 'malformed_multipart'],
    [named('name="files"; filename="a"; filename="b"'), 'malformed_multipart'],
    [named('name="files"; filename="a'), 'malformed_multipart'],
    [named('name="files"; filename="a"b"'), 'malformed_multipart'],
    [named('filename="a"'), 'malformed_multipart'],
    ['Content-Disposition: form-data', 'malformed_multipart'],
    ['Content-Disposition: attachment; name="files"; filename="a"', 'malformed_multipart'],
    [`${fileNamed('a')}\r\n${fileNamed('b')}`, 'malformed_multipart'],
    [`${fileNamed('a')}\r\nContent-Transfer-Encoding: base64`, 'malformed_multipart'],
    ['X: y', 'malformed_multipart'],
    [fileNamed('x'.repeat(100_000)), 'malformed_multipart'],
  ];
  for (const [disposition, expected] of names) {
    it(`${JSON.stringify(disposition.slice(0, 70))} is ${expected}`, async () => {
      expect(await pathOf(disposition)).to.equal(expected);
    });
  }

  it('shows them escaped in messages', async () => {
    const { message } = await postBody(makeBody([[fileNamed('a\x1b[31m/../b'), 'x']]));
    expect(message).to.include('a\\u{1b}[31m').and.not.include('\x1b');
  });
});

describe('readUpload: the shape of the form', () => {
  useUploadServer();

  const file: [string, string] = [fileNamed('a'), 'x'];
  const archive: [string, string] = [named('name="archive"; filename="a.zip"'), 'x'];
  const field = (name: string): [string, string] => [named(`name="${name}"`), 'x'];
  const refused: Record<string, [[string, string | Buffer][], string, string]> = {
    'an unknown field': [[field('nam')], '/nam', 'unrecognized_keys'],
    'an unknown field that needs escapes': [[field('a/b~c\x1b')], '/a~1b~0c\\u{1b}', 'unrecognized_keys'],
    'a field named as an inherited member': [[field('__proto__')], '/__proto__', 'unrecognized_keys'],
    'an unknown file part': [[[named('name="file"; filename="a"'), '']], '/file', 'unrecognized_keys'],
    'a doubled field': [[field('name'), field('name')], '/name', 'custom'],
    'a file as a field': [[[named('name="name"; filename="a"'), 'x']], '/name', 'custom'],
    'a file without a name': [[field('files')], '/files', 'custom'],
    'files, then an archive': [[file, archive], '/archive', 'custom'],
    'an archive, then files': [[archive, file], '/archive', 'custom'],
    'two archives': [[archive, archive], '/archive', 'custom'],
    'a field that is not UTF-8': [[[named('name="name"'), Buffer.from([0xff])]], '/name', 'custom'],
    'attributes that Git cannot read': [
      [[fileNamed('.gitattributes'), 'x'.repeat(3000)]],
      '/files',
      'custom',
    ],
  };
  for (const [what, [parts, path, code]] of Object.entries(refused)) {
    it(`refuses ${what}`, async () => {
      const outcome = await postBody(makeBody(parts));
      expect(outcome).to.include({ status: 400, code: 'validation_failed' });
      expect(outcome.errors?.map((error) => [error.path, error.code])).to.deep.equal([[path, code]]);
    });
  }

  it('refuses clashing paths', async () => {
    const body = makeBody([
      [fileNamed('a/b'), ''],
      [fileNamed('A\\B'), ''],
    ]);
    expect(await postBody(body)).to.include({ status: 400, code: 'invalid_path' });
  });

  it('refuses a broken archive', async () => {
    expect(await postBody(makeBody([archive]))).to.include({ status: 400, fault: 'invalid_archive' });
  });
});
