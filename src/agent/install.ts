/** The commands `install` and `uninstall`: the files of the service, on this machine or in an image. */

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { flushFolder } from '../lib/folders.ts';
import { newId } from '../lib/ids.ts';
import { SERVICE, type Service, unitOf } from './service.ts';
import { INSTALLED, readForInstallation } from './settings.ts';

const UNIT = `/etc/systemd/system/${SERVICE}.service`;
/** What `systemctl enable` makes. It is removed from images too, where somebody else has made it. */
const WANTED = `/etc/systemd/system/multi-user.target.wants/${SERVICE}.service`;
const PROGRAM = `/usr/local/lib/${SERVICE}/${SERVICE}.mjs`;

/** Runs systemctl. It throws when that fails. */
export type Systemctl = (...words: string[]) => Promise<void>;

export interface InstallOptions {
  /** The folder of an image; null for this machine. */
  root: string | null;
  /** The settings file as it is named on the machine that runs the agent; null for the one of an installed agent. */
  config: string | null;
  /** The content of the settings file where there is none yet; null where nobody has given one. */
  given: Record<string, unknown> | null;
  /** Whether the service must not be able to change the machine. */
  isReadOnly: boolean;
  /** The file of the running agent. */
  program: string;
  systemctl: Systemctl;
}

/** What `--json` prints. All paths are those on the machine that runs the agent. */
export interface Installation {
  root: string | null;
  unit: string;
  program: string;
  settings: string;
  /** Whether the settings are there. Without them the agent does not start. */
  hasSettings: boolean;
  state: string;
}

/** What the service will be. */
export function planService({
  root,
  config,
  given,
  isReadOnly,
  program,
}: Omit<InstallOptions, 'systemctl'>): Service {
  const settings = resolve(config ?? INSTALLED.settings);
  const file = below(root, settings);
  const found = existsSync(file) ? readForInstallation(file) : null;
  const stateDir = found?.stateDir ?? (found === null ? textOf(given?.['stateDir']) : null);
  return {
    node: process.execPath,
    // Only the agent that is one file can be copied.
    program: program.endsWith('.mjs') ? PROGRAM : program,
    settings,
    // The paths of the file were resolved beside the file where it is now.
    state: stateDir === null ? INSTALLED.state : above(root, stateDir),
    isReadOnly,
  };
}

/**
 * Writes the unit, the program and the settings if they are missing, and makes the state folder. On this machine it also
 * enables the service, and does not start it.
 */
export async function install(options: InstallOptions): Promise<Installation> {
  const { root, given, systemctl } = options;
  const service = planService(options);
  const { program, settings, state } = service;
  if (program === PROGRAM) await replaceFile(below(root, PROGRAM), options.program);
  const file = below(root, settings);
  if (!existsSync(file) && given !== null) {
    await makeFile(file, `${JSON.stringify(given, null, 2)}\n`);
  }
  await mkdir(below(root, state), { recursive: true, mode: 0o700 });
  await replaceFile(below(root, UNIT), { content: unitOf(service) });
  if (root === null) {
    await systemctl('daemon-reload');
    await systemctl('enable', SERVICE);
  }
  return { root, unit: UNIT, program, settings, hasSettings: existsSync(file), state };
}

/** Tells a person what was made, and what is next. */
export function describeInstallation({ root, hasSettings, ...paths }: Installation): string {
  const { unit, program, settings, state } = paths;
  const next = [
    ...(hasSettings ? [] : [`write the settings to ${settings}, at least {"server": "https://..."}`]),
    ...(root === null
      ? [`hawser-agent register --config ${settings}`, `systemctl start ${SERVICE}`]
      : [`systemctl --root ${root} enable ${SERVICE}`]),
  ];
  return (
    `unit      ${unit}\nprogram   ${program}\nsettings  ${settings}${hasSettings ? '' : ', which is not there yet'}\n` +
    `state     ${state}\nnext:\n${next.map((each) => `  ${each}\n`).join('')}`
  );
}

/**
 * Removes the service. The settings and the state stay.
 * @returns the paths that were removed
 */
export async function uninstall({
  root,
  systemctl,
}: Pick<InstallOptions, 'root' | 'systemctl'>): Promise<string[]> {
  const removed = [UNIT, WANTED, dirname(PROGRAM)].filter((path) => existsSync(below(root, path)));
  const hasUnit = removed.includes(UNIT);
  if (root === null && hasUnit) await systemctl('disable', '--now', SERVICE);
  for (const path of removed) await rm(below(root, path), { recursive: true, force: true });
  if (root === null && hasUnit) await systemctl('daemon-reload');
  return removed;
}

/** Tells a person what was removed, and what was not. */
export function describeRemoval(removed: readonly string[]): string {
  if (removed.length === 0) return 'nothing is installed\n';
  const lines = removed.map((path) => `removed   ${path}\n`).join('');
  return `${lines}The settings and the state stay: ${dirname(INSTALLED.settings)}, ${INSTALLED.state}\n`;
}

export const runSystemctl: Systemctl = (...words) =>
  new Promise((done, fail) => {
    const child = spawn('systemctl', words, { stdio: ['ignore', 'ignore', 'inherit'] });
    child.once('error', (error) => fail(new Error(`systemctl cannot be run: ${error.message}`)));
    child.once('close', (code) => {
      if (code === 0) done();
      else fail(new Error(`systemctl ${words.join(' ')} ended with ${code}`));
    });
  });

/** A path in the image. */
function below(root: string | null, path: string): string {
  return root === null ? path : join(root, path);
}

/** The path in the image, as its own programs see it. */
function above(root: string | null, path: string): string {
  const folder = root === null ? '' : resolve(root);
  return folder !== '' && folder !== '/' && path.startsWith(`${folder}/`) ? path.slice(folder.length) : path;
}

/**
 * Replaces a file as a whole, so that one that runs is not changed.
 * @param source the path of a program, or the content of a file that all may read
 */
async function replaceFile(path: string, source: string | { content: string }): Promise<void> {
  // The running agent may be the installed one.
  if (source === path) return;
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${newId()}.tmp`;
  try {
    if (typeof source === 'string') await copyFile(source, temporary);
    else await writeFile(temporary, source.content);
    const file = await open(temporary, 'r');
    await file.chmod(typeof source === 'string' ? 0o755 : 0o644);
    await file.sync();
    await file.close();
    await rename(temporary, path);
    await flushFolder(dirname(path));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Only root may read it, because whoever adds a registration key may not think of that. */
async function makeFile(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content, { flag: 'wx', mode: 0o600, flush: true });
  await flushFolder(dirname(path));
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
