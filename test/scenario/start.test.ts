// full: SQLite
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { PROJECT } from '../../scripts/support/project.ts';

const SCRIPTS = ['api-types.js', 'build.js', 'build-clients.js', 'build-console.js', 'required-node.js'].map(
  (file) => `scripts/${file}`,
);
const SOURCES = ['package.json', 'tsconfig.json', 'docs/openapi.json', 'src', ...SCRIPTS];
/** Packages that compile. `npm prune --omit=dev` removes them with others. */
const COMPILERS = ['esbuild', '@esbuild', 'typescript', '@typescript'];

/** A checkout of its own, because these tests change sources and builds. */
class Checkout {
  readonly folder = mkdtempSync(join(tmpdir(), 'hawser-start-'));

  constructor(origin = PROJECT, paths = SOURCES) {
    for (const path of paths) cpSync(join(origin, path), this.at(path), { recursive: true });
    symlinkSync(join(PROJECT, 'node_modules'), this.at('node_modules'));
  }

  at(path: string): string {
    return join(this.folder, path);
  }

  edit(path: string, change: (text: string) => string): void {
    const before = readFileSync(this.at(path), 'utf8');
    const after = change(before);
    expect(after).to.not.equal(before);
    writeFileSync(this.at(path), after);
  }

  /** Leaves the packages that are not for development, as they are installed. */
  prune(): void {
    const installed = join(PROJECT, 'node_modules');
    rmSync(this.at('node_modules'));
    mkdirSync(this.at('node_modules'));
    for (const name of readdirSync(installed))
      if (!COMPILERS.includes(name) && !name.startsWith('.'))
        symlinkSync(join(installed, name), this.at(`node_modules/${name}`));
    const list = JSON.parse(readFileSync(join(installed, '.package-lock.json'), 'utf8'));
    list.packages = Object.fromEntries(
      Object.entries<{ dev?: boolean; devOptional?: boolean }>(list.packages).filter(
        ([, { dev, devOptional }]) => !dev && !devOptional,
      ),
    );
    writeFileSync(this.at('node_modules/.package-lock.json'), JSON.stringify(list));
  }

  /** What tells one build from another: its programs, and when they were written. */
  get build(): string[] {
    return ['main.js', 'client/hawser-agent.mjs'].map((path) => {
      const { ino, mtimeMs } = statSync(this.at(`.build/${path}`));
      return `${path} ${ino} ${mtimeMs}`;
    });
  }

  /** The console of the build that runs: its folder, its page, and the names of its other files. */
  console() {
    const build = /\.\/([0-9a-f]{16})\//.exec(readFileSync(this.at('.build/main.js'), 'utf8'))?.[1] ?? '';
    const folder = this.at(`.build/${build}/ui`);
    const assets = readdirSync(join(folder, 'assets')).filter((name) => !/\.(br|gz)$/.test(name));
    return { folder, page: readFileSync(join(folder, 'index.html'), 'utf8'), assets: assets.sort() };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  async run(program: string, ...args: string[]) {
    const child = spawn(program, args, { cwd: this.folder });
    const [out, err] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      child.exitCode ?? once(child, 'close'),
    ]);
    return { code: child.exitCode, out, err };
  }

  /** Runs a script of package.json as npm does, but without npm, which takes longer than all else here. */
  npm(script: string, ...args: string[]) {
    const { scripts } = JSON.parse(readFileSync(this.at('package.json'), 'utf8'));
    return this.run('sh', '-c', [scripts[script], ...args].join(' '));
  }

  /** The version that the program tells, which every start of it can do without a data folder. */
  async version(): Promise<string> {
    const { code, out, err } = await this.npm('hawser', '--version');
    expect(code, err).to.equal(0);
    return out;
  }
}

