/**
 * Makes JavaScript of all TypeScript of this project: sources, tests and scripts, file by file, into a folder of .build.
 * Tests and scripts run from there, so that none of their processes and none of a server's threads compiles anything.
 *
 * The folder is named after a hash of all that goes into it and never changes once it is there. So a run of the tests
 * keeps its files while somebody edits. A file that was transpiled before is taken over as it is.
 *
 * The modules that threads begin with are bundled with all that they import. The tests start hundreds of servers, whose
 * threads would load some hundred files each, which takes twice the processor time.
 */

import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform, version } from 'esbuild';
import { writeApiTypes } from './api-types.js';
import { WITHOUT_LOCALES } from './build-clients.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BUILD = join(ROOT, '.build');
const FOLDERS = ['src', 'test', 'scripts'];
const NAME = /^transpiled-[0-9a-f]{16}$/;
/** In each folder: the hash of every source that it holds, by path. */
const INDEX = 'index.json';
/** The modules that threads of a server begin with. */
const THREADS = /^src\/.*\bthread\.ts$/;
/** Runs that are under way may still load files of older folders. */
const KEPT = 5;

/** @returns the folder that holds the files, in which `src/main.ts` is `src/main.js` */
export async function transpile() {
  writeApiTypes();
  const sources = new Map(
    FOLDERS.flatMap(sourcesBelow).map((path) => [path, hashOf(fs.readFileSync(join(ROOT, path)))]),
  );
  const index = Object.fromEntries(sources);
  const packageText = fs.readFileSync(join(ROOT, 'package.json'));
  const own = fs.readFileSync(fileURLToPath(import.meta.url));
  const folder = join(
    BUILD,
    `transpiled-${hashOf(JSON.stringify([version, hashOf(own), hashOf(packageText), index]))}`,
  );
  if (fs.existsSync(folder)) {
    // The folders that were used last are kept.
    fs.utimesSync(folder, new Date(), new Date());
    return folder;
  }
  const earlier = earlierFiles();
  const unfinished = `${folder}-${process.pid}`;
  const write = async ([path, hash]) => {
    if (THREADS.test(path)) return;
    const target = join(unfinished, path.replace(/\.tsx?$/, '.js'));
    fs.mkdirSync(dirname(target), { recursive: true });
    const before = earlier.get(`${path} ${hash}`);
    if (before === undefined) await transpileFile(path, target);
    else
      for (const end of path.endsWith('.js') ? [''] : ['', '.map']) fs.linkSync(before + end, target + end);
  };
  try {
    await Promise.all([...sources].map(write));
    await bundleThreads(
      [...sources.keys()].filter((path) => THREADS.test(path)),
      unfinished,
    );
    // The version of the project is read from there, and that files are modules.
    fs.writeFileSync(join(unfinished, 'package.json'), packageText);
    fs.writeFileSync(join(unfinished, INDEX), JSON.stringify({ transpiler: hashOf(own), index }));
    fs.renameSync(unfinished, folder);
  } catch (error) {
    fs.rmSync(unfinished, { recursive: true, force: true });
    // Another process may have been faster.
    if (!fs.existsSync(folder)) throw error;
  }
  removeOld(folder);
  return folder;
}

function sourcesBelow(folder) {
  return fs
    .readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(tsx?|js)$/.test(path))
    .map((path) => join(folder, path))
    .sort();
}

async function transpileFile(path, target) {
  if (path.endsWith('.js')) return fs.copyFileSync(join(ROOT, path), target);
  const { code, map } = await transform(fs.readFileSync(join(ROOT, path), 'utf8'), {
    loader: path.endsWith('x') ? 'tsx' : 'ts',
    ...{ format: 'esm', target: 'node20.19', jsx: 'automatic', jsxImportSource: 'preact' },
    // Traces of errors then name the lines of the sources.
    ...{
      sourcemap: 'external',
      sourcesContent: false,
      sourcefile: relative(dirname(target), join(ROOT, path)),
    },
  });
  const imports = code.replace(/(\bfrom |\bimport |\bimport\()"(\.{1,2}\/[^"\n]+)\.tsx?"/g, '$1"$2.js"');
  const name = target.slice(target.lastIndexOf('/') + 1);
  fs.writeFileSync(target, `${imports}//# sourceMappingURL=${name}.map\n`);
  fs.writeFileSync(`${target}.map`, map);
}

/** @param target the folder of all files */
async function bundleThreads(paths, target) {
  await build({
    entryPoints: paths.map((path) => join(ROOT, path)),
    ...{ outbase: ROOT, outdir: target, bundle: true },
    ...{ platform: 'node', format: 'esm', target: 'node20.19', sourcemap: true, sourcesContent: false },
    // A native program, with files beside it.
    external: ['better-sqlite3'],
    // The CommonJS packages in it need `require`.
    banner: {
      js: "import { createRequire as forBuild } from 'node:module'; const require = forBuild(import.meta.url);",
    },
    plugins: [WITHOUT_LOCALES],
    logLevel: 'error',
  });
}

/** What older folders hold, by path and hash of the source. */
function earlierFiles() {
  const files = new Map();
  const own = hashOf(fs.readFileSync(fileURLToPath(import.meta.url)));
  for (const name of foldersByAge().slice(0, 1)) {
    const { transpiler, index } = JSON.parse(fs.readFileSync(join(BUILD, name, INDEX), 'utf8'));
    if (transpiler !== own) continue;
    for (const [path, hash] of Object.entries(index))
      files.set(`${path} ${hash}`, join(BUILD, name, path.replace(/\.tsx?$/, '.js')));
  }
  return files;
}

/** The newest comes first. */
function foldersByAge() {
  if (!fs.existsSync(BUILD)) return [];
  const usedAt = (name) => fs.statSync(join(BUILD, name)).mtimeMs;
  return fs
    .readdirSync(BUILD)
    .filter((name) => NAME.test(name))
    .map((name) => ({ name, at: usedAt(name) }))
    .sort((one, other) => other.at - one.at)
    .map(({ name }) => name);
}

function removeOld(current) {
  const old = foldersByAge()
    .filter((name) => join(BUILD, name) !== current)
    .slice(KEPT - 1);
  for (const name of old) fs.rmSync(join(BUILD, name), { recursive: true, force: true });
}

function hashOf(data) {
  return createHash('sha256').update(data).digest('hex').slice(0, 16);
}
