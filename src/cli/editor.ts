/** Opens a text in the user's editor. */

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Failure, UsageError } from './errors.ts';

export interface Edited {
  text: string;
  /** Holds the text until `discard` is called, so that nothing that was typed is lost if it is refused. */
  file: string;
  discard(): void;
}

/**
 * What the variables VISUAL or EDITOR hold, which may be a command with options.
 * @throws UsageError where neither is set, except on Windows, where every machine has the same one
 */
export function editorOf(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = process.platform,
): string {
  const editor = env['VISUAL'] || env['EDITOR'] || (platform === 'win32' ? 'notepad' : '');
  if (!editor) throw new UsageError('Say which editor to open by the variable VISUAL or EDITOR.');
  return editor;
}

/**
 * Waits until the editor has ended.
 * @param name of the file, by whose ending editors know the language
 * @throws Failure where the editor fails, and then nothing may be sent
 */
export async function editText(text: string, name: string, editor: string): Promise<Edited> {
  // Only its owner may enter the folder, as parameters may be secret.
  const file = join(mkdtempSync(join(tmpdir(), 'hawserctl-')), name);
  const discard = () => rmSync(dirname(file), { recursive: true, force: true });
  writeFileSync(file, text, { mode: 0o600 });
  const code = await run(editor, file);
  if (code === 0) return { text: readFileSync(file, 'utf8'), file, discard };
  discard();
  throw new Failure(`The editor "${editor}" ended with ${code ?? 'a signal'}. Nothing was sent.`);
}

function run(editor: string, file: string): Promise<number | null> {
  const child =
    process.platform === 'win32'
      ? spawn(`${editor} "${file}"`, { shell: true, stdio: 'inherit' })
      : spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
}
