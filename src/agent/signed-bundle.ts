/**
 * What a node asks of a bundle before anything of it runs, where it has a list of those who may sign: the tag of each part
 * is signed by one of them and names the part, and the files are those that the tag lists. The server is not trusted here.
 */

import type { AllowedSigner } from '../domain/allowed-signers.ts';
import { PARAMETERS_FILE } from '../domain/bundle-paths.ts';
import {
  filesSha256,
  type HashedFile,
  judgeSigning,
  readSignedTag,
  type SignatureFault,
} from '../domain/signed-tag.ts';
import { fromBase64 } from '../domain/ssh-keys.ts';
import { isMapping, type Mapping, type Value } from '../domain/value.ts';
import { readYaml } from '../domain/yaml-reader.ts';
import type { Polled, SignatureAnswer } from './node-api.ts';

/** Why a bundle is not taken into use. */
export type RefusedReason =
  | SignatureFault
  | 'no_signature'
  | 'wrong_version'
  | 'wrong_document'
  | 'wrong_checksum'
  | 'older';

/** The bundle is not taken into use. */
export class SignatureRefused extends Error {
  readonly reason: RefusedReason;

  constructor(reason: RefusedReason) {
    super(`signature_refused: ${reason}`);
    this.name = 'SignatureRefused';
    this.reason = reason;
  }
}

/** A part as its signed tag describes it. */
export interface SignedPart {
  configurationName: string;
  version: string;
  /** Empty, or the part's folder within the bundle with a `/` at its end. */
  folder: string;
  entryPoint: string;
  filesSha256: string;
}

const INCLUDE = 'Microsoft.DSC/Include';

/**
 * Checks what the server says of the bundle, and the tags that it shows.
 * @throws SignatureRefused
 */
export function checkTags(
  polled: Polled,
  answer: SignatureAnswer,
  signers: readonly AllowedSigner[],
): SignedPart[] {
  if (answer.checksum !== polled.checksum) throw new SignatureRefused('wrong_checksum');
  const parts = answer.parts.map((part) => checkTag(part, signers));
  if (answer.configurationName !== polled.configurationName) throw new SignatureRefused('wrong_name');
  if (answer.version !== polled.version) throw new SignatureRefused('wrong_version');
  if (answer.isComposite) checkComposite(polled, parts);
  else checkConfiguration(polled, parts);
  return parts;
}

/**
 * Checks the files of a bundle against its tags.
 * @param files all of them
 * @param document the content of a composite's entry point; not looked at for a configuration
 * @throws SignatureRefused
 */
export function checkFiles(
  polled: Polled,
  { isComposite, parts }: { isComposite: boolean; parts: readonly SignedPart[] },
  files: readonly HashedFile[],
  document: string,
): void {
  const others = new Set(files);
  const merged = parts.map((part) => {
    const own = files.filter(({ path }) => path.startsWith(part.folder));
    for (const file of own) others.delete(file);
    const inside = own.map((file) => ({ ...file, path: file.path.slice(part.folder.length) }));
    return checkPart(part, inside);
  });
  if (!isComposite) return;
  const [only, ...more] = [...others];
  if (only?.path !== polled.entryPoint || more.length > 0 || only.isExecutable)
    throw new SignatureRefused('wrong_files');
  const expected = parts.map((part, at) => toInclude(part, merged[at] === true));
  if (!isIncludeDocument(document, expected)) throw new SignatureRefused('wrong_document');
}

function checkTag(
  { configurationName, version, folder, tagObject }: SignatureAnswer['parts'][number],
  signers: readonly AllowedSigner[],
): SignedPart {
  const raw = fromBase64(tagObject);
  if (raw === null) throw new SignatureRefused('bad_format');
  const signing = judgeSigning(readSignedTag(raw), signers);
  if (signing.status === 'Unsigned') throw new SignatureRefused('no_signature');
  if (signing.status === 'Invalid') throw new SignatureRefused(signing.reason);
  const { claims } = signing;
  if (claims.configurationName !== configurationName) throw new SignatureRefused('wrong_name');
  if (claims.tagName !== `v${version}`) throw new SignatureRefused('wrong_version');
  if (claims.entryPoint === null) throw new SignatureRefused('wrong_entry_point');
  if (claims.filesSha256 === null) throw new SignatureRefused('wrong_files');
  return {
    ...{ configurationName, version, folder },
    ...{ entryPoint: claims.entryPoint, filesSha256: claims.filesSha256 },
  };
}

