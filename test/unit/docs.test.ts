import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect } from 'chai';
import { PROJECT } from '../../scripts/support/project.ts';
import { COMMANDS as CLI_COMMANDS } from '../../src/cli/commands.ts';
import { COMMANDS } from '../../src/commands.ts';
import { ConfigError, RETIRED, readConfig } from '../../src/config.ts';

const PAGES = [
  'README.md',
  ...readdirSync(join(PROJECT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

const read = (page: string) => readFileSync(join(PROJECT, page), 'utf8');
const withoutCode = (text: string) => text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '');

/** As GitHub makes them: lower case, blanks to hyphens, other signs left out. */
function anchorsOf(page: string): string[] {
  const headings = read(page)
    .replace(/^```[\s\S]*?^```/gm, '')
    .matchAll(/^#+ +(.+)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** What all pages say that matches, once each, with the first page that says it. */
function mentions(pattern: RegExp): Map<string, string> {
  const found = new Map<string, string>();
  for (const page of PAGES) {
    for (const [, word = ''] of read(page).matchAll(pattern)) if (!found.has(word)) found.set(word, page);
  }
  return found;
}

/** The names as the program lists them when it refuses one. */
function knownSettings(): string[] {
  try {
    readConfig({ HAWSER_NO_SUCH_SETTING: 'x' });
  } catch (error) {
    if (error instanceof ConfigError) return error.message.match(/HAWSER_[A-Z_]+/g) ?? [];
  }
  throw new Error('an unknown setting was not refused');
}

describe('the documents', () => {
  for (const page of PAGES) {
    it(`${page} has links that lead somewhere`, () => {
      const dead = [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, target = '']) => target)
        .filter((target) => !/^[a-z]+:/.test(target))
        .filter((target) => {
          const [path = '', anchor] = target.split('#');
          const file = path === '' ? page : relative(PROJECT, resolve(PROJECT, dirname(page), path));
          if (!existsSync(join(PROJECT, file))) return true;
          return anchor !== undefined && !anchorsOf(file).includes(anchor);
        });
      expect(dead).to.deep.equal([]);
    });
  }

  it('are listed in docs/README.md, and each leads back to it', () => {
    const pages = PAGES.filter((page) => /^docs\/[^/]+\.md$/.test(page) && page !== 'docs/README.md');
    const list = read('docs/README.md');
    expect(pages.filter((page) => !list.includes(`](${page.slice('docs/'.length)})`))).to.deep.equal([]);
    expect(pages.filter((page) => !read(page).includes('](README.md)'))).to.deep.equal([]);
  });

  it('show the house: each room that there is and no other, as the check of the layout ranks it, the highest first', () => {
    const [, house = ''] = read('docs/code.md').split('\n## The house\n');
    const rows = [...(house.split('\n## ')[0] ?? '').matchAll(/^\| (`.+?`) \|/gm)];
    const lines = rows.map(([, names = '']) => names.replaceAll('`', '').split(', '));
    const [, table = ''] = /const RANKS[^{]*\{([\s\S]*?)\n\};/.exec(read('scripts/check-structure.ts')) ?? [];
    const entries = table.matchAll(/^ {2}'?([\w./-]+)'?: ([\d.]+),/gm);
    const ranks = new Map([...entries].map(([, room = '', rank]) => [room, Number(rank)]));
    const shown = lines.flat();
    expect(shown).to.have.members([...ranks.keys()]);
    expect(shown).to.include.members(readdirSync(join(PROJECT, 'src')));
    expect(shown.filter((room) => !existsSync(join(PROJECT, 'src', room)))).to.deep.equal([]);
    const ofLines = lines.map((rooms) => [...new Set(rooms.map((room) => ranks.get(room)))]);
    const falling = [...ofLines].sort(([a = 0], [b = 0]) => b - a);
    expect(ofLines).to.deep.equal(falling);
    expect(ofLines.filter(({ length }) => length !== 1)).to.deep.equal([]);
  });

  it('name no setting that there is not, and the page of settings lists each that there is', () => {
    const known = [...knownSettings(), ...Object.keys(RETIRED)];
    // The agent, hawserctl and the tests have settings of their own.
    const named = [...mentions(/\b(HAWSER_[A-Z_]*[A-Z])\b/g)].filter(
      ([name]) => !/^HAWSER_(?:(?:AGENT|TEST)_|(?:URL|TOKEN|CA_FILE)$)/.test(name),
    );
    expect(named.filter(([name]) => !known.includes(name))).to.deep.equal([]);
    const listed = read('docs/settings.md');
    expect(
      known.filter((name) => name !== 'HAWSER_NO_SUCH_SETTING' && !listed.includes(`\`${name}\``)),
    ).to.deep.equal([]);
  });

  it('name no command of the program, and no script, that there is not', () => {
    const commands = COMMANDS.map(({ name }) => name).concat('help');
    const told = mentions(/(?:`|^|\/)hawser (?:-- )?([a-z][a-z-]*)\b/gm);
    for (const [command, page] of mentions(/npm run hawser -- ([a-z-]+)/g)) told.set(command, page);
    expect([...told].filter(([command]) => !commands.includes(command))).to.deep.equal([]);
    const { scripts } = JSON.parse(read('package.json'));
    const run = mentions(/npm run ([a-z][a-z:-]*)/g);
    expect([...run].filter(([script]) => !(script in scripts))).to.deep.equal([]);
  });

  it('list the commands of hawserctl, and name none that there is not', () => {
    const paths = CLI_COMMANDS.map(({ path }) => path);
    const rows = [...read('docs/hawserctl.md').matchAll(/^\| (`[a-z]+[^|]*) \| .* \|$/gm)];
    let group = '';
    const listed = rows.flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([a-z]+)(?: ([a-z]+)\b)?[^`]*`/g)].map(([, first = '', second = '']) => {
        const isWhole = second !== '' || paths.includes(first);
        if (second !== '') group = first;
        return isWhole ? `${first} ${second}`.trim() : `${group} ${first}`;
      }),
    );
    expect(listed.filter((path) => path !== 'source')).to.have.members(paths);
    const said = mentions(/(?:`|^)hawserctl ([a-z]+(?: [a-z]+)?)/gm);
    const isKnown = (words: string) => paths.includes(words) || paths.includes(words.split(' ')[0] ?? '');
    expect([...said].filter(([words]) => !isKnown(words))).to.deep.equal([]);
  });
});
