/**
 * Parameter files as a folder has them: `parameters/<configuration>/<ScopeType>/<value>.yaml`, and
 * `parameters/<configuration>/Default.yaml`. A file that ends in `.passthrough` in place of `.yaml` is a passthrough.
 */

import { escapeToken } from './value.ts';

export const PARAMETERS_FOLDER = 'parameters';

/** Which parameter file a path names. */
export interface TreeFile {
  configurationName: string;
  scopeType: string;
  /** Null for Default. */
  scopeValue: string | null;
  isPassthrough: boolean;
}

const DEFAULT = 'Default';
const FILE = /^(.+)\.(yaml|passthrough)$/;

/** @returns null for a path that names no parameter file */
export function parseTreePath(path: string): TreeFile | null {
  const [folder, configurationName = '', ...rest] = path.split('/');
  const [, name = '', ending] = FILE.exec(rest.pop() ?? '') ?? [];
  if (folder !== PARAMETERS_FOLDER || ending === undefined || rest.length > 1) return null;
  const [scopeType] = rest;
  if (scopeType === undefined && name !== DEFAULT) return null;
  const scope =
    scopeType === undefined ? { scopeType: DEFAULT, scopeValue: null } : { scopeType, scopeValue: name };
  return { configurationName, ...scope, isPassthrough: ending === 'passthrough' };
}

export function treePathOf({ configurationName, scopeType, scopeValue, isPassthrough }: TreeFile): string {
  const scope = scopeValue === null ? scopeType : `${scopeType}/${scopeValue}`;
  return `${PARAMETERS_FOLDER}/${configurationName}/${scope}.${isPassthrough ? 'passthrough' : 'yaml'}`;
}

/** The path as the beginning of a JSON Pointer, by which errors name the file. */
export function pointerOfPath(path: string): string {
  return path
    .split('/')
    .map((segment) => `/${escapeToken(segment)}`)
    .join('');
}
