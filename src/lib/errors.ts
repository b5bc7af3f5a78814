/**
 * The one type of errors that code may react to. It knows no HTTP. It has a kind, a stable code, a message that is safe to
 * show, additional members for the answer, and the inner cause, which is only logged.
 */

export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'not_acceptable'
  | 'conflict'
  | 'locked'
  | 'gone'
  | 'timed_out'
  | 'precondition_failed'
  | 'too_large'
  | 'unsupported_media_type'
  | 'rate_limited'
  | 'internal'
  | 'not_implemented'
  | 'unavailable'
  | 'storage_full';

/** One fault of an input. `path` is a JSON Pointer into it (RFC 6901), empty for the whole input. */
export interface FieldError {
  path: string;
  message: string;
  code: string;
  /** Where the fault stands, if it is one of a text. Lines and columns are counted from 1. */
  line?: number;
  column?: number;
}

export interface ErrorOptions {
  /** Additional members of the answer, such as a compatibility report. */
  data?: Record<string, unknown>;
  /** The number of seconds after which a caller may try again. It becomes `Retry-After`. */
  retryAfter?: number | undefined;
  /** The methods that the path has. It becomes `Allow`. */
  allow?: string;
  cause?: unknown;
}

export class HawserError extends Error {
  readonly kind: ErrorKind;
  readonly code: string;
  readonly data: Record<string, unknown>;
  readonly retryAfter: number | undefined;
  readonly allow: string | undefined;

  constructor(kind: ErrorKind, code: string, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'HawserError';
    this.kind = kind;
    this.code = code;
    this.data = options.data ?? {};
    this.retryAfter = options.retryAfter;
    this.allow = options.allow;
  }
}

const REFUSALS: readonly ErrorKind[] = ['invalid', 'not_found', 'conflict', 'forbidden'];

/**
 * Whether the error is about what was asked. Of many things that were asked together one fails so, and the others go on. All
 * other errors, such as a disk that is full, are about the server.
 */
export function isRefusal(error: unknown): error is HawserError {
  return error instanceof HawserError && REFUSALS.includes(error.kind);
}

/** After this many seconds a caller may try again. A fault of a disk or of the database may be over by then. */
export const RETRY_AFTER_FAULT = 5;

/** The error while the database is away. The log tells of that by itself, so what fails because of it is at `debug`. */
export class DatabaseAway extends HawserError {
  constructor(cause?: unknown) {
    const message = 'The database cannot be reached at the moment';
    super('unavailable', 'unavailable', message, { cause, retryAfter: RETRY_AFTER_FAULT });
  }
}

/** The error for an input that is wrong in any state of the server. */
export function invalid(code: string, message: string, errors?: FieldError[]): HawserError {
  return new HawserError('invalid', code, message, errors ? { data: { errors } } : {});
}

/** The error for a single wrong field, in the form of schema validation. An empty path means the whole body. */
export function invalidField(path: string, message: string, code = 'custom', cause?: unknown): HawserError {
  const errors: FieldError[] = [{ path, message, code }];
  return new HawserError('invalid', 'validation_failed', message, { data: { errors }, cause });
}

/** The error for work that ends because the server does. */
export function shuttingDown(): HawserError {
  return new HawserError('unavailable', 'shutting_down', 'The server is shutting down.');
}

export function notFound(message: string, code = 'not_found'): HawserError {
  return new HawserError('not_found', code, message);
}

export function conflict(code: string, message: string, data?: Record<string, unknown>): HawserError {
  return new HawserError('conflict', code, message, data ? { data } : {});
}

export function forbidden(message: string, code = 'forbidden'): HawserError {
  return new HawserError('forbidden', code, message);
}

export function unauthenticated(message: string, code = 'unauthenticated'): HawserError {
  return new HawserError('unauthenticated', code, message);
}

/** Says of a body that it is larger than this. @param setting the name of the setting that has the limit */
export function overLimit(bytes: number, setting?: string): string {
  return `larger than ${bytes} bytes, the limit${setting === undefined ? '' : ` that ${setting} sets`}`;
}

export function tooLarge(message: string): HawserError {
  return new HawserError('too_large', 'payload_too_large', message);
}

/** One line that says what went wrong, with the inner cause of an error of ours. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  if (!(error instanceof HawserError && cause instanceof Error)) return message;
  return `${message.replace(/\.$/, '')}: ${cause.message}`;
}

/** The error for a fault of the server or of the disk. The code names it, and the cause is only logged. */
export function internal(code: string, message: string, cause?: unknown): HawserError {
  return new HawserError('internal', code, message, { cause });
}

/**
 * The same refusal with the path of the part of the input that it is about before its paths, or with that path alone. What is no
 * refusal stays what it is.
 * @param path a JSON Pointer
 */
export function behind(error: unknown, path: string): unknown {
  if (!isRefusal(error)) return error;
  const { kind, code, message, data, cause } = error;
  const own = data['errors'] as FieldError[] | undefined;
  const errors = (own ?? [{ path: '', message, code }]).map((each) => ({ ...each, path: path + each.path }));
  return new HawserError(kind, code, message, { data: { ...data, errors }, cause });
}
