import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { openSourceFiles } from '../../../../src/operations/import-opendsc/source/files.ts';
import { asNobody } from '../../../support/as-nobody.ts';
import { failureOf } from '../../../support/failures.ts';
import { OpenDscSite } from '../../../support/opendsc/site.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const SECRET = 'what is outside the folder';

/** A folder that holds the data folder and something that is none of it. */
const outer = temporaryFolder();
let folder: string;
let data: string;

beforeEach(() => {
  folder = outer();
  data = outer('data');
  mkdirSync(data);
  put('../outside.txt', SECRET);
});

function put(path: string, content: string): void {
  mkdirSync(dirname(join(data, path)), { recursive: true });
  writeFileSync(join(data, path), content);
}

/** The text of a file of version 1.0.0 of the configuration `web`, or what is wrong with it. */
async function readFile(path: string, content: string, configuration = 'web', version = '1.0.0') {
  const files = await openSourceFiles(data);
  const found = await files.configurationFile({ configuration, version, path }, sha256(content));
  return String(found);
}

async function readParameters(at: { scopeType: string; scopeValue: string | null }, text: string) {
  const files = await openSourceFiles(data);
  return String(await files.parameterFile({ configuration: 'web', version: '1.0.0', ...at }, sha256(text)));
}

describe('the files of an OpenDSC server', () => {
  it('are read where the server has them', async () => {
    const site = new OpenDscSite();
    const web = site.configuration({ name: 'web' });
    site.version(web, { version: '2.1.0', files: { 'main.dsc.yaml': 'a: 1\n', 'lib/b.txt': 'b' } });
    site.parameters({ configuration: web, text: 'of all' });
    const region = site.scopeType({ name: 'Region', precedence: 10 });
    site.parameters({ configuration: web, scopeType: region, value: 'north', text: 'of the north' });
    await site.write({ folder: data });
    expect(await readFile('main.dsc.yaml', 'a: 1\n', 'web', '2.1.0')).to.equal('a: 1\n');
    expect(await readFile('lib/b.txt', 'b', 'web', '2.1.0')).to.equal('b');
    expect(await readParameters({ scopeType: 'Default', scopeValue: null }, 'of all')).to.equal('of all');
    const north = { scopeType: 'Region', scopeValue: 'north' };
    expect(await readParameters(north, 'of the north')).to.equal('of the north');
  });

  it('are bytes, whatever they hold', async () => {
    const bytes = Buffer.from([0, 0xff, 0x0d, 0x0a]);
    mkdirSync(join(data, 'configurations/web/v1.0.0'), { recursive: true });
    writeFileSync(join(data, 'configurations/web/v1.0.0/a.bin'), bytes);
    const checksum = createHash('sha256').update(bytes).digest('hex').toUpperCase();
    const files = await openSourceFiles(data);
    const at = { configuration: 'web', version: '1.0.0', path: 'a.bin' };
    expect(await files.configurationFile(at, checksum)).to.deep.equal(bytes);
  });

  it('are altered where their checksum is another', async () => {
    put('configurations/web/v1.0.0/a.txt', 'now');
    put('parameters/web/Default/v1.0.0/parameters.yaml', 'now');
    expect(await readFile('a.txt', 'then')).to.equal('altered');
    expect(await readParameters({ scopeType: 'Default', scopeValue: null }, 'then')).to.equal('altered');
  });

  it('are missing where there is none, or something else', async () => {
    put('configurations/web/v1.0.0/a/b.txt', 'b');
    for (const path of ['no.txt', 'a', 'a/b.txt/c', 'x'.repeat(300)])
      expect(await readFile(path, 'b'), path).to.equal('missing');
  });

  it('are found where a server on Windows has written backslashes between folders', async () => {
    put('configurations/web/v1.0.0/lib/sub/a.txt', 'a');
    expect(await readFile('lib\\sub\\a.txt', 'a')).to.equal('a');
  });

  it('are found where a name holds a backslash', async () => {
    put('parameters/web/Owner/CORP\\alice/v1.0.0/parameters.yaml', 'hers');
    expect(await readParameters({ scopeType: 'Owner', scopeValue: 'CORP\\alice' }, 'hers')).to.equal('hers');
  });

  it('are never read from outside the folder by their names', async () => {
    const up = '../../../../outside.txt';
    const others = [up.replaceAll('/', '\\'), `a/../../${up}`, join(folder, 'outside.txt'), `${up}\0.yaml`];
    for (const path of [up, ...others, '']) expect(await readFile(path, SECRET), path).to.equal('missing');
    put('../v1.0.0/outside.txt', SECRET);
    for (const name of ['../..', '..\\..', folder, '/', ''])
      expect(await readFile('outside.txt', SECRET, name), name).to.equal('missing');
    expect(await readFile('x', SECRET, 'web', '1/../../../../../outside.txt\0')).to.equal('missing');
    put('../v1.0.0/parameters.yaml', SECRET);
    for (const scopeValue of ['../../../..', '..\\..\\..\\..', folder])
      expect(await readParameters({ scopeType: 'Node', scopeValue }, SECRET)).to.equal('missing');
  });

  it('are never read from outside the folder through links', async () => {
    put('configurations/web/v1.0.0/a.txt', 'a');
    const version = join(data, 'configurations/web/v1.0.0');
    symlinkSync(join(folder, 'outside.txt'), join(version, 'file.txt'));
    symlinkSync(folder, join(version, 'out'));
    symlinkSync('loop.txt', join(version, 'loop.txt'));
    symlinkSync('a.txt', join(version, 'inside.txt'));
    for (const path of ['file.txt', 'out/outside.txt', 'loop.txt'])
      expect(await readFile(path, SECRET), path).to.equal('missing');
    expect(await readFile('inside.txt', 'a')).to.equal('a');
  });

  it('may lie in a folder that a link leads to', async () => {
    put('configurations/web/v1.0.0/a.txt', 'a');
    const link = join(folder, 'link');
    symlinkSync(data, link);
    const files = await openSourceFiles(link);
    const at = { configuration: 'web', version: '1.0.0', path: 'a.txt' };
    const found = await files.configurationFile(at, sha256('a'));
    expect(String(found)).to.equal('a');
  });

  it('are not waited for where a pipe stands in their place', async () => {
    mkdirSync(join(data, 'configurations/web/v1.0.0'), { recursive: true });
    execFileSync('mkfifo', [join(data, 'configurations/web/v1.0.0/a.txt')]);
    expect(await readFile('a.txt', 'a')).to.equal('missing');
  });

  it('are in a folder that has to be there', async () => {
    const faultOf = async (path: string) => (await failureOf(openSourceFiles(path))).message;
    const outside = join(folder, 'outside.txt');
    expect(await faultOf(join(folder, 'no'))).to.equal(`There is no folder ${join(folder, 'no')}`);
    expect(await faultOf(outside)).to.equal(`${outside} is no folder`);
  });
});

describe('files of an OpenDSC server that the user may not read', () => {
  let open: string;

  beforeEach(() => {
    open = mkdtempSync('/tmp/opendsc-files-');
    mkdirSync(join(open, 'configurations/web/v1.0.0'), { recursive: true });
    writeFileSync(join(open, 'configurations/web/v1.0.0/a.txt'), 'a', { mode: 0 });
  });

  afterEach(() => rmSync(open, { recursive: true, force: true }));

  it('are not taken for missing', async () => {
    chmodSync(open, 0o755);
    const at = { configuration: 'web', version: '1.0.0', path: 'a.txt' };
    const fault = await asNobody(async () => {
      const files = await openSourceFiles(open);
      return files.configurationFile(at, sha256('a')).then(String, (error: Error) => error.message);
    });
    expect(fault).to.equal('configurations/web/v1.0.0/a.txt in the data folder cannot be read (EACCES)');
  });

  it('are all refused with the folder', async () => {
    chmodSync(open, 0o000);
    const { message } = await asNobody(() => failureOf(openSourceFiles(open)));
    chmodSync(open, 0o755);
    expect(message).to.equal(`The folder ${open} cannot be read (EACCES)`);
  });
});
