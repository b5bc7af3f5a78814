// full: SQLite
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readBlocks } from '../../scripts/readme/blocks.ts';
import { ReadmeError, readPages, runPages, WALKS } from '../../scripts/readme/run.ts';
import { PROJECT } from '../../scripts/support/project.ts';
import { ConfigError, RETIRED, readConfig } from '../../src/config.ts';

const read = (page: string) => readFileSync(join(PROJECT, page), 'utf8');
const README = read('README.md');

describe('the README', () => {
  it('opens with the two commands', () => {
    expect(README).to.match(/^# Hawser\n\n```sh\nnpm ci && npm start\nnpm ci && npm test\n```\n/);
  });

  it('has at most 200 lines', () => {
    expect(README.trimEnd().split('\n')).to.have.lengthOf.at.most(200);
  });

  for (const walk of WALKS)
    it(`is played as printed, command by command: ${walk.join(', ')}`, async function () {
      this.timeout(600_000);
      const pages = readPages(walk);
      const blocks = pages.flatMap(({ name, markdown }) => readBlocks(name, markdown));
      expect(await runPages(pages)).to.equal(blocks.length);
    });

  it('is one of the walks, and so is each page of docs that has commands for the reader', () => {
    const pages = readdirSync(join(PROJECT, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => join('docs', name));
    const walks = pages.filter((page) => readBlocks(page, read(page)).length > 0);
    expect(['README.md', ...walks.sort()]).to.have.members(WALKS.flat());
  });
});

describe('the page of settings', () => {
  it('lists every setting with its default, and those of earlier releases', () => {
    const rows = [...read('docs/settings.md').matchAll(/^\| (`HAWSER_[^|]*) \| ([^|]*) \|/gm)];
    const listed = rows.flatMap(([, names = '']) => names.match(/HAWSER_\w+/g) ?? []);
    expect(listed).to.have.members([...knownSettings(), ...Object.keys(RETIRED)]);
    for (const [, name = '', value = ''] of rows) {
      const fallback = /^`([^`]*)`$/.exec(value)?.[1];
      if (fallback === undefined) continue;
      expect(readConfig({ [name.replaceAll('`', '')]: fallback }), name).to.deep.equal(readConfig({}));
    }
  });

  /** As the refusal of an unknown one names them. */
  function knownSettings(): string[] {
    try {
      readConfig({ HAWSER_UNKNOWN: '' });
    } catch (error) {
      if (error instanceof ConfigError) return error.message.split('allowed: ')[1]?.split(', ').sort() ?? [];
    }
    return [];
  }
});

describe('the runner of walks', () => {
  const faultOf = async (markdown: string): Promise<string> => {
    try {
      await runPages([{ name: 'page.md', markdown }]);
      return '';
    } catch (error) {
      if (error instanceof ReadmeError) return error.message;
      throw error;
    }
  };

  it('keeps variables and folder from block to block, and takes `...` for anything', async () => {
    const markdown =
      '```bash\nx=one; cd src\n```\n\n```bash\necho "$x $RANDOM"; ls | tail -1\n```\n\n```text\none ...\n...\n```\n';
    expect(await faultOf(markdown)).to.equal('');
  });

  it('names the command that fails, with what it printed', async () => {
    const fault = await faultOf('```bash\necho before\nfalse | cat\necho after\n```\n');
    expect(fault).to.include('page.md line 2: it ended before its end');
    expect(fault.split('--- printed\n')[1]?.trim()).to.equal('before');
  });

  it('compares the output shown', async () => {
    const fault = await faultOf('```bash\necho two\n```\n\n```text\none\n```\n');
    expect(fault).to.include('the output is not the one shown');
    expect(fault).to.include('--- expected (... stands for anything)\none');
    expect(fault).to.include('--- printed\ntwo');
  });

  it('has a home of its own', async () => {
    expect(await faultOf('```bash\necho "$HOME"\n```\n\n```text\n.../hawser-readme-...\n```\n')).to.equal('');
  });

  it('runs a block that removes everything after all others', async () => {
    const remove = '```bash last\nrm ~/made\n```\n\n';
    expect(await faultOf(`${remove}\`\`\`bash\ntouch ~/made\n\`\`\`\n`)).to.equal('');
    expect(await faultOf(remove)).to.include('No such file');
  });

  it('wants a block that shows a failure to fail', async () => {
    expect(await faultOf('```bash fails\nfalse\n```\n')).to.equal('');
    expect(await faultOf('```bash fails\ntrue\n```\n')).to.include('ended with 0');
  });
});
