/**
 * The one error type that callers may act on. It knows no HTTP: a kind, a stable code, a message that is
 * safe to show, extra members for the answer, and the inner cause kept apart for the log.
 */

export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'not_acceptable'
  | 'conflict'
  | 'timed_out'
  | 'precondition_failed'
  | 'too_large'
  | 'unsupported_media_type'
  | 'rate_limited'
  | 'internal'
  | 'not_implemented'
  | 'unavailable'
  | 'storage_full';

/** One fault of an input: `path` is a JSON Pointer into it (RFC 6901), empty for the whole. */
export interface FieldError {
  path: string;
  message: string;
  code: string;
}

export interface ErrorOptions {
  /** Members that the answer carries beside the message, such as a compatibility report. */
  data?: Record<string, unknown>;
  /** Seconds after which a caller may try again; becomes `Retry-After`. */
  retryAfter?: number | undefined;
  cause?: unknown;
}

export class HawserError extends Error {
  readonly kind: ErrorKind;
  readonly code: string;
  readonly data: Record<string, unknown>;
  readonly retryAfter: number | undefined;

  constructor(kind: ErrorKind, code: string, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'HawserError';
    this.kind = kind;
    this.code = code;
    this.data = options.data ?? {};
    this.retryAfter = options.retryAfter;
  }
}

/** Input that breaks a rule of its own, whatever the state of the server. */
export function invalid(code: string, message: string, errors?: FieldError[]): HawserError {
  return new HawserError('invalid', code, message, errors ? { data: { errors } } : {});
}

/** A single field at fault, or with an empty path the whole body, reported the way schema validation reports it. */
export function invalidField(path: string, message: string, code = 'custom', cause?: unknown): HawserError {
  const errors: FieldError[] = [{ path, message, code }];
  return new HawserError('invalid', 'validation_failed', message, { data: { errors }, cause });
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

export function tooLarge(message: string): HawserError {
  return new HawserError('too_large', 'payload_too_large', message);
}

/** A fault of ours or of the disk: the code names it, the cause stays in the log. */
export function internal(code: string, message: string, cause?: unknown): HawserError {
  return new HawserError('internal', code, message, { cause });
}
