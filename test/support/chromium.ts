/**
 * The Chromium without a window that tests and scripts start: Debian's where it is installed, or else the one of the
 * package `@sparticuz/chromium`, which npm ci installs in a compressed form. It is unpacked once, with the libraries and
 * fonts that a machine without a desktop has not got.
 */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PROJECT } from '../../scripts/support/project.ts';
import { isProgram } from './optional-tools.ts';

const DEBIAN = '/usr/bin/chromium-headless-shell';
const PACKAGE = '@sparticuz/chromium';
const FONTS = 'hawser-fonts.conf';

/** The paths in the configuration of the package are those of its own cloud. Fonts of the machine count too. */
const FONTS_CONFIGURATION = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;

/** What is told where there is none, with the remedy. */
export const NO_CHROMIUM =
  'Chromium is missing, and npm ci has none for this processor: apt-get install chromium-headless-shell';

export interface Chromium {
  executablePath: string;
  env: Record<string, string>;
}

/** @throws Error that says what to install where there is none for this machine */
export function findChromium(): Chromium {
  const kind = chromiumKind();
  if (kind === 'debian') return { executablePath: DEBIAN, env: {} };
  if (kind === null) throw new Error(NO_CHROMIUM);
  const folder = unpacked(packageFile() ?? '');
  return {
    executablePath: join(folder, 'chromium'),
    env: { LD_LIBRARY_PATH: join(folder, 'al2023/lib'), FONTCONFIG_FILE: join(folder, FONTS) },
  };
}

/** Which one this machine has. Nothing is unpacked for the answer. */
export function chromiumKind(): 'debian' | 'package' | null {
  if (isProgram(DEBIAN)) return 'debian';
  // The package has the programs of one processor.
  return process.platform === 'linux' && process.arch === 'x64' && packageFile() !== null ? 'package' : null;
}

/** Other processes of the tests may be unpacking it too, so the folder gets its name when it is whole. */
function unpacked(file: string): string {
  const folder = join(PROJECT, `node_modules/.cache/hawser-chromium-${versionOf(file)}`);
  if (existsSync(folder)) return folder;
  mkdirSync(dirname(folder), { recursive: true });
  const made = mkdtempSync(`${folder}-`);
  try {
    // It unpacks into the temporary folder of its process, and the libraries only in the cloud for which it is made.
    execFileSync(process.execPath, ['-e', 'require(process.argv[1]).executablePath()', file], {
      env: { TMPDIR: made, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    writeFileSync(join(made, FONTS), FONTS_CONFIGURATION);
    renameSync(made, folder);
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

/** The file by which other modules load the package. */
function packageFile(): string | null {
  try {
    return createRequire(import.meta.url).resolve(PACKAGE);
  } catch {
    return null;
  }
}

function versionOf(file: string): string {
  const about = readFileSync(join(dirname(file), '../../package.json'), 'utf8');
  return (JSON.parse(about) as { version: string }).version;
}
