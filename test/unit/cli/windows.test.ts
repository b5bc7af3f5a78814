/** What hawserctl does on Windows, as far as another system can tell: where its files are, what it opens, and what it shows. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { editorOf } from '../../../src/cli/editor.ts';
import { UsageError } from '../../../src/cli/errors.ts';
import { readSecretLine, readText } from '../../../src/cli/input.ts';
import { ownFile } from '../../../src/cli/own-files.ts';

describe('hawserctl on Windows', () => {
  it('keeps its files where Windows has those of programs', () => {
    const env = { APPDATA: 'C:\\Users\\ann\\AppData\\Roaming', LOCALAPPDATA: 'D:\\Local' };
    const config = ownFile(env, 'config', 'hosts.json', 'win32');
    expect(config).to.equal('C:\\Users\\ann\\AppData\\Roaming\\hawser\\hosts.json');
    expect(ownFile(env, 'cache', 'contents.json', 'win32')).to.equal('D:\\Local\\hawser\\contents.json');
    const bare = { USERPROFILE: 'C:\\Users\\ann', APPDATA: 'relative', XDG_CONFIG_HOME: '/home/ann/.config' };
    expect(ownFile(bare, 'config', 'hosts.json', 'win32')).to.equal(config);
  });

  it('keeps them elsewhere where the XDG specification says', () => {
    const env = { HOME: '/home/ann', APPDATA: 'C:\\Users\\ann\\AppData\\Roaming' };
    expect(ownFile(env, 'config', 'hosts.json', 'linux')).to.equal('/home/ann/.config/hawser/hosts.json');
    expect(ownFile({ ...env, XDG_CACHE_HOME: '/c' }, 'cache', 'x', 'darwin')).to.equal('/c/hawser/x');
  });

  it('opens notepad where no editor is named, which other systems ask for', () => {
    expect(editorOf({}, 'win32')).to.equal('notepad');
    expect(editorOf({ EDITOR: 'code --wait' }, 'win32')).to.equal('code --wait');
    expect(() => editorOf({}, 'linux')).to.throw(UsageError);
  });

  it('shows examples that every shell takes, and no syntax of one shell', () => {
    for (const { path, examples = [], description = '' } of COMMANDS)
      for (const text of [...examples, description])
        expect(text, path).to.not.match(/[$`']\w|<\(|< |\\|\bbash\b|~\//);
  });

  describe('with files as Windows PowerShell writes them', () => {
    const folder = mkdtempSync(join(tmpdir(), 'hawserctl-windows-'));
    after(() => rmSync(folder, { recursive: true, force: true }));
    const surroundings = { stdin: process.stdin, cwd: folder };
    const written = (name: string, content: Buffer | string) => {
      writeFileSync(join(folder, name), content);
      return name;
    };

    it('takes a password with a byte order mark and the end of a line of Windows', async () => {
      const file = written('password', '\ufeffa password\r\n');
      expect(await readSecretLine(surroundings, file)).to.equal('a password');
    });

    it('says of UTF-16 what it is, and how to write it', async () => {
      const file = written('values.yaml', Buffer.from('\ufeffparameters: {}\r\n', 'utf16le'));
      const refused = await readText(surroundings, file).catch((error: Error) => error.message);
      expect(refused)
        .to.include(`${basename(file)} is UTF-16`)
        .and.include('-Encoding utf8');
    });
  });
});
