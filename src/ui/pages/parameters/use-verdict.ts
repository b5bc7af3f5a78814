/** What the schema says of a text while somebody types it. One check is under way at a time. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiProblem, type FieldProblem, send } from '../../client.ts';

export interface Verdict {
  errors: readonly FieldProblem[];
  /** The check itself was refused. */
  problem: ApiProblem | null;
}

interface Question {
  url: string;
  text: string;
  type: string;
}

/** In milliseconds: it is asked when somebody stops typing. */
const TYPING_PAUSE = 400;

/** @param question null: there is nothing to check */
export function useVerdict(question: Question | null): Verdict | null {
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const wanted = useRef<Question | null>(null);
  const isUnderWay = useRef(false);
  const { url, text, type } = question ?? {};
  useEffect(() => {
    wanted.current = question;
    if (question === null) {
      setVerdict(null);
      return undefined;
    }
    const check = async () => {
      if (isUnderWay.current) return;
      isUnderWay.current = true;
      for (let asked: Question | null = null; wanted.current !== null && wanted.current !== asked; ) {
        asked = wanted.current;
        const answer = await judge(asked);
        if (wanted.current !== null) setVerdict(answer);
      }
      isUnderWay.current = false;
    };
    const timer = setTimeout(() => void check(), TYPING_PAUSE);
    return () => clearTimeout(timer);
  }, [url, text, type]);
  useEffect(
    () => () => {
      wanted.current = null;
    },
    [],
  );
  return verdict;
}

async function judge({ url, text, type }: Question): Promise<Verdict> {
  try {
    const { data } = await send<{ errors: FieldProblem[] }>('POST', url, text, { type });
    return { errors: data.errors, problem: null };
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    return { errors: [], problem: error };
  }
}

/** The line that a message names, such as `Line 3, column 2: ...`; null where it names none. */
export function lineIn(message: string): number | null {
  const match = /^Line (\d+), column \d+: /.exec(message);
  return match === null ? null : Number(match[1]);
}
