/** Bodies that come as a form or as JSON, and hold something secret. */

import type { z } from 'zod';
import { type FieldError, HawserError, invalid } from '../../lib/errors.ts';

/**
 * @throws HawserError validation_failed, malformed_body. It never repeats what came
 */
export function readSecretBody<T>(
  schema: z.ZodType<T>,
  { mediaType, bytes }: { mediaType: string; bytes: Buffer },
): T {
  const parsed = schema.safeParse(mediaType === 'application/json' ? parseJson(bytes) : parseForm(bytes));
  if (parsed.success) return parsed.data;
  const errors: FieldError[] = parsed.error.issues.map(({ path }) => ({
    path: path.map((name) => `/${String(name)}`).join(''),
    message: 'It is missing, or not of this form',
    code: 'custom',
  }));
  throw invalid('validation_failed', 'The body is not valid', errors);
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw malformed();
  }
}

/** A name that comes twice is refused, because two readers may each take another one (RFC 6749, 3.2). */
function parseForm(bytes: Buffer): Record<string, string> {
  const fields = new URLSearchParams(bytes.toString('utf8'));
  const form: Record<string, string> = Object.create(null);
  for (const [name, value] of fields) {
    if (name in form) throw malformed();
    form[name] = value;
  }
  return form;
}

const malformed = () => new HawserError('invalid', 'malformed_body', 'The body cannot be read');
