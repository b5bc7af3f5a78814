/**
 * Builds the programs into .build, unless the build there is that of these sources. `npm start` and the other scripts
 * of package.json run it first. It is JavaScript, because it must also run where the tools for TypeScript are not
 * installed (`npm prune --omit=dev`, a package).
 *
 * Each build lies in a folder of its own, which is named after a hash of all that goes into it and never changes once
 * it is there. The small file .build/main.js says which build is run. So a build that was broken off is never taken for
 * a whole one, two builds at once do not meet, and a server that runs keeps its files. The clients are one file each, and
 * .build/client has copies of those of the build that is run, under names that stay.
 */

import { createHash } from 'node:crypto';
// Single names of an import that an old Node does not have would stop it before the sentence about its version.
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { requireNode } from './required-node.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BUILD = join(ROOT, '.build');
const REQUIRED_NODE = 'required-node.js';
/** What of src goes into a build. The types of the console's files are checked by a tsconfig.json of its own. */
const SOURCE = /\.(tsx?|css|html)$|\/tsconfig\.json$/;
const MAIN = 'main.js';
/** The folder of the clients, in each build and in .build itself. */
const CLIENTS = 'client';
/** Servers that run may still load files of the builds that they were started from. */
const KEPT_BUILDS = 5;
/** In milliseconds. A folder that is not finished after this time was left by a build that was broken off. */
const LONGEST_BUILD = 60 * 60 * 1000;

async function main() {
  if (!fs.existsSync(join(ROOT, 'src'))) {
    if (!fs.existsSync(join(BUILD, MAIN))) throw new Error('there are neither sources nor a build here');
    return;
  }
  const { writeApiTypes } = await import('./api-types.js');
  writeApiTypes();
  const name = hashOfInputs();
  if (isFresh(name)) return;
  const outputs = await compile(name);
  // Somebody changed the sources meanwhile.
  if (hashOfInputs() !== name) return main();
  writeBuild(name, outputs);
  const files = filesBeside(name);
  // main.js comes last: a build without it is not fresh.
  for (const path of Object.keys(files)) replaceFile(join(BUILD, path), files[path]);
  removeOldBuilds(name);
}

/** Whether the build is there, and .build has what leads to it. */
function isFresh(name) {
  if (!fs.existsSync(join(BUILD, name))) return false;
  const files = filesBeside(name);
  return Object.keys(files).every((path) => readIfThere(join(BUILD, path)) === files[path]);
}

/** Everything that decides what the build contains. Contents count and not times, which a checkout or a copy sets anew. */
function hashOfInputs() {
  const hash = createHash('sha256');
  const sources = fs.readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).sort();
  const paths = sources.filter((path) => SOURCE.test(path)).map((path) => join('src', path));
  const builders = ['build.js', 'build-clients.js', 'build-console.js', REQUIRED_NODE].map(
    (file) => `scripts/${file}`,
  );
  for (const path of [...paths, 'tsconfig.json', ...builders])
    hash
      .update(`${path}\0`)
      .update(fs.readFileSync(join(ROOT, path)))
      .update('\0');
  // The clients hold what they need of package.json.
  const { version, engines } = JSON.parse(fs.readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return hash
    .update(JSON.stringify([version, engines, installedPackages()]))
    .digest('hex')
    .slice(0, 16);
}

/** The build contains packages. Those for development are left out, because `npm prune` removes them. */
function installedPackages() {
  const list = readIfThere(join(ROOT, 'node_modules/.package-lock.json'));
  if (list === null) return [];
  return Object.entries(JSON.parse(list).packages)
    .filter(([, { dev, devOptional }]) => !dev && !devOptional)
    .map(([path, { version, integrity }]) => [path, version, integrity]);
}

/** What lies in .build itself, beside the folder of the build, by path. */
function filesBeside(name) {
  const files = { [REQUIRED_NODE]: fs.readFileSync(join(ROOT, 'scripts', REQUIRED_NODE), 'utf8') };
  for (const client of fs.readdirSync(join(BUILD, name, CLIENTS)).sort())
    files[join(CLIENTS, client)] = fs.readFileSync(join(BUILD, name, CLIENTS, client), 'utf8');
  files[MAIN] = programText(name);
  return files;
}

