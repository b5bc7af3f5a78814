/** What the server finds in a text while somebody types it. One check is under way at a time. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiProblem, type FieldProblem, send } from '../client.ts';
import type { EditorProblem } from './editor.tsx';
import { isError } from './faults.tsx';

export interface Verdict {
  faults: readonly FieldProblem[];
  /** The check itself was refused. */
  problem: ApiProblem | null;
}

interface Question {
  url: string;
  text: string;
  type: string;
  /** The member of the answer that has the faults. */
  member: 'errors' | 'findings';
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

async function judge({ url, text, type, member }: Question): Promise<Verdict> {
  try {
    const { data } = await send<Record<typeof member, FieldProblem[]>>('POST', url, text, { type });
    return { faults: data[member], problem: null };
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    return { faults: [], problem: error };
  }
}

/** As the editor marks them. What has no place in the text is not marked. */
export function marksOf(faults: readonly FieldProblem[]): EditorProblem[] {
  return faults
    .filter(({ line }) => line !== null)
    .map((fault) => ({ ...fault, severity: isError(fault) ? 'error' : 'warning' }));
}
