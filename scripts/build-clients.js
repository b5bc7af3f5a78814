/**
 * Builds the clients: programs of one file each, which the server hands out and which need nothing but Node. They run on
 * machines that have no packages of this project, so all that they use is in the file.
 */

import fs from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { refuseOlderNode } from './required-node.js';

/** Where each client starts in the sources. */
const ENTRIES = { 'hawserctl.mjs': 'src/cli/main.ts', 'hawser-agent.mjs': 'src/agent/main.ts' };

/**
 * A module is read as a whole before its first line runs, and the modules that it imports are joined to it before that
 * too. So all of the file is in the syntax of a Node that knows modules at all, and it imports by `require`, at a time
 * when the version of Node is known to do.
 */
const SYNTAX = 'node12.20';

/** Leaves out the messages of Zod in forty other languages, which are a fifth of the file. */
export const WITHOUT_LOCALES = {
  name: 'without-locales',
  setup(build) {
    const all = { filter: /\/locales\/index\.js$/ };
    build.onResolve(all, ({ path }) => ({ path, namespace: 'without-locales', sideEffects: false }));
    build.onLoad({ filter: /./, namespace: 'without-locales' }, () => ({ contents: 'export {};' }));
  },
};

/**
 * @param {string} root the folder of the project
 * @param {string} outdir the folder that the files are for; nothing is written
 * @returns the files, as esbuild describes its own
 */
export function buildClients(build, root, outdir) {
  const { version, engines, license } = JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8'));
  const wanted = engines.node.replace('>=', '');
  return Promise.all([
    describePackage({ version, engines, license }, outdir),
    ...Object.entries(ENTRIES).map(async ([file, entry]) => {
      const code = await bundle(build, { root, entry, version });
      const contents = Buffer.from(headOf(file.replace('.mjs', ''), version, wanted) + code);
      return { path: join(outdir, file), contents };
    }),
  ]);
}

/** With it the folder is a package that needs no others, so that it is installed on Windows too, where nothing is compiled. */
function describePackage(common, outdir) {
  const bin = Object.fromEntries(Object.keys(ENTRIES).map((file) => [file.replace('.mjs', ''), file]));
  const description = 'The command line of Hawser, a pull server for DSC, and its agent';
  const text = JSON.stringify({ name: 'hawserctl', description, ...common, type: 'module', bin }, null, 2);
  return { path: join(outdir, 'package.json'), contents: Buffer.from(`${text}\n`) };
}

async function bundle(build, { root, entry, version }) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [join(root, entry)],
    ...{ write: false, bundle: true, metafile: true, logLevel: 'error' },
    ...{ platform: 'node', format: 'cjs', target: SYNTAX, charset: 'utf8' },
    // Its lines stay, because Node prints the line in which an error arises.
    ...{ minifySyntax: true, legalComments: 'inline', plugins: [WITHOUT_LOCALES] },
    define: {
      HAWSER_VERSION: JSON.stringify(version),
      'import.meta.url': 'clientUrl',
      'import.meta.dirname': 'clientFolder',
      'import.meta.filename': 'clientFile',
    },
  });
  const imported = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  const missing = imported.filter((path) => !isBuiltin(path));
  if (missing.length > 0) throw new Error(`${entry}: the one file would lack ${missing.join(', ')}`);
  return outputFiles[0].text.replace(/^#!.*\n/, '');
}

/** What comes first in the file: an old Node is told in one sentence, before anything that it lacks is asked for. */
function headOf(program, version, wanted) {
  return `#!/usr/bin/env node
/* ${program} ${version}: this one file is the whole program. It needs Node ${wanted} or newer. */
import { createRequire } from 'module';
import { dirname } from 'path';
import { fileURLToPath } from 'url';

${refuseOlderNode}

refuseOlderNode('${program}', '${wanted}');
const clientUrl = import.meta.url;
const clientFile = fileURLToPath(clientUrl);
const clientFolder = dirname(clientFile);
const require = createRequire(clientUrl);
`;
}