/** An old Node can read this much. The rest is imported once the version is known to do. */
function programText(name) {
  return `#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import module from 'node:module';
import { requireNode } from './${REQUIRED_NODE}';

requireNode('hawser');
// Node 22 can keep what V8 makes of the code. The folder belongs to whoever built, unlike the default in /tmp.
if (module.enableCompileCache) module.enableCompileCache(fileURLToPath(new URL('./${name}/cache', import.meta.url)));
// Traces of errors then name the sources. The first trace takes 60 ms and 25 MB, so a server in use goes without.
if (process.env.HAWSER_ENV === 'development') process.setSourceMapsEnabled(true);
import('./${name}/${MAIN}');
`;
}

async function compile(name) {
  const { build } = await import('esbuild').catch(refuseToCompile);
  // A package, which has nothing to compile, does not have these files.
  const { buildClients } = await import('./build-clients.js');
  const { buildConsole } = await import('./build-console.js');
  const [{ outputFiles }, clients, console] = await Promise.all([
    buildPrograms(build, name),
    buildClients(build, ROOT, join(BUILD, name, CLIENTS)),
    buildConsole(build, ROOT, join(BUILD, name, 'ui')),
  ]);
  return [...outputFiles, ...clients, ...console];
}

function buildPrograms(build, name) {
  return build({
    entryPoints: {
      main: join(ROOT, 'src/main.ts'),
      thread: join(ROOT, 'src/threads/thread.ts'),
      'fleet-thread': join(ROOT, 'src/threads/fleet-thread.ts'),
      'comparing-thread': join(ROOT, 'src/threads/comparing-thread.ts'),
      'watchdog-thread': join(ROOT, 'src/threads/watchdog-thread.ts'),
      'checkpoint-thread': join(ROOT, 'src/db/sqlite/checkpoint-thread.ts'),
    },
    outdir: join(BUILD, name),
    write: false,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    sourcemap: true,
    sourcesContent: false,
    // The first is a native program with files beside it. Files of the second are served as they are.
    external: ['better-sqlite3', 'swagger-ui-dist'],
    // The CommonJS packages in the build need `require`.
    banner: {
      js: "import { createRequire as forBuild } from 'node:module'; const require = forBuild(import.meta.url);",
    },
    logLevel: 'error',
  });
}

function writeBuild(name, outputs) {
  const unfinished = join(BUILD, `unfinished-${name}-${process.pid}`);
  for (const { path, contents } of outputs) {
    const target = path.replace(join(BUILD, name), unfinished);
    fs.mkdirSync(dirname(target), { recursive: true });
    // They are flushed, so that a power cut does not leave a finished folder with empty files.
    fs.writeFileSync(target, contents, { flush: true });
  }
  try {
    fs.renameSync(unfinished, join(BUILD, name));
  } catch (error) {
    // Another build of the same sources was faster.
    fs.rmSync(unfinished, { recursive: true });
    if (!fs.existsSync(join(BUILD, name, MAIN))) throw error;
  }
}

function refuseToCompile() {
  throw new Error(
    'the sources are not those of the build, and esbuild, which compiles them, is not installed; run "npm ci"',
  );
}

/** Whoever reads the file meanwhile finds the old one or the new one. */
function replaceFile(path, text) {
  const unfinished = `${path}.${process.pid}`;
  fs.mkdirSync(dirname(path), { recursive: true });
  fs.writeFileSync(unfinished, text, { mode: 0o755, flush: true });
  fs.renameSync(unfinished, path);
}

function removeOldBuilds(current) {
  const folders = fs.readdirSync(BUILD).map((name) => ({ name, madeAt: madeAt(name) }));
  const isLeft = ({ name, madeAt }) => /^unfinished-/.test(name) && madeAt < Date.now() - LONGEST_BUILD;
  const builds = folders.filter(({ name }) => /^[0-9a-f]{16}$/.test(name) && name !== current);
  const old = builds.sort((a, b) => b.madeAt - a.madeAt).slice(KEPT_BUILDS - 1);
  for (const { name } of [...folders.filter(isLeft), ...old])
    fs.rmSync(join(BUILD, name), { recursive: true, force: true });
}

/** In epoch milliseconds. A folder that another build has just removed counts as the oldest. */
function madeAt(name) {
  const stat = fs.statSync(join(BUILD, name), { throwIfNoEntry: false });
  return stat === undefined ? 0 : stat.mtimeMs;
}

function readIfThere(path) {
  return fs.existsSync(path) ? fs.readFileSync(path, 'utf8') : null;
}

requireNode('hawser');
main().catch((error) => {
  process.stderr.write(`hawser: ${error.message}\n`);
  process.exit(1);
});
