/** Reads the content of a parameter file as it comes in: finds its type, and checks that it can be read. */

import { refuse } from '../domain/document-text.ts';
import { type DocumentType, requireUnambiguous } from '../domain/parameter-document.ts';
import { isSecretAt, type SecretNames } from '../domain/secrets.ts';
import { type FieldError, HawserError, invalid } from '../lib/errors.ts';
import type { DocumentSource } from '../resolve/document-tasks.ts';
import { type DocumentRunner, newSource } from '../resolve/documents.ts';

/** A parameter file that comes as a file has so many bytes at most. */
export const MAX_FILE_BYTES = 5 * 1024 * 1024;

/** The names of the types in answers. */
export const MEDIA_TYPES = { yaml: 'application/yaml', json: 'application/json' } as const;

/** A document that can be read, with the bytes that are stored. */
export interface ReadContent {
  type: DocumentType;
  bytes: Buffer;
  document: DocumentSource;
  /** The values that readers take for different things, as errors; `requireClearContent` refuses them. */
  ambiguous: readonly FieldError[];
  /** The member of the request that holds the text, as a JSON Pointer. */
  member: string;
}

/** A file as it came in. */
interface NamedFile {
  /** The name that the client gives, unchecked; empty where it gives none. */
  filename: string;
  /** What the client calls its type; null where it says nothing. */
  mediaType: string | null;
  content: Buffer;
}

/** Reads documents in the turn of the user who sent the content. */
export interface ContentReader {
  documents: DocumentRunner;
  /** The user's id. */
  caller: string;
}

type ReadTask = 'readDocument' | 'findAmbiguous';

/** The names of RFC 9512, the names that it replaces, those of RFC 8259, and short names. */
const NAMES: ReadonlyMap<string, DocumentType> = new Map([
  ['yaml', 'yaml'],
  ['application/yaml', 'yaml'],
  ['application/x-yaml', 'yaml'],
  ['text/yaml', 'yaml'],
  ['text/x-yaml', 'yaml'],
  ['json', 'json'],
  ['application/json', 'json'],
  ['text/json', 'json'],
]);

/**
 * The type that a media type names, or null. Case does not matter, nor do parameters such as a charset, because all
 * content is UTF-8.
 */
export function contentTypeNamed(mediaType: string): DocumentType | null {
  const [name = ''] = mediaType.split(';', 1);
  return NAMES.get(name.trim().toLowerCase()) ?? null;
}

/**
 * Reads content that came as text.
 * @throws HawserError `validation_failed` with errors that name line and column, or `too_complex`
 */
export function readText(reader: ContentReader, text: string, type: DocumentType): Promise<ReadContent> {
  return pointingTo('/content', () => {
    // A lone surrogate cannot be written as UTF-8.
    const lone = text.search(/\p{Surrogate}/u);
    if (lone >= 0) refuse(text, lone, 'invalid_text', 'The text holds half of a surrogate pair.');
    return read(reader, Buffer.from(text), type, 'findAmbiguous', '/content');
  });
}

/**
 * Reads content that came as a file. It is YAML unless its name, or else its media type, says JSON.
 * @param task how it is read: as a parameter file, or as a document that defines parameters
 * @throws HawserError as `readText`
 */
export function readFile(
  reader: ContentReader,
  part: string,
  { filename, mediaType, content }: NamedFile,
  task: ReadTask,
): Promise<ReadContent> {
  const [, extension] = /\.(json|ya?ml)$/i.exec(filename) ?? [];
  const named = extension?.toLowerCase().replace('yml', 'yaml') ?? mediaType ?? '';
  return pointingTo(`/${part}`, () =>
    read(reader, content, contentTypeNamed(named) ?? 'yaml', task, `/${part}`),
  );
}

/** @param member the part of the request that holds the text, as a JSON Pointer, for errors that are found later */
export async function read(
  { documents, caller }: ContentReader,
  bytes: Buffer,
  type: DocumentType,
  task: ReadTask,
  member: string,
): Promise<ReadContent> {
  const content = newContent(bytes, type);
  const found = await documents.run(caller, task, { document: content.document });
  return { ...content, ambiguous: found ?? [], member };
}

/** Content that is known to be good. */
export function newContent(bytes: Buffer, type: DocumentType): ReadContent {
  return { type, bytes, document: newSource(bytes, type), ambiguous: [], member: '' };
}

/**
 * Refuses values that readers take for different things. It is asked once it is known which values are secrets, as the errors
 * of others have the value.
 * @throws HawserError `validation_failed` with an error `ambiguous_scalar` for each
 */
export function requireClearContent({ ambiguous, member }: ReadContent, secure: SecretNames): void {
  const errors = ambiguous.map((error) => ({ ...error, path: member + error.path }));
  const isHidden = (path: string) => secure === 'all' || isSecretAt(path.slice(member.length), secure);
  requireUnambiguous({ ambiguous: errors }, isHidden);
}

/** Makes the errors that `work` throws point into the member of the request that holds the text. */
async function pointingTo<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof HawserError) || error.kind !== 'invalid') throw error;
    const errors = (error.data['errors'] ?? []) as FieldError[];
    throw invalid(
      error.code,
      error.message,
      errors.map((fault) => ({ ...fault, path: path + fault.path })),
    );
  }
}