function checkConfiguration(polled: Polled, parts: readonly SignedPart[]): void {
  const [part, ...more] = parts;
  if (part === undefined) throw new SignatureRefused('no_signature');
  if (part.configurationName !== polled.configurationName || more.length > 0)
    throw new SignatureRefused('wrong_name');
  if (part.version !== polled.version) throw new SignatureRefused('wrong_version');
  if (part.folder !== '') throw new SignatureRefused('wrong_files');
  if (part.entryPoint !== polled.entryPoint) throw new SignatureRefused('wrong_entry_point');
  if (polled.parametersFile !== null && polled.parametersFile !== PARAMETERS_FILE)
    throw new SignatureRefused('wrong_files');
}

/** The composite itself is not signed. What it includes is, and its document may do nothing else. */
function checkComposite(polled: Polled, parts: readonly SignedPart[]): void {
  if (parts.some(({ folder, configurationName }) => folder !== `${configurationName}/`))
    throw new SignatureRefused('wrong_name');
  if (new Set(parts.map(({ folder }) => folder)).size !== parts.length)
    throw new SignatureRefused('wrong_name');
  if (polled.parametersFile !== null) throw new SignatureRefused('wrong_files');
}

/**
 * @param files with their paths in the part
 * @returns whether merged parameters, which nobody signs, stand beside the files
 */
function checkPart({ filesSha256: signed, entryPoint }: SignedPart, files: readonly HashedFile[]): boolean {
  if (filesSha256(files) === signed) return false;
  const isMerged = (file: HashedFile) => file.path === PARAMETERS_FILE && !file.isExecutable;
  const own = files.filter((file) => !isMerged(file));
  // Merged parameters are no document that could run.
  if (own.length === files.length || entryPoint === PARAMETERS_FILE || filesSha256(own) !== signed)
    throw new SignatureRefused('wrong_files');
  return true;
}

interface Include {
  name: string;
  configurationFile: string;
  parametersFile: string | null;
}

function toInclude({ configurationName: name, folder, entryPoint }: SignedPart, isMerged: boolean): Include {
  const parametersFile = isMerged ? folder + PARAMETERS_FILE : null;
  return { name, configurationFile: folder + entryPoint, parametersFile };
}

/** Whether the document includes these in this order, and holds nothing else. */
function isIncludeDocument(text: string, expected: readonly Include[]): boolean {
  const document = readOrNull(text);
  if (document === null || !hasKeys(document, ['$schema', 'resources'])) return false;
  const resources = document.get('resources');
  if (typeof document.get('$schema') !== 'string' || !Array.isArray(resources)) return false;
  return (
    resources.length === expected.length &&
    expected.every((include, at) => isInclude(resources[at] as Value, include))
  );
}

function isInclude(resource: Value, { name, configurationFile, parametersFile }: Include): boolean {
  if (!isMapping(resource) || !hasKeys(resource, ['name', 'type', 'properties'])) return false;
  const properties = resource.get('properties');
  if (resource.get('name') !== name || resource.get('type') !== INCLUDE || !isMapping(properties))
    return false;
  const members = parametersFile === null ? { configurationFile } : { configurationFile, parametersFile };
  return (
    hasKeys(properties, Object.keys(members)) &&
    Object.entries(members).every(([key, value]) => properties.get(key) === value)
  );
}

function hasKeys(mapping: Mapping, keys: readonly string[]): boolean {
  return mapping.size === keys.length && keys.every((key) => mapping.has(key));
}

/** Null for what dsc would not read as one document. */
function readOrNull(text: string): Mapping | null {
  try {
    return readYaml(text);
  } catch {
    return null;
  }
}
