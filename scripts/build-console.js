/**
 * Builds the console, which is the program of src/ui for browsers: scripts and styles under names with hashes, so that
 * browsers may keep them for good, and the page that loads them. The server compresses nothing itself, so each file has
 * its compressed forms beside it.
 */

import fs from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib } from 'node:zlib';

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);
/** Level 9 would save a quarter of a second of each build, and make what browsers load 8 % larger. */
const BROTLI_LEVEL = zlib.BROTLI_MAX_QUALITY;
/** Where the server hands the files out. */
const ASSETS = '/ui/assets/';

/**
 * @param root the folder of the project
 * @param outdir the folder that the files are for; nothing is written
 * @returns the files, as esbuild describes its own
 */
export async function buildConsole(build, root, outdir) {
  const source = join(root, 'src/ui');
  const common = {
    absWorkingDir: root,
    outdir: join(outdir, 'assets'),
    ...{ write: false, bundle: true, minify: true, metafile: true, logLevel: 'error' },
    ...{ platform: 'browser', target: 'es2022', charset: 'utf8' },
    ...{ entryNames: '[name]-[hash]', chunkNames: '[name]-[hash]', assetNames: '[name]-[hash]' },
  };
  const [modules, scripts] = await Promise.all([
    build({
      ...common,
      entryPoints: [join(source, 'main.tsx'), join(source, 'theme.css')],
      ...{ format: 'esm', splitting: true, jsx: 'automatic', jsxImportSource: 'preact' },
    }),
    build({ ...common, entryPoints: [join(source, 'theme-choice.ts')], format: 'iife' }),
  ]);
  const template = fs.readFileSync(join(source, 'index.html'), 'utf8');
  const page = {
    path: join(outdir, 'index.html'),
    contents: Buffer.from(fill(template, { ...modules.metafile.outputs, ...scripts.metafile.outputs })),
  };
  const files = [page, ...modules.outputFiles, ...scripts.outputFiles];
  return (await Promise.all(files.map(withCompressedForms))).flat();
}

/**
 * Puts the addresses into the page. The choice of the theme is a script that the browser waits for, so that nothing is
 * painted before it has run. All that the first script needs at once is named, so that nothing is found out late.
 */
function fill(template, outputs) {
  const main = outputOf(outputs, 'src/ui/main.tsx');
  const preloads = [...importedBy(outputs, main)].map(
    (path) => `<link rel="modulepreload" href="${addressOf(path)}">`,
  );
  const parts = {
    '<!-- styles -->': `<link rel="stylesheet" href="${addressOf(outputOf(outputs, 'src/ui/theme.css'))}">`,
    '<!-- scripts -->': [
      `<script src="${addressOf(outputOf(outputs, 'src/ui/theme-choice.ts'))}"></script>`,
      `<script type="module" src="${addressOf(main)}"></script>`,
      ...preloads,
    ].join('\n'),
  };
  let page = template;
  for (const [mark, text] of Object.entries(parts)) {
    if (page.split(mark).length !== 2) throw new Error(`src/ui/index.html must have ${mark} once`);
    page = page.replace(mark, () => text);
  }
  return page;
}

function outputOf(outputs, entryPoint) {
  return Object.keys(outputs).find((path) => outputs[path].entryPoint === entryPoint);
}

/** The files that a script imports before it runs, and those that they import. */
function importedBy(outputs, path, found = new Set()) {
  for (const { path: imported, kind } of outputs[path].imports) {
    if (kind !== 'import-statement' || found.has(imported)) continue;
    found.add(imported);
    importedBy(outputs, imported, found);
  }
  return found;
}

function addressOf(path) {
  return ASSETS + basename(path);
}

/** A form that is not smaller than the file itself is left out. */
async function withCompressedForms({ path, contents }) {
  const params = {
    [zlib.BROTLI_PARAM_QUALITY]: BROTLI_LEVEL,
    [zlib.BROTLI_PARAM_SIZE_HINT]: contents.length,
  };
  const forms = await Promise.all([
    compressBrotli(contents, { params }).then((packed) => ({ path: `${path}.br`, contents: packed })),
    compressGzip(contents, { level: 9 }).then((packed) => ({ path: `${path}.gz`, contents: packed })),
  ]);
  return [{ path, contents }, ...forms.filter((form) => form.contents.length < contents.length)];
}