describe('starting by npm', () => {
  const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
  const EXPECTED = `hawser ${version}\n`;
  let built: Checkout;
  let checkout: Checkout;

  before(async () => {
    built = new Checkout();
    await built.version();
  });
  beforeEach(() => {
    checkout = new Checkout(built.folder, [...SOURCES, '.build']);
  });
  after(() => built.remove());
  afterEach(() => checkout.remove());

  it('does not compile when nothing has changed', async () => {
    const { build } = checkout;
    expect(await checkout.version()).to.equal(EXPECTED);
    expect((await checkout.npm('agent', '--help')).out).to.match(/^usage: hawser-agent /);
    expect(checkout.build).to.deep.equal(build);
  });

  it('compiles what was changed, added and removed', async () => {
    const text = readFileSync(checkout.at('src/main.ts'), 'utf8');
    writeFileSync(checkout.at('src/lib/title.ts'), "export const TITLE = 'Changed';\n");
    checkout.edit(
      'src/main.ts',
      (main) => `${main.replace('`hawser ', `\`\${TITLE} `)}\nimport { TITLE } from './lib/title.ts';\n`,
    );
    expect(await checkout.version()).to.equal(`Changed ${version}\n`);
    rmSync(checkout.at('src/lib/title.ts'));
    expect((await checkout.npm('hawser', '--version')).code).to.equal(1);
    writeFileSync(checkout.at('src/main.ts'), text);
    expect(await checkout.version()).to.equal(EXPECTED);
  });

  it('makes the console anew when its page, styles or scripts change, with names that tell what is in a file', async () => {
    const before = checkout.console();
    checkout.edit('src/ui/theme.css', (css) => `${css}\n.changed {\n  color: red;\n}\n`);
    await checkout.version();
    const styled = checkout.console();
    expect(styled.page).to.not.equal(before.page);
    const changed = styled.assets.filter((name) => !before.assets.includes(name));
    expect(changed).to.have.lengthOf(1);
    expect(changed[0]).to.match(/^theme-[A-Z0-9]{8}\.css$/);
    checkout.edit('src/ui/index.html', (page) => page.replace('<title>', '<title>Changed: '));
    await checkout.version();
    expect(checkout.console().page).to.contain('<title>Changed: ');
    expect(checkout.console().assets).to.deep.equal(styled.assets);
    checkout.edit('src/ui/index.html', (page) => page.replace('<!-- scripts -->', ''));
    const { code, err } = await checkout.npm('hawser', '--version');
    expect({ code, err }).to.deep.equal({
      code: 1,
      err: 'hawser: src/ui/index.html must have <!-- scripts --> once\n',
    });
  });

  it('gives each file of the console the same content in all its forms, and the page the names that there are', () => {
    const { folder, page, assets } = checkout.console();
    const forms = readdirSync(join(folder, 'assets'));
    for (const name of assets) {
      const plain = readFileSync(join(folder, 'assets', name));
      if (forms.includes(`${name}.gz`))
        expect(gunzipSync(readFileSync(join(folder, 'assets', `${name}.gz`))), name).to.deep.equal(plain);
      if (forms.includes(`${name}.br`))
        expect(brotliDecompressSync(readFileSync(join(folder, 'assets', `${name}.br`))), name).to.deep.equal(
          plain,
        );
    }
    expect(forms.some((name) => name.endsWith('.js.br'))).to.equal(true);
    const named = [...page.matchAll(/"\/ui\/assets\/([^"]+)"/g)].map((match) => match[1] ?? '');
    expect(named.map((name) => name.replace(/-[A-Z0-9]{8}\./, '.'))).to.include.members([
      'main.js',
      'theme-choice.js',
      'theme.css',
    ]);
    expect(assets).to.include.members(named);
    expect(page).to.not.match(/<!--/);
  });

  it('compiles again when another version of a package is installed', async () => {
    const installed = join(PROJECT, 'node_modules');
    rmSync(checkout.at('node_modules'));
    mkdirSync(checkout.at('node_modules'));
    for (const name of readdirSync(installed))
      if (name !== '.package-lock.json')
        symlinkSync(join(installed, name), checkout.at(`node_modules/${name}`));
    cpSync(join(installed, '.package-lock.json'), checkout.at('node_modules/.package-lock.json'));
    expect(await checkout.version()).to.equal(EXPECTED);
    const { build } = checkout;
    checkout.edit('node_modules/.package-lock.json', (list) =>
      list.replace('"version": "3.', '"version": "99.'),
    );
    await checkout.version();
    expect(checkout.build).to.not.deep.equal(build);
  });

  it('does not take a build that failed or was broken off for a whole one', async () => {
    appendFileSync(checkout.at('src/main.ts'), 'const = 1;\n');
    for (const attempt of ['first', 'second']) {
      const { code, err } = await checkout.npm('hawser', '--version');
      expect(code, attempt).to.equal(1);
      expect(err, attempt).to.contain('src/main.ts');
    }
    checkout.edit('src/main.ts', (main) => main.replace('const = 1;\n', ''));
    rmSync(checkout.at('.build/client/hawser-agent.mjs'));
    expect(await checkout.version()).to.equal(EXPECTED);
    expect((await checkout.npm('agent', '--help')).code).to.equal(0);
  });

  it('may be done several times at once', async () => {
    rmSync(checkout.at('.build'), { recursive: true });
    const versions = await Promise.all([checkout.version(), checkout.version(), checkout.version()]);
    expect(versions).to.deep.equal([EXPECTED, EXPECTED, EXPECTED]);
    expect(readdirSync(checkout.at('.build')).filter((name) => name.startsWith('unfinished'))).to.deep.equal(
      [],
    );
  });

  it('works after npm prune --omit=dev, until the sources change', async () => {
    checkout.prune();
    expect(await checkout.version()).to.equal(EXPECTED);
    expect((await checkout.npm('agent', '--help')).code).to.equal(0);
    appendFileSync(checkout.at('src/main.ts'), '// Changed.\n');
    expect(await checkout.npm('hawser', '--version')).to.deep.include({
      code: 1,
      err:
        'hawser: the sources are not those of the build, and esbuild, which compiles them, is not installed; ' +
        'run "npm ci"\n',
    });
  });

  it('works without the sources, from what is built', async () => {
    rmSync(checkout.at('src'), { recursive: true });
    expect(await checkout.version()).to.equal(EXPECTED);
    rmSync(checkout.at('.build'), { recursive: true });
    expect(await checkout.npm('hawser', '--version')).to.deep.include({
      code: 1,
      err: 'hawser: there are neither sources nor a build here\n',
    });
  });

  it('makes the clients anew with the version of the package, which they hold', async () => {
    const client = () => readFileSync(checkout.at('.build/client/hawser-agent.mjs'), 'utf8');
    expect(client()).to.contain(`hawser-agent ${version}:`);
    checkout.edit('package.json', (text) => text.replace(`"version": "${version}"`, '"version": "99.1.0"'));
    expect(await checkout.version()).to.equal('hawser 99.1.0\n');
    expect(client()).to.contain('hawser-agent 99.1.0:');
  });

  it('says in one sentence that Node is too old, before anything else', async () => {
    checkout.edit('package.json', (text) => text.replace(/"node": ">=.*"/, '"node": ">=99.1"'));
    const refusal = (program: string) => ({
      code: 1,
      out: '',
      err: `${program} needs Node 99.1 or newer; this is ${process.version}\n`,
    });
    expect(await checkout.npm('start')).to.deep.equal(refusal('hawser'));
    // The rest of the build is not even read.
    for (const name of readdirSync(checkout.at('.build')).filter((entry) => /^[0-9a-f]{16}$/.test(entry)))
      rmSync(checkout.at(`.build/${name}`), { recursive: true });
    expect(await checkout.run(checkout.at('.build/main.js'))).to.deep.equal(refusal('hawser'));
  });
});
